//! Compiles the OpenCL C functions that implement SPIR-V instructions ([`bridge`]), and appends them to the module.
//!
//! If the module enqueues kernels, the library also contains kernels for blocks, and variables that all units of a
//! program share. The linker processes them like those of an OpenCL C unit.

use rustc_hash::FxHashMap;

use super::bridge::{self, Bridge};
use super::unit::UnitError;
use crate::diag::WarningLevels;
use crate::front::FrontEnd;
use crate::ir::{self, Func, Global, GlobalVar, Op};
use crate::link::Symbol;
use crate::lower::lower_unit;
use crate::options::{BuildOptions, CStd, Source};
use crate::program::KernelInfo;
use crate::target::{Target, ValueChecks};
use crate::thir::{self, Linkage};

/// Symbols that the library adds to a module.
#[derive(Default)]
pub(super) struct LibrarySymbols {
    pub(super) kernels: Vec<KernelInfo>,
    pub(super) functions: Vec<Symbol>,
    pub(super) variables: Vec<Symbol>,
}

/// Compiles the functions of `bridge` and appends them to the module.
pub(super) fn add(module: &mut ir::Module, bridge: &Bridge, options: &BuildOptions, target: &Target) -> Result<LibrarySymbols, UnitError> {
    if bridge.len() == 0 {
        return Ok(LibrarySymbols::default());
    }
    let (program, library) = compile(bridge, options, target)?;
    let names: FxHashMap<&str, u32> =
        (ir::number(module.functions.len())..).zip(&library.functions).map(|(number, f)| (&*f.name, number)).collect();
    resolve(module, &names)?;
    let functions = library.functions.iter().map(|f| Symbol::lowered(f.name.clone(), Linkage::Internal, true, Some(f))).collect();
    let linkage = |index: usize| program.globals.get(index).map_or(Linkage::Internal, |global| global.linkage);
    let variables = library.globals.iter().enumerate();
    let variables = variables.map(|(index, data)| Symbol::lowered_variable(data.name.clone(), linkage(index), true, data)).collect();
    append(module, bridge, library);
    Ok(LibrarySymbols { kernels: program.kernels.into_iter().map(|(_, info)| info).collect(), functions, variables })
}

fn compile(bridge: &Bridge, options: &BuildOptions, target: &Target) -> Result<(thir::Program, ir::Module), UnitError> {
    // OpenCL C 2.0 permits every memory order and scope without feature macros. If the device lacks one, the device's
    // strongest order or scope is used instead.
    let options = BuildOptions {
        std: CStd::Cl20,
        macros: Vec::new(),
        include_dirs: Vec::new(),
        warnings: WarningLevels::NONE,
        unknown_warnings: Vec::new(),
        open_references: true,
        ..options.clone()
    };
    let source = Source { text: bridge.text.clone(), name: Some("OpenCL.std".to_owned()), ..Source::default() };
    // The instructions of the module have checks of values, so the library needs none.
    // SPIR-V modules do not report waits.
    let target = &Target { value_checks: ValueChecks::NONE, marks_async_copies: false, ..target.clone() };
    let mut front = FrontEnd::new(&source, &options, target);
    let made = front.check().and_then(|checked| {
        let lowered = lower_unit(&checked, &options, target);
        let (library, _) = lowered.map_err(|error| front.diags.error(error.span, error.message)).ok()?;
        Some((checked, library))
    });
    made.ok_or_else(|| UnitError::Library(front.messages()))
}

/// Replaces provisional function numbers with the final numbers.
fn resolve(module: &mut ir::Module, names: &FxHashMap<&str, u32>) -> Result<(), UnitError> {
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
    if missing { Err(UnitError::Internal("a library function is missing".to_owned())) } else { Ok(()) }
}

/// Appends the library to the module. Calls from the library to functions of the module get the final numbers of these
/// functions.
fn append(module: &mut ir::Module, bridge: &Bridge, library: ir::Module) {
    let (functions, globals) = (ir::number(module.functions.len()), ir::number(module.globals.len()));
    let numbers: Vec<u32> =
        (functions..).zip(&library.functions).map(|(own, f)| bridge.module_function(&f.name).map_or(own, |outer| outer.0)).collect();
    module.functions.extend(library.functions.into_iter().map(|mut function| {
        function.body.walk_mut(&mut |inst| {
            inst.span = crate::diag::Span::NONE;
            match &mut inst.op {
                Op::Call(callee, _) => callee.0 = numbers.get(callee.index()).copied().unwrap_or(u32::MAX),
                Op::GlobalAddr(global) | Op::Printf { format: Some(global), .. } => global.0 += globals,
                _ => {}
            }
        });
        function
    }));
    module.globals.extend(library.globals.into_iter().map(|mut global: GlobalVar| {
        global.relocs.iter_mut().for_each(|reloc| reloc.target = Global(reloc.target.0 + globals));
        global
    }));
}
