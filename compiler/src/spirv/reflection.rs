//! Kernel information of a module for clGetKernelInfo, clGetKernelArgInfo and clSetKernelArg.

use rspirv::spirv::{Decoration, ExecutionMode, FunctionParameterAttribute as Attribute, Op as Opcode};
use rustc_hash::FxHashSet;

use super::bridge::{Signedness, c_type};
use super::constants::Constant;
use super::errors::{Checked, ErrorKind, InvalidModule, invalid, unsupported};
use super::globals::Globals;
use super::module::{Entry, FunctionDef, Module};
use super::types::{Kind, TypeInfo};
use super::words::{Id, Inst};
use crate::ir::{KernelParam, Scalar, Space, Type};
use crate::options::BuildOptions;
use crate::reflection::{AccessQualifier, ArgInfo, KernelInfo};
use crate::target::Target;

/// Returns the function with the code of a kernel: the entry point, or the function to which the entry point only
/// forwards its arguments. Translators emit such entry points.
pub(super) fn kernel_body<'m, 'w>(module: &'m Module<'w>, entry: &Entry) -> Option<&'m FunctionDef<'w>> {
    let def = &module.functions[*module.function_numbers.get(&entry.function)?];
    let [block] = def.blocks.as_slice() else { return Some(def) };
    let [call] = block.insts.as_slice() else { return Some(def) };
    if call.op != Opcode::FunctionCall || block.end.op != Opcode::Return {
        return Some(def);
    }
    let callee = call.operand(0).ok().and_then(|id| module.function_numbers.get(&id)).map(|&number| &module.functions[number]);
    let params: Vec<Option<Id>> = def.params.iter().map(|param| param.result_id()).collect();
    let passes_all = call.operands_from(1).map(Some).eq(params);
    let same = |callee: &&FunctionDef<'w>| {
        let types = |def: &FunctionDef<'w>| def.params.iter().map(|param| param.ty().ok()).collect::<Vec<_>>();
        !callee.blocks.is_empty() && types(callee) == types(def) && callee.inst.ty().ok() == def.inst.ty().ok()
    };
    Some(callee.filter(same).filter(|_| passes_all).unwrap_or(def))
}

/// Returns the function with a kernel's code, and the information about the kernel.
pub(super) fn kernel<'m, 'w>(
    module: &'m Module<'w>,
    entry: &Entry,
    globals: &Globals,
    (options, target): (&BuildOptions, &Target),
) -> Result<(&'m FunctionDef<'w>, KernelInfo), InvalidModule> {
    let missing = || InvalidModule {
        instruction: "OpEntryPoint".to_owned(),
        offset: 0,
        problem: ErrorKind::Invalid(format!("the function of kernel `{}` is not defined", entry.name)),
        line: None,
    };
    let outer = module.function_numbers.get(&entry.function).map(|&number| &module.functions[number]).ok_or_else(missing)?;
    let def = kernel_body(module, entry).ok_or_else(missing)?;
    if outer.blocks.is_empty() {
        return Err(outer.inst.reject(invalid!("kernel `{}` has no body", entry.name)));
    }
    let ret = outer.inst.ty().and_then(|ty| module.types.ir(ty)).map_err(|problem| outer.inst.reject(problem))?;
    if ret != Type::Void {
        return Err(outer.inst.reject(invalid!("the return type of kernel `{}` is not void", entry.name)));
    }
    let types = listed(module, &entry.name, "kernel_arg_type");
    let qualifiers = listed(module, &entry.name, "kernel_arg_type_qual");
    let mut args = Vec::with_capacity(outer.params.len());
    for (index, (param, inner)) in outer.params.iter().zip(&def.params).enumerate() {
        let listed_info = ListedInfo { ty: types.get(index).copied(), qualifiers: qualifiers.get(index).copied().unwrap_or_default() };
        args.push(argument(module, param, inner, &listed_info).map_err(|problem| param.reject(problem))?);
    }
    let mut info = KernelInfo {
        name: entry.name.clone(),
        args,
        reqd_work_group_size: None,
        reqd_subgroup_size: None,
        reqd_subgroups: None,
        work_group_size_hint: None,
        attributes: String::new(),
        local_memory: local_memory(module, def, globals),
        has_arg_info: options.kernel_arg_info || !types.is_empty(),
        non_uniform_groups: module.non_uniform_groups && !options.uniform_work_group_size,
        enqueues: false,
        group_independent: false,
    };
    for mode in module.modes.get(&entry.function).into_iter().flatten() {
        execution_mode(module, mode, target, &mut info).map_err(|problem| mode.reject(problem))?;
    }
    Ok((def, info))
}

/// Returns the entries of an `OpString` with parameter information. Translators emit such strings, for example
/// `kernel_arg_type.NAME.int*,float4,`.
fn listed<'m>(module: &'m Module<'_>, kernel: &str, what: &str) -> Vec<&'m str> {
    let list = module.strings.iter().find_map(|text| text.strip_prefix(what)?.strip_prefix('.')?.strip_prefix(kernel)?.strip_prefix('.'));
    let mut names: Vec<&str> = list.map(|list| list.split(',').collect()).unwrap_or_default();
    names.truncate(names.len().saturating_sub(1));
    names
}

/// Parameter information that `OpString`s contain.
struct ListedInfo<'a> {
    ty: Option<&'a str>,
    qualifiers: &'a str,
}

fn argument(module: &Module<'_>, param: &Inst<'_>, inner: &Inst<'_>, listed_info: &ListedInfo<'_>) -> Checked<ArgInfo> {
    let (id, inner_id, ty) = (param.result()?, inner.result()?, param.ty()?);
    let info = module.types.get(ty)?;
    let has = |attribute| module.decorations.has_attribute(id, attribute) || module.decorations.has_attribute(inner_id, attribute);
    let decorated = |decoration| module.decorations.has(id, decoration) || module.decorations.has(inner_id, decoration);
    let qualified = |word: &str| listed_info.qualifiers.split(' ').any(|known| known == word);
    let name = if module.name(inner_id).is_empty() { module.name(id) } else { module.name(inner_id) };
    let mut arg = ArgInfo {
        address: Space::Private,
        access: AccessQualifier::None,
        type_name: listed_info.ty.map_or_else(|| type_name(module, ty), str::to_owned),
        name: name.to_owned(),
        is_const: qualified("const"),
        is_restrict: qualified("restrict") || has(Attribute::NoAlias) || decorated(Decoration::Restrict),
        is_volatile: qualified("volatile") || decorated(Decoration::Volatile),
        passing: KernelParam::Value,
        is_queue: info.kind == Kind::Queue,
        size: u32::try_from(info.size).map_err(|_| unsupported!("an argument of {} bytes", info.size))?,
        packet: None,
    };
    match &info.kind {
        Kind::Numbers(numbers) if numbers.scalar() != Some(Scalar::Bool) => {
            (arg.is_restrict, arg.is_volatile) = (false, false);
        }
        Kind::Pointer { space: space @ (Space::Global | Space::Constant), .. } => {
            arg.address = *space;
            arg.is_const |= *space == Space::Constant;
            let read_only = arg.is_const || has(Attribute::NoWrite);
            arg.passing = KernelParam::Buffer { space: *space, read_only, restrict: arg.is_restrict };
            arg.size = 0;
        }
        Kind::Pointer { space: Space::Local, pointee, .. } => {
            arg.address = Space::Local;
            arg.passing = KernelParam::Local { align: module.types.get(*pointee).map_or(16, |info| info.align) };
            arg.size = 0;
        }
        Kind::Pointer { space: Space::Private, pointee, .. } if has(Attribute::ByVal) => {
            let (size, align) = (module.types.size(*pointee)?, module.types.align(*pointee)?);
            arg.passing = KernelParam::Bytes { size, align };
            arg.size = size;
            arg.is_restrict = false;
            if listed_info.ty.is_none() {
                arg.type_name = type_name(module, *pointee);
            }
        }
        Kind::Struct { .. } | Kind::Array { .. } => {
            arg.passing = KernelParam::Bytes { size: module.types.size(ty)?, align: info.align };
        }
        Kind::Image(image) => {
            arg.address = Space::Global;
            arg.access = match image.access {
                0 => AccessQualifier::ReadOnly,
                1 => AccessQualifier::WriteOnly,
                _ => AccessQualifier::ReadWrite,
            };
            arg.passing = KernelParam::Image;
            arg.size = 0;
        }
        Kind::Pipe { writes } => {
            arg.address = Space::Global;
            arg.access = if *writes { AccessQualifier::WriteOnly } else { AccessQualifier::ReadOnly };
            (arg.is_const, arg.is_restrict, arg.is_volatile) = (false, false, false);
            arg.packet = Some(0);
            arg.passing = KernelParam::Buffer { space: Space::Global, read_only: false, restrict: false };
            arg.size = 0;
        }
        Kind::Queue => (arg.is_restrict, arg.is_volatile) = (false, false),
        Kind::Sampler => {
            arg.passing = KernelParam::Sampler;
            arg.size = 0;
        }
        _ => return Err(unsupported!("a kernel argument of this type")),
    }
    Ok(arg)
}

/// Returns the OpenCL C name of a type. Integers are named as unsigned, since SPIR-V has no signedness.
fn type_name(module: &Module<'_>, ty: Id) -> String {
    let Ok(TypeInfo { kind, .. }) = module.types.get(ty) else { return String::new() };
    match kind {
        Kind::Numbers(numbers) => c_type(*numbers, Signedness::Unsigned).unwrap_or_else(|_| "bool".to_owned()),
        Kind::Pointer { pointee, .. } => {
            let nested = matches!(module.types.get(*pointee).map(|info| &info.kind), Ok(Kind::Pointer { .. }));
            if nested { "void*".to_owned() } else { format!("{}*", type_name(module, *pointee)) }
        }
        Kind::Image(image) => image.c_type_name(),
        Kind::Sampler => "sampler_t".to_owned(),
        Kind::Queue => "queue_t".to_owned(),
        Kind::Pipe { .. } => "pipe".to_owned(),
        Kind::Void => "void".to_owned(),
        _ => module.name(ty).trim_start_matches("struct.").to_owned(),
    }
}

/// Returns the size in bytes of the work-group variables that a function and its callees use.
fn local_memory(module: &Module<'_>, def: &FunctionDef<'_>, globals: &Globals) -> u32 {
    let (mut seen, mut queue, mut found) = (FxHashSet::default(), vec![def], FxHashSet::default());
    while let Some(def) = queue.pop() {
        for inst in def.blocks.iter().flat_map(|block| &block.insts) {
            if inst.op == Opcode::NamedBarrierInitialize {
                found.extend(inst.result_id().and_then(|id| globals.number(id)));
            }
            for id in inst.operands_from(0) {
                if let Some((_, Constant::Address { target, .. })) = module.constants.get(id) {
                    found.insert(*target);
                }
                if inst.op == Opcode::FunctionCall
                    && let Some(&number) = module.function_numbers.get(&id)
                    && seen.insert(id)
                {
                    queue.push(&module.functions[number]);
                }
            }
        }
    }
    let local = found.into_iter().filter_map(|global| globals.get(global)).filter(|data| data.space == Space::Local);
    local.fold(0, |sum, data| sum.saturating_add(data.size.next_multiple_of(data.align)))
}

fn execution_mode(module: &Module<'_>, inst: &Inst<'_>, target: &Target, info: &mut KernelInfo) -> Checked<()> {
    let mode = inst.word(1)?;
    let sizes = |by_id: bool| -> Checked<[u32; 3]> {
        let mut sizes = [0; 3];
        for (index, size) in sizes.iter_mut().enumerate() {
            *size = if by_id { module.constants.word(inst.operand(index + 2)?)? } else { inst.word(index + 2)? };
        }
        Ok(sizes)
    };
    let attribute = match ExecutionMode::from_u32(mode) {
        Some(kind @ (ExecutionMode::LocalSize | ExecutionMode::LocalSizeId)) => {
            let sizes = sizes(kind == ExecutionMode::LocalSizeId)?;
            info.reqd_work_group_size = Some(sizes);
            format!("reqd_work_group_size({},{},{})", sizes[0], sizes[1], sizes[2])
        }
        Some(kind @ (ExecutionMode::LocalSizeHint | ExecutionMode::LocalSizeHintId)) => {
            let sizes = sizes(kind == ExecutionMode::LocalSizeHintId)?;
            info.work_group_size_hint = Some(sizes);
            format!("work_group_size_hint({},{},{})", sizes[0], sizes[1], sizes[2])
        }
        Some(ExecutionMode::VecTypeHint) => {
            let word = inst.word(2)?;
            let scalar = match word & 0xffff {
                0 => "char",
                1 => "short",
                2 => "int",
                3 => "long",
                4 => "half",
                5 => "float",
                6 => "double",
                kind => return Err(invalid!("{kind} is not a vector data type")),
            };
            let lanes = word >> 16;
            format!("vec_type_hint({scalar}{})", if lanes > 1 { lanes.to_string() } else { String::new() })
        }
        Some(ExecutionMode::SubgroupSize) => {
            let size = inst.word(2)?;
            if !target.language.has_subgroups_of(size) {
                return Err(unsupported!("subgroup size {size}"));
            }
            info.reqd_subgroup_size = Some(size);
            format!("intel_reqd_sub_group_size({size})")
        }
        Some(kind @ (ExecutionMode::SubgroupsPerWorkgroup | ExecutionMode::SubgroupsPerWorkgroupId)) => {
            let by_id = kind == ExecutionMode::SubgroupsPerWorkgroupId;
            let count = if by_id { module.constants.word(inst.operand(2)?)? } else { inst.word(2)? };
            if !target.language.subgroups || count == 0 {
                return Err(unsupported!("SubgroupsPerWorkgroup {count}"));
            }
            info.reqd_subgroups = Some(count);
            return Ok(());
        }
        // Other modes need no action. For ContractionOff this holds because the operations of a module are never
        // contracted.
        _ => return Ok(()),
    };
    if !info.attributes.is_empty() {
        info.attributes.push(' ');
    }
    info.attributes.push_str(&attribute);
    Ok(())
}
