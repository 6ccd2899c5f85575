//! Emission: IR to naga, and naga to SPIR-V or text.
//!
//! The input is one kernel and its helpers from [`crate::specialise`], in SSA form. The base object of every access is
//! known. [`plan`] selects the variables for memory. [`function`] and its siblings ([`ops`], [`vector`], [`access`],
//! [`items`]) translate the code. [`spirv`] validates and writes the result.
//!
//! naga's writers panic on unexpected input. [`contain`] converts a panic to an error with the name of the kernel.

mod access;
mod addresses;
mod broadcast;
mod builder;
mod bytes;
mod clock;
mod function;
mod groups;
mod items;
mod lines;
mod loop_exit_workaround;
mod loop_watchdog;
mod nesting;
mod ops;
mod patch;
mod plan;
#[cfg(feature = "languages")]
mod print;
mod printf;
mod private;
mod shader;
mod spirv;
mod uniform;
mod vector;
mod views;
mod words;

pub use lines::{LineOf, LinedText};
#[cfg(feature = "languages")]
pub use print::{Format, print, print_lines, wgsl_entry_point};
pub use shader::{Binding, BindingKind, BindingSource, Shader};

use crate::analysis::calls::{CallError, callees_first, depth_with_calls};
use crate::binding::{ArgLayout, arg_layout, chosen_addresses};
use crate::diag::Span;
use crate::internal::Defect;
use crate::ir::{self, KernelParam};
use crate::launch::{LaunchError, LaunchKey, LaunchResult, NESTED_LEVELS};
use crate::layout::ProgramLayout;
use crate::parallel::on_stack;
use crate::target::Target;
use crate::timing::stage;
use builder::Shared;
use function::{Context, Emitter};
use items::Item;
use plan::{Inputs, Plan};
use rustc_hash::{FxHashMap, FxHashSet};

/// Maximum nesting that is emitted on the caller's stack. Deeper kernels use a separate thread.
const MAX_CALLER_NESTING: usize = 48;
/// Stack size of that thread in bytes.
const EMISSION_STACK: usize = 256 << 20;

/// naga's limit for the number of work-items in one dimension of a work-group. Devices have lower limits.
const MAX_ITEMS: u32 = 1 << 14;

/// The reason for which emission failed. It is converted to a [`LaunchError`] with the kernel's name.
#[derive(Clone, Debug, PartialEq, Eq)]
enum EmitError {
    Unsupported(String),
    Internal(String),
    Limit { what: &'static str, needed: u64, limit: u64 },
    NotUniform { at: Span, branch: Span },
}

impl From<Defect> for EmitError {
    fn from(defect: Defect) -> Self {
        Self::Internal(defect.to_string())
    }
}

impl EmitError {
    fn unsupported(what: &str) -> Self {
        Self::Unsupported(what.to_owned())
    }

    fn into_launch(self, kernel: &str, stage: &'static str) -> LaunchError {
        let kernel = kernel.to_owned();
        match self {
            Self::Unsupported(what) => LaunchError::Unsupported { kernel, what },
            Self::Internal(message) => LaunchError::Internal { kernel, stage, message },
            Self::Limit { what, needed, limit } => LaunchError::Limit { kernel, what, needed, limit },
            Self::NotUniform { at, branch } => LaunchError::NotUniform { kernel, at, branch },
        }
    }
}

/// Emits a kernel, function 0 of a module after all passes.
///
/// # Errors
///
/// See [`LaunchError`].
pub fn shader(module: &ir::Module, key: &LaunchKey, target: &Target, debug: bool) -> LaunchResult<Shader> {
    detailed_shader(module, key, target, if debug { Debug::Names } else { Debug::Nothing })
}

/// The debug information of an emitted shader.
#[derive(Clone, Copy)]
pub(crate) enum Debug<'a> {
    Nothing,
    Names,
    /// Names, and the lines of the source as [`print_lines`] expects them.
    Lines(LineOf<'a>),
}

/// Emits a shader with debug information.
pub(crate) fn detailed_shader(module: &ir::Module, key: &LaunchKey, target: &Target, debug: Debug<'_>) -> LaunchResult<Shader> {
    let Some(kernel) = module.functions.first() else { return Err(LaunchError::NoKernel(String::new())) };
    let make = || contain(&kernel.name, "emission", || emit(module, kernel, key, target, debug));
    let limit = target.shaders.defects.nested_conditions;
    // Drivers with a limit for the nesting inline all calls, so the nesting in callees counts.
    let depth = match limit {
        Some(_) => depth_with_calls(module),
        None => module.functions.iter().map(|function| function.body.depth(ir::MAX_NESTING)).max().unwrap_or(0),
    };
    if depth <= MAX_CALLER_NESTING {
        return make();
    }
    if let Some(limit) = limit.filter(|&limit| depth > limit as usize) {
        let too_deep = EmitError::Limit { what: NESTED_LEVELS, needed: depth as u64, limit: limit.into() };
        return Err(too_deep.into_launch(&kernel.name, "emission"));
    }
    on_stack(EMISSION_STACK, make).unwrap_or_else(|error| Err(EmitError::Internal(error.to_string()).into_launch(&kernel.name, "emission")))
}

/// Runs code that may panic in naga. Converts a panic to an error.
fn contain<T>(kernel: &str, stage: &'static str, run: impl FnOnce() -> Result<T, EmitError>) -> LaunchResult<T> {
    std::panic::catch_unwind(std::panic::AssertUnwindSafe(run))
        .unwrap_or_else(|panic| {
            let message = panic
                .downcast_ref::<String>()
                .cloned()
                .or_else(|| panic.downcast_ref::<&str>().map(|&text| text.to_owned()))
                .unwrap_or_else(|| "panic".to_owned());
            Err(EmitError::Internal(message))
        })
        .map_err(|error| error.into_launch(kernel, stage))
}

fn emit(module: &ir::Module, kernel: &ir::Function, key: &LaunchKey, target: &Target, debug: Debug<'_>) -> Result<Shader, EmitError> {
    check_types(module, target)?;
    let args = arg_layout(&module.functions, &chosen_addresses(kernel, &key.binding, target), target);
    let layout = ProgramLayout::of(&module.globals);
    let queries = Queries::new(module, kernel, &args, key, target);
    let inputs = Inputs { module, key, target, args: &args, layout: &layout, arguments: queries.arguments };
    let mut plan = plan::plan(&inputs)?;
    let mut shared = Shared::new(target.shaders.defects.narrow_literals);
    if module.functions.iter().flat_map(|function| &function.values).any(|data| data.ty.scalar() == Some(ir::Scalar::F64)) {
        // Expressions of a naga module have no types. This type shows printers that the module uses doubles.
        shared.ty(naga::Scalar::F64, 1);
    }
    plan::create_variables(&mut plan, &mut shared, &inputs)?;
    let masked_stores = patch::functions(&plan, &mut shared, target);
    let printf = crate::printf::Table::new(module, target.pointer_size());
    let kernel_function = stage("emit naga", || functions(&inputs, kernel, &plan, &queries, &printf, &mut shared, masked_stores))?;
    let (local_size, validated_size) = group_size(queries.declared_size, target)?;
    shared.module.entry_points.push(naga::EntryPoint {
        name: kernel.name.clone(),
        stage: naga::ShaderStage::Compute,
        early_depth_test: None,
        workgroup_size: validated_size,
        workgroup_size_overrides: None,
        function: kernel_function,
        mesh_info: None,
        task_payload: None,
        incoming_ray_payload: None,
    });
    let mut naga = shared.module;
    if !target.shaders.spirv {
        let functions = naga.functions.iter_mut().map(|(_, function)| function);
        functions.chain(naga.entry_points.iter_mut().map(|entry| &mut entry.function)).for_each(nesting::name_deep);
    }
    if target.shaders.uniform_barriers {
        let budget = target.language.max_local_memory.saturating_sub(plan.local_memory);
        plan.local_memory += stage("uniform barriers", || broadcast::make_uniform(&mut naga, budget))?;
    }
    let info = stage("validate", || spirv::validate(&naga, target))?;
    let written = target.shaders.spirv.then(|| {
        let unaliased = unaliased_bindings(&plan);
        stage("write SPIR-V", || {
            let moved;
            let (module, detail) = match debug {
                Debug::Nothing => (&naga, spirv::Detail::Code),
                Debug::Names => (&naga, spirv::Detail::Names),
                Debug::Lines(line_of) => {
                    let rows;
                    (moved, rows) = lines::with_rows(&naga, line_of);
                    (&moved, spirv::Detail::Rows(rows))
                }
            };
            spirv::write(module, &info, &kernel.name, &unaliased, target, &detail)
        })
    });
    let mut shader = Shader {
        naga,
        spirv: written.transpose()?,
        entry_point: kernel.name.clone(),
        bindings: plan.bindings,
        args,
        local_memory: plan.local_memory,
        private_memory: plan.private_memory,
        coarsening_factor: 1 << kernel.kernel.as_ref().map_or(0, |kernel| kernel.coarsening_log2),
        subgroup_size: kernel.kernel.as_ref().and_then(|kernel| kernel.reqd_subgroup_size),
        printf,
        any_local_size: false,
    };
    if validated_size != local_size {
        shader.set_local_size(local_size);
    }
    Ok(shader)
}

/// Checks the work-group size. Returns this size, and the size with which naga validates the module.
fn group_size(local_size: [u32; 3], target: &Target) -> Result<([u32; 3], [u32; 3]), EmitError> {
    // naga supports subgroup queries only in one-dimensional work-groups, because WGSL defines only for these which
    // work-items form a subgroup. OpenCL does not define this for any work-group. So if the output is SPIR-V, naga
    // validates the module with a one-dimensional work-group.
    let validated_size = if target.shaders.spirv { items::one_dimension(local_size) } else { local_size };
    let (items, most) = (local_size.iter().map(|&size| u64::from(size)).product(), target.shaders.limits.group_items.into());
    if items > most {
        return Err(EmitError::Limit { what: "work-items in a work-group", needed: items, limit: most });
    }
    match validated_size.iter().find(|&&size| size > MAX_ITEMS) {
        Some(&size) => {
            Err(EmitError::Unsupported(format!("a work-group of {size} work-items in one dimension (the limit is {MAX_ITEMS})")))
        }
        None => Ok((local_size, validated_size)),
    }
}

/// The bindings of memory that no other binding accesses, and that has one view or is only read.
fn unaliased_bindings(plan: &Plan) -> FxHashSet<u32> {
    let is_unaliased = |object: &&views::Object| object.unaliased && (object.views.len() == 1 || object.is_only_read());
    let binding = |object: &views::Object| match object.backing {
        views::Backing::Storage { binding } => Some(binding),
        _ => None,
    };
    plan.objects.iter().filter(is_unaliased).filter_map(binding).collect()
}

/// The items that functions use.
struct Queries {
    /// The items of each function.
    of_function: Vec<Vec<Item>>,
    /// Whether the argument buffer may be read.
    arguments: bool,
    /// The work-group size that the shader declares.
    declared_size: [u32; 3],
}

impl Queries {
    fn new(module: &ir::Module, kernel: &ir::Function, args: &ArgLayout, key: &LaunchKey, target: &Target) -> Self {
        let of_function: Vec<Vec<Item>> = module
            .functions
            .iter()
            .map(|function| {
                let mut items: Vec<Item> = items::used(function).into_iter().chain(loop_exit_workaround::used(function, target)).collect();
                items.extend(items::index_hiding_item(function, &module.globals, target).filter(|item| !items.contains(item)));
                items
            })
            .collect();
        // Browsers derive the layout of a pipeline from the bindings that the shader uses. So an argument buffer that
        // the shader does not use must not be declared.
        let mut read = FxHashSet::default();
        kernel.body.walk(&mut |inst| inst.op.for_each_operand(|operand| read.extend(kernel.params.contains(&operand).then_some(operand))));
        let by_value = kernel.params.iter().zip(kernel.kernel.iter().flat_map(|kernel| &kernel.params)).any(|(param, kind)| match kind {
            KernelParam::Value => read.contains(param),
            kind => matches!(kind, KernelParam::Bytes { .. }),
        });
        let by_address = args.addresses.iter().any(Option::is_some);
        let arguments = by_value
            || by_address
            || key.kernel.guard.contains(&true)
            || of_function.iter().flatten().any(|item| item.needs_arguments(key));
        let declared_size = items::declared_size(&of_function, key.kernel.local_size.map(|n| n.max(1)), target);
        Self { of_function, arguments, declared_size }
    }
}

/// Functions that store parts of words, by object and view.
type MaskedStores = FxHashMap<(usize, views::ViewKey), naga::Handle<naga::Function>>;

/// Emits helpers, callees first, and then the kernel.
fn functions(
    &Inputs { module, key, target, args, .. }: &Inputs<'_>,
    kernel: &ir::Function,
    plan: &Plan,
    queries: &Queries,
    printf: &crate::printf::Table,
    shared: &mut Shared,
    masked_stores: MaskedStores,
) -> Result<naga::Function, EmitError> {
    let order = emission_order(module)?;
    let items = |index: usize| {
        let mut all = queries.of_function[index].clone();
        all.extend(items::used_by_memory(plan, index as u32));
        all
    };
    let mut for_helpers: Vec<Item> = Vec::new();
    for item in order.iter().filter(|&&index| index != 0).flat_map(|&index| items(index)) {
        if !for_helpers.contains(&item) {
            for_helpers.push(item);
        }
    }
    let passed = items::create_passed_items(shared, &for_helpers);
    let watch = plan.loop_watchdog.map(|_| loop_watchdog::WatchdogVariables::new(shared));
    let functions = vec![None; module.functions.len()];
    let declared_size = queries.declared_size;
    let mut cx =
        Context { target, key, declared_size, args, plan, globals: &module.globals, printf, masked_stores, functions, passed, watch };
    for &index in order.iter().filter(|&&index| index != 0) {
        let function = &module.functions[index];
        let mut emitter = Emitter::new(&cx, shared, function, index as u32);
        emitter.signature()?;
        emitter.load_passed_items(&items(index))?;
        emitter.compute_scratch_offsets(index as u32)?;
        let made = emitter.finish()?;
        cx.functions[index] = Some(shared.module.functions.append(made, naga::Span::UNDEFINED));
    }
    let arguments = plan.arguments;
    let mut emitter = Emitter::new(&cx, shared, kernel, 0);
    let mut all = items(0);
    for item in for_helpers {
        if !all.contains(&item) {
            all.push(item);
        }
    }
    emitter.begin_watchdog()?;
    emitter.compute_items(&all, arguments)?;
    emitter.load_addresses(arguments)?;
    emitter.compute_scratch_offsets(0)?;
    for ((&param, kind), place) in kernel.params.iter().zip(kernel.kernel.iter().flat_map(|k| &k.params)).zip(&args.values) {
        if let (KernelParam::Value, Some((offset, _)), Some(object)) = (kind, place, arguments) {
            let chunks = emitter.load_argument(object, *offset, kernel.ty(param))?;
            emitter.define(param, chunks);
        }
    }
    emitter.finish()
}

/// The functions that the kernel calls, directly or indirectly, callees first. The last one is the kernel (function 0).
fn emission_order(module: &ir::Module) -> Result<Vec<usize>, EmitError> {
    let order = callees_first(module, [ir::Func(0)]).map_err(|error| match error {
        CallError::Recursive(_) => EmitError::unsupported("recursion"),
        CallError::Missing(_) => EmitError::Internal(error.to_string()),
    })?;
    Ok(order.into_iter().map(ir::Func::index).collect())
}

/// Rejects types that the device lacks.
fn check_types(module: &ir::Module, target: &Target) -> Result<(), EmitError> {
    for data in module.functions.iter().flat_map(|function| &function.values) {
        match data.ty.scalar() {
            Some(ir::Scalar::I64) if !target.shaders.int64 => return Err(EmitError::unsupported("a 64-bit integer")),
            Some(ir::Scalar::F64) if !target.shaders.fp64 => return Err(EmitError::unsupported("`double`")),
            Some(ir::Scalar::F16) if !target.language.fp16 => return Err(EmitError::unsupported("`half` arithmetic")),
            _ => {}
        }
    }
    Ok(())
}
