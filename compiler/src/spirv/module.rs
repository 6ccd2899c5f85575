//! Parses a module into the sections of its logical layout (SPIR-V 2.4): module-level instructions, types and
//! constants, functions.

use std::sync::Arc;

use rspirv::spirv::{AddressingModel, Op};
use rustc_hash::{FxHashMap, FxHashSet};

use super::constants::{Constants, Specialisation};
use super::decorations::Decorations;
use super::errors::{Checked, InvalidModule, invalid, unsupported};
use super::globals::Globals;
use super::lines::SourceLocations;
use super::types::Types;
use super::words::{Id, Inst, instructions};
use crate::diag::SourceMap;
use crate::target::{Target, ValueChecks};

/// The first version of OpenCL C with non-uniform work-groups, encoded as in `OpSource`.
const FIRST_NON_UNIFORM: u32 = 200_000;

/// A kernel entry point.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) function: Id,
    /// The name of the kernel in the API.
    pub(super) name: String,
}

/// A basic block.
#[derive(Clone, Debug)]
pub(super) struct Block<'w> {
    pub(super) label: Id,
    /// The instructions without the terminator.
    pub(super) insts: Vec<Inst<'w>>,
    pub(super) end: Inst<'w>,
    /// The unroll factor in the loop control of a loop header, as in [`crate::ir::Op::Loop`].
    pub(super) unroll: Option<u32>,
}

/// A function. If it has no blocks, another module defines it.
#[derive(Clone, Debug)]
pub(super) struct FunctionDef<'w> {
    pub(super) id: Id,
    /// `OpFunction`.
    pub(super) inst: Inst<'w>,
    /// `OpFunctionParameter`s.
    pub(super) params: Vec<Inst<'w>>,
    pub(super) blocks: Vec<Block<'w>>,
}

/// A parsed module. Everything except the function bodies is validated.
#[derive(Debug, Default)]
pub(super) struct Module<'w> {
    /// Ids of the OpenCL.std instruction set.
    pub(super) opencl: FxHashSet<Id>,
    pub(super) entries: Vec<Entry>,
    /// `OpExecutionMode`s by function id.
    pub(super) modes: FxHashMap<Id, Vec<Inst<'w>>>,
    pub(super) names: FxHashMap<Id, String>,
    /// Texts of `OpString`s, in order.
    pub(super) strings: Vec<String>,
    /// Spans of the source locations in the module.
    pub(super) locations: SourceLocations,
    /// The source map of these spans.
    pub(super) sources: Option<Arc<SourceMap>>,
    pub(super) decorations: Decorations,
    pub(super) types: Types,
    pub(super) constants: Constants,
    pub(super) globals: Globals,
    pub(super) functions: Vec<FunctionDef<'w>>,
    /// Indices into `functions`.
    pub(super) function_numbers: FxHashMap<Id, usize>,
    /// Instructions in functions, by their result ids.
    pub(super) definitions: FxHashMap<Id, Inst<'w>>,
    /// Whether work-groups may have different sizes. False for OpenCL C before 2.0.
    pub(super) non_uniform_groups: bool,
    /// The checks of values to add.
    pub(super) value_checks: ValueChecks,
    /// Whether kernels may enqueue kernels.
    pub(super) device_enqueue: bool,
    has_memory_model: bool,
}

/// Reads a module for a device.
///
/// # Errors
/// Fails at the first invalid instruction.
pub(super) fn read<'w>(words: &'w [u32], specialisation: &Specialisation, target: &Target) -> Result<Module<'w>, InvalidModule> {
    let list = instructions(words)?;
    let mut module = Module {
        non_uniform_groups: true,
        value_checks: target.value_checks,
        device_enqueue: target.language.device_enqueue,
        ..Module::default()
    };
    module.types.named_barriers = target.language.has_named_barriers();
    module.types.multisample_images = target.has_extension("cl_khr_gl_msaa_sharing");
    let mut defined = FxHashSet::default();
    for inst in &list {
        if let Some(id) = inst.result_id()
            && !defined.insert(id)
        {
            return Err(inst.reject(invalid!("{id} is defined twice")));
        }
    }
    let first = list.iter().position(|inst| inst.op == Op::Function).unwrap_or(list.len());
    let (before, functions) = list.split_at(first);
    // Decorations may precede or follow the decorated instructions, which need them. So they are read first.
    for inst in before {
        module.annotation(inst).map_err(|problem| inst.reject(problem))?;
    }
    for inst in before {
        module.preamble(inst, specialisation, target).map_err(|problem| inst.reject(problem))?;
    }
    let lines: FxHashSet<_> = functions.iter().filter_map(Inst::line).collect();
    if !lines.is_empty() {
        let named = |inst: &Inst<'_>| Some((inst.result_id()?, inst.string(0).ok()?.0));
        let names = before.iter().filter(|inst| inst.op == Op::String).filter_map(named).collect();
        (module.locations, module.sources) = SourceLocations::of(&lines, &names);
    }
    if !module.has_memory_model {
        let problem = invalid!("OpMemoryModel is missing");
        return Err(InvalidModule { instruction: "the module".to_owned(), offset: 0, problem, line: None });
    }
    module.function_bodies(functions)?;
    for inst in functions.iter().filter(|inst| inst.op == Op::NamedBarrierInitialize) {
        module.globals.named_barrier(inst).map_err(|problem| inst.reject(problem))?;
    }
    for entry in &module.entries {
        if !module.function_numbers.contains_key(&entry.function) {
            let problem = invalid!("the function of kernel `{}` is not defined", entry.name);
            return Err(InvalidModule { instruction: "OpEntryPoint".to_owned(), offset: 0, problem, line: None });
        }
    }
    Ok(module)
}

impl<'w> Module<'w> {
    fn annotation(&mut self, inst: &Inst<'w>) -> Checked<()> {
        match inst.op {
            Op::Name => {
                self.names.insert(inst.operand(0)?, inst.string(1)?.0);
                Ok(())
            }
            Op::String => {
                self.strings.push(inst.string(0)?.0);
                Ok(())
            }
            _ => self.decorations.read(inst),
        }
    }

    fn preamble(&mut self, inst: &Inst<'w>, specialisation: &Specialisation, target: &Target) -> Checked<()> {
        match inst.op {
            Op::Capability | Op::Extension | Op::Nop => Ok(()),
            Op::ExtInstImport => self.import(inst),
            Op::MemoryModel => self.memory_model(inst, target),
            Op::EntryPoint => {
                let (name, _) = inst.string(2)?;
                if inst.word(0)? != rspirv::spirv::ExecutionModel::Kernel as u32 {
                    return Err(unsupported!("an entry point whose execution model is not Kernel"));
                }
                self.entries.push(Entry { function: inst.operand(1)?, name });
                Ok(())
            }
            Op::ExecutionMode | Op::ExecutionModeId => {
                self.modes.entry(inst.operand(0)?).or_default().push(*inst);
                Ok(())
            }
            Op::Source => {
                let opencl = inst.word(0)? == rspirv::spirv::SourceLanguage::OpenCL_C as u32;
                self.non_uniform_groups &= !opencl || inst.word(1)? >= FIRST_NON_UNIFORM;
                Ok(())
            }
            Op::Variable => {
                let Self { types, constants, decorations, names, globals, .. } = self;
                globals.variable(inst, types, constants, decorations, names)
            }
            Op::ConstantPipeStorage => {
                let Self { types, constants, globals, .. } = self;
                globals.pipe_storage(inst, types, constants)
            }
            _ if !self.has_memory_model && inst.result_id().is_some() && inst.op != Op::String => {
                Err(invalid!("the instruction is not valid before OpMemoryModel"))
            }
            _ if self.types.read(inst, &self.constants, &self.decorations)? => Ok(()),
            _ => {
                let Self { types, constants, decorations, .. } = self;
                let _ = constants.read(inst, types, decorations, specialisation)?;
                // An instruction that is not a constant is debug information, which needs no code.
                Ok(())
            }
        }
    }

    fn import(&mut self, inst: &Inst<'w>) -> Checked<()> {
        let (name, _) = inst.string(0)?;
        match name.as_str() {
            "OpenCL.std" => {
                self.opencl.insert(inst.result()?);
                Ok(())
            }
            _ if name.starts_with("NonSemantic.") || name.contains("DebugInfo") => Ok(()),
            _ => Err(unsupported!("the instruction set \"{name}\"")),
        }
    }

    fn memory_model(&mut self, inst: &Inst<'w>, target: &Target) -> Checked<()> {
        let (addressing, memory) = (inst.word(0)?, inst.word(1)?);
        let bytes = match addressing {
            _ if addressing == AddressingModel::Physical32 as u32 => 4,
            _ if addressing == AddressingModel::Physical64 as u32 => 8,
            _ => return Err(unsupported!("addressing model {addressing} (expected Physical32 or Physical64)")),
        };
        if memory != rspirv::spirv::MemoryModel::OpenCL as u32 {
            return Err(unsupported!("memory model {memory} (expected OpenCL)"));
        }
        if bytes != target.pointer_size() {
            let bits = target.pointer_size() * 8;
            return Err(unsupported!("a {}-bit addressing model on a device with {bits}-bit addresses", bytes * 8));
        }
        self.types.pointer_size = bytes;
        self.has_memory_model = true;
        Ok(())
    }

    fn function_bodies(&mut self, list: &[Inst<'w>]) -> Result<(), InvalidModule> {
        let mut current: Option<FunctionDef<'w>> = None;
        let mut open: Option<(Id, Vec<Inst<'w>>, Option<u32>)> = None;
        for inst in list {
            let reject = |what: &str| inst.reject(invalid!("the instruction is {what}"));
            if let Some(id) = inst.result_id() {
                self.definitions.insert(id, *inst);
            }
            match (inst.op, &mut current, &mut open) {
                (Op::Line | Op::NoLine | Op::Nop | Op::SelectionMerge, ..) => {}
                (Op::Function, None, _) => {
                    let id = inst.result().map_err(|problem| inst.reject(problem))?;
                    current = Some(FunctionDef { id, inst: *inst, params: Vec::new(), blocks: Vec::new() });
                }
                (Op::FunctionParameter, Some(function), None) if function.blocks.is_empty() => function.params.push(*inst),
                (Op::FunctionEnd, Some(_), None) => {
                    if let Some(function) = current.take() {
                        self.function_numbers.insert(function.id, self.functions.len());
                        self.functions.push(function);
                    }
                }
                (Op::Label, Some(_), None) => {
                    let label = inst.result().map_err(|problem| inst.reject(problem))?;
                    open = Some((label, Vec::new(), None));
                }
                (Op::LoopMerge, _, Some((_, _, unroll))) => {
                    *unroll = match inst.word(2).unwrap_or_default() {
                        control if control & 1 != 0 => Some(0),
                        control if control & 2 != 0 => Some(1),
                        _ => None,
                    };
                }
                (op, Some(function), Some(_)) if ends_block(op) => {
                    if let Some((label, insts, unroll)) = open.take() {
                        function.blocks.push(Block { label, insts, end: *inst, unroll });
                    }
                }
                (Op::ExtInst, None, None) => {}
                (_, _, Some((_, insts, _))) => insts.push(*inst),
                (_, None, None) => return Err(reject("outside of a function")),
                (..) => return Err(reject("outside of a block, or after a block without a terminator")),
            }
        }
        match (current, open) {
            (None, None) => Ok(()),
            (Some(function), _) => Err(function.inst.reject(invalid!("the function has no OpFunctionEnd"))),
            (None, Some(_)) => Ok(()),
        }
    }

    /// Returns the id of the type of a value.
    pub(super) fn type_of(&self, id: Id) -> Checked<Id> {
        match (self.constants.get(id), self.definitions.get(&id)) {
            (Some((ty, _)), _) => Ok(ty),
            (_, Some(inst)) => inst.ty(),
            _ => Err(invalid!("{id} is not defined")),
        }
    }

    /// Returns the name of an id from `OpName`, or an empty string.
    pub(super) fn name(&self, id: Id) -> &str {
        self.names.get(&id).map_or("", String::as_str)
    }
}

const fn ends_block(op: Op) -> bool {
    matches!(op, Op::Branch | Op::BranchConditional | Op::Switch | Op::Return | Op::ReturnValue | Op::Unreachable | Op::Kill)
}
