//! Helpers that take private memory and call each other many times: the code grows with the source, not with the call
//! tree.

use std::fmt::Write as _;

use wgcl_compiler::build::build;
use wgcl_compiler::launch::LaunchKey;
use wgcl_compiler::options::{BuildOptions, Source};
use wgcl_compiler::program::Program;
use wgcl_compiler::specialise::specialise;
use wgcl_compiler::target::Target;

/// Functions in `levels` levels, each of which calls the next one eight times.
fn source(levels: u32) -> String {
    let mut text =
        "void f0(uint *a, uint k) { for (uint i = 0; i < 9; i++) a[(k + i) & 15u] = a[i & 15u] * 3u + (a[k & 15u] >> i); }\n".to_owned();
    for level in 1..=levels {
        let _ = writeln!(text, "void f{level}(uint *a, uint k) {{");
        for call in 0..8 {
            let _ = writeln!(text, "    a[{call}] += k; if (k & {}u) f{}(a, k + {call}u);", 1 << call, level - 1);
        }
        text.push_str("}\n");
    }
    let _ = writeln!(
        text,
        "kernel void k(global uint *o) {{ uint a[16] = {{1, 2, 3}}; f{levels}(a, o[0]); for (uint i = 0; i < 16; i++) o[i] = a[i]; }}"
    );
    text
}

fn program(levels: u32, target: &Target) -> Program {
    let result = build(&Source { text: source(levels), ..Source::default() }, &BuildOptions::default(), target);
    assert!(result.program.is_some(), "{}", result.log);
    result.program.expect("it is there")
}

fn size(program: &Program) -> usize {
    program.module.functions.iter().map(|function| function.body.size()).sum()
}

#[test]
fn code_grows_with_the_source() {
    let target = Target::full();
    let (four, eight) = (size(&program(4, &target)), size(&program(8, &target)));
    // Expanded, the code would be 4,096 times as large.
    assert!(eight < 8 * four, "{four} instructions for four levels, {eight} for eight");
}

#[test]
fn no_function_has_a_pointer_parameter() {
    let program = program(6, &Target::full());
    assert!(program.module.functions.len() > 1, "all calls are expanded");
    for function in &program.module.functions[1..] {
        let pointers = function.params.iter().any(|&param| function.ty(param).space().is_some());
        assert!(!pointers, "`{}` takes a pointer", function.name);
    }
}

#[test]
fn kernels_that_a_driver_cannot_expand_are_rejected() {
    let target = Target::full();
    let program = program(8, &target);
    let error = specialise(&program.module, "k", &LaunchKey::example(&program.module.functions[0], [64, 1, 1]), &target).err();
    let text = error.map(|error| error.to_string()).unwrap_or_default();
    assert!(text.contains("instructions after inlining; the limit for this device is"), "{text}");
}
