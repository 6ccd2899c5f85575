//! Information about a source for editors and other tools: the declarations and uses of names, tokens, and the built-in
//! functions.
//!
//! `sema` and `preprocess` record the names in a [`Recorder`] while they check a source. Builds have no recorder.

pub mod catalogue;
pub mod flow;
pub mod index;
mod recorder;
pub mod tokens;

pub(crate) use recorder::{Recorder, Tagged};
