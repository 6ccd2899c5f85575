//! Damages programs: changes their bytes and tokens.

use crate::Random;

/// Tokens that are likely to expose parser bugs.
const TOKENS: &[&str] = &[
    "(",
    ")",
    "[",
    "]",
    "{",
    "}",
    "({",
    "})",
    ";",
    ",",
    ":",
    "?",
    "...",
    "*",
    "&",
    "&&",
    "||",
    "->",
    ".",
    "##",
    "#",
    "\n#",
    "\\\n",
    "\"",
    "'",
    "/*",
    "*/",
    "//",
    "<:",
    "%:",
    "??(",
    "\0",
    "@",
    "$",
    "`",
    "\u{fffd}",
    "0x",
    "0x1p",
    "1e",
    "1e999",
    "1e-999f",
    "0x1p-9999",
    "08",
    "0b1",
    "18446744073709551616",
    "18446744073709551615u",
    "-1",
    "0",
    "1.f",
    "'\\0'",
    "'\\x'",
    "\"\\",
    "int",
    "float4",
    "double16",
    "half",
    "void",
    "bool",
    "struct",
    "union",
    "enum",
    "typedef",
    "const",
    "volatile",
    "restrict",
    "global",
    "local",
    "constant",
    "private",
    "generic",
    "__attribute__((packed))",
    "__attribute__((aligned(3)))",
    "__attribute__((",
    "kernel",
    "static",
    "inline",
    "goto",
    "case",
    "default",
    "switch",
    "break",
    "continue",
    "return",
    "do",
    "while",
    "for",
    "if",
    "else",
    "sizeof",
    "(int)",
    "(float4)(1)",
    "(int4)(",
    "image2d_t",
    "sampler_t",
    "event_t",
    "size_t",
    "x",
    "a",
    "i",
    ".xyzw",
    ".s0123456789abcdef",
    ".lo",
    ".even",
    "convert_uchar4_sat",
    "as_int",
    "vload3",
    "printf(\"%d\"",
    "barrier(CLK_LOCAL_MEM_FENCE)",
    "get_global_id(0)",
    "\n#define A A(",
    "\n#define x y\n",
    "\n#if 1\n",
    "\n#endif\n",
    "\n#else\n",
    "\n#include \"x\"\n",
    "\n#undef x\n",
    "\n#pragma unroll\n",
    "\n#line 0\n",
    "_Pragma(\"unroll\")",
    "__VA_ARGS__",
    "__LINE__",
    "defined",
    "_Static_assert(0, \"\")",
    "^",
    "~",
    "!",
    "<<",
    ">>=",
    "%",
    "/ 0",
    "% 0",
    "++",
    "--",
    "=",
    "==",
];

fn split(text: &str) -> Vec<&str> {
    let mut out = Vec::new();
    let mut rest = text;
    while let Some(first) = rest.chars().next() {
        let word = |c: char| c.is_ascii_alphanumeric() || c == '_';
        let len = if word(first) { rest.find(|c| !word(c)).unwrap_or(rest.len()) } else { first.len_utf8() };
        let (token, after) = rest.split_at(len);
        out.push(token);
        rest = after;
    }
    out
}

/// Returns a damaged copy of `text`, which may contain tokens of `other`.
pub fn mutate(random: &mut Random, text: &str, other: &str) -> String {
    if random.below(6) == 0 {
        return bytes(random, text);
    }
    let mut tokens: Vec<&str> = split(text);
    let others: Vec<&str> = split(other);
    for _ in 0..=random.below(6) {
        if tokens.is_empty() {
            break;
        }
        let at = random.below(tokens.len());
        let end = (at + 1 + random.below(12)).min(tokens.len());
        match random.below(9) {
            0 => {
                tokens.drain(at..end);
            }
            1 => tokens[at] = TOKENS[random.below(TOKENS.len())],
            2 => tokens.insert(at, TOKENS[random.below(TOKENS.len())]),
            3 => {
                let copy: Vec<&str> = tokens[at..end].to_vec();
                for _ in 0..=random.below(4) {
                    tokens.splice(at..at, copy.iter().copied());
                }
            }
            4 => {
                let to = random.below(tokens.len());
                tokens.swap(at, to);
            }
            5 => {
                let from = random.below(tokens.len());
                tokens[at] = tokens[from];
            }
            6 if !others.is_empty() => {
                let from = random.below(others.len());
                let until = (from + 1 + random.below(40)).min(others.len());
                tokens.splice(at..end, others[from..until].iter().copied());
            }
            7 => tokens.truncate(at),
            _ => {
                // Replace all occurrences of one token by another token.
                let (from, to) = (tokens[at], tokens[random.below(tokens.len())]);
                tokens.iter_mut().filter(|token| **token == from).for_each(|token| *token = to);
            }
        }
    }
    tokens.concat()
}

fn bytes(random: &mut Random, text: &str) -> String {
    let mut bytes = text.as_bytes().to_vec();
    for _ in 0..=random.below(4) {
        if bytes.is_empty() {
            break;
        }
        let at = random.below(bytes.len());
        match random.below(4) {
            0 => bytes[at] = random.below(256) as u8,
            1 => bytes.insert(at, random.below(256) as u8),
            2 => {
                bytes.remove(at);
            }
            _ => bytes[at] ^= 1 << random.below(8),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
