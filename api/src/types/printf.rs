//! The printf output of kernels (OpenCL C 6.15.14): written to stdout before the kernel's event is complete.

use std::io::Write;
use std::sync::Arc;

/// Receives the printf output of a context's kernels, instead of stdout (CL_PRINTF_CALLBACK_ARM).
pub type Printer = Arc<dyn Fn(&[u8]) + Send + Sync>;

/// Writes to stdout and flushes it, so that a thread that waited for the event finds the text there. Texts of
/// different commands are never interleaved.
pub fn to_stdout(text: &[u8]) {
    let mut stdout = std::io::stdout().lock();
    // A write fails if stdout is closed, for example. This does not affect the kernel.
    if let Err(error) = stdout.write_all(text).and_then(|()| stdout.flush()) {
        tracing::debug!("cannot write printf output: {error}");
    }
}
