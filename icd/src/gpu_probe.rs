//! Checks whether the machine may have a GPU, without loading a driver.
//!
//! Loading the Vulkan drivers of a Linux distribution takes about 30 ms and maps hundreds of megabytes of LLVM. Every
//! process that queries OpenCL devices would pay this cost. Without a device file for a GPU, these drivers can only
//! support the CPU, for which wgcl has its own device.

use std::path::Path;

/// The starts of the names of GPU device files in `/dev`, for these drivers: DRM (Mesa and most others), NVIDIA, Arm,
/// Qualcomm, Imagination, and GPUs within WSL. A name with `/` is a folder, which must not be empty.
const DEVICE_FILES: [&str; 6] = ["dri/", "nvidia", "mali", "kgsl-", "pvr", "dxg"];
/// Environment variables that choose a Vulkan driver. Such a driver may access its GPU without one of the device files.
const DRIVER_VARIABLES: [&str; 3] = ["VK_DRIVER_FILES", "VK_ICD_FILENAMES", "VK_ADD_DRIVER_FILES"];

/// Whether Vulkan may have a GPU. Returns false only on Linux, if no driver is chosen and [`has_gpu`] is false.
pub(crate) fn may_have_gpu() -> bool {
    !cfg!(target_os = "linux") || DRIVER_VARIABLES.iter().any(|name| std::env::var_os(name).is_some()) || has_device_file(Path::new("/dev"))
}

/// Whether `/dev` has a device file of a GPU, or cannot be read. Always false on systems other than Linux.
pub(crate) fn has_gpu() -> bool {
    cfg!(target_os = "linux") && has_device_file(Path::new("/dev"))
}

/// Whether a folder has a device file of a GPU, or cannot be read.
fn has_device_file(folder: &Path) -> bool {
    let Ok(entries) = std::fs::read_dir(folder) else { return true };
    entries.flatten().any(|entry| {
        let name = entry.file_name();
        let name = name.to_string_lossy();
        DEVICE_FILES.iter().any(|file| match file.strip_suffix('/') {
            Some(inner) => name == inner && std::fs::read_dir(entry.path()).is_ok_and(|mut nodes| nodes.next().is_some()),
            None => name.starts_with(file),
        })
    })
}

#[cfg(test)]
mod tests {
    use super::has_device_file;

    #[test]
    fn gpus_are_found_by_their_files() {
        let folder = std::env::temp_dir().join(format!("wgcl-nodes-{}", std::process::id()));
        let make = |name: &str| std::fs::write(folder.join(name), "").expect("temporary file");
        std::fs::create_dir_all(folder.join("dri")).expect("temporary folder");
        make("null");
        assert!(!has_device_file(&folder), "an empty folder is not a GPU");
        make("dri/renderD128");
        assert!(has_device_file(&folder));
        std::fs::remove_file(folder.join("dri/renderD128")).expect("temporary file");
        assert!(!has_device_file(&folder));
        make("nvidia0");
        assert!(has_device_file(&folder));
        std::fs::remove_dir_all(&folder).expect("temporary folder");
        assert!(has_device_file(&folder), "a folder that cannot be read may have a GPU");
    }
}
