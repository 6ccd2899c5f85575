//! Reads any words as a SPIR-V module, and compiles the accepted kernels to machine code.

#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|bytes: &[u8]| {
    let words: Vec<u32> = bytes.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
    if let Ok(program) = wgcl_compiler::compile_spirv(&words, &wgcl_fuzz::options()) {
        wgcl_fuzz::generate_code(&program);
    }
});
