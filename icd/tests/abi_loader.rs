//! The interface for loaders (cl_khr_icd 2.0.1). This test acts as the loader. The other tests call through the
//! installed loader.

mod common;

use std::ffi::{CStr, c_char, c_void};
use std::ptr::{null_mut, without_provenance_mut};

use common::ffi::{CL_INVALID_PLATFORM, CL_PLATFORM_NAME, CL_SUCCESS, cl_int, cl_platform_id, cl_uint};
use common::objects::{Context, Event};
use common::{info, info_bytes, info_string, library_under_test, target};

type GetExtension = unsafe extern "C" fn(*const c_char) -> *mut c_void;
type GetPlatforms = unsafe extern "C" fn(cl_uint, *mut cl_platform_id, *mut cl_uint) -> cl_int;
type GetFunction = unsafe extern "C" fn(cl_platform_id, *const c_char) -> *mut c_void;
type SetData = unsafe extern "C" fn(cl_platform_id, *mut c_void) -> cl_int;
type GetInfo = unsafe extern "C" fn(cl_platform_id, cl_uint, usize, *mut c_void, *mut usize) -> cl_int;

/// CL_ICD2_TAG_KHR
const TAG: usize = if size_of::<usize>() == 8 { 0x4F50_454E_434C_3331_u64 as usize } else { 0x434C_3331 };
/// The indices of clGetPlatformIDs and clUnloadCompiler in `struct _cl_icd_dispatch`.
const TAGGED: [usize; 2] = [0, 31];
/// The number of entries in the dispatch table of OpenCL 3.1.
const ENTRIES: usize = 150;

const CL_PLATFORM_EXTENSIONS_WITH_VERSION: cl_uint = 0x0907;
const CL_PLATFORM_UNLOADABLE: cl_uint = 0x0921;

/// Returns the first two fields of an object: `dispatch` and `dispatch_data`.
fn words(handle: *mut c_void) -> [*mut c_void; 2] {
    // SAFETY: the handle belongs to the driver, whose objects begin with these fields.
    unsafe { *handle.cast() }
}

/// The driver, through the functions that a loader uses.
struct Driver {
    library: libloading::Library,
    platform: cl_platform_id,
    function: GetFunction,
    set: SetData,
}

impl Driver {
    fn open() -> Self {
        let path = library_under_test().expect("the driver");
        // SAFETY: the library runs no code when it is loaded.
        let library = unsafe { libloading::Library::new(path) }.expect("the driver itself, not the loader");
        // SAFETY: these are the types of the functions of these names.
        let (platforms, extension) = unsafe {
            let platforms = *library.get::<GetPlatforms>(b"clIcdGetPlatformIDsKHR\0").expect("the entry point of drivers");
            (platforms, *library.get::<GetExtension>(b"clGetExtensionFunctionAddress\0").expect("the entry point of drivers"))
        };
        let find = |name: &CStr| {
            // SAFETY: the name is a C string.
            let found = unsafe { extension(name.as_ptr()) };
            assert!(!found.is_null(), "{name:?}");
            found
        };
        // SAFETY: as above.
        let (function, set) = unsafe {
            (
                std::mem::transmute::<*mut c_void, GetFunction>(find(c"clIcdGetFunctionAddressForPlatformKHR")),
                std::mem::transmute::<*mut c_void, SetData>(find(c"clIcdSetPlatformDispatchDataKHR")),
            )
        };
        let mut platform = null_mut();
        // SAFETY: the array has space for one platform.
        assert_eq!(unsafe { platforms(1, &mut platform, null_mut()) }, CL_SUCCESS);
        Self { library, platform, function, set }
    }

    fn function(&self, platform: cl_platform_id, name: &CStr) -> *mut c_void {
        // SAFETY: the name is a C string; the driver checks the platform.
        unsafe { (self.function)(platform, name.as_ptr()) }
    }

    fn set(&self, platform: cl_platform_id, data: *mut c_void) -> cl_int {
        // SAFETY: the driver checks the platform, and does not dereference the data.
        unsafe { (self.set)(platform, data) }
    }
}

#[test]
fn the_platform_reports_version_two() {
    if !target().is_wgcl() {
        return;
    }
    let driver = Driver::open();
    assert_eq!(driver.platform, target().platform, "loaders give out the driver's own handles");
    // SAFETY: the table has that many entries.
    let table = unsafe { *words(driver.platform)[0].cast::<[*mut c_void; ENTRIES]>() };
    for (place, function) in table.into_iter().enumerate() {
        assert_eq!(function.addr() == TAG, TAGGED.contains(&place), "place {place}");
    }
    let name = driver.function(driver.platform, c"clGetPlatformInfo");
    assert_eq!(name, table[1], "loaders of both versions call the same function");
    assert_eq!(driver.function(driver.platform, c"clGetKernelSuggestedLocalWorkSize"), table[ENTRIES - 1]);
    let versions = info_bytes(|size, value, ret| {
        target().cl.clGetPlatformInfo(driver.platform, CL_PLATFORM_EXTENSIONS_WITH_VERSION, size, value, ret)
    })
    .expect("the versions");
    // Each cl_name_version has the version, and a name of 64 bytes.
    let icd = versions.chunks(68).find(|entry| entry[4..].starts_with(b"cl_khr_icd\0")).expect("cl_khr_icd");
    assert_eq!(u32::from_ne_bytes([icd[0], icd[1], icd[2], icd[3]]), 2 << 22 | 1);
}

#[test]
fn functions_are_found_by_name() {
    if !target().is_wgcl() {
        return;
    }
    let driver = Driver::open();
    for name in [
        c"clGetPlatformIDs",
        c"clUnloadCompiler",
        c"clGetDeviceIDs",
        c"clCreateContext",
        c"clEnqueueNDRangeKernel",
        c"clCreatePipe",
        c"clCreateFromGLBuffer",
        c"clSVMAlloc",
        c"clGetExtensionFunctionAddressForPlatform",
        c"clSetContextDestructorCallback",
        c"clCreateCommandBufferKHR",
        c"clIcdGetPlatformIDsKHR",
    ] {
        let found = driver.function(driver.platform, name);
        // SAFETY: the address is not dereferenced.
        let exported = unsafe { driver.library.get::<*mut c_void>(name.to_bytes_with_nul()).expect("it is exported").try_as_raw_ptr() };
        assert_eq!(Some(found), exported, "{name:?}");
    }
    for name in [c"clCreateFromD3D10BufferKHR", c"clNoSuchFunction", c""] {
        assert!(driver.function(driver.platform, name).is_null(), "{name:?}: the loader implements the function itself");
    }
    assert!(driver.function(null_mut(), c"clGetPlatformInfo").is_null());
    assert!(driver.function(target().device, c"clGetPlatformInfo").is_null(), "a device is not a platform");
}

#[test]
fn every_handle_holds_the_data_of_the_loader() {
    if !target().is_wgcl() {
        return;
    }
    let driver = Driver::open();
    let earlier = Context::new();
    let early = [driver.platform, target().device, earlier.0];
    // The part of a loader's table that the test needs: the function that returns the name of the platform.
    let table: &'static [*mut c_void] = Vec::leak(vec![null_mut(), driver.function(driver.platform, c"clGetPlatformInfo")]);
    // The table of the installed loader, if the loader supports version 2. The other tests must continue to call
    // through this table.
    let theirs = words(driver.platform)[1];
    let data = if theirs.is_null() { table.as_ptr().cast_mut().cast::<c_void>() } else { theirs };
    assert_eq!(driver.set(null_mut(), data), CL_INVALID_PLATFORM);
    assert_eq!(driver.set(target().device, data), CL_INVALID_PLATFORM);
    assert_eq!(words(driver.platform)[1], theirs, "nothing has changed");

    assert_eq!(driver.set(driver.platform, data), CL_SUCCESS);
    for handle in early {
        assert_eq!(words(handle)[1], data);
    }
    let context = Context::new();
    // Create more objects than the driver allocates at a time.
    let events: Vec<_> = (0..2000).map(|_| Event(target().cl.clCreateUserEvent(context.0, &mut 0))).collect();
    let (queue, buffer) = (context.queue(0), context.buffer(64));
    let program = context.program("kernel void k(global int *a) { *a = 1; }");
    assert_eq!(program.build(""), CL_SUCCESS);
    let kernel = program.kernel("k");
    let late = [context.0, queue.0, buffer.0, program.0, kernel.0];
    for handle in late.into_iter().chain(events.iter().map(|event| event.0)) {
        assert_eq!(words(handle), [words(driver.platform)[0], data]);
    }
    // SAFETY: the second word is such a table, whose second entry has a function of this type.
    let ask = unsafe { std::mem::transmute::<*mut c_void, GetInfo>(*words(driver.platform)[1].cast::<*mut c_void>().add(1)) };
    // SAFETY: the pointers are null, or valid for that many bytes.
    let name = info_string(|size, value, ret| unsafe { ask(driver.platform, CL_PLATFORM_NAME, size, value, ret) });
    assert_eq!(name.as_deref(), Ok("wgcl"));

    // The second word may be set again, to any value, because only the loader reads it.
    let other = if theirs.is_null() { without_provenance_mut(8) } else { theirs };
    assert_eq!(driver.set(driver.platform, other), CL_SUCCESS);
    assert_eq!(words(queue.0)[1], other);
    queue.write(&buffer, &[0i32; 16]);
    kernel.set_mem(0, &buffer);
    assert_eq!(queue.launch(&kernel, &[1], None), CL_SUCCESS);
    assert_eq!(queue.read::<i32>(&buffer, 1), [1]);
}

#[test]
#[cfg(target_os = "linux")]
fn the_library_may_be_closed_and_opened_again() {
    if !target().is_wgcl() {
        return;
    }
    let driver = Driver::open();
    let unloadable =
        info::<cl_uint>(|size, value, ret| target().cl.clGetPlatformInfo(driver.platform, CL_PLATFORM_UNLOADABLE, size, value, ret));
    assert_eq!(unloadable, Ok(1));
    let context = Context::new();
    let queue = context.queue(0);
    let before = driver.platform;
    drop(driver);
    // The threads of the driver continue, and opening the library again returns the same library.
    queue.finish();
    assert_eq!(Driver::open().platform, before);
}
