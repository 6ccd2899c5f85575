//! Runs commands on memory that the host can access, for backends that run on the host. The backend itself runs the
//! kernels.

use std::ops::Range;
use std::sync::Arc;

use crate::backend::{Action, BackendError, BackendResult, Command, CopyRegion, HostSource, HostTarget, Launch, Memory};

/// Memory that the host can access directly while a command runs.
pub trait HostBytes: Memory + Sized + 'static {
    /// The threads that large transfers use; `()` if transfers use only the calling thread.
    type Threads: ?Sized;

    /// Calls `f` with exclusive access to the bytes.
    fn with_bytes<T>(&self, f: impl FnOnce(&mut [u8]) -> T) -> T;

    /// Writes regions of `host` to the memory.
    ///
    /// # Errors
    /// Fails if a region extends beyond the end of the source or of the destination.
    fn write(&self, _threads: &Self::Threads, host: &[u8], regions: &[CopyRegion]) -> BackendResult<()> {
        regions.iter().try_for_each(|region| {
            let source = &host[range(host.len(), region.host, region.size)?];
            self.with_bytes(|bytes| {
                let place = range(bytes.len(), region.buffer, region.size)?;
                bytes[place].copy_from_slice(source);
                Ok(())
            })
        })
    }

    /// Reads regions of the memory into `host`.
    ///
    /// # Errors
    /// Fails if a region extends beyond the end of the source or of the destination.
    fn read(&self, _threads: &Self::Threads, host: &mut [u8], regions: &[CopyRegion]) -> BackendResult<()> {
        regions.iter().try_for_each(|region| {
            let place = range(host.len(), region.host, region.size)?;
            self.with_bytes(|bytes| {
                host[place].copy_from_slice(&bytes[range(bytes.len(), region.buffer, region.size)?]);
                Ok(())
            })
        })
    }

    /// Copies regions of the memory to `target`, which may be the same memory.
    ///
    /// # Errors
    /// Fails if a region extends beyond the end of the source or of the destination.
    fn copy(&self, threads: &Self::Threads, target: &Self, regions: &[CopyRegion]) -> BackendResult<()> {
        regions.iter().try_for_each(|region| {
            // Source and target may be the same memory, which allows only one borrow at a time.
            let moved = self.with_bytes(|bytes| BackendResult::Ok(bytes[range(bytes.len(), region.buffer, region.size)?].to_vec()))?;
            target.write(threads, &moved, &[CopyRegion { buffer: region.host, host: 0, size: region.size }])
        })
    }

    /// Repeats a pattern in `size` bytes from `offset` on.
    ///
    /// # Errors
    /// Fails if the range extends beyond the end.
    fn fill(&self, _threads: &Self::Threads, pattern: &[u8], offset: u64, size: u64) -> BackendResult<()> {
        self.with_bytes(|bytes| {
            let place = range(bytes.len(), offset, size)?;
            for chunk in bytes[place].chunks_exact_mut(pattern.len().max(1)) {
                chunk.copy_from_slice(pattern);
            }
            Ok(())
        })
    }
}

/// Downcasts a memory object to its implementation.
///
/// # Errors
/// If the memory belongs to another backend.
pub fn downcast<M: HostBytes>(memory: &Arc<dyn Memory>) -> BackendResult<&M> {
    memory.as_any().downcast_ref().ok_or_else(|| BackendError::Other("the memory belongs to another backend".to_owned()))
}

/// Runs a command on memory of type `M`; `launch` runs a kernel. Large transfers use `threads`.
///
/// # Errors
/// The errors of `launch` and of host functions. Also fails for transfers out of bounds and for external semaphores.
pub fn run<M: HostBytes>(
    command: Command,
    threads: &M::Threads,
    mut launch: impl FnMut(&Launch) -> BackendResult<()>,
) -> BackendResult<()> {
    match command {
        Command::Once(action) => perform::<M>(&action, threads, &mut launch),
        Command::Replay(actions) => actions.iter().try_for_each(|action| perform::<M>(action, threads, &mut launch)),
        Command::Nop => Ok(()),
        Command::Wait(_) | Command::Signal(_) => Err(BackendError::Other("external semaphores are not supported".to_owned())),
        Command::Host(work) => (work.0)(),
    }
}

fn perform<M: HostBytes>(action: &Action, threads: &M::Threads, launch: &mut dyn FnMut(&Launch) -> BackendResult<()>) -> BackendResult<()> {
    match action {
        Action::Write { dst, src, regions } => write(downcast::<M>(dst)?, threads, &**src, regions),
        Action::Read { src, dst, regions } => read(downcast::<M>(src)?, threads, &**dst, regions),
        Action::Copy { src, dst, regions } => downcast::<M>(src)?.copy(threads, downcast::<M>(dst)?, regions),
        Action::Fill { dst, pattern, offset, size } => downcast::<M>(dst)?.fill(threads, pattern, *offset, *size),
        Action::Launch(kernel) => launch(kernel),
    }
}

fn write<M: HostBytes>(memory: &M, threads: &M::Threads, source: &dyn HostSource, regions: &[CopyRegion]) -> BackendResult<()> {
    let mut result = Ok(());
    source.with(&mut |host| result = memory.write(threads, host, regions));
    result
}

fn read<M: HostBytes>(memory: &M, threads: &M::Threads, target: &dyn HostTarget, regions: &[CopyRegion]) -> BackendResult<()> {
    let mut result = Ok(());
    target.with_mut(&mut |host| result = memory.read(threads, host, regions));
    result
}

/// Returns the range of `size` bytes from `offset` on.
///
/// # Errors
/// Fails if the range extends beyond the end.
pub fn range(length: usize, offset: u64, size: u64) -> BackendResult<Range<usize>> {
    let bounds = (usize::try_from(offset), offset.checked_add(size).map(usize::try_from));
    match bounds {
        (Ok(start), Some(Ok(end))) if end <= length => Ok(start..end),
        _ => Err(BackendError::Other("a transfer extends beyond the end of a buffer".to_owned())),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parking_lot::Mutex;

    use super::run;
    use crate::backend::{Action, BackendResult, Command, CopyRegion, Memory};
    use crate::test_backend::TestMemory;

    fn perform(action: Action) -> BackendResult<()> {
        run::<TestMemory>(Command::Once(action), &(), |_| Ok(()))
    }

    #[test]
    fn commands_change_only_their_region() {
        let memory = Arc::new(TestMemory(Mutex::new((0..8).collect())));
        let this = || -> Arc<dyn Memory> { memory.clone() };
        let region = |buffer, host, size| vec![CopyRegion { buffer, host, size }];
        assert_eq!(perform(Action::Write { dst: this(), src: Arc::new(vec![1, 2, 3, 4]), regions: region(6, 1, 2) }), Ok(()));
        assert_eq!(*memory.0.lock(), [0, 1, 2, 3, 4, 5, 2, 3]);
        assert_eq!(perform(Action::Copy { src: this(), dst: this(), regions: region(5, 0, 3) }), Ok(()));
        assert_eq!(*memory.0.lock(), [5, 2, 3, 3, 4, 5, 2, 3]);
        assert_eq!(perform(Action::Fill { dst: this(), pattern: vec![8, 9], offset: 2, size: 4 }), Ok(()));
        assert_eq!(*memory.0.lock(), [5, 2, 8, 9, 8, 9, 2, 3]);
        let beyond = [(7, 0, 2), (0, 3, 2), (u64::MAX, 0, 2), (0, u64::MAX, 1)];
        for (buffer, host, size) in beyond {
            assert!(perform(Action::Write { dst: this(), src: Arc::new(vec![1; 4]), regions: region(buffer, host, size) }).is_err());
        }
        assert!(perform(Action::Fill { dst: this(), pattern: vec![1], offset: 7, size: 2 }).is_err());
        assert_eq!(*memory.0.lock(), [5, 2, 8, 9, 8, 9, 2, 3]);
    }
}
