//! Platforms and devices through the ICD loader: discovery, the size rules of info queries, and consistency between
//! queries.

mod common;

use std::ptr::null_mut;

use common::ffi::{
    CL_DEVICE_ADDRESS_BITS, CL_DEVICE_EXTENSIONS, CL_DEVICE_GLOBAL_MEM_SIZE, CL_DEVICE_LOCAL_MEM_SIZE, CL_DEVICE_MAX_CLOCK_FREQUENCY,
    CL_DEVICE_MAX_COMPUTE_UNITS, CL_DEVICE_MAX_CONSTANT_ARGS, CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE, CL_DEVICE_MAX_MEM_ALLOC_SIZE,
    CL_DEVICE_MAX_PARAMETER_SIZE, CL_DEVICE_MAX_WORK_GROUP_SIZE, CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS, CL_DEVICE_MAX_WORK_ITEM_SIZES,
    CL_DEVICE_MEM_BASE_ADDR_ALIGN, CL_DEVICE_NAME, CL_DEVICE_NOT_FOUND, CL_DEVICE_NUMERIC_VERSION, CL_DEVICE_OPENCL_C_VERSION,
    CL_DEVICE_PLATFORM, CL_DEVICE_PROFILE, CL_DEVICE_TYPE, CL_DEVICE_TYPE_ACCELERATOR, CL_DEVICE_TYPE_ALL, CL_DEVICE_TYPE_CPU,
    CL_DEVICE_TYPE_DEFAULT, CL_DEVICE_TYPE_GPU, CL_DEVICE_VERSION, CL_DRIVER_VERSION, CL_INVALID_DEVICE_TYPE, CL_INVALID_VALUE,
    CL_PLATFORM_EXTENSIONS, CL_PLATFORM_ICD_SUFFIX_KHR, CL_PLATFORM_NAME, CL_PLATFORM_NUMERIC_VERSION, CL_PLATFORM_PROFILE,
    CL_PLATFORM_VENDOR, CL_PLATFORM_VERSION, CL_SUCCESS, cl_uint,
};
use common::objects::Context;
use common::{device_name, info, info_bytes, info_string, is_cpu, target};

const CL_DEVICE_IL_VERSION: cl_uint = 0x105B;
const CL_DEVICE_MAX_NUM_SUB_GROUPS: cl_uint = 0x105C;
const CL_DEVICE_OPENCL_C_ALL_VERSIONS: cl_uint = 0x1066;

/// Extensions that are part of the OpenCL 3.1 core, so every 3.1 device must report them.
const MANDATED: &[&str] = &[
    "cl_khr_device_uuid",
    "cl_khr_extended_bit_ops",
    "cl_khr_integer_dot_product",
    "cl_khr_spirv_queries",
    "cl_khr_subgroup_extended_types",
    "cl_khr_subgroup_rotate",
    "cl_khr_subgroup_shuffle",
    "cl_khr_subgroup_shuffle_relative",
    "cl_khr_suggested_local_work_size",
];

fn platform_text(name: cl_uint) -> String {
    let target = target();
    info_string(|size, value, ret| target.cl.clGetPlatformInfo(target.platform, name, size, value, ret))
        .unwrap_or_else(|status| format!("error {status}"))
}

fn device_text(name: cl_uint) -> String {
    let target = target();
    info_string(|size, value, ret| target.cl.clGetDeviceInfo(target.device, name, size, value, ret))
        .unwrap_or_else(|status| format!("error {status}"))
}

fn device<T: Copy + Default>(name: cl_uint) -> T {
    let target = target();
    info(|size, value, ret| target.cl.clGetDeviceInfo(target.device, name, size, value, ret)).expect("the device query is answered")
}

/// Returns `MAJOR.MINOR` of a cl_version.
fn short(version: u32) -> String {
    format!("{}.{}", version >> 22, version >> 12 & 0x3ff)
}

#[test]
fn platform_strings_have_the_form_of_the_specification() {
    let text = platform_text(CL_PLATFORM_VERSION);
    assert!(text.starts_with("OpenCL 3.0 ") || text.starts_with("OpenCL 3.1 "), "{text}");
    assert!(["FULL_PROFILE", "EMBEDDED_PROFILE"].contains(&platform_text(CL_PLATFORM_PROFILE).as_str()));
    assert!(platform_text(CL_PLATFORM_EXTENSIONS).split_whitespace().any(|extension| extension == "cl_khr_icd"));
    assert!(!platform_text(CL_PLATFORM_VENDOR).is_empty());
    assert!(!platform_text(CL_PLATFORM_ICD_SUFFIX_KHR).is_empty());
    let target = target();
    let version: u32 = info(|size, value, ret| target.cl.clGetPlatformInfo(target.platform, CL_PLATFORM_NUMERIC_VERSION, size, value, ret))
        .expect("the numeric version is there");
    assert!(text.starts_with(&format!("OpenCL {} ", short(version))), "{text}");
    if target.is_wgcl() {
        assert_eq!(platform_text(CL_PLATFORM_NAME), "wgcl");
    }
}

#[test]
fn platform_info_checks_sizes_and_names() {
    let cl = &target().cl;
    let platform = target().platform;
    let mut size = 0;
    assert_eq!(cl.clGetPlatformInfo(platform, CL_PLATFORM_NAME, 0, null_mut(), &mut size), CL_SUCCESS);
    assert_eq!(size, platform_text(CL_PLATFORM_NAME).len() + 1, "the size counts the terminating NUL");
    let mut bytes = vec![0u8; size];
    assert_eq!(
        cl.clGetPlatformInfo(platform, CL_PLATFORM_NAME, size - 1, bytes.as_mut_ptr().cast(), null_mut()),
        CL_INVALID_VALUE,
        "a buffer one byte too small"
    );
    assert_eq!(cl.clGetPlatformInfo(platform, 0xdead, 0, null_mut(), &mut size), CL_INVALID_VALUE);
}

#[test]
fn devices_are_found_by_type() {
    let cl = &target().cl;
    let platform = target().platform;
    let count_of = |kind| {
        let mut count = 0;
        let status = cl.clGetDeviceIDs(platform, kind, 0, null_mut(), &mut count);
        assert!(status == CL_SUCCESS || status == CL_DEVICE_NOT_FOUND, "{status}");
        assert_eq!(status == CL_SUCCESS, count > 0);
        count
    };
    let all = count_of(CL_DEVICE_TYPE_ALL);
    assert!(all > 0);
    assert_eq!(count_of(CL_DEVICE_TYPE_GPU) + count_of(CL_DEVICE_TYPE_CPU) + count_of(CL_DEVICE_TYPE_ACCELERATOR), all);
    assert_eq!(count_of(CL_DEVICE_TYPE_DEFAULT), 1);
    let kind: u64 = device(CL_DEVICE_TYPE);
    assert!(count_of(kind & !CL_DEVICE_TYPE_DEFAULT) > 0);

    let mut devices = [null_mut(); 2];
    assert_eq!(cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, devices.as_mut_ptr(), null_mut()), CL_INVALID_VALUE, "no entries");
    assert_eq!(cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, null_mut(), null_mut()), CL_INVALID_VALUE, "no result requested");
    let none = cl.clGetDeviceIDs(platform, 0, 0, null_mut(), &mut 0);
    assert!([CL_INVALID_DEVICE_TYPE, CL_DEVICE_NOT_FOUND].contains(&none), "{none}");
}

#[test]
fn device_strings_have_the_form_of_the_specification() {
    let text = device_text(CL_DEVICE_VERSION);
    assert!(text.starts_with("OpenCL 3.0 ") || text.starts_with("OpenCL 3.1 "), "{text}");
    let language = device_text(CL_DEVICE_OPENCL_C_VERSION);
    assert!(language.starts_with("OpenCL C 1.2") || language.starts_with("OpenCL C 2.0"), "{language}");
    assert!(!device_text(CL_DEVICE_NAME).is_empty());
    assert!(device_text(CL_DRIVER_VERSION).contains('.'));
    assert!(text.starts_with(&format!("OpenCL {} ", short(device::<u32>(CL_DEVICE_NUMERIC_VERSION)))), "{text}");
    assert_eq!(device::<usize>(CL_DEVICE_PLATFORM), target().platform as usize);
    let extensions = device_text(CL_DEVICE_EXTENSIONS);
    for extension in [
        "cl_khr_byte_addressable_store",
        "cl_khr_global_int32_base_atomics",
        "cl_khr_global_int32_extended_atomics",
        "cl_khr_local_int32_base_atomics",
        "cl_khr_local_int32_extended_atomics",
    ] {
        assert!(extensions.split_whitespace().any(|have| have == extension), "{extension} is mandatory since OpenCL 1.1");
    }
}

/// A device with all features of OpenCL C 2.0 must list this version, and build a program that uses nearly all of them.
/// Other devices must not list the version.
#[test]
fn opencl_c_2_is_listed_only_with_all_its_features() {
    if !target().is_wgcl() {
        return;
    }
    let list = |name: cl_uint| {
        let target = target();
        info_bytes(|size, value, ret| target.cl.clGetDeviceInfo(target.device, name, size, value, ret)).expect("a list")
    };
    let version = (2_u32 << 22).to_ne_bytes();
    let listed = list(CL_DEVICE_OPENCL_C_ALL_VERSIONS).chunks(68).any(|entry| entry[..4] == version);
    assert_eq!(listed, device_text(CL_DEVICE_OPENCL_C_VERSION).starts_with("OpenCL C 2.0"));
    // The CPU device has all features.
    assert!(listed || !device_text(CL_DRIVER_VERSION).contains("(CPU:"));
    if listed {
        let program = Context::new().program(FEATURES_OF_2);
        assert_eq!(program.build("-cl-std=CL2.0 -Werror"), CL_SUCCESS, "{}", program.log());
    }
}

/// Nearly all features of OpenCL C 2.0 that OpenCL C 3.0 made optional, in one program. Only writes to 3D images are
/// missing.
const FEATURES_OF_2: &str = "
    global atomic_int counter = ATOMIC_VAR_INIT(0);
    kernel void k(read_only pipe int from, write_only pipe int to, read_write image2d_t image, queue_t queue, global int *out) {
        int x = get_global_id(0), *any = &x;
        read_pipe(from, any);
        write_pipe(to, any);
        write_imagei(image, (int2)(0, 1), read_imagei(image, (int2)(1, 0)));
        out[0] = work_group_reduce_add(x);
        atomic_store(&counter, atomic_load_explicit(&counter, memory_order_acquire, memory_scope_all_svm_devices));
        enqueue_kernel(queue, CLK_ENQUEUE_FLAGS_NO_WAIT, ndrange_1D(1), ^{ atomic_fetch_add(&counter, x); });
    }";

/// A device of version 3.1 must have all features that 3.1 requires but 3.0 does not. A device with these features must
/// report 3.1.
#[test]
fn the_reported_version_matches_the_features() {
    let list = |name: cl_uint| {
        let target = target();
        info_bytes(|size, value, ret| target.cl.clGetDeviceInfo(target.device, name, size, value, ret)).expect("a list")
    };
    let has = |text: &str, name: &str| text.split_whitespace().any(|have| have == name);
    let mut missing = Vec::new();
    let extensions = device_text(CL_DEVICE_EXTENSIONS);
    missing.extend(MANDATED.iter().copied().filter(|name| !has(&extensions, name)));
    let languages = device_text(CL_DEVICE_IL_VERSION);
    missing
        .extend(["SPIR-V_1.0", "SPIR-V_1.1", "SPIR-V_1.2", "SPIR-V_1.3", "SPIR-V_1.4"].into_iter().filter(|name| !has(&languages, name)));
    missing.extend((device::<u32>(CL_DEVICE_MAX_NUM_SUB_GROUPS) == 0).then_some("sub-groups"));
    // cl_name_version: the version, and a name of 64 bytes.
    let version = (3_u32 << 22 | 1 << 12).to_ne_bytes();
    missing.extend((!list(CL_DEVICE_OPENCL_C_ALL_VERSIONS).chunks(68).any(|entry| entry[..4] == version)).then_some("OpenCL C 3.1"));
    let newest = device_text(CL_DEVICE_VERSION).starts_with("OpenCL 3.1 ");
    assert!(!newest || missing.is_empty(), "{missing:?}");
    if !target().is_wgcl() {
        return;
    }
    assert_eq!(newest, missing.is_empty(), "{missing:?}");
    // The CPU device of wgcl must report 3.1.
    assert!(newest || !device_text(CL_DRIVER_VERSION).contains("(CPU:"), "{missing:?}");
    if has(&extensions, "cl_khr_device_uuid") {
        let names = [0x106A, 0x106B].map(device::<[u8; 16]>);
        assert!(names.iter().all(|name| name.iter().any(|byte| *byte != 0)) && names[0] != names[1], "{names:?}");
    }
}

#[test]
fn device_limits_reach_the_minimum_of_the_specification() {
    let full = device_text(CL_DEVICE_PROFILE) == "FULL_PROFILE";
    assert!(device::<u32>(CL_DEVICE_MAX_COMPUTE_UNITS) >= 1);
    // Some applications choose the device with the largest product of units and clock, so the clock must be plausible.
    assert!((100..100_000).contains(&device::<u32>(CL_DEVICE_MAX_CLOCK_FREQUENCY)));
    let dimensions = device::<u32>(CL_DEVICE_MAX_WORK_ITEM_DIMENSIONS);
    assert!(dimensions >= 3);
    assert!([32, 64].contains(&device::<u32>(CL_DEVICE_ADDRESS_BITS)));
    let group = device::<usize>(CL_DEVICE_MAX_WORK_GROUP_SIZE);
    assert!(group >= 1);
    let sizes = device::<[usize; 3]>(CL_DEVICE_MAX_WORK_ITEM_SIZES);
    assert!(sizes.iter().all(|&size| size >= 1 && size <= group), "{sizes:?}");
    let memory = device::<u64>(CL_DEVICE_GLOBAL_MEM_SIZE);
    let allocation = device::<u64>(CL_DEVICE_MAX_MEM_ALLOC_SIZE);
    assert!(allocation <= memory);
    assert!(allocation >= (memory / 4).min(1 << 30), "allocation {allocation}, memory {memory}");
    if full {
        assert!(device::<usize>(CL_DEVICE_MAX_PARAMETER_SIZE) >= 4096);
        assert!(device::<u64>(CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE) >= 64 << 10);
        assert!(device::<u32>(CL_DEVICE_MAX_CONSTANT_ARGS) >= 8);
        assert!(device::<u64>(CL_DEVICE_LOCAL_MEM_SIZE) >= if is_cpu() { 1 << 20 } else { 32 << 10 });
        // The alignment is in bits. It must suffice for the largest built-in type, long16.
        assert!(device::<u32>(CL_DEVICE_MEM_BASE_ADDR_ALIGN) >= 1024);
    }
}

#[test]
fn device_info_checks_sizes_and_names() {
    let cl = &target().cl;
    let id = target().device;
    let mut units = [0u8; 3];
    assert_eq!(cl.clGetDeviceInfo(id, CL_DEVICE_MAX_COMPUTE_UNITS, units.len(), units.as_mut_ptr().cast(), null_mut()), CL_INVALID_VALUE);
    assert_eq!(cl.clGetDeviceInfo(id, 0xdead, 0, null_mut(), &mut 0), CL_INVALID_VALUE);
    // A buffer may be larger than needed. Its remaining bytes must not change.
    let mut buffer = [0xabu8; 16];
    let mut size = 0;
    assert_eq!(cl.clGetDeviceInfo(id, CL_DEVICE_MAX_COMPUTE_UNITS, 16, buffer.as_mut_ptr().cast(), &mut size), CL_SUCCESS);
    assert_eq!(size, 4);
    assert_eq!(buffer[4..], [0xab; 12]);
}

/// Every query of the specification's table must be answered, whatever features the device has.
#[test]
fn every_device_query_is_answered() {
    let cl = &target().cl;
    // 0x1033 belongs to cl_khr_fp16, and 0x105f to cl_khr_extended_versioning. The other gaps belong to OpenCL 3.1
    // (`of_31`).
    let names = (0x1000..=0x1032).chain(0x1034..=0x105e).chain(0x1060..=0x1069).chain(0x106f..=0x1072);
    let newest = device_text(CL_DEVICE_VERSION).starts_with("OpenCL 3.1 ");
    let of_31 = (0x106a..=0x106e).chain(0x1073..=0x1075).chain(0x12b9..=0x12bb).filter(|_| newest);
    let names = names.chain(of_31);
    let missing: Vec<String> = names
        .filter(|&name| cl.clGetDeviceInfo(target().device, name, 0, null_mut(), &mut 0) != CL_SUCCESS)
        .map(|name| format!("{name:#x}"))
        .collect();
    assert!(missing.is_empty(), "not answered: {missing:?}");
}

/// The queries of an extension agree with its presence in the extension list.
#[test]
fn extensions_answer_their_queries() {
    let extensions = device_text(CL_DEVICE_EXTENSIONS);
    let has = |name: &str| extensions.split_whitespace().any(|have| have == name);
    if has("cl_khr_integer_dot_product") {
        // CL_DEVICE_INTEGER_DOT_PRODUCT_CAPABILITIES_KHR: packed input, and vectors since version 2 of the extension.
        assert_eq!(device::<u64>(0x1073) & 3, 3);
        for acceleration in [0x1074, 0x1075] {
            let answers = device::<[u32; 6]>(acceleration);
            assert!(answers.iter().all(|&answer| answer <= 1), "{answers:?}");
        }
    }
    if has("cl_ext_float_atomics") {
        // CL_DEVICE_SINGLE_FP_ATOMIC_CAPABILITIES_EXT, and the same query for double and half. The flags are load and
        // store, addition, and minimum and maximum, on global and local memory.
        let all = 0x7 | 0x7 << 16;
        let [single, double, half] = [0x4231, 0x4232, 0x4233].map(device::<u64>);
        assert_eq!((single | double | half) & !all, 0);
        if target().is_wgcl() {
            assert_eq!(single, all);
            assert_eq!(double, if has("cl_khr_fp64") && has("cl_khr_int64_base_atomics") { all } else { 0 });
            // Half atomics are loops on lavapipe, which stops loops early. So the device does not report them.
            assert_eq!(half, if has("cl_khr_fp16") && !device_name(target()).contains("llvmpipe") { all } else { 0 });
        }
    }
}

#[test]
fn root_devices_are_not_reference_counted() {
    let cl = &target().cl;
    for _ in 0..3 {
        assert_eq!(cl.clRetainDevice(target().device), CL_SUCCESS);
    }
    for _ in 0..6 {
        assert_eq!(cl.clReleaseDevice(target().device), CL_SUCCESS);
    }
    assert!(!device_text(CL_DEVICE_NAME).is_empty());
}

#[test]
fn unknown_extension_functions_are_null() {
    let cl = &target().cl;
    assert!(cl.clGetExtensionFunctionAddressForPlatform(target().platform, c"clNoSuchFunctionKHR".as_ptr()).is_null());
}
