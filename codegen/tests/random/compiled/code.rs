//! Executable code of a module.

use wgcl_codegen::exec::Executable;
use wgcl_codegen::vir::Module;
use wgcl_codegen::{Isa, compile};

/// The code of a module in executable memory.
pub struct Code {
    code: Executable,
    /// Maximum bytes of stack of a call, excluding host functions.
    pub stack: usize,
}

impl Code {
    /// Compiles a module. The error is a message.
    pub fn new(module: &Module, isa: Isa) -> Result<Self, String> {
        let code = compile(module, isa).map_err(|error| error.to_string())?;
        let stack = code.stack as usize;
        let code = Executable::new(&code).map_err(|error| error.to_string())?;
        Ok(Self { code, stack })
    }

    /// The address of the first function.
    pub fn entry(&self) -> *const u8 {
        self.code.entry(0).unwrap()
    }
}
