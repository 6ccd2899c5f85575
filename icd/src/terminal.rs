//! Finds out whether standard error shows colours.

use std::io::{self, IsTerminal as _};

/// Whether standard error is a terminal that interprets ANSI escape sequences.
#[cfg(not(windows))]
pub(crate) fn shows_colours() -> bool {
    io::stderr().is_terminal()
}

/// Whether standard error is a terminal that interprets ANSI escape sequences. A console does so only in a mode that
/// the application sets, because the mode applies to all output of the process.
#[cfg(windows)]
pub(crate) fn shows_colours() -> bool {
    use std::os::windows::io::AsRawHandle as _;

    use windows_sys::Win32::System::Console::{ENABLE_VIRTUAL_TERMINAL_PROCESSING, GetConsoleMode};

    let mut mode = 0;
    // SAFETY: the call accepts any handle, and fails if the handle does not refer to a console. It writes only the
    // mode.
    let is_console = unsafe { GetConsoleMode(io::stderr().as_raw_handle(), &raw mut mode) } != 0;
    if is_console { mode & ENABLE_VIRTUAL_TERMINAL_PROCESSING != 0 } else { io::stderr().is_terminal() }
}
