//! The kernel sanitizer (`WGCL_CHECK`): a function that instrumented kernels call
//! (`wgcl_compiler::vectorize::sanitize`). The calls are at the start and end of a work-group, and before each memory
//! access, barrier, fence, collective operation and integer division. With `WGCL_CHECK=nan`, there are also calls after
//! each operation that produces a NaN. With `WGCL_CHECK=convert`, there are also calls before each conversion that is
//! out of range.
//!
//! | module | task |
//! |---|---|
//! | [`checker`] | checks one access: bounds, alignment, initialisation, access rights |
//! | [`shadow_memory`] | records which work-item accessed which byte last, and finds data races |
//! | [`happens_before`] | counts barriers, fences and atomic operations, and detects divergent barriers |
//! | [`report`] | prints each finding once, in the format of a compiler diagnostic |

mod checker;
mod happens_before;
pub(crate) mod report;
mod request;
mod shadow_memory;

pub(crate) use checker::{CheckedDispatch, Checker, LaunchState, check_access};
