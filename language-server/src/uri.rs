//! `file` URIs and paths.

use std::path::{Path, PathBuf};
use std::str::FromStr;

use lsp_types::Uri;

/// Returns the path of a `file` URI. Returns `None` for other schemes, such as that of an unsaved document.
pub(crate) fn path(uri: &Uri) -> Option<PathBuf> {
    let rest = uri.as_str().strip_prefix("file://")?;
    let rest = rest.get(rest.find('/')?..)?;
    let bytes = decoded(rest);
    let text = String::from_utf8(bytes).ok()?;
    // On Windows, a slash precedes the letter of the drive.
    let is_drive = text.as_bytes().get(2) == Some(&b':');
    Some(PathBuf::from(if is_drive { text.get(1..).unwrap_or(&text).to_owned() } else { text }))
}

fn decoded(text: &str) -> Vec<u8> {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(byte) = bytes.get(at).copied() {
        let code = text.get(at + 1..at + 3).filter(|_| byte == b'%').and_then(|digits| u8::from_str_radix(digits, 16).ok());
        out.push(code.unwrap_or(byte));
        at += if code.is_some() { 3 } else { 1 };
    }
    out
}

/// Returns the `file` URI of a path. Returns `None` if the path is relative or not valid Unicode.
pub(crate) fn from_path(path: &Path) -> Option<Uri> {
    let text = path.to_str()?.replace('\\', "/");
    if !path.is_absolute() {
        return None;
    }
    let mut out = String::from(if text.starts_with('/') { "file://" } else { "file:///" });
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || b"/-._~".contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    Uri::from_str(&out).ok()
}

#[cfg(test)]
mod tests {
    use super::{from_path, path};
    use std::path::Path;

    #[test]
    fn paths_survive() {
        for text in ["/tmp/a b/é#.cl", "/x%y/[k].cl"] {
            let uri = from_path(Path::new(text)).expect("an absolute path");
            assert_eq!(path(&uri).as_deref(), Some(Path::new(text)), "{}", uri.as_str());
        }
        assert!(from_path(Path::new("a.cl")).is_none());
    }
}
