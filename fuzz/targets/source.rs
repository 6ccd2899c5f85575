//! Compiles any text as OpenCL C, and the accepted kernels to machine code.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    if let Ok(program) = wgcl_compiler::compile(text, &wgcl_fuzz::options()) {
        wgcl_fuzz::generate_code(&program);
    }
});
