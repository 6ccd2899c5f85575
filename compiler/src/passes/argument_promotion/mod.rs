//! Passes private memory by value instead of by pointer: the bytes become arguments, and stored bytes become results.
//! LLVM's ArgumentPromotion does the same for loads.
//!
//! ```text
//! %4 = call @f1, %p                     %1 = load %p                 ; what @f1 reads or writes
//!                                       %2 = load %p + 4
//! func @f1(%0: ptr.private) -> i32 =>   %4, %5 = call @f1, %1, %2
//!                                       store %5, %p                 ; what it writes
//!
//!                                       func @f1(%0: i32, %1: i32) -> i32, i32 { $p: the bytes ... }
//! ```
//! Shaders have no addresses of private memory that a function could take, so calls with pointers are inlined. If
//! helpers call helpers many times, a program of ten thousand instructions becomes one of millions. Functions that
//! are not inlined ([`super::inline::Policy`]) get this form: no address of a variable leaves its function, and
//! `sroa` converts both sides to values.
//!
//! # Which bytes are passed
//! If all accesses of the function have constant offsets from the pointer, these bytes are passed, in the slices of
//! `sroa`. Otherwise the whole object is passed, with the offset as an additional argument. The largest object of all
//! calls determines the size.
//!
//! # Limits
//!
//! A call is inlined instead if a pointer does not have a single known object. It is also inlined if two pointers alias
//! and one of them is stored to, or if pointers are kept in memory. The same holds if there are more values than a
//! shader function may take.

mod footprint;
mod rewrite;
mod sites;

use rustc_hash::{FxHashMap, FxHashSet};

use super::sroa::slices::{Access, Slice, divide};
use crate::analysis::calls::callees;
use crate::ir::{Func, Function, Module, Op, Scalar, Type};
use footprint::Footprint;
pub(super) use footprint::is_closed;
use sites::{Object, Site, Sites};

/// Limit for the arguments and for the results of a function, in vectors of up to four lanes. SPIR-V allows 255
/// arguments; copying should cost less than the function's own work.
const MAX_VALUES: usize = 160;

/// Limit for the scalars of one object.
const MAX_SCALARS: u32 = 80;

/// Alignment in bytes of a variable that replaces a pointee: no access requires more.
const OBJECT_ALIGN: i64 = 16;

/// The functions of a module that take memory by value, and the form of their parameters.
#[derive(Debug, Default)]
pub(super) struct Plan {
    /// Per function with such parameters: the replacement of each parameter.
    shapes: FxHashMap<Func, Vec<Option<Shape>>>,
}

/// The replacement of a pointer.
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

/// Some bytes of the memory as a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Part {
    /// Offset in the variable.
    offset: u32,
    ty: Type,
    /// In bytes, a power of two.
    align: u32,
    /// Whether it is also a result.
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

/// Whether a function takes a pointer.
pub(super) fn takes_pointers(function: &Function) -> bool {
    function.params.iter().any(|&param| matches!(function.ty(param), Type::Ptr(_)))
}

/// Plans the parameters of every function that is called with pointers. `order`: all functions, callees first.
/// `by_address`: functions that keep their pointers. The error lists functions that cannot take memory by value: before
/// another attempt, their calls must be inlined, or they must keep their pointers.
pub(super) fn plan(module: &Module, order: &[Func], ptr_size: u32, by_address: &FxHashSet<Func>) -> Result<Plan, Vec<Func>> {
    let mut planner = Planner {
        module,
        ptr_size,
        by_address,
        footprints: FxHashMap::default(),
        calls: FxHashMap::default(),
        objects: FxHashMap::default(),
        moving: FxHashSet::default(),
        refused: Vec::new(),
    };
    loop {
        let known = planner.moving.len();
        planner.look(order);
        if planner.moving.len() == known {
            break;
        }
    }
    let plan = planner.shapes(order);
    planner.refused.extend(planner.cut(&plan));
    if planner.refused.is_empty() { Ok(plan) } else { Err(planner.refused) }
}

/// The callee, and the target of each pointer argument, by the parameter's index.
type Call = (Func, Vec<(usize, Site)>);

struct Planner<'m> {
    module: &'m Module,
    ptr_size: u32,
    by_address: &'m FxHashSet<Func>,
    footprints: FxHashMap<Func, Vec<Option<Footprint>>>,
    /// Per function: its calls of functions that take pointers.
    calls: FxHashMap<Func, Vec<Call>>,
    objects: FxHashMap<(Func, usize), Objects>,
    /// Parameters that get a run-time offset from some call. They need the whole object, because a call must not read
    /// bytes that its callee would not have read.
    moving: FxHashSet<(Func, usize)>,
    refused: Vec<Func>,
}

impl Planner<'_> {
    /// Computes the footprints of all functions, and the calls that need more.
    fn look(&mut self, order: &[Func]) {
        self.footprints.clear();
        self.calls.clear();
        self.refused.clear();
        for &func in order {
            let function = &self.module.functions[func.index()];
            if function.kernel.is_none() && takes_pointers(function) && !self.by_address.contains(&func) {
                // Its parameters may be arguments of a function that keeps its pointers.
                let is_unknown =
                    |callee: &Func| !self.footprints.contains_key(callee) && takes_pointers(&self.module.functions[callee.index()]);
                if callees(function).iter().any(is_unknown) {
                    self.refused.push(func);
                    continue;
                }
                let moving: Vec<bool> = (0..function.params.len()).map(|index| self.moving.contains(&(func, index))).collect();
                let made = footprint::of(function, &self.footprints, &moving, self.ptr_size);
                self.footprints.insert(func, made);
            }
        }
        if self.footprints.is_empty() {
            return;
        }
        for &func in order {
            let function = &self.module.functions[func.index()];
            if callees(function).iter().any(|callee| self.footprints.contains_key(callee)) {
                self.look_at_calls(func, function);
            }
        }
    }

    fn look_at_calls(&mut self, func: Func, function: &Function) {
        let sites = Sites::of(function);
        function.body.walk(&mut |inst| {
            let Op::Call(callee, args) = &inst.op else { return };
            let Some(footprints) = self.footprints.get(callee) else { return };
            let Some(found) = sites.of_call(args, footprints) else { return self.refused.push(*callee) };
            for (index, site) in &found {
                let moves = !site.terms.is_empty() || matches!(site.object, Object::Param(own) if self.is_whole(func, own));
                if moves && !self.is_whole(*callee, *index) {
                    self.moving.insert((*callee, *index));
                }
            }
            self.calls.entry(func).or_default().push((*callee, found));
        });
    }

    /// Whether a parameter is replaced by a whole object.
    fn is_whole(&self, func: Func, param: usize) -> bool {
        let footprint = self.footprints.get(&func).and_then(|footprints| footprints.get(param)?.as_ref());
        footprint.is_some_and(|footprint| matches!(footprint, Footprint::Whole { .. }))
    }

    /// Works from callers to callees: a caller's parameter may be passed on.
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
                    Some(shapes) if values(function, &shapes) <= MAX_VALUES => {
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

    /// The functions that would need a part of one of a caller's values.
    fn cut(&self, plan: &Plan) -> Vec<Func> {
        let cuts = |func: &Func, callee: Func, (index, site): &(usize, Site)| {
            // A caller's own parameter covers everything that the caller passes on.
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
        calls.filter(|(func, (callee, found))| found.iter().any(|site| cuts(func, *callee, site))).map(|(_, (callee, _))| *callee).collect()
    }
}

impl Plan {
    /// Whether no function takes memory by value.
    pub(super) fn is_empty(&self) -> bool {
        self.shapes.is_empty()
    }

    /// Size in bytes of an object of a function.
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

/// The number of parameters or results of a function, whichever is larger.
fn values(function: &Function, shapes: &[Option<Shape>]) -> usize {
    let chunks = |ty: Type| usize::from(ty.lanes().max(1)).div_ceil(4);
    let parts = || shapes.iter().flatten().flat_map(|shape| &shape.slices);
    let plain = function.params.iter().map(|&param| chunks(function.ty(param))).sum::<usize>();
    let given = plain + parts().map(|part| chunks(part.ty)).sum::<usize>();
    let returned = 1 + parts().filter(|part| part.written).map(|part| chunks(part.ty)).sum::<usize>();
    given.max(returned)
}

/// The replacement of a pointer, unless it needs too many values.
fn shape(footprint: &Footprint, objects: Objects) -> Option<Shape> {
    match footprint {
        Footprint::Fixed(accesses) => fixed_shape(accesses),
        Footprint::Whole { unit, written } => whole_shape(*unit, *written, objects),
    }
}

/// The accessed bytes. The variable starts at a multiple of 16 bytes, which keeps alignments.
fn fixed_shape(accesses: &[footprint::Access]) -> Option<Shape> {
    let first = accesses.iter().map(|access| access.offset).min().unwrap_or(0).div_euclid(OBJECT_ALIGN) * OBJECT_ALIGN;
    let place = |access: &footprint::Access| u32::try_from(access.offset - first).ok();
    let mut list = Vec::new();
    for access in accesses {
        list.push(Access { offset: place(access)?, size: access.size, ty: access.ty });
    }
    let size = list.iter().map(|access| access.offset.saturating_add(access.size)).max().unwrap_or(0);
    let part = |slice: Slice| {
        let touching =
            || accesses.iter().zip(&list).filter(|(_, at)| at.offset < slice.offset + slice.size && slice.offset < at.offset + at.size);
        let align = touching().map(|(access, _)| access.align).min().unwrap_or(1);
        Part {
            offset: slice.offset,
            ty: slice.ty,
            align: aligned(align, slice.offset),
            written: touching().any(|(access, _)| access.writes),
        }
    };
    let slices = divide(list.clone())?.into_iter().map(part).collect();
    Some(Shape { slices, first: Some(first), size })
}

/// The alignment of an address at `offset` bytes from an aligned one.
const fn aligned(align: u32, offset: u32) -> u32 {
    let own = if offset == 0 { align } else { 1 << offset.trailing_zeros() };
    if own < align { own } else { align }
}

/// The whole object, in scalars of the size of its accesses, or in vectors of four if there are too many scalars.
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

/// Rewrites all functions of a plan and their calls. `order`: all functions, callees first. Returns the changed
/// functions in that order.
pub(super) fn run(module: &mut Module, order: &[Func], plan: &Plan) -> Vec<Func> {
    order.iter().copied().filter(|&func| rewrite::function(&mut module.functions[func.index()], func, plan)).collect()
}
