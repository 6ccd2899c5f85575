//! Tests `wgclc run`: kernels from the command line, on the CPU device and on wgcl's interpreter, and the error
//! messages of the command.

mod common;

use std::path::Path;
use std::process::{Command, Output};

const SCALE: &str = "kernel void scale(global const float *in, global float *out, float by)\n\
    {\n\
        size_t i = get_global_id(0);\n\
        out[i] = in[i] * by;\n\
    }\n";

/// Runs the command that was built with the library under test, in a folder with the source `k.cl`.
fn run_with(source: &str, arguments: &[&str]) -> Output {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("k.cl"), source).expect("the source");
    run_in(folder.path(), arguments)
}

fn run_in(folder: &Path, arguments: &[&str]) -> Output {
    let library = common::library_under_test().expect("the library");
    let mut command = Command::new(library.with_file_name("wgclc"));
    command.arg("run").args(arguments).current_dir(folder).env("WGCL_LIBRARY", &library).env("WGCL_CPU", "1").env("WGCL_CACHE", "0");
    for variable in ["WGCL_CHECK", "WGCL_INTERPRETER", "WGCL_DEVICE", "WGCL_LOG"] {
        command.env_remove(variable);
    }
    command.output().expect("wgclc, built with the same profile")
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

/// Returns the exit status, and the text on standard error.
fn said(output: &Output) -> (Option<i32>, String) {
    (output.status.code(), text(&output.stderr))
}

#[test]
fn buffers_and_times_are_printed() {
    let arguments = ["k.cl", "scale", "global=6", "by: float = 2.5", "float[6] = i", "out: float[6]", "--repeat", "3", "--print", "4"];
    let output = run_with(SCALE, &arguments);
    assert_eq!(said(&output), (Some(0), String::new()));
    let shown = text(&output.stdout);
    let lines: Vec<&str> = shown.lines().collect();
    let [device, times, unchanged, out] = lines.as_slice() else { unreachable!("{shown}") };
    assert!(device.ends_with(" (wgcl)"), "{shown}");
    assert!(
        times.starts_with("build ") && times.contains(", first launch ") && times.contains(", median of 3 further launches: "),
        "{shown}"
    );
    assert_eq!((*unchanged, *out), ("in: float[6] is unchanged", "out: float[6] = {0.0, 2.5, 5.0, 7.5, ...}"));
}

#[test]
fn devices_are_compared() {
    let arguments =
        ["k.cl", "scale", "global=64", "in: float[64] = rand(-1.0, 1.0)", "float[64]", "float = 0.3", "--compare", "interpreter"];
    let output = run_with(SCALE, &arguments);
    assert_eq!(said(&output), (Some(0), String::new()));
    let shown = text(&output.stdout);
    assert!(shown.contains("wgcl interpreter (wgcl)\n") && shown.ends_with("in: the devices agree\nout: the devices agree\n"), "{shown}");
}

#[test]
fn differences_between_devices_are_reported() {
    // The maximum subgroup size is 1 on the interpreter, and larger on the CPU device.
    let source = "kernel void k(global int *out) { out[0] = get_max_sub_group_size(); }";
    let output = run_with(source, &["-cl-std=CL3.0", "k.cl", "k", "global=64", "out: int[2]", "--compare", "interpreter"]);
    assert_eq!(said(&output), (Some(1), String::new()));
    let shown = text(&output.stdout);
    assert!(shown.contains("out: 1 of 2 elements differ; first: out[0] is ") && shown.ends_with(" and 1 on wgcl interpreter\n"), "{shown}");
}

#[test]
fn build_options_and_headers_next_to_the_source_are_used() {
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::create_dir(folder.path().join("sub")).expect("a folder");
    std::fs::write(folder.path().join("sub/n.h"), "#define N (M + 1)\n").expect("a header");
    std::fs::write(folder.path().join("sub/k.cl"), "#include \"n.h\"\nkernel void k(global int *a) { a[0] = N; }").expect("the source");
    let output = run_in(folder.path(), &["-DM=41", "sub/k.cl", "k", "global=1", "int[1]"]);
    assert_eq!(said(&output), (Some(0), String::new()));
    assert!(text(&output.stdout).ends_with("a: int[1] = {42}\n"), "{}", text(&output.stdout));
}

#[test]
fn modules_run() {
    let modules = Path::new(env!("CARGO_MANIFEST_DIR")).join("../tests/spirv");
    let output = run_in(&modules, &["control.spv", "falls_through", "global=5", "a: uint[5]"]);
    assert_eq!(said(&output), (Some(0), String::new()));
    assert!(text(&output.stdout).ends_with("a: uint[5] = {11, 11, 112, 5, 5}\n"), "{}", text(&output.stdout));
    let image = "a: image2d 8x4 R UNSIGNED_INT8 levels 3 = i";
    let output = run_in(&modules, &["levels.spv", "levels", "global=1", image, "level: uint = 1", "out: uint[6]"]);
    assert_eq!(said(&output), (Some(0), String::new()));
    assert!(text(&output.stdout).ends_with("out: uint[6] = {33, 1, 4, 2, 8, 3}\n"), "{}", text(&output.stdout));
}

#[test]
fn errors_are_reported_with_a_status() {
    let good = ["float[6] = i", "float[6]", "float = 2"];
    let status_and_words = [
        (&["k.cl", "scale", "global=6", good[0], good[1]][..], 2, "missing argument for `scale`: 2 (float by)"),
        (&["k.cl", "scales", "global=6", good[0], good[1], good[2]], 2, "no kernel is named `scales`; the kernels of the program: scale"),
        (&["k.cl", "scale", good[0], good[1], good[2]], 2, "global= is missing"),
        (&["k.cl", "scale", "global=6", "number[6]", good[1], good[2]], 2, "unknown type `number`"),
        (&["none.cl", "scale", "global=6", good[0], good[1], good[2]], 2, "none.cl: "),
        (
            &["k.cl", "scale", "global=6", "--device", "abacus", good[0], good[1], good[2]],
            3,
            "no device named `abacus`; suitable devices: ",
        ),
        (&["-DN=", "-Dfloat=flaot", "k.cl", "scale", "global=6", good[0], good[1], good[2]], 1, "k.cl:1:"),
        (
            &["k.cl", "scale", "global=6", good[0], good[1], "double = 2"],
            2,
            "argument `by` is a value of type `double`, but the kernel expects `float`",
        ),
        (&["k.cl", "scale", "global=6", good[0], "float2[3] = 0", "struct {int = 2}"], 2, "argument `by` is a structure"),
        (
            &["k.cl", "scale", "global=6", good[0], good[1], "factor: float = 2"],
            2,
            "`scale` has no parameter `factor`; its parameters are `in`, `out`, `by`",
        ),
        (&["k.cl", "scale", "globl=6", good[0], good[1], good[2]], 2, "unknown size `globl=`; did you mean `global=`?"),
        (&["k.cl", "scale", "global=6", "local=4096000", good[0], good[1], good[2]], 1, "CL_INVALID_WORK_GROUP_SIZE"),
    ];
    for (arguments, status, words) in status_and_words {
        let (code, said) = said(&run_with(SCALE, arguments));
        assert_eq!(code, Some(status), "{arguments:?}: {said}");
        assert!(said.contains(words), "{arguments:?}: {said}");
    }
}

#[test]
fn a_missing_library_is_an_error() {
    let library = common::library_under_test().expect("the library");
    let mut command = Command::new(library.with_file_name("wgclc"));
    let output = command.args(["run", "Cargo.toml", "k", "global=1"]).env("WGCL_LIBRARY", "/no/such/library.so").output().expect("wgclc");
    let (code, said) = said(&output);
    assert!(code == Some(3) && said.contains("no OpenCL library can be loaded: /no/such/library.so: "), "{code:?} {said}");
}

#[test]
#[cfg(all(unix, any(target_arch = "x86_64", target_arch = "aarch64")))]
fn a_crash_is_reported_with_a_remedy() {
    let source = "kernel void k(global ulong *a) { *(global ulong *)a[0] = 1; }";
    let (code, report) = said(&run_with(source, &["k.cl", "k", "global=1", "ulong[1] = 64"]));
    assert_eq!(code, Some(1), "{report}");
    assert!(report.contains("crashed (signal: 11") && report.contains("--check reports invalid memory accesses"), "{report}");
}

#[test]
#[cfg(any(target_arch = "x86_64", target_arch = "aarch64"))]
fn kernels_run_with_checks() {
    let arguments = |count: &'static str| ["k.cl", "scale", "global=6", "float[6] = i", count, "float = 2", "--check"];
    let nothing_found = "wgcl: checked 1 launch of 1 kernel: nothing found\n";
    assert_eq!(said(&run_with(SCALE, &arguments("float[6]"))), (Some(0), nothing_found.to_owned()));
    let (code, report) = said(&run_with(SCALE, &arguments("float[5]")));
    assert_eq!(code, Some(1), "{report}");
    assert!(report.contains("k.cl:4:1: error: kernel 'scale': store of 4 bytes at byte 20 of argument 'out'"), "{report}");
    let arguments = |check: &'static str| ["k.cl", "scale", "global=6", "float[6] = i", "float[6]", "float = 1.0 / 0.0", check];
    assert_eq!(said(&run_with(SCALE, &arguments("--check"))), (Some(0), nothing_found.to_owned()));
    let (code, report) = said(&run_with(SCALE, &arguments("--check=nan")));
    assert_eq!(code, Some(1), "{report}");
    assert!(report.contains("k.cl:4:10: error: kernel 'scale': NaN produced from 0 and inf, by work-item (0, 0, 0)"), "{report}");
}
