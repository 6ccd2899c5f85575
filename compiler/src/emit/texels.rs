//! Buffers that a kernel only reads, as texel buffers: for devices that fetch texels faster than they load ([`Costs::texel_fetches`](crate::target::Costs::texel_fetches)).
//!
//! naga knows no texel buffers. A view is written as an array, tagged by its binding number ([`TAG`]); in the SPIR-V that naga makes of it the
//! variable gets an image without a sampler, and what is loaded is fetched:
//!
//! ```text
//! %p = OpAccessChain %ptr_uint %var %0 %i        %t = OpLoad %image %var
//! %x = OpLoad %uint %p                     =>    %f = OpImageFetch %v4uint %t %i
//!                                                %x = OpCompositeExtract %uint %f 0
//! ```
//! All formats are of unsigned integers. Half words are converted from words, 64-bit integers made of two words.

#[cfg(doc)]
use crate::target::Target;
use rustc_hash::FxHashMap;

use super::shader::TexelFormat;
use super::views::ViewKey;
use super::words::{BINDING, HEADER, instructions, op, tagged};

/// Set in the binding number of such a view; no device has so many.
pub(super) const TAG: u32 = 1 << 29;

/// The format of a view's elements, if there is one.
pub(super) fn format(key: ViewKey) -> Option<TexelFormat> {
    if key.atomic {
        return None;
    }
    Some(match (key.width, key.lanes) {
        (1, 1) => TexelFormat::R8,
        (2, 1) => TexelFormat::R16,
        (2, 2) => TexelFormat::Rg16,
        (2, 4) => TexelFormat::Rgba16,
        (4, 1) => TexelFormat::R32,
        (4, 2) | (8, 1) => TexelFormat::Rg32,
        (4, 4) | (8, 2) => TexelFormat::Rgba32,
        _ => return None,
    })
}

const UNIFORM_CONSTANT: u32 = 0;
const SAMPLED_BUFFER: u32 = 46;
const DIM_BUFFER: u32 = 5;

/// Types by their ids: bits of an unsigned integer and lanes.
type Types = FxHashMap<u32, (u32, u32)>;

struct Rewriter {
    out: Vec<u32>,
    next: u32,
    types: Types,
    /// `uint`, vectors of two and four of it.
    words: [u32; 3],
    image: u32,
    pointer: u32,
    /// Chains into tagged variables: the variable, and the index once it is there.
    chains: FxHashMap<u32, (u32, Option<u32>)>,
}

impl Rewriter {
    fn put(&mut self, code: u32, operands: &[u32]) {
        self.out.push((operands.len() as u32 + 1) << 16 | code);
        self.out.extend_from_slice(operands);
    }

    fn fresh(&mut self) -> u32 {
        self.next += 1;
        self.next - 1
    }

    /// The types that fetching takes, behind that of a word.
    fn declare(&mut self) {
        let [word, two, four] = self.words;
        self.put(op::TYPE_VECTOR, &[two, word, 2]);
        self.put(op::TYPE_VECTOR, &[four, word, 4]);
        // Not depth, no layers, one sample, sampled, of a format that the view says.
        self.put(op::TYPE_IMAGE, &[self.image, word, DIM_BUFFER, 0, 0, 0, 1, 0]);
        self.put(op::TYPE_POINTER, &[self.pointer, UNIFORM_CONSTANT, self.image]);
        self.types.insert(two, (32, 2));
        self.types.insert(four, (32, 4));
    }

    fn fetch(&mut self, ty: u32, result: u32, variable: u32, index: u32) -> Option<()> {
        let [word, two, four] = self.words;
        let (bits, lanes) = *self.types.get(&ty)?;
        // Words that make up the value.
        let count = if bits == 64 { lanes * 2 } else { lanes };
        let image = self.fresh();
        self.put(op::LOAD, &[self.image, image, variable]);
        let fetched = if (bits, count) == (32, 4) { result } else { self.fresh() };
        self.put(op::IMAGE_FETCH, &[four, fetched, image, index]);
        if fetched == result {
            return Some(());
        }
        let part = match (count, bits) {
            (4, _) => fetched,
            (_, 32) => result,
            _ => self.fresh(),
        };
        match count {
            1 => self.put(op::COMPOSITE_EXTRACT, &[word, part, fetched, 0]),
            2 => self.put(op::VECTOR_SHUFFLE, &[two, part, fetched, fetched, 0, 1]),
            4 => {}
            _ => return None,
        }
        match bits {
            16 => self.put(op::U_CONVERT, &[ty, result, part]),
            64 => self.put(op::BITCAST, &[ty, result, part]),
            _ => {}
        }
        Some(())
    }
}

/// Makes texel buffers of the tagged variables; `None` where the SPIR-V is not what naga writes.
pub(super) fn fetch(words: Vec<u32>) -> Option<Vec<u32>> {
    let tagged = tagged(&words, TAG);
    if tagged.is_empty() {
        return Some(words);
    }
    let find = |wanted: u32, operands: [u32; 2]| {
        instructions(&words)
            .find(|(code, inst)| *code == wanted && inst.get(2..) == Some(&operands))
            .and_then(|(_, inst)| inst.get(1).copied())
    };
    let word = find(op::TYPE_INT, [32, 0])?;
    let first = *words.get(3)?;
    let vectors = [2, 4].map(|lanes| find(op::TYPE_VECTOR, [word, lanes]));
    let all = [word, vectors[0].unwrap_or(first), vectors[1].unwrap_or(first + 1)];
    let mut rewriter = Rewriter {
        out: words.get(..HEADER)?.to_vec(),
        next: first + 4,
        types: Types::default(),
        words: all,
        image: first + 2,
        pointer: first + 3,
        chains: FxHashMap::default(),
    };
    let mut capability = false;
    for (code, inst) in instructions(&words) {
        if code != op::CAPABILITY && !capability {
            capability = true;
            rewriter.put(op::CAPABILITY, &[SAMPLED_BUFFER]);
        }
        match (code, inst) {
            (op::TYPE_VECTOR, [_, id, ..]) if all.contains(id) => continue,
            (op::TYPE_VECTOR, [_, id, scalar, lanes]) => {
                if let Some(&(bits, 1)) = rewriter.types.get(scalar) {
                    rewriter.types.insert(*id, (bits, *lanes));
                }
            }
            (op::TYPE_INT, [_, id, bits, 0]) => {
                rewriter.types.insert(*id, (*bits, 1));
                if *id == word {
                    rewriter.out.extend_from_slice(inst);
                    rewriter.declare();
                    continue;
                }
            }
            (op::DECORATE, [_, id, BINDING, binding]) if tagged.contains(id) => {
                rewriter.put(op::DECORATE, &[*id, BINDING, binding & !(TAG | super::bytes::TAG)]);
                continue;
            }
            (op::VARIABLE, [_, _, id, ..]) if tagged.contains(id) => {
                rewriter.put(op::VARIABLE, &[rewriter.pointer, *id, UNIFORM_CONSTANT]);
                continue;
            }
            (op::ACCESS_CHAIN | op::IN_BOUNDS_ACCESS_CHAIN, [_, _, id, base, indices @ ..]) => {
                let into =
                    if tagged.contains(base) { Some((*base, false)) } else { rewriter.chains.get(base).map(|chain| (chain.0, true)) };
                if let Some((variable, array)) = into {
                    // The first index of a variable is that of the array in its structure.
                    let index = match (array, indices) {
                        (false, [_]) => None,
                        (false, [_, index]) | (true, [index]) => Some(*index),
                        _ => return None,
                    };
                    rewriter.chains.insert(*id, (variable, index));
                    continue;
                }
            }
            (op::LOAD, [_, ty, result, pointer, ..]) => {
                if let Some(&(variable, index)) = rewriter.chains.get(pointer) {
                    rewriter.fetch(*ty, *result, variable, index?)?;
                    continue;
                }
            }
            _ => {}
        }
        rewriter.out.extend_from_slice(inst);
    }
    rewriter.out[3] = rewriter.next;
    Some(rewriter.out)
}
