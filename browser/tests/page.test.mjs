// Tests of the playground in headless Chromium. The environment names the site, playwright-core, Chromium, and the folder for screenshots.

import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { serve } from "./serve.mjs";

const { WGCL_SITE, WGCL_PLAYWRIGHT, WGCL_CHROMIUM, WGCL_SCREENSHOTS } = process.env;
const { chromium } = await import(pathToFileURL(WGCL_PLAYWRIGHT));
// SwiftShader implements WebGPU without a GPU.
const gpu = ["--enable-unsafe-webgpu", "--use-webgpu-adapter=swiftshader", "--enable-features=Vulkan"];

let server, address, browser;
const problems = [];

before(async () => {
  await mkdir(WGCL_SCREENSHOTS, { recursive: true });
  server = await serve(WGCL_SITE);
  address = `http://localhost:${server.address().port}/index.html`;
  browser = await chromium.launch({ executablePath: WGCL_CHROMIUM, args: ["--no-sandbox", ...gpu] });
});

after(async () => {
  await browser?.close();
  server?.close();
});

async function open(hash = "", options = {}) {
  const page = await browser.newPage({ viewport: { width: 1500, height: 950 }, ...options });
  page.on("pageerror", (error) => problems.push(error.message));
  page.on("console", (message) => message.type() === "error" && problems.push(message.text()));
  await page.goto(address + hash);
  await compiled(page);
  return page;
}

const compiled = (page) => page.waitForFunction(() => ["compiled", "not compiled"].includes(document.getElementById("status").textContent), null, { timeout: 60000 });

async function example(page, name) {
  await page.selectOption("#example", name);
  await page.waitForFunction((name) => document.getElementById("example").value === name, name);
  await compiled(page);
}

async function type(page, source) {
  await page.locator("#editor textarea").fill(source);
  await page.waitForTimeout(400);
  await compiled(page);
}

/** Runs the kernel. Returns what the page shows. */
async function run(page, backend) {
  await page.selectOption("#backend", backend);
  await page.click("#run");
  await page.waitForFunction(() => ["done", "the checker found an error", "the kernel did not run"].includes(document.getElementById("status").textContent), null, { timeout: 60000 });
  return page.evaluate(() => ({
    by: document.querySelector("#results [data-by]")?.dataset.by,
    fault: document.querySelector("#results [data-fault]")?.textContent,
    output: document.querySelector("#results [data-output]")?.textContent,
    text: document.getElementById("results").textContent,
    values: Object.fromEntries([...document.querySelectorAll("#results [data-values]")].map((element) => [element.dataset.values, element.textContent.replace(/….*/, "").trim().split(/ {2,}/)])),
  }));
}

const pixel = (page, name, x, y) =>
  page.evaluate(([name, x, y]) => [...document.querySelector(`#results canvas[data-picture="${name}"]`).getContext("2d").getImageData(x, y, 1, 1).data], [name, x, y]);

const screenshot = (page, name) => page.screenshot({ path: `${WGCL_SCREENSHOTS}/${name}.png` });

// Both ways to run a kernel must give the same exact values.
const ways = [["webgpu", "WebGPU"], ["interpreter", "interpreter"]];

test("the page compiles, and shows code with the lines of the source", async () => {
  const page = await open();
  assert.equal(await page.evaluate(() => document.documentElement.dataset.webgpu), "true", "Chromium has no WebGPU adapter");
  for (const [form, pattern, line] of [["wgsl", /\* /, 6], ["spirv", /OpFMul/, 6], ["vir:avx512", /fma/, 6], ["asm:avx2", /vfmadd/, 6], ["asm:armv8", /fmla/, 6]]) {
    await page.locator(".output select").first().selectOption(form);
    const row = page.locator(".output").first().locator(".row", { hasText: pattern }).first();
    await row.waitFor();
    assert.equal(await row.getAttribute("data-line"), String(line), form);
  }
  for (let count = 3; count <= 4; count++) await page.locator(".output").last().getByText("+", { exact: true }).click();
  assert.equal(await page.locator(".output").count(), 4);
  // A line that the pointer is on is marked in all panes.
  await page.locator(".output").first().locator(".row", { hasText: /fmla/ }).first().hover();
  await page.waitForFunction(() => [...document.querySelectorAll(".output")].every((pane) => pane.querySelector(".row.linked")));
  await screenshot(page, "panes");
  await page.close();
});

for (const [backend, by] of ways) {
  test(`kernels give the right values: ${backend}`, async () => {
    const page = await open();
    const own = async (name) => {
      await example(page, name);
      const result = await run(page, backend);
      assert.equal(result.fault, undefined, name);
      assert.equal(result.by, by, name);
      if (backend === "webgpu") {
        assert.match(result.text, /The checker found no error/, name);
        // WebGPU permits small errors of floats, but not of other numbers.
        for (const [, difference] of result.text.matchAll(/the largest relative difference is ([\d.]+(?:e[+-]\d+)?)/g)) assert.ok(Number(difference) < 1e-4, `${name}: ${difference}`);
        assert.ok(name === "mandelbrot" || !/numbers differ between WebGPU and the interpreter(?!,)/.test(result.text), `${name}: ${result.text}`);
      }
      return result.values;
    };
    const saxpy = await own("saxpy");
    assert.deepEqual(saxpy.y, Array.from({ length: 256 }, (_, i) => String(2 * i + 1)));
    const reduction = await own("reduction");
    assert.deepEqual(reduction.out, Array.from({ length: 8 }, (_, g) => String(128 * 128 * g + (127 * 128) / 2)));
    const { counts } = await own("histogram");
    assert.equal(counts.reduce((sum, count) => sum + Number(count), 0), 4096);
    const { c } = await own("sgemm");
    assert.ok(c.every((value) => Number(value) > 2 && Number(value) < 20), `${c}`);
    await screenshot(page, `sgemm-${backend}`);
    await own("nbody");

    await own("mandelbrot");
    assert.deepEqual(await pixel(page, "image", 128, 64), [0, 0, 0, 255]);
    assert.notDeepEqual((await pixel(page, "image", 0, 0)).slice(0, 3), [0, 0, 0]);
    await screenshot(page, `mandelbrot-${backend}`);
    await own("blur");
    // The filter does not change areas of one colour, and mixes colours at edges.
    const [before, after] = [await pixel(page, "from", 80, 60), await pixel(page, "to", 80, 60)];
    assert.deepEqual(after, before);
    await own("rotate");
    assert.deepEqual(await pixel(page, "to", 64, 64), [242, 191, 38, 255]);
    // Outside of the image, the colour is 0.
    assert.deepEqual(await pixel(page, "to", 0, 0), [0, 0, 0, 255]);
    await screenshot(page, `rotate-${backend}`);
    await page.close();
  });
}

test("WebGPU and the interpreter agree on the picture of every pixel of the blur", async () => {
  const page = await open();
  await example(page, "blur");
  const pictures = [];
  for (const [backend] of ways) {
    await run(page, backend);
    pictures.push(await page.evaluate(() => [...document.querySelector('#results canvas[data-picture="to"]').getContext("2d").getImageData(0, 0, 160, 120).data].join()));
  }
  assert.equal(pictures[0], pictures[1]);
  await page.close();
});

test("the checker reports the line and the work-item of an access", async () => {
  const page = await open();
  await example(page, "mistake");
  const { fault, by } = await run(page, "auto");
  assert.match(fault, /^line 5: access of 4 bytes at offset 64 is out of bounds of an object of 64 bytes in `difference` of work-item \(15, 0, 0\)/);
  assert.equal(by, "WebGPU");
  assert.match(await page.locator("#editor .gutter .error").textContent(), /5/);
  await screenshot(page, "mistake");
  await page.close();
});

test("NaNs are reported if the box is checked", async () => {
  const page = await open();
  await type(page, "kernel void k(global float *a) {\n  a[0] = sqrt(-1 - a[0]);\n}");
  await page.fill("#global-size", "1");
  await page.fill("#group-size", "1");
  await page.waitForTimeout(400);
  await compiled(page);
  assert.equal((await run(page, "interpreter")).fault, undefined);
  await page.check("#check-nans");
  await page.waitForTimeout(400);
  await compiled(page);
  assert.match((await run(page, "interpreter")).fault, /^line 2: .*NaN/);
  await page.close();
});

test("printf runs with the interpreter", async () => {
  const page = await open();
  await example(page, "printf");
  const { by, output, text } = await run(page, "auto");
  assert.equal(by, "interpreter");
  assert.match(output, /^work-item 0 of group 0: 0\.\d\d\n/);
  assert.match(text, /WebGPU cannot run this kernel: .*`printf`/);
  await page.close();
});

test("errors are shown at their place, and a proposal can be applied", async () => {
  const page = await open();
  await type(page, "kernel void k(global int *a) {\n  int unused_value;\n  a[0] = get_gobal_id(0);\n  a[0] == 1;\n}");
  const item = page.locator("#diagnostics li.error");
  assert.match(await page.locator("#diagnostics li.warning").textContent(), /^4:3: warning: .* \[-Wunused-comparison\]$/);
  assert.match(await item.textContent(), /^3:10: error: .*get_gobal_id/);
  assert.equal(await page.locator("#editor mark:not(.warning)").textContent(), "get_gobal_id");
  assert.match(await page.locator(".output .failure").first().textContent(), /errors/);
  assert.ok(await page.locator("#run").isDisabled());
  await screenshot(page, "errors");
  await page.locator("#diagnostics button").click();
  await page.waitForTimeout(400);
  await compiled(page);
  assert.match(await page.inputValue("#editor textarea"), /get_global_id/);
  assert.equal(await page.locator("#diagnostics li.error").count(), 0);
  await page.close();
});

test("the address contains the state", async () => {
  const page = await open();
  await type(page, "kernel void first(global int *a) { a[0] = 1; }\nkernel void second(global int *a, int n) { a[get_global_id(0)] = n * N; }");
  await page.fill("#build-options", "-DN=3");
  await page.waitForTimeout(400);
  await compiled(page);
  await page.selectOption("#kernel", "second");
  await compiled(page);
  await page.fill("#global-size", "4");
  await page.fill("#group-size", "2");
  await page.fill('tr[data-argument="a"] [data-field="count"]', "4");
  await page.fill('tr[data-argument="n"] [data-field="text"]', "7");
  await page.locator(".output select").first().selectOption("asm:armv8");
  await page.waitForTimeout(600);
  const hash = new URL(page.url()).hash;
  await page.close();
  const again = await open(hash);
  assert.equal(await again.inputValue("#kernel"), "second");
  assert.equal(await again.locator(".output").first().getAttribute("data-form"), "asm:armv8");
  assert.deepEqual((await run(again, "interpreter")).values.a, ["21", "21", "21", "21"]);
  await again.close();
});

test("a kernel that does not end can be stopped", async () => {
  const page = await open();
  await type(page, "kernel void k(global int *a) { volatile int i = 0; while (i == 0) { } a[0] = i; }");
  await page.selectOption("#backend", "interpreter");
  await page.click("#run");
  await page.locator("#stop").waitFor();
  await page.waitForTimeout(500);
  await page.click("#stop");
  await page.waitForFunction(() => document.getElementById("status").textContent === "stopped");
  await example(page, "saxpy");
  assert.equal((await run(page, "interpreter")).values.y[3], "7");
  await page.close();
});

test("a crash of the compiler does not end the page", async () => {
  const page = await open();
  const depth = 100000;
  await page.locator("#editor textarea").fill(`kernel void k(global int *a) { a[0] = ${"-(".repeat(depth)}1${")".repeat(depth)}; }`);
  await page.waitForFunction(() => !["compiling", "compiled"].includes(document.getElementById("status").textContent), null, { timeout: 60000 });
  await example(page, "saxpy");
  assert.equal((await run(page, "interpreter")).values.y[3], "7");
  await page.close();
});

test("without WebGPU, kernels run with the interpreter", async () => {
  const other = await chromium.launch({ executablePath: WGCL_CHROMIUM, args: ["--no-sandbox", "--disable-features=WebGPU", "--disable-gpu"] });
  try {
    const page = await other.newPage();
    await page.goto(address);
    await compiled(page);
    if ((await page.evaluate(() => document.documentElement.dataset.webgpu)) === "false") {
      assert.equal((await run(page, "auto")).by, "interpreter");
      assert.ok(await page.locator('#backend option[value="webgpu"]').isDisabled());
    }
  } finally {
    await other.close();
  }
});

test("a narrow and dark window shows everything", async () => {
  const page = await open("", { viewport: { width: 600, height: 1000 }, colorScheme: "dark" });
  await example(page, "mandelbrot");
  await run(page, "webgpu");
  await screenshot(page, "narrow-dark");
  await page.close();
});

test("the page reports no error to the console", () => {
  assert.deepEqual(problems, []);
});
