//! Types of shared virtual memory and of unified shared memory.

use std::sync::Arc;

use bitflags::bitflags;

use crate::objects::device::Device;

/// The extension or version whose entry point the application calls. The functions are the same, but the types of the
/// commands differ.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SvmApi {
    /// OpenCL 2.0.
    Core,
    /// cl_arm_shared_virtual_memory
    Arm,
}

/// The addresses and the size in bytes of a copy.
#[derive(Clone, Copy, Debug)]
pub struct SvmCopy {
    pub dst: usize,
    pub src: usize,
    pub size: u64,
}

bitflags! {
    /// cl_device_unified_shared_memory_capabilities_intel
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct UsmCapabilities: u64 {
        /// CL_UNIFIED_SHARED_MEMORY_ACCESS_INTEL
        const ACCESS = 1 << 0;
        /// CL_UNIFIED_SHARED_MEMORY_ATOMIC_ACCESS_INTEL
        const ATOMIC_ACCESS = 1 << 1;
        /// CL_UNIFIED_SHARED_MEMORY_CONCURRENT_ACCESS_INTEL
        const CONCURRENT_ACCESS = 1 << 2;
        /// CL_UNIFIED_SHARED_MEMORY_CONCURRENT_ATOMIC_ACCESS_INTEL
        const CONCURRENT_ATOMIC_ACCESS = 1 << 3;
    }

    /// cl_mem_alloc_flags_intel: hints, which have no effect here.
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct UsmFlags: u64 {
        /// CL_MEM_ALLOC_WRITE_COMBINED_INTEL
        const WRITE_COMBINED = 1 << 0;
        /// CL_MEM_ALLOC_INITIAL_PLACEMENT_DEVICE_INTEL
        const PLACED_ON_DEVICE = 1 << 1;
        /// CL_MEM_ALLOC_INITIAL_PLACEMENT_HOST_INTEL
        const PLACED_ON_HOST = 1 << 2;
    }
}

/// cl_unified_shared_memory_type_intel; the values are the specification's.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum UsmType {
    /// CL_MEM_TYPE_HOST_INTEL
    Host = 0x4197,
    /// CL_MEM_TYPE_DEVICE_INTEL
    Device = 0x4198,
    /// CL_MEM_TYPE_SHARED_INTEL
    Shared = 0x4199,
}

/// The requested properties of an allocation.
#[derive(Clone, Debug)]
pub struct Usm {
    /// CL_MEM_ALLOC_TYPE_INTEL
    pub kind: UsmType,
    /// CL_MEM_ALLOC_DEVICE_INTEL
    pub device: Option<Arc<Device>>,
    /// CL_MEM_ALLOC_FLAGS_INTEL
    pub flags: UsmFlags,
}

/// An allocation, for clGetMemAllocInfoINTEL.
#[derive(Clone, Debug)]
pub struct UsmInfo {
    /// CL_MEM_ALLOC_BASE_PTR_INTEL
    pub base: usize,
    /// CL_MEM_ALLOC_SIZE_INTEL
    pub size: u64,
    /// The requested unified shared memory properties.
    pub usm: Usm,
}
