//! What OpenCL objects are and do.
