//! Tests of lowering that run the generated IR.

#![allow(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    clippy::expect_used,
    reason = "tests look at bits"
)]

mod conversion_checks;
mod eval;
mod jumps;
mod nan;
mod numbers;
mod programs;
