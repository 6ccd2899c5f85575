//! The execution status of a command (CL_EVENT_COMMAND_EXECUTION_STATUS).

/// CL_EVENT_COMMAND_EXECUTION_STATUS. A later state has a lower value, and negative values are errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Status(pub i32);

impl Status {
    /// CL_QUEUED
    pub const QUEUED: Self = Self(3);
    /// CL_SUBMITTED
    pub const SUBMITTED: Self = Self(2);
    /// CL_RUNNING
    pub const RUNNING: Self = Self(1);
    /// CL_COMPLETE
    pub const COMPLETE: Self = Self(0);
    /// The status of commands that depend on a failed one: CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST.
    pub const DEPENDENCY_FAILED: Self = Self(-14);

    /// Whether the command is complete or failed.
    pub const fn is_done(self) -> bool {
        self.0 <= 0
    }

    /// Whether the command was terminated with an error.
    pub const fn is_failed(self) -> bool {
        self.0 < 0
    }
}
