//! Array-of-structures values: registers that contain vector components in the order of memory.
//!
//! ```text
//! memory      x0 y0 z0 w0  x1 y1 z1 w1 ...      a float4 of each work-item
//! AoS         x0 y0 z0 w0  x1 y1 z1 w1 ...      the order of memory
//! SoA         x0 x1 ...  y0 y1 ...  z0 ...      a register for each component
//! ```
//! Component-wise operations work in either order, and deinterleaving a value takes more instructions than loading it.
//! Therefore, the result of a component-wise operation on AoS values is an AoS value, and stores need no conversion. A
//! value is [deinterleaved](super::interleaved_access) if one of its components is used.

use smallvec::SmallVec;
use wgcl_codegen::vir::{Addr, Block, Op as VOp, Type as Register, Value as V};

use super::access::{Address, memory};
use super::shape::Mode;
use super::value::{Comps, Regs, Val, scalar};
use super::vectorizer::{Lowered, Vectorizer};
use crate::ir::{Op, Scalar, Type, Value};

const MAX_COMPONENTS: u32 = 16;

/// The components of a value in the order of memory.
#[derive(Clone, Debug)]
pub(super) struct AosValue {
    /// As many lists as components, but each register contains several components. For `n` components, register `i` of
    /// list `p` is vector number `i * n + p` in memory.
    vectors: Comps,
    /// The loop depth and the block of the value's definition.
    def_site: (u32, Block),
}

/// Returns the address of the first component, if the values of the gang are contiguous. They must have 2, 4, 8 or 16
/// components of at least 32 bits. Otherwise returns `None`.
fn contiguous_start(address: &Address, of: Scalar, count: u32) -> Option<V> {
    let whole = of.size() >= 4 && (2..=MAX_COMPONENTS).contains(&count) && count.is_power_of_two();
    match *address {
        Address::Linear(first, stride) if whole && stride == i64::from(of.size() * count) => Some(first),
        _ => None,
    }
}

impl Vectorizer<'_> {
    /// Loads a value as an AoS value. Returns false if this is not possible.
    pub(super) fn load_aos(&mut self, result: Value, address: &Address) -> bool {
        let ty = self.ir_ty(result);
        let (of, count) = (scalar(ty), u32::from(ty.lanes()));
        let Some(first) = contiguous_start(address, of, count).filter(|_| self.masks.exec.is_none() && self.shape.lanes > 1) else {
            return false;
        };
        let register = self.shape.register(of, Mode::Varying);
        let mut vectors: Comps = SmallVec::from_elem(Regs::new(), count as usize);
        for index in 0..self.shape.registers(of, Mode::Varying) as u32 {
            for part in 0..count {
                let addr = self.vector_addr(first, of, index * count + part);
                vectors[part as usize].push(self.emit(register, VOp::LoadVector { mem: memory(of), addr, mask: None }));
            }
        }
        self.define_aos(result, vectors);
        true
    }

    /// Stores an AoS value. Returns false if the value is not an AoS value, memory has another order, or lanes are
    /// masked.
    pub(super) fn store_aos(&mut self, address: &Address, value: Value) -> bool {
        let ty = self.ir_ty(value);
        let (of, count) = (scalar(ty), u32::from(ty.lanes()));
        let Some(first) = contiguous_start(address, of, count).filter(|_| self.masks.exec.is_none()) else { return false };
        let Some(aos) = self.forms.aos.get(&value) else { return false };
        let vectors = aos.vectors.clone();
        for index in 0..self.shape.registers(of, Mode::Varying) as u32 {
            for (part, regs) in (0..).zip(&vectors) {
                let addr = self.vector_addr(first, of, index * count + part);
                self.b.effect(VOp::StoreVector { mem: memory(of), addr, value: regs[index as usize], mask: None });
            }
        }
        true
    }

    /// Returns the address of vector `number` in contiguous memory.
    fn vector_addr(&self, first: V, of: Scalar, number: u32) -> Addr {
        let bytes = u32::from(self.shape.register(of, Mode::Varying).lanes()) * of.size();
        Addr::offset(first, (number * bytes).cast_signed())
    }

    fn define_aos(&mut self, result: Value, vectors: Comps) {
        let def_site = (self.depth(), self.b.current());
        self.values[result.index()] = None;
        self.forms.aos.insert(result, AosValue { vectors, def_site });
    }

    /// Computes a unary, binary or math operation on AoS values. Returns false for other operations, if no operand is
    /// an AoS value, if an operand cannot be converted to one, or if lanes are masked.
    pub(super) fn compute_aos(&mut self, op: &Op, result: Value) -> Lowered<bool> {
        let ty = self.ir_ty(result);
        let operands: SmallVec<[Value; 3]> = match op {
            Op::Un(_, a) => SmallVec::from_slice(&[*a]),
            Op::Bin(_, a, b) => SmallVec::from_slice(&[*a, *b]),
            Op::Math(_, args) => args.iter().copied().collect(),
            _ => return Ok(false),
        };
        let is_aos = |value: &Value| self.forms.aos.contains_key(value);
        if self.masks.exec.is_some() || !operands.iter().any(is_aos) || operands.iter().any(|&operand| self.ir_ty(operand) != ty) {
            return Ok(false);
        }
        let lists: Option<SmallVec<[Comps; 3]>> = operands.iter().map(|&operand| self.as_aos(operand, ty)).collect();
        let Some(lists) = lists else { return Ok(false) };
        let (of, mode) = (scalar(ty), Mode::Varying);
        let vectors: Lowered<Comps> = (0..usize::from(ty.lanes()))
            .map(|part| {
                let args: SmallVec<[&[V]; 3]> = lists.iter().map(|list| &list[part][..]).collect();
                match op {
                    Op::Un(op, _) => Ok(self.unary(*op, of, mode, args[0])),
                    Op::Bin(op, ..) => self.binary(*op, of, mode, args[0], args[1]),
                    Op::Math(op, _) => self.math(*op, of, mode, &args),
                    _ => Ok(Regs::new()),
                }
            })
            .collect();
        self.define_aos(result, vectors?);
        Ok(true)
    }

    /// Converts an operand to an AoS value. Returns `None` if it is neither an AoS value nor uniform.
    fn as_aos(&mut self, value: Value, ty: Type) -> Option<Comps> {
        if let Some(aos) = self.forms.aos.get(&value) {
            return Some(aos.vectors.clone());
        }
        if !self.is_uniform(value) {
            return None;
        }
        let of = scalar(ty);
        let components: SmallVec<[V; 4]> = self.comps(value, Mode::Varying).into_iter().map(|regs| regs[0]).collect();
        let count = self.shape.registers(of, Mode::Varying);
        if components.iter().all(|component| *component == components[0]) {
            return Some(components.iter().map(|&component| SmallVec::from_elem(component, count)).collect());
        }
        // The value is uniform, so its components repeat in memory: vector `i * n + p` is the same for every `i`.
        let interleaved = self.interleave(self.shape.register(of, Mode::Varying), &components);
        Some(interleaved.into_iter().map(|vector| SmallVec::from_elem(vector, count)).collect())
    }

    /// Computes the registers of each component of an AoS value, at the definition of the value. Returns `None` for
    /// other values.
    pub(super) fn deinterleaved(&mut self, value: Value) -> Option<Comps> {
        let aos = self.forms.aos.get(&value)?;
        let (vectors, def_site) = (aos.vectors.clone(), aos.def_site);
        let register = self.shape.register(scalar(self.ir_ty(value)), Mode::Varying);
        let soa = self.in_block(def_site, |this| this.deinterleave_vectors(register, &vectors));
        self.values[value.index()] = Some(Val::Varying(soa.clone()));
        Some(soa)
    }

    /// Deinterleaves vectors to the registers of each component.
    fn deinterleave_vectors(&mut self, register: Register, vectors: &Comps) -> Comps {
        let mut soa: Comps = SmallVec::from_elem(Regs::new(), vectors.len());
        for index in 0..vectors[0].len() {
            let list: Vec<V> = vectors.iter().map(|regs| regs[index]).collect();
            for (regs, vector) in soa.iter_mut().zip(self.deinterleave(register, &list)) {
                regs.push(vector);
            }
        }
        soa
    }
}
