//! What the device says of itself.

use wgcl_api::backend::{DeviceKind, DeviceProperties, PreferredGroup, SvmCapabilities};
use wgcl_api::types::uuid;
use wgcl_codegen::Isa;
use wgcl_compiler::target::Target;
use wgcl_runtime::host;

use crate::device::processor::{Processor, processor};

/// Bytes of memory that are reported where the system does not tell.
const UNKNOWN_MEMORY: u64 = 1 << 30;
/// Work-items of a group.
const MAX_GROUP: u32 = 4096;
/// Bytes of `__constant` arguments: they are memory like all other, but a program that fills what a device reports should not fill all of it.
const MAX_CONSTANT: u32 = 64 << 20;
/// Pointers that fit the bytes of parameters which the API allows.
const MAX_CONSTANT_ARGS: u32 = 128;

/// The properties of the host's CPU, run by so many threads.
pub(crate) fn properties(isa: Isa, threads: usize, target: &Target) -> DeviceProperties {
    let Processor { name, vendor, vendor_id, signature } = processor();
    let uuid = uuid::of_parts(&[b"wgcl CPU device", vendor.as_bytes(), name.as_bytes(), &signature.to_le_bytes()]);
    let driver_uuid = uuid::of_parts(&[b"wgcl CPU driver", env!("CARGO_PKG_VERSION").as_bytes()]);
    let memory = host::memory::total().unwrap_or(UNKNOWN_MEMORY) & !4095;
    DeviceProperties {
        name,
        kind: DeviceKind::Cpu,
        vendor_id,
        device_id: 0,
        vendor,
        driver: format!("{} {}", env!("CARGO_PKG_VERSION"), isa_name(isa)),
        api: "CPU",
        global_memory: memory,
        // As much as can be had while the host keeps some for itself.
        max_allocation: (memory / 4 * 3) & !4095,
        local_memory: target.language.max_local_memory,
        max_constant_size: MAX_CONSTANT,
        max_constant_args: MAX_CONSTANT_ARGS,
        max_group_invocations: MAX_GROUP,
        max_group_size: [MAX_GROUP; 3],
        max_groups: [u32::MAX; 3],
        base_alignment: crate::memory::host_allocation::ALIGN as u32,
        compute_units: u32::try_from(threads).unwrap_or(u32::MAX),
        clock_mhz: host::clock_mhz(),
        subgroup_size: target.language.subgroup_size,
        max_required_subgroups: u32::MAX,
        preferred_group: PreferredGroup { least: 64, most: 1024, groups_per_unit: 8 },
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

/// The instruction set of a name, as `WGCL_CPU_ISA` takes it.
pub fn isa_named(name: &str) -> Option<Isa> {
    [Isa::Sse42, Isa::Avx2, Isa::Avx512].into_iter().find(|&isa| isa_name(isa) == name)
}

/// Its name.
pub(crate) const fn isa_name(isa: Isa) -> &'static str {
    match isa {
        Isa::Sse42 => "sse4.2",
        Isa::Avx2 => "avx2",
        Isa::Avx512 => "avx512",
    }
}
