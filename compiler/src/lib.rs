//! A compiler for OpenCL C: it checks sources, compiles kernels to SPIR-V, WGSL, MSL, HLSL or GLSL, describes their
//! arguments, and runs them with an interpreter. It does not need an OpenCL driver.
//!
//! ```
//! use wgcl_compiler::{Device, Language, Launch, Options, compile};
//!
//! let source = "kernel void add(global const float *a, global float *b) { int i = get_global_id(0); b[i] += a[i]; }";
//! let program = compile(source, &Options::new(Device::WebGpu))?;
//! let shader = program.shader("add", &Launch::new([64, 1, 1]))?;
//! let wgsl = shader.text(Language::Wgsl)?;
//! assert!(wgsl.contains("fn add("));
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! 1. [`compile`] creates a [`Program`] from a source and [`Options`]. [`check`] only returns the [`Diagnostic`]s.
//! 2. [`Program::kernels`] describes the kernels and their arguments.
//! 3. [`Program::shader`] compiles a kernel for a [`Device`]. [`Shader::spirv`] and [`Shader::text`] return the code.
//! 4. [`Shader::bindings`] lists the resources to bind, and [`Shader::arguments`] fills the argument buffer.
//! 5. [`Program::run`] runs a kernel with the interpreter, which checks each access.
//! 6. [`Program::listing`] prints a stage of a kernel, such as its machine code, with the lines of the source.
//!
//! The folder `examples/wgpu` contains a complete program that runs a kernel with wgpu.
//!
//! # Features
//!
//! | feature | contents | dependencies |
//! |---|---|---|
//! | none | the front end, reflection and the interpreter | no shader or machine code generators |
//! | `shaders` | SPIR-V output | naga |
//! | `languages` | WGSL, MSL, HLSL and GLSL output; implies `shaders` | naga's writers |
//! | `spirv-input` | `compile_spirv` | rspirv |
//! | `native` | machine code for CPUs, for the OpenCL driver | wgcl-codegen |
//!
//! All features are enabled by default.
//!
//! # Stability
//!
//! The items on this page follow semantic versioning. The hidden modules belong to the OpenCL driver wgcl and change
//! without notice.
//!
//! # The stages
//!
//! ```text
//! source -> preprocess -> parse -> ast -> sema -> thir -> lower -> ir -> passes -> [specialise] -> emit -> naga
//! ```
//! The stages up to `passes` run when a program is built. When a kernel is launched, `specialise::specialise` compiles
//! a shader, or `vectorize` compiles machine code. The crates of the driver use `build`, or `front` for single stages.
//! `spirv` converts a SPIR-V module to the same IR.

#![forbid(unsafe_code)]
#![warn(unreachable_pub)]
// Without the code generators, some passes and analyses are not used.
#![cfg_attr(
    not(all(feature = "shaders", feature = "languages", feature = "native", feature = "spirv-input")),
    allow(dead_code, unused_imports)
)]

#[doc(hidden)]
pub mod address_space;
mod analysis;
mod api;
mod ast;
#[doc(hidden)]
pub mod binding;
#[doc(hidden)]
pub mod build;
#[doc(hidden)]
pub mod builtins;
#[doc(hidden)]
pub mod diag;
mod doubles;
#[doc(hidden)]
pub mod editor;
#[cfg(feature = "shaders")]
#[doc(hidden)]
pub mod emit;
#[doc(hidden)]
pub mod enqueue;
#[doc(hidden)]
pub mod fma;
#[doc(hidden)]
pub mod front;
mod half_conversion;
#[doc(hidden)]
pub mod image;
mod internal;
#[doc(hidden)]
pub mod interpret;
#[doc(hidden)]
pub mod ir;
#[doc(hidden)]
pub mod launch;
#[doc(hidden)]
pub mod layout;
mod lex;
#[doc(hidden)]
pub mod link;
mod lower;
#[doc(hidden)]
pub mod options;
#[doc(hidden)]
pub mod parallel;
mod parse;
#[doc(hidden)]
pub mod passes;
#[doc(hidden)]
pub mod pipe;
#[doc(hidden)]
pub mod pointer;
mod preprocess;
#[doc(hidden)]
pub mod printf;
#[doc(hidden)]
pub mod program;
#[doc(hidden)]
pub mod project;
mod reflection;
mod sema;
#[doc(hidden)]
pub mod specialise;
#[cfg(feature = "spirv-input")]
#[doc(hidden)]
pub mod spirv;
#[doc(hidden)]
pub mod stored;
mod structurize;
#[doc(hidden)]
pub mod target;
mod thir;
#[doc(hidden)]
pub mod timing;
#[cfg(feature = "native")]
#[doc(hidden)]
pub mod vectorize;
mod word_list;

#[cfg(all(feature = "languages", feature = "native"))]
pub use api::Cpu;
#[cfg(feature = "languages")]
pub use api::Language;
#[cfg(feature = "spirv-input")]
pub use api::compile_spirv;
pub use api::{
    Addressing, Argument, ArgumentKind, CompileError, Device, Diagnostic, DiagnosticKind, Image, ImageFormat, Kernel, Location, Note,
    Options, OptionsError, Program, Range, RunError, Sampler, Value, Version, check, compile,
};
#[cfg(feature = "shaders")]
pub use api::{Binding, BindingKind, Launch, Resource, Shader, ShaderError};
#[cfg(feature = "languages")]
pub use api::{Form, Listing};
