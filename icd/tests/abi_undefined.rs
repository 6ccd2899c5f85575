//! `WGCL_CHECK=1` reports uses of uninitialised private variables that the compiler keeps in registers. Copies and
//! selections of undefined values are not reported.
//!
//! Reports go to standard error. The kernels therefore run in child processes, whose output the tests compare.

mod common;

use std::process::{Command, Output};

use common::ffi::CL_SUCCESS;
use common::objects::{Context, Queue};
use common::target;

/// Environment variable that is set in the process that runs the kernels.
const CHILD: &str = "WGCL_TEST_UNDEFINED";

/// A kernel with one error, on line 4. It runs with 8 work-items. `n` is 5.
struct Wrong {
    name: &'static str,
    statement: &'static str,
    /// The part of the line that the report marks.
    at: &'static str,
    /// The report, up to the work-item.
    message: &'static str,
    /// The first work-item that the report names.
    item: u32,
}

const fn wrong(name: &'static str, statement: &'static str, at: &'static str, message: &'static str, item: u32) -> Wrong {
    Wrong { name, statement, at, message, item }
}

const WRONG: &[Wrong] = &[
    wrong("branch", "int x; if (i < 6) x = i; if (x > 3) out[i] = 1;", "x > 3", "a branch depends on the uninitialised variable 'x'", 6),
    wrong(
        "stored",
        "int x; if (i == 2) x = 1; out[i] = x * 2 + 1;",
        "out[i] = x * 2 + 1",
        "the stored value depends on the uninitialised variable 'x'",
        0,
    ),
    wrong(
        "address",
        "int x; if (n > 9) x = 0; if (i == 3) out[x & 7] = i;",
        "out[x & 7] = i",
        "the address of an access depends on the uninitialised variable 'x'",
        3,
    ),
    wrong(
        "lane",
        "int4 v; v.xyz = (int3)(i, 2, 3); out4[i] = v;",
        "out4[i] = v",
        "the stored value depends on the uninitialised variable 'v'",
        0,
    ),
    wrong("other_lane", "int2 v; v.x = i; out[i] = v.y;", "out[i] = v.y", "the stored value depends on the uninitialised variable 'v'", 0),
    wrong(
        "member",
        "Pair p; p.a = i; out[i] = p.a + p.b;",
        "out[i] = p.a + p.b",
        "the stored value depends on the uninitialised variable 'p'",
        0,
    ),
    wrong("copied", "Pair p, q; p.a = i; q = p; if (q.b) out[i] = 1;", "q.b", "a branch depends on the uninitialised variable 'p'", 0),
    wrong(
        "in_function",
        "int x; find(i, n, &x); out[i] = x;",
        "out[i] = x",
        "the stored value depends on the uninitialised variable 'x'",
        6,
    ),
    wrong(
        "carried",
        "int last; for (int k = 0; k < i; k++) last = k; out[i] = last;",
        "out[i] = last",
        "the stored value depends on the uninitialised variable 'last'",
        0,
    ),
    wrong(
        "loop_bound",
        "int to; if (i != 1) to = 2; for (int k = 0; k < 4 && k < to; k++) out[i]++;",
        "k < to",
        "a branch depends on the uninitialised variable 'to'",
        1,
    ),
    wrong(
        "selector",
        "int x; if (i < 7) x = 3; switch (x) { case 1: out[i] = 1; break; case 3: out[i] = 2; }",
        "out[i] = 2",
        "a branch depends on the uninitialised variable 'x'",
        7,
    ),
    wrong(
        "float_result",
        "float f; if (i != 3) f = 2; out[i] = (int)sqrt(f + 1.0f);",
        "out[i] = (int)sqrt(f + 1.0f)",
        "the stored value depends on the uninitialised variable 'f'",
        3,
    ),
    wrong(
        "two_variables",
        "int x, y; if (i < 4) x = y = 1; out[i] = x + y;",
        "out[i] = x + y",
        "the stored value depends on the uninitialised variable 'x' or 'y'",
        4,
    ),
    wrong(
        "atomic",
        "int x; if (i != 4) x = 1; atomic_add(out + i, x);",
        "atomic_add(out + i, x)",
        "an operand depends on the uninitialised variable 'x'",
        4,
    ),
    wrong(
        "pointer",
        "global int *p; if (i < 7) p = out; if (p != 0) out[i] = 1;",
        "p != 0",
        "a branch depends on the uninitialised variable 'p'",
        7,
    ),
    wrong(
        "local_memory",
        "int x; if (i) x = 1; m[i] = x; barrier(CLK_LOCAL_MEM_FENCE); out[i] = 1;",
        "m[i] = x",
        "the stored value depends on the uninitialised variable 'x'",
        0,
    ),
];

/// Kernels that pass undefined values on, but do not use them.
const RIGHT: &str = "
    typedef struct { int a; char c; float3 v; short s; } Mixed;
    kernel void copies(global Mixed *mixed, global int *out, int n) {
        int i = get_global_id(0), x, y, unused;
        Mixed a; a.a = i; Mixed b = a; mixed[i] = b;
        if (n > 3) x = i;
        y = x;
        out[i] = n > 3 ? y : 7;
        if (n > 3 && y > 100) out[i] = 0;
    }
    kernel void vectors(global float3 *out, global float4 *more, int n) {
        int i = get_global_id(0);
        float3 v; v.x = i; v.y = 2; v.z = 3; out[i] = v;
        float4 w; w.xy = v.xy; w.zw = (float2)(0); more[i] = w;
        float8 u; u.lo = w; more[i] += u.lo;
        float4 rest; rest.hi = w.hi; more[i].hi = rest.hi;
    }
    kernel void bits(global int *out, int n) {
        int i = get_global_id(0);
        uchar4 c; c.x = 1; c.z = 2; uint word = as_uint(c); out[i] += (word & 0xff) + ((word >> 16) & 0xff);
        short2 s; s.y = i; out[i] += as_int(s) >> 16;
        int flag; flag = (flag & 0) | 4; out[i] += flag;
    }
    int find(int i, int n, int *where) { if (i > n) return 0; *where = i; return 1; }
    kernel void flags(global int *out, int n) {
        int i = get_global_id(0), where, last, best;
        if (find(i, n, &where)) out[i] = where;
        bool has_last = false;
        for (int k = 0; k < 4; k++) { if (has_last) out[i] += last; last = k; has_last = true; }
        for (int k = 0; k <= i; k++) if (k == 0 || (k ^ n) > best) best = k;
        out[i] += best;
        int p[2]; for (int k = 0; k < 2; k++) p[k] = k; out[i] += p[0] + p[1];
        float lengths[3]; lengths[0] = 1; lengths[i ? 1 : 0] = 2; out[i] += (int)lengths[0];
    }";

fn run_wrong(context: &Context, queue: &Queue, wrong: &Wrong) {
    eprintln!("@@ {}", wrong.name);
    let program = context.build(&format!(
        "typedef struct {{ int a, b; }} Pair; void find(int i, int n, int *where) {{ if (i <= n) *where = i; }}
        kernel void {}(global int *out, global int4 *out4, int n) {{
            local int m[8]; int i = get_global_id(0);\n{}\n}}",
        wrong.name, wrong.statement
    ));
    let kernel = program.kernel(wrong.name);
    let (out, vectors) = (context.buffer(64), context.buffer(128));
    queue.write(&out, &[0_u32; 16]);
    kernel.set_mem(0, &out);
    kernel.set_mem(1, &vectors);
    assert_eq!(kernel.set(2, &5_i32), CL_SUCCESS);
    assert_eq!(queue.launch(&kernel, &[8], Some(&[8])), CL_SUCCESS);
    queue.finish();
}

fn run_right(context: &Context, queue: &Queue) {
    eprintln!("@@ right");
    let program = context.build(RIGHT);
    let buffers = [context.buffer(1024), context.buffer(1024)];
    for buffer in &buffers {
        queue.write(buffer, &[0_u32; 256]);
    }
    for (name, count) in [("copies", 2), ("vectors", 2), ("bits", 1), ("flags", 1)] {
        let kernel = program.kernel(name);
        for (index, buffer) in (0..).zip(&buffers[..count]) {
            kernel.set_mem(index, buffer);
        }
        assert_eq!(kernel.set(u32::try_from(count).expect("a small number"), &5_i32), CL_SUCCESS);
        assert_eq!(queue.launch(&kernel, &[8], Some(&[8])), CL_SUCCESS);
        assert_eq!(target().cl.clFinish(queue.0), CL_SUCCESS, "{name}");
    }
}

#[test]
#[ignore = "run by the others, in processes that check"]
fn kernels() {
    if std::env::var_os(CHILD).is_none() || !common::is_cpu() {
        eprintln!("@@ none");
        return;
    }
    let context = Context::new();
    let queue = context.queue(0);
    for wrong in WRONG {
        run_wrong(&context, &queue, wrong);
    }
    run_right(&context, &queue);
    eprintln!("@@ end");
}

#[test]
#[ignore = "run by the_interpreter_ends_the_launch, in a process with the interpreter"]
fn interpreted() {
    if std::env::var_os(CHILD).is_none() {
        return;
    }
    let context = Context::new();
    let queue = context.queue(0);
    run_right(&context, &queue);
    let program = context.build("kernel void k(global int *out) { int i = get_global_id(0), x; if (i < 6) x = i; if (x > 3) out[i] = 1; }");
    let (kernel, out) = (program.kernel("k"), context.buffer(64));
    kernel.set_mem(0, &out);
    assert_eq!(queue.launch(&kernel, &[8], None), CL_SUCCESS);
    assert_ne!(target().cl.clFinish(queue.0), CL_SUCCESS);
}

fn child(test: &str, variables: &[(&str, &str)]) -> String {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    let command = command.args(["--exact", test, "--ignored", "--nocapture"]).env(CHILD, "1").envs(variables.iter().copied());
    let Output { status, stderr, .. } = command.output().expect("a process");
    let text = String::from_utf8_lossy(&stderr).into_owned();
    assert!(status.success(), "{text}");
    text
}

/// Returns the part of the output for one kernel.
fn of<'t>(text: &'t str, name: &str) -> &'t str {
    let rest = text.split_once(&format!("@@ {name}\n")).map(|(_, rest)| rest);
    assert!(rest.is_some(), "{name} was not run:\n{text}");
    rest.and_then(|rest| rest.split("@@ ").next()).unwrap_or_default()
}

#[test]
fn uses_of_uninitialised_variables_are_reported() {
    let text = child("kernels", &[("WGCL_CHECK", "1")]);
    if text.contains("@@ none") {
        return;
    }
    let mut failures = String::new();
    for wrong in WRONG {
        let column = wrong.statement.find(wrong.at).expect("a part of the line") + 1;
        let expected = format!(
            "<source>:4:{column}: error: kernel '{}': {}, by work-item ({}, 0, 0) of group (0, 0, 0)",
            wrong.name, wrong.message, wrong.item
        );
        let report = of(&text, wrong.name);
        let lines: Vec<&str> = report.lines().filter(|line| line.starts_with("<source>")).collect();
        if lines != [expected.as_str()] {
            failures.push_str(&format!("{expected}\nbut\n{report}\n"));
        }
    }
    assert!(failures.is_empty(), "{failures}");
    assert_eq!(of(&text, "right"), "");
    let summary = of(&text, "end").lines().find(|line| line.starts_with("wgcl: checked ")).unwrap_or_default();
    assert!(summary.ends_with(&format!(" kernels: {} errors", WRONG.len())), "{summary}");
}

#[test]
fn the_interpreter_ends_the_launch() {
    child("interpreted", &[("WGCL_CHECK", "1"), ("WGCL_INTERPRETER", "only"), ("WGCL_TEST_DEVICE", "interpreter")]);
}
