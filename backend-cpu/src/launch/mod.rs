//! The device's command queue, and kernel launches.
//!
//! ```text
//! queue::CommandQueue ─ plan::LaunchPlan ─▶ engine::Engine ─ per region ─▶ dispatch::Dispatch ─▶ threads::thread_pool
//! ```
//! The queue creates the plan when it accepts the launch.

pub(crate) mod arguments;
pub(crate) mod dispatch;
pub(crate) mod engine;
pub(crate) mod plan;
pub(crate) mod queue;
mod shared_copy;
#[cfg(not(all(windows, target_arch = "aarch64")))]
pub(crate) mod subgroups;
#[cfg(all(windows, target_arch = "aarch64"))]
#[path = "subgroups_none.rs"]
pub(crate) mod subgroups;
pub(crate) mod transfer;
