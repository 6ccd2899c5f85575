//! Reports objects that an application has not released when its process ends, if kernels are checked (`WGCL_CHECK`).

use std::any::Any;
use std::collections::BTreeMap;

use wgcl_api::commands::command_buffer::CommandBuffer;
use wgcl_api::image::Image;
use wgcl_api::objects::context::Context;
use wgcl_api::objects::event::Event;
use wgcl_api::objects::kernel::Kernel;
use wgcl_api::objects::memory::Buffer;
use wgcl_api::objects::pipe::Pipe;
use wgcl_api::objects::program::Program;
use wgcl_api::objects::queue::Queue;
use wgcl_api::objects::sampler::Sampler;
use wgcl_api::objects::semaphore::Semaphore;
use wgcl_api::observe::at_exit;

use crate::handles;

/// Returns the name of an object in singular and plural. Returns `None` for platforms, devices and mutable commands,
/// which applications do not release.
fn words(object: &(dyn Any + Send + Sync)) -> Option<(String, String)> {
    let plain = |name: &str| Some((name.to_owned(), format!("{name}s")));
    if let Some(buffer) = object.downcast_ref::<Buffer>() {
        let size = buffer.size();
        return Some((format!("buffer of {size} bytes"), format!("buffers of {size} bytes")));
    }
    if let Some(kernel) = object.downcast_ref::<Kernel>() {
        let name = kernel.name();
        return Some((format!("kernel '{name}'"), format!("kernels '{name}'")));
    }
    let kinds: [(bool, &str); 9] = [
        (object.is::<Context>(), "context"),
        (object.is::<Queue>(), "queue"),
        (object.is::<Image>(), "image"),
        (object.is::<Pipe>(), "pipe"),
        (object.is::<Sampler>(), "sampler"),
        (object.is::<Program>(), "program"),
        (object.is::<Event>(), "event"),
        (object.is::<CommandBuffer>(), "command buffer"),
        (object.is::<Semaphore>(), "semaphore"),
    ];
    plain(kinds.iter().find(|(is_one, _)| *is_one)?.1)
}

/// Prints all unreleased objects in one line on standard error, in an exit handler.
pub(crate) fn print() {
    let mut counts: BTreeMap<(String, String), usize> = BTreeMap::new();
    let Some(objects) = handles::referenced_objects_at_exit() else { return at_exit::print_lost("the list of unreleased objects") };
    for words in objects.iter().filter_map(|object| words(&**object)) {
        *counts.entry(words).or_default() += 1;
    }
    if !counts.is_empty() {
        let list = counts.iter().map(|((one, several), count)| format!("{count} {}", if *count == 1 { one } else { several }));
        at_exit::print(format_args!("wgcl: not released: {}\n", list.collect::<Vec<_>>().join(", ")));
    }
}
