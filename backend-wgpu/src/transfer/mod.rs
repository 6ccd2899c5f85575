//! Reads, writes, copies and fills.

pub(crate) mod builtin_kernels;
pub(crate) mod path;
pub(crate) mod transfers;
