//! A call of the sanitizer by generated code.

/// The arguments of a call. See `LaunchContext::check` of `wgcl_compiler::vectorize::abi`.
#[derive(Clone, Copy, Debug)]
pub(super) struct AccessRequest {
    pub(super) address: u64,
    /// The address of the object that the pointer was computed from. It is the address of the arena if the object is
    /// unknown.
    pub(super) base: u64,
    /// Index of the access site.
    pub(super) site: usize,
    /// Linear local id of the work-item.
    pub(super) local_id: u32,
    pub(super) group_id: [u32; 3],
}
