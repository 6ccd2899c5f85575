//! Emulates 64-bit integers with pairs of words, for devices without them
//! ([`Shaders::int64`](crate::target::Shaders::int64)).
//!
//! Each 64-bit value becomes two values of 32 bits, the low and the high word. A vector becomes two vectors. Every
//! operation has the result of 64-bit arithmetic.
//!
//! ```text
//! %2: i64 = load %p align 8         %3: i32x2 = load %p align 8; %4 = extract %3, 0; %5 = extract %3, 1
//! %6: i64 = add %2, %2        =>    %7 = add %4, %4; %8: bool = ult %7, %4; %9 = zext %8
//!                                   %10 = add %5, %5; %11 = add %10, %9
//! ```
//! The layout in memory and in kernel arguments does not change: two words, the low word first. A 64-bit parameter or
//! result of a function becomes two parameters or results. The pass runs after `legalize`, which has lowered other
//! operations to the supported operations.
//!
//! The pass does not support 64-bit atomics, which these devices do not have. It does not support conversions from and
//! to `double`: `crate::doubles` has replaced `double` before. Subgroup reductions are not needed, because
//! `passes::groups` has expanded them to shuffles.

mod arithmetic;
mod convert;
mod divide;
mod memory;

use rustc_hash::FxHashMap;

use super::PassError;
use super::pass::Pass;
use crate::analysis::eval;
use crate::diag::Span;
use crate::ir::{
    BinOp, Build, CmpOp, Const, Cursor, Func, Function, GroupOp, Inst, KernelParam, Module, Op, Region, Scalar, Space, Type, UnOp, Value,
};

pub(crate) const PASS: Pass = Pass::module("pairs", |module, _| run(module));

/// Removes the 64-bit integers from a module. Returns whether there were any.
fn run(module: &mut Module) -> Result<bool, PassError> {
    let has_division = module.functions.iter().any(divide::has_division);
    let found = module.functions.iter().any(has_pairs);
    if !found {
        return Ok(false);
    }
    let divide = has_division.then(|| {
        module.functions.push(divide::function());
        Func(module.functions.len() as u32 - 1)
    });
    let last = divide.map_or(module.functions.len(), Func::index);
    for function in &mut module.functions[..last] {
        if has_pairs(function) {
            rewrite(function, divide)?;
        }
    }
    Ok(true)
}

/// Whether a type is a 64-bit integer or a vector of these.
fn is_pair(ty: Type) -> bool {
    ty.scalar() == Some(Scalar::I64)
}

fn has_pairs(function: &Function) -> bool {
    function.values.iter().any(|data| is_pair(data.ty))
}

/// The low and the high word of a 64-bit integer.
type Pair = (Value, Value);

fn rewrite(function: &mut Function, divide: Option<Func>) -> Result<(), PassError> {
    let mut body = std::mem::take(&mut function.body);
    let span = body.insts.first().map_or_else(Span::default, |inst| inst.span);
    let mut pairs = Pairs {
        function,
        out: Vec::new(),
        span,
        pairs: FxHashMap::default(),
        known: FxHashMap::default(),
        addresses: FxHashMap::default(),
        divide,
    };
    pairs.parameters();
    let start = std::mem::take(&mut pairs.out);
    pairs.region(&mut body)?;
    body.insts.splice(0..0, start);
    function.body = body;
    function.returns =
        function.returns.iter().flat_map(|&ty| if is_pair(ty) { vec![ty.with_scalar(Scalar::I32); 2] } else { vec![ty] }).collect();
    // The replaced values are unused now. Their types must not make the function require 64-bit integers.
    for data in &mut function.values {
        if is_pair(data.ty) {
            data.ty = data.ty.with_scalar(Scalar::I32);
        }
    }
    Ok(())
}

struct Pairs<'a> {
    function: &'a mut Function,
    /// Instructions of the current region after rewriting.
    out: Vec<Inst>,
    span: Span,
    /// The replacement of each 64-bit integer.
    pairs: FxHashMap<Value, Pair>,
    /// The bits of constant words with equal lanes.
    known: FxHashMap<Value, u32>,
    /// The base pointer and the byte offset of each `ptr_add`.
    addresses: FxHashMap<Value, (Value, Value)>,
    /// The division function.
    divide: Option<Func>,
}

impl Build for Pairs<'_> {
    fn cursor(&mut self) -> Cursor<'_> {
        Cursor::new(self.function, &mut self.out, self.span)
    }

    fn bits(&mut self, ty: Type, bits: u64) -> Value {
        let value = self.cursor().bits(ty, bits);
        if ty.scalar() == Some(Scalar::I32) {
            self.known.insert(value, bits as u32);
        }
        value
    }

    /// Emits an operation, unless it can be folded. Folding is necessary because WGSL rejects shifts that lose bits of
    /// constants. It is useful because half of the words of masks and exponents are zero.
    fn bin(&mut self, op: BinOp, a: Value, b: Value) -> Value {
        let ty = self.function.ty(a);
        let known = |value: Value| self.known.get(&value).map(|&bits| u64::from(bits));
        if let Some(bits) = known(a).zip(known(b)).and_then(|(a, b)| eval::binary(op, Scalar::I32, a, b)) {
            return self.bits(ty, bits);
        }
        match (op, known(a), known(b)) {
            (BinOp::Add | BinOp::Sub | BinOp::Or | BinOp::Xor | BinOp::Shl | BinOp::LShr | BinOp::AShr, _, Some(0)) => a,
            (BinOp::And, _, Some(0xffff_ffff)) | (BinOp::And | BinOp::Mul | BinOp::Shl | BinOp::LShr | BinOp::AShr, Some(0), _) => a,
            (BinOp::And | BinOp::Mul, _, Some(0))
            | (BinOp::Add | BinOp::Or | BinOp::Xor, Some(0), _)
            | (BinOp::And, Some(0xffff_ffff), _) => b,
            _ => self.push(ty, Op::Bin(op, a, b)),
        }
    }
}

impl Pairs<'_> {
    fn unsupported(&self, what: &str) -> PassError {
        PassError::Unsupported { function: self.function.name.clone(), what: format!("{what}, on a device without 64-bit integers,") }
    }

    fn is_pair(&self, value: Value) -> bool {
        is_pair(self.function.ty(value))
    }

    fn pair(&self, value: Value) -> Result<Pair, PassError> {
        self.pairs.get(&value).copied().ok_or_else(|| PassError::Internal {
            function: self.function.name.clone(),
            pass: PASS.name,
            message: format!("the use of the 64-bit integer {value} precedes its definition"),
        })
    }

    /// Creates new values for both words of a 64-bit integer.
    fn declare(&mut self, value: Value) -> Pair {
        let ty = self.function.ty(value).with_scalar(Scalar::I32);
        let pair = (self.function.new_value(ty), self.function.new_value(ty));
        self.pairs.insert(value, pair);
        pair
    }

    /// Replaces each 64-bit integer in a list of operands by both words.
    fn expand_uses(&self, list: &[Value]) -> Result<Vec<Value>, PassError> {
        let mut all = Vec::with_capacity(list.len());
        for &value in list {
            if self.is_pair(value) {
                let (low, high) = self.pair(value)?;
                all.extend([low, high]);
            } else {
                all.push(value);
            }
        }
        Ok(all)
    }

    /// Replaces each 64-bit integer in a list of definitions by new values for both words.
    fn expand_definitions(&mut self, list: &[Value]) -> Vec<Value> {
        let mut all = Vec::with_capacity(list.len());
        for &value in list {
            if self.is_pair(value) {
                let (low, high) = self.declare(value);
                all.extend([low, high]);
            } else {
                all.push(value);
            }
        }
        all
    }

    /// Rewrites 64-bit parameters. A parameter of a kernel remains one parameter of the same size, which is split at
    /// the start of the kernel. A parameter of another function becomes two parameters.
    fn parameters(&mut self) {
        let params = self.function.params.clone();
        let Some(kernel) = &self.function.kernel else {
            self.function.params = self.expand_definitions(&params);
            return;
        };
        let kinds = kernel.params.clone();
        for (index, (&param, kind)) in params.iter().zip(&kinds).enumerate() {
            let ty = self.function.ty(param);
            if !is_pair(ty) || *kind != KernelParam::Value {
                continue;
            }
            let lanes = ty.lanes();
            let taken = if lanes == 16 {
                // A vector of 16 pairs has more than the maximum of 16 words of a vector, so it is passed as 128 bytes.
                let changed = self.function.new_value(Type::Ptr(Space::Constant));
                if let Some(kernel) = &mut self.function.kernel {
                    kernel.params[index] = KernelParam::Bytes { size: 128, align: 128 };
                }
                self.function.params[index] = changed;
                self.load(changed, lanes, 128, false)
            } else {
                // A vector of three lanes has the size of four lanes.
                let changed = self.function.new_value(Type::Vector(Scalar::I32, if lanes == 3 { 8 } else { 2 * lanes }));
                self.function.params[index] = changed;
                self.split_words(changed, lanes)
            };
            self.pairs.insert(param, taken);
        }
    }

    fn region(&mut self, region: &mut Region) -> Result<(), PassError> {
        let outer = std::mem::take(&mut self.out);
        for inst in std::mem::take(&mut region.insts) {
            self.span = inst.span;
            self.inst(inst)?;
        }
        region.insts = std::mem::replace(&mut self.out, outer);
        Ok(())
    }

    fn inst(&mut self, mut inst: Inst) -> Result<(), PassError> {
        match &mut inst.op {
            Op::If { then, els, .. } => {
                self.region(then)?;
                self.region(els)?;
            }
            Op::Loop { init, params, body, .. } => {
                *init = self.expand_uses(init)?;
                *params = self.expand_definitions(params);
                self.region(body)?;
            }
            Op::Switch { selector, cases, default } => {
                if self.is_pair(*selector) {
                    *selector = self.word_selector(*selector, cases)?;
                }
                for (_, case) in cases {
                    self.region(case)?;
                }
                self.region(default)?;
            }
            Op::Yield(list) | Op::Break(list) | Op::Continue(list) | Op::Return(list) | Op::Call(_, list) => {
                *list = self.expand_uses(list)?
            }
            Op::Printf { args, .. } => {
                for arg in args {
                    if self.is_pair(*arg) {
                        *arg = self.join_words(*arg)?;
                    }
                }
            }
            op => {
                let op = op.clone();
                return self.simple_inst(op, inst);
            }
        }
        inst.results = self.expand_definitions(&inst.results);
        self.out.push(inst);
        Ok(())
    }

    /// Rewrites an operation without regions and with at most one result.
    fn simple_inst(&mut self, op: Op, mut inst: Inst) -> Result<(), PassError> {
        let result = inst.results.first().copied();
        if let Some(result) = result.filter(|&result| self.is_pair(result)) {
            let pair = self.value(&op, self.function.ty(result))?;
            self.pairs.insert(result, pair);
            return Ok(());
        }
        let mut has_pair_operand = false;
        op.for_each_operand(|value| has_pair_operand |= self.is_pair(value));
        if has_pair_operand {
            match self.with_pair_operands(op, result)? {
                Some(op) => inst.op = op,
                None => return Ok(()),
            }
        } else if let (Op::Const(constant), Some(result)) = (&op, result)
            && self.function.ty(result).scalar() == Some(Scalar::I32)
            && let Some(bits) = constant.bits()
        {
            self.known.insert(result, bits as u32);
        }
        if let (&Op::PtrAdd(ptr, offset), Some(result)) = (&inst.op, result) {
            self.addresses.insert(result, (ptr, offset));
        }
        self.out.push(inst);
        Ok(())
    }

    /// Emits both words of the result of an operation. `ty` is the 64-bit type of the result.
    fn value(&mut self, op: &Op, ty: Type) -> Result<Pair, PassError> {
        let words = ty.with_scalar(Scalar::I32);
        Ok(match *op {
            Op::Const(ref constant) => self.constant(constant, words),
            Op::Un(UnOp::Not, a) => {
                let (low, high) = self.pair(a)?;
                (self.un(UnOp::Not, low), self.un(UnOp::Not, high))
            }
            Op::Un(UnOp::Neg, a) => {
                let a = self.pair(a)?;
                self.negate(a)
            }
            Op::Bin(op, a, b) => self.binary(op, a, b)?,
            Op::Cast(op, a) => self.convert_to_pair(op, a, ty)?,
            Op::Select(condition, a, b) => {
                let (a, b) = (self.pair(a)?, self.pair(b)?);
                self.select_pair(condition, a, b)
            }
            Op::Construct(ref list) => self.each(list, words, |_, parts| Op::Construct(parts.to_vec()))?,
            Op::Splat(a) => self.each(&[a], words, |_, parts| Op::Splat(parts[0]))?,
            Op::Extract(a, lane) => self.each(&[a], words, |_, parts| Op::Extract(parts[0], lane))?,
            Op::ExtractDyn(a, index) => self.each(&[a], words, |_, parts| Op::ExtractDyn(parts[0], index))?,
            Op::Insert(a, lane, b) => self.each(&[a, b], words, |_, parts| Op::Insert(parts[0], lane, parts[1]))?,
            Op::InsertDyn(a, index, b) => self.each(&[a, b], words, |_, parts| Op::InsertDyn(parts[0], index, parts[1]))?,
            Op::Shuffle(a, b, ref lanes) => self.each(&[a, b], words, |_, parts| Op::Shuffle(parts[0], parts[1], lanes.clone()))?,
            Op::Load { ptr, align, volatile } => self.load(ptr, ty.lanes(), align, volatile),
            Op::Group { sub: true, op, ref args } if moves_bits(op) => {
                let (&first, rest) = args.split_first().ok_or_else(|| self.unsupported("this subgroup operation"))?;
                self.each(&[first], words, |_, parts| Op::Group { sub: true, op, args: parts.iter().chain(rest).copied().collect() })?
            }
            Op::Group { op, .. } => {
                return Err(self.unsupported(&format!("the group operation `{}` on 64-bit integers", op.name())));
            }
            Op::Atomic { .. } | Op::CmpXchg { .. } => return Err(self.unsupported("an atomic operation on 64-bit integers")),
            _ => return Err(self.unsupported("this operation on 64-bit integers")),
        })
    }

    /// Emits the same operation on the low words and on the high words.
    fn each(&mut self, operands: &[Value], words: Type, op: impl Fn(&Self, &[Value]) -> Op) -> Result<Pair, PassError> {
        let pairs = operands.iter().map(|&value| self.pair(value)).collect::<Result<Vec<_>, _>>()?;
        let low: Vec<Value> = pairs.iter().map(|pair| pair.0).collect();
        let high: Vec<Value> = pairs.iter().map(|pair| pair.1).collect();
        let (low, high) = (op(self, &low), op(self, &high));
        Ok((self.push(words, low), self.push(words, high)))
    }

    fn constant(&mut self, constant: &Const, words: Type) -> Pair {
        match constant {
            Const::Bits(bits) => (self.bits(words, *bits), self.bits(words, bits >> 32)),
            Const::Lanes(lanes) => {
                if let Some(bits) = constant.bits() {
                    return (self.bits(words, bits), self.bits(words, bits >> 32));
                }
                let part = |shift: u32| Op::Const(Const::Lanes(lanes.iter().map(|bits| bits >> shift & 0xffff_ffff).collect()));
                (self.push(words, part(0)), self.push(words, part(32)))
            }
            Const::Null => (self.bits(words, 0), self.bits(words, 0)),
            Const::Undef => (self.push(words, Op::Const(Const::Undef)), self.push(words, Op::Const(Const::Undef))),
        }
    }

    /// Rewrites an operation with 64-bit operands and a result of another type. Returns the new operation, or `None` if
    /// this function has already emitted it.
    fn with_pair_operands(&mut self, op: Op, result: Option<Value>) -> Result<Option<Op>, PassError> {
        Ok(Some(match op {
            Op::Cmp(op, a, b) => self.emit_comparison(op, a, b)?,
            Op::Cast(op, a) => {
                let ty = result.map_or(Type::Void, |result| self.function.ty(result));
                self.convert_from_pair(op, a, ty)?
            }
            Op::PtrAdd(ptr, offset) => Op::PtrAdd(ptr, self.pair(offset)?.0),
            Op::Store { ptr, value, align, volatile } => {
                self.store(ptr, value, align, volatile)?;
                return Ok(None);
            }
            Op::Atomic { .. } | Op::CmpXchg { .. } => return Err(self.unsupported("an atomic operation on 64-bit integers")),
            _ => return Err(self.unsupported("this operation on 64-bit integers")),
        }))
    }

    /// Selects one of two pairs.
    fn select_pair(&mut self, condition: Value, a: Pair, b: Pair) -> Pair {
        (self.select(condition, a.0, b.0), self.select(condition, a.1, b.1))
    }

    /// Emits a 32-bit selector that replaces a 64-bit selector: the index of the matching case. Changes the values of
    /// each case to its index.
    fn word_selector(&mut self, selector: Value, cases: &mut [(Vec<u64>, Region)]) -> Result<Value, PassError> {
        let (low, high) = self.pair(selector)?;
        let mut chosen = self.word(cases.len() as u32);
        for (number, (values, _)) in cases.iter_mut().enumerate() {
            for value in std::mem::replace(values, vec![number as u64]) {
                let (is_low, is_high) = (self.cmp_bits(CmpOp::Eq, low, value & 0xffff_ffff), self.cmp_bits(CmpOp::Eq, high, value >> 32));
                let is_match = self.bin(BinOp::And, is_low, is_high);
                let number = self.word(number as u32);
                chosen = self.select(is_match, number, chosen);
            }
        }
        Ok(chosen)
    }
}

/// Whether a subgroup operation copies values between lanes without computing with them.
const fn moves_bits(op: GroupOp) -> bool {
    matches!(
        op,
        GroupOp::Broadcast | GroupOp::BroadcastFirst | GroupOp::Shuffle | GroupOp::ShuffleXor | GroupOp::ShuffleUp | GroupOp::ShuffleDown
    )
}
