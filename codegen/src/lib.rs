//! From a vector IR to machine code.
//!
//! ```text
//! vir::Module ─ verify ─▶ x86: instructions with virtual registers ─ regalloc2 ─▶ bytes
//! ```
//! The [vector IR](vir) has values of the size of registers and says what to do with them on any machine; [`x86`] says it in the instructions of one. Nothing
//! here knows of OpenCL: who makes the vector IR decides which work-items are the lanes of a register, what is uniform, and which lanes are alive.

#![warn(unreachable_pub)]

pub mod exec;
pub mod vir;
mod x86;

pub use x86::{Code, CodegenError, compile, disassemble};

/// An instruction set: what code may use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Isa {
    /// x86-64 with SSE4.2 and POPCNT (x86-64-v2): scalars only.
    Sse42,
    /// AVX2, FMA, F16C, BMI, LZCNT (x86-64-v3): vectors of 32 bytes.
    Avx2,
    /// AVX-512 F, CD, BW, DQ, VL (x86-64-v4): vectors of 64 bytes.
    Avx512,
}

impl Isa {
    /// The best that the machine and its system have; `None` below all of them.
    #[cfg(target_arch = "x86_64")]
    pub fn detect() -> Option<Self> {
        use std::arch::is_x86_feature_detected as has;
        if !(has!("sse4.2") && has!("popcnt")) {
            return None;
        }
        if !(has!("avx2") && has!("fma") && has!("f16c") && has!("bmi1") && has!("bmi2") && has!("lzcnt")) {
            return Some(Self::Sse42);
        }
        let all = has!("avx512f") && has!("avx512cd") && has!("avx512bw") && has!("avx512dq") && has!("avx512vl");
        Some(if all { Self::Avx512 } else { Self::Avx2 })
    }

    /// The best that the machine and its system have; `None` below all of them.
    #[cfg(not(target_arch = "x86_64"))]
    pub const fn detect() -> Option<Self> {
        None
    }

    /// Bytes of the largest vector; 0 where there are scalars only.
    pub const fn vector_bytes(self) -> u32 {
        match self {
            Self::Sse42 => 0,
            Self::Avx2 => 32,
            Self::Avx512 => 64,
        }
    }

    /// Whether [`vir::Op::Scatter`] may be used.
    pub const fn has_scatter(self) -> bool {
        matches!(self, Self::Avx512)
    }

    /// Whether every [`vir::Op::Shuffle`] is one instruction. Elsewhere those are that take the same lanes within each sixteen bytes, or whole sixteen bytes.
    pub const fn shuffles_any(self) -> bool {
        matches!(self, Self::Avx512)
    }

    /// Whether vectors of 64-bit integers are converted to floats and back in one step.
    pub const fn converts_i64(self) -> bool {
        matches!(self, Self::Avx512)
    }
}
