// Compiles and runs kernels in a worker, so that the page stays responsive. The page ends the worker if it takes too
// long.

import { CompileError, CrashError, RunError, load } from "./wgcl-compiler/index.js";
import { requestDevice, run } from "./wgcl-compiler/webgpu.js";

const compiler = load();
const device = requestDevice().catch(() => undefined);

// The programs of the last source, by device.
let programs = { key: "" };

function programFor(loaded, kind, { source, options }) {
  const key = JSON.stringify([source, options]);
  if (programs.key !== key) {
    for (const program of Object.values(programs.made ?? {})) program.free?.();
    programs = { key, made: {} };
  }
  programs.made[kind] ??= loaded.compile(source, { ...options, device: kind });
  return programs.made[kind];
}

const forms = {
  wgsl: ["webgpu", { form: "shader", language: "wgsl" }],
  spirv: ["vulkan", { form: "spirv" }],
  msl: ["metal", { form: "shader", language: "msl" }],
  hlsl: ["direct3d12", { form: "shader", language: "hlsl" }],
  glsl: ["opengl-es", { form: "shader", language: "glsl" }],
};

function formOf(name) {
  const [kind, cpu] = name.split(":");
  return cpu ? ["cpu", { form: kind === "asm" ? "assembly" : "vectorIr", cpu }] : forms[kind];
}

function describe(error) {
  return { message: error.message, line: error.line ?? null, isCrash: error instanceof CrashError };
}

async function compile(message) {
  const loaded = await compiler;
  let program;
  try {
    program = programFor(loaded, "cpu", message);
  } catch (error) {
    if (!(error instanceof CompileError)) throw error;
    return { diagnostics: error.diagnostics, kernels: [] };
  }
  return { diagnostics: program.warnings, kernels: program.kernels };
}

async function listing({ name, kernel, launch, ...message }) {
  const [kind, form] = formOf(name);
  return programFor(await compiler, kind, message).listing(kernel, launch, form);
}

async function execute({ backend, kernel, range, values, check, ...message }) {
  const loaded = await compiler;
  const gpu = backend === "interpreter" ? undefined : await device;
  const result = { by: "interpreter", notes: [] };
  if (backend === "webgpu" && !gpu) throw new RunError({ message: "this browser has no WebGPU; select the interpreter", line: null });
  const copy = values.map((value) => structuredClone(value));
  let hasRun = false;
  if (gpu) {
    try {
      const program = programFor(loaded, "webgpu", { ...message, options: { ...message.options, checkNans: false, checkConversions: false } });
      const { milliseconds } = await run(gpu, program, kernel, range, values);
      Object.assign(result, { by: "WebGPU", milliseconds, values });
      hasRun = true;
    } catch (error) {
      if (backend === "webgpu" || error instanceof CrashError) throw error;
      result.notes.push(`WebGPU cannot run this kernel: ${error.message}`);
      values = copy.map((value) => structuredClone(value));
    }
  }
  if (!hasRun || check) {
    const program = programFor(loaded, "cpu", message);
    const own = hasRun ? copy : values;
    const begin = performance.now();
    try {
      result.output = program.run(kernel, range, own);
      result.checked = "passed";
    } catch (error) {
      if (!(error instanceof RunError)) throw error;
      result.checked = "failed";
      result.fault = describe(error);
    }
    if (hasRun) result.compared = own;
    else Object.assign(result, { values: own, milliseconds: performance.now() - begin });
  }
  return result;
}

const operations = { compile, listing, execute };

// Requests run in sequence, because they share the programs.
let last = Promise.resolve();
self.onmessage = ({ data: { id, operation, ...message } }) => {
  last = last.then(async () => {
    try {
      self.postMessage({ id, result: await operations[operation](message) });
    } catch (error) {
      if (error instanceof CrashError) programs = { key: "" };
      self.postMessage({ id, error: describe(error) });
    }
  });
};
compiler.then(
  async () => self.postMessage({ ready: true, hasWebGpu: Boolean(await device) }),
  (error) => self.postMessage({ failed: error.message }),
);
