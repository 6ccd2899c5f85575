//! Names of instruction sets, in `WGCL_CPU_ISA`, in the driver version and in cache keys.

use wgcl_codegen::Isa;

/// The instruction set of this name: `sse4.2`, `avx2` or `avx512`.
pub fn isa_named(name: &str) -> Option<Isa> {
    [Isa::SSE42, Isa::AVX2, Isa::AVX512].into_iter().find(|&isa| isa_name(isa) == name)
}

/// The name of an instruction set.
pub(crate) const fn isa_name(isa: Isa) -> &'static str {
    match isa {
        Isa::SSE42 => "sse4.2",
        Isa::AVX2 => "avx2",
        Isa::AVX512 => "avx512",
    }
}
