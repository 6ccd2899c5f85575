//! Code that several fuzz targets use.

#![forbid(unsafe_code)]

use wgcl_compiler::{Cpu, Device, Form, Launch, Options, Program};

/// Largest number of kernels of a program to compile.
const MAX_KERNELS: usize = 4;

/// Compiles the kernels of a program to machine code. Errors are permitted, and panics are not.
pub fn generate_code(program: &Program) {
    for kernel in program.kernels().iter().take(MAX_KERNELS) {
        for cpu in [Cpu::Avx2, Cpu::Armv8] {
            let _ = program.listing(&kernel.name, &Launch::new([64, 1, 1]), Form::Assembly(cpu));
        }
    }
}

/// The options of the CPU device.
pub fn options() -> Options {
    Options::new(Device::Cpu)
}
