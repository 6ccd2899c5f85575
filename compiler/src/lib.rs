//! OpenCL C and SPIR-V to naga and to the code of CPUs: the compiler of wgcl.
//!
//! ```text
//! source -> preprocess -> parse -> ast -> sema -> thir -> lower -> ir -> passes -> [specialise] -> emit -> naga
//! ```
//! Everything up to the IR happens when a program is built; [`specialise::specialise`] makes a shader when a kernel is launched.
//!
//! From outside, a source goes into [`build`] or, stage by stage, through [`front`]; the stages themselves are nobody else's. A module of SPIR-V goes into [`spirv`], which makes the same IR of it.

#![forbid(unsafe_code)]
#![warn(unreachable_pub)]

mod analysis;
mod ast;
pub mod build;
pub mod builtins;
pub mod diag;
mod doubles;
pub mod emit;
pub mod enqueue;
pub mod front;
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
mod reflection;
mod sema;
pub mod specialise;
pub mod spirv;
pub mod stored;
pub mod target;
mod thir;
pub mod timing;
pub mod vectorize;
