//! Functions with pointer parameters that call each other many times. The size of the code must depend on the source,
//! not on the size of the call tree.

use std::fmt::Write as _;

use wgcl_codegen::Isa;
use wgcl_compiler::build::build;
use wgcl_compiler::launch::LaunchKey;
use wgcl_compiler::options::{BuildOptions, Source};
use wgcl_compiler::program::Program;
use wgcl_compiler::specialise::specialise;
use wgcl_compiler::target::Target;
use wgcl_compiler::vectorize::{Style, compile};

/// Returns a program with `levels` levels of functions. Each function calls the function of the level below eight
/// times.
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

/// Does the same as [`source`], but the functions also use global and local memory, query the work-item, print, and
/// return pointers.
fn source_for_machine_code(levels: u32) -> String {
    let params = "uint *a, global uint *g, local uint *l, uint k";
    let mut text = format!(
        "global uint *f0({params}) {{
            for (uint i = 0; i < 9; i++) a[(k + i) & 15u] = a[i & 15u] * 3u + (g[k & 15u] >> i);
            atomic_add(&l[k & 7u], get_local_id(0));
            if (a[0] == 7) printf(\"%u\\n\", k);
            return g + (k & 1u);
        }}\n"
    );
    for level in 1..=levels {
        let _ = writeln!(text, "global uint *f{level}({params}) {{");
        for call in 0..8 {
            let _ = writeln!(text, "    a[{call}] += k; if (k & {}u) g = f{}(a, g, l, k + {call}u);", 1 << call, level - 1);
        }
        text.push_str("    return g;\n}\n");
    }
    let _ = writeln!(
        text,
        "kernel void k(global uint *o, local uint *l) {{
            uint a[16] = {{1, 2, 3}};
            *f{levels}(a, o, l, o[0]) = a[3];
            barrier(CLK_LOCAL_MEM_FENCE);
            for (uint i = 0; i < 16; i++) o[i] = a[i] + l[i & 7];
        }}"
    );
    text
}

fn program(levels: u32, target: &Target) -> Program {
    program_of(source(levels), target)
}

fn program_of(text: String, target: &Target) -> Program {
    let result = build(&Source { text, ..Source::default() }, &BuildOptions::default(), target);
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
    // With inlining, the code for eight levels would have 4,096 times the size of the code for four levels.
    assert!(eight < 8 * four, "{four} instructions for four levels, {eight} for eight");
}

#[test]
fn no_function_has_a_pointer_parameter() {
    let program = program(6, &Target::full());
    assert!(program.module.functions.len() > 1, "all calls are inlined");
    for function in &program.module.functions[1..] {
        let pointers = function.params.iter().any(|&param| function.ty(param).space().is_some());
        assert!(!pointers, "`{}` has a pointer parameter", function.name);
    }
}

#[test]
fn kernels_that_a_driver_cannot_inline_are_rejected() {
    let target = Target::full();
    let program = program(8, &target);
    let error = specialise(&program.module, "k", &LaunchKey::example(&program.module.functions[0], [64, 1, 1]), &target).err();
    let text = error.map(|error| error.to_string()).unwrap_or_default();
    assert!(text.contains("instructions after inlining; the limit for this device is"), "{text}");
}

#[test]
fn machine_code_grows_with_the_source() {
    let target = Target::cpu();
    let compiled = |levels| {
        let program = program_of(source_for_machine_code(levels), &target);
        let key = LaunchKey::example(&program.module.functions[0], [64, 1, 1]);
        let style = Style::of(Isa::AVX2);
        (size(&program), compile(&program.module, "k", &key, &target, style).expect("machine code").code.len())
    };
    let (four, eight) = (compiled(4), compiled(8));
    assert!(eight.0 < 3 * four.0, "{four:?} instructions and bytes for four levels, {eight:?} for eight");
    assert!(eight.1 < 3 * four.1, "{four:?} instructions and bytes for four levels, {eight:?} for eight");
}

/// Returns a program with functions that access buffers and query the work-item. Each function calls the function of
/// the level below three times, so eight levels have 6,561 calls of `f0`.
fn source_for_shaders(levels: u32) -> String {
    let mut text = "void f0(uint *a, global uint *g, uint k) {
            for (uint i = 0; i < 9; i++) {
                a[(k + i) & 15u] = a[i & 15u] * 3u + (a[k & 15u] >> i) + g[(k + i) & 63u];
                g[64 + 64 * get_global_id(0) + (k & 63u)] += a[i];
            }
            atomic_add(g + (k & 1), 3);
        }\n"
    .to_owned();
    for level in 1..=levels {
        let _ = writeln!(text, "void f{level}(uint *a, global uint *g, uint k) {{");
        for call in 0..3 {
            let _ = writeln!(text, "    a[{call}] += k; f{}(a, g, k * {}u + a[{}] % 7u);", level - 1, call + 1, call + 1);
        }
        text.push_str("}\n");
    }
    let _ = writeln!(
        text,
        "kernel void k(global uint *o) {{
            uint a[16] = {{1, 2, 3}};
            f{levels}(a, o, get_global_id(0));
            for (uint i = 0; i < 16; i++) o[16 * get_global_id(0) + i] = a[i];
        }}"
    );
    text
}

#[test]
fn shaders_grow_with_the_source() {
    let words = |levels, target: &Target| {
        let program = program_of(source_for_shaders(levels), target);
        assert!(program.module.functions[0].kernel.as_ref().is_some_and(|kernel| kernel.requires_addresses));
        let key = LaunchKey::example(&program.module.functions[0], [64, 1, 1]);
        specialise(&program.module, "k", &key, target).expect("a shader").spirv.expect("SPIR-V").len()
    };
    let not_inlined = Target::full().changed(|target| target.inlining = target.inlining.keeping_all());
    let (four, six) = (words(4, &not_inlined), words(6, &not_inlined));
    assert!(six < 2 * four, "{four} words for four levels, {six} for six");
    let eight = words(8, &Target::full());
    assert!(eight < 4 * six, "{six} words for six levels without inlining, {eight} for eight");
}

/// Functions that use pointers to all address spaces, and return pointers, are called as well.
#[test]
fn shaders_with_all_pointers_grow_with_the_source() {
    let words = |levels| {
        let target = Target::full().changed(|target| target.inlining = target.inlining.keeping_all());
        let program = program_of(source_for_machine_code(levels), &target);
        assert_eq!(program.module.functions.len(), levels as usize + 2);
        let key = LaunchKey::example(&program.module.functions[0], [64, 1, 1]);
        specialise(&program.module, "k", &key, &target).expect("a shader").spirv.expect("SPIR-V").len()
    };
    let (two, four) = (words(2), words(4));
    assert!(four < 2 * two, "{two} words for two levels, {four} for four");
}

/// Functions that only access local memory need no buffer addresses.
#[test]
fn devices_without_addresses_call_functions_that_access_local_memory() {
    let mut text =
        "local uint *f0(local uint *l, uint k) { for (uint i = 0; i < 9; i++) l[k & 7] += l[(k + i) & 7] * 3; return l + (k & 1); }\n"
            .to_owned();
    for level in 1..=4 {
        let call = |call: u32| format!("l = f{}(l, k + {call}u) - (l[{call}] & 1); ", level - 1);
        let _ = writeln!(text, "local uint *f{level}(local uint *l, uint k) {{ {} return l; }}", (0..8).map(call).collect::<String>());
    }
    let _ = writeln!(
        text,
        "kernel void k(global uint *o, local uint *l) {{
            local uint own[64];
            *f4(o[0] & 1 ? l : own, o[1]) = 3;
            o[get_local_id(0)] = l[get_local_id(0) & 7] + own[get_local_id(0)];
        }}"
    );
    let target = Target::portable().changed(|target| target.inlining = target.inlining.keeping_all());
    let program = program_of(text, &target);
    assert_eq!(program.module.functions.len(), 6);
    let kernel = &program.module.functions[0];
    assert!(kernel.kernel.as_ref().is_some_and(|kernel| !kernel.requires_addresses));
    specialise(&program.module, "k", &LaunchKey::example(kernel, [64, 1, 1]), &target).expect("a shader");
}

/// Without buffer addresses, functions that access buffers must be inlined.
#[test]
fn devices_without_addresses_reject_large_call_trees() {
    let target = Target::portable();
    let result = build(&Source { text: source_for_shaders(8), ..Source::default() }, &BuildOptions::default(), &target);
    assert!(result.program.is_none());
    assert!(result.log.contains("more than 300000 instructions after inlining"), "{}", result.log);
}

/// A few calls of a function with pointers are inlined. Otherwise, accesses to contiguous elements would become
/// gathers.
#[test]
fn small_call_trees_are_inlined() {
    let program = program_of(source_for_machine_code(2), &Target::cpu());
    assert_eq!(program.module.functions.len(), 1);
}
