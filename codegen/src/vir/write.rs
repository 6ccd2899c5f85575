//! The vector IR as text, for listings.

use std::fmt::{self, Arguments, Display, Formatter};

use super::entities::Value;
use super::function::{Function, Module};
use super::op::{Addr, Cond, Mem, Op, SourceLoc, Target, Terminator};

struct List<'a>(&'a [Value]);

impl Display for List<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        for (index, value) in self.0.iter().enumerate() {
            write!(f, "{}{value}", if index == 0 { "" } else { ", " })?;
        }
        Ok(())
    }
}

impl Display for Addr {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "[{}", self.base)?;
        if let Some((index, scale)) = self.index {
            write!(f, " + {index} * {scale}")?;
        }
        if self.disp != 0 {
            write!(f, " {} {:#x}", if self.disp < 0 { '-' } else { '+' }, self.disp.unsigned_abs())?;
        }
        f.write_str("]")
    }
}

impl Display for Mem {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::I8 => f.write_str("i8"),
            Self::I16 => f.write_str("i16"),
            Self::Elem(elem) => write!(f, "{elem}"),
        }
    }
}

/// The name of a variant in the text: `FAdd` becomes `f_add`.
pub(super) fn word(name: &impl fmt::Debug) -> String {
    let mut text = String::new();
    for (index, letter) in format!("{name:?}").char_indices() {
        if letter.is_ascii_uppercase() && index > 0 && !text.ends_with('(') {
            text.push('_');
        }
        text.push(letter.to_ascii_lowercase());
    }
    text
}

struct Masked(Option<Value>);

impl Display for Masked {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.map_or(Ok(()), |mask| write!(f, " mask {mask}"))
    }
}

struct Indexed<'a>(Option<Value>, &'a [Value], u8);

impl Display for Indexed<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str("[")?;
        if let Some(base) = self.0 {
            write!(f, "{base} + ")?;
        }
        write!(f, "({}) * {}]", List(self.1), self.2)
    }
}

impl Display for Op {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Const(bits) => write!(f, "const {bits:#x}"),
            Self::Lanes(lanes) => write!(f, "lanes {lanes:x?}"),
            Self::Undef => f.write_str("undef"),
            Self::Param(index) => write!(f, "param {index}"),
            Self::Un(op, a) => write!(f, "{} {a}", word(op)),
            Self::Bin(op, a, b) => write!(f, "{} {a}, {b}", word(op)),
            Self::Tern(op, a, b, c) => write!(f, "{} {a}, {b}, {c}", word(op)),
            Self::Cmp(op, a, b) => write!(f, "cmp_{} {a}, {b}", word(op)),
            Self::Select(cond, a, b) => write!(f, "select {cond}, {a}, {b}"),
            Self::Cast(op, a) => write!(f, "{} {a}", word(op)),
            Self::Widen(op, a, part) => write!(f, "widen.{} {a}, {part}", word(op)),
            Self::Narrow(op, list) => write!(f, "narrow.{} {}", word(op), List(list)),
            Self::Splat(a) => write!(f, "splat {a}"),
            Self::Extract(a, lane) => write!(f, "extract {a}, {lane}"),
            Self::MaskPart(a, part) => write!(f, "mask_part {a}, {part}"),
            Self::MaskJoin(list) => write!(f, "mask_join {}", List(list)),
            Self::Shuffle(a, b, lanes) => write!(f, "shuffle {a}, {b}, {lanes:?}"),
            Self::MaskBits(a) => write!(f, "mask_bits {a}"),
            Self::Permute(a, index) => write!(f, "permute {a}, {index}"),
            Self::MaskOf(a) => write!(f, "mask_of {a}"),
            Self::Load(mem, addr) => write!(f, "load.{mem} {addr}"),
            Self::Store(mem, addr, value) => write!(f, "store.{mem} {addr}, {value}"),
            Self::LoadVector { mem, addr, mask } => write!(f, "load_vector.{mem} {addr}{}", Masked(*mask)),
            Self::LoadPieces(elem, places) => {
                write!(f, "load_pieces.{elem} ")?;
                places.iter().enumerate().try_for_each(|(index, place)| write!(f, "{}{place}", if index > 0 { ", " } else { "" }))
            }
            Self::StoreVector { mem, addr, value, mask } => write!(f, "store_vector.{mem} {addr}, {value}{}", Masked(*mask)),
            Self::Gather { elem, base, index, scale, mask } => {
                write!(f, "gather.{elem} {}{}", Indexed(*base, index, *scale), Masked(*mask))
            }
            Self::Scatter { elem, base, index, scale, value, mask } => {
                write!(f, "scatter.{elem} {}, {value}{}", Indexed(*base, index, *scale), Masked(*mask))
            }
            Self::AtomicAdd(mem, addr, value) => write!(f, "atomic_add.{mem} {addr}, {value}"),
            Self::AtomicExchange(mem, addr, value) => write!(f, "atomic_exchange.{mem} {addr}, {value}"),
            Self::AtomicCompareExchange(mem, addr, expected, desired) => {
                write!(f, "atomic_compare_exchange.{mem} {addr}, {expected}, {desired}")
            }
            Self::PrefetchWrite(addr) => write!(f, "prefetch_write {addr}"),
            Self::Fence => f.write_str("fence"),
            Self::Clock => f.write_str("clock"),
            Self::Call(func, args) => write!(f, "call {func}({})", List(args)),
            Self::CallHelper(address, args) => write!(f, "call_helper {address}({})", List(args)),
        }
    }
}

impl Display for Target {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.block)?;
        if self.args.is_empty() { Ok(()) } else { write!(f, "({})", List(&self.args)) }
    }
}

impl Display for Terminator {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Jump(target) => write!(f, "jump {target}"),
            Self::Branch(cond, then, els) => {
                match cond {
                    Cond::Cmp(op, a, b) => write!(f, "branch {} {a}, {b}", word(op))?,
                    Cond::NonZero(value) => write!(f, "branch {value}")?,
                    Cond::Any(mask) => write!(f, "branch any {mask}")?,
                    Cond::All(mask) => write!(f, "branch all {mask}")?,
                }
                write!(f, " {then} else {els}")
            }
            Self::Return(None) => f.write_str("return"),
            Self::Return(Some(value)) => write!(f, "return {value}"),
            Self::Unreachable => f.write_str("unreachable"),
        }
    }
}

impl Function {
    /// Passes each line of the text form to `line`, with its source position.
    fn lines(&self, line: &mut dyn FnMut(SourceLoc, Arguments<'_>) -> fmt::Result) -> fmt::Result {
        let none = SourceLoc::default();
        let params: Vec<String> = self.params.iter().map(ToString::to_string).collect();
        let returns = self.returns.map_or_else(String::new, |ty| format!(" -> {ty}"));
        line(none, format_args!("function \"{}\"({}){returns} {{", self.name, params.join(", ")))?;
        for (index, block) in self.blocks.iter().enumerate() {
            let params: Vec<String> = block.params.iter().map(|param| format!("{param}: {}", self.ty(*param))).collect();
            line(none, format_args!("b{index}({}):", params.join(", ")))?;
            for inst in &block.insts {
                match inst.result {
                    Some(result) => line(inst.source, format_args!("  {result}: {} = {}", self.ty(result), inst.op))?,
                    None => line(inst.source, format_args!("  {}", inst.op))?,
                }
            }
            match &block.terminator {
                Some(terminator) => line(none, format_args!("  {terminator}"))?,
                None => line(none, format_args!("  (open)"))?,
            }
        }
        line(none, format_args!("}}"))
    }
}

impl Display for Function {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.lines(&mut |_, text| writeln!(f, "{text}"))
    }
}

impl Display for Module {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.functions.iter().try_for_each(|function| function.fmt(f))
    }
}

impl Module {
    /// Returns the source position of each line of the text form. 0 is unknown.
    pub fn line_sources(&self) -> Vec<SourceLoc> {
        let mut sources = Vec::new();
        for function in &self.functions {
            let done = function.lines(&mut |source, _| {
                sources.push(source);
                Ok(())
            });
            debug_assert!(done.is_ok(), "a Vec accepts every line");
        }
        sources
    }
}
