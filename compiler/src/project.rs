//! Facts about the project, for messages. The workspace's `Cargo.toml` defines them.

/// The project's address.
pub const ADDRESS: &str = env!("CARGO_PKG_REPOSITORY");

/// The address of the bug tracker.
pub const BUG_TRACKER: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/issues");
