//! Internal compiler errors. An impossible case returns an error that names the source location in the compiler,
//! instead of a plausible value that hides the defect.

/// A defect of the compiler: a value that must exist is missing.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("{message} ({file}:{line})")]
pub(crate) struct Defect {
    /// The description of the defect.
    message: String,
    /// Where it was noticed.
    file: &'static str,
    line: u32,
}

impl Defect {
    /// Used by [`internal!`].
    pub(crate) const fn new(message: String, file: &'static str, line: u32) -> Self {
        Self { message, file, line }
    }
}

/// A [`Defect`] at the current source location; takes a message like `format!`.
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
