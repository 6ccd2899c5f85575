//! Runs commands: transfers in place, launches by the interpreter.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, OnceLock};
use std::time::Instant;

use wgcl_api::backend::{BackendError, BackendResult, Command, Launch, LaunchArg, Progress, Times};
use wgcl_api::host_commands::{self, downcast};
use wgcl_compiler::interpret::{self, Argument, MemoryLocation, NdRange};
use wgcl_compiler::project::internal_error;

use crate::memory::InterpreterMemory;
use crate::program::InterpreterProgram;

/// A command, and the receiver of its result.
pub(crate) struct Task {
    pub(crate) command: Command,
    pub(crate) progress: Arc<dyn Progress>,
}

/// Returns 1 plus the nanoseconds since the first call.
pub(crate) fn now() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    // The result is never 0, because 0 means that a time is not known yet. 64 bits are enough for 584 years.
    1 + START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// Runs a command, and reports its result.
pub(crate) fn run(Task { command, progress }: Task) {
    let start = now();
    progress.submitted(start);
    progress.running();
    let execute = || host_commands::run::<InterpreterMemory>(command, &(), |launch| self::launch(launch, &*progress));
    let result = catch_unwind(AssertUnwindSafe(execute));
    let result = result.unwrap_or_else(|_| Err(BackendError::Other(internal_error("the interpreter panicked in a command"))));
    if let Err(error) = &result {
        tracing::error!("a command failed on the interpreter: {error}");
    }
    progress.complete(result.map(|()| Times { start, end: now() }));
}

/// Runs a kernel. The contents of every memory object that the kernel may access move to the interpreter, and back
/// after the launch.
fn launch(launch: &Launch, progress: &dyn Progress) -> BackendResult<()> {
    let program: &InterpreterProgram = launch
        .program
        .as_any()
        .downcast_ref()
        .ok_or_else(|| BackendError::Other("internal error: the program of the launch belongs to another backend".to_owned()))?;
    let mut arguments = Vec::with_capacity(launch.args.len());
    let mut objects: Vec<(&InterpreterMemory, bool)> = program.objects.iter().map(|object| (&object.memory, object.read_only)).collect();
    for arg in &launch.args {
        arguments.push(match arg {
            LaunchArg::Value(bytes) => Argument::Value(bytes.to_vec()),
            LaunchArg::Local(size) => Argument::Local(*size),
            LaunchArg::Buffer(None) => Argument::Buffer(None),
            LaunchArg::Address(_) => {
                return Err(BackendError::Other(
                    "the interpreter does not support kernel arguments that point to memory outside of SVM allocations".to_owned(),
                ));
            }
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
    let range = NdRange {
        work_dim: launch.work_dim,
        global_offset: to_u32("global offset", launch.global_offset)?,
        global_size: to_u32("global size", launch.global_size)?,
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
        Err(_) => Err(BackendError::Other(format!("kernel `{}`: {}", launch.kernel, internal_error("the interpreter panicked")))),
    }
}

/// Narrows the three components of `sizes` to 32 bits. Fails for a component of 2^32 or more, although the API has
/// already rejected such a launch. The error calls the sizes `what`.
fn to_u32(what: &str, sizes: [u64; 3]) -> BackendResult<[u32; 3]> {
    let mut narrow = [0; 3];
    for (narrow, size) in narrow.iter_mut().zip(sizes) {
        let error = |_| BackendError::Other(format!("launch: {what} {sizes:?} has a component of 2^32 or more"));
        *narrow = u32::try_from(size).map_err(error)?;
    }
    Ok(narrow)
}
