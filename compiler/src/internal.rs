//! Internal compiler errors. Code for an impossible case returns an error with its source location in the compiler. If
//! it returned a plausible value instead, it would hide the defect.

/// An error about a defect of the compiler.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("{message} ({file}:{line})")]
pub(crate) struct Defect {
    /// The description of the defect.
    message: String,
    /// The source file of the compiler that detected the defect.
    file: &'static str,
    line: u32,
}

impl Defect {
    /// Creates a defect. Only [`internal!`] calls it.
    pub(crate) const fn new(message: String, file: &'static str, line: u32) -> Self {
        Self { message, file, line }
    }
}

/// Creates a [`Defect`] at the current source location. The arguments are those of `format!`.
macro_rules! internal {
    ($($message:tt)+) => {
        $crate::internal::Defect::new(format!($($message)+), file!(), line!())
    };
}

pub(crate) use internal;

#[cfg(test)]
mod tests {
    #[test]
    fn a_defect_contains_its_location() {
        let error = internal!("no {} here", "value").in_pass("images", "k").to_string();
        assert!(error.starts_with("function `k`: internal compiler error in images: no value here ("), "{error}");
        assert!(error.contains("internal.rs:"), "{error}");
    }
}
