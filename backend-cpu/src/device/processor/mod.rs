//! The processor's name and vendor.

#[cfg(any(target_arch = "aarch64", test))]
mod aarch64;
#[cfg(target_arch = "x86_64")]
mod x86;

#[cfg(target_arch = "aarch64")]
pub(crate) use aarch64::processor;
#[cfg(target_arch = "x86_64")]
pub(crate) use x86::processor;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Processor {
    /// The name, without leading, trailing and repeated blanks.
    pub(crate) name: String,
    pub(crate) vendor: String,
    /// The vendor's PCI id; 0 if unknown.
    pub(crate) vendor_id: u32,
    /// x86: family, model and stepping (CPUID leaf 1, EAX). AArch64: `MIDR_EL1` of the first core in the name.
    pub(crate) signature: u32,
}

#[cfg(test)]
mod tests {
    use super::processor;

    #[test]
    fn the_processor_has_a_name() {
        let processor = processor();
        assert!(!processor.name.is_empty() && !processor.vendor.is_empty(), "{processor:?}");
    }
}
