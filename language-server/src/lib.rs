//! A language server for OpenCL C. `wgclc lsp` runs it on standard input and output.
//!
//! The server uses the compiler's front end for each change of a document. It does not have a separate parser.
//!
//! | module | contents |
//! |---|---|
//! | `server` | the main loop: documents, messages, diagnostics |
//! | `analysis` | one run of the front end, and the positions of its results |
//! | `settings` | `.wgclc.toml` |
//! | `features` | one file for each request |
//! | `descriptions` | a sentence about each built-in function |

#![forbid(unsafe_code)]
#![warn(unreachable_pub)]

mod analysis;
mod descriptions;
mod features;
mod position;
mod server;
mod settings;
mod uri;

pub use server::{ServerError, serve, serve_stdio};
