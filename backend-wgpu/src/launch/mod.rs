//! Launches of kernels: from an NDRange and its arguments to pipelines, bindings and dispatches.

pub(crate) mod bind;
pub(crate) mod kernel;
pub(crate) mod key;
pub(crate) mod launches;
pub(crate) mod limits;
pub(crate) mod merge_buffers;
pub(crate) mod ndrange;
pub(crate) mod pipeline;
pub(crate) mod pipeline_prefetch;
pub(crate) mod plan;
mod printf_copy;
pub(crate) mod program;
pub(crate) mod replay_cache;
pub(crate) mod split_bindings;
pub(crate) mod thread_coarsening;
