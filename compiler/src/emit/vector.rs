//! Lanes: construction, extraction, shuffles, and bitcasts between values of different shapes. A value consists of
//! chunks of up to four lanes ([`super::builder::Val`]).
//!
//! Example: a bitcast from `f32x2` to `i64` combines two raw words with [`Emitter::join`].

use super::EmitError;
use super::builder::{Expr, Val, chunk_count, chunk_lanes, register, single};
use super::function::Emitter;
use crate::ir::{self, Type, Value};
use naga::{BinaryOperator, MathFunction, Scalar, ScalarKind};
use smallvec::SmallVec;

/// The lanes of a value, one scalar expression per lane.
pub(super) type Scalars = SmallVec<[Expr; 16]>;

/// A lane of an operand, which a lane of the result of a shuffle copies.
#[derive(Clone, Copy, PartialEq, Eq)]
struct Source {
    /// Index of the chunk among the chunks of both operands.
    chunk: usize,
    lane: u8,
}

impl Emitter<'_, '_> {
    /// Splits a value with `lanes` lanes into scalars.
    pub(super) fn scalars(&mut self, chunks: &[Expr], lanes: u8) -> Scalars {
        let per = chunk_lanes(lanes);
        let mut all = Scalars::new();
        for &chunk in chunks {
            for lane in 0..per {
                let scalar = self.b.lane(chunk, per, lane);
                all.push(scalar);
            }
        }
        all
    }

    /// Composes a value from its lanes, which have the naga type `scalar`.
    pub(super) fn gather(&mut self, scalar: Scalar, scalars: &[Expr]) -> Val {
        scalars.chunks(4).map(|part| self.b.compose(scalar, part)).collect()
    }

    pub(super) fn construct(&mut self, parts: &[Value], ty: Type) -> Result<Val, EmitError> {
        let mut scalars = Scalars::new();
        for &part in parts {
            scalars.extend(self.value(part)?);
        }
        let scalar = ty.scalar().ok_or_else(|| EmitError::Internal(format!("construction of a {ty}")))?;
        Ok(self.gather(register(scalar), &scalars))
    }

    pub(super) fn splat_value(&mut self, a: Value, ty: Type) -> Result<Val, EmitError> {
        let scalar = self.one(a)?;
        let chunk = self.b.splat(scalar, chunk_lanes(ty.lanes()));
        Ok(std::iter::repeat_n(chunk, chunk_count(ty.lanes())).collect())
    }

    pub(super) fn extract(&mut self, a: Value, lane: u8) -> Result<Val, EmitError> {
        let lanes = self.function.ty(a).lanes();
        let chunks = self.value(a)?;
        let chunk = chunks.get(usize::from(lane / 4)).copied().ok_or_else(|| EmitError::Internal(format!("no lane {lane}")))?;
        Ok(single(self.b.lane(chunk, chunk_lanes(lanes), lane % 4)))
    }

    pub(super) fn insert(&mut self, a: Value, lane: u8, scalar: Value) -> Result<Val, EmitError> {
        let ty = self.function.ty(a);
        let element = register(ty.scalar().unwrap_or(ir::Scalar::I32));
        let new = self.one(scalar)?;
        let mut chunks = self.value(a)?;
        let per = chunk_lanes(ty.lanes());
        let index = usize::from(lane / 4);
        let chunk = *chunks.get(index).ok_or_else(|| EmitError::Internal(format!("no lane {lane}")))?;
        let parts: SmallVec<[Expr; 4]> = (0..per).map(|i| if i == lane % 4 { new } else { self.b.lane(chunk, per, i) }).collect();
        chunks[index] = self.b.compose(element, &parts);
        Ok(chunks)
    }

    /// Converts the index of a lane to `u32`.
    fn lane_index(&mut self, index: Value) -> Result<Expr, EmitError> {
        let expr = self.one(index)?;
        Ok(if self.function.ty(index) == Type::I64 { self.b.convert(expr, Scalar::U32) } else { expr })
    }

    pub(super) fn extract_dyn(&mut self, a: Value, index: Value) -> Result<Val, EmitError> {
        let lanes = self.function.ty(a).lanes();
        let chunks = self.value(a)?;
        let index = self.lane_index(index)?;
        let mut vector = chunks[0];
        if chunks.len() > 1 {
            let two = self.b.u32(2);
            let wanted = self.b.shr(index, two);
            for (i, &chunk) in chunks.iter().enumerate().skip(1) {
                let number = self.b.u32(i as u32);
                let here = self.b.binary(BinaryOperator::Equal, wanted, number);
                vector = self.b.select(here, chunk, vector);
            }
        }
        if lanes == 1 {
            return Ok(single(vector));
        }
        // The result for an index out of range is unspecified, but the access must be valid. So the index is limited.
        let index = if lanes == 3 {
            let last = self.b.u32(2);
            self.b.math(MathFunction::Min, &[index, last])
        } else {
            let last = self.b.u32(u32::from(chunk_lanes(lanes)) - 1);
            self.b.and(index, last)
        };
        Ok(single(self.b.element(vector, index)))
    }

    pub(super) fn insert_dyn(&mut self, a: Value, index: Value, scalar: Value) -> Result<Val, EmitError> {
        let lanes = self.function.ty(a).lanes();
        let per = chunk_lanes(lanes);
        let chunks = self.value(a)?;
        let index = self.lane_index(index)?;
        let new = self.one(scalar)?;
        let (index, new) = (self.b.splat(index, per), self.b.splat(new, per));
        Ok(chunks
            .into_iter()
            .enumerate()
            .map(|(i, chunk)| {
                let numbers: SmallVec<[u64; 4]> = (0..u64::from(per)).map(|lane| i as u64 * 4 + lane).collect();
                let numbers = self.b.lanes(Scalar::U32, &numbers);
                let here = self.b.binary(BinaryOperator::Equal, index, numbers);
                self.b.select(here, new, chunk)
            })
            .collect())
    }

    pub(super) fn shuffle(&mut self, a: Value, b: Value, picks: &[Option<u8>]) -> Result<Val, EmitError> {
        let ty = self.function.ty(a);
        let per = chunk_lanes(ty.lanes());
        let mut sources = self.value(a)?;
        let left = sources.len();
        if a != b {
            let right = self.value(b)?;
            sources.extend(right);
        }
        let element = register(ty.scalar().unwrap_or(ir::Scalar::I32));
        let find = |pick: u8| {
            let (right, lane) = if pick >= ty.lanes() { (a != b, pick - ty.lanes()) } else { (false, pick) };
            Source { chunk: usize::from(lane / 4) + if right { left } else { 0 }, lane: lane % 4 }
        };
        picks
            .chunks(4)
            .map(|part| {
                let mut places: SmallVec<[Source; 4]> = SmallVec::new();
                let any = part.iter().flatten().next().map_or(Source { chunk: 0, lane: 0 }, |&pick| find(pick));
                for (i, pick) in part.iter().enumerate() {
                    // Any lane may replace an unspecified lane. This one gives the simplest pattern.
                    let keep = Source { chunk: any.chunk, lane: if (i as u8) < per { i as u8 } else { any.lane } };
                    places.push(pick.map_or(keep, find));
                }
                if places.iter().any(|place| place.chunk >= sources.len()) {
                    return Err(EmitError::Internal("a shuffle picks a lane that is not there".to_owned()));
                }
                let one_source = places.iter().all(|place| place.chunk == any.chunk);
                let source = sources[any.chunk];
                let identity =
                    one_source && places.len() == usize::from(per) && places.iter().enumerate().all(|(i, p)| usize::from(p.lane) == i);
                if identity {
                    return Ok(source);
                }
                if one_source && per > 1 && places.len() > 1 {
                    let pattern: SmallVec<[u8; 4]> = places.iter().map(|place| place.lane).collect();
                    return Ok(self.b.swizzle(source, &pattern));
                }
                let scalars: SmallVec<[Expr; 4]> = places.iter().map(|place| self.b.lane(sources[place.chunk], per, place.lane)).collect();
                Ok(self.b.compose(element, &scalars))
            })
            .collect()
    }

    // Raw bits

    /// The bits of a chunk as unsigned integers: `u64` for 64-bit scalars, otherwise `u32` with zero-extended lanes.
    pub(super) fn raw_of_chunk(&mut self, scalar: ir::Scalar, lanes: u8, chunk: Expr) -> Result<Expr, EmitError> {
        Ok(match scalar {
            ir::Scalar::F32 | ir::Scalar::F64 => self.b.bitcast(chunk, ScalarKind::Uint),
            ir::Scalar::F16 if self.cx.target.shaders.int16 => {
                let bits = self.b.bitcast(chunk, ScalarKind::Uint);
                self.b.convert(bits, Scalar::U32)
            }
            ir::Scalar::F16 => {
                let parts: SmallVec<[Expr; 4]> = (0..lanes)
                    .map(|lane| {
                        let half = self.b.lane(chunk, lanes, lane);
                        let single = self.b.convert(half, Scalar::F32);
                        let zero = self.b.scalar(Scalar::F32, 0);
                        let pair = self.b.compose(Scalar::F32, &[single, zero]);
                        self.b.math(MathFunction::Pack2x16float, &[pair])
                    })
                    .collect();
                self.b.compose(Scalar::U32, &parts)
            }
            ir::Scalar::Bool => return Err(EmitError::Internal("the bits of a bool".to_owned())),
            _ => chunk,
        })
    }

    /// The reverse of [`Self::raw_of_chunk`]. The bits above a narrow scalar must be zero.
    pub(super) fn chunk_of_raw(&mut self, scalar: ir::Scalar, lanes: u8, raw: Expr) -> Result<Expr, EmitError> {
        Ok(match scalar {
            ir::Scalar::F32 | ir::Scalar::F64 => self.b.bitcast(raw, ScalarKind::Float),
            ir::Scalar::F16 if self.cx.target.shaders.int16 => {
                let bits = self.b.convert(raw, super::views::naga_u16());
                self.b.bitcast(bits, ScalarKind::Float)
            }
            ir::Scalar::F16 => {
                let parts: SmallVec<[Expr; 4]> = (0..lanes)
                    .map(|lane| {
                        let bits = self.b.lane(raw, lanes, lane);
                        let pair = self.b.math(MathFunction::Unpack2x16float, &[bits]);
                        let single = self.b.lane(pair, 2, 0);
                        self.b.convert(single, Scalar::F16)
                    })
                    .collect();
                self.b.compose(Scalar::F16, &parts)
            }
            ir::Scalar::Bool => return Err(EmitError::Internal("a bool from bits".to_owned())),
            _ => raw,
        })
    }

    /// Splits raw lanes of `size` bytes into pieces of `piece` bytes (1, 2 or 4), the lowest first.
    pub(super) fn split(&mut self, raw: &[Expr], size: u32, piece: u32) -> Scalars {
        let mut pieces = Scalars::new();
        if size <= piece {
            let per = (piece / size).max(1) as usize;
            for group in raw.chunks(per) {
                let mut word = group[0];
                for (i, &lane) in group.iter().enumerate().skip(1) {
                    let amount = self.b.u32(i as u32 * size * 8);
                    let moved = self.b.shl(lane, amount);
                    word = self.b.or(word, moved);
                }
                pieces.push(word);
            }
            return pieces;
        }
        for &lane in raw {
            let words: SmallVec<[Expr; 2]> = if size == 8 {
                let low = self.b.convert(lane, Scalar::U32);
                let amount = self.b.u32(32);
                let high = self.b.shr(lane, amount);
                let high = self.b.convert(high, Scalar::U32);
                SmallVec::from_buf([low, high])
            } else {
                SmallVec::from_slice(&[lane])
            };
            let word_size = size.min(4);
            for word in words {
                for i in 0..word_size / piece {
                    let part = self.bits_of(word, word_size, i * piece, piece);
                    pieces.push(part);
                }
            }
        }
        pieces
    }

    /// Extracts bytes `at..at + count` of a zero-extended value of `size` bytes.
    pub(super) fn bits_of(&mut self, word: Expr, size: u32, at: u32, count: u32) -> Expr {
        let mut part = word;
        if at > 0 {
            let amount = self.b.u32(at * 8);
            part = self.b.shr(part, amount);
        }
        if at + count < size {
            let mask = self.b.u32((1 << (count * 8)) - 1);
            part = self.b.and(part, mask);
        }
        part
    }

    /// Joins pieces of `piece` bytes (1, 2 or 4), the lowest first, to raw lanes of `size` bytes. The reverse of
    /// [`Self::split`].
    pub(super) fn join(&mut self, pieces: &[Expr], piece: u32, size: u32, lanes: u32) -> Scalars {
        let mut raw = Scalars::new();
        if size <= piece {
            let per = piece / size;
            for lane in 0..lanes {
                let word = pieces[(lane / per) as usize];
                let part = self.bits_of(word, piece, lane % per * size, size);
                raw.push(part);
            }
            return raw;
        }
        let per = (size / piece) as usize;
        for group in pieces.chunks(per).take(lanes as usize) {
            let half = if size == 8 { per / 2 } else { per };
            let words: SmallVec<[Expr; 2]> = group.chunks(half).map(|parts| self.join_word(parts, piece)).collect();
            raw.push(match words[..] {
                [low, high] => self.pair(low, high),
                _ => words[0],
            });
        }
        raw
    }

    fn join_word(&mut self, parts: &[Expr], piece: u32) -> Expr {
        let mut word = parts[0];
        for (i, &part) in parts.iter().enumerate().skip(1) {
            let amount = self.b.u32(i as u32 * piece * 8);
            let moved = self.b.shl(part, amount);
            word = self.b.or(word, moved);
        }
        word
    }

    /// Combines two words to a `u64`.
    fn pair(&mut self, low: Expr, high: Expr) -> Expr {
        let (low, high) = (self.b.convert(low, Scalar::U64), self.b.convert(high, Scalar::U64));
        let amount = self.b.u32(32);
        let high = self.b.shl(high, amount);
        self.b.or(high, low)
    }

    /// Converts raw lanes to a value of type `ty`.
    pub(super) fn lanes_of_raw(&mut self, raw: &[Expr], ty: Type) -> Result<Val, EmitError> {
        let scalar = ty.scalar().ok_or_else(|| EmitError::Internal(format!("a {ty} from bits")))?;
        let raw_scalar = if scalar.size() == 8 { Scalar::U64 } else { Scalar::U32 };
        let chunks = self.gather(raw_scalar, raw);
        let lanes = chunk_lanes(ty.lanes());
        chunks.into_iter().map(|chunk| self.chunk_of_raw(scalar, lanes, chunk)).collect()
    }

    /// Converts a value to raw lanes.
    pub(super) fn raw_of_lanes(&mut self, chunks: &[Expr], ty: Type) -> Result<Scalars, EmitError> {
        let scalar = ty.scalar().ok_or_else(|| EmitError::Internal(format!("the bits of a {ty}")))?;
        let lanes = chunk_lanes(ty.lanes());
        let raw = chunks.iter().map(|&chunk| self.raw_of_chunk(scalar, lanes, chunk)).collect::<Result<Val, _>>()?;
        Ok(self.scalars(&raw, ty.lanes()))
    }

    pub(super) fn bitcast_value(&mut self, a: Value, to: Type) -> Result<Val, EmitError> {
        let from = self.function.ty(a);
        let chunks = self.value(a)?;
        if from == to {
            return Ok(chunks);
        }
        let (Some(from_scalar), Some(to_scalar)) = (from.scalar(), to.scalar()) else {
            return Err(EmitError::unsupported("a pointer whose target is known only at run time"));
        };
        if from_scalar.size() * u32::from(from.lanes()) != to_scalar.size() * u32::from(to.lanes()) {
            return Err(EmitError::Internal(format!("bitcast of {from} to {to}")));
        }
        let lanes = chunk_lanes(from.lanes());
        if from.lanes() == to.lanes() {
            return chunks
                .into_iter()
                .map(|chunk| {
                    let raw = self.raw_of_chunk(from_scalar, lanes, chunk)?;
                    self.chunk_of_raw(to_scalar, lanes, raw)
                })
                .collect();
        }
        let raw = self.raw_of_lanes(&chunks, from)?;
        let piece = from_scalar.size().max(to_scalar.size()).min(4);
        let pieces = self.split(&raw, from_scalar.size(), piece);
        let raw = self.join(&pieces, piece, to_scalar.size(), u32::from(to.lanes()));
        self.lanes_of_raw(&raw, to)
    }
}
