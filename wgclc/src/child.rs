//! Runs this program in a child process, because a kernel with an invalid access can crash the process. Drivers read
//! the environment when they are loaded, so the child also gets the variables that the arguments require.

use std::process::{Command, ExitCode};

use crate::arguments::Checked;
use crate::{FAILED, usage};

/// The environment variable that is set in the child process. The child process runs the kernel.
const CHILD: &str = "WGCLC_CHILD";

/// Whether this process is the child process.
pub fn is_child() -> bool {
    std::env::var_os(CHILD).is_some()
}

/// Runs the child process with the arguments of this process. `devices` are the names of the requested devices.
pub fn run(devices: &[&Option<String>], check: Option<Checked>) -> ExitCode {
    let interpreter = devices.iter().copied().flatten().any(|name| name.to_lowercase().contains("interpreter"));
    let checks = match check {
        Some(Checked::Nan) => "fatal,nan",
        Some(Checked::Convert) => "fatal,convert",
        Some(Checked::Accesses) | None => "fatal",
    };
    let wanted = [("WGCL_CHECK", checks, check.is_some()), ("WGCL_INTERPRETER", "1", interpreter)];
    let missing = wanted.into_iter().filter(|(name, _, wanted)| *wanted && std::env::var_os(name).is_none());
    let variables = missing.map(|(name, value, _)| (name, value)).chain([(CHILD, "1")]);
    let status =
        std::env::current_exe().and_then(|program| Command::new(program).args(std::env::args_os().skip(1)).envs(variables).status());
    match status.map(|status| (status, status.code().and_then(|code| u8::try_from(code).ok()))) {
        Ok((_, Some(code))) => ExitCode::from(code),
        Ok((status, None)) => {
            let remedy = if check.is_some() { "" } else { "; --check reports invalid memory accesses of the kernel" };
            usage(&format!("the process that ran the kernel crashed ({status}){remedy}"));
            ExitCode::from(FAILED)
        }
        Err(error) => usage(&format!("cannot start a child process: {error}")),
    }
}
