//! cl_version and cl_name_version (OpenCL API 4.1 and 4.2).

/// A version: ten bits major, ten minor, twelve patch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32);

impl Version {
    /// Packs the parts.
    pub const fn new(major: u32, minor: u32, patch: u32) -> Self {
        Self((major << 22) | (minor << 12) | patch)
    }

    pub fn short(self) -> String {
        format!("{}.{}", self.0 >> 22, (self.0 >> 12) & 0x3ff)
    }
}

/// A name and its version.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NameVersion {
    /// The name, of at most 63 bytes.
    pub name: String,
    pub version: Version,
}

impl NameVersion {
    pub fn new(name: impl Into<String>, version: Version) -> Self {
        Self { name: name.into(), version }
    }
}

#[cfg(test)]
mod tests {
    use super::Version;

    #[test]
    fn versions_are_packed_as_specified() {
        assert_eq!(Version::new(3, 0, 0).0, 0x00c0_0000);
        assert_eq!(Version::new(3, 1, 7).short(), "3.1");
        assert_eq!(Version::new(1, 2, 3).0, (1 << 22) + (2 << 12) + 3);
    }
}
