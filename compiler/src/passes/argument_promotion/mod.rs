//! Passes private memory by value instead of by pointer: the bytes become arguments, and stored bytes become results.
//! LLVM's ArgumentPromotion does the same for loads.
//!
//! ```text
//! %4 = call @f1, %p                     %1 = load %p                 ; the bytes that @f1 accesses
//!                                       %2 = load %p + 4
//! func @f1(%0: ptr.private) -> i32 =>   %4, %5 = call @f1, %1, %2
//!                                       store %5, %p                 ; the bytes that @f1 writes
//!
//!                                       func @f1(%0: i32, %1: i32) -> i32, i32 { $p: the bytes ... }
//! ```
//! In shaders, functions cannot have pointers to private memory as parameters. Calls with such pointers must be
//! inlined, unless the pointers are removed. If functions call each other many times, inlining expands ten thousand
//! instructions to millions. Functions that are not inlined ([`super::inline::Policy`]) therefore get this form. After
//! this pass, no address of a variable leaves its function, so `sroa` promotes the variables of caller and callee.
//!
//! # Passed bytes
//! If all accesses of the function have constant offsets from the pointer, only the accessed bytes are passed. They are
//! divided into the slices that `sroa` would use. Otherwise the whole object is passed, with the offset of the pointer
//! as an additional argument. The size of the passed object is that of the largest object of all calls.
//!
//! # Limits
//!
//! If one of these conditions holds for a call, the function keeps its pointer parameters. Machine code then passes
//! addresses, and shaders pass tags and offsets ([`super::resolve_pointers`]):
//! * A pointer to private memory does not have a single known object, or is used in other ways than an access.
//! * Two pointer arguments alias, and the function stores through one of them.
//! * The function would have more than [`MAX_VALUES`] arguments or results, or its accesses cannot be divided into
//!   values.

mod footprint;
mod rewrite;
mod sites;

use rustc_hash::{FxHashMap, FxHashSet};

use super::sroa::slices::{Access, Slice, divide};
use crate::analysis::calls::callees;
use crate::ir::{Func, Function, Module, Op, Scalar, Type};
use footprint::Footprint;
pub(super) use footprint::{is_callable_in_shaders, is_closed};
use sites::{Object, Site, Sites};

/// Maximum number of arguments, and of results, of a function. Vectors of up to four lanes count as one. SPIR-V allows
/// 255 arguments, but copying must not cost more than the function's own work.
const MAX_VALUES: usize = 160;

/// Objects with more scalars are passed as vectors of four lanes.
const MAX_SCALARS: u32 = 80;

/// Alignment in bytes of a variable that replaces a pointee: no access requires more.
const OBJECT_ALIGN: i64 = 16;

/// The functions of a module to which memory is passed by value, and the replacements of their parameters.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// The replacement of each parameter; `None` for parameters that do not change.
    shapes: FxHashMap<Func, Vec<Option<Shape>>>,
}

/// The replacement of a pointer parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Shape {
    /// The arguments, in order of their offset in the variable that replaces the pointee.
    slices: Vec<Part>,
    /// Start of the variable, as an offset from the pointer in bytes. If `None`, the variable is the whole object and
    /// the pointer's offset is an argument.
    first: Option<i64>,
    /// Size of the variable in bytes.
    size: u32,
}

/// Bytes of the memory that are passed as one value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    /// Offset in the variable, in bytes.
    offset: u32,
    ty: Type,
    /// The alignment in bytes, a power of two.
    align: u32,
    /// Whether the value is also a result.
    written: bool,
}

/// Sizes of the objects that a parameter points into, in bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Objects {
    largest: u32,
    /// The greatest common divisor of all sizes.
    divisor: u32,
}

impl Objects {
    fn add(&mut self, size: u32) {
        self.largest = self.largest.max(size);
        let (mut a, mut b) = (self.divisor, size);
        while b != 0 {
            (a, b) = (b, a % b);
        }
        self.divisor = a;
    }
}

/// Whether a function has a pointer parameter.
pub(super) fn has_pointer_params(function: &Function) -> bool {
    function.params.iter().any(|&param| matches!(function.ty(param), Type::Ptr(_)))
}

/// Plans the parameters of every function that is called with pointers to private memory. `order` contains all
/// functions, callees first. `by_address` contains the functions that keep their pointer parameters.
///
/// # Errors
///
/// Returns the functions to which memory cannot be passed by value. Before it calls `plan` again, the caller must add
/// the functions to `by_address`, or inline all calls of these functions.
pub(super) fn plan(module: &Module, order: &[Func], ptr_size: u32, by_address: &FxHashSet<Func>) -> Result<Plan, Vec<Func>> {
    let mut planner = Planner {
        module,
        ptr_size,
        by_address,
        footprints: FxHashMap::default(),
        calls: FxHashMap::default(),
        objects: FxHashMap::default(),
        dynamic_params: FxHashSet::default(),
        refused: Vec::new(),
    };
    loop {
        let known = planner.dynamic_params.len();
        planner.compute_footprints(order);
        if planner.dynamic_params.len() == known {
            break;
        }
    }
    let plan = planner.shapes(order);
    planner.refused.extend(planner.crossing_callees(&plan));
    if planner.refused.is_empty() { Ok(plan) } else { Err(planner.refused) }
}

/// The callee of a call. For each pointer argument, the parameter index, and the object and offset that the argument
/// points to.
type Call = (Func, Vec<(usize, Site)>);

struct Planner<'m> {
    module: &'m Module,
    ptr_size: u32,
    by_address: &'m FxHashSet<Func>,
    footprints: FxHashMap<Func, Vec<Option<Footprint>>>,
    /// For each caller, its calls of functions with a footprint.
    calls: FxHashMap<Func, Vec<Call>>,
    objects: FxHashMap<(Func, usize), Objects>,
    /// Parameters whose offset in the object is not constant in some call. For these parameters, the whole object is
    /// passed, because the address of the accessed bytes is not known before the call.
    dynamic_params: FxHashSet<(Func, usize)>,
    refused: Vec<Func>,
}

impl Planner<'_> {
    /// Computes the footprints of all functions. Adds the parameters with run-time offsets to `dynamic_params`.
    fn compute_footprints(&mut self, order: &[Func]) {
        self.footprints.clear();
        self.calls.clear();
        self.refused.clear();
        for &func in order {
            let function = &self.module.functions[func.index()];
            if function.kernel.is_none() && has_pointer_params(function) && !self.by_address.contains(&func) {
                // A callee without footprint keeps its pointer parameters. The passed pointers may come from a
                // parameter of this function, so this function is refused as well.
                let is_unknown =
                    |callee: &Func| !self.footprints.contains_key(callee) && has_pointer_params(&self.module.functions[callee.index()]);
                if callees(function).iter().any(is_unknown) || !footprint::keeps_private_memory(function) {
                    self.refused.push(func);
                    continue;
                }
                let dynamic_params: Vec<bool> =
                    (0..function.params.len()).map(|index| self.dynamic_params.contains(&(func, index))).collect();
                let made = footprint::of(function, &self.footprints, &dynamic_params, self.ptr_size);
                self.footprints.insert(func, made);
            }
        }
        if self.footprints.is_empty() {
            return;
        }
        for &func in order {
            let function = &self.module.functions[func.index()];
            if callees(function).iter().any(|callee| self.footprints.contains_key(callee)) {
                self.analyse_calls(func, function);
            }
        }
    }

    fn analyse_calls(&mut self, func: Func, function: &Function) {
        let sites = Sites::of(function);
        function.body.walk(&mut |inst| {
            let Op::Call(callee, args) = &inst.op else { return };
            let Some(footprints) = self.footprints.get(callee) else { return };
            let Some(found) = sites.of_call(args, footprints) else { return self.refused.push(*callee) };
            for (index, site) in &found {
                let moves = !site.terms.is_empty() || matches!(site.object, Object::Param(own) if self.is_whole(func, own));
                if moves && !self.is_whole(*callee, *index) {
                    self.dynamic_params.insert((*callee, *index));
                }
            }
            self.calls.entry(func).or_default().push((*callee, found));
        });
    }

    /// Whether the whole object is passed for a parameter.
    fn is_whole(&self, func: Func, param: usize) -> bool {
        let footprint = self.footprints.get(&func).and_then(|footprints| footprints.get(param)?.as_ref());
        footprint.is_some_and(|footprint| matches!(footprint, Footprint::Whole { .. }))
    }

    /// Plans the parameters, callers first, because the size of an object may depend on a parameter of the caller. Adds
    /// functions that need too many values to `refused`.
    fn shapes(&mut self, order: &[Func]) -> Plan {
        let mut plan = Plan::default();
        for &func in order.iter().rev() {
            let function = &self.module.functions[func.index()];
            if let Some(footprints) = self.footprints.get(&func) {
                let shape = |(index, footprint): (usize, &Option<Footprint>)| match footprint {
                    None => Some(None),
                    Some(footprint) => shape(footprint, self.objects.get(&(func, index)).copied().unwrap_or_default()).map(Some),
                };
                match footprints.iter().enumerate().map(shape).collect::<Option<Vec<_>>>() {
                    Some(shapes) if value_count(function, &shapes) <= MAX_VALUES => {
                        plan.shapes.insert(func, shapes);
                    }
                    _ => self.refused.push(func),
                }
            }
            for (callee, found) in self.calls.get(&func).into_iter().flatten() {
                for (index, site) in found {
                    self.objects.entry((*callee, *index)).or_default().add(plan.object_size(function, func, site.object));
                }
            }
        }
        plan
    }

    /// Finds the callees for which a passed value would cross the start or end of a variable of the caller.
    fn crossing_callees(&self, plan: &Plan) -> Vec<Func> {
        let crosses = |func: &Func, callee: Func, (index, site): &(usize, Site)| {
            // Only variables are checked. The variable of a caller's parameter contains all bytes that the caller
            // passes on.
            let (Object::Variable(var), Some(shape)) = (site.object, plan.shape(callee, *index)) else { return false };
            let size = i64::from(self.module.functions[func.index()].vars[var.index()].size);
            let start = shape.first.map_or(0, |first| site.constant + first);
            shape.slices.iter().any(|part| {
                let first = start + i64::from(part.offset);
                let end = first + i64::from(part.ty.access_size(self.ptr_size));
                (first < size && end > size) || (first < 0 && end > 0)
            })
        };
        let calls = self.calls.iter().flat_map(|(func, calls)| calls.iter().map(move |call| (func, call)));
        calls
            .filter(|(func, (callee, found))| found.iter().any(|site| crosses(func, *callee, site)))
            .map(|(_, (callee, _))| *callee)
            .collect()
    }
}

impl Plan {
    /// Whether the plan changes no function.
    pub(super) fn is_empty(&self) -> bool {
        self.shapes.is_empty()
    }

    /// Returns the size in bytes of an object of the caller `function`.
    fn object_size(&self, function: &Function, func: Func, object: Object) -> u32 {
        match object {
            Object::Variable(var) => function.vars[var.index()].size,
            Object::Param(own) => self.shape(func, own).map_or(0, |shape| shape.size),
        }
    }

    fn shape(&self, func: Func, param: usize) -> Option<&Shape> {
        self.shapes.get(&func)?.get(param)?.as_ref()
    }
}

/// Returns the number of parameters or results of a function, whichever is larger, in vectors of up to four lanes.
fn value_count(function: &Function, shapes: &[Option<Shape>]) -> usize {
    let chunks = |ty: Type| usize::from(ty.lanes().max(1)).div_ceil(4);
    let parts = || shapes.iter().flatten().flat_map(|shape| &shape.slices);
    let unchanged = function.params.iter().map(|&param| chunks(function.ty(param))).sum::<usize>();
    let given = unchanged + parts().map(|part| chunks(part.ty)).sum::<usize>();
    let returned = 1 + parts().filter(|part| part.written).map(|part| chunks(part.ty)).sum::<usize>();
    given.max(returned)
}

/// Returns the replacement of a pointer. Returns `None` if it needs too many values, or if the accesses cannot be
/// divided into values.
fn shape(footprint: &Footprint, objects: Objects) -> Option<Shape> {
    match footprint {
        Footprint::Fixed(accesses) => fixed_shape(accesses),
        Footprint::Whole { unit, written } => whole_shape(*unit, *written, objects),
    }
}

/// Returns the replacement with only the accessed bytes. The variable starts at a multiple of 16 bytes from the
/// pointer, so that accesses keep their alignment.
fn fixed_shape(accesses: &[footprint::Access]) -> Option<Shape> {
    let first = accesses.iter().map(|access| access.offset).min().unwrap_or(0).div_euclid(OBJECT_ALIGN) * OBJECT_ALIGN;
    let var_offset = |access: &footprint::Access| u32::try_from(access.offset - first).ok();
    let mut list = Vec::new();
    for access in accesses {
        list.push(Access { offset: var_offset(access)?, size: access.size, ty: access.ty });
    }
    let size = list.iter().map(|access| access.offset.saturating_add(access.size)).max().unwrap_or(0);
    let part = |slice: Slice| {
        let touching =
            || accesses.iter().zip(&list).filter(|(_, at)| at.offset < slice.offset + slice.size && slice.offset < at.offset + at.size);
        let align = touching().map(|(access, _)| access.align).min().unwrap_or(1);
        Part {
            offset: slice.offset,
            ty: slice.ty,
            align: align_at(align, slice.offset),
            written: touching().any(|(access, _)| access.writes),
        }
    };
    let slices = divide(list.clone())?.into_iter().map(part).collect();
    Some(Shape { slices, first: Some(first), size })
}

/// Returns the alignment of an address that is `offset` bytes after an address with alignment `align`.
const fn align_at(align: u32, offset: u32) -> u32 {
    let own = if offset == 0 { align } else { 1 << offset.trailing_zeros() };
    if own < align { own } else { align }
}

/// Returns the replacement with the whole object. The values are scalars with the size of the accesses, or vectors of
/// four if there are too many scalars. Returns `None` if there are too many values, or if the size of an object is not
/// a multiple of the scalar size.
fn whole_shape(unit: Scalar, written: bool, objects: Objects) -> Option<Shape> {
    let bytes = unit.size();
    if objects.largest == 0 || !objects.divisor.is_multiple_of(bytes) {
        return None;
    }
    let in_fours = objects.largest / bytes > MAX_SCALARS && objects.divisor.is_multiple_of(4 * bytes);
    let (ty, step) = if in_fours { (Type::Vector(unit, 4), 4 * bytes) } else { (Type::Scalar(unit), bytes) };
    if (objects.largest / step) as usize > MAX_VALUES {
        return None;
    }
    let part = |index| Part { offset: index * step, ty, align: bytes, written };
    Some(Shape { slices: (0..objects.largest / step).map(part).collect(), first: None, size: objects.largest })
}

/// Rewrites the functions of a plan and all calls of them. `order` contains all functions, callees first. Returns the
/// changed functions in this order.
pub(super) fn run(module: &mut Module, order: &[Func], plan: &Plan) -> Vec<Func> {
    order.iter().copied().filter(|&func| rewrite::function(&mut module.functions[func.index()], func, plan)).collect()
}
