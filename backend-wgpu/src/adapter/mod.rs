//! Properties of an adapter: those that OpenCL reports, the features that the compiler may use, and the code paths of
//! the backend.

pub(crate) mod capabilities;
mod mesa;
pub(crate) mod properties;
pub(crate) mod settings;
pub(crate) mod subgroups;
