//! A module as a unit that is linked: its functions, those of the library that they call, and what other units may know of them.

use std::sync::Arc;

use rspirv::spirv::Op as Opcode;
use rustc_hash::{FxHashMap, FxHashSet};

use super::Source;
use super::bridge::{self, Bridge};
use super::errors::Refused;
use super::function::{self, Shared};
use super::module::{FunctionDef, Module, read};
use super::reflection::{self, kernel_body};
use super::words::Id;
use crate::diag::SourceMap;
use crate::front::FrontEnd;
use crate::ir::{self, Func, Global, GlobalVar, Op};
use crate::link::{CompiledUnit, Symbol};
use crate::lower::lower_unit;
use crate::options::{BuildOptions, CStd, Source as Text};
use crate::program::KernelInfo;
use crate::target::Target;
use crate::thir::Linkage;

/// Which functions a unit has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Roots {
    /// What kernels reach: nothing is linked with it.
    Kernels,
    /// What other units may call besides.
    Exports,
}

/// Why a module makes no unit.
#[derive(Debug, thiserror::Error)]
pub(super) enum UnitError {
    #[error(transparent)]
    Refused(#[from] Refused),
    /// The library's functions do not compile: the device lacks what they are made of.
    #[error("the module uses what this device does not have:\n{0}")]
    Library(String),
    /// A defect of ours, or a module that is wrong in a way that nothing noticed.
    #[error("the module is not valid, or this compiler is not: {0}")]
    Internal(String),
}

impl UnitError {
    /// The build log.
    pub(super) fn log(&self, words: &[u32]) -> String {
        match self {
            Self::Refused(refused) => super::lines::log(refused, words),
            other => format!("error: {other}\n"),
        }
    }
}

/// A module as a unit.
pub(super) struct Lowered {
    pub(super) unit: CompiledUnit,
    /// What the places of its instructions mean, if it has any.
    pub(super) sources: Option<Arc<SourceMap>>,
}

/// Lowers a module.
pub(super) fn lower(source: Source<'_>, options: &BuildOptions, target: &Target, roots: Roots) -> Result<Lowered, UnitError> {
    let mut module = read(source.words, source.specialisation, target)?;
    let mut globals = std::mem::take(&mut module.globals);
    let mut bridge = Bridge::default();
    let helpers = helpers(&module, roots);
    let first = u32::try_from(module.entries.len()).unwrap_or(u32::MAX);
    let numbers: FxHashMap<Id, Func> = helpers.iter().zip(first..).map(|(def, number)| (def.id, Func(number))).collect();
    let (mut functions, mut symbols, mut kernels): (Vec<ir::Function>, Vec<Symbol>, Vec<KernelInfo>) = Default::default();
    let mut shared =
        Shared { module: &module, globals: &mut globals, bridge: &mut bridge, helpers: &numbers, is_alone: roots == Roots::Kernels };
    for entry in &module.entries {
        let (def, info) = reflection::kernel(&module, entry, shared.globals, (options, target))?;
        let kernel = ir::Kernel {
            params: info.args.iter().map(|arg| arg.passing.clone()).collect(),
            reqd_work_group_size: info.reqd_work_group_size,
            reqd_subgroup_size: info.reqd_subgroup_size,
            coarse: 0,
            zeroed: false,
        };
        functions.push(function::lower(&mut shared, def, Some(kernel), &entry.name)?);
        symbols.push(Symbol::lowered(entry.name.clone(), Linkage::Internal, true, functions.last()));
        kernels.push(info);
    }
    for def in &helpers {
        let link = module.decorations.link(def.id);
        let name = link.map_or_else(|| module.name(def.id).to_owned(), |link| link.name.clone());
        let function = function::lower(&mut shared, def, None, &name)?;
        let defined = !def.blocks.is_empty();
        let linkage = match link {
            Some(link) if roots == Roots::Exports || !defined => link.linkage,
            _ => Linkage::Internal,
        };
        symbols.push(Symbol::lowered(name, linkage, defined, Some(&function)));
        functions.push(function);
    }
    let variables: Vec<Symbol> = globals
        .list
        .iter()
        .map(|variable| {
            let link = module.decorations.link(variable.id);
            let (defined, linkage) = link.map_or((true, Linkage::Internal), |link| (!link.import, link.linkage));
            let name = link.map_or_else(|| variable.data.name.clone(), |link| link.name.clone());
            let linkage = if roots == Roots::Kernels && defined { Linkage::Internal } else { linkage };
            Symbol::lowered_variable(name, linkage, defined, &variable.data)
        })
        .collect();
    let mut lowered = ir::Module { functions, globals: globals.into_data() };
    add_library(&mut lowered, &bridge, options, target)?;
    if let Err(errors) = ir::verify::verify(&lowered) {
        return Err(UnitError::Internal(errors.first().map(ToString::to_string).unwrap_or_default()));
    }
    let non_uniform = module.non_uniform_groups && !options.uniform_work_group_size;
    let sources = module.sources;
    Ok(Lowered { unit: CompiledUnit::lowered(lowered, kernels, non_uniform, symbols, variables), sources })
}

/// The functions that are needed beside the kernels themselves, in order.
fn helpers<'m, 'w>(module: &'m Module<'w>, roots: Roots) -> Vec<&'m FunctionDef<'w>> {
    let mut wanted: FxHashSet<Id> = FxHashSet::default();
    let mut queue: Vec<&FunctionDef<'w>> = module.entries.iter().filter_map(|entry| kernel_body(module, entry)).collect();
    if roots == Roots::Exports {
        let exported = |def: &&FunctionDef<'w>| !def.blocks.is_empty() && module.decorations.link(def.id).is_some_and(|link| !link.import);
        let exports: Vec<_> = module.functions.iter().filter(exported).collect();
        wanted.extend(exports.iter().map(|def| def.id));
        queue.extend(exports);
    }
    while let Some(def) = queue.pop() {
        for inst in def.blocks.iter().flat_map(|block| &block.insts).filter(|inst| inst.op == Opcode::FunctionCall) {
            let Ok(id) = inst.operand(0) else { continue };
            if let Some(&number) = module.function_numbers.get(&id)
                && wanted.insert(id)
            {
                queue.push(&module.functions[number]);
            }
        }
    }
    module.functions.iter().filter(|def| wanted.contains(&def.id)).collect()
}

/// Compiles the functions of the bridge and puts them behind the module's own.
fn add_library(module: &mut ir::Module, bridge: &Bridge, options: &BuildOptions, target: &Target) -> Result<(), UnitError> {
    if bridge.len() == 0 {
        return Ok(());
    }
    // As OpenCL C 2.0 it has every order and scope, as the strongest that the device has: modules are not asked for features.
    let options = BuildOptions {
        std: CStd::Cl20,
        macros: Vec::new(),
        include_dirs: Vec::new(),
        no_warnings: true,
        warnings_are_errors: false,
        open_references: true,
        ..options.clone()
    };
    let source = Text { text: bridge.text.clone(), name: Some("OpenCL.std".to_owned()), ..Text::default() };
    // What is asked of floats is asked where the module calls them.
    let target = &Target { nan_checks: false, ..target.clone() };
    let mut front = FrontEnd::new(&source, &options, target);
    let made = front.check().and_then(|checked| {
        let lowered = lower_unit(&checked, &options, target);
        lowered.map_err(|error| front.diags.error(error.span, error.message)).ok()
    });
    let Some((library, _)) = made else { return Err(UnitError::Library(front.log(false))) };
    let (functions, globals) = (count(module.functions.len()), count(module.globals.len()));
    let names: FxHashMap<&str, u32> =
        library.functions.iter().zip(functions..).map(|(function, number)| (&*function.name, number)).collect();
    let mut missing = false;
    for function in &mut module.functions {
        function.body.walk_mut(&mut |inst| {
            if let Op::Call(callee, _) = &mut inst.op
                && callee.0 >= bridge::FIRST
            {
                let found = names.get(&*Bridge::name(callee.0 - bridge::FIRST));
                missing |= found.is_none();
                *callee = Func(found.copied().unwrap_or_default());
            }
        });
    }
    if missing {
        return Err(UnitError::Internal("a function of the library is missing".to_owned()));
    }
    module.functions.extend(library.functions.into_iter().map(|mut function| {
        function.body.walk_mut(&mut |inst| {
            inst.span = crate::diag::Span::NONE;
            match &mut inst.op {
                Op::Call(callee, _) => callee.0 += functions,
                Op::GlobalAddr(global) | Op::Printf { format: global, .. } => global.0 += globals,
                _ => {}
            }
        });
        function
    }));
    module.globals.extend(library.globals.into_iter().map(|mut global: GlobalVar| {
        global.relocs.iter_mut().for_each(|reloc| reloc.target = Global(reloc.target.0 + globals));
        global
    }));
    Ok(())
}

fn count(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}
