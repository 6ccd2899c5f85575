//! Images and samplers that blocks capture.
//!
//! A translator stores them in the memory of the block's captures, but the host cannot pass them in memory. So the
//! enqueuing function loads them from the memory, and the OpenCL C block captures them as variables. It stores them in
//! its own copy of the captures, from which the module's function loads them. After inlining, these stores and loads
//! become SSA values.
//!
//! ```text
//! %place = OpInBoundsPtrAccessChain %ptr %captures %24      an address at a constant offset from the parameter
//! %image = OpLoad %image_type %place                        Handle { offset: 24, ty: %image_type }
//! ```

use rspirv::spirv::Op as Opcode;
use rustc_hash::{FxHashMap, FxHashSet};

use super::enqueue::enqueued_function;
use super::errors::{Checked, ErrorKind, invalid, unsupported};
use super::module::{FunctionDef, Module};
use super::types::Kind;
use super::words::{Id, Inst};
use crate::ir::{self, Op, Space, Type};
use crate::lower::builder::Builder;

/// An image or a sampler in the captures of a block.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Handle {
    /// The offset in bytes from the start of the captures.
    pub(super) offset: u64,
    pub(super) ty: Id,
}

/// The images and samplers that the enqueued functions of a module load from their captures.
#[derive(Debug, Default)]
pub(super) struct CapturedHandles {
    of: FxHashMap<Id, Vec<Handle>>,
    loads: FxHashSet<Id>,
}

impl CapturedHandles {
    pub(super) fn find(module: &Module<'_>) -> Self {
        let mut found = Self::default();
        for inst in module.functions.iter().flat_map(|def| &def.blocks).flat_map(|block| &block.insts) {
            let Some(function) = enqueued_function(inst).filter(|function| !found.of.contains_key(function)) else { continue };
            let mut search = Search { module, loads: &mut found.loads, handles: Vec::new(), seen: FxHashSet::default() };
            search.function(function, 0, 0);
            let mut handles = search.handles;
            handles.sort_unstable();
            handles.dedup();
            found.of.insert(function, handles);
        }
        found
    }

    /// Returns the handles that an enqueued function loads, by their offsets.
    pub(super) fn of(&self, function: Id) -> &[Handle] {
        self.of.get(&function).map_or(&[], Vec::as_slice)
    }

    /// Whether an instruction loads an image or a sampler from the captures of a block.
    pub(super) fn contains_load(&self, load: Id) -> bool {
        self.loads.contains(&load)
    }
}

/// The search for loads from the captures of one enqueued function.
struct Search<'a, 'w> {
    module: &'a Module<'w>,
    loads: &'a mut FxHashSet<Id>,
    handles: Vec<Handle>,
    /// Functions, parameters, and offsets of the parameters in the captures.
    seen: FxHashSet<(Id, usize, u64)>,
}

impl Search<'_, '_> {
    /// Searches a function whose parameter points to the captures at `start`.
    fn function(&mut self, function: Id, param: usize, start: u64) {
        let Some(def) = self.module.function_numbers.get(&function).and_then(|&number| self.module.functions.get(number)) else { return };
        let Some(pointer) = def.params.get(param).and_then(Inst::result_id) else { return };
        if !self.seen.insert((function, param, start)) {
            return;
        }
        let addresses = self.addresses(def, pointer, start);
        for inst in def.blocks.iter().flat_map(|block| &block.insts) {
            let address = |index: usize| inst.operand(index).ok().and_then(|id| addresses.get(&id)).copied();
            match inst.op {
                Opcode::Load => {
                    if let (Some(offset), Some(load), Ok(ty)) = (address(0), inst.result_id(), inst.ty())
                        && self.module.types.get(ty).is_ok_and(|info| matches!(info.kind, Kind::Image(_) | Kind::Sampler))
                    {
                        self.loads.insert(load);
                        self.handles.push(Handle { offset, ty });
                    }
                }
                Opcode::FunctionCall => {
                    let Ok(callee) = inst.operand(0) else { continue };
                    for index in 1..inst.operands.len() {
                        if let Some(offset) = address(index) {
                            self.function(callee, index - 1, offset);
                        }
                    }
                }
                _ => {}
            }
        }
    }

    /// Returns the addresses at constant offsets from a pointer, with their offsets in the captures.
    fn addresses(&self, def: &FunctionDef<'_>, pointer: Id, start: u64) -> FxHashMap<Id, u64> {
        let mut found = FxHashMap::from_iter([(pointer, start)]);
        let mut before = 0;
        while before < found.len() {
            before = found.len();
            for inst in def.blocks.iter().flat_map(|block| &block.insts) {
                let base = inst.operand(0).ok().and_then(|id| found.get(&id)).copied();
                let offset = base.and_then(|base| Some(base.wrapping_add(self.distance(inst)?)));
                if let (Some(offset), Some(id)) = (offset, inst.result_id()) {
                    found.insert(id, offset);
                }
            }
        }
        found
    }

    /// Returns the constant distance in bytes between the first operand of an instruction and its result. `None` if the
    /// result is not such an address.
    fn distance(&self, inst: &Inst<'_>) -> Option<u64> {
        match inst.op {
            Opcode::Bitcast | Opcode::CopyObject | Opcode::PtrCastToGeneric | Opcode::GenericCastToPtr => Some(0),
            Opcode::AccessChain | Opcode::InBoundsAccessChain => self.chain(inst, false).ok(),
            Opcode::PtrAccessChain | Opcode::InBoundsPtrAccessChain => self.chain(inst, true).ok(),
            _ => None,
        }
    }

    fn chain(&self, inst: &Inst<'_>, element: bool) -> Checked<u64> {
        let (types, constants) = (&self.module.types, &self.module.constants);
        let mut ty = types.pointee(self.module.type_of(inst.operand(0)?)?)?.0;
        let mut offset = 0_u64;
        let mut advance = |index: u64, stride: u64| offset = offset.wrapping_add(index.wrapping_mul(stride));
        let mut first = 1;
        if element {
            advance(constants.integer(inst.operand(1)?)?, types.get(ty)?.size);
            first = 2;
        }
        for index in first..inst.operands.len() {
            let index = constants.integer(inst.operand(index)?)?;
            match &types.get(ty)?.kind {
                Kind::Array { element, .. } => {
                    ty = *element;
                    advance(index, types.get(ty)?.size);
                }
                Kind::Struct { members } => {
                    let member = usize::try_from(index).ok().and_then(|index| members.get(index));
                    let (inner, at) = *member.ok_or_else(|| invalid!("member index {index} is out of range"))?;
                    advance(1, at);
                    ty = inner;
                }
                _ => return Err(unsupported!("a component of a vector in the captures of a block")),
            }
        }
        Ok(offset)
    }
}

/// Returns a function that stores a handle of type `ty` in private memory.
pub(super) fn store_function(name: &str, ty: Type) -> Checked<ir::Function> {
    let mut b = Builder::new(ir::Function::new(name, Type::Void));
    let [place, value] = [Type::Ptr(Space::Private), ty].map(|ty| b.function.new_value(ty));
    b.function.params.extend([place, value]);
    b.store(place, value, 4, false);
    b.effect(Op::Return(Vec::new()));
    b.finish().map_err(|error| ErrorKind::Invalid(error.message))
}
