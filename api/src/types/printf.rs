//! What kernels print (OpenCL C 6.15.14): to stdout, before the kernel's event is complete.

use std::io::Write;
use std::sync::Arc;

/// Takes what kernels of a context print, instead of stdout (CL_PRINTF_CALLBACK_ARM).
pub type Printer = Arc<dyn Fn(&[u8]) + Send + Sync>;

/// Writes to stdout and flushes it: who waits for the event finds the text there. One command's text is never mixed
/// with another's.
pub fn to_stdout(text: &[u8]) {
    let mut stdout = std::io::stdout().lock();
    // Nobody listens where this fails.
    if let Err(error) = stdout.write_all(text).and_then(|()| stdout.flush()) {
        tracing::debug!("printf: {error}");
    }
}
