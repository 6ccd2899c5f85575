//! Writes kernels in the text form of the IR, for the tests of emission and for tests that run on a device.

#![allow(dead_code, reason = "each test uses a part of it")]

use std::fmt::Write as _;

/// The text of a function. Each value gets the next free number.
pub struct Text {
    body: String,
    next: u32,
}

impl Text {
    /// Starts after `params` parameters.
    pub fn new(params: u32) -> Self {
        Self { body: String::new(), next: params }
    }

    /// Adds an instruction with a result. Returns the name of the result.
    pub fn op(&mut self, ty: &str, rhs: impl AsRef<str>) -> String {
        let name = format!("%{}", self.next);
        self.next += 1;
        writeln!(self.body, "{name}: {ty} = {}", rhs.as_ref()).expect("a string");
        name
    }

    /// Appends a line.
    pub fn line(&mut self, text: impl AsRef<str>) {
        writeln!(self.body, "{}", text.as_ref()).expect("a string");
    }

    /// Returns a new value name, for parameters and results of instructions with regions.
    pub fn fresh(&mut self) -> String {
        self.next += 1;
        format!("%{}", self.next - 1)
    }

    pub fn int(&mut self, value: u64) -> String {
        self.op("i32", format!("const {value}"))
    }

    /// Adds the address of element `index`, for elements of `size` bytes. Returns its name.
    pub fn element(&mut self, base: &str, space: &str, index: &str, size: u32) -> String {
        let size = self.int(u64::from(size));
        let offset = self.op("i32", format!("mul {index}, {size}"));
        self.op(&format!("ptr.{space}"), format!("ptr_add {base}, {offset}"))
    }

    pub fn load(&mut self, ty: &str, ptr: &str, align: u32) -> String {
        self.op(ty, format!("load {ptr} align {align}"))
    }

    pub fn store(&mut self, ptr: &str, value: &str, align: u32) {
        self.line(format!("store {ptr}, {value} align {align}"));
    }

    /// Returns the text of a kernel. `head` is its name and signature.
    pub fn kernel(self, head: &str) -> String {
        format!("kernel @f0 {head} {{\n{}return\n}}\n", self.body)
    }

    /// Returns the text of the body, for functions and kernels with variables.
    pub fn body(self) -> String {
        self.body
    }
}

/// Returns the size of a type in memory, in bytes.
pub fn size_of(ty: &str) -> u32 {
    let (scalar, lanes) = ty.split_once('x').map_or((ty, 1), |(scalar, lanes)| (scalar, lanes.parse().expect("a number")));
    let bits: u32 = scalar[1..].parse().expect("a width");
    bits / 8 * lanes
}

/// Returns the text of a kernel `out[id * n + k] = op_k(a[id], b[id])`. Each operation has its own type. Each result
/// starts at a multiple of 16 bytes.
///
/// `ops` are result types and right-hand sides that refer to the operands as `A` and `B`. Steps before the last are
/// written `type = rhs;`, and `$` is the result of the previous step.
pub fn elementwise(ty: &str, ops: &[(&str, &str)]) -> String {
    let mut t = Text::new(3);
    let id = t.op("i32", "workitem.global_id 0");
    let size = size_of(ty);
    let align = size.next_power_of_two().min(16).min(size & size.wrapping_neg());
    let (pa, pb) = (t.element("%0", "global", &id, size), t.element("%1", "global", &id, size));
    let (a, b) = (t.load(ty, &pa, align), t.load(ty, &pb, align));
    let total: u32 = ops.iter().map(|(ty, _)| size_of(ty).next_multiple_of(16)).sum();
    let out = t.int(u64::from(total));
    let base = t.op("i32", format!("mul {id}, {out}"));
    let mut at = 0;
    for (result, rhs) in ops {
        let mut value = String::new();
        for step in rhs.split("; ") {
            let (ty, rhs) = step.split_once(" = ").unwrap_or((result, step));
            value = t.op(ty, rhs.replace('A', &a).replace('B', &b).replace('$', &value));
        }
        let here = t.int(at);
        let offset = t.op("i32", format!("add {base}, {here}"));
        let place = t.op("ptr.global", format!("ptr_add %2, {offset}"));
        t.store(&place, &value, size_of(result) & size_of(result).wrapping_neg());
        at += u64::from(size_of(result).next_multiple_of(16));
    }
    t.kernel(r#""elementwise" (%0: ptr.global buffer readonly, %1: ptr.global buffer readonly, %2: ptr.global buffer)"#)
}
