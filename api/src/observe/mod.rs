//! Observation of applications and devices: traces, dumps, warnings about misuse.

pub mod at_exit;
pub mod dump;
pub mod lint;
pub mod sanitizer_summary;
pub mod trace;
