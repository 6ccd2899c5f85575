//! `WGCL_CAPTURE` stores launches, and `wgclc replay` runs them again on any device and compares the results.
//!
//! wgcl reads the variable once per process, so the launches run in child processes: `wgclc run`, or this program.

mod common;

use std::ffi::c_void;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::ptr::{null, null_mut};

use common::ffi::{CL_COMPLETE, CL_MEM_READ_WRITE, CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_SUCCESS, cl_event};
use common::objects::{Context, Event, Kernel, Program};
use common::target;
use serde_json::{Value, json};

/// Environment variable of the process whose launches are captured. Its value selects the program.
const CHILD: &str = "WGCL_TEST_CAPTURED";

const SCALE: &str = "kernel void scale(global const float *in, global float *out, float by)\n\
    {\n\
        size_t i = get_global_id(0);\n\
        out[i] = in[i] * by;\n\
    }\n";
const SCALE_ARGUMENTS: [&str; 6] = ["k.cl", "scale", "global=6", "float[6] = i", "out: float[6] = 9", "by: float = 2.5"];

/// A folder with the source `k.cl`, in which commands run.
struct Folder(tempfile::TempDir);

impl Folder {
    fn with(source: &str) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        std::fs::write(folder.path().join("k.cl"), source).expect("the source");
        Self(folder)
    }

    fn path(&self) -> &Path {
        self.0.path()
    }

    /// Runs `wgclc` with the library under test.
    fn wgclc(&self, capture: Option<&str>, arguments: &[&str]) -> Output {
        let library = common::library_under_test().expect("the library");
        let mut command = Command::new(library.with_file_name("wgclc"));
        command.args(arguments).current_dir(self.path()).env("WGCL_LIBRARY", &library).env("WGCL_CPU", "1").env("WGCL_CACHE", "0");
        for variable in ["WGCL_CHECK", "WGCL_INTERPRETER", "WGCL_DEVICE", "WGCL_LOG", "WGCL_CAPTURE"] {
            command.env_remove(variable);
        }
        command.envs(capture.map(|capture| ("WGCL_CAPTURE", capture)));
        command.output().expect("wgclc, built with the same profile")
    }

    /// Captures launches of `wgclc run`. Returns the text on standard error.
    fn capture(&self, capture: &str, arguments: &[&str]) -> String {
        let output = self.wgclc(Some(capture), &[&["run"], arguments].concat());
        assert_eq!(output.status.code(), Some(0), "{}", text(&output.stderr));
        text(&output.stderr)
    }

    /// Runs `wgclc replay`. Returns the exit status, the lines on standard output without the devices and the times,
    /// and the text on standard error.
    fn replay(&self, arguments: &[&str]) -> (Option<i32>, Vec<String>, String) {
        let output = self.wgclc(None, &[&["replay"], arguments].concat());
        let shown = text(&output.stdout);
        let mut lines: Vec<String> = shown.lines().map(str::to_owned).collect();
        if !lines.is_empty() {
            lines.remove(0);
        }
        lines.retain(|line| !line.starts_with("build "));
        for line in &mut lines {
            if let Some((start, _)) = line.split_once(", captured on ") {
                *line = start.to_owned();
            }
        }
        (output.status.code(), lines, text(&output.stderr))
    }

    fn json(&self, launch: &str) -> Value {
        let path = self.path().join("out").join(launch).join("launch.json");
        serde_json::from_slice(&std::fs::read(path).expect("the description")).expect("JSON")
    }

    fn launches(&self) -> Vec<String> {
        let entries = std::fs::read_dir(self.path().join("out")).expect("the captures");
        let mut names: Vec<String> = entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect();
        names.sort();
        names
    }
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

fn lines(expected: &[&str]) -> Vec<String> {
    expected.iter().map(|line| (*line).to_owned()).collect()
}

#[test]
fn a_launch_is_captured_and_replayed() {
    let folder = Folder::with(SCALE);
    assert_eq!(folder.capture("out", &SCALE_ARGUMENTS), "wgcl: captured 1 launch in out\n");
    let mut description = folder.json("scale-1");
    let object = description.as_object_mut().expect("an object");
    for name in ["wgcl", "device", "driver", "chosen_local"] {
        assert!(object.remove(name).is_some(), "{name}");
    }
    let units = object.remove("units").expect("units");
    assert_eq!(units[0]["file"], "source.cl");
    let expected = json!({
        "format": 1, "kernel": "scale", "launch": 1, "status": "complete", "offset": [0], "global": [6], "local": null,
        "program_variables": 0,
        "arguments": [
            { "name": "in", "type": "float*", "kind": "buffer", "memory": 0, "offset": 0, "size": 24 },
            { "name": "out", "type": "float*", "kind": "buffer", "memory": 1, "offset": 0, "size": 24 },
            { "name": "by", "type": "float", "kind": "value", "bytes": "00002040", "value": "2.5" },
        ],
        "memory": [{ "size": 24 }, { "size": 24 }],
    });
    assert_eq!(description, expected);
    let floats = |name: &str| -> Vec<f32> {
        let bytes = std::fs::read(folder.path().join("out/scale-1").join(name)).expect("a file");
        bytes.chunks_exact(4).map(|word| f32::from_le_bytes(word.try_into().expect("four bytes"))).collect()
    };
    assert_eq!(floats("memory-0.before"), [0.0, 1.0, 2.0, 3.0, 4.0, 5.0]);
    assert_eq!(floats("memory-1.before"), [9.0; 6]);
    assert_eq!(floats("memory-1.after"), [0.0, 2.5, 5.0, 7.5, 10.0, 12.5]);

    let expected = (Some(0), lines(&["kernel scale, launch 1", "in: as captured", "out: as captured"]), String::new());
    assert_eq!(folder.replay(&["out"]), expected);
    assert_eq!(folder.replay(&["out/scale-1", "--device", "interpreter", "--repeat", "3"]), expected);
    let checked = (Some(0), expected.1, "wgcl: checked 1 launch of 1 kernel: nothing found\n".to_owned());
    assert_eq!(folder.replay(&["out", "--check"]), checked);
}

#[test]
fn differences_are_listed() {
    let folder = Folder::with(SCALE);
    folder.capture("out", &SCALE_ARGUMENTS);
    let after = folder.path().join("out/scale-1/memory-1.after");
    let values = [0.0, 2.5, f32::from_bits(5.0_f32.to_bits() + 1), 7.5, 11.0, 13.0];
    std::fs::write(&after, values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>()).expect("the file");
    let by = 0.5 / (f64::from(f32::EPSILON) * 8.0);
    let changed = format!("out: 3 of 6 elements differ, by up to {:.1} ulp", by.max(1.0 / (f64::from(f32::EPSILON) * 8.0)));
    let rest = ["  out[2] is 5.0, captured 5.0000005", "  out[4] is 10.0, captured 11.0"];
    let shown = lines(&[&["kernel scale, launch 1", "in: as captured", changed.as_str()], &rest[..]].concat());
    assert_eq!(folder.replay(&["out", "--print", "2"]), (Some(1), shown, String::new()));
    let few = ["kernel scale, launch 1", "in: as captured", &changed.replace("3 of", "2 of"), rest[1], "  out[5] is 12.5, captured 13.0"];
    assert_eq!(folder.replay(&["out", "--within", "1"]), (Some(1), lines(&few), String::new()));
}

#[test]
fn kernels_and_launches_are_selected() {
    let folder = Folder::with(SCALE);
    let repeated = [&SCALE_ARGUMENTS[..], &["--repeat", "11"]].concat();
    assert_eq!(folder.capture("out:scale:12", &repeated), "wgcl: captured 1 launch in out\n");
    assert_eq!(folder.launches(), ["scale-12"]);
    let limit = "wgcl: captured 10 launches in out\n\
                 wgcl: WGCL_CAPTURE: kernel `scale` was launched 12 times; the limit is 10; DIR:scale:N captures launch N\n";
    assert_eq!(folder.capture("out", &repeated), limit);
    assert_eq!(folder.launches().len(), 11);
    let unknown = "wgcl: captured 0 launches in out\n\
                   wgcl: WGCL_CAPTURE: kernel `scael` was not launched; launched kernels: scale\n";
    assert_eq!(folder.capture("out:scael", &SCALE_ARGUMENTS), unknown);
    let late = "wgcl: captured 0 launches in out\n\
                wgcl: WGCL_CAPTURE: kernel `scale` was launched 1 time, so launch 2 was not captured\n";
    assert_eq!(folder.capture("out:scale:2", &SCALE_ARGUMENTS), late);
    let wrong = folder.capture("out:2", &SCALE_ARGUMENTS);
    let reason = "WGCL_CAPTURE: `out:2` is ignored: a launch number follows a kernel name; expected DIR, DIR:KERNEL or DIR:KERNEL:N";
    assert!(wrong.contains(reason), "{wrong}");
}

#[test]
fn failures_do_not_disturb_the_application() {
    let folder = Folder::with(SCALE);
    // A file has the name of the directory.
    let output = folder.wgclc(Some("k.cl"), &[&["run"], &SCALE_ARGUMENTS[..]].concat());
    assert_eq!(output.status.code(), Some(0));
    assert!(text(&output.stdout).ends_with("out: float[6] = {0.0, 2.5, 5.0, 7.5, 10.0, 12.5}\n"));
    let report = text(&output.stderr);
    let (first, rest) = report.split_once('\n').expect("two lines");
    assert!(first.starts_with("wgcl: kernel `scale`: launch 1 is not captured: k.cl: "), "{report}");
    assert_eq!(rest, "wgcl: captured 0 launches in k.cl; 1 launch not captured\n");
}

#[test]
#[cfg(target_os = "linux")]
fn a_full_disk_does_not_disturb_the_application() {
    // A limit of 4096 bytes for files has the effect of a full disk. Rust ignores the signal, so the write fails.
    let folder = Folder::with("kernel void k(global int *a) { a[get_global_id(0)] += 1; }");
    let library = common::library_under_test().expect("the library");
    let wgclc = library.with_file_name("wgclc").display().to_string();
    let script = format!("trap '' XFSZ; ulimit -f 8; exec {wgclc} run k.cl k global=4096 'a: int[4096]' --print 2");
    let mut command = Command::new("bash");
    command.args(["-c", &script]).current_dir(folder.path()).env("WGCL_LIBRARY", &library).env("WGCL_CPU", "1").env("WGCL_CACHE", "0");
    let output = command.env("WGCL_CAPTURE", "out").output().expect("bash");
    assert!(text(&output.stdout).ends_with("a: int[4096] = {1, 1, ...}\n"), "{output:?}");
    let report = text(&output.stderr);
    assert!(report.starts_with("wgcl: kernel `k`: launch 1 is not captured: out/k-1/memory-0.before: "), "{report}");
    assert!(report.ends_with("\nwgcl: captured 0 launches in out; 1 launch not captured\n"), "{report}");
    assert_eq!(folder.launches(), Vec::<String>::new());
}

#[test]
fn every_kind_of_argument_is_replayed() {
    let source = "typedef struct { int a; float b; } pair;\n\
        kernel void all(read_only image2d_t image, sampler_t sampler, global int *whole, global int *part, global int *none,\n\
                        local int *scratch, pair values, uchar4 bytes, write_only image1d_array_t written) {\n\
            int i = get_global_id(0);\n\
            scratch[get_local_id(0)] = values.a + bytes.z;\n\
            float4 colour = read_imagef(image, sampler, (float2)(i * 0.25f, 0.5f));\n\
            whole[i] = (int)(colour.x * 255) + (none ? 1 : 0);\n\
            part[i] += scratch[get_local_id(0)] + (int)values.b;\n\
            write_imageui(written, (int2)(i & 3, i >> 2), i + 1);\n\
        }\n";
    let folder = Folder::with(source);
    let arguments = [
        "k.cl",
        "all",
        "global=8",
        "local=4",
        "image: image2d 4x2 RGBA UNORM_INT8 = i * 7",
        "sampler: sampler normalized repeat nearest",
        "whole: int[128]",
        "part: same whole[64, 8]",
        "null",
        "local 16",
        "struct {int = 5; float = 2.5}",
        "bytes: uchar4 = {1, 2, 3, 4}",
        "written: image1d_array 4x2 R UNSIGNED_INT16",
    ];
    assert_eq!(folder.capture("out", &arguments), "wgcl: captured 1 launch in out\n");
    let description = folder.json("all-1");
    let argument = |index: usize| description["arguments"][index].clone();
    assert_eq!(argument(0), json!({ "name": "image", "type": "image2d_t", "kind": "image", "memory": 0 }));
    assert_eq!(argument(1), json!({ "name": "sampler", "type": "sampler_t", "kind": "sampler", "sampler": "normalized repeat nearest" }));
    assert_eq!(argument(3), json!({ "name": "part", "type": "int*", "kind": "buffer", "memory": 1, "offset": 256, "size": 32 }));
    assert_eq!(argument(4)["kind"], "null");
    assert_eq!(argument(5), json!({ "name": "scratch", "type": "int*", "kind": "local", "size": 16 }));
    assert_eq!(argument(6), json!({ "name": "values", "type": "pair", "kind": "value", "bytes": "0500000000002040" }));
    assert_eq!(argument(7)["value"], "{1, 2, 3, 4}");
    let memory = json!([
        { "size": 32, "image": "image2d 4x2 RGBA UNORM_INT8" }, { "size": 512 },
        { "size": 16, "image": "image1d_array 4x2 R UNSIGNED_INT16" },
    ]);
    assert_eq!((&description["memory"], &description["local"]), (&memory, &json!([4])));
    let shown = lines(&["kernel all, launch 1", "image: as captured", "whole: as captured", "written: as captured"]);
    assert_eq!(folder.replay(&["out", "--repeat", "2"]), (Some(0), shown.clone(), String::new()));
    assert_eq!(folder.replay(&["out", "--device", "interpreter"]), (Some(0), shown, String::new()));
    let written = std::fs::read(folder.path().join("out/all-1/memory-2.after")).expect("the image");
    assert_eq!(written, [1, 0, 2, 0, 3, 0, 4, 0, 5, 0, 6, 0, 7, 0, 8, 0]);
}

#[test]
fn included_files_and_modules_are_captured() {
    let folder = Folder::with("#include \"sub/n.h\"\nkernel void k(global int *a) { a[0] = N + M; }");
    std::fs::create_dir(folder.path().join("sub")).expect("a folder");
    std::fs::write(folder.path().join("sub/n.h"), "#include \"m.h\"\n#define N 41\n").expect("a header");
    std::fs::write(folder.path().join("sub/m.h"), "#ifndef M\n#define M 1\n#endif\n").expect("a header");
    folder.capture("out", &["-DM=2", "k.cl", "k", "global=1", "int[1]"]);
    std::fs::remove_dir_all(folder.path().join("sub")).expect("the headers");
    assert_eq!(folder.json("k-1")["units"][0]["include"], "include");
    assert_eq!(folder.replay(&["out"]), (Some(0), lines(&["kernel k, launch 1", "a: as captured"]), String::new()));

    let module = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/spirv/control.spv").display().to_string();
    folder.capture("modules", &[&module, "falls_through", "global=5", "a: uint[5]"]);
    let shown = lines(&["kernel falls_through, launch 1", "argument 0: as captured"]);
    assert_eq!(folder.replay(&["modules"]), (Some(0), shown, String::new()));
}

#[test]
#[cfg(all(unix, any(target_arch = "x86_64", target_arch = "aarch64")))]
fn a_launch_that_crashes_is_captured() {
    let folder = Folder::with("kernel void k(global ulong *a) { *(global ulong *)a[0] = 1; }");
    let output = folder.wgclc(Some("out"), &["run", "k.cl", "k", "global=1", "ulong[1] = 64"]);
    assert_eq!(output.status.code(), Some(1));
    assert_eq!(folder.json("k-1")["status"], "running");
    let (status, shown, errors) = folder.replay(&["out"]);
    assert_eq!((status, shown), (Some(1), lines(&["kernel k, launch 1"])));
    assert!(errors.contains("the process that ran the kernel crashed"), "{errors}");
    let (status, _, errors) = folder.replay(&["out", "--check"]);
    assert!(status == Some(1) && errors.contains("store of 8 bytes through a null pointer"), "{errors}");
}

#[test]
fn wrong_captures_are_reported() {
    let folder = Folder::with(SCALE);
    let (status, _, errors) = folder.replay(&["none"]);
    assert!(status == Some(2) && errors.starts_with("wgclc: none: "), "{errors}");
    let (status, _, errors) = folder.replay(&["."]);
    let expected = "wgclc: .: there is no captured launch: neither `launch.json` nor a folder with this file\n";
    assert_eq!((status, errors.as_str()), (Some(2), expected));
    folder.capture("out", &SCALE_ARGUMENTS);
    let launch = PathBuf::from("out").join("scale-1");
    std::fs::write(folder.path().join(&launch).join("memory-0.before"), [0; 3]).expect("the file");
    let (status, _, errors) = folder.replay(&["out"]);
    assert_eq!((status, errors), (Some(2), format!("wgclc: {}: expected 24 bytes, found 3\n", launch.join("memory-0.before").display())));
    let description = folder.path().join(&launch).join("launch.json");
    let newer = std::fs::read_to_string(&description).expect("the description").replacen("\"format\": 1", "\"format\": 2", 1);
    std::fs::write(&description, newer).expect("the description");
    let (status, _, errors) = folder.replay(&["out"]);
    let expected = format!("wgclc: {}: the format is 2; this wgclc reads format 1\n", launch.join("launch.json").display());
    assert_eq!((status, errors), (Some(2), expected));
}

const STEPS: &str = "kernel void add(global uint *p, uint n) { p[get_global_id(0)] += n; }";
const ITEMS: usize = 64;

fn launch(queue: &common::objects::Queue, kernel: &Kernel, waits: &[cl_event]) -> Event {
    let list = if waits.is_empty() { null() } else { waits.as_ptr() };
    let mut event = null_mut();
    let count = u32::try_from(waits.len()).expect("few events");
    let status = target().cl.clEnqueueNDRangeKernel(queue.0, kernel.0, 1, null(), &ITEMS, null(), count, list, &mut event);
    assert_eq!(status, CL_SUCCESS);
    Event(event)
}

/// Launches wait for a user event. The queue is out of order, so only the events order the commands.
fn events() {
    let cl = &target().cl;
    let context = Context::new();
    let (queue, program) = (context.queue(CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE), context.build(STEPS));
    let mem = context.buffer(4 * ITEMS);
    queue.write(&mem, &[3_u32; ITEMS]);
    queue.finish();
    let kernel = program.kernel("add");
    kernel.set_mem(0, &mem);
    let mut status = CL_SUCCESS;
    let user = Event(cl.clCreateUserEvent(context.0, &mut status));
    kernel.set(1, &4_u32);
    let first = launch(&queue, &kernel, &[user.0]);
    kernel.set(1, &5_u32);
    let second = launch(&queue, &kernel, &[first.0]);
    assert_eq!(cl.clSetUserEventStatus(user.0, CL_COMPLETE), CL_SUCCESS);
    assert_eq!(cl.clWaitForEvents(1, &second.0), CL_SUCCESS);
    assert_eq!(queue.read::<u32>(&mem, ITEMS), [12; ITEMS]);
}

/// A pointer to the middle of shared virtual memory, a linked program, and a kernel with a pipe.
fn objects() {
    let cl = &target().cl;
    let context = Context::new();
    let queue = context.queue(0);
    let units = [
        "uint more(uint n) { return n + 1; }",
        "uint more(uint); kernel void k(global uint *p) { uint i = get_global_id(0); p[i] = more(p[i]); }",
    ];
    let units = units.map(|source| context.program(source));
    let mut status = CL_SUCCESS;
    for unit in &units {
        assert_eq!(cl.clCompileProgram(unit.0, 0, null(), null(), 0, null(), null_mut(), None, null_mut()), CL_SUCCESS);
    }
    let handles = units.each_ref().map(|unit| unit.0);
    let linked = Program(cl.clLinkProgram(context.0, 0, null(), null(), 2, handles.as_ptr(), None, null_mut(), &mut status));
    assert_eq!(status, CL_SUCCESS);
    let kernel = linked.kernel("k");
    let memory = cl.clSVMAlloc(context.0, CL_MEM_READ_WRITE, 4096, 0);
    assert!(!memory.is_null());
    let mut pattern = 7_u32;
    let fill = (&raw mut pattern).cast::<c_void>();
    assert_eq!(cl.clEnqueueSVMMemFill(queue.0, memory, fill, 4, 4096, 0, null(), null_mut()), CL_SUCCESS);
    assert_eq!(cl.clSetKernelArgSVMPointer(kernel.0, 0, memory.wrapping_byte_add(1024)), CL_SUCCESS);
    launch(&queue, &kernel, &[]);
    queue.finish();
    let pipes = context.program("kernel void send(write_only pipe uint p) { uint x = 1; write_pipe(p, &x); }");
    assert_eq!(pipes.build("-cl-std=CL3.0"), CL_SUCCESS, "{}", pipes.log());
    let (send, pipe) = (pipes.kernel("send"), context.pipe(4, 64));
    send.set_mem(0, &pipe);
    launch(&queue, &send, &[]);
    queue.finish();
    cl.clSVMFree(context.0, memory);
}

/// A launch of a built-in kernel.
fn built_in() {
    let context = Context::new();
    let queue = context.queue(0);
    let kernel = context.built_in("pocl.add.i32").expect("a program").kernel("pocl.add.i32");
    let mem = context.buffer(4 * ITEMS);
    queue.write(&mem, &[3_u32; ITEMS]);
    let sum = context.buffer(4 * ITEMS);
    [&mem, &mem, &sum].into_iter().zip(0..).for_each(|(mem, index)| kernel.set_mem(index, mem));
    launch(&queue, &kernel, &[]);
    assert_eq!(queue.read::<u32>(&sum, ITEMS), [6; ITEMS]);
}

#[test]
#[ignore = "the program whose launches are captured"]
fn program() {
    match std::env::var(CHILD).as_deref() {
        Ok("events") => events(),
        Ok("objects") => objects(),
        Ok("built_in") => built_in(),
        _ => {}
    }
}

/// Captures the launches of this program. Returns the lines of standard error that wgcl wrote.
fn capture_child(folder: &Folder, program: &str) -> Vec<String> {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(["--exact", "program", "--ignored"]).env(CHILD, program).env("WGCL_CAPTURE", folder.path().join("out"));
    let output = command.output().expect("a process");
    assert!(output.status.success(), "{}{}", text(&output.stdout), text(&output.stderr));
    text(&output.stderr).lines().filter(|line| line.starts_with("wgcl: kernel ")).map(str::to_owned).collect()
}

#[test]
fn commands_wait_for_a_capture() {
    let folder = Folder::with("");
    assert_eq!(capture_child(&folder, "events"), Vec::<String>::new());
    assert_eq!(folder.launches(), ["add-1", "add-2"]);
    let words = |name: &str| std::fs::read(folder.path().join("out").join(name)).expect("a file")[0];
    assert_eq!(
        ["add-1/memory-0.before", "add-1/memory-0.after", "add-2/memory-0.before", "add-2/memory-0.after"].map(words),
        [3, 7, 7, 12]
    );
    let shown = lines(&["kernel add, launch 1", "p: as captured", "kernel add, launch 2", "p: as captured"]);
    assert_eq!(folder.replay(&["out", "--device", "wgcl"]), (Some(0), shown, String::new()));
}

#[test]
fn shared_memory_and_linked_programs_are_captured() {
    let folder = Folder::with("");
    let refused = ["wgcl: kernel `send`: launch 1 is not captured: argument `p` is a pipe".to_owned()];
    assert_eq!(capture_child(&folder, "objects"), refused);
    assert_eq!(folder.launches(), ["k-1"]);
    let argument = json!({ "name": "p", "type": "uint*", "kind": "buffer", "memory": 0, "offset": 1024, "size": 3072 });
    assert_eq!(folder.json("k-1")["arguments"][0], argument);
    assert_eq!(folder.replay(&["out"]), (Some(0), lines(&["kernel k, launch 1", "p: as captured"]), String::new()));
}

#[test]
fn built_in_kernels_are_captured_with_their_source() {
    if !target().is_wgcl() {
        return;
    }
    let folder = Folder::with("");
    assert_eq!(capture_child(&folder, "built_in"), Vec::<String>::new());
    assert_eq!(folder.launches(), ["pocl_add_i32-1"]);
    let shown = lines(&["kernel pocl_add_i32, launch 1", "input1: as captured", "output: as captured"]);
    assert_eq!(folder.replay(&["out"]), (Some(0), shown, String::new()));
}
