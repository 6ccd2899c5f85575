//! Settings of the backend.

/// Settings of a [`WgpuBackend`](crate::WgpuBackend).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Whether to use only wgpu's portable interface: no host addresses, no SPIR-V passthrough, staged transfers.
    /// OpenGL ES, Metal and DX12 always work this way. The setting tests this path on Vulkan.
    pub portable: bool,
    /// Whether to treat every device as a discrete GPU: staged transfers even where the device shares the host's
    /// memory.
    pub discrete: bool,
    /// Whether to never write device memory across the bus. Devices without Resizable BAR always work this way.
    pub staged: bool,
}
