//! OpenCL C to naga: the compiler of wgcl.
//!
//! ```text
//! source -> preprocess -> parse -> ast -> sema -> thir -> lower -> ir -> passes -> [specialise] -> emit -> naga
//! ```
//! Everything up to the IR happens when a program is built; [`specialise::specialise`] makes a shader when a kernel is launched.

#![forbid(unsafe_code)]
#![warn(unreachable_pub)]

pub(crate) mod analysis;
pub mod ast;
pub mod build;
pub mod builtins;
pub mod diag;
pub mod emit;
pub mod image;
mod internal;
pub mod interpret;
pub mod ir;
pub mod launch;
pub mod layout;
pub mod lex;
pub mod link;
pub mod lower;
pub mod options;
pub mod parallel;
pub mod parse;
pub mod passes;
pub mod pointer;
pub mod preprocess;
pub mod printf;
pub mod program;
pub mod reflection;
pub mod sema;
pub mod specialise;
pub mod stored;
pub mod target;
pub mod thir;
pub mod timing;
