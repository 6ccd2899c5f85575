//! Rows of the image functions (OpenCL C 6.15.15).
//!
//! A depth image has colours of one component. Only the `float` functions access it.

use super::super::table::{Row, extension, intrinsic, since, when};
use super::super::{ImageQuery, Intrinsic};
use crate::target::Target;

fn has_images(_: u32, target: &Target) -> bool {
    target.language.images
}

const MULTISAMPLE: &str = "cl_khr_gl_msaa_sharing";

const fn image(names: &'static str, op: Intrinsic, signatures: &'static [&'static str]) -> Row {
    when(has_images, intrinsic(names, op, signatures))
}

const fn query(name: &'static str, query: ImageQuery, signatures: &'static [&'static str]) -> Row {
    image(name, Intrinsic::GetImage(query), signatures)
}

pub(super) static QUERIES: &[Row] = &[
    query("get_image_width", ImageQuery::Width, &["int(any)"]),
    query("get_image_height", ImageQuery::Height, &["int(tall)"]),
    query("get_image_depth", ImageQuery::Depth, &["int(image3d)"]),
    query("get_image_channel_data_type", ImageQuery::ChannelDataType, &["int(any)"]),
    query("get_image_channel_order", ImageQuery::ChannelOrder, &["int(any)"]),
    query("get_image_dim", ImageQuery::Dim, &["int2(flat)", "int4(image3d)"]),
    query("get_image_array_size", ImageQuery::ArraySize, &["size(array)"]),
    query("get_image_num_mip_levels", ImageQuery::NumMipLevels, &["int(mipmap)"]),
    extension(MULTISAMPLE, query("get_image_num_samples", ImageQuery::NumSamples, &["int(samples)"])),
];

const fn read_sample(name: &'static str, signatures: &'static [&'static str]) -> Row {
    extension(MULTISAMPLE, image(name, Intrinsic::ReadImageSample, signatures))
}

/// The rows of the functions for one colour type. The four lists are further signatures for sampled reads, reads
/// without a sampler, reads of a level, and writes.
macro_rules! access {
    ($letters:literal, $colour:literal, [$($sampled:literal),*], [$($read:literal),*], [$($level:literal),*], [$($written:literal),*]) => {
        &[
            image(
                concat!("read_image", $letters),
                Intrinsic::ReadImage,
                &[
                    concat!($colour, "(sampled texture,sampler,int@)"),
                    concat!($colour, "(sampled texture,sampler,float@)"),
                    concat!($colour, "(sampled texture,sampler,float@,float)"),
                    concat!($colour, "(sampled texture,sampler,float@,float^,float^)"),
                    $($sampled),*
                ],
            ),
            since(120, image(concat!("read_image", $letters), Intrinsic::ReadImage, &[concat!($colour, "(read image,int@)"), $($read),*])),
            // A read of a mip level without a sampler. Other source languages have such a read.
            image(concat!("__wgcl_read_image", $letters), Intrinsic::ReadImageLevel, &[concat!($colour, "(image,int@,int)"), $($level),*]),
            image(
                concat!("write_image", $letters),
                Intrinsic::WriteImage,
                &[
                    concat!("void(written image,int@,", $colour, ")"),
                    concat!("void(written texture,int@,int,", $colour, ")"),
                    $($written),*
                ],
            ),
        ]
    };
}

pub(super) static SAMPLES: &[Row] = &[
    read_sample("read_imagef", &["float4(read msaa,int@,int)", "float(read msaa_depth,int@,int)"]),
    read_sample("read_imagei", &["int4(read msaa,int@,int)"]),
    read_sample("read_imageui", &["uint4(read msaa,int@,int)"]),
];

pub(super) static FLOATS: &[Row] = access!(
    "f",
    "float4",
    [
        "float(sampled depth,sampler,int@)",
        "float(sampled depth,sampler,float@)",
        "float(sampled depth,sampler,float@,float)",
        "float(sampled depth,sampler,float@,float^,float^)"
    ],
    ["float(read depth,int@)"],
    ["float(depth,int@,int)"],
    ["void(written depth,int@,float)", "void(written depth,int@,int,float)"]
);
pub(super) static HALVES: &[Row] = access!("h", "half4", [], [], [], []);
pub(super) static INTS: &[Row] = access!("i", "int4", [], [], [], []);
pub(super) static UINTS: &[Row] = access!("ui", "uint4", [], [], [], []);
