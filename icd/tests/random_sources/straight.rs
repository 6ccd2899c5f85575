//! Generates short OpenCL C kernels without loops, calls, barriers and group functions. For such kernels, the compiler
//! may compute several vectors of work-items at a time.
//!
//! Each work-item accesses its own elements of two buffers. Neighbouring work-items access neighbouring elements.

use crate::lines::Lines;
use crate::random::Random;

/// The variables: name, type, and initial value.
const VARIABLES: [(&str, &str, &str); 8] = [
    ("i0", "int", "x"),
    ("i1", "int", "(int)id - 3"),
    ("u0", "uint", "id * 77u"),
    ("l0", "long", "(long)id << 33"),
    ("h0", "short", "(short)y"),
    ("c0", "uchar", "(uchar)(id + 250u)"),
    ("x0", "float", "(float)id - 1.5f"),
    ("y0", "double", "(double)id * 0.25 - 1.0"),
];

/// The parts of a buffer, one for each type. The first number is the index of the first element of the part, divided by
/// the number of work-items. The second number is the number of elements for each work-item.
const PARTS: [(&str, usize, usize); 4] = [("int", 0, 16), ("long", 8, 4), ("short", 48, 8), ("uchar", 112, 16)];

struct Writer {
    random: Random,
    text: String,
    indent: usize,
}

/// Returns a random program with a kernel `k(global int *a, global int *b, int x, int y)`. Each work-item accesses 128
/// bytes of each buffer.
pub fn program(seed: u64) -> String {
    let mut w = Writer { random: Random::new(seed ^ 0x57a1_6857), text: String::new(), indent: 0 };
    w.line("kernel void k(global int *a, global int *b, int x, int y) {");
    w.line("uint id = get_global_id(0), items = get_global_size(0);");
    for (name, ty, value) in VARIABLES {
        w.line(&format!("{ty} {name} = {value};"));
    }
    let count = 1 + w.random.below(8);
    for _ in 0..count {
        w.statement(0);
    }
    let (place, value) = (w.element(0), w.integer(1));
    w.line(&format!("{place} = {value};"));
    w.close();
    w.text
}

impl Lines for Writer {
    fn page(&mut self) -> (&mut Random, &mut String, &mut usize) {
        (&mut self.random, &mut self.text, &mut self.indent)
    }
}

impl Writer {
    fn statement(&mut self, depth: usize) {
        match self.random.below(8) {
            0..=2 => {
                let part = self.random.below(PARTS.len());
                let (place, value) = (self.element(part), self.integer(0));
                self.line(&format!("{place} = {value};"));
            }
            3 if depth < 2 => {
                let condition = self.condition();
                self.line(&format!("if ({condition}) {{"));
                self.statement(depth + 1);
                self.close();
                self.line("else {");
                self.statement(depth + 1);
                self.close();
            }
            4 => {
                let (name, ty) = [("x0", "float"), ("y0", "double")][self.random.below(2)];
                let value = self.float(ty, name, 0);
                self.line(&format!("{name} = {value};"));
            }
            5 => {
                // The bits of a NaN are unspecified, so store 1 instead.
                let (place, name, integer) = match self.random.below(2) {
                    0 => (self.element(0), "x0", "as_int(x0)"),
                    _ => (self.element(1), "y0", "as_long(y0)"),
                };
                self.line(&format!("{place} = isnan({name}) ? 1 : {integer};"));
            }
            _ => {
                let (name, _, _) = VARIABLES[self.random.below(6)];
                let (op, value) = (self.pick(&["=", "=", "+=", "-=", "^=", "|=", "*="]), self.integer(0));
                self.line(&format!("{name} {op} {value};"));
            }
        }
    }

    /// Returns an element of a buffer that no other work-item accesses.
    fn element(&mut self, part: usize) -> String {
        let (ty, first, count) = PARTS[part];
        let buffer = self.pick(&["a", "b"]);
        let number = match self.random.below(4) {
            // The index depends on the work-item.
            0 => format!("(({}) & {})", self.pick(&["i0", "i1", "u0", "h0"]), count - 1),
            _ => self.random.below(count).to_string(),
        };
        format!("((global {ty} *){buffer})[items * {first} + items * {number} + id]")
    }

    fn integer(&mut self, depth: usize) -> String {
        if depth > 2 || self.random.below(4) == 0 {
            return match self.random.below(4) {
                0 => format!("{}{}", self.pick(&["", "-"]), self.random.below(40_000)),
                1 => {
                    let part = self.random.below(PARTS.len());
                    self.element(part)
                }
                _ => VARIABLES[self.random.below(6)].0.to_owned(),
            };
        }
        let d = depth + 1;
        match self.random.below(9) {
            0..=3 => {
                let op = self.pick(&["+", "-", "*", "&", "|", "^"]);
                format!("({} {op} {})", self.integer(d), self.integer(d))
            }
            4 => format!("({} {} {})", self.integer(d), self.pick(&["<<", ">>"]), self.random.below(31)),
            5 => format!("({} ? {} : {})", self.condition(), self.integer(d), self.integer(d)),
            6 => format!("({})({})", self.pick(&["char", "uchar", "short", "ushort", "int", "uint", "long"]), self.integer(d)),
            7 => {
                let function = self.pick(&["min", "max", "add_sat", "abs_diff", "mul_hi", "hadd", "rotate"]);
                format!("{function}((int)({}), (int)({}))", self.integer(d), self.integer(d))
            }
            _ => format!("convert_int_sat({})", self.float("float", "x0", d)),
        }
    }

    /// Returns an expression of type `ty`, which may use the variable `name` of this type.
    fn float(&mut self, ty: &str, name: &str, depth: usize) -> String {
        let d = depth + 1;
        match self.random.below(if depth > 2 { 3 } else { 8 }) {
            0 => format!("({ty})({})", self.integer(3)),
            1 => format!("({ty}){}.{}", self.random.below(100), self.random.below(1000)),
            2 => name.to_owned(),
            3 | 4 => {
                let op = self.pick(&["+", "-", "*"]);
                format!("({} {op} {})", self.float(ty, name, d), self.float(ty, name, d))
            }
            5 => format!("fma({}, {}, {})", self.float(ty, name, d), self.float(ty, name, d), self.float(ty, name, d)),
            6 => format!("{}({})", self.pick(&["floor", "rint", "trunc", "fabs"]), self.float(ty, name, d)),
            _ => format!("({} ? {} : {})", self.condition(), self.float(ty, name, d), self.float(ty, name, d)),
        }
    }

    fn condition(&mut self) -> String {
        match self.random.below(4) {
            0 => format!("(id & {}u)", 1 + self.random.below(7)),
            1 => "x0 < 2.0f".to_owned(),
            _ => format!("{} {} {}", self.integer(2), self.pick(&["<", "==", ">=", "!="]), self.integer(2)),
        }
    }
}
