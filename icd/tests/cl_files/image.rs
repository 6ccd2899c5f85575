//! Image and sampler arguments of `.cl` files: the objects that they are.

use std::ptr::null_mut;

use wgcl_client::image::{Form, SamplerForm};

use crate::common::ffi::{CL_MEM_COPY_HOST_PTR, CL_MEM_OBJECT_IMAGE1D_BUFFER, CL_MEM_READ_WRITE, CL_SUCCESS};
use crate::common::images::{Area, desc, extent, format, read, try_image};
use crate::common::objects::{Context, Mem, Queue, Sampler};
use crate::common::target;

/// An image with those contents.
pub fn create(context: &Context, form: &Form, bytes: &mut [u8]) -> Result<Mem, String> {
    let mut desc = desc(form.kind, form.sizes);
    let mut flags = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
    let mut host = bytes.as_mut_ptr().cast();
    // The image holds on to it.
    let mut _buffer = None;
    if form.kind == CL_MEM_OBJECT_IMAGE1D_BUFFER {
        let buffer = context.buffer_with(flags, bytes.len(), host);
        desc.mem_object = buffer.0;
        (flags, host) = (CL_MEM_READ_WRITE, null_mut());
        _buffer = Some(buffer);
    }
    try_image(context, flags, &format(form.order, form.data_type), &desc, host).map_err(|status| format!("clCreateImage gave {status}"))
}

/// What an image of this form holds.
pub fn read_form(queue: &Queue, image: &Mem, form: &Form) -> Vec<u8> {
    let area = Area { origin: [0; 3], region: extent(&desc(form.kind, form.sizes)) };
    read(queue, image, area, form.channels * form.element.size())
}

/// A sampler of this form.
pub fn sampler(context: &Context, form: SamplerForm) -> Result<Sampler, String> {
    let mut status = 1;
    let sampler = target().cl.clCreateSampler(context.0, form.normalized, form.addressing, form.filter, &mut status);
    if status == CL_SUCCESS { Ok(Sampler(sampler)) } else { Err(format!("clCreateSampler gave {status}")) }
}
