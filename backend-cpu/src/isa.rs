//! Names of instruction sets, in `WGCL_CPU_ISA`, in the driver version and in cache keys.

use wgcl_codegen::Isa;

/// The instruction set of this name: `sse4.2`, `avx2` or `avx512`.
pub fn isa_named(name: &str) -> Option<Isa> {
    [Isa::Sse42, Isa::Avx2, Isa::Avx512].into_iter().find(|&isa| isa_name(isa) == name)
}

/// The name of an instruction set.
pub(crate) const fn isa_name(isa: Isa) -> &'static str {
    match isa {
        Isa::Sse42 => "sse4.2",
        Isa::Avx2 => "avx2",
        Isa::Avx512 => "avx512",
    }
}
