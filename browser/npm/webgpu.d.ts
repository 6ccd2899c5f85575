import type { Launch, Program, Range, Value } from "./index.js";

/** Returns a device with the limits of the adapter, or undefined if the browser has no WebGPU. */
export function requestDevice(): Promise<GPUDevice | undefined>;

/** Returns the properties of a launch with these values. */
export function launchOf(range: Range, values: Value[]): Launch;

/**
 * Runs a kernel of a program for the device `webgpu`. Changes buffers and images in place. Buffers must not overlap.
 */
export function run(
  device: GPUDevice,
  program: Program,
  kernel: string,
  range: Range,
  values: Value[],
): Promise<{ milliseconds: number }>;
