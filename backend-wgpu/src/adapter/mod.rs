//! Properties of an adapter: those as OpenCL reports them, what the compiler may use, and which code paths the
//! backend takes on it.

pub(crate) mod capabilities;
pub(crate) mod properties;
pub(crate) mod settings;
pub(crate) mod subgroups;
