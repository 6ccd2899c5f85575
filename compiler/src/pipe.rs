//! The memory layout of a pipe (OpenCL C 6.15.17). Host and kernels share it. `compiler/library/pipes.cl` uses the same
//! offsets and explains them.

/// Size in bytes of the header: the constants, and the positions of readers and writers, each in a separate cache line.
const HEADER: u64 = 320;

/// Size in bytes of the records of a slot: one for writers and one for readers.
const RECORDS: u64 = 8;

/// Maximum number of positions. The highest bit of a record marks an open reservation, so positions have 31 bits.
const MAX_POSITIONS: u32 = (1 << 31) - 1;

/// The memory layout of a pipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PipeLayout {
    packet_size: u32,
    max_packets: u32,
}

impl PipeLayout {
    /// Alignment in bytes of the packets: the largest alignment of any type. The start of the pipe has it too.
    pub const ALIGN: u32 = 128;

    /// Creates the layout for `max_packets` packets of `packet_size` bytes. Returns `None` if a number is zero or if
    /// there are more packets than positions can distinguish.
    pub const fn new(packet_size: u32, max_packets: u32) -> Option<Self> {
        // The positions must exceed the capacity several times, so that an outdated position is not taken for a current
        // one.
        if packet_size == 0 || max_packets == 0 || max_packets > MAX_POSITIONS / 4 { None } else { Some(Self { packet_size, max_packets }) }
    }

    pub const fn packet_size(self) -> u32 {
        self.packet_size
    }

    pub const fn max_packets(self) -> u32 {
        self.max_packets
    }

    /// Returns the offset of the packets in bytes.
    const fn packets(self) -> u64 {
        (HEADER + RECORDS * self.max_packets as u64).next_multiple_of(Self::ALIGN as u64)
    }

    /// Returns the size in bytes of the whole pipe.
    pub const fn size(self) -> u64 {
        self.packets() + self.packet_size as u64 * self.max_packets as u64
    }

    /// Returns the size in bytes of the state of an empty pipe, which is the whole pipe without the packets.
    pub const fn state_size(self) -> u64 {
        self.packets()
    }

    /// Returns the bytes of the constants at the start of the header. All further bytes of an empty pipe are zero.
    pub fn constants(self) -> [u8; 12] {
        let wrap = MAX_POSITIONS / self.max_packets * self.max_packets;
        // The offset fits, because the records of fewer than 2^29 packets have fewer than 2^32 bytes.
        let packets = u32::try_from(self.packets() / u64::from(Self::ALIGN)).unwrap_or(u32::MAX);
        let mut bytes = [0; 12];
        for (place, word) in bytes.as_chunks_mut::<4>().0.iter_mut().zip([self.max_packets, wrap, packets]) {
            *place = word.to_le_bytes();
        }
        bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_empty_pipe() {
        let layout = PipeLayout::new(12, 5).expect("a pipe");
        let [capacity, wrap, packets] =
            [0, 4, 8].map(|at| u32::from_le_bytes(layout.constants()[at..at + 4].try_into().expect("four bytes")));
        assert_eq!((capacity, packets), (5, 3));
        assert_eq!((wrap % 5, wrap < 1 << 31, wrap > u32::MAX / 2 - 5), (0, true, true));
        assert_eq!((layout.state_size(), layout.size()), (384, 384 + 60));
    }

    #[test]
    fn invalid_pipes() {
        assert_eq!(PipeLayout::new(0, 1), None);
        assert_eq!(PipeLayout::new(1, 0), None);
        assert_eq!(PipeLayout::new(1, u32::MAX), None);
        assert!(PipeLayout::new(1024, 1 << 28).is_some_and(|layout| layout.size() > 1 << 38));
    }
}
