//! The tool on the command line: exit statuses and what goes to which stream.

#![allow(clippy::unwrap_used, reason = "a test may fail by panicking")]

use std::io::Write;
use std::process::{Command, Output, Stdio};

/// Runs `wgclc` with a source on standard input.
fn wgclc(arguments: &[&str], source: &str) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_wgclc"));
    command.args(arguments).stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    // The tool may end without reading its input.
    let _ = child.stdin.take().unwrap().write_all(source.as_bytes());
    child.wait_with_output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

const GOOD: &str = "kernel void add(global const float *a, global float *b, int n)\n{\n    int i = get_global_id(0);\n    if (i < n) b[i] = a[i] + N;\n}\n";

#[test]
fn status_0_where_it_builds() {
    let output = wgclc(&["--check", "-D", "N=1", "-"], GOOD);
    assert_eq!((output.status.code(), text(&output.stdout), text(&output.stderr)), (Some(0), String::new(), String::new()));
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
fn a_check_goes_to_the_end_or_to_the_front() {
    // More local memory than any device has, by an argument and a variable together: only the last stage sees both.
    let source = "kernel void k(local int *a, global int *b) { local int c[8192]; c[0] = a[0]; b[0] = c[b[1]] + a[b[2]]; }";
    let output = wgclc(&["--check", "-"], source);
    assert_eq!(output.status.code(), Some(1));
    assert!(text(&output.stderr).starts_with("error: kernel `k` needs "), "{}", text(&output.stderr));
    assert_eq!(wgclc(&["--check=front", "-"], source).status.code(), Some(0));
}

#[test]
fn status_1_where_it_is_refused() {
    let output = wgclc(&["--check", "-"], "kernel void k(global int *a) { a[0] = ; }");
    assert_eq!(output.status.code(), Some(1));
    let expected = "<source>:1:39: error: expected expression\nkernel void k(global int *a) { a[0] = ; }\n                                      ^\n1 error generated.\n";
    assert_eq!(text(&output.stderr), expected);
}

#[test]
fn warnings_become_errors_on_demand() {
    let source = "#pragma nobody knows\nkernel void k(global int *a) { a[0] = 1; }";
    let status = |arguments: &[&str]| {
        let output = wgclc(arguments, source);
        (output.status.code(), text(&output.stderr).contains("unknown pragma"))
    };
    assert_eq!(status(&["-"]), (Some(0), true));
    assert_eq!(status(&["-w", "-"]), (Some(0), false));
    assert_eq!(status(&["-Werror", "-"]), (Some(1), true));
    assert_eq!(status(&["-w", "-Werror", "-"]), (Some(0), false));
}

#[test]
fn status_2_for_wrong_usage() {
    let wrong: [&[&str]; 5] =
        [&[], &["-cl-nonsense", "-"], &["/no/such/file.cl"], &["--emit", "nonsense", "-"], &["--check", "--emit", "ir", "-"]];
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
    ];
    for (stage, words) in stages {
        let output = wgclc(&["--emit", stage, "--local-size", "8,4", "-DN=1", "-"], GOOD);
        assert_eq!(output.status.code(), Some(0), "{stage}: {}", text(&output.stderr));
        assert!(text(&output.stdout).contains(words), "{stage}: {}", text(&output.stdout));
    }
}

#[test]
fn it_describes_itself_for_packages() {
    for (arguments, expected) in [
        (["--completions", "bash"].as_slice(), "complete -F _wgclc"),
        (&["--completions", "zsh"], "#compdef wgclc"),
        (&["--completions", "fish"], "complete -c wgclc"),
        (&["--manual"], ".SH \"BUILD OPTIONS\""),
    ] {
        let output = wgclc(arguments, "");
        assert_eq!((output.status.code(), text(&output.stderr)), (Some(0), String::new()), "{arguments:?}");
        assert!(text(&output.stdout).contains(expected), "{}", text(&output.stdout));
    }
    assert_eq!(wgclc(&["--manual", "-"], GOOD).status.code(), Some(2));
    assert_eq!(wgclc(&[], GOOD).status.code(), Some(2));
}
