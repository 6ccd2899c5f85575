// The page: it connects the editor, the panes with code, the form of the launch, and the worker.

import { Editor } from "./editor.js";
import { Engine } from "./engine.js";
import { examples } from "./examples.js";
import * as launch from "./launch.js";
import { choices, hueOf, Output } from "./outputs.js";
import { showFailure, showResults } from "./results.js";
import { decode, encode } from "./state.js";

const $ = (id) => document.getElementById(id);
const fields = { buildOptions: $("build-options"), global: $("global-size"), group: $("group-size"), backend: $("backend") };
const checks = { check: $("check"), checkNans: $("check-nans"), checkConversions: $("check-conversions") };

/** The settings that the address contains, except those of `fields` and `checks`. */
const state = { kernel: "", args: {}, panes: ["wgsl", "asm:avx2"] };
let kernels = [];
let outputs = [];
let compiled = 0;
let isRunning = false;
let fault = null;
let diagnostics = [];

const editor = new Editor($("editor"), { onChange: changed, onHover: link, onClick: (line) => reveal(line) });
const engine = new Engine({
  onReady: ({ hasWebGpu }) => {
    document.documentElement.dataset.webgpu = hasWebGpu;
    for (const option of $("backend").options) if (option.value === "webgpu") option.disabled = !hasWebGpu;
    if (compiled === 0) update();
  },
  onRestart: (reason) => status(reason, true),
});

function status(text, isFailure = false) {
  $("status").textContent = text;
  $("status").classList.toggle("failed", isFailure);
}

const options = () => ({
  buildOptions: fields.buildOptions.value,
  fileName: "kernel.cl",
  checkNans: checks.checkNans.checked,
  checkConversions: checks.checkConversions.checked,
});

const current = () => kernels.find(({ name }) => name === state.kernel) ?? kernels[0];

// ---- The address

function snapshot() {
  const plain = Object.fromEntries(Object.entries(fields).map(([name, field]) => [name, field.value]));
  const set = Object.fromEntries(Object.entries(checks).map(([name, box]) => [name, box.checked]));
  return { source: editor.value, ...plain, ...set, ...state };
}

let saving;
function save() {
  clearTimeout(saving);
  saving = setTimeout(async () => {
    const text = await encode(snapshot());
    saved = `#${text}`;
    history.replaceState(null, "", saved);
  }, 300);
}
let saved = "";

function restore(from) {
  editor.value = from.source ?? "";
  for (const [name, field] of Object.entries(fields)) field.value = from[name] ?? field.defaultValue ?? "";
  if (!fields.backend.value) fields.backend.value = "auto";
  for (const [name, box] of Object.entries(checks)) box.checked = from[name] ?? box.defaultChecked;
  state.kernel = from.kernel ?? "";
  state.args = from.args ?? {};
  const panes = (from.panes ?? state.panes).filter((form) => form in choices);
  state.panes = panes.length ? panes : ["wgsl"];
  makePanes();
  // The form shows the arguments again after the compilation.
  kernels = [];
  $("run").disabled = true;
  fault = null;
  $("results").replaceChildren();
}

async function fromAddress() {
  const text = location.hash.slice(1);
  if (text) {
    try {
      restore(await decode(text));
      saved = location.hash;
      $("example").value = "";
      update();
      return;
    } catch {
      status("the address contains no valid state; the first example is shown", true);
    }
  }
  await openExample(Object.keys(examples)[0]);
}

async function openExample(name) {
  const example = examples[name];
  const response = await fetch(new URL(`examples/${name}.cl`, import.meta.url));
  if (!response.ok) return status(`${response.url}: ${response.status}`, true);
  $("example").value = name;
  restore({ ...snapshot(), buildOptions: "", kernel: "", ...structuredClone(example), source: await response.text() });
  update();
}

// ---- Panes

function makePanes() {
  outputs = state.panes.map((form) => newOutput(form));
  $("outputs").replaceChildren(...outputs.map(({ element }) => element));
}

function newOutput(form) {
  return new Output(form, { onForm: paneChanged, onClose: addOrRemove, onHover: link, onClick: (line, from) => reveal(line, from) });
}

function paneChanged(output) {
  state.panes = outputs.map(({ form }) => form);
  save();
  refresh(output, compiled);
}

function addOrRemove(output, adds) {
  const index = outputs.indexOf(output);
  if (adds) {
    const form = Object.keys(choices).find((name) => !state.panes.includes(name)) ?? "wgsl";
    outputs.splice(index + 1, 0, newOutput(form));
  } else if (outputs.length > 1) {
    outputs.splice(index, 1);
  }
  $("outputs").replaceChildren(...outputs.map(({ element }) => element));
  paneChanged(outputs[Math.min(index + (adds ? 1 : 0), outputs.length - 1)]);
}

function link(line) {
  editor.link(line);
  for (const output of outputs) output.link(line);
  $("cursor").textContent = line === null ? "" : `line ${line}`;
}

function reveal(line, from) {
  if (line === null) return;
  if (from) editor.reveal(line);
  for (const output of outputs) if (output !== from) output.reveal(line);
}

function colour() {
  const lines = new Set(outputs.flatMap((output) => output.lines.filter((line) => line !== null)));
  editor.hues = new Map([...lines].map((line) => [line, hueOf(line)]));
}

async function refresh(output, edition) {
  const kernel = current();
  if (!kernel) return output.fail(diagnostics.some(({ kind }) => kind === "error") ? "The source has errors." : "The source has no kernel.");
  let group;
  try {
    group = launch.sizes(fields.group.value);
  } catch {
    group = [64];
  }
  try {
    const message = { name: output.form, kernel: kernel.name, launch: launch.launchOf(kernel, state.args, group), source: editor.value, options: options() };
    const listing = await engine.request("listing", message);
    if (edition === compiled) output.show(listing);
  } catch (error) {
    if (edition === compiled) output.fail(error.message);
  }
  if (edition === compiled) colour();
}

// ---- Compilation

let waiting;
function changed() {
  $("example").value = "";
  fault = null;
  save();
  clearTimeout(waiting);
  waiting = setTimeout(update, 250);
}

async function update() {
  clearTimeout(waiting);
  const edition = ++compiled;
  status("compiling");
  try {
    const result = await engine.request("compile", { source: editor.value, options: options() });
    if (edition !== compiled) return;
    ({ diagnostics, kernels } = result);
    showKernels();
    showDiagnostics();
    await Promise.all(outputs.map((output) => refresh(output, edition)));
    if (edition === compiled) status(kernels.length ? "compiled" : "not compiled", kernels.length === 0);
  } catch (error) {
    if (edition !== compiled) return;
    status(error.message, true);
    for (const output of outputs) output.fail(error.message);
  }
}

function showKernels() {
  const kernel = current();
  $("run").disabled = !kernel;
  if (!kernel) return;
  state.kernel = kernel.name;
  $("kernel").replaceChildren(...kernels.map(({ name }) => new Option(name, name)));
  $("kernel").value = kernel.name;
  let count = 256;
  try {
    count = launch.sizes(fields.global.value).reduce((product, size) => product * size, 1);
  } catch {
    // The field shows the error when the kernel runs.
  }
  state.args = launch.complete(kernel, state.args, count);
  launch.show($("arguments").tBodies[0], kernel, state.args, () => {
    save();
    if (kernel.arguments.some(({ kind }) => kind !== "buffer" && kind !== "value")) updateSoon();
  });
}

function updateSoon() {
  clearTimeout(waiting);
  const edition = compiled;
  waiting = setTimeout(() => outputs.forEach((output) => refresh(output, edition)), 250);
}

function showDiagnostics() {
  const list = [];
  const add = ({ kind, message, group, location, replacement }) => {
    const item = document.createElement("li");
    item.className = kind;
    const label = document.createElement("b");
    label.textContent = `${location ? `${location.line}:${location.column}: ` : ""}${kind}: `;
    item.append(label, group ? `${message} [-W${group}]` : message);
    if (location) item.addEventListener("click", () => editor.select(location.line, location.column, location.endLine, location.endColumn));
    if (replacement !== null && replacement !== undefined && location) {
      const button = document.createElement("button");
      button.textContent = "Apply";
      button.addEventListener("click", (event) => {
        event.stopPropagation();
        editor.replace(location, replacement);
      });
      item.append(button);
    }
    list.push(item);
  };
  for (const diagnostic of diagnostics) {
    add(diagnostic);
    diagnostic.notes.forEach(add);
  }
  $("diagnostics").replaceChildren(...list);
  const marks = diagnostics.filter(({ location }) => location?.file === "kernel.cl").map(({ kind, location }) => ({
    line: location.line,
    from: location.column - 1,
    to: location.endLine > location.line ? Infinity : Math.max(location.endColumn - 1, location.column),
    kind,
  }));
  if (fault?.line) marks.push({ line: fault.line, from: 0, to: Infinity, kind: "error" });
  editor.marks = marks;
}

// ---- Runs

async function run() {
  const kernel = current();
  if (!kernel || isRunning) return;
  let values, range;
  for (const field of [fields.global, fields.group]) field.removeAttribute("aria-invalid");
  try {
    range = rangeOf(kernel);
    values = launch.values(kernel, state.args);
  } catch (error) {
    return showFailure($("results"), error.message);
  }
  isRunning = true;
  $("run").disabled = true;
  $("stop").hidden = false;
  status("running");
  const message = { backend: fields.backend.value, kernel: kernel.name, range, values, check: checks.check.checked, source: editor.value, options: options() };
  try {
    const result = await engine.request("execute", message, 0);
    fault = result.fault ?? null;
    showResults($("results"), kernel, state.args, result);
    status(fault ? "the checker found an error" : "done", Boolean(fault));
  } catch (error) {
    fault = error;
    showFailure($("results"), error.message);
    status(error.isStopped ? error.message : "the kernel did not run", true);
  } finally {
    isRunning = false;
    $("run").disabled = false;
    $("stop").hidden = true;
    showDiagnostics();
    colour();
    $("results").scrollIntoView({ block: "start" });
  }
}

function rangeOf(kernel) {
  const read = (field, name) => {
    try {
      return launch.sizes(field.value);
    } catch (error) {
      field.setAttribute("aria-invalid", "true");
      throw new Error(`${name}: ${error.message}`);
    }
  };
  const globalSize = read(fields.global, "global size");
  const own = kernel.requiredWorkGroupSize;
  const workGroupSize = own ? own.slice(0, globalSize.length) : read(fields.group, "work-group size");
  if (workGroupSize.length !== globalSize.length) throw new Error(`the global size has ${globalSize.length} dimensions, the work-group size has ${workGroupSize.length}`);
  globalSize.forEach((size, dimension) => {
    if (size % workGroupSize[dimension]) throw new Error(`dimension ${dimension}: the work-group size ${workGroupSize[dimension]} does not divide the global size ${size}`);
  });
  return { globalSize, workGroupSize };
}

// ---- Start

for (const [name, { title }] of Object.entries(examples)) $("example").append(new Option(title, name));
$("example").addEventListener("change", () => $("example").value && openExample($("example").value).then(save));
$("kernel").addEventListener("change", () => {
  state.kernel = $("kernel").value;
  save();
  update();
});
$("run").addEventListener("click", run);
$("stop").addEventListener("click", () => engine.restart("stopped"));
$("copy-link").addEventListener("click", async () => {
  const text = await encode(snapshot());
  saved = `#${text}`;
  history.replaceState(null, "", saved);
  await navigator.clipboard.writeText(location.href);
  status("the link is in the clipboard");
});
for (const name of ["buildOptions", "group"]) fields[name].addEventListener("input", changed);
for (const name of ["global", "backend"]) fields[name].addEventListener("input", save);
for (const box of Object.values(checks)) box.addEventListener("change", changed);
document.addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
    event.preventDefault();
    run();
  }
});
addEventListener("hashchange", () => location.hash !== saved && fromAddress());
await fromAddress();
