//! Reads any bytes as a program binary (clCreateProgramWithBinary), with and without a valid header. An accepted binary
//! must have the same contents after another round of encoding and decoding.

#![no_main]

use libfuzzer_sys::fuzz_target;
use wgcl_api::objects::program::binary::{BinaryKind, decode, decode_units, encode};

fuzz_target!(|bytes: &[u8]| {
    let _ = decode(bytes);
    // The header has a checksum, which random bytes do not match.
    if let Ok(object) = decode_units(bytes) {
        assert_eq!(decode(&encode(&object, BinaryKind::Library)), Ok((object, BinaryKind::Library)));
    }
});
