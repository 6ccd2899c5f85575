//! Images: memory objects with an image descriptor, and the layout of their elements (OpenCL API 5.3).
//!
//! The elements of an image are in a buffer, row after row, in the image's own format, as `wgcl_compiler::image`
//! describes for kernels. The buffer is internal, or belongs to the memory object that the application
//! passed. Commands on images are transfers of boxes of that buffer ([`crate::commands::image_transfer`]).

pub mod extent;
pub mod fill_color;
pub mod format;
pub mod image_type;
pub mod requirements;

use std::sync::{Arc, OnceLock};

use wgcl_compiler::image::{ImageDescriptor, ImageFormat};

use crate::image::extent::{ImageExtent, MAX_LEVELS, Origin};
use crate::image::format::FormatUse;
use crate::image::image_type::ImageType;
use crate::objects::context::Context;
use crate::objects::device::ImageLimits;
use crate::objects::memory::{Buffer, HostData, MemFlags};
use crate::objects::pipe::Pipe;
use crate::types::callback;
use crate::types::callback::Notify;
use crate::types::error::{Error, Result, ensure};
use crate::types::object::{Destructors, HandleSlot, Object};
use crate::types::rect::Rect;

/// A memory object, the target of a cl_mem.
#[derive(Clone, Debug)]
pub enum MemObject {
    /// A buffer or sub-buffer.
    Buffer(Arc<Buffer>),
    Image(Arc<Image>),
    Pipe(Arc<Pipe>),
}

impl MemObject {
    /// The context in which the object was created.
    pub fn context(&self) -> &Arc<Context> {
        match self {
            Self::Buffer(buffer) => buffer.context(),
            Self::Image(image) => image.context(),
            Self::Pipe(pipe) => pipe.buffer().context(),
        }
    }

    /// The buffer that contains the data of the object.
    pub fn buffer(&self) -> &Arc<Buffer> {
        match self {
            Self::Buffer(buffer) => buffer,
            Self::Image(image) => image.buffer(),
            Self::Pipe(pipe) => pipe.buffer(),
        }
    }

    /// The size of the object in bytes.
    pub fn size(&self) -> u64 {
        match self {
            Self::Buffer(buffer) => buffer.size(),
            Self::Image(image) => image.size(),
            Self::Pipe(pipe) => pipe.buffer().size(),
        }
    }

    /// CL_MEM_FLAGS
    pub fn flags(&self) -> MemFlags {
        match self {
            Self::Buffer(buffer) => buffer.flags(),
            Self::Image(image) => image.flags(),
            Self::Pipe(pipe) => pipe.buffer().flags(),
        }
    }

    /// clSetMemObjectDestructorCallback
    pub fn on_destruction(&self, job: callback::Job) {
        match self {
            Self::Buffer(buffer) => buffer.on_destruction(job),
            Self::Image(image) => image.destructors.push(job),
            Self::Pipe(pipe) => pipe.buffer().on_destruction(job),
        }
    }

    /// Whether the destruction of the object calls a callback.
    fn has_destructors(&self) -> bool {
        match self {
            Self::Buffer(buffer) => buffer.has_destructors(),
            Self::Image(image) => !image.destructors.is_empty() || image.source.as_ref().is_some_and(Self::has_destructors),
            Self::Pipe(pipe) => pipe.buffer().has_destructors(),
        }
    }

    /// Records that the application has released its last reference. If the object has destructor callbacks, flushes
    /// all devices. A callback runs after the commands that use the object, and the application may wait for the
    /// callback.
    pub fn on_release(&self) {
        if let Self::Buffer(buffer) = self {
            buffer.check_release();
        }
        if self.has_destructors() {
            self.context().devices().iter().for_each(|device| device.backend().flush());
        }
    }

    /// Returns a value that distinguishes maps of this object from maps of other objects with the same memory.
    pub(crate) fn identity(&self) -> usize {
        match self {
            Self::Buffer(buffer) => Arc::as_ptr(buffer).addr(),
            Self::Image(image) => Arc::as_ptr(image).addr(),
            Self::Pipe(pipe) => Arc::as_ptr(pipe).addr(),
        }
    }
}

/// cl_image_desc
#[derive(Clone, Debug, Default)]
pub struct ImageDesc {
    /// image_type, with the value of the C API
    pub image_type: u32,
    /// Elements of a row.
    pub width: u64,
    /// Rows of a slice, or 1.
    pub height: u64,
    /// Slices of a volume, or 1.
    pub depth: u64,
    /// Images of an array.
    pub array_size: u64,
    /// In bytes; 0 selects the default pitch.
    pub row_pitch: u64,
    /// In bytes; 0 selects the default pitch.
    pub slice_pitch: u64,
    /// Levels of a mipmapped image; 0 and 1 mean that the image is not mipmapped.
    pub num_mip_levels: u32,
    /// Must be 0.
    pub num_samples: u32,
    /// The number of samples of each element of a multisample image. Only [`Image::from_graphics`] creates such images.
    /// 0 for other images.
    pub graphics_samples: u32,
    /// The `mem_object` of cl_image_desc.
    pub source: Option<MemObject>,
}

/// Creates the contents of a new image from the application's memory, given its size in bytes. The flags determine
/// whether they are copied or used in place.
pub type HostImage<'a> = &'a dyn Fn(MemFlags, u64) -> Result<HostData>;

/// An image object (a cl_mem).
#[derive(Debug)]
pub struct Image {
    slot: HandleSlot,
    context: Arc<Context>,
    flags: MemFlags,
    format: ImageFormat,
    shape: ImageExtent,
    size: u64,
    descriptor: ImageDescriptor,
    /// The requested number of mip levels (CL_IMAGE_NUM_MIP_LEVELS).
    mip_levels: u32,
    property_list: Option<Vec<u64>>,
    /// CL_IMAGE_FORMAT, if it is not `format` ([`crate::objects::graphics::GraphicsFormat`]).
    reported_format: OnceLock<ImageFormat>,
    buffer: Arc<Buffer>,
    /// Dropped after `buffer`, so that callbacks run when the memory is free.
    destructors: Destructors,
    /// Dropped last: the memory of an image is that of its source, which outlives the image.
    source: Option<MemObject>,
}

impl Object for Image {
    fn handle_slot(&self) -> &HandleSlot {
        &self.slot
    }

    fn listener(&self) -> Option<&Notify> {
        self.context.listener()
    }
}

impl Image {
    /// clCreateImageWithProperties. `format` and `desc` are `None` for null pointers, as is `host`.
    ///
    /// # Errors
    /// The errors of the specification, checked in its order.
    pub fn new(
        context: &Arc<Context>,
        property_list: Option<Vec<u64>>,
        flags: u64,
        format: Option<ImageFormat>,
        desc: Option<&ImageDesc>,
        host: Option<HostImage<'_>>,
    ) -> Result<Arc<Self>> {
        // "CL_INVALID_OPERATION if there are no devices in context that support images."
        check_support(context)?;
        // "CL_INVALID_PROPERTY if a property name in properties is not a supported property name." OpenCL defines no
        // properties of images, so only the terminating 0 is valid.
        ensure!(property_list.as_ref().is_none_or(|list| list.len() <= 1), InvalidProperty, "the property list of an image must be empty");
        // "CL_INVALID_VALUE if values specified in flags are not valid."
        let flags = MemFlags::parse(flags)?;
        let source = desc.and_then(|desc| desc.source.as_ref());
        match source {
            Some(source) => {
                flags.check_inheritance(source.flags())?;
                // "CL_INVALID_VALUE ... if CL_MEM_IMMUTABLE_EXT is not set in flags and mem_object was created with
                // CL_MEM_IMMUTABLE_EXT."
                let stays_immutable = flags.contains(MemFlags::IMMUTABLE) || !source.flags().contains(MemFlags::IMMUTABLE);
                ensure!(stays_immutable, InvalidValue, "CL_MEM_IMMUTABLE_EXT is required, because the memory object is immutable");
            }
            None => flags.check_contents()?,
        }
        // "CL_INVALID_IMAGE_FORMAT_DESCRIPTOR if values specified in image_format are not valid or if image_format is
        // NULL."
        let format = format.ok_or_else(|| Error::InvalidImageFormatDescriptor("the image format is null".into()))?;
        let element = format::element_size(format).ok_or_else(|| {
            Error::InvalidImageFormatDescriptor(
                format!("channel order {:#x} with channel type {:#x} is not a valid image format", format.order, format.data_type).into(),
            )
        })?;
        // "CL_INVALID_IMAGE_DESCRIPTOR if values specified in image_desc are not valid or if image_desc is NULL."
        let desc = desc.ok_or_else(|| Error::InvalidImageDescriptor("the image description is null".into()))?;
        let kind = kind_of(desc)?;
        check_source_type(desc, kind)?;
        let shape = shape(context, (desc, kind), u64::from(element), host.is_some())?;
        check_levels(&shape, flags, host.is_some())?;
        let size = shape.size().ok_or_else(|| Error::InvalidImageSize("the image is too large".into()))?;
        if let Some(source) = source {
            check_source(context, source, format, &shape, size)?;
        }
        // "CL_INVALID_HOST_PTR if host_ptr is NULL and CL_MEM_USE_HOST_PTR or CL_MEM_COPY_HOST_PTR are set in flags
        // or if host_ptr is not NULL but [neither is]."
        let requires_pointer = flags.intersects(MemFlags::USE_HOST_PTR | MemFlags::COPY_HOST_PTR);
        let is_missing = requires_pointer && host.is_none();
        ensure!(!is_missing, InvalidHostPtr, "the host pointer is null, but the flags require it");
        ensure!(requires_pointer || host.is_none(), InvalidHostPtr, "the host pointer is not null, but the flags do not permit it");
        // "CL_IMAGE_FORMAT_NOT_SUPPORTED if there are no devices in context that support image_format." clSetKernelArg
        // checks whether a kernel can read or write the image.
        let any = |purpose| context.devices().iter().any(|device| format::is_supported(device.target(), shape.kind, purpose, format));
        ensure!(
            any(FormatUse::Read) || any(FormatUse::Write),
            ImageFormatNotSupported,
            "the image format with channel order {:#x} and channel type {:#x} is not supported",
            format.order,
            format.data_type
        );
        let flags = match source {
            Some(source) => flags.inherited(source.flags()),
            None => flags.or_default(),
        };
        let (buffer, descriptor) = match source {
            Some(source) => (source.buffer().clone(), descriptor(&shape, format)?),
            None => {
                // "CL_MEM_OBJECT_ALLOCATION_FAILURE if there is a failure to allocate memory for the image object."
                let limit = context.devices().iter().map(|device| device.properties().max_allocation).max().unwrap_or(0);
                ensure!(size <= limit, MemObjectAllocationFailure, "the image needs {size} bytes; the limit is {limit}");
                let descriptor = descriptor(&shape, format)?;
                let data = host.map_or(Ok(HostData::None), |host| host(flags, size))?;
                (Buffer::new(context, flags, size, data, None)?, descriptor)
            }
        };
        Ok(Arc::new(Self {
            slot: HandleSlot::default(),
            context: context.clone(),
            flags,
            format,
            shape,
            size,
            descriptor,
            mip_levels: desc.num_mip_levels,
            property_list,
            reported_format: OnceLock::new(),
            source: source.cloned(),
            buffer,
            destructors: Destructors::default(),
        }))
    }

    /// The context in which the object was created.
    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// CL_MEM_FLAGS
    pub fn flags(&self) -> MemFlags {
        self.flags
    }

    /// CL_MEM_TYPE
    pub fn image_type(&self) -> ImageType {
        self.shape.kind
    }

    /// CL_IMAGE_FORMAT
    pub fn reported_format(&self) -> ImageFormat {
        self.reported_format.get().copied().unwrap_or(self.format)
    }

    /// Sets the result of [`Self::reported_format`].
    pub(crate) fn report_format(&self, format: ImageFormat) {
        // The cell is empty, because only the creation of the image calls this function.
        let _ = self.reported_format.set(format);
    }

    /// The format of the elements in memory.
    pub fn format(&self) -> ImageFormat {
        self.format
    }

    /// CL_IMAGE_ELEMENT_SIZE
    pub fn element_size(&self) -> u64 {
        self.shape.element
    }

    /// CL_MEM_SIZE
    pub fn size(&self) -> u64 {
        self.size
    }

    /// CL_IMAGE_WIDTH
    pub fn width(&self) -> u64 {
        self.shape.extent[0]
    }

    /// CL_IMAGE_HEIGHT: 0 for images of one dimension.
    pub fn height(&self) -> u64 {
        if self.shape.kind.has_height() { self.shape.extent[1] } else { 0 }
    }

    /// CL_IMAGE_DEPTH: 0 for all but images of three dimensions.
    pub fn depth(&self) -> u64 {
        if self.shape.kind == ImageType::Image3d { self.shape.extent[2] } else { 0 }
    }

    /// CL_IMAGE_ARRAY_SIZE: 0 unless the image is an array.
    pub fn array_size(&self) -> u64 {
        match self.shape.kind {
            ImageType::Image1dArray => self.shape.extent[1],
            ImageType::Image2dArray => self.shape.extent[2] / u64::from(self.shape.samples.max(1)),
            _ => 0,
        }
    }

    /// CL_IMAGE_NUM_SAMPLES: 0 if the image is not a multisample image.
    pub fn samples(&self) -> u32 {
        self.shape.samples
    }

    /// CL_IMAGE_ROW_PITCH
    pub fn row_pitch(&self) -> u64 {
        self.shape.row_pitch
    }

    /// CL_IMAGE_SLICE_PITCH: 0 for images without slices.
    pub fn slice_pitch(&self) -> u64 {
        self.shape.slice_pitch
    }

    /// CL_IMAGE_NUM_MIP_LEVELS: the number that the application requested.
    pub fn mip_levels(&self) -> u32 {
        self.mip_levels
    }

    /// CL_MEM_ASSOCIATED_MEMOBJECT
    pub fn source(&self) -> Option<&MemObject> {
        self.source.as_ref()
    }

    /// CL_MEM_PROPERTIES
    pub fn property_list(&self) -> Option<&[u64]> {
        self.property_list.as_deref()
    }

    /// CL_MEM_HOST_PTR
    pub fn host_pointer(&self) -> usize {
        self.buffer.host_pointer()
    }

    /// The buffer that contains the elements. The image begins at its first byte.
    pub fn buffer(&self) -> &Arc<Buffer> {
        &self.buffer
    }

    /// The descriptor that kernels receive.
    pub fn descriptor(&self) -> ImageDescriptor {
        ImageDescriptor { format: self.reported_format(), ..self.descriptor }
    }

    /// The number of components of an origin that a command uses. For mipmapped 3D images and 2D image arrays, the
    /// fourth component is the mip level.
    pub fn origin_elements(&self) -> usize {
        if self.shape.levels > 1 && matches!(self.shape.kind, ImageType::Image2dArray | ImageType::Image3d) { 4 } else { 3 }
    }

    /// Returns the location of a box of elements in the buffer. In dimensions that the image does not have, the box
    /// begins at 0 and has the size 1.
    ///
    /// # Errors
    /// If the box is empty or out of bounds, or if the level does not exist.
    pub fn rect(&self, origin: Origin, region: [u64; 3]) -> Result<Rect> {
        let (level, [x, y, z]) = self.shape.locate(origin)?;
        let (begin, shape) = self.shape.level(level);
        // "CL_INVALID_VALUE if the region being read or written specified by origin and region is out of bounds" or
        // if they "do not follow the rules described in the argument description".
        let at = [x, y, z];
        let inside = (0..3).all(|dim| region[dim] != 0 && at[dim].checked_add(region[dim]).is_some_and(|end| end <= shape.extent[dim]));
        ensure!(inside, InvalidValue, "the region {region:?} at origin {origin:?} is empty or exceeds the image's size {:?}", shape.extent);
        let [row, slice] = shape.strides();
        let element = shape.element;
        Rect::unchecked([begin + x * element, y, z], [region[0] * element, region[1], region[2]], row, slice)
    }

    /// The row pitch and the slice pitch of the level that an origin names. The slice pitch is 0 for images without
    /// slices.
    ///
    /// # Errors
    /// If the level does not exist.
    pub fn pitches(&self, origin: Origin) -> Result<(u64, u64)> {
        let (level, _) = self.shape.locate(origin)?;
        let (_, shape) = self.shape.level(level);
        Ok((shape.row_pitch, shape.slice_pitch))
    }

    /// Returns the layout of a box of elements in the application's memory. The box starts at offset 0.
    ///
    /// # Errors
    /// If a pitch is not valid, or if the region is too large.
    pub fn host_rect(&self, region: [u64; 3], row_pitch: u64, slice_pitch: u64) -> Result<Rect> {
        let too_large = || Error::InvalidValue(format!("the region {region:?} is too large").into());
        let width = region[0].checked_mul(self.shape.element).ok_or_else(too_large)?;
        // "This value must be greater than or equal to the element size in bytes × width."
        ensure!(row_pitch == 0 || row_pitch >= width, InvalidValue, "row pitch {row_pitch} is less than the row's {width} bytes");
        let row = if row_pitch == 0 { width } else { row_pitch };
        // "CL_INVALID_VALUE if image is a 1D or 2D image and slice_pitch or input_slice_pitch is not zero."
        ensure!(
            slice_pitch == 0 || self.shape.kind.has_slices(),
            InvalidValue,
            "slice pitch {slice_pitch}: it must be 0 for images without slices"
        );
        let rows = if self.shape.kind == ImageType::Image1dArray { 1 } else { region[1] };
        let min_slice_pitch = row.checked_mul(rows).ok_or_else(too_large)?;
        // "Otherwise this value must be greater than or equal to row_pitch × height."
        ensure!(
            slice_pitch == 0 || slice_pitch >= min_slice_pitch,
            InvalidValue,
            "slice pitch {slice_pitch} is less than the {min_slice_pitch} bytes of a slice"
        );
        let slice = if slice_pitch == 0 { min_slice_pitch } else { slice_pitch };
        // The images of a 1D array are treated as rows at a distance of the slice pitch.
        let (row, slice) = if self.shape.kind == ImageType::Image1dArray { (slice, 0) } else { (row, slice) };
        Rect::unchecked([0; 3], [width, region[1], region[2]], row, slice)
    }
}

/// "CL_INVALID_OPERATION if there are no devices in context that support images."
pub(crate) fn check_support(context: &Context) -> Result<()> {
    ensure!(
        context.devices().iter().any(|device| device.target().language.images),
        InvalidOperation,
        "no device of the context supports images"
    );
    Ok(())
}

/// Maximum width, height, depth and array size of an image type on a device. Dimensions that the type does not have are
/// 1.
pub(crate) fn max_size(limits: &ImageLimits, kind: ImageType) -> [u64; 4] {
    let array = if kind.is_array() { limits.array } else { 1 };
    match kind {
        ImageType::Image1dBuffer => [limits.buffer, 1, 1, 1],
        ImageType::Image3d => [limits.size_3d, limits.size_3d, limits.size_3d, 1],
        _ => [limits.size_2d, if kind.has_height() { limits.size_2d } else { 1 }, 1, array],
    }
}

/// Returns the image type of a description.
///
/// # Errors
/// If the type is unknown or `num_samples` is not 0.
pub(crate) fn kind_of(desc: &ImageDesc) -> Result<ImageType> {
    let kind = ImageType::from_raw(desc.image_type)
        .ok_or_else(|| Error::InvalidImageDescriptor(format!("image type {:#x} is unknown", desc.image_type).into()))?;
    ensure!(desc.num_samples == 0, InvalidImageDescriptor, "num_samples is {}: it must be 0", desc.num_samples);
    Ok(kind)
}

/// Checks that an image of that type can be created from the memory object of a description.
fn check_source_type(desc: &ImageDesc, kind: ImageType) -> Result<()> {
    // "mem_object can be a buffer memory object if image_type is CL_MEM_OBJECT_IMAGE1D_BUFFER or
    // CL_MEM_OBJECT_IMAGE2D, or any other image_type if the cl_ext_image_from_buffer extension is supported. [It] can
    // be an image object if image_type is CL_MEM_OBJECT_IMAGE2D. Otherwise it must be NULL."
    let is_valid = match (&desc.source, kind) {
        (None, kind) => kind != ImageType::Image1dBuffer,
        (Some(MemObject::Buffer(_)), _) => true,
        (Some(MemObject::Image(_)), kind) => kind == ImageType::Image2d,
        (Some(MemObject::Pipe(_)), _) => false,
    };
    ensure!(is_valid, InvalidImageDescriptor, "an image of type {kind} cannot be created from this memory object");
    Ok(())
}

/// Checks the dimensions and pitches of a description. Returns the extent, with default values for omitted pitches.
/// `has_host` is true if the application passed a host pointer.
pub(crate) fn shape(context: &Context, (desc, kind): (&ImageDesc, ImageType), element: u64, has_host: bool) -> Result<ImageExtent> {
    let from_buffer = matches!(desc.source, Some(MemObject::Buffer(_)));
    let used = |used: bool, value: u64| if used { value } else { 1 };
    let height = used(kind.has_height(), desc.height);
    let depth = used(kind == ImageType::Image3d, desc.depth);
    let array = used(kind.is_array(), desc.array_size);
    // "CL_INVALID_IMAGE_SIZE if the image dimensions specified in image_desc are not valid or exceed the maximum
    // image dimensions ... for all devices in context."
    let fits = context.devices().iter().filter(|device| device.target().language.images).any(|device| {
        let max_size = max_size(&device.image_limits(), kind);
        [desc.width, height, depth, array].iter().zip(max_size).all(|(size, max)| *size <= max)
    });
    let empty = desc.width == 0 || height == 0 || depth == 0 || array == 0;
    let size = || format!("image size {} x {height} x {depth}, {array} layers", desc.width);
    ensure!(!empty, InvalidImageSize, "{}: a dimension is 0", size());
    ensure!(fits, InvalidImageSize, "{}: the size exceeds the limits of every device", size());
    // "The image_row_pitch must be zero if host_ptr is NULL ... and the image is not a 2D image created from a buffer.
    // If image_row_pitch is not zero it must be ≥ image_width × size of element in bytes, and a multiple of [that]
    // size." The one row of a 1D image buffer may have any padding at its end. Drivers accept such padding, and the
    // conformance tests use it.
    let may_have_pitch = has_host || desc.source.is_some();
    let min_row_pitch = desc.width * element;
    let pitch_error = if from_buffer { Error::InvalidImageFormatDescriptor } else { Error::InvalidImageDescriptor };
    if desc.row_pitch != 0 {
        ensure!(
            may_have_pitch,
            InvalidImageDescriptor,
            "row pitch {}: it must be 0 without a host pointer or a memory object",
            desc.row_pitch
        );
        if desc.row_pitch < min_row_pitch || !desc.row_pitch.is_multiple_of(element) {
            return Err(pitch_error(
                format!("row pitch {}: it must be at least {min_row_pitch} and a multiple of {element}", desc.row_pitch).into(),
            ));
        }
    }
    let row_pitch = match &desc.source {
        _ if desc.row_pitch != 0 => desc.row_pitch,
        Some(MemObject::Image(image)) => image.shape.row_pitch,
        _ => min_row_pitch,
    };
    let too_large = || Error::InvalidImageSize(format!("{}: the image is too large", size()).into());
    let rows = row_pitch.checked_mul(height).ok_or_else(too_large)?;
    let slice_pitch = match (kind.has_slices(), desc.slice_pitch) {
        // The slice pitch of images without slices is ignored, as in other drivers.
        (false, _) => 0,
        (true, 0) => rows,
        (true, given) => {
            ensure!(may_have_pitch, InvalidImageDescriptor, "slice pitch {given}: it must be 0 without a host pointer or a memory object");
            // "The image slice pitch must be ≥ the image row pitch × image_height for a 2D image array or a 3D image,
            // must be ≥ the image row pitch for a 1D image array, and must be a multiple of the image row pitch."
            if given < rows || !given.is_multiple_of(row_pitch) {
                return Err(pitch_error(format!("slice pitch {given}: it must be at least {rows} and a multiple of {row_pitch}").into()));
            }
            given
        }
    };
    let samples = desc.graphics_samples;
    let layers = |count: u64| count.checked_mul(samples.max(1).into()).ok_or_else(too_large);
    let extent = match kind {
        ImageType::Image1dArray => [desc.width, array, 1],
        ImageType::Image2dArray => [desc.width, height, layers(array)?],
        _ => [desc.width, height, layers(depth)?],
    };
    // "Specifying num_mip_levels equal to either 0 or 1 creates an image with a single mipmap level."
    let levels = desc.num_mip_levels.max(1);
    ensure!(levels <= MAX_LEVELS, InvalidImageDescriptor, "num_mip_levels is {levels}: the limit is {MAX_LEVELS}");
    Ok(ImageExtent { kind, element, extent, row_pitch, slice_pitch, levels, samples })
}

/// Checks the requirements of mipmapped images ("Mipmap Images"). The specification does not define the error codes.
fn check_levels(shape: &ImageExtent, flags: MemFlags, has_host: bool) -> Result<()> {
    if shape.levels == 1 {
        return Ok(());
    }
    // "CL_MEM_USE_HOST_PTR or CL_MEM_COPY_HOST_PTR cannot be specified if a mipmapped image is created. The host_ptr
    // argument must be a NULL value."
    let host = has_host || flags.intersects(MemFlags::USE_HOST_PTR | MemFlags::COPY_HOST_PTR);
    ensure!(!host, InvalidHostPtr, "a mipmapped image cannot be created with a host pointer");
    // "Mip-mapped images cannot be created for CL_MEM_OBJECT_IMAGE1D_BUFFER images, depth images or multi-sampled
    // images." Mipmapped depth images are accepted nevertheless: OpenCL C has functions for them, and the conformance
    // tests create them.
    ensure!(
        shape.kind != ImageType::Image1dBuffer,
        InvalidImageDescriptor,
        "an image created from a buffer must have one mip level, not {}",
        shape.levels
    );
    Ok(())
}

/// Checks an image against the memory object that it is created from.
fn check_source(context: &Arc<Context>, source: &MemObject, format: ImageFormat, shape: &ImageExtent, size: u64) -> Result<()> {
    ensure!(Arc::ptr_eq(source.context(), context), InvalidContext, "the memory object belongs to another context");
    match source {
        MemObject::Buffer(buffer) => {
            // "the image_width × size of element in bytes must be ≤ size of the buffer object". The same applies to
            // image_row_pitch × image_height.
            ensure!(shape.levels == 1, InvalidImageDescriptor, "a mipmapped image cannot be created from a buffer");
            ensure!(size <= buffer.size(), InvalidImageSize, "the image needs {size} bytes; the buffer has {}", buffer.size());
            let aligned = context.devices().iter().any(|device| buffer.origin().is_multiple_of(device.base_alignment().into()));
            ensure!(
                aligned,
                InvalidImageFormatDescriptor,
                "the sub-buffer's origin {} is not a multiple of the base address alignment of any device",
                buffer.origin()
            );
        }
        MemObject::Image(image) => {
            // "All of the values specified in image_desc must match the image descriptor information associated with
            // mem_object."
            ensure!(*shape == image.shape, InvalidImageDescriptor, "the description differs from that of the source image");
            // The channel data type must be that of the source image, and the channel orders must be compatible.
            ensure!(
                format.data_type == image.format.data_type && format::compatible_orders(format.order, image.format.order),
                InvalidImageFormatDescriptor,
                "an image of channel order {:#x} cannot be created from one of channel order {:#x}",
                format.order,
                image.format.order
            );
        }
        MemObject::Pipe(_) => return Err(Error::InvalidImageDescriptor("an image cannot be created from a pipe".into())),
    }
    Ok(())
}

/// The descriptor that kernels receive.
fn descriptor(shape: &ImageExtent, format: ImageFormat) -> Result<ImageDescriptor> {
    let narrow =
        |number: u64| u32::try_from(number).map_err(|_| Error::MemObjectAllocationFailure(format!("{number} does not fit 32 bits").into()));
    let [second, third] = [narrow(shape.extent[1])?, narrow(shape.extent[2])?];
    let (height, depth, array_size) = match shape.kind {
        ImageType::Image1dArray => (1, 1, second),
        _ if shape.samples != 0 => (second, shape.samples, third),
        ImageType::Image2dArray => (second, 1, third),
        _ => (second, third, 1),
    };
    let slice_pitch = if shape.kind.has_slices() { shape.slice_pitch } else { shape.row_pitch * shape.extent[1] };
    Ok(ImageDescriptor {
        width: narrow(shape.extent[0])?,
        height,
        depth,
        array_size,
        row_pitch: shape.row_pitch,
        slice_pitch,
        format,
        levels: shape.levels,
    })
}
