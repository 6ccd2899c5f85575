// The compiler for OpenCL C. `index.d.ts` describes the interface. The WebAssembly module executes requests: sections of
// bytes, of which the first is JSON (browser/src/lib.rs).

const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** The source was rejected. */
export class CompileError extends Error {
  constructor(failure) {
    super(failure.message);
    this.name = "CompileError";
    this.diagnostics = failure.diagnostics;
  }
}

/** A kernel cannot be compiled for a device. */
export class ShaderError extends Error {
  constructor(failure) {
    super(failure.message);
    this.name = "ShaderError";
  }
}

/** A kernel made an error while it ran, or its arguments do not match it. */
export class RunError extends Error {
  constructor(failure) {
    super(failure.message);
    this.name = "RunError";
    this.line = failure.line;
    this.workItem = failure.workItem;
  }
}

/**
 * The compiler has a defect, or the source nests too deeply. Programs and shaders are lost. The compiler can be used
 * again.
 */
export class CrashError extends Error {
  constructor(message, cause) {
    super(message, { cause });
    this.name = "CrashError";
  }
}

const failures = { compile: CompileError, shader: ShaderError, run: RunError };

/** Loads the compiler. */
export async function load(source = new URL("./wgcl.wasm", import.meta.url)) {
  return new Compiler(await module(source));
}

async function module(source) {
  if (source instanceof WebAssembly.Module) return source;
  if (source instanceof ArrayBuffer || ArrayBuffer.isView(source)) return WebAssembly.compile(source);
  const url = source instanceof URL ? source : undefined;
  if (url?.protocol === "file:" && typeof process === "object") {
    const { readFile } = await import("node:fs/promises");
    return WebAssembly.compile(await readFile(url));
  }
  const response = source instanceof Response ? source : await fetch(source);
  if (!response.ok) throw new Error(`${response.url}: ${response.status} ${response.statusText}`);
  // Servers that do not know the type of .wasm files do not support streaming.
  if (response.headers.get("Content-Type")?.startsWith("application/wasm")) return WebAssembly.compileStreaming(response);
  return WebAssembly.compile(await response.arrayBuffer());
}

/** Returns the bytes of a typed array or of a buffer. They share its memory. */
function bytesOf(data) {
  if (data instanceof ArrayBuffer) return new Uint8Array(data);
  if (ArrayBuffer.isView(data)) return new Uint8Array(data.buffer, data.byteOffset, data.byteLength);
  throw new TypeError("expected an ArrayBuffer or a typed array");
}

export class Compiler {
  #module;
  #instance;
  #generation = 0;
  #freed = new FinalizationRegistry(({ generation, request }) => {
    if (generation === this.#generation) this.#call(request);
  });

  constructor(module) {
    this.#module = module;
    this.#instance = new WebAssembly.Instance(module);
  }

  /** Checks a source. Returns all errors and warnings. */
  check(source, options) {
    return this.#call({ op: "check", source, options }).ok.diagnostics;
  }

  /** Compiles an OpenCL C source. */
  compile(source, options) {
    return this.#program(this.#call({ op: "compile", source, options }).ok);
  }

  /** Compiles a SPIR-V module for OpenCL. */
  compileSpirv(words, options) {
    return this.#program(this.#call({ op: "compileSpirv", options }, [bytesOf(words)]).ok);
  }

  #program(made) {
    const program = new Program(made, this.#session());
    this.#freed.register(program, { generation: this.#generation, request: { op: "freeProgram", program: made.program } }, program);
    return program;
  }

  // Programs and shaders belong to one instance. A crash ends it.
  #session() {
    const generation = this.#generation;
    return {
      call: (request, sections) => {
        if (generation !== this.#generation) throw new CrashError("the program was lost when the compiler crashed; compile it again");
        return this.#call(request, sections);
      },
      keep: (shader, number) => this.#freed.register(shader, { generation, request: { op: "freeShader", shader: number } }, shader),
      free: (object, request) => {
        this.#freed.unregister(object);
        if (generation === this.#generation) this.#call(request);
      },
    };
  }

  #call(request, sections = []) {
    const { memory, wgcl_input, wgcl_call, wgcl_output, wgcl_output_length } = this.#instance.exports;
    const parts = [encoder.encode(JSON.stringify(request)), ...sections];
    const length = parts.reduce((sum, part) => sum + 4 + part.length, 0);
    try {
      let at = wgcl_input(length) >>> 0;
      // Calls can replace `memory.buffer`, so no view is kept across them.
      const view = new DataView(memory.buffer);
      const bytes = new Uint8Array(memory.buffer);
      for (const part of parts) {
        view.setUint32(at, part.length, true);
        bytes.set(part, at + 4);
        at += 4 + part.length;
      }
      wgcl_call();
    } catch (error) {
      const text = decoder.decode(new Uint8Array(memory.buffer, wgcl_output() >>> 0, wgcl_output_length()));
      this.#generation += 1;
      this.#instance = new WebAssembly.Instance(this.#module);
      throw new CrashError(reason(error, text), error);
    }
    const response = split(memory.buffer, wgcl_output() >>> 0, wgcl_output_length());
    const made = { ...JSON.parse(decoder.decode(response[0])), sections: response };
    if (made.error && !sections.keepsFailure) throw failure(made.error);
    return made;
  }
}

function reason(error, text) {
  if (text) return `internal compiler error: ${text}`;
  if (error instanceof RangeError) return "the source nests too deeply for the stack of the compiler";
  return `internal compiler error: ${error.message}; the source may nest too deeply, or need too much memory`;
}

function failure(error) {
  const type = failures[error.kind];
  return type ? new type(error) : new TypeError(error.message);
}

// Copies the sections of a message.
function split(buffer, start, length) {
  const view = new DataView(buffer);
  const sections = [];
  for (let at = start; at < start + length; ) {
    const size = view.getUint32(at, true);
    sections.push(new Uint8Array(buffer.slice(at + 4, at + 4 + size)));
    at += 4 + size;
  }
  return sections;
}

// JSON has no objects with numbers as keys.
function pairs({ workGroupSize, ...maps }) {
  const list = (map) => Object.entries(map ?? {}).map(([index, value]) => [Number(index), value]);
  return { workGroupSize, ...Object.fromEntries(Object.entries(maps).map(([name, map]) => [name, list(map)])) };
}

/** A compiled program. */
export class Program {
  #number;
  #session;

  constructor(made, session) {
    this.#number = made.program;
    this.#session = session;
    this.kernels = made.kernels;
    this.warnings = made.warnings;
  }

  kernel(name) {
    return this.kernels.find((kernel) => kernel.name === name);
  }

  shader(kernel, launch) {
    const response = this.#session.call({ op: "shader", program: this.#number, kernel, launch: pairs(launch) });
    return new Shader(response, this.#session);
  }

  listing(kernel, launch, form) {
    return this.#session.call({ op: "listing", program: this.#number, kernel, launch: pairs(launch), form }).ok;
  }

  run(kernel, range, values) {
    const sections = [];
    const changed = [];
    const kinds = values.map((value) => {
      if (value.buffer !== undefined && !ArrayBuffer.isView(value)) {
        const bytes = bytesOf(value.buffer);
        sections.push(bytes);
        changed.push(bytes);
        return { kind: "buffer" };
      }
      if (value.image !== undefined) {
        const bytes = bytesOf(value.image);
        sections.push(bytes);
        changed.push(bytes);
        return { kind: "image", width: value.width, height: value.height, format: value.format ?? "rgba8" };
      }
      if (value.sampler !== undefined) return { kind: "sampler", ...value.sampler };
      if (value.local !== undefined) return { kind: "local", size: value.local };
      if (value.null) return { kind: "null" };
      sections.push(bytesOf(value.bytes));
      return { kind: "bytes" };
    });
    // A kernel that fails has changed its buffers, too.
    sections.keepsFailure = true;
    const response = this.#session.call({ op: "run", program: this.#number, kernel, range, arguments: kinds }, sections);
    response.sections.slice(1).forEach((bytes, index) => changed[index].set(bytes));
    if (response.error) throw failure(response.error);
    return response.ok.output;
  }

  free() {
    this.#session.free(this, { op: "freeProgram", program: this.#number });
  }
}

/** A kernel that is compiled to a compute shader. */
export class Shader {
  #number;
  #session;

  constructor({ ok, sections }, session) {
    this.#number = ok.shader;
    this.#session = session;
    this.entryPoint = ok.entryPoint;
    this.workGroupSize = ok.workGroupSize;
    this.bindings = ok.bindings.map(({ number, kind, size, resource: { section, ...resource } }) => ({
      number,
      kind,
      ...(size === null ? {} : { size }),
      resource: section === undefined ? resource : { ...resource, contents: sections[section] },
    }));
    session.keep(this, this.#number);
  }

  spirv() {
    const words = this.#session.call({ op: "spirv", shader: this.#number }).sections[1];
    return words && new Uint32Array(words.buffer);
  }

  text(language) {
    return this.#session.call({ op: "text", shader: this.#number, language }).ok.text;
  }

  arguments(range, values) {
    const sections = [];
    const kinds = Object.entries(values).map(([index, value]) => {
      if (value.width !== undefined) return [Number(index), { kind: "image", width: value.width, height: value.height, format: value.format ?? "rgba8" }];
      sections.push(bytesOf(value.bytes));
      return [Number(index), { kind: "bytes" }];
    });
    return this.#session.call({ op: "arguments", shader: this.#number, range, values: kinds }, sections).sections[1];
  }

  free() {
    this.#session.free(this, { op: "freeShader", shader: this.#number });
  }
}
