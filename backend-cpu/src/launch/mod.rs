//! The device's command queue, and kernel launches.
//!
//! ```text
//! queue::Commands ─▶ engine::Engine ─ Launch ─▶ dispatch::Dispatch ─▶ threads::thread_pool
//! ```

pub(crate) mod arguments;
pub(crate) mod dispatch;
pub(crate) mod engine;
pub(crate) mod queue;
