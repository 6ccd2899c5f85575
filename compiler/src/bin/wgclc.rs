//! The wgclc command.
fn main() {}
