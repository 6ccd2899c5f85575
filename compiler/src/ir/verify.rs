//! The IR verifier. An error is a bug in the compiler, not in the source.
//!
//! 1. A value is defined once, before its uses, in the region of the use or an enclosing one.
//! 2. Every region ends in its only terminator. `yield` occurs only in `if` and `switch`, `break` and `continue` only
//!    in loops.
//! 3. `yield`, `break`, `continue`, `return`, calls and loop operands match their targets in number and type.
//! 4. Operand and result types fit the operation.
//! 5. After `passes::infer_alignment` no load or store of a kernel assumes more alignment than its base object has.
//! 6. Entities exist. Alignments are powers of two. The nesting is below [`super::MAX_NESTING`].

use super::image::ImageCall;
use super::write::inst_to_string;
use super::{
    AtomicOp, BinOp, CastOp, CmpOp, Const, Func, Function, GroupOp, Inst, KernelParam, MathOp, Module, Op, Region, Scalar, Space, Type,
    Value,
};

/// The violation of a rule.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("{function}: {message}\n    {inst}")]
pub struct VerifyError {
    /// The name of the function.
    pub function: String,
    pub message: String,
    /// The instruction in text form.
    pub inst: String,
}

/// Verifies a module.
///
/// # Errors
///
/// Fails with all violations in order.
pub fn verify(module: &Module) -> Result<(), Vec<VerifyError>> {
    let mut errors = Vec::new();
    for function in &module.functions {
        Verifier::run(module, function, &mut errors);
    }
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// Verifies one function of a module.
///
/// # Errors
/// See [`verify`].
pub fn verify_function(module: &Module, function: &Function) -> Result<(), Vec<VerifyError>> {
    let mut errors = Vec::new();
    Verifier::run(module, function, &mut errors);
    if errors.is_empty() { Ok(()) } else { Err(errors) }
}

/// The values that receive the operands of the terminators of a region. `None` if the terminator is not valid in the
/// region.
#[derive(Clone, Copy)]
struct Context<'a> {
    yields: Option<&'a [Value]>,
    breaks: Option<&'a [Value]>,
    continues: Option<&'a [Value]>,
    depth: usize,
}

struct Verifier<'a> {
    module: &'a Module,
    function: &'a Function,
    /// Whether each value is defined. `scope` contains whether it is visible at this point.
    defined: Vec<bool>,
    scope: Vec<bool>,
    /// Maximum alignment in bytes that an access through each pointer may assume. `u32::MAX` if its object is unknown.
    root_align: Vec<u32>,
    errors: &'a mut Vec<VerifyError>,
}

type Check = Result<(), String>;

/// Formats a list of types for messages.
fn listed(types: &[Type]) -> String {
    if types.is_empty() { "nothing".to_owned() } else { types.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ") }
}

impl<'a> Verifier<'a> {
    fn run(module: &'a Module, function: &'a Function, errors: &'a mut Vec<VerifyError>) {
        let count = function.values.len();
        let mut this = Verifier {
            module,
            function,
            defined: vec![false; count],
            scope: vec![false; count],
            root_align: vec![u32::MAX; count],
            errors,
        };
        if let Err(message) = this.signature() {
            this.errors.push(VerifyError { function: function.name.clone(), message, inst: "signature".to_owned() });
        }
        let context = Context { yields: None, breaks: None, continues: None, depth: 0 };
        this.region(&function.body, context);
    }

    fn signature(&mut self) -> Check {
        let function = self.function;
        for &param in &function.params {
            self.define(param)?;
        }
        for var in &function.vars {
            require(var.align.is_power_of_two(), || format!("variable `{}` has alignment {}", var.name, var.align))?;
        }
        let Some(kernel) = &function.kernel else { return Ok(()) };
        require(function.returns.is_empty(), || "a kernel returns a value".to_owned())?;
        require(kernel.params.len() == function.params.len(), || "kernel parameters disagree in number".to_owned())?;
        for (passing, &param) in kernel.params.iter().zip(&function.params) {
            let ty = function.ty(param);
            let fits = match passing {
                KernelParam::Value => ty.scalar().is_some_and(|s| s != Scalar::Bool),
                KernelParam::Bytes { .. } => ty == Type::Ptr(Space::Constant),
                KernelParam::Buffer { space, .. } => ty == Type::Ptr(*space) && matches!(space, Space::Global | Space::Constant),
                KernelParam::Local { .. } => ty == Type::Ptr(Space::Local),
                KernelParam::Sampler => ty == Type::I32,
                KernelParam::Image => ty == Type::Ptr(Space::Global),
            };
            require(fits, || format!("parameter {param} of type {ty} is not passed as {passing:?}"))?;
            if kernel.aligned {
                self.root_align[param.index()] = passing.align();
            }
        }
        Ok(())
    }

    fn define(&mut self, value: Value) -> Check {
        let count = self.defined.len();
        let defined = self.defined.get_mut(value.index()).ok_or_else(|| format!("{value} is not among the {count} values"))?;
        require(!*defined, || format!("{value} is defined twice"))?;
        *defined = true;
        self.scope[value.index()] = true;
        Ok(())
    }

    fn uses(&self, value: Value) -> Result<Type, String> {
        require(self.scope.get(value.index()).copied().unwrap_or(false), || format!("{value} is not defined here"))?;
        Ok(self.function.ty(value))
    }

    fn region(&mut self, region: &Region, context: Context<'_>) -> bool {
        let mut entered = Vec::new();
        let last = region.insts.len().wrapping_sub(1);
        for (i, inst) in region.insts.iter().enumerate() {
            let mut outcome = self.inst(inst, context);
            if outcome.is_ok() && inst.op.is_terminator() != (i == last) {
                outcome = Err(if i == last {
                    "a region ends without terminator".to_owned()
                } else {
                    "an instruction follows a terminator".to_owned()
                });
            }
            for &result in &inst.results {
                let defined = self.define(result);
                outcome = outcome.and(defined);
                entered.push(result);
            }
            if let Err(message) = outcome {
                let inst = inst_to_string(self.function, inst);
                let inst = inst.lines().next().unwrap_or_default().to_owned();
                self.errors.push(VerifyError { function: self.function.name.clone(), message, inst });
            }
        }
        if region.insts.is_empty() {
            let message = "an empty region".to_owned();
            self.errors.push(VerifyError { function: self.function.name.clone(), message, inst: String::new() });
        }
        for value in entered {
            if let Some(scope) = self.scope.get_mut(value.index()) {
                *scope = false;
            }
        }
        true
    }

    fn passes(&self, what: &str, values: &[Value], to: &[Value]) -> Check {
        require(values.len() == to.len(), || format!("{what} passes {} values, expected {}", values.len(), to.len()))?;
        for (&value, &target) in values.iter().zip(to) {
            let (have, want) = (self.uses(value)?, self.function.ty(target));
            require(have == want, || format!("{what} passes {value} of type {have} to {target} of type {want}"))?;
        }
        Ok(())
    }

    fn inst(&mut self, inst: &Inst, context: Context<'_>) -> Check {
        require(context.depth < super::MAX_NESTING, || "regions are nested too deeply".to_owned())?;
        let nested = Context { depth: context.depth + 1, ..context };
        match &inst.op {
            Op::If { cond, then, els } => {
                self.is(*cond, Type::BOOL)?;
                let nested = Context { yields: Some(&inst.results), ..nested };
                self.region(then, nested);
                self.region(els, nested);
                Ok(())
            }
            Op::Switch { selector, cases, default } => {
                let ty = self.uses(*selector)?;
                require(matches!(ty, Type::Scalar(s) if s.is_int()), || format!("a switch over {ty}"))?;
                let mut seen: Vec<u64> = cases.iter().flat_map(|(values, _)| values.iter().copied()).collect();
                let count = seen.len();
                seen.sort_unstable();
                seen.dedup();
                require(seen.len() == count, || "a case occurs twice".to_owned())?;
                let nested = Context { yields: Some(&inst.results), ..nested };
                for (_, region) in cases {
                    self.region(region, nested);
                }
                self.region(default, nested);
                Ok(())
            }
            Op::Loop { init, params, body, .. } => {
                for &param in params {
                    self.define(param)?;
                }
                let checked = self.passes("the loop's operand", init, params);
                let nested = Context { yields: None, breaks: Some(&inst.results), continues: Some(params), ..nested };
                self.region(body, nested);
                for &param in params {
                    self.scope[param.index()] = false;
                }
                checked
            }
            Op::Yield(values) => self.passes("yield", values, context.yields.ok_or("yield outside of if and switch")?),
            Op::Break(values) => self.passes("break", values, context.breaks.ok_or("break outside of a loop")?),
            Op::Continue(values) => self.passes("continue", values, context.continues.ok_or("continue outside of a loop")?),
            Op::Return(values) => {
                let types = values.iter().map(|&value| self.uses(value)).collect::<Result<Vec<_>, _>>()?;
                let returns = &self.function.returns;
                require(types == *returns, || format!("return of {} in a function that returns {}", listed(&types), listed(returns)))
            }
            Op::Call(func, args) => {
                let returns = self.call(*func, args)?;
                let types: Vec<Type> =
                    inst.results.iter().map(|result| self.function.values.get(result.index()).map_or(Type::Void, |v| v.ty)).collect();
                require(types == *returns, || format!("expected results {}, got {}", listed(returns), listed(&types)))
            }
            Op::Unreachable => Ok(()),
            op => {
                self.alignment(op, inst)?;
                let ty = self.result_type(op, inst)?;
                match (ty, inst.results.as_slice()) {
                    (None, []) => Ok(()),
                    (Some(want), &[result]) => {
                        let have = self.function.values.get(result.index()).map_or(Type::Void, |v| v.ty);
                        require(have == want, || format!("the result has type {have}, not {want}"))
                    }
                    (want, results) => {
                        Err(format!("{} results where {} is defined", results.len(), if want.is_some() { "one" } else { "none" }))
                    }
                }
            }
        }
    }

    /// Rule 5: compares the alignment of an access with that of its object, and records the objects of new pointers.
    fn alignment(&mut self, op: &Op, inst: &Inst) -> Check {
        if !self.function.kernel.as_ref().is_some_and(|kernel| kernel.aligned) {
            return Ok(());
        }
        let limit = match op {
            Op::VarAddr(var) => self.function.vars.get(var.index()).map(|var| var.align),
            Op::GlobalAddr(global) => self.module.globals.get(global.index()).map(super::GlobalVar::start_align),
            Op::PtrAdd(base, _) => self.root_align.get(base.index()).copied(),
            Op::Load { ptr, align, .. } | Op::Store { ptr, align, .. } => {
                let limit = self.root_align.get(ptr.index()).copied().unwrap_or(u32::MAX);
                require(*align <= limit, || format!("the access claims an alignment of {align} bytes; its object has {limit}"))?;
                None
            }
            _ => None,
        };
        if let (Some(limit), Some(result)) = (limit, inst.results.first())
            && let Some(root_align) = self.root_align.get_mut(result.index())
        {
            *root_align = limit;
        }
        Ok(())
    }

    fn is(&self, value: Value, want: Type) -> Check {
        let have = self.uses(value)?;
        require(have == want, || format!("{value} has type {have}, not {want}"))
    }

    fn same(&self, a: Value, b: Value) -> Result<Type, String> {
        let (ta, tb) = (self.uses(a)?, self.uses(b)?);
        require(ta == tb, || format!("operands of types {ta} and {tb}"))?;
        Ok(ta)
    }

    fn pointer(&self, value: Value) -> Result<Space, String> {
        match self.uses(value)? {
            Type::Ptr(space) => Ok(space),
            ty => Err(format!("{value} of type {ty} is not a pointer")),
        }
    }

    fn int(&self, value: Value) -> Result<Type, String> {
        let ty = self.uses(value)?;
        require(ty.scalar().is_some_and(Scalar::is_int), || format!("{value} of type {ty} is not an integer"))?;
        Ok(ty)
    }

    fn float(&self, value: Value) -> Result<Type, String> {
        let ty = self.uses(value)?;
        require(ty.scalar().is_some_and(Scalar::is_float), || format!("{value} of type {ty} is not a float"))?;
        Ok(ty)
    }

    fn vector(&self, value: Value) -> Result<(Scalar, u8), String> {
        match self.uses(value)? {
            Type::Vector(s, n) => Ok((s, n)),
            ty => Err(format!("{value} of type {ty} is not a vector")),
        }
    }

    /// Returns the type of an operation's result. If the operation permits several types, returns the declared type.
    fn result_type(&self, op: &Op, inst: &Inst) -> Result<Option<Type>, String> {
        let declared = inst.results.first().and_then(|r| self.function.values.get(r.index())).map_or(Type::Void, |v| v.ty);
        Ok(Some(match op {
            Op::Const(c) => {
                let fits = match c {
                    Const::Bits(bits) => matches!(declared, Type::Scalar(s) if bits & !s.mask() == 0),
                    Const::Lanes(lanes) => {
                        matches!(declared, Type::Vector(s, n) if lanes.len() == usize::from(n) && lanes.iter().all(|b| b & !s.mask() == 0))
                    }
                    Const::Null => matches!(declared, Type::Ptr(_)),
                    Const::Undef => declared != Type::Void,
                };
                require(fits, || format!("no constant of type {declared}"))?;
                declared
            }
            Op::Un(op, a) => {
                use super::UnOp::{FNeg, Neg, Not};
                let ty = self.uses(*a)?;
                let scalar = ty.scalar().ok_or_else(|| format!("{} of {ty}", op.name()))?;
                let fits = match op {
                    Not => !scalar.is_float(),
                    Neg => scalar.is_int(),
                    FNeg => scalar.is_float(),
                };
                require(fits, || format!("{} of {ty}", op.name()))?;
                ty
            }
            Op::Bin(op, a, b) => {
                let ty = self.same(*a, *b)?;
                let scalar = ty.scalar().ok_or_else(|| format!("{} of {ty}", op.name()))?;
                let fits = match op {
                    BinOp::FAdd | BinOp::FSub | BinOp::FMul | BinOp::FDiv | BinOp::FMin | BinOp::FMax => scalar.is_float(),
                    BinOp::And | BinOp::Or | BinOp::Xor => !scalar.is_float(),
                    _ => scalar.is_int(),
                };
                require(fits, || format!("{} of {ty}", op.name()))?;
                ty
            }
            Op::Cmp(op, a, b) => {
                let ty = self.same(*a, *b)?;
                let float = matches!(op, CmpOp::FEq | CmpOp::FNe | CmpOp::FLt | CmpOp::FLe | CmpOp::FGt | CmpOp::FGe);
                let fits = match ty {
                    Type::Ptr(_) => !float,
                    Type::Void => false,
                    Type::Scalar(s) | Type::Vector(s, _) => {
                        s.is_float() == float && (s != Scalar::Bool || matches!(op, CmpOp::Eq | CmpOp::Ne))
                    }
                };
                require(fits, || format!("{} of {ty}", op.name()))?;
                ty.with_scalar(Scalar::Bool)
            }
            Op::Cast(op, a) => {
                self.cast(*op, self.uses(*a)?, declared)?;
                declared
            }
            Op::Select(c, a, b) => {
                let ty = self.same(*a, *b)?;
                let cond = self.uses(*c)?;
                let fits = cond == Type::BOOL || (ty.lanes() > 1 && cond == ty.with_scalar(Scalar::Bool));
                require(fits, || format!("select of {ty} by {cond}"))?;
                ty
            }
            Op::Math(op, args) => self.math(*op, args)?,
            Op::All(a) | Op::Any(a) => {
                let ty = self.uses(*a)?;
                require(ty.scalar() == Some(Scalar::Bool), || format!("expected bool, got {ty}"))?;
                Type::BOOL
            }
            Op::Construct(lanes) => {
                let first = lanes.first().ok_or("construct without lanes")?;
                let Type::Scalar(scalar) = self.uses(*first)? else { return Err("construct of non-scalar operands".to_owned()) };
                for lane in lanes {
                    self.is(*lane, Type::Scalar(scalar))?;
                }
                require(matches!(lanes.len(), 2 | 3 | 4 | 8 | 16), || format!("construct of {} lanes", lanes.len()))?;
                Type::Vector(scalar, lanes.len() as u8)
            }
            Op::Splat(a) => {
                let ty = self.uses(*a)?;
                let fits = matches!((ty, declared), (Type::Scalar(s), Type::Vector(t, _)) if s == t);
                require(fits, || format!("splat of {ty} to {declared}"))?;
                declared
            }
            Op::Extract(a, lane) => {
                let (scalar, lanes) = self.vector(*a)?;
                require(*lane < lanes, || format!("lane {lane} of {lanes}"))?;
                Type::Scalar(scalar)
            }
            Op::ExtractDyn(a, i) => {
                self.is(*i, Type::I32)?;
                Type::Scalar(self.vector(*a)?.0)
            }
            Op::Insert(a, lane, x) => {
                let (scalar, lanes) = self.vector(*a)?;
                require(*lane < lanes, || format!("lane {lane} of {lanes}"))?;
                self.is(*x, Type::Scalar(scalar))?;
                Type::Vector(scalar, lanes)
            }
            Op::InsertDyn(a, i, x) => {
                let (scalar, lanes) = self.vector(*a)?;
                self.is(*i, Type::I32)?;
                self.is(*x, Type::Scalar(scalar))?;
                Type::Vector(scalar, lanes)
            }
            Op::Shuffle(a, b, lanes) => {
                let ty = self.same(*a, *b)?;
                let scalar = ty.scalar().ok_or_else(|| format!("shuffle of {ty}"))?;
                let fits = lanes.iter().flatten().all(|&l| l < 2 * ty.lanes()) && matches!(lanes.len(), 1 | 2 | 3 | 4 | 8 | 16);
                require(fits, || "shuffle of lanes that do not exist".to_owned())?;
                Type::of(scalar, lanes.len() as u8)
            }
            Op::WorkItem(w) => {
                use super::WorkItem::{EnqueuedLocalSize, GlobalId, GlobalOffset, GlobalSize, GroupId, LocalId, LocalSize, NumGroups};
                if let GlobalId(d) | LocalId(d) | GroupId(d) | GlobalSize(d) | EnqueuedLocalSize(d) | LocalSize(d) | NumGroups(d)
                | GlobalOffset(d) = w
                {
                    require(*d < 3, || format!("dimension {d}"))?;
                }
                Type::I32
            }
            Op::VarAddr(var) => {
                require(var.index() < self.function.vars.len(), || format!("no variable {var}"))?;
                Type::Ptr(Space::Private)
            }
            Op::GlobalAddr(global) => {
                let data = self.module.globals.get(global.index()).ok_or_else(|| format!("no global {global}"))?;
                Type::Ptr(data.space)
            }
            Op::ParamAddr(index) => {
                require(self.function.kernel.is_none(), || format!("the address of parameter {index} in a kernel"))?;
                require(matches!(declared, Type::Ptr(_)), || format!("the address of a parameter of type {declared}"))?;
                declared
            }
            Op::PtrAdd(p, o) => {
                let space = self.pointer(*p)?;
                let ty = self.uses(*o)?;
                require(ty == Type::I32 || ty == Type::I64, || format!("an offset of type {ty}"))?;
                Type::Ptr(space)
            }
            Op::Load { ptr, align, .. } => {
                self.pointer(*ptr)?;
                power_of_two(*align)?;
                require(declared.scalar() != Some(Scalar::Bool) && declared != Type::Void, || format!("load of {declared}"))?;
                declared
            }
            Op::Store { ptr, value, align, .. } => {
                require(self.pointer(*ptr)? != Space::Constant, || "store to constant memory".to_owned())?;
                power_of_two(*align)?;
                let ty = self.uses(*value)?;
                require(ty.scalar() != Some(Scalar::Bool), || format!("store of {ty}"))?;
                return Ok(None);
            }
            Op::Copy { dst, src, align, .. } => {
                require(self.pointer(*dst)? != Space::Constant, || "copy to constant memory".to_owned())?;
                self.pointer(*src)?;
                power_of_two(*align)?;
                return Ok(None);
            }
            Op::Zero { dst, align, .. } => {
                require(self.pointer(*dst)? != Space::Constant, || "zeroing of constant memory".to_owned())?;
                power_of_two(*align)?;
                return Ok(None);
            }
            Op::Atomic { op, ptr, value, ty } => {
                self.pointer(*ptr)?;
                require(ty.size() >= 2, || format!("atomic on {ty}"))?;
                if let Some(value) = value {
                    self.is(*value, Type::Scalar(*ty))?;
                }
                let found = if value.is_some() { "with" } else { "without" };
                require(value.is_none() == (*op == AtomicOp::Load), || format!("{} {found} an operand", op.name()))?;
                if *op == AtomicOp::Store {
                    return Ok(None);
                }
                Type::Scalar(*ty)
            }
            Op::CmpXchg { ptr, expected, desired, ty } => {
                self.pointer(*ptr)?;
                self.is(*expected, Type::Scalar(*ty))?;
                self.is(*desired, Type::Scalar(*ty))?;
                Type::Scalar(*ty)
            }
            Op::Barrier(_) | Op::MemFence(_) => return Ok(None),
            Op::NanCheck { values, .. } => {
                let first = values.first().ok_or_else(|| "nan_check without operands".to_owned())?;
                let of = self.uses(*first)?.scalar().filter(|scalar| scalar.is_float());
                require(of.is_some(), || format!("{first} is not a float"))?;
                for value in values {
                    let ty = self.uses(*value)?;
                    require(ty.scalar() == of, || format!("{value} of type {ty} beside {first}"))?;
                }
                return Ok(None);
            }
            Op::ConversionCheck { value, to, .. } => {
                let is_float = self.uses(*value)?.scalar().is_some_and(Scalar::is_float);
                require(is_float, || format!("{value} is not a float"))?;
                require(to.is_int(), || format!("{to} is not an integer"))?;
                return Ok(None);
            }
            Op::AsyncCopyBegin(event) => {
                self.is(*event, Type::I32)?;
                Type::I32
            }
            Op::AsyncCopyEnd | Op::UndefinedUse { .. } => return Ok(None),
            Op::AsyncCopyWait(event) => {
                self.is(*event, Type::I32)?;
                return Ok(None);
            }
            Op::Group { sub, op, args } => return self.group(*sub, *op, args),
            Op::Image { call, args } => return self.image(*call, args),
            Op::ImageWord { image, .. } => {
                self.is(*image, Type::Ptr(Space::Global))?;
                Type::I32
            }
            Op::Clock { .. } => Type::of(Scalar::I32, 2),
            Op::Printf { format, args } => {
                match format {
                    Some(format) => require(format.index() < self.module.globals.len(), || format!("no global {format}"))?,
                    None => require(!args.is_empty(), || "a printf without a format".to_owned())?,
                }
                for arg in args {
                    self.uses(*arg)?;
                }
                Type::I32
            }
            Op::Call(..)
            | Op::If { .. }
            | Op::Loop { .. }
            | Op::Switch { .. }
            | Op::Yield(_)
            | Op::Break(_)
            | Op::Continue(_)
            | Op::Return(_)
            | Op::Unreachable => return Ok(None),
        }))
    }

    fn image(&self, call: ImageCall, args: &[Value]) -> Result<Option<Type>, String> {
        let types = call.operands();
        require(args.len() == types.len() + 1, || format!("{} operands of {}", args.len(), call.name()))?;
        self.is(args[0], Type::Ptr(Space::Global))?;
        for (&arg, ty) in args[1..].iter().zip(types) {
            self.is(arg, ty)?;
        }
        Ok(call.result())
    }

    fn group(&self, sub: bool, op: GroupOp, args: &[Value]) -> Result<Option<Type>, String> {
        let operands = match op {
            GroupOp::Barrier => 0,
            GroupOp::Broadcast | GroupOp::Shuffle | GroupOp::ShuffleXor | GroupOp::ShuffleUp | GroupOp::ShuffleDown => 2,
            GroupOp::ActiveReduce(_) | GroupOp::ActiveInclusive(_) | GroupOp::ActiveExclusive(_) => 2,
            _ => 1,
        };
        require(args.len() == operands, || format!("{} operands of a group's {}", args.len(), op.name()))?;
        let work = matches!(
            op,
            GroupOp::All | GroupOp::Any | GroupOp::Broadcast | GroupOp::Reduce(_) | GroupOp::ScanInclusive(_) | GroupOp::ScanExclusive(_)
        );
        require(sub || work, || format!("{} of a work-group", op.name()))?;
        let Some(&value) = args.first() else { return Ok(None) };
        if let Some(&index) = args.get(1) {
            self.is(index, Type::I32)?;
        }
        let ty = self.uses(value)?;
        require(matches!(ty, Type::Scalar(_)), || format!("{} of {ty}", op.name()))?;
        let votes = matches!(op, GroupOp::All | GroupOp::Any | GroupOp::Ballot);
        require(votes == (ty == Type::BOOL), || format!("{} of {ty}", op.name()))?;
        Ok(Some(if op == GroupOp::Ballot { Type::Vector(Scalar::I32, 4) } else { ty }))
    }

    /// Returns the types of the results of a function, after a check of the arguments.
    fn call(&self, func: Func, args: &[Value]) -> Result<&[Type], String> {
        let callee = self.module.functions.get(func.index()).ok_or_else(|| format!("no function {func}"))?;
        require(callee.params.len() == args.len(), || format!("{} arguments for {} parameters", args.len(), callee.params.len()))?;
        for (&arg, &param) in args.iter().zip(&callee.params) {
            self.is(arg, callee.ty(param))?;
        }
        Ok(&callee.returns)
    }

    fn math(&self, op: MathOp, args: &[Value]) -> Result<Type, String> {
        let count = match op {
            MathOp::Fma | MathOp::FMulAdd => 3,
            MathOp::NativeDivide | MathOp::NativePow => 2,
            _ => 1,
        };
        require(args.len() == count, || format!("{} takes {count} operands", op.name()))?;
        let ty = match op {
            MathOp::SAbs | MathOp::Clz | MathOp::Ctz | MathOp::Popcount | MathOp::ReverseBits => self.int(args[0])?,
            _ => self.float(args[0])?,
        };
        for &arg in args {
            self.is(arg, ty)?;
        }
        Ok(ty)
    }

    fn cast(&self, op: CastOp, from: Type, to: Type) -> Check {
        let shape = |a: fn(Scalar) -> bool, b: fn(Scalar) -> bool| {
            from.lanes() == to.lanes() && from.scalar().is_some_and(a) && to.scalar().is_some_and(b)
        };
        let widths = (from.scalar().map_or(0, Scalar::bits), to.scalar().map_or(0, Scalar::bits));
        let fits = match op {
            CastOp::Trunc => shape(Scalar::is_int, Scalar::is_int) && widths.0 > widths.1,
            CastOp::ZExt | CastOp::SExt => shape(|s| s.is_int() || s == Scalar::Bool, Scalar::is_int) && widths.0 < widths.1,
            CastOp::FToS | CastOp::FToU => shape(Scalar::is_float, Scalar::is_int),
            CastOp::SToF | CastOp::UToF => shape(Scalar::is_int, Scalar::is_float),
            CastOp::FToF => shape(Scalar::is_float, Scalar::is_float) && widths.0 != widths.1,
            CastOp::Bitcast => {
                from.access_size(8) == to.access_size(8)
                    && from != to
                    && from.access_size(8) > 0
                    && !matches!((from, to), (Type::Ptr(_), _) | (_, Type::Ptr(_)))
            }
            CastOp::PtrToInt => matches!((from, to), (Type::Ptr(_), Type::I32 | Type::I64)),
            CastOp::IntToPtr => matches!((from, to), (Type::I32 | Type::I64, Type::Ptr(_))),
            CastOp::SpaceCast => matches!((from, to), (Type::Ptr(a), Type::Ptr(b)) if a != b),
        };
        require(fits, || format!("{} of {from} to {to}", op.name()))
    }
}

fn require(holds: bool, message: impl FnOnce() -> String) -> Check {
    if holds { Ok(()) } else { Err(message()) }
}

fn power_of_two(align: u32) -> Check {
    require(align.is_power_of_two(), || format!("alignment {align}"))
}

#[cfg(test)]
mod tests {
    use super::super::read::read_module;
    use super::verify;

    fn errors(body: &str) -> Vec<String> {
        let text = format!("kernel @f0 \"k\" (%0: ptr.global buffer, %1: i32 value) {{\n{body}\n}}");
        match read_module(&text) {
            Ok(module) => verify(&module).err().unwrap_or_default().into_iter().map(|e| e.message).collect(),
            Err(error) => vec![error.to_string()],
        }
    }

    #[test]
    fn accepts_sound_code() {
        let body = "%2: bool = slt %1, %1 %3: i32 = if %2 { yield %1 } else { yield %1 } store %0, %3 align 4 return";
        assert_eq!(errors(body), Vec::<String>::new());
    }

    #[test]
    fn values_stay_in_their_region() {
        let body = "%2: bool = slt %1, %1 if %2 { %3: i32 = add %1, %1 yield } else { yield } store %0, %3 align 4 return";
        assert_eq!(errors(body), ["%3 is not defined here"]);
    }

    #[test]
    fn regions_end_in_one_terminator() {
        assert_eq!(errors("%2: i32 = add %1, %1"), ["a region ends without terminator"]);
        assert_eq!(errors("return return"), ["an instruction follows a terminator"]);
        assert_eq!(errors("break"), ["break outside of a loop"]);
        assert_eq!(errors("loop () { yield } return"), ["yield outside of if and switch"]);
    }

    #[test]
    fn types_fit() {
        assert_eq!(errors("%2: i64 = add %1, %1 return"), ["the result has type i64, not i32"]);
        assert_eq!(errors("%2: i32 = fadd %1, %1 return"), ["fadd of i32"]);
        assert_eq!(errors("%2: i8 = zext %1 return"), ["zext of i32 to i8"]);
        assert_eq!(errors("loop (%2: f32 = %1) { break } return"), ["the loop's operand passes %1 of type i32 to %2 of type f32"]);
    }
}
