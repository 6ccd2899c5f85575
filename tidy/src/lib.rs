//! Checks of the source of this repository: the language of comments and messages, sizes, and module structure.
//!
//! `cargo test -p wgcl-tidy` runs the checks. `cargo run -p wgcl-tidy -- compiler/src/passes` lists every finding under
//! a path, including those that `tidy/baseline.txt` permits. The crate has no dependencies, so it builds in a second.
//!
//! In this diagram, the labels of the arrows are modules:
//!
//! ```text
//! file ─ files ─▶ kind ─ syntax ─▶ code, comments, strings ─ prose ─▶ words, sentences ─ rules, words ─▶ findings
//! ```

#![forbid(unsafe_code)]
#![allow(missing_docs, reason = "the names of fields and methods describe them")]

pub mod baseline;
pub mod files;
pub mod imports;
pub mod prose;
pub mod rules;
pub mod syntax;
pub mod words;
