//! The C ABI of wgcl.
