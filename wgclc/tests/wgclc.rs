//! Tests the command-line tool: exit statuses, and the output on standard output and standard error.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};

/// Runs `wgclc` with a source on standard input.
fn wgclc(arguments: &[&str], source: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wgclc"));
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // Ignore the error: the tool may exit without reading its input.
    let _ = child.stdin.take().unwrap().write_all(source.as_bytes());
    child.wait_with_output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

const GOOD: &str = "kernel void add(global const float *a, global float *b, int n)\n{\n    int i = get_global_id(0);\n    if (i < n) b[i] = a[i] + N;\n}\n";

#[test]
fn status_0_if_it_builds() {
    let output = wgclc(&["--check", "-D", "N=1", "-"], GOOD);
    assert_eq!((output.status.code(), text(&output.stdout), text(&output.stderr)), (Some(0), String::new(), String::new()));
}

/// The CPU device does not contract products and sums if the processor has no instruction for them.
#[test]
fn code_for_sse42_has_no_emulated_fma() {
    let source = "kernel void k(global float *a) { int i = get_global_id(0); a[i] = a[i] * a[i + 1] + a[i + 2]; }\n";
    for (isa, expected) in [("sse4.2", "mulss"), ("avx2", "vfmadd")] {
        let output = wgclc(&["--device", "cpu", "--isa", isa, "--emit", "asm", "-"], source);
        let (code, error) = (text(&output.stdout), text(&output.stderr));
        assert_eq!((output.status.code(), error), (Some(0), String::new()));
        assert!(code.contains(expected) && code.lines().count() < 80, "{code}");
    }
}

const IMAGE: &str = "kernel void copy(read_only image2d_t a, global float4 *b) { b[0] = read_imagef(a, (int2)(0)); }\n";

#[test]
fn kernels_with_images_are_compiled() {
    let output = wgclc(&["--check", "-D", "N=1", "-"], &format!("{GOOD}{IMAGE}"));
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
    let output = wgclc(&["--check", "-"], &IMAGE.replace("(int2)", "(int4)"));
    assert_eq!(output.status.code(), Some(1));
}

#[test]
fn checks_run_all_stages_or_the_front_end() {
    // Together, an argument and a variable need more local memory than any device has. Only the last stage computes the
    // sum of their sizes.
    let source = "kernel void k(local int *a, global int *b) { local int c[8192]; c[0] = a[0]; b[0] = c[b[1]] + a[b[2]]; }";
    let output = wgclc(&["--check", "-"], source);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).starts_with("error: kernel `k` needs "), "{}", text(&output.stderr));
    assert_eq!(wgclc(&["--check=front", "-"], source).status.code(), Some(0));
}

#[test]
fn status_1_if_the_kernel_does_not_exist() {
    for stage in ["--check", "--emit=report", "--emit=wgsl", "--emit=ir", "--time"] {
        let output = wgclc(&[stage, "-DN=1", "--kernel", "ad", "-"], GOOD);
        let expected = "error: --kernel: the program does not have a kernel `ad`; its kernels are `add`\n";
        assert_eq!((output.status.code(), text(&output.stderr).as_str()), (Some(1), expected), "{stage}");
    }
}

#[test]
fn status_1_if_it_is_rejected() {
    let output = wgclc(&["--check", "-"], "kernel void k(global int *a) { a[0] = ; }");
    assert_eq!(output.status.code(), Some(1));
    let expected = "<source>:1:39: error: expected expression\nkernel void k(global int *a) { a[0] = ; }\n                                      ^\n1 error generated.\n";
    assert_eq!(text(&output.stderr), expected);
}

#[test]
fn warnings_become_errors_on_demand() {
    let source = "#pragma unknown_to_all\nkernel void k(global int *a) { a[0] = 1; }";
    let status = |arguments: &[&str]| {
        let output = wgclc(arguments, source);
        (output.status.code(), text(&output.stderr).contains("unknown pragma"))
    };
    assert_eq!(status(&["-"]), (Some(0), true));
    assert_eq!(status(&["-w", "-"]), (Some(0), false));
    assert_eq!(status(&["-Werror", "-"]), (Some(1), true));
    assert_eq!(status(&["-w", "-Werror", "-"]), (Some(0), false));
    assert_eq!(status(&["-Wno-unknown-pragmas", "-Werror", "-"]), (Some(0), false));
    assert_eq!(status(&["-Werror=unknown-pragmas", "-"]), (Some(1), true));
}

#[test]
fn warnings_name_their_groups() {
    let source = "#pragma unknown_to_all\n";
    let log = |arguments: &[&str]| text(&wgclc(arguments, source).stderr);
    assert!(log(&["-"]).contains("warning: unknown pragma ignored [-Wunknown-pragmas]\n"));
    assert!(log(&["-Werror", "-"]).contains("error: unknown pragma ignored [-Werror,-Wunknown-pragmas]\n"));
    let log = log(&["-Wunknown-pragma", "-"]);
    assert!(log.contains("note: option '-Wunknown-pragma' has no effect") && log.contains("did you mean 'unknown-pragmas'?"), "{log}");
}

#[test]
fn status_2_for_wrong_usage() {
    let wrong: [&[&str]; 10] = [
        &[],
        &["-cl-nonsense", "-"],
        &["/no/such/file.cl"],
        &["--emit", "nonsense", "-"],
        &["--check", "--emit", "ir", "-"],
        &["--emit", "ir,ast", "-"],
        &["--emit", "ir", "--message-format", "json", "-"],
        &["-o", "x", "-"],
        &["--watch", "-"],
        &["-", "-"],
    ];
    for arguments in wrong {
        let output = wgclc(arguments, GOOD);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(!output.stderr.is_empty() && output.stdout.is_empty(), "{arguments:?}");
    }
}

#[test]
fn every_stage_prints() {
    let stages = [
        ("tokens", "get_global_id"),
        ("ast", "function add: function (a: pointer to const global float,"),
        ("thir", "Program {"),
        ("ir", "kernel @f0 \"add\""),
        ("naga", "entry_points"),
        ("spirv", "OpEntryPoint GLCompute"),
        ("wgsl", "@compute @workgroup_size(8, 4, 1)"),
        ("msl", "kernel void add"),
        ("hlsl", "[numthreads(8, 4, 1)]"),
        ("reflection", "argument 2 n: int in private"),
        ("bindings", "Arguments, byte 64: n, 4 bytes"),
    ];
    for (stage, words) in stages {
        let output = wgclc(&["--emit", stage, "--local-size", "8,4", "-DN=1", "-"], GOOD);
        assert_eq!(output.status.code(), Some(0), "{stage}: {}", text(&output.stderr));
        assert!(text(&output.stdout).contains(words), "{stage}: {}", text(&output.stdout));
    }
}

#[test]
fn completions_and_manuals_are_generated() {
    for (arguments, expected) in [
        (["--completions", "bash"].as_slice(), "complete -F _wgclc"),
        (&["--completions", "zsh"], "#compdef wgclc"),
        (&["--completions", "fish"], "complete -c wgclc"),
        (&["--manual"], ".SH \"BUILD OPTIONS\""),
        // Commands that run kernels have separate options.
        (&["--completions", "bash"], "wgclc__subcmd__run"),
        (&["--manual"], "\\-\\-compare"),
    ] {
        let output = wgclc(arguments, "");
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()), "{arguments:?}");
        assert!(text(&output.stdout).contains(expected), "{}", text(&output.stdout));
    }
    assert_eq!(wgclc(&["--manual", "-"], GOOD).status.code(), Some(2));
    assert_eq!(wgclc(&[], GOOD).status.code(), Some(2));
}

/// Runs `wgclc` in a folder.
fn wgclc_in(folder: &Path, arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_wgclc")).args(arguments).current_dir(folder).stdin(Stdio::null()).output().unwrap()
}

fn names(folder: &Path) -> Vec<String> {
    let mut names: Vec<String> =
        std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    names
}

#[test]
fn several_files_are_written_to_a_folder() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.cl"), GOOD).unwrap();
    std::fs::write(folder.path().join("b.cl"), "kernel void other(global int *a) { a[0] = N; }").unwrap();
    let output = wgclc_in(folder.path(), &["-DN=1", "--emit", "ir,reflection", "-o", "out/", "a.cl", "b.cl"]);
    assert_eq!((output.status.code(), text(&output.stdout), text(&output.stderr)), (Some(0), String::new(), String::new()));
    assert_eq!(names(&folder.path().join("out")), ["a.ir", "a.reflection", "b.ir", "b.reflection"]);
    assert!(std::fs::read_to_string(folder.path().join("out/b.ir")).unwrap().contains("\"other\""));
    // With one input file and one stage, -o may name the output file.
    let output = wgclc_in(folder.path(), &["-DN=1", "--emit", "asm", "--device", "cpu", "-oa.asm", "a.cl"]);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()));
    assert!(std::fs::read_to_string(folder.path().join("a.asm")).unwrap().contains("ret"));
    let output = wgclc_in(folder.path(), &["-DN=1", "--emit", "ir", "a.cl", "b.cl"]);
    let shown = text(&output.stdout);
    assert!(shown.starts_with("==> a.cl <==\n") && shown.contains("==> b.cl <==\n"), "{shown}");
}

#[test]
fn two_files_with_the_same_output_file_are_rejected() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::create_dir(folder.path().join("sub")).unwrap();
    for file in ["a.cl", "sub/a.cl"] {
        std::fs::write(folder.path().join(file), GOOD).unwrap();
    }
    let output = wgclc_in(folder.path(), &["-DN=1", "--emit", "ir", "-o", "out/", "a.cl", "sub/a.cl"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(text(&output.stderr).contains("a.cl and sub/a.cl have the same output file "), "{}", text(&output.stderr));
}

#[test]
fn the_exit_status_is_that_of_the_worst_file() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("good.cl"), GOOD).unwrap();
    std::fs::write(folder.path().join("bad.cl"), "kernel void k(global int *a) { a[0] = ; }").unwrap();
    let status = |files: &[&str]| wgclc_in(folder.path(), &[&["--check", "-DN=1"], files].concat()).status.code();
    assert_eq!(status(&["good.cl"]), Some(0));
    assert_eq!(status(&["bad.cl", "good.cl"]), Some(1));
    assert_eq!(status(&["good.cl", "none.cl", "bad.cl"]), Some(2));
}

fn json(line: &str) -> serde_json::Value {
    serde_json::from_str(line).unwrap_or_else(|error| unreachable!("{error}: {line}"))
}

#[test]
fn diagnostics_are_written_as_json() {
    let source = "int twice(int a);\nkernel void k(global int *a)\n{\n    a[0] = twice(1, 2);\n}\n";
    let output = wgclc(&["--check", "--message-format", "json", "-"], source);
    assert_eq!((output.status.code(), text(&output.stderr)), (Some(1), String::new()));
    let lines: Vec<_> = text(&output.stdout).lines().map(json).collect();
    let [report, end] = lines.as_slice() else { unreachable!("{lines:?}") };
    assert_eq!(*end, json(r#"{"reason":"build-finished","success":false}"#));
    assert_eq!((&report["reason"], &report["target"]["src_path"]), (&json("\"compiler-message\""), &json("\"-\"")));
    let message = &report["message"];
    assert_eq!((&message["level"], &message["$message_type"]), (&json("\"error\""), &json("\"diagnostic\"")));
    assert!(message["rendered"].as_str().unwrap().starts_with("<source>:4:"), "{message}");
    let span = &message["spans"][0];
    assert_eq!((&span["file_name"], &span["line_start"], &span["is_primary"]), (&json("\"<source>\""), &json("4"), &json("true")));
    let (from, to) = (span["byte_start"].as_u64().unwrap() as usize, span["byte_end"].as_u64().unwrap() as usize);
    assert!("twice(1, 2)".contains(&source[from..to]) && to > from, "{span}");
    let line = &span["text"][0];
    assert_eq!(line["text"], "    a[0] = twice(1, 2);");
    assert_eq!(line["highlight_start"], span["column_start"]);
    // A note refers to the declaration.
    assert_eq!(message["children"][0]["spans"][0]["line_start"], 1, "{message}");
}

#[test]
fn errors_of_the_last_stages_are_json_too() {
    let source = "kernel void k(local int *a, global int *b) { local int c[8192]; c[0] = a[0]; b[0] = c[b[1]] + a[b[2]]; }";
    let output = wgclc(&["--check", "--message-format", "json", "-"], source);
    let first = json(text(&output.stdout).lines().next().unwrap());
    assert!(first["message"]["message"].as_str().unwrap().starts_with("kernel `k` needs "), "{first}");
    assert_eq!(first["message"]["spans"], json("[]"));
}

#[test]
fn output_files_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("a.cl"), GOOD).unwrap();
    let output = wgclc_in(folder.path(), &["-DN=1", "--emit", "ir", "-o", "out/", "--message-format", "json", "a.cl"]);
    let lines: Vec<_> = text(&output.stdout).lines().map(json).collect();
    assert_eq!(lines[0], json(r#"{"reason":"output","file":"a.cl","stage":"ir","filename":"out/a.ir"}"#));
    assert_eq!(lines[1], json(r#"{"reason":"build-finished","success":true}"#));
}

/// A process that is killed when dropped.
struct KillOnDrop(Child);

impl Drop for KillOnDrop {
    fn drop(&mut self) {
        // The process may have exited already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

#[test]
fn changed_files_are_compiled_again() {
    let folder = tempfile::tempdir().unwrap();
    let write = |file: &str, text: &str| std::fs::write(folder.path().join(file), text).unwrap();
    write("a.cl", "#include \"a.h\"\nkernel void k(global int *a) { a[0] = N; }\n");
    let mut command = Command::new(env!("CARGO_BIN_EXE_wgclc"));
    command.args(["--watch", "--check", "--message-format", "json", "-I.", "a.cl"]).current_dir(folder.path());
    let mut child = KillOnDrop(command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn().unwrap());
    let mut lines = BufReader::new(child.0.stdout.take().unwrap()).lines().map(|line| json(&line.unwrap()));
    // Returns the messages of one build.
    let mut build = || {
        let report: Vec<_> = lines.by_ref().take_while(|line| line["reason"] != "build-finished").collect();
        report.iter().map(|line| line["message"]["message"].as_str().unwrap().to_owned()).collect::<Vec<_>>()
    };
    assert!(build()[0].contains("a.h"));
    // Create the missing file, change it, and then change the source.
    write("a.h", "#define N 1\n");
    assert_eq!(build(), [""; 0]);
    write("a.h", "#define N unknown\n");
    assert!(build()[0].contains("unknown"));
    write("a.cl", "kernel void k(global int *a) { a[0] = 7; }\n");
    assert_eq!(build(), [""; 0]);
}
