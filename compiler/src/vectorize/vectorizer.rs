//! The state of vectorising one function, and the placement of instructions.
//!
//! A pure operation is placed outside of all loops that define none of its operands. Pure operations cannot trap, so
//! they may execute speculatively. Constants are in the first block, and occupy no register before their use.

use rustc_hash::{FxHashMap, FxHashSet};
use smallvec::{SmallVec, smallvec};
use wgcl_codegen::vir::{BinOp, Block, Builder, CastOp, Op, Target, Terminator, Type as Register, UnOp, Value as V};

use super::frame::Frame;
use super::progress::Progress;
use super::shape::Shape;
use super::uniformity::Uniformity;
use super::value::{Regs, Val};
use super::work_items::Items;
use crate::internal::Defect;
use crate::ir::{self, Function, Value};

/// A result of vectorisation. The error is a defect of the compiler.
pub(super) type Lowered<T> = Result<T, Defect>;

/// The upper bits of a 32-bit register with a narrower number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extended {
    /// The size of the number in bits.
    pub bits: u32,
    /// Whether the upper bits are copies of the sign bit. Otherwise, they are zeros.
    pub signed: bool,
}

/// The masks of lanes, and the enclosing constructs. See [`super::control`].
pub(super) struct Masks {
    /// The mask of the active lanes; `None` if all are active.
    pub exec: Option<Regs>,
    /// Masks and merged results that can change in nested regions.
    pub slots: Vec<V>,
    /// The slots of the mask of the lanes that have not returned. `None` if all lanes return together.
    pub live: Option<std::ops::Range<usize>>,
    /// The lanes that were active at the start of the current segment.
    pub segment: Option<Regs>,
    /// Whether the code is a copy of code for the case that some lanes are inactive.
    pub in_masked_copy: bool,
    /// The number of enclosing constructs that split.
    pub split_depth: u32,
    /// The enclosing loops, outermost first.
    pub loops: Vec<super::loops::LoopState>,
    /// The block that every lane reaches at the end of the function or gang.
    pub exit: Block,
}

/// Values of the vector IR that are created once and reused.
#[derive(Default)]
pub(super) struct Cache {
    /// Constants, by type and bits. The bits of an undefined value are `None`.
    constants: FxHashMap<(Register, Option<u64>), V>,
    lane_constants: FxHashMap<(Register, Box<[u64]>), V>,
    /// The bits of each constant.
    bits_of_constants: FxHashMap<V, u64>,
    /// The splat of each scalar.
    pub splats: FxHashMap<V, V>,
    /// The multiplication for each divisor. The flag is true for signed divisions.
    pub divisors: FxHashMap<(V, bool), super::invariant_division::Divisor>,
    /// Loads from memory that does not change while the kernel runs, by base, offset and type.
    pub fixed_loads: FxHashMap<(V, i32, Register), V>,
}

/// The loops and blocks that determine where instructions are placed.
#[derive(Default)]
struct Placement {
    /// The block before each open loop, outermost first.
    preheaders: Vec<Block>,
    /// The loop depth and the block of the definition of each value of the vector IR.
    def_sites: Vec<(u32, Block)>,
}

/// Alternative representations of values.
pub(super) struct Forms {
    /// Packed narrow numbers; see [`super::subword_packing`].
    pub packed: FxHashMap<Value, super::subword_packing::Packed>,
    /// Array-of-structures values; see [`super::aos_values`].
    pub aos: FxHashMap<Value, super::aos_values::AosValue>,
    /// The number of low bits of each value that its users need.
    pub demanded_bits: Vec<u32>,
    /// The upper bits of registers with narrow numbers.
    pub extended: FxHashMap<V, Extended>,
    /// The registers that are words, shifted to the right.
    pub parts: FxHashMap<V, Part>,
}

/// A word that was shifted to the right by `at` bits.
#[derive(Clone, Copy)]
pub(super) struct Part {
    pub word: V,
    pub at: u32,
}

/// The state of vectorising one function.
pub(super) struct Vectorizer<'a> {
    pub(super) module: &'a ir::Module,
    pub(super) function: &'a Function,
    pub(super) shape: Shape,
    pub(super) uniformity: &'a Uniformity<'a>,
    /// Whether a multiplication and an addition may be fused.
    pub(super) fused: bool,
    /// The state of the sanitizer; `None` if accesses are not checked.
    pub(super) sanitizer: Option<super::sanitize::Sanitizer<'a>>,
    /// The format strings of `printf`.
    pub(super) printed: &'a crate::printf::Table,
    /// The call frames of the functions that this function may call, indexed by function.
    pub(super) calls: &'a [super::calls::CallFrame],
    /// The call frame of this function; `None` for the kernel.
    pub(super) own_call: Option<super::calls::CallFrame>,
    pub(super) b: Builder,
    /// The registers of each IR value.
    pub(super) values: Vec<Option<Val>>,
    pub(super) masks: Masks,
    pub(super) cache: Cache,
    placement: Placement,
    pub(super) forms: Forms,
    /// Addresses that all active lanes have accessed; see [`super::address_basis`].
    pub(super) bases: Vec<super::address_basis::Basis>,
    /// Addresses that were computed from a basis.
    pub(super) derived_addresses: FxHashSet<V>,
    /// The state at group level, for kernels with barriers and several gangs.
    pub(super) group: Option<super::group::State>,
    /// The layout of the arena.
    pub(super) frame: Frame,
    /// The ids and arguments of the gang.
    /// `None` unless the subgroups of a group make independent progress.
    pub(super) progress: Option<Progress>,
    pub(super) items: Items,
}

/// The parameters of [`Vectorizer::new`].
pub(super) struct VectorizerParams<'a> {
    pub(super) module: &'a ir::Module,
    pub(super) function: &'a Function,
    pub(super) shape: Shape,
    pub(super) uniformity: &'a Uniformity<'a>,
    pub(super) fused: bool,
    pub(super) printed: &'a crate::printf::Table,
    pub(super) calls: &'a [super::calls::CallFrame],
    /// The list of instrumented accesses; `None` if accesses are not checked.
    pub(super) sites: Option<&'a std::cell::RefCell<Vec<super::sanitize::AccessSite>>>,
    pub(super) frame: Frame,
}

impl<'a> Vectorizer<'a> {
    /// Starts a function of the vector IR with the given parameters.
    pub(super) fn new(begin: VectorizerParams<'a>, params: Vec<Register>) -> Self {
        let VectorizerParams { module, function, shape, uniformity, fused, printed, calls, sites, frame } = begin;
        let mut b = Builder::new(function.name.clone(), params, None);
        let exit = b.block();
        Self {
            module,
            function,
            shape,
            uniformity,
            fused,
            sanitizer: sites.map(|sites| super::sanitize::Sanitizer::of(function, sites)),
            printed,
            calls,
            own_call: None,
            b,
            values: vec![None; function.values.len()],
            masks: Masks {
                exec: None,
                slots: Vec::new(),
                live: None,
                segment: None,
                in_masked_copy: false,
                split_depth: 0,
                loops: Vec::new(),
                exit,
            },
            cache: Cache::default(),
            placement: Placement::default(),
            forms: Forms {
                packed: FxHashMap::default(),
                aos: FxHashMap::default(),
                demanded_bits: super::subword_packing::demanded_bits(function),
                extended: FxHashMap::default(),
                parts: FxHashMap::default(),
            },
            bases: Vec::new(),
            derived_addresses: FxHashSet::default(),
            group: None,
            frame,
            progress: None,
            items: Items::default(),
        }
    }

    /// Sets the registers of an IR value.
    pub(super) fn define(&mut self, value: Value, val: Val) {
        self.forms.aos.remove(&value);
        self.values[value.index()] = Some(val);
    }

    fn record_def_site(&mut self, value: V, level: u32, block: Block) {
        if self.placement.def_sites.len() <= value.index() {
            self.placement.def_sites.resize(value.index() + 1, (0, Block(0)));
        }
        self.placement.def_sites[value.index()] = (level, block);
    }

    fn level(&self) -> u32 {
        self.placement.preheaders.len() as u32
    }

    /// Returns the loop depth and the block of the definition of a value.
    pub(super) fn def_site(&self, value: V) -> (u32, Block) {
        self.placement.def_sites.get(value.index()).copied().unwrap_or((0, Block(0)))
    }

    fn place(&mut self, block: Block, level: u32, ty: Register, op: Op) -> V {
        let current = self.b.current();
        self.b.enter(block);
        let value = self.b.value_of(ty, op);
        self.b.enter(current);
        self.record_def_site(value, level, block);
        value
    }

    /// Adds an operation with a result. A pure operation is placed outside of all loops that define none of its
    /// operands.
    pub(super) fn op(&mut self, ty: Register, op: Op) -> V {
        let op = self.with_complement(ty, op);
        if let Some(known) = self.simpler(ty, &op) {
            return known;
        }
        let here = self.level();
        if !op.is_pure() {
            return self.place(self.b.current(), here, ty, op);
        }
        let mut level = 0;
        op.for_each_operand(|operand| level = level.max(self.def_site(operand).0));
        match self.placement.preheaders.get(level as usize) {
            Some(&block) => self.place(block, level, ty, op),
            None => self.place(self.b.current(), here, ty, op),
        }
    }

    /// Returns `a & !b` as one operation. For masks, the complement of a comparison costs nothing.
    fn with_complement(&self, ty: Register, op: Op) -> Op {
        let Op::Bin(BinOp::And, a, b) = op else { return op };
        let complement = |value: V| match self.b.op(value) {
            Some(&Op::Un(UnOp::Not, of)) => Some(of),
            _ => None,
        };
        match (complement(a), complement(b)) {
            _ if !matches!(ty, Register::Vector(..)) => op,
            (_, Some(b)) => Op::Bin(BinOp::AndNot, a, b),
            (Some(a), None) => Op::Bin(BinOp::AndNot, b, a),
            (None, None) => op,
        }
    }

    /// Returns the value that an operation can be folded or simplified to, or `None`.
    fn simpler(&mut self, ty: Register, op: &Op) -> Option<V> {
        let known = |value: &V| self.cache.bits_of_constants.get(value).copied();
        match op {
            Op::Bin(op, a, b) if ty.elem().is_none_or(|elem| !elem.is_float()) => {
                let ones = match ty.elem() {
                    Some(elem) => elem.mask(),
                    None => 1,
                };
                match (op, known(a), known(b)) {
                    (BinOp::Add | BinOp::Or | BinOp::Xor, Some(0), _) => Some(*b),
                    (
                        BinOp::Add | BinOp::Sub | BinOp::Or | BinOp::Xor | BinOp::AndNot | BinOp::Shl | BinOp::LShr | BinOp::AShr,
                        _,
                        Some(0),
                    ) => Some(*a),
                    (BinOp::And, _, Some(bits)) if bits == ones => Some(*a),
                    (BinOp::And, Some(bits), _) if bits == ones => Some(*b),
                    (BinOp::And, Some(0), _) | (BinOp::Mul, Some(1), Some(_)) => Some(if known(a) == Some(0) { *a } else { *b }),
                    (BinOp::And, _, Some(0)) => Some(*b),
                    (BinOp::Or, _, Some(bits)) if bits == ones => Some(*b),
                    (BinOp::Mul, _, Some(1)) => Some(*a),
                    (BinOp::And | BinOp::Or, ..) if a == b => Some(*a),
                    (BinOp::And, Some(x), Some(y)) => Some(self.bits(ty, x & y)),
                    (BinOp::Add, Some(x), Some(y)) => Some(self.bits(ty, x.wrapping_add(y) & ones)),
                    (BinOp::Mul, Some(x), Some(y)) => Some(self.bits(ty, x.wrapping_mul(y) & ones)),
                    _ => None,
                }
            }
            Op::Cast(CastOp::SExt, a) if ty == Register::I64 => {
                let bits = known(a)?;
                Some(self.bits(ty, i64::from((bits as u32).cast_signed()).cast_unsigned()))
            }
            Op::Cast(CastOp::ZExt | CastOp::Trunc, a) if ty.is_general() => {
                let bits = known(a)? & u64::from(u32::MAX);
                Some(self.bits(ty, bits))
            }
            _ => None,
        }
    }

    /// Adds an operation in the current block.
    pub(super) fn emit(&mut self, ty: Register, op: Op) -> V {
        self.place(self.b.current(), self.level(), ty, op)
    }

    /// Adds an operation with one operand to the block that defines the operand.
    pub(super) fn emit_at_def(&mut self, operand: V, ty: Register, op: Op) -> V {
        let (level, block) = self.def_site(operand);
        self.place(block, level, ty, op)
    }

    /// Runs `f` with another current block at loop depth `level`.
    pub(super) fn in_block<T>(&mut self, (level, block): (u32, Block), f: impl FnOnce(&mut Self) -> T) -> T {
        let (current, inner) = (self.b.current(), self.placement.preheaders.split_off(level as usize));
        self.b.enter(block);
        let made = f(self);
        self.b.enter(current);
        self.placement.preheaders.extend(inner);
        made
    }

    /// Adds a parameter to a block at a loop depth.
    pub(super) fn block_param(&mut self, block: Block, ty: Register, level: u32) -> V {
        let value = self.b.block_param(block, ty);
        self.record_def_site(value, level, block);
        value
    }

    /// Returns the number of open loops.
    pub(super) fn depth(&self) -> u32 {
        self.level()
    }

    /// Creates a constant scalar, or a vector with the same bits in all lanes.
    pub(super) fn bits(&mut self, ty: Register, bits: u64) -> V {
        if let Some(&value) = self.cache.constants.get(&(ty, Some(bits))) {
            return value;
        }
        let value = self.place(Block(0), 0, ty, Op::Const(bits));
        self.cache.constants.insert((ty, Some(bits)), value);
        self.cache.bits_of_constants.insert(value, bits);
        value
    }

    /// Returns the bits of a constant, or `None` for other values.
    pub(super) fn constant_bits(&self, value: V) -> Option<u64> {
        self.cache.bits_of_constants.get(&value).copied()
    }

    /// Creates an undefined value.
    pub(super) fn undef(&mut self, ty: Register) -> V {
        if let Some(&value) = self.cache.constants.get(&(ty, None)) {
            return value;
        }
        let value = self.place(Block(0), 0, ty, Op::Undef);
        self.cache.constants.insert((ty, None), value);
        value
    }

    /// Creates a constant vector.
    pub(super) fn lanes(&mut self, ty: Register, lanes: Box<[u64]>) -> V {
        let key = (ty, lanes);
        if let Some(&value) = self.cache.lane_constants.get(&key) {
            return value;
        }
        let value = self.place(Block(0), 0, ty, Op::Lanes(key.1.clone()));
        self.cache.lane_constants.insert(key, value);
        value
    }

    pub(super) fn i32(&mut self, number: u32) -> V {
        self.bits(Register::I32, u64::from(number))
    }

    pub(super) fn i64(&mut self, number: u64) -> V {
        self.bits(Register::I64, number)
    }

    /// Opens a loop: the current block jumps to `header` with `args`.
    pub(super) fn open_loop(&mut self, header: Block, args: impl IntoIterator<Item = V>) {
        let target = Target::new(header, args);
        self.placement.preheaders.push(self.b.current());
        self.b.end(Terminator::Jump(target));
        self.b.enter(header);
    }

    /// Closes the innermost loop. Blocks that are entered afterwards are outside of it.
    pub(super) fn close_loop(&mut self) {
        self.placement.preheaders.pop();
    }

    pub(super) fn jump(&mut self, block: Block, args: impl IntoIterator<Item = V>) {
        self.b.end(Terminator::Jump(Target::new(block, args)));
    }

    /// Returns the mask of the active lanes, which has all lanes set if there is no mask.
    pub(super) fn exec_mask_or_all(&mut self) -> Regs {
        if let Some(masks) = &self.masks.exec {
            return masks.clone();
        }
        let mask = self.shape.register(ir::Scalar::Bool, super::shape::Mode::Varying);
        let all = self.bits(mask, 1);
        smallvec![all; self.shape.registers(ir::Scalar::Bool, super::shape::Mode::Varying)]
    }

    /// Adds one operation for each register.
    pub(super) fn map(&mut self, ty: Register, regs: &[V], mut op: impl FnMut(V) -> Op) -> Regs {
        regs.iter().map(|&reg| self.op(ty, op(reg))).collect()
    }

    /// Adds one operation for each pair of registers.
    pub(super) fn zip(&mut self, ty: Register, a: &[V], b: &[V], mut op: impl FnMut(V, V) -> Op) -> Regs {
        a.iter().zip(b).map(|(&a, &b)| self.op(ty, op(a, b))).collect()
    }

    /// Returns the finished function and its frame.
    pub(super) fn finish(self) -> (wgcl_codegen::vir::Function, Frame) {
        (self.b.finish(), self.frame)
    }

    pub(super) fn types_of(&self, values: &[V]) -> SmallVec<[Register; 4]> {
        values.iter().map(|value| self.b.ty(*value)).collect()
    }
}
