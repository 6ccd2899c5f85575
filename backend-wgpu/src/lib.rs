//! The backend that runs OpenCL commands on wgpu: devices, memory, pipelines, launches, timestamps.
//!
//! # Shape
//! * [`WgpuBackend`] lists the adapters worth having ([`adapters`]); an adapter becomes a `wgpu::Device` ([`gpu`]) only when memory, a program
//!   or a command is first wanted of it.
//! * Each open device has an [`engine`], which takes commands in order and hands them to who does [launches](launch) and [transfers](transfer). These record into
//!   one encoder and compute pass ([`batch`]), which is submitted on a flush, when a command needs the host to see an effect, or when the batch grows
//!   ([`recording`]). Which way bytes go is decided by [`route`] alone. Whoever enqueues runs the engine, if it is free ([`port`]); the *submission
//!   thread* does what takes longer. The *completion thread* ([`retire`]) waits for submissions for which no thread of the
//!   application waits, and tells the commands' progress in their order, with no lock held.
//! * Commands are wgpu's, or on Vulkan the driver's own ([`raw`]): wgpu follows the state of every buffer through every command, which takes longer than
//!   many a kernel.
//! * Memory ([`memory`]) of a device that shares the host's is mapped for its whole life, and transfers are plain copies by the host as soon as the
//!   device's work that touches it is done. Other devices go through rings of staging memory ([`ring`], [`transfer`]).
//! * A program ([`program`]) keeps one pipeline ([`pipeline`]) for each kernel and launch key, as a variant of [`wgcl_runtime`]'s; [`launch`] binds arguments and
//!   dispatches.
//!
//! # Unsafe
//! Only in `vulkan` (raw handles and persistent mappings), `raw` and `batch` (Vulkan's commands), `host`, `host_bytes`, `stream`, `copy_threads`, `printf`, `turns` (the mapped memory), `pipeline` (shaders without run-time checks), `clock`
//! and `exit` (calls of libc).

#![warn(unreachable_pub)]
mod adapter;
mod backend;
mod buffer;
mod device;
mod gpu;
mod host;
mod launch;
mod memory;
mod message;
mod queue;
mod readback;
mod submit;
mod transfer;
mod vulkan;

pub use backend::{Settings, WgpuBackend};
pub use device::WgpuDevice;
