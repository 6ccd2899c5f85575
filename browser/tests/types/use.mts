// Uses every part of the package's types. The test compiles this file with tsc, and runs the result with the package.

import assert from "node:assert/strict";
import * as api from "wgcl-compiler";
import { CompileError, CrashError, RunError, ShaderError, load } from "wgcl-compiler";
import type { Argument, Binding, Device, Diagnostic, Kernel, Launch, Listing, Options, Program, Shader, Value } from "wgcl-compiler";
import * as webgpu from "wgcl-compiler/webgpu";

// Each exported name must have a type, and each declared name must exist.
const declared: Record<keyof typeof api, true> = {
  CompileError: true, Compiler: true, CrashError: true, Program: true, RunError: true, Shader: true, ShaderError: true, load: true,
};
assert.deepEqual(Object.keys(api).sort(), Object.keys(declared).sort());
const declaredForWebGpu: Record<keyof typeof webgpu, true> = { launchOf: true, requestDevice: true, run: true };
assert.deepEqual(Object.keys(webgpu).sort(), Object.keys(declaredForWebGpu).sort());

const source = `kernel void scale(float a, global const float *x, global float *y, local float *l)
{
  l[get_local_id(0)] = x[get_global_id(0)];
  y[get_global_id(0)] = a * l[get_local_id(0)];
}`;
const compiler: api.Compiler = await load();
const options: Options = { device: "cpu", buildOptions: "-cl-std=CL3.0", fileName: "scale.cl", headers: { "a.h": "" }, checkNans: true };
const program: Program = compiler.compile(source, options);
const kernel: Kernel | undefined = program.kernel("scale");
assert.ok(kernel);
const kinds: Argument["kind"][] = kernel.arguments.map((argument) => argument.kind);
assert.deepEqual(kinds, ["value", "buffer", "buffer", "local"]);
const size: number | undefined = kernel.arguments[0]?.size;
assert.equal(size, 4);
const required: [number, number, number] | null = kernel.requiredWorkGroupSize;
assert.equal(required, null);

const x = new Float32Array([1, 2]);
const y = new Float32Array(2);
const values: Value[] = [{ bytes: new Float32Array([3]) }, { buffer: x }, { buffer: y }, { local: 8 }];
const printed: string = program.run("scale", { globalSize: [2], workGroupSize: [2] }, values);
assert.deepEqual([printed, ...y], ["", 3, 6]);

const launch: Launch = { workGroupSize: [2], localMemory: { 3: 8 } };
const listing: Listing = program.listing("scale", launch, { form: "assembly", cpu: "avx2" });
assert.equal(listing.lines.length, listing.text.trimEnd().split("\n").length);
assert.ok(listing.lines.some((line: number | null) => line === 4));
assert.deepEqual(webgpu.launchOf({ globalSize: [2], workGroupSize: [2] }, values).workGroupSize, [2]);

const shader: Shader = compiler.compile(source, { device: "webgpu" }).shader("scale", launch);
const bindings: Binding[] = shader.bindings;
const numbers: number[] = bindings.flatMap(({ resource }) => (resource.kind === "argument" ? [resource.argument] : []));
assert.deepEqual(numbers, [1, 2]);
const group: [number, number, number] = shader.workGroupSize;
assert.deepEqual([...group], [2, 1, 1]);
const words: Uint32Array | undefined = shader.spirv();
assert.equal(words, undefined);
const contents: Uint8Array = shader.arguments({ globalSize: [2], workGroupSize: [2] }, { 0: { bytes: new Float32Array([3]) } });
assert.ok(contents.length > 0);
shader.free();
program.free();

const found: Diagnostic[] = compiler.check("kernel void k() { x; }", { device: "vulkan" });
const line: number | undefined = found[0]?.location?.line;
assert.equal(line, 1);
for (const device of ["cpu", "vulkan", "webgpu", "metal", "direct3d12", "opengl-es"] satisfies Device[]) {
  assert.equal(compiler.compile("kernel void k(global int *a) { a[0] = 1; }", { device }).kernels.length, 1, device);
}
try {
  compiler.compile("kernel void k() { x; }", { device: "cpu" });
  assert.fail("the source is invalid");
} catch (error) {
  assert.ok(error instanceof CompileError && error.diagnostics.length === 1);
}
try {
  const reader = compiler.compile("kernel void k(global int *a) { a[9] = 1; }", { device: "cpu" });
  reader.run("k", { globalSize: [1], workGroupSize: [1] }, [{ buffer: new Int32Array(1) }]);
  assert.fail("the access is out of bounds");
} catch (error) {
  assert.ok(error instanceof RunError);
  const item: [number, number, number] | null = error.workItem;
  assert.deepEqual(item, [0, 0, 0]);
}
const classes: (new (...given: never[]) => Error)[] = [CrashError, ShaderError];
assert.equal(classes.length, 2);

export async function onGpu(device: GPUDevice): Promise<number> {
  return (await webgpu.run(device, program, "scale", { globalSize: [2], workGroupSize: [2] }, values)).milliseconds;
}
