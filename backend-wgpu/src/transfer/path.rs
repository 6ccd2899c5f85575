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
    /// Little, and it waits for nothing.
    Little,
    /// It may wait for the device, or for the compiler, or moves many bytes.
    Much,
}

impl Effort {
    pub(crate) const fn little_if(little: bool) -> Self {
        if little { Self::Little } else { Self::Much }
    }
}

/// The way that a command goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Route {
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
    Fetched,
    /// Through the rings of staging memory, piece by piece; the host waits for what comes down.
    Ring(Effort),
    /// The device moves the bytes in its memory, by commands or by kernels of our own ([`DeviceCopy`]).
    Device(Effort),
}

impl Route {
    /// Whether the thread that enqueues may take the command itself.
    pub(crate) fn is_quick(self) -> bool {
        match self {
            Self::Nothing | Self::Pinned | Self::Fetched => true,
            Self::Host => false,
            Self::Launch(effort) | Self::Mapped(effort) | Self::Window(effort) | Self::Ring(effort) | Self::Device(effort) => {
                effort == Effort::Little
            }
        }
    }
}

/// What a transfer does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
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
pub(crate) struct Facts {
    pub(crate) kind: Kind,
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
    pub(crate) fetchable: bool,
    /// Of a copy: everything is a multiple of [`WORD`].
    pub(crate) aligned: bool,
    /// Bytes that the host reads across the bus sooner than the device hands them over.
    pub(crate) window_reads: u64,
}

/// The way of a transfer's bytes.
pub(crate) fn route(facts: &Facts) -> Route {
    let Facts { kind, bytes, mapped, window, busy, pinned, fetchable, aligned, window_reads } = *facts;
    let few = bytes <= QUICK_BYTES;
    let (effort, at_once) = (Effort::little_if(few), Effort::little_if(few && !busy));
    if bytes == 0 {
        return Route::Nothing;
    }
    match kind {
        Kind::Write if mapped => Route::Mapped(at_once),
        // The host's stores across the bus are slower than the device's copy, unless they are few.
        Kind::Write if pinned && !(few && window && !busy) => Route::Pinned,
        Kind::Write if window && !busy => Route::Window(effort),
        Kind::Write => Route::Ring(effort),
        Kind::Read if mapped => Route::Mapped(at_once),
        Kind::Read if window && !busy && bytes <= window_reads => Route::Window(effort),
        Kind::Read if pinned => Route::Pinned,
        Kind::Read if fetchable => Route::Fetched,
        Kind::Read => Route::Ring(Effort::Much),
        // Bytes that are not words would take a kernel.
        Kind::Copy if mapped && (!busy || !aligned) => Route::Mapped(at_once),
        Kind::Fill if mapped && (!busy || bytes >= HOST_FILL) => Route::Mapped(at_once),
        Kind::Copy | Kind::Fill => Route::Device(effort),
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

    use super::{DeviceCopy, Effort, Facts, Kind, QUICK_BYTES, Route, device_copy, route};

    const LITTLE: Effort = Effort::Little;
    const MUCH: Effort = Effort::Much;
    const FEW: u64 = 4096;
    const MANY: u64 = 1 << 20;

    const FACTS: Facts = Facts {
        kind: Kind::Write,
        bytes: FEW,
        mapped: false,
        window: false,
        busy: false,
        pinned: false,
        fetchable: false,
        aligned: true,
        window_reads: 8 << 10,
    };

    #[test]
    fn writes() {
        // Mapped, window, busy, pinned; few bytes and many.
        let table = [
            ([true, false, false, false], Route::Mapped(LITTLE), Route::Mapped(MUCH)),
            ([true, false, true, false], Route::Mapped(MUCH), Route::Mapped(MUCH)),
            ([false, true, false, false], Route::Window(LITTLE), Route::Window(MUCH)),
            ([false, true, true, false], Route::Ring(LITTLE), Route::Ring(MUCH)),
            ([false, true, false, true], Route::Window(LITTLE), Route::Pinned),
            ([false, true, true, true], Route::Pinned, Route::Pinned),
            ([false, false, false, true], Route::Pinned, Route::Pinned),
            ([false, false, true, true], Route::Pinned, Route::Pinned),
            ([false, false, false, false], Route::Ring(LITTLE), Route::Ring(MUCH)),
            ([false, false, true, false], Route::Ring(LITTLE), Route::Ring(MUCH)),
        ];
        for ([mapped, window, busy, pinned], few, many) in table {
            for (bytes, wanted) in [(FEW, few), (QUICK_BYTES, few), (QUICK_BYTES + 1, many), (MANY, many), (0, Route::Nothing)] {
                let facts = Facts { bytes, mapped, window, busy, pinned, ..FACTS };
                assert_eq!(route(&facts), wanted, "{facts:?}");
            }
        }
    }

    #[test]
    fn reads() {
        // Mapped, window, busy, pinned, fetchable; few bytes and many.
        let table = [
            ([true, false, false, false, true], Route::Mapped(LITTLE), Route::Mapped(MUCH)),
            ([true, false, true, false, true], Route::Mapped(MUCH), Route::Mapped(MUCH)),
            ([false, true, false, false, true], Route::Window(LITTLE), Route::Fetched),
            ([false, true, false, false, false], Route::Window(LITTLE), Route::Ring(MUCH)),
            ([false, true, false, true, true], Route::Window(LITTLE), Route::Pinned),
            ([false, true, true, true, true], Route::Pinned, Route::Pinned),
            ([false, true, true, false, true], Route::Fetched, Route::Fetched),
            ([false, false, false, true, false], Route::Pinned, Route::Pinned),
            ([false, false, true, false, true], Route::Fetched, Route::Fetched),
            ([false, false, false, false, false], Route::Ring(MUCH), Route::Ring(MUCH)),
        ];
        for ([mapped, window, busy, pinned, fetchable], few, many) in table {
            for (bytes, wanted) in [(FEW, few), (MANY, many), (0, Route::Nothing)] {
                let facts = Facts { kind: Kind::Read, bytes, mapped, window, busy, pinned, fetchable, ..FACTS };
                assert_eq!(route(&facts), wanted, "{facts:?}");
            }
        }
        // Not so many that the device would have been sooner.
        let facts = Facts { kind: Kind::Read, bytes: (8 << 10) + 1, window: true, fetchable: true, ..FACTS };
        assert_eq!(route(&facts), Route::Fetched);
    }

    #[test]
    fn copies_and_fills() {
        // Mapped, busy, aligned; a copy, and a fill of few bytes.
        let table = [
            ([true, false, true], Route::Mapped(LITTLE), Route::Mapped(LITTLE)),
            ([true, false, false], Route::Mapped(LITTLE), Route::Mapped(LITTLE)),
            ([true, true, true], Route::Device(LITTLE), Route::Device(LITTLE)),
            ([true, true, false], Route::Mapped(MUCH), Route::Device(LITTLE)),
            ([false, true, true], Route::Device(LITTLE), Route::Device(LITTLE)),
            ([false, false, false], Route::Device(LITTLE), Route::Device(LITTLE)),
        ];
        for ([mapped, busy, aligned], copy, fill) in table {
            let facts = Facts { mapped, busy, aligned, ..FACTS };
            assert_eq!(route(&Facts { kind: Kind::Copy, ..facts }), copy, "{facts:?}");
            assert_eq!(route(&Facts { kind: Kind::Fill, ..facts }), fill, "{facts:?}");
        }
        // The host is worth waiting for.
        let facts = Facts { kind: Kind::Fill, bytes: MANY, mapped: true, busy: true, ..FACTS };
        assert_eq!(route(&facts), Route::Mapped(MUCH));
        assert_eq!(route(&Facts { mapped: false, ..facts }), Route::Device(MUCH));
    }

    #[test]
    fn only_what_waits_for_nothing_is_quick() {
        // A read that is fetched is only recorded, however long it is.
        let quick = [Route::Nothing, Route::Pinned, Route::Fetched, Route::Mapped(LITTLE), Route::Ring(LITTLE), Route::Launch(LITTLE)];
        let slow = [Route::Host, Route::Mapped(MUCH), Route::Window(MUCH), Route::Ring(MUCH), Route::Device(MUCH), Route::Launch(MUCH)];
        assert!(quick.into_iter().all(Route::is_quick) && !slow.into_iter().any(Route::is_quick));
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
