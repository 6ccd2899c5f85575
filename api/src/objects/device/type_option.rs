//! `WGCL_DEVICE_TYPE`: the reported device type (CL_DEVICE_TYPE, OpenCL API 4.2), for programs that look for one type
//! only.
//!
//! Some applications use only GPUs (x264, GEGL), and some use other kernels for a CPU. In OpenMM, one work-item then
//! loops over much of its data, which suits devices whose work-items are processor threads.

use crate::types::flags::DeviceType;

/// The type that the option selects for a device: `gpu`, `cpu` or `accelerator` for all devices, or `NAME=TYPE` for
/// devices whose name contains `NAME`. Commas separate several entries; the first match applies.
pub(crate) fn chosen(choice: Option<&str>, device: &str) -> Option<DeviceType> {
    choice?.split(',').map(str::trim).filter(|part| !part.is_empty()).find_map(|part| {
        let (name, ty) = part.rsplit_once('=').unwrap_or(("", part));
        let fits = device.to_lowercase().contains(&name.trim().to_lowercase());
        match (fits, ty.trim().to_lowercase().as_str()) {
            (false, _) => None,
            (true, "gpu") => Some(DeviceType::GPU),
            (true, "cpu") => Some(DeviceType::CPU),
            (true, "accelerator") => Some(DeviceType::ACCELERATOR),
            (true, other) => {
                tracing::warn!("WGCL_DEVICE_TYPE: unknown device type `{other}`; expected `gpu`, `cpu` or `accelerator`");
                None
            }
        }
    })
}

#[cfg(test)]
mod tests {
    use super::chosen;
    use crate::types::flags::DeviceType;

    #[test]
    fn the_first_that_fits_decides() {
        let of = |choice: &str, device: &str| chosen(Some(choice), device);
        assert_eq!(of("gpu", "llvmpipe"), Some(DeviceType::GPU));
        assert_eq!(of("llvm = Accelerator, cpu", "LLVMpipe (256 bits)"), Some(DeviceType::ACCELERATOR));
        assert_eq!(of("llvm=accelerator, cpu", "a GPU"), Some(DeviceType::CPU));
        assert_eq!(of("llvm=gpu", "another"), None);
        assert_eq!(of("toaster", "llvmpipe"), None);
        assert_eq!(chosen(None, "llvmpipe"), None);
    }
}
