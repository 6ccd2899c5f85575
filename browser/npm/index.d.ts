/** The kind of device for which a program is compiled. It determines the features of the language, such as `double`. */
export type Device = "cpu" | "vulkan" | "webgpu" | "metal" | "direct3d12" | "opengl-es";
/** An instruction set of CPUs. */
export type Cpu = "sse4.2" | "avx2" | "avx512" | "armv8" | "armv8.2" | "sve-128" | "sve-256" | "sve-512";
export type Language = "wgsl" | "msl" | "hlsl" | "glsl";
export type ImageFormat = "rgba8" | "rgba8uint" | "rgba32float" | "r8" | "r32float";
export type Bytes = ArrayBuffer | ArrayBufferView;

export interface Options {
  device: Device;
  /** Options of clBuildProgram, such as `-cl-std=CL3.0 -DN=4`. */
  buildOptions?: string;
  /** The name of the source in diagnostics. */
  fileName?: string;
  /** Headers by name. */
  headers?: Record<string, string>;
  /** Whether `Program.run` reports operations that compute a NaN from other values. */
  checkNans?: boolean;
  /** Whether `Program.run` reports conversions of floats to integers that are out of range. */
  checkConversions?: boolean;
}

/**
 * A range in the source. Lines and columns start at 1. Columns are characters. The end column is after the last
 * character.
 */
export interface Location {
  file: string;
  line: number;
  column: number;
  endLine: number;
  endColumn: number;
}

export interface Note {
  kind: "note" | "help";
  message: string;
  location: Location | null;
  /** The text that should replace `location`. */
  replacement: string | null;
}

export interface Diagnostic {
  kind: "error" | "warning" | "note" | "help";
  message: string;
  /** The group of a warning, such as "unused-value". The option -Wno-unused-value disables the group. */
  group: string | null;
  location: Location | null;
  notes: Note[];
  /** The text in clang's format, with the source line. */
  rendered: string;
}

export interface Argument {
  name: string;
  typeName: string;
  kind: "value" | "buffer" | "local" | "image" | "sampler" | "pipe";
  /** The size in bytes of a value. */
  size?: number;
  isReadOnly?: boolean;
  isConstant?: boolean;
}

export interface Kernel {
  name: string;
  arguments: Argument[];
  requiredWorkGroupSize: [number, number, number] | null;
  /** The size in bytes of the kernel's `local` variables, without arguments. */
  localMemory: number;
}

export interface Sampler {
  isNormalized?: boolean;
  isLinear?: boolean;
  addressing?: "clamp" | "clamp-to-edge" | "repeat" | "mirrored-repeat";
}

/** The properties of a launch for which code is compiled. The keys are indices of arguments. */
export interface Launch {
  workGroupSize: number[];
  localMemory?: Record<number, number>;
  images?: Record<number, ImageFormat>;
  samplers?: Record<number, Sampler>;
}

/** The sizes have as many elements as the range has dimensions. */
export interface Range {
  globalSize: number[];
  workGroupSize: number[];
}

/** The value of an argument for `Program.run`. The launch changes buffers and images in place. */
export type Value =
  | { bytes: Bytes }
  | { buffer: Bytes }
  | { image: Bytes; width: number; height: number; format?: ImageFormat }
  | { sampler: Sampler }
  | { local: number }
  | { null: true };

/**
 * A stage of a kernel. `vectorIr` and `assembly` need the device `cpu`, `spirv` the device `vulkan`, WGSL the device
 * `webgpu`.
 */
export type Form =
  | { form: "vectorIr"; cpu: Cpu }
  | { form: "assembly"; cpu: Cpu }
  | { form: "spirv" }
  | { form: "shader"; language: Language };

export interface Listing {
  text: string;
  /** For each line of the text, the line of the source. */
  lines: (number | null)[];
}

export type Resource =
  | { kind: "arguments" }
  | { kind: "argument"; argument: number }
  | { kind: "constants"; contents: Uint8Array }
  | { kind: "variables"; contents: Uint8Array }
  | { kind: "scratch"; bytesPerWorkItem: number }
  | { kind: "zeros"; size: number };

/** A binding of bind group 0. */
export interface Binding {
  number: number;
  kind: "uniform" | "storage";
  /** The least size of a uniform buffer. */
  size?: number;
  resource: Resource;
}

/** The source was rejected. */
export class CompileError extends Error {
  diagnostics: Diagnostic[];
}

/** A kernel cannot be compiled for a device. */
export class ShaderError extends Error {}

/** A kernel made an error while it ran, or its arguments do not match it. */
export class RunError extends Error {
  line: number | null;
  workItem: [number, number, number] | null;
}

/**
 * The compiler has a defect, or the source nests too deeply. Programs and shaders are lost. The compiler can be used
 * again.
 */
export class CrashError extends Error {}

/** Loads the compiler. The default is the module of the package. */
export function load(source?: URL | string | Response | Bytes | WebAssembly.Module): Promise<Compiler>;

export class Compiler {
  constructor(module: WebAssembly.Module);
  /** Checks a source. Returns all errors and warnings. This is faster than `compile`. */
  check(source: string, options: Options): Diagnostic[];
  /** Compiles an OpenCL C source. Throws a CompileError if it is rejected. */
  compile(source: string, options: Options): Program;
  /** Compiles a SPIR-V module for OpenCL. Throws a CompileError if it is invalid or not supported. */
  compileSpirv(words: Bytes, options: Options): Program;
}

/** A compiled program. */
export class Program {
  private constructor();
  readonly kernels: Kernel[];
  readonly warnings: Diagnostic[];
  kernel(name: string): Kernel | undefined;
  /** Compiles a kernel to a shader for the device of the program's options. Throws a ShaderError. */
  shader(kernel: string, launch: Launch): Shader;
  /** Prints a stage of a kernel. Throws a ShaderError. */
  listing(kernel: string, launch: Launch, form: Form): Listing;
  /** Runs a kernel with the interpreter, which checks each access. Returns the output of `printf`. Throws a RunError. */
  run(kernel: string, range: Range, values: Value[]): string;
  /** Frees the memory of the program now, and not when it is collected. */
  free(): void;
}

/** A kernel that is compiled to a compute shader. */
export class Shader {
  private constructor();
  readonly entryPoint: string;
  readonly workGroupSize: [number, number, number];
  /** The bindings of bind group 0. */
  readonly bindings: Binding[];
  /** Returns the SPIR-V module. Returns undefined unless the device is `vulkan`. */
  spirv(): Uint32Array | undefined;
  /** Returns the shader as text. Throws a ShaderError if the device is `vulkan`. */
  text(language: Language): string;
  /** Returns the contents of the argument buffer. `values` are the arguments by value, and images. */
  arguments(
    range: Range,
    values: Record<number, { bytes: Bytes } | { width: number; height: number; format?: ImageFormat }>,
  ): Uint8Array;
  /** Frees the memory of the shader now, and not when it is collected. */
  free(): void;
}
