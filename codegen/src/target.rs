//! Instruction sets and their capabilities.
//!
//! The code that builds vector IR queries [`Isa::caps`] and does not compare levels. For a new instruction set, that
//! code needs only a new table of capabilities.

use std::fmt;

/// An instruction set.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Isa {
    X86(X86Level),
    A64(A64Level),
}

impl fmt::Display for Isa {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// A micro-architecture level of x86-64. A higher level includes the lower levels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum X86Level {
    /// SSE4.2 and POPCNT (x86-64-v2). Code is scalar.
    Sse42,
    /// AVX2, FMA, F16C, BMI and LZCNT (x86-64-v3). Vectors have 32 bytes.
    Avx2,
    /// AVX-512 F, CD, BW, DQ and VL (x86-64-v4). Vectors have 64 bytes.
    Avx512,
}

/// A level of AArch64. A higher level includes the lower levels, but SVE with one vector length does not include SVE
/// with another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum A64Level {
    /// Armv8.0 with Advanced SIMD, as in the Cortex-A53. Vectors have 16 bytes.
    V8,
    /// Armv8.2 with the extensions FP16, LSE and DotProd, as in the Cortex-A76 and Apple's processors.
    V82,
    /// [`Self::V82`] with SVE. The processor's vectors must have exactly this length.
    Sve(SveLength),
}

/// The length of SVE's vector registers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum SveLength {
    /// 128 bits, as in the Neoverse V2.
    Bits128,
    /// 256 bits, as in the Neoverse V1.
    Bits256,
    /// 512 bits, as in the A64FX.
    Bits512,
}

impl SveLength {
    /// Returns the size of a vector register in bytes.
    pub const fn bytes(self) -> u32 {
        match self {
            Self::Bits128 => 16,
            Self::Bits256 => 32,
            Self::Bits512 => 64,
        }
    }
}

/// The capabilities of an instruction set, and costs of operations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IsaCaps {
    /// Size of the largest vector in bytes; 0 if there are only scalars.
    pub vector_bytes: u32,
    /// The number of vector registers.
    pub vector_registers: u32,
    /// Whether a load or store of 32- or 64-bit lanes under a mask is one instruction.
    pub has_masked_memory: bool,
    /// Whether [`Op::Gather`](crate::vir::Op::Gather) is one instruction for each vector of indices.
    pub has_gather: bool,
    /// Whether [`Op::Scatter`](crate::vir::Op::Scatter) is one instruction for each vector of indices. If this is
    /// false, the vector IR must not contain `Scatter`.
    pub has_scatter: bool,
    /// Whether gathers multiply 32-bit indices by 2, 4 or 8 at no cost.
    pub has_scaled_gathers: bool,
    /// Whether [`Op::LoadPieces`](crate::vir::Op::LoadPieces) is one instruction for each piece. If this is false, the
    /// vector IR must not contain `LoadPieces`.
    pub has_piece_loads: bool,
    /// Whether every [`Op::Shuffle`](crate::vir::Op::Shuffle) takes at most three instructions, apart from loads of
    /// constants. If this is false, only some patterns are that cheap: those that move aligned 16-byte units, and those
    /// that repeat in each 16-byte unit.
    pub has_cheap_shuffles: bool,
    /// Whether [`BinOp::Mul`](crate::vir::BinOp::Mul) is good code for `i64` vectors. If this is false, the producer of
    /// vector IR should multiply halves instead. The upper halves of loop-invariant operands are then computed outside
    /// of loops.
    pub has_i64_multiply: bool,
    /// Whether [`BinOp::MulBytes`](crate::vir::BinOp::MulBytes) is good code, in the same sense.
    pub has_byte_multiply: bool,
    /// Whether one instruction converts a vector of 64-bit integers to `f64`, or back.
    pub has_i64_conversions: bool,
    /// Whether there is a fused multiply-add for `f64`.
    pub has_fma_f64: bool,
    /// Whether loads stay in order with loads, and stores with stores, as seen by other threads (x86's TSO). If this is
    /// false, a barrier that orders accesses for other work-groups needs a fence.
    pub has_strong_memory_order: bool,
    /// The number of vector operations that take as long as one gather. A loop with at most this many operations per
    /// gather is limited by the throughput of gathers.
    pub gather_cost: u32,
    /// The number of loads that take as long as the store of one lane.
    pub lane_store_cost: u32,
    /// Kernels with loops run several vectors of work-items at a time only if a vector has at least this number of
    /// 32-bit lanes.
    pub min_interleaved_lanes: u32,
    /// The largest number of vectors of work-items to run at a time.
    pub max_interleaved_vectors: u32,
    /// Whether kernels without loops also run several vectors of work-items at a time. The vectors share address
    /// computations and the branch of the loop over work-items, and neighbouring loads and stores form pairs.
    pub interleaves_straight_code: bool,
}

impl X86Level {
    const fn caps(self) -> IsaCaps {
        // The module docs of the vectoriser's `gather_bound` and `dimension` explain `gather_cost` and
        // `lane_store_cost`.
        const SSE42: IsaCaps = IsaCaps {
            vector_bytes: 0,
            vector_registers: 16,
            has_masked_memory: false,
            has_gather: false,
            has_scatter: false,
            has_scaled_gathers: false,
            has_piece_loads: false,
            has_cheap_shuffles: false,
            has_i64_multiply: false,
            has_byte_multiply: false,
            has_i64_conversions: false,
            has_fma_f64: false,
            has_strong_memory_order: true,
            gather_cost: 4,
            lane_store_cost: 2,
            min_interleaved_lanes: 8,
            max_interleaved_vectors: 2,
            interleaves_straight_code: false,
        };
        const AVX2: IsaCaps = IsaCaps {
            vector_bytes: 32,
            has_masked_memory: true,
            has_gather: true,
            has_scaled_gathers: true,
            has_piece_loads: true,
            has_fma_f64: true,
            ..SSE42
        };
        const AVX512: IsaCaps = IsaCaps {
            vector_bytes: 64,
            vector_registers: 32,
            has_scatter: true,
            has_cheap_shuffles: true,
            has_i64_multiply: true,
            has_i64_conversions: true,
            ..AVX2
        };
        match self {
            Self::Sse42 => SSE42,
            Self::Avx2 => AVX2,
            Self::Avx512 => AVX512,
        }
    }
}

impl A64Level {
    const fn caps(self) -> IsaCaps {
        match self {
            // Source: LLVM's model of the Neoverse N1 (`AArch64SchedNeoverseN1.td`), which follows the "Arm Neoverse N1
            // Software Optimization Guide". A gather of four lanes is four UMOV and four LD1 of one lane. Each occupies
            // one of the two vector pipes for a cycle, as most vector operations do. FMLA takes four cycles, so eight
            // independent ones keep both pipes busy. STR of a vector occupies both pipes for loads and stores. LDR
            // occupies one of these pipes.
            Self::V8 | Self::V82 => IsaCaps {
                vector_bytes: 16,
                vector_registers: 32,
                has_masked_memory: false,
                has_gather: false,
                has_scatter: false,
                has_scaled_gathers: false,
                has_piece_loads: false,
                has_cheap_shuffles: true,
                // The code generator's expansion is better, because it uses UMULL and MLA.
                has_i64_multiply: true,
                has_byte_multiply: true,
                has_i64_conversions: true,
                has_fma_f64: true,
                has_strong_memory_order: false,
                gather_cost: 8,
                lane_store_cost: 2,
                min_interleaved_lanes: 4,
                max_interleaved_vectors: 4,
                interleaves_straight_code: true,
            },
            // The costs are those of Advanced SIMD: on the Neoverse V1, a gather of eight 32-bit lanes also occupies
            // the vector pipes for about as long as eight vector operations.
            Self::Sve(length) => {
                IsaCaps { vector_bytes: length.bytes(), has_masked_memory: true, has_gather: true, has_scatter: true, ..Self::V82.caps() }
            }
        }
    }
}

impl Isa {
    /// Returns the name, as in `WGCL_CPU_ISA`, in the driver version and in cache keys.
    pub const fn name(self) -> &'static str {
        match self {
            Self::X86(X86Level::Sse42) => "sse4.2",
            Self::X86(X86Level::Avx2) => "avx2",
            Self::X86(X86Level::Avx512) => "avx512",
            Self::A64(A64Level::V8) => "armv8",
            Self::A64(A64Level::V82) => "armv8.2",
            Self::A64(A64Level::Sve(SveLength::Bits128)) => "sve-128",
            Self::A64(A64Level::Sve(SveLength::Bits256)) => "sve-256",
            Self::A64(A64Level::Sve(SveLength::Bits512)) => "sve-512",
        }
    }

    /// x86-64-v2, scalar code.
    pub const SSE42: Self = Self::X86(X86Level::Sse42);
    /// x86-64-v3, with vectors of 32 bytes.
    pub const AVX2: Self = Self::X86(X86Level::Avx2);
    /// x86-64-v4, with vectors of 64 bytes.
    pub const AVX512: Self = Self::X86(X86Level::Avx512);
    /// Armv8.0, with vectors of 16 bytes.
    pub const ARMV8: Self = Self::A64(A64Level::V8);
    /// Armv8.2 with FP16, LSE and DotProd.
    pub const ARMV8_2: Self = Self::A64(A64Level::V82);
    /// SVE with vectors of 16 bytes.
    pub const SVE_128: Self = Self::A64(A64Level::Sve(SveLength::Bits128));
    /// SVE with vectors of 32 bytes.
    pub const SVE_256: Self = Self::A64(A64Level::Sve(SveLength::Bits256));
    /// SVE with vectors of 64 bytes.
    pub const SVE_512: Self = Self::A64(A64Level::Sve(SveLength::Bits512));
    /// All instruction sets. Those of one architecture are in ascending order.
    pub const ALL: [Self; 8] =
        [Self::SSE42, Self::AVX2, Self::AVX512, Self::ARMV8, Self::ARMV8_2, Self::SVE_128, Self::SVE_256, Self::SVE_512];

    /// Returns the best instruction set that the processor and the operating system support. Returns `None` without
    /// SSE4.2 or POPCNT.
    #[cfg(target_arch = "x86_64")]
    pub fn detect() -> Option<Self> {
        use std::arch::is_x86_feature_detected as has;
        if !(has!("sse4.2") && has!("popcnt")) {
            return None;
        }
        if !(has!("avx2") && has!("fma") && has!("f16c") && has!("bmi1") && has!("bmi2") && has!("lzcnt")) {
            return Some(Self::SSE42);
        }
        let all = has!("avx512f") && has!("avx512cd") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl");
        Some(if all { Self::AVX512 } else { Self::AVX2 })
    }

    /// Returns the best instruction set that the processor and the operating system support. Returns `None` without
    /// NEON.
    #[cfg(target_arch = "aarch64")]
    pub fn detect() -> Option<Self> {
        use std::arch::is_aarch64_feature_detected as has;
        if !has!("neon") {
            return None;
        }
        if !(has!("fp16") && has!("lse") && has!("dotprod")) {
            return Some(Self::ARMV8);
        }
        let bytes = if has!("sve") { crate::vector_length::sve_vector_bytes() } else { 0 };
        let lengths = [SveLength::Bits128, SveLength::Bits256, SveLength::Bits512];
        let length = lengths.into_iter().find(|length| length.bytes() == bytes);
        Some(length.map_or(Self::ARMV8_2, |length| Self::A64(A64Level::Sve(length))))
    }

    /// Returns `None`: no instruction set is supported on this architecture.
    #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
    pub const fn detect() -> Option<Self> {
        None
    }

    /// Returns the size in bytes that the vectors of SVE must have, or `None` without SVE.
    pub const fn sve_vector_bytes(self) -> Option<u32> {
        match self {
            Self::A64(A64Level::Sve(length)) => Some(length.bytes()),
            Self::A64(_) | Self::X86(_) => None,
        }
    }

    /// Returns the capabilities and costs of the instruction set.
    pub const fn caps(self) -> IsaCaps {
        match self {
            Self::X86(level) => level.caps(),
            Self::A64(level) => level.caps(),
        }
    }

    /// Whether a processor that runs code for this instruction set also runs code for `other`.
    pub fn includes(self, other: Self) -> bool {
        match (self, other) {
            (Self::X86(level), Self::X86(other)) => level >= other,
            (Self::A64(A64Level::Sve(length)), Self::A64(A64Level::Sve(other))) => length == other,
            (Self::A64(level), Self::A64(other)) => level >= other,
            (Self::X86(_), Self::A64(_)) | (Self::A64(_), Self::X86(_)) => false,
        }
    }
}
