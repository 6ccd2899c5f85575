//! The kernel sanitizer (`WGCL_CHECK`): a function that checked kernels call before each memory access, barrier, atomic operation and division
//! (`wgcl_compiler::native::check`).
//!
//! | module | what it does |
//! |---|---|
//! | [`checker`] | checks one access: bounds, alignment, initialization, access rights |
//! | [`shadow_memory`] | records which work-item accessed which byte last, and finds data races |
//! | [`happens_before`] | counts the barriers, fences and atomic operations that order accesses; finds divergent barriers |
//! | [`report`] | prints a finding once, in the format of a compiler diagnostic |

mod checker;
mod happens_before;
pub(crate) mod report;
mod shadow_memory;

pub(crate) use checker::{Checker, Common, ask};
