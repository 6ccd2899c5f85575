//! The state of lowering one function, and how instructions of the vector IR are placed.
//!
//! What does nothing but compute is placed outside of all loops in which none of its operands is defined. It cannot trap, so it may be computed where it was not
//! asked for; constants take no register before they are used, and stand in the first block.

use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use wgcl_codegen::vir::{BinOp, Block, Builder, CastOp, Op, Target, Terminator, Type as Register, Value as V};

use super::frame::Frame;
use super::shape::Shape;
use super::uniformity::Uniformity;
use super::value::{Regs, Val};
use super::work_items::Items;
use crate::internal::Defect;
use crate::ir::{self, Function, Value};

/// What goes wrong here: a defect of the compiler, or what cannot be done.
pub(super) type Lowered<T> = Result<T, Defect>;

/// What bits a register of 32 bits holds of a narrower number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extended {
    /// Bits of the number.
    pub bits: u32,
    /// Whether the upper bits are its sign.
    pub signed: bool,
}

/// A function that is being lowered.
pub(super) struct Vectorizer<'a> {
    pub(super) module: &'a ir::Module,
    pub(super) function: &'a Function,
    pub(super) shape: Shape,
    pub(super) uniformity: &'a Uniformity<'a>,
    pub(super) fused: bool,
    /// How its accesses ask before they are made, if they do.
    pub(super) sanitizer: Option<super::sanitize::Sanitizer<'a>>,
    /// What it prints.
    pub(super) printed: &'a crate::printf::Table,
    /// The functions that it may call, by their numbers.
    pub(super) calls: &'a [super::calls::CallFrame],
    /// Its own place in memory, if it is called.
    pub(super) own_call: Option<super::calls::CallFrame>,
    pub(super) b: Builder,
    /// By IR value.
    pub(super) values: Vec<Option<Val>>,
    /// Which lanes are alive: all without masks.
    pub(super) exec_mask: Option<Regs>,
    /// What masks and merged results are now, by the places that constructs have taken here; see [`super::control`].
    pub(super) slots: Vec<V>,
    /// The constructs around the current place.
    pub(super) loops: Vec<super::control::LoopState>,
    /// How many constructs that split are around the current place.
    pub(super) split_depth: u32,
    /// The slots of the lanes that have not returned, where some may return earlier than others.
    pub(super) live_mask: Option<std::ops::Range<usize>>,
    /// Who was alive when the current segment began.
    pub(super) segment_mask: Option<Regs>,
    /// What is around at the level of the group, in kernels with barriers.
    pub(super) group: Option<super::group::State>,
    /// Where all lanes go that are done.
    pub(super) exit: Block,
    /// Where in memory things are.
    pub(super) frame: Frame,
    /// What is known of the work-items of the chunk.
    pub(super) items: Items,
    pub(super) extended: FxHashMap<V, Extended>,
    /// What is there in the order of memory as well, and how many bits of each value are wanted; see [`super::subword_packing`].
    pub(super) packed: FxHashMap<Value, super::subword_packing::Packed>,
    pub(super) demanded_bits: Vec<u32>,
    /// What is there in the order of memory, and by component as well only where that was asked for.
    pub(super) aos: FxHashMap<Value, super::aos_values::AosValue>,
    pub(super) splats: FxHashMap<V, V>,
    /// By divisor, and whether divisions by it have signs.
    pub(super) divisors: FxHashMap<(V, bool), super::invariant_division::Divisor>,
    pub(super) fixed_loads: FxHashMap<(V, i32, Register), V>,
    constants: FxHashMap<(Register, Option<u64>), V>,
    lane_constants: FxHashMap<(Register, Box<[u64]>), V>,
    /// The bits of constants, by value.
    known: FxHashMap<V, u64>,
    /// The block before each loop that is open, outermost first.
    preheaders: Vec<Block>,
    /// The number of loops around the definition of each value of the vector IR, and its block.
    homes: Vec<(u32, Block)>,
}

/// What [`Vectorizer`] begins with.
pub(super) struct VectorizerParams<'a> {
    pub(super) module: &'a ir::Module,
    pub(super) function: &'a Function,
    pub(super) shape: Shape,
    pub(super) uniformity: &'a Uniformity<'a>,
    pub(super) fused: bool,
    pub(super) printed: &'a crate::printf::Table,
    pub(super) calls: &'a [super::calls::CallFrame],
    /// Where its accesses are noted, if they ask before they are made.
    pub(super) sites: Option<&'a std::cell::RefCell<Vec<super::sanitize::AccessSite>>>,
    pub(super) frame: Frame,
}

impl<'a> Vectorizer<'a> {
    /// A function of the vector IR with parameters of those types.
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
            exec_mask: None,
            slots: Vec::new(),
            loops: Vec::new(),
            split_depth: 0,
            live_mask: None,
            segment_mask: None,
            group: None,
            exit,
            frame,
            items: Items::default(),
            extended: FxHashMap::default(),
            packed: FxHashMap::default(),
            demanded_bits: super::subword_packing::demanded_bits(function),
            aos: FxHashMap::default(),
            splats: FxHashMap::default(),
            divisors: FxHashMap::default(),
            fixed_loads: FxHashMap::default(),
            constants: FxHashMap::default(),
            lane_constants: FxHashMap::default(),
            known: FxHashMap::default(),
            preheaders: Vec::new(),
            homes: Vec::new(),
        }
    }

    /// Sets what an IR value is.
    pub(super) fn define(&mut self, value: Value, val: Val) {
        self.aos.remove(&value);
        self.values[value.index()] = Some(val);
    }

    fn note(&mut self, value: V, level: u32, block: Block) {
        if self.homes.len() <= value.index() {
            self.homes.resize(value.index() + 1, (0, Block(0)));
        }
        self.homes[value.index()] = (level, block);
    }

    fn level(&self) -> u32 {
        self.preheaders.len() as u32
    }

    /// The number of loops around the definition of a value, and its block.
    pub(super) fn home(&self, value: V) -> (u32, Block) {
        self.homes.get(value.index()).copied().unwrap_or((0, Block(0)))
    }

    fn place(&mut self, block: Block, level: u32, ty: Register, op: Op) -> V {
        let current = self.b.current();
        self.b.enter(block);
        let value = self.b.value_of(ty, op);
        self.b.enter(current);
        self.note(value, level, block);
        value
    }

    /// Adds an operation that gives a value: as far outside as it may be, if it has no effects.
    pub(super) fn op(&mut self, ty: Register, op: Op) -> V {
        if let Some(known) = self.simpler(ty, &op) {
            return known;
        }
        let here = self.level();
        if !op.is_pure() {
            return self.place(self.b.current(), here, ty, op);
        }
        let mut level = 0;
        op.for_each_operand(|operand| level = level.max(self.home(operand).0));
        match self.preheaders.get(level as usize) {
            Some(&block) => self.place(block, level, ty, op),
            None => self.place(self.b.current(), here, ty, op),
        }
    }

    /// What an operation gives that need not be done.
    fn simpler(&mut self, ty: Register, op: &Op) -> Option<V> {
        let known = |value: &V| self.known.get(value).copied();
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

    /// Adds an operation whose value depends on what may change, in the current place.
    pub(super) fn here(&mut self, ty: Register, op: Op) -> V {
        self.place(self.b.current(), self.level(), ty, op)
    }

    /// Adds an operation of one operand right where that is defined.
    pub(super) fn beside(&mut self, operand: V, ty: Register, op: Op) -> V {
        let (level, block) = self.home(operand);
        self.place(block, level, ty, op)
    }

    /// Does something as if the current place were a block with so many loops around it.
    pub(super) fn at<T>(&mut self, (level, block): (u32, Block), f: impl FnOnce(&mut Self) -> T) -> T {
        let (current, inner) = (self.b.current(), self.preheaders.split_off(level as usize));
        self.b.enter(block);
        let made = f(self);
        self.b.enter(current);
        self.preheaders.extend(inner);
        made
    }

    /// A parameter of a block, which is going to be entered at the current depth of loops.
    pub(super) fn block_param(&mut self, block: Block, ty: Register, level: u32) -> V {
        let value = self.b.block_param(block, ty);
        self.note(value, level, block);
        value
    }

    /// The number of open loops.
    pub(super) fn depth(&self) -> u32 {
        self.level()
    }

    /// The bits of a scalar, or of all lanes.
    pub(super) fn bits(&mut self, ty: Register, bits: u64) -> V {
        if let Some(&value) = self.constants.get(&(ty, Some(bits))) {
            return value;
        }
        let value = self.place(Block(0), 0, ty, Op::Const(bits));
        self.constants.insert((ty, Some(bits)), value);
        self.known.insert(value, bits);
        value
    }

    /// The bits of a constant.
    pub(super) fn constant_bits(&self, value: V) -> Option<u64> {
        self.known.get(&value).copied()
    }

    /// Any value.
    pub(super) fn undef(&mut self, ty: Register) -> V {
        if let Some(&value) = self.constants.get(&(ty, None)) {
            return value;
        }
        let value = self.place(Block(0), 0, ty, Op::Undef);
        self.constants.insert((ty, None), value);
        value
    }

    /// The bits of each lane.
    pub(super) fn lanes(&mut self, ty: Register, lanes: Box<[u64]>) -> V {
        let key = (ty, lanes);
        if let Some(&value) = self.lane_constants.get(&key) {
            return value;
        }
        let value = self.place(Block(0), 0, ty, Op::Lanes(key.1.clone()));
        self.lane_constants.insert(key, value);
        value
    }

    /// A 32-bit number.
    pub(super) fn i32(&mut self, number: u32) -> V {
        self.bits(Register::I32, u64::from(number))
    }

    /// A 64-bit number.
    pub(super) fn i64(&mut self, number: u64) -> V {
        self.bits(Register::I64, number)
    }

    /// Opens a loop whose header is `header`: the current block goes there with `args`.
    pub(super) fn open_loop(&mut self, header: Block, args: impl IntoIterator<Item = V>) {
        let target = Target::new(header, args);
        self.preheaders.push(self.b.current());
        self.b.end(Terminator::Jump(target));
        self.b.enter(header);
    }

    /// The loop that was opened last ends; blocks that are entered from here on are behind it.
    pub(super) fn close_loop(&mut self) {
        self.preheaders.pop();
    }

    /// Ends the current block.
    pub(super) fn jump(&mut self, block: Block, args: impl IntoIterator<Item = V>) {
        self.b.end(Terminator::Jump(Target::new(block, args)));
    }

    /// All lanes of masks, where there are none yet.
    pub(super) fn exec_mask_or_all(&mut self) -> Regs {
        if let Some(masks) = &self.exec_mask {
            return masks.clone();
        }
        let mask = self.shape.register(ir::Scalar::Bool, super::shape::Mode::Varying);
        let all = self.bits(mask, 1);
        smallvec![all; self.shape.registers(ir::Scalar::Bool, super::shape::Mode::Varying)]
    }

    /// Registers made by an operation each.
    pub(super) fn map(&mut self, ty: Register, regs: &[V], mut op: impl FnMut(V) -> Op) -> Regs {
        regs.iter().map(|&reg| self.op(ty, op(reg))).collect()
    }

    /// Registers made by an operation of two each.
    pub(super) fn zip(&mut self, ty: Register, a: &[V], b: &[V], mut op: impl FnMut(V, V) -> Op) -> Regs {
        a.iter().zip(b).map(|(&a, &b)| self.op(ty, op(a, b))).collect()
    }

    /// The function as it is, and what it takes of the arena.
    pub(super) fn finish(self) -> (wgcl_codegen::vir::Function, Frame) {
        (self.b.finish(), self.frame)
    }

    /// The types of values.
    pub(super) fn types_of(&self, values: &[V]) -> SmallVec<[Register; 4]> {
        values.iter().map(|value| self.b.ty(*value)).collect()
    }
}
