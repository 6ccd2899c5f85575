//! The build-time interface: source in, program and log out (clBuildProgram, clCompileProgram).

#![allow(missing_docs, reason = "variants and fields whose name is the whole of their meaning")]

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::ir;
use crate::layout::ProgramLayout;
pub use crate::options::parse_options;
use crate::target::MAX_GLOBAL_VARIABLES;

/// The version of OpenCL C that a source is compiled as.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum CStd {
    /// OpenCL C 1.0 (only through `__OPENCL_C_VERSION__`; compiled as 1.1).
    Cl10,
    /// `-cl-std=CL1.1`
    Cl11,
    /// `-cl-std=CL1.2`, the default.
    Cl12,
    /// `-cl-std=CL2.0`
    Cl20,
    /// `-cl-std=CL3.0`
    Cl30,
}

impl CStd {
    /// `1.0`, `1.1`, `1.2`, `2.0`, `3.0`
    pub const fn name(self) -> &'static str {
        match self {
            Self::Cl10 => "1.0",
            Self::Cl11 => "1.1",
            Self::Cl12 => "1.2",
            Self::Cl20 => "2.0",
            Self::Cl30 => "3.0",
        }
    }

    /// `__OPENCL_C_VERSION__`: 100, 110, 120, 200, 300.
    pub const fn version(self) -> u32 {
        match self {
            Self::Cl10 => 100,
            Self::Cl11 => 110,
            Self::Cl12 => 120,
            Self::Cl20 => 200,
            Self::Cl30 => 300,
        }
    }
}

/// Build options, parsed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BuildOptions {
    /// `-D name[=value]` and `-U name`, in order: `None` undefines.
    pub macros: Vec<(String, Option<String>)>,
    /// `-I dir`, in order.
    pub include_dirs: Vec<std::path::PathBuf>,
    /// `-cl-std=`.
    pub std: CStd,
    /// `-w`
    pub no_warnings: bool,
    /// `-Werror`
    pub warnings_are_errors: bool,
    /// `-cl-opt-disable`
    pub opt_disable: bool,
    /// `-cl-mad-enable`, also set by the two below.
    pub mad_enable: bool,
    /// `-cl-no-signed-zeros`, also set by unsafe-math-optimizations.
    pub no_signed_zeros: bool,
    /// `-cl-unsafe-math-optimizations`
    pub unsafe_math: bool,
    /// `-cl-finite-math-only`
    pub finite_math_only: bool,
    /// `-cl-fast-relaxed-math`: sets all of the above and `__FAST_RELAXED_MATH__`.
    pub fast_relaxed_math: bool,
    /// `-cl-denorms-are-zero`
    pub denorms_are_zero: bool,
    /// `-cl-single-precision-constant`
    pub single_precision_constant: bool,
    /// `-cl-fp32-correctly-rounded-divide-sqrt`
    pub correctly_rounded_divide_sqrt: bool,
    /// `-cl-uniform-work-group-size`
    pub uniform_work_group_size: bool,
    /// `-cl-kernel-arg-info`
    pub kernel_arg_info: bool,
    /// `-g`
    pub debug_info: bool,
    /// Functions that are called may be defined by another translation unit: set by [`crate::build::compile`].
    pub open_references: bool,
}

impl BuildOptions {
    /// Whether what is compiled with them may run in work-groups of different sizes.
    pub(crate) fn non_uniform_groups(&self) -> bool {
        self.std >= CStd::Cl20 && !self.uniform_work_group_size
    }
}

/// A wrong option string: CL_INVALID_BUILD_OPTIONS, or exit status 2 of `wgclc`.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
pub enum OptionError {
    /// Not an option of OpenCL.
    #[error("unknown build option `{0}`")]
    Unknown(String),
    /// An option without its argument.
    #[error("build option `{0}` needs an argument")]
    MissingArgument(String),
    /// A bad argument.
    #[error("build option `{option}` has the invalid argument `{value}`")]
    InvalidArgument {
        /// The option.
        option: String,
        /// Its argument.
        value: String,
    },
}

/// CL_KERNEL_ARG_ACCESS_QUALIFIER
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum AccessQualifier {
    None,
    ReadOnly,
    WriteOnly,
    ReadWrite,
}

/// CL_KERNEL_ARG_*
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ArgInfo {
    /// `ir::Space` of a pointer's pointee; `Private` for values.
    pub address: ir::Space,
    /// Access qualifier of images.
    pub access: AccessQualifier,
    /// Type name as the specification wants it: no qualifiers, `uint` for `unsigned int`, `float4*`.
    pub type_name: String,
    /// Name.
    pub name: String,
    /// `const` (of the pointee), `restrict`, `volatile`; constant pointers count as const.
    pub is_const: bool,
    pub is_restrict: bool,
    pub is_volatile: bool,
    /// How it is passed and what size clSetKernelArg expects.
    pub passing: ir::KernelParam,
    /// Bytes that clSetKernelArg expects of a by-value argument (16 for `float3`); 0 otherwise.
    pub size: u32,
}

/// Reflection of a kernel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct KernelInfo {
    /// Name.
    pub name: String,
    /// Arguments in order.
    pub args: Vec<ArgInfo>,
    /// reqd_work_group_size.
    pub reqd_work_group_size: Option<[u32; 3]>,
    /// work_group_size_hint.
    pub work_group_size_hint: Option<[u32; 3]>,
    /// CL_KERNEL_ATTRIBUTES: the attributes as a string, separated by single blanks, e.g. `reqd_work_group_size(8,1,1)`.
    pub attributes: String,
    /// Bytes of its `__local` variables.
    pub local_memory: u32,
    /// Whether clGetKernelArgInfo may answer: `-cl-kernel-arg-info`.
    pub has_arg_info: bool,
    /// Whether the last work-groups may be smaller than the others: from OpenCL C 2.0, without `-cl-uniform-work-group-size`, in all units of the program.
    pub non_uniform_groups: bool,
    /// Whether it cannot tell how work-items are grouped, see [`crate::passes::group_blind`].
    pub group_blind: bool,
}

/// A program that was built: everything a launch needs.
#[derive(Clone, Debug)]
pub struct Program {
    /// IR after the build-time passes.
    pub module: Arc<ir::Module>,
    /// Kernels in order of their definition.
    pub kernels: Vec<KernelInfo>,
    /// Bytes of program-scope `__global` variables.
    pub global_variable_size: u64,
}

impl Program {
    /// A program of a module that went through the passes of a build.
    pub(crate) fn new(module: ir::Module, mut kernels: Vec<KernelInfo>) -> Self {
        for (func, function) in (0..).map(ir::Func).zip(&module.functions).filter(|(_, function)| function.kernel.is_some()) {
            let blind = crate::passes::group_blind(&module, func);
            kernels.iter_mut().filter(|kernel| kernel.name == function.name).for_each(|kernel| kernel.group_blind = blind);
        }
        let global_variable_size = module.globals.iter().filter(|g| g.space == ir::Space::Global).map(|g| u64::from(g.size)).sum();
        Self { module: Arc::new(module), kernels, global_variable_size }
    }

    /// Says if the variables are more than any device holds.
    pub(crate) fn check_variables(&self) -> Result<(), String> {
        let size = self.global_variable_size.max(ProgramLayout::of(&self.module.globals).global_size.into());
        if size <= MAX_GLOBAL_VARIABLES {
            return Ok(());
        }
        Err(format!("the program's variables take {size} bytes of global memory, this device allows {MAX_GLOBAL_VARIABLES}"))
    }
}

/// What came of a build.
#[derive(Clone, Debug)]
pub struct BuildResult {
    /// `None` if the source was refused.
    pub program: Option<Program>,
    /// The build log: diagnostics in clang's form, empty if there are none.
    pub log: String,
    /// Every file of the file system that was looked for, and what it contained, if it was there: the result depends on them.
    pub files: Vec<(PathBuf, Option<Vec<u8>>)>,
}

impl BuildResult {
    /// A build that came to nothing.
    pub fn refused(log: String) -> Self {
        Self { program: None, log, files: Vec::new() }
    }
}

/// A source and its embedded headers (clCompileProgram).
#[derive(Clone, Debug, Default)]
pub struct Source {
    /// The text.
    pub text: String,
    /// Name in diagnostics, `<source>` where there is none.
    pub name: Option<String>,
    /// Headers by the names that `#include` uses.
    pub headers: BTreeMap<String, String>,
}
