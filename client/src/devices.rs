//! Finding a device by a part of its name: first those of wgcl's own library, then those of every driver that the ICD loader knows.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::api::{Api, Handle};
use crate::error::ClientError;
use crate::names::{CL_DEVICE_NAME, CL_DRIVER_VERSION, CL_PLATFORM_NAME};
use crate::objects::{device_text, platform_text, platforms};

/// The name of the file that wgcl's library is.
const LIBRARY: &str = if cfg!(target_os = "windows") {
    "wgcl.dll"
} else if cfg!(target_os = "macos") {
    "libwgcl.dylib"
} else {
    "libwgcl.so"
};

/// The name of the ICD loader's.
const LOADER: &str = if cfg!(target_os = "windows") { "OpenCL.dll" } else { "libOpenCL.so.1" };

/// A device of some driver.
#[derive(Clone)]
pub struct Device {
    pub(crate) api: Arc<Api>,
    pub(crate) handle: Handle,
    /// CL_DEVICE_NAME
    pub name: String,
    /// CL_PLATFORM_NAME
    pub platform: String,
    /// CL_DRIVER_VERSION
    pub driver: String,
}

impl Device {
    /// Whether it is the device on which wgcl checks kernels: the host's CPU, by machine code of its own.
    pub fn checks_kernels(&self) -> bool {
        self.platform.contains("wgcl") && self.driver.contains("(CPU:")
    }

    /// Whether a text is a part of the device's name or of its platform's, in upper or lower case.
    fn is_called(&self, text: &str) -> bool {
        let text = text.to_lowercase();
        [&self.name, &self.platform].into_iter().any(|name| name.to_lowercase().contains(&text))
    }
}

/// The libraries that devices may come from.
pub struct Libraries {
    /// What is looked into first.
    own: Option<PathBuf>,
    /// Whether that was asked for by name: then it has to be there.
    is_named: bool,
}

impl Libraries {
    /// wgcl's library where `named` says, or else beside the running program or in the folder `lib` beside that one's; and the ICD loader's.
    pub fn find(named: Option<PathBuf>) -> Self {
        let program = std::env::current_exe().ok();
        let folder = program.as_deref().and_then(Path::parent);
        let beside = folder.map(|folder| folder.join(LIBRARY));
        let installed = folder.and_then(Path::parent).map(|prefix| prefix.join("lib").join(LIBRARY));
        let is_named = named.is_some();
        Self { own: named.or_else(|| [beside, installed].into_iter().flatten().find(|path| path.exists())), is_named }
    }

    /// The first device that `fits` and is called so; of wgcl's own library if it has one.
    ///
    /// # Errors
    /// There is no library, or no such device.
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
                if wanted.is_none_or(|wanted| device.is_called(wanted)) {
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
