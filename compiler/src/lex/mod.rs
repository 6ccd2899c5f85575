//! The lexer: preprocessing tokens ([`raw`]), spellings ([`interner`]), values of literals ([`literal`]), and parser
//! tokens ([`token`]).

pub(crate) mod interner;
pub(crate) mod literal;
pub(crate) mod raw;
pub(crate) mod token;

pub(crate) use token::{Keyword, Punct, Token, TokenKind};
