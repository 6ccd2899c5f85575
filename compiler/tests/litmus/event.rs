//! The memory events of a thread, as the Arm architecture defines them.

/// A set of events of one thread. Bit `n` is event `n`.
pub(crate) type EventSet = u64;

/// The accesses that a barrier instruction orders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Barrier {
    /// `dmb ish`: all accesses.
    Full,
    /// `dmb ishld`: earlier reads before all later accesses.
    Load,
    /// `dmb ishst`: earlier writes before later writes.
    Store,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Kind {
    Read,
    Write,
    Barrier(Barrier),
}

/// The order of a read or write relative to the other accesses of its thread.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Order {
    /// Whether this is a read that is ordered before all later accesses.
    pub(crate) acquire: bool,
    /// Whether an acquire read can be ordered before an earlier release write to another place (`ldapr`).
    pub(crate) processor_consistent: bool,
    /// Whether this is a write that is ordered after all earlier accesses.
    pub(crate) release: bool,
}

/// A memory event. A barrier has no cell and no value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Event {
    pub(crate) kind: Kind,
    /// The address. All accesses to a cell have the same size.
    pub(crate) cell: u64,
    /// The value that is read or written.
    pub(crate) value: u64,
    pub(crate) order: Order,
    /// The read of the atomic operation to which this write belongs.
    pub(crate) updates: Option<usize>,
    /// Whether this is the write of a single instruction with acquire and release semantics, such as `swpal`. The
    /// instruction orders earlier accesses before later ones. The model does not order this write before later
    /// accesses.
    pub(crate) fences: bool,
    /// The reads on which the address depends.
    pub(crate) address: EventSet,
    /// The reads on which the written value depends.
    pub(crate) data: EventSet,
    /// The reads on which an earlier branch depends.
    pub(crate) control: EventSet,
    /// The reads on which the address of an earlier access depends.
    pub(crate) earlier_addresses: EventSet,
}

impl Event {
    pub(crate) const fn new(kind: Kind, cell: u64, value: u64) -> Self {
        let order = Order { acquire: false, processor_consistent: false, release: false };
        Self { kind, cell, value, order, updates: None, fences: false, address: 0, data: 0, control: 0, earlier_addresses: 0 }
    }

    pub(crate) fn is_read(&self) -> bool {
        self.kind == Kind::Read
    }

    pub(crate) fn is_write(&self) -> bool {
        self.kind == Kind::Write
    }

    pub(crate) fn is_access(&self) -> bool {
        self.is_read() || self.is_write()
    }
}

/// The events of a thread in program order.
pub(crate) type Trace = Vec<Event>;

/// Returns the trace of the same code without barriers, and without acquire and release semantics.
pub(crate) fn weakened(trace: &Trace) -> Trace {
    let kept: Vec<usize> = (0..trace.len()).filter(|&at| trace[at].is_access()).collect();
    let place = |at: usize| kept.iter().position(|&other| other == at);
    let moved = |set: EventSet| (0..trace.len()).filter(|at| set >> at & 1 == 1).filter_map(place).fold(0, |set, at| set | 1 << at);
    let weaker = |event: &Event| Event {
        order: Order::default(),
        fences: false,
        updates: event.updates.and_then(place),
        address: moved(event.address),
        data: moved(event.data),
        control: moved(event.control),
        earlier_addresses: moved(event.earlier_addresses),
        ..*event
    };
    kept.iter().map(|&at| weaker(&trace[at])).collect()
}
