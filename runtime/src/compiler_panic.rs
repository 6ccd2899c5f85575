//! Converts panics of the compiler to errors: they fail a launch, and do not end the process.

use std::panic::{AssertUnwindSafe, catch_unwind};

use wgcl_api::backend::{BackendError, BackendResult};
use wgcl_compiler::launch::{LaunchError, LaunchResult};

/// Runs a stage of the compiler. A panic becomes an error of the kernel.
///
/// # Errors
/// The errors of `compile`, and `LaunchError::Internal` for a panic.
pub fn catch_panic<T>(kernel: &str, stage: &'static str, compile: impl FnOnce() -> LaunchResult<T>) -> BackendResult<T> {
    match catch_unwind(AssertUnwindSafe(compile)) {
        Ok(result) => Ok(result?),
        Err(payload) => {
            let text = payload.downcast_ref::<String>().map(String::as_str).or_else(|| payload.downcast_ref::<&str>().copied());
            let message = text.unwrap_or("unknown").to_owned();
            Err(BackendError::Launch(LaunchError::Internal { kernel: kernel.to_owned(), stage, message }))
        }
    }
}

#[cfg(test)]
mod tests {
    use wgcl_api::backend::BackendError;
    use wgcl_compiler::launch::LaunchError;

    use super::catch_panic;

    #[test]
    fn panics_become_errors_of_the_kernel() {
        assert_eq!(catch_panic("k", "here", || Ok(1)), Ok(1));
        let none = LaunchError::NoKernel("k".to_owned());
        assert_eq!(catch_panic::<()>("k", "here", || Err(none.clone())), Err(BackendError::Launch(none)));
        let with_text: fn() = || std::panic::resume_unwind(Box::new("reason".to_owned()));
        let without_text: fn() = || std::panic::resume_unwind(Box::new(7));
        for (text, ends) in [("reason", with_text), ("unknown", without_text)] {
            let wanted = LaunchError::Internal { kernel: "k".to_owned(), stage: "here", message: text.to_owned() };
            let result = catch_panic("k", "here", || {
                ends();
                Ok(())
            });
            assert_eq!(result, Err(BackendError::Launch(wanted)));
        }
    }
}
