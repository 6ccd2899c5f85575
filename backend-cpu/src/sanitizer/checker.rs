//! Checks the accesses of a dispatch.
//!
//! The bounds of an access are those of the argument or variable that its pointer was computed from. A pointer of
//! unknown origin may point to any memory object or variable. If an argument is an address, a pointer of unknown origin
//! may be any address. An access outside of its bounds is [reported](super::report) and redirected: loads read zeros;
//! stores and atomic operations access scratch memory.
//!
//! An access within its bounds is also reported if it is misaligned, loads [uninitialised](crate::memory::initialized)
//! bytes, stores to read-only memory, or is a data race. A data race consists of two accesses by different work-items
//! to the same bytes ([`shadow_memory`](super::shadow_memory)). At least one of them is a store, and no [happens-before
//! relation](super::happens_before) orders them.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, AtomicU32, Ordering};

use parking_lot::Mutex;
use smallvec::SmallVec;
use wgcl_api::backend::{BackendError, BackendResult, Launch, LaunchArg, MemoryRange};
use wgcl_api::host_commands::downcast;
use wgcl_api::options::Options;
use wgcl_compiler::ir::Space;
use wgcl_compiler::project::internal_error;
use wgcl_compiler::vectorize::sanitize::{Access, AccessSite, Object};

use super::happens_before::{Divergence, GroupState, PossibleRace, RunningGroup, SyncCounters, with_current_group};
use super::report::{Fault, Finding, NULL_END, Reports};
use super::request::AccessRequest;
use super::shadow_memory::{AccessRecord, AccessedBytes, Conflict, SharedShadow};
use crate::memory::address_range::AddressRange;
use crate::memory::host_allocation::HostAllocation;
use crate::memory::initialized::InitializedBytes;
use crate::memory::{CpuMemory, MemoryObject};
use crate::ndrange::Region;

/// Maximum number of groups in a launch for which each group has a counter of synchronisation operations.
const MAX_COUNTED_GROUPS: usize = 1 << 22;

/// The memory that an argument points to.
#[derive(Clone, Copy, Debug)]
enum Bounds {
    Range(AddressRange),
    /// The size in bytes. The range starts at the address that the kernel receives.
    Size(u64),
    /// Memory of the application of unknown size.
    Unknown,
}

/// Disjoint address ranges in ascending order. Adjacent ranges are not merged, because they are different objects.
#[derive(Debug)]
struct RangeSet(Vec<AddressRange>);

impl RangeSet {
    fn of(mut ranges: Vec<AddressRange>) -> Self {
        ranges.sort_unstable();
        let mut merged: Vec<AddressRange> = Vec::with_capacity(ranges.len());
        for range in ranges {
            match merged.last_mut() {
                Some(last) if range.start < last.end => last.end = last.end.max(range.end),
                _ => merged.push(range),
            }
        }
        Self(merged)
    }

    /// Whether one of the ranges contains `range`.
    fn contains(&self, range: AddressRange) -> bool {
        let index = self.0.partition_point(|known| known.start <= range.start);
        index.checked_sub(1).and_then(|index| self.0.get(index)).is_some_and(|known| range.end <= known.end)
    }

    /// Whether one of the ranges overlaps `range`.
    fn overlaps(&self, range: AddressRange) -> bool {
        let index = self.0.partition_point(|known| known.end <= range.start);
        self.0.get(index).is_some_and(|known| known.start < range.end)
    }
}

/// The state that all dispatches of a launch share.
#[derive(Debug)]
pub(crate) struct LaunchState {
    shadow: SharedShadow,
    /// Number of atomic operations and fences of each group. Empty if there are too many groups.
    group_syncs: Vec<AtomicU32>,
    num_groups: [u32; 3],
}

impl LaunchState {
    /// Creates the state of a launch with `num_groups` groups in each dimension.
    pub(crate) fn new(num_groups: [u32; 3]) -> Self {
        let count = num_groups.iter().fold(1_usize, |product, &count| product.saturating_mul(count as usize));
        let count = if count > MAX_COUNTED_GROUPS { 0 } else { count };
        Self { shadow: SharedShadow::new(), group_syncs: (0..count).map(|_| AtomicU32::new(0)).collect(), num_groups }
    }

    /// The number of a group: its linear id plus 1.
    fn group_number(&self, id: [u32; 3]) -> u32 {
        let [x, y, z] = id;
        let [width, height, _] = self.num_groups;
        x.wrapping_add(width.wrapping_mul(y.wrapping_add(height.wrapping_mul(z)))).wrapping_add(1)
    }

    /// The id of the group with a number.
    fn group_id(&self, number: u32) -> [u32; 3] {
        let [width, height, _] = self.num_groups.map(|count| count.max(1));
        let linear = number.wrapping_sub(1);
        [linear % width, linear / width % height, linear / width / height]
    }

    /// The counter of the group with a number.
    fn syncs_of(&self, number: u32) -> Option<&AtomicU32> {
        (number as usize).checked_sub(1).and_then(|index| self.group_syncs.get(index))
    }
}

/// A dispatch to check.
pub(crate) struct CheckedDispatch<'a> {
    pub(crate) launch: &'a Launch,
    pub(crate) region: &'a Region,
    /// The access sites of the kernel variant.
    pub(crate) sites: Arc<[AccessSite]>,
    /// Bytes of a thread's arena.
    pub(crate) arena_size: u64,
    /// The constants and variables of the program, and the argument block.
    pub(crate) memory: Vec<AddressRange>,
    /// The memory objects of the device.
    pub(crate) objects: Vec<MemoryObject>,
    pub(crate) state: Arc<LaunchState>,
    pub(crate) reports: Arc<Reports>,
}

/// Checks the accesses of a dispatch.
#[derive(Debug)]
pub(crate) struct Checker {
    kernel: Arc<str>,
    sites: Arc<[AccessSite]>,
    arena_size: u64,
    args: Vec<Bounds>,
    /// For each argument, whether it is a buffer that kernels may only read.
    read_only: Vec<bool>,
    /// All memory that the kernel may access, except for the arena.
    memory: RangeSet,
    /// The memory objects with a record of their initialised bytes, in ascending order of addresses.
    tracked: Vec<(AddressRange, Arc<InitializedBytes>)>,
    /// The global memory that the kernel may store to; `None` if unknown. Accesses to other global memory cannot race.
    stored: Option<RangeSet>,
    /// Whether an argument points to application memory of unknown size.
    has_unknown_bounds: bool,
    region: Region,
    offset: [u64; 3],
    /// The memory that redirected loads read.
    zeros: HostAllocation,
    /// The memory that redirected stores and atomic operations access.
    scratch: HostAllocation,
    state: Arc<LaunchState>,
    reports: Arc<Reports>,
    /// Whether every finding fails the launch. If not, only out-of-bounds accesses do.
    fatal: bool,
    /// The first finding that fails the launch.
    failure: Mutex<Option<String>>,
}

impl Checker {
    /// Creates a checker for a dispatch.
    ///
    /// # Errors
    /// Fails if there is not enough memory.
    pub(crate) fn new(dispatch: CheckedDispatch<'_>) -> BackendResult<Self> {
        let CheckedDispatch { launch, region, sites, arena_size, mut memory, objects, state, reports } = dispatch;
        memory.extend(objects.iter().map(|object| object.range));
        let mut tracked: Vec<_> = objects.into_iter().filter_map(|object| Some((object.range, object.initialized?))).collect();
        tracked.sort_unstable_by_key(|(range, _)| range.start);
        let largest = sites.iter().map(|site| site.size).max().unwrap_or(0);
        let zeroed = || -> BackendResult<HostAllocation> {
            let mut allocation = HostAllocation::new(largest.into()).ok_or(BackendError::OutOfHostMemory)?;
            allocation.bytes_mut().fill(0);
            Ok(allocation)
        };
        let args: Vec<Bounds> = launch.args.iter().map(bounds).collect::<BackendResult<_>>()?;
        Ok(Self {
            kernel: Arc::clone(&launch.kernel),
            read_only: launch.args.iter().map(|arg| matches!(arg, LaunchArg::Buffer(Some(range)) if range.read_only)).collect(),
            stored: stored(&sites, &args).map(RangeSet::of),
            sites,
            arena_size,
            args,
            memory: RangeSet::of(memory),
            tracked,
            has_unknown_bounds: launch.args.iter().any(|arg| matches!(arg, LaunchArg::Address(_))),
            region: *region,
            offset: launch.global_offset,
            zeros: zeroed()?,
            scratch: zeroed()?,
            state,
            reports,
            fatal: Options::get().fails_on_findings(),
            failure: Mutex::new(None),
        })
    }

    /// The address that generated code passes to [`check_access`].
    pub(crate) fn address(&self) -> u64 {
        std::ptr::from_ref(self).expose_provenance() as u64
    }

    /// Returns an error if a finding fails the launch.
    pub(crate) fn result(&self) -> BackendResult<()> {
        self.failure.lock().take().map_or(Ok(()), |message| Err(BackendError::Other(message)))
    }

    /// The memory that a pointer may access; `None` if its origin or the size of the memory is unknown.
    fn bounds_of(&self, site: &AccessSite, base: u64) -> Option<AddressRange> {
        let sized = |size: u64| AddressRange { start: base, end: base + size };
        match site.object {
            Object::Argument(index) => match *self.args.get(index as usize)? {
                Bounds::Range(range) => Some(range),
                Bounds::Size(size) => Some(sized(size)),
                Bounds::Unknown => None,
            },
            Object::Variable { size, .. } => Some(sized(size.into())),
            Object::Any => None,
        }
    }

    fn is_in_bounds(&self, site: &AccessSite, request: AccessRequest) -> bool {
        let AccessRequest { address, base, .. } = request;
        let Some(end) = address.checked_add(site.size.into()) else { return false };
        let bytes = AddressRange { start: address, end };
        match self.bounds_of(site, base) {
            Some(bounds) => bounds.contains(bytes),
            None if self.has_unknown_bounds => address >= NULL_END,
            // For a pointer of unknown origin, the base is the address of the arena.
            None => {
                let arena = AddressRange { start: base, end: base + self.arena_size };
                matches!(site.object, Object::Any) && arena.contains(bytes) || self.memory.contains(bytes)
            }
        }
    }

    /// The global id of a work-item.
    fn global_id(&self, local_id: u32, group_id: [u32; 3]) -> [u64; 3] {
        let [x, y, _] = self.region.local_size.map(|size| size.max(1));
        let local = [local_id % x, local_id / x % y, local_id / x / y];
        std::array::from_fn(|dimension| {
            let first = u64::from(group_id[dimension]) * u64::from(self.region.enqueued_local_size[dimension]);
            self.offset[dimension] + first + u64::from(local[dimension])
        })
    }

    fn report(&self, site: &AccessSite, request: AccessRequest, fault: Fault<'_>) {
        let AccessRequest { address, base, site: site_index, local_id, group_id } = request;
        // Offsets in the message are relative to the pointer that the kernel receives.
        let known = if site.access.accesses_memory() { self.bounds_of(site, base) } else { None };
        let bounds = known.filter(|bounds| bounds.end != 0).map(|bounds| AddressRange { start: base, ..bounds });
        let fails = self.fatal || matches!(fault, Fault::OutOfBounds);
        let item = self.global_id(local_id, group_id);
        let finding = Finding { kernel: &self.kernel, site, site_index, address, bounds, item, group: group_id, fault };
        let message = self.reports.report(&finding);
        if fails {
            self.failure.lock().get_or_insert(message);
        }
    }

    fn report_divergence(&self, divergence: Divergence, group: RunningGroup) {
        let Divergence { site: number, arrived, absent } = divergence;
        let Some(site) = self.sites.get(number) else { return };
        let request = AccessRequest { address: 0, base: 0, site: number, local_id: absent, group_id: group.id };
        self.report(site, request, Fault::Divergence { arrived, of: group.items });
    }

    /// Reports the collective operations and copies that some work-items did not reach, and the copies without a wait.
    fn report_end(&self, group: &mut GroupState) {
        let running = group.running();
        for divergence in group.uneven() {
            self.report_divergence(divergence, running);
        }
        for (number, item) in group.never_waited_for() {
            let Some(site) = self.sites.get(number) else { continue };
            let request = AccessRequest { address: 0, base: 0, site: number, local_id: item, group_id: running.id };
            self.report(site, request, Fault::NeverWaitedFor);
        }
    }

    /// Handles a barrier, a collective operation, a fence, or the start or end of a group.
    fn record_event(&self, group: &mut GroupState, site: &AccessSite, request: AccessRequest) {
        let AccessRequest { address, base, site: number, local_id, group_id } = request;
        let before = group.running();
        let divergence = match site.access {
            Access::Begin => {
                let (items, local_memory) = (base & 0xffff_ffff, base >> 32);
                group.begin(RunningGroup {
                    number: self.state.group_number(group_id),
                    id: group_id,
                    arena: AddressRange { start: address, end: address + self.arena_size },
                    private: address + local_memory,
                    items: items as u32,
                });
                None
            }
            Access::End => {
                self.report_end(group);
                group.end()
            }
            Access::Barrier { .. } => group.arrive(number, local_id, site.access),
            Access::Collective => {
                group.synchronise_all();
                None
            }
            _ => {
                self.synchronise(group, local_id);
                None
            }
        };
        if let Some(divergence) = divergence {
            self.report_divergence(divergence, before);
        }
    }

    fn synchronise(&self, group: &mut GroupState, local_id: u32) {
        group.synchronise(local_id);
        if let Some(count) = self.state.syncs_of(group.running().number) {
            count.fetch_add(1, Ordering::Relaxed);
        }
    }

    /// Handles a call of generated code. Returns the address that the code must access.
    fn handle(&self, request: AccessRequest) -> u64 {
        let Some(site) = self.sites.get(request.site) else { return request.address };
        // A panic must not unwind through generated code.
        let answer = catch_unwind(AssertUnwindSafe(|| with_current_group(|group| self.check(group, site, request))));
        answer.unwrap_or_else(|_| {
            self.failure.lock().get_or_insert_with(|| internal_error("the sanitizer panicked"));
            self.redirected(site)
        })
    }

    /// The address that a redirected access uses.
    fn redirected(&self, site: &AccessSite) -> u64 {
        let allocation = if site.access.writes() { &self.scratch } else { &self.zeros };
        allocation.address() as u64
    }

    fn check(&self, group: &mut GroupState, site: &AccessSite, request: AccessRequest) -> u64 {
        if let Some(PossibleRace { request, earlier, conflict, bytes }) = group.possible_race.take()
            && bytes_at(AddressRange { start: request.address, end: request.address + bytes.len() as u64 }) != bytes
        {
            self.report_conflict(group, request, &earlier, conflict);
        }
        let address = request.address;
        if site.access == Access::CopyBegin {
            return group.begin_copy(request.site, request.local_id, address as u32).into();
        }
        if !site.access.accesses_memory() {
            self.check_value_or_event(group, site, request);
            return address;
        }
        if !self.is_in_bounds(site, request) {
            self.report(site, request, Fault::OutOfBounds);
            return self.redirected(site);
        }
        if !address.is_multiple_of(u64::from(site.align.max(1))) {
            self.report(site, request, Fault::Misaligned);
        }
        let is_read_only = |index: &u32| self.read_only.get(*index as usize).is_some_and(|only| *only);
        if site.access.writes() && matches!(&site.object, Object::Argument(index) if is_read_only(index)) {
            self.report(site, request, Fault::ReadOnly);
        }
        if site.access.is_atomic() {
            self.synchronise(group, request.local_id);
        }
        self.record(group, site, request);
        address
    }

    /// Handles a call that is not an access.
    fn check_value_or_event(&self, group: &mut GroupState, site: &AccessSite, request: AccessRequest) {
        let AccessRequest { address, base, .. } = request;
        let component = |number: u64| u8::try_from(number).ok().and_then(|number| number.checked_sub(1));
        match site.access {
            Access::Divide if address == 0 => self.report(site, request, Fault::DivisionByZero),
            Access::Divide => {}
            Access::NanOperand => group.operands.push(f64::from_bits(address)),
            Access::Nan => {
                let operands = std::mem::take(&mut group.operands);
                if !operands.iter().any(|operand| operand.is_nan()) {
                    self.report(site, request, Fault::NanProduced { operands: &operands, component: component(address) });
                }
            }
            Access::Conversion { to, signed } => {
                let value = f64::from_bits(address);
                self.report(site, request, Fault::ConversionOutOfRange { value, to, signed, component: component(base) });
            }
            Access::Undefined(what) => self.report(site, request, Fault::Undefined(what)),
            Access::CopyEnd => group.end_copy(request.local_id),
            Access::CopyWait => group.wait_for_copies(request.site, request.local_id, address as u32),
            Access::Reach => group.reach(request.site, request.local_id),
            _ => self.record_event(group, site, request),
        }
    }

    /// Records an access in the shadow memory. Reports loads of uninitialised bytes and data races.
    fn record(&self, group: &mut GroupState, site: &AccessSite, request: AccessRequest) {
        let bytes = AddressRange { start: request.address, end: request.address + u64::from(site.size) };
        let running = group.running();
        let is_own = running.arena.contains(bytes);
        let is_private = is_own && bytes.start >= running.private;
        let tracked = if is_own { None } else { self.tracked_at(bytes) };
        let was_written = match tracked {
            _ if !site.access.uses_value() => true,
            _ if is_private => group.shadow.is_written(bytes, |by| (by.group, by.item) == (running.number, request.local_id)),
            _ if is_own => group.shadow.is_written(bytes, |by| by.group == running.number),
            Some((first, initialized)) => initialized.is_initialized(bytes.start - first, bytes.end - first),
            None => true,
        };
        if !was_written {
            self.report(site, request, Fault::Uninitialized);
        }
        if let Some((first, initialized)) = tracked.filter(|_| site.access.writes()) {
            initialized.mark(bytes.start - first, bytes.end - first);
        }
        if !is_own && self.stored.as_ref().is_some_and(|stored| !stored.overlaps(bytes)) {
            return;
        }
        let progress = group.progress(request.local_id);
        let now = AccessRecord {
            group: running.number,
            item: request.local_id,
            epoch: if is_own { progress.local_barriers } else { progress.global_barriers },
            item_syncs: progress.syncs,
            group_syncs: self.state.syncs_of(running.number).map_or(u32::MAX, |count| count.load(Ordering::Relaxed)),
            site: request.site as u32,
            atomic: site.access.is_atomic() || site.volatile,
            copy: group.copies_of(request.local_id).last,
            is_copy: group.copies_of(request.local_id).is_copying,
        };
        let accessed = AccessedBytes { range: bytes, writes: site.access.writes() };
        let counters = SyncCounters { items: &group.items, copies: &group.copies, groups: &self.state.group_syncs };
        let earlier = if is_own {
            group.shadow.record(accessed, &now, &counters, usize::MAX)
        } else {
            self.state.shadow.record(accessed, &now, &counters)
        };
        // In a kernel without barriers, the private variables of all work-items of a group have the same addresses.
        // Accesses to private variables are therefore not reported as data races.
        let Some(earlier) = earlier.filter(|_| !is_private) else { return };
        let is_store = |site: &AccessSite| site.access == Access::Store;
        let conflict = Conflict::of(&earlier, &now, &counters);
        if is_store(site) && self.sites.get(earlier.site as usize).is_some_and(is_store) {
            group.possible_race = Some(PossibleRace { request, earlier, conflict, bytes: bytes_at(bytes) });
        } else {
            self.report_conflict(group, request, &earlier, conflict);
        }
    }

    fn report_conflict(&self, group: &GroupState, request: AccessRequest, earlier: &AccessRecord, conflict: Conflict) {
        let (Some(site), Some(other)) = (self.sites.get(request.site), self.sites.get(earlier.site as usize)) else { return };
        let other_group = (earlier.group != group.running().number).then(|| self.state.group_id(earlier.group));
        let item = self.global_id(earlier.item, other_group.unwrap_or(request.group_id));
        let fault = match conflict {
            Conflict::Race => Fault::Race { other, item, group: other_group },
            Conflict::EarlierCopy => Fault::UnfinishedCopy { other, item: None },
            Conflict::LaterCopy => Fault::UnfinishedCopy { other, item: Some(item) },
        };
        self.report(site, request, fault);
    }

    /// The address and the initialised bytes of the memory object that contains `bytes`, if they are known.
    fn tracked_at(&self, bytes: AddressRange) -> Option<(u64, &InitializedBytes)> {
        let index = self.tracked.partition_point(|(object, _)| object.start <= bytes.start);
        let (object, initialized) = self.tracked.get(index.checked_sub(1)?)?;
        (bytes.end <= object.end).then(|| (object.start, &**initialized))
    }
}

/// The global memory that a kernel may store to; `None` if unknown.
fn stored(sites: &[AccessSite], args: &[Bounds]) -> Option<Vec<AddressRange>> {
    let mut stored = Vec::new();
    for site in sites.iter().filter(|site| site.access.writes()) {
        match &site.object {
            Object::Argument(index) => match *args.get(*index as usize)? {
                Bounds::Range(range) => stored.push(range),
                // Local memory, or bytes in the argument block.
                Bounds::Size(_) => {}
                Bounds::Unknown => return None,
            },
            Object::Variable { space: Space::Private | Space::Local, .. } => {}
            Object::Variable { .. } | Object::Any => return None,
        }
    }
    stored.sort_unstable();
    stored.dedup();
    Some(stored)
}

/// Reads the contents of memory.
fn bytes_at(range: AddressRange) -> SmallVec<[u8; 16]> {
    let byte = |address: u64| {
        let pointer = std::ptr::with_exposed_provenance_mut::<u8>(address as usize);
        // SAFETY: the kernel is allowed to access these bytes. Another thread may write them at the same time, which is
        // the data race to detect. Therefore, each byte is read atomically.
        unsafe { AtomicU8::from_ptr(pointer) }.load(Ordering::Relaxed)
    };
    (range.start..range.end).map(byte).collect()
}

fn bounds(arg: &LaunchArg) -> BackendResult<Bounds> {
    Ok(match arg {
        // An access may exceed the upper end of a sub-buffer, up to the end of its parent buffer.
        LaunchArg::Buffer(Some(range)) | LaunchArg::Image(range, _) => {
            let MemoryRange { memory, offset, .. } = range;
            let start = downcast::<CpuMemory>(memory)?.address();
            Bounds::Range(AddressRange { start: start + offset, end: start + memory.size() })
        }
        LaunchArg::Buffer(None) => Bounds::Range(AddressRange { start: 0, end: 0 }),
        LaunchArg::Address(_) => Bounds::Unknown,
        LaunchArg::Local(bytes) => Bounds::Size(u64::from(*bytes)),
        LaunchArg::Value(bytes) => Bounds::Size(bytes.len() as u64),
    })
}

generated_code_abi! {
    /// The function that generated code calls: see `LaunchContext::check` of `wgcl_compiler::vectorize::abi`.
    pub(crate) fn check_access(
        checker: *const Checker,
        address: u64,
        base: u64,
        site_and_item: u64,
        group_xy: u64,
        group_z: u64,
    ) -> u64 {
        // SAFETY: generated code passes the address from the context of its launch, which keeps the checker until the
        // code returns.
        let checker = unsafe { &*checker };
        let halves = |pair: u64| (pair as u32, (pair >> 32) as u32);
        let ((site, local_id), (x, y)) = (halves(site_and_item), halves(group_xy));
        checker.handle(AccessRequest { address, base, site: site as usize, local_id, group_id: [x, y, group_z as u32] })
    }
}

#[cfg(test)]
mod tests {
    use super::RangeSet;
    use crate::memory::address_range::AddressRange;

    fn range(start: u64, end: u64) -> AddressRange {
        AddressRange { start, end }
    }

    #[test]
    fn accesses_within_one_object_are_allowed() {
        let ranges = [(300, 400), (100, 200), (200, 250), (320, 420), (150, 180)];
        let ranges = RangeSet::of(ranges.map(|(start, end)| range(start, end)).to_vec());
        for (start, end) in [(100, 200), (199, 200), (200, 250), (300, 420), (390, 410)] {
            assert!(ranges.contains(range(start, end)), "{start}..{end}");
        }
        // Adjacent ranges are two objects.
        for (start, end) in [(99, 100), (100, 201), (199, 201), (250, 251), (299, 301), (419, 421), (u64::MAX - 1, u64::MAX)] {
            assert!(!ranges.contains(range(start, end)), "{start}..{end}");
        }
        assert!(!RangeSet::of(Vec::new()).contains(range(0, 0)));
        for (start, end) in [(90, 101), (249, 290), (310, 311)] {
            assert!(ranges.overlaps(range(start, end)), "{start}..{end}");
        }
        for (start, end) in [(90, 100), (250, 300), (420, 500)] {
            assert!(!ranges.overlaps(range(start, end)), "{start}..{end}");
        }
    }
}
