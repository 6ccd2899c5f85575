//! Devices: their OpenCL properties, computed from those of the backend (OpenCL API 4.2).

pub mod opencl_version;
pub mod partition;
pub mod spirv_support;

use std::sync::Arc;

use bitflags::bitflags;

use crate::backend::{self, DeviceKind, DeviceProperties, ExternalMemory, ExternalSemaphore};
use crate::built_in_kernels;
use crate::options::Options;
use crate::options::device_type::{self, TypeChoice};
use crate::types::flags::{DeviceType, QueueProperties};
use crate::types::graphics::HAS_OPENGL;
use crate::types::object::{HandleSlot, Object};
use crate::types::version::{NameVersion, Version};
use wgcl_compiler::target::{Language, Target};

bitflags! {
    /// cl_device_fp_config
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct FpConfig: u64 {
        /// CL_FP_DENORM
        const DENORM = 1 << 0;
        /// CL_FP_INF_NAN
        const INF_NAN = 1 << 1;
        /// CL_FP_ROUND_TO_NEAREST
        const ROUND_TO_NEAREST = 1 << 2;
        /// CL_FP_ROUND_TO_ZERO
        const ROUND_TO_ZERO = 1 << 3;
        /// CL_FP_ROUND_TO_INF
        const ROUND_TO_INF = 1 << 4;
        /// CL_FP_FMA
        const FMA = 1 << 5;
        /// CL_FP_SOFT_FLOAT
        const SOFT_FLOAT = 1 << 6;
        /// CL_FP_CORRECTLY_ROUNDED_DIVIDE_SQRT
        const CORRECTLY_ROUNDED_DIVIDE_SQRT = 1 << 7;
    }

    /// cl_device_atomic_capabilities
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct AtomicCapabilities: u64 {
        /// CL_DEVICE_ATOMIC_ORDER_RELAXED
        const ORDER_RELAXED = 1 << 0;
        /// CL_DEVICE_ATOMIC_ORDER_ACQ_REL
        const ORDER_ACQ_REL = 1 << 1;
        /// CL_DEVICE_ATOMIC_ORDER_SEQ_CST
        const ORDER_SEQ_CST = 1 << 2;
        /// CL_DEVICE_ATOMIC_SCOPE_WORK_ITEM
        const SCOPE_WORK_ITEM = 1 << 3;
        /// CL_DEVICE_ATOMIC_SCOPE_WORK_GROUP
        const SCOPE_WORK_GROUP = 1 << 4;
        /// CL_DEVICE_ATOMIC_SCOPE_DEVICE
        const SCOPE_DEVICE = 1 << 5;
        /// CL_DEVICE_ATOMIC_SCOPE_ALL_DEVICES
        const SCOPE_ALL_DEVICES = 1 << 6;
    }
}

bitflags! {
    /// cl_device_fp_atomic_capabilities_ext
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct FpAtomicCapabilities: u64 {
        /// CL_DEVICE_GLOBAL_FP_ATOMIC_LOAD_STORE_EXT
        const GLOBAL_LOAD_STORE = 1 << 0;
        /// CL_DEVICE_GLOBAL_FP_ATOMIC_ADD_EXT
        const GLOBAL_ADD = 1 << 1;
        /// CL_DEVICE_GLOBAL_FP_ATOMIC_MIN_MAX_EXT
        const GLOBAL_MIN_MAX = 1 << 2;
        /// CL_DEVICE_LOCAL_FP_ATOMIC_LOAD_STORE_EXT
        const LOCAL_LOAD_STORE = 1 << 16;
        /// CL_DEVICE_LOCAL_FP_ATOMIC_ADD_EXT
        const LOCAL_ADD = 1 << 17;
        /// CL_DEVICE_LOCAL_FP_ATOMIC_MIN_MAX_EXT
        const LOCAL_MIN_MAX = 1 << 18;
    }

    /// cl_device_kernel_clock_capabilities_khr
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct KernelClocks: u64 {
        /// CL_DEVICE_KERNEL_CLOCK_SCOPE_DEVICE_KHR
        const DEVICE = 1 << 0;
        /// CL_DEVICE_KERNEL_CLOCK_SCOPE_WORK_GROUP_KHR
        const WORK_GROUP = 1 << 1;
        /// CL_DEVICE_KERNEL_CLOCK_SCOPE_SUB_GROUP_KHR
        const SUB_GROUP = 1 << 2;
    }

    /// cl_device_integer_dot_product_capabilities_khr
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    pub struct DotProductCapabilities: u64 {
        /// CL_DEVICE_INTEGER_DOT_PRODUCT_INPUT_4x8BIT_PACKED_KHR
        const INPUT_4X8BIT_PACKED = 1 << 0;
        /// CL_DEVICE_INTEGER_DOT_PRODUCT_INPUT_4x8BIT_KHR
        const INPUT_4X8BIT = 1 << 1;
    }
}

/// The implemented version of an extension.
fn extension_version(name: &str) -> Version {
    match name {
        "cl_khr_integer_dot_product" => Version::new(2, 0, 0),
        // Applications need the exact version of this provisional extension: before 0.9.5 its functions had other
        // parameters.
        "cl_khr_command_buffer" => Version::new(0, 9, 8),
        "cl_khr_command_buffer_multi_device" => Version::new(0, 9, 2),
        // Before 0.9.2, an update was passed as a chain of structures.
        "cl_khr_command_buffer_mutable_dispatch" => Version::new(0, 9, 5),
        "cl_intel_unified_shared_memory" => Version::new(1, 1, 0),
        "cl_ext_buffer_device_address" => Version::new(1, 0, 2),
        "cl_khr_semaphore" | "cl_khr_external_memory" | "cl_khr_external_semaphore" => Version::new(1, 0, 1),
        _ => Version::new(1, 0, 0),
    }
}

/// Maximum bytes of by-value and pointer arguments of a kernel (CL_DEVICE_MAX_PARAMETER_SIZE). OpenCL 3.0 requires
/// 1,024; other drivers report 4,096 or more.
pub const MAX_PARAMETER_SIZE: u64 = 4096;

/// Bytes of CL_DEVICE_PRINTF_BUFFER_SIZE.
pub const PRINTF_BUFFER_SIZE: u64 = wgcl_compiler::printf::BUFFER_SIZE as u64;

/// Bytes of local memory for a named barrier, rounded up to the usual alignment of local variables.
const LOCAL_BYTES_PER_NAMED_BARRIER: u32 = 16;

/// Smallest CL_DEVICE_MEM_BASE_ADDR_ALIGN in bytes: the size of `long16`, the largest type.
pub(crate) const LARGEST_TYPE: u32 = 128;

/// The limits of images, of image arguments and of samplers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ImageLimits {
    /// CL_DEVICE_IMAGE2D_MAX_WIDTH and ..._HEIGHT, which hold for images of one dimension too.
    pub size_2d: u64,
    /// CL_DEVICE_IMAGE3D_MAX_WIDTH and so on
    pub size_3d: u64,
    /// CL_DEVICE_IMAGE_MAX_BUFFER_SIZE
    pub buffer: u64,
    /// CL_DEVICE_IMAGE_MAX_ARRAY_SIZE
    pub array: u64,
    /// CL_DEVICE_MAX_READ_IMAGE_ARGS
    pub read_args: u32,
    /// CL_DEVICE_MAX_WRITE_IMAGE_ARGS
    pub write_args: u32,
    /// CL_DEVICE_MAX_READ_WRITE_IMAGE_ARGS
    pub read_write_args: u32,
    /// CL_DEVICE_MAX_SAMPLERS
    pub samplers: u32,
    /// CL_DEVICE_IMAGE_PITCH_ALIGNMENT, in elements
    pub pitch_alignment: u32,
    /// CL_DEVICE_IMAGE_BASE_ADDRESS_ALIGNMENT, in elements
    pub base_alignment: u32,
}

/// Bytes of the largest element of an image.
pub(crate) const LARGEST_ELEMENT: u64 = 16;
/// Maximum number of elements of an image buffer: OpenCL C indexes them with an `int`.
const MAX_IMAGE_BUFFER_ELEMENTS: u64 = i32::MAX as u64;

#[derive(Debug)]
pub struct Device {
    slot: HandleSlot,
    backend: Arc<dyn backend::Device>,
    device_type: DeviceType,
    /// The parent device, and the partition properties.
    parent: Option<(Arc<Self>, Vec<isize>)>,
}

impl Object for Device {
    fn handle_slot(&self) -> &HandleSlot {
        &self.slot
    }
}

impl Device {
    /// Creates an OpenCL device from a backend's device.
    pub fn new(backend: Arc<dyn backend::Device>) -> Arc<Self> {
        let properties = backend.properties();
        let kind_bits = match properties.kind {
            DeviceKind::DiscreteGpu | DeviceKind::IntegratedGpu | DeviceKind::VirtualGpu | DeviceKind::Other => DeviceType::GPU,
            DeviceKind::Cpu => DeviceType::CPU,
        };
        let device_type = match device_type::chosen(Options::get().device_type.as_deref(), &properties.name) {
            None => kind_bits,
            Some(TypeChoice::Gpu) => DeviceType::GPU,
            Some(TypeChoice::Cpu) => DeviceType::CPU,
            Some(TypeChoice::Accelerator) => DeviceType::ACCELERATOR,
        };
        Arc::new(Self { slot: HandleSlot::default(), backend, device_type, parent: None })
    }

    /// Creates a sub-device; `properties` is the value of CL_DEVICE_PARTITION_TYPE.
    pub(crate) fn sub_device_of(parent: &Arc<Self>, backend: Arc<dyn backend::Device>, properties: Vec<isize>) -> Arc<Self> {
        let parent = Arc::clone(parent);
        Arc::new(Self { slot: HandleSlot::default(), backend, device_type: parent.device_type, parent: Some((parent, properties)) })
    }

    /// CL_DEVICE_PARENT_DEVICE: the device that was partitioned.
    pub fn parent(&self) -> Option<&Arc<Self>> {
        self.parent.as_ref().map(|(parent, _)| parent)
    }

    /// CL_DEVICE_PARTITION_TYPE. A device that is not a sub-device reports one property value of 0.
    pub fn partition_type(&self) -> &[isize] {
        self.parent.as_ref().map_or(&[0], |(_, properties)| properties)
    }

    /// The device, its parent, and so on up to the root.
    pub fn with_ancestors(self: &Arc<Self>) -> impl Iterator<Item = &Arc<Self>> {
        std::iter::successors(Some(self), |device| device.parent())
    }

    /// The root device.
    pub fn root(self: &Arc<Self>) -> &Arc<Self> {
        self.with_ancestors().last().unwrap_or(self)
    }

    /// Whether two devices have the same root device, and so share all memory.
    pub fn shares_memory(self: &Arc<Self>, other: &Arc<Self>) -> bool {
        Arc::ptr_eq(self.root(), other.root())
    }

    /// The backend's device.
    pub fn backend(&self) -> &dyn backend::Device {
        &*self.backend
    }

    pub fn properties(&self) -> &DeviceProperties {
        self.backend.properties()
    }

    /// The target description for the compiler.
    pub fn target(&self) -> &Target {
        self.backend.target()
    }

    /// CL_DEVICE_NAME
    pub fn name(&self) -> &str {
        &self.properties().name
    }

    /// CL_DEVICE_TYPE
    pub fn device_type(&self) -> DeviceType {
        self.device_type
    }

    /// Whether the device supports the full profile, which requires 64-bit integers.
    pub fn has_full_profile(&self) -> bool {
        self.target().language.int64
    }

    /// CL_DEVICE_PROFILE
    pub fn profile(&self) -> &'static str {
        if self.has_full_profile() { "FULL_PROFILE" } else { "EMBEDDED_PROFILE" }
    }

    /// CL_DRIVER_VERSION: the version of wgcl, then the version of the underlying driver and of the accepted program
    /// binaries. Applications use it as the key of their binary caches.
    pub fn driver_version(&self) -> String {
        let properties = self.properties();
        format!(
            "{} ({}: {}), binaries {}",
            env!("CARGO_PKG_VERSION"),
            properties.api,
            properties.driver,
            crate::objects::program::binary::FORMAT
        )
    }

    /// CL_DEVICE_ADDRESS_BITS
    pub fn address_bits(&self) -> u32 {
        self.target().pointer_size() * 8
    }

    /// The alignment of a sub-buffer's origin: CL_DEVICE_MEM_BASE_ADDR_ALIGN in bytes.
    pub fn base_alignment(&self) -> u32 {
        self.properties().base_alignment.max(LARGEST_TYPE)
    }

    /// The limits of images, all zeros if the device has none. Images are in buffers, so the device's texture limits
    /// do not apply: except for `buffer`, these are the minimum values of the full profile. The memory for all elements
    /// of a large image may still be insufficient. If `buffer` exceeds the minimum of 65,536, an image buffer with
    /// `buffer` elements of any format fits into the largest allocation.
    pub fn image_limits(&self) -> ImageLimits {
        if !self.target().language.images {
            return ImageLimits::default();
        }
        ImageLimits {
            size_2d: 16384,
            size_3d: 2048,
            buffer: (self.properties().max_allocation / LARGEST_ELEMENT).clamp(65536, MAX_IMAGE_BUFFER_ELEMENTS),
            array: 2048,
            read_args: 128,
            write_args: 64,
            read_write_args: if self.has_c_feature("__opencl_c_read_write_images") { 64 } else { 0 },
            samplers: 16,
            pitch_alignment: 1,
            base_alignment: 1,
        }
    }

    /// CL_DEVICE_QUEUE_ON_HOST_PROPERTIES
    pub fn queue_properties(&self) -> QueueProperties {
        QueueProperties::OUT_OF_ORDER | QueueProperties::PROFILING
    }

    /// Whether kernels may enqueue kernels, so that the device has on-device queues.
    pub fn has_device_queues(&self) -> bool {
        self.target().language.device_enqueue
    }

    /// CL_DEVICE_SINGLE_FP_CONFIG
    pub fn single_fp_config(&self) -> FpConfig {
        let mut config = FpConfig::INF_NAN | FpConfig::ROUND_TO_NEAREST;
        config.set(FpConfig::DENORM, self.target().language.denormals);
        config.set(FpConfig::FMA, self.target().language.fused_fma);
        config.set(FpConfig::CORRECTLY_ROUNDED_DIVIDE_SQRT, self.properties().correctly_rounded);
        config
    }

    /// CL_DEVICE_DOUBLE_FP_CONFIG: the mandatory flags for every device with double precision, or no flags.
    pub fn double_fp_config(&self) -> FpConfig {
        if self.target().language.fp64 {
            // The conformance tests also require ROUND_TO_ZERO and ROUND_TO_INF. Only conversions support these
            // rounding modes.
            FpConfig::FMA
                | FpConfig::ROUND_TO_NEAREST
                | FpConfig::ROUND_TO_ZERO
                | FpConfig::ROUND_TO_INF
                | FpConfig::INF_NAN
                | FpConfig::DENORM
        } else {
            FpConfig::empty()
        }
    }

    /// CL_DEVICE_HALF_FP_CONFIG
    pub fn half_fp_config(&self) -> FpConfig {
        let language = &self.target().language;
        if !language.fp16 {
            return FpConfig::empty();
        }
        let mut config = FpConfig::INF_NAN | FpConfig::ROUND_TO_NEAREST;
        config.set(FpConfig::DENORM, language.half_denormals);
        config.set(FpConfig::FMA, language.fused_fma);
        config
    }

    /// CL_DEVICE_SUB_GROUP_SIZES_INTEL: the sizes that kernels may require. The list is empty if kernels cannot require
    /// a size.
    pub fn subgroup_sizes(&self) -> Vec<usize> {
        let language = &self.target().language;
        (0..u32::BITS).map(|bit| 1 << bit).filter(|&size| language.has_subgroups_of(size)).map(|size| size as usize).collect()
    }

    /// CL_DEVICE_MAX_NUM_SUB_GROUPS: the maximum number of subgroups of a work-group, with the smallest subgroup size;
    /// 0 without subgroups.
    pub fn max_subgroups(&self) -> u32 {
        let properties = self.properties();
        let Language { subgroups: true, subgroup_sizes, .. } = self.target().language else { return 0 };
        let min_subgroup_size = if subgroup_sizes == 0 { properties.subgroup_size.max(1) } else { 1 << subgroup_sizes.trailing_zeros() };
        properties.max_group_invocations.div_ceil(min_subgroup_size).min(properties.max_required_subgroups)
    }

    /// CL_DEVICE_MAX_NAMED_BARRIER_COUNT_KHR: only local memory limits the number. `None` without named barriers.
    pub fn max_named_barriers(&self) -> Option<u32> {
        let barriers = self.properties().local_memory / LOCAL_BYTES_PER_NAMED_BARRIER;
        self.target().language.has_named_barriers().then_some(barriers)
    }

    /// CL_DEVICE_ATOMIC_MEMORY_CAPABILITIES
    pub fn atomic_memory_capabilities(&self) -> AtomicCapabilities {
        AtomicCapabilities::ORDER_RELAXED | AtomicCapabilities::SCOPE_WORK_GROUP | self.optional_atomic_capabilities()
    }

    /// CL_DEVICE_ATOMIC_FENCE_CAPABILITIES
    pub fn atomic_fence_capabilities(&self) -> AtomicCapabilities {
        let minimum = AtomicCapabilities::ORDER_RELAXED | AtomicCapabilities::ORDER_ACQ_REL | AtomicCapabilities::SCOPE_WORK_GROUP;
        if self.target().language.has_ordered_atomics() {
            // Fences for images use the scope work-item.
            minimum | AtomicCapabilities::SCOPE_WORK_ITEM | self.optional_atomic_capabilities()
        } else {
            minimum
        }
    }

    /// The atomic capabilities that the optional features of OpenCL C 3.0 add.
    fn optional_atomic_capabilities(&self) -> AtomicCapabilities {
        self.of_features([
            ("__opencl_c_atomic_order_acq_rel", AtomicCapabilities::ORDER_ACQ_REL),
            ("__opencl_c_atomic_order_seq_cst", AtomicCapabilities::ORDER_SEQ_CST),
            ("__opencl_c_atomic_scope_device", AtomicCapabilities::SCOPE_DEVICE),
            ("__opencl_c_atomic_scope_all_devices", AtomicCapabilities::SCOPE_ALL_DEVICES),
        ])
    }

    /// The capabilities in `table` whose OpenCL C 3.0 feature the device supports.
    fn of_features<T: FromIterator<T>, const N: usize>(&self, table: [(&str, T); N]) -> T {
        table.into_iter().filter(|(feature, _)| self.target().has_feature(feature)).map(|(_, capability)| capability).collect()
    }

    /// CL_DEVICE_EXTERNAL_MEMORY_IMPORT_HANDLE_TYPES_KHR
    pub fn importable_memory(&self) -> Vec<ExternalMemory> {
        self.backend.importable_memory()
    }

    /// CL_DEVICE_SEMAPHORE_IMPORT_HANDLE_TYPES_KHR and CL_DEVICE_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR
    pub fn shareable_semaphores(&self) -> Vec<ExternalSemaphore> {
        self.backend.shareable_semaphores()
    }

    /// CL_DEVICE_KERNEL_CLOCK_CAPABILITIES_KHR
    pub fn kernel_clock_capabilities(&self) -> KernelClocks {
        self.of_features([
            ("__opencl_c_kernel_clock_scope_device", KernelClocks::DEVICE),
            ("__opencl_c_kernel_clock_scope_work_group", KernelClocks::WORK_GROUP),
            ("__opencl_c_kernel_clock_scope_sub_group", KernelClocks::SUB_GROUP),
        ])
    }

    /// Whether objects of OpenGL can be shared with the device. The copies need no support by the device.
    pub fn shares_graphics(&self) -> bool {
        HAS_OPENGL && self.target().language.images && self.backend().keeps_opengl_context()
    }

    /// Whether objects of EGL can be shared with the device. Windows and macOS have no EGL.
    pub fn shares_egl(&self) -> bool {
        self.shares_graphics() && cfg!(unix)
    }

    /// CL_DEVICE_EXTENSIONS_WITH_VERSION: the extensions of the compiler, then those of the API.
    pub fn extensions(&self) -> Vec<NameVersion> {
        let api = [
            "cl_khr_extended_versioning",
            "cl_khr_create_command_queue",
            "cl_khr_suggested_local_work_size",
            "cl_khr_il_program",
            "cl_khr_expect_assume",
            "cl_khr_spirv_linkonce_odr",
            "cl_khr_spirv_no_integer_wrap_decoration",
            "cl_khr_spirv_queries",
            "cl_khr_priority_hints",
            "cl_khr_throttle_hints",
            "cl_khr_command_buffer",
            "cl_khr_command_buffer_multi_device",
            "cl_khr_command_buffer_mutable_dispatch",
            "cl_khr_semaphore",
            "cl_khr_initialize_memory",
            "cl_ext_immutable_memory_objects",
            "cl_ext_image_requirements_info",
            "cl_ext_image_from_buffer",
            "cl_arm_printf",
            "cl_pocl_content_size",
        ]
        .into_iter();
        let unified = self.accesses_host_memory().then_some("cl_intel_unified_shared_memory");
        let arm_svm = (!self.svm_capabilities().is_empty()).then_some("cl_arm_shared_virtual_memory");
        let addresses = self.has_device_addresses().then_some("cl_ext_buffer_device_address");
        let external = self.importable_memory();
        let sharing = external.iter().map(|kind| match kind {
            ExternalMemory::OpaqueFd => "cl_khr_external_memory_opaque_fd",
            ExternalMemory::DmaBuf => "cl_khr_external_memory_dma_buf",
        });
        let sharing = sharing.chain(external.first().map(|_| "cl_khr_external_memory"));
        let shared = self.shareable_semaphores();
        let semaphores = shared.iter().map(|kind| match kind {
            ExternalSemaphore::OpaqueFd => "cl_khr_external_semaphore_opaque_fd",
            ExternalSemaphore::SyncFd => "cl_khr_external_semaphore_sync_fd",
        });
        let sharing = sharing.chain(semaphores).chain(shared.first().map(|_| "cl_khr_external_semaphore"));
        let (opengl, egl) = (["cl_khr_gl_sharing", "cl_khr_gl_event"], ["cl_khr_egl_image", "cl_khr_egl_event"]);
        let sharing = sharing.chain(opengl.into_iter().filter(|_| self.shares_graphics()));
        let sharing = sharing.chain(egl.into_iter().filter(|_| self.shares_egl()));
        let has_depth = self.shares_graphics() && self.target().language.extensions.iter().any(|name| name == "cl_khr_depth_images");
        let sharing = sharing.chain(has_depth.then_some("cl_khr_gl_depth_images"));
        let uuid = self.properties().uuid.map(|_| "cl_khr_device_uuid");
        let pci = self.properties().pci.map(|_| "cl_khr_pci_bus_info");
        let nvidia = self.backend().has_nvidia_attributes().then_some("cl_nv_device_attribute_query");
        let language = &self.target().language;
        // The user can add names to the compiler's list (`WGCL_EXTENSIONS`). Names that this list contains are not
        // repeated.
        let names = api.chain(unified).chain(arm_svm).chain(addresses).chain(sharing).chain(uuid).chain(pci).chain(nvidia);
        let names = names.filter(|name| !language.extensions.iter().any(|known| known == name) && !language.hides_extension(name));
        let all = language.extensions.iter().map(String::as_str).chain(names);
        all.map(|name| NameVersion::new(name, extension_version(name))).collect()
    }

    /// CL_DEVICE_BUILT_IN_KERNELS_WITH_VERSION
    pub fn built_in_kernels(&self) -> Vec<NameVersion> {
        built_in_kernels::names().map(|name| NameVersion::new(name, Version::new(1, 0, 0))).collect()
    }

    /// CL_DEVICE_SINGLE_FP_ATOMIC_CAPABILITIES_EXT
    pub fn single_fp_atomic_capabilities(&self) -> FpAtomicCapabilities {
        FpAtomicCapabilities::all()
    }

    /// CL_DEVICE_DOUBLE_FP_ATOMIC_CAPABILITIES_EXT
    pub fn double_fp_atomic_capabilities(&self) -> FpAtomicCapabilities {
        if self.target().language.has_double_atomics() { FpAtomicCapabilities::all() } else { FpAtomicCapabilities::empty() }
    }

    /// CL_DEVICE_HALF_FP_ATOMIC_CAPABILITIES_EXT
    pub fn half_fp_atomic_capabilities(&self) -> FpAtomicCapabilities {
        if self.target().language.has_half_atomics() { FpAtomicCapabilities::all() } else { FpAtomicCapabilities::empty() }
    }

    /// CL_DEVICE_INTEGER_DOT_PRODUCT_CAPABILITIES_KHR
    pub fn integer_dot_product_capabilities(&self) -> DotProductCapabilities {
        DotProductCapabilities::all()
    }

    /// Whether the device supports the optional feature of OpenCL C 3.0 with this macro.
    pub fn has_c_feature(&self, name: &str) -> bool {
        self.target().language.features.iter().any(|feature| feature == name)
    }

    /// CL_DEVICE_MAX_GLOBAL_VARIABLE_SIZE: maximum bytes of one program-scope variable.
    pub fn max_global_variable_size(&self) -> u64 {
        if self.has_c_feature("__opencl_c_program_scope_global_variables") { wgcl_compiler::target::MAX_GLOBAL_VARIABLE } else { 0 }
    }

    /// CL_DEVICE_OPENCL_C_FEATURES
    pub fn c_features(&self) -> Vec<NameVersion> {
        self.target().language.features.iter().map(|name| NameVersion::new(name, Version::new(3, 0, 0))).collect()
    }

    /// CL_DEVICE_OPENCL_C_ALL_VERSIONS. A device without the optional features of 2.0 does not report OpenCL C 2.0.
    pub fn c_versions(&self) -> Vec<NameVersion> {
        let language = &self.target().language;
        let second = language.supports_opencl_c_20().then_some((2, 0));
        let newest = language.supports_opencl_c_31().then_some((3, 1));
        let all = [(1, 0), (1, 1), (1, 2)].into_iter().chain(second).chain([(3, 0)]).chain(newest);
        all.map(|(major, minor)| NameVersion::new("OpenCL C", Version::new(major, minor, 0))).collect()
    }

    /// CL_DEVICE_OPENCL_C_VERSION: "the highest fully backwards compatible OpenCL C version". Versions in which parts
    /// of 2.0 are optional are not fully backwards compatible, so 3.0 and 3.1 are never returned.
    pub fn c_version(&self) -> Version {
        if self.target().language.supports_opencl_c_20() { Version::new(2, 0, 0) } else { Version::new(1, 2, 0) }
    }
}
