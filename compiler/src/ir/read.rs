//! Parser for the text form, for tests. It fails at the first error, and does not verify the IR.
//!
//! Example: `read_module("func @f0 \"f\" () { return }")`.

use super::image::ImageCall;
use super::{
    AtomicOp, BinOp, CastOp, CmpOp, Const, Fence, Func, Function, Global, GlobalVar, GroupOp, Inst, Kernel, KernelParam, MathOp, Module,
    Op, Region, Reloc, Scalar, Space, Type, UnOp, UndefinedUse, Value, ValueData, Var, VarData, WorkItem,
};
use crate::diag::Span;

/// A syntax error in the text form.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("line {line}: {message}")]
pub struct ReadError {
    /// Line number, counted from 1.
    pub line: usize,
    pub message: String,
}

type Result<T> = std::result::Result<T, ReadError>;

/// Reads a module. `;` starts a comment that extends to the end of the line.
///
/// # Errors
///
/// Fails if the text is not valid.
pub fn read_module(text: &str) -> Result<Module> {
    let mut reader = Reader { tokens: tokenize(text)?, pos: 0, values: Vec::new() };
    let mut module = Module::default();
    while let Some(word) = reader.peek().map(str::to_owned) {
        match word.as_str() {
            "global" => {
                let global = reader.global(module.globals.len())?;
                module.globals.push(global);
            }
            "kernel" | "func" => {
                let function = reader.function(module.functions.len())?;
                module.functions.push(function);
            }
            _ => return Err(reader.error(format!("expected `global`, `kernel` or `func`, found `{word}`"))),
        }
    }
    Ok(module)
}

struct Token {
    text: String,
    line: usize,
}

fn tokenize(text: &str) -> Result<Vec<Token>> {
    let mut tokens = Vec::new();
    for (number, line) in text.lines().enumerate() {
        let line_number = number + 1;
        let mut rest = line.trim_start();
        while let Some(c) = rest.chars().next() {
            let len = match c {
                ';' => break,
                '"' => string_len(rest).ok_or_else(|| ReadError { line: line_number, message: "unterminated string".to_owned() })?,
                c if is_word(c) => rest.find(|c| !is_word(c)).unwrap_or(rest.len()),
                c => c.len_utf8(),
            };
            let (token, tail) = rest.split_at(len);
            tokens.push(Token { text: token.to_owned(), line: line_number });
            rest = tail.trim_start();
        }
    }
    Ok(tokens)
}

const fn is_word(c: char) -> bool {
    c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '%' | '$' | '@' | '-')
}

fn string_len(text: &str) -> Option<usize> {
    let mut escaped = false;
    for (i, c) in text.char_indices().skip(1) {
        match c {
            _ if escaped => escaped = false,
            '\\' => escaped = true,
            '"' => return Some(i + 1),
            _ => {}
        }
    }
    None
}

struct Reader {
    tokens: Vec<Token>,
    pos: usize,
    values: Vec<ValueData>,
}

impl Reader {
    fn error(&self, message: impl Into<String>) -> ReadError {
        let line = self.tokens.get(self.pos).or(self.tokens.last()).map_or(1, |t| t.line);
        ReadError { line, message: message.into() }
    }

    fn peek(&self) -> Option<&str> {
        self.tokens.get(self.pos).map(|t| t.text.as_str())
    }

    fn next(&mut self) -> Result<String> {
        let token = self.tokens.get(self.pos).map(|t| t.text.clone()).ok_or_else(|| self.error("unexpected end"))?;
        self.pos += 1;
        Ok(token)
    }

    fn accept(&mut self, text: &str) -> bool {
        let found = self.peek() == Some(text);
        self.pos += usize::from(found);
        found
    }

    fn expect(&mut self, text: &str) -> Result<()> {
        if self.accept(text) {
            return Ok(());
        }
        Err(self.error(format!("expected `{text}`, found `{}`", self.peek().unwrap_or("the end"))))
    }

    fn number<T: TryFrom<u64>>(&mut self) -> Result<T> {
        let word = self.next()?;
        let value = match word.strip_prefix("0x") {
            Some(hex) => u64::from_str_radix(hex, 16).ok(),
            None => word.parse::<u64>().ok().or_else(|| word.parse::<i64>().ok().map(i64::cast_unsigned)),
        };
        value.and_then(|v| T::try_from(v).ok()).ok_or_else(|| self.error(format!("bad number `{word}`")))
    }

    fn keyed(&mut self, key: &str) -> Result<u32> {
        self.expect(key)?;
        self.expect("=")?;
        self.number()
    }

    fn string(&mut self) -> Result<String> {
        let word = self.next()?;
        let inner = word.strip_prefix('"').and_then(|w| w.strip_suffix('"'));
        let inner = inner.ok_or_else(|| self.error(format!("expected a string, found `{word}`")))?;
        let mut text = String::new();
        let mut chars = inner.chars();
        while let Some(c) = chars.next() {
            if c != '\\' {
                text.push(c);
                continue;
            }
            match chars.next() {
                Some('n') => text.push('\n'),
                Some('t') => text.push('\t'),
                Some('r') => text.push('\r'),
                Some('0') => text.push('\0'),
                Some('u') => {
                    let hex: String = chars.by_ref().skip(1).take_while(|c| *c != '}').collect();
                    let c = u32::from_str_radix(&hex, 16).ok().and_then(char::from_u32);
                    text.push(c.ok_or_else(|| self.error("bad escape"))?);
                }
                Some(c) => text.push(c),
                None => return Err(self.error("bad escape")),
            }
        }
        Ok(text)
    }

    fn entity(&mut self, prefix: &str) -> Result<u32> {
        let word = self.next()?;
        let number = word.strip_prefix(prefix).and_then(|n| n.parse().ok());
        number.ok_or_else(|| self.error(format!("expected `{prefix}N`, found `{word}`")))
    }

    fn value(&mut self) -> Result<Value> {
        let value = Value(self.entity("%")?);
        if value.0 > 10_000_000 {
            return Err(self.error("value number too large"));
        }
        if value.index() >= self.values.len() {
            self.values.resize(value.index() + 1, ValueData { ty: Type::Void });
        }
        Ok(value)
    }

    fn values(&mut self) -> Result<Vec<Value>> {
        let mut values = Vec::new();
        if self.peek().is_some_and(|t| t.starts_with('%')) && !self.next_is_definition() {
            values.push(self.value()?);
            while self.accept(",") {
                values.push(self.value()?);
            }
        }
        Ok(values)
    }

    /// Whether the next tokens are `%N:`, which start an instruction.
    fn next_is_definition(&self) -> bool {
        self.tokens.get(self.pos + 1).is_some_and(|t| t.text == ":")
    }

    fn scalar_of(&self, word: &str) -> Result<Scalar> {
        Ok(match word {
            "bool" => Scalar::Bool,
            "i8" => Scalar::I8,
            "i16" => Scalar::I16,
            "i32" => Scalar::I32,
            "i64" => Scalar::I64,
            "f16" => Scalar::F16,
            "f32" => Scalar::F32,
            "f64" => Scalar::F64,
            _ => return Err(self.error(format!("unknown type `{word}`"))),
        })
    }

    fn space_of(&self, word: &str) -> Result<Space> {
        Ok(match word {
            "private" => Space::Private,
            "local" => Space::Local,
            "global" => Space::Global,
            "constant" => Space::Constant,
            "generic" => Space::Generic,
            _ => return Err(self.error(format!("unknown address space `{word}`"))),
        })
    }

    fn ty(&mut self) -> Result<Type> {
        let word = self.next()?;
        if word == "void" {
            return Ok(Type::Void);
        }
        if let Some(space) = word.strip_prefix("ptr.") {
            return Ok(Type::Ptr(self.space_of(space)?));
        }
        match word.split_once('x') {
            Some((scalar, lanes)) => {
                let lanes = lanes.parse().map_err(|_| self.error(format!("unknown type `{word}`")))?;
                Ok(Type::Vector(self.scalar_of(scalar)?, lanes))
            }
            None => Ok(Type::Scalar(self.scalar_of(&word)?)),
        }
    }

    fn define(&mut self) -> Result<Value> {
        let value = self.value()?;
        self.expect(":")?;
        let ty = self.ty()?;
        self.values[value.index()].ty = ty;
        Ok(value)
    }

    fn global(&mut self, index: usize) -> Result<GlobalVar> {
        self.expect("global")?;
        if self.entity("@g")? as usize != index {
            return Err(self.error("globals must be numbered in order"));
        }
        let name = self.string()?;
        let space = self.next()?;
        let space = self.space_of(&space)?;
        let size = self.keyed("size")?;
        let align = self.keyed("align")?;
        let init = if self.accept("=") {
            let hex = self.next()?;
            if hex == "empty" { Some(Vec::new()) } else { Some(self.bytes(&hex)?) }
        } else {
            None
        };
        let mut relocs = Vec::new();
        while self.accept("reloc") {
            let at = self.number()?;
            let target = Global(self.entity("@g")?);
            let addend = self.number::<u64>()?.cast_signed();
            relocs.push(Reloc { at, target, addend });
        }
        Ok(GlobalVar { name, space, size, align, init, relocs })
    }

    fn bytes(&self, hex: &str) -> Result<Vec<u8>> {
        let digits: Option<Vec<u8>> = hex.chars().map(|c| c.to_digit(16).and_then(|d| u8::try_from(d).ok())).collect();
        match digits {
            Some(digits) if digits.len().is_multiple_of(2) => Ok(digits.chunks_exact(2).map(|d| d[0] * 16 + d[1]).collect()),
            _ => Err(self.error("bad initial contents")),
        }
    }

    fn function(&mut self, index: usize) -> Result<Function> {
        let is_kernel = self.next()? == "kernel";
        if self.entity("@f")? as usize != index {
            return Err(self.error("functions must be numbered in order"));
        }
        self.values = Vec::new();
        let mut function = Function::new(self.string()?, Type::Void);
        let mut kernel = Kernel::default();
        self.expect("(")?;
        while !self.accept(")") {
            if !function.params.is_empty() {
                self.expect(",")?;
            }
            let param = self.define()?;
            function.params.push(param);
            if is_kernel {
                let ty = self.values[param.index()].ty;
                kernel.params.push(self.kernel_param(ty)?);
            }
        }
        if self.accept("-") || self.accept("->") {
            self.accept(">");
            function.returns.push(self.ty()?);
            while self.accept(",") {
                function.returns.push(self.ty()?);
            }
        }
        if self.accept("reqd") {
            kernel.reqd_work_group_size = Some([self.number()?, self.number()?, self.number()?]);
        }
        if self.accept("subgroups") {
            kernel.reqd_subgroup_size = Some(self.number()?);
        }
        kernel.zeroed = self.accept("zeroed");
        kernel.requires_addresses = self.accept("by_address");
        kernel.aligned = self.accept("aligned");
        function.no_inline = self.accept("noinline");
        self.expect("{")?;
        while self.accept("var") {
            if self.entity("$")? as usize != function.vars.len() {
                return Err(self.error("variables must be numbered in order"));
            }
            let name = self.string()?;
            let size = self.keyed("size")?;
            let align = self.keyed("align")?;
            function.vars.push(VarData { name, size, align });
        }
        function.body = self.region(0)?;
        function.values = std::mem::take(&mut self.values);
        function.kernel = is_kernel.then_some(kernel);
        Ok(function)
    }

    fn kernel_param(&mut self, ty: Type) -> Result<KernelParam> {
        let word = self.next()?;
        Ok(match word.as_str() {
            "value" => KernelParam::Value,
            "bytes" => KernelParam::Bytes { size: self.number()?, align: self.number()? },
            "buffer" => {
                let Type::Ptr(space) = ty else {
                    return Err(self.error("a buffer parameter must be a pointer"));
                };
                let read_only = self.accept("readonly");
                let restrict = self.accept("restrict");
                KernelParam::Buffer { space, read_only, restrict }
            }
            "local" => KernelParam::Local { align: self.number()? },
            "sampler" => KernelParam::Sampler,
            "image" => KernelParam::Image,
            _ => return Err(self.error(format!("unknown way to pass a parameter `{word}`"))),
        })
    }

    /// Reads instructions up to and including the closing brace.
    fn region(&mut self, depth: usize) -> Result<Region> {
        if depth > 1000 {
            return Err(self.error("regions are nested too deeply"));
        }
        let mut region = Region::default();
        while !self.accept("}") {
            let mut results = Vec::new();
            if self.peek().is_some_and(|t| t.starts_with('%')) {
                results.push(self.define()?);
                while self.accept(",") {
                    results.push(self.define()?);
                }
                self.expect("=")?;
            }
            let op = self.op(depth)?;
            region.insts.push(Inst { op, results, span: Span::NONE });
        }
        Ok(region)
    }

    fn comma_value(&mut self) -> Result<Value> {
        self.expect(",")?;
        self.value()
    }

    fn comma_number<T: TryFrom<u64>>(&mut self) -> Result<T> {
        self.expect(",")?;
        self.number()
    }

    fn word_number(&mut self, word: &str) -> Result<u32> {
        self.expect(word)?;
        self.number()
    }

    fn op(&mut self, depth: usize) -> Result<Op> {
        let word = self.next()?;
        if let Some(op) = UnOp::from_name(&word) {
            return Ok(Op::Un(op, self.value()?));
        }
        if let Some(op) = BinOp::from_name(&word) {
            return Ok(Op::Bin(op, self.value()?, self.comma_value()?));
        }
        if let Some(op) = CmpOp::from_name(&word) {
            return Ok(Op::Cmp(op, self.value()?, self.comma_value()?));
        }
        if let Some(op) = CastOp::from_name(&word) {
            return Ok(Op::Cast(op, self.value()?));
        }
        if let Some(op) = MathOp::from_name(&word) {
            return Ok(Op::Math(op, self.values()?));
        }
        if let Some(op) = AtomicOp::from_name(&word) {
            let ty = self.next()?;
            let ty = self.scalar_of(&ty)?;
            let ptr = self.value()?;
            let value = if self.accept(",") { Some(self.value()?) } else { None };
            return Ok(Op::Atomic { op, ptr, value, ty });
        }
        if let Some(name) = word.strip_prefix("workitem.") {
            return Ok(Op::WorkItem(self.work_item(name)?));
        }
        match word.as_str() {
            "if" => {
                let cond = self.value()?;
                self.expect("{")?;
                let then = self.region(depth + 1)?;
                self.expect("else")?;
                self.expect("{")?;
                let els = self.region(depth + 1)?;
                Ok(Op::If { cond, then, els })
            }
            "loop" => self.loop_op(depth),
            "switch" => self.switch_op(depth),
            _ => self.plain_op(&word),
        }
    }

    fn loop_op(&mut self, depth: usize) -> Result<Op> {
        let (mut init, mut params) = (Vec::new(), Vec::new());
        self.expect("(")?;
        while !self.accept(")") {
            if !params.is_empty() {
                self.expect(",")?;
            }
            params.push(self.define()?);
            self.expect("=")?;
            init.push(self.value()?);
        }
        let unroll = if self.accept("unroll") { Some(self.number()?) } else { None };
        self.expect("{")?;
        let body = self.region(depth + 1)?;
        Ok(Op::Loop { init, params, body, unroll })
    }

    fn switch_op(&mut self, depth: usize) -> Result<Op> {
        let selector = self.value()?;
        let mut cases = Vec::new();
        self.expect("{")?;
        while self.accept("case") {
            let mut values = vec![self.number()?];
            while self.accept(",") {
                values.push(self.number()?);
            }
            self.expect("{")?;
            cases.push((values, self.region(depth + 1)?));
        }
        self.expect("default")?;
        self.expect("{")?;
        let default = self.region(depth + 1)?;
        self.expect("}")?;
        Ok(Op::Switch { selector, cases, default })
    }

    fn plain_op(&mut self, word: &str) -> Result<Op> {
        Ok(match word {
            "const" => Op::Const(self.constant()?),
            "select" => Op::Select(self.value()?, self.comma_value()?, self.comma_value()?),
            "all" => Op::All(self.value()?),
            "any" => Op::Any(self.value()?),
            "construct" => Op::Construct(self.values()?),
            "splat" => Op::Splat(self.value()?),
            "extract" => Op::Extract(self.value()?, self.comma_number()?),
            "extract_dyn" => Op::ExtractDyn(self.value()?, self.comma_value()?),
            "insert" => Op::Insert(self.value()?, self.comma_number()?, self.comma_value()?),
            "insert_dyn" => Op::InsertDyn(self.value()?, self.comma_value()?, self.comma_value()?),
            "shuffle" => {
                let (a, b) = (self.value()?, self.comma_value()?);
                self.expect(",")?;
                Op::Shuffle(a, b, self.lanes()?)
            }
            "var_addr" => Op::VarAddr(Var(self.entity("$")?)),
            "global_addr" => Op::GlobalAddr(Global(self.entity("@g")?)),
            "param_addr" => Op::ParamAddr(self.number()?),
            "ptr_add" => Op::PtrAdd(self.value()?, self.comma_value()?),
            "load" => Op::Load { ptr: self.value()?, align: self.word_number("align")?, volatile: self.accept("volatile") },
            "store" => Op::Store {
                ptr: self.value()?,
                value: self.comma_value()?,
                align: self.word_number("align")?,
                volatile: self.accept("volatile"),
            },
            "copy" => Op::Copy {
                dst: self.value()?,
                src: self.comma_value()?,
                size: self.word_number("size")?,
                align: self.word_number("align")?,
            },
            "zero" => Op::Zero { dst: self.value()?, size: self.word_number("size")?, align: self.word_number("align")? },
            "cmpxchg" => {
                let ty = self.next()?;
                let ty = self.scalar_of(&ty)?;
                Op::CmpXchg { ptr: self.value()?, expected: self.comma_value()?, desired: self.comma_value()?, ty }
            }
            "barrier" => Op::Barrier(self.fence()),
            "mem_fence" => Op::MemFence(self.fence()),
            "group" => {
                let sub = match self.next()?.as_str() {
                    "sub" => true,
                    "work" => false,
                    other => return Err(self.error(format!("`{other}` is not a kind of group"))),
                };
                let op = self.group_op()?;
                Op::Group { sub, op, args: self.comma_values()? }
            }
            "nan_check" => {
                let part = match self.next()?.as_str() {
                    "whole" => None,
                    "part" => Some(self.number()?),
                    other => return Err(self.error(format!("`{other}` is not an operand of `nan_check`"))),
                };
                Op::NanCheck { values: self.comma_values()?, part }
            }
            "conversion_check" => self.conversion_check()?,
            "undefined_use" => self.undefined_use()?,
            "async_copy_begin" => Op::AsyncCopyBegin(self.value()?),
            "async_copy_end" => Op::AsyncCopyEnd,
            "async_copy_wait" => Op::AsyncCopyWait(self.value()?),
            "clock" => match self.next()?.as_str() {
                "device" => Op::Clock { sub: false },
                "sub" => Op::Clock { sub: true },
                other => return Err(self.error(format!("expected `device` or `sub`, found `{other}`"))),
            },
            "printf" => {
                let format = if self.accept("dynamic") { None } else { Some(Global(self.entity("@g")?)) };
                Op::Printf { format, args: self.comma_values()? }
            }
            "image" => {
                let name = self.next()?;
                let call = ImageCall::parse(&name).ok_or_else(|| self.error(format!("`{name}` is not an image function")))?;
                Op::Image { call, args: self.comma_values()? }
            }
            "image_word" => Op::ImageWord { image: self.value()?, word: self.number()? },
            "call" => {
                let func = Func(self.entity("@f")?);
                Op::Call(func, self.comma_values()?)
            }
            "yield" => Op::Yield(self.values()?),
            "break" => Op::Break(self.values()?),
            "continue" => Op::Continue(self.values()?),
            "return" => Op::Return(self.values()?),
            "unreachable" => Op::Unreachable,
            _ => {
                self.pos -= 1;
                return Err(self.error(format!("unknown operation `{word}`")));
            }
        })
    }

    fn conversion_check(&mut self) -> Result<Op> {
        let to = self.next()?;
        let to = self.scalar_of(&to)?;
        let signed = match self.next()?.as_str() {
            "signed" => true,
            "unsigned" => false,
            other => return Err(self.error(format!("expected `signed` or `unsigned`, found `{other}`"))),
        };
        Ok(Op::ConversionCheck { value: self.value()?, to, signed })
    }

    fn undefined_use(&mut self) -> Result<Op> {
        let what = self.next()?;
        let what = UndefinedUse::from_name(&what).ok_or_else(|| self.error(format!("`{what}` is not a use of an undefined value")))?;
        let mut names = vec![self.string()?];
        while self.accept(",") {
            names.push(self.string()?);
        }
        Ok(Op::UndefinedUse { what, names })
    }

    fn comma_values(&mut self) -> Result<Vec<Value>> {
        let mut values = Vec::new();
        while self.accept(",") {
            values.push(self.value()?);
        }
        Ok(values)
    }

    fn group_op(&mut self) -> Result<GroupOp> {
        let name = self.next()?;
        let mut combined = |make: fn(BinOp) -> GroupOp| {
            let word = self.next()?;
            BinOp::from_name(&word).map(make).ok_or_else(|| self.error(format!("unknown operation `{word}`")))
        };
        match name.as_str() {
            "reduce" => combined(GroupOp::Reduce),
            "scan_inclusive" => combined(GroupOp::ScanInclusive),
            "scan_exclusive" => combined(GroupOp::ScanExclusive),
            "active_reduce" => combined(GroupOp::ActiveReduce),
            "active_inclusive" => combined(GroupOp::ActiveInclusive),
            "active_exclusive" => combined(GroupOp::ActiveExclusive),
            other => GroupOp::plain(other).ok_or_else(|| self.error(format!("unknown group operation `{other}`"))),
        }
    }

    fn constant(&mut self) -> Result<Const> {
        if self.accept("null") {
            return Ok(Const::Null);
        }
        if self.accept("undef") {
            return Ok(Const::Undef);
        }
        if !self.accept("[") {
            return Ok(Const::Bits(self.number()?));
        }
        let mut lanes = vec![self.number()?];
        while self.accept(",") {
            lanes.push(self.number()?);
        }
        self.expect("]")?;
        Ok(Const::Lanes(lanes))
    }

    fn lanes(&mut self) -> Result<Vec<Option<u8>>> {
        let mut lanes = Vec::new();
        self.expect("[")?;
        while !self.accept("]") {
            if !lanes.is_empty() {
                self.expect(",")?;
            }
            lanes.push(if self.accept("_") { None } else { Some(self.number()?) });
        }
        Ok(lanes)
    }

    fn fence(&mut self) -> Fence {
        Fence { local: self.accept("local"), global: self.accept("global"), image: self.accept("image") }
    }

    fn work_item(&mut self, name: &str) -> Result<WorkItem> {
        Ok(match name {
            "global_id" => WorkItem::GlobalId(self.number()?),
            "local_id" => WorkItem::LocalId(self.number()?),
            "group_id" => WorkItem::GroupId(self.number()?),
            "global_size" => WorkItem::GlobalSize(self.number()?),
            "enqueued_local_size" => WorkItem::EnqueuedLocalSize(self.number()?),
            "local_size" => WorkItem::LocalSize(self.number()?),
            "num_groups" => WorkItem::NumGroups(self.number()?),
            "global_offset" => WorkItem::GlobalOffset(self.number()?),
            "work_dim" => WorkItem::WorkDim,
            "subgroup_size" => WorkItem::SubgroupSize,
            "subgroup_local_id" => WorkItem::SubgroupLocalId,
            "subgroup_id" => WorkItem::SubgroupId,
            "num_subgroups" => WorkItem::NumSubgroups,
            "arg_identity" => WorkItem::ArgIdentity(self.number()?),
            "arg_base" => WorkItem::ArgBase(self.number()?),
            "arg_size" => WorkItem::ArgSize(self.number()?),
            "arg_size_high" => WorkItem::ArgSizeHigh(self.number()?),
            "arg_address" => WorkItem::ArgAddress { param: self.number()?, high: self.number::<u8>()? != 0 },
            "arg_merged_offset" => WorkItem::ArgMergedOffset(self.number()?),
            "arg_start" => WorkItem::ArgStart(self.number()?),
            "arg_image" => WorkItem::ArgImage { param: self.number()?, word: self.number()? },
            _ => return Err(self.error(format!("unknown work-item function `{name}`"))),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::read_module;

    const TEXT: &str = r#"global @g0 "tile" local size=256 align=4
global @g1 "table" constant size=8 align=4 = 2a00000000000000 reloc 4 @g0 -4

kernel @f0 "all" (%0: ptr.global buffer readonly restrict, %1: i32 value, %2: ptr.local local 16, %3: ptr.constant bytes 12 4) reqd 8 1 1 {
  var $0 "i" size=4 align=4
  %4: i32 = const 3
  %5: f32 = const 0x3f800000
  %6: f32x4 = const [0x0, 0x3f800000, 0x0, 0x0]
  %7: ptr.private = var_addr $0
  store %7, %4 align 4
  %8: i32 = load %7 align 4 volatile
  %9: bool = slt %8, %4
  %10: i32, %11: f32 = if %9 {
    yield %8, %5
  } else {
    %12: f32 = extract %6, 1
    yield %4, %12
  }
  %13: i32 = loop (%14: i32 = %10) unroll 4 {
    %15: i32 = add %14, %8
    switch %15 {
      case 1, 2 {
        break %15
      }
      default {
        yield
      }
    }
    continue %15
  }
  %16: f32x2 = shuffle %6, %6, [1, _]
  barrier local
  %17: i32 = atomic.add i32 %0, %13
  %18: f32 = call @f1, %11
  %19: f32 = math.fma %18, %18, %11
  %20: i32 = workitem.global_id 0
  %21: i32, %22: f32 = call @f2, %13
  return
}

func @f1 "square" (%0: f32) -> f32 noinline {
  %1: f32 = fmul %0, %0
  return %1
}

func @f2 "both" (%0: i32) -> i32, f32 {
  %1: f32 = bitcast %0
  return %0, %1
}
"#;

    #[test]
    fn writes_what_it_read() {
        let module = read_module(TEXT).map_err(|e| e.to_string());
        assert_eq!(module.map(|m| m.to_string()), Ok(TEXT.to_owned()));
    }

    #[test]
    fn names_the_line_of_an_error() {
        let error = read_module("func @f0 \"f\" () {\n  frobnicate\n}").map(|m| m.to_string());
        assert_eq!(error.map_err(|e| e.to_string()), Err("line 2: unknown operation `frobnicate`".to_owned()));
    }
}
