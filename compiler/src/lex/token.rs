//! Tokens of OpenCL C, the input of the parser.

use std::fmt;
use std::sync::{Arc, LazyLock};

use rustc_hash::FxHashMap;

use crate::ast::{FloatSuffix, IntSuffix, Name, PragmaKind};
use crate::diag::Span;

/// A token with its location. A token from a replacement list has the location of the macro invocation.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Token {
    pub kind: TokenKind,
    pub span: Span,
}

/// The kind of a token.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum TokenKind {
    /// The end of the input. It is always the last token.
    Eof,
    /// An identifier that is not a keyword.
    Ident(Name),
    Keyword(Keyword),
    Punct(Punct),
    /// An integer literal.
    Int {
        /// The lower and the upper 64 bits of the value.
        value: [u64; 2],
        /// Whether the literal is decimal.
        decimal: bool,
        suffix: IntSuffix,
    },
    /// A floating literal.
    Float {
        /// The value as a double.
        value: f64,
        suffix: FloatSuffix,
        /// The spelling without the suffix.
        text: Name,
    },
    /// A character constant.
    Char(i32),
    /// A string literal without the terminating zero.
    Str(Arc<[u8]>),
    /// A `#pragma` line.
    Pragma(PragmaKind),
    /// An invalid literal or character. The error was reported.
    Invalid,
}

impl fmt::Display for TokenKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Eof => f.write_str("end of file"),
            Self::Ident(name) => f.write_str(name),
            Self::Keyword(keyword) => f.write_str(keyword.spelling()),
            Self::Punct(punct) => f.write_str(punct.spelling()),
            Self::Int { value, .. } => write!(f, "{}", crate::ast::int_value(*value)),
            Self::Float { text, .. } => f.write_str(text),
            Self::Char(value) => write!(f, "'\\x{value:x}'"),
            Self::Str(bytes) => write!(f, "{:?}", String::from_utf8_lossy(bytes)),
            Self::Pragma(_) => f.write_str("#pragma"),
            Self::Invalid => f.write_str("<invalid>"),
        }
    }
}

/// Punctuators of C99, and `@`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Punct {
    LParen,
    RParen,
    LBracket,
    RBracket,
    LBrace,
    RBrace,
    Dot,
    Ellipsis,
    Comma,
    Colon,
    Semi,
    Question,
    Arrow,
    Plus,
    Minus,
    Star,
    Slash,
    Percent,
    PlusPlus,
    MinusMinus,
    Amp,
    Pipe,
    Caret,
    Tilde,
    Bang,
    AmpAmp,
    PipePipe,
    Shl,
    Shr,
    Lt,
    Gt,
    Le,
    Ge,
    EqEq,
    Ne,
    Eq,
    PlusEq,
    MinusEq,
    StarEq,
    SlashEq,
    PercentEq,
    AmpEq,
    PipeEq,
    CaretEq,
    ShlEq,
    ShrEq,
    Hash,
    HashHash,
    At,
}

impl Punct {
    /// Returns the spelling of the punctuator.
    pub(crate) const fn spelling(self) -> &'static str {
        match self {
            Self::LParen => "(",
            Self::RParen => ")",
            Self::LBracket => "[",
            Self::RBracket => "]",
            Self::LBrace => "{",
            Self::RBrace => "}",
            Self::Dot => ".",
            Self::Ellipsis => "...",
            Self::Comma => ",",
            Self::Colon => ":",
            Self::Semi => ";",
            Self::Question => "?",
            Self::Arrow => "->",
            Self::Plus => "+",
            Self::Minus => "-",
            Self::Star => "*",
            Self::Slash => "/",
            Self::Percent => "%",
            Self::PlusPlus => "++",
            Self::MinusMinus => "--",
            Self::Amp => "&",
            Self::Pipe => "|",
            Self::Caret => "^",
            Self::Tilde => "~",
            Self::Bang => "!",
            Self::AmpAmp => "&&",
            Self::PipePipe => "||",
            Self::Shl => "<<",
            Self::Shr => ">>",
            Self::Lt => "<",
            Self::Gt => ">",
            Self::Le => "<=",
            Self::Ge => ">=",
            Self::EqEq => "==",
            Self::Ne => "!=",
            Self::Eq => "=",
            Self::PlusEq => "+=",
            Self::MinusEq => "-=",
            Self::StarEq => "*=",
            Self::SlashEq => "/=",
            Self::PercentEq => "%=",
            Self::AmpEq => "&=",
            Self::PipeEq => "|=",
            Self::CaretEq => "^=",
            Self::ShlEq => "<<=",
            Self::ShrEq => ">>=",
            Self::Hash => "#",
            Self::HashHash => "##",
            Self::At => "@",
        }
    }
}

/// Keywords. Spellings with and without underscores are the same keyword.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Keyword {
    Auto,
    Break,
    Case,
    Char,
    Const,
    Continue,
    Default,
    Do,
    Double,
    Else,
    Enum,
    Extern,
    Float,
    For,
    Goto,
    If,
    Inline,
    Int,
    Long,
    Register,
    Restrict,
    Return,
    Short,
    Signed,
    Sizeof,
    Static,
    Struct,
    Switch,
    Typedef,
    Union,
    Unsigned,
    Void,
    Volatile,
    While,
    Bool,
    Half,
    Kernel,
    Global,
    Local,
    Constant,
    Private,
    Generic,
    ReadOnly,
    WriteOnly,
    ReadWrite,
    Attribute,
    Typeof,
    VecStep,
    Alignof,
    Offsetof,
    Astype,
    StaticAssert,
    Extension,
    Pipe,
    Asm,
    Complex,
    Imaginary,
    Atomic,
    ThreadLocal,
    Generic11,
    Noreturn,
    Alignas,
}

/// Every spelling of a keyword.
const KEYWORDS: &[(&str, Keyword)] = &[
    ("auto", Keyword::Auto),
    ("break", Keyword::Break),
    ("case", Keyword::Case),
    ("char", Keyword::Char),
    ("const", Keyword::Const),
    ("__const", Keyword::Const),
    ("__const__", Keyword::Const),
    ("continue", Keyword::Continue),
    ("default", Keyword::Default),
    ("do", Keyword::Do),
    ("double", Keyword::Double),
    ("else", Keyword::Else),
    ("enum", Keyword::Enum),
    ("extern", Keyword::Extern),
    ("float", Keyword::Float),
    ("for", Keyword::For),
    ("goto", Keyword::Goto),
    ("if", Keyword::If),
    ("inline", Keyword::Inline),
    ("__inline", Keyword::Inline),
    ("__inline__", Keyword::Inline),
    ("int", Keyword::Int),
    ("long", Keyword::Long),
    ("register", Keyword::Register),
    ("restrict", Keyword::Restrict),
    ("__restrict", Keyword::Restrict),
    ("__restrict__", Keyword::Restrict),
    ("return", Keyword::Return),
    ("short", Keyword::Short),
    ("signed", Keyword::Signed),
    ("__signed", Keyword::Signed),
    ("__signed__", Keyword::Signed),
    ("sizeof", Keyword::Sizeof),
    ("static", Keyword::Static),
    ("struct", Keyword::Struct),
    ("switch", Keyword::Switch),
    ("typedef", Keyword::Typedef),
    ("union", Keyword::Union),
    ("unsigned", Keyword::Unsigned),
    ("void", Keyword::Void),
    ("volatile", Keyword::Volatile),
    ("__volatile", Keyword::Volatile),
    ("__volatile__", Keyword::Volatile),
    ("while", Keyword::While),
    ("bool", Keyword::Bool),
    ("_Bool", Keyword::Bool),
    ("half", Keyword::Half),
    ("kernel", Keyword::Kernel),
    ("__kernel", Keyword::Kernel),
    ("global", Keyword::Global),
    ("__global", Keyword::Global),
    ("local", Keyword::Local),
    ("__local", Keyword::Local),
    ("constant", Keyword::Constant),
    ("__constant", Keyword::Constant),
    ("private", Keyword::Private),
    ("__private", Keyword::Private),
    ("generic", Keyword::Generic),
    ("__generic", Keyword::Generic),
    ("read_only", Keyword::ReadOnly),
    ("__read_only", Keyword::ReadOnly),
    ("write_only", Keyword::WriteOnly),
    ("__write_only", Keyword::WriteOnly),
    ("read_write", Keyword::ReadWrite),
    ("__read_write", Keyword::ReadWrite),
    ("__attribute__", Keyword::Attribute),
    ("__attribute", Keyword::Attribute),
    ("typeof", Keyword::Typeof),
    ("__typeof", Keyword::Typeof),
    ("__typeof__", Keyword::Typeof),
    ("vec_step", Keyword::VecStep),
    ("_Alignof", Keyword::Alignof),
    ("__alignof", Keyword::Alignof),
    ("__alignof__", Keyword::Alignof),
    ("__builtin_offsetof", Keyword::Offsetof),
    ("__builtin_astype", Keyword::Astype),
    ("_Static_assert", Keyword::StaticAssert),
    ("__extension__", Keyword::Extension),
    ("pipe", Keyword::Pipe),
    ("asm", Keyword::Asm),
    ("__asm", Keyword::Asm),
    ("__asm__", Keyword::Asm),
    ("_Complex", Keyword::Complex),
    ("__complex__", Keyword::Complex),
    ("_Imaginary", Keyword::Imaginary),
    ("_Atomic", Keyword::Atomic),
    ("_Thread_local", Keyword::ThreadLocal),
    ("__thread", Keyword::ThreadLocal),
    ("_Generic", Keyword::Generic11),
    ("_Noreturn", Keyword::Noreturn),
    ("_Alignas", Keyword::Alignas),
];

/// Returns every spelling of a keyword.
pub(crate) fn spellings() -> impl Iterator<Item = &'static str> {
    KEYWORDS.iter().map(|(name, _)| *name)
}

static KEYWORD_TABLE: LazyLock<FxHashMap<&'static str, Keyword>> = LazyLock::new(|| KEYWORDS.iter().copied().collect());

impl Keyword {
    /// Returns the keyword with this spelling, or `None` for other names.
    pub(crate) fn of(name: &str) -> Option<Self> {
        KEYWORD_TABLE.get(name).copied()
    }

    /// Returns the first spelling in [`KEYWORDS`], which has no underscores if there is such a spelling.
    pub(crate) fn spelling(self) -> &'static str {
        KEYWORDS.iter().find(|(_, keyword)| *keyword == self).map_or("", |(name, _)| name)
    }
}
