//! The application's side of OpenCL: a notation for launches and their arguments, and running them on any device that a driver or the ICD loader shows.
//!
//! `wgclc run` is made of it, and the tests that `.cl` files describe in their comments share its notation. It knows nothing of wgcl but where its
//! library may lie: what runs here runs on every vendor's device.

pub mod compare;
pub mod contents;
pub mod devices;
pub mod element;
pub mod error;
pub mod expression;
pub mod image;
pub mod names;
pub mod notation;
pub mod session;

mod api;
mod objects;
