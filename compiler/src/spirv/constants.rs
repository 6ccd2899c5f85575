//! Constants and specialisation constants (SPIR-V 2.12, 3.52.7).

use rspirv::spirv::{Decoration, Op};
use rustc_hash::FxHashMap;

use super::decorations::Decorations;
use super::errors::{Checked, invalid, unsupported};
use super::fold;
use super::types::{Kind, Types};
use super::words::{Id, Inst};
use crate::ir::{Global, Reloc, Scalar, Type};

/// Maximum size in bytes of a constant whose contents are stored explicitly.
const MAX_CONTENTS: u32 = 64 << 20;

/// Values of specialisation constants by `SpecId`, as zero-extended bits.
pub type Specialisation = std::collections::BTreeMap<u32, u64>;

#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Constant {
    Bits(u64),
    Lanes(Vec<u64>),
    /// The ids of the constituents of an array or structure.
    Composite(Vec<Id>),
    /// A null pointer, or an aggregate whose bytes are all zero.
    Null,
    /// An undefined value.
    Undef,
    /// The address of a byte in a variable.
    Address {
        target: Global,
        offset: i64,
    },
    /// A built-in variable.
    BuiltIn(u32),
    /// A sampler, as the bitwise OR of OpenCL C's `CLK_...` values.
    Sampler(u32),
}

/// The constants and variables of a module, with their types.
#[derive(Debug, Default)]
pub(super) struct Constants {
    of: FxHashMap<Id, (Id, Constant)>,
}

impl Constants {
    /// Returns a constant and its type. `None` if the id is not a constant.
    pub(super) fn get(&self, id: Id) -> Option<(Id, &Constant)> {
        self.of.get(&id).map(|(ty, constant)| (*ty, constant))
    }

    /// Returns a constant and its type. Fails if the id is not a constant.
    pub(super) fn known(&self, id: Id) -> Checked<(Id, &Constant)> {
        self.get(id).ok_or_else(|| invalid!("{id} is not a constant"))
    }

    /// Returns the bits of an integer constant.
    pub(super) fn integer(&self, id: Id) -> Checked<u64> {
        match self.known(id)?.1 {
            Constant::Bits(bits) => Ok(*bits),
            _ => Err(invalid!("{id} is not an integer constant")),
        }
    }

    /// Returns the value of an integer constant that fits 32 bits.
    pub(super) fn word(&self, id: Id) -> Checked<u32> {
        u32::try_from(self.integer(id)?).map_err(|_| invalid!("the value of {id} does not fit in 32 bits"))
    }

    pub(super) fn insert(&mut self, id: Id, ty: Id, constant: Constant) {
        self.of.insert(id, (ty, constant));
    }

    /// Reads an instruction. Returns true if it declares a constant.
    pub(super) fn read(
        &mut self,
        inst: &Inst<'_>,
        types: &Types,
        decorations: &Decorations,
        specialisation: &Specialisation,
    ) -> Checked<bool> {
        let specialised = || {
            let number = decorations.value(inst.result().ok()?, Decoration::SpecId)?;
            specialisation.get(&number).copied()
        };
        let constant = match inst.op {
            Op::ConstantTrue => Constant::Bits(1),
            Op::ConstantFalse => Constant::Bits(0),
            Op::SpecConstantTrue => Constant::Bits(specialised().map_or(1, |bits| u64::from(bits != 0))),
            Op::SpecConstantFalse => Constant::Bits(specialised().map_or(0, |bits| u64::from(bits != 0))),
            Op::Constant => Constant::Bits(literal(inst, types)?),
            Op::SpecConstant => {
                let default = literal(inst, types)?;
                let mask = types.numbers(inst.ty()?)?.scalar().map_or(u64::MAX, Scalar::mask);
                Constant::Bits(specialised().map_or(default, |bits| bits & mask))
            }
            Op::ConstantNull => null(types, inst.ty()?)?,
            Op::Undef => Constant::Undef,
            Op::ConstantComposite | Op::SpecConstantComposite => self.composite(inst, types)?,
            Op::ConstantSampler => Constant::Sampler(sampler(inst)?),
            Op::SpecConstantOp => fold::operation(inst, types, self)?,
            _ => return Ok(false),
        };
        self.insert(inst.result()?, inst.ty()?, constant);
        Ok(true)
    }

    fn composite(&self, inst: &Inst<'_>, types: &Types) -> Checked<Constant> {
        let parts: Vec<Id> = inst.operands_from(0).collect();
        match &types.get(inst.ty()?)?.kind {
            Kind::Numbers(Type::Vector(_, lanes)) if parts.len() == usize::from(*lanes) => {
                let lane = |id: &Id| match self.known(*id)?.1 {
                    Constant::Bits(bits) => Ok(*bits),
                    Constant::Undef => Ok(0),
                    _ => Err(invalid!("{id} is not a component of a vector")),
                };
                Ok(Constant::Lanes(parts.iter().map(lane).collect::<Checked<_>>()?))
            }
            Kind::Array { count, .. } if parts.len() as u64 == *count => self.parts(parts),
            Kind::Struct { members } if parts.len() == members.len() => self.parts(parts),
            _ => Err(invalid!("{} constituents do not match the result type", parts.len())),
        }
    }

    fn parts(&self, parts: Vec<Id>) -> Checked<Constant> {
        for part in &parts {
            self.known(*part)?;
        }
        Ok(Constant::Composite(parts))
    }

    /// Returns the bytes of a constant, and relocations for the addresses in it.
    pub(super) fn contents(&self, id: Id, ty: Id, types: &Types) -> Checked<(Vec<u8>, Vec<Reloc>)> {
        let size = types.size(ty)?;
        if size > MAX_CONTENTS {
            return Err(unsupported!("a constant of {size} bytes (the limit is {MAX_CONTENTS})"));
        }
        let (mut bytes, mut relocs) = (vec![0; size as usize], Vec::new());
        self.write(id, ty, types, 0, (&mut bytes, &mut relocs))?;
        Ok((bytes, relocs))
    }

    fn write(&self, id: Id, ty: Id, types: &Types, at: u64, to: (&mut [u8], &mut Vec<Reloc>)) -> Checked<()> {
        let (bytes, relocs) = to;
        let info = types.get(ty)?;
        let mut put = |at: u64, bits: u64, size: usize| {
            let place = usize::try_from(at).ok().and_then(|at| bytes.get_mut(at..at + size));
            place
                .map(|place| place.copy_from_slice(&bits.to_le_bytes()[..size]))
                .ok_or_else(|| invalid!("{id} is out of range for its type"))
        };
        match (self.known(id)?.1, &info.kind) {
            (Constant::Null | Constant::Undef, _) => Ok(()),
            (Constant::Bits(bits), Kind::Numbers(Type::Scalar(scalar))) => put(at, *bits, scalar.size().max(1) as usize),
            (Constant::Lanes(lanes), Kind::Numbers(Type::Vector(scalar, count))) if lanes.len() == usize::from(*count) => {
                let size = scalar.size().max(1);
                (0..).zip(lanes).try_for_each(|(lane, bits)| put(at + lane * u64::from(size), *bits, size as usize))
            }
            (Constant::Sampler(bits), Kind::Sampler) => put(at, u64::from(*bits), 4),
            (Constant::Address { target, offset }, Kind::Pointer { .. } | Kind::PipeStorage) => {
                let at = u32::try_from(at).map_err(|_| invalid!("{id} is out of range for its type"))?;
                relocs.push(Reloc { at, target: *target, addend: *offset });
                Ok(())
            }
            (Constant::Composite(parts), Kind::Array { element, .. }) => {
                let size = types.get(*element)?.size;
                (0..).zip(parts).try_for_each(|(index, part)| self.write(*part, *element, types, at + index * size, (bytes, relocs)))
            }
            (Constant::Composite(parts), Kind::Struct { members }) => {
                parts.iter().zip(members).try_for_each(|(part, (ty, offset))| self.write(*part, *ty, types, at + offset, (bytes, relocs)))
            }
            _ => Err(invalid!("{id} is not a constant of its type")),
        }
    }
}

/// Returns the literal number of a constant instruction.
fn literal(inst: &Inst<'_>, types: &Types) -> Checked<u64> {
    let Type::Scalar(scalar) = types.numbers(inst.ty()?)? else { return Err(invalid!("the result type is not a scalar")) };
    let low = u64::from(inst.word(0)?);
    let high = if scalar.bits() == 64 { u64::from(inst.word(1)?) } else { 0 };
    Ok((high << 32 | low) & scalar.mask())
}

/// Returns the null constant of a type.
pub(super) fn null(types: &Types, ty: Id) -> Checked<Constant> {
    Ok(match types.get(ty)?.kind {
        Kind::Numbers(Type::Vector(_, lanes)) => Constant::Lanes(vec![0; lanes.into()]),
        Kind::Numbers(_) | Kind::Event | Kind::DeviceEvent | Kind::Queue | Kind::ReserveId => Constant::Bits(0),
        Kind::Sampler => Constant::Sampler(0),
        _ => Constant::Null,
    })
}

/// Returns the OpenCL C value of a sampler. Bit 0 is set for normalised coordinates, and bits 1 to 3 are the addressing
/// mode. The filter is 0x10 (nearest) or 0x20 (linear).
fn sampler(inst: &Inst<'_>) -> Checked<u32> {
    let (addressing, normalised, filter) = (inst.word(0)?, inst.word(1)?, inst.word(2)?);
    if addressing > 4 || normalised > 1 || filter > 1 {
        return Err(invalid!("the sampler addressing or filter mode is not valid"));
    }
    Ok(addressing << 1 | normalised | (0x10 << filter))
}

/// Returns the `SpecId` and the size in bytes of each specialisation constant of a module. The list is empty if the
/// instructions of the module cannot be decoded.
pub fn specialisation_constants(words: &[u32]) -> Vec<(u32, usize)> {
    let Ok(list) = super::words::instructions(words) else { return Vec::new() };
    let (mut numbers, mut widths, mut found) = (FxHashMap::default(), FxHashMap::default(), Vec::new());
    for inst in &list {
        match (inst.op, inst.operands) {
            (Op::Decorate, [id, decoration, number, ..]) if *decoration == Decoration::SpecId as u32 => {
                numbers.insert(Id(*id), *number);
            }
            (Op::TypeInt | Op::TypeFloat, [bits, ..]) => {
                widths.insert(inst.result_id(), (*bits / 8) as usize);
            }
            (Op::SpecConstantTrue | Op::SpecConstantFalse, _) => found.extend(inst.result_id().map(|id| (id, 1))),
            (Op::SpecConstant, _) => {
                let width = inst.ty().ok().and_then(|ty| widths.get(&Some(ty))).copied().unwrap_or_default();
                found.extend(inst.result_id().map(|id| (id, width)));
            }
            _ => {}
        }
    }
    found.into_iter().filter_map(|(id, width)| Some((*numbers.get(&id)?, width))).collect()
}
