//! Handles: the application's references to objects.
//!
//! A handle is the address of a [`Cell`], which contains only the data that the ICD loader reads: the pointer to the
//! dispatch table, and a pointer that the loader owns. Cells are never freed, so that the loader may read the handle
//! of a destroyed object without a crash. A cell is reused after [`QUARANTINE`] others. A registry maps the address
//! of a handle to its object. A null, foreign, released or wrong-typed handle is not in the registry, so no invalid
//! handle is dereferenced.
//!
//! The registry keeps a strong reference for as long as the application holds one. Other objects may keep theirs
//! longer: a released context with a live queue still has its handle, which queries of the queue return. When the
//! object is dropped, its handle is released too ([`Name`]).

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

/// The number of cells that must be freed after a cell before it is reused.
const QUARANTINE: usize = 4096;

/// Cells per allocation.
const CHUNK: usize = 256;

/// A kind of object that has handles.
pub(crate) trait Named: Object + Sized {
    /// The C type that the handle points to.
    type Raw;

    /// The error for an invalid handle.
    fn invalid(why: &'static str) -> Error;
}

macro_rules! named {
    ($($object:ty, $raw:ty, $error:ident;)*) => {
        $(impl Named for $object {
            type Raw = $raw;

            fn invalid(why: &'static str) -> Error {
                Error::$error(why.into())
            }
        })*
    };
}

named! {
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
    /// The process that created the object ([`process`]).
    generation: u32,
    /// The application's reference count, and the strong reference that it represents.
    count: u32,
    held: Option<Erased>,
}

const SHARDS: usize = 16;

static REGISTRY: Lazy<[RwLock<FxHashMap<usize, Entry>>; SHARDS]> = Lazy::new(|| std::array::from_fn(|_| RwLock::default()));
static CELLS: Mutex<Cells> = Mutex::new(Cells { free: VecDeque::new(), all: Vec::new(), dispatch_data: AtomicPtr::new(null_mut()) });

struct Cells {
    /// The unused cells: fresh ones first, then the released ones, oldest first.
    free: VecDeque<usize>,
    all: Vec<&'static [Cell]>,
    /// The value for new cells.
    dispatch_data: AtomicPtr<c_void>,
}

fn shard(address: usize) -> &'static RwLock<FxHashMap<usize, Entry>> {
    &REGISTRY[(address / size_of::<Cell>()) % SHARDS]
}

/// The address of an unused cell.
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

/// Sets the second word of every handle, existing and future, for a loader that supports cl_khr_icd 2. There is one
/// platform.
pub(crate) fn set_dispatch_data(data: *mut c_void) {
    let cells = CELLS.lock();
    cells.dispatch_data.store(data, Ordering::Relaxed);
    for cell in cells.all.iter().copied().flatten() {
        cell.dispatch_data.store(data, Ordering::Relaxed);
    }
}

/// The handle of an object, which the object owns.
struct Name(usize);

impl Drop for Name {
    fn drop(&mut self) {
        shard(self.0).write().remove(&self.0);
        CELLS.lock().free.push_back(self.0);
    }
}

fn address_of<T: Named>(object: &Arc<T>) -> usize {
    let make = || {
        let address = take_cell();
        let object: Erased = object.clone();
        let entry = Entry { object: Arc::downgrade(&object), generation: process::generation(), count: 0, held: None };
        shard(address).write().insert(address, entry);
        Name(address)
    };
    object.handle_slot().get_or_init(make).map_or(0, |name: &Name| name.0)
}

fn to_raw<T: Named>(address: usize) -> *mut T::Raw {
    std::ptr::with_exposed_provenance_mut(address)
}

/// The handle of an object, for queries: the application gets no reference.
pub(crate) fn name<T: Named>(object: &Arc<T>) -> *mut T::Raw {
    to_raw::<T>(address_of(object))
}

/// The handle of an object, with a reference for the application.
pub(crate) fn give<T: Named>(object: Arc<T>) -> *mut T::Raw {
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
pub(crate) fn get<T: Named>(handle: *mut T::Raw) -> Result<Arc<T>> {
    let address = handle.addr();
    if address == 0 {
        return Err(T::invalid("the handle is null"));
    }
    let object = shard(address).read().get(&address).and_then(|entry| entry.object.upgrade());
    let object = object.ok_or_else(|| T::invalid("the handle is unknown or was released"))?;
    let object = object.downcast::<T>().map_err(|_| T::invalid("the handle is that of another kind of object"))?;
    if let Some(listener) = object.listener() {
        errors::concern(listener);
    }
    Ok(object)
}

/// The objects of a list of handles.
///
/// # Errors
/// The errors of [`get`].
pub(crate) fn get_all<T: Named>(handles: &[*mut T::Raw]) -> Result<Vec<Arc<T>>> {
    handles.iter().map(|&handle| get(handle)).collect()
}

/// The memory object of a handle, of any kind.
///
/// # Errors
/// The errors of [`get`].
pub(crate) fn get_memory(handle: *mut _cl_mem) -> Result<MemObject> {
    let image_or_pipe = |_| get::<Image>(handle).map(MemObject::Image).or_else(|_| get::<Pipe>(handle).map(MemObject::Pipe));
    get::<Buffer>(handle).map(MemObject::Buffer).or_else(image_or_pipe)
}

/// The handle of a memory object, for queries.
pub(crate) fn name_memory(object: &MemObject) -> *mut _cl_mem {
    match object {
        MemObject::Buffer(buffer) => name(buffer),
        MemObject::Image(image) => name(image),
        MemObject::Pipe(pipe) => name(pipe),
    }
}

/// Adds a reference of the application.
///
/// # Errors
/// The errors of [`get`].
pub(crate) fn retain<T: Named>(handle: *mut T::Raw) -> Result<()> {
    let object = get::<T>(handle)?;
    give(object);
    Ok(())
}

/// Removes a reference of the application, and returns the object if it was the last.
///
/// # Errors
/// Fails like [`get`], and if the application holds no reference.
pub(crate) fn release<T: Named>(handle: *mut T::Raw) -> Result<Option<Arc<T>>> {
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
            _ => return Err(T::invalid("the handle was released before")),
        }
    };
    // The object is dropped here, without a lock held.
    Ok(held.map(|held| {
        drop(held);
        object
    }))
}

/// All objects of which the application holds references.
pub(crate) fn held() -> Vec<Arc<dyn Any + Send + Sync>> {
    REGISTRY.iter().flat_map(|shard| shard.read().values().filter_map(|entry| entry.held.clone()).collect::<Vec<_>>()).collect()
}

/// CL_..._REFERENCE_COUNT: the application's references, at least 1 for a live object.
pub(crate) fn count<T: Named>(object: &Arc<T>) -> u32 {
    let address = address_of(object);
    shard(address).read().get(&address).map_or(1, |entry| entry.count.max(1))
}
