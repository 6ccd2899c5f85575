//! Data that the host reads once a command is complete: bytes of read commands, `printf` output, and the word of the
//! loop watchdog.

pub(crate) mod pending_read;
pub(crate) mod printf;
pub(crate) mod watchdog;
