//! The types of built-in functions, and their notation in the table.
//!
//! # Signatures
//! A signature is `result(parameter, ...)`, optionally followed by `|` and the permitted lane counts: 1, 2, 3, 4, 8,
//! and `g` for 16. A type is an element type and a number of lanes.
//!
//! | element type | meaning |
//! |---|---|
//! | `F` | the generic type: half, float or double |
//! | `P` | the generic type, float only |
//! | `I` | the generic type, any integer |
//! | `Q`, `L` | the generic type, integers of 32 bits, of 64 bits |
//! | `G` | the generic type, integer or float |
//! | `M` | the generic type, an integer of at least 32 bits; smaller integers become `int` |
//! | `N` | like `M`, also half, float or double |
//! | `A` | the generic type, integers with atomic operations in the device |
//! | `H` | the generic type, `ushort` only |
//! | `e` | one lane of the generic type. A signature with such a parameter is only for vectors. |
//! | `S`, `U` | signed and unsigned integers of the generic type's lane size |
//! | `R` | the result of a comparison: `int` for a scalar, else `S` |
//! | `W` | integers of twice the size and of the generic type's sign |
//! | `size` | `size_t` |
//! | `int`, `half`, ... | this scalar type |
//!
//! | lanes | meaning |
//! |---|---|
//! | none | the lanes of the generic type after a capital letter, otherwise one |
//! | `2`, `4`, ... | this number |
//! | `#` | the lanes of the generic type, or the number in the function's name |
//! | `~` | a second number, which the argument determines |
//! | `@` | the coordinates of the image argument (6.15.15.2) |
//! | `^` | the gradients of the image argument |
//!
//! Other types are `void`, `event`, `sampler`, `flag` (`atomic_flag`), and `order` and `scope` of atomic functions.
//! An image is the name of an [`ImageSet`]. `sampled` (`read_only`), `read` or `written` precedes it if the function
//! requires an access qualifier.
//!
//! | around a type | meaning |
//! |---|---|
//! | `*X` | pointer to `X` in private, local, global or generic memory; a pointer to `const` is not accepted |
//! | `gl*X` | pointer to `X` in these address spaces: `p`, `l`, `g`, `c` or `n` for generic |
//! | `n*X` | a pointer that converts to the generic address space |
//! | `~*X` | a pointer that converts as in an assignment, with a warning |
//! | `*const X` | a pointer to memory that the function reads |
//! | `*atomic X` | a pointer to an atomic type |
//! | `?X` | an optional parameter |
//! | `X:Y` | type `X` in the program; the operation has the type `Y`, which has the same bits |

use super::images::ImageSet;
use crate::ast::{Access, ScalarKind};
use crate::ir::Space;

/// The scalar types that can replace a generic type.
pub(crate) type Class = &'static [ScalarKind];

/// Every scalar type except `bool`. A class is a range of this array.
static KINDS: [ScalarKind; 11] = [
    ScalarKind::Char,
    ScalarKind::UChar,
    ScalarKind::Short,
    ScalarKind::UShort,
    ScalarKind::Int,
    ScalarKind::UInt,
    ScalarKind::Long,
    ScalarKind::ULong,
    ScalarKind::Float,
    ScalarKind::Half,
    ScalarKind::Double,
];

/// Returns the class of a capital letter, or `None` for other names.
fn class(name: &str) -> Option<Class> {
    Some(match name {
        "G" => &KINDS,
        "I" => &KINDS[..8],
        "H" => &KINDS[3..4],
        "Q" => &KINDS[4..6],
        "L" => &KINDS[6..8],
        "M" | "A" => &KINDS[4..8],
        "N" => &KINDS[4..],
        "F" => &KINDS[8..],
        "P" => &KINDS[8..9],
        _ => return None,
    })
}

/// The element type of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Element {
    Generic,
    /// A signed integer of the generic type's size.
    Signed,
    /// An unsigned integer of the generic type's size.
    Unsigned,
    /// The element type of the result of a comparison.
    Relational,
    /// An integer of twice the size of the generic type, with its signedness.
    Wide,
    /// `size_t`: an unsigned integer with the size of the device's pointers.
    Size,
    Fixed(ScalarKind),
}

/// The number of lanes of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lanes {
    Generic,
    /// A second lane count, such as that of a shuffle mask.
    Other,
    /// The lane count of the coordinates of the image.
    Coordinates,
    /// The lane count of the gradients of the image.
    Gradients,
    Fixed(u8),
}

/// A type in a signature.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Type {
    /// No value, or the pointee of a pointer to any type.
    Void,
    Event,
    Sampler,
    /// The type `atomic_flag`.
    Flag,
    /// The atomic type of the generic type.
    Atomic,
    /// A memory order.
    Order,
    /// A memory scope. The operation does not receive it.
    Scope,
    /// An image, and the access qualifier that the function requires.
    Image(ImageSet, Option<Access>),
    Value(Element, Lanes),
}

/// The properties of a pointer parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Pointer {
    /// The accepted address spaces. Diagnostics name the first one.
    pub(crate) spaces: Vec<Space>,
    pub(crate) is_const: bool,
    /// Whether arguments convert to the pointer type as in an assignment.
    pub(crate) converts: bool,
}

/// The type of a parameter or of the result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Slot {
    pub(crate) ty: Type,
    pub(crate) pointer: Option<Pointer>,
    /// The type that the operation has in place of `ty`. It has the same bits.
    pub(crate) bits: Option<Type>,
}

/// A parsed signature.
#[derive(Debug)]
pub(crate) struct Signature {
    /// The scalar types of the generic type. Empty if the signature has no generic type.
    pub(crate) class: Class,
    /// Whether a generic type of 64 bits requires 64-bit atomic operations.
    pub(crate) is_atomic: bool,
    pub(crate) ret: Slot,
    pub(crate) params: Vec<Slot>,
    /// The number of parameters that are not optional.
    pub(crate) required: usize,
    /// The permitted lane counts. Empty if all are permitted.
    pub(crate) lanes: Vec<u8>,
}

impl Signature {
    /// Creates a signature without parameters and result.
    pub(crate) const fn none() -> Self {
        let ret = Slot { ty: Type::Void, pointer: None, bits: None };
        Self { class: &[], is_atomic: false, ret, params: Vec::new(), required: 0, lanes: Vec::new() }
    }

    /// Parses a signature of the table. Returns `None` if the notation is invalid.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let (text, lanes) = text.split_once('|').unwrap_or((text, ""));
        let (ret, rest) = text.split_once('(')?;
        let params: Vec<&str> = rest.strip_suffix(')')?.split(',').filter(|param| !param.is_empty()).collect();
        let mut signature = Self::none();
        signature.required = params.iter().filter(|param| !param.starts_with('?')).count();
        signature.lanes = lanes.chars().filter_map(lane_count).collect();
        signature.ret = signature.slot(ret)?;
        for param in params {
            let slot = signature.slot(param.strip_prefix('?').unwrap_or(param))?;
            signature.params.push(slot);
        }
        Some(signature)
    }

    /// Removes the order and scope parameters, which functions without `_explicit` do not have. Returns whether there
    /// were any.
    pub(crate) fn omit_order(&mut self) -> bool {
        let with = self.params.len();
        self.params.retain(|slot| !matches!(slot.ty, Type::Order | Type::Scope));
        self.required = self.params.len();
        self.required < with
    }

    fn slot(&mut self, text: &str) -> Option<Slot> {
        if let Some((program, operation)) = text.split_once(':') {
            return Some(Slot { ty: self.parse_type(program)?, pointer: None, bits: Some(self.parse_type(operation)?) });
        }
        let Some((spaces, pointee)) = text.split_once('*') else {
            return Some(Slot { ty: self.parse_type(text)?, pointer: None, bits: None });
        };
        let (converts, spaces) = match spaces.strip_prefix('~') {
            Some(spaces) => (true, spaces),
            None => (false, spaces),
        };
        let spaces = if spaces.is_empty() { "plgn" } else { spaces };
        let (is_const, pointee) = match pointee.strip_prefix("const ") {
            Some(pointee) => (true, pointee),
            None => (false, pointee),
        };
        let ty = match pointee.strip_prefix("atomic ") {
            Some(generic) => self.parse_type(generic).map(|_| Type::Atomic)?,
            None => self.parse_type(pointee)?,
        };
        let pointer = Pointer { spaces: spaces.chars().map(space).collect::<Option<_>>()?, is_const, converts };
        Some(Slot { ty, pointer: Some(pointer), bits: None })
    }

    fn parse_type(&mut self, text: &str) -> Option<Type> {
        Some(match text {
            "void" => Type::Void,
            "event" => Type::Event,
            "sampler" => Type::Sampler,
            "flag" => Type::Flag,
            "order" => Type::Order,
            "scope" => Type::Scope,
            _ => match ImageSet::parse(text) {
                Some((set, access)) => Type::Image(set, access),
                None => self.value(text)?,
            },
        })
    }

    fn value(&mut self, text: &str) -> Option<Type> {
        let (name, lanes) = text.split_at(text.find(|c: char| !c.is_ascii_alphabetic()).unwrap_or(text.len()));
        let element = match name {
            "e" => Element::Generic,
            "S" => Element::Signed,
            "U" => Element::Unsigned,
            "R" => Element::Relational,
            "W" => Element::Wide,
            "size" => Element::Size,
            "bool" => Element::Fixed(ScalarKind::Bool),
            _ => match class(name) {
                Some(class) => {
                    (self.class, self.is_atomic) = (class, name == "A");
                    Element::Generic
                }
                None => Element::Fixed(scalar(name)?),
            },
        };
        let lanes = match lanes {
            "" if name.starts_with(|c: char| c.is_ascii_uppercase()) => Lanes::Generic,
            "" => Lanes::Fixed(1),
            "#" => Lanes::Generic,
            "~" => Lanes::Other,
            "@" => Lanes::Coordinates,
            "^" => Lanes::Gradients,
            number => Lanes::Fixed(number.parse().ok()?),
        };
        Some(Type::Value(element, lanes))
    }
}

fn lane_count(letter: char) -> Option<u8> {
    if letter == 'g' { Some(16) } else { letter.to_digit(10).and_then(|digit| u8::try_from(digit).ok()) }
}

fn space(letter: char) -> Option<Space> {
    Some(match letter {
        'p' => Space::Private,
        'l' => Space::Local,
        'g' => Space::Global,
        'c' => Space::Constant,
        'n' => Space::Generic,
        _ => return None,
    })
}

/// Returns the scalar type with this name, or `None` for other names and `bool`.
pub(crate) fn scalar(name: &str) -> Option<ScalarKind> {
    KINDS.iter().copied().find(|kind| kind.name() == name)
}
