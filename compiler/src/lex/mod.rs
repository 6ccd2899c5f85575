//! From characters to tokens: raw preprocessing tokens ([`raw`]), spellings ([`interner`]), the values of literals ([`literal`]), and the
//! tokens that the parser sees ([`token`]).

pub mod interner;
pub mod literal;
pub mod raw;
pub mod token;

pub use token::{Keyword, Punct, Token, TokenKind};
