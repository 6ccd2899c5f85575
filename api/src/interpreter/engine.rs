//! Runs commands, one after the other.

use std::ops::Range;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use wgcl_compiler::interpret::{self, Argument, NdRange, Place};

use super::device::now;
use super::memory::{InterpreterMemory, downcast};
use super::program::InterpreterProgram;
use crate::backend::{Action, BackendError, BackendResult, Command, CopyRegion, Launch, LaunchArg, Memory, Progress, Times};

/// A command and who wants to know of it.
pub(super) struct Task {
    pub(super) command: Command,
    pub(super) progress: Arc<dyn Progress>,
}

/// Runs a command and reports.
pub(super) fn run(Task { command, progress }: Task) {
    let start = now();
    progress.submitted(start);
    progress.running();
    let result = catch_unwind(AssertUnwindSafe(|| execute(command, &*progress)));
    let result = result.unwrap_or_else(|_| Err(BackendError::Other("a defect of the interpreter ended a command".to_owned())));
    if let Err(error) = &result {
        tracing::error!("interpreter: {error}");
    }
    progress.complete(result.map(|()| Times { start, end: now() }));
}

fn execute(command: Command, progress: &dyn Progress) -> BackendResult<()> {
    match command {
        Command::Once(action) => perform(&action, progress),
        Command::Replay(actions) => actions.iter().try_for_each(|action| perform(action, progress)),
        Command::Nop => Ok(()),
        Command::Host(work) => (work.0)(),
    }
}

fn perform(action: &Action, progress: &dyn Progress) -> BackendResult<()> {
    match action {
        Action::Write { dst, src, regions } => {
            let memory = downcast(dst)?;
            let mut result = Ok(());
            src.with(&mut |host| {
                for region in regions {
                    result = result.clone().and(memory.with(|bytes| {
                        slice_mut(bytes, region.buffer, region.size)?.copy_from_slice(slice(host, region.host, region.size)?);
                        Ok(())
                    }));
                }
            });
            result
        }
        Action::Read { src, dst, regions } => {
            let memory = downcast(src)?;
            let mut result = Ok(());
            dst.with_mut(&mut |host| {
                for region in regions {
                    result = result.clone().and(memory.with(|bytes| {
                        slice_mut(host, region.host, region.size)?.copy_from_slice(slice(bytes, region.buffer, region.size)?);
                        Ok(())
                    }));
                }
            });
            result
        }
        Action::Copy { src, dst, regions } => copy(src, dst, regions),
        Action::Fill { dst, pattern, offset, size } => fill(dst, pattern, *offset, *size),
        Action::Launch(launch) => self::launch(launch, progress),
    }
}

fn copy(src: &Arc<dyn Memory>, dst: &Arc<dyn Memory>, regions: &[CopyRegion]) -> BackendResult<()> {
    let (src, dst) = (downcast(src)?, downcast(dst)?);
    for region in regions {
        let moved = src.with(|bytes| slice(bytes, region.buffer, region.size).map(<[u8]>::to_vec))?;
        dst.with(|bytes| slice_mut(bytes, region.host, region.size).map(|place| place.copy_from_slice(&moved)))?;
    }
    Ok(())
}

fn fill(dst: &Arc<dyn Memory>, pattern: &[u8], offset: u64, size: u64) -> BackendResult<()> {
    downcast(dst)?.with(|bytes| {
        for chunk in slice_mut(bytes, offset, size)?.chunks_exact_mut(pattern.len().max(1)) {
            chunk.copy_from_slice(pattern);
        }
        Ok(())
    })
}

fn range(offset: u64, size: u64) -> BackendResult<Range<usize>> {
    let places = (usize::try_from(offset), offset.checked_add(size).map(usize::try_from));
    if let (Ok(start), Some(Ok(end))) = places { Ok(start..end) } else { Err(outside()) }
}

fn outside() -> BackendError {
    BackendError::Other("a transfer beyond the end of a buffer".to_owned())
}

fn slice(bytes: &[u8], offset: u64, size: u64) -> BackendResult<&[u8]> {
    bytes.get(range(offset, size)?).ok_or_else(outside)
}

fn slice_mut(bytes: &mut [u8], offset: u64, size: u64) -> BackendResult<&mut [u8]> {
    bytes.get_mut(range(offset, size)?).ok_or_else(outside)
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
            LaunchArg::Buffer(Some(range)) | LaunchArg::Image(range, _) => {
                let memory = downcast(&range.memory)?;
                if !objects.iter().any(|(other, _)| other.id == memory.id) {
                    objects.push((memory, false));
                }
                let place = Place { object: memory.id, offset: range.offset + range.start };
                match arg {
                    LaunchArg::Image(_, image) => Argument::Image(place, image.words()),
                    _ => Argument::Buffer(Some(place)),
                }
            }
        });
    }
    for range in &launch.extra {
        let memory = downcast(&range.memory)?;
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
