//! Decides whether a launch is captured, and describes it.

use std::path::PathBuf;
use std::sync::Arc;

use wgcl_compiler::image::{ImageFormat, SamplerWord};
use wgcl_compiler::ir::KernelParam;
use wgcl_compiler::program::{ArgInfo, parse_options};
use wgcl_compiler::spirv::specialisation_constants;

use super::{Capture, CapturedMemory};
use crate::backend::CopyRegion;
use crate::commands::command::{Argument, KernelLaunch, Operation, PendingCommand};
use crate::image::Image;
use crate::image::image_type::ImageType;
use crate::objects::kernel::Kernel;
use crate::objects::memory::Buffer;
use crate::objects::program::binary::{SpirvModule, Unit};
use crate::objects::program::executable::Executable;
use crate::objects::queue::Queue;
use crate::observe::capture;
use crate::observe::capture::record::{
    ArgumentRecord, ConstantRecord, MemoryRecord, Record, UnitRecord, ValueRecord, hex, include_path, value_text,
};
use crate::options::Options;
use crate::types::error::Error;
use crate::types::nd_range::NdRange;
use crate::types::rect::{self, Rect};

/// Why a launch is not captured.
#[derive(Debug, thiserror::Error)]
enum Refusal {
    #[error("the kernel enqueues kernels")]
    EnqueuesKernels,
    #[error("the kernel uses pointers in memory (clSetKernelExecInfo); their values are different in a replay")]
    PointersInMemory,
    #[error("argument `{0}` is a pipe")]
    Pipe(String),
    #[error("argument `{0}` is a queue")]
    Queue(String),
    #[error("argument `{0}` points to system memory, whose size is not known; use a memory object")]
    SystemMemory(String),
    #[error("argument `{0}` shares its memory with another argument, and one of them is an image")]
    SharedImage(String),
    #[error("argument `{0}`: the notation of images has no name for the format {1:?}")]
    ImageFormat(String, ImageFormat),
    #[error("argument `{0}` is a multisample image, which only OpenGL can create")]
    Multisample(String),
    #[error("the program has no source")]
    NoSource,
    #[error(transparent)]
    Api(#[from] Error),
}

type Result<T> = std::result::Result<T, Refusal>;

/// Adds a capture to the command of a launch, if `WGCL_CAPTURE` selects the launch.
pub(crate) fn add(queue: &Queue, kernel: &Kernel, range: &NdRange<'_>, command: &mut PendingCommand) {
    let (Some(option), Operation::Launch(launch)) = (&Options::get().capture, &command.operation) else { return };
    let Some(number) = capture::select(kernel.function()) else { return };
    match describe(queue, kernel, range, launch, number) {
        Ok((record, memory)) => command.capture = Some(Box::new(Capture { directory: option.directory.clone(), record, memory })),
        Err(error) => capture::report_failure(kernel.function(), number, &error),
    }
}

fn describe(
    queue: &Queue,
    kernel: &Kernel,
    range: &NdRange<'_>,
    launch: &KernelLaunch,
    number: u64,
) -> Result<(Record, Vec<CapturedMemory>)> {
    if launch.enqueues_from.is_some() {
        return Err(Refusal::EnqueuesKernels);
    }
    if !launch.extra.is_empty() {
        return Err(Refusal::PointersInMemory);
    }
    let device = queue.device();
    let (executable, info) = kernel.definition_on(device)?;
    let dimensions = launch.work_dim as usize;
    let sizes = |list: &[u64]| list.iter().take(dimensions).copied().collect::<Vec<_>>();
    let mut record = Record::new(&launch.kernel, number);
    device.name().clone_into(&mut record.device);
    record.driver = device.driver_version();
    record.offset = sizes(&launch.global_offset);
    record.global = sizes(&launch.global_size);
    record.local = range.local_size.map(|list| list.iter().take(dimensions).map(|&size| size as u64).collect());
    record.chosen_local = sizes(&launch.local_size.map(u64::from));
    record.program_variables = executable.compiled.global_variable_size;
    add_units(&mut record, queue, kernel, executable)?;
    let mut objects = Objects { device_index: queue.device_index(), known: Vec::new(), memory: Vec::new() };
    for (info, argument) in info.args.iter().zip(&launch.args) {
        let value = objects.value(info, argument, &mut record.memory)?;
        record.arguments.push(ArgumentRecord { name: info.name.clone(), type_name: info.type_name.clone(), value });
    }
    Ok((record, objects.memory))
}

/// The memory objects of a launch.
struct Objects {
    device_index: usize,
    /// The identity of the store of each object, and whether the object is an image.
    known: Vec<(u32, bool)>,
    memory: Vec<CapturedMemory>,
}

impl Objects {
    fn value(&mut self, info: &ArgInfo, argument: &Argument, records: &mut Vec<MemoryRecord>) -> Result<ValueRecord> {
        let name = &info.name;
        if info.packet.is_some() {
            return Err(Refusal::Pipe(name.clone()));
        }
        if info.is_queue {
            return Err(Refusal::Queue(name.clone()));
        }
        Ok(match argument {
            Argument::Value(bytes) if info.passing == KernelParam::Sampler => ValueRecord::Sampler { sampler: sampler_text(bytes) },
            Argument::Value(bytes) => ValueRecord::Value { bytes: hex(bytes), value: value_text(&info.type_name, bytes) },
            Argument::Buffer(None) => ValueRecord::Null,
            Argument::Local(size) => ValueRecord::Local { size: *size },
            Argument::Buffer(Some(buffer)) => {
                let memory = self.buffer(name, buffer, records)?;
                ValueRecord::Buffer { memory, offset: buffer.origin(), size: buffer.size() }
            }
            Argument::Svm(buffer, start) => {
                let memory = self.buffer(name, buffer, records)?;
                let size = buffer.size().saturating_sub(*start);
                ValueRecord::Buffer { memory, offset: buffer.origin() + start, size }
            }
            Argument::Image(image) => ValueRecord::Image { memory: self.image(name, image, records)? },
            Argument::Address(_) => return Err(Refusal::SystemMemory(name.clone())),
        })
    }

    /// Returns the index of the object with this store. Returns `None` if it is new.
    fn find(&self, name: &str, identity: u32, is_image: bool) -> Result<Option<usize>> {
        let Some(index) = self.known.iter().position(|(known, _)| *known == identity) else { return Ok(None) };
        let is_same = self.known.get(index).is_some_and(|(_, known)| *known == is_image && !is_image);
        if is_same { Ok(Some(index)) } else { Err(Refusal::SharedImage(name.to_owned())) }
    }

    fn add(&mut self, buffer: &Buffer, is_image: bool, regions: Vec<CopyRegion>) -> Result<u64> {
        let size = regions.iter().map(|region| region.host + region.size).max().unwrap_or(0);
        let bytes = usize::try_from(size).map_err(|_| Error::OutOfHostMemory(format!("{size} bytes exceed the address space").into()))?;
        self.known.push((buffer.store().identity(), is_image));
        self.memory.push(CapturedMemory { memory: buffer.store().memory(self.device_index)?, regions, size: bytes });
        Ok(size)
    }

    /// Adds the whole store of a buffer, because other arguments may be other sub-buffers.
    fn buffer(&mut self, name: &str, buffer: &Buffer, records: &mut Vec<MemoryRecord>) -> Result<usize> {
        let store = buffer.store();
        if let Some(index) = self.find(name, store.identity(), false)? {
            return Ok(index);
        }
        let size = self.add(buffer, false, vec![CopyRegion { buffer: 0, host: 0, size: store.size() }])?;
        records.push(MemoryRecord { size, image: None });
        Ok(records.len() - 1)
    }

    /// Adds an image. Two arguments cannot share an image, because a replay creates one image for each argument.
    fn image(&mut self, name: &str, image: &Arc<Image>, records: &mut Vec<MemoryRecord>) -> Result<usize> {
        if image.samples() != 0 {
            return Err(Refusal::Multisample(name.to_owned()));
        }
        let buffer = image.buffer();
        self.find(name, buffer.store().identity(), true)?;
        let (text, regions) = image_layout(name, image)?;
        let size = self.add(buffer, true, regions)?;
        records.push(MemoryRecord { size, image: Some(text) });
        Ok(records.len() - 1)
    }
}

/// Returns the properties of an image in the notation of `wgclc run`, and its regions in memory. The captured contents
/// have no padding.
fn image_layout(argument: &str, image: &Image) -> Result<(String, Vec<CopyRegion>)> {
    let kind = image.image_type();
    let (name, sizes, level_place) = match kind {
        ImageType::Image1d => ("image1d", vec![image.width()], 1),
        ImageType::Image1dBuffer => ("image1d_buffer", vec![image.width()], 1),
        ImageType::Image1dArray => ("image1d_array", vec![image.width(), image.array_size()], 2),
        ImageType::Image2d => ("image2d", vec![image.width(), image.height()], 2),
        ImageType::Image2dArray => ("image2d_array", vec![image.width(), image.height(), image.array_size()], 3),
        ImageType::Image3d => ("image3d", vec![image.width(), image.height(), image.depth()], 3),
    };
    let format = image.format();
    let names = order_name(format.order).zip(type_name(format.data_type));
    let (order, data_type) = names.ok_or_else(|| Refusal::ImageFormat(argument.to_owned(), format))?;
    let extent: Vec<String> = sizes.iter().map(u64::to_string).collect();
    let levels = image.mip_levels().max(1);
    let levels_text = if levels > 1 { format!(" levels {levels}") } else { String::new() };
    let mut regions = Vec::new();
    let mut at = 0;
    for level in 0..levels {
        let size_of = |dimension: usize| {
            let size = sizes.get(dimension).copied().unwrap_or(1);
            let is_layers = kind.is_array() && dimension + 1 == sizes.len();
            if is_layers { size } else { size.checked_shr(level).unwrap_or(0).max(1) }
        };
        let mut origin = [0; 4];
        if levels > 1
            && let Some(place) = origin.get_mut(level_place)
        {
            *place = u64::from(level);
        }
        let place = image.rect(origin, [size_of(0), size_of(1), size_of(2)])?;
        let [width, height, depth] = place.region;
        let packed = Rect::unchecked([0; 3], place.region, width, width * height)?;
        regions.extend(rect::pieces(&place, image.buffer().origin(), &packed, at));
        at += width * height * depth;
    }
    Ok((format!("{name} {} {order} {data_type}{levels_text}", extent.join("x")), regions))
}

/// The name of a channel order without `CL_`.
fn order_name(order: u16) -> Option<&'static str> {
    const NAMES: [&str; 20] = [
        "R",
        "A",
        "RG",
        "RA",
        "RGB",
        "RGBA",
        "BGRA",
        "ARGB",
        "INTENSITY",
        "LUMINANCE",
        "Rx",
        "RGx",
        "RGBx",
        "DEPTH",
        "DEPTH_STENCIL",
        "sRGB",
        "sRGBx",
        "sRGBA",
        "sBGRA",
        "ABGR",
    ];
    NAMES.get(usize::from(order.checked_sub(crate::image::format::order::R)?)).copied()
}

/// The name of a channel type without `CL_`.
fn type_name(data_type: u16) -> Option<&'static str> {
    use crate::image::format::data_type::{SNORM_INT8, UNORM_INT_2_101010, UNORM_INT_101010_2};
    const NAMES: [&str; 15] = [
        "SNORM_INT8",
        "SNORM_INT16",
        "UNORM_INT8",
        "UNORM_INT16",
        "UNORM_SHORT_565",
        "UNORM_SHORT_555",
        "UNORM_INT_101010",
        "SIGNED_INT8",
        "SIGNED_INT16",
        "SIGNED_INT32",
        "UNSIGNED_INT8",
        "UNSIGNED_INT16",
        "UNSIGNED_INT32",
        "HALF_FLOAT",
        "FLOAT",
    ];
    match data_type {
        UNORM_INT_101010_2 => Some("UNORM_INT_101010_2"),
        UNORM_INT_2_101010 => Some("UNORM_INT_2_101010"),
        _ => NAMES.get(usize::from(data_type.checked_sub(SNORM_INT8)?)).copied(),
    }
}

/// Returns a sampler in the notation of `wgclc run`.
fn sampler_text(bytes: &[u8]) -> String {
    let word = bytes.try_into().map_or(0, u32::from_le_bytes);
    let sampler = SamplerWord::from_bits(word);
    let coordinates = if sampler.normalized { "normalized" } else { "unnormalized" };
    let addressing = match sampler.addressing {
        0 => "none",
        1 => "clamp_to_edge",
        2 => "clamp",
        3 => "repeat",
        _ => "mirrored_repeat",
    };
    let filter = |linear| if linear { "linear" } else { "nearest" };
    let mut text = format!("{coordinates} {addressing} {}", filter(sampler.linear));
    if sampler.mip_linear || sampler.lods != (0.0, f32::MAX) {
        let (least, most) = sampler.lods;
        text.push_str(&format!(" mip_{} {least}..{most}", filter(sampler.mip_linear)));
    }
    text
}

/// Adds the translation units of the program and the files that they include.
fn add_units(record: &mut Record, queue: &Queue, kernel: &Kernel, executable: &Executable) -> Result<()> {
    let program = kernel.program();
    let build = queue.device().with_ancestors().find_map(|device| program.build_of(device).ok().filter(|build| build.object.is_some()));
    let object = build.and_then(|build| build.object).ok_or(Refusal::NoSource)?;
    let is_single = object.units.len() == 1;
    for (index, unit) in object.units.iter().enumerate() {
        let suffix = if index == 0 { String::new() } else { format!("-{}", index + 1) };
        let (file, contents, constants) = match &unit.module {
            Some(module) => (format!("module{suffix}.spv"), module.bytes(), constants(module)),
            None => (format!("source{suffix}.cl"), unit.source.clone().into_bytes(), Vec::new()),
        };
        let folder = format!("include{suffix}");
        let headers = included(unit, executable, is_single);
        let include = (!headers.is_empty()).then(|| folder.clone());
        record.units.push(UnitRecord { file: file.clone(), include, options: unit.options.clone(), constants });
        record.files.push((PathBuf::from(file), contents));
        record.files.extend(headers.into_iter().map(|(path, text)| (PathBuf::from(&folder).join(path), text)));
    }
    Ok(())
}

/// Returns the values that the application set for specialisation constants.
fn constants(module: &SpirvModule) -> Vec<ConstantRecord> {
    let sizes = specialisation_constants(&module.words);
    let value = |(number, size): (u32, usize)| {
        let value = module.specialisation.get(&number)?.to_le_bytes();
        Some(ConstantRecord { number, bytes: hex(value.get(..size)?) })
    };
    sizes.into_iter().filter_map(value).collect()
}

/// Returns the files that a unit includes. Only headers that the application passed are known for linked programs.
fn included(unit: &Unit, executable: &Executable, is_single: bool) -> Vec<(PathBuf, Vec<u8>)> {
    let given = unit.headers.iter().map(|(name, text)| (PathBuf::from(name), text.clone().into_bytes()));
    let mut files: Vec<(PathBuf, Vec<u8>)> = given.collect();
    let Some(sources) = executable.compiled.sources.as_ref().filter(|_| is_single && unit.module.is_none()) else { return files };
    let directories = parse_options(&unit.options).map(|options| options.include_dirs).unwrap_or_default();
    for file in sources.files().iter().skip(1) {
        if let Some(path) = include_path(file.name(), &directories)
            && files.iter().all(|(known, _)| *known != path)
        {
            files.push((path, file.text().as_str().as_bytes().to_vec()));
        }
    }
    files
}

#[cfg(test)]
mod tests {
    use wgcl_compiler::image::SamplerWord;

    use super::{order_name, sampler_text, type_name};

    #[test]
    fn samplers_have_the_notation_of_wgclc() {
        let plain = SamplerWord { normalized: true, addressing: 3, linear: true, mip_linear: false, lods: (0.0, f32::MAX) };
        assert_eq!(sampler_text(&plain.bits().to_le_bytes()), "normalized repeat linear");
        let levels = SamplerWord { normalized: false, addressing: 2, linear: false, mip_linear: true, lods: (0.5, 2.0) };
        assert_eq!(sampler_text(&levels.bits().to_le_bytes()), "unnormalized clamp nearest mip_linear 0.5..2");
    }

    #[test]
    fn formats_have_names() {
        use crate::image::format::{data_type, order};
        assert_eq!((order_name(order::RGBA), order_name(order::ABGR), order_name(0)), (Some("RGBA"), Some("ABGR"), None));
        assert_eq!((type_name(data_type::FLOAT), type_name(data_type::UNORM_INT24)), (Some("FLOAT"), None));
    }
}
