//! The memory model of the Arm architecture (Arm ARM, B2.3, and `aarch64.cat` of herdtools): which executions of given
//! threads are possible.
//!
//! A candidate execution chooses a write for each read (*reads from*), and an order of the writes to each cell
//! (*coherence*). It is possible if three axioms hold:
//! - internal: each cell has one order of accesses that agrees with program order
//! - atomic: no other write comes between the read and the write of an atomic operation
//! - external: *ordered before* has no cycle
//!
//! Instruction barriers, accesses of different sizes to one cell, and device memory are not modelled.

use std::collections::{BTreeMap, BTreeSet};

use super::event::{Barrier, Event, Kind, Trace};

/// The values of the written cells after all threads have ended. Other cells have the value 0.
pub(crate) type State = BTreeMap<u64, u64>;

/// Relations contain a row for each event: the set of events that follow it.
type Relation = Vec<u64>;

/// The events of all threads. The initial writes of cells that are read come first.
struct Execution {
    events: Vec<Event>,
    /// The thread of each event; `None` for initial writes.
    threads: Vec<Option<usize>>,
    /// The first event of each thread.
    starts: Vec<usize>,
    /// The part of *ordered before* that depends on program order alone.
    local: Relation,
}

impl Execution {
    fn new(traces: &[&Trace]) -> Self {
        let cells: BTreeSet<u64> =
            traces.iter().flat_map(|trace| trace.iter()).filter(|event| event.is_read()).map(|event| event.cell).collect();
        let mut events: Vec<Event> = cells.iter().map(|&cell| Event::new(Kind::Write, cell, 0)).collect();
        let mut threads = vec![None; events.len()];
        let mut starts = Vec::new();
        for (thread, trace) in traces.iter().enumerate() {
            starts.push(events.len());
            events.extend(trace.iter());
            threads.resize(events.len(), Some(thread));
        }
        assert!(events.len() <= 64, "{} events; the sets have 64 bits", events.len());
        let mut local = vec![0; events.len()];
        for (&start, trace) in starts.iter().zip(traces) {
            order_thread(&mut local, start, trace);
        }
        Self { events, threads, starts, local }
    }

    fn is_external(&self, a: usize, b: usize) -> bool {
        self.threads[a].is_none() || self.threads[a] != self.threads[b]
    }

    /// Returns the writes that each read can read from: those with its cell and value.
    fn sources(&self) -> Vec<(usize, Vec<usize>)> {
        let matches = |read: &Event, write: &Event| write.is_write() && (write.cell, write.value) == (read.cell, read.value);
        let of = |read: &Event| (0..self.events.len()).filter(|&at| matches(read, &self.events[at])).collect();
        self.events.iter().enumerate().filter(|(_, event)| event.is_read()).map(|(at, read)| (at, of(read))).collect()
    }

    /// Returns the writes of each written cell. An initial write comes first.
    fn writes(&self) -> Vec<Vec<usize>> {
        let mut cells: BTreeMap<u64, Vec<usize>> = BTreeMap::new();
        for (at, event) in self.events.iter().enumerate().filter(|(_, event)| event.is_write()) {
            cells.entry(event.cell).or_default().push(at);
        }
        cells.into_values().collect()
    }

    /// Whether the axioms hold. `from` has the source of each read, `orders` the coherence order of each cell.
    fn is_possible(&self, from: &[(usize, usize)], orders: &[&Vec<usize>]) -> bool {
        let mut position = vec![0; self.events.len()];
        orders.iter().flat_map(|order| order.iter().enumerate()).for_each(|(place, &write)| position[write] = place);
        // *From reads*: the writes that come after the source of a read.
        let overwrites = |source: usize, write: usize| {
            self.events[source].cell == self.events[write].cell && self.events[write].is_write() && position[write] > position[source]
        };
        let all = 0..self.events.len();
        let mut internal = vec![0u64; self.events.len()];
        let mut ordered = self.local.clone();
        let mut communicates = |a: usize, b: usize| {
            internal[a] |= 1 << b;
            if self.is_external(a, b) {
                ordered[a] |= 1 << b;
            }
        };
        for order in orders {
            order.iter().enumerate().for_each(|(place, &a)| order[place + 1..].iter().for_each(|&b| communicates(a, b)));
        }
        for &(read, source) in from {
            communicates(source, read);
            all.clone().filter(|&write| write != read && overwrites(source, write)).for_each(|write| communicates(read, write));
        }
        self.order_by_internal_reads(&mut ordered, from);
        self.order_by_internal_coherence(&mut ordered, orders);
        self.add_program_order(&mut internal);
        let atomic = from.iter().all(|&(read, source)| {
            let update = all.clone().find(|&write| self.update_of(write) == Some(read));
            update.is_none_or(|update| {
                let between = |write: usize| overwrites(source, write) && position[write] < position[update];
                position[source] < position[update] && !all.clone().any(|write| between(write) && self.is_external(write, update))
            })
        });
        atomic && is_acyclic(internal) && is_acyclic(ordered)
    }

    /// Returns the read of the atomic operation to which a write belongs.
    fn update_of(&self, write: usize) -> Option<usize> {
        Some(self.starts[self.threads[write]?] + self.events[write].updates?)
    }

    /// Adds the order of a read from a write of its own thread. The read comes after the reads on which the write
    /// depends. An acquire read from an atomic operation comes after the write.
    fn order_by_internal_reads(&self, ordered: &mut Relation, from: &[(usize, usize)]) {
        for &(read, write) in from {
            let Some(thread) = self.threads[write].filter(|_| !self.is_external(write, read)) else { continue };
            let event = &self.events[write];
            (0..64).filter(|at| (event.address | event.data) >> at & 1 == 1).for_each(|at| ordered[self.starts[thread] + at] |= 1 << read);
            if event.updates.is_some() && self.events[read].order.acquire {
                ordered[write] |= 1 << read;
            }
        }
    }

    /// Adds the order of accesses before a release write. They also come before writes of the same thread that follow
    /// the release write in coherence order.
    fn order_by_internal_coherence(&self, ordered: &mut Relation, orders: &[&Vec<usize>]) {
        for order in orders {
            for (place, &release) in order.iter().enumerate().filter(|(_, write)| self.events[**write].order.release) {
                for &later in order[place + 1..].iter().filter(|&&later| !self.is_external(release, later)) {
                    let earlier = (0..release).filter(|&at| self.threads[at] == self.threads[release] && self.events[at].is_access());
                    earlier.for_each(|at| ordered[at] |= 1 << later);
                }
            }
        }
    }

    /// Adds program order between the accesses of a thread to one cell.
    fn add_program_order(&self, relation: &mut Relation) {
        for (at, event) in self.events.iter().enumerate().filter(|(_, event)| event.is_access()) {
            let later = (at + 1..self.events.len()).filter(|&other| !self.is_external(at, other));
            let same = later.filter(|&other| self.events[other].is_access() && self.events[other].cell == event.cell);
            same.for_each(|other| relation[at] |= 1 << other);
        }
    }
}

/// Adds the order of a thread that does not depend on what its reads read: dependencies, barriers, acquire and release.
fn order_thread(ordered: &mut Relation, start: usize, trace: &Trace) {
    let mut add = |a: usize, b: usize| ordered[start + a] |= 1 << (start + b);
    for (at, event) in trace.iter().enumerate() {
        let mut before = event.address | event.data;
        if event.is_write() {
            before |= event.control | event.earlier_addresses;
        }
        (0..at).filter(|read| before >> read & 1 == 1).chain(event.updates).for_each(|read| add(read, at));
        for (earlier, other) in trace[..at].iter().enumerate().filter(|(_, other)| event.is_access() && other.is_access()) {
            let acquire = other.is_read() && other.order.acquire;
            let release = event.is_write() && event.order.release;
            let sequential = other.is_write() && other.order.release && event.order.acquire && !event.order.processor_consistent;
            let divided = trace[earlier + 1..at].iter().any(|barrier| divides(other, barrier, event));
            // The write of an atomic instruction comes directly after its read.
            let updated = trace[earlier + 1..at].iter().any(|write| write.fences && write.updates != Some(earlier));
            if acquire || release || sequential || divided || updated {
                add(earlier, at);
            }
        }
    }
}

/// Whether a barrier between two accesses orders them.
fn divides(earlier: &Event, barrier: &Event, later: &Event) -> bool {
    match barrier.kind {
        Kind::Barrier(Barrier::Full) => true,
        Kind::Barrier(Barrier::Load) => earlier.is_read(),
        Kind::Barrier(Barrier::Store) => earlier.is_write() && later.is_write(),
        Kind::Read | Kind::Write => false,
    }
}

fn is_acyclic(mut relation: Relation) -> bool {
    for middle in 0..relation.len() {
        let row = relation[middle];
        relation.iter_mut().filter(|other| **other >> middle & 1 == 1).for_each(|other| *other |= row);
    }
    relation.iter().enumerate().all(|(at, row)| row >> at & 1 == 0)
}

/// Returns all orders of the elements after the first `fixed`.
fn permutations(elements: &[usize], fixed: usize) -> Vec<Vec<usize>> {
    if fixed >= elements.len() {
        return vec![elements.to_vec()];
    }
    let swapped = |at: usize| {
        let mut elements = elements.to_vec();
        elements.swap(fixed, at);
        permutations(&elements, fixed + 1)
    };
    (fixed..elements.len()).flat_map(swapped).collect()
}

/// Calls `visit` with every choice of one element of each list.
fn each_choice<T>(lists: &[Vec<T>], visit: &mut dyn FnMut(&[&T])) {
    let mut places = vec![0; lists.len()];
    if lists.iter().any(Vec::is_empty) {
        return;
    }
    loop {
        let chosen: Vec<&T> = lists.iter().zip(&places).map(|(list, &place)| &list[place]).collect();
        visit(&chosen);
        let Some(next) = (0..lists.len()).find(|&at| places[at] + 1 < lists[at].len()) else { return };
        places[next] += 1;
        places[..next].fill(0);
    }
}

/// Adds the final states of all possible executions of threads with these traces.
fn add_states(traces: &[&Trace], states: &mut BTreeSet<State>) {
    let execution = Execution::new(traces);
    let sources = execution.sources();
    let lists: Vec<Vec<(usize, usize)>> =
        sources.into_iter().map(|(read, writes)| writes.into_iter().map(|write| (read, write)).collect()).collect();
    let is_initial = |write: usize| execution.threads[write].is_none();
    let orders: Vec<Vec<Vec<usize>>> =
        execution.writes().iter().map(|writes| permutations(writes, usize::from(is_initial(writes[0])))).collect();
    each_choice(&orders, &mut |orders| {
        let last = |order: &Vec<usize>| order.last().map(|&write| (execution.events[write].cell, execution.events[write].value));
        let state: State = orders.iter().filter_map(|order| last(order)).collect();
        if states.contains(&state) {
            return;
        }
        let mut found = false;
        each_choice(&lists, &mut |from| {
            found = found || execution.is_possible(&from.iter().map(|&&pair| pair).collect::<Vec<_>>(), orders);
        });
        if found {
            states.insert(state);
        }
    });
}

/// Returns the final states of all possible executions. `threads` has the traces of each thread: one for each choice of
/// the values that the thread reads.
pub(crate) fn final_states(threads: &[Vec<Trace>]) -> BTreeSet<State> {
    let mut states = BTreeSet::new();
    each_choice(threads, &mut |traces| {
        let written: BTreeSet<(u64, u64)> =
            traces.iter().flat_map(|trace| trace.iter()).filter(|event| event.is_write()).map(|event| (event.cell, event.value)).collect();
        let mut reads = traces.iter().flat_map(|trace| trace.iter()).filter(|event| event.is_read());
        if reads.all(|read| read.value == 0 || written.contains(&(read.cell, read.value))) {
            add_states(traces, &mut states);
        }
    });
    states
}
