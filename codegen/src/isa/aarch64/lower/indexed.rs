//! Gathers and scatters, with one access per lane.

use regalloc2::VReg;

use super::super::inst::InstBuilder;
use super::super::table as t;
use super::context::{Lower, wide};
use crate::vir::{Elem, Mem, Type, Value};

/// The addresses of lanes: `base + (index << shift)`. If `base` is `None`, the base is 0.
struct Indices {
    base: Option<VReg>,
    /// One or two vectors of indices.
    index: Vec<(VReg, Type)>,
    shift: u32,
}

impl Lower<'_> {
    fn indices(&mut self, base: Option<Value>, index: &[Value], scale: u8) -> Indices {
        let index: Vec<(VReg, Type)> = index.iter().map(|value| (self.reg(*value), self.ty(*value))).collect();
        let short = index.iter().any(|(_, ty)| !wide(*ty));
        let base = match base {
            Some(base) => Some(self.reg(base)),
            None if short => Some(self.int_constant(0)),
            None => None,
        };
        Indices { base, index, shift: u32::from(scale).trailing_zeros() }
    }

    /// Computes the address of a lane. Returns `None` if the index vectors have fewer lanes.
    fn lane_address(&mut self, indices: &Indices, lane: u8) -> Option<VReg> {
        let mut within = lane;
        let mut list = indices.index.iter();
        let (from, ty) = loop {
            let (from, ty) = list.next()?;
            if within < ty.lanes() {
                break (*from, *ty);
            }
            within -= ty.lanes();
        };
        let long = wide(ty);
        let index = match within {
            0 => self.move_to_general(long, from),
            lane => self.result(InstBuilder::new(t::UMOV).wide(long).n(from).lane(if long { 3 } else { 2 }, lane)),
        };
        Some(match indices.base {
            None => self.shift_left(true, index, indices.shift),
            Some(base) if long => self.shifted_sum(base, index, indices.shift),
            Some(base) => {
                let builder = InstBuilder::new(t::ADD_SIGNED).n(base).m(index);
                self.result(builder.imm(indices.shift << 10, indices.shift.into()))
            }
        })
    }

    pub(super) fn gather(&mut self, base: Option<Value>, index: &[Value], scale: u8, mask: Option<Value>, ty: Type) -> VReg {
        let indices = self.indices(base, index, scale);
        let mask = self.mask_reg(mask).map(|mask| (mask, self.safe_address()));
        let mem = Mem::Elem(ty.elem().unwrap_or(Elem::I32));
        let mut all = None;
        for lane in 0..ty.lanes() {
            let Some(at) = self.lane_address(&indices, lane) else { break };
            all = Some(match all {
                // The first lane can be loaded as a scalar, which clears the other lanes.
                None if mask.is_none() => {
                    let access = if wide(ty) { t::LOAD_D } else { t::LOAD_S };
                    self.result(InstBuilder::new(access.scaled).n(at))
                }
                before => {
                    let into = before.unwrap_or_else(|| self.zero());
                    self.load_lane(mem, into, lane, at, mask, ty)
                }
            });
        }
        all.unwrap_or_else(|| self.zero())
    }

    pub(super) fn scatter(&mut self, base: Option<Value>, index: &[Value], scale: u8, value: Value, mask: Option<Value>) {
        let ty = self.ty(value);
        let indices = self.indices(base, index, scale);
        let mask = self.mask_reg(mask);
        let value = self.reg(value);
        let mem = Mem::Elem(ty.elem().unwrap_or(Elem::I32));
        for lane in 0..ty.lanes() {
            let Some(at) = self.lane_address(&indices, lane) else { break };
            self.store_lane(mem, value, lane, at, mask, ty);
        }
    }
}
