//! Facts about the project, for messages. The workspace's `Cargo.toml` defines them.

/// The project's address.
pub const ADDRESS: &str = env!("CARGO_PKG_REPOSITORY");

/// The address of the bug tracker.
pub const BUG_TRACKER: &str = concat!(env!("CARGO_PKG_REPOSITORY"), "/issues");

/// The message for an error of wgcl itself.
pub fn internal_error(what: &str) -> String {
    format!("internal error: {what}; report it at {BUG_TRACKER}")
}
