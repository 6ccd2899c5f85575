//! Observation of applications and devices: traces, dumps, captures, warnings about misuse.

pub mod at_exit;
pub mod capture;
pub mod dump;
pub mod lint;
pub mod sanitizer_summary;
pub mod trace;
