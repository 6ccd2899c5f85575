//! `WGCL_DEVICE_TYPE`: the reported device type (CL_DEVICE_TYPE, OpenCL API 4.2), for programs that look for one type
//! only.
//!
//! Some applications use only GPUs (x264, GEGL). Others run different kernels on a CPU. In such kernels of OpenMM, one
//! work-item loops over much of the data, which suits devices whose work-items are processor threads.

/// A device type that the option names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TypeChoice {
    Gpu,
    Cpu,
    Accelerator,
}

/// Returns the type that the option selects for a device. The option is `gpu`, `cpu` or `accelerator` for all devices,
/// or `NAME=TYPE` for devices whose name contains `NAME`. Commas separate several entries, of which the first match
/// applies. Returns `None` if no entry matches.
pub(crate) fn chosen(choice: Option<&str>, device: &str) -> Option<TypeChoice> {
    let fits = |name: &str| device.to_lowercase().contains(&name.to_lowercase());
    entries(choice?).find_map(|(name, ty)| type_named(ty).filter(|_| fits(name)))
}

/// Returns a message for each entry with an unknown type.
pub(crate) fn unknown_types(choice: &str) -> impl Iterator<Item = String> {
    let unknown = entries(choice).filter(|(_, ty)| type_named(ty).is_none());
    unknown.map(|(_, ty)| format!("WGCL_DEVICE_TYPE: `{ty}` is ignored; expected `gpu`, `cpu` or `accelerator`"))
}

/// The names and types of the entries. The name is empty for all devices.
fn entries(choice: &str) -> impl Iterator<Item = (&str, &str)> {
    let parts = choice.split(',').map(str::trim).filter(|part| !part.is_empty());
    parts.map(|part| part.rsplit_once('=').map_or(("", part), |(name, ty)| (name.trim(), ty.trim())))
}

fn type_named(name: &str) -> Option<TypeChoice> {
    match name.to_lowercase().as_str() {
        "gpu" => Some(TypeChoice::Gpu),
        "cpu" => Some(TypeChoice::Cpu),
        "accelerator" => Some(TypeChoice::Accelerator),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::{TypeChoice, chosen, unknown_types};

    #[test]
    fn the_first_matching_entry_applies() {
        let of = |choice: &str, device: &str| chosen(Some(choice), device);
        assert_eq!(of("gpu", "llvmpipe"), Some(TypeChoice::Gpu));
        assert_eq!(of("llvm = Accelerator, cpu", "LLVMpipe (256 bits)"), Some(TypeChoice::Accelerator));
        assert_eq!(of("llvm=accelerator, cpu", "a GPU"), Some(TypeChoice::Cpu));
        assert_eq!(of("llvm=gpu", "another"), None);
        assert_eq!(of("toaster", "llvmpipe"), None);
        assert_eq!(chosen(None, "llvmpipe"), None);
        assert_eq!(unknown_types("gpu, llvm=toaster").count(), 1);
    }
}
