//! Defects of the compiler, which end a launch and not the process.

use std::panic::{AssertUnwindSafe, catch_unwind};

use wgcl_api::backend::{BackendError, BackendResult};
use wgcl_compiler::launch::{LaunchError, LaunchResult};

/// What the compiler makes of a kernel in a stage, with its panics as errors of that kernel.
///
/// # Errors
/// Those of `compile`, and a panic.
pub fn contained<T>(kernel: &str, stage: &'static str, compile: impl FnOnce() -> LaunchResult<T>) -> BackendResult<T> {
    match catch_unwind(AssertUnwindSafe(compile)) {
        Ok(made) => Ok(made?),
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

    use super::contained;

    #[test]
    fn panics_are_errors_of_the_kernel() {
        assert_eq!(contained("k", "here", || Ok(1)), Ok(1));
        let none = LaunchError::NoKernel("k".to_owned());
        assert_eq!(contained::<()>("k", "here", || Err(none.clone())), Err(BackendError::Launch(none)));
        let told: fn() = || std::panic::resume_unwind(Box::new("told".to_owned()));
        let wordless: fn() = || std::panic::resume_unwind(Box::new(7));
        for (text, ends) in [("told", told), ("unknown", wordless)] {
            let wanted = LaunchError::Internal { kernel: "k".to_owned(), stage: "here", message: text.to_owned() };
            let made = contained("k", "here", || {
                ends();
                Ok(())
            });
            assert_eq!(made, Err(BackendError::Launch(wanted)));
        }
    }
}
