//! Bytes in storage buffers, if the device supports them (SPV_KHR_8bit_storage).
//!
//! naga does not support 8-bit integers. A view of bytes is emitted as an array of words. Its binding number has a tag
//! ([`TAG`]). In naga's SPIR-V the variable becomes an array of bytes, and loaded and stored values are converted:
//!
//! ```text
//! %p = OpAccessChain %ptr_uint %var %0 %i        %p = OpAccessChain %ptr_uchar %var %0 %i
//! %x = OpLoad %uint %p                     =>    %b = OpLoad %uchar %p
//!                                                %x = OpUConvert %uint %b
//! ```

use super::words::{BINDING, HEADER, INT8, STORAGE_BUFFER, STORAGE_BUFFER_8_BIT_ACCESS, instructions, op, tagged};
use rustc_hash::FxHashMap;

/// Bit in the binding number of a view of bytes. No device has that many bindings.
pub(super) const TAG: u32 = 1 << 30;

const BLOCK: u32 = 2;
const ARRAY_STRIDE: u32 = 6;
const OFFSET: u32 = 35;

/// The target type of a pointer into a view of bytes.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Pointee {
    Struct,
    Array,
    Byte,
}

/// The ids of the added types.
struct Ids {
    byte: u32,
    array: u32,
    block: u32,
    to_block: u32,
    to_array: u32,
    to_byte: u32,
}

impl Ids {
    fn new(first: u32) -> Self {
        Self { byte: first, array: first + 1, block: first + 2, to_block: first + 3, to_array: first + 4, to_byte: first + 5 }
    }

    const COUNT: u32 = 6;

    fn pointer(&self, pointee: Pointee) -> u32 {
        match pointee {
            Pointee::Struct => self.to_block,
            Pointee::Array => self.to_array,
            Pointee::Byte => self.to_byte,
        }
    }

    fn declarations(&self) -> Vec<u32> {
        let mut out = Vec::new();
        let mut put = |code: u32, operands: &[u32]| {
            out.push((operands.len() as u32 + 1) << 16 | code);
            out.extend_from_slice(operands);
        };
        put(op::DECORATE, &[self.array, ARRAY_STRIDE, 1]);
        put(op::DECORATE, &[self.block, BLOCK]);
        put(op::MEMBER_DECORATE, &[self.block, 0, OFFSET, 0]);
        put(op::TYPE_INT, &[self.byte, 8, 0]);
        put(op::TYPE_RUNTIME_ARRAY, &[self.array, self.byte]);
        put(op::TYPE_STRUCT, &[self.block, self.array]);
        put(op::TYPE_POINTER, &[self.to_block, STORAGE_BUFFER, self.block]);
        put(op::TYPE_POINTER, &[self.to_array, STORAGE_BUFFER, self.array]);
        put(op::TYPE_POINTER, &[self.to_byte, STORAGE_BUFFER, self.byte]);
        out
    }
}

/// Converts the tagged variables to arrays of bytes. Returns `None` if the SPIR-V does not have the form that naga
/// writes.
pub(super) fn convert_views(words: Vec<u32>) -> Option<Vec<u32>> {
    let tagged = tagged(&words, TAG);
    if tagged.is_empty() {
        return Some(words);
    }
    let ids = Ids::new(*words.get(3)?);
    let mut next = ids.byte + Ids::COUNT;
    let mut pointers: FxHashMap<u32, Pointee> = FxHashMap::default();
    let mut out = words.get(..HEADER)?.to_vec();
    let (mut capability, mut extension, mut declared) = (false, false, false);
    for (code, inst) in instructions(&words) {
        if code != op::CAPABILITY && !capability {
            capability = true;
            out.extend([2 << 16 | op::CAPABILITY, INT8, 2 << 16 | op::CAPABILITY, STORAGE_BUFFER_8_BIT_ACCESS]);
        }
        if matches!(code, op::EXTENSION | op::EXT_INST_IMPORT | op::MEMORY_MODEL) && !extension {
            extension = true;
            out.extend(super::spirv::string_instruction(op::EXTENSION, "SPV_KHR_8bit_storage"));
        }
        if matches!(code, op::TYPE_VOID..=op::TYPE_FORWARD_POINTER | op::CONSTANT_TRUE..=op::CONSTANT_NULL) && !declared {
            declared = true;
            out.extend(ids.declarations());
        }
        let start = out.len();
        match code {
            // Omit naga's declaration of this capability, because it was declared above and some drivers reject
            // duplicates.
            op::CAPABILITY if inst.get(1) == Some(&INT8) => continue,
            op::LOAD if pointers.get(inst.get(3)?) == Some(&Pointee::Byte) => {
                let (ty, result) = (inst[1], inst[2]);
                out.extend_from_slice(inst);
                out[start + 1] = ids.byte;
                out[start + 2] = next;
                out.extend([4 << 16 | op::U_CONVERT, ty, result, next]);
                next += 1;
                continue;
            }
            op::STORE if pointers.get(inst.get(1)?) == Some(&Pointee::Byte) => {
                out.extend([4 << 16 | op::U_CONVERT, ids.byte, next, *inst.get(2)?]);
                let start = out.len();
                out.extend_from_slice(inst);
                out[start + 2] = next;
                next += 1;
                continue;
            }
            _ => out.extend_from_slice(inst),
        }
        match code {
            op::DECORATE if inst.get(2) == Some(&BINDING) && tagged.contains(&inst[1]) => out[start + 3] &= !TAG,
            op::VARIABLE if tagged.contains(inst.get(2)?) => {
                out[start + 1] = ids.to_block;
                pointers.insert(inst[2], Pointee::Struct);
            }
            op::ACCESS_CHAIN | op::IN_BOUNDS_ACCESS_CHAIN => {
                if let Some(base) = pointers.get(inst.get(3)?) {
                    let made = match (base, inst.len() - 4) {
                        (Pointee::Struct, 1) => Pointee::Array,
                        (Pointee::Struct, 2) | (Pointee::Array, 1) => Pointee::Byte,
                        _ => return None,
                    };
                    out[start + 1] = ids.pointer(made);
                    pointers.insert(inst[2], made);
                }
            }
            _ => {}
        }
    }
    out[3] = next;
    Some(out)
}
