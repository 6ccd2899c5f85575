//! Decides how the bytes of a transfer are moved. [`path_of`] is a pure function of facts that are collected when the
//! command is dequeued. The code that performs the transfer makes no such decision.

use wgcl_api::backend::CopyRegion;

use crate::buffer::WORD;

/// Maximum number of bytes that the enqueuing thread moves itself, unless it waits for the transfer.
pub(crate) const MAX_SHORT_BYTES: u64 = 1 << 16;
/// From this number of bytes on, the host fills mapped memory even if it must wait for the device first: a host fill is
/// several times faster than a device fill.
const HOST_FILL: u64 = 1 << 16;
/// Bytes per element of the vector copy kernel.
pub(crate) const VECTOR: u64 = 16;
/// From this number of bytes on, the vector copy kernel is faster than a copy command in device memory.
const VECTOR_COPY: u64 = 1 << 18;

/// How long a command occupies the thread that executes it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Effort {
    /// It takes little time and does not wait.
    Short,
    /// It may wait for the device or the compiler, or moves many bytes.
    Long,
}

impl Effort {
    pub(crate) const fn short_if(little: bool) -> Self {
        if little { Self::Short } else { Self::Long }
    }
}

/// How the bytes of a transfer are moved.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TransferPath {
    /// A transfer of no bytes.
    Nothing,
    /// The host copies to or from mapped memory once the device does not use it.
    Mapped(Effort),
    /// The host copies to or from host-visible device memory across the bus (the PCIe BAR). For a write, no incomplete
    /// batch uses the memory. For a read, no incomplete batch writes it.
    Bar(Effort),
    /// The device copies to or from host memory that it can access.
    Pinned,
    /// The device copies to staging memory. The host reads that memory when the batch is complete.
    Readback,
    /// The transfer uses the staging rings, in chunks. During a read, the host waits for each chunk.
    Staging(Effort),
    /// The device moves the bytes in its own memory, by commands or built-in kernels ([`DeviceCopy`]).
    Device(Effort),
}

impl TransferPath {
    /// Whether the enqueuing thread may perform the transfer itself.
    pub(crate) fn is_short(self) -> bool {
        match self {
            Self::Nothing | Self::Pinned | Self::Readback => true,
            Self::Mapped(effort) | Self::Bar(effort) | Self::Staging(effort) | Self::Device(effort) => effort == Effort::Short,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum TransferKind {
    Write,
    Read,
    Copy,
    Fill,
}

/// The facts that determine the path of a transfer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct TransferFacts {
    pub(crate) kind: TransferKind,
    pub(crate) bytes: u64,
    /// Whether the memory is mapped (for a copy: both buffers).
    pub(crate) mapped: bool,
    /// Whether the host can access the device memory across the bus (the PCIe BAR).
    pub(crate) bar: bool,
    /// Whether a host access to the memory must wait for a batch that is not known to be complete.
    pub(crate) busy: bool,
    /// Whether the host memory is in a buffer that the device can access.
    pub(crate) pinned: bool,
    /// Whether [`crate::readback::pending_read`] has space for the bytes.
    pub(crate) has_readback_space: bool,
    /// Whether the offsets and sizes of a copy are multiples of [`WORD`].
    pub(crate) aligned: bool,
    /// Maximum size in bytes of a read for which loads across the bus are faster than a device copy.
    pub(crate) max_bar_read: u64,
}

pub(crate) fn path_of(facts: &TransferFacts) -> TransferPath {
    let TransferFacts { kind, bytes, mapped, bar, busy, pinned, has_readback_space, aligned, max_bar_read } = *facts;
    let few = bytes <= MAX_SHORT_BYTES;
    let (effort, at_once) = (Effort::short_if(few), Effort::short_if(few && !busy));
    if bytes == 0 {
        return TransferPath::Nothing;
    }
    match kind {
        TransferKind::Write if mapped => TransferPath::Mapped(at_once),
        // The device copies from pinned memory, unless the host can store few bytes across the bus without a wait. For
        // more than MAX_SHORT_BYTES, host stores across the bus are slower than a device copy.
        TransferKind::Write if pinned && !(few && bar && !busy) => TransferPath::Pinned,
        TransferKind::Write if bar && !busy => TransferPath::Bar(effort),
        TransferKind::Write => TransferPath::Staging(effort),
        TransferKind::Read if mapped => TransferPath::Mapped(at_once),
        TransferKind::Read if bar && !busy && bytes <= max_bar_read => TransferPath::Bar(effort),
        TransferKind::Read if pinned => TransferPath::Pinned,
        TransferKind::Read if has_readback_space => TransferPath::Readback,
        TransferKind::Read => TransferPath::Staging(Effort::Long),
        // The host copies if no batch uses the memory. It also copies if the copy is not aligned, because the device
        // would then need a kernel.
        TransferKind::Copy if mapped && (!busy || !aligned) => TransferPath::Mapped(at_once),
        TransferKind::Fill if mapped && (!busy || bytes >= HOST_FILL) => TransferPath::Mapped(at_once),
        TransferKind::Copy | TransferKind::Fill => TransferPath::Device(effort),
    }
}

/// How the device copies a region.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeviceCopy {
    /// A copy command, which requires [`WORD`] alignment.
    Command,
    /// A kernel that moves elements of [`VECTOR`] bytes.
    VectorKernel,
    /// A kernel that moves bytes.
    ByteKernel,
}

/// Decides how the device copies a region.
pub(crate) fn device_copy(region: CopyRegion, different_buffers: bool, source_is_device_memory: bool) -> DeviceCopy {
    let are_all = |unit: u64| [region.buffer, region.host, region.size].iter().all(|number| number.is_multiple_of(unit));
    if !different_buffers {
        // Ranges of one buffer may overlap, which Vulkan and wgpu forbid in a copy command.
        DeviceCopy::ByteKernel
    } else if source_is_device_memory && region.size >= VECTOR_COPY && are_all(VECTOR) {
        DeviceCopy::VectorKernel
    } else if are_all(WORD) {
        DeviceCopy::Command
    } else {
        DeviceCopy::ByteKernel
    }
}

#[cfg(test)]
mod tests {
    use wgcl_api::backend::CopyRegion;

    use super::{DeviceCopy, Effort, MAX_SHORT_BYTES, TransferFacts, TransferKind, TransferPath, device_copy, path_of};

    const SHORT: Effort = Effort::Short;
    const LONG: Effort = Effort::Long;
    const FEW: u64 = 4096;
    const MANY: u64 = 1 << 20;

    const FACTS: TransferFacts = TransferFacts {
        kind: TransferKind::Write,
        bytes: FEW,
        mapped: false,
        bar: false,
        busy: false,
        pinned: false,
        has_readback_space: false,
        aligned: true,
        max_bar_read: 8 << 10,
    };

    #[test]
    fn writes() {
        // Each row has [mapped, bar, busy, pinned], the path for few bytes, and the path for many bytes.
        let table = [
            ([true, false, false, false], TransferPath::Mapped(SHORT), TransferPath::Mapped(LONG)),
            ([true, false, true, false], TransferPath::Mapped(LONG), TransferPath::Mapped(LONG)),
            ([false, true, false, false], TransferPath::Bar(SHORT), TransferPath::Bar(LONG)),
            ([false, true, true, false], TransferPath::Staging(SHORT), TransferPath::Staging(LONG)),
            ([false, true, false, true], TransferPath::Bar(SHORT), TransferPath::Pinned),
            ([false, true, true, true], TransferPath::Pinned, TransferPath::Pinned),
            ([false, false, false, true], TransferPath::Pinned, TransferPath::Pinned),
            ([false, false, true, true], TransferPath::Pinned, TransferPath::Pinned),
            ([false, false, false, false], TransferPath::Staging(SHORT), TransferPath::Staging(LONG)),
            ([false, false, true, false], TransferPath::Staging(SHORT), TransferPath::Staging(LONG)),
        ];
        for ([mapped, bar, busy, pinned], few, many) in table {
            for (bytes, wanted) in
                [(FEW, few), (MAX_SHORT_BYTES, few), (MAX_SHORT_BYTES + 1, many), (MANY, many), (0, TransferPath::Nothing)]
            {
                let facts = TransferFacts { bytes, mapped, bar, busy, pinned, ..FACTS };
                assert_eq!(path_of(&facts), wanted, "{facts:?}");
            }
        }
    }

    #[test]
    fn reads() {
        // Each row has [mapped, bar, busy, pinned, has_readback_space], the path for few bytes, and the path for many
        // bytes.
        let table = [
            ([true, false, false, false, true], TransferPath::Mapped(SHORT), TransferPath::Mapped(LONG)),
            ([true, false, true, false, true], TransferPath::Mapped(LONG), TransferPath::Mapped(LONG)),
            ([false, true, false, false, true], TransferPath::Bar(SHORT), TransferPath::Readback),
            ([false, true, false, false, false], TransferPath::Bar(SHORT), TransferPath::Staging(LONG)),
            ([false, true, false, true, true], TransferPath::Bar(SHORT), TransferPath::Pinned),
            ([false, true, true, true, true], TransferPath::Pinned, TransferPath::Pinned),
            ([false, true, true, false, true], TransferPath::Readback, TransferPath::Readback),
            ([false, false, false, true, false], TransferPath::Pinned, TransferPath::Pinned),
            ([false, false, true, false, true], TransferPath::Readback, TransferPath::Readback),
            ([false, false, false, false, false], TransferPath::Staging(LONG), TransferPath::Staging(LONG)),
        ];
        for ([mapped, bar, busy, pinned, has_readback_space], few, many) in table {
            for (bytes, wanted) in [(FEW, few), (MANY, many), (0, TransferPath::Nothing)] {
                let facts = TransferFacts { kind: TransferKind::Read, bytes, mapped, bar, busy, pinned, has_readback_space, ..FACTS };
                assert_eq!(path_of(&facts), wanted, "{facts:?}");
            }
        }
        // Above `max_bar_read`, a device copy is faster than loads across the bus.
        let facts = TransferFacts { kind: TransferKind::Read, bytes: (8 << 10) + 1, bar: true, has_readback_space: true, ..FACTS };
        assert_eq!(path_of(&facts), TransferPath::Readback);
    }

    #[test]
    fn copies_and_fills() {
        // Each row has [mapped, busy, aligned], the path of a copy, and the path of a fill. Both move few bytes.
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
            assert_eq!(path_of(&TransferFacts { kind: TransferKind::Copy, ..facts }), copy, "{facts:?}");
            assert_eq!(path_of(&TransferFacts { kind: TransferKind::Fill, ..facts }), fill, "{facts:?}");
        }
        // For many bytes, a host fill is faster than a device fill, even if the host must wait for the device first.
        let facts = TransferFacts { kind: TransferKind::Fill, bytes: MANY, mapped: true, busy: true, ..FACTS };
        assert_eq!(path_of(&facts), TransferPath::Mapped(LONG));
        assert_eq!(path_of(&TransferFacts { mapped: false, ..facts }), TransferPath::Device(LONG));
    }

    #[test]
    fn transfers_without_waits_are_short() {
        // A readback of any size is only recorded.
        let short = [
            TransferPath::Nothing,
            TransferPath::Pinned,
            TransferPath::Readback,
            TransferPath::Mapped(SHORT),
            TransferPath::Staging(SHORT),
        ];
        let long = [TransferPath::Mapped(LONG), TransferPath::Bar(LONG), TransferPath::Staging(LONG), TransferPath::Device(LONG)];
        assert!(short.into_iter().all(TransferPath::is_short) && !long.into_iter().any(TransferPath::is_short));
    }

    #[test]
    fn alignment_size_and_memory_determine_the_device_copy() {
        let region = |buffer, host, size| CopyRegion { buffer, host, size };
        let large = 1 << 20;
        assert_eq!(device_copy(region(0, 16, large), true, true), DeviceCopy::VectorKernel);
        assert_eq!(device_copy(region(0, 16, large), true, false), DeviceCopy::Command);
        assert_eq!(device_copy(region(0, 8, large), true, true), DeviceCopy::Command);
        assert_eq!(device_copy(region(0, 16, 64), true, true), DeviceCopy::Command);
        assert_eq!(device_copy(region(1, 16, large), true, true), DeviceCopy::ByteKernel);
        assert_eq!(device_copy(region(0, 16, large), false, true), DeviceCopy::ByteKernel);
    }
}
