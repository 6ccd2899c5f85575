// Runs kernels with WebGPU. `webgpu.d.ts` describes the interface.

import { RunError } from "./index.js";

// Values of GPUBufferUsage and GPUMapMode, which Node does not define.
const UNIFORM = 0x40;
const STORAGE = 0x80;
const COPY_SRC = 0x04;
const COPY_DST = 0x08;
const MAP_READ = 0x01;
const COMPUTE = 0x04;

const bytesOf = (data) =>
  data instanceof ArrayBuffer ? new Uint8Array(data) : new Uint8Array(data.buffer, data.byteOffset, data.byteLength);

/** Returns a device with the limits of the adapter, or undefined if the browser has no WebGPU. */
export async function requestDevice() {
  const adapter = await globalThis.navigator?.gpu?.requestAdapter();
  if (!adapter) return undefined;
  const names = [
    "maxStorageBuffersPerShaderStage",
    "maxStorageBufferBindingSize",
    "maxBufferSize",
    "maxComputeWorkgroupStorageSize",
    "maxComputeInvocationsPerWorkgroup",
    "maxComputeWorkgroupSizeX",
    "maxComputeWorkgroupSizeY",
    "maxComputeWorkgroupSizeZ",
    "maxComputeWorkgroupsPerDimension",
  ];
  return adapter.requestDevice({ requiredLimits: Object.fromEntries(names.map((name) => [name, adapter.limits[name]])) });
}

/** Returns the properties of a launch with these values. */
export function launchOf(range, values) {
  const launch = { workGroupSize: range.workGroupSize, localMemory: {}, images: {}, samplers: {} };
  values.forEach((value, index) => {
    if (value.local !== undefined) launch.localMemory[index] = value.local;
    if (value.image !== undefined) launch.images[index] = value.format ?? "rgba8";
    if (value.sampler !== undefined) launch.samplers[index] = value.sampler;
  });
  return launch;
}

/** Runs a kernel of a program for the device `webgpu`. Changes buffers and images in place. */
export async function run(device, program, kernel, range, values) {
  const shader = program.shader(kernel, launchOf(range, values));
  try {
    return await launch(device, shader, range, values);
  } finally {
    shader.free();
  }
}

async function launch(device, shader, range, values) {
  device.pushErrorScope("validation");
  device.pushErrorScope("out-of-memory");
  const buffers = [];
  try {
    const { entries, layouts, written, failures } = resources(device, shader, range, values, buffers);
    const code = shader.text("wgsl");
    const module = device.createShaderModule({ code });
    const bindGroupLayout = device.createBindGroupLayout({ entries: layouts });
    const pipeline = await device.createComputePipelineAsync({
      layout: device.createPipelineLayout({ bindGroupLayouts: [bindGroupLayout] }),
      compute: { module, entryPoint: shader.entryPoint },
    });
    const encoder = device.createCommandEncoder();
    const pass = encoder.beginComputePass();
    pass.setPipeline(pipeline);
    pass.setBindGroup(0, device.createBindGroup({ layout: bindGroupLayout, entries }));
    const groups = [0, 1, 2].map((d) => Math.ceil((range.globalSize[d] ?? 1) / shader.workGroupSize[d]));
    pass.dispatchWorkgroups(...groups);
    pass.end();
    const reads = [...written, ...failures].map(({ buffer, data }) => {
      const staging = device.createBuffer({ size: buffer.size, usage: MAP_READ | COPY_DST });
      buffers.push(staging);
      encoder.copyBufferToBuffer(buffer, 0, staging, 0, buffer.size);
      return { staging, data };
    });
    const begin = performance.now();
    device.queue.submit([encoder.finish()]);
    await device.queue.onSubmittedWorkDone();
    const milliseconds = performance.now() - begin;
    await Promise.all(reads.map(({ staging }) => staging.mapAsync(1)));
    for (const { staging, data } of reads) {
      const mapped = new Uint8Array(staging.getMappedRange());
      if (data) data.set(mapped.subarray(0, data.length));
      else if (new DataView(mapped.buffer).getUint32(0, true) !== 0) throw new RunError({ message: "the kernel waited too long for a lock, or its loop was stopped", line: null, workItem: null });
    }
    return { milliseconds };
  } finally {
    for (const buffer of buffers) buffer.destroy();
    const errors = [await device.popErrorScope(), await device.popErrorScope()].filter(Boolean);
    // The first error is the cause of the others.
    if (errors.length > 0) throw new RunError({ message: errors.map((error) => error.message).join("\n"), line: null, workItem: null });
  }
}

// Creates the buffers of a launch.
function resources(device, shader, range, values, buffers) {
  const entries = [];
  const layouts = [];
  const written = [];
  const failures = [];
  const create = (size, usage, contents) => {
    const buffer = device.createBuffer({ size: Math.max(16, Math.ceil(size / 4) * 4), usage, mappedAtCreation: contents !== undefined });
    buffers.push(buffer);
    if (contents !== undefined) {
      new Uint8Array(buffer.getMappedRange()).set(contents);
      buffer.unmap();
    }
    return buffer;
  };
  const items = range.globalSize.reduce((product, size) => product * size, 1);
  for (const { number, kind, size = 0, resource } of shader.bindings) {
    const usage = kind === "uniform" ? UNIFORM : STORAGE | COPY_SRC;
    const buffer = (() => {
      switch (resource.kind) {
        case "arguments": {
          const bytes = shader.arguments(range, plain(values));
          return create(Math.max(size, bytes.length), usage, bytes);
        }
        case "argument": {
          const value = values[resource.argument];
          const data = bytesOf(value.buffer ?? value.image ?? new ArrayBuffer(0));
          const made = create(data.length, usage, data);
          if (data.length > 0) written.push({ buffer: made, data });
          return made;
        }
        case "constants":
        case "variables":
          return create(Math.max(size, resource.contents.length), usage, resource.contents);
        case "scratch":
          return create(resource.bytesPerWorkItem * items, usage);
        case "zeros": {
          const made = create(resource.size, usage);
          failures.push({ buffer: made });
          return made;
        }
        default:
          throw new TypeError(`unknown resource "${resource.kind}" of binding ${number}`);
      }
    })();
    entries.push({ binding: number, resource: { buffer } });
    layouts.push({ binding: number, visibility: COMPUTE, buffer: { type: kind === "uniform" ? "uniform" : "storage" } });
  }
  return { entries, layouts, written, failures };
}

// The values that the argument buffer contains.
function plain(values) {
  const entries = [...values.entries()].filter(([, value]) => value.bytes !== undefined || value.image !== undefined);
  return Object.fromEntries(entries);
}
