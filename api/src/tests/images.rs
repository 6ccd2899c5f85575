//! Images: types, boxes, contents on several devices, kernel arguments.

use std::sync::Arc;

use parking_lot::Mutex;
use wgcl_compiler::image::{ImageDescriptor, ImageFormat};

use super::{Setup, setup, setup_of};
use crate::backend::{HostTarget, LaunchArg};
use crate::commands::command::CommandType;
use crate::commands::image_transfer::{HostPitches, ImageBox};
use crate::image::format::{data_type, order};
use crate::image::image_type::ImageType;
use crate::image::{Image, ImageDesc, MemObject};
use crate::objects::kernel::{ArgValue, Kernel};
use crate::objects::memory::MemFlags;
use crate::objects::program::Program;
use crate::objects::queue::Queue;
use crate::objects::sampler::Sampler;
use crate::test_backend::{Sink, TestDevice};
use crate::types::error::Result;
use crate::types::flags::QueueProperties;
use crate::types::nd_range::NdRange;

const RGBA8: ImageFormat = ImageFormat { order: order::RGBA, data_type: data_type::UNSIGNED_INT8 };
const BYTE: ImageFormat = ImageFormat { order: order::R, data_type: data_type::UNSIGNED_INT8 };
const TIGHT: HostPitches = HostPitches { row: 0, slice: 0 };

fn with_images(devices: usize) -> Setup {
    setup_of((0..devices).map(|index| TestDevice::with_images(&format!("device {index}"), true)).collect())
}

fn desc(kind: ImageType, [width, height, third]: [u64; 3]) -> ImageDesc {
    let array_size = if kind == ImageType::Image1dArray { height } else { third };
    ImageDesc { image_type: kind as u32, width, height, depth: third, array_size, ..ImageDesc::default() }
}

fn create_image(setup: &Setup, format: ImageFormat, desc: &ImageDesc) -> Arc<Image> {
    Image::new(&setup.context, None, 0, Some(format), Some(desc), None).expect("image")
}

fn name_of<T>(result: Result<T>) -> &'static str {
    result.map_or_else(|error| error.name(), |_| "CL_SUCCESS")
}

fn write(queue: &Arc<Queue>, image: &Arc<Image>, [x, y, z]: [u64; 3], region: [u64; 3], bytes: &[u8]) {
    let source = bytes.to_vec();
    let done =
        queue.write_image(image, false, ImageBox { origin: [x, y, z, 0], region }, TIGHT, |_| Ok(Arc::new(source)), &[]).expect("write");
    done.flush();
    done.wait();
}

fn read(queue: &Arc<Queue>, image: &Arc<Image>, [x, y, z]: [u64; 3], region: [u64; 3]) -> Vec<u8> {
    let sink = Sink(Arc::new(Mutex::new(Vec::new())));
    let target = |size: u64| {
        sink.0.lock().resize(size as usize, 0);
        Ok(Arc::new(sink.clone()) as Arc<dyn HostTarget>)
    };
    queue.read_image(image, true, ImageBox { origin: [x, y, z, 0], region }, TIGHT, target, &[]).expect("read");
    sink.0.lock().clone()
}

#[test]
fn kernels_receive_every_image_type() {
    let setup = with_images(1);
    let plain = ImageDescriptor { width: 5, height: 1, depth: 1, array_size: 1, row_pitch: 20, slice_pitch: 20, format: RGBA8, levels: 1 };
    let forms = [
        (ImageType::Image1d, plain),
        (ImageType::Image1dArray, ImageDescriptor { array_size: 3, ..plain }),
        (ImageType::Image2d, ImageDescriptor { height: 3, slice_pitch: 60, ..plain }),
        (ImageType::Image2dArray, ImageDescriptor { height: 3, array_size: 2, slice_pitch: 60, ..plain }),
        (ImageType::Image3d, ImageDescriptor { height: 3, depth: 2, slice_pitch: 60, ..plain }),
    ];
    for (kind, expected) in forms {
        let image = create_image(&setup, RGBA8, &desc(kind, [5, 3, 2]));
        assert_eq!(image.descriptor(), expected, "{kind:?}");
        let elements = u64::from(expected.height * expected.depth * expected.array_size) * 5;
        assert_eq!((image.size(), image.buffer().size()), (elements * 4, elements * 4));
    }
    let buffer = setup.buffer(&[0; 64]);
    let source = Some(MemObject::Buffer(buffer));
    let line = create_image(&setup, RGBA8, &ImageDesc { source, ..desc(ImageType::Image1dBuffer, [5, 0, 0]) });
    assert_eq!(line.descriptor(), plain);
    assert_eq!(line.buffer().size(), 64);
}

#[test]
fn image_creation_requires_a_device_with_images() {
    let setup = setup(1);
    let form = desc(ImageType::Image2d, [4, 4, 1]);
    assert_eq!(name_of(Image::new(&setup.context, None, 0, Some(RGBA8), Some(&form), None)), "CL_INVALID_OPERATION");
    assert_eq!(name_of(Sampler::new(&setup.context, 1, 0x1132, 0x1140)), "CL_INVALID_OPERATION");
    assert_eq!(setup.context.devices()[0].image_limits(), crate::objects::device::ImageLimits::default());
}

#[test]
fn images_that_are_too_large_are_refused() {
    let setup = with_images(1);
    let form = desc(ImageType::Image2d, [16384, 16384, 1]);
    let all_floats = ImageFormat { order: order::RGBA, data_type: data_type::FLOAT };
    let too_large = Image::new(&setup.context, None, 0, Some(all_floats), Some(&form), None);
    assert_eq!(name_of(too_large), "CL_MEM_OBJECT_ALLOCATION_FAILURE");
    let form = desc(ImageType::Image2d, [16385, 1, 1]);
    assert_eq!(name_of(Image::new(&setup.context, None, 0, Some(BYTE), Some(&form), None)), "CL_INVALID_IMAGE_SIZE");
}

#[test]
fn boxes_of_every_image_type_are_read_back() {
    let setup = with_images(1);
    let queue = setup.queue(0, QueueProperties::empty());
    for (kind, region) in [
        (ImageType::Image1d, [3, 1, 1]),
        (ImageType::Image1dArray, [3, 2, 1]),
        (ImageType::Image2d, [3, 2, 1]),
        (ImageType::Image2dArray, [3, 2, 2]),
        (ImageType::Image3d, [3, 2, 2]),
    ] {
        let image = create_image(&setup, BYTE, &desc(kind, [5, 3, 3]));
        let count = region.iter().product::<u64>() as usize;
        let bytes: Vec<u8> = (1..=count as u8).collect();
        let origin = region.map(|size| u64::from(size != 1));
        write(&queue, &image, origin, region, &bytes);
        assert_eq!(read(&queue, &image, origin, region), bytes, "{kind:?}");
        // The elements around the box are unchanged.
        let whole = read(&queue, &image, [0; 3], region.map(|size| if size == 1 { 1 } else { size + 1 }));
        assert_eq!(whole.iter().filter(|&&byte| byte == 0xcd).count(), whole.len() - count, "{kind:?}");
    }
}

#[test]
fn fills_write_only_their_box() {
    let setup = with_images(1);
    let queue = setup.queue(0, QueueProperties::empty());
    let image = create_image(&setup, BYTE, &desc(ImageType::Image2d, [4, 4, 1]));
    let fill = |value: u32, [x, y, z]: [u64; 3], region| {
        let color: Vec<u8> = [value; 4].iter().flat_map(|number| number.to_ne_bytes()).collect();
        queue.fill_image(&image, &color, ImageBox { origin: [x, y, z, 0], region }, &[]).expect("fill");
    };
    fill(1, [0; 3], [4, 4, 1]);
    fill(2, [1, 1, 0], [2, 2, 1]);
    assert_eq!(read(&queue, &image, [0; 3], [4, 4, 1]), [1, 1, 1, 1, 1, 2, 2, 1, 1, 2, 2, 1, 1, 1, 1, 1]);
}

#[test]
fn maps_write_back_what_was_mapped() {
    let setup = with_images(1);
    let queue = setup.queue(0, QueueProperties::empty());
    let image = create_image(&setup, BYTE, &desc(ImageType::Image2d, [4, 2, 1]));
    write(&queue, &image, [0; 3], [4, 2, 1], &[1, 2, 3, 4, 5, 6, 7, 8]);
    let object = MemObject::Image(image.clone());
    let half = |x| ImageBox { origin: [x, 0, 0, 0], region: [2, 2, 1] };
    let left = queue.map_image(&image, true, 1 | 2, half(0), &[]).expect("map");
    let right = queue.map_image(&image, true, 1 | 2, half(2), &[]).expect("map");
    assert_eq!((left.row_pitch, left.slice_pitch, right.address), (4, 0, left.address + 2));
    assert_eq!(name_of(queue.map_image(&image, true, 2, half(1), &[])), "CL_INVALID_OPERATION");
    assert_eq!(object.map_count(), 2);
    let region = setup.allocator.0.lock().clone().expect("region");
    assert_eq!(*region.0.lock(), [1, 2, 3, 4, 5, 6, 7, 8]);
    region.0.lock().fill(9);
    // This unmap does not write the other half, which has its own map.
    queue.unmap(&object, left.address, &[]).expect("unmap");
    assert_eq!(read(&queue, &image, [0; 3], [4, 2, 1]), [9, 9, 3, 4, 9, 9, 7, 8]);
    queue.unmap(&object, right.address, &[]).expect("unmap");
    assert_eq!(read(&queue, &image, [0; 3], [4, 2, 1]), [9; 8]);
    assert_eq!(object.map_count(), 0);
}

#[test]
fn image_contents_are_migrated_between_devices() {
    let setup = with_images(2);
    let (here, there) = (setup.queue(0, QueueProperties::empty()), setup.queue(1, QueueProperties::empty()));
    let image = create_image(&setup, BYTE, &desc(ImageType::Image2d, [4, 2, 1]));
    write(&here, &image, [0; 3], [4, 2, 1], &[1, 2, 3, 4, 5, 6, 7, 8]);
    // Writes a column. The bytes between its rows come from the other device.
    write(&there, &image, [1, 0, 0], [1, 2, 1], &[20, 60]);
    assert_eq!(read(&here, &image, [0; 3], [4, 2, 1]), [1, 20, 3, 4, 5, 60, 7, 8]);
    assert_eq!(read(&there, &image, [0; 3], [4, 2, 1]), [1, 20, 3, 4, 5, 60, 7, 8]);
}

#[test]
fn kernels_get_images_and_samplers() {
    let setup = with_images(1);
    let queue = setup.queue(0, QueueProperties::empty());
    let source = "kernel void f(read_only image2d_t a, write_only image2d_t b, sampler_t s) {}";
    let program = Program::with_source(&setup.context, source.to_owned());
    assert_eq!(name_of(program.build(None, "", None)), "CL_SUCCESS");
    let kernel = Kernel::new(&program, "f").expect("kernel");
    let image = create_image(&setup, RGBA8, &desc(ImageType::Image2d, [4, 2, 1]));
    let volume = create_image(&setup, RGBA8, &desc(ImageType::Image3d, [4, 2, 1]));
    let srgb = ImageFormat { order: order::S_RGBA, data_type: data_type::UNORM_INT8 };
    let only_read = create_image(&setup, srgb, &desc(ImageType::Image2d, [4, 2, 1]));
    let set = |index, image: &Arc<Image>| name_of(kernel.set_arg(index, ArgValue::Image(Arc::downgrade(image))));
    assert_eq!(set(0, &volume), "CL_INVALID_MEM_OBJECT");
    assert_eq!(set(0, &only_read), "CL_SUCCESS");
    if !queue.device().target().has_extension("cl_khr_srgb_image_writes") {
        assert_eq!(set(1, &only_read), "CL_INVALID_MEM_OBJECT", "the format cannot be written");
    }
    assert_eq!(set(0, &image), "CL_SUCCESS");
    assert_eq!(set(1, &image), "CL_SUCCESS");
    assert_eq!(set(2, &image), "CL_INVALID_ARG_VALUE");
    assert_eq!(name_of(kernel.set_arg(0, ArgValue::Null)), "CL_INVALID_MEM_OBJECT");
    let sampler = Sampler::new(&setup.context, 1, 0x1134, 0x1141).expect("sampler");
    assert_eq!(sampler.kernel_value(), 1 | 8 | 0x20);
    kernel.set_arg(2, ArgValue::Sampler(sampler.kernel_value())).expect("sampler");
    let range = NdRange { work_dim: 1, global_offset: None, global_size: Some(&[1]), local_size: None };
    queue.launch(CommandType::NdRangeKernel, &kernel, &range, &[]).expect("launch");
    queue.finish().expect("finish");
    let launches = setup.devices[0].launches.lock();
    let args = &launches.last().expect("a launch").args;
    assert!(matches!(&args[0], LaunchArg::Image(range, descriptor) if *descriptor == image.descriptor() && range.size == 32), "{args:?}");
    assert!(matches!(&args[2], LaunchArg::Value(word) if word[..] == 0x29_u32.to_le_bytes()), "{args:?}");
}

#[test]
fn flags_are_inherited() {
    let setup = with_images(1);
    let make = |flags: MemFlags, source: &Arc<Image>, format| {
        let form = ImageDesc { source: Some(MemObject::Image(source.clone())), ..desc(ImageType::Image2d, [4, 2, 1]) };
        Image::new(&setup.context, None, flags.bits(), Some(format), Some(&form), None)
    };
    let format = ImageFormat { order: order::RGBA, data_type: data_type::UNORM_INT8 };
    let srgb = ImageFormat { order: order::S_RGBA, ..format };
    let form = desc(ImageType::Image2d, [4, 2, 1]);
    let flags = MemFlags::READ_ONLY | MemFlags::HOST_READ_ONLY;
    let image = Image::new(&setup.context, None, flags.bits(), Some(format), Some(&form), None).expect("image");
    assert_eq!(make(MemFlags::empty(), &image, srgb).expect("view").flags(), flags);
    assert_eq!(name_of(make(MemFlags::READ_WRITE, &image, srgb)), "CL_INVALID_VALUE");
    assert_eq!(name_of(make(MemFlags::HOST_WRITE_ONLY, &image, srgb)), "CL_INVALID_VALUE");
    assert_eq!(name_of(make(MemFlags::empty(), &image, format)), "CL_INVALID_IMAGE_FORMAT_DESCRIPTOR");
}
