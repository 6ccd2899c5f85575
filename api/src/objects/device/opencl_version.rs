//! The OpenCL version of a device: 3.1 if it has every feature that 3.1 made mandatory (OpenCL API, appendix "Summary
//! of Changes from OpenCL 3.0 to OpenCL 3.1"), otherwise 3.0.

use crate::objects::device::Device;
use crate::types::version::Version;

/// Extensions that became core in 3.1. Devices still report their names (OpenCL API 4.2, CL_DEVICE_EXTENSIONS).
const EXTENSIONS: &[&str] = &[
    "cl_khr_device_uuid",
    "cl_khr_extended_bit_ops",
    "cl_khr_integer_dot_product",
    "cl_khr_spirv_queries",
    "cl_khr_subgroup_extended_types",
    "cl_khr_subgroup_rotate",
    "cl_khr_subgroup_shuffle",
    "cl_khr_subgroup_shuffle_relative",
    "cl_khr_suggested_local_work_size",
];

/// The known OpenCL versions, newest first.
pub(crate) const NEWEST: Version = Version::new(3, 1, 0);
const BEFORE: Version = Version::new(3, 0, 0);

/// The text of CL_DEVICE_VERSION and CL_PLATFORM_VERSION: `OpenCL 3.1 wgcl <version>`.
pub fn version_text(version: Version) -> String {
    format!("OpenCL {} wgcl {}", version.short(), env!("CARGO_PKG_VERSION"))
}

impl Device {
    /// The mandatory features of 3.1 that the device lacks, as text. Every device has SPIR-V and its queries.
    pub fn missing_of_31(&self) -> Vec<&'static str> {
        let has = self.extensions();
        let extensions = EXTENSIONS.iter().copied().filter(|name| !has.iter().any(|extension| extension.name == *name));
        let subgroups = (self.max_subgroups() == 0).then_some("sub-groups");
        let language = (!self.target().language.opencl_c_31()).then_some("OpenCL C 3.1");
        subgroups.into_iter().chain(language).chain(extensions).collect()
    }

    /// CL_DEVICE_NUMERIC_VERSION
    pub fn version(&self) -> Version {
        if self.missing_of_31().is_empty() { NEWEST } else { BEFORE }
    }
}

/// CL_PLATFORM_NUMERIC_VERSION: the newest version among the devices (OpenCL API 3.1, "Platform Mixed Version
/// Support").
pub(crate) fn newest<'a>(devices: impl Iterator<Item = &'a Device>) -> Version {
    devices.map(Device::version).max().unwrap_or(BEFORE)
}

#[cfg(test)]
mod tests {
    use super::{BEFORE, NEWEST, newest, version_text};
    use crate::objects::device::Device;
    use crate::test_backend::TestDevice;

    #[test]
    fn a_device_that_lacks_a_mandate_is_of_the_version_before() {
        let with = |uuid: bool, subgroups: bool| {
            Device::new(TestDevice::changed("device", |properties, target| {
                properties.uuid = uuid.then_some(([1; 16], [2; 16]));
                target.language.subgroups = subgroups;
            }))
        };
        let (whole, nameless, alone) = (with(true, true), with(false, true), with(true, false));
        assert_eq!(whole.missing_of_31(), <[&str; 0]>::default());
        assert_eq!(nameless.missing_of_31(), ["cl_khr_device_uuid"]);
        assert!(alone.missing_of_31().starts_with(&["sub-groups", "OpenCL C 3.1"]), "{:?}", alone.missing_of_31());
        assert_eq!([&whole, &nameless, &alone].map(|device| device.version()), [NEWEST, BEFORE, BEFORE]);
        assert_eq!(newest([&*nameless, &*whole].into_iter()), NEWEST);
        assert_eq!(newest([&*nameless].into_iter()), BEFORE);
        assert!(version_text(NEWEST).starts_with("OpenCL 3.1 wgcl "));
    }
}
