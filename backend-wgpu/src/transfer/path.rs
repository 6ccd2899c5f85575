//! Which way the bytes of a transfer go: decided in one place, from facts, when a command is taken. Who performs it does as the route says and asks nothing again.

use wgcl_api::backend::CopyRegion;

/// Bytes of a transfer that the enqueuing thread does itself.
pub(crate) const QUICK_BYTES: u64 = 1 << 16;
/// Bytes from which on the host fills memory that it sees, even if it has to wait for the device first: it is several times quicker.
const HOST_FILL: u64 = 1 << 16;
/// wgpu's copies take multiples of this.
pub(crate) const WORD: u64 = 4;
/// A kernel's copies do, ...
pub(crate) const VECTOR: u64 = 16;
/// ... and are quicker from so many bytes on, in memory of the device's own.
const VECTOR_COPY: u64 = 1 << 18;

/// What a command costs the thread that takes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    /// Short, and it waits for nothing.
    Short,
    /// It may wait for the device, or for the compiler, or moves many bytes.
    Long,
}

impl Effort {
    pub(crate) const fn short_if(little: bool) -> Self {
        if little { Self::Short } else { Self::Long }
    }
}

/// The way that a command goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TransferPath {
    /// There is nothing to do but to take its turn.
    Nothing,
    /// A kernel's launch, or several commands.
    Launch(Effort),
    /// The host's own work, when everything before it is complete.
    Host,
    /// The host moves the bytes in memory that it sees all the time, once the device has done with them.
    Mapped(Effort),
    /// The host moves the bytes across the bus in the device's own memory, which nothing uses now.
    Window(Effort),
    /// The host's bytes are in memory that the device reaches: it copies them.
    Pinned,
    /// The device copies the bytes into memory from which they are taken when their batch is complete.
    Readback,
    /// Through the rings of staging memory, piece by piece; the host waits for what comes down.
    Ring(Effort),
    /// The device moves the bytes in its memory, by commands or by kernels of our own ([`DeviceCopy`]).
    Device(Effort),
}

impl TransferPath {
    /// Whether the thread that enqueues may take the command itself.
    pub(crate) fn is_quick(self) -> bool {
        match self {
            Self::Nothing | Self::Pinned | Self::Readback => true,
            Self::Host => false,
            Self::Launch(effort) | Self::Mapped(effort) | Self::Window(effort) | Self::Ring(effort) | Self::Device(effort) => {
                effort == Effort::Short
            }
        }
    }
}

/// What a transfer does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TransferKind {
    /// Host to device.
    Write,
    /// Device to host.
    Read,
    /// Device to device.
    Copy,
    /// A pattern into the device's memory.
    Fill,
}

/// What decides the way of a transfer's bytes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TransferFacts {
    pub(crate) kind: TransferKind,
    /// Bytes in all.
    pub(crate) bytes: u64,
    /// The host sees the device's memory all the time: of a copy both ends.
    pub(crate) mapped: bool,
    /// The host sees the device's memory across the bus.
    pub(crate) window: bool,
    /// A batch that is not known to be complete uses the memory in a way that this transfer must wait for.
    pub(crate) busy: bool,
    /// The host's bytes are in memory that the device reaches.
    pub(crate) pinned: bool,
    /// There is room for the bytes of a read that nobody waits for.
    pub(crate) has_readback_space: bool,
    /// Of a copy: everything is a multiple of [`WORD`].
    pub(crate) aligned: bool,
    /// Bytes that the host reads across the bus sooner than the device hands them over.
    pub(crate) window_reads: u64,
}

/// The way of a transfer's bytes.
pub(crate) fn route(facts: &TransferFacts) -> TransferPath {
    let TransferFacts { kind, bytes, mapped, window, busy, pinned, has_readback_space, aligned, window_reads } = *facts;
    let few = bytes <= QUICK_BYTES;
    let (effort, at_once) = (Effort::short_if(few), Effort::short_if(few && !busy));
    if bytes == 0 {
        return TransferPath::Nothing;
    }
    match kind {
        TransferKind::Write if mapped => TransferPath::Mapped(at_once),
        // The host's stores across the bus are slower than the device's copy, unless they are few.
        TransferKind::Write if pinned && !(few && window && !busy) => TransferPath::Pinned,
        TransferKind::Write if window && !busy => TransferPath::Window(effort),
        TransferKind::Write => TransferPath::Ring(effort),
        TransferKind::Read if mapped => TransferPath::Mapped(at_once),
        TransferKind::Read if window && !busy && bytes <= window_reads => TransferPath::Window(effort),
        TransferKind::Read if pinned => TransferPath::Pinned,
        TransferKind::Read if has_readback_space => TransferPath::Readback,
        TransferKind::Read => TransferPath::Ring(Effort::Long),
        // Bytes that are not words would take a kernel.
        TransferKind::Copy if mapped && (!busy || !aligned) => TransferPath::Mapped(at_once),
        TransferKind::Fill if mapped && (!busy || bytes >= HOST_FILL) => TransferPath::Mapped(at_once),
        TransferKind::Copy | TransferKind::Fill => TransferPath::Device(effort),
    }
}

/// How the device copies a piece.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeviceCopy {
    /// By a command.
    Words,
    /// By a kernel that moves vectors of 16 bytes.
    Vectors,
    /// By a kernel that moves bytes.
    Bytes,
}

/// How the device copies a piece, between two buffers if `apart`, from memory of its own if `own`.
pub(crate) fn device_copy(piece: CopyRegion, apart: bool, own: bool) -> DeviceCopy {
    let are_all = |unit: u64| [piece.buffer, piece.host, piece.size].iter().all(|number| number.is_multiple_of(unit));
    if !apart {
        // Commands may not copy within a buffer.
        DeviceCopy::Bytes
    } else if own && piece.size >= VECTOR_COPY && are_all(VECTOR) {
        DeviceCopy::Vectors
    } else if are_all(WORD) {
        DeviceCopy::Words
    } else {
        DeviceCopy::Bytes
    }
}

#[cfg(test)]
mod tests {
    use wgcl_api::backend::CopyRegion;

    use super::{DeviceCopy, Effort, QUICK_BYTES, TransferFacts, TransferKind, TransferPath, device_copy, route};

    const SHORT: Effort = Effort::Short;
    const LONG: Effort = Effort::Long;
    const FEW: u64 = 4096;
    const MANY: u64 = 1 << 20;

    const FACTS: TransferFacts = TransferFacts {
        kind: TransferKind::Write,
        bytes: FEW,
        mapped: false,
        window: false,
        busy: false,
        pinned: false,
        has_readback_space: false,
        aligned: true,
        window_reads: 8 << 10,
    };

    #[test]
    fn writes() {
        // Mapped, window, busy, pinned; few bytes and many.
        let table = [
            ([true, false, false, false], TransferPath::Mapped(SHORT), TransferPath::Mapped(LONG)),
            ([true, false, true, false], TransferPath::Mapped(LONG), TransferPath::Mapped(LONG)),
            ([false, true, false, false], TransferPath::Window(SHORT), TransferPath::Window(LONG)),
            ([false, true, true, false], TransferPath::Ring(SHORT), TransferPath::Ring(LONG)),
            ([false, true, false, true], TransferPath::Window(SHORT), TransferPath::Pinned),
            ([false, true, true, true], TransferPath::Pinned, TransferPath::Pinned),
            ([false, false, false, true], TransferPath::Pinned, TransferPath::Pinned),
            ([false, false, true, true], TransferPath::Pinned, TransferPath::Pinned),
            ([false, false, false, false], TransferPath::Ring(SHORT), TransferPath::Ring(LONG)),
            ([false, false, true, false], TransferPath::Ring(SHORT), TransferPath::Ring(LONG)),
        ];
        for ([mapped, window, busy, pinned], few, many) in table {
            for (bytes, wanted) in [(FEW, few), (QUICK_BYTES, few), (QUICK_BYTES + 1, many), (MANY, many), (0, TransferPath::Nothing)] {
                let facts = TransferFacts { bytes, mapped, window, busy, pinned, ..FACTS };
                assert_eq!(route(&facts), wanted, "{facts:?}");
            }
        }
    }

    #[test]
    fn reads() {
        // Mapped, window, busy, pinned, has_readback_space; few bytes and many.
        let table = [
            ([true, false, false, false, true], TransferPath::Mapped(SHORT), TransferPath::Mapped(LONG)),
            ([true, false, true, false, true], TransferPath::Mapped(LONG), TransferPath::Mapped(LONG)),
            ([false, true, false, false, true], TransferPath::Window(SHORT), TransferPath::Readback),
            ([false, true, false, false, false], TransferPath::Window(SHORT), TransferPath::Ring(LONG)),
            ([false, true, false, true, true], TransferPath::Window(SHORT), TransferPath::Pinned),
            ([false, true, true, true, true], TransferPath::Pinned, TransferPath::Pinned),
            ([false, true, true, false, true], TransferPath::Readback, TransferPath::Readback),
            ([false, false, false, true, false], TransferPath::Pinned, TransferPath::Pinned),
            ([false, false, true, false, true], TransferPath::Readback, TransferPath::Readback),
            ([false, false, false, false, false], TransferPath::Ring(LONG), TransferPath::Ring(LONG)),
        ];
        for ([mapped, window, busy, pinned, has_readback_space], few, many) in table {
            for (bytes, wanted) in [(FEW, few), (MANY, many), (0, TransferPath::Nothing)] {
                let facts = TransferFacts { kind: TransferKind::Read, bytes, mapped, window, busy, pinned, has_readback_space, ..FACTS };
                assert_eq!(route(&facts), wanted, "{facts:?}");
            }
        }
        // Not so many that the device would have been sooner.
        let facts = TransferFacts { kind: TransferKind::Read, bytes: (8 << 10) + 1, window: true, has_readback_space: true, ..FACTS };
        assert_eq!(route(&facts), TransferPath::Readback);
    }

    #[test]
    fn copies_and_fills() {
        // Mapped, busy, aligned; a copy, and a fill of few bytes.
        let table = [
            ([true, false, true], TransferPath::Mapped(SHORT), TransferPath::Mapped(SHORT)),
            ([true, false, false], TransferPath::Mapped(SHORT), TransferPath::Mapped(SHORT)),
            ([true, true, true], TransferPath::Device(SHORT), TransferPath::Device(SHORT)),
            ([true, true, false], TransferPath::Mapped(LONG), TransferPath::Device(SHORT)),
            ([false, true, true], TransferPath::Device(SHORT), TransferPath::Device(SHORT)),
            ([false, false, false], TransferPath::Device(SHORT), TransferPath::Device(SHORT)),
        ];
        for ([mapped, busy, aligned], copy, fill) in table {
            let facts = TransferFacts { mapped, busy, aligned, ..FACTS };
            assert_eq!(route(&TransferFacts { kind: TransferKind::Copy, ..facts }), copy, "{facts:?}");
            assert_eq!(route(&TransferFacts { kind: TransferKind::Fill, ..facts }), fill, "{facts:?}");
        }
        // The host is worth waiting for.
        let facts = TransferFacts { kind: TransferKind::Fill, bytes: MANY, mapped: true, busy: true, ..FACTS };
        assert_eq!(route(&facts), TransferPath::Mapped(LONG));
        assert_eq!(route(&TransferFacts { mapped: false, ..facts }), TransferPath::Device(LONG));
    }

    #[test]
    fn only_what_waits_for_nothing_is_quick() {
        // A read that is fetched is only recorded, however long it is.
        let quick = [
            TransferPath::Nothing,
            TransferPath::Pinned,
            TransferPath::Readback,
            TransferPath::Mapped(SHORT),
            TransferPath::Ring(SHORT),
            TransferPath::Launch(SHORT),
        ];
        let slow = [
            TransferPath::Host,
            TransferPath::Mapped(LONG),
            TransferPath::Window(LONG),
            TransferPath::Ring(LONG),
            TransferPath::Device(LONG),
            TransferPath::Launch(LONG),
        ];
        assert!(quick.into_iter().all(TransferPath::is_quick) && !slow.into_iter().any(TransferPath::is_quick));
    }

    #[test]
    fn pieces_go_by_the_largest_unit_that_divides_them() {
        let piece = |buffer, host, size| CopyRegion { buffer, host, size };
        let large = 1 << 20;
        assert_eq!(device_copy(piece(0, 16, large), true, true), DeviceCopy::Vectors);
        assert_eq!(device_copy(piece(0, 16, large), true, false), DeviceCopy::Words);
        assert_eq!(device_copy(piece(0, 8, large), true, true), DeviceCopy::Words);
        assert_eq!(device_copy(piece(0, 16, 64), true, true), DeviceCopy::Words);
        assert_eq!(device_copy(piece(1, 16, large), true, true), DeviceCopy::Bytes);
        assert_eq!(device_copy(piece(0, 16, large), false, true), DeviceCopy::Bytes);
    }
}
