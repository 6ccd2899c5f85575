//! The compiler as a WebAssembly module, for the npm package `wgcl-compiler` and the playground.
//!
//! The functions that the module exports ([`abi`]) pass one request and return one response. A message consists of
//! sections of bytes ([`message`]): section 0 is JSON ([`request`], [`response`]), the others are the contents of
//! buffers. [`session`] keeps the programs and shaders of the page.
//!
//! ```text
//! request   {"op":"run","program":0,"kernel":"k","range":…,"arguments":[{"kind":"buffer"}]}   01 00 00 00 …
//! response  {"ok":{"output":""}}                                                              02 00 00 00 …
//! ```
//! `browser/npm/index.js` is the only caller, so both sides change together. Its `index.d.ts` describes the interface
//! of the package.

#![deny(unsafe_code)]
#![warn(unreachable_pub)]

pub mod abi;
mod message;
mod request;
mod response;
mod session;

pub use message::{decode, encode};
pub use session::Session;
