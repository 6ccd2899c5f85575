//! Maps an adapter's limits, features and driver to the properties that OpenCL reports and to the compiler's target.

use wgcl_api::backend::{DeviceKind, DeviceProperties, ExternalMemory, ExternalSemaphore, HardwareFacts, PreferredGroup, SvmCapabilities};
use wgcl_api::options::Options;
use wgcl_api::types::graphics::HAS_OPENGL;
use wgcl_compiler::target::{
    AtomicOrder, Costs, Defects, FloatControls, Inlining, Language, Limits, Shaders, Target, ValueChecks, Zeroed, profiles,
};
use wgpu::Features;

use crate::adapter::capabilities::{Capabilities, NEAR, memory};
use crate::adapter::mesa;
use crate::adapter::settings::Settings;
use crate::adapter::subgroups::{group_limit, subgroup_size, subgroup_sizes};
use crate::vendor::{self, NVIDIA};
use crate::vulkan::device_facts::{DeviceFacts, SizeLimits};

/// Maximum number of bindings per kernel and descriptor type, even if the device reports more (some report a million).
/// Kernel parameters have at most 4,096 bytes in total, so a kernel has at most 512 pointers of 64 bits.
const MAX_BINDINGS: u32 = 512;

/// The minimum of CL_DEVICE_MAX_MEM_ALLOC_SIZE on a device with 4 GiB of memory or more.
const REQUIRED_MAX_ALLOCATION: u64 = 1 << 30;

/// Every kernel has enough bindings for this many arguments of the maximum allocation size.
const LARGE_ARGUMENTS: u32 = 4;

pub(crate) const fn kind(device_type: wgpu::DeviceType) -> DeviceKind {
    match device_type {
        wgpu::DeviceType::DiscreteGpu => DeviceKind::DiscreteGpu,
        wgpu::DeviceType::IntegratedGpu => DeviceKind::IntegratedGpu,
        wgpu::DeviceType::VirtualGpu => DeviceKind::VirtualGpu,
        wgpu::DeviceType::Cpu => DeviceKind::Cpu,
        wgpu::DeviceType::Other => DeviceKind::Other,
    }
}

pub(crate) fn capabilities(adapter: &wgpu::Adapter, settings: Settings) -> Capabilities {
    let info = adapter.get_info();
    let features = adapter.features();
    let vulkan = info.backend == wgpu::Backend::Vulkan && !settings.portable;
    let vulkan_buffers = vulkan && features.contains(Features::MAPPABLE_PRIMARY_BUFFERS);
    let shared = matches!(kind(info.device_type), DeviceKind::Cpu | DeviceKind::IntegratedGpu);
    let spirv = vulkan && features.contains(Features::PASSTHROUGH_SHADERS);
    let facts = DeviceFacts::of(adapter);
    let vulkan_queue = vulkan_buffers && spirv && facts.timeline_semaphores;
    let unified = vulkan_buffers && shared && !settings.discrete;
    Capabilities {
        vulkan_buffers,
        spirv,
        vulkan_queue,
        unified,
        bar: vulkan_queue && !unified && facts.bar && !settings.staged,
        host_clock: is_llvmpipe(&info),
        addresses: vulkan_queue && facts.buffer_addresses && has_int64(features) && Options::get().addresses.as_deref() != Some("0"),
        distinct_bindings: info.backend == wgpu::Backend::Dx12,
        host_memory: facts.host_import_alignment.filter(|_| vulkan_queue),
    }
}

/// Whether shaders use 64-bit integers: the device supports them, and no option requests their emulation.
fn has_int64(features: Features) -> bool {
    features.contains(Features::SHADER_INT64) && !Options::get().emulates("int64")
}

/// Whether an option requests software double.
fn emulates_fp64() -> bool {
    Options::get().emulates("fp64")
}

fn is_llvmpipe(info: &wgpu::AdapterInfo) -> bool {
    info.driver == "llvmpipe" || info.name.starts_with("llvmpipe")
}

/// Returns the kinds of memory that a device can import. Only the code that uses Vulkan directly can import memory,
/// because wgpu cannot.
pub(crate) fn importable(adapter: &wgpu::Adapter, capabilities: Capabilities) -> Vec<ExternalMemory> {
    if !capabilities.vulkan_queue {
        return Vec::new();
    }
    let facts = DeviceFacts::of(adapter);
    let kinds = [(facts.opaque_fd_memory, ExternalMemory::OpaqueFd), (facts.dma_buf_memory, ExternalMemory::DmaBuf)];
    kinds.into_iter().filter(|(has, _)| *has).map(|(_, kind)| kind).collect()
}

/// Whether a device exports its memory as opaque file descriptors.
pub(crate) fn exports_memory(adapter: &wgpu::Adapter, capabilities: Capabilities) -> bool {
    capabilities.vulkan_queue && DeviceFacts::of(adapter).exports_opaque_fd
}

/// Returns the kinds of semaphores that a device shares. SYNC_FD is implemented according to Vulkan's specification. It
/// is not in the result, because no driver was available to test it.
pub(crate) fn shareable(adapter: &wgpu::Adapter, capabilities: Capabilities) -> Vec<ExternalSemaphore> {
    let shares = capabilities.vulkan_queue && DeviceFacts::of(adapter).opaque_fd_semaphores;
    if shares { vec![ExternalSemaphore::OpaqueFd] } else { Vec::new() }
}

/// Returns the properties that OpenCL reports.
pub(crate) fn device_properties(adapter: &wgpu::Adapter, capabilities: Capabilities, target: &Target) -> DeviceProperties {
    let info = adapter.get_info();
    let limits = adapter.limits();
    let facts = DeviceFacts::of(adapter);
    let kind = kind(info.device_type);
    let max_allocation = allocation_limit(&info, &limits, &facts, capabilities);
    DeviceProperties {
        name: name(&info),
        kind,
        vendor_id: info.vendor,
        device_id: info.device,
        vendor: vendor_name(info.vendor, &info.driver),
        driver: format!("{} {}", info.driver, info.driver_info).trim().to_owned(),
        api: match info.backend {
            wgpu::Backend::Vulkan => "Vulkan",
            wgpu::Backend::Metal => "Metal",
            wgpu::Backend::Dx12 => "DX12",
            wgpu::Backend::Gl => "OpenGL ES",
            _ => "wgpu",
        },
        global_memory: global_memory(memory(kind, &facts).unwrap_or_else(|| fallback_memory(max_allocation)), max_allocation),
        max_allocation,
        local_memory: limits.max_compute_workgroup_storage_size,
        max_constant_size: limits.max_uniform_buffer_binding_size.min(1 << 16) as u32,
        max_constant_args: uniform_buffers(&limits).saturating_sub(1),
        max_group_invocations: group_limit(&limits, &info, &facts, capabilities),
        max_group_size: [limits.max_compute_workgroup_size_x, limits.max_compute_workgroup_size_y, limits.max_compute_workgroup_size_z],
        max_groups: facts.max_groups.filter(|_| capabilities.vulkan_queue).unwrap_or([limits.max_compute_workgroups_per_dimension; 3]),
        base_alignment: limits.min_storage_buffer_offset_alignment.max(limits.min_uniform_buffer_offset_alignment).max(16),
        compute_units: compute_units(kind, facts.multiprocessors),
        subgroup_size: subgroup_size(&info, &facts, capabilities).unwrap_or(info.subgroup_min_size).max(1),
        max_required_subgroups: facts.subgroups.map_or(u32::MAX, |sizes| sizes.max_per_group),
        // On every device, a group of 256 work-items consists of several subgroups.
        preferred_group: PreferredGroup::fixed(256),
        // wgpu reports no cache sizes.
        cache: None,
        dedicated_local_memory: kind != DeviceKind::Cpu,
        unified_memory: capabilities.unified,
        native_kernels: capabilities.unified,
        // Shared virtual memory needs pointers of 64 bits in kernels.
        svm: if target.pointer_size() == 8 { SvmCapabilities::COARSE_GRAIN_BUFFER } else { SvmCapabilities::empty() },
        timer_resolution: 1.max(facts.timestamp_period.unwrap_or(1.0).round() as u64),
        // On lavapipe, SPIR-V with NoContraction has correctly rounded division and square root. Vulkan permits an
        // error of 2.5 ULP in division and square root, so other devices do not report correct rounding.
        correctly_rounded: is_llvmpipe(&info) && capabilities.spirv,
        uuid: facts.uuid,
        pci: pci_address(&info),
    }
}

/// Returns whether [`hardware`] can find the attributes of NVIDIA's GPUs.
pub(crate) fn has_nvidia_attributes(adapter: &wgpu::Adapter) -> bool {
    let info = adapter.get_info();
    vendor::has_nvidia_attributes(info.vendor, &info.driver, pci_address(&info))
}

/// Returns the hardware facts that the operating system's driver reports, or estimates.
pub(crate) fn hardware(adapter: &wgpu::Adapter) -> HardwareFacts {
    let info = adapter.get_info();
    vendor::hardware(kind(info.device_type), info.vendor, pci_address(&info), DeviceFacts::of(adapter).copy_queues)
}

/// Returns PCI domain, bus, device and function of an adapter, or `None` if wgpu does not report them.
pub(crate) fn pci_address(info: &wgpu::AdapterInfo) -> Option<[u32; 4]> {
    parse_pci(&info.device_pci_bus_id)
}

/// Returns the device name. A suffix marks OpenGL ES and Direct3D 12, which may list the same GPU as Vulkan.
pub(crate) fn name(info: &wgpu::AdapterInfo) -> String {
    match info.backend {
        wgpu::Backend::Gl => format!("{} (OpenGL ES)", info.name),
        wgpu::Backend::Dx12 => format!("{} (Direct3D 12)", info.name),
        _ => info.name.clone(),
    }
}

/// Parses `0000:65:00.0`: domain, bus, device and function, hexadecimal.
fn parse_pci(text: &str) -> Option<[u32; 4]> {
    let mut parts = text.split([':', '.']).map(|part| u32::from_str_radix(part, 16));
    let address = [parts.next()?.ok()?, parts.next()?.ok()?, parts.next()?.ok()?, parts.next()?.ok()?];
    parts.next().is_none().then_some(address)
}

fn uniform_buffers(limits: &wgpu::Limits) -> u32 {
    let device_limit = limits.max_uniform_buffers_per_shader_stage.min(limits.max_bindings_per_bind_group).min(MAX_BINDINGS);
    let all = limits.max_buffers_and_acceleration_structures_per_shader_stage;
    if device_limit.saturating_add(limits.max_storage_buffers_per_shader_stage) > all { device_limit.min(all / 3) } else { device_limit }
}

/// Returns the maximum number of storage buffers per kernel. The sum of storage and uniform buffers is within the limit
/// of a shader stage, because Metal counts both types together.
fn storage_buffers(limits: &wgpu::Limits) -> u32 {
    let device_limit = limits.max_storage_buffers_per_shader_stage.min(limits.max_bindings_per_bind_group).min(MAX_BINDINGS);
    device_limit.min(limits.max_buffers_and_acceleration_structures_per_shader_stage.saturating_sub(uniform_buffers(limits)))
}

/// Returns the maximum size of a buffer that shaders access by address, or `None` if it is unknown. The driver and
/// other programs need some of the memory, so the result is at most 15/16 of it.
fn largest_buffer(info: &wgpu::AdapterInfo, facts: &DeviceFacts) -> Option<u64> {
    let SizeLimits { buffer, allocation } = facts.size_limits?;
    let memory = memory(kind(info.device_type), facts)?;
    // NVIDIA's driver reports 4 GiB as the largest allocation, and allocates 32 GiB. The result for NVIDIA is a quarter
    // of the memory, as in NVIDIA's OpenCL: larger allocations have not been tested.
    let limit = if info.vendor == NVIDIA { memory / 4 } else { (memory / 16 * 15).min(allocation) };
    Some(limit.min(buffer) & !255)
}

/// Returns the maximum allocation size. `by_address` is the maximum size of a buffer that is accessed by address. If it
/// is at least 1 GiB, it is the result. Otherwise the result is the size of the largest binding. It is raised to up to
/// 1 GiB (OpenCL's minimum) if a kernel has enough bindings to split [`LARGE_ARGUMENTS`] buffers of that size. Without
/// access by address, the result is below 2 GiB, because offsets within an allocation are then signed 32-bit integers.
fn max_allocation(limits: &wgpu::Limits, by_address: &Option<u64>) -> u64 {
    if let Some(largest) = by_address.filter(|largest| *largest >= REQUIRED_MAX_ALLOCATION) {
        return largest;
    }
    let binding = limits.max_storage_buffer_binding_size;
    let split = binding.saturating_mul((storage_buffers(limits) / LARGE_ARGUMENTS).into()).min(REQUIRED_MAX_ALLOCATION);
    binding.max(split).min(limits.max_buffer_size).min(i32::MAX as u64) & !255
}

/// Returns the maximum allocation size. Considers access by address only if the backend uses it.
fn allocation_limit(info: &wgpu::AdapterInfo, limits: &wgpu::Limits, facts: &DeviceFacts, capabilities: Capabilities) -> u64 {
    max_allocation(limits, &largest_buffer(info, facts).filter(|_| capabilities.addresses))
}

/// Returns the reported memory size in bytes. The specification requires that the maximum allocation size is at least 1
/// GiB or a quarter of the memory size. If the maximum allocation size is below 1 GiB, the result is at most four times
/// this size.
fn global_memory(real: u64, max_allocation: u64) -> u64 {
    if max_allocation >= REQUIRED_MAX_ALLOCATION { real } else { real.min(max_allocation.saturating_mul(4)) }
}

/// Returns the memory size of a small GPU, for drivers that do not report their memory size.
const fn fallback_memory(max_allocation: u64) -> u64 {
    let four = max_allocation.saturating_mul(4);
    if four < 2 << 30 { four } else { 2 << 30 }
}

fn compute_units(kind: DeviceKind, multiprocessors: Option<u32>) -> u32 {
    let cores = std::thread::available_parallelism().map_or(1, |n| u32::try_from(n.get()).unwrap_or(1));
    match (kind, multiprocessors) {
        (DeviceKind::Cpu, _) => cores,
        (_, Some(count)) => count,
        (DeviceKind::IntegratedGpu, None) => 8,
        (_, None) => 32,
    }
}

fn vendor_name(id: u32, driver: &str) -> String {
    let name = match id {
        NVIDIA => "NVIDIA Corporation",
        0x1002 | 0x1022 => "AMD",
        0x8086 => "Intel",
        0x106b => "Apple",
        0x13b5 => "ARM",
        0x5143 => "Qualcomm",
        0x1010 => "Imagination Technologies",
        0x1414 => "Microsoft",
        0x1ae0 => "Google",
        0x10005 => "Mesa",
        _ if driver.is_empty() => "unknown vendor",
        _ => driver,
    };
    name.to_owned()
}

fn costs_and_defects(info: &wgpu::AdapterInfo, spirv: bool) -> (Costs, Defects) {
    let mut defects = if info.driver_info.contains("Mesa") { Defects::mesa() } else { Defects::default() };
    let mut costs = Costs::default();
    if info.vendor == NVIDIA {
        (costs, defects) = (Costs::nvidia(), Defects::nvidia());
    }
    if is_llvmpipe(info) {
        (costs, defects) = (Costs::llvmpipe(), Defects::lavapipe());
    }
    mesa::remove_fixed(&mut defects, &info.driver_info);
    // SwiftShader runs each loop iteration for several work-items together. It therefore has the same defect as
    // lavapipe, `loop_values`.
    let swiftshader = info.name.starts_with("SwiftShader");
    defects.loop_values |= swiftshader;
    defects.unsigned_minima = swiftshader;
    defects.coarse_sines = swiftshader;
    // Only shaders that naga writes can have this defect. The compiler's own SPIR-V forbids the removal of the
    // rounding.
    defects.half_rounding |= !spirv && mesa::has_half_rounding_defect(&info.driver_info);
    defects.switch_continues = info.backend == wgpu::Backend::Gl && info.driver_info.contains("Mesa");
    defects.masked_logic = is_llvmpipe(info) && mesa::has_masked_logic_defect(&info.name);
    if let Some(list) = &Options::get().defects {
        for name in defects.change(list) {
            tracing::error!("WGCL_DEFECTS: unknown defect `{name}`");
        }
    }
    (costs, defects)
}

fn shader_limits(limits: &wgpu::Limits) -> Limits {
    Limits {
        storage_buffers: storage_buffers(limits),
        uniform_buffers: uniform_buffers(limits),
        uniform_size: limits.max_uniform_buffer_binding_size.min(1 << 16) as u32,
        groups: limits.max_compute_workgroups_per_dimension,
        group_items: limits.max_compute_invocations_per_workgroup,
        function_memory: profiles::FUNCTION_MEMORY,
        expanded_instructions: profiles::EXPANDED_INSTRUCTIONS,
    }
}

/// Returns the compiler's target.
pub(crate) fn target(adapter: &wgpu::Adapter, capabilities: Capabilities) -> Target {
    let info = adapter.get_info();
    let features = adapter.features();
    let limits = adapter.limits();
    let llvmpipe = is_llvmpipe(&info);
    let facts = DeviceFacts::of(adapter);
    // Every pipeline must have the reported subgroup size. If the size may vary, subgroups are not supported.
    let subgroup_size = subgroup_size(&info, &facts, capabilities);
    let subgroups = features.contains(Features::SUBGROUP | Features::SUBGROUP_BARRIER) && subgroup_size.is_some();
    // Without the option, the cost profile of the device decides.
    let exchange = Options::get().exchange.as_deref().filter(|text| ["0", "1"].contains(text)).map(|text| text == "1");
    let (mut costs, defects) = costs_and_defects(&info, capabilities.spirv);
    costs.subgroup_coalescing = subgroups && exchange.unwrap_or(costs.subgroup_coalescing);
    let int64 = has_int64(features);
    // Kernels access the bits of a double as a 64-bit integer. The HLSL that naga writes cannot convert between a
    // double and its bits.
    let fp64 = int64 && features.contains(Features::SHADER_F64) && info.backend != wgpu::Backend::Dx12 && !emulates_fp64();
    // In shaders that naga writes, lavapipe's fence is also a work-group barrier, so fences cannot be used. The
    // compiler's SPIR-V for lavapipe contains no fences, because atomic read-modify-write operations order all
    // accesses.
    let waits = llvmpipe && info.backend != wgpu::Backend::Gl && !capabilities.spirv;
    let fences = matches!(info.backend, wgpu::Backend::Vulkan | wgpu::Backend::Gl | wgpu::Backend::Dx12) && !waits;
    // Lock-based 64-bit atomics are used only on request: no device guarantees forward progress of the work-item that
    // owns a lock. They need a fence that orders the protected accesses.
    let locks = Options::get().emulates("int64_atomics") && fences;
    let int64_atomics = int64 && features.contains(Features::SHADER_INT64_ATOMIC_ALL_OPS) && !locks;
    let int16 = features.contains(Features::SHADER_I16);
    let language = Language {
        requested_subgroup_size: None,
        int64: true,
        // Software double is slow, so it is used only on request.
        fp64: fp64 || emulates_fp64(),
        fp16: features.contains(Features::SHADER_F16),
        int64_atomics: int64_atomics || locks,
        half_atomics: defects.max_loop_iterations.is_none(),
        atomic_order: match (capabilities.spirv, llvmpipe) {
            (false, _) => AtomicOrder::Nothing,
            (true, true) => AtomicOrder::ReadModifyWrite,
            (true, false) => AtomicOrder::Fences,
        },
        subgroups,
        subgroup_size: subgroup_size.unwrap_or(info.subgroup_max_size).clamp(1, 128).next_power_of_two(),
        subgroup_sizes: subgroup_sizes(&info, &facts, capabilities),
        independent_subgroups: false,
        // Without SPIR-V passthrough, a shader may be HLSL, whose compiler may split an fma.
        fused_fma: info.vendor == NVIDIA && capabilities.spirv,
        denormals: llvmpipe || facts.float_controls.denorm_preserve & 2 != 0,
        // This rounding was only tested on NVIDIA's driver.
        rounds_to_half: info.vendor == NVIDIA && facts.float_controls.rounding_mode_rte & facts.float_controls.denorm_preserve & 1 != 0,
        half_denormals: llvmpipe || facts.float_controls.denorm_preserve & 1 != 0,
        large_objects: allocation_limit(&info, &limits, &facts, capabilities) > NEAR,
        short_elements: int16 && capabilities.spirv,
        max_local_memory: limits.max_compute_workgroup_storage_size,
        device_clock: facts.device_clock && capabilities.spirv,
        subgroup_clock: facts.subgroup_clock && capabilities.spirv,
        device_enqueue: features.contains(Features::SHADER_INT64) && capabilities.spirv,
        images: true,
        // `WgpuDevice::keeps_opengl_context` has the same condition.
        multisample_images: HAS_OPENGL && info.backend != wgpu::Backend::Gl,
        extensions: Vec::new(),
        features: Vec::new(),
        extension_changes: Options::get().extension_changes(),
    };
    let mut shaders = Shaders {
        spirv: capabilities.spirv,
        exact: capabilities.spirv,
        float_controls: if capabilities.spirv { facts.float_controls } else { FloatControls::default() },
        int64,
        fp64,
        int16,
        int8_storage: facts.int8_storage,
        addresses: capabilities.addresses,
        float_atomics: features.contains(Features::SHADER_FLOAT32_ATOMIC),
        int64_atomics,
        fences,
        uniform_barriers: false,
        limits: shader_limits(&limits),
        costs,
        defects,
    };
    // All devices with shader model 6 in use have 64-bit integers or subgroups. wgpu does not report the model.
    shaders.defects.narrow_literals = info.backend == wgpu::Backend::Dx12;
    if info.backend == wgpu::Backend::Dx12 && !features.intersects(Features::SHADER_INT64 | Features::SUBGROUP) {
        shaders.restrict_to_fxc();
    }
    let inlining = Inlining::default();
    let inlining = if Options::get().inline.as_deref() == Some("0") { inlining.keeping_all() } else { inlining };
    Target {
        language,
        shaders,
        inlining,
        native: false,
        value_checks: ValueChecks::NONE,
        marks_async_copies: false,
        zeroed: Zeroed::default(),
    }
    .with_extensions()
}

#[cfg(test)]
mod tests {
    use super::{max_allocation, parse_pci};

    #[test]
    fn large_allocations_leave_bindings_for_several_arguments() {
        let limits = |bindings, binding: u64| wgpu::Limits {
            max_storage_buffers_per_shader_stage: bindings,
            max_bindings_per_bind_group: 1000,
            max_storage_buffer_binding_size: binding,
            max_buffer_size: 4 << 30,
            ..wgpu::Limits::default()
        };
        let cases = [
            (16, 128 << 20, 512 << 20),
            (8, 128 << 20, 256 << 20),
            (4, 128 << 20, 128 << 20),
            (1000, 128 << 20, 1 << 30),
            (8, 2 << 30, (2 << 30) - 256),
        ];
        for (bindings, binding, largest) in cases {
            let limits = wgpu::Limits { max_buffers_and_acceleration_structures_per_shader_stage: 2000, ..limits(bindings, binding) };
            assert_eq!(max_allocation(&limits, &None), largest, "{bindings} bindings of {binding} bytes");
        }
        assert_eq!(max_allocation(&limits(16, 128 << 20), &Some(8 << 30)), 8 << 30, "by addresses");
    }

    #[test]
    fn pci_addresses_are_parsed() {
        assert_eq!(parse_pci("0000:65:00.0"), Some([0, 0x65, 0, 0]));
        assert_eq!(parse_pci("10001:ff:1f.7"), Some([0x1_0001, 0xff, 0x1f, 7]));
        for wrong in ["", "0000:65:00", "0000:65:00.0.1", "zz:65:00.0"] {
            assert_eq!(parse_pci(wrong), None, "{wrong}");
        }
    }
}
