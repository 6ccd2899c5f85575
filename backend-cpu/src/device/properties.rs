//! The properties that the device reports.

use wgcl_api::backend::{DeviceKind, DeviceProperties, PreferredGroup, SvmCapabilities};
use wgcl_api::types::uuid;
use wgcl_codegen::Isa;
use wgcl_compiler::target::Target;
use wgcl_runtime::host;

use crate::device::processor::{Processor, processor};
use crate::memory::host_allocation;

/// Reported memory size in bytes, if the operating system does not report one.
const UNKNOWN_MEMORY: u64 = 1 << 30;
/// Maximum work-items per group.
const MAX_GROUP: u32 = 4096;
/// Reported maximum size of a `__constant` argument, in bytes. Constant memory is ordinary memory. The limit is low,
/// because a program may allocate the whole reported size.
const MAX_CONSTANT: u32 = 64 << 20;
/// Reported maximum number of `__constant` arguments. They fit the maximum parameter size.
const MAX_CONSTANT_ARGS: u32 = 128;

/// Returns the memory limit of this process in bytes, or `None` if it is unknown.
fn machine_memory() -> Option<u64> {
    #[cfg(windows)]
    return crate::memory::physical_memory();
    #[cfg(not(windows))]
    return host::memory::total();
}

/// The properties of the CPU with `threads` compute units.
pub(crate) fn properties(isa: Isa, threads: usize, target: &Target) -> DeviceProperties {
    let Processor { name, vendor, vendor_id, signature } = processor();
    let uuid = uuid::of_parts(&[b"wgcl CPU device", vendor.as_bytes(), name.as_bytes(), &signature.to_le_bytes()]);
    let driver_uuid = uuid::of_parts(&[b"wgcl CPU driver", env!("CARGO_PKG_VERSION").as_bytes()]);
    let memory = machine_memory().unwrap_or(UNKNOWN_MEMORY) & !4095;
    DeviceProperties {
        name,
        kind: DeviceKind::Cpu,
        vendor_id,
        device_id: 0,
        vendor,
        driver: format!("{} {}", env!("CARGO_PKG_VERSION"), isa.name()),
        api: "CPU",
        global_memory: memory,
        // The system provides pages at the first access, so a buffer may be as large as the memory.
        max_allocation: memory,
        local_memory: target.language.max_local_memory,
        max_constant_size: MAX_CONSTANT,
        max_constant_args: MAX_CONSTANT_ARGS,
        max_group_invocations: MAX_GROUP,
        max_group_size: [MAX_GROUP; 3],
        max_groups: [u32::MAX; 3],
        base_alignment: host_allocation::ALIGN as u32,
        compute_units: u32::try_from(threads).unwrap_or(u32::MAX),
        subgroup_size: target.language.subgroup_size,
        max_required_subgroups: u32::MAX,
        preferred_group: PreferredGroup { min_items: 64, max_items: 1024, groups_per_unit: 8 },
        cache: host::cache(),
        dedicated_local_memory: false,
        unified_memory: true,
        native_kernels: true,
        svm: SvmCapabilities::all(),
        timer_resolution: 1,
        correctly_rounded: true,
        uuid: Some((uuid, driver_uuid)),
        pci: None,
    }
}
