//! Rewrites the doubles of one function as integers.
//!
//! Example: `%5: f64 = fneg %4` becomes `%5: i64 = xor %4, 0x8000000000000000`.

use rustc_hash::FxHashMap;

use super::library::{Library, Operation};
use crate::diag::Span;
use crate::ir::{AtomicOp, BinOp, Build, CastOp, CmpOp, Cursor, Function, GroupOp, Inst, MathOp, Op, Region, Scalar, Type, UnOp, Value};
use crate::passes::PassError;

const SIGN: u64 = 1 << 63;
const ONE: u64 = 1_f64.to_bits();

/// Rewrites a function.
pub(super) fn run(function: &mut Function, library: &mut Library<'_>) -> Result<(), PassError> {
    let is_double = |ty: Type| ty.scalar() == Some(Scalar::F64);
    let was_double: Vec<bool> = function.values.iter().map(|data| is_double(data.ty)).collect();
    // Values that are only moved need no change except for their type.
    for ty in function.values.iter_mut().map(|data| &mut data.ty).chain(&mut function.returns).filter(|ty| is_double(**ty)) {
        *ty = ty.with_scalar(Scalar::I64);
    }
    let mut body = std::mem::take(&mut function.body);
    let mut rewriter = Rewriter { function, library, out: Vec::new(), span: Span::NONE, was_double, aliases: FxHashMap::default() };
    rewriter.region(&mut body)?;
    function.body = body;
    Ok(())
}

struct Rewriter<'a, 'l> {
    function: &'a mut Function,
    library: &'a mut Library<'l>,
    /// The rewritten instructions of the current region.
    out: Vec<Inst>,
    span: Span,
    /// For each original value, whether it was a double.
    was_double: Vec<bool>,
    /// Replacements of results.
    aliases: FxHashMap<Value, Value>,
}

impl Build for Rewriter<'_, '_> {
    fn cursor(&mut self) -> Cursor<'_> {
        Cursor::new(self.function, &mut self.out, self.span)
    }
}

impl Rewriter<'_, '_> {
    fn is_double(&self, value: Value) -> bool {
        self.was_double.get(value.index()) == Some(&true)
    }

    fn unsupported(&self, what: &str) -> PassError {
        PassError::Unsupported { function: self.function.name.clone(), what: format!("{what} of doubles on a device without doubles") }
    }

    fn region(&mut self, region: &mut Region) -> Result<(), PassError> {
        let outer = std::mem::take(&mut self.out);
        for mut inst in std::mem::take(&mut region.insts) {
            self.span = inst.span;
            // This tests the original operands. After their replacement, it is unknown whether a 64-bit integer
            // represents a double.
            let needs_rewrite = self.needs_rewrite(&inst);
            if let Op::Printf { args, .. } = &mut inst.op {
                self.print(args);
            }
            inst.op.replace_operands(&self.aliases);
            for nested in inst.op.regions_mut() {
                self.region(nested)?;
            }
            self.span = inst.span;
            if !needs_rewrite {
                self.out.push(inst);
                continue;
            }
            let result = inst.results.first().copied();
            match (self.replacement(&mut inst)?, result) {
                (Done::Value(new), Some(result)) => drop(self.aliases.insert(result, new)),
                (Done::Value(_), None) => {}
                (Done::InPlace, _) => self.out.push(inst),
            }
        }
        region.insts = std::mem::replace(&mut self.out, outer);
        Ok(())
    }

    /// Whether an operation interprets or creates doubles. False for operations that only move doubles.
    fn needs_rewrite(&self, inst: &Inst) -> bool {
        let result = inst.results.first().is_some_and(|&result| self.is_double(result));
        match &inst.op {
            Op::Un(UnOp::FNeg, a) | Op::Bin(_, a, _) | Op::Cmp(_, a, _) => self.is_double(*a),
            Op::Cast(_, a) => result || self.is_double(*a),
            Op::Math(_, args) => result || args.first().is_some_and(|&arg| self.is_double(arg)),
            Op::Atomic { ty: Scalar::F64, .. } | Op::CmpXchg { ty: Scalar::F64, .. } => true,
            Op::Group { op, .. } => result && !only_moves_values(*op),
            _ => false,
        }
    }

    fn replacement(&mut self, inst: &mut Inst) -> Result<Done, PassError> {
        let ty = inst.results.first().map_or(Type::Void, |&result| self.function.ty(result));
        let to_double = inst.results.first().is_some_and(|&result| self.is_double(result));
        Ok(Done::Value(match &mut inst.op {
            Op::Un(_, a) => self.bin_bits(BinOp::Xor, *a, SIGN),
            Op::Bin(op, a, b) => self.binary(*op, *a, *b)?,
            Op::Cmp(op, a, b) => self.compared(*op, *a, *b)?,
            Op::Cast(op, a) => match self.cast_value(*op, *a, ty, to_double)? {
                Some(value) => value,
                None => return Ok(Done::InPlace),
            },
            Op::Math(op, args) => self.math_value(*op, args)?,
            Op::Atomic { op: AtomicOp::FAdd, ptr, value: Some(value), .. } => self.exchange_loop(Operation::Add, *ptr, *value)?,
            Op::Atomic { op: AtomicOp::FMin, ptr, value: Some(value), .. } => self.exchange_loop(Operation::Min, *ptr, *value)?,
            Op::Atomic { op: AtomicOp::FMax, ptr, value: Some(value), .. } => self.exchange_loop(Operation::Max, *ptr, *value)?,
            Op::Atomic { ty, .. } | Op::CmpXchg { ty, .. } => {
                *ty = Scalar::I64;
                return Ok(Done::InPlace);
            }
            _ => return Err(self.unsupported("a subgroup operation")),
        }))
    }

    /// Converts scalar double arguments of printf to vectors of two words. The host recognises them by the conversion
    /// in the format (`printf::Argument`), and prints them like doubles.
    fn print(&mut self, args: &mut [Value]) {
        for arg in args {
            if self.is_double(*arg) && self.function.ty(*arg) == Type::I64 {
                let bits = self.aliases.get(arg).copied().unwrap_or(*arg);
                *arg = self.push(Type::Vector(Scalar::I32, 2), Op::Cast(CastOp::Bitcast, bits));
            }
        }
    }

    /// Calls a library function for each lane.
    fn call_per_lane(&mut self, operation: Operation, args: &[Value]) -> Result<Value, PassError> {
        let func = self.library.number(operation, &self.function.name)?;
        let one = Type::Scalar(operation.result());
        let lanes = args.first().map_or(1, |&arg| self.function.ty(arg).lanes());
        if lanes == 1 {
            return Ok(self.push(one, Op::Call(func, args.to_vec())));
        }
        let results = (0..lanes)
            .map(|lane| {
                let args = args.iter().map(|&arg| self.extract(arg, lane)).collect();
                self.push(one, Op::Call(func, args))
            })
            .collect();
        Ok(self.push(Type::of(operation.result(), lanes), Op::Construct(results)))
    }

    fn binary(&mut self, op: BinOp, a: Value, b: Value) -> Result<Value, PassError> {
        let operation = match op {
            BinOp::FAdd => Operation::Add,
            BinOp::FSub => Operation::Subtract,
            BinOp::FMul => Operation::Multiply,
            BinOp::FDiv => Operation::Divide,
            BinOp::FMin => Operation::Min,
            BinOp::FMax => Operation::Max,
            _ => return Err(self.unsupported("an integer operation")),
        };
        self.call_per_lane(operation, &[a, b])
    }

    fn compared(&mut self, op: CmpOp, a: Value, b: Value) -> Result<Value, PassError> {
        let (operation, args, is) = match op {
            CmpOp::FEq => (Operation::Equal, [a, b], CmpOp::Ne),
            CmpOp::FNe => (Operation::Equal, [a, b], CmpOp::Eq),
            CmpOp::FLt => (Operation::Less, [a, b], CmpOp::Ne),
            CmpOp::FLe => (Operation::LessEqual, [a, b], CmpOp::Ne),
            CmpOp::FGt => (Operation::Less, [b, a], CmpOp::Ne),
            CmpOp::FGe => (Operation::LessEqual, [b, a], CmpOp::Ne),
            _ => return Err(self.unsupported("an integer comparison")),
        };
        let truth = self.call_per_lane(operation, &args)?;
        Ok(self.cmp_bits(is, truth, 0))
    }

    /// Converts a value to type `ty`. Returns `None` if the instruction need not change.
    fn cast_value(&mut self, op: CastOp, a: Value, ty: Type, to_double: bool) -> Result<Option<Value>, PassError> {
        let from = self.function.ty(a);
        let scalar = ty.scalar().unwrap_or(Scalar::I64);
        Ok(Some(match op {
            CastOp::Bitcast if from == ty => a,
            CastOp::Bitcast => return Ok(None),
            CastOp::FToF if to_double => {
                let single = self.cast(CastOp::FToF, a, Scalar::F32);
                let bits = self.cast(CastOp::Bitcast, single, Scalar::I32);
                self.call_per_lane(Operation::OfFloat, &[bits])?
            }
            CastOp::FToF => {
                let operation = if scalar == Scalar::F16 { Operation::ToHalf } else { Operation::ToFloat };
                let bits = self.call_per_lane(operation, &[a])?;
                self.cast(CastOp::Bitcast, bits, scalar)
            }
            CastOp::FToS | CastOp::FToU => {
                let whole = self.call_per_lane(Operation::ToInteger, &[a])?;
                self.cast(CastOp::Trunc, whole, scalar)
            }
            CastOp::SToF | CastOp::UToF => {
                let signed = op == CastOp::SToF;
                let extend = if signed { CastOp::SExt } else { CastOp::ZExt };
                let wide = from.scalar() == Some(Scalar::I64);
                let integer = if wide { a } else { self.cast(extend, a, Scalar::I32) };
                let operation = match (wide, signed) {
                    (true, true) => Operation::OfLong,
                    (true, false) => Operation::OfUlong,
                    (false, true) => Operation::OfInt,
                    (false, false) => Operation::OfUint,
                };
                self.call_per_lane(operation, &[integer])?
            }
            _ => return Err(self.unsupported("a conversion")),
        }))
    }

    fn math_value(&mut self, op: MathOp, args: &[Value]) -> Result<Value, PassError> {
        let one = |rewriter: &mut Self, like: Value| {
            let ty = rewriter.function.ty(like);
            rewriter.bits(ty, ONE)
        };
        match (op, args) {
            (MathOp::FAbs, &[x]) => Ok(self.bin_bits(BinOp::And, x, !SIGN)),
            (MathOp::Floor, _) => self.call_per_lane(Operation::Floor, args),
            (MathOp::Ceil, _) => self.call_per_lane(Operation::Ceil, args),
            (MathOp::FTrunc, _) => self.call_per_lane(Operation::Trunc, args),
            (MathOp::Rint, _) => self.call_per_lane(Operation::Rint, args),
            (MathOp::Sqrt, _) => self.call_per_lane(Operation::Sqrt, args),
            (MathOp::RSqrt, &[x]) => {
                let root = self.call_per_lane(Operation::Sqrt, args)?;
                let one = one(self, x);
                self.call_per_lane(Operation::Divide, &[one, root])
            }
            // The library's `fma` is faster than its multiplication followed by its addition.
            (MathOp::Fma | MathOp::FMulAdd, _) => self.call_per_lane(Operation::Fma, args),
            (MathOp::NativeRecip, &[x]) => {
                let one = one(self, x);
                self.call_per_lane(Operation::Divide, &[one, x])
            }
            (MathOp::NativeDivide, _) => self.call_per_lane(Operation::Divide, args),
            _ => Err(self.unsupported("a native function")),
        }
    }

    /// Emits a compare-and-exchange loop that replaces a double in memory with `operation` of it and `value`. Returns
    /// the old double.
    fn exchange_loop(&mut self, operation: Operation, ptr: Value, value: Value) -> Result<Value, PassError> {
        let ty = Scalar::I64;
        let first = self.push(Type::I64, Op::Atomic { op: AtomicOp::Load, ptr, value: None, ty });
        let outer = std::mem::take(&mut self.out);
        let seen = self.function.new_value(Type::I64);
        let desired = self.call_per_lane(operation, &[seen, value])?;
        let found = self.push(Type::I64, Op::CmpXchg { ptr, expected: seen, desired, ty });
        let done = self.cmp(CmpOp::Eq, found, seen);
        let region = |op| Region { insts: vec![Inst::effect(op, self.span)] };
        let (then, els) = (region(Op::Break(vec![seen])), region(Op::Yield(Vec::new())));
        self.effect(Op::If { cond: done, then, els });
        self.effect(Op::Continue(vec![found]));
        let body = Region { insts: std::mem::replace(&mut self.out, outer) };
        Ok(self.push(Type::I64, Op::Loop { init: vec![first], params: vec![seen], body, unroll: None }))
    }
}

/// How an instruction is rewritten.
enum Done {
    /// This value replaces the result of the instruction.
    Value(Value),
    /// The instruction remains, possibly modified.
    InPlace,
}

/// Whether a group operation only moves values.
const fn only_moves_values(op: GroupOp) -> bool {
    matches!(
        op,
        GroupOp::Broadcast | GroupOp::BroadcastFirst | GroupOp::Shuffle | GroupOp::ShuffleXor | GroupOp::ShuffleUp | GroupOp::ShuffleDown
    )
}
