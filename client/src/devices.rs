//! Selects a device by a part of its name or of its platform's name. Searches the devices of wgcl's library first, then
//! the devices of all drivers of the ICD loader.
//!
//! Example: `llvmpipe` selects `llvmpipe (LLVM 15.0.6, 256 bits)`.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::api::Api;
use crate::error::ClientError;
use crate::objects::{device_text, platform_text, platforms};
use wgcl_opencl_headers::{CL_DEVICE_NAME, CL_DRIVER_VERSION, CL_PLATFORM_NAME, cl_device_id};

/// The file name of wgcl's library.
const LIBRARY: &str = if cfg!(target_os = "windows") {
    "wgcl.dll"
} else if cfg!(target_os = "macos") {
    "libwgcl.dylib"
} else {
    "libwgcl.so"
};

/// The file name of the ICD loader.
const LOADER: &str = if cfg!(target_os = "windows") { "OpenCL.dll" } else { "libOpenCL.so.1" };

/// A device of a driver.
#[derive(Clone)]
pub struct Device {
    pub(crate) api: Arc<Api>,
    pub(crate) handle: cl_device_id,
    /// CL_DEVICE_NAME
    pub name: String,
    /// CL_PLATFORM_NAME
    pub platform: String,
    /// CL_DRIVER_VERSION
    pub driver: String,
}

impl Device {
    /// Whether this is wgcl's CPU device, which has the kernel sanitizer.
    pub fn checks_kernels(&self) -> bool {
        self.platform.contains("wgcl") && self.driver.contains("(CPU:")
    }

    /// Whether `text` is a part of the name of the device or of its platform, without regard to case.
    fn matches(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        [&self.name, &self.platform].into_iter().any(|name| name.to_lowercase().contains(&text))
    }
}

/// The libraries to search for devices.
pub struct Libraries {
    /// The path of wgcl's library, which is searched first. `None` if it was not found.
    own: Option<PathBuf>,
    /// Whether the caller named wgcl's library. If so, it is an error if the library cannot be loaded.
    is_named: bool,
}

impl Libraries {
    /// Finds wgcl's library: `named` if it is given. Otherwise the library is in the directory of the running program,
    /// in `../lib`, or in the Python packages of the same prefix.
    pub fn find(named: Option<PathBuf>) -> Self {
        let program = std::env::current_exe().ok();
        let folder = program.as_deref().and_then(Path::parent);
        let is_named = named.is_some();
        Self { own: named.or_else(|| near(folder?)), is_named }
    }

    /// Returns the first device for which `fits` is true and whose name or platform name contains `wanted`. Devices of
    /// wgcl's library come first.
    ///
    /// # Errors
    /// Fails if no library can be loaded, there is no such device, or a call fails.
    pub fn device(&self, wanted: Option<&str>, fits: impl Fn(&Device) -> bool) -> Result<Device, ClientError> {
        let (mut known, mut tried) = (Vec::new(), Vec::new());
        let mut loaded = false;
        for path in self.own.iter().map(PathBuf::as_path).chain([Path::new(LOADER)]) {
            let api = match Api::load(path.as_os_str()) {
                Ok(api) => Arc::new(api),
                Err(error) => {
                    tried.push((path.to_owned(), error.to_string()));
                    if self.is_named && self.own.as_deref() == Some(path) {
                        break;
                    }
                    continue;
                }
            };
            loaded = true;
            for device in devices(&api)?.into_iter().filter(|device| fits(device)) {
                if wanted.is_none_or(|wanted| device.matches(wanted)) {
                    return Ok(device);
                }
                let name = format!("{} ({})", device.name, device.platform);
                if !known.contains(&name) {
                    known.push(name);
                }
            }
        }
        if !loaded {
            return Err(ClientError::NoLibrary { tried });
        }
        Err(ClientError::NoDevice { wanted: wanted.unwrap_or_default().to_owned(), known })
    }
}

/// Returns the library that belongs to a program in `folder`.
fn near(folder: &Path) -> Option<PathBuf> {
    let prefix = folder.parent().unwrap_or(folder);
    let lib = prefix.join("lib");
    // The wheel installs the library where pyopencl's ICD loader searches: on Unix in `lib/pythonX.Y`, on Windows in
    // `Lib`.
    let is_python = |path: &PathBuf| path.file_name().is_some_and(|name| name.to_string_lossy().starts_with("python"));
    let pythons = std::fs::read_dir(&lib).into_iter().flatten().flatten().map(|entry| entry.path()).filter(is_python);
    let packages = pythons.chain([prefix.join("Lib")]).map(|python| python.join("site-packages/pyopencl/.libs"));
    [folder.to_owned(), lib.clone()].into_iter().chain(packages).map(|folder| folder.join(LIBRARY)).find(|path| path.exists())
}

fn devices(api: &Arc<Api>) -> Result<Vec<Device>, ClientError> {
    let mut found = Vec::new();
    for platform in platforms(api)? {
        let name = platform_text(api, platform.handle, CL_PLATFORM_NAME);
        found.extend(platform.devices.into_iter().map(|handle| Device {
            api: Arc::clone(api),
            handle,
            name: device_text(api, handle, CL_DEVICE_NAME),
            platform: name.clone(),
            driver: device_text(api, handle, CL_DRIVER_VERSION),
        }));
    }
    Ok(found)
}

#[cfg(test)]
mod tests {
    use super::{LIBRARY, near};

    #[test]
    fn the_library_of_a_python_package_is_found() {
        let prefix = tempfile::tempdir().expect("a temporary directory");
        let bin = prefix.path().join("bin");
        let package = prefix.path().join("lib/python3.11/site-packages/pyopencl/.libs");
        for folder in [&bin, &package] {
            std::fs::create_dir_all(folder).expect("a directory");
        }
        assert_eq!(near(&bin), None);
        std::fs::write(package.join(LIBRARY), "").expect("a file");
        assert_eq!(near(&bin), Some(package.join(LIBRARY)));
        // A library in `lib` has precedence.
        let installed = prefix.path().join("lib").join(LIBRARY);
        std::fs::write(&installed, "").expect("a file");
        assert_eq!(near(&bin), Some(installed));
    }
}
