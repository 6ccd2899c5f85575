//! Typed.
