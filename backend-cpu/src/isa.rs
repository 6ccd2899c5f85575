//! Names of instruction sets, in `WGCL_CPU_ISA`, in the driver version and in cache keys.

use wgcl_codegen::Isa;

/// All instruction sets.
const ALL: [Isa; 5] = [Isa::SSE42, Isa::AVX2, Isa::AVX512, Isa::ARMV8, Isa::ARMV8_2];

/// The instruction set with a name such as `avx2`; `None` if the name is unknown.
pub fn isa_named(name: &str) -> Option<Isa> {
    ALL.into_iter().find(|&isa| isa_name(isa) == name)
}

/// The name of an instruction set.
pub(crate) const fn isa_name(isa: Isa) -> &'static str {
    match isa {
        Isa::SSE42 => "sse4.2",
        Isa::AVX2 => "avx2",
        Isa::AVX512 => "avx512",
        Isa::ARMV8 => "armv8",
        Isa::ARMV8_2 => "armv8.2",
    }
}
