//! Barriers of shaders for WebGPU must be in control flow that is uniform by WGSL's rules. The compiler does not change
//! control flow that meets these rules. It broadcasts conditions that are loaded from memory to the group. If control
//! flow depends on the work-item, the error contains the locations of the barrier and of the branch.
//!
//! `icd/tests/browser.rs` compares the rules with those of a browser.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use wgcl_compiler::build::build;
use wgcl_compiler::diag::Span;
use wgcl_compiler::emit::{Format, print};
use wgcl_compiler::launch::{LaunchError, LaunchKey};
use wgcl_compiler::options::{Source, parse_options};
use wgcl_compiler::specialise::specialise;
use wgcl_compiler::target::Target;

/// The result of compiling a kernel.
#[derive(Debug, PartialEq)]
enum Outcome {
    /// The number of broadcasts in the shader.
    Accepted(usize),
    /// The source texts of the barrier and of the branch.
    Rejected(String, String),
}

fn compile(body: &str) -> Outcome {
    let text = format!(
        "kernel void k(global int *out, constant int *given, int n) {{
            local int m[64]; int l = get_local_id(0), g = get_group_id(0); m[l] = l;\n{body}\nout[get_global_id(0)] = m[l ^ 1]; }}"
    );
    let target = Target::webgpu();
    let built = build(&Source { text: text.clone(), ..Source::default() }, &parse_options("").unwrap(), &target);
    let program = built.program.unwrap_or_else(|| panic!("{}", built.log));
    let key = LaunchKey::example(&program.module.functions[0], [64, 1, 1]);
    match specialise(&program.module, "k", &key, &target) {
        Ok(shader) => Outcome::Accepted(print(&shader, Format::Wgsl, &target).unwrap().matches("workgroupUniformLoad(").count()),
        Err(LaunchError::NotUniform { at, branch, .. }) => {
            let part = |span: Span| program.sources.as_ref().map(|sources| sources.snippet(span)).unwrap_or_default();
            Outcome::Rejected(part(at), part(branch))
        }
        Err(error) => panic!("{body}: {error}"),
    }
}

const BARRIER: &str = "barrier(CLK_LOCAL_MEM_FENCE)";

/// Control flow that is uniform by WGSL's rules needs no broadcasts.
#[test]
fn uniform_control_flow_does_not_change() {
    for body in [
        "barrier(CLK_LOCAL_MEM_FENCE);",
        "if (n > 3) barrier(CLK_LOCAL_MEM_FENCE);",
        "if (g < 3 && given[g] > n) barrier(CLK_LOCAL_MEM_FENCE);",
        "for (int i = 0; i < n; i++) { m[l] += i; barrier(CLK_LOCAL_MEM_FENCE); }",
        "int i = 0; while (1) { if (given[i] < 5) break; i++; barrier(CLK_LOCAL_MEM_FENCE); if (i == n) { m[l] = 0; continue; } m[l]++; }",
        // After the end of a branch, control flow is as uniform as before the branch.
        "if (l < 5) m[l] = 7; barrier(CLK_LOCAL_MEM_FENCE);",
        "for (int i = 0; i < l; i++) { if (m[i] == 40) break; m[l] += i; } barrier(CLK_LOCAL_MEM_FENCE);",
        "switch (l & 3) { case 0: m[l] = 2; break; case 1: m[l] = 4; } barrier(CLK_LOCAL_MEM_FENCE);",
        "for (int i = n; i; i >>= 1) { if (l < i) m[l] += m[l + i]; barrier(CLK_LOCAL_MEM_FENCE); }",
        "barrier(CLK_LOCAL_MEM_FENCE); if (m[3] > l) return;",
    ] {
        assert_eq!(compile(body), Outcome::Accepted(0), "{body}");
    }
}

/// Quotients of global ids by a multiple of the group size are uniform in a group. The compiler computes them from
/// group ids.
#[test]
fn group_uniform_values_use_group_ids() {
    for body in [
        "if (get_global_id(0) / 64 > 3) { m[l]++; barrier(CLK_LOCAL_MEM_FENCE); }",
        "if ((uint)get_global_id(0) >> 7 == (uint)n) { m[l]++; barrier(CLK_LOCAL_MEM_FENCE); }",
        "size_t i = get_global_id(0) / 192; for (size_t k = 0; k < i; k++) { m[l] += k; barrier(CLK_LOCAL_MEM_FENCE); }",
        // The quotient is signed, although ids are unsigned.
        "int i = get_global_id(0); if (i / 64) barrier(CLK_LOCAL_MEM_FENCE);",
        "int i = get_global_id(0); if (i >> 6 < n) barrier(CLK_LOCAL_MEM_FENCE);",
        "int i = get_global_id(0); long k = i; if (k / 128 == n) barrier(CLK_LOCAL_MEM_FENCE);",
        "int i = get_global_id(0); if (i % 192 >= 64) barrier(CLK_LOCAL_MEM_FENCE);",
        "int i = get_global_id(0); if (i < 128) barrier(CLK_LOCAL_MEM_FENCE);",
        "int i = get_global_id(0); if (i > 127) return; barrier(CLK_LOCAL_MEM_FENCE);",
        // These expressions are not quotients, but are also uniform in a group.
        "if (128 <= get_global_id(0)) barrier(CLK_LOCAL_MEM_FENCE);",
        "if (get_global_id(0) & 64) barrier(CLK_LOCAL_MEM_FENCE);",
        "switch ((get_global_id(0) & 255) / 64) { case 2: m[l]++; barrier(CLK_LOCAL_MEM_FENCE); break; case 3: barrier(CLK_LOCAL_MEM_FENCE); }",
    ] {
        assert_eq!(compile(body), Outcome::Accepted(0), "{body}");
    }
    // These expressions have two values in some groups.
    for (body, branch) in [
        ("if (get_global_id(0) / 96 > 3) barrier(CLK_LOCAL_MEM_FENCE);", "get_global_id(0) / 96 > 3"),
        ("int i = get_global_id(0); if (i < 100) barrier(CLK_LOCAL_MEM_FENCE);", "i < 100"),
        ("int i = get_global_id(0); if (i <= 128) barrier(CLK_LOCAL_MEM_FENCE);", "i <= 128"),
        ("int i = get_global_id(0); if (i % 96 < 64) barrier(CLK_LOCAL_MEM_FENCE);", "i % 96 < 64"),
        ("int i = get_global_id(0); if (i & 32) barrier(CLK_LOCAL_MEM_FENCE);", "i & 32"),
        // The dividend may be negative. The quotient rounds towards zero, so it has two values in one group.
        ("int i = get_global_id(0) - 1; if (i / 64) barrier(CLK_LOCAL_MEM_FENCE);", "i / 64"),
    ] {
        assert_eq!(compile(body), Outcome::Rejected(BARRIER.to_owned(), branch.to_owned()), "{body}");
    }
}

#[test]
fn values_from_memory_are_broadcast() {
    for (body, answers) in [
        ("barrier(CLK_LOCAL_MEM_FENCE); if (m[0] < 5) barrier(CLK_LOCAL_MEM_FENCE);", 1),
        ("if (out[g] < n) { m[l]++; barrier(CLK_LOCAL_MEM_FENCE); }", 1),
        (
            "while (out[0] > 0) { barrier(CLK_LOCAL_MEM_FENCE); if (l == 0) out[0]--; barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE); }",
            1,
        ),
        ("int count = out[1]; for (int i = 0; i < count; i++) { m[l] += i; barrier(CLK_LOCAL_MEM_FENCE); }", 1),
        ("if (out[0]) return; barrier(CLK_LOCAL_MEM_FENCE); if (out[1]) barrier(CLK_LOCAL_MEM_FENCE);", 2),
        ("if (out[0] > 5) { if (n == 2) { m[l]++; if (out[2] < 9) { m[l] = 3; barrier(CLK_LOCAL_MEM_FENCE); } } }", 2),
        (
            "switch (out[0]) { case 1: m[l]++; barrier(CLK_LOCAL_MEM_FENCE); break; case 2: m[l] = 4; barrier(CLK_GLOBAL_MEM_FENCE); m[l]++; break; case 5: m[l] = 2; }",
            1,
        ),
        // A branch that no barrier depends on needs no broadcast.
        ("if (out[0] > 3) m[l] = 5; barrier(CLK_LOCAL_MEM_FENCE); if (out[1]) m[l] = 7;", 0),
    ] {
        assert_eq!(compile(body), Outcome::Accepted(answers), "{body}");
    }
}

#[test]
fn varying_control_flow_is_an_error() {
    for (body, branch) in [
        ("if (l < 100) barrier(CLK_LOCAL_MEM_FENCE);", "l < 100"),
        ("if (get_global_id(0) >= n) return; barrier(CLK_LOCAL_MEM_FENCE);", "get_global_id(0) >= n"),
        ("for (int i = l; i < n; i += 64) { m[l] += i; barrier(CLK_LOCAL_MEM_FENCE); }", "i < n"),
        ("while (out[l] > n) { out[l] -= 2; barrier(CLK_LOCAL_MEM_FENCE); }", "out[l] > n"),
        ("if (atomic_inc(out) == 5) barrier(CLK_LOCAL_MEM_FENCE);", "atomic_inc(out) == 5"),
        ("int p = 0; if (l == 3) p = n; if (p > 4) barrier(CLK_LOCAL_MEM_FENCE);", "p > 4"),
    ] {
        assert_eq!(compile(body), Outcome::Rejected(BARRIER.to_owned(), branch.to_owned()), "{body}");
    }
}
