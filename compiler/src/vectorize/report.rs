//! A report about the machine code of a kernel: vector width, memory accesses, spills, and operations per byte.
//!
//! The accesses come from the specialised IR. The instructions for each access come from the vector IR, by source
//! position and direction.

use rustc_hash::FxHashMap;
use wgcl_codegen::vir::{self, Addr, Op as VOp, SourceLoc};

use super::kernel::{self, has_barrier};
use super::plan::Plan;
pub use super::plan::ScalarReason;
use super::private::PrivateMemory;
use super::sanitize::{Access, MemoryAccess, Object, accesses_of};
use super::shape::Shape;
use super::uniformity::{Entry, LaneShape, Uniformity};
use super::{Style, planned};
use crate::analysis::addresses::Addresses;
use crate::analysis::calls::callees_first;
use crate::analysis::definitions::Root;
use crate::diag::Span;
use crate::ir::{Func, Function, Inst, MathOp, Module, Op, Region, Scalar, Space, Type};
use crate::launch::{LaunchError, LaunchKey, LaunchResult};
use crate::target::Target;

/// The instructions of an access in vector code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// The code executes one work-item at a time.
    Scalar,
    /// One scalar access for all work-items of a gang.
    Uniform,
    /// Accesses of whole vectors.
    Contiguous,
    /// Accesses of whole vectors, and permutations of their lanes.
    Interleaved,
    /// Loads of 16 bytes for each work-item, and permutations of their lanes.
    Rows,
    /// Whole vectors if the addresses are contiguous at run time, otherwise a gather or scatter.
    Speculative,
    /// A gather or scatter.
    Indexed,
    /// A scalar access for each work-item.
    PerLane,
    /// The access is a part of another access, or its value is not used.
    Merged,
}

/// An access of the kernel, or of a function that it calls.
#[derive(Clone, Debug)]
pub struct AccessReport {
    pub span: Span,
    pub access: Access,
    pub space: Space,
    pub object: Object,
    /// Bytes per work-item.
    pub size: u32,
    /// The number of loops of the specialised function that contain the access.
    pub loop_depth: u32,
    pub form: Form,
    /// Whether some work-items may skip the access.
    pub masked: bool,
    /// The distance in bytes between the addresses of neighbouring work-items. `None` if the compiler does not know it.
    pub stride: Option<i64>,
}

/// The work of one work-item, outside of loops or in one iteration of a loop without its inner loops. Both sides of
/// branches count. Called functions do not count.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// The position of the loop. [`Span::NONE`] outside of loops.
    pub span: Span,
    pub float_operations: u32,
    pub integer_operations: u32,
    /// Loaded bytes of global and constant memory, except those that all work-items of a gang share.
    pub loaded: u32,
    pub stored: u32,
}

/// A report about a kernel.
#[derive(Clone, Debug)]
pub struct KernelReport {
    /// Work-items per gang, which execute in lockstep. 1 for scalar code.
    pub lanes: u32,
    /// The number of vectors that a 32-bit value of a gang occupies.
    pub vectors: u32,
    /// The dimension along which neighbouring work-items are neighbouring lanes.
    pub dimension: u8,
    /// Whether the lanes of a gang differ only in the id of one dimension.
    pub is_along_dimension: bool,
    /// The reason for scalar code.
    pub scalar: Option<ScalarReason>,
    /// Whether the last gang of a group has fewer work-items than lanes.
    pub has_partial_gang: bool,
    /// Whether barriers or collective functions split the kernel into loops over the gangs of a group.
    pub is_split_at_barriers: bool,
    /// Bytes of private memory per work-item.
    pub private_memory: u32,
    /// Bytes of local memory per work-group, without local arguments.
    pub local_memory: u32,
    /// Bytes of native stack.
    pub stack: u32,
    /// Bytes of instructions and constants.
    pub code_bytes: u32,
    /// The number of instructions that store registers on the stack or load them again.
    pub spills: u32,
    /// Sorted by position.
    pub accesses: Vec<AccessReport>,
    /// The kernel outside of loops, then its loops. Entries without operations and accesses are omitted.
    pub work: Vec<Work>,
}

/// Reports on the machine code of a kernel for one launch key.
///
/// # Errors
/// See [`LaunchError`].
pub fn report(module: &Module, kernel: &str, key: &LaunchKey, target: &Target, style: Style) -> LaunchResult<KernelReport> {
    let internal = |stage, message| LaunchError::Internal { kernel: kernel.to_owned(), stage, message };
    let (specialised, plan) = planned(module, kernel, key, target, style)?;
    let made = kernel::vectorize(&specialised, &key.kernel, target.language.fused_fma, style, plan)
        .map_err(|defect| internal("vectors", defect.to_string()))?;
    let code = wgcl_codegen::compile(&made.module, style.isa).map_err(|error| internal("codegen", error.to_string()))?;
    let Plan { shape, scalar, independent } = plan;
    let accesses = accesses(&specialised, shape, &forms(&made.module, shape));
    let work = work(&specialised.functions[0], &accesses);
    Ok(KernelReport {
        lanes: shape.lanes,
        vectors: shape.lanes.div_ceil(shape.lanes32().max(1)),
        dimension: shape.vector_dimension,
        is_along_dimension: shape.along_dimension,
        scalar,
        has_partial_gang: shape.has_partial_gang(),
        is_split_at_barriers: shape.gangs() > 1 && !independent && has_barrier(&specialised.functions[0].body),
        private_memory: made.private_memory,
        local_memory: made.local_memory,
        stack: code.stack,
        code_bytes: code.bytes.len() as u32,
        spills: code.spills,
        accesses,
        work,
    })
}

/// The direction of an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Direction {
    Load,
    Store,
    Atomic,
}

impl Direction {
    const fn of(access: Access) -> Self {
        match access {
            Access::Store => Self::Store,
            Access::Atomic | Access::AtomicLoad | Access::AtomicStore => Self::Atomic,
            _ => Self::Load,
        }
    }
}

/// The memory instructions at one source position.
#[derive(Clone, Copy, Debug, Default)]
struct Found {
    scalars: u32,
    /// Vectors in the arena. If there are also scalars, the vectors are the lanes that the scalars load or store.
    arena_vectors: u32,
    vectors: u32,
    /// Vectors of pieces from several addresses.
    rows: u32,
    indexed: u32,
    masked: bool,
}

type Forms = FxHashMap<(SourceLoc, Direction), Found>;

/// The memory instructions of a module, and the source positions of instructions that permute lanes.
struct VectorForms {
    forms: Forms,
    shuffles: rustc_hash::FxHashSet<SourceLoc>,
    lanes: u32,
}

fn forms(module: &vir::Module, shape: Shape) -> VectorForms {
    let mut made = VectorForms { forms: Forms::default(), shuffles: rustc_hash::FxHashSet::default(), lanes: shape.lanes };
    module.functions.iter().for_each(|function| add_forms(function, &mut made));
    made
}

/// Returns the value that contains the address of the arena: the second parameter of a called function, and a load from
/// the second parameter of a kernel.
fn arena_base(function: &vir::Function) -> Option<vir::Value> {
    let insts = || function.blocks.iter().flat_map(|block| &block.insts);
    let param = insts().find(|inst| inst.op == VOp::Param(1))?.result?;
    let is_called = function.params.len() == 2;
    let load = || insts().find(|inst| matches!(inst.op, VOp::Load(_, addr) if addr == Addr::of(param)));
    if is_called { Some(param) } else { load()?.result }
}

fn add_forms(function: &vir::Function, made: &mut VectorForms) {
    let arena = arena_base(function);
    let add_vector: fn(&mut Found) = |found| found.vectors += 1;
    let add_arena_vector: fn(&mut Found) = |found| found.arena_vectors += 1;
    let vector = |addr: &Addr| if arena == Some(addr.base) { add_arena_vector } else { add_vector };
    for inst in function.blocks.iter().flat_map(|block| &block.insts) {
        let mut note = |direction, add: fn(&mut Found), masked: bool| {
            let found = made.forms.entry((inst.source, direction)).or_default();
            add(found);
            found.masked |= masked;
        };
        match &inst.op {
            VOp::Load(..) => note(Direction::Load, |found| found.scalars += 1, false),
            VOp::LoadVector { addr, mask, .. } => note(Direction::Load, vector(addr), mask.is_some()),
            VOp::LoadPieces(..) => note(Direction::Load, |found| found.rows += 1, false),
            VOp::Gather { mask, .. } => note(Direction::Load, |found| found.indexed += 1, mask.is_some()),
            VOp::Store(..) => note(Direction::Store, |found| found.scalars += 1, false),
            VOp::StoreVector { addr, mask, .. } => note(Direction::Store, vector(addr), mask.is_some()),
            VOp::Scatter { mask, .. } => note(Direction::Store, |found| found.indexed += 1, mask.is_some()),
            VOp::AtomicAdd(..) | VOp::AtomicExchange(..) | VOp::AtomicCompareExchange(..) => {
                note(Direction::Atomic, |found| found.scalars += 1, false);
            }
            VOp::Shuffle(..) | VOp::Permute(..) => {
                made.shuffles.insert(inst.source);
            }
            _ => {}
        }
    }
}

impl VectorForms {
    /// Returns the form of an access whose pointer has a lane shape, and whether the access is masked.
    fn of(&self, span: Span, access: Access, lane_shape: LaneShape) -> (Form, bool) {
        let source = SourceLoc(span.lo);
        let Some(found) = self.forms.get(&(source, Direction::of(access))) else {
            return (if access.is_atomic() { Form::PerLane } else { Form::Merged }, false);
        };
        let form = match *found {
            _ if self.lanes == 1 => Form::Scalar,
            Found { rows: 1.., .. } if lane_shape == LaneShape::Varying => Form::Rows,
            Found { rows: 1.., .. } => Form::Interleaved,
            Found { indexed: 1.., vectors: 1.., .. } => Form::Speculative,
            Found { indexed: 1.., .. } => Form::Indexed,
            Found { scalars: 1.., vectors: 0, arena_vectors: 1.., .. } if lane_shape != LaneShape::Uniform => Form::PerLane,
            Found { vectors: 0, arena_vectors: 0, .. } if lane_shape == LaneShape::Uniform => Form::Uniform,
            Found { vectors: 0, arena_vectors: 0, .. } => Form::PerLane,
            Found { scalars: 1.., vectors: 1.., .. } if lane_shape == LaneShape::Varying => Form::Speculative,
            _ if self.shuffles.contains(&source) => Form::Interleaved,
            _ => Form::Contiguous,
        };
        (form, found.masked)
    }
}

/// Returns the accesses of function 0 and of the functions that it calls.
fn accesses(module: &Module, shape: Shape, forms: &VectorForms) -> Vec<AccessReport> {
    let mut list = Vec::new();
    for func in callees_first(module, [Func(0)]).unwrap_or_default() {
        let function = &module.functions[func.index()];
        let uniformity = (func.0 == 0)
            .then(|| Uniformity::of(function, shape, PrivateMemory::of(function, shape.lanes), Entry::Kernel { may_have_returned: false }));
        let collector =
            Collector { module, function, forms, uniformity: uniformity.as_ref(), addresses: Addresses::of(function, &function.body) };
        collector.region(&function.body, 0, &mut list);
    }
    list.sort_by_key(|access: &AccessReport| (access.span.lo, access.access.writes()));
    list
}

/// Collects the accesses of a function.
struct Collector<'a> {
    module: &'a Module,
    function: &'a Function,
    forms: &'a VectorForms,
    /// `None` for called functions.
    uniformity: Option<&'a Uniformity<'a>>,
    addresses: Addresses,
}

impl Collector<'_> {
    fn region(&self, region: &Region, loop_depth: u32, list: &mut Vec<AccessReport>) {
        for inst in &region.insts {
            for MemoryAccess { pointer, access, size, .. } in accesses_of(self.function, inst) {
                let lane_shape = self.uniformity.map_or(LaneShape::Varying, |uniformity| uniformity.lane_shape(pointer));
                let (form, masked) = self.forms.of(inst.span, access, lane_shape);
                let stride = match lane_shape {
                    LaneShape::Linear(stride) => Some(stride),
                    LaneShape::Uniform => Some(0),
                    LaneShape::Unknown | LaneShape::Varying => None,
                };
                let space = self.function.ty(pointer).space().unwrap_or(Space::Generic);
                let object = self.object(self.addresses.root(pointer));
                list.push(AccessReport { span: inst.span, access, space, object, size, loop_depth, form, masked, stride });
            }
            let inner = loop_depth + u32::from(matches!(inst.op, Op::Loop { .. }));
            inst.op.regions().into_iter().for_each(|region| self.region(region, inner, list));
        }
    }

    fn object(&self, root: Option<Root>) -> Object {
        match root {
            Some(Root::Param(index)) => Object::Argument(index),
            Some(Root::Global(global)) => self.module.globals.get(global.index()).map_or(Object::Any, |object| Object::Variable {
                name: object.name.clone(),
                size: object.size,
                space: object.space,
            }),
            Some(Root::Var(_, var)) => self.function.vars.get(var.index()).map_or(Object::Any, |data| Object::Variable {
                name: data.name.clone(),
                size: data.size,
                space: Space::Private,
            }),
            Some(Root::Address(_)) | None => Object::Any,
        }
    }
}

/// Returns the work of a kernel outside of loops, and in each of its loops.
fn work(kernel: &Function, accesses: &[AccessReport]) -> Vec<Work> {
    let mut list = vec![Work::default()];
    add_work(kernel, &kernel.body, 0, accesses, &mut list);
    list.retain(|work| *work != Work { span: work.span, ..Work::default() });
    list
}

/// Adds the work of a region to the entry at `place`. Adds an entry for each loop.
fn add_work(kernel: &Function, region: &Region, place: usize, accesses: &[AccessReport], list: &mut Vec<Work>) {
    for inst in &region.insts {
        if let Op::Loop { body, .. } = &inst.op {
            list.push(Work { span: inst.span, ..Work::default() });
            let inner = list.len() - 1;
            add_work(kernel, body, inner, accesses, list);
            continue;
        }
        let (floats, integers) = operations(kernel, inst);
        list[place].float_operations += floats;
        list[place].integer_operations += integers;
        for MemoryAccess { pointer, access, size, .. } in accesses_of(kernel, inst) {
            let is_shared = accesses.iter().any(|other| {
                other.span == inst.span && Direction::of(other.access) == Direction::of(access) && other.form == Form::Uniform
            });
            if is_shared || !matches!(kernel.ty(pointer).space(), Some(Space::Global | Space::Constant)) {
                continue;
            }
            if access.writes() {
                list[place].stored += size;
            }
            if !matches!(access, Access::Store | Access::AtomicStore) {
                list[place].loaded += size;
            }
        }
        inst.op.regions().into_iter().for_each(|region| add_work(kernel, region, place, accesses, list));
    }
}

/// Returns the numbers of floating-point and integer operations of an instruction, per work-item.
fn operations(function: &Function, inst: &Inst) -> (u32, u32) {
    let Some(&result) = inst.results.first() else { return (0, 0) };
    let ty: Type = function.ty(result);
    let Some(of) = ty.scalar() else { return (0, 0) };
    let factor = match &inst.op {
        Op::Math(MathOp::Fma | MathOp::FMulAdd, _) => 2,
        Op::Un(..) | Op::Bin(..) | Op::Math(..) => 1,
        _ => return (0, 0),
    };
    let count = factor * u32::from(ty.lanes());
    match of {
        Scalar::F16 | Scalar::F32 | Scalar::F64 => (count, 0),
        _ => (0, count),
    }
}
