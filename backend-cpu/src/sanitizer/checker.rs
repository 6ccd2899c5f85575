//! What the accesses of a kernel ask before they are made (`wgcl_compiler::vectorize::sanitize`).
//!
//! The bounds are those of a launch: its arguments', the program's variables', and for pointers of which the compiler does not know where they lead those of all memory objects
//! that there are. What lies outside of them is [told](super::report), and bytes that do not matter are touched in its place: zeros where it is read, others where it is written.
//!
//! What is within bounds may be wrong all the same: misaligned, never [written](crate::memory::initialized), not to be written, or touched by two work-items with nothing that [orders](super::happens_before) their [visits](super::shadow_memory).

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

use parking_lot::Mutex;
use smallvec::SmallVec;
use wgcl_api::backend::{BackendError, BackendResult, Launch, LaunchArg, MemoryRange};
use wgcl_api::host_commands::downcast;
use wgcl_api::options::Options;
use wgcl_compiler::ir::Space;
use wgcl_compiler::vectorize::sanitize::{Access, AccessSite, Object};

use super::happens_before::{Counts, Diverged, Doubtful, GROUP, Group};
use super::report::{Fault, NULL_END, Reports, Wrong};
use super::shadow_memory::{Shared, Visit};
use crate::launch::arguments::ArgBlock;
use crate::memory::host_allocation::Block;
use crate::memory::initialized::Written;
use crate::memory::{CpuMemory, Quota};
use crate::ndrange::Part;
use crate::program::{CpuProgram, Variant};

/// Groups of a launch that are told apart.
const MOST_GROUPS: usize = 1 << 22;

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

    /// Whether some of the bytes are in one of them.
    fn meet(&self, start: u64, end: u64) -> bool {
        let index = self.0.partition_point(|range| range.1 <= start);
        self.0.get(index).is_some_and(|range| range.0 < end)
    }
}

/// What all dispatches of a launch have in common.
#[derive(Debug)]
pub(crate) struct Common {
    /// Who has touched memory that groups share.
    shared: Shared,
    /// How often each group has synchronised; none where there are too many to be told apart.
    syncs: Vec<AtomicU32>,
    num_groups: [u32; 3],
}

impl Common {
    /// Of a launch of so many groups in each dimension, if the kernels of a program are checked.
    pub(crate) fn of(program: &CpuProgram, num_groups: [u32; 3]) -> Option<Arc<Self>> {
        program.code.machine().style.checked.then(|| {
            let count = num_groups.iter().fold(1_usize, |product, &count| product.saturating_mul(count as usize));
            let count = if count > MOST_GROUPS { 0 } else { count };
            Arc::new(Self { shared: Shared::new(), syncs: (0..count).map(|_| AtomicU32::new(0)).collect(), num_groups })
        })
    }

    /// The number of a group, and one more.
    fn number(&self, ids: [u32; 3]) -> u32 {
        let [x, y, z] = ids;
        let [width, height, _] = self.num_groups;
        x.wrapping_add(width.wrapping_mul(y.wrapping_add(height.wrapping_mul(z)))).wrapping_add(1)
    }
}

/// What is checked of a dispatch.
#[derive(Debug)]
pub(crate) struct Checker {
    kernel: Arc<str>,
    variant: Arc<Variant>,
    args: Vec<Bounds>,
    /// Whether the buffers of the arguments may only be read.
    read_only: Vec<bool>,
    ranges: Ranges,
    /// Memory objects of which it is known what was written, the lowest first.
    written: Vec<(u64, u64, Arc<Written>)>,
    /// Where the kernel may write to memory that groups share; `None` where that may be anywhere. What nobody writes nobody races for.
    stored: Option<Ranges>,
    /// Whether the kernel has addresses of memory of which only the application knows.
    open: bool,
    part: Part,
    offset: [u64; 3],
    zeros: Block,
    sink: Block,
    common: Arc<Common>,
    reports: Arc<Reports>,
    /// Whether whatever is wrong fails the launch, not only what would have touched memory that is not the kernel's.
    fatal: bool,
    /// The first that was found and fails it.
    first: Mutex<Option<String>>,
}

/// Who asks of which site.
#[derive(Clone, Copy, Debug)]
pub(super) struct Asked {
    pub(super) address: u64,
    base: u64,
    number: usize,
    /// Linear local id.
    linear: u32,
    group: [u32; 3],
}

impl Checker {
    /// Of a part of a launch.
    pub(crate) fn of(
        launch: &Launch,
        (program, quota): (&CpuProgram, &Quota),
        variant: &Arc<Variant>,
        (part, common): (&Part, Arc<Common>),
        block: &ArgBlock,
    ) -> BackendResult<Self> {
        let places = quota.places();
        let mut ranges: Vec<(u64, u64)> = places.iter().map(|place| (place.start, place.end)).collect();
        ranges.extend(program.ranges());
        ranges.push((block.address(), block.address() + u64::from(variant.args.size)));
        let mut written: Vec<_> = places.into_iter().filter_map(|place| Some((place.start, place.end, place.written?))).collect();
        written.sort_unstable_by_key(|(start, ..)| *start);
        let largest = variant.sites.iter().map(|site| site.size).max().unwrap_or(0);
        let scratch = || -> BackendResult<Block> {
            let mut block = Block::new(largest.into()).ok_or(BackendError::OutOfHostMemory)?;
            block.bytes_mut().fill(0);
            Ok(block)
        };
        let args: Vec<Bounds> = launch.args.iter().map(bounds).collect::<BackendResult<_>>()?;
        Ok(Self {
            kernel: Arc::clone(&launch.kernel),
            variant: Arc::clone(variant),
            read_only: launch.args.iter().map(|arg| matches!(arg, LaunchArg::Buffer(Some(range)) if range.read_only)).collect(),
            stored: stored(&variant.sites, &args).map(Ranges::of),
            args,
            ranges: Ranges::of(ranges),
            written,
            open: launch.args.iter().any(|arg| matches!(arg, LaunchArg::Address(_))),
            part: *part,
            offset: launch.global_offset,
            zeros: scratch()?,
            sink: scratch()?,
            common,
            reports: Arc::clone(&program.reports),
            fatal: Options::get().fails_on_findings(),
            first: Mutex::new(None),
        })
    }

    /// Its address, for [`ask`].
    pub(crate) fn address(&self) -> u64 {
        std::ptr::from_ref(self).expose_provenance() as u64
    }

    /// An error if something was found wrong that fails the launch.
    pub(crate) fn result(&self) -> BackendResult<()> {
        self.first.lock().take().map_or(Ok(()), |message| Err(BackendError::Other(message)))
    }

    /// What a pointer leads into, where that is known.
    fn bounds_of(&self, site: &AccessSite, base: u64) -> Option<(u64, u64)> {
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

    fn allows(&self, site: &AccessSite, asked: Asked) -> bool {
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

    /// The global id of a work-item.
    fn item(&self, linear: u32, group: [u32; 3]) -> [u64; 3] {
        let [x, y, _] = self.part.local_size.map(|size| size.max(1));
        let local = [linear % x, linear / x % y, linear / x / y];
        std::array::from_fn(|dimension| {
            let first = u64::from(group[dimension]) * u64::from(self.part.enqueued[dimension]);
            self.offset[dimension] + first + u64::from(local[dimension])
        })
    }

    fn tell(&self, site: &AccessSite, asked: Asked, fault: Fault<'_>) {
        let Asked { address, base, number, linear, group } = asked;
        let mut bounds = if site.access.touches() { self.bounds_of(site, base).unwrap_or_default() } else { (0, 0) };
        if bounds.1 != 0 {
            // As the kernel counts.
            bounds.0 = base;
        }
        let fails = self.fatal || matches!(fault, Fault::OutOfBounds);
        let item = self.item(linear, group);
        let message = self.reports.tell(&Wrong { kernel: &self.kernel, site, number, address, bounds, item, group, fault });
        if fails {
            self.first.lock().get_or_insert(message);
        }
    }

    /// Of a barrier that not all of a group came to.
    fn tell_diverged(&self, diverged: Diverged, (ids, items): ([u32; 3], u32)) {
        let Some(site) = self.variant.sites.get(diverged.site) else { return };
        let asked = Asked { address: 0, base: 0, number: diverged.site, linear: diverged.absent, group: ids };
        self.tell(site, asked, Fault::Diverged { came: diverged.came, of: items });
    }

    /// Hears of what orders accesses.
    fn hear(&self, group: &mut Group, site: &AccessSite, asked: Asked) {
        let Asked { address, base, number, linear, .. } = asked;
        let items = group.items.len() as u32;
        let diverged = match site.access {
            Access::Begin => {
                let (items, local) = (base & 0xffff_ffff, base >> 32);
                let places = ((address, address + self.variant.arena), address + local);
                group.begin(self.common.number(asked.group), asked.group, places, items as usize);
                None
            }
            Access::End => group.end(),
            Access::Barrier { .. } => group.arrive(number, linear, site.access),
            Access::Together => {
                group.meet();
                None
            }
            _ => {
                self.synchronise(group, linear);
                None
            }
        };
        if let Some(diverged) = diverged {
            self.tell_diverged(diverged, (group.ids, items));
        }
    }

    fn synchronise(&self, group: &mut Group, linear: u32) {
        group.synchronise(linear);
        let count = (group.number as usize).checked_sub(1).and_then(|index| self.common.syncs.get(index));
        if let Some(count) = count {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// The address that is accessed.
    fn answer(&self, asked: Asked) -> u64 {
        let Some(site) = self.variant.sites.get(asked.number) else { return asked.address };
        // Nothing may unwind through generated code.
        let answer = catch_unwind(AssertUnwindSafe(|| GROUP.with_borrow_mut(|group| self.examine(group, site, asked))));
        answer.unwrap_or_else(|_| {
            self.first.lock().get_or_insert_with(|| "a defect of the checks".to_owned());
            self.elsewhere(site)
        })
    }

    /// Where what must not be touched is touched.
    fn elsewhere(&self, site: &AccessSite) -> u64 {
        let block = if site.access.writes() { &self.sink } else { &self.zeros };
        block.address() as u64
    }

    fn examine(&self, group: &mut Group, site: &AccessSite, asked: Asked) -> u64 {
        if let Some(doubtful) = group.doubtful.take()
            && bytes_at(doubtful.asked.address, doubtful.bytes.len() as u64) != doubtful.bytes
        {
            self.tell_race(group, doubtful.asked, &doubtful.before);
        }
        let address = asked.address;
        if site.access == Access::Divide {
            if address == 0 {
                self.tell(site, asked, Fault::DivisionByZero);
            }
            return address;
        }
        match site.access {
            Access::NanOperand => {
                group.operands.push(f64::from_bits(address));
                return address;
            }
            Access::Nan => {
                let operands = std::mem::take(&mut group.operands);
                if !operands.iter().any(|operand| operand.is_nan()) {
                    let component = u8::try_from(address).ok().and_then(|number| number.checked_sub(1));
                    self.tell(site, asked, Fault::NanOfNumbers { operands: &operands, component });
                }
                return address;
            }
            _ => {}
        }
        if !site.access.touches() {
            self.hear(group, site, asked);
            return address;
        }
        if !self.allows(site, asked) {
            self.tell(site, asked, Fault::OutOfBounds);
            return self.elsewhere(site);
        }
        if !address.is_multiple_of(u64::from(site.align.max(1))) {
            self.tell(site, asked, Fault::Misaligned);
        }
        let is_read_only = |index: &u32| self.read_only.get(*index as usize).is_some_and(|only| *only);
        if site.access.writes() && matches!(&site.object, Object::Argument(index) if is_read_only(index)) {
            self.tell(site, asked, Fault::ReadOnly);
        }
        if site.access == Access::Atomic {
            self.synchronise(group, asked.linear);
        }
        self.visit(group, site, asked);
        address
    }

    /// Notes who touches what, and tells of what nobody has written and of data races.
    fn visit(&self, group: &mut Group, site: &AccessSite, asked: Asked) {
        let (start, end) = (asked.address, asked.address + u64::from(site.size));
        let own = group.arena.0 <= start && end <= group.arena.1;
        let private = own && start >= group.private;
        let known = if own { None } else { self.written_at(start, end) };
        let was_written = match known {
            _ if site.access != Access::Load => true,
            _ if private => group.pages.has_written((start, end - start), |who| (who.group, who.item) == (group.number, asked.linear)),
            _ if own => group.pages.has_written((start, end - start), |who| who.group == group.number),
            Some((first, written)) => written.has(start - first, end - first),
            None => true,
        };
        if !was_written {
            self.tell(site, asked, Fault::NeverWritten);
        }
        if let Some((first, written)) = known.filter(|_| site.access.writes()) {
            written.set(start - first, end - first);
        }
        if !own && self.stored.as_ref().is_some_and(|stored| !stored.meet(start, end)) {
            return;
        }
        let passed = group.passed(asked.linear);
        let groups = self.common.syncs.get((group.number as usize).wrapping_sub(1));
        let now = Visit {
            group: group.number,
            item: asked.linear,
            epoch: if own { passed.local } else { passed.global },
            own: passed.syncs,
            all: groups.map_or(u32::MAX, |count| count.load(Ordering::Relaxed)),
            site: asked.number as u32,
            atomic: site.access == Access::Atomic || site.volatile,
        };
        let (bytes, writes) = ((start, end - start), site.access.writes());
        let counts = Counts { items: &group.items, groups: &self.common.syncs };
        let before = if own {
            group.pages.visit(bytes, &now, writes, &counts, usize::MAX)
        } else {
            self.common.shared.visit(bytes, &now, writes, &counts)
        };
        // Where work-items do not wait for each other, all have their private variables in one place.
        let Some(before) = before.filter(|_| !private) else { return };
        let is_store = |site: &AccessSite| site.access == Access::Store;
        if is_store(site) && self.variant.sites.get(before.site as usize).is_some_and(is_store) {
            group.doubtful = Some(Doubtful { asked, before, bytes: bytes_at(start, end - start) });
        } else {
            self.tell_race(group, asked, &before);
        }
    }

    fn tell_race(&self, group: &Group, asked: Asked, before: &Visit) {
        let sites = &self.variant.sites;
        let (Some(site), Some(other)) = (sites.get(asked.number), sites.get(before.site as usize)) else { return };
        let ids = (before.group != group.number).then(|| self.ids(before.group));
        let item = self.item(before.item, ids.unwrap_or(asked.group));
        self.tell(site, asked, Fault::Race { other, item, group: ids });
    }

    /// The ids of a group by its number and one more.
    fn ids(&self, number: u32) -> [u32; 3] {
        let [width, height, _] = self.common.num_groups.map(|count| count.max(1));
        let number = number.wrapping_sub(1);
        [number % width, number / width % height, number / width / height]
    }

    /// The memory object that has bytes, if it is known what was written of it: where it begins, and that.
    fn written_at(&self, start: u64, end: u64) -> Option<(u64, &Written)> {
        let index = self.written.partition_point(|(first, ..)| *first <= start);
        let (first, behind, written) = self.written.get(index.checked_sub(1)?)?;
        (end <= *behind).then(|| (*first, &**written))
    }
}

/// What of the memory that groups share the sites of a kernel may write; `None` where that may be all of it.
fn stored(sites: &[AccessSite], args: &[Bounds]) -> Option<Vec<(u64, u64)>> {
    let mut stored = Vec::new();
    for site in sites.iter().filter(|site| site.access.writes()) {
        match &site.object {
            Object::Argument(index) => match *args.get(*index as usize)? {
                Bounds::Range(start, end) => stored.push((start, end)),
                // Local memory, or bytes of the launch's own.
                Bounds::Size(_) => {}
                Bounds::Open => return None,
            },
            Object::Variable { space: Space::Private | Space::Local, .. } => {}
            Object::Variable { .. } | Object::Any => return None,
        }
    }
    stored.sort_unstable();
    stored.dedup();
    Some(stored)
}

/// What memory holds.
fn bytes_at(address: u64, size: u64) -> SmallVec<[u8; 16]> {
    let byte = |at: u64| {
        let place = std::ptr::with_exposed_provenance_mut::<u8>(at as usize);
        // SAFETY: a kernel that was allowed to touch these bytes touches them now. Threads that do so at once are the race that is looked for: each byte is read by itself.
        unsafe { AtomicU8::from_ptr(place) }.load(Ordering::Relaxed)
    };
    (address..address + size).map(byte).collect()
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

/// What generated code calls: see `LaunchContext::check` of `wgcl_compiler::vectorize::abi`.
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
        assert!(ranges.meet(90, 101) && ranges.meet(249, 290) && ranges.meet(310, 311));
        assert!(!ranges.meet(90, 100) && !ranges.meet(250, 300) && !ranges.meet(420, 500));
    }
}
