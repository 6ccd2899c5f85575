//! Creates the objects for image and sampler arguments of `.cl` files.

use std::ptr::{null, null_mut};

use wgcl_client::image::{ImageProperties, Level, SamplerProperties};
use wgcl_opencl_headers::{
    CL_SAMPLER_ADDRESSING_MODE, CL_SAMPLER_FILTER_MODE, CL_SAMPLER_LOD_MAX, CL_SAMPLER_LOD_MIN, CL_SAMPLER_MIP_FILTER_MODE,
    CL_SAMPLER_NORMALIZED_COORDS,
};

use crate::common::ffi::{CL_MEM_COPY_HOST_PTR, CL_MEM_OBJECT_IMAGE1D_BUFFER, CL_MEM_READ_WRITE, CL_SUCCESS, CL_TRUE, cl_bitfield};
use crate::common::images::{desc, format, try_image};
use crate::common::objects::{Context, Mem, Queue, Sampler};
use crate::common::target;

/// Creates an image with the given contents. Writes the levels of a mipmapped image through the queue.
pub fn create(context: &Context, queue: &Queue, form: &ImageProperties, bytes: &mut [u8]) -> Result<Mem, String> {
    let mut desc = desc(form.kind, form.sizes);
    let mut flags = CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR;
    let mut host = bytes.as_mut_ptr().cast();
    // The image retains this buffer.
    let mut _buffer = None;
    if form.kind == CL_MEM_OBJECT_IMAGE1D_BUFFER {
        let buffer = context.buffer_with(flags, bytes.len(), host);
        desc.mem_object = buffer.0.cast();
        (flags, host) = (CL_MEM_READ_WRITE, null_mut());
        _buffer = Some(buffer);
    }
    if form.levels > 1 {
        desc.num_mip_levels = form.levels;
        (flags, host) = (CL_MEM_READ_WRITE, null_mut());
    }
    let format = format(form.order, form.data_type);
    let image = try_image(context, flags, &format, &desc, host).map_err(|status| format!("clCreateImage returned {status}"))?;
    let cl = &target().cl;
    let mut rest = bytes;
    for Level { origin, sizes } in form.levels().filter(|_| form.levels > 1) {
        let (here, following) = rest.split_at_mut(form.scalars(sizes) * form.element.size());
        rest = following;
        let (origin, sizes, from) = (origin.as_ptr(), sizes.as_ptr(), here.as_ptr().cast());
        let status = cl.clEnqueueWriteImage(queue.0, image.0, CL_TRUE, origin, sizes, 0, 0, from, 0, null(), null_mut());
        if status != CL_SUCCESS {
            return Err(format!("clEnqueueWriteImage returned {status}"));
        }
    }
    Ok(image)
}

/// Reads the contents of an image with these properties.
pub fn read_form(queue: &Queue, image: &Mem, form: &ImageProperties) -> Vec<u8> {
    let mut bytes = vec![0; form.count() * form.element.size()];
    let mut rest = &mut bytes[..];
    for Level { origin, sizes } in form.levels() {
        let (here, following) = rest.split_at_mut(form.scalars(sizes) * form.element.size());
        rest = following;
        let (origin, sizes, to) = (origin.as_ptr(), sizes.as_ptr(), here.as_mut_ptr().cast());
        let status = target().cl.clEnqueueReadImage(queue.0, image.0, CL_TRUE, origin, sizes, 0, 0, to, 0, null(), null_mut());
        assert_eq!(status, CL_SUCCESS, "clEnqueueReadImage");
    }
    bytes
}

/// Creates a sampler with these properties.
pub fn sampler(context: &Context, form: SamplerProperties) -> Result<Sampler, String> {
    let mut status = 1;
    let sampler = match form.levels {
        None => target().cl.clCreateSampler(context.0, form.normalized, form.addressing, form.filter, &mut status),
        Some((mip_filter, least, most)) => {
            let words = [form.normalized, form.addressing, form.filter, mip_filter, least.to_bits(), most.to_bits()];
            let names = [
                CL_SAMPLER_NORMALIZED_COORDS,
                CL_SAMPLER_ADDRESSING_MODE,
                CL_SAMPLER_FILTER_MODE,
                CL_SAMPLER_MIP_FILTER_MODE,
                CL_SAMPLER_LOD_MIN,
                CL_SAMPLER_LOD_MAX,
            ];
            let pairs = names.into_iter().zip(words).flat_map(|(name, word)| [name, word].map(cl_bitfield::from));
            let list: Vec<cl_bitfield> = pairs.chain([0]).collect();
            target().cl.clCreateSamplerWithProperties(context.0, list.as_ptr(), &mut status)
        }
    };
    if status == CL_SUCCESS { Ok(Sampler(sampler)) } else { Err(format!("clCreateSampler returned {status}")) }
}
