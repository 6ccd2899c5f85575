//! Reads the text of the vector IR, as `write` prints it.
//!
//! ```text
//! function "k"(i64) {
//! b0():
//!   v0: i64 = param 0
//!   v1: f32x16 = load_vector.f32 [v0 + 0x40]
//!   store_vector.f32 [v0], v1
//!   return
//! }
//! ```
//! The text includes the types of values. [`verify`](super::verify()) checks whether the module follows the rules.

use super::entities::{Block, Func, Value};
use super::function::{BlockData, Function, Module};
use super::op::{Addr, BinOp, CastOp, CmpOp, Cond, Inst, Mem, Op, Rounding, SourceLoc, Target, Terminator, TernOp, UnOp};
use super::types::{Elem, Type};
use super::write::word;

/// An error in the text of a module.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[error("line {line}: {message}")]
pub struct ReadError {
    /// The line number, from 1.
    pub line: usize,
    /// The problem and its position in the line.
    pub message: String,
}

/// Reads a module.
///
/// # Errors
/// Reports the first line that is not vector IR.
pub fn read(text: &str) -> Result<Module, ReadError> {
    let mut module = Module::default();
    let mut lines = (1..).zip(text.lines()).filter(|(_, line)| !line.trim().is_empty());
    while let Some((number, line)) = lines.next() {
        let at = |number: usize| move |message: String| ReadError { line: number, message };
        let mut function = head(&mut Cursor::new(line)).map_err(at(number))?;
        loop {
            let Some((number, line)) = lines.next() else { return Err(at(number)("the function has no closing brace".to_owned())) };
            if line.trim() == "}" {
                break;
            }
            body_line(&mut function, &mut Cursor::new(line)).map_err(at(number))?;
        }
        module.functions.push(function);
    }
    Ok(module)
}

type Parsed<T> = Result<T, String>;

/// Reads a line from left to right. `rest` is the part that has not been read.
struct Cursor<'a> {
    rest: &'a str,
}

impl<'a> Cursor<'a> {
    fn new(line: &'a str) -> Self {
        Self { rest: line.trim() }
    }

    fn error<T>(&self, expected: &str) -> Parsed<T> {
        Err(format!("expected {expected} at `{}`", self.rest))
    }

    /// Skips `text` if the line continues with it. Returns true in this case.
    fn accept(&mut self, text: &str) -> bool {
        match self.rest.strip_prefix(text) {
            Some(rest) => {
                self.rest = rest.trim_start();
                true
            }
            None => false,
        }
    }

    fn expect(&mut self, text: &str) -> Parsed<()> {
        if self.accept(text) { Ok(()) } else { self.error(&format!("`{text}`")) }
    }

    /// Reads a word of letters, digits, `_` and `.`.
    fn word(&mut self) -> Parsed<&'a str> {
        let end = self.rest.find(|c: char| !(c.is_ascii_alphanumeric() || matches!(c, '_' | '.'))).unwrap_or(self.rest.len());
        if end == 0 {
            return self.error("a word");
        }
        let (word, rest) = self.rest.split_at(end);
        self.rest = rest.trim_start();
        Ok(word)
    }

    fn number<T: TryFrom<u64>>(&mut self) -> Parsed<T> {
        let word = self.word()?;
        let bits = match word.strip_prefix("0x") {
            Some(digits) => u64::from_str_radix(digits, 16),
            None => word.parse(),
        };
        bits.ok().and_then(|bits| T::try_from(bits).ok()).ok_or_else(|| format!("`{word}` is not a number, or is too large"))
    }

    /// Reads a number after a letter, as in `v12`.
    fn entity(&mut self, letter: char) -> Parsed<u32> {
        let word = self.word()?;
        word.strip_prefix(letter)
            .and_then(|digits| digits.parse().ok())
            .ok_or_else(|| format!("expected `{letter}` and a number, found `{word}`"))
    }

    fn value(&mut self) -> Parsed<Value> {
        self.entity('v').map(Value)
    }

    /// Reads two operands.
    fn pair(&mut self) -> Parsed<[Value; 2]> {
        let first = self.value()?;
        self.expect(",")?;
        Ok([first, self.value()?])
    }

    fn triple(&mut self) -> Parsed<[Value; 3]> {
        let [a, b] = self.pair()?;
        self.expect(",")?;
        Ok([a, b, self.value()?])
    }

    /// Reads values up to the end of the line or a closing bracket.
    fn values(&mut self) -> Parsed<Vec<Value>> {
        let mut list = Vec::new();
        while !self.rest.is_empty() && !self.rest.starts_with(')') {
            list.push(self.value()?);
            self.accept(",");
        }
        Ok(list)
    }

    /// Reads values in round brackets.
    fn arguments(&mut self) -> Parsed<Vec<Value>> {
        self.expect("(")?;
        let list = self.values()?;
        self.expect(")")?;
        Ok(list)
    }

    /// Reads numbers in square brackets, in the given radix.
    fn numbers(&mut self, radix: u32) -> Parsed<Vec<u64>> {
        self.expect("[")?;
        let mut list = Vec::new();
        while !self.accept("]") {
            let word = self.word()?;
            list.push(u64::from_str_radix(word, radix).map_err(|error| format!("`{word}`: {error}"))?);
            self.accept(",");
        }
        Ok(list)
    }

    fn ty(&mut self) -> Parsed<Type> {
        let word = self.word()?;
        ty(word).ok_or_else(|| format!("`{word}` is not a type"))
    }

    fn address(&mut self) -> Parsed<Addr> {
        self.expect("[")?;
        let mut addr = Addr::of(self.value()?);
        if self.rest.starts_with("+ v") {
            self.expect("+")?;
            let index = self.value()?;
            self.expect("*")?;
            addr.index = Some((index, self.number()?));
        }
        if !self.rest.starts_with(']') {
            let negative = self.accept("-");
            if !negative {
                self.expect("+")?;
            }
            let size: i64 = self.number()?;
            addr.disp = i32::try_from(if negative { -size } else { size }).map_err(|error| error.to_string())?;
        }
        self.expect("]")?;
        Ok(addr)
    }

    /// Reads ` mask v1`, which is optional. Returns `None` if it is missing.
    fn mask(&mut self) -> Parsed<Option<Value>> {
        if self.accept("mask ") { self.value().map(Some) } else { Ok(None) }
    }

    /// Reads `[base + (indices) * scale]`.
    fn indices(&mut self) -> Parsed<(Option<Value>, Vec<Value>, u8)> {
        self.expect("[")?;
        let base = if self.rest.starts_with('(') { None } else { Some(self.value()?) };
        if base.is_some() {
            self.expect("+")?;
        }
        let index = self.arguments()?;
        self.expect("*")?;
        let scale = self.number()?;
        self.expect("]")?;
        Ok((base, index, scale))
    }

    fn target(&mut self) -> Parsed<Target> {
        let block = Block(self.entity('b')?);
        let args = if self.rest.starts_with('(') { self.arguments()? } else { Vec::new() };
        Ok(Target::new(block, args))
    }
}

fn elem(word: &str) -> Option<Elem> {
    [Elem::I32, Elem::I64, Elem::F32, Elem::F64].into_iter().find(|elem| elem.to_string() == word)
}

fn mem(word: &str) -> Option<Mem> {
    match word {
        "i8" => Some(Mem::I8),
        "i16" => Some(Mem::I16),
        _ => elem(word).map(Mem::Elem),
    }
}

fn ty(word: &str) -> Option<Type> {
    let Some((of, lanes)) = word.split_once('x') else { return elem(word).map(Type::Scalar) };
    let lanes = lanes.parse().ok()?;
    match of.strip_prefix('m') {
        Some(bits) => bits.parse().ok().filter(|bits| matches!(bits, 32 | 64)).map(|bits| Type::mask(lanes, bits)),
        None => elem(of).map(|elem| Type::Vector(elem, lanes)),
    }
}

/// Finds the variant in a list by the name that `write` prints.
fn named<T: Copy + std::fmt::Debug>(list: &[T], name: &str) -> Option<T> {
    list.iter().copied().find(|item| word(item) == name)
}

const ROUNDINGS: [Rounding; 4] = [Rounding::NearestEven, Rounding::Down, Rounding::Up, Rounding::Zero];

const UNARY: [UnOp; 10] = [
    UnOp::Not,
    UnOp::Neg,
    UnOp::Sqrt,
    UnOp::Clz,
    UnOp::Ctz,
    UnOp::Popcnt,
    UnOp::HalfToFloat,
    UnOp::FloatToHalf,
    UnOp::RecipApprox,
    UnOp::RsqrtApprox,
];

const BINARY: [BinOp; 35] = [
    BinOp::Add,
    BinOp::Sub,
    BinOp::Mul,
    BinOp::MulWideU,
    BinOp::MulWideS,
    BinOp::MulHiU,
    BinOp::MulHiS,
    BinOp::UDiv,
    BinOp::SDiv,
    BinOp::URem,
    BinOp::SRem,
    BinOp::And,
    BinOp::Or,
    BinOp::Xor,
    BinOp::AndNot,
    BinOp::Shl,
    BinOp::LShr,
    BinOp::AShr,
    BinOp::Rotl,
    BinOp::SMin,
    BinOp::SMax,
    BinOp::UMin,
    BinOp::UMax,
    BinOp::AddBytes,
    BinOp::SubBytes,
    BinOp::MulBytes,
    BinOp::AddWords,
    BinOp::SubWords,
    BinOp::MulWords,
    BinOp::FAdd,
    BinOp::FSub,
    BinOp::FMul,
    BinOp::FDiv,
    BinOp::FMin,
    BinOp::FMax,
];

const TERNARY: [TernOp; 3] = [TernOp::Fma, TernOp::Fms, TernOp::Fnma];

const COMPARISONS: [CmpOp; 16] = [
    CmpOp::Eq,
    CmpOp::Ne,
    CmpOp::SLt,
    CmpOp::SLe,
    CmpOp::SGt,
    CmpOp::SGe,
    CmpOp::ULt,
    CmpOp::ULe,
    CmpOp::UGt,
    CmpOp::UGe,
    CmpOp::FEq,
    CmpOp::FNe,
    CmpOp::FLt,
    CmpOp::FLe,
    CmpOp::FGt,
    CmpOp::FGe,
];

const CASTS: [CastOp; 9] =
    [CastOp::Bitcast, CastOp::SExt, CastOp::ZExt, CastOp::Trunc, CastOp::SToF, CastOp::UToF, CastOp::FToS, CastOp::FToU, CastOp::FToF];

/// Reads `function "name"(types) -> type {`.
fn head(cursor: &mut Cursor<'_>) -> Parsed<Function> {
    let mut function = Function::default();
    cursor.expect("function")?;
    cursor.expect("\"")?;
    let Some((name, rest)) = cursor.rest.split_once('"') else { return cursor.error("a closing quote") };
    function.name = name.to_owned();
    cursor.rest = rest;
    cursor.expect("(")?;
    while !cursor.accept(")") {
        function.params.push(cursor.ty()?);
        cursor.accept(",");
    }
    if cursor.accept("->") {
        function.returns = Some(cursor.ty()?);
    }
    cursor.expect("{")?;
    Ok(function)
}

/// Records the type of a value.
fn define(function: &mut Function, value: Value, ty: Type) {
    if function.values.len() <= value.index() {
        function.values.resize(value.index() + 1, Type::I32);
    }
    function.values[value.index()] = ty;
}

/// Reads `v1: type`.
fn definition(function: &mut Function, cursor: &mut Cursor<'_>) -> Parsed<Value> {
    let value = cursor.value()?;
    cursor.expect(":")?;
    let ty = cursor.ty()?;
    define(function, value, ty);
    Ok(value)
}

fn body_line(function: &mut Function, cursor: &mut Cursor<'_>) -> Parsed<()> {
    let is_block = cursor.rest.ends_with("):") && cursor.rest.starts_with('b');
    if is_block {
        let number = cursor.entity('b')?;
        if number as usize != function.blocks.len() {
            return Err(format!("b{number} is not the next block"));
        }
        cursor.expect("(")?;
        let mut block = BlockData::default();
        while !cursor.accept(")") {
            block.params.push(definition(function, cursor)?);
            cursor.accept(",");
        }
        function.blocks.push(block);
        return Ok(());
    }
    let is_value = cursor.rest.starts_with('v') && cursor.rest.contains(": ");
    let result = if is_value {
        let value = definition(function, cursor)?;
        cursor.expect("=")?;
        Some(value)
    } else {
        None
    };
    let terminator = if result.is_some() { None } else { terminator(cursor)? };
    let Some(block) = function.blocks.last_mut() else { return Err("an instruction before the first block".to_owned()) };
    if block.terminator.is_some() {
        return Err("an instruction after the end of its block".to_owned());
    }
    match terminator {
        Some(terminator) => block.terminator = Some(terminator),
        None => {
            let op = op(cursor)?;
            block.insts.push(Inst { op, result, source: SourceLoc::default() });
        }
    }
    if cursor.rest.is_empty() { Ok(()) } else { cursor.error("the end of the line") }
}

/// Reads a terminator. Returns `None` if the line is not a terminator.
fn terminator(cursor: &mut Cursor<'_>) -> Parsed<Option<Terminator>> {
    Ok(Some(if cursor.accept("jump ") {
        Terminator::Jump(cursor.target()?)
    } else if cursor.accept("branch ") {
        let cond = condition(cursor)?;
        let then = cursor.target()?;
        cursor.expect("else")?;
        Terminator::Branch(cond, then, cursor.target()?)
    } else if cursor.accept("return") {
        Terminator::Return(if cursor.rest.is_empty() { None } else { Some(cursor.value()?) })
    } else if cursor.accept("unreachable") {
        Terminator::Unreachable
    } else {
        return Ok(None);
    }))
}

fn condition(cursor: &mut Cursor<'_>) -> Parsed<Cond> {
    if cursor.accept("any ") {
        return cursor.value().map(Cond::Any);
    }
    if cursor.accept("all ") {
        return cursor.value().map(Cond::All);
    }
    if cursor.rest.starts_with('v') {
        return cursor.value().map(Cond::NonZero);
    }
    let name = cursor.word()?;
    let op = named(&COMPARISONS, name).ok_or_else(|| format!("`{name}` is not a comparison"))?;
    let [a, b] = cursor.pair()?;
    Ok(Cond::Cmp(op, a, b))
}

fn op(cursor: &mut Cursor<'_>) -> Parsed<Op> {
    let name = cursor.word()?;
    if let Some((name, suffix)) = name.split_once('.') {
        return suffixed(name, suffix, cursor);
    }
    if name == "round" {
        cursor.expect("(")?;
        let mode = cursor.word()?;
        let rounding = named(&ROUNDINGS, mode).ok_or_else(|| format!("`{mode}` is not a rounding mode"))?;
        cursor.expect(")")?;
        return Ok(Op::Un(UnOp::Round(rounding), cursor.value()?));
    }
    if let Some(op) = named(&UNARY, name) {
        return Ok(Op::Un(op, cursor.value()?));
    }
    if let Some(op) = named(&BINARY, name) {
        let [a, b] = cursor.pair()?;
        return Ok(Op::Bin(op, a, b));
    }
    if let Some(op) = named(&TERNARY, name) {
        let [a, b, c] = cursor.triple()?;
        return Ok(Op::Tern(op, a, b, c));
    }
    if let Some(op) = named(&CASTS, name) {
        return Ok(Op::Cast(op, cursor.value()?));
    }
    if let Some(op) = name.strip_prefix("cmp_").and_then(|name| named(&COMPARISONS, name)) {
        let [a, b] = cursor.pair()?;
        return Ok(Op::Cmp(op, a, b));
    }
    Ok(match name {
        "const" => Op::Const(cursor.number()?),
        "lanes" => Op::Lanes(cursor.numbers(16)?.into()),
        "undef" => Op::Undef,
        "param" => Op::Param(cursor.number()?),
        "select" => {
            let [cond, a, b] = cursor.triple()?;
            Op::Select(cond, a, b)
        }
        "splat" => Op::Splat(cursor.value()?),
        "extract" | "mask_part" => {
            let of = cursor.value()?;
            cursor.expect(",")?;
            let part = cursor.number()?;
            if name == "extract" { Op::Extract(of, part) } else { Op::MaskPart(of, part) }
        }
        "mask_join" => Op::MaskJoin(cursor.values()?.into()),
        "shuffle" => {
            let [a, b] = cursor.pair()?;
            cursor.expect(",")?;
            let lanes: Result<Box<[u8]>, _> = cursor.numbers(10)?.into_iter().map(u8::try_from).collect();
            Op::Shuffle(a, b, lanes.map_err(|error| error.to_string())?)
        }
        "permute" => {
            let [a, index] = cursor.pair()?;
            Op::Permute(a, index)
        }
        "mask_bits" => Op::MaskBits(cursor.value()?),
        "mask_of" => Op::MaskOf(cursor.value()?),
        "prefetch_write" => Op::PrefetchWrite(cursor.address()?),
        "fence" => Op::Fence,
        "clock" => Op::Clock,
        "call" => {
            let function = Func(cursor.entity('f')?);
            Op::Call(function, cursor.arguments()?.into())
        }
        "call_helper" => {
            let address = cursor.value()?;
            Op::CallHelper(address, cursor.arguments()?.into())
        }
        name => return Err(format!("`{name}` is not an operation")),
    })
}

/// Reads an operation whose name has a suffix after a dot: a conversion, a memory format or an element.
fn suffixed(name: &str, suffix: &str, cursor: &mut Cursor<'_>) -> Parsed<Op> {
    let cast = || named(&CASTS, suffix).ok_or_else(|| format!("`{suffix}` is not a conversion"));
    let mem = || mem(suffix).ok_or_else(|| format!("`{suffix}` is not a memory format"));
    let elem = || elem(suffix).ok_or_else(|| format!("`{suffix}` is not an element"));
    Ok(match name {
        "widen" => {
            let (op, of) = (cast()?, cursor.value()?);
            cursor.expect(",")?;
            Op::Widen(op, of, cursor.number()?)
        }
        "narrow" => Op::Narrow(cast()?, cursor.values()?.into()),
        "load" => Op::Load(mem()?, cursor.address()?),
        "load_vector" => Op::LoadVector { mem: mem()?, addr: cursor.address()?, mask: cursor.mask()? },
        "load_pieces" => {
            let mut places = vec![cursor.address()?];
            while cursor.accept(",") {
                places.push(cursor.address()?);
            }
            Op::LoadPieces(elem()?, places.into())
        }
        "gather" => {
            let (base, index, scale) = cursor.indices()?;
            Op::Gather { elem: elem()?, base, index: index.into(), scale, mask: cursor.mask()? }
        }
        "scatter" => {
            let (base, index, scale) = cursor.indices()?;
            cursor.expect(",")?;
            let value = cursor.value()?;
            Op::Scatter { elem: elem()?, base, index: index.into(), scale, value, mask: cursor.mask()? }
        }
        "store" | "store_vector" | "atomic_add" | "atomic_exchange" => {
            let (mem, addr) = (mem()?, cursor.address()?);
            cursor.expect(",")?;
            let value = cursor.value()?;
            match name {
                "store" => Op::Store(mem, addr, value),
                "store_vector" => Op::StoreVector { mem, addr, value, mask: cursor.mask()? },
                "atomic_add" => Op::AtomicAdd(mem, addr, value),
                _ => Op::AtomicExchange(mem, addr, value),
            }
        }
        "atomic_compare_exchange" => {
            let (mem, addr) = (mem()?, cursor.address()?);
            cursor.expect(",")?;
            let [expected, desired] = cursor.pair()?;
            Op::AtomicCompareExchange(mem, addr, expected, desired)
        }
        name => return Err(format!("`{name}.{suffix}` is not an operation")),
    })
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn text_reads_back_as_it_was_written() {
        let text = "function \"k\"(i64, i64) -> i32 {\nb0():\n  v0: i64 = param 0\n  v1: i32 = const 0x7\n  v2: i32x8 = splat v1\n  v3: m32x8 = cmp_s_lt v2, v2\n  \
                    v4: f32x8 = gather.f32 [v0 + (v2) * 1] mask v3\n  v5: f32x8 = round(nearest_even) v4\n  v6: i32x8 = lanes [0, 1, 2, 3, ff, 5, 6, 7]\n  \
                    v7: f32x8 = shuffle v4, v5, [0, 9, 2, 11, 4, 13, 6, 15]\n  store_vector.f32 [v0 + v0 * 4 - 0x40], v7 mask v3\n  fence\n  jump b1(v1)\n\
                    b1(v8: i32):\n  v9: i32 = atomic_add.i32 [v0], v8\n  branch u_lt v8, v9 b1(v9) else b2\nb2():\n  return v8\n}\n";
        assert_eq!(read(text).expect("vector IR").to_string(), text);
    }

    #[test]
    fn errors_name_the_line() {
        let error = |body: &str| read(&format!("function \"k\"() {{\nb0():\n  {body}\n}}\n")).expect_err("an error").to_string();
        assert_eq!(error("v0: i32 = bogus v1"), "line 3: `bogus` is not an operation");
        assert_eq!(error("v0: i32x = splat v1"), "line 3: `i32x` is not a type");
        assert_eq!(error("return v1 v2"), "line 3: expected the end of the line at `v2`");
        assert_eq!(read("function \"k\"() {\nb0():\n").expect_err("an error").line, 1);
    }
}
