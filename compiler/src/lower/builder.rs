//! Builds the instructions of one function in nested regions.
//!
//! Calls of `open` and `close` are nested. Instructions are appended to the innermost open region. Callers may emit
//! instructions after a terminator; the builder drops them. The builder folds operations on constant integers, because
//! address computations contain many of them. Equal constants are shared. Most other simplifications are left to the
//! passes.

use rustc_hash::FxHashMap;

use super::LowerError;
use crate::diag::Span;
use crate::ir::{self, BinOp, CastOp, CmpOp, Const, MAX_NESTING, MathOp, Op, Region, Scalar, Space, Type, UnOp, Value, Var};
use crate::target::ValueChecks;

/// Keys of the values that a region and its nested regions share: constants and addresses.
#[derive(Clone, PartialEq, Eq, Hash)]
enum Shared {
    Const(Type, Const),
    Var(Var),
    Global(ir::Global, Space),
}

#[derive(Default)]
struct Open {
    region: Region,
    shared: FxHashMap<Shared, Value>,
    /// Whether the region has a terminator.
    ended: bool,
}

pub(crate) struct Builder {
    pub(crate) function: ir::Function,
    /// The source location of new instructions.
    pub(crate) span: Span,
    /// The first error.
    pub(crate) error: Option<LowerError>,
    /// The checks to add, see `value_checks`.
    pub(super) value_checks: ValueChecks,
    open: Vec<Open>,
    constants: FxHashMap<Value, Const>,
    /// Maps each integer that was widened from a `bool` to this `bool`.
    flags: FxHashMap<Value, Value>,
    /// The base and the constant byte offset of each address that [`Builder::offset`] has created.
    offsets: FxHashMap<Value, (Value, i64)>,
}

impl Builder {
    pub(crate) fn new(function: ir::Function) -> Self {
        Self {
            function,
            span: Span::NONE,
            error: None,
            value_checks: ValueChecks::NONE,
            open: vec![Open::default()],
            constants: FxHashMap::default(),
            flags: FxHashMap::default(),
            offsets: FxHashMap::default(),
        }
    }

    /// Selects the checks of values. [`Builder::new`] disables all.
    pub(crate) fn with_value_checks(self, value_checks: ValueChecks) -> Self {
        Self { value_checks, ..self }
    }

    /// Returns the function, or the first error. The caller must have closed all regions but the body, and terminated
    /// the body.
    pub(crate) fn finish(mut self) -> Result<ir::Function, LowerError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        self.function.body = self.open.pop().map(|open| open.region).unwrap_or_default();
        Ok(self.function)
    }

    /// Records an error, unless an earlier one is recorded.
    pub(crate) fn fail(&mut self, message: impl Into<String>) {
        if self.error.is_none() {
            self.error = Some(LowerError { span: self.span, message: message.into() });
        }
    }

    pub(crate) fn ty(&self, value: Value) -> Type {
        self.function.values.get(value.index()).map_or(Type::Void, |data| data.ty)
    }

    /// Whether new instructions are unreachable.
    pub(crate) fn is_dead(&self) -> bool {
        self.open.last().is_none_or(|open| open.ended)
    }

    // ---- instructions ----

    fn push(&mut self, op: Op, results: Vec<Value>) {
        let span = self.span;
        if let Some(open) = self.open.last_mut()
            && !open.ended
        {
            open.ended = op.is_terminator();
            open.region.insts.push(ir::Inst { op, results, span });
        }
    }

    pub(crate) fn effect(&mut self, op: Op) {
        self.push(op, Vec::new());
    }

    pub(crate) fn emit(&mut self, op: Op, ty: Type) -> Value {
        let value = self.function.new_value(ty);
        self.push(op, vec![value]);
        value
    }

    fn shared(&mut self, key: Shared, op: Op, ty: Type) -> Value {
        if let Some(value) = self.open.iter().rev().find_map(|open| open.shared.get(&key)) {
            return *value;
        }
        let value = self.emit(op, ty);
        if let Some(open) = self.open.last_mut() {
            open.shared.insert(key, value);
        }
        value
    }

    // ---- constants ----

    pub(crate) fn constant(&mut self, ty: Type, constant: Const) -> Value {
        let value = self.shared(Shared::Const(ty, constant.clone()), Op::Const(constant.clone()), ty);
        self.constants.insert(value, constant);
        value
    }

    pub(crate) fn undef(&mut self, ty: Type) -> Value {
        self.constant(ty, Const::Undef)
    }

    /// Returns a constant with the same bits in every lane. The bits are truncated to the lane width.
    pub(crate) fn bits(&mut self, ty: Type, bits: u64) -> Value {
        let Some(scalar) = ty.scalar() else {
            return self.constant(ty, Const::Null);
        };
        let bits = bits & scalar.mask();
        let constant = match ty {
            Type::Vector(_, lanes) => Const::Lanes(vec![bits; usize::from(lanes)]),
            _ => Const::Bits(bits),
        };
        self.constant(ty, constant)
    }

    pub(crate) fn int(&mut self, ty: Type, value: i64) -> Value {
        self.bits(ty, value.cast_unsigned())
    }

    pub(crate) fn i32(&mut self, value: i32) -> Value {
        self.int(Type::I32, i64::from(value))
    }

    pub(crate) fn bool(&mut self, value: bool) -> Value {
        self.bits(Type::BOOL, u64::from(value))
    }

    /// Returns a constant float, the same in every lane, rounded to the lane type.
    pub(crate) fn float(&mut self, ty: Type, value: f64) -> Value {
        let bits = ty.scalar().map_or(0, |scalar| float_bits(scalar, value));
        self.bits(ty, bits)
    }

    /// Returns the bits of a scalar constant, or `None` for other values.
    pub(crate) fn known(&self, value: Value) -> Option<u64> {
        match self.constants.get(&value)? {
            Const::Bits(bits) => Some(*bits),
            _ => None,
        }
    }

    /// Returns the bits of the lanes of a constant vector, or `None` for other values.
    pub(crate) fn known_lanes(&self, value: Value) -> Option<Vec<u64>> {
        match self.constants.get(&value)? {
            Const::Lanes(lanes) => Some(lanes.clone()),
            _ => None,
        }
    }

    fn known_signed(&self, value: Value) -> Option<i64> {
        let scalar = self.ty(value).scalar()?;
        Some(sign_extend(self.known(value)?, scalar.bits()))
    }

    // ---- element-wise operations ----

    pub(crate) fn un(&mut self, op: UnOp, a: Value) -> Value {
        let ty = self.ty(a);
        if let (Some(bits), Some(scalar)) = (self.known(a), ty.scalar()) {
            match op {
                UnOp::Not => return self.bits(ty, !bits),
                UnOp::Neg => return self.bits(ty, bits.wrapping_neg()),
                UnOp::FNeg => return self.bits(ty, bits ^ (1 << (scalar.bits() - 1))),
            }
        }
        self.emit(Op::Un(op, a), ty)
    }

    pub(crate) fn not(&mut self, a: Value) -> Value {
        self.un(UnOp::Not, a)
    }

    pub(crate) fn bin(&mut self, op: BinOp, a: Value, b: Value) -> Value {
        let ty = self.ty(a);
        if let (Some(x), Some(y), Some(scalar)) = (self.known(a), self.known(b), ty.scalar())
            && let Some(bits) = fold(op, x, y, scalar)
        {
            return self.bits(ty, bits);
        }
        match (op, self.known(a), self.known(b)) {
            (BinOp::Add | BinOp::Or | BinOp::Xor, Some(0), _) | (BinOp::Mul, Some(1), _) => return b,
            (BinOp::Add | BinOp::Sub | BinOp::Or | BinOp::Xor | BinOp::Shl | BinOp::LShr | BinOp::AShr, _, Some(0))
            | (BinOp::Mul | BinOp::SDiv | BinOp::UDiv, _, Some(1)) => return a,
            _ => {}
        }
        self.emit(Op::Bin(op, a, b), ty)
    }

    /// Emits an operation whose right operand is the constant `b` in every lane.
    pub(crate) fn bin_int(&mut self, op: BinOp, a: Value, b: i64) -> Value {
        let b = self.int(self.ty(a), b);
        self.bin(op, a, b)
    }

    pub(crate) fn add(&mut self, a: Value, b: Value) -> Value {
        self.bin(BinOp::Add, a, b)
    }

    pub(crate) fn sub(&mut self, a: Value, b: Value) -> Value {
        self.bin(BinOp::Sub, a, b)
    }

    pub(crate) fn mul(&mut self, a: Value, b: Value) -> Value {
        self.bin(BinOp::Mul, a, b)
    }

    pub(crate) fn and(&mut self, a: Value, b: Value) -> Value {
        if self.ty(a) == Type::BOOL {
            match (self.known(a), self.known(b)) {
                (Some(0), _) | (_, Some(1)) => return a,
                (_, Some(0)) | (Some(1), _) => return b,
                _ => {}
            }
        }
        self.bin(BinOp::And, a, b)
    }

    pub(crate) fn or(&mut self, a: Value, b: Value) -> Value {
        if self.ty(a) == Type::BOOL {
            match (self.known(a), self.known(b)) {
                (Some(1), _) | (_, Some(0)) => return a,
                (_, Some(1)) | (Some(0), _) => return b,
                _ => {}
            }
        }
        self.bin(BinOp::Or, a, b)
    }

    /// Emits a comparison. The comparison of a widened `bool` with zero is replaced by the `bool` or its complement.
    pub(crate) fn cmp(&mut self, op: CmpOp, a: Value, b: Value) -> Value {
        if let (Some(&flag), Some(0), CmpOp::Ne | CmpOp::Eq) = (self.flags.get(&a), self.known(b), op) {
            return if op == CmpOp::Ne { flag } else { self.not(flag) };
        }
        let ty = self.ty(a);
        if let (Some(x), Some(y), Some(scalar)) = (self.known(a), self.known(b), ty.scalar())
            && let Some(result) = fold_cmp(op, x, y, scalar)
        {
            return self.bool(result);
        }
        self.emit(Op::Cmp(op, a, b), ty.with_scalar(Scalar::Bool))
    }

    /// Emits a comparison with the constant `b` in every lane.
    pub(crate) fn cmp_int(&mut self, op: CmpOp, a: Value, b: i64) -> Value {
        let b = self.int(self.ty(a), b);
        self.cmp(op, a, b)
    }

    /// Emits the comparison `a != 0` of integers.
    pub(crate) fn non_zero_int(&mut self, a: Value) -> Value {
        self.cmp_int(CmpOp::Ne, a, 0)
    }

    /// Emits a conversion. Returns `a` if the types are equal.
    pub(crate) fn cast(&mut self, op: CastOp, a: Value, to: Type) -> Value {
        let from = self.ty(a);
        if from == to {
            return a;
        }
        if let (Some(bits), Some(scalar)) = (self.known(a), from.scalar()) {
            match op {
                CastOp::Trunc | CastOp::ZExt => return self.bits(to, bits),
                CastOp::SExt => return self.int(to, sign_extend(bits, scalar.bits())),
                CastOp::Bitcast if to.lanes() == 1 => return self.bits(to, bits),
                CastOp::SToF if from.lanes() == 1 && fits_exactly(sign_extend(bits, scalar.bits())) => {
                    return self.float(to, sign_extend(bits, scalar.bits()) as f64);
                }
                CastOp::UToF if from.lanes() == 1 && i64::try_from(bits).is_ok_and(fits_exactly) => return self.float(to, bits as f64),
                CastOp::FToF if (from, to) == (Type::Scalar(Scalar::F64), Type::Scalar(Scalar::F32)) => {
                    return self.float(to, f64::from_bits(bits));
                }
                _ => {}
            }
        }
        if let (Some(lanes), Some(from), Some(scalar)) = (self.known_lanes(a), from.scalar(), to.scalar()) {
            let lanes = match op {
                CastOp::Trunc | CastOp::ZExt => Some(lanes),
                CastOp::SExt => Some(lanes.iter().map(|&bits| sign_extend(bits, from.bits()).cast_unsigned()).collect()),
                _ => None,
            };
            if let Some(lanes) = lanes {
                return self.constant(to, Const::Lanes(lanes.iter().map(|bits| bits & scalar.mask()).collect()));
            }
        }
        let value = self.emit(Op::Cast(op, a), to);
        if from == Type::BOOL && matches!(op, CastOp::ZExt | CastOp::SExt) {
            self.flags.insert(value, a);
        }
        value
    }

    pub(crate) fn bitcast(&mut self, a: Value, to: Type) -> Value {
        self.cast(CastOp::Bitcast, a, to)
    }

    /// Converts an integer to an integer type of any width.
    pub(crate) fn resize(&mut self, a: Value, signed: bool, to: Type) -> Value {
        let (from, width) = (self.ty(a).scalar().map_or(0, Scalar::bits), to.scalar().map_or(0, Scalar::bits));
        let op = if from > width {
            CastOp::Trunc
        } else if signed {
            CastOp::SExt
        } else {
            CastOp::ZExt
        };
        if from == width { a } else { self.cast(op, a, to) }
    }

    pub(crate) fn select(&mut self, cond: Value, then: Value, els: Value) -> Value {
        match self.known(cond) {
            _ if then == els => then,
            Some(0) => els,
            Some(_) => then,
            None => self.emit(Op::Select(cond, then, els), self.ty(then)),
        }
    }

    pub(crate) fn math(&mut self, op: MathOp, args: &[Value]) -> Value {
        let ty = args.first().map_or(Type::Void, |&a| self.ty(a));
        self.emit(Op::Math(op, args.to_vec()), ty)
    }

    /// Emits `a * b + c`, fused if the device has a fast `fma`.
    pub(crate) fn mul_add(&mut self, a: Value, b: Value, c: Value) -> Value {
        self.math(MathOp::FMulAdd, &[a, b, c])
    }

    // ---- vectors ----

    pub(crate) fn splat(&mut self, a: Value, lanes: u8) -> Value {
        let Type::Scalar(scalar) = self.ty(a) else { return a };
        if lanes == 1 {
            return a;
        }
        let ty = Type::Vector(scalar, lanes);
        match self.known(a) {
            Some(bits) => self.bits(ty, bits),
            None => self.emit(Op::Splat(a), ty),
        }
    }

    pub(crate) fn construct(&mut self, lanes: &[Value]) -> Value {
        if let [only] = lanes {
            return *only;
        }
        let scalar = lanes.first().and_then(|&lane| self.ty(lane).scalar()).unwrap_or(Scalar::I32);
        let ty = Type::Vector(scalar, u8::try_from(lanes.len()).unwrap_or(16));
        let known: Option<Vec<u64>> = lanes.iter().map(|&lane| self.known(lane)).collect();
        match known {
            Some(known) => self.constant(ty, Const::Lanes(known)),
            None => self.emit(Op::Construct(lanes.to_vec()), ty),
        }
    }

    /// Extracts a lane of a vector. Returns `a` if it is a scalar.
    pub(crate) fn extract(&mut self, a: Value, lane: u8) -> Value {
        let Type::Vector(scalar, _) = self.ty(a) else { return a };
        let ty = Type::Scalar(scalar);
        match self.known_lanes(a).and_then(|lanes| lanes.get(usize::from(lane)).copied()) {
            Some(bits) => self.bits(ty, bits),
            None => self.emit(Op::Extract(a, lane), ty),
        }
    }

    pub(crate) fn insert(&mut self, a: Value, lane: u8, x: Value) -> Value {
        self.emit(Op::Insert(a, lane, x), self.ty(a))
    }

    /// Selects lanes of the concatenation of `a` and `b`.
    pub(crate) fn shuffle(&mut self, a: Value, b: Value, lanes: &[u8]) -> Value {
        let Some(scalar) = self.ty(a).scalar() else { return a };
        let ty = Type::of(scalar, u8::try_from(lanes.len()).unwrap_or(16));
        self.emit(Op::Shuffle(a, b, lanes.iter().map(|&lane| Some(lane)).collect()), ty)
    }

    pub(crate) fn lanes(&mut self, a: Value, lanes: &[u8]) -> Value {
        match lanes {
            [lane] => self.extract(a, *lane),
            _ if lanes.len() == usize::from(self.ty(a).lanes()) && lanes.iter().enumerate().all(|(i, &lane)| usize::from(lane) == i) => a,
            _ => self.shuffle(a, a, lanes),
        }
    }

    /// Extends a vector to `lanes` lanes. The added lanes are undefined.
    pub(crate) fn widen(&mut self, a: Value, lanes: u8) -> Value {
        let Some(scalar) = self.ty(a).scalar() else { return a };
        let have = self.ty(a).lanes();
        let picks = (0..lanes).map(|lane| (lane < have).then_some(lane)).collect();
        self.emit(Op::Shuffle(a, a, picks), Type::of(scalar, lanes))
    }

    // ---- memory ----

    pub(crate) fn var_addr(&mut self, var: Var) -> Value {
        self.shared(Shared::Var(var), Op::VarAddr(var), Type::Ptr(Space::Private))
    }

    pub(crate) fn global_addr(&mut self, global: ir::Global, space: Space) -> Value {
        self.shared(Shared::Global(global, space), Op::GlobalAddr(global), Type::Ptr(space))
    }

    /// Adds a constant number of bytes to a pointer.
    pub(crate) fn offset(&mut self, pointer: Value, bytes: i64) -> Value {
        let (base, before) = self.offsets.get(&pointer).copied().unwrap_or((pointer, 0));
        let bytes = before.wrapping_add(bytes);
        if bytes == 0 {
            return base;
        }
        let ty = if i32::try_from(bytes).is_ok() { Type::I32 } else { Type::I64 };
        let amount = self.int(ty, bytes);
        let value = self.emit(Op::PtrAdd(base, amount), self.ty(pointer));
        self.offsets.insert(value, (base, bytes));
        value
    }

    /// Returns the type in which a byte offset is computed. The offset is the product of `index` and the element size
    /// `stride`. The type is `i32` if the offset always fits. Otherwise it is `wide`, the integer type with the size of
    /// a pointer. `large_objects` is the field of [`crate::target::Language`].
    pub(crate) fn index_type(&self, pointer: Value, index: Value, signed: bool, stride: u64, (wide, large_objects): (Type, bool)) -> Type {
        let width = self.ty(index).scalar().map_or(32, Scalar::bits);
        let near = matches!(self.ty(pointer), Type::Ptr(Space::Private | Space::Local));
        let exceeds_2gib = large_objects && stride > 1 << 31 >> width.min(32);
        let small = (width < 32 || (width == 32 && signed)) && !exceeds_2gib;
        if near || small { Type::I32 } else { wide }
    }

    /// Adds a number of bytes (`i32` or `i64`, signed) to a pointer.
    pub(crate) fn ptr_add(&mut self, pointer: Value, bytes: Value) -> Value {
        match self.known_signed(bytes) {
            Some(known) => self.offset(pointer, known),
            None => self.emit(Op::PtrAdd(pointer, bytes), self.ty(pointer)),
        }
    }

    pub(crate) fn load(&mut self, ptr: Value, ty: Type, align: u32, volatile: bool) -> Value {
        self.emit(Op::Load { ptr, align, volatile }, ty)
    }

    pub(crate) fn store(&mut self, ptr: Value, value: Value, align: u32, volatile: bool) {
        self.effect(Op::Store { ptr, value, align, volatile });
    }

    /// Creates a variable without a name.
    pub(crate) fn temporary(&mut self, size: u32, align: u32) -> Var {
        self.function.new_var("", size, align.max(1))
    }

    // ---- regions ----

    pub(crate) fn nesting(&self) -> usize {
        self.open.len()
    }

    pub(crate) fn open(&mut self) {
        if self.open.len() >= MAX_NESTING {
            self.fail(format!("control flow is nested too deeply (the limit is {MAX_NESTING})"));
        }
        self.open.push(Open::default());
    }

    /// Closes the innermost region with the terminator `end`, unless the region already has a terminator.
    pub(crate) fn close(&mut self, end: Op) -> Region {
        self.effect(end);
        self.open.pop().map(|open| open.region).unwrap_or_default()
    }

    /// Closes a region of an `if` or `switch` with a `yield`.
    pub(crate) fn close_branch(&mut self) -> Region {
        self.close(Op::Yield(Vec::new()))
    }

    /// Emits an `if` without results. The code after it is dead if both regions end with a jump.
    pub(crate) fn if_else(&mut self, cond: Value, then: Region, els: Region) {
        let dead = ends_with_jump(&then) && ends_with_jump(&els);
        self.effect(Op::If { cond, then, els });
        if dead {
            self.effect(Op::Unreachable);
        }
    }

    /// Emits an `if` with an empty `else`.
    pub(crate) fn if_then(&mut self, cond: Value, then: Region) {
        self.open();
        let els = self.close_branch();
        self.if_else(cond, then, els);
    }

    /// Emits a loop without parameters and results.
    pub(crate) fn loop_(&mut self, body: Region, unroll: Option<u32>) {
        self.effect(Op::Loop { init: Vec::new(), params: Vec::new(), body, unroll });
    }
}

/// Whether a region of an `if` or `switch` ends with a terminator other than `yield`.
pub(crate) fn ends_with_jump(region: &Region) -> bool {
    region.insts.last().is_some_and(|inst| inst.op.is_terminator() && !matches!(inst.op, Op::Yield(_)))
}

/// Whether a double represents an integer exactly. Then a conversion to a float type through `f64` rounds only once.
const fn fits_exactly(value: i64) -> bool {
    value.unsigned_abs() <= 1 << 53
}

/// Returns the bits of `value` in the float type `scalar`, rounded to nearest even.
pub(crate) fn float_bits(scalar: Scalar, value: f64) -> u64 {
    match scalar {
        Scalar::F16 => u64::from(crate::half_conversion::to_half(value).to_bits()),
        #[allow(clippy::cast_possible_truncation, reason = "rounding is intended")]
        Scalar::F32 => u64::from((value as f32).to_bits()),
        _ => value.to_bits(),
    }
}

pub(crate) const fn sign_extend(bits: u64, width: u32) -> i64 {
    if width == 0 || width >= 64 {
        return bits.cast_signed();
    }
    let shift = 64 - width;
    (bits << shift).cast_signed() >> shift
}

fn fold(op: BinOp, x: u64, y: u64, scalar: Scalar) -> Option<u64> {
    if scalar.is_float() {
        return None;
    }
    let amount = u32::try_from(y & u64::from(scalar.bits() - 1)).ok()?;
    Some(match op {
        BinOp::Add => x.wrapping_add(y),
        BinOp::Sub => x.wrapping_sub(y),
        BinOp::Mul => x.wrapping_mul(y),
        BinOp::And => x & y,
        BinOp::Or => x | y,
        BinOp::Xor => x ^ y,
        BinOp::Shl => x << amount,
        BinOp::LShr => x >> amount,
        BinOp::AShr => (sign_extend(x, scalar.bits()) >> amount).cast_unsigned(),
        BinOp::UDiv => x.checked_div(y)?,
        BinOp::URem => x.checked_rem(y)?,
        _ => return None,
    })
}

fn fold_cmp(op: CmpOp, x: u64, y: u64, scalar: Scalar) -> Option<bool> {
    let (a, b) = (sign_extend(x, scalar.bits()), sign_extend(y, scalar.bits()));
    Some(match op {
        CmpOp::Eq => x == y,
        CmpOp::Ne => x != y,
        CmpOp::SLt => a < b,
        CmpOp::SLe => a <= b,
        CmpOp::SGt => a > b,
        CmpOp::SGe => a >= b,
        CmpOp::ULt => x < y,
        CmpOp::ULe => x <= y,
        CmpOp::UGt => x > y,
        CmpOp::UGe => x >= y,
        _ => return None,
    })
}
