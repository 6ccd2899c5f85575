//! Finds instruction sets by their names in `WGCL_CPU_ISA`.

use wgcl_codegen::Isa;

/// All instruction sets.
const ALL: [Isa; 5] = [Isa::SSE42, Isa::AVX2, Isa::AVX512, Isa::ARMV8, Isa::ARMV8_2];

/// The instruction set with a name such as `avx2`; `None` if the name is unknown.
pub fn isa_named(name: &str) -> Option<Isa> {
    ALL.into_iter().find(|isa| isa.name() == name)
}
