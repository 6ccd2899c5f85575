//! Decorations (SPIR-V 3.20, "Decoration").

use rspirv::spirv::{Decoration, FPRoundingMode, FunctionParameterAttribute, LinkageType, Op};
use rustc_hash::FxHashMap;

use super::errors::{Checked, invalid};
use super::words::{Id, Inst};
use crate::thir::Linkage;

/// A decoration of an id.
#[derive(Clone, Debug)]
struct Decorated {
    /// The number of the decoration.
    decoration: u32,
    operands: Vec<u32>,
}

/// The linkage of a function or variable (2.17, "Linkage").
#[derive(Clone, Debug)]
pub(super) struct Link {
    /// The name of the symbol.
    pub(super) name: String,
    /// The linkage of the definition.
    pub(super) linkage: Linkage,
    /// Whether another module defines the symbol.
    pub(super) import: bool,
}

/// All decorations of a module.
#[derive(Debug, Default)]
pub(super) struct Decorations {
    of: FxHashMap<Id, Vec<Decorated>>,
    links: FxHashMap<Id, Link>,
}

/// Returns the suffix of OpenCL C's conversion functions for a SPIR-V rounding mode.
pub(super) fn rounding_suffix(mode: u32) -> &'static str {
    match FPRoundingMode::from_u32(mode) {
        Some(FPRoundingMode::RTE) => "_rte",
        Some(FPRoundingMode::RTZ) => "_rtz",
        Some(FPRoundingMode::RTP) => "_rtp",
        Some(FPRoundingMode::RTN) => "_rtn",
        None => "",
    }
}

impl Decorations {
    /// Reads a decoration. Ignores other instructions.
    pub(super) fn read(&mut self, inst: &Inst<'_>) -> Checked<()> {
        match inst.op {
            Op::Decorate | Op::DecorateId | Op::DecorateString => {
                let (id, decoration) = (inst.operand(0)?, inst.word(1)?);
                if decoration == Decoration::LinkageAttributes as u32 {
                    self.links.insert(id, link(inst)?);
                    return Ok(());
                }
                let operands = inst.operands.get(2..).unwrap_or_default().to_vec();
                self.of.entry(id).or_default().push(Decorated { decoration, operands });
                Ok(())
            }
            Op::GroupDecorate => {
                let group = self.of.get(&inst.operand(0)?).cloned().unwrap_or_default();
                for id in inst.operands_from(1) {
                    self.of.entry(id).or_default().extend(group.iter().cloned());
                }
                Ok(())
            }
            _ => Ok(()),
        }
    }

    fn find(&self, id: Id, decoration: Decoration) -> Option<&Decorated> {
        self.of.get(&id)?.iter().find(|known| known.decoration == decoration as u32)
    }

    /// Whether an id has a decoration.
    pub(super) fn has(&self, id: Id, decoration: Decoration) -> bool {
        self.find(id, decoration).is_some()
    }

    /// Returns the first operand of a decoration, or `None` if the id does not have the decoration.
    pub(super) fn value(&self, id: Id, decoration: Decoration) -> Option<u32> {
        self.find(id, decoration)?.operands.first().copied()
    }

    /// Whether a function parameter has an attribute.
    pub(super) fn has_attribute(&self, id: Id, attribute: FunctionParameterAttribute) -> bool {
        let wanted = (Decoration::FuncParamAttr as u32, attribute as u32);
        self.of
            .get(&id)
            .is_some_and(|list| list.iter().any(|known| (known.decoration, known.operands.first().copied().unwrap_or(u32::MAX)) == wanted))
    }

    /// Returns the linkage of an id, or `None` if the id has no linkage decoration.
    pub(super) fn link(&self, id: Id) -> Option<&Link> {
        self.links.get(&id)
    }
}

fn link(inst: &Inst<'_>) -> Checked<Link> {
    /// `LinkOnceODR` of SPV_KHR_linkonce_odr.
    const LINK_ONCE_ODR: u32 = LinkageType::LinkOnceODR as u32;
    let (name, words) = inst.string(2)?;
    let (linkage, import) = match inst.word(2 + words)? {
        kind if kind == LinkageType::Export as u32 => (Linkage::External, false),
        kind if kind == LinkageType::Import as u32 => (Linkage::External, true),
        LINK_ONCE_ODR => (Linkage::Inline, false),
        kind => return Err(invalid!("{kind} is not a linkage type")),
    };
    Ok(Link { name, linkage, import })
}
