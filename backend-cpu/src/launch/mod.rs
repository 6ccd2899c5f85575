//! The device's command queue, and kernel launches.
//!
//! ```text
//! queue::CommandQueue ─ plan::LaunchPlan (at enqueue) ─▶ engine::Engine ─▶ dispatch::Dispatch, one per region ─▶ threads::thread_pool
//! ```

pub(crate) mod arguments;
pub(crate) mod dispatch;
pub(crate) mod engine;
pub(crate) mod plan;
pub(crate) mod queue;
