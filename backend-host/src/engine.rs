//! Runs commands, one after the other.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use wgcl_api::backend::{BackendError, BackendResult, Command, Launch, LaunchArg, Progress, Times};
use wgcl_api::host_commands::{self, downcast};
use wgcl_compiler::interpret::{self, Argument, MemoryLocation, NdRange};

use crate::device::now;
use crate::memory::InterpreterMemory;
use crate::program::InterpreterProgram;

/// A command and who wants to know of it.
pub(crate) struct Task {
    pub(crate) command: Command,
    pub(crate) progress: Arc<dyn Progress>,
}

/// Runs a command and reports.
pub(crate) fn run(Task { command, progress }: Task) {
    let start = now();
    progress.submitted(start);
    progress.running();
    let execute = || host_commands::run::<InterpreterMemory>(command, |launch| self::launch(launch, &*progress));
    let result = catch_unwind(AssertUnwindSafe(execute));
    let result = result.unwrap_or_else(|_| Err(BackendError::Other("a defect of the interpreter ended a command".to_owned())));
    if let Err(error) = &result {
        tracing::error!("interpreter: {error}");
    }
    progress.complete(result.map(|()| Times { start, end: now() }));
}

/// Runs a kernel: what it may touch goes into one memory and comes back.
fn launch(launch: &Launch, progress: &dyn Progress) -> BackendResult<()> {
    let program: &InterpreterProgram =
        launch.program.as_any().downcast_ref().ok_or_else(|| BackendError::Other("a program of another backend".to_owned()))?;
    let mut arguments = Vec::with_capacity(launch.args.len());
    let mut objects: Vec<(&InterpreterMemory, bool)> = program.objects.iter().map(|(memory, read_only)| (memory, *read_only)).collect();
    for arg in &launch.args {
        arguments.push(match arg {
            LaunchArg::Value(bytes) => Argument::Value(bytes.to_vec()),
            LaunchArg::Local(size) => Argument::Local(*size),
            LaunchArg::Buffer(None) => Argument::Buffer(None),
            LaunchArg::Address(_) => return Err(BackendError::Other("an address of the host".to_owned())),
            LaunchArg::Buffer(Some(range)) | LaunchArg::Image(range, _) => {
                let memory = downcast::<InterpreterMemory>(&range.memory)?;
                if !objects.iter().any(|(other, _)| other.id == memory.id) {
                    objects.push((memory, false));
                }
                let place = MemoryLocation { object: memory.id, offset: range.offset + range.start };
                match arg {
                    LaunchArg::Image(_, image) => Argument::Image(place, image.words()),
                    _ => Argument::Buffer(Some(place)),
                }
            }
        });
    }
    for range in &launch.extra {
        let memory = downcast::<InterpreterMemory>(&range.memory)?;
        if !objects.iter().any(|(other, _)| other.id == memory.id) {
            objects.push((memory, false));
        }
    }
    let narrow = |sizes: [u64; 3]| sizes.map(|size| u32::try_from(size).unwrap_or(u32::MAX));
    let range = NdRange {
        work_dim: launch.work_dim,
        global_offset: narrow(launch.global_offset),
        global_size: narrow(launch.global_size),
        local_size: launch.local_size,
    };
    let code = program.for_launch(launch)?;
    let mut memory = interpret::Memory::default();
    for (object, read_only) in &objects {
        memory.insert(object.id, object.take(), *read_only);
    }
    let mut output = Vec::new();
    let run = || code.launch(&program.instance, &launch.kernel, &arguments, &range, &mut memory, &mut output);
    let result = catch_unwind(AssertUnwindSafe(run));
    if !output.is_empty() {
        progress.print(&output);
    }
    for (object, _) in &objects {
        object.put(memory.remove(object.id).unwrap_or_default());
    }
    match result {
        Ok(result) => result.map_err(|fault| BackendError::Other(format!("kernel `{}`: {fault}", launch.kernel))),
        Err(_) => Err(BackendError::Other(format!("kernel `{}`: a defect of the interpreter", launch.kernel))),
    }
}
