//! Handles: the application's references to objects.
//!
//! A handle is the address of a [`Cell`], which contains only the data that the ICD loader reads: the pointer to the
//! dispatch table, and a pointer that the loader owns. Cells are never freed, so that the loader may read the handle of
//! a destroyed object without a crash. A released cell is reused only after [`QUARANTINE`] later releases. A registry
//! maps the address of a handle to its object. Null, foreign and released handles are not in the registry. The type of
//! a handle's object is also checked. So no invalid handle is dereferenced.
//!
//! The registry has a strong reference to an object while the application has one. Other objects may refer to the
//! object for longer. For example, a released context with a live queue still has its handle, which queries of the
//! queue return. When the object is dropped, its handle is also released ([`OwnedHandle`]).

use std::any::Any;
use std::collections::VecDeque;
use std::ffi::c_void;
use std::ptr::null_mut;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Arc, Weak};

use once_cell::sync::Lazy;
use parking_lot::{Mutex, RwLock};
use rustc_hash::FxHashMap;

use wgcl_api::commands::command_buffer::CommandBuffer;
use wgcl_api::commands::command_buffer::mutable_dispatch::MutableCommand;
use wgcl_api::image::{Image, MemObject};
use wgcl_api::objects::context::Context;
use wgcl_api::objects::device::Device;
use wgcl_api::objects::event::Event;
use wgcl_api::objects::kernel::Kernel;
use wgcl_api::objects::memory::Buffer;
use wgcl_api::objects::pipe::Pipe;
use wgcl_api::objects::platform::Platform;
use wgcl_api::objects::program::Program;
use wgcl_api::objects::queue::Queue;
use wgcl_api::objects::sampler::Sampler;
use wgcl_api::objects::semaphore::Semaphore;
use wgcl_api::observe::at_exit::LOCKS_MAY_BE_LOST;
use wgcl_api::types::error::{Error, Result};
use wgcl_api::types::object::Object;
use wgcl_api::types::process;

use crate::{dispatch, errors};
use wgcl_opencl_headers::{
    _cl_command_buffer_khr, _cl_command_queue, _cl_context, _cl_device_id, _cl_event, _cl_kernel, _cl_mem, _cl_mutable_command_khr,
    _cl_platform_id, _cl_program, _cl_sampler, _cl_semaphore_khr,
};

/// The data at a handle's address, which the loader reads.
#[repr(C)]
struct Cell {
    dispatch: &'static dispatch::Table,
    /// The loader's pointer (cl_khr_icd 2), which is the same in all cells.
    dispatch_data: AtomicPtr<c_void>,
}

/// The number of other cells that must be released before a released cell is reused.
const QUARANTINE: usize = 4096;

/// Cells per allocation.
const CHUNK: usize = 256;

/// A kind of object that has handles.
pub(crate) trait HasHandle: Object + Sized {
    /// The C type that the handle points to.
    type Raw;

    /// Returns the error for an invalid handle. `why` is the reason in the message.
    fn invalid(why: &'static str) -> Error;
}

macro_rules! has_handle {
    ($($object:ty, $raw:ty, $error:ident;)*) => {
        $(impl HasHandle for $object {
            type Raw = $raw;

            fn invalid(why: &'static str) -> Error {
                Error::$error(why.into())
            }
        })*
    };
}

has_handle! {
    Platform, _cl_platform_id, InvalidPlatform;
    Device, _cl_device_id, InvalidDevice;
    Context, _cl_context, InvalidContext;
    Queue, _cl_command_queue, InvalidCommandQueue;
    Buffer, _cl_mem, InvalidMemObject;
    Image, _cl_mem, InvalidMemObject;
    Pipe, _cl_mem, InvalidMemObject;
    Sampler, _cl_sampler, InvalidSampler;
    Program, _cl_program, InvalidProgram;
    Kernel, _cl_kernel, InvalidKernel;
    Event, _cl_event, InvalidEvent;
    CommandBuffer, _cl_command_buffer_khr, InvalidCommandBuffer;
    MutableCommand, _cl_mutable_command_khr, InvalidMutableCommand;
    Semaphore, _cl_semaphore_khr, InvalidSemaphore;
}

type Erased = Arc<dyn Any + Send + Sync>;

struct Entry {
    object: Weak<dyn Any + Send + Sync>,
    /// Fork generation ([`process`]) of the process that created the object.
    generation: u32,
    /// The application's reference count.
    count: u32,
    /// The strong reference of the application. `None` if `count` is 0.
    held: Option<Erased>,
}

const SHARDS: usize = 16;

static REGISTRY: Lazy<[RwLock<FxHashMap<usize, Entry>>; SHARDS]> = Lazy::new(|| std::array::from_fn(|_| RwLock::default()));
static CELLS: Mutex<Cells> = Mutex::new(Cells { free: VecDeque::new(), all: Vec::new(), dispatch_data: AtomicPtr::new(null_mut()) });

struct Cells {
    /// The unused cells: new ones first, then released ones, the oldest first.
    free: VecDeque<usize>,
    all: Vec<&'static [Cell]>,
    /// The value of `dispatch_data` in new cells.
    dispatch_data: AtomicPtr<c_void>,
}

fn shard(address: usize) -> &'static RwLock<FxHashMap<usize, Entry>> {
    &REGISTRY[(address / size_of::<Cell>()) % SHARDS]
}

/// Removes the first cell from the unused cells, and returns its address. Allocates cells if there are too few.
fn take_cell() -> usize {
    let mut cells = CELLS.lock();
    if cells.free.len() <= QUARANTINE {
        let data = cells.dispatch_data.load(Ordering::Relaxed);
        let fresh = (0..CHUNK).map(|_| Cell { dispatch: &dispatch::TABLE, dispatch_data: AtomicPtr::new(data) }).collect();
        // The pointers' provenance is exposed because the loader gets them as handles and reads the table through them.
        let chunk: &'static [Cell] = Vec::leak(fresh);
        for cell in chunk.iter().rev() {
            cells.free.push_front(std::ptr::from_ref(cell).expose_provenance());
        }
        cells.all.push(chunk);
    }
    cells.free.pop_front().unwrap_or_default()
}

/// Sets the second word of all existing and future handles, for a loader that supports cl_khr_icd 2. Handles need no
/// distinction by platform, because there is only one platform.
pub(crate) fn set_dispatch_data(data: *mut c_void) {
    let cells = CELLS.lock();
    cells.dispatch_data.store(data, Ordering::Relaxed);
    for cell in cells.all.iter().copied().flatten() {
        cell.dispatch_data.store(data, Ordering::Relaxed);
    }
}

/// The address of an object's handle, owned by the object. Dropping this value releases the handle.
struct OwnedHandle(usize);

impl Drop for OwnedHandle {
    fn drop(&mut self) {
        shard(self.0).write().remove(&self.0);
        CELLS.lock().free.push_back(self.0);
    }
}

fn address_of<T: HasHandle>(object: &Arc<T>) -> usize {
    let make = || {
        let address = take_cell();
        let object: Erased = object.clone();
        let entry = Entry { object: Arc::downgrade(&object), generation: process::generation(), count: 0, held: None };
        shard(address).write().insert(address, entry);
        OwnedHandle(address)
    };
    object.handle_slot().get_or_init(make).map_or(0, |handle: &OwnedHandle| handle.0)
}

fn to_raw<T: HasHandle>(address: usize) -> *mut T::Raw {
    std::ptr::with_exposed_provenance_mut(address)
}

/// Returns the handle of an object, for queries. Adds no reference.
pub(crate) fn borrowed<T: HasHandle>(object: &Arc<T>) -> *mut T::Raw {
    to_raw::<T>(address_of(object))
}

/// Returns the handle of an object, and adds a reference of the application.
pub(crate) fn retained<T: HasHandle>(object: Arc<T>) -> *mut T::Raw {
    let address = address_of(&object);
    if let Some(entry) = shard(address).write().get_mut(&address) {
        entry.count += 1;
        entry.held = Some(object);
    }
    to_raw::<T>(address)
}

/// Returns the object of a handle.
///
/// # Errors
/// The CL_INVALID_... code of the requested type if the handle is not valid.
pub(crate) fn get<T: HasHandle>(handle: *mut T::Raw) -> Result<Arc<T>> {
    let address = handle.addr();
    if address == 0 {
        return Err(T::invalid("the handle is null"));
    }
    let object = shard(address).read().get(&address).and_then(|entry| entry.object.upgrade());
    let object = object.ok_or_else(|| T::invalid("the handle is unknown or was released"))?;
    let object = object.downcast::<T>().map_err(|_| T::invalid("the handle is that of an object of another type"))?;
    if let Some(listener) = object.listener() {
        errors::set_listener(listener);
    }
    Ok(object)
}

/// Returns the objects of a list of handles.
///
/// # Errors
/// The errors of [`get`].
pub(crate) fn get_all<T: HasHandle>(handles: &[*mut T::Raw]) -> Result<Vec<Arc<T>>> {
    handles.iter().map(|&handle| get(handle)).collect()
}

/// Returns the memory object of a handle: a buffer, an image or a pipe.
///
/// # Errors
/// The errors of [`get`].
pub(crate) fn get_memory(handle: *mut _cl_mem) -> Result<MemObject> {
    let image_or_pipe = |_| get::<Image>(handle).map(MemObject::Image).or_else(|_| get::<Pipe>(handle).map(MemObject::Pipe));
    get::<Buffer>(handle).map(MemObject::Buffer).or_else(image_or_pipe)
}

/// Returns the handle of a memory object, for queries. Adds no reference.
pub(crate) fn borrowed_memory(object: &MemObject) -> *mut _cl_mem {
    match object {
        MemObject::Buffer(buffer) => borrowed(buffer),
        MemObject::Image(image) => borrowed(image),
        MemObject::Pipe(pipe) => borrowed(pipe),
    }
}

/// Adds a reference of the application.
///
/// # Errors
/// The errors of [`get`].
pub(crate) fn retain<T: HasHandle>(handle: *mut T::Raw) -> Result<()> {
    let object = get::<T>(handle)?;
    retained(object);
    Ok(())
}

/// Removes a reference of the application. Returns the object if it was the last reference. Returns `None` in a forked
/// child for objects of the parent.
///
/// # Errors
/// The errors of [`get`], and the same error if the application has no reference.
pub(crate) fn release<T: HasHandle>(handle: *mut T::Raw) -> Result<Option<Arc<T>>> {
    let object = get::<T>(handle)?;
    let address = handle.addr();
    let held = {
        let mut entries = shard(address).write();
        match entries.get_mut(&address) {
            Some(entry) if entry.count > 0 => {
                entry.count -= 1;
                let held = if entry.count == 0 { entry.held.take() } else { None };
                if entry.generation != process::generation() {
                    // A driver of the parent process cannot free its memory in a forked child.
                    std::mem::forget(held);
                    return Ok(None);
                }
                held
            }
            _ => return Err(T::invalid("the handle has already been released")),
        }
    };
    // No lock is held while the object is dropped.
    Ok(held.map(|held| {
        drop(held);
        object
    }))
}

/// Returns all objects to which the application has references, for an exit handler. Returns `None` if the system ended
/// a thread while the thread held a lock of the registry ([`LOCKS_MAY_BE_LOST`]).
pub(crate) fn referenced_objects_at_exit() -> Option<Vec<Arc<dyn Any + Send + Sync>>> {
    let mut objects = Vec::new();
    for shard in REGISTRY.iter() {
        let entries = if LOCKS_MAY_BE_LOST { shard.try_read()? } else { shard.read() };
        objects.extend(entries.values().filter_map(|entry| entry.held.clone()));
    }
    Some(objects)
}

/// Returns the result of a CL_..._REFERENCE_COUNT query: the number of the application's references, but at least 1.
pub(crate) fn reference_count<T: HasHandle>(object: &Arc<T>) -> u32 {
    let address = address_of(object);
    shard(address).read().get(&address).map_or(1, |entry| entry.count.max(1))
}
