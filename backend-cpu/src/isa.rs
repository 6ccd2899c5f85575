//! Finds instruction sets by their names in `WGCL_CPU_ISA`.

use wgcl_codegen::Isa;

/// The instruction set with a name such as `avx2`; `None` if the name is unknown.
pub fn isa_named(name: &str) -> Option<Isa> {
    Isa::ALL.into_iter().find(|isa| isa.name() == name)
}
