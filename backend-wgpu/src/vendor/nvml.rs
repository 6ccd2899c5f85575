//! NVIDIA's management library (NVML), which the driver installs. It needs no CUDA context and no memory of the GPU.
//!
//! Functions and constants: NVML API Reference, "Device Queries" and "Device Enums".

use std::ffi::{CString, c_char, c_int, c_uint, c_void};
use std::sync::OnceLock;

use libloading::{Library, Symbol};

const LIBRARY: &str = if cfg!(windows) { "nvml.dll" } else { "libnvidia-ml.so.1" };
// `NVML_SUCCESS`
const SUCCESS: c_int = 0;
// `NVML_CLOCK_SM`
const CLOCK_SM: c_int = 1;
// `NVML_FEATURE_ENABLED`
const ENABLED: c_int = 1;

/// The facts that NVML reports for a GPU.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Facts {
    /// The highest clock of the streaming multiprocessors, if the driver reports it.
    pub(super) max_clock_mhz: Option<u32>,
    /// Major and minor version.
    pub(super) compute_capability: (u32, u32),
    /// Whether error correction of the memory is enabled.
    pub(super) error_correction: bool,
    /// Whether a display uses the GPU. The driver then ends kernels that run for seconds.
    pub(super) drives_display: bool,
}

type Handle = *mut c_void;

/// Returns the library, which is loaded on first use, stays loaded, and is not initialised.
fn library() -> Option<&'static Library> {
    static LOADED: OnceLock<Option<Library>> = OnceLock::new();
    // SAFETY: the initialisers of the driver's library have no preconditions.
    LOADED.get_or_init(|| unsafe { Library::new(LIBRARY) }.ok()).as_ref()
}

/// Whether the library is installed. Unlike [`query`], this does not initialise the library, which saves 11 ms on an
/// H200 (driver 580).
pub(super) fn is_installed() -> bool {
    library().is_some()
}

/// An initialised library.
struct Nvml {
    library: &'static Library,
}

impl Nvml {
    fn load() -> Option<Self> {
        let library = library()?;
        // SAFETY: the type is that of NVML's header.
        let init: Symbol<'_, unsafe extern "C" fn() -> c_int> = unsafe { library.get(b"nvmlInit_v2") }.ok()?;
        // SAFETY: the function has no preconditions.
        let status = unsafe { init() };
        (status == SUCCESS).then_some(Self { library })
    }

    /// Returns the function `name` of the library, or `None` if the library does not have it.
    ///
    /// # Safety
    /// `T` must be the type of the function with that name.
    unsafe fn function<T>(&self, name: &[u8]) -> Option<Symbol<'_, T>> {
        // SAFETY: the caller names the type.
        unsafe { self.library.get(name) }.ok()
    }

    /// Returns the device at a PCI address.
    fn device(&self, [domain, bus, device, function]: [u32; 4]) -> Option<Handle> {
        let name = CString::new(format!("{domain:08x}:{bus:02x}:{device:02x}.{function:x}")).ok()?;
        let mut handle = std::ptr::null_mut();
        // SAFETY: the type is that of NVML's header. The string is terminated, and `handle` receives one pointer.
        let status = unsafe {
            let get = self.function::<unsafe extern "C" fn(*const c_char, *mut Handle) -> c_int>(b"nvmlDeviceGetHandleByPciBusId_v2")?;
            get(name.as_ptr(), &raw mut handle)
        };
        (status == SUCCESS).then_some(handle)
    }

    fn max_clock_mhz(&self, device: Handle) -> Option<u32> {
        let mut mhz: c_uint = 0;
        // SAFETY: the type is that of NVML's header. The handle is the library's, and `mhz` receives one number.
        let status = unsafe {
            self.function::<unsafe extern "C" fn(Handle, c_int, *mut c_uint) -> c_int>(b"nvmlDeviceGetMaxClockInfo")?(
                device,
                CLOCK_SM,
                &raw mut mhz,
            )
        };
        (status == SUCCESS && mhz > 0).then_some(mhz)
    }

    /// Returns the two numbers that a function of NVML reports for a device.
    fn query_two(&self, device: Handle, name: &[u8]) -> Option<(c_int, c_int)> {
        let (mut first, mut second): (c_int, c_int) = (0, 0);
        // SAFETY: the callers name functions of this type in NVML's header. The handle is the library's, and each
        // pointer receives one number.
        let status = unsafe {
            let get = self.function::<unsafe extern "C" fn(Handle, *mut c_int, *mut c_int) -> c_int>(name)?;
            get(device, &raw mut first, &raw mut second)
        };
        (status == SUCCESS).then_some((first, second))
    }

    fn drives_display(&self, device: Handle) -> bool {
        let mut active: c_int = 0;
        // SAFETY: the type is that of NVML's header. The handle is the library's, and `active` receives one number.
        let status = unsafe {
            match self.function::<unsafe extern "C" fn(Handle, *mut c_int) -> c_int>(b"nvmlDeviceGetDisplayActive") {
                Some(get) => get(device, &raw mut active),
                None => return false,
            }
        };
        status == SUCCESS && active == ENABLED
    }
}

impl Drop for Nvml {
    fn drop(&mut self) {
        // SAFETY: the type is that of NVML's header, and the library was initialised once for this value.
        unsafe {
            if let Some(shutdown) = self.function::<unsafe extern "C" fn() -> c_int>(b"nvmlShutdown") {
                shutdown();
            }
        }
    }
}

/// Returns the facts of the GPU at a PCI address. Returns `None` if the library is missing, does not know the GPU, or
/// does not report its compute capability.
pub(super) fn query(pci: [u32; 4]) -> Option<Facts> {
    let nvml = Nvml::load()?;
    let device = nvml.device(pci)?;
    let (major, minor) = nvml.query_two(device, b"nvmlDeviceGetCudaComputeCapability")?;
    Some(Facts {
        max_clock_mhz: nvml.max_clock_mhz(device),
        compute_capability: (u32::try_from(major).ok()?, u32::try_from(minor).ok()?),
        // GPUs without error correction return an error.
        error_correction: nvml.query_two(device, b"nvmlDeviceGetEccMode").is_some_and(|(current, _)| current == ENABLED),
        drives_display: nvml.drives_display(device),
    })
}
