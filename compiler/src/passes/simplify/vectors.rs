//! Rules for operations that construct vectors or extract lanes.
//!
//! Example: `extract (construct %0, %1), 1` is `%1`.

use super::rules::Output;
use super::walk::Walk;
use crate::ir::{CastOp, Const, Op, Type, Value};

/// A lane of a vector.
enum Lane {
    /// An existing scalar value.
    Value(Value),
    /// The bits of a constant.
    Bits(u64),
    Undefined,
}

impl Walk<'_> {
    pub(super) fn vector_rules(&mut self, at: &mut Output, op: &mut Op) -> Option<Value> {
        match op {
            Op::Extract(vector, lane) => self.extract(at, *vector, *lane),
            Op::ExtractDyn(vector, index) => {
                let (vector, lane) = (*vector, self.bits(*index)?);
                let lane = u8::try_from(lane).ok().filter(|&lane| lane < self.ty(vector).lanes());
                match lane {
                    Some(lane) => Some(self.make(at.out, at.span, at.ty, Op::Extract(vector, lane))),
                    None => Some(self.constant(at.ty, Const::Undef)),
                }
            }
            Op::InsertDyn(vector, index, scalar) => {
                let (vector, lane, scalar) = (*vector, self.bits(*index)?, *scalar);
                match u8::try_from(lane).ok().filter(|&lane| lane < at.ty.lanes()) {
                    Some(lane) => Some(self.make(at.out, at.span, at.ty, Op::Insert(vector, lane, scalar))),
                    None => Some(vector),
                }
            }
            Op::Insert(vector, lane, scalar) => self.insert(at, *vector, *lane, *scalar),
            Op::Construct(parts) => {
                let parts = parts.clone();
                self.construct(at, &parts)
            }
            Op::Splat(scalar) => {
                let scalar = *scalar;
                if self.is_undefined(scalar) {
                    return Some(self.constant(at.ty, Const::Undef));
                }
                let bits = self.bits(scalar)?;
                Some(self.splat(at.ty, bits))
            }
            Op::Shuffle(a, b, order) => {
                let (a, b, order) = (*a, *b, order.clone());
                self.shuffle(at, a, b, &order)
            }
            _ => None,
        }
    }

    /// Returns a lane of a vector, found through the operations that define the vector. Returns `None` if it is not
    /// known.
    fn lane(&self, vector: Value, lane: u8) -> Option<Lane> {
        let mut vector = vector;
        let mut lane = lane;
        for _ in 0..32 {
            match self.def(vector)? {
                Op::Const(Const::Lanes(lanes)) => return lanes.get(usize::from(lane)).map(|&bits| Lane::Bits(bits)),
                Op::Const(Const::Undef) => return Some(Lane::Undefined),
                Op::Construct(parts) => return parts.get(usize::from(lane)).map(|&part| Lane::Value(part)),
                Op::Splat(part) => return Some(Lane::Value(*part)),
                Op::Insert(inner, place, part) => {
                    if *place == lane {
                        return Some(Lane::Value(*part));
                    }
                    vector = *inner;
                }
                Op::Shuffle(a, b, order) => {
                    let lanes = self.ty(*a).lanes();
                    let Some(source) = *order.get(usize::from(lane))? else { return Some(Lane::Undefined) };
                    (vector, lane) = if source < lanes { (*a, source) } else { (*b, source - lanes) };
                    if lanes == 1 {
                        return Some(Lane::Value(vector));
                    }
                }
                _ => return None,
            }
        }
        None
    }

    /// Returns the lane as a value. Creates a constant if necessary.
    fn lane_value(&mut self, lane: &Lane, scalar: Type) -> Value {
        match *lane {
            Lane::Value(value) => value,
            Lane::Bits(bits) => self.splat(scalar, bits),
            Lane::Undefined => self.constant(scalar, Const::Undef),
        }
    }

    fn extract(&mut self, at: &mut Output, vector: Value, lane: u8) -> Option<Value> {
        if let Some(known) = self.lane(vector, lane) {
            return Some(self.lane_value(&known, at.ty));
        }
        // Looks through insertions into other lanes, and through shuffles.
        let (mut source, mut place) = (vector, lane);
        loop {
            match self.def(source) {
                Some(&Op::Insert(inner, other, _)) if other != place => source = inner,
                Some(Op::Shuffle(a, b, order)) => {
                    let lanes = self.ty(*a).lanes();
                    let index = (*order.get(usize::from(place))?)?;
                    (source, place) = if index < lanes { (*a, index) } else { (*b, index - lanes) };
                }
                _ => break,
            }
        }
        if source != vector {
            return Some(self.make(at.out, at.span, at.ty, Op::Extract(source, place)));
        }
        // The vector is a bitcast of a vector with the same number of lanes, in which the lane is known.
        if let Some(&Op::Cast(CastOp::Bitcast, inner)) = self.def(vector)
            && self.ty(inner).lanes() == self.ty(vector).lanes()
            && let Some(known) = self.lane(inner, lane)
        {
            let scalar = Self::lane_type(self.ty(inner))?;
            let part = self.lane_value(&known, scalar);
            return Some(self.make(at.out, at.span, at.ty, Op::Cast(CastOp::Bitcast, part)));
        }
        None
    }

    fn insert(&mut self, at: &mut Output, vector: Value, lane: u8, scalar: Value) -> Option<Value> {
        if matches!(self.def(scalar), Some(&Op::Extract(source, place)) if source == vector && place == lane) {
            return Some(vector);
        }
        let mut parts = Vec::new();
        for index in 0..at.ty.lanes() {
            parts.push(if index == lane { Lane::Value(scalar) } else { self.lane(vector, index)? });
        }
        if parts.iter().any(|part| matches!(part, Lane::Undefined)) {
            return None;
        }
        let ty = Self::lane_type(at.ty)?;
        let parts = parts.iter().map(|part| self.lane_value(part, ty)).collect();
        Some(self.make(at.out, at.span, at.ty, Op::Construct(parts)))
    }

    fn construct(&mut self, at: &mut Output, parts: &[Value]) -> Option<Value> {
        let first = *parts.first()?;
        if let Some(lanes) = parts.iter().map(|&part| self.bits(part)).collect::<Option<Vec<u64>>>() {
            return Some(self.constant_lanes(at.ty, lanes));
        }
        if parts.iter().all(|&part| part == first) {
            return Some(self.make(at.out, at.span, at.ty, Op::Splat(first)));
        }
        // If all parts are lanes of at most two vectors of the same type, the result is a shuffle.
        let mut sources: Vec<Value> = Vec::new();
        let mut order = Vec::with_capacity(parts.len());
        for &part in parts {
            let Some(&Op::Extract(source, lane)) = self.def(part) else { return None };
            let position = match sources.iter().position(|&other| other == source) {
                Some(position) => position,
                None if sources.len() < 2 && sources.first().is_none_or(|&other| self.ty(other) == self.ty(source)) => {
                    sources.push(source);
                    sources.len() - 1
                }
                None => return None,
            };
            let lanes = self.ty(source).lanes();
            order.push(Some(lane + if position == 1 { lanes } else { 0 }));
        }
        let (a, b) = (sources[0], *sources.last()?);
        Some(self.make(at.out, at.span, at.ty, Op::Shuffle(a, b, order)))
    }

    fn shuffle(&mut self, at: &mut Output, a: Value, b: Value, order: &[Option<u8>]) -> Option<Value> {
        let lanes = self.ty(a).lanes();
        if let [only] = *order {
            let Some(lane) = only else { return Some(self.constant(at.ty, Const::Undef)) };
            let (source, lane) = if lane < lanes { (a, lane) } else { (b, lane - lanes) };
            return Some(if lanes == 1 { source } else { self.make(at.out, at.span, at.ty, Op::Extract(source, lane)) });
        }
        let identity = |from: u8| {
            usize::from(lanes) == order.len() && order.iter().zip(from..).all(|(&lane, expected)| lane.is_none_or(|lane| lane == expected))
        };
        if self.ty(a) == at.ty {
            if identity(0) {
                return Some(a);
            }
            if identity(lanes) {
                return Some(b);
            }
        }
        let mut parts = Vec::with_capacity(order.len());
        for &lane in order {
            parts.push(match lane {
                None => Lane::Undefined,
                Some(lane) if lanes == 1 => Lane::Value(if lane == 0 { a } else { b }),
                Some(lane) if lane < lanes => self.lane(a, lane)?,
                Some(lane) => self.lane(b, lane - lanes)?,
            });
        }
        let ty = Self::lane_type(at.ty)?;
        let defined = parts.iter().find(|part| !matches!(part, Lane::Undefined));
        let filler = match defined {
            None => return Some(self.constant(at.ty, Const::Undef)),
            Some(part) => self.lane_value(part, ty),
        };
        let parts = parts.iter().map(|part| if matches!(part, Lane::Undefined) { filler } else { self.lane_value(part, ty) }).collect();
        Some(self.make(at.out, at.span, at.ty, Op::Construct(parts)))
    }
}
