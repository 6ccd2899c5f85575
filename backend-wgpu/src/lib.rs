//! The wgpu backend: OpenCL devices, memory, programs and launches on Vulkan, Metal, Direct3D 12 and OpenGL ES.
//!
//! # Structure
//! * [`WgpuBackend`] lists the adapters that become devices. An adapter is opened ([`gpu`]) when the first memory
//!   object, program or command needs it.
//! * Each open device has a [`queue::device_queue`]. The enqueuing thread runs the [`queue::engine`] itself if it is
//!   free. Otherwise, and for long work, the *submission thread* runs it.
//! * The engine records [launches](launch) and [transfers](transfer) into the open batch ([`submit::open_batch`]).
//!   [`transfer::path`] alone decides how the bytes of a transfer are moved.
//! * The *completion thread* ([`submit::completion`]) waits for submissions that no application thread waits for. It
//!   reports the completion of commands in order, without holding a lock.
//! * On Vulkan, commands go directly to the driver ([`vulkan::queue`]). wgpu tracks the state of every buffer through
//!   every command, which takes longer than many kernels run.
//! * [`memory`] of a device that shares the host's memory stays mapped. The host copies to it directly once the
//!   device does not use it. On other devices, transfers use the PCIe BAR, pinned memory or staging memory.
//! * A [`launch::program`] has one [`launch::pipeline`] per kernel and launch key, as a variant of [`wgcl_runtime`].
//! * [`vendor`] queries the operating system's driver for facts that Vulkan does not report, and requests high clocks.
//!
//! Modules depend on each other in one direction: `vendor`, `vulkan`, `adapter`, `gpu`, `memory`, `readback`, `submit`,
//! then `launch` and `transfer`, then `queue`. `tidy/tests/architecture.rs` checks this order. ARCHITECTURE.md lists
//! the files with `unsafe` code.

#![warn(unreachable_pub)]
mod adapter;
mod backend;
mod buffer;
mod context_lock;
mod device;
mod gpu;
mod host;
mod host_visibility;
mod launch;
mod memory;
mod message;
mod queue;
mod readback;
mod submit;
mod transfer;
mod vendor;
mod vulkan;

pub use adapter::settings::Settings;
pub use backend::WgpuBackend;
pub use device::WgpuDevice;
