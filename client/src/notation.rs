//! Parses the notation of launches and their arguments, in the comments of `.cl` tests and on the command line.
//! `docs/wgclc.md` describes the notation.

use crate::element::{Element, Value};
use crate::error::NotationError;
use crate::expression::{Expr, Scope, parse};
use crate::image;

type Result<T> = std::result::Result<T, NotationError>;

/// A launch: `KERNEL global=64x4 local=16x4 offset=1x2`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The kernel's name.
    pub kernel: String,
    /// Global size in one to three dimensions.
    pub global: Vec<usize>,
    /// Local size in the same number of dimensions. If it is `None`, the device chooses it.
    pub local: Option<Vec<usize>>,
    /// Global offset in the same number of dimensions.
    pub offset: Option<Vec<usize>>,
}

impl Launch {
    /// Parses a launch that was split into words.
    ///
    /// # Errors
    /// Fails if a word is invalid or missing.
    pub fn parse<'t>(words: impl IntoIterator<Item = &'t str>) -> Result<Self> {
        let mut words = words.into_iter();
        let kernel =
            words.next().filter(|word| !Self::is_size(word)).ok_or("the name of the kernel is missing before the sizes")?.to_owned();
        let (mut global, mut local, mut offset) = (None, None, None);
        for word in words {
            let (key, value) = word.split_once('=').ok_or_else(|| format!("`{word}` is not of the form KEY=VALUE"))?;
            let sizes = value
                .split('x')
                .map(str::parse)
                .collect::<std::result::Result<Vec<usize>, _>>()
                .map_err(|error| format!("{word}: {error}"))?;
            match key {
                "global" => global = Some(sizes),
                "local" => local = Some(sizes),
                "offset" => offset = Some(sizes),
                _ => return Err(format!("unknown key `{key}`").into()),
            }
        }
        let global = global.ok_or("global= is missing")?;
        if [&local, &offset].into_iter().flatten().any(|other| other.len() != global.len()) {
            return Err("global, local and offset must have the same number of dimensions".into());
        }
        Ok(Self { kernel, global, local, offset })
    }

    /// Whether a word of the command line is a size of a launch, and not an argument.
    pub fn is_size(word: &str) -> bool {
        ["global=", "local=", "offset="].iter().any(|key| word.starts_with(key))
    }
}

/// A kernel argument.
#[derive(Clone, Debug)]
pub enum ArgumentKind {
    /// A buffer of `count` scalars.
    Buffer {
        /// The type of the scalars.
        element: Element,
        /// The number of scalars. A vector of three components counts as four.
        count: usize,
        /// The contents before the launch.
        init: Init,
    },
    /// An image. Its contents are scalars: channels, or whole elements in a packed format.
    Image {
        form: image::ImageProperties,
        /// The contents before the launch.
        init: Init,
    },
    Sampler(image::SamplerProperties),
    /// An empty pipe.
    Pipe {
        /// Packet size in bytes.
        packet: u32,
        /// Maximum number of packets.
        packets: u32,
    },
    /// A scalar or vector by value.
    Value {
        /// The type of the scalars.
        element: Element,
        /// Number of scalars with a value.
        count: usize,
        /// Number of scalars that are passed. A vector of three components has four.
        slots: usize,
        init: Init,
    },
    /// A structure by value. Each field has a scalar type, a number of components, and a value.
    Struct(Vec<(Element, usize, Init)>),
    /// `__local` memory of this size in bytes.
    Local(usize),
    /// A buffer argument set to NULL.
    Null,
    /// The buffer of an earlier argument, or a sub-buffer of it. In `.cl` tests, the argument can be one of an earlier
    /// run.
    Same {
        /// The name of the earlier argument.
        name: String,
        /// The index of the first scalar of the sub-buffer, and the number of its scalars. `None` for the whole buffer.
        part: Option<(usize, usize)>,
    },
}

/// The contents of an argument before the run, or the expected contents after it.
#[derive(Clone, Debug)]
pub enum Init {
    /// An expression, evaluated for each element.
    Each(Expr),
    /// A list, repeated until every element has a value.
    List(Vec<Expr>),
}

impl Init {
    /// Parses an expression, or a list of expressions in braces.
    ///
    /// # Errors
    /// Fails if the text is invalid.
    pub fn parse(text: &str) -> Result<Self> {
        let text = text.trim();
        match text.strip_prefix('{').and_then(|rest| rest.strip_suffix('}')) {
            Some(list) => Ok(Self::List(split_top(list, ',').into_iter().map(parse).collect::<Result<_>>()?)),
            None => Ok(Self::Each(parse(text)?)),
        }
    }

    /// Returns the value for the element whose index is the `i` of the scope.
    ///
    /// # Errors
    /// Fails if the expression cannot be evaluated or the list is empty.
    pub fn evaluate(&self, scope: &Scope<'_>) -> Result<Value> {
        match self {
            Self::Each(expr) => expr.evaluate(scope),
            Self::List(list) => {
                let index = usize::try_from(scope.index).unwrap_or(0) % list.len().max(1);
                list.get(index).ok_or("the list of values is empty")?.evaluate(scope)
            }
        }
    }
}

/// Splits a text at separators outside of brackets. Omits empty parts.
fn split_top(text: &str, separator: char) -> Vec<&str> {
    let mut depth = 0;
    let mut start = 0;
    let mut parts = Vec::new();
    for (at, c) in text.char_indices() {
        match c {
            '(' | '[' | '{' => depth += 1,
            ')' | ']' | '}' => depth -= 1,
            _ if c == separator && depth == 0 => {
                parts.push(&text[start..at]);
                start = at + c.len_utf8();
            }
            _ => {}
        }
    }
    parts.push(&text[start..]);
    parts.retain(|part| !part.trim().is_empty());
    parts
}

impl ArgumentKind {
    /// Parses the text after an argument's name: `float[64] = i`, `int = 3`, `local 256`, `null` and so on.
    ///
    /// # Errors
    /// Fails if the text is invalid.
    pub fn parse(body: &str) -> Result<Self> {
        let zero = || Init::Each(Expr::Value(Value::Int(0)));
        let body = body.trim();
        if body == "null" {
            return Ok(Self::Null);
        }
        if let Some(text) = body.strip_prefix("sampler ") {
            return image::SamplerProperties::parse(text).map(Self::Sampler);
        }
        if let Some(name) = body.strip_prefix("same ") {
            return same(name);
        }
        if let Some(form) = body.strip_prefix("pipe ") {
            return pipe(form);
        }
        if let Some(size) = body.strip_prefix("local ") {
            return size.trim().parse().map(Self::Local).map_err(|error| format!("{size}: {error}").into());
        }
        if let Some(fields) = body.strip_prefix("struct").map(str::trim).and_then(|rest| rest.strip_prefix('{')?.strip_suffix('}')) {
            let fields = split_top(fields, ';').into_iter().map(|field| {
                let (name, value) = field.split_once('=').ok_or("expected a field of the form `type = value`")?;
                let (element, width) = Element::vector_from_name(name.trim()).ok_or_else(|| format!("unknown type `{}`", name.trim()))?;
                Ok((element, width, Init::parse(value)?))
            });
            return Ok(Self::Struct(fields.collect::<Result<_>>()?));
        }
        // The type ends at the first `=`, because comparisons can only follow it.
        let (kind, value) = match body.split_once('=') {
            Some((kind, value)) => (kind.trim(), Some(Init::parse(value)?)),
            None => (body, None),
        };
        if kind.starts_with("image") {
            return Ok(Self::Image { form: image::ImageProperties::parse(kind)?, init: value.unwrap_or_else(zero) });
        }
        if let Some((name, count)) = kind.strip_suffix(']').and_then(|kind| kind.split_once('[')) {
            let (element, width) = Element::vector_from_name(name.trim()).ok_or_else(|| format!("unknown type `{}`", name.trim()))?;
            let count = parse(count)?.evaluate(&Scope::default())?.as_int();
            let count = usize::try_from(count).ok().and_then(|count| count.checked_mul(slots(width)));
            let count = count
                .filter(|count| count.checked_mul(element.size()).is_some())
                .ok_or("the number of elements is negative or too large")?;
            return Ok(Self::Buffer { element, count, init: value.unwrap_or_else(zero) });
        }
        let (element, count) = Element::vector_from_name(kind)
            .ok_or_else(|| format!("unknown type `{kind}`; expected `TYPE = VALUE` for a value, or `TYPE[COUNT]` for a buffer"))?;
        let init = value.ok_or("the value is missing")?;
        Ok(Self::Value { element, count, slots: slots(count), init })
    }
}

/// Parses `TYPE[packets]`, or `BYTES[packets]` for packets of this size.
fn pipe(text: &str) -> Result<ArgumentKind> {
    let (packet, packets) = text
        .trim()
        .strip_suffix(']')
        .and_then(|text| text.split_once('['))
        .ok_or("expected a pipe of the form `TYPE[packets]` or `BYTES[packets]`")?;
    let number = |text: &str| text.trim().parse::<u32>().map_err(|error| format!("{text}: {error}"));
    let packet = match Element::vector_from_name(packet.trim()) {
        Some((element, width)) => u32::try_from(element.size() * slots(width)).map_err(|error| error.to_string())?,
        None => number(packet)?,
    };
    Ok(ArgumentKind::Pipe { packet, packets: number(packets)? })
}

/// Parses `NAME`, or `NAME[first, count]`.
fn same(text: &str) -> Result<ArgumentKind> {
    let Some((name, part)) = text.trim().strip_suffix(']').and_then(|text| text.split_once('[')) else {
        return Ok(ArgumentKind::Same { name: text.trim().to_owned(), part: None });
    };
    let (first, count) = part.split_once(',').ok_or("expected a range of the form `[first, count]`")?;
    let number = |text: &str| text.trim().parse::<usize>().map_err(|error| format!("{text}: {error}"));
    Ok(ArgumentKind::Same { name: name.trim().to_owned(), part: Some((number(first)?, number(count)?)) })
}

/// Returns the number of scalars that a vector of `width` components has in memory.
pub const fn slots(width: usize) -> usize {
    if width == 3 { 4 } else { width }
}

/// An argument with an optional name: `NAME: KIND`, or `KIND`.
#[derive(Clone, Debug)]
pub struct Argument {
    /// The name by which other arguments refer to this one.
    pub name: Option<String>,
    pub kind: ArgumentKind,
}

impl Argument {
    /// Parses an argument of the command line.
    ///
    /// # Errors
    /// Fails if the text is invalid. The error contains the text.
    pub fn parse(text: &str) -> Result<Self> {
        let is_name = |name: &str| {
            name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_') && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
        };
        // A colon may also be part of an expression.
        let (name, body) = match text.split_once(':') {
            Some((name, body)) if is_name(name.trim()) => (Some(name.trim().to_owned()), body),
            _ => (None, text),
        };
        let kind = ArgumentKind::parse(body).map_err(|error| format!("{error} in `{text}`"))?;
        Ok(Self { name, kind })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_ends_with_a_colon_and_is_optional() {
        let name = |text: &str| Argument::parse(text).map(|argument| argument.name);
        assert_eq!(name("a: int[4] = i"), Ok(Some("a".to_owned())));
        assert_eq!(name("int[4] = i < 2 ? 1 : 0"), Ok(None));
        assert_eq!(name("local 64"), Ok(None));
        assert!(name("a: number = 4").is_err_and(|error| error.to_string()
            == "unknown type `number`; expected `TYPE = VALUE` for a value, or `TYPE[COUNT]` for a buffer in `a: number = 4`"));
    }

    #[test]
    fn sizes_beyond_the_address_space_are_errors() {
        for text in ["float4[9223372036854775807]", "double[2305843009213693952]", "int[-1]", "image3d 4294967296x4294967296x4 R FLOAT"] {
            assert!(Argument::parse(text).is_err(), "{text}");
        }
    }

    #[test]
    fn all_sizes_have_the_same_number_of_dimensions() {
        let launch = Launch::parse("add global=8x4 local=2x2".split(' '));
        assert_eq!(launch, Ok(Launch { kernel: "add".to_owned(), global: vec![8, 4], local: Some(vec![2, 2]), offset: None }));
        assert!(Launch::parse("add global=8x4 local=2".split(' ')).is_err());
        assert!(Launch::parse("add".split(' ')).is_err());
    }
}
