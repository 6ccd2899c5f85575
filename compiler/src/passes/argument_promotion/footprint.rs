//! The accesses of a function through its pointer parameters.
//!
//! Example: `f(p) { *p = p[1]; }` has a [`Footprint::Fixed`] of a store at offset 0 and a load at offset 4.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::ir::{CastOp, Func, Function, Module, Op, Region, Scalar, Space, Type, Value, WorkItem};
use crate::passes::inline::is_of_kernel;

/// The bytes that a function accesses through one pointer parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Footprint {
    /// Accesses at constant offsets.
    Fixed(Vec<Access>),
    /// Possibly every byte of the object.
    Whole {
        /// The scalar type of all accesses. If their types differ, an integer type with the size of the smallest type.
        unit: Scalar,
        /// Whether the function stores to the object.
        written: bool,
    },
}

/// An access at a constant offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Access {
    /// Offset in bytes from the pointer.
    pub offset: i64,
    pub size: u32,
    pub ty: Type,
    /// The alignment of the access in bytes, a power of two.
    pub align: u32,
    pub writes: bool,
}

impl Footprint {
    pub(super) fn is_written(&self) -> bool {
        match self {
            Self::Fixed(accesses) => accesses.iter().any(|access| access.writes),
            Self::Whole { written, .. } => *written,
        }
    }
}

/// Maximum number of parameters of a function that is analysed.
const MAX_PARAMS: usize = 64;

/// Whether a function lets no pointer escape, and accesses only constants, its own variables, and private memory that
/// its parameters point to. If `buffers`, it may also access global memory that its parameters point to, and contain
/// the operations that [`is_supported_in_functions`] accepts.
pub(in crate::passes) fn is_closed(function: &Function, module: &Module, buffers: bool) -> bool {
    let reached = |space: Space| matches!(space, Space::Private | Space::Generic) || (buffers && space == Space::Global);
    let is_reached = |value: Value| function.ty(value).space().is_some_and(reached);
    let fits = |&param: &Value| function.ty(param).space().is_none_or(reached);
    let pointer = |value: &Value| matches!(function.ty(*value), Type::Ptr(_));
    if function.kernel.is_some() || function.params.len() > MAX_PARAMS || !function.params.iter().all(fits) {
        return false;
    }
    let mut closed = !function.returns.iter().any(|ty| matches!(ty, Type::Ptr(_)));
    function.body.walk(&mut |inst| {
        closed &= match &inst.op {
            op if is_of_kernel(op, module) => buffers && is_supported_in_functions(op, function),
            Op::Copy { .. } | Op::Zero { .. } | Op::Cast(CastOp::PtrToInt | CastOp::IntToPtr, _) => false,
            // A function must not convert a buffer pointer: a generic pointer does not identify the buffer that it
            // points into.
            Op::Cast(CastOp::SpaceCast, from) => function.ty(*from) != Type::Ptr(Space::Global),
            Op::Cmp(_, a, _) if buffers => !pointer(a),
            Op::GlobalAddr(_) | Op::VarAddr(_) | Op::PtrAdd(..) => true,
            Op::Store { ptr, value, .. } => !pointer(value) && is_reached(*ptr),
            Op::Load { ptr, .. } => {
                !inst.results.iter().any(pointer) && (is_reached(*ptr) || function.ty(*ptr) == Type::Ptr(Space::Constant))
            }
            // A pointer that is a loop parameter, or a result of control flow, has no single known object.
            Op::Loop { params, .. } => !inst.results.iter().chain(params).any(pointer),
            op => op.is_terminator() || !inst.results.iter().any(pointer),
        };
    });
    closed
}

/// Whether shaders can call a function with tags and offsets for its pointers ([`crate::passes::resolve_pointers`]). If
/// `buffers` is false, the function may not use pointers to global memory or to `__constant` arguments.
pub(in crate::passes) fn is_callable_in_shaders(function: &Function, module: &Module, buffers: bool) -> bool {
    if function.kernel.is_some() || function.params.len() > MAX_PARAMS {
        return false;
    }
    let needs_buffers = |ty: Type| matches!(ty, Type::Ptr(Space::Global | Space::Generic));
    let constant_param = |&param: &Value| function.ty(param) == Type::Ptr(Space::Constant);
    if !buffers && (function.values.iter().any(|value| needs_buffers(value.ty)) || function.params.iter().any(constant_param)) {
        return false;
    }
    let mut callable = true;
    function.body.walk(&mut |inst| {
        callable &= match &inst.op {
            Op::GlobalAddr(_) => true,
            Op::Atomic { .. } | Op::CmpXchg { .. } => true,
            op if is_of_kernel(op, module) => is_supported_in_functions(op, function),
            Op::Copy { .. } | Op::Zero { .. } => false,
            _ => true,
        };
    });
    callable
}

/// Whether a function only accesses, compares and passes on the private memory that its parameters point to.
pub(super) fn keeps_private_memory(function: &Function) -> bool {
    let is_private = |value: &Value| matches!(function.ty(*value), Type::Ptr(Space::Private | Space::Generic));
    let mut pointers: FxHashSet<Value> = function.params.iter().copied().filter(is_private).collect();
    let mut keeps = true;
    function.body.walk(&mut |inst| match (&inst.op, &inst.results[..]) {
        (Op::PtrAdd(from, _) | Op::Cast(CastOp::SpaceCast, from), &[result]) => {
            if pointers.contains(from) {
                pointers.insert(result);
            }
        }
        (Op::Load { .. } | Op::Cmp(..) | Op::Call(..), _) => {}
        (Op::Store { value, .. }, _) => keeps &= !pointers.contains(value),
        (op, _) => op.for_each_operand(|operand| keeps &= !pointers.contains(&operand)),
    });
    keeps
}

/// Whether an operation of kernels is also supported in other functions of shaders.
fn is_supported_in_functions(op: &Op, function: &Function) -> bool {
    match *op {
        Op::WorkItem(
            WorkItem::GlobalId(_)
            | WorkItem::LocalId(_)
            | WorkItem::GroupId(_)
            | WorkItem::GlobalSize(_)
            | WorkItem::NumGroups(_)
            | WorkItem::GlobalOffset(_)
            | WorkItem::LocalSize(_)
            | WorkItem::EnqueuedLocalSize(_)
            | WorkItem::WorkDim,
        )
        | Op::MemFence(_)
        | Op::Printf { format: Some(_), .. } => true,
        // Atomics of other types or in other memory may need a lock, which depends on the object. So they need tags.
        Op::Atomic { ptr, ty, .. } | Op::CmpXchg { ptr, ty, .. } => ty == Scalar::I32 && function.ty(ptr) == Type::Ptr(Space::Global),
        _ => false,
    }
}

/// Computes the footprint of each parameter of a function. The footprint is `None` for a parameter that is not a
/// pointer to private memory. `known` has the footprints of the function's callees with pointer
/// parameters. `dynamic_params` contains for each parameter whether its offset in the object that it points into is
/// only known at run time.
pub(super) fn of(
    function: &Function,
    known: &FxHashMap<Func, Vec<Option<Footprint>>>,
    dynamic_params: &[bool],
    ptr_size: u32,
) -> Vec<Option<Footprint>> {
    let mut scan = Scan { function, known, ptr_size, targets: vec![None; function.values.len()], found: Vec::new() };
    for (index, &param) in function.params.iter().enumerate() {
        let is_pointer = matches!(function.ty(param), Type::Ptr(Space::Private | Space::Generic));
        if is_pointer {
            scan.targets[param.index()] = Some((index, Some(0)));
        }
        scan.found.push(is_pointer.then(Accessed::default));
    }
    scan.region(&function.body);
    scan.found.into_iter().zip(dynamic_params).map(|(found, &dynamic_base)| found.map(|found| found.footprint(dynamic_base))).collect()
}

/// The accesses through one pointer parameter.
#[derive(Clone, Default)]
struct Accessed {
    accesses: Vec<Access>,
    /// Whether an access has a non-constant offset.
    dynamic: bool,
    scalars: Vec<Scalar>,
    written: bool,
}

impl Accessed {
    fn footprint(self, dynamic_base: bool) -> Footprint {
        let anywhere = self.dynamic || (dynamic_base && !self.accesses.is_empty());
        if !anywhere {
            return Footprint::Fixed(self.accesses);
        }
        let smallest = self.scalars.iter().copied().min_by_key(|scalar| scalar.size()).unwrap_or(Scalar::I8);
        let same = self.scalars.iter().all(|&scalar| scalar == smallest);
        let unit = if same { smallest } else { Scalar::int_of_size(smallest.size()).unwrap_or(Scalar::I8) };
        Footprint::Whole { unit, written: self.written }
    }
}

struct Scan<'a> {
    function: &'a Function,
    known: &'a FxHashMap<Func, Vec<Option<Footprint>>>,
    ptr_size: u32,
    /// For each pointer based on a parameter: the parameter's index, and the byte offset if it is constant.
    targets: Vec<Option<(usize, Option<i64>)>>,
    found: Vec<Option<Accessed>>,
}

impl Scan<'_> {
    fn region(&mut self, region: &Region) {
        let mut constants: FxHashMap<Value, i64> = FxHashMap::default();
        region.walk(&mut |inst| match (&inst.op, &inst.results[..]) {
            (Op::Const(constant), &[result]) => {
                if let (Some(bits), Type::Scalar(scalar)) = (constant.bits(), self.function.ty(result)) {
                    constants.insert(result, scalar.sign_extend(bits));
                }
            }
            (Op::PtrAdd(base, offset), &[result]) => {
                let target = self.targets[base.index()];
                let by = constants.get(offset);
                self.targets[result.index()] = target.map(|(param, at)| (param, at.zip(by).and_then(|(at, by)| at.checked_add(*by))));
            }
            (Op::Cast(CastOp::SpaceCast, from), &[result]) => self.targets[result.index()] = self.targets[from.index()],
            (Op::Load { ptr, align, .. }, &[result]) => self.access(*ptr, self.function.ty(result), *align, false),
            (Op::Store { ptr, value, align, .. }, _) => self.access(*ptr, self.function.ty(*value), *align, true),
            (Op::Call(callee, args), _) => self.call(*callee, args),
            _ => {}
        });
    }

    fn access(&mut self, ptr: Value, ty: Type, align: u32, writes: bool) {
        let Some((param, offset)) = self.targets[ptr.index()] else { return };
        let Some(found) = &mut self.found[param] else { return };
        found.written |= writes;
        found.scalars.extend(ty.scalar());
        match offset {
            Some(offset) => found.accesses.push(Access { offset, size: ty.access_size(self.ptr_size), ty, align, writes }),
            None => found.dynamic = true,
        }
    }

    /// Adds the accesses of a callee to the accesses of this function.
    fn call(&mut self, callee: Func, args: &[Value]) {
        let Some(footprints) = self.known.get(&callee) else { return };
        for (arg, footprint) in args.iter().zip(footprints) {
            let (Some(footprint), Some((param, offset))) = (footprint, self.targets[arg.index()]) else { continue };
            let Some(found) = &mut self.found[param] else { continue };
            found.written |= footprint.is_written();
            match (footprint, offset) {
                (Footprint::Fixed(accesses), Some(by)) => {
                    found.scalars.extend(accesses.iter().filter_map(|access| access.ty.scalar()));
                    found.accesses.extend(accesses.iter().map(|access| Access { offset: access.offset.saturating_add(by), ..*access }));
                }
                (Footprint::Fixed(accesses), None) => {
                    found.scalars.extend(accesses.iter().filter_map(|access| access.ty.scalar()));
                    found.dynamic |= !accesses.is_empty();
                }
                (Footprint::Whole { unit, .. }, _) => {
                    found.scalars.push(*unit);
                    found.dynamic = true;
                }
            }
        }
    }
}
