//! Values that Apple systems report through sysctl.
//!
//! The numbers of performance and efficiency cores are not used: a thread cannot be bound to a core, so the CPU device
//! has no sub-devices by kind of core.

use std::sync::OnceLock;

use sysctl::{Ctl, CtlValue, Sysctl};
use wgcl_api::backend::CacheProperties;

/// Returns a number, or `None` if this system does not have the value.
fn number(name: &str) -> Option<u64> {
    match Ctl::new(name).ok()?.value().ok()? {
        CtlValue::Int(value) | CtlValue::S32(value) => u64::try_from(value).ok(),
        CtlValue::Uint(value) | CtlValue::U32(value) => Some(value.into()),
        CtlValue::S64(value) | CtlValue::Long(value) => u64::try_from(value).ok(),
        CtlValue::U64(value) | CtlValue::Ulong(value) => Some(value),
        _ => None,
    }
}

/// Returns the memory of the machine in bytes.
pub(super) fn memory() -> Option<u64> {
    number("hw.memsize").filter(|bytes| *bytes > 0)
}

/// Returns the maximum clock of the processor in MHz. Only x86-64 systems have the value.
pub(super) fn clock_mhz() -> Option<u32> {
    u32::try_from(number("hw.cpufrequency_max")? / 1_000_000).ok()
}

/// Returns the largest cache. On AArch64, it is the level 2 cache of the performance cores.
pub(super) fn cache() -> Option<CacheProperties> {
    let size = ["hw.l3cachesize", "hw.perflevel0.l2cachesize", "hw.l2cachesize"]
        .into_iter()
        .find_map(|name| number(name).filter(|size| *size > 0))?;
    Some(CacheProperties { line: u32::try_from(number("hw.cachelinesize")?).ok()?, size })
}

/// Returns the name of the processor, for example "Apple M2".
pub(super) fn processor_name() -> Option<&'static str> {
    static NAME: OnceLock<Option<String>> = OnceLock::new();
    NAME.get_or_init(|| {
        let name = Ctl::new("machdep.cpu.brand_string").ok()?.value_string().ok()?;
        Some(name.trim().to_owned()).filter(|name| !name.is_empty())
    })
    .as_deref()
}
