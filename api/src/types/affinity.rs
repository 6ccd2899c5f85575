//! Affinity domains of a device (OpenCL API 4.3): which compute units share a cache or memory.

use bitflags::bitflags;

bitflags! {
    /// cl_device_affinity_domain
    #[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
    pub struct AffinityDomain: u64 {
        /// CL_DEVICE_AFFINITY_DOMAIN_NUMA
        const NUMA = 1 << 0;
        /// CL_DEVICE_AFFINITY_DOMAIN_L4_CACHE
        const L4_CACHE = 1 << 1;
        /// CL_DEVICE_AFFINITY_DOMAIN_L3_CACHE
        const L3_CACHE = 1 << 2;
        /// CL_DEVICE_AFFINITY_DOMAIN_L2_CACHE
        const L2_CACHE = 1 << 3;
        /// CL_DEVICE_AFFINITY_DOMAIN_L1_CACHE
        const L1_CACHE = 1 << 4;
        /// CL_DEVICE_AFFINITY_DOMAIN_NEXT_PARTITIONABLE: the widest domain that divides the device.
        const NEXT_PARTITIONABLE = 1 << 5;
    }
}

/// The division of a device by a domain.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Division {
    /// The domain that the compute units of a part share; never [`AffinityDomain::NEXT_PARTITIONABLE`].
    pub domain: AffinityDomain,
    /// The numbers of the compute units of each part, counted from 0. There are at least two parts.
    pub parts: Vec<Vec<u32>>,
}
