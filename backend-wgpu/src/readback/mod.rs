//! Data that the host reads once a command is complete: bytes of read commands, `printf` output, and the failure word.

pub(crate) mod failure_word;
pub(crate) mod pending_read;
pub(crate) mod printf;
