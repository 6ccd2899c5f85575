//! Expands image functions to loads and stores for the formats and samplers of a launch.
//!
//! ```text
//! %5 = image read.2d.float.sampled_float, %img, %sampler, %4
//! =>
//! %10 = workitem.arg_image 0 0  (width; height, depth, array size and pitches likewise)
//! %5 = call @read(%img, %10, ..., %4)      (a library function for this format and sampler; inlined)
//! ```

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::library::{self, Variant};
use super::{FORMAT_WORD, ImageFormat};
use crate::diag::Span;
use crate::internal::{Defect, internal};
use crate::ir::image::{Colour, Coordinates, ImageCall, LEVELS_WORD, Level, PARAMETER_WORD, PITCH_WORDS, UPPER_PITCH_WORD};
use crate::ir::{
    BinOp, CastOp, Const, Func, Function, Global, GlobalVar, Inst, KernelParam, Module, Op, Region, Space, Type, Value, WorkItem,
};
use crate::launch::KernelKey;
use crate::passes::{Pass, PassError, inline};
use crate::target::Target;

/// Number of sizes that a library function has as parameters: width, height, depth, array size and both pitches.
const SIZES: u8 = 6;

/// The pass: replaces image functions with calls of library functions, and inlines these.
pub(crate) const PASS: Pass = Pass::module("images", |module, cx| {
    let added = run(module, &cx.key.kernel, cx.target)?;
    let Some(first) = added.first() else { return Ok(false) };
    let mut policy = inline::Policy::new(module, &[]);
    policy.inline.fill(false);
    for &func in &added {
        policy.decide(func, module, cx.target.inlining);
        policy.inline[func.index()] = true;
    }
    inline::run(module, Func(0), &policy)?;
    module.functions.truncate(first.index());
    Ok(true)
});

/// Replaces the image functions of a kernel, the module's first function, with calls. Returns the called functions,
/// which have no calls.
///
/// # Errors
///
/// Fails if an image is not a parameter of the kernel, or with an internal error.
fn run(module: &mut Module, key: &KernelKey, target: &Target) -> Result<Vec<Func>, PassError> {
    let Some(kernel) = module.functions.first_mut() else { return Ok(Vec::new()) };
    let mut images = false;
    kernel.body.walk(&mut |inst| images |= matches!(inst.op, Op::Image { .. } | Op::ImageWord { .. }));
    if !images {
        return Ok(Vec::new());
    }
    let first = crate::ir::number(module.functions.len());
    let mut kernel = std::mem::replace(&mut module.functions[0], Function::new("", Type::Void));
    let mut body = std::mem::take(&mut kernel.body);
    let mut expansion = Expansion::new(&mut kernel, &module.globals, target, first, key.large_images);
    let result = expansion.record_launch_values(&key.images, &key.samplers, &mut body).and_then(|()| expansion.region(&mut body));
    let Expansion { functions, entry, .. } = expansion;
    body.insts.splice(0..0, entry);
    kernel.body = body;
    module.functions[0] = kernel;
    result?;
    let added = (first..).take(functions.len()).map(Func).collect();
    module.functions.extend(functions.iter().map(|function| (**function).clone()));
    Ok(added)
}

struct Expansion<'a> {
    function: &'a mut Function,
    globals: &'a [GlobalVar],
    target: &'a Target,
    /// The parameter index and the format of each image value.
    images: FxHashMap<Value, (u32, ImageFormat)>,
    /// Addresses of module objects, which include program-scope samplers.
    addresses: FxHashMap<Value, Global>,
    /// Values of constant integers and of the launch's samplers.
    constants: FxHashMap<Value, u32>,
    /// Instructions for the start of the kernel.
    entry: Vec<Inst>,
    words: FxHashMap<(u32, u8), Value>,
    numbers: FxHashMap<Variant, Func>,
    functions: Vec<Arc<Function>>,
    first: u32,
    /// Whether byte offsets of elements have 64 bits.
    large: bool,
    /// The 64-bit pitches, by parameter and index of the lower word.
    pitches: FxHashMap<(u32, u8), Value>,
}

impl<'a> Expansion<'a> {
    fn new(function: &'a mut Function, globals: &'a [GlobalVar], target: &'a Target, first: u32, large: bool) -> Self {
        Self {
            function,
            globals,
            target,
            images: FxHashMap::default(),
            addresses: FxHashMap::default(),
            constants: FxHashMap::default(),
            entry: Vec::new(),
            words: FxHashMap::default(),
            numbers: FxHashMap::default(),
            functions: Vec::new(),
            first,
            large,
            pitches: FxHashMap::default(),
        }
    }

    /// Records the formats and samplers of the launch for the parameters of the kernel.
    fn record_launch_values(&mut self, formats: &[ImageFormat], samplers: &[u32], body: &mut Region) -> Result<(), PassError> {
        let mut chosen = FxHashMap::default();
        let (mut formats, mut samplers) = (formats.iter(), samplers.iter());
        let params = self.function.kernel.as_ref().map_or(&[][..], |kernel| &kernel.params);
        for (index, (passing, &value)) in (0..).zip(params.iter().zip(&self.function.params)) {
            match passing {
                KernelParam::Image => {
                    let format = formats.next().ok_or_else(|| self.defect(internal!("no format for the image of parameter {index}")))?;
                    self.images.insert(value, (index, *format));
                }
                KernelParam::Sampler => {
                    let sampler = samplers.next().ok_or_else(|| self.defect(internal!("no value for the sampler of parameter {index}")))?;
                    self.constants.insert(value, *sampler);
                    chosen.insert(value, *sampler);
                }
                _ => {}
            }
        }
        self.replace_selected_samplers(body, &chosen);
        Ok(())
    }

    /// Replaces samplers with constants, except in image calls. Other uses of a sampler (selections) occur only in
    /// SPIR-V from languages other than OpenCL C.
    fn replace_selected_samplers(&mut self, body: &mut Region, samplers: &FxHashMap<Value, u32>) {
        let mut constants: FxHashMap<Value, Value> = FxHashMap::default();
        body.walk_mut(&mut |inst| {
            if matches!(inst.op, Op::Image { .. }) {
                return;
            }
            inst.op.map_operands(|operand| {
                if let Some(&bits) = samplers.get(operand) {
                    let (function, entry) = (&mut *self.function, &mut self.entry);
                    *operand =
                        *constants.entry(*operand).or_insert_with(|| function.emit_bits(entry, Span::NONE, Type::I32, u64::from(bits)));
                }
            });
        });
        self.constants.extend(constants.into_iter().filter_map(|(sampler, constant)| Some((constant, *samplers.get(&sampler)?))));
    }

    fn defect(&self, defect: Defect) -> PassError {
        defect.in_pass("images", &self.function.name)
    }

    fn region(&mut self, region: &mut Region) -> Result<(), PassError> {
        for inst in &mut region.insts {
            for nested in inst.op.regions_mut() {
                self.region(nested)?;
            }
            match &inst.op {
                Op::Const(Const::Bits(bits)) => {
                    if let (Some(&result), Ok(bits)) = (inst.results.first(), u32::try_from(*bits)) {
                        self.constants.insert(result, bits);
                    }
                }
                Op::GlobalAddr(global) => {
                    if let Some(&result) = inst.results.first() {
                        self.addresses.insert(result, *global);
                    }
                }
                Op::Load { ptr, .. } => {
                    if let (Some(&result), Some(bits)) = (inst.results.first(), self.constant_word(*ptr)) {
                        self.constants.insert(result, bits);
                    }
                }
                Op::ImageWord { image, word } => {
                    let (param, format) = self.image(*image)?;
                    inst.op = match *word {
                        FORMAT_WORD => Op::Const(Const::Bits(u64::from(format.word()))),
                        PARAMETER_WORD => Op::Const(Const::Bits(u64::from(param))),
                        word => Op::WorkItem(WorkItem::ArgImage { param, word }),
                    };
                }
                Op::Image { call, args } => inst.op = self.library_call(*call, args)?,
                _ => {}
            }
        }
        Ok(())
    }

    /// The first word of a constant variable. `None` if its contents are unknown.
    fn constant_word(&self, address: Value) -> Option<u32> {
        let global = self.globals.get(self.addresses.get(&address)?.index())?;
        let bytes = global.init.as_ref().filter(|_| global.space == Space::Constant && global.relocs.is_empty())?;
        bytes.first_chunk().map(|word| u32::from_le_bytes(*word))
    }

    fn image(&self, value: Value) -> Result<(u32, ImageFormat), PassError> {
        self.images.get(&value).copied().ok_or_else(|| PassError::Unsupported {
            function: self.function.name.clone(),
            what: "an image that depends on a condition (`c ? p : q`, or a variable that is assigned in a branch)".to_owned(),
        })
    }

    fn word(&mut self, param: u32, word: u8) -> Value {
        if let Some(&known) = self.words.get(&(param, word)) {
            return known;
        }
        let value = self.function.new_value(Type::I32);
        self.entry.push(Inst { op: Op::WorkItem(WorkItem::ArgImage { param, word }), results: vec![value], span: Span::NONE });
        self.words.insert((param, word), value);
        value
    }

    /// Returns a pitch as a 64-bit integer. `word` is the index of its lower word.
    fn pitch(&mut self, param: u32, word: u8) -> Value {
        if let Some(&known) = self.pitches.get(&(param, word)) {
            return known;
        }
        let halves = [word, word + UPPER_PITCH_WORD].map(|word| self.word(param, word));
        let (function, entry) = (&mut *self.function, &mut self.entry);
        let mut emit = |op| function.emit(entry, Span::NONE, Type::I64, op);
        let [low, high] = halves.map(|half| emit(Op::Cast(CastOp::ZExt, half)));
        let by = emit(Op::Const(Const::Bits(32)));
        let high = emit(Op::Bin(BinOp::Shl, high, by));
        let pitch = emit(Op::Bin(BinOp::Or, low, high));
        self.pitches.insert((param, word), pitch);
        pitch
    }

    /// Returns the length of a line of the image in units of `bytes` bytes. `element` is the size of an element in
    /// bytes.
    fn raw_width(&mut self, param: u32, element: u32, bytes: u32) -> Value {
        let width = self.word(param, 0);
        let (function, entry) = (&mut *self.function, &mut self.entry);
        let mut by = |op: BinOp, a: Value, by: u32| {
            let factor = function.emit_bits(entry, Span::NONE, Type::I32, u64::from(by));
            function.emit(entry, Span::NONE, Type::I32, Op::Bin(op, a, factor))
        };
        let size = by(BinOp::Mul, width, element);
        by(BinOp::UDiv, size, bytes)
    }

    /// Returns the call of the library function that implements an image call.
    fn library_call(&mut self, call: ImageCall, args: &[Value]) -> Result<Op, PassError> {
        let image = *args.first().ok_or_else(|| self.defect(internal!("{} without an image operand", call.name())))?;
        let (param, format) = self.image(image)?;
        let mut rest = args.get(1..).unwrap_or_default();
        let mut sampler = None;
        let mut list = vec![image];
        let seen = call.colour.format(format);
        list.extend(
            (0..SIZES).map(|word| if self.large && PITCH_WORDS.contains(&word) { self.pitch(param, word) } else { self.word(param, word) }),
        );
        if let Colour::Raw(bytes) = call.colour {
            list[1] = self.raw_width(param, format.element_size(), u32::from(bytes));
        }
        if call.level != Level::Base {
            list.push(self.word(param, LEVELS_WORD));
        }
        if call.coordinates != Coordinates::Plain {
            sampler = rest.first().and_then(|value| self.constants.get(value)).copied();
            if sampler.is_some() {
                rest = rest.get(1..).unwrap_or_default();
            }
        }
        list.extend_from_slice(rest);
        let variant = Variant { call, format: seen, sampler, large: self.large };
        let func = match self.numbers.get(&variant) {
            Some(&func) => func,
            None => {
                let made = library::function(variant, self.target).map_err(|message| PassError::Internal {
                    function: self.function.name.clone(),
                    pass: "images",
                    message,
                })?;
                let func = Func(self.first + crate::ir::number(self.functions.len()));
                self.functions.push(made);
                self.numbers.insert(variant, func);
                func
            }
        };
        Ok(Op::Call(func, list))
    }
}
