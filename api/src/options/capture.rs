//! The value of `WGCL_CAPTURE`: `DIR`, `DIR:KERNEL` or `DIR:KERNEL:N`.

use std::path::PathBuf;

/// Which launches are captured, and where.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CaptureOption {
    /// The directory that receives one folder for each launch.
    pub directory: PathBuf,
    /// The name of the only kernel to capture; `None` for all kernels.
    pub kernel: Option<String>,
    /// The number of the only launch of the kernel to capture, from 1; `None` for the first launches.
    pub launch: Option<u64>,
}

impl CaptureOption {
    /// Parses the value. Adds a message if it is not valid.
    pub(super) fn parse(text: &str, messages: &mut Vec<String>) -> Option<Self> {
        let mut refuse = |why: &str| {
            messages.push(format!("WGCL_CAPTURE: `{text}` is ignored: {why}; expected DIR, DIR:KERNEL or DIR:KERNEL:N"));
            None
        };
        let (rest, last) = split(text);
        let (directory, kernel, launch) = match last {
            Some(number) if number.bytes().all(|byte| byte.is_ascii_digit()) => match split(rest) {
                (directory, Some(kernel)) => (directory, Some(kernel), Some(number)),
                (_, None) => return refuse("a launch number follows a kernel name"),
            },
            Some(kernel) => (rest, Some(kernel), None),
            None => (text, None, None),
        };
        let launch = match launch.map(str::parse::<u64>) {
            None => None,
            Some(Ok(number)) if number > 0 => Some(number),
            Some(_) => return refuse("the number of the first launch is 1"),
        };
        if directory.is_empty() {
            return refuse("the directory is missing");
        }
        Some(Self { directory: directory.into(), kernel: kernel.map(str::to_owned), launch })
    }
}

/// Splits the last part after a colon if it is a name or a number. A colon after a single letter belongs to a path of
/// Windows.
fn split(text: &str) -> (&str, Option<&str>) {
    let is_word = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_');
    match text.rsplit_once(':') {
        Some((rest, last)) if is_word(last) && !(cfg!(windows) && rest.len() == 1) => (rest, Some(last)),
        _ => (text, None),
    }
}

#[cfg(test)]
mod tests {
    use super::CaptureOption;

    fn parsed(text: &str) -> Result<(String, Option<String>, Option<u64>), String> {
        let mut messages = Vec::new();
        let option = CaptureOption::parse(text, &mut messages);
        option.map(|option| (option.directory.display().to_string(), option.kernel, option.launch)).ok_or_else(|| messages.concat())
    }

    #[test]
    fn parts_are_separated_by_colons() {
        let owned = |directory: &str, kernel: Option<&str>, launch| Ok((directory.to_owned(), kernel.map(str::to_owned), launch));
        assert_eq!(parsed("out"), owned("out", None, None));
        assert_eq!(parsed("/tmp/a.b/c"), owned("/tmp/a.b/c", None, None));
        assert_eq!(parsed("out:scale"), owned("out", Some("scale"), None));
        assert_eq!(parsed("a:b/c:scale_2:17"), owned("a:b/c", Some("scale_2"), Some(17)));
        assert_eq!(parsed("a:b/c"), owned("a:b/c", None, None));
    }

    #[test]
    fn wrong_values_have_a_reason() {
        let wrong = |text: &str, why: &str| {
            let expected = format!("WGCL_CAPTURE: `{text}` is ignored: {why}; expected DIR, DIR:KERNEL or DIR:KERNEL:N");
            assert_eq!(parsed(text), Err(expected));
        };
        wrong("out:3", "a launch number follows a kernel name");
        wrong("out:scale:0", "the number of the first launch is 1");
        wrong(":scale", "the directory is missing");
    }
}
