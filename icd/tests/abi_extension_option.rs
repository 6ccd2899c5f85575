//! The option `WGCL_EXTENSIONS` changes the results of all queries, and the macros of the compiler.

mod common;

use common::ffi::{CL_DEVICE_EXTENSIONS, CL_DEVICE_EXTENSIONS_WITH_VERSION, CL_PLATFORM_EXTENSIONS, CL_SUCCESS, cl_uint};
use common::objects::Context;
use common::{info_bytes, info_string, target};

const CL_PLATFORM_EXTENSIONS_WITH_VERSION: cl_uint = 0x0907;

const SOURCE: &str = "
#pragma OPENCL EXTENSION cl_nv_pragma_unroll : enable
kernel void k(global int *o) {
    o[0] = 0;
#ifdef cl_nv_pragma_unroll
    o[0] |= 1;
#endif
#ifndef cl_ext_float_atomics
    o[0] |= 2;
#endif
#ifndef cl_khr_fp64
    o[0] |= 4;
#endif
#ifdef cl_khr_byte_addressable_store
    o[0] |= 8;
#endif
}";

#[test]
fn extensions_are_hidden_and_added() {
    if std::env::var_os("WGCL_TEST_PLATFORM").is_some() {
        return;
    }
    let changes =
        "+cl_nv_pragma_unroll,+cl_khr_il_program,-cl_ext_float_atomics,-cl_khr_fp64,-cl_khr_icd_unloadable,-cl_khr_create_command_queue";
    // SAFETY: the only test of this process; no other thread exists that reads the environment.
    unsafe { std::env::set_var("WGCL_EXTENSIONS", changes) };
    let target = target();
    let device = |name| info_string(|size, value, ret| target.cl.clGetDeviceInfo(target.device, name, size, value, ret));
    let platform = |name| info_string(|size, value, ret| target.cl.clGetPlatformInfo(target.platform, name, size, value, ret));
    let with_version = [
        info_bytes(|size, value, ret| target.cl.clGetDeviceInfo(target.device, CL_DEVICE_EXTENSIONS_WITH_VERSION, size, value, ret)),
        info_bytes(|size, value, ret| target.cl.clGetPlatformInfo(target.platform, CL_PLATFORM_EXTENSIONS_WITH_VERSION, size, value, ret)),
    ];
    // Each entry has a version of 4 bytes and a name of 64 bytes.
    let with_version = with_version.map(|list| {
        let list = list.expect("extensions");
        let name = |entry: &[u8]| String::from_utf8_lossy(entry[4..].split(|&byte| byte == 0).next().unwrap_or_default()).into_owned();
        list.chunks_exact(68).map(name).collect::<Vec<_>>()
    });
    let words = |text: Result<String, i32>| text.expect("extensions").split_whitespace().map(str::to_owned).collect::<Vec<_>>();
    let [device_versions, platform_versions] = with_version;
    for list in [words(device(CL_DEVICE_EXTENSIONS)), words(platform(CL_PLATFORM_EXTENSIONS)), device_versions, platform_versions] {
        let has = |name: &str| list.iter().any(|known| known == name);
        assert!(has("cl_nv_pragma_unroll") && has("cl_khr_byte_addressable_store"), "{list:?}");
        assert_eq!(list.iter().filter(|name| *name == "cl_khr_il_program").count(), 1, "{list:?}");
        for hidden in ["cl_ext_float_atomics", "cl_khr_fp64", "cl_khr_icd_unloadable", "cl_khr_create_command_queue"] {
            assert!(!has(hidden), "{hidden} in {list:?}");
        }
    }
    let context = Context::new();
    let queue = context.queue(0);
    let out = context.buffer(4);
    let kernel = context.build(SOURCE).kernel("k");
    kernel.set_mem(0, &out);
    assert_eq!(queue.launch(&kernel, &[1], None), CL_SUCCESS);
    assert_eq!(queue.read::<i32>(&out, 1), [15]);
}
