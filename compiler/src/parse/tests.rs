//! Tests of the parser: trees of valid sources, messages for invalid ones, and no panic on any input.

use super::parse;
use crate::ast::dump::dump;
use crate::diag::{Diagnostics, SourceMap, WarningLevels, render};
use crate::options::{BuildOptions, Source};
use crate::preprocess::preprocess;
use crate::target::Target;

/// Returns the dumped tree and the diagnostics of a source.
fn run(text: &str) -> (String, String) {
    let source = Source { text: text.to_owned(), ..Source::default() };
    let (mut map, mut diags) = (SourceMap::new(), Diagnostics::default());
    let tokens = preprocess(&source, &BuildOptions::default(), &Target::full(), &mut map, &mut diags);
    let unit = parse(tokens, &mut diags);
    (dump(&unit), render(&map, &diags, WarningLevels::default()))
}

/// Checks the tree of one expression statement.
#[track_caller]
fn expr(text: &str, expected: &str) {
    let (tree, log) = run(&format!("void f() {{ {text}; }}"));
    assert_eq!(log, "", "{text}");
    let shown = tree.lines().skip(1).map(str::trim).collect::<Vec<_>>().join(" ");
    assert_eq!(shown, expected, "{text}");
}

#[track_caller]
fn declares(text: &str, expected: &str) {
    let (tree, log) = run(text);
    assert_eq!(log, "", "{text}");
    assert_eq!(tree.trim_end(), expected, "{text}");
}

/// Checks the first line of each error, without the file name.
#[track_caller]
fn errors(text: &str, expected: &[&str]) {
    let log = run(text).1;
    let headlines: Vec<&str> =
        log.lines().filter(|line| line.contains(": error: ")).filter_map(|line| line.strip_prefix("<source>:")).collect();
    assert_eq!(headlines, expected, "{log}");
}

#[test]
fn precedence_and_associativity() {
    expr("a + b * c - d", "(- (+ a (* b c)) d)");
    expr("a = b += c", "(= a (+= b c))");
    expr("a ? b : c ? d : e", "(? a b (? c d e))");
    expr("a ? b, c : d", "(? a (, b c) d)");
    expr("a ?: b", "(?: a b)");
    expr("a || b && c | d ^ e & f == g < h << i", "(|| a (&& b (| c (^ d (& e (== f (< g (<< h i))))))))");
    expr("-a.b[1]++", "(- (_++ ([] (. a b) 1)))");
    expr("*p++ = !~x", "(= (* (_++ p)) (! (~ x)))");
    expr("(int)x + 1", "(+ (cast <int> x) 1)");
    expr("(x) + 1", "(+ x 1)");
    expr("sizeof(int) * 2", "(* (sizeof <int>) 2)");
    expr("sizeof (x) * 2", "(* (sizeof x) 2)");
    expr("sizeof x[1]", "(sizeof ([] x 1))");
    expr("f(a, (b, c))(d)->e.f", "(. (-> (call (call f a (, b c)) d) e) f)");
    expr("\"a\" \"b\"", "\"ab\"");
}

#[test]
fn vectors_and_literals() {
    expr("(float4)(1, 2, 3, 4).xy", "(. (vector <float4> 1 2 3 4) xy)");
    expr("(float4)(1).x", "(. (cast <float4> 1) x)");
    expr("(int)(v).x", "(cast <int> (. v x))");
    expr("(int)(a, b)", "(cast <int> (, a b))");
    expr("-(float2)(1, 2)", "(- (vector <float2> 1 2))");
    expr("(uint4)(float4)(1, 2, 3, 4)", "(cast <uint4> (vector <float4> 1 2 3 4))");
    expr("(int[2]){ 1, 2 }[0]", "([] (literal <array of 2 of int> { 1, 2 }) 0)");
    expr("({ int a = 1; a; })", "(block declare a: int = 1 a )");
    expr("__builtin_offsetof(struct s, a.b[2])", "(offsetof <struct s> .a.b[2])");
    expr("vec_step(float3) + vec_step(x)", "(+ (vec_step <float3>) (vec_step x))");
    declares("typedef float4 v4; v4 x = (v4)(1, 2, 3, 4).wzyx;", "typedef v4: float4\ndeclare x: v4 = (. (vector <v4> 1 2 3 4) wzyx)");
}

#[test]
fn declarators() {
    declares("int *(*f)[3];", "declare f: pointer to array of 3 of pointer to int");
    declares("int (*f(int))(float);", "declare f: function (int) returning pointer to function (float) returning int");
    declares("const __global float * restrict const p;", "declare p: const restrict pointer to const global float");
    declares("__local int * __global * p;", "declare p: pointer to global pointer to local int");
    declares("unsigned long int long a, *b;", "declare a: ulong\ndeclare b: pointer to ulong");
    declares(
        "void f(int (x), int (float), int[], char *argv[], ...);",
        "declare f: function (x: int, function (float) returning int, array of int, argv: array of pointer to char, ...) returning void",
    );
    declares("void f(void), g();", "declare f: function () returning void\ndeclare g: function () returning void");
    declares(
        "struct s { int a, *b; struct { int c; }; } x = { .a = 1, .b = 0 };",
        "declare x: struct s { a: int; b: pointer to int; struct { c: int; }; } = { .a = 1, .b = 0 }",
    );
    declares("enum e { A, B = 2, };", "declare enum e { A; B = 2; }");
    declares("int a[2][3] = { { 1 }, [1] = { [2] = 5 } };", "declare a: array of 2 of array of 3 of int = { { 1 }, [1] = { [2] = 5 } }");
    declares("struct s x = { a: 1 };", "declare x: struct s = { .a = 1 }");
    declares(
        "struct __attribute__((packed)) s { char c; int i __attribute__((aligned(8))); } __attribute__((aligned(16)));",
        "declare struct s { c: char; i: int [[aligned(8)]]; } [[packed]] [[aligned(16)]]",
    );
    declares(
        "__kernel __attribute__((vec_type_hint(float4))) void k();",
        "declare k: function () returning kernel void [[vec_type_hint(float4)]]",
    );
    declares("typeof(int *) p; __typeof__(1 + 2) q;", "declare p: typeof(pointer to int)\ndeclare q: typeof (+ 1 2)");
    declares(
        "kernel void k(read_only image2d_t i, __write_only image3d_t o, sampler_t s);",
        "declare k: function (i: read_only Image2d, o: write_only Image3d, s: sampler_t) returning kernel void",
    );
    declares(
        "void f() { typedef int t; { float t; t = 1; } t x; }",
        "function f: function () returning void\n  typedef t: int\n  block\n    declare t: float\n    (= t 1)\n  declare x: t",
    );
    declares("void f(uint uint) { uint = 2; }", "function f: function (uint: uint) returning void\n  (= uint 2)");
    declares(
        "typedef int a; void f(int a) { a * a; } a b;",
        "typedef a: int\nfunction f: function (a: int) returning void\n  (* a a)\ndeclare b: a",
    );
}

#[test]
fn statements() {
    let statement = |text: &str, expected: &[&str]| {
        let (tree, log) = run(&format!("void f() {{ {text} }}"));
        assert_eq!(log, "", "{text}");
        let lines: Vec<&str> = tree.lines().skip(1).map(|line| line.get(2..).unwrap_or("")).collect();
        assert_eq!(lines, expected, "{text}");
    };
    statement("if (a) if (b) c; else d;", &["if a", "  if b", "    c", "  else", "    d"]);
    statement("if (a) b; else if (c) d; else e;", &["if a", "  b", "else", "  if c", "    d", "  else", "    e"]);
    statement("for (;;) break; do x++; while (y);", &["for", "  empty", "  break", "do", "  (_++ x)", "while y"]);
    statement(
        "switch (a) { case 1: case 2 ... 3: b; default: ; }",
        &["switch a", "  block", "    case 1", "    case 2 ... 3", "    b", "    default", "    empty"],
    );
    statement(
        "goto end; float4: ; end: }  void g() {",
        &["goto end", "label float4", "empty", "label end", "empty", "nction g: function () returning void"],
    );
    statement(
        "__attribute__((opencl_unroll_hint(2))) for (;;) continue;",
        &["with [[opencl_unroll_hint(2)]]", "  for", "    empty", "    continue"],
    );
    statement(
        "while (a)\n#pragma unroll 4\nfor (;;) ;",
        &["while a", "  block", "    pragma unroll 4", "    for", "      empty", "      empty"],
    );
    statement("_Static_assert(1, \"x\"); __attribute__((aligned(4))) int x;", &["static_assert 1 \"x\"", "declare x: int [[aligned(4)]]"]);
}

#[test]
fn one_error_per_mistake() {
    errors(
        "void f() { int a = 1 int b; b = ; a = 2; }",
        &["1:21: error: expected ';' at end of declaration", "1:33: error: expected expression"],
    );
    errors("void f() { g(1, 2; h(); }", &["1:18: error: expected ')'"]);
    errors("void f(int a { a = 1; } int x = ;", &["1:14: error: expected ')'", "1:33: error: expected expression"]);
    errors("void f() { foo x; bar *p; }", &["1:12: error: unknown type name 'foo'"]);
    errors("foo x; int y", &["1:1: error: unknown type name 'foo'", "1:13: error: expected ';' after top level declarator"]);
    errors("void f(foo x) { return x }", &["1:8: error: unknown type name 'foo'", "1:25: error: expected ';' after return statement"]);
    errors("void f() { if (x { y; } z = ; }", &["1:18: error: expected ')'", "1:29: error: expected expression"]);
    errors(
        "int f(a, b) int a; int b; { return a; } int x = ;",
        &[
            "1:7: error: function definitions without prototype (K&R style) are not supported in OpenCL C",
            "1:49: error: expected expression",
        ],
    );
    errors(
        "void f() { float4 x = float4(1, 2, 3, 4); }",
        &["1:23: error: unexpected type name 'float4': expected expression; a vector is written '(float4)(...)'"],
    );
    errors("void f() { else x; }", &["1:12: error: 'else' without a previous 'if'"]);
    errors("} int x;", &["1:1: error: extraneous closing brace ('}')"]);
    errors("void f() {", &["1:11: error: expected '}'"]);
    errors("struct s { int a } x; int y = ;", &["1:31: error: expected expression"]);
    errors("unsigned float x;", &["1:10: error: cannot combine 'float' with previous declaration specifier"]);
    errors("static extern int x;", &["1:8: error: cannot combine with previous 'static' declaration specifier"]);
    errors("global local int *p;", &["1:8: error: multiple address spaces specified for type: '__global' and '__local'"]);
    errors("void f() { void g() { } }", &["1:21: error: function definition is not allowed here"]);
}

#[test]
fn keywords_are_not_identifiers() {
    let words = [
        "global",
        "local",
        "constant",
        "private",
        "generic",
        "__global",
        "__local",
        "__constant",
        "__private",
        "__generic",
        "kernel",
        "__kernel",
        "read_only",
        "half",
        "vec_step",
    ];
    for word in words {
        assert!(run(&format!("void f() {{ int {word} = 1; }}")).1.contains("error"), "{word}");
    }
}

/// Runs a test on a thread with the stack size that a program build has.
#[track_caller]
fn deep(test: impl FnOnce() + Send + 'static) {
    let thread = std::thread::Builder::new().stack_size(256 << 20).spawn(test);
    assert!(thread.is_ok_and(|thread| thread.join().is_ok()));
}

#[test]
fn long_chains_parse() {
    deep(|| {
        let long = |unit: &str| format!("void f() {{ int x = {}1; }}", unit.repeat(10_000));
        for unit in ["1 + ", "a ? b : ", "a = ", "- ", "(int)", "a || b && "] {
            assert_eq!(run(&long(unit)).1, "", "{unit}");
        }
        assert_eq!(run(&format!("void f() {{ {} ; }}", "if (a) ; else ".repeat(10_000))).1, "");
        assert_eq!(run(&format!("void f() {{ switch (a) {{ {} ; }} }}", "case 1: ".repeat(10_000))).1, "");
    });
}

#[test]
fn deep_nesting_gives_one_error() {
    deep(|| {
        let brackets = "bracket nesting level exceeded maximum of 256";
        let operators = "operators and brackets are nested too deeply (the limit is 256)";
        let sources = [
            (format!("void f() {{ int x = {}1", "(".repeat(100_000)), brackets),
            (format!("void f() {}", "{".repeat(100_000)), brackets),
            (format!("int x = {}", "{".repeat(100_000)), brackets),
            (format!("int x = a{}", "[a".repeat(100_000)), brackets),
            (format!("int x = {}1", "sizeof ".repeat(100_000)), operators),
            (format!("int x = {}1", "a ? ".repeat(100_000)), operators),
            ("struct s {".repeat(100_000), brackets),
            (format!("int {}x;", "(".repeat(100_000)), brackets),
            (format!("int {}x;", "*".repeat(100_000)), "declarator has more than 256 pointers, array bounds and parameter lists"),
            (format!("int f{}", "(int f".repeat(100_000)), brackets),
            (format!("void f() {{ {}", "if (x) ".repeat(100_000)), "statements are nested too deeply"),
            (format!("void f() {{ int x = {}1; }}", "1 + ".repeat(100_000)), "expression has more than 20000 nested operators"),
        ];
        for (text, message) in sources {
            let log = run(&text).1;
            assert!(log.contains(message), "{}: {}", text.get(..40).unwrap_or(""), log.get(..400).unwrap_or(&log));
            assert!(log.ends_with("1 error generated.\n"), "{}", text.get(..40).unwrap_or(""));
        }
    });
}

/// A small generator with a fixed seed (xorshift).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        usize::try_from(self.0 >> 11).unwrap_or(0) % bound
    }
}

const WORDS: &[&str] = &[
    "int",
    "float4",
    "const",
    "__global",
    "local",
    "kernel",
    "void",
    "struct",
    "union",
    "enum",
    "typedef",
    "static",
    "unsigned",
    "long",
    "if",
    "else",
    "for",
    "while",
    "do",
    "switch",
    "case",
    "default",
    "goto",
    "return",
    "break",
    "continue",
    "sizeof",
    "vec_step",
    "__attribute__((x))",
    "__attribute__",
    "typeof",
    "_Static_assert",
    "__builtin_offsetof",
    "__builtin_astype",
    "x",
    "y",
    "T",
    "f",
    "1",
    "0x1p3f",
    "1.5",
    "'a'",
    "\"s\"",
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "(",
    ")",
    "{",
    "}",
    ";",
    ";",
    ";",
    ",",
    ",",
    ":",
    "?",
    ".",
    "->",
    "...",
    "+",
    "-",
    "*",
    "/",
    "%",
    "&",
    "|",
    "^",
    "~",
    "!",
    "=",
    "==",
    "<",
    "<<=",
    "++",
    "&&",
    "||",
    "#",
    "##",
    "\n#define T int\n",
    "\n#if x\n",
    "\n#else\n",
    "\n#endif\n",
    "\n#define f(x) x x\n",
    "f(",
    "\n#pragma unroll 2\n",
    "_Pragma(\"unroll\")",
    "\\\n",
    "@",
    "'",
    "\"",
    "/*",
    "*/",
    "\u{e9}",
];

#[test]
fn nothing_panics_on_random_tokens() {
    deep(|| {
        let mut random = Random(0x9e37_79b9_7f4a_7c15);
        for _ in 0..1_000 {
            let length = 1 + random.below(120);
            let mut text = String::new();
            for _ in 0..length {
                text.push_str(WORDS.get(random.below(WORDS.len())).copied().unwrap_or(""));
                if random.below(8) > 0 {
                    text.push(' ');
                }
            }
            run(&text);
        }
    });
}

const SAMPLE: &str = "#define SQ(x) ((x) * (x))\ntypedef struct { int a; float4 v[3]; } S;\n__kernel void k(__global float *p, uint n) {\n\
    for (int i = 0; i < n; ++i) { if (p[i] > 1.0f) p[i] = SQ(p[i]) ? (float)(i) : -1; else break; }\n\
    S s = { .a = 1 }; float4 v = (float4)(1, 2, 3, 4).wzyx; switch (s.a) { case 1: goto out; default: ; }\nout: return;\n}\n";

#[test]
fn nothing_panics_on_damaged_sources() {
    deep(|| {
        let mut random = Random(0x1234_5678_9abc_def1);
        for _ in 0..1_000 {
            let mut bytes = SAMPLE.as_bytes().to_vec();
            for _ in 0..=random.below(4) {
                let at = random.below(bytes.len().max(1));
                match random.below(3) {
                    0 if at < bytes.len() => drop(bytes.remove(at)),
                    0 => {}
                    1 => bytes.insert(at, b"(){}[];,#\"'\\*/<>=+-.:"[random.below(21)]),
                    _ => bytes.truncate(at.max(1)),
                }
            }
            run(&String::from_utf8_lossy(&bytes));
        }
    });
}
