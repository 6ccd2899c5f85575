//! Lowers operations that naga or some devices lack. The result uses simpler operations.
//!
//! Runs after [`SHADER`](super::SHADER). Example for a 16-bit `mul_hi`:
//!
//! ```text
//! %2 = umulhi %0, %1          %3 = zext %0 : i32
//!                             %4 = zext %1 : i32
//!                             %5 = mul %3, %4
//!                             %6 = lshr %5, 16
//!                             %7 = trunc %6 : i16
//! ```
//! Emission supports these operations:
//! * basic arithmetic of every width
//! * `clz`, `ctz`, `popcount` and `reverse_bits` of 32 bits
//! * `fma`, if the device has a fused `fma`
//! * integer atomics, but of 16 bits only loads, exchange, `or` and compare-and-exchange
//! * atomic float addition in global memory, if the device has it

mod atomic;
mod bits;
mod divide;
mod float;
mod float_division;
mod fma;
mod integer;
mod zeros;

use super::pass::Pass;
use crate::analysis::definitions::Constants;
use crate::diag::Span;
use crate::ir::visit::replace_uses;
use crate::ir::{BinOp, Build, CastOp, Cursor, Func, Function, Inst, MathOp, Module, Op, Region, Scalar, Type, Value};
use crate::target::Target;
use rustc_hash::{FxHashMap, FxHashSet};

pub const PASS: Pass = Pass::module("legalize", |module, cx| {
    run(module, cx.target);
    Ok(true)
});

/// Rewrites every function of a module.
pub fn run(module: &mut Module, target: &Target) {
    let fma_helpers = fma_helpers(module, target);
    for function in &mut module.functions {
        let mut body = std::mem::take(&mut function.body);
        let known = Constants::of(&body);
        let shared_quotients = divide::shared_quotients(&body, &known);
        let mut lower = Lower {
            function,
            target,
            out: Vec::new(),
            span: Span::default(),
            aliases: FxHashMap::default(),
            fma_helpers,
            known,
            shared_quotients,
            quotients: FxHashMap::default(),
            inverted: FxHashSet::default(),
            reciprocals: FxHashMap::default(),
        };
        lower.region(&mut body);
        let aliases = lower.aliases;
        if !aliases.is_empty() {
            replace_uses(&mut body.insts, &aliases);
        }
        function.body = body;
        if target.shaders.defects.float_zeros && target.shaders.exact {
            zeros::run(function);
        }
    }
}

/// The functions of the module that compute `fma` in the same type. `None` if the module does not need them.
#[derive(Clone, Copy, Default)]
struct FmaHelpers {
    float: Option<Func>,
    double: Option<Func>,
}

/// Adds the helpers for `fma` that a module needs.
fn fma_helpers(module: &mut Module, target: &Target) -> FmaHelpers {
    let mut found = FmaHelpers::default();
    if target.language.fused_fma {
        return found;
    }
    let wide_enough = target.shaders.fp64 && target.shaders.int64;
    for (slot, scalar) in [(&mut found.float, Scalar::F32), (&mut found.double, Scalar::F64)] {
        let mut used = false;
        for function in &module.functions {
            function.body.walk(&mut |inst| {
                used |= matches!(&inst.op, Op::Math(MathOp::Fma, args)
                    if args.first().is_some_and(|&value| function.ty(value).scalar() == Some(scalar)));
            });
        }
        if used
            && !(scalar == Scalar::F32 && wide_enough)
            && let Some(function) = fma::function(scalar, target)
        {
            *slot = Some(Func(module.functions.len() as u32));
            module.functions.push(function);
        }
    }
    found
}

struct Lower<'a> {
    function: &'a mut Function,
    target: &'a Target,
    /// Instructions of the current region after rewriting.
    out: Vec<Inst>,
    /// Span of the current instruction.
    span: Span,
    /// Replacements for the results of rewritten instructions.
    aliases: FxHashMap<Value, Value>,
    fma_helpers: FmaHelpers,
    /// The bits of constants. A vector is only included if its lanes are equal.
    known: Constants,
    /// Dividends and divisors for which both quotient and remainder are needed.
    shared_quotients: FxHashSet<(Value, Value)>,
    /// Quotients that dominate the current instruction, by signedness and operands.
    quotients: FxHashMap<(bool, Value, Value), Value>,
    /// Square roots of doubles whose reciprocals their regions compute.
    inverted: FxHashSet<Value>,
    /// The reciprocals of these roots that were emitted.
    reciprocals: FxHashMap<Value, Value>,
}

impl Lower<'_> {
    fn region(&mut self, region: &mut Region) {
        if !region.insts.iter().any(|inst| self.may_lower(inst)) {
            return;
        }
        self.find_reciprocals(region);
        let outer = std::mem::take(&mut self.out);
        // Quotients in this region do not dominate the code after it.
        let outer_quotients = self.quotients.clone();
        for mut inst in std::mem::take(&mut region.insts) {
            for nested in inst.op.regions_mut() {
                self.region(nested);
            }
            self.span = inst.span;
            match self.replacement(&inst) {
                Some(new) => {
                    if let (Some(&old), Some(new)) = (inst.results.first(), new) {
                        self.aliases.insert(old, new);
                    }
                }
                None => self.out.push(inst),
            }
        }
        region.insts = std::mem::replace(&mut self.out, outer);
        self.quotients = outer_quotients;
    }

    /// Whether an instruction, or an instruction in its regions, may be lowered.
    fn may_lower(&self, inst: &Inst) -> bool {
        match &inst.op {
            Op::Bin(BinOp::UDiv | BinOp::URem | BinOp::SDiv | BinOp::SRem, a, b) => {
                let wide = self.ty(*b).scalar() == Some(Scalar::I64);
                wide && (self.target.shaders.defects.signed_quotients || self.known.bits(*b).is_some())
                    || self.shared_quotients.contains(&(*a, *b))
            }
            Op::Bin(BinOp::FDiv, ..) => {
                let costs = self.target.shaders.costs;
                costs.approximate_division || costs.fused_double_root
            }
            Op::Bin(op, ..) => is_derived(*op),
            Op::Math(MathOp::Sqrt, args) => args.first().is_some_and(|&x| self.has_fused_root(x)),
            Op::Math(MathOp::FTrunc | MathOp::Rint, args) => args.first().is_some_and(|&x| self.must_round_double(x)),
            Op::Math(op, _) => {
                matches!(
                    op,
                    MathOp::Fma | MathOp::RSqrt | MathOp::SAbs | MathOp::Clz | MathOp::Ctz | MathOp::Popcount | MathOp::ReverseBits
                )
            }
            Op::Cast(CastOp::FToF, x) => self.is_double_to_half(inst, *x),
            Op::Atomic { .. } | Op::CmpXchg { .. } => true,
            op => op.regions().into_iter().any(|region| region.insts.iter().any(|inst| self.may_lower(inst))),
        }
    }

    fn is_double_to_half(&self, inst: &Inst, x: Value) -> bool {
        let result = inst.results.first().and_then(|&result| self.ty(result).scalar());
        (self.ty(x).scalar(), result) == (Some(Scalar::F64), Some(Scalar::F16))
    }

    /// Lowers an instruction. Returns the value that replaces the result, or `Some(None)` if the instruction has no
    /// result. Returns `None` if it is not lowered.
    fn replacement(&mut self, inst: &Inst) -> Option<Option<Value>> {
        match &inst.op {
            Op::Bin(op @ (BinOp::UDiv | BinOp::URem | BinOp::SDiv | BinOp::SRem), a, b) => {
                if self.shared_quotients.contains(&(*a, *b)) {
                    Some(Some(self.divide_once(*op, *a, *b)))
                } else {
                    self.divide(*op, *a, *b).map(Some)
                }
            }
            Op::Bin(BinOp::FDiv, a, b) => self.float_division(*a, *b).map(Some),
            Op::Math(MathOp::Sqrt, args) => {
                let x = *args.first()?;
                let root = *inst.results.first()?;
                self.has_fused_root(x).then(|| Some(self.double_root(root, x)))
            }
            Op::Bin(op, a, b) if is_derived(*op) => self.integer(*op, *a, *b).map(Some),
            Op::Math(MathOp::Fma, args) => match args[..] {
                [a, b, c] => self.fma(a, b, c).map(Some),
                _ => None,
            },
            Op::Math(op @ (MathOp::FTrunc | MathOp::Rint), args) => {
                let x = *args.first()?;
                self.must_round_double(x).then(|| Some(self.round_double(*op, x)))
            }
            Op::Math(MathOp::RSqrt, args) => self.reciprocal_sqrt(*args.first()?).map(Some),
            Op::Cast(CastOp::FToF, x) if self.is_double_to_half(inst, *x) => Some(Some(self.double_to_half(*x))),
            Op::Math(op, args) => self.bit_function(*op, *args.first()?).map(Some),
            Op::Atomic { op, ptr, value, ty } => self.atomic(*op, *ptr, *value, *ty),
            Op::CmpXchg { ptr, expected, desired, ty } => self.compare_exchange(*ptr, *expected, *desired, *ty).map(Some),
            _ => None,
        }
    }

    fn ty(&self, value: Value) -> Type {
        self.function.ty(value)
    }
}

impl Build for Lower<'_> {
    fn cursor(&mut self) -> Cursor<'_> {
        Cursor::new(self.function, &mut self.out, self.span)
    }

    fn bits(&mut self, ty: Type, bits: u64) -> Value {
        let value = self.cursor().bits(ty, bits);
        self.known.add(value, bits & ty.scalar().map_or(u64::MAX, Scalar::mask));
        value
    }
}

/// Whether emission does not support an integer operation.
const fn is_derived(op: BinOp) -> bool {
    matches!(op, BinOp::SMulHi | BinOp::UMulHi | BinOp::SAddSat | BinOp::UAddSat | BinOp::SSubSat | BinOp::USubSat | BinOp::Rotate)
}
