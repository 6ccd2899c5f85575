//! Samplers (OpenCL API 5.7).

use wgcl_api::objects::context::Context;
use wgcl_api::objects::sampler::Sampler;

use crate::ffi::{BytesMut, List, Out};
use crate::handles;
use crate::info::Query;
use wgcl_opencl_headers::{
    _cl_sampler, CL_SAMPLER_ADDRESSING_MODE, CL_SAMPLER_CONTEXT, CL_SAMPLER_FILTER_MODE, CL_SAMPLER_LOD_MAX_KHR, CL_SAMPLER_LOD_MIN_KHR,
    CL_SAMPLER_MIP_FILTER_MODE_KHR, CL_SAMPLER_NORMALIZED_COORDS, CL_SAMPLER_PROPERTIES, CL_SAMPLER_REFERENCE_COUNT, cl_addressing_mode,
    cl_bool, cl_context, cl_filter_mode, cl_sampler, cl_sampler_info, cl_sampler_properties,
};

crate::entry! {
    fn clCreateSampler(context: cl_context, normalized: cl_bool, addressing: cl_addressing_mode, filter: cl_filter_mode) -> *mut _cl_sampler {
        let context = handles::get::<Context>(context)?;
        Sampler::new(&context, normalized, addressing, filter).map(handles::retained)
    }

    fn clCreateSamplerWithProperties(context: cl_context, properties: List<cl_sampler_properties>) -> *mut _cl_sampler {
        let context = handles::get::<Context>(context)?;
        let (pairs, list) = properties.properties().map_or_else(Default::default, |(pairs, all)| (pairs, Some(all)));
        Sampler::with_properties(&context, &pairs, list).map(handles::retained)
    }

    fn clRetainSampler(sampler: cl_sampler) {
        handles::retain::<Sampler>(sampler)
    }

    fn clReleaseSampler(sampler: cl_sampler) {
        handles::release::<Sampler>(sampler).map(drop)
    }

    fn clGetSamplerInfo(sampler: cl_sampler, param: cl_sampler_info, size: usize, value: BytesMut, size_ret: Out<usize>) {
        let sampler = handles::get::<Sampler>(sampler)?;
        let query = Query::new(size, value, size_ret);
        match param {
            CL_SAMPLER_REFERENCE_COUNT => query.put(handles::reference_count(&sampler)),
            CL_SAMPLER_CONTEXT => query.put(handles::borrowed(sampler.context())),
            CL_SAMPLER_NORMALIZED_COORDS => query.put(sampler.normalized()),
            CL_SAMPLER_ADDRESSING_MODE => query.put(sampler.addressing() as u32),
            CL_SAMPLER_FILTER_MODE => query.put(sampler.filter() as u32),
            CL_SAMPLER_MIP_FILTER_MODE_KHR => query.put(sampler.mip_filter() as u32),
            CL_SAMPLER_LOD_MIN_KHR => query.put(sampler.lods().0.to_bits()),
            CL_SAMPLER_LOD_MAX_KHR => query.put(sampler.lods().1.to_bits()),
            CL_SAMPLER_PROPERTIES => query.put(sampler.property_list().unwrap_or(&[])),
            _ => query.unknown(param),
        }
    }
}
