// Tests of the npm package in Node. WGCL_PACKAGE is the folder of the package that scripts/build-wasm has built.
// WGCL_TYPESCRIPT is a folder in which npm has installed typescript, @types/node and @webgpu/types. Without it, the types are not tested.

import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import { copyFile, mkdir, mkdtemp, readFile, readdir, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import test from "node:test";
import { pathToFileURL } from "node:url";

const folder = pathToFileURL(`${process.env.WGCL_PACKAGE}/`);
const { CompileError, CrashError, RunError, ShaderError, load } = await import(new URL("index.js", folder));
const compiler = await load();
const saxpy = `kernel void saxpy(float a, global const float *x, global float *y, int n)
{
  int i = get_global_id(0);
  if (i < n)
    y[i] = a * x[i] + y[i];
}`;

test("a kernel runs and changes its buffers in place", () => {
  const program = compiler.compile(saxpy, { device: "cpu" });
  const x = Float32Array.from({ length: 10 }, (_, i) => i);
  const y = new Float32Array(12).fill(1);
  const values = [{ bytes: new Float32Array([2]) }, { buffer: x }, { buffer: y.subarray(1, 11) }, { bytes: new Int32Array([9]) }];
  assert.equal(program.run("saxpy", { globalSize: [10], workGroupSize: [5] }, values), "");
  assert.deepEqual([...y], [1, 1, 3, 5, 7, 9, 11, 13, 15, 17, 1, 1]);
});

test("kernels are described", () => {
  const [kernel] = compiler.compile(`__attribute__((reqd_work_group_size(8, 4, 1)))
    kernel void k(constant int *c, local float *l, float4 v, read_only image2d_t i, sampler_t s) { local int a[3]; a[0] = 1; }`, { device: "cpu" }).kernels;
  assert.deepEqual(kernel.requiredWorkGroupSize, [8, 4, 1]);
  assert.equal(kernel.localMemory, 12);
  assert.deepEqual(kernel.arguments.map(({ name, typeName, kind, size }) => [name, typeName, kind, size]), [
    ["c", "int*", "buffer", undefined],
    ["l", "float*", "local", undefined],
    ["v", "float4", "value", 16],
    ["i", "image2d_t", "image", undefined],
    ["s", "sampler_t", "sampler", undefined],
  ]);
});

test("diagnostics have locations and replacements", () => {
  const source = "kernel void k(global int *a) {\n  a[0] = get_gobal_id(0);\n}";
  const [found] = compiler.check(source, { device: "webgpu", fileName: "k.cl" });
  assert.equal(found.kind, "error");
  assert.equal(found.group, null);
  const [warning] = compiler.check("kernel void k(int n) { n + 1; }", { device: "cpu" });
  assert.deepEqual([warning.kind, warning.group], ["warning", "unused-value"]);
  assert.deepEqual(found.location, { file: "k.cl", line: 2, column: 10, endLine: 2, endColumn: 22 });
  assert.equal(found.notes[0].replacement, "get_global_id");
  assert.throws(() => compiler.compile(source, { device: "cpu" }), (error) => error instanceof CompileError && error.diagnostics.length === 1);
  assert.throws(() => compiler.check("", { device: "cpu", buildOptions: "-cl-fast" }), /unknown build option `-cl-fast`/);
  assert.deepEqual(compiler.check('#include "n.h"\nkernel void k(global int *a) { a[0] = N; }', { device: "cpu", headers: { "n.h": "#define N 3" } }), []);
});

test("shaders have text, bindings and an argument buffer", () => {
  const shader = compiler.compile(saxpy, { device: "webgpu" }).shader("saxpy", { workGroupSize: [64] });
  assert.match(shader.text("wgsl"), /@compute @workgroup_size\(64, 1, 1\)/);
  for (const language of ["msl", "hlsl", "glsl"]) assert.ok(shader.text(language).length > 100, language);
  assert.deepEqual(shader.bindings.map(({ resource }) => resource), [{ kind: "arguments" }, { kind: "argument", argument: 1 }, { kind: "argument", argument: 2 }]);
  const range = { globalSize: [128], workGroupSize: [64] };
  const bytes = shader.arguments(range, { 0: { bytes: new Float32Array([2.5]) }, 3: { bytes: new Int32Array([77]) } });
  const words = new Uint32Array(bytes.buffer);
  assert.ok(words.includes(77) && words.includes(new Uint32Array(new Float32Array([2.5]).buffer)[0]), `${words}`);
  assert.throws(() => shader.arguments(range, {}), /argument 0: the value is missing/);
  const vulkan = compiler.compile(saxpy, { device: "vulkan" }).shader("saxpy", { workGroupSize: [64] });
  const local = compiler.compile("kernel void k(global int *a, local int *l) { l[0] = 1; a[0] = l[0]; }", { device: "webgpu" });
  assert.match(local.shader("k", { workGroupSize: [1], localMemory: { 1: 512 } }).text("wgsl"), /var<workgroup> \w+: array<u32, 128>/);
  assert.equal(vulkan.spirv()[0], 0x07230203);
  assert.throws(() => vulkan.text("wgsl"), ShaderError);
});

test("listings have the lines of the source", () => {
  const launch = { workGroupSize: [64] };
  const lineOf = (listing, pattern) => {
    const rows = listing.text.split("\n");
    assert.equal(listing.lines.length, rows.length - 1);
    const row = rows.findIndex((text) => pattern.test(text));
    assert.ok(row >= 0, `${pattern}\n${listing.text}`);
    return listing.lines[row];
  };
  const cpu = compiler.compile(saxpy, { device: "cpu" });
  for (const [name, pattern] of [["avx512", /vfmadd/], ["avx2", /vfmadd/], ["armv8", /fmla/], ["armv8.2", /fmla/], ["sve-256", /fmla/], ["sse4.2", /mulsd/]]) {
    assert.equal(lineOf(cpu.listing("saxpy", launch, { form: "assembly", cpu: name }), pattern), 5, name);
  }
  assert.equal(lineOf(cpu.listing("saxpy", launch, { form: "vectorIr", cpu: "avx512" }), /fma/), 5);
  const vulkan = compiler.compile(saxpy, { device: "vulkan" });
  const spirv = vulkan.listing("saxpy", launch, { form: "spirv" });
  assert.equal(lineOf(spirv, /OpFMul/), 5);
  assert.ok(!/OpLine|OpSource|OpString/.test(spirv.text));
  const web = compiler.compile(saxpy, { device: "webgpu" });
  const wgsl = web.listing("saxpy", launch, { form: "shader", language: "wgsl" });
  assert.equal(wgsl.text, web.shader("saxpy", launch).text("wgsl"));
  assert.equal(lineOf(wgsl, /\* /), 5);
  assert.throws(() => web.listing("saxpy", launch, { form: "assembly", cpu: "avx2" }), /compile it for `Cpu`/);
});

test("the interpreter reports errors of kernels", () => {
  const program = compiler.compile("kernel void k(global int *a) {\n  a[get_global_id(0)] = 1;\n}", { device: "cpu" });
  const a = new Int32Array(2);
  assert.throws(
    () => program.run("k", { globalSize: [3], workGroupSize: [1] }, [{ buffer: a }]),
    (error) => error instanceof RunError && error.line === 2 && error.workItem[0] === 2 && /out of bounds/.test(error.message),
  );
  assert.deepEqual([...a], [1, 1]);
  const root = "kernel void k(global float *a) { a[0] = sqrt(a[0]); }";
  const run = (options) => compiler.compile(root, { device: "cpu", ...options }).run("k", { globalSize: [1], workGroupSize: [1] }, [{ buffer: new Float32Array([-1]) }]);
  assert.equal(run({}), "");
  assert.throws(() => run({ checkNans: true }), /NaN/);
});

test("printf is returned", () => {
  const program = compiler.compile('kernel void k() { printf("%d %s\\n", (int)get_global_id(0), "x"); }', { device: "cpu" });
  assert.equal(program.run("k", { globalSize: [2], workGroupSize: [1] }, []), "0 x\n1 x\n");
});

test("images and samplers are passed", () => {
  const program = compiler.compile(`kernel void flip(read_only image2d_t from, write_only image2d_t to, sampler_t s)
  { int x = get_global_id(0), y = get_global_id(1); write_imagef(to, (int2)(3 - x, y), read_imagef(from, s, (int2)(x, y))); }`, { device: "cpu" });
  const from = Uint8Array.from({ length: 32 }, (_, i) => i * 7);
  const to = new Uint8Array(32);
  const image = (data) => ({ image: data, width: 4, height: 2 });
  program.run("flip", { globalSize: [4, 2], workGroupSize: [1, 1] }, [image(from), image(to), { sampler: {} }]);
  const pixel = (data, x, y) => [...data.subarray(4 * (4 * y + x), 4 * (4 * y + x + 1))];
  for (let x = 0; x < 4; x++) for (let y = 0; y < 2; y++) assert.deepEqual(pixel(to, 3 - x, y), pixel(from, x, y));
});

test("a SPIR-V module is checked", () => {
  assert.throws(() => compiler.compileSpirv(new Uint32Array([1, 2, 3]), { device: "cpu" }), CompileError);
});

test("the compiler can be used after a crash", () => {
  const program = compiler.compile(saxpy, { device: "cpu" });
  const depth = 200000;
  const nested = `kernel void k(global int *a) { a[0] = ${"(".repeat(depth)}1${")".repeat(depth)}; }`;
  let crashed = false;
  try {
    compiler.compile(nested, { device: "cpu" });
  } catch (error) {
    // A limit of the parser is also a correct answer.
    assert.ok(error instanceof CrashError || error instanceof CompileError, String(error));
    crashed = error instanceof CrashError;
  }
  if (crashed) assert.throws(() => program.listing("saxpy", { workGroupSize: [64] }, { form: "assembly", cpu: "avx2" }), CrashError);
  assert.equal(compiler.compile(saxpy, { device: "cpu" }).kernels.length, 1);
});

test("freed programs are refused", () => {
  const program = compiler.compile(saxpy, { device: "cpu" });
  program.free();
  assert.throws(() => program.listing("saxpy", { workGroupSize: [64] }, { form: "assembly", cpu: "avx2" }), /does not exist or was freed/);
});

test("the package contains the files that it names", async () => {
  const description = JSON.parse(await readFile(new URL("package.json", folder), "utf8"));
  for (const name of description.files) assert.ok((await readFile(new URL(name, folder))).length > 0, name);
  assert.notEqual(description.version, "0.0.0");
});

test("the types describe the package", { skip: process.env.WGCL_TYPESCRIPT ? false : "tsc is not installed" }, async () => {
  const work = await mkdtemp(join(tmpdir(), "wgcl-types-"));
  try {
    const modules = join(process.env.WGCL_TYPESCRIPT, "node_modules");
    const sources = new URL("types/", import.meta.url);
    await mkdir(join(work, "node_modules"));
    await symlink(process.env.WGCL_PACKAGE, join(work, "node_modules", "wgcl-compiler"));
    for (const name of await readdir(modules)) await symlink(join(modules, name), join(work, "node_modules", name));
    for (const name of ["use.mts", "errors.mts"]) await copyFile(new URL(name, sources), join(work, name));
    const options = ["--strict", "--exactOptionalPropertyTypes", "--noUncheckedIndexedAccess", "--target", "es2022", "--module", "nodenext"];
    const libraries = ["--lib", "es2022,dom", "--types", "node,@webgpu/types", "--preserveSymlinks"];
    const tsc = spawnSync(process.execPath, [join(modules, "typescript/bin/tsc"), ...options, ...libraries, "use.mts", "errors.mts"], { cwd: work, encoding: "utf8" });
    assert.equal(tsc.status, 0, tsc.stdout);
    const run = spawnSync(process.execPath, ["--preserve-symlinks", "use.mjs"], { cwd: work, encoding: "utf8" });
    assert.equal(run.status, 0, run.stderr);
  } finally {
    await rm(work, { recursive: true });
  }
});
