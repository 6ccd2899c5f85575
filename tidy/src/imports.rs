//! Import circles between the modules of a crate.
