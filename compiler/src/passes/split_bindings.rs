//! Rewrites accesses to buffers with several bindings: each access selects a binding ([`SplitBindings`]).
//!
//! ```text
//! %9 = ptr_add %b, %o                   %9 = ptr_add %b, %o
//! %x = load f32 %9              =>      %s = ...                           (the binding that contains byte %o)
//!                                       %x = switch %s {
//!                                         0: %1 = load f32 %9; yield %1
//!                                         default: %2 = sub %o, 134217472; %3 = ptr_add %b1, %2
//!                                                  %4 = load f32 %3; yield %4
//!                                       }
//! ```
//! Bindings overlap, so that no access is split. With a size S and an overlap V, binding `k` starts at `k * (S - V)`. S
//! is a power of two, and all overlaps together are less than S. Let `q = o / S` for byte `o`. The byte belongs to the
//! next binding `q + 1` if `o >= (q + 1) * (S - V)`, and otherwise to binding `q`. The first condition holds if
//! `o + V * (q + 1)` is in the next multiple of S. The number of the binding is therefore `(o + V * (o / S) + V) / S`,
//! computed with shifts.
//!
//! In [`SHADER`](super::SHADER), only `subgroup_coalesce` runs after this pass. The other passes of this list do not
//! see the `switch`es, so that merged accesses stay merged.

use rustc_hash::FxHashMap;

use super::pass::Pass;
use crate::analysis::definitions::Constants;
use crate::diag::Span;
use crate::ir::{BinOp, Function, Inst, KernelParam, Op, Region, Space, Type, Value};
use crate::launch::SplitBindings;

pub const PASS: Pass = Pass::function("split_bindings", |function, cx| {
    let split = &cx.key.binding.split;
    let any = !split.params.is_empty();
    if any {
        run(function, split);
    }
    Ok(any)
});

/// Rewrites a kernel and adds the parameters of the additional bindings. Expects the form that `resolve_pointers`
/// produces.
pub fn run(function: &mut Function, split: &SplitBindings) {
    let mut buffers = Vec::new();
    for &(index, count) in &split.params {
        let Some(&first) = function.params.get(index as usize) else { continue };
        if let Some(KernelParam::Buffer { restrict, .. }) =
            function.kernel.as_mut().and_then(|kernel| kernel.params.get_mut(index as usize))
        {
            // The bindings overlap, so the parameters of the buffer are not `restrict`.
            *restrict = false;
        }
        let mut list = vec![first];
        list.extend((1..count).map(|_| super::extra_buffers::add(function)));
        buffers.push(list);
    }
    let mut pointers = FxHashMap::default();
    function.body.walk(&mut |inst| {
        if let (Op::PtrAdd(base, offset), Some(&result)) = (&inst.op, inst.results.first())
            && let Some(buffer) = buffers.iter().position(|list| list.first() == Some(base))
        {
            pointers.insert(result, (buffer, *offset));
        }
    });
    let constants = Constants::of(&function.body);
    let mut body = std::mem::take(&mut function.body);
    Chooser { function, split, buffers, pointers, constants, known: FxHashMap::default() }.region(&mut body);
    function.body = body;
}

struct Chooser<'a> {
    function: &'a mut Function,
    split: &'a SplitBindings,
    /// For each buffer, the parameters of its bindings.
    buffers: Vec<Vec<Value>>,
    /// For each pointer into a buffer, the index of the buffer, and the offset.
    pointers: FxHashMap<Value, (usize, Value)>,
    constants: Constants,
    /// The binding numbers of offsets that dominate the current instruction.
    known: FxHashMap<Value, Value>,
}

impl Chooser<'_> {
    fn region(&mut self, region: &mut Region) {
        let mut out = Vec::with_capacity(region.insts.len());
        let mut computed = Vec::new();
        for mut inst in std::mem::take(&mut region.insts) {
            for nested in inst.op.regions_mut() {
                self.region(nested);
            }
            let found = pointer(&mut inst.op).and_then(|ptr| self.pointers.get(ptr).copied());
            match found {
                Some((buffer, offset)) => self.access(inst, buffer, offset, &mut out, &mut computed),
                None => out.push(inst),
            }
        }
        for offset in computed {
            self.known.remove(&offset);
        }
        region.insts = out;
    }

    fn access(&mut self, mut inst: Inst, buffer: usize, offset: Value, out: &mut Vec<Inst>, computed: &mut Vec<Value>) {
        let span = inst.span;
        let last = self.buffers[buffer].len() - 1;
        if let Some(bits) = self.constants.bits(offset) {
            // An offset after the last binding is out of bounds and selects the last binding.
            let binding = ((bits & u64::from(u32::MAX)) / u64::from(self.split.step())).min(last as u64) as usize;
            self.set_pointer(&mut inst.op, buffer, binding, offset, span, out);
            out.push(inst);
            return;
        }
        let selector = match self.known.get(&offset) {
            Some(&selector) => selector,
            None => {
                let selector = self.selector(offset, span, out);
                self.known.insert(offset, selector);
                computed.push(offset);
                selector
            }
        };
        let cases = (0..last).map(|binding| (vec![binding as u64], self.case(&inst, buffer, binding, offset))).collect();
        let default = self.case(&inst, buffer, last, offset);
        out.push(Inst { op: Op::Switch { selector, cases, default }, results: inst.results, span });
    }

    /// Emits the number of the binding for an access that starts at `offset`.
    fn selector(&mut self, offset: Value, span: Span, out: &mut Vec<Inst>) -> Value {
        let SplitBindings { shift, overlap, .. } = *self.split;
        let mut word = |op: Op, out: &mut Vec<Inst>| self.function.emit(out, span, Type::I32, op);
        let [shift, overlap] = [shift, overlap].map(|bits| word(Op::Const(crate::ir::Const::Bits(u64::from(bits))), out));
        let whole = word(Op::Bin(BinOp::LShr, offset, shift), out);
        let before = word(Op::Bin(BinOp::Mul, whole, overlap), out);
        let own = word(Op::Bin(BinOp::Add, before, overlap), out);
        let moved = word(Op::Bin(BinOp::Add, offset, own), out);
        word(Op::Bin(BinOp::LShr, moved, shift), out)
    }

    /// Builds a region with the access to one binding.
    fn case(&mut self, inst: &Inst, buffer: usize, binding: usize, offset: Value) -> Region {
        let mut insts = Vec::new();
        let mut op = inst.op.clone();
        self.set_pointer(&mut op, buffer, binding, offset, inst.span, &mut insts);
        let results: Vec<Value> = inst.results.iter().map(|&result| self.function.new_value(self.function.ty(result))).collect();
        insts.push(Inst { op, results: results.clone(), span: inst.span });
        insts.push(Inst::effect(Op::Yield(results), inst.span));
        Region { insts }
    }

    /// Sets the pointer of an access to a byte of a buffer, in one of its bindings.
    fn set_pointer(&mut self, op: &mut Op, buffer: usize, binding: usize, offset: Value, span: Span, out: &mut Vec<Inst>) {
        let (Some(&base), Some(ptr), true) = (self.buffers[buffer].get(binding), pointer(op), binding > 0) else { return };
        let begin = binding as u64 * u64::from(self.split.step());
        let relative = match self.constants.bits(offset) {
            Some(bits) => self.function.emit_bits(out, span, Type::I32, bits.wrapping_sub(begin)),
            None => {
                let begin = self.function.emit_bits(out, span, Type::I32, begin);
                self.function.emit(out, span, Type::I32, Op::Bin(BinOp::Sub, offset, begin))
            }
        };
        *ptr = self.function.emit(out, span, Type::Ptr(Space::Global), Op::PtrAdd(base, relative));
    }
}

/// Returns the pointer of an access, or `None` for other operations.
fn pointer(op: &mut Op) -> Option<&mut Value> {
    match op {
        Op::Load { ptr, .. } | Op::Store { ptr, .. } | Op::Atomic { ptr, .. } | Op::CmpXchg { ptr, .. } => Some(ptr),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use crate::ir::read::read_module;
    use crate::ir::verify::verify;
    use crate::launch::SplitBindings;

    /// Bindings of 4 KiB that overlap by 128 bytes.
    fn split(count: u32) -> SplitBindings {
        SplitBindings { params: vec![(0, count)], shift: 12, overlap: SplitBindings::WIDEST }
    }

    fn run(text: &str, count: u32) -> String {
        let mut module = read_module(text).expect("the text is IR");
        super::run(&mut module.functions[0], &split(count));
        assert!(verify(&module).is_ok(), "{:?}\n{module}", verify(&module));
        module.to_string()
    }

    #[test]
    fn accesses_are_within_their_binding() {
        let split = split(31);
        let (size, step) = (1_u32 << split.shift, split.step());
        assert_eq!((split.count(1), split.count(4096), split.count(4097), split.count(4096 + 3968), split.count(8065)), (1, 1, 2, 2, 3));
        for offset in 0..step * 31 {
            let own = split.overlap * (offset >> split.shift) + split.overlap;
            let binding = (offset + own) >> split.shift;
            assert_eq!(binding, offset / step, "{offset}");
            assert!(offset - binding * step + SplitBindings::WIDEST <= size);
        }
    }

    #[test]
    fn accesses_select_their_binding() {
        let text = r#"kernel @f0 "k" (%0: ptr.global buffer restrict, %1: ptr.global buffer, %2: i32 value) {
  %3: ptr.global = ptr_add %0, %2
  %4: i32 = load %3 align 4
  store %3, %4 align 4
  %5: ptr.global = ptr_add %1, %2
  store %5, %4 align 4
  return
}
"#;
        let made = run(text, 3);
        assert!(made.contains("%6: ptr.global buffer, %7: ptr.global buffer)") && !made.contains("restrict"), "{made}");
        assert_eq!((made.matches("switch").count(), made.matches("lshr").count()), (2, 2), "one choice for both accesses: {made}");
        assert_eq!((made.matches("load %").count(), made.matches("store %").count()), (3, 4), "{made}");
        assert!(made.contains("const 3968") && made.contains("const 7936"), "{made}");
    }

    #[test]
    fn constant_offsets_need_no_selection() {
        let text = r#"kernel @f0 "k" (%0: ptr.global buffer) {
  %1: i32 = const 8000
  %2: ptr.global = ptr_add %0, %1
  %3: i32 = load %2 align 4
  store %0, %3 align 4
  return
}
"#;
        let made = run(text, 4);
        assert!(!made.contains("switch") && made.contains("const 64"), "{made}");
    }
}
