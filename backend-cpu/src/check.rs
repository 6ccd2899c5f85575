//! What the accesses of a kernel ask before they are made (`wgcl_compiler::native::check`).
//!
//! The bounds are those of a launch: its arguments', the program's variables', and for pointers of which the compiler does not know where they lead those of all memory objects
//! that there are. What lies outside of them is [told](crate::report), and bytes that do not matter are touched in its place: zeros where it is read, others where it is written.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use parking_lot::Mutex;
use wgcl_api::backend::{BackendError, BackendResult, Launch, LaunchArg, MemoryRange};
use wgcl_api::host_commands::downcast;
use wgcl_compiler::native::check::{Access, Object, Site};

use crate::arguments::ArgBlock;
use crate::block::Block;
use crate::groups::Part;
use crate::memory::{CpuMemory, Quota};
use crate::program::{CpuProgram, Variant};
use crate::report::{NULL_END, Reports, Wrong};

/// What an argument leads into.
#[derive(Clone, Copy, Debug)]
enum Bounds {
    /// From one address up to another.
    Range(u64, u64),
    /// So many bytes from where the kernel has it.
    Size(u64),
    /// Memory of which only the application knows.
    Open,
}

/// Where memory is that kernels may touch: ranges that do not overlap, the lowest first.
#[derive(Debug)]
struct Ranges(Vec<(u64, u64)>);

impl Ranges {
    fn of(mut list: Vec<(u64, u64)>) -> Self {
        list.sort_unstable();
        let mut made: Vec<(u64, u64)> = Vec::with_capacity(list.len());
        for (start, end) in list {
            match made.last_mut() {
                Some(last) if start < last.1 => last.1 = last.1.max(end),
                _ => made.push((start, end)),
            }
        }
        Self(made)
    }

    fn have(&self, start: u64, end: u64) -> bool {
        let index = self.0.partition_point(|range| range.0 <= start);
        index.checked_sub(1).and_then(|index| self.0.get(index)).is_some_and(|range| end <= range.1)
    }
}

/// The bounds of a dispatch.
#[derive(Debug)]
pub(crate) struct Checker {
    kernel: Arc<str>,
    variant: Arc<Variant>,
    args: Vec<Bounds>,
    ranges: Ranges,
    /// Whether the kernel has addresses of memory of which only the application knows.
    open: bool,
    part: Part,
    offset: [u64; 3],
    zeros: Block,
    sink: Block,
    reports: Arc<Reports>,
    /// The first that was found wrong.
    first: Mutex<Option<String>>,
}

/// Who makes which access.
#[derive(Clone, Copy, Debug)]
struct Asked {
    address: u64,
    base: u64,
    number: usize,
    /// Linear local id.
    linear: u32,
    group: [u32; 3],
}

impl Checker {
    /// Of a part of a launch, if its accesses are checked.
    pub(crate) fn of(
        launch: &Launch,
        (program, quota): (&CpuProgram, &Quota),
        variant: &Arc<Variant>,
        part: &Part,
        block: &ArgBlock,
    ) -> BackendResult<Option<Self>> {
        if variant.sites.is_empty() {
            return Ok(None);
        }
        let mut ranges = quota.places();
        ranges.extend(program.ranges());
        ranges.push((block.address(), block.address() + u64::from(variant.args.size)));
        let largest = variant.sites.iter().map(|site| site.size).max().unwrap_or(0);
        let scratch = || -> BackendResult<Block> {
            let mut block = Block::new(largest.into()).ok_or(BackendError::OutOfHostMemory)?;
            block.bytes_mut().fill(0);
            Ok(block)
        };
        Ok(Some(Self {
            kernel: Arc::clone(&launch.kernel),
            variant: Arc::clone(variant),
            args: launch.args.iter().map(bounds).collect::<BackendResult<_>>()?,
            ranges: Ranges::of(ranges),
            open: launch.args.iter().any(|arg| matches!(arg, LaunchArg::Address(_))),
            part: *part,
            offset: launch.global_offset,
            zeros: scratch()?,
            sink: scratch()?,
            reports: Arc::clone(&program.reports),
            first: Mutex::new(None),
        }))
    }

    /// Its address, for [`ask`].
    pub(crate) fn address(&self) -> u64 {
        std::ptr::from_ref(self).expose_provenance() as u64
    }

    /// An error if something was found wrong.
    pub(crate) fn result(&self) -> BackendResult<()> {
        self.first.lock().take().map_or(Ok(()), |message| Err(BackendError::Other(message)))
    }

    /// What a pointer leads into, where that is known.
    fn bounds_of(&self, site: &Site, base: u64) -> Option<(u64, u64)> {
        match site.object {
            Object::Argument(index) => match *self.args.get(index as usize)? {
                Bounds::Range(start, end) => Some((start, end)),
                Bounds::Size(size) => Some((base, base + size)),
                Bounds::Open => None,
            },
            Object::Variable { size, .. } => Some((base, base + u64::from(size))),
            Object::Any => None,
        }
    }

    fn allows(&self, site: &Site, asked: Asked) -> bool {
        let Asked { address, base, .. } = asked;
        let Some(end) = address.checked_add(site.size.into()) else { return false };
        match self.bounds_of(site, base) {
            Some(bounds) => bounds.0 <= address && end <= bounds.1,
            None if self.open => address >= NULL_END,
            // Nothing but a pointer that may lead anywhere is given the address of the arena.
            None => {
                let in_arena = matches!(site.object, Object::Any) && base <= address && end <= base + self.variant.arena;
                in_arena || self.ranges.have(address, end)
            }
        }
    }

    fn tell(&self, site: &Site, asked: Asked) {
        let Asked { address, base, number, linear, group } = asked;
        let [x, y, _] = self.part.local_size.map(|size| size.max(1));
        let local = [linear % x, linear / x % y, linear / x / y];
        let mut item = [0; 3];
        for (dimension, id) in item.iter_mut().enumerate() {
            *id = self.offset[dimension]
                + u64::from(group[dimension]) * u64::from(self.part.enqueued[dimension])
                + u64::from(local[dimension]);
        }
        let mut bounds = self.bounds_of(site, base).unwrap_or_default();
        if bounds.1 != 0 {
            // As the kernel counts.
            bounds.0 = base;
        }
        let message = self.reports.tell(&Wrong { kernel: &self.kernel, site, number, address, bounds, item, group });
        self.first.lock().get_or_insert(message);
    }

    /// The address that is accessed.
    fn answer(&self, asked: Asked) -> u64 {
        let Some(site) = self.variant.sites.get(asked.number) else { return asked.address };
        if self.allows(site, asked) {
            return asked.address;
        }
        // Nothing may unwind through generated code.
        if catch_unwind(AssertUnwindSafe(|| self.tell(site, asked))).is_err() {
            self.first.lock().get_or_insert_with(|| "an access out of bounds".to_owned());
        }
        let block = if site.access == Access::Load { &self.zeros } else { &self.sink };
        block.address() as u64
    }
}

fn bounds(arg: &LaunchArg) -> BackendResult<Bounds> {
    Ok(match arg {
        // A part of a buffer may be left at its upper end, for the rest of the buffer.
        LaunchArg::Buffer(Some(range)) | LaunchArg::Image(range, _) => {
            let MemoryRange { memory, offset, .. } = range;
            let start = downcast::<CpuMemory>(memory)?.address();
            Bounds::Range(start + offset, start + memory.size())
        }
        LaunchArg::Buffer(None) => Bounds::Range(0, 0),
        LaunchArg::Address(_) => Bounds::Open,
        LaunchArg::Local(bytes) => Bounds::Size(u64::from(*bytes)),
        LaunchArg::Value(bytes) => Bounds::Size(bytes.len() as u64),
    })
}

/// What generated code calls: see `LaunchContext::check` of `wgcl_compiler::native::abi`.
pub(crate) extern "sysv64" fn ask(checker: *const Checker, address: u64, base: u64, who: u64, group: u64, plane: u64) -> u64 {
    // SAFETY: generated code has it from the context of its launch, which waits for it and keeps the checker until then.
    let checker = unsafe { &*checker };
    let halves = |pair: u64| (pair as u32, (pair >> 32) as u32);
    let ((number, linear), (x, y)) = (halves(who), halves(group));
    checker.answer(Asked { address, base, number: number as usize, linear, group: [x, y, plane as u32] })
}

#[cfg(test)]
mod tests {
    use super::Ranges;

    #[test]
    fn what_lies_within_one_object_is_allowed() {
        let ranges = Ranges::of(vec![(300, 400), (100, 200), (200, 250), (320, 420), (150, 180)]);
        for (start, end) in [(100, 200), (199, 200), (200, 250), (300, 420), (390, 410)] {
            assert!(ranges.have(start, end), "{start}..{end}");
        }
        // Neighbours are two objects.
        for (start, end) in [(99, 100), (100, 201), (199, 201), (250, 251), (299, 301), (419, 421), (u64::MAX - 1, u64::MAX)] {
            assert!(!ranges.have(start, end), "{start}..{end}");
        }
        assert!(!Ranges::of(Vec::new()).have(0, 0));
    }
}
