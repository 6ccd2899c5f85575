//! Generates kernels in IR as other front ends might write them. Neighbouring work-items access neighbouring memory:
//! with all widths and alignments, with and without gaps, after guards, in loops, and in loops that step by the global
//! size. The results do not depend on the order of work-items.

use crate::case::Requirements;
use crate::random::Random;
use std::fmt::Write;
use wgcl_compiler::ir::Module;
use wgcl_compiler::ir::read::read_module;

/// Size in bytes of the widest access, for which each region of the buffers reserves space per work-item.
const BYTES_PER_ITEM: u32 = 128;

struct Writer {
    random: Random,
    body: String,
    next: u32,
    /// The SSA value of the work-item's index.
    item: String,
    /// The number of reserved regions of the buffers. A region has one element for each work-item.
    regions: u32,
    widths: Widths,
}

/// The widths of the elements that a kernel accesses.
#[derive(Clone, Copy, PartialEq)]
enum Widths {
    Narrow,
    Wide,
    All,
}

/// Returns a kernel `k(in, out, counts, i32 x, i32 y)`. `y` is the span of the launch (`Case::span`), and `x` is at
/// most `y`.
pub fn module(seed: u64) -> Result<(Module, Requirements), String> {
    let mut random = Random::new(seed ^ 0x0f0f_7777);
    let widths = [Widths::Narrow, Widths::Wide, Widths::All][random.below(3)];
    let mut linear = random.below(2) == 0;
    let mut w = Writer { random, body: String::new(), next: 5, item: String::new(), regions: 0, widths };
    w.item = if linear { w.op("i32", "workitem.global_id 0") } else { w.index() };
    let returns = w.random.below(5) == 0;
    if returns {
        let cond = w.op("bool", &format!("uge {}, %3", w.item));
        w.line(&format!("if {cond} {{\nreturn\n}} else {{\nyield\n}}"));
    }
    let counts = w.random.below(4) == 0;
    for _ in 0..1 + w.random.below(3) {
        w.guarded();
    }
    if counts && !returns {
        w.counts();
        linear = true;
    }
    let text = format!(
        "kernel @f0 \"k\" (%0: ptr.global buffer readonly, %1: ptr.global buffer, %2: ptr.global buffer, %3: i32 value, %4: i32 value) {{\n{}return\n}}\n",
        w.body
    );
    let module = read_module(&text).map_err(|error| format!("{error}\n{text}"))?;
    Ok((
        module,
        Requirements {
            stride: BYTES_PER_ITEM * w.regions.max(1),
            linear,
            device: if widths == Widths::Narrow { None } else { Some("nvidia") },
            ..Requirements::default()
        },
    ))
}

impl Writer {
    fn op(&mut self, ty: &str, rhs: &str) -> String {
        let name = format!("%{}", self.next);
        self.next += 1;
        self.line(&format!("{name}: {ty} = {rhs}"));
        name
    }

    fn fresh(&mut self) -> String {
        self.next += 1;
        format!("%{}", self.next - 1)
    }

    fn line(&mut self, text: &str) {
        let _ = writeln!(self.body, "{text}");
    }

    fn word(&mut self, value: u32) -> String {
        self.op("i32", &format!("const {value}"))
    }

    /// Adds the computation of `a * factor`. If the factor is a power of two, uses a shift or a multiplication at
    /// random.
    fn times(&mut self, a: &str, factor: u32) -> String {
        if factor.is_power_of_two() && self.random.below(2) == 0 {
            let amount = self.word(factor.trailing_zeros());
            return self.op("i32", &format!("shl {a}, {amount}"));
        }
        let factor = self.word(factor);
        self.op("i32", &format!("mul {a}, {factor}"))
    }

    fn index(&mut self) -> String {
        let mut index = self.op("i32", "workitem.global_id 2");
        for dimension in [1, 0] {
            let size = self.op("i32", &format!("workitem.global_size {dimension}"));
            let rows = self.op("i32", &format!("mul {index}, {size}"));
            let id = self.op("i32", &format!("workitem.global_id {dimension}"));
            index = self.op("i32", &format!("add {rows}, {id}"));
        }
        index
    }

    /// Adds a few accesses. In some kernels, only some work-items execute them.
    fn guarded(&mut self) {
        match self.random.below(8) {
            0 | 1 => self.when("ult"),
            2 => self.when("slt"),
            3 => {
                // The condition is uniform.
                let cond = self.op("bool", "ult %3, %4");
                self.branches(&cond);
            }
            4 => {
                let one = self.word(1);
                let bit = self.op("i32", &format!("and {}, {one}", self.item));
                let cond = self.op("bool", &format!("eq {bit}, {one}"));
                self.branches(&cond);
            }
            _ => self.accesses(),
        }
    }

    fn when(&mut self, compare: &str) {
        let cond = self.op("bool", &format!("{compare} {}, %3", self.item));
        self.branches(&cond);
    }

    fn branches(&mut self, cond: &str) {
        self.line(&format!("if {cond} {{"));
        self.accesses();
        self.line("yield\n} else {");
        if self.random.below(3) == 0 {
            self.accesses();
        }
        self.line("yield\n}");
    }

    fn accesses(&mut self) {
        match self.random.below(6) {
            _ if self.widths == Widths::Narrow => {
                let words = ["i8", "i16", "i8x2", "i16x2", "i8x4", "i32", "f32", "i32x2"];
                let first = self.random.below(words.len() - 3);
                self.element(&words[first..first + 3]);
            }
            0 if self.widths == Widths::All => self.contiguous(),
            1 => self.sum(),
            2 if self.widths == Widths::All => self.element(&["i8", "i16", "i8x2", "i8x4", "i16x2", "i32", "i16x4", "f32", "i32x2"]),
            _ => self.element(&["i32x8", "f32x8", "i64x4", "f64x4", "i32x16", "i64x8", "i64x16", "i32x4", "i16x16", "i64x2"]),
        }
    }

    /// Reserves a region of the buffers, in which the elements of all work-items are contiguous. Returns the byte
    /// offset of this work-item's element in the buffer.
    fn own_offset(&mut self, size: u32) -> String {
        let region = self.regions;
        self.regions += 1;
        let offset = self.times(&self.item.clone(), size);
        if region == 0 {
            return offset;
        }
        let before = self.times("%4", BYTES_PER_ITEM * region);
        self.op("i32", &format!("add {before}, {offset}"))
    }

    /// Returns the value. In three of four cases, first adds an integer operation that changes its bits.
    fn with_changed_bits(&mut self, value: &str, ty: &str) -> String {
        if self.random.below(4) == 0 {
            return value.to_owned();
        }
        let bits = ty.replace('f', "i");
        let value = if bits == *ty { value.to_owned() } else { self.op(&bits, &format!("bitcast {value}")) };
        let op = ["add", "xor", "mul"][self.random.below(3)];
        let value = self.op(&bits, &format!("{op} {value}, {value}"));
        if bits == *ty { value } else { self.op(ty, &format!("bitcast {value}")) }
    }

    /// Adds a copy of one element, in most cases with changed bits.
    fn element(&mut self, types: &[&str]) {
        let ty = types[self.random.below(types.len())];
        let size = size_of(ty);
        let offset = self.own_offset(size);
        // Use the largest correct alignment or a smaller one.
        let align = (size >> self.random.below(3).saturating_sub(1)).clamp(1, 64);
        let from = self.op("ptr.global", &format!("ptr_add %0, {offset}"));
        let value = self.op(ty, &format!("load {from} align {align}"));
        let value = self.with_changed_bits(&value, ty);
        let to = self.op("ptr.global", &format!("ptr_add %1, {offset}"));
        self.line(&format!("store {to}, {value} align {align}"));
    }

    /// Adds accesses to contiguous elements of one, two or four words.
    fn contiguous(&mut self) {
        let (ty, size) = [("i32", 4), ("f32", 4), ("i64", 8), ("i32x2", 8), ("i32x4", 16)][self.random.below(5)];
        let count = [2, 3, 4, 8][self.random.below(4)].min(BYTES_PER_ITEM / size);
        let all = self.own_offset(size * count.next_power_of_two());
        let mut values = Vec::new();
        for part in 0..count {
            let at = self.word(part * size);
            let offset = self.op("i32", &format!("add {all}, {at}"));
            let from = self.op("ptr.global", &format!("ptr_add %0, {offset}"));
            let value = self.op(ty, &format!("load {from} align {size}"));
            values.push((self.with_changed_bits(&value, ty), offset));
        }
        if self.random.below(3) == 0 {
            values.reverse();
        }
        for (value, offset) in values {
            let to = self.op("ptr.global", &format!("ptr_add %1, {offset}"));
            self.line(&format!("store {to}, {value} align {size}"));
        }
    }

    /// Adds a loop that computes the sum of some elements.
    fn sum(&mut self) {
        let ty = ["i32", "i32x8", "i64x4", "i8", "i16", "i32x16"][self.random.below(6)];
        let size = size_of(ty);
        let iterations = 1 + self.random.below(6) as u32;
        let start = self.own_offset(size);
        // Reserve the regions that later iterations read, so that no other access uses them.
        self.regions += iterations - 1;
        let zero = self.op(
            ty,
            &if ty.contains('x') { format!("const [{}]", vec!["0"; usize::from(lanes(ty))].join(", ")) } else { "const 0".to_owned() },
        );
        let (none, one) = (self.word(0), self.word(1));
        let most = self.word(iterations);
        let bound = if self.random.below(2) == 0 { most } else { self.op("i32", &format!("umin %3, {most}")) };
        let [sum, iteration, partial] = [self.fresh(), self.fresh(), self.fresh()];
        self.line(&format!("{sum}: {ty} = loop ({iteration}: i32 = {none}, {partial}: {ty} = {zero}) {{"));
        let go = self.op("bool", &format!("ult {iteration}, {bound}"));
        self.line(&format!("if {go} {{\nyield\n}} else {{\nbreak {partial}\n}}"));
        let region_size = self.times("%4", BYTES_PER_ITEM);
        let before = self.op("i32", &format!("mul {iteration}, {region_size}"));
        let offset = self.op("i32", &format!("add {start}, {before}"));
        let from = self.op("ptr.global", &format!("ptr_add %0, {offset}"));
        let value = self.op(ty, &format!("load {from} align {}", size.min(64)));
        let value = self.with_changed_bits(&value, ty);
        let more = self.op(ty, &format!("add {partial}, {value}"));
        let next = self.op("i32", &format!("add {iteration}, {one}"));
        self.line(&format!("continue {next}, {more}\n}}"));
        let to = self.op("ptr.global", &format!("ptr_add %1, {start}"));
        self.line(&format!("store {to}, {sum} align {}", size.min(64)));
    }

    /// Adds a loop that counts narrow elements and whose step is the global size.
    fn counts(&mut self) {
        let ty = ["i8", "i8", "i16", "i8x2"][self.random.below(4)];
        let size = size_of(ty);
        let (start, step) = (self.op("i32", "workitem.global_id 0"), self.op("i32", "workitem.global_size 0"));
        let (bits, one) = (self.word(60), self.word(1));
        let element = self.fresh();
        self.line(&format!("loop ({element}: i32 = {start}) {{"));
        let compare = ["ult", "slt"][self.random.below(2)];
        let go = self.op("bool", &format!("{compare} {element}, %3"));
        self.line(&format!("if {go} {{\nyield\n}} else {{\nbreak\n}}"));
        let offset = self.times(&element, size);
        let from = self.op("ptr.global", &format!("ptr_add %0, {offset}"));
        let mut value = self.op(ty, &format!("load {from} align {size}"));
        if ty == "i8x2" {
            value = self.op("i8", &format!("extract {value}, 1"));
        }
        let wide = self.op("i32", &format!("zext {value}"));
        let place = self.op("i32", &format!("and {wide}, {bits}"));
        let to = self.op("ptr.global", &format!("ptr_add %2, {place}"));
        let op = ["add", "or", "umax", "xor"][self.random.below(4)];
        let by = if self.random.below(2) == 0 { one } else { wide };
        self.op("i32", &format!("atomic.{op} i32 {to}, {by}"));
        let next = self.op("i32", &format!("add {element}, {step}"));
        self.line(&format!("continue {next}\n}}"));
    }
}

/// Returns the number of lanes of a type.
fn lanes(ty: &str) -> u8 {
    ty.split_once('x').and_then(|(_, lanes)| lanes.parse().ok()).unwrap_or(1)
}

/// Returns the size of a type in bytes.
fn size_of(ty: &str) -> u32 {
    let bits: u32 = ty.split_once('x').map_or(ty, |(scalar, _)| scalar)[1..].parse().unwrap_or(32);
    bits / 8 * u32::from(lanes(ty))
}
