//! The platform, and how the ICD loader finds it (OpenCL API 4.1; cl_khr_icd).

use std::ffi::c_void;
use std::sync::{Arc, OnceLock};

use wgcl_api::commands::command_buffer::PlatformCommandBufferCapabilities;
use wgcl_api::objects::device::opencl_version::platform_version_text;
use wgcl_api::objects::platform::{NAME, Platform, SUFFIX};
use wgcl_api::objects::semaphore::TYPE_BINARY;
use wgcl_api::observe::{self, capture, lint, sanitizer_summary, trace};
use wgcl_api::options::Options;
use wgcl_api::types::error::Result;

use crate::backends::Backends;
use crate::dispatch;
use crate::ffi::{BytesMut, FromC, Out, OutList, Text};
use crate::info::Query;
use crate::{handles, leak_report, lifetime, logging};
use wgcl_opencl_headers::{
    CL_PLATFORM_EXTENSIONS, CL_PLATFORM_EXTENSIONS_WITH_VERSION, CL_PLATFORM_EXTERNAL_MEMORY_IMPORT_HANDLE_TYPES_KHR,
    CL_PLATFORM_HOST_TIMER_RESOLUTION, CL_PLATFORM_ICD_SUFFIX_KHR, CL_PLATFORM_NAME, CL_PLATFORM_NUMERIC_VERSION, CL_PLATFORM_PROFILE,
    CL_PLATFORM_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR, CL_PLATFORM_SEMAPHORE_IMPORT_HANDLE_TYPES_KHR, CL_PLATFORM_SEMAPHORE_TYPES_KHR,
    CL_PLATFORM_VENDOR, CL_PLATFORM_VERSION, cl_platform_id, cl_platform_info, cl_uint,
};

/// CL_PLATFORM_UNLOADABLE_KHR, which the headers of the bindings do not have yet.
const UNLOADABLE: cl_platform_info = 0x0921;

/// CL_PLATFORM_COMMAND_BUFFER_CAPABILITIES_KHR, which the headers of the bindings do not have yet.
const COMMAND_BUFFER_CAPABILITIES: cl_platform_info = 0x0908;

static PLATFORM: OnceLock<Arc<Platform>> = OnceLock::new();

/// Returns the platform of this process. The first call creates it, and starts the log and the trace that the
/// options request.
pub(crate) fn platform() -> &'static Arc<Platform> {
    PLATFORM.get_or_init(|| {
        if lifetime::has_elevated_rights() {
            Options::ignore_environment();
        }
        let options = Options::get();
        logging::start(options);
        trace::begin(options);
        lifetime::watch();
        if trace::is_on() || options.is_checked() || options.capture.is_some() {
            observe::at_exit::prepare();
            lifetime::at_exit(at_exit);
        }
        Platform::new(Arc::new(Backends::of(options)))
    })
}

extern "C" fn at_exit() {
    // A panic must not unwind out of a function that C calls.
    let _ = std::panic::catch_unwind(|| {
        if Options::get().is_checked() {
            sanitizer_summary::print();
            leak_report::print();
            lint::report_unawaited_queues();
        }
        capture::print();
        trace::end();
    });
}

fn platform_ids(num_entries: cl_uint, platforms: &OutList<cl_platform_id>, num_platforms: &Out<cl_uint>) -> Result<()> {
    // "CL_INVALID_VALUE if num_entries is equal to zero and platforms is not NULL or if both num_platforms and
    // platforms are NULL."
    crate::check!(num_entries != 0 || platforms.is_null(), InvalidValue, "num_entries is zero, but platforms is not null");
    crate::check!(!platforms.is_null() || !num_platforms.is_null(), InvalidValue, "num_platforms and platforms are both null");
    platforms.set(&[handles::borrowed(platform())]);
    num_platforms.set(1);
    Ok(())
}

crate::entry! {
    fn clIcdGetPlatformIDsKHR(num_entries: cl_uint, platforms: OutList<cl_platform_id>, num_platforms: Out<cl_uint>) {
        platform_ids(num_entries, &platforms, &num_platforms)
    }

    fn clIcdSetPlatformDispatchDataKHR(platform: cl_platform_id, data: *mut c_void) {
        handles::get::<Platform>(platform)?;
        handles::set_dispatch_data(data);
        Ok(())
    }

    fn clGetPlatformIDs(num_entries: cl_uint, platforms: OutList<cl_platform_id>, num_platforms: Out<cl_uint>) {
        platform_ids(num_entries, &platforms, &num_platforms)
    }

    fn clGetPlatformInfo(platform: cl_platform_id, param: cl_platform_info, size: usize, value: BytesMut, size_ret: Out<usize>) {
        let platform = handles::get::<Platform>(platform)?;
        let query = Query::new(size, value, size_ret);
        match param {
            CL_PLATFORM_PROFILE => query.put(platform.profile()),
            CL_PLATFORM_VERSION => query.put(platform_version_text(platform.version())),
            CL_PLATFORM_NUMERIC_VERSION => query.put(platform.version()),
            CL_PLATFORM_NAME | CL_PLATFORM_VENDOR => query.put(NAME),
            CL_PLATFORM_EXTENSIONS => {
                let names: Vec<_> = platform.extensions().into_iter().map(|extension| extension.name).collect();
                query.put(names.join(" "))
            }
            CL_PLATFORM_EXTENSIONS_WITH_VERSION => query.put(platform.extensions()),
            CL_PLATFORM_HOST_TIMER_RESOLUTION => query.put(1u64),
            CL_PLATFORM_ICD_SUFFIX_KHR => query.put(SUFFIX),
            // The query returns the handle types that all devices support.
            CL_PLATFORM_EXTERNAL_MEMORY_IMPORT_HANDLE_TYPES_KHR => {
                query.put(platform.importable_memory().into_iter().map(|kind| kind as u32).collect::<Vec<_>>())
            }
            CL_PLATFORM_SEMAPHORE_TYPES_KHR => query.put([TYPE_BINARY]),
            CL_PLATFORM_SEMAPHORE_IMPORT_HANDLE_TYPES_KHR | CL_PLATFORM_SEMAPHORE_EXPORT_HANDLE_TYPES_KHR => {
                query.put(platform.shareable_semaphores().into_iter().map(|kind| kind as u32).collect::<Vec<_>>())
            }
            COMMAND_BUFFER_CAPABILITIES => query.put(PlatformCommandBufferCapabilities::all().bits()),
            UNLOADABLE => query.put(lifetime::STAYS_LOADED),
            _ => query.unknown(param),
        }
    }

    fn clUnloadPlatformCompiler(platform: cl_platform_id) {
        // The call is a hint. wgcl ignores it, because the compiler holds little memory between builds.
        handles::get::<Platform>(platform).map(drop)
    }

    fn clUnloadCompiler() {
        Ok(())
    }
}

/// `clIcdGetFunctionAddressForPlatformKHR`
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn clIcdGetFunctionAddressForPlatformKHR(platform: cl_platform_id, name: <Text as FromC>::Raw) -> *mut c_void {
    // SAFETY: an argument of a call from C.
    let name = unsafe { Text::from_c(name) };
    crate::ffi::pointer("clIcdGetFunctionAddressForPlatformKHR", std::ptr::null_mut(), |_| {
        handles::get::<Platform>(platform)?;
        Ok(dispatch::function(&name.get().unwrap_or_default()))
    })
}

/// `clGetExtensionFunctionAddressForPlatform`
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn clGetExtensionFunctionAddressForPlatform(
    platform: cl_platform_id,
    name: <Text as FromC>::Raw,
) -> *mut c_void {
    // SAFETY: an argument of a call from C.
    let name = unsafe { Text::from_c(name) };
    crate::ffi::pointer("clGetExtensionFunctionAddressForPlatform", std::ptr::null_mut(), |_| {
        handles::get::<Platform>(platform)?;
        Ok(dispatch::extension(&name.get().unwrap_or_default()))
    })
}

/// `clGetExtensionFunctionAddress`
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn clGetExtensionFunctionAddress(name: <Text as FromC>::Raw) -> *mut c_void {
    // SAFETY: an argument of a call from C.
    let name = unsafe { Text::from_c(name) };
    crate::ffi::pointer("clGetExtensionFunctionAddress", std::ptr::null_mut(), |_| Ok(dispatch::extension(&name.get().unwrap_or_default())))
}
