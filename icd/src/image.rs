//! Image objects (OpenCL API 5.3).

use std::sync::Arc;

use wgcl_api::image::format::{self, FormatUse};
use wgcl_api::image::image_type::ImageType;
use wgcl_api::image::requirements::{Dimension, ImageRequirements};
use wgcl_api::image::{Image, ImageDesc, MemObject};
use wgcl_api::objects::context::Context;
use wgcl_api::objects::memory::{HostData, MemFlags};
use wgcl_api::types::error::{Error, Result};
use wgcl_compiler::image::ImageFormat;

use crate::check;
use crate::ffi::{BytesMut, List, Out, OutList};
use crate::handles;
use crate::info::Query;
use wgcl_opencl_headers::{
    _cl_mem, CL_IMAGE_ARRAY_SIZE, CL_IMAGE_BUFFER, CL_IMAGE_DEPTH, CL_IMAGE_ELEMENT_SIZE, CL_IMAGE_FORMAT, CL_IMAGE_HEIGHT,
    CL_IMAGE_NUM_MIP_LEVELS, CL_IMAGE_NUM_SAMPLES, CL_IMAGE_REQUIREMENTS_BASE_ADDRESS_ALIGNMENT_EXT,
    CL_IMAGE_REQUIREMENTS_MAX_ARRAY_SIZE_EXT, CL_IMAGE_REQUIREMENTS_MAX_DEPTH_EXT, CL_IMAGE_REQUIREMENTS_MAX_HEIGHT_EXT,
    CL_IMAGE_REQUIREMENTS_MAX_WIDTH_EXT, CL_IMAGE_REQUIREMENTS_ROW_PITCH_ALIGNMENT_EXT, CL_IMAGE_REQUIREMENTS_SIZE_EXT,
    CL_IMAGE_REQUIREMENTS_SLICE_PITCH_ALIGNMENT_EXT, CL_IMAGE_ROW_PITCH, CL_IMAGE_SLICE_PITCH, CL_IMAGE_WIDTH,
    CL_MEM_KERNEL_READ_AND_WRITE, cl_context, cl_image_desc, cl_image_format, cl_image_info, cl_mem, cl_mem_flags, cl_mem_object_type,
    cl_mem_properties, cl_uint,
};

/// Converts a format. Values of more than 16 bits become 0, which is not a valid channel order or type.
fn format_of(raw: &cl_image_format) -> ImageFormat {
    let narrow = |number: u32| u16::try_from(number).unwrap_or(0);
    ImageFormat { order: narrow(raw.image_channel_order), data_type: narrow(raw.image_channel_data_type) }
}

fn format_to(format: ImageFormat) -> cl_image_format {
    cl_image_format { image_channel_order: format.order.into(), image_channel_data_type: format.data_type.into() }
}

/// Converts an image description.
fn desc_of(raw: &cl_image_desc) -> Result<ImageDesc> {
    let memory = raw.mem_object;
    // "CL_INVALID_IMAGE_DESCRIPTOR if values specified in image_desc are not valid."
    let source = if memory.is_null() {
        None
    } else {
        let found = handles::get_memory(memory);
        Some(found.map_err(|_| Error::InvalidImageDescriptor("mem_object is not a memory object".into()))?)
    };
    Ok(ImageDesc {
        image_type: raw.image_type,
        width: raw.image_width as u64,
        height: raw.image_height as u64,
        depth: raw.image_depth as u64,
        array_size: raw.image_array_size as u64,
        row_pitch: raw.image_row_pitch as u64,
        slice_pitch: raw.image_slice_pitch as u64,
        num_mip_levels: raw.num_mip_levels,
        num_samples: raw.num_samples,
        graphics_samples: 0,
        source,
    })
}

fn create(
    context: cl_context,
    list: Option<Vec<u64>>,
    flags: cl_mem_flags,
    format: &List<cl_image_format>,
    desc: Option<&ImageDesc>,
    host_ptr: BytesMut,
) -> Result<*mut _cl_mem> {
    let context = handles::get::<Context>(context)?;
    let format = format.get(1).first().map(format_of);
    let host = |flags: MemFlags, size: u64| {
        if flags.contains(MemFlags::USE_HOST_PTR) {
            return Ok(HostData::Use(host_ptr.region(size)?));
        }
        let size = usize::try_from(size)
            .map_err(|_| Error::OutOfHostMemory(format!("an image of {size} bytes does not fit the address space").into()))?;
        Ok(HostData::Copy(host_ptr.as_bytes().try_get(size)?))
    };
    let host: Option<wgcl_api::image::HostImage<'_>> = if host_ptr.is_null() { None } else { Some(&host) };
    Image::new(&context, list, flags, format, desc, host).map(handles::retained)
}

/// Creates an image for the functions of OpenCL 1.1. For an invalid pitch, these functions return the error of an
/// invalid size: "CL_INVALID_IMAGE_SIZE if ... values specified by image_row_pitch do not follow rules".
fn create_opencl_11(
    context: cl_context,
    flags: cl_mem_flags,
    format: &List<cl_image_format>,
    desc: &ImageDesc,
    host_ptr: BytesMut,
) -> Result<*mut _cl_mem> {
    create(context, None, flags, format, Some(desc), host_ptr).map_err(|error| match error {
        Error::InvalidImageDescriptor(why) => Error::InvalidImageSize(why),
        other => other,
    })
}

/// Checks and converts the memory flags of a query for image formats or image requirements.
fn format_use(flags: cl_mem_flags) -> Result<FormatUse> {
    let both = CL_MEM_KERNEL_READ_AND_WRITE;
    if flags & both != 0 {
        MemFlags::parse(flags & !both)?;
        return Ok(FormatUse::ReadAndWrite);
    }
    let flags = MemFlags::parse(flags)?;
    Ok(if flags.is_read_only() {
        FormatUse::Read
    } else if flags.contains(MemFlags::WRITE_ONLY) {
        FormatUse::Write
    } else {
        FormatUse::ReadOrWrite
    })
}

/// Returns the image of a handle. Fails if the handle does not belong to an image.
pub(crate) fn get(handle: cl_mem) -> Result<Arc<Image>> {
    handles::get::<Image>(handle)
}

crate::entry! {
    fn clCreateImage(
        context: cl_context,
        flags: cl_mem_flags,
        format: List<cl_image_format>,
        desc: List<cl_image_desc>,
        host_ptr: BytesMut,
    ) -> *mut _cl_mem {
        handles::get::<Context>(context)?;
        let desc = desc.get(1).first().map(desc_of).transpose()?;
        create(context, None, flags, &format, desc.as_ref(), host_ptr)
    }

    fn clCreateImageWithProperties(
        context: cl_context,
        properties: List<cl_mem_properties>,
        flags: cl_mem_flags,
        format: List<cl_image_format>,
        desc: List<cl_image_desc>,
        host_ptr: BytesMut,
    ) -> *mut _cl_mem {
        handles::get::<Context>(context)?;
        let desc = desc.get(1).first().map(desc_of).transpose()?;
        let list = properties.properties().map(|(_, all)| all);
        create(context, list, flags, &format, desc.as_ref(), host_ptr)
    }

    fn clCreateImage2D(
        context: cl_context,
        flags: cl_mem_flags,
        format: List<cl_image_format>,
        width: usize,
        height: usize,
        row_pitch: usize,
        host_ptr: BytesMut,
    ) -> *mut _cl_mem {
        let desc = ImageDesc {
            image_type: ImageType::Image2d as u32,
            width: width as u64,
            height: height as u64,
            row_pitch: row_pitch as u64,
            ..ImageDesc::default()
        };
        create_opencl_11(context, flags, &format, &desc, host_ptr)
    }

    fn clCreateImage3D(
        context: cl_context,
        flags: cl_mem_flags,
        format: List<cl_image_format>,
        width: usize,
        height: usize,
        depth: usize,
        row_pitch: usize,
        slice_pitch: usize,
        host_ptr: BytesMut,
    ) -> *mut _cl_mem {
        let desc = ImageDesc {
            image_type: ImageType::Image3d as u32,
            width: width as u64,
            height: height as u64,
            // "For clCreateImage3D, this must be a value > 1." Later checks reject a depth of 0, so pass 0 instead of
            // 1.
            depth: if depth == 1 { 0 } else { depth as u64 },
            row_pitch: row_pitch as u64,
            slice_pitch: slice_pitch as u64,
            ..ImageDesc::default()
        };
        create_opencl_11(context, flags, &format, &desc, host_ptr)
    }

    fn clGetSupportedImageFormats(
        context: cl_context,
        flags: cl_mem_flags,
        kind: cl_mem_object_type,
        num_entries: cl_uint,
        formats: OutList<cl_image_format>,
        num_formats: Out<cl_uint>,
    ) {
        let context = handles::get::<Context>(context)?;
        // "CL_INVALID_VALUE if flags or image_type are not valid, or if num_entries is 0 and image_formats is not
        // NULL."
        let purpose = format_use(flags)?;
        let kind = ImageType::from_raw(kind).ok_or_else(|| Error::InvalidValue(format!("image type {kind:#x} is unknown").into()))?;
        check!(num_entries != 0 || formats.is_null(), InvalidValue, "num_entries is zero, but image_formats is not null");
        // "clGetSupportedImageFormats returns a union of image formats supported by all devices in the context."
        let mut all: Vec<ImageFormat> = Vec::new();
        for device in context.devices() {
            for format in format::supported(device.target(), kind, purpose) {
                if !all.contains(&format) {
                    all.push(format);
                }
            }
        }
        let raw: Vec<cl_image_format> = all.iter().copied().map(format_to).collect();
        formats.set(&raw[..raw.len().min(num_entries as usize)]);
        num_formats.set(raw.len() as cl_uint);
        Ok(())
    }

    fn clGetImageRequirementsInfoEXT(
        context: cl_context,
        properties: List<cl_mem_properties>,
        flags: cl_mem_flags,
        format: List<cl_image_format>,
        desc: List<cl_image_desc>,
        param: cl_uint,
        size: usize,
        value: BytesMut,
        size_ret: Out<usize>,
    ) {
        let context = handles::get::<Context>(context)?;
        // "CL_INVALID_PROPERTY if a property name in properties is not a supported property name": no name is
        // supported.
        check!(properties.properties().is_none_or(|(pairs, _)| pairs.is_empty()), InvalidProperty, "the property list of an image must be empty");
        format_use(flags)?;
        let desc = desc.get(1).first().map(desc_of).transpose()?;
        let requirements = ImageRequirements::new(&context, format.get(1).first().map(format_of), desc.as_ref())?;
        let query = Query::new(size, value, size_ret);
        match param {
            CL_IMAGE_REQUIREMENTS_ROW_PITCH_ALIGNMENT_EXT | CL_IMAGE_REQUIREMENTS_SLICE_PITCH_ALIGNMENT_EXT => {
                query.put(requirements.pitch_alignment()? as usize)
            }
            CL_IMAGE_REQUIREMENTS_BASE_ADDRESS_ALIGNMENT_EXT => query.put(requirements.base_alignment()? as usize),
            CL_IMAGE_REQUIREMENTS_SIZE_EXT => query.put(requirements.size()? as usize),
            CL_IMAGE_REQUIREMENTS_MAX_WIDTH_EXT => query.put(requirements.max(Dimension::Width)?),
            CL_IMAGE_REQUIREMENTS_MAX_HEIGHT_EXT => query.put(requirements.max(Dimension::Height)?),
            CL_IMAGE_REQUIREMENTS_MAX_DEPTH_EXT => query.put(requirements.max(Dimension::Depth)?),
            CL_IMAGE_REQUIREMENTS_MAX_ARRAY_SIZE_EXT => query.put(requirements.max(Dimension::ArraySize)?),
            _ => query.unknown(param),
        }
    }

    fn clGetImageInfo(image: cl_mem, param: cl_image_info, size: usize, value: BytesMut, size_ret: Out<usize>) {
        let image = get(image)?;
        let query = Query::new(size, value, size_ret);
        match param {
            CL_IMAGE_FORMAT => {
                let format = image.reported_format();
                query.put([u32::from(format.order), u32::from(format.data_type)])
            }
            CL_IMAGE_ELEMENT_SIZE => query.put(image.element_size() as usize),
            CL_IMAGE_ROW_PITCH => query.put(image.row_pitch() as usize),
            CL_IMAGE_SLICE_PITCH => query.put(image.slice_pitch() as usize),
            CL_IMAGE_WIDTH => query.put(image.width() as usize),
            CL_IMAGE_HEIGHT => query.put(image.height() as usize),
            CL_IMAGE_DEPTH => query.put(image.depth() as usize),
            CL_IMAGE_ARRAY_SIZE => query.put(image.array_size() as usize),
            CL_IMAGE_BUFFER => query.put(match image.source() {
                Some(MemObject::Buffer(buffer)) => handles::borrowed(buffer),
                _ => std::ptr::null_mut(),
            }),
            CL_IMAGE_NUM_MIP_LEVELS => query.put(image.mip_levels()),
            CL_IMAGE_NUM_SAMPLES => query.put(image.samples()),
            _ => query.unknown(param),
        }
    }
}
