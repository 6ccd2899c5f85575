//! What cannot be unless the compiler has a defect: an error that names the place in the compiler, instead of a plausible value that goes on as if all were well.

/// A defect of the compiler, found where something is missing that must be there.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("{message} ({file}:{line})")]
pub(crate) struct Defect {
    /// What is wrong.
    message: String,
    /// Where it was noticed.
    file: &'static str,
    line: u32,
}

impl Defect {
    /// For [`internal!`].
    pub(crate) const fn new(message: String, file: &'static str, line: u32) -> Self {
        Self { message, file, line }
    }
}

/// The [`Defect`] of the place where this stands; what is wrong is said as `format!` takes it.
macro_rules! internal {
    ($($message:tt)+) => {
        $crate::internal::Defect::new(format!($($message)+), file!(), line!())
    };
}

pub(crate) use internal;

#[cfg(test)]
mod tests {
    #[test]
    fn a_defect_names_its_place() {
        let error = internal!("no {} here", "value").in_pass("images", "k").to_string();
        assert!(error.starts_with("function `k`: internal compiler error in images: no value here ("), "{error}");
        assert!(error.contains("internal.rs:"), "{error}");
    }
}
