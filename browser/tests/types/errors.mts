// Wrong uses of the package. tsc must report an error at each line that follows @ts-expect-error.

import { Program, load } from "wgcl-compiler";
import type { Value } from "wgcl-compiler";
import { run } from "wgcl-compiler/webgpu";

const compiler = await load();
// @ts-expect-error: the options have no default device.
compiler.compile("", {});
// @ts-expect-error: the device is unknown.
compiler.compile("", { device: "gpu" });
// @ts-expect-error: the option is unknown.
compiler.compile("", { device: "cpu", checked: true });
// @ts-expect-error: only the compiler creates programs.
new Program();
const program = compiler.compile("", { device: "cpu" });
// @ts-expect-error: the kernel can be undefined.
program.kernel("k").name;
// @ts-expect-error: assembly needs a processor.
program.listing("k", { workGroupSize: [1] }, { form: "assembly" });
// @ts-expect-error: the work-group size is missing.
program.run("k", { globalSize: [1] }, []);
// @ts-expect-error: an image has a width and a height.
const image: Value = { image: new Uint8Array(4) };
// @ts-expect-error: the list of kernels cannot be replaced.
program.kernels = [];
// @ts-expect-error: the device must exist.
run(undefined, program, "k", { globalSize: [1], workGroupSize: [1] }, [image]);
