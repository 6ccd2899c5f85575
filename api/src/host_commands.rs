//! What commands do to memory that is bytes of the host's: for backends that run on the host. Kernels are the backend's own matter.

use std::ops::Range;
use std::sync::Arc;

use crate::backend::{Action, BackendError, BackendResult, Command, CopyRegion, HostSource, HostTarget, Launch, Memory};

/// Memory whose bytes the host has at hand while a command runs.
pub trait HostBytes: Memory + Sized + 'static {
    /// Hands the bytes to `f`: nobody else touches them meanwhile.
    fn with_bytes<T>(&self, f: impl FnOnce(&mut [u8]) -> T) -> T;
}

/// The implementation behind a memory object.
///
/// # Errors
/// If it is another backend's.
pub fn downcast<M: HostBytes>(memory: &Arc<dyn Memory>) -> BackendResult<&M> {
    memory.as_any().downcast_ref().ok_or_else(|| BackendError::Other("memory of another backend".to_owned()))
}

/// Runs a command on memory of type `M`; `launch` runs the kernels in it.
///
/// # Errors
/// What `launch` and the host's work report, and transfers that reach beyond the end of something.
pub fn run<M: HostBytes>(command: Command, mut launch: impl FnMut(&Launch) -> BackendResult<()>) -> BackendResult<()> {
    match command {
        Command::Once(action) => perform::<M>(&action, &mut launch),
        Command::Replay(actions) => actions.iter().try_for_each(|action| perform::<M>(action, &mut launch)),
        Command::Nop => Ok(()),
        Command::Host(work) => (work.0)(),
    }
}

fn perform<M: HostBytes>(action: &Action, launch: &mut dyn FnMut(&Launch) -> BackendResult<()>) -> BackendResult<()> {
    match action {
        Action::Write { dst, src, regions } => write(downcast::<M>(dst)?, &**src, regions),
        Action::Read { src, dst, regions } => read(downcast::<M>(src)?, &**dst, regions),
        Action::Copy { src, dst, regions } => copy(downcast::<M>(src)?, downcast::<M>(dst)?, regions),
        Action::Fill { dst, pattern, offset, size } => fill(downcast::<M>(dst)?, pattern, *offset, *size),
        Action::Launch(kernel) => launch(kernel),
    }
}

fn write<M: HostBytes>(memory: &M, source: &dyn HostSource, regions: &[CopyRegion]) -> BackendResult<()> {
    let mut result = Ok(());
    source.with(&mut |host| {
        result = memory.with_bytes(|bytes| {
            regions.iter().try_for_each(|region| {
                slice_mut(bytes, region.buffer, region.size)?.copy_from_slice(slice(host, region.host, region.size)?);
                Ok(())
            })
        });
    });
    result
}

fn read<M: HostBytes>(memory: &M, target: &dyn HostTarget, regions: &[CopyRegion]) -> BackendResult<()> {
    let mut result = Ok(());
    target.with_mut(&mut |host| {
        result = memory.with_bytes(|bytes| {
            regions.iter().try_for_each(|region| {
                slice_mut(host, region.host, region.size)?.copy_from_slice(slice(bytes, region.buffer, region.size)?);
                Ok(())
            })
        });
    });
    result
}

fn copy<M: HostBytes>(source: &M, target: &M, regions: &[CopyRegion]) -> BackendResult<()> {
    for region in regions {
        // The two may be one, which hands out its bytes once at a time.
        let moved = source.with_bytes(|bytes| slice(bytes, region.buffer, region.size).map(<[u8]>::to_vec))?;
        target.with_bytes(|bytes| slice_mut(bytes, region.host, region.size).map(|place| place.copy_from_slice(&moved)))?;
    }
    Ok(())
}

fn fill<M: HostBytes>(memory: &M, pattern: &[u8], offset: u64, size: u64) -> BackendResult<()> {
    memory.with_bytes(|bytes| {
        for chunk in slice_mut(bytes, offset, size)?.chunks_exact_mut(pattern.len().max(1)) {
            chunk.copy_from_slice(pattern);
        }
        Ok(())
    })
}

fn outside() -> BackendError {
    BackendError::Other("a transfer beyond the end of a buffer".to_owned())
}

fn range(offset: u64, size: u64) -> BackendResult<Range<usize>> {
    let places = (usize::try_from(offset), offset.checked_add(size).map(usize::try_from));
    if let (Ok(start), Some(Ok(end))) = places { Ok(start..end) } else { Err(outside()) }
}

fn slice(bytes: &[u8], offset: u64, size: u64) -> BackendResult<&[u8]> {
    bytes.get(range(offset, size)?).ok_or_else(outside)
}

fn slice_mut(bytes: &mut [u8], offset: u64, size: u64) -> BackendResult<&mut [u8]> {
    bytes.get_mut(range(offset, size)?).ok_or_else(outside)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use parking_lot::Mutex;

    use super::run;
    use crate::backend::{Action, BackendResult, Command, CopyRegion, Memory};
    use crate::test_backend::TestMemory;

    fn perform(action: Action) -> BackendResult<()> {
        run::<TestMemory>(Command::Once(action), |_| Ok(()))
    }

    #[test]
    fn bytes_go_where_they_should_and_nowhere_else() {
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
