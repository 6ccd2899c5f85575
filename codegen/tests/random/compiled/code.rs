//! Code that can be run.

use wgcl_codegen::exec::Executable;
use wgcl_codegen::vir::Module;
use wgcl_codegen::{Isa, compile};

/// The code of a module, in memory.
pub struct Code(Executable);

impl Code {
    /// Compiles a module; what went wrong, in words.
    pub fn new(module: &Module, isa: Isa) -> Result<Self, String> {
        let code = compile(module, isa).map_err(|error| error.to_string())?;
        Executable::new(&code).map(Self).map_err(|error| error.to_string())
    }

    /// Where its first function begins.
    pub fn entry(&self) -> *const u8 {
        self.0.entry(0).unwrap()
    }
}
