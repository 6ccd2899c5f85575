//! Tests of the preprocessor: the examples of C99 6.10.3.5, directives, errors, predefined macros, literals, locations
//! and limits.

use std::collections::BTreeMap;

use super::preprocess;
use crate::diag::{Diagnostics, SourceMap, WarningLevels, render};
use crate::lex::token::{Token, TokenKind};
use crate::options::{BuildOptions, CStd, Source};
use crate::target::Target;

struct Run {
    tokens: Vec<Token>,
    log: String,
    map: SourceMap,
}

impl Run {
    /// Returns the spellings of the tokens, separated by spaces.
    fn text(&self) -> String {
        let shown = self.tokens.iter().filter(|token| token.kind != TokenKind::Eof).map(|token| token.kind.to_string());
        shown.collect::<Vec<_>>().join(" ")
    }
}

fn run_source(source: &Source, options: &BuildOptions) -> Run {
    let mut map = SourceMap::new();
    let mut diags = Diagnostics::default();
    let tokens = preprocess(source, options, &Target::full(), &mut map, &mut diags);
    let log = render(&map, &diags, WarningLevels::default());
    Run { tokens, log, map }
}

fn run(text: &str) -> Run {
    run_source(&Source { text: text.to_owned(), ..Source::default() }, &BuildOptions::default())
}

/// Checks that two texts preprocess to the same tokens, without diagnostics for `text`.
#[track_caller]
fn expands(text: &str, expected: &str) {
    let run = run(text);
    assert_eq!(run.log, "");
    assert_eq!(run.text(), spellings(expected), "{text}");
}

/// Returns the spellings of the tokens after preprocessing.
fn spellings(text: &str) -> String {
    run(text).text()
}

/// Checks that the log contains a text.
#[track_caller]
fn complains(text: &str, words: &str) {
    let log = run(text).log;
    assert!(log.contains(words), "{log}");
}

#[test]
fn example_3_rescanning() {
    let macros = "#define x 3\n#define f(a) f(x * (a))\n#undef x\n#define x 2\n#define g f\n#define z z[0]\n#define h g(~\n#define m(a) a(w)\n\
        #define w 0,1\n#define t(a) a\n#define p() int\n#define q(x) x\n#define r(x,y) x ## y\n#define str(x) # x\n";
    let case = |line: &str, expected: &str| expands(&format!("{macros}{line}\n"), expected);
    case("f(y+1) + f(f(z)) % t(t(g)(0) + t)(1);", "f(2 * (y+1)) + f(2 * (f(2 * (z[0])))) % f(2 * (0)) + t(1);");
    case("g(x+(3,4)-w) | h 5) & m\n(f)^m(m);", "f(2 * (2+(3,4)-0,1)) | f(2 * (~ 5)) & f(2 * (0,1))^m(0,1);");
    case("p() i[q()] = { q(1), r(2,3), r(4,), r(,5), r(,) };", "int i[] = { 1, 23, 4, 5, };");
    case("char c[2][6] = { str(hello), str() };", "char c[2][6] = { \"hello\", \"\" };");
}

#[test]
fn example_4_stringifying_and_pasting() {
    let macros = "#define str(s) # s\n#define xstr(s) str(s)\n#define debug(s, t) printf(\"x\" # s \"= %d, x\" # t \"= %s\", \\\n x ## s, x ## t)\n\
        #define INCFILE(n) vers ## n\n#define glue(a, b) a ## b\n#define xglue(a, b) glue(a, b)\n#define HIGHLOW \"hello\"\n#define LOW LOW \", world\"\n";
    let case = |line: &str, expected: &str| expands(&format!("{macros}{line}\n"), expected);
    case("debug(1, 2);", "printf(\"x\" \"1\" \"= %d, x\" \"2\" \"= %s\", x1, x2);");
    case(
        r#"fputs(str(strncmp("abc\0d", "abc", '\4') == 0) str(: @\n), s);"#,
        r#"fputs("strncmp(\"abc\\0d\", \"abc\", '\\4') == 0" ": @\n", s);"#,
    );
    case("xstr(INCFILE(2).h)", "\"vers2.h\"");
    case("glue(HIGH, LOW);", "\"hello\";");
    case("xglue(HIGH, LOW)", "\"hello\" \", world\"");
}

#[test]
fn example_5_placemarkers() {
    expands(
        "#define t(x,y,z) x ## y ## z\nint j[] = { t(1,2,3), t(,4,5), t(6,,7), t(8,9,), t(10,,), t(,11,), t(,,12), t(,,) };",
        "int j[] = { 123, 45, 67, 89, 10, 11, 12, };",
    );
}

#[test]
fn hash_hash_example_of_the_standard() {
    expands(
        "#define hash_hash # ## #\n#define mkstr(a) # a\n#define in_between(a) mkstr(a)\n#define join(c, d) in_between(c hash_hash d)\nchar p[] = join(x, y);",
        "char p[] = \"x ## y\";",
    );
}

#[test]
fn variadic_macros() {
    let macros = "#define debug(...) fprintf(e, __VA_ARGS__)\n#define showlist(...) puts(#__VA_ARGS__)\n#define log(f, ...) p(f, ##__VA_ARGS__)\n\
        #define named(f, rest...) p(f, ## rest)\n#define count(...) pick(__VA_ARGS__, 3, 2, 1)\n#define pick(a, b, c, d, ...) d\n";
    let case = |line: &str, expected: &str| expands(&format!("{macros}{line}\n"), expected);
    case("debug(\"Flag\"); debug(\"X = %d\", x);", "fprintf(e, \"Flag\"); fprintf(e, \"X = %d\", x);");
    case("showlist(The first, second, and third items.);", "puts(\"The first, second, and third items.\");");
    case("log(\"a\") log(\"a\", 1, 2) named(b) named(b, c)", "p(\"a\") p(\"a\", 1, 2) p(b) p(b, c)");
    case("count(a) count(a, b) count(a, b, c)", "1 2 3");
}

#[test]
fn self_reference_and_mutual_reference() {
    expands("#define foo (4 + foo)\nfoo", "(4 + foo)");
    expands("#define x (4 + y)\n#define y (2 * x)\nx y", "(4 + (2 * x)) (2 * (4 + y))");
    expands("#define f(a) a*g\n#define g(a) f(a)\nf(2)(9)", "2*9*g");
    expands("#define NIL(xxx) xxx\n#define G_0(arg) NIL(G_1)(arg)\n#define G_1(arg) NIL(arg)\nG_0(42)", "42");
    expands("#define f(x) x f\nf(1)(2)", "1 f(2)");
}

#[test]
fn macro_calls_may_contain_line_ends_and_directives() {
    expands("#define f(a, b) a - b\nf(1,\n  2) f\n(3, 4) f f", "1 - 2 3 - 4 f f");
    expands("#define f(a) [a]\nf(1\n#if 1\n+ 2\n#else\n+ 3\n#endif\n)", "[1 + 2]");
    expands("#define EMPTY\n#define f(a) <a>\nf EMPTY (1) f(EMPTY)", "f (1) <>");
    expands("a\\\nb /* c \n d */ e // f \\\n g\nh", "ab e h");
    expands("#def\\\nine X 1\nX", "1");
    expands("%: define Y <: :> <% %>\nY", "[] {}");
}

#[test]
fn conditions() {
    let yes = |condition: &str| expands(&format!("#if {condition}\nyes\n#else\nno\n#endif\n"), "yes");
    yes("1 + 2 * 3 == 7 && (1 + 2) * 3 == 9");
    yes("-1 > 0u");
    yes("-1 < 0");
    yes("0xffffffffffffffff == -1");
    yes("(2 || 1 / 0) && !(0 && 1 / 0) && (1 ? 2 : 1 / 0) == 2");
    yes("~0 == -1 && -5 / 2 == -2 && -5 % 2 == -1");
    yes("1 << 40 == 0x10000000000 && -8 >> 1 == -4");
    yes("'a' == 97 && '\\n' == 10 && '\\377' < 0");
    yes("undefined_name == 0 && !defined undefined_name && !defined(undefined_name)");
    yes("(-9223372036854775807 - 1) / -1 != 5");
    yes("__OPENCL_VERSION__ == 300 && __OPENCL_C_VERSION__ == CL_VERSION_1_2 && defined CL_VERSION_3_0 && CL_VERSION_3_1 == 310");
    yes("INT_MAX == 2147483647 && FLT_MAX_10_EXP == 38 && CHAR_BIT == 8");
    yes("true && !false");
    expands("#define D defined(X)\n#if D\n1\n#elif 1\n2\n#elif 1/0\n3\n#else\n4\n#endif", "2");
    expands("#if 0\n#if 1\n#else\n#endif\n'unfinished\n#elif 1\na\n#endif\n#ifdef __LINE__\nb\n#endif\n#ifndef b\nc\n#endif", "a b c");
    expands("#if 0\n#error no\n#bad\n#include \"none\"\n#endif\nx", "x");
}

#[test]
fn condition_errors() {
    complains("#if 1 / 0\n#endif", "division by zero in preprocessor expression");
    complains("#if\n#endif", "expected value in expression");
    complains("#if (1\n#endif", "expected ')' in preprocessor expression");
    complains("#if 1.0\n#endif", "floating point literal in preprocessor expression");
    complains("#if f(1)\n#endif", "function-like macro 'f' is not defined");
    complains("#if 1\n", "unterminated conditional directive");
    complains("#else\n", "#else without #if");
    complains("#if 1\n#else\n#else\n#endif", "#else after #else");
    complains("#if 0\n#else\n#elif 1\n#endif", "#elif after #else");
    complains("#endif\n", "#endif without #if");
    complains("#ifdef\n#endif", "macro name missing");
}

#[test]
fn definition_errors() {
    complains("#define\n", "macro name missing");
    complains("#define 1 2\n", "macro name must be an identifier");
    complains("#define defined 2\n", "'defined' cannot be used as a macro name");
    complains("#define f(a, a) a\n", "duplicate macro parameter name 'a'");
    complains("#define f(a b) a\n", "expected comma in macro parameter list");
    complains("#define f(a\n", "missing ')' in macro parameter list");
    complains("#define f(a) #b\n", "'#' is not followed by a macro parameter");
    complains("#define f ## a\n", "'##' cannot appear at start of macro expansion");
    complains("#define f a ##\n", "'##' cannot appear at end of macro expansion");
    complains("#define A 1\n#define A 2\n", "'A' macro redefined");
    assert_eq!(run("#define A(x) x + 1\n#define A(x) x  +  1\n").log, "");
    complains("#define f(a) a\nf(1, 2)", "too many arguments provided to function-like macro invocation");
    complains("#define f(a, b) a\nf(1)", "too few arguments provided to function-like macro invocation");
    complains("#define f(a) a\nf(1", "unterminated function-like macro invocation of 'f'");
    complains("#define c(a, b) a ## b\nc(+, *)", "pasting formed '+*', an invalid preprocessing token");
    complains("#nonsense\n", "invalid preprocessing directive");
    complains("#error so  it is\n", "error: so it is");
    complains("#warning mind\n", "warning: mind");
    complains("/* open", "unterminated /* comment");
    complains("\"open\n", "missing terminating \" character");
}

#[test]
fn dynamic_macros_and_line() {
    expands("__LINE__\n\n__LINE__ __COUNTER__ __COUNTER__", "1 3 0 1");
    expands("#define L __LINE__\n\nL\n#line 100 \"other.cl\"\nL __FILE__\n__LINE__", "3 100 \"other.cl\" 101");
    complains("#line 7 \"gen.cl\"\n#error here", "gen.cl:7:2: error: here");
    expands("__FILE__", "\"<source>\"");
}

#[test]
fn predefined_by_target_and_options() {
    let defined = |name: &str, options: &BuildOptions| {
        let source = Source { text: format!("#ifdef {name}\nyes\n#endif"), ..Source::default() };
        run_source(&source, options).text() == "yes"
    };
    let plain = BuildOptions::default();
    let cl30 = BuildOptions { std: CStd::Cl30, fast_relaxed_math: true, ..BuildOptions::default() };
    assert!(defined("cl_khr_fp64", &plain) && defined("M_PI", &plain) && defined("M_PI_H", &plain));
    assert!(!defined("__opencl_c_int64", &plain) && defined("__opencl_c_int64", &cl30));
    assert!(!defined("__FAST_RELAXED_MATH__", &plain) && defined("__FAST_RELAXED_MATH__", &cl30));
    assert!(!defined("memory_order_relaxed", &plain) && defined("memory_order_relaxed", &cl30));
    assert!(defined("__IMAGE_SUPPORT__", &plain) && !defined("__EMBEDDED_PROFILE__", &plain));
    let cl31 = BuildOptions { std: CStd::Cl31, ..BuildOptions::default() };
    assert!(defined("__opencl_c_int64", &cl31) && defined("memory_scope_sub_group", &cl31));
    assert_eq!(run_source(&Source { text: "__OPENCL_C_VERSION__".to_owned(), ..Source::default() }, &cl31).text(), "310");
    let undefined = BuildOptions { macros: vec![("M_PI".to_owned(), None)], ..BuildOptions::default() };
    assert!(!defined("M_PI", &undefined));
}

#[test]
fn feature_checks_of_other_compilers() {
    let source = "#if defined(__has_builtin) && !__has_builtin(__builtin_no_such_thing) && __has_builtin(__builtin_expect)\nyes\n#endif\n#ifndef __has_include\nno\n#endif";
    let source = Source { text: source.to_owned(), ..Source::default() };
    assert_eq!(run_source(&source, &BuildOptions::default()).text(), "yes");
}

#[test]
fn command_line_macros() {
    let macros = [("A", Some("1 + 1")), ("F(x)", Some("[x]")), ("B", Some("")), ("A2", Some("1")), ("A2", None)];
    let macros = macros.iter().map(|(name, value)| ((*name).to_owned(), value.map(str::to_owned))).collect();
    let source = Source { text: "A F(2) B A2".to_owned(), ..Source::default() };
    assert_eq!(run_source(&source, &BuildOptions { macros, ..BuildOptions::default() }).text(), "1 + 1 [ 2 ] A2");
}

#[test]
fn includes() {
    let headers = [
        ("a.h", "#pragma once\n#include \"sub/b.h\"\nint a;\n"),
        ("sub/b.h", "#ifndef B\n#define B\nint b;\n#endif\n"),
        ("loop.h", "#include \"loop.h\"\n"),
        ("bad.h", "\n#error deep\n"),
    ];
    let headers: BTreeMap<String, String> = headers.iter().map(|(name, text)| ((*name).to_owned(), (*text).to_owned())).collect();
    let with = |text: &str| run_source(&Source { text: text.to_owned(), headers: headers.clone(), name: None }, &BuildOptions::default());
    let good = with("#include \"a.h\"\n#include <a.h>\n#define H <sub/b.h>\n#include H\n#include \"sub/b.h\"\nint c;");
    assert_eq!(good.log, "");
    assert_eq!(good.text(), "int b ; int a ; int c ;");
    assert!(with("#include \"loop.h\"").log.contains("#include nested too deeply"));
    assert!(with("#include \"none.h\"").log.contains("'none.h' file not found"));
    let log = with("#include \"bad.h\"").log;
    assert!(log.starts_with("In file included from <source>:1:\nbad.h:2:2: error: deep\n#error deep\n ^~~~~\n"), "{log}");
}

#[test]
fn pragmas() {
    use crate::ast::PragmaKind;
    let kinds = |text: &str| {
        let pragma = |token: Token| match token.kind {
            TokenKind::Pragma(kind) => Some(kind),
            _ => None,
        };
        run(text).tokens.into_iter().filter_map(pragma).collect::<Vec<_>>()
    };
    let enable = PragmaKind::Extension { name: "cl_khr_fp64".into(), enable: true };
    assert_eq!(kinds("#pragma OPENCL EXTENSION cl_khr_fp64 : enable\n"), [enable]);
    assert_eq!(
        kinds("#pragma OPENCL FP_CONTRACT OFF\n#pragma STDC FP_CONTRACT ON"),
        [PragmaKind::FpContract(false), PragmaKind::FpContract(true)]
    );
    let unrolls = "#define N 2\n#pragma unroll\n#pragma unroll N*2\n#pragma unroll(8)\n#pragma nounroll\n_Pragma(\"unroll 3\")";
    let expected = [None, Some(4), Some(8), Some(1), Some(3)].map(PragmaKind::Unroll);
    assert_eq!(kinds(unrolls), expected);
    complains("#pragma OPENCL EXTENSION cl_nobody_knows : enable\n", "unsupported OpenCL extension 'cl_nobody_knows'");
    complains("#pragma whatever\n", "unknown pragma ignored");
}

#[test]
fn locations_of_expanded_tokens() {
    let text = "#define TWICE(x) ((x) ` 2)\nint y = TWICE(z);\n";
    let log = run(text).log;
    let expected = "<source>:2:9: error: unexpected character '`'\nint y = TWICE(z);\n        ^~~~~\n\
        <source>:1:9: note: expanded from macro 'TWICE'\n#define TWICE(x) ((x) ` 2)\n        ^~~~~\n1 error generated.\n";
    assert_eq!(log, expected);
    // A token of an argument has its location in the invocation.
    let run = run("#define ID(x) x\nID(abc)\n");
    let place = run.tokens.first().and_then(|token| run.map.locate(token.span)).map(|place| (place.line, place.column));
    assert_eq!(place, Some((2, 4)));
}

#[test]
fn exponential_macro_expansion_gives_an_error() {
    let mut doubling = String::from("#define A0 x x\n");
    for level in 1..60 {
        doubling.push_str(&format!("#define A{level} A{0} A{0}\n", level - 1));
    }
    complains(&format!("{doubling}A59"), "macro expansion yields more than 8000000 tokens");
    let calls = format!("#define F(x) x x x\n{}1{}", "F(".repeat(40), ")".repeat(40));
    complains(&calls, "macro expansion yields more than 8000000 tokens");
}

#[test]
fn deep_nesting_is_rejected() {
    let on_a_big_stack = std::thread::Builder::new().stack_size(64 << 20).spawn(|| {
        let nested = format!("#define F(x) x\n{}1{}", "F(".repeat(5_000), ")".repeat(5_000));
        complains(&nested, "nested too deeply");
        let condition = format!("#if {}1{}\n#endif", "(".repeat(100_000), ")".repeat(100_000));
        complains(&condition, "bracket nesting level exceeded maximum of 256");
        let operators = format!("#if {}1\nyes\n#endif", "!!".repeat(50_000));
        expands(&operators, "yes");
    });
    assert!(on_a_big_stack.is_ok_and(|thread| thread.join().is_ok()));
}

#[test]
fn literals() {
    let kind = |text: &str| run(text).tokens.into_iter().next().map(|token| token.kind);
    let int = |text: &str| match kind(text) {
        Some(TokenKind::Int { value, decimal, suffix }) => Some((crate::ast::int_value(value), decimal, suffix.unsigned, suffix.long)),
        _ => None,
    };
    assert_eq!(int("0x10uL"), Some((16, false, true, true)));
    assert_eq!(int("017"), Some((15, false, false, false)));
    assert_eq!(int("18446744073709551615"), Some((u128::from(u64::MAX), true, false, false)));
    assert_eq!(int("0b101"), Some((5, false, false, false)));
    assert_eq!(int("99999999999999999999"), Some((99_999_999_999_999_999_999, true, false, false)));
    assert_eq!(int("0x7fffffffffffffffffffffffffffffff"), Some((u128::MAX >> 1, false, false, false)));
    let float = |text: &str| match kind(text) {
        Some(TokenKind::Float { value, .. }) => Some(value),
        _ => None,
    };
    assert_eq!(float("1.5e3f"), Some(1500.0));
    assert_eq!(float(".5h"), Some(0.5));
    assert_eq!(float("0x1.8p1"), Some(3.0));
    assert_eq!(float("0x1.fffffffffffffp1023"), Some(f64::MAX));
    assert_eq!(float("0x1p-1074"), Some(f64::from_bits(1)));
    assert_eq!(float("0x1.8p-1074"), Some(f64::from_bits(2)));
    assert_eq!(float("0x0.8p-1074"), Some(0.0));
    assert_eq!(float("0x1.00000000000008p0"), Some(1.0));
    assert_eq!(float("0x1.000000000000080001p0"), Some(1.0 + f64::EPSILON));
    assert_eq!(float("0x1p99999999999999999999"), Some(f64::INFINITY));
    assert_eq!(kind("'\\x41'"), Some(TokenKind::Char(65)));
    assert_eq!(kind("'\\377'"), Some(TokenKind::Char(-1)));
    complains("099", "invalid digit '9' in octal constant");
    complains("1.5q", "invalid suffix 'q' on floating constant");
    complains("0x1.8", "hexadecimal floating constant requires an exponent");
    complains("0x.p1", "hexadecimal floating constant requires a significand");
    complains("1e+", "exponent has no digits");
    complains("170141183460469231731687303715884105728", "integer literal is too large");
    complains("''", "empty character constant");
}
