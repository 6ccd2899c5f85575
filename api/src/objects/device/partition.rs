//! Partitions devices (OpenCL API 4.3). A sub-device has a subset of the compute units, all of the memory, and the
//! programs that were built for its parent.

use std::sync::Arc;

use crate::objects::device::Device;
use crate::types::affinity::AffinityDomain;
use crate::types::error::{Error, Result, ensure};

/// The names of cl_device_partition_property; the values are the specification's.
mod property {
    pub(super) const EQUALLY: isize = 0x1086;
    pub(super) const BY_COUNTS: isize = 0x1087;
    pub(super) const BY_AFFINITY_DOMAIN: isize = 0x1088;
}

/// A partition scheme of clCreateSubDevices.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Partition {
    /// CL_DEVICE_PARTITION_EQUALLY: as many sub-devices of N compute units as possible.
    Equally(isize),
    /// CL_DEVICE_PARTITION_BY_COUNTS: the number of compute units of each sub-device.
    ByCounts(Vec<isize>),
    /// CL_DEVICE_PARTITION_BY_AFFINITY_DOMAIN
    ByAffinityDomain(AffinityDomain),
}

impl Partition {
    /// Parses a list of properties; `at` returns its elements by index. `limit` is the number of compute units: a
    /// list with more counts is not read to its end.
    ///
    /// # Errors
    /// If a property is not valid.
    pub fn parse(at: impl Fn(usize) -> isize, limit: u32) -> Result<Self> {
        let only_scheme = |scheme: Self| {
            ensure!(at(2) == 0, InvalidValue, "the property list has more than one partition scheme");
            Ok(scheme)
        };
        match at(0) {
            property::EQUALLY => only_scheme(Self::Equally(at(1))),
            property::BY_COUNTS => Ok(Self::ByCounts((1..=limit as usize + 1).map(&at).take_while(|&count| count != 0).collect())),
            property::BY_AFFINITY_DOMAIN => {
                let domain = u64::try_from(at(1)).ok().and_then(AffinityDomain::from_bits).filter(|domain| domain.bits().is_power_of_two());
                let domain = domain.ok_or_else(|| {
                    Error::InvalidValue(
                        format!("affinity domain {:#x} is not valid: expected exactly one CL_DEVICE_AFFINITY_DOMAIN_* value", at(1)).into(),
                    )
                })?;
                only_scheme(Self::ByAffinityDomain(domain))
            }
            other => Err(Error::InvalidValue(format!("partition scheme {other:#x} is unknown").into())),
        }
    }

    /// Returns the partition properties with their terminating zero, for CL_DEVICE_PARTITION_TYPE. `domain` is the
    /// domain that CL_DEVICE_AFFINITY_DOMAIN_NEXT_PARTITIONABLE resolved to.
    fn properties(&self, domain: Option<AffinityDomain>) -> Vec<isize> {
        match self {
            Self::Equally(units) => vec![property::EQUALLY, *units, 0],
            Self::ByCounts(counts) => {
                // The list of counts ends with a 0, and the property list ends with another 0.
                [property::BY_COUNTS].into_iter().chain(counts.iter().copied()).chain([0, 0]).collect()
            }
            Self::ByAffinityDomain(requested) => {
                let bits = domain.unwrap_or(*requested).bits();
                vec![property::BY_AFFINITY_DOMAIN, isize::try_from(bits).unwrap_or(0), 0]
            }
        }
    }
}

/// The sub-devices into which a scheme divides a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    /// The indices of the compute units of each sub-device.
    units: Vec<Vec<u32>>,
    /// The partition properties that the sub-devices report.
    properties: Vec<isize>,
}

impl Parts {
    /// The number of sub-devices that will be created.
    pub fn count(&self) -> usize {
        self.units.len()
    }
}

/// Divides the indices from 0 on into consecutive lists of these lengths.
fn consecutive_indices(counts: impl IntoIterator<Item = u32>) -> Vec<Vec<u32>> {
    let mut next = 0;
    let part = |count| {
        let first = next;
        next += count;
        (first..next).collect()
    };
    counts.into_iter().map(part).collect()
}

impl Device {
    fn compute_units(&self) -> u32 {
        self.properties().compute_units.max(1)
    }

    /// Whether the device has several compute units, and its back end supports partitioning.
    pub fn can_be_partitioned(&self) -> bool {
        self.backend().supports_partitioning() && self.compute_units() > 1
    }

    /// CL_DEVICE_PARTITION_MAX_SUB_DEVICES
    pub fn max_sub_devices(&self) -> u32 {
        if self.can_be_partitioned() { self.compute_units() } else { 0 }
    }

    /// CL_DEVICE_PARTITION_AFFINITY_DOMAIN: the domains that divide the device.
    pub fn affinity_domains(&self) -> AffinityDomain {
        if !self.can_be_partitioned() {
            return AffinityDomain::empty();
        }
        let domains: AffinityDomain = self.backend().affinity_divisions().iter().map(|division| division.domain).collect();
        if domains.is_empty() { domains } else { domains | AffinityDomain::NEXT_PARTITIONABLE }
    }

    /// CL_DEVICE_PARTITION_PROPERTIES: the schemes. "If the device cannot be partitioned ... a value of 0 will be
    /// returned."
    pub fn partition_schemes(&self) -> Vec<isize> {
        if !self.can_be_partitioned() {
            return vec![0];
        }
        let mut schemes = vec![property::EQUALLY, property::BY_COUNTS];
        if !self.affinity_domains().is_empty() {
            schemes.push(property::BY_AFFINITY_DOMAIN);
        }
        schemes
    }

    /// Returns the sub-devices of a scheme without creating them.
    ///
    /// # Errors
    /// The errors of the specification, checked in its order.
    pub fn divide(&self, scheme: &Partition) -> Result<Parts> {
        // "CL_INVALID_VALUE if values specified in properties are not valid or if values specified in properties are
        // valid but not supported by the device."
        ensure!(self.backend().supports_partitioning(), InvalidValue, "{} cannot be partitioned", self.name());
        let parts = match scheme {
            Partition::Equally(units) => {
                let units = u32::try_from(*units).ok().filter(|&units| units != 0);
                let units =
                    units.ok_or_else(|| Error::InvalidValue("the number of compute units per sub-device must be positive".into()))?;
                // "CL_INVALID_DEVICE_PARTITION_COUNT if ... the total number of compute units requested exceeds
                // CL_DEVICE_MAX_COMPUTE_UNITS". The conformance tests expect this code for CL_DEVICE_PARTITION_EQUALLY
                // too. If a sub-device would have all compute units, they expect CL_DEVICE_PARTITION_FAILED.
                let all = self.compute_units();
                ensure!(
                    units <= all,
                    InvalidDevicePartitionCount,
                    "sub-devices of {units} compute units are requested; the device has {all}"
                );
                ensure!(
                    units < all,
                    DevicePartitionFailed,
                    "sub-devices of {units} compute units are requested; each must have fewer than the {all} of the device"
                );
                consecutive_indices((0..self.compute_units() / units).map(|_| units))
            }
            Partition::ByCounts(counts) => consecutive_indices(self.check_counts(counts)?),
            Partition::ByAffinityDomain(requested) => {
                let divisions = self.backend().affinity_divisions();
                // CL_DEVICE_PARTITION_PROPERTIES does not contain this scheme for a device without divisions.
                ensure!(!divisions.is_empty(), InvalidValue, "{} cannot be partitioned by affinity domain", self.name());
                let next = *requested == AffinityDomain::NEXT_PARTITIONABLE;
                let division = divisions.into_iter().find(|division| next || division.domain == *requested);
                // "CL_DEVICE_PARTITION_FAILED if the partition name is supported by the implementation but in_device
                // could not be further partitioned."
                let division = division.ok_or_else(|| {
                    Error::DevicePartitionFailed(format!("affinity domain {:#x} does not divide the device", requested.bits()).into())
                })?;
                return Ok(Parts { units: division.parts, properties: scheme.properties(Some(division.domain)) });
            }
        };
        ensure!(self.can_be_partitioned(), DevicePartitionFailed, "a device with one compute unit cannot be partitioned");
        Ok(Parts { units: parts, properties: scheme.properties(None) })
    }

    fn check_counts(&self, counts: &[isize]) -> Result<Vec<u32>> {
        ensure!(!counts.is_empty(), InvalidValue, "the list of counts is empty");
        // "CL_INVALID_DEVICE_PARTITION_COUNT if the partition name specified in properties is
        // CL_DEVICE_PARTITION_BY_COUNTS and the number of sub-devices requested exceeds
        // CL_DEVICE_PARTITION_MAX_SUB_DEVICES or the total number of compute units requested exceeds
        // CL_DEVICE_MAX_COMPUTE_UNITS for in_device, or the number of compute units requested for one or more
        // sub-devices is less than zero". No count is 0, so the limit of the sum also limits the number of sub-devices.
        let counts: Option<Vec<u32>> = counts.iter().map(|&count| u32::try_from(count).ok()).collect();
        let fits = |counts: &Vec<u32>| counts.iter().map(|&count| u64::from(count)).sum::<u64>() <= u64::from(self.compute_units());
        counts.filter(fits).ok_or_else(|| {
            Error::InvalidDevicePartitionCount(
                format!("a count is negative, or the sub-devices need more compute units than the {} of the device", self.compute_units())
                    .into(),
            )
        })
    }

    /// clCreateSubDevices: creates the sub-devices.
    ///
    /// # Errors
    /// If the backend cannot create one of the sub-devices.
    pub fn sub_devices(self: &Arc<Self>, parts: &Parts) -> Result<Vec<Arc<Self>>> {
        let part = |units: &Vec<u32>| {
            let backend = self.backend().sub_device(units);
            let backend = backend.ok_or_else(|| {
                Error::DevicePartitionFailed(format!("the backend cannot create a sub-device of the compute units {units:?}").into())
            })?;
            Ok(Self::sub_device_of(self, backend, parts.properties.clone()))
        };
        parts.units.iter().map(part).collect()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{AffinityDomain, Partition, consecutive_indices};
    use crate::objects::device::Device;
    use crate::test_backend::TestDevice;
    use crate::types::error::Error;

    fn parse(list: &[isize]) -> Result<Partition, Error> {
        Partition::parse(|index| list[index], 4)
    }

    #[test]
    fn property_lists_are_read_up_to_their_end() {
        assert_eq!(parse(&[0x1086, 2, 0]), Ok(Partition::Equally(2)));
        assert_eq!(parse(&[0x1087, 3, 1, 0]), Ok(Partition::ByCounts(vec![3, 1])));
        assert_eq!(parse(&[0x1087, 1, 1, 1, 1, 1]), Ok(Partition::ByCounts(vec![1; 5])), "too many counts, without a terminator");
        assert_eq!(parse(&[0x1088, 32, 0]), Ok(Partition::ByAffinityDomain(AffinityDomain::NEXT_PARTITIONABLE)));
        for wrong in [&[0_isize][..], &[7], &[0x1088, 3, 0], &[0x1088, 64, 0], &[0x1088, 0, 0], &[0x1086, 1, 0x1087]] {
            assert!(matches!(parse(wrong), Err(Error::InvalidValue(_))), "{wrong:x?}");
        }
    }

    #[test]
    fn queries_return_the_given_schemes() {
        assert_eq!(Partition::Equally(2).properties(None), [0x1086, 2, 0]);
        assert_eq!(Partition::ByCounts(vec![3, 1]).properties(None), [0x1087, 3, 1, 0, 0]);
        let next = Partition::ByAffinityDomain(AffinityDomain::NEXT_PARTITIONABLE);
        assert_eq!(next.properties(Some(AffinityDomain::L3_CACHE)), [0x1088, 4, 0]);
    }

    #[test]
    fn sub_devices_have_consecutive_compute_units() {
        assert_eq!(consecutive_indices([2, 0, 1]), [vec![0, 1], vec![], vec![2]]);
    }

    #[test]
    fn a_device_cannot_be_partitioned_by_default() {
        let device: Arc<Device> = Device::new(TestDevice::new("whole"));
        assert_eq!((device.max_sub_devices(), device.partition_schemes()), (0, vec![0]));
        assert!(device.affinity_domains().is_empty());
        assert!(matches!(device.divide(&Partition::Equally(1)), Err(Error::InvalidValue(_))));
    }
}
