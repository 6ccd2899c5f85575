//! Separate compilation (OpenCL API 5.8.3): the linker for translation units that are checked and lowered separately.
//!
//! A [`CompiledUnit`] is IR in memory form, with all functions and variables that have external linkage. A function
//! that is only declared has the body `unreachable`, and a variable that is only declared has no contents. For such a
//! declaration, [`link()`] finds the definition in another unit by the name. The parameters of overloadable functions
//! must match too. [`link()`] merges the units into one module and runs the build passes on the module, as for a single
//! source.
//!
//! Each unit has separate macros, options, `static` names and copies of library functions. A unit uses its own `inline`
//! definition. Other units use this definition too if no unit has a definition without `inline`. C99 6.7.4 can be read
//! more strictly, but then linking would reject programs that other implementations accept.

mod signature;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;

use rustc_hash::FxHashMap;

use crate::diag::{Message, SourceMap, Span};
use crate::internal::{Defect, internal};
use crate::ir::{self, Func, Global, Op};
use crate::lower::{Instance, LowerError, lower_unit};
use crate::options::BuildOptions;
use crate::parallel::on_thread;
use crate::passes::{self, Watch};
use crate::program::{BuildResult, Program};
use crate::reflection::KernelInfo;
use crate::target::Target;
use crate::thir::{self, Linkage};
use signature::Signature;

/// A translation unit that is compiled but not linked yet.
#[derive(Clone, Debug)]
pub struct CompiledUnit {
    module: ir::Module,
    kernels: Vec<KernelInfo>,
    non_uniform_groups: bool,
    functions: Vec<Symbol>,
    globals: Vec<Symbol>,
}

/// The symbol of a function or variable.
#[derive(Clone, Debug)]
pub(crate) struct Symbol {
    name: String,
    linkage: Linkage,
    defined: bool,
    /// Whether functions with the same name and different parameters are different functions.
    overloadable: bool,
    signature: Signature,
    /// The source location `file:line:column`. Empty if it is not known.
    location: String,
}

/// The kind of output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Output {
    /// A program with kernels. All symbols must be defined.
    Executable,
    /// A library (`-create-library`): undefined symbols are allowed.
    Library,
}

impl CompiledUnit {
    /// Lowers a checked unit. `map` is the source map of the spans in `program`.
    pub(crate) fn new(program: &thir::Program, map: &SourceMap, options: &BuildOptions, target: &Target) -> Result<Self, LowerError> {
        let (module, instances) = lower_unit(program, options, target)?;
        let functions = instances.iter().filter_map(|instance| function_symbol(program, map, *instance)).collect();
        let globals = program
            .globals
            .iter()
            .map(|global| Symbol {
                name: global.name.to_string(),
                linkage: global.linkage,
                defined: global.defined,
                overloadable: false,
                signature: Signature::of_variable(&program.types, global.ty, global.space),
                location: location(map, global.span),
            })
            .collect();
        let kernels = program.kernels.iter().map(|(_, info)| info.clone()).collect();
        Ok(Self { module, kernels, non_uniform_groups: options.non_uniform_groups(), functions, globals })
    }

    /// Creates a unit from IR that was compiled from another language than OpenCL C. `functions[i]` is the symbol of
    /// the module's function `i`, and `globals[i]` is the symbol of its variable `i`. Later functions and variables
    /// have no symbols.
    pub(crate) const fn lowered(
        module: ir::Module,
        kernels: Vec<KernelInfo>,
        non_uniform_groups: bool,
        functions: Vec<Symbol>,
        globals: Vec<Symbol>,
    ) -> Self {
        Self { module, kernels, non_uniform_groups, functions, globals }
    }
}

impl Symbol {
    /// Creates the symbol of a function of another language than OpenCL C.
    pub(crate) fn lowered(name: String, linkage: Linkage, defined: bool, function: Option<&ir::Function>) -> Self {
        let signature = Signature::of_lowered(function);
        Self { name, linkage, defined, overloadable: false, signature, location: String::new() }
    }

    /// Creates the symbol of a variable of another language than OpenCL C.
    pub(crate) fn lowered_variable(name: String, linkage: Linkage, defined: bool, data: &ir::GlobalVar) -> Self {
        let signature = Signature::of_lowered_variable(data);
        Self { name, linkage, defined, overloadable: false, signature, location: String::new() }
    }

    /// Returns the location for messages. `unit` is an index; messages count units from 1.
    fn location_in(&self, unit: usize) -> String {
        let number = unit + 1;
        if self.location.is_empty() { format!("in unit {number}") } else { format!("in unit {number} ({})", self.location) }
    }
}

fn location(map: &SourceMap, span: Span) -> String {
    map.locate(span).map_or(String::new(), |at| format!("{}:{}:{}", at.file, at.line, at.column))
}

fn function_symbol(program: &thir::Program, map: &SourceMap, instance: Instance) -> Option<Symbol> {
    let function = program.functions.get(instance.id.index())?;
    Some(Symbol {
        name: function.name.to_string(),
        // A kernel has an entry point, which only the host uses, so it is not visible to other units. Other kernels
        // call a separate function with the same name.
        linkage: if instance.kernel { Linkage::Internal } else { function.linkage },
        defined: function.body.is_some(),
        overloadable: function.overloadable,
        signature: Signature::of_function(&program.types, function),
        location: location(map, function.span),
    })
}

/// Links units. For a library, the result has no program, and the log is empty if linking succeeds.
pub fn link(units: &[&CompiledUnit], output: Output, target: &Target) -> BuildResult {
    on_thread(|| join(units, output, target, None)).unwrap_or_else(|error| BuildResult::failed(vec![*error]))
}

/// Like [`link()`], but on the current thread. Calls `watch` after every pass.
pub(crate) fn join(units: &[&CompiledUnit], output: Output, target: &Target, watch: Option<&Watch<'_>>) -> BuildResult {
    let mut linker = Linker::new(units);
    linker.collect();
    let mut program = None;
    if linker.errors.is_empty() && output == Output::Executable {
        let reached = linker.used_items();
        if linker.errors.is_empty() {
            let merged = linker.merge(&reached).map_err(|defect| format!("internal compiler error in link: {defect}"));
            let built = merged.and_then(|mut module| match passes::build_watched(&mut module, target, watch) {
                Ok(()) => Ok(module),
                Err(error) => Err(error.to_string()),
            });
            match built {
                Ok(module) => {
                    let mut kernels: Vec<KernelInfo> = units.iter().flat_map(|unit| unit.kernels.iter().cloned()).collect();
                    // A linked program supports non-uniform work-groups only if all programs that were passed to
                    // clLinkProgram support them.
                    let non_uniform = units.iter().all(|unit| unit.non_uniform_groups);
                    kernels.iter_mut().for_each(|kernel| kernel.non_uniform_groups = non_uniform);
                    let linked = Program::new(module, kernels);
                    match linked.check_variables() {
                        Ok(()) => program = Some(linked),
                        Err(what) => linker.errors.push(what),
                    }
                }
                Err(error) => linker.errors.push(error),
            }
        }
    }
    BuildResult { program, ..BuildResult::failed(linker.errors.into_iter().map(Message::error).collect()) }
}

/// A function or variable of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Item {
    Function(usize, Func),
    Global(usize, Global),
}

impl Item {
    const fn unit(self) -> usize {
        match self {
            Self::Function(unit, _) | Self::Global(unit, _) => unit,
        }
    }
}

struct Linker<'a> {
    units: &'a [&'a CompiledUnit],
    /// The definitions that other units can refer to, by name.
    definitions: FxHashMap<&'a str, Vec<Item>>,
    errors: Vec<String>,
}

impl<'a> Linker<'a> {
    fn new(units: &'a [&'a CompiledUnit]) -> Self {
        Self { units, definitions: FxHashMap::default(), errors: Vec::new() }
    }

    fn symbol(&self, item: Item) -> Option<&'a Symbol> {
        let unit = *self.units.get(item.unit())?;
        match item {
            Item::Function(_, func) => unit.functions.get(func.index()),
            Item::Global(_, global) => unit.globals.get(global.index()),
        }
    }

    fn items(&self) -> impl Iterator<Item = (Item, &'a Symbol)> + use<'a> {
        let units = self.units;
        units.iter().enumerate().flat_map(|(number, unit)| {
            let functions = (0..).zip(&unit.functions).map(move |(index, symbol)| (Item::Function(number, Func(index)), symbol));
            let globals = (0..).zip(&unit.globals).map(move |(index, symbol)| (Item::Global(number, Global(index)), symbol));
            functions.chain(globals)
        })
    }

    /// Collects the definitions. Reports duplicate definitions and conflicting types.
    fn collect(&mut self) {
        for (item, symbol) in self.items() {
            if !symbol.defined || symbol.linkage == Linkage::Internal {
                continue;
            }
            match self.find(symbol) {
                Some(other) => {
                    let weak = |symbol: Option<&Symbol>| symbol.is_none_or(|symbol| symbol.linkage == Linkage::Inline);
                    match (weak(Some(symbol)), weak(self.symbol(other))) {
                        (true, _) => {}
                        (false, true) => {
                            let list = self.definitions.entry(&symbol.name).or_default();
                            list.retain(|known| *known != other);
                            list.push(item);
                        }
                        (false, false) => {
                            let first = self.symbol(other).map_or(String::new(), |known| known.location_in(other.unit()));
                            let second = symbol.location_in(item.unit());
                            self.errors.push(format!("symbol '{}' is defined {first} and again {second}", symbol.name));
                        }
                    }
                }
                None => self.definitions.entry(&symbol.name).or_default().push(item),
            }
        }
        for (item, symbol) in self.items() {
            if symbol.linkage == Linkage::Internal {
                continue;
            }
            let Some((definition, known)) = self.find(symbol).and_then(|found| Some((found, self.symbol(found)?))) else { continue };
            let yields = symbol.defined && symbol.linkage == Linkage::Inline;
            if !yields && !symbol.signature.is_compatible(&known.signature) {
                self.errors.push(format!(
                    "conflicting types for '{}': '{}' {}, but '{}' {}",
                    symbol.name,
                    symbol.signature.text,
                    symbol.location_in(item.unit()),
                    known.signature.text,
                    known.location_in(definition.unit()),
                ));
            }
        }
    }

    /// Returns the definition that a symbol of any unit refers to, or `None` if there is none.
    fn find(&self, symbol: &Symbol) -> Option<Item> {
        let list = self.definitions.get(symbol.name.as_str())?;
        let same = |item: &&Item| {
            self.symbol(**item).is_some_and(|known| {
                let overloads = symbol.overloadable && known.overloadable;
                !overloads || symbol.signature.same_parameters(&known.signature)
            })
        };
        list.iter().find(same).copied()
    }

    /// Returns the definition of an item, or `None` if no unit defines it.
    fn resolve(&self, item: Item) -> Option<Item> {
        let Some(symbol) = self.symbol(item) else {
            // Two kinds of items have no symbol: tables that lowering creates, and library functions that another
            // language calls. Only their own unit refers to them.
            let is_in_unit = match item {
                Item::Global(unit, global) => self.units.get(unit)?.module.globals.get(global.index()).is_some(),
                Item::Function(unit, func) => self.units.get(unit)?.module.functions.get(func.index()).is_some(),
            };
            return is_in_unit.then_some(item);
        };
        // A unit uses its own `inline` function. But all units share one definition of a variable with the linkage
        // `Inline`.
        let defines = symbol.defined && !(matches!(item, Item::Global(..)) && symbol.linkage == Linkage::Inline);
        if defines { Some(item) } else { self.find(symbol) }
    }

    /// Returns the kernels, the items with external linkage, and all items that these use, directly or indirectly, in
    /// order of units. Reports undefined references.
    fn used_items(&mut self) -> Vec<Item> {
        let units = self.units;
        let mut queue = VecDeque::new();
        for (item, symbol) in self.items() {
            let is_kernel = match item {
                Item::Function(unit, func) => units[unit].module.functions.get(func.index()).is_some_and(|f| f.kernel.is_some()),
                Item::Global(..) => false,
            };
            if symbol.defined && (is_kernel || symbol.linkage == Linkage::External) {
                queue.push_back(item);
            }
        }
        let mut reached = Vec::new();
        let mut seen = rustc_hash::FxHashSet::default();
        let mut missing = rustc_hash::FxHashSet::default();
        while let Some(item) = queue.pop_front() {
            let Some(item) = self.resolve(item) else {
                if let Some(symbol) = self.symbol(item)
                    && missing.insert(&symbol.name)
                {
                    let what = if matches!(item, Item::Function(..)) { "function" } else { "variable" };
                    self.errors.push(format!("undefined reference to {what} '{}' {}", symbol.name, symbol.location_in(item.unit())));
                }
                continue;
            };
            if seen.insert(item) {
                reached.push(item);
                references(units, item, &mut |needed| queue.push_back(needed));
            }
        }
        let order = |item: &Item| match *item {
            Item::Function(unit, func) => (unit, 0, func.0),
            Item::Global(unit, global) => (unit, 1, global.0),
        };
        reached.sort_unstable_by_key(order);
        reached
    }

    /// Merges all used items into one module.
    ///
    /// # Errors
    ///
    /// Fails if an item refers to an item that is not in the list, which is a defect of the compiler.
    fn merge(&self, reached: &[Item]) -> Result<ir::Module, Defect> {
        let mut numbers: FxHashMap<Item, u32> = FxHashMap::default();
        let (mut functions, mut globals) = (0, 0);
        for &item in reached {
            let next = if matches!(item, Item::Function(..)) { &mut functions } else { &mut globals };
            numbers.insert(item, *next);
            *next += 1;
        }
        let mut missing = None;
        let mut number = |item: Item| {
            let found = self.resolve(item).and_then(|found| numbers.get(&found)).copied();
            if found.is_none() {
                missing = Some(internal!("a linked function or variable refers to {item:?}, which is not linked"));
            }
            found.unwrap_or_default()
        };
        let mut module = ir::Module::default();
        for &item in reached {
            match item {
                Item::Function(unit, func) => {
                    let mut function = self.units[unit].module.functions[func.index()].clone();
                    function.body.walk_mut(&mut |inst| {
                        if self.units.len() > 1 {
                            // A span refers to the source of its unit. The merged module has several sources, so the
                            // spans are removed.
                            inst.span = Span::NONE;
                        }
                        match &mut inst.op {
                            Op::Call(callee, _) => *callee = Func(number(Item::Function(unit, *callee))),
                            Op::GlobalAddr(global) | Op::Printf { format: Some(global), .. } => {
                                *global = Global(number(Item::Global(unit, *global)));
                            }
                            _ => {}
                        }
                    });
                    module.functions.push(function);
                }
                Item::Global(unit, global) => {
                    let mut global = self.units[unit].module.globals[global.index()].clone();
                    for reloc in &mut global.relocs {
                        reloc.target = Global(number(Item::Global(unit, reloc.target)));
                    }
                    module.globals.push(global);
                }
            }
        }
        missing.map_or(Ok(module), Err)
    }
}

/// Calls `found` with each item that a function or variable refers to in its own unit.
fn references(units: &[&CompiledUnit], item: Item, found: &mut impl FnMut(Item)) {
    match item {
        Item::Function(unit, func) => {
            let Some(function) = units[unit].module.functions.get(func.index()) else { return };
            function.body.walk(&mut |inst| match &inst.op {
                Op::Call(callee, _) => found(Item::Function(unit, *callee)),
                Op::GlobalAddr(global) | Op::Printf { format: Some(global), .. } => found(Item::Global(unit, *global)),
                _ => {}
            });
        }
        Item::Global(unit, global) => {
            let Some(global) = units[unit].module.globals.get(global.index()) else { return };
            for reloc in &global.relocs {
                found(Item::Global(unit, reloc.target));
            }
        }
    }
}
