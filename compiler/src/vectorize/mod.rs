//! Compiles kernels to machine code for the CPU. Each lane of a vector is one work-item.
//!
//! ```text
//! Specialised ─ NATIVE ─▶ ir ─ uniformity ─ kernel, control, group ─▶ vector IR ─ codegen ─▶ NativeKernel
//! ```
//! The main modules:
//! - [`abi`]: the interface between generated code and the CPU device
//! - [`shape`], [`dimension`]: the assignment of work-items to lanes
//! - [`uniformity`]: the analysis of how values vary among lanes
//! - [`vectorizer`]: the state, and the placement of instructions
//! - [`control`], [`loops`]: control flow and masks
//! - [`kernel`]: the loops over groups and gangs
//! - [`collective`]: collective operations
//! - [`scalarize`]: operations without vector instructions
//! - [`sanitize`]: accesses with a check before them
//! - [`waits`], [`progress`]: subgroups that wait for each other
//!
//! Optimisations, among others:
//! - [`subword_packing`]: packs contiguous narrow numbers
//! - [`aos_values`]: keeps vector components in the order of memory
//! - [`full_iterations`]: iterations without masks
//! - [`gather_bound`]: scalar code for loops that mainly gather
//! - [`interleave`]: gangs of two or four vectors
//! - [`narrow_gangs`]: gangs of half a vector, for 64-bit numbers

pub mod abi;
mod access;
mod address_basis;
mod aos_values;
mod approximate;
mod arith;
mod atomics;
mod calls;
mod collective;
mod control;
mod convert;
mod dimension;
mod divide;
mod frame;
mod full_iterations;
mod gather_bound;
mod group;
mod interleave;
mod interleaved_access;
mod invariant_division;
mod kernel;
mod locks;
mod loops;
mod narrow_gangs;
mod ops;
mod plan;
mod printf;
mod private;
mod progress;
pub mod report;
pub mod sanitize;
mod scalarize;
mod shape;
mod speculative_contiguous;
mod subword_packing;
mod uniformity;
mod unmasked_copy;
mod value;
mod vectorizer;
mod waits;
mod work_items;

use wgcl_codegen::{Annotations, Disassembly, Isa, vir};

use crate::diag::{SourceMap, Span};
use crate::ir;
use crate::launch::{LaunchError, LaunchKey, LaunchResult};
use crate::specialise::prepared;
use crate::target::Target;
use crate::timing::stage;
use abi::NativeKernel;
use plan::Plan;

/// The code generation options of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Style {
    /// The instruction set.
    pub isa: Isa,
    /// Whether each access is checked before it executes ([`sanitize`]).
    pub checked: bool,
}

impl Style {
    /// Returns the default options.
    pub const fn of(isa: Isa) -> Self {
        Self { isa, checked: false }
    }
}

/// Returns the subgroup size of kernels that do not require a size: the number of 32-bit lanes of a vector, or 1 in
/// checked code.
pub const fn subgroup_size(style: Style) -> u32 {
    if style.checked { 1 } else { shape::subgroup_size(style.isa) }
}

/// Returns the subgroup sizes that a kernel may require, as a bit set: a size `n` is the bit with the value `n`.
pub const fn subgroup_sizes(style: Style) -> u32 {
    if style.checked { 1 } else { shape::subgroup_sizes(style.isa) }
}

/// Compiles a kernel for one launch key to machine code. The key's binding is not used.
///
/// # Errors
/// See [`LaunchError`].
pub fn compile(module: &ir::Module, kernel: &str, key: &LaunchKey, target: &Target, style: Style) -> LaunchResult<NativeKernel> {
    compile_with_lines(module, kernel, key, target, style).map(|(kernel, _)| kernel)
}

/// Like [`compile`]. Also returns the source positions of the code: an offset in the code, and a position in the source
/// map, in ascending order of offsets.
///
/// # Errors
/// See [`LaunchError`].
pub fn compile_with_lines(
    module: &ir::Module,
    kernel: &str,
    key: &LaunchKey,
    target: &Target,
    style: Style,
) -> LaunchResult<(NativeKernel, Vec<(u32, u32)>)> {
    let made = vectorized(module, kernel, key, target, style)?;
    let internal = |stage, message| LaunchError::Internal { kernel: kernel.to_owned(), stage, message };
    let code =
        stage("machine code", || wgcl_codegen::compile(&made.module, style.isa)).map_err(|error| internal("codegen", error.to_string()))?;
    let lines = code.lines.iter().map(|line| (line.offset, line.source.0)).collect();
    let native = NativeKernel {
        entry: code.entries.get(made.entry).copied().unwrap_or(0),
        stack: code.stack,
        frames: code.frames,
        code: code.bytes,
        arena: u64::from(made.arena),
        subgroups: made.subgroups,
        args: made.args,
        local_memory: made.local_memory,
        private_memory: made.private_memory,
        lanes: made.lanes,
        sites: made.sites,
        prints: !made.printed.is_empty(),
        printed: made.printed,
    };
    Ok((native, lines))
}

/// Returns the vector IR of a kernel, for dumps and tests.
///
/// # Errors
/// See [`LaunchError`].
pub fn vector_ir(module: &ir::Module, kernel: &str, key: &LaunchKey, target: &Target, style: Style) -> LaunchResult<vir::Module> {
    vectorized(module, kernel, key, target, style).map(|made| made.module)
}

/// Specialises a kernel, and decides how to vectorise it.
fn planned(module: &ir::Module, kernel: &str, key: &LaunchKey, target: &Target, style: Style) -> LaunchResult<(ir::Module, Plan)> {
    let prepare = |key| stage("specialise", || prepared(module, kernel, key, target, style.checked, None));
    let mut specialised = prepare(key)?;
    let plan = Plan::of(&specialised, &key.kernel, style, &target.language);
    if plan.prefers_large_offsets() && !key.kernel.large_offsets {
        specialised = prepare(&key.clone().changed(|key| key.kernel.large_offsets = true))?;
    }
    if plan.independent {
        crate::passes::groups::expand_work_groups(&mut specialised, key.kernel.local_size);
    }
    Ok((specialised, plan))
}

fn vectorized(module: &ir::Module, kernel: &str, key: &LaunchKey, target: &Target, style: Style) -> LaunchResult<kernel::VectorizedKernel> {
    let (specialised, plan) = planned(module, kernel, key, target, style)?;
    let internal = |stage, message| LaunchError::Internal { kernel: kernel.to_owned(), stage, message };
    let vectorize = || kernel::vectorize(&specialised, &key.kernel, target.language.fused_fma, style, plan);
    let made = stage("vectors", vectorize).map_err(|defect| internal("vectors", defect.to_string()))?;
    if cfg!(debug_assertions) {
        vir::verify(&made.module).map_err(|error| internal("vectors", format!("{error}\n{}", made.module)))?;
    }
    Ok(made)
}

/// Returns the machine code of a kernel as assembly. `sources` adds the lines of the source as comments.
///
/// # Errors
/// See [`LaunchError`].
pub fn assembly(
    module: &ir::Module,
    kernel: &str,
    key: &LaunchKey,
    target: &Target,
    style: Style,
    sources: Option<&SourceMap>,
) -> LaunchResult<String> {
    let line = |source: vir::SourceLoc| {
        let location = sources?.locate(span(source))?;
        Some(format!("{}:{}: {}", location.file, location.line, location.text.trim()))
    };
    disassembled(module, kernel, key, target, style, &line).map(|made| made.text)
}

/// Returns the machine code of a kernel as assembly, and the source position of each line.
///
/// # Errors
/// See [`LaunchError`].
pub fn assembly_with_spans(
    module: &ir::Module,
    kernel: &str,
    key: &LaunchKey,
    target: &Target,
    style: Style,
) -> LaunchResult<(String, Vec<Span>)> {
    let made = disassembled(module, kernel, key, target, style, &|_| None)?;
    Ok((made.text, made.sources.into_iter().map(span).collect()))
}

/// Returns the vector IR of a kernel as text, and the source position of each line.
///
/// # Errors
/// See [`LaunchError`].
pub fn vector_ir_with_spans(
    module: &ir::Module,
    kernel: &str,
    key: &LaunchKey,
    target: &Target,
    style: Style,
) -> LaunchResult<(String, Vec<Span>)> {
    let made = vector_ir(module, kernel, key, target, style)?;
    Ok((made.to_string(), made.line_sources().into_iter().map(span).collect()))
}

const fn span(source: vir::SourceLoc) -> Span {
    Span { lo: source.0, hi: source.0 }
}

fn disassembled(
    module: &ir::Module,
    kernel: &str,
    key: &LaunchKey,
    target: &Target,
    style: Style,
    line: &dyn Fn(vir::SourceLoc) -> Option<String>,
) -> LaunchResult<Disassembly> {
    let made = vectorized(module, kernel, key, target, style)?;
    let internal = |message| LaunchError::Internal { kernel: kernel.to_owned(), stage: "codegen", message };
    let code = wgcl_codegen::compile(&made.module, style.isa).map_err(|error| internal(error.to_string()))?;
    let functions: Vec<String> = made.module.functions.iter().map(|function| function.name.clone()).collect();
    Ok(wgcl_codegen::disassemble_with(&code, style.isa, Annotations { functions: &functions, line }))
}

#[cfg(test)]
mod tests {
    use super::{Style, vector_ir};
    use crate::build::build;
    use crate::launch::LaunchKey;
    use crate::options::{Source, parse_options};
    use crate::target::Target;
    use wgcl_codegen::Isa;

    /// Returns the vector IR of a kernel `k` that accesses memory objects of more than 2 GiB.
    fn large_offsets(body: &str, zero_offset: bool) -> String {
        let text = format!("kernel void k(global const double *x, global double *z, long n) {{ {body} }}");
        let (options, target) = (parse_options("").expect("no options"), Target::cpu());
        let program = build(&Source { text, ..Source::default() }, &options, &target).program.expect("it builds");
        let key = LaunchKey::example(&program.module.functions[0], [64, 1, 1]);
        let key = key.changed(|key| (key.kernel.large_offsets, key.kernel.zero_offset) = (true, zero_offset));
        vector_ir(&program.module, "k", &key, &target, Style::of(Isa::AVX512)).expect("vectors").to_string()
    }

    #[test]
    fn signed_indices_stay_contiguous_in_large_buffers() {
        let loops = "int at = get_local_size(0) * get_group_id(0) + get_local_id(0), step = get_global_size(0);
            for (long i = at; i < n; i += step) z[i] = x[i] * 2;";
        for (body, zero_offset, contiguous) in [
            (loops, false, true),
            ("int i = get_global_id(0); z[i] = x[i] * 2;", true, true),
            ("int i = get_global_id(0); z[i] = x[i] * 2;", false, false),
        ] {
            let ir = large_offsets(body, zero_offset);
            assert_eq!(ir.contains("load_vector.f64") && !ir.contains("gather") && !ir.contains("scatter"), contiguous, "{body}\n{ir}");
        }
    }
}
