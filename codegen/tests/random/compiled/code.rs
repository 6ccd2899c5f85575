//! Code that can be run.

use wgcl_codegen::exec::Executable;
use wgcl_codegen::vir::Module;
use wgcl_codegen::{Isa, compile};

/// The code of a module, in memory.
pub struct Code {
    code: Executable,
    /// How many bytes of the stack a call takes at most, apart from functions of the host.
    pub stack: usize,
}

impl Code {
    /// Compiles a module; what went wrong, in words.
    pub fn new(module: &Module, isa: Isa) -> Result<Self, String> {
        let code = compile(module, isa).map_err(|error| error.to_string())?;
        let stack = code.stack as usize;
        let code = Executable::new(&code).map_err(|error| error.to_string())?;
        Ok(Self { code, stack })
    }

    /// Where its first function begins.
    pub fn entry(&self) -> *const u8 {
        self.code.entry(0).unwrap()
    }
}
