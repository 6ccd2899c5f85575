//! Tests of linking: accepted and rejected programs, and the linked modules.

#![allow(clippy::panic, reason = "a test fails by panicking")]

use super::{CompiledUnit, Output, link};
use crate::build::compile;
use crate::options::Source;
use crate::options::parse_options;
use crate::program::BuildResult;
use crate::target::Target;

fn unit(text: &str, options: &str) -> CompiledUnit {
    let options = parse_options(options).expect("options");
    let (unit, log) = compile(&Source { text: text.to_owned(), ..Source::default() }, &options, &Target::full());
    unit.unwrap_or_else(|| panic!("{text}\n{log}"))
}

fn linked(sources: &[&str]) -> BuildResult {
    // Program-scope variables in the global address space require OpenCL C 2.0.
    let units: Vec<CompiledUnit> = sources.iter().map(|source| unit(source, "-cl-std=CL2.0")).collect();
    link(&units.iter().collect::<Vec<_>>(), Output::Executable, &Target::full())
}

#[track_caller]
fn rejects(sources: &[&str], text: &str) {
    let result = linked(sources);
    assert!(result.program.is_none(), "{sources:?} should not link");
    assert!(result.log.contains(text), "expected '{text}' in\n{}", result.log);
}

#[track_caller]
fn accepted(sources: &[&str]) -> String {
    let result = linked(sources);
    let program = result.program.unwrap_or_else(|| panic!("{}", result.log));
    program.module.to_string()
}

const CALLER: &str = "int f(int x); kernel void k(global int *a) { a[0] = f(a[0]); }";

#[test]
fn functions_are_linked_by_name() {
    let ir = accepted(&[CALLER, "int f(int x) { return x * 12345; }"]);
    assert!(ir.contains("12345"), "{ir}");
    accepted(&["int f(int x) { return x * 12345; }", CALLER]);
    rejects(&[CALLER], "undefined reference to function 'f' in unit 1 (<source>:1:5)");
    rejects(&[CALLER, "static int f(int x) { return x; }"], "undefined reference to function 'f'");
    rejects(
        &[CALLER, "int f(int x) { return x; }", "int f(int x) { return x + 1; }"],
        "symbol 'f' is defined in unit 2 (<source>:1:5) and again in unit 3 (<source>:1:5)",
    );
    rejects(
        &[CALLER, "#line 7 \"f.cl\"\nint f(float x) { return x; }"],
        "conflicting types for 'f': 'int (int)' in unit 1 (<source>:1:5), but 'int (float)' in unit 2 (f.cl:7:5)",
    );
    rejects(&[CALLER, "constant int f = 3;"], "conflicting types for 'f'");
}

#[test]
fn names_with_internal_linkage_are_separate() {
    let one = "static int f(int x) { return x * 111; } struct S { int a; }; enum { N = 1 };\n#define M(x) f(x)\n\
               kernel void one(global int *a) { struct S s = { M(a[0]) }; a[0] = s.a; }";
    let two = "static int f(int x) { return x * 222; } struct S { float b, c; }; enum { N = 2 };\n#define M(x) f(x)\n\
               kernel void two(global int *a) { struct S s = { M(a[0]), 1 }; a[0] = s.b; }";
    let ir = accepted(&[one, two]);
    assert!(ir.contains("111") && ir.contains("222"), "{ir}");
}

#[test]
fn unnamed_tables_are_linked_with_their_function() {
    let one = "int f(int i); kernel void k(global int *a) { const int t[8] = { 1, 2, 3, 4, 5, 6, 7, 17 }; a[0] = t[a[1] & 7] + f(a[2]); }";
    let two = "constant int other = 3; int f(int i) { const int t[8] = { 8, 7, 6, 5, 4, 3, 2, 33 }; return t[i & 7] + other; }";
    for units in [[one, two], [two, one]] {
        let ir = accepted(&units);
        assert!(ir.contains("0700000011000000") && ir.contains("0200000021000000"), "{ir}");
    }
}

#[test]
fn inline_functions_may_be_in_every_unit() {
    let header = "inline int f(int x) { return x * 777; }\n";
    let user = |name: &str| format!("{header}kernel void {name}(global int *a) {{ a[0] = f(a[0]); }}");
    accepted(&[&user("one"), &user("two")]);
    accepted(&[&user("one"), CALLER]);
    let ir = accepted(&[&user("one"), CALLER, "int f(int x) { return x * 888; }"]);
    assert!(ir.contains("777") && ir.contains("888"), "each its own\n{ir}");
}

#[test]
fn overloads_are_distinguished() {
    let definitions = "__attribute__((overloadable)) int f(int x) { return x * 111; }\n\
                       __attribute__((overloadable)) float f(float x) { return x * 222; }";
    let user = "__attribute__((overloadable)) float f(float x); kernel void k(global float *a) { a[0] = f(a[0]); }";
    accepted(&[user, definitions]);
    rejects(&[user, "__attribute__((overloadable)) int f(int x) { return x; }"], "undefined reference to function 'f'");
}

#[test]
fn records_are_compared_by_structure() {
    let user = "struct P { int x, y; }; struct P make(int a); kernel void k(global int *a) { a[0] = make(a[1]).y; }";
    accepted(&[user, "typedef struct Q { int first; int second; } Q; Q make(int a) { Q q = { a, 99 }; return q; }"]);
    rejects(&[user, "struct P { int x; float y; }; struct P make(int a) { struct P q = { a, 99 }; return q; }"], "conflicting types");
    let list = "struct N { int v; global struct N *next; }; int sum(global struct N *n)";
    accepted(&[
        &format!("{list}; kernel void k(global int *a) {{ a[0] = sum((global struct N *)a); }}"),
        &format!("{list} {{ int s = 0; while (n) {{ s += n->v; n = n->next; }} return s; }}"),
    ]);
    accepted(&[
        "struct I; int g(global struct I *p); kernel void k(global int *a) { a[0] = g((global struct I *)a); }",
        "struct I { int a; }; int g(global struct I *p) { return p->a; }",
    ]);
}

#[test]
fn variables_are_linked_by_name() {
    let user =
        "extern constant float foo; extern constant int table[]; kernel void k(global float *a) { a[0] = foo + table[(int)a[1] & 3]; }";
    let ir = accepted(&[user, "constant float foo = 4.5f; constant int table[4] = { 1, 2, 3, 4 };"]);
    assert!(ir.contains("global"), "{ir}");
    rejects(&[user, "constant int table[4] = { 1, 2, 3, 4 };"], "undefined reference to variable 'foo'");
    rejects(&[user, "static constant float foo = 1; constant int table[4] = { 1, 2, 3, 4 };"], "undefined reference to variable 'foo'");
    rejects(&[user, "constant int foo = 1; constant int table[4] = { 1, 2, 3, 4 };"], "conflicting types for 'foo'");
    // Unused declarations need no definition.
    accepted(&["extern constant float foo; extern constant struct bar b; extern int f(int); kernel void k(global int *a) { a[0] = 1; }"]);
}

#[test]
fn units_share_global_variables() {
    let writer = "extern global int counter; kernel void put(global int *a) { counter = a[0]; }";
    let reader = "int counter = 5; kernel void get(global int *a) { a[0] = counter; }";
    let result = linked(&[writer, reader]);
    let program = result.program.unwrap_or_else(|| panic!("{}", result.log));
    assert_eq!(program.global_variable_size, 4, "{}", program.module);
    rejects(&[reader, "global int counter;"], "symbol 'counter' is defined in unit 1 (<source>:1:5) and again in unit 2 (<source>:1:12)");
    accepted(&[reader, "static global int counter; kernel void own(global int *a) { a[0] = counter++; }"]);
    accepted(&[
        "extern int counter; global int counter; int counter = 3; kernel void k(global int *a) { extern int counter; a[0] = counter; }",
    ]);
}

#[test]
fn arrays_of_unknown_length_have_the_alignment_of_their_elements() {
    let user = "extern constant int table[]; kernel void k(global int *a) { a[0] = table[a[1]]; }";
    let ir = accepted(&[user, "constant int table[4] = { 1, 2, 3, 4 };"]);
    assert!(!ir.contains("align=1 ") && !ir.contains("align 1"), "{ir}");
}

#[test]
fn initialisers_may_contain_addresses_in_other_units() {
    let user = "extern constant int *constant table[2]; kernel void k(global int *a) { a[0] = *table[a[1] & 1]; }";
    accepted(&[user, "extern constant int x; constant int y = 2; constant int *constant table[2] = { &x, &y };", "constant int x = 1;"]);
    rejects(
        &[user, "extern constant int x; constant int *constant table[2] = { &x, 0 };"],
        "undefined reference to variable 'x' in unit 2 (<source>:1:21)",
    );
}

#[test]
fn kernels_of_all_units_are_linked_and_may_be_called() {
    let units = [
        "extern kernel void copy(global float *s, global float *d); kernel void again(global float *s, global float *d) { copy(s, d); }",
        "kernel void copy(global float *s, global float *d) { d[get_global_id(0)] = s[get_global_id(0)]; }",
    ];
    let result = linked(&units);
    let program = result.program.expect("program");
    let names: Vec<&str> = program.kernels.iter().map(|kernel| kernel.name.as_str()).collect();
    assert_eq!(names, ["again", "copy"]);
    rejects(&[units[1], units[1]], "symbol 'copy' is defined in unit 1 (<source>:1:13) and again in unit 2 (<source>:1:13)");
}

#[test]
fn recursion_through_units_is_refused() {
    rejects(
        &[
            "int g(int x); int f(int x) { return g(x); } kernel void k(global int *a) { a[0] = f(1); }",
            "int f(int x); int g(int x) { return x ? f(x - 1) : 0; }",
        ],
        "recursive",
    );
}

#[test]
fn libraries_may_have_undefined_symbols() {
    let target = Target::full();
    let (caller, f) = (unit(CALLER, ""), unit("int f(int x) { return x; }", ""));
    let result = link(&[&caller], Output::Library, &target);
    assert!(result.program.is_none() && result.log.is_empty(), "{}", result.log);
    assert!(link(&[&f, &f], Output::Library, &target).log.contains("defined in unit 1 (<source>:1:5) and again in unit 2 (<source>:1:5)"));
}

#[test]
fn units_keep_their_options() {
    let define = "int f(int x) { return x * FACTOR; }";
    let target = Target::full();
    let result = link(&[&unit(CALLER, "-cl-kernel-arg-info"), &unit(define, "-DFACTOR=4321")], Output::Executable, &target);
    let program = result.program.expect("program");
    assert!(program.module.to_string().contains("4321"));
    assert!(program.kernels[0].has_arg_info);
}

#[test]
fn units_that_enqueue_share_one_queue() {
    let shared = "static void go(queue_t q, global int *a) { enqueue_kernel(q, 0, ndrange_1D(1), ^{ a[0] = 1; }); } ";
    let one = format!("{shared} kernel void one(queue_t q, global int *a) {{ go(q, a); }}");
    let two = format!("{shared} kernel void two(queue_t q, global int *a) {{ go(q, a); }}");
    let result = linked(&[&one, &two]);
    let program = result.program.unwrap_or_else(|| panic!("{}", result.log));
    let queues = program.module.globals.iter().filter(|global| global.name == crate::enqueue::VARIABLE).count();
    assert_eq!((queues, program.global_variable_size), (1, 0), "{}", program.module);
    let enqueuing: Vec<(&str, bool)> = program.kernels.iter().map(|kernel| (kernel.name.as_str(), kernel.enqueues)).collect();
    assert_eq!(
        (enqueuing.len(), enqueuing[0], enqueuing.iter().filter(|(_, enqueues)| *enqueues).count()),
        (4, enqueuing[0], 2),
        "{enqueuing:?}"
    );
}
