//! Loads OpenCL like an application does, through the ICD loader. The environment variables of the loader name the
//! library under test.
//!
//! | variable | meaning |
//! |---|---|
//! | `WGCL_TEST_PLATFORM` | test the installed platform whose name contains this text (for example `Portable`), not wgcl |
//! | `WGCL_TEST_LIBRARY` | the `libwgcl.so` to test; the default is the one in the folder of the test binary |
//! | `WGCL_TEST_DEVICE` | the device of the platform to test: an index or a part of its name; the default is 0. `interpreter` selects wgcl's interpreter |

#![allow(dead_code, reason = "each test binary uses another part of this module")]

pub mod commands;
pub mod features;
pub mod ffi;
pub mod images;
pub mod large;
pub mod objects;
pub mod random;

use std::env::consts::{DLL_PREFIX, DLL_SUFFIX};
use std::ffi::c_void;
use std::path::{Path, PathBuf};
use std::ptr::{null, null_mut};
use std::sync::OnceLock;

use ffi::{
    CL_DEVICE_NAME, CL_DEVICE_OPENCL_C_FEATURES, CL_DEVICE_TYPE_ALL, CL_DRIVER_VERSION, CL_PLATFORM_NAME, CL_SUCCESS, Cl, cl_device_id,
    cl_int, cl_platform_id, cl_uint,
};

/// The platform and the device that the tests of this process run on.
pub struct Target {
    pub cl: Cl,
    pub platform: cl_platform_id,
    pub device: cl_device_id,
    pub platform_name: String,
}

// SAFETY: OpenCL's entry points may be called from any thread, and the handles are only passed back to them.
unsafe impl Send for Target {}
// SAFETY: as above.
unsafe impl Sync for Target {}

impl Target {
    /// Whether the platform is wgcl, and not another one for comparison.
    pub fn is_wgcl(&self) -> bool {
        self.platform_name.contains("wgcl")
    }
}

/// Writes the loader's registry folder for the library under test. Returns the path of the folder.
fn registry_for(library: &Path) -> Result<PathBuf, String> {
    let folder = library.with_file_name("wgcl-test-icd");
    let file = folder.join("wgcl.icd");
    let text = format!("{}\n", library.display());
    if std::fs::read_to_string(&file).is_ok_and(|old| old == text) {
        return Ok(folder);
    }
    // Several test processes may run this code at the same time. So write a temporary file, and then rename it.
    let aside = folder.join(format!("wgcl.{}", std::process::id()));
    std::fs::create_dir_all(&folder)
        .and_then(|()| std::fs::write(&aside, text))
        .and_then(|()| std::fs::rename(&aside, &file))
        .map_err(|error| format!("cannot write {}: {error}", file.display()))?;
    Ok(folder)
}

/// The file name of the ICD loader's library.
const LOADER: &str = if cfg!(windows) {
    "OpenCL.dll"
} else if cfg!(target_vendor = "apple") {
    "libOpenCL.1.dylib"
} else {
    "libOpenCL.so.1"
};

/// Returns the path of the library of the profile with which this test binary was built. The running program is
/// `target/PROFILE/deps/TEST`.
pub fn library_under_test() -> Result<PathBuf, String> {
    if let Some(path) = std::env::var_os("WGCL_TEST_LIBRARY") {
        return std::path::absolute(path).map_err(|error| error.to_string());
    }
    let program = std::env::current_exe().map_err(|error| error.to_string())?;
    let folder = program.ancestors().nth(2).ok_or("the test binary is in no target folder")?;
    let library = folder.join(format!("{DLL_PREFIX}wgcl{DLL_SUFFIX}"));
    if library.exists() {
        Ok(library)
    } else {
        Err(format!("{} is missing: run `cargo build` with the same profile first", library.display()))
    }
}

fn load() -> Result<Target, String> {
    let wanted = std::env::var("WGCL_TEST_PLATFORM").ok();
    if wanted.is_none() {
        let library = library_under_test()?;
        let registry = registry_for(&library)?;
        // SAFETY: this code runs once, before the loader starts threads. The tests' own threads do not touch the
        // environment.
        unsafe {
            std::env::set_var("OCL_ICD_VENDORS", &registry);
            std::env::remove_var("OCL_ICD_FILENAMES");
            // The tests check the compiler, and not cached results.
            if std::env::var_os("WGCL_CACHE_DIR").is_none() {
                std::env::set_var("WGCL_CACHE", "0");
            }
            if std::env::var("WGCL_TEST_DEVICE").is_ok_and(|device| device == "interpreter") {
                std::env::set_var("WGCL_INTERPRETER", "only");
            }
        }
    }
    let wanted = wanted.unwrap_or_else(|| "wgcl".to_owned());
    // SAFETY: the loader runs no code of the test when it is loaded.
    let library = unsafe { libloading::Library::new(LOADER) }.map_err(|error| error.to_string())?;
    let cl = Cl::from_library(library).map_err(|error| error.to_string())?;

    let mut count: cl_uint = 0;
    let status = cl.clGetPlatformIDs(0, null_mut(), &mut count);
    let mut platforms: Vec<cl_platform_id> = vec![null_mut(); count as usize];
    if status == CL_SUCCESS {
        cl.clGetPlatformIDs(count, platforms.as_mut_ptr(), null_mut());
    }
    let mut names = Vec::new();
    for platform in platforms {
        let name = info_string(|size, value, ret| cl.clGetPlatformInfo(platform, CL_PLATFORM_NAME, size, value, ret)).unwrap_or_default();
        if name.contains(&wanted) {
            let device = pick_device(&cl, platform)?;
            return Ok(Target { cl, platform, device, platform_name: name });
        }
        names.push(name);
    }
    Err(format!("the loader shows no platform named {wanted:?}, only {names:?} (clGetPlatformIDs: {status})"))
}

fn pick_device(cl: &Cl, platform: cl_platform_id) -> Result<cl_device_id, String> {
    let wanted = std::env::var("WGCL_TEST_DEVICE").unwrap_or_else(|_| "0".to_owned());
    let mut count: cl_uint = 0;
    let status = cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 0, null_mut(), &mut count);
    if status != CL_SUCCESS {
        return Err(format!("the platform shows no device (clGetDeviceIDs: {status})"));
    }
    let mut devices: Vec<cl_device_id> = vec![null_mut(); count as usize];
    cl.clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, count, devices.as_mut_ptr(), null_mut());
    if let Ok(index) = wanted.parse::<usize>() {
        return devices.get(index).copied().ok_or_else(|| format!("the platform has {count} devices, none has index {index}"));
    }
    let found = devices.into_iter().find(|&device| name_of(cl, device).contains(&wanted));
    found.ok_or_else(|| format!("none of the platform's {count} devices is called {wanted}"))
}

fn name_of(cl: &Cl, device: cl_device_id) -> String {
    info_string(|size, value, ret| cl.clGetDeviceInfo(device, CL_DEVICE_NAME, size, value, ret)).unwrap_or_default()
}

/// Returns CL_DEVICE_NAME of the device under test.
pub fn device_name(target: &Target) -> String {
    name_of(&target.cl, target.device)
}

/// CL_DRIVER_VERSION of the device under test.
pub fn driver_version(target: &Target) -> String {
    info_string(|size, value, ret| target.cl.clGetDeviceInfo(target.device, CL_DRIVER_VERSION, size, value, ret)).unwrap_or_default()
}

/// Defines `Functions`, which contains the functions of an extension.
macro_rules! extension_functions {
    ($(fn $name:ident($($arg:ident: $type:ty),* $(,)?) -> $ret:ty;)*) => {
        /// The functions of an extension, found with `clGetExtensionFunctionAddressForPlatform` or in the exports of
        /// the loader.
        #[allow(non_snake_case, reason = "names of the C API")]
        pub(crate) struct Functions { $($name: unsafe extern "C" fn($($type),*) -> $ret,)* }

        impl Functions {
            #[allow(dead_code, reason = "the loader exports the functions of some extensions")]
            fn load() -> Option<Self> {
                Self::find(Self::address)
            }

            fn address(name: &str) -> Option<*mut std::ffi::c_void> {
                let target = $crate::common::target();
                let name = std::ffi::CString::new(name).ok()?;
                let found = target.cl.clGetExtensionFunctionAddressForPlatform(target.platform, name.as_ptr());
                (!found.is_null()).then_some(found)
            }

            /// Returns the functions that the ICD loader exports. The loader of Windows exports only some of them. It
            /// returns the addresses of the others when they are queried.
            #[allow(dead_code, reason = "loaders export the functions of few extensions")]
            fn exported() -> Option<Self> {
                let other = |name: &str| if cfg!(windows) { Self::address(name) } else { None };
                Self::find(|name| $crate::common::target().cl.exported(name).or_else(|| other(name)))
            }

            fn find(find: impl Fn(&str) -> Option<*mut std::ffi::c_void>) -> Option<Self> {
                $(
                    // SAFETY: the type is that of the function of this name in the extension.
                    #[allow(non_snake_case, reason = "names of the C API")]
                    let $name = unsafe { std::mem::transmute::<*mut std::ffi::c_void, unsafe extern "C" fn($($type),*) -> $ret>(find(stringify!($name))?) };
                )*
                Some(Self { $($name,)* })
            }

            $(
                #[allow(non_snake_case, clippy::too_many_arguments, reason = "the C API's own shape")]
                pub(crate) fn $name(&self, $($arg: $type),*) -> $ret {
                    // SAFETY: the function was found under this name. The calling test must pass valid arguments.
                    unsafe { (self.$name)($($arg),*) }
                }
            )*
        }
    };
}
#[allow(unused_imports, reason = "each test binary uses another part of this module")]
pub(crate) use extension_functions;

/// Whether the tests use wgcl's CPU device. The driver version contains the kind of the device.
pub fn is_cpu() -> bool {
    let driver =
        |target: &Target| info_string(|size, value, ret| target.cl.clGetDeviceInfo(target.device, CL_DRIVER_VERSION, size, value, ret));
    try_target().is_ok_and(|target| target.is_wgcl() && driver(target).is_ok_and(|driver| driver.contains("(CPU:")))
}

/// Returns the platform and the device under test, or the reason why none was found.
pub fn try_target() -> Result<&'static Target, &'static str> {
    static TARGET: OnceLock<Result<Target, String>> = OnceLock::new();
    TARGET.get_or_init(load).as_ref().map_err(String::as_str)
}

/// Returns the platform and the device under test.
///
/// # Panics
/// If no device was found. Otherwise, the tests would pass without running.
#[allow(clippy::panic, reason = "ends the test with the reason")]
pub fn target() -> &'static Target {
    match try_target() {
        Ok(target) => target,
        Err(reason) => panic!("{reason}"),
    }
}

/// Calls an info function twice, first for the size, and returns the bytes or the error code.
pub fn info_bytes(query: impl Fn(usize, *mut c_void, *mut usize) -> cl_int) -> Result<Vec<u8>, cl_int> {
    let mut size = 0;
    match query(0, null_mut(), &mut size) {
        CL_SUCCESS => {}
        error => return Err(error),
    }
    // Allocate one more byte, because a query with an empty result needs a valid pointer, too.
    let mut bytes = vec![0u8; size + 1];
    match query(size, bytes.as_mut_ptr().cast(), null_mut()) {
        CL_SUCCESS => {}
        error => return Err(error),
    }
    bytes.truncate(size);
    Ok(bytes)
}

/// Calls an info function that returns a string. Removes the terminating NUL.
pub fn info_string(query: impl Fn(usize, *mut c_void, *mut usize) -> cl_int) -> Result<String, cl_int> {
    let mut bytes = info_bytes(query)?;
    if bytes.last() == Some(&0) {
        bytes.pop();
    }
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

/// Returns the feature macros that the device reports. The query returns structures of a version and 64 bytes of text.
pub fn language_features() -> Vec<String> {
    let target = target();
    let bytes = info_bytes(|size, value, ret| target.cl.clGetDeviceInfo(target.device, CL_DEVICE_OPENCL_C_FEATURES, size, value, ret));
    let name = |entry: &[u8]| String::from_utf8_lossy(&entry[4..]).trim_end_matches('\0').to_owned();
    bytes.unwrap_or_default().chunks_exact(68).map(name).collect()
}

/// The part of the tests that `WGCL_TEST_PART=K/N` selects: every N-th test, beginning with the K-th.
#[derive(Clone, Copy, Debug)]
pub struct Part {
    first: usize,
    step: usize,
}

impl Part {
    pub fn selected() -> Result<Self, String> {
        let Ok(text) = std::env::var("WGCL_TEST_PART") else { return Ok(Self { first: 0, step: 1 }) };
        let numbers = text.split_once('/').and_then(|(k, n)| Some((k.parse::<usize>().ok()?, n.parse::<usize>().ok()?)));
        match numbers {
            Some((k, n)) if (1..=n).contains(&k) => Ok(Self { first: k - 1, step: n }),
            _ => Err(format!("WGCL_TEST_PART={text}: expected K/N with 1 <= K <= N, for example 1/4")),
        }
    }

    /// Whether the part contains the test with this index.
    pub const fn contains(self, index: usize) -> bool {
        index % self.step == self.first
    }
}

/// Calls an info function that returns one value of a plain type.
pub fn info<T: Copy + Default>(query: impl Fn(usize, *mut c_void, *mut usize) -> cl_int) -> Result<T, cl_int> {
    let mut value = T::default();
    let mut size = 0;
    match query(size_of::<T>(), (&raw mut value).cast(), &mut size) {
        CL_SUCCESS => {
            assert_eq!(size, size_of::<T>(), "param_value_size_ret");
            Ok(value)
        }
        error => Err(error),
    }
}

/// Returns a null pointer, for an optional list of handles.
pub fn none<T>() -> *const T {
    null()
}
