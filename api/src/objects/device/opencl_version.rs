//! The OpenCL version of a device. It is 3.1 if the device has every feature that 3.1 made mandatory (OpenCL API,
//! appendix "Summary of Changes from OpenCL 3.0 to OpenCL 3.1"), otherwise 3.0.

use wgcl_compiler::project::ADDRESS;

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

pub(crate) const VERSION_3_1: Version = Version::new(3, 1, 0);
const VERSION_3_0: Version = Version::new(3, 0, 0);

/// The text of CL_DEVICE_VERSION, and the start of CL_PLATFORM_VERSION: `OpenCL 3.1 wgcl <version>`.
pub fn version_text(version: Version) -> String {
    format!("OpenCL {} wgcl {}", version.short(), env!("CARGO_PKG_VERSION"))
}

/// CL_PLATFORM_VERSION: the text of [`version_text`] and the project's address, for users who read `clinfo`.
pub fn platform_version_text(version: Version) -> String {
    format!("{} ({ADDRESS})", version_text(version))
}

impl Device {
    /// The mandatory features of 3.1 that the device lacks, as text. SPIR-V itself is not checked: every device has it.
    pub fn missing_features_of_3_1(&self) -> Vec<&'static str> {
        let has = self.extensions();
        let extensions = EXTENSIONS.iter().copied().filter(|name| !has.iter().any(|extension| extension.name == *name));
        let subgroups = (self.max_subgroups() == 0).then_some("sub-groups");
        let language = (!self.target().language.supports_opencl_c_31()).then_some("OpenCL C 3.1");
        subgroups.into_iter().chain(language).chain(extensions).collect()
    }

    /// CL_DEVICE_NUMERIC_VERSION
    pub fn version(&self) -> Version {
        if self.missing_features_of_3_1().is_empty() { VERSION_3_1 } else { VERSION_3_0 }
    }
}

/// CL_PLATFORM_NUMERIC_VERSION: the newest version among the devices (OpenCL API, section "Platform Mixed
/// Version Support").
pub(crate) fn newest<'a>(devices: impl Iterator<Item = &'a Device>) -> Version {
    devices.map(Device::version).max().unwrap_or(VERSION_3_0)
}

#[cfg(test)]
mod tests {
    use super::{ADDRESS, VERSION_3_0, VERSION_3_1, newest, platform_version_text, version_text};
    use crate::objects::device::Device;
    use crate::test_backend::TestDevice;

    #[test]
    fn a_device_without_a_mandatory_feature_reports_version_3_0() {
        let with = |uuid: bool, subgroups: bool| {
            Device::new(TestDevice::changed("device", |properties, target| {
                properties.uuid = uuid.then_some(([1; 16], [2; 16]));
                target.language.subgroups = subgroups;
            }))
        };
        let (complete, without_uuid, without_subgroups) = (with(true, true), with(false, true), with(true, false));
        assert_eq!(complete.missing_features_of_3_1(), <[&str; 0]>::default());
        assert_eq!(without_uuid.missing_features_of_3_1(), ["cl_khr_device_uuid"]);
        assert!(
            without_subgroups.missing_features_of_3_1().starts_with(&["sub-groups", "OpenCL C 3.1"]),
            "{:?}",
            without_subgroups.missing_features_of_3_1()
        );
        assert_eq!([&complete, &without_uuid, &without_subgroups].map(|device| device.version()), [VERSION_3_1, VERSION_3_0, VERSION_3_0]);
        assert_eq!(newest([&*without_uuid, &*complete].into_iter()), VERSION_3_1);
        assert_eq!(newest([&*without_uuid].into_iter()), VERSION_3_0);
        assert!(version_text(VERSION_3_1).starts_with("OpenCL 3.1 wgcl "));
        assert_eq!(platform_version_text(VERSION_3_1), format!("{} ({ADDRESS})", version_text(VERSION_3_1)));
    }
}
