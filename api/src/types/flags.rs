//! Bit fields of the API that several modules use.

use bitflags::bitflags;

bitflags! {
    /// cl_device_type
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct DeviceType: u64 {
        /// CL_DEVICE_TYPE_DEFAULT
        const DEFAULT = 1 << 0;
        /// CL_DEVICE_TYPE_CPU
        const CPU = 1 << 1;
        /// CL_DEVICE_TYPE_GPU
        const GPU = 1 << 2;
        /// CL_DEVICE_TYPE_ACCELERATOR
        const ACCELERATOR = 1 << 3;
        /// CL_DEVICE_TYPE_CUSTOM
        const CUSTOM = 1 << 4;
    }

    /// cl_command_queue_properties
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
    pub struct QueueProperties: u64 {
        /// CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE
        const OUT_OF_ORDER = 1 << 0;
        /// CL_QUEUE_PROFILING_ENABLE
        const PROFILING = 1 << 1;
        /// CL_QUEUE_ON_DEVICE
        const ON_DEVICE = 1 << 2;
        /// CL_QUEUE_ON_DEVICE_DEFAULT
        const ON_DEVICE_DEFAULT = 1 << 3;
    }
}

impl DeviceType {
    /// CL_DEVICE_TYPE_ALL: the low 32 bits are set.
    pub const ANY: Self = Self::from_bits_retain(0xffff_ffff);
}
