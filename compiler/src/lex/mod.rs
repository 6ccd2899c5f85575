//! From characters to tokens: raw preprocessing tokens ([`raw`]), spellings ([`interner`]), the values of literals ([`literal`]), and the
//! tokens that the parser sees ([`token`]).

pub(crate) mod interner;
pub(crate) mod literal;
pub(crate) mod raw;
pub(crate) mod token;

pub(crate) use token::{Keyword, Punct, Token, TokenKind};
