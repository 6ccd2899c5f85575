//! The compiler of wgcl: compiles OpenCL C and SPIR-V to naga modules and to machine code for CPUs.
//!
//! ```text
//! source -> preprocess -> parse -> ast -> sema -> thir -> lower -> ir -> passes -> [specialise] -> emit -> naga
//! ```
//! The stages up to `passes` run when a program is built. When a kernel is launched, [`specialise::specialise`]
//! compiles a shader, or [`vectorize`] compiles machine code.
//!
//! Other crates use [`build`], or [`front`] for single stages. The modules of the front end's stages are private.
//! [`spirv`] converts a SPIR-V module to the same IR.

#![forbid(unsafe_code)]
#![warn(unreachable_pub)]

pub mod address_space;
mod analysis;
mod ast;
pub mod binding;
pub mod build;
pub mod builtins;
pub mod diag;
mod doubles;
pub mod editor;
pub mod emit;
pub mod enqueue;
pub mod front;
mod half_conversion;
pub mod image;
mod internal;
pub mod interpret;
pub mod ir;
pub mod launch;
pub mod layout;
mod lex;
pub mod link;
mod lower;
pub mod options;
pub mod parallel;
mod parse;
pub mod passes;
pub mod pipe;
pub mod pointer;
mod preprocess;
pub mod printf;
pub mod program;
pub mod project;
mod reflection;
mod sema;
pub mod specialise;
pub mod spirv;
pub mod stored;
mod structurize;
pub mod target;
mod thir;
pub mod timing;
pub mod vectorize;
mod word_list;
