//! Names of OpenCL extensions, to detect misspelled names in `WGCL_EXTENSIONS`: the extensions of the Khronos registry
//! that wgcl or a driver for current hardware reports.

/// Whether the list contains this name.
pub(super) fn is_known(name: &str) -> bool {
    NAMES.binary_search(&name).is_ok()
}

const NAMES: &[&str] = &[
    "cl_amd_device_attribute_query",
    "cl_amd_fp64",
    "cl_amd_media_ops",
    "cl_amd_media_ops2",
    "cl_amd_printf",
    "cl_arm_core_id",
    "cl_arm_import_memory",
    "cl_arm_integer_dot_product_accumulate_int8",
    "cl_arm_integer_dot_product_accumulate_saturate_int8",
    "cl_arm_integer_dot_product_int8",
    "cl_arm_printf",
    "cl_arm_shared_virtual_memory",
    "cl_ext_buffer_device_address",
    "cl_ext_cxx_for_opencl",
    "cl_ext_device_fission",
    "cl_ext_float_atomics",
    "cl_ext_image_from_buffer",
    "cl_ext_image_requirements_info",
    "cl_ext_image_unorm_int_2_101010",
    "cl_ext_immutable_memory_objects",
    "cl_intel_bfloat16_conversions",
    "cl_intel_device_attribute_query",
    "cl_intel_global_float_atomics",
    "cl_intel_packed_yuv",
    "cl_intel_planar_yuv",
    "cl_intel_required_subgroup_size",
    "cl_intel_spirv_subgroups",
    "cl_intel_split_work_group_barrier",
    "cl_intel_subgroup_matrix_multiply_accumulate",
    "cl_intel_subgroups",
    "cl_intel_subgroups_char",
    "cl_intel_subgroups_long",
    "cl_intel_subgroups_short",
    "cl_intel_unified_shared_memory",
    "cl_khr_3d_image_writes",
    "cl_khr_async_work_group_copy_fence",
    "cl_khr_byte_addressable_store",
    "cl_khr_command_buffer",
    "cl_khr_command_buffer_multi_device",
    "cl_khr_command_buffer_mutable_dispatch",
    "cl_khr_create_command_queue",
    "cl_khr_depth_images",
    "cl_khr_device_enqueue_local_arg_types",
    "cl_khr_device_uuid",
    "cl_khr_egl_event",
    "cl_khr_egl_image",
    "cl_khr_expect_assume",
    "cl_khr_extended_async_copies",
    "cl_khr_extended_bit_ops",
    "cl_khr_extended_versioning",
    "cl_khr_external_memory",
    "cl_khr_external_memory_dma_buf",
    "cl_khr_external_memory_opaque_fd",
    "cl_khr_external_semaphore",
    "cl_khr_external_semaphore_opaque_fd",
    "cl_khr_external_semaphore_sync_fd",
    "cl_khr_fp16",
    "cl_khr_fp64",
    "cl_khr_gl_depth_images",
    "cl_khr_gl_event",
    "cl_khr_gl_msaa_sharing",
    "cl_khr_gl_sharing",
    "cl_khr_global_int32_base_atomics",
    "cl_khr_global_int32_extended_atomics",
    "cl_khr_icd",
    "cl_khr_icd_unloadable",
    "cl_khr_il_program",
    "cl_khr_image2d_from_buffer",
    "cl_khr_initialize_memory",
    "cl_khr_int64_base_atomics",
    "cl_khr_int64_extended_atomics",
    "cl_khr_integer_dot_product",
    "cl_khr_kernel_clock",
    "cl_khr_local_int32_base_atomics",
    "cl_khr_local_int32_extended_atomics",
    "cl_khr_mipmap_image",
    "cl_khr_mipmap_image_writes",
    "cl_khr_pci_bus_info",
    "cl_khr_priority_hints",
    "cl_khr_select_fprounding_mode",
    "cl_khr_semaphore",
    "cl_khr_spir",
    "cl_khr_spirv_linkonce_odr",
    "cl_khr_spirv_no_integer_wrap_decoration",
    "cl_khr_spirv_queries",
    "cl_khr_srgb_image_writes",
    "cl_khr_subgroup_ballot",
    "cl_khr_subgroup_clustered_reduce",
    "cl_khr_subgroup_extended_types",
    "cl_khr_subgroup_named_barrier",
    "cl_khr_subgroup_non_uniform_arithmetic",
    "cl_khr_subgroup_non_uniform_vote",
    "cl_khr_subgroup_rotate",
    "cl_khr_subgroup_shuffle",
    "cl_khr_subgroup_shuffle_relative",
    "cl_khr_subgroups",
    "cl_khr_suggested_local_work_size",
    "cl_khr_terminate_context",
    "cl_khr_throttle_hints",
    "cl_khr_unified_svm",
    "cl_khr_work_group_uniform_arithmetic",
    "cl_nv_compiler_options",
    "cl_nv_copy_opts",
    "cl_nv_create_buffer",
    "cl_nv_device_attribute_query",
    "cl_nv_pragma_unroll",
    "cl_pocl_content_size",
];

#[cfg(test)]
mod tests {
    use super::{NAMES, is_known};
    use crate::objects::device::Device;
    use crate::test_backend::TestDevice;

    #[test]
    fn all_reported_extensions_are_known() {
        assert!(NAMES.is_sorted());
        let device = Device::new(TestDevice::changed("device", |_, target| *target = wgcl_compiler::target::Target::full()));
        for extension in device.extensions() {
            assert!(is_known(&extension.name), "{}", extension.name);
        }
    }
}
