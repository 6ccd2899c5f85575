//! Module-scope variables and work-group variables, with their initial contents. Pipe storage and named barriers are
//! variables too.

use rspirv::spirv::{Decoration, StorageClass};
use rustc_hash::FxHashMap;

use super::constants::{Constant, Constants};
use super::decorations::Decorations;
use super::errors::{Checked, invalid, storage_class_name, unsupported};
use super::named_barriers;
use super::types::{Kind, Types};
use super::words::{Id, Inst};
use crate::ir::{Global, GlobalVar, Space};
use crate::pipe::PipeLayout;
use crate::target::MAX_GLOBAL_VARIABLE;

#[derive(Debug)]
pub(super) struct Variable {
    pub(super) id: Id,
    /// The type of the variable's contents.
    pub(super) ty: Id,
    pub(super) data: GlobalVar,
}

/// The variables of a module, in the order of their IR numbers.
#[derive(Debug, Default)]
pub(super) struct Globals {
    pub(super) list: Vec<Variable>,
    /// Constants without a name, numbered after the variables.
    unnamed_constants: Vec<GlobalVar>,
    table_numbers: FxHashMap<Vec<u8>, usize>,
}

impl Globals {
    /// Reads a module-scope `OpVariable`.
    pub(super) fn variable(
        &mut self,
        inst: &Inst<'_>,
        types: &Types,
        constants: &mut Constants,
        decorations: &Decorations,
        names: &FxHashMap<Id, String>,
    ) -> Checked<()> {
        let (id, pointer, class) = (inst.result()?, inst.ty()?, inst.word(0)?);
        // Translators of old LLVM versions put built-in variables in constant memory, so only the decoration identifies
        // them.
        if let Some(builtin) = decorations.value(id, Decoration::BuiltIn) {
            constants.insert(id, pointer, Constant::BuiltIn(builtin));
            return Ok(());
        }
        if class == StorageClass::Input as u32 {
            return Err(invalid!("a variable in storage class Input has no BuiltIn decoration"));
        }
        let (ty, space) = types.pointee(pointer)?;
        // A private variable with an initialiser becomes a constant that each use copies. Stores to it are rejected.
        let is_copied = space == Space::Private && inst.operands.len() > 1;
        if matches!(space, Space::Private | Space::Generic) && !is_copied {
            return Err(unsupported!("a module-scope variable in storage class {}", storage_class_name(class)));
        }
        let space = if is_copied { Space::Constant } else { space };
        let size = types.size(ty)?;
        if u64::from(size) > MAX_GLOBAL_VARIABLE {
            return Err(unsupported!("a variable of {size} bytes (the limit is {MAX_GLOBAL_VARIABLE})"));
        }
        let (init, relocs) = match inst.operands.get(1) {
            Some(&initial) if space != Space::Local => match constants.known(Id(initial))?.1 {
                Constant::Null | Constant::Undef => (None, Vec::new()),
                _ => {
                    let (bytes, relocs) = constants.contents(Id(initial), ty, types)?;
                    (Some(bytes), relocs)
                }
            },
            _ => (None, Vec::new()),
        };
        let align = decorations.value(id, Decoration::Alignment).filter(|align| align.is_power_of_two()).unwrap_or(1);
        let name = names.get(&id).cloned().unwrap_or_default();
        let data = GlobalVar { name, space, size, align: align.max(types.align(ty)?), init, relocs };
        let target = self.add(Variable { id, ty, data });
        constants.insert(id, pointer, Constant::Address { target, offset: 0 });
        Ok(())
    }

    fn add(&mut self, variable: Variable) -> Global {
        self.list.push(variable);
        Global(crate::ir::number(self.list.len() - 1))
    }

    /// Reads an `OpConstantPipeStorage`: creates a variable with an empty pipe. The value of the constant is the
    /// address of the variable.
    pub(super) fn pipe_storage(&mut self, inst: &Inst<'_>, types: &Types, constants: &mut Constants) -> Checked<()> {
        let (id, ty, packet, capacity) = (inst.result()?, inst.ty()?, inst.word(0)?, inst.word(2)?);
        if types.get(ty)?.kind != Kind::PipeStorage {
            return Err(invalid!("the result type is not OpTypePipeStorage"));
        }
        let layout = PipeLayout::new(packet, capacity).ok_or_else(|| invalid!("a pipe of {capacity} packets of {packet} bytes"))?;
        let size = layout.size();
        if size > MAX_GLOBAL_VARIABLE {
            return Err(unsupported!("a pipe of {size} bytes (the limit is {MAX_GLOBAL_VARIABLE})"));
        }
        let mut init = layout.constants().to_vec();
        init.resize(size as usize, 0);
        let name = "pipe_storage".to_owned();
        let data =
            GlobalVar { name, space: Space::Global, size: size as u32, align: PipeLayout::ALIGN, init: Some(init), relocs: Vec::new() };
        let target = self.add(Variable { id, ty, data });
        constants.insert(id, ty, Constant::Address { target, offset: 0 });
        Ok(())
    }

    /// Creates the variable of an `OpNamedBarrierInitialize`.
    pub(super) fn named_barrier(&mut self, inst: &Inst<'_>) -> Checked<()> {
        let (name, size) = ("named_barrier".to_owned(), named_barriers::SIZE);
        let data = GlobalVar { name, space: Space::Local, size, align: 4, init: None, relocs: Vec::new() };
        self.add(Variable { id: inst.result()?, ty: inst.ty()?, data });
        Ok(())
    }

    /// Returns the variable of an instruction.
    pub(super) fn number(&self, id: Id) -> Option<Global> {
        let index = self.list.iter().position(|variable| variable.id == id)?;
        Some(Global(crate::ir::number(index)))
    }

    /// Returns the variable or unnamed constant with this number.
    pub(super) fn get(&self, global: Global) -> Option<&GlobalVar> {
        self.list
            .get(global.index())
            .map(|variable| &variable.data)
            .or_else(|| self.unnamed_constants.get(global.index().checked_sub(self.list.len())?))
    }

    /// Returns a constant with these contents. Equal constants without relocations are shared.
    pub(super) fn unnamed_constant(&mut self, mut data: GlobalVar) -> Global {
        let key = data.init.as_ref().filter(|_| data.relocs.is_empty()).cloned();
        let known = key.as_ref().and_then(|key| self.table_numbers.get(key)).copied();
        let index = known.unwrap_or_else(|| {
            data.align = data.align.max(16);
            self.unnamed_constants.push(data);
            self.unnamed_constants.len() - 1
        });
        if let Some(key) = key {
            self.table_numbers.insert(key, index);
        }
        Global(crate::ir::number(self.list.len() + index))
    }

    /// Returns all variables and unnamed constants, in the order of their numbers.
    pub(super) fn into_data(self) -> Vec<GlobalVar> {
        self.list.into_iter().map(|variable| variable.data).chain(self.unnamed_constants).collect()
    }
}
