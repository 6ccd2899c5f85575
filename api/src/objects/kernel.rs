//! Kernels and their arguments (OpenCL API 5.9).

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Weak};

use wgcl_compiler::enqueue::is_block;
use wgcl_compiler::ir::{KernelParam, Space};
use wgcl_compiler::program::{AccessQualifier, ArgInfo, KernelInfo};

use crate::backend::{SvmCapabilities, ValueBytes};
use crate::commands::command::Argument;
use crate::commands::group_size::GroupLimits;
use crate::image::Image;
use crate::image::format::{self, FormatUse, order};
use crate::image::image_type::ImageType;
use crate::objects::device::opencl_version;
use crate::objects::device::{Device, MAX_PARAMETER_SIZE};
use crate::objects::memory::{Buffer, MemFlags};
use crate::objects::program::Program;
use crate::objects::program::executable::{Executable, find_kernel};
use crate::types::callback::Notify;
use crate::types::error::{Error, Result, ensure};
use crate::types::lock::{Mutex, Rank};
use crate::types::object::{HandleSlot, Object};

/// An argument as it was set. Kernels hold no references to memory objects: "implementations shall not allow
/// cl_kernel objects to hold reference counts to cl_kernel arguments".
#[derive(Clone, Debug)]
pub enum ArgValue {
    /// The bytes of a value.
    Value(ValueBytes),
    /// A null pointer.
    Null,
    /// A buffer, as long as the application holds it.
    Buffer(Weak<Buffer>),
    /// Bytes of local memory.
    Local(u32),
    /// A pointer to a byte of shared virtual memory, or of a buffer with a device address.
    Svm(Weak<Buffer>, u64),
    /// A pointer to host memory without a memory object, for devices with fine-grained system SVM.
    Address(usize),
    /// An image, as long as the application holds it.
    Image(Weak<Image>),
    /// The value of a sampler in kernels.
    Sampler(u32),
}

/// The resource usage of a kernel on a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WorkGroupInfo {
    /// CL_KERNEL_COMPILE_WORK_GROUP_SIZE
    pub compiled: [u32; 3],
    /// CL_KERNEL_LOCAL_MEM_SIZE
    pub local_memory: u64,
    /// CL_KERNEL_PREFERRED_WORK_GROUP_SIZE_MULTIPLE
    pub preferred_multiple: u32,
}

/// A kernel of an executable.
#[derive(Clone, Debug)]
struct Definition {
    executable: Arc<Executable>,
    /// The index of the kernel in the executable.
    index: usize,
}

impl Definition {
    fn new(executable: Arc<Executable>, name: &str) -> Option<Self> {
        let index = executable.compiled.kernels.iter().position(|kernel| kernel.name == name)?;
        Some(Self { executable, index })
    }

    fn info(&self) -> Option<&KernelInfo> {
        self.executable.compiled.kernels.get(self.index)
    }
}

/// A kernel object (cl_kernel).
#[derive(Debug)]
pub struct Kernel {
    slot: HandleSlot,
    program: Arc<Program>,
    name: Arc<str>,
    /// The name of the function in the executables. It differs from `name` only for built-in kernels.
    function: Arc<str>,
    /// The kernel's definition for each device of the program, at the kernel's creation.
    definitions: Vec<Option<Definition>>,
    args: Mutex<Vec<Option<ArgValue>>>,
    /// The buffers that pointers in memory refer to, indexed by [`PointerSet`].
    pointers: Mutex<[Vec<Weak<Buffer>>; 3]>,
    /// Whether the kernel is compiled when all arguments are set.
    awaits_arguments: AtomicBool,
}

/// A set of pointers of clSetKernelExecInfo. A new list replaces the previous list of the same set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PointerSet {
    /// CL_KERNEL_EXEC_INFO_SVM_PTRS
    Svm = 0,
    /// CL_KERNEL_EXEC_INFO_USM_PTRS_INTEL
    Usm = 1,
    /// CL_KERNEL_EXEC_INFO_DEVICE_PTRS_EXT
    Device = 2,
}

impl Object for Kernel {
    fn handle_slot(&self) -> &HandleSlot {
        &self.slot
    }

    fn listener(&self) -> Option<&Notify> {
        self.program.listener()
    }
}

/// The subgroup properties of a kernel on a device, for clGetKernelSubGroupInfo.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SubGroupInfo {
    /// Work-items of a subgroup; the last subgroup of a work-group may have fewer.
    pub size: u64,
    /// CL_KERNEL_WORK_GROUP_SIZE
    pub group_size: u64,
    /// CL_KERNEL_COMPILE_WORK_GROUP_SIZE
    pub required: [u32; 3],
    /// CL_KERNEL_COMPILE_NUM_SUB_GROUPS; 0 if any number is valid.
    pub required_count: u32,
    /// CL_KERNEL_COMPILE_SUB_GROUP_SIZE_INTEL; 0 if none is required.
    pub required_size: u32,
}

impl SubGroupInfo {
    /// The number of subgroups of a work-group with this local size.
    pub fn count(&self, local_size: &[usize]) -> u64 {
        let items = local_size.iter().fold(1_u64, |product, &size| product.saturating_mul(size as u64));
        items.div_ceil(self.size.max(1))
    }

    /// CL_KERNEL_MAX_NUM_SUB_GROUPS
    pub fn max_count(&self) -> u64 {
        self.group_size.div_ceil(self.size.max(1))
    }

    /// Returns a local size with `count` subgroups, or zeros if there is none.
    pub fn local_size(&self, count: u64) -> [usize; 3] {
        let items = count.saturating_mul(self.size);
        let fits = if self.required == [0; 3] { items <= self.group_size } else { self.max_count() == count };
        if count == 0 || !fits {
            return [0; 3];
        }
        if self.required == [0; 3] { [usize::try_from(items).unwrap_or(0), 1, 1] } else { self.required.map(|size| size as usize) }
    }
}

/// When it is known how a kernel will be launched, earliest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum LaunchIsKnown {
    /// The source determines it.
    AtCreation,
    /// It depends on the sizes of the buffers for `__constant` arguments.
    WithArguments,
    Never,
}

/// Returns when it is known how a kernel will be launched. All parameters must be values, or pointers to global or
/// constant memory. The kernel must require a work-group size, or must not depend on the work-group size. A kernel that
/// does not depend on it runs in groups that the device chooses, regardless of the requirements in its source.
fn when_launch_is_known(info: &KernelInfo) -> LaunchIsKnown {
    if !info.group_independent && info.reqd_work_group_size.is_none() {
        return LaunchIsKnown::Never;
    }
    let parameter = |arg: &ArgInfo| match arg.passing {
        KernelParam::Value | KernelParam::Bytes { .. } | KernelParam::Buffer { space: Space::Global, .. } => LaunchIsKnown::AtCreation,
        KernelParam::Buffer { space: Space::Constant, .. } => LaunchIsKnown::WithArguments,
        _ => LaunchIsKnown::Never,
    };
    info.args.iter().map(parameter).max().unwrap_or(LaunchIsKnown::AtCreation)
}

/// Compiles a kernel in the background. `constants` has the size of the buffer for each `__constant` argument.
fn precompile(executable: &Executable, info: &KernelInfo, constants: &[u64]) {
    let local_size = info.reqd_work_group_size.filter(|_| !info.group_independent);
    executable.loaded.precompile(&info.name, local_size, constants);
}

impl Kernel {
    fn make(
        program: &Arc<Program>,
        [name, function]: [Arc<str>; 2],
        definitions: Vec<Option<Definition>>,
        args: Vec<Option<ArgValue>>,
    ) -> Arc<Self> {
        program.count_kernel(true);
        Arc::new(Self {
            slot: HandleSlot::default(),
            program: program.clone(),
            name,
            function,
            definitions,
            args: Mutex::new(Rank::Kernel, args),
            pointers: Mutex::new(Rank::Kernel, Default::default()),
            awaits_arguments: AtomicBool::new(false),
        })
    }

    /// Compiles the kernel in the background once all arguments are set, if the code depends on the arguments.
    fn precompile_with_arguments(&self) {
        if !self.awaits_arguments.load(Ordering::Relaxed) || !self.is_complete() {
            return;
        }
        self.awaits_arguments.store(false, Ordering::Relaxed);
        for definition in self.definitions.iter().flatten() {
            let Some(info) = definition.info().filter(|info| when_launch_is_known(info) == LaunchIsKnown::WithArguments) else { continue };
            let is_constant = |arg: &ArgInfo| matches!(arg.passing, KernelParam::Buffer { space: Space::Constant, .. });
            let args = self.args.lock();
            let sizes = info.args.iter().zip(args.iter()).filter(|(arg, _)| is_constant(arg)).map(|(_, value)| match value {
                Some(ArgValue::Buffer(buffer)) => buffer.upgrade().map(|buffer| buffer.size()),
                _ => None,
            });
            // Other arguments, such as null pointers, result in other code.
            let sizes: Option<Vec<u64>> = sizes.collect();
            drop(args);
            if let Some(sizes) = sizes {
                precompile(&definition.executable, info, &sizes);
            }
        }
    }

    /// clCreateKernel
    ///
    /// # Errors
    /// If the program is not built, if it has no such kernel, or if the kernel's definition differs among the devices.
    pub fn new(program: &Arc<Program>, name: &str) -> Result<Arc<Self>> {
        let executables = program.executables();
        // "CL_INVALID_PROGRAM_EXECUTABLE if there is no successfully built executable for program."
        ensure!(
            executables.iter().any(Option::is_some),
            InvalidProgramExecutable,
            "the program has no executable: it was not built, or the build failed"
        );
        // "CL_INVALID_KERNEL_NAME if kernel_name is not found in program."
        let unknown = || Error::InvalidKernelName(format!("no kernel is named `{name}`").into());
        let function = program.function_of(name).filter(|function| !is_block(function)).ok_or_else(unknown)?;
        let mut found = executables.iter().flatten().map(|executable| find_kernel(executable, &function));
        let first = found.next().flatten().ok_or_else(unknown)?;
        // "CL_INVALID_KERNEL_DEFINITION if the function definition for __kernel function given by kernel_name such as
        // the number of arguments, the argument types are not the same for all devices for which the program
        // executable has been built."
        let same = |other: &KernelInfo| {
            other.args.len() == first.args.len()
                && other.args.iter().zip(&first.args).all(|(a, b)| a.type_name == b.type_name && a.size == b.size)
        };
        ensure!(
            found.all(|other| other.is_some_and(same)),
            InvalidKernelDefinition,
            "the definition of kernel `{name}` differs among the devices of the program"
        );
        let mut awaits_arguments = false;
        for executable in executables.iter().flatten() {
            let Some(info) = find_kernel(executable, &function) else { continue };
            match when_launch_is_known(info) {
                LaunchIsKnown::AtCreation => precompile(executable, info, &[]),
                LaunchIsKnown::WithArguments => awaits_arguments = true,
                LaunchIsKnown::Never => {}
            }
        }
        let args = vec![None; first.args.len()];
        let definitions = executables.iter().map(|executable| Definition::new(Arc::clone(executable.as_ref()?), &function)).collect();
        let kernel = Self::make(program, [name.into(), function.into()], definitions, args);
        kernel.awaits_arguments.store(awaits_arguments, Ordering::Relaxed);
        Ok(kernel)
    }

    /// clCreateKernelsInProgram: all kernels that can be created.
    ///
    /// # Errors
    /// If the program was not built.
    pub fn all(program: &Arc<Program>) -> Result<Vec<Arc<Self>>> {
        // "Kernel objects are not created for any __kernel functions in program that do not have the same function
        // definition across all devices."
        Ok(program.kernel_names()?.iter().filter_map(|name| Self::new(program, name).ok()).collect())
    }

    /// clCloneKernel
    pub fn duplicate(&self) -> Arc<Self> {
        let args = self.args.lock().clone();
        let pointers = self.pointers.lock().clone();
        let names = [self.name.clone(), self.function.clone()];
        let copy = Self::make(&self.program, names, self.definitions.clone(), args);
        *copy.pointers.lock() = pointers;
        copy
    }

    /// The program that the kernel was created from.
    pub fn program(&self) -> &Arc<Program> {
        &self.program
    }

    /// CL_KERNEL_FUNCTION_NAME
    pub fn name(&self) -> &Arc<str> {
        &self.name
    }

    /// The name of the kernel's function in its executables.
    pub(crate) fn function(&self) -> &Arc<str> {
        &self.function
    }

    /// The kernel's reflection. The arguments are the same for all devices.
    ///
    /// # Errors
    /// Does not fail for a kernel that was created.
    pub fn info(&self) -> Result<&KernelInfo> {
        let mut all = self.definitions.iter().flatten().filter_map(Definition::info);
        all.next().ok_or_else(|| Error::InvalidKernel("the kernel is not defined".into()))
    }

    /// The reflection of an argument.
    ///
    /// # Errors
    /// If there is no such argument.
    pub fn arg(&self, index: u32) -> Result<&ArgInfo> {
        let args = &self.info()?.args;
        // "CL_INVALID_ARG_INDEX if arg_index is not a valid argument index."
        args.get(index as usize).ok_or_else(|| {
            Error::InvalidArgIndex(
                format!("kernel `{}` has no argument {index}: the number of arguments is {}", self.name, args.len()).into(),
            )
        })
    }

    /// Whether clGetKernelArgInfo is available.
    pub fn has_arg_info(&self) -> bool {
        self.info().is_ok_and(|info| info.has_arg_info)
    }

    /// The executable and reflection for a device.
    ///
    /// # Errors
    /// If the program was not built for the device.
    pub fn definition_on(&self, device: &Arc<Device>) -> Result<(&Arc<Executable>, &KernelInfo)> {
        let built = |device: &Arc<Device>| {
            let index = self.program.devices().iter().position(|d| Arc::ptr_eq(d, device))?;
            self.definitions.get(index)?.as_ref()
        };
        // A sub-device uses the program that was built for its parent.
        device
            .with_ancestors()
            .find_map(built)
            .and_then(|definition| Some((&definition.executable, definition.info()?)))
            .ok_or_else(|| Error::InvalidProgramExecutable(format!("kernel `{}` was not built for {}", self.name, device.name()).into()))
    }

    /// Sets an argument (clSetKernelArg). The C ABI has read the value according to the argument's kind.
    ///
    /// # Errors
    /// The errors of the specification, checked in its order.
    pub fn set_arg(&self, index: u32, value: ArgValue) -> Result<()> {
        let info = self.arg(index)?;
        match (&info.passing, &value) {
            (KernelParam::Value | KernelParam::Bytes { .. }, ArgValue::Value(bytes)) => {
                // "CL_INVALID_ARG_SIZE if arg_size does not match the size of the data type for an argument that is
                // not a memory object."
                ensure!(
                    bytes.len() as u64 == u64::from(info.size),
                    InvalidArgSize,
                    "argument {index} of kernel `{}` ({}): expected {} bytes, got {}",
                    self.name,
                    info.type_name,
                    info.size,
                    bytes.len()
                );
            }
            // These values are valid only for a pointer, not for a pipe, whose parameter has a packet size.
            (KernelParam::Buffer { .. }, ArgValue::Null | ArgValue::Svm(..) | ArgValue::Address(_)) if info.packet.is_none() => {}
            (KernelParam::Buffer { .. }, ArgValue::Buffer(buffer)) => {
                let buffer = buffer.upgrade().filter(|buffer| Arc::ptr_eq(buffer.context(), self.program.context()));
                // "CL_INVALID_CONTEXT if the context associated with kernel and an OpenCL object pointed to by
                // arg_value are not the same."
                let buffer = buffer.ok_or_else(|| {
                    Error::InvalidContext(
                        format!("argument {index} of kernel `{}`: the buffer belongs to another context", self.name).into(),
                    )
                })?;
                // cl_ext_immutable_memory_objects: CL_INVALID_ARG_VALUE unless the parameter is a pointer to constants.
                let may_write = buffer.flags().contains(MemFlags::IMMUTABLE) && !reads_only(info);
                ensure!(
                    !may_write,
                    InvalidArgValue,
                    "argument {index} of kernel `{}`: the buffer is immutable, but the kernel can write it",
                    self.name
                );
            }
            (KernelParam::Local { .. }, ArgValue::Local(size)) => {
                // "CL_INVALID_ARG_SIZE ... if the argument is a pointer to the local address space and arg_size is
                // zero. This error condition does not apply if the platform associated with kernel is OpenCL 3.1 or
                // newer."
                let newest = || opencl_version::newest(self.program.context().devices().iter().map(|device| &**device));
                ensure!(
                    *size != 0 || newest() >= opencl_version::VERSION_3_1,
                    InvalidArgSize,
                    "argument {index} of kernel `{}`: the size of a local argument must not be 0",
                    self.name
                );
            }
            (KernelParam::Image, ArgValue::Null) => {
                // "CL_INVALID_MEM_OBJECT if arg_value points to NULL and it must point to a valid memory object."
                return Err(Error::InvalidMemObject(
                    format!("argument {index} of kernel `{}`: an image argument cannot be NULL", self.name).into(),
                ));
            }
            (KernelParam::Image, ArgValue::Image(image)) => {
                let image = image.upgrade().filter(|image| Arc::ptr_eq(image.context(), self.program.context()));
                let image = image.ok_or_else(|| {
                    Error::InvalidContext(
                        format!("argument {index} of kernel `{}`: the image belongs to another context", self.name).into(),
                    )
                })?;
                self.check_image(index, info, &image)?;
            }
            (KernelParam::Sampler, ArgValue::Sampler(_)) => {}
            _ => {
                return Err(Error::InvalidArgValue(
                    format!("argument {index} of kernel `{}`: the value is not a {}", self.name, info.type_name).into(),
                ));
            }
        }
        if let Some(arg) = self.args.lock().get_mut(index as usize) {
            *arg = Some(value);
        }
        self.precompile_with_arguments();
        Ok(())
    }

    /// clSetKernelArg with a buffer. Many programs set the same buffer before each launch; this case returns early.
    ///
    /// # Errors
    /// The errors of [`Self::set_arg`].
    pub fn set_buffer(&self, index: u32, buffer: &Arc<Buffer>) -> Result<()> {
        let is_set = match self.args.lock().get(index as usize) {
            Some(Some(ArgValue::Buffer(there))) => std::ptr::eq(there.as_ptr(), Arc::as_ptr(buffer)),
            _ => false,
        };
        if is_set { Ok(()) } else { self.set_arg(index, ArgValue::Buffer(Arc::downgrade(buffer))) }
    }

    /// Checks that an image fits a parameter.
    fn check_image(&self, index: u32, info: &ArgInfo, image: &Image) -> Result<()> {
        // "CL_INVALID_MEM_OBJECT if arg_value points to a valid memory object, but the memory object is not valid for
        // the kernel argument", that is, if its type or channel order differs from the declaration.
        ensure!(
            fits(&info.type_name, image),
            InvalidMemObject,
            "argument {index} of kernel `{}` has type {}, which does not match an image of type {}{}",
            self.name,
            info.type_name,
            image.image_type(),
            if image.samples() == 0 { String::new() } else { format!(" with {} samples", image.samples()) }
        );
        // The specification requires CL_INVALID_ARG_VALUE for a read_only parameter if the image is CL_MEM_WRITE_ONLY.
        // The error also applies to a write_only parameter if the image is CL_MEM_READ_ONLY.
        let (excluded, purpose) = match info.access {
            AccessQualifier::WriteOnly => (MemFlags::READ_ONLY | MemFlags::IMMUTABLE, FormatUse::Write),
            AccessQualifier::ReadWrite => (MemFlags::READ_ONLY | MemFlags::IMMUTABLE | MemFlags::WRITE_ONLY, FormatUse::ReadAndWrite),
            AccessQualifier::ReadOnly | AccessQualifier::None => (MemFlags::WRITE_ONLY, FormatUse::Read),
        };
        ensure!(
            !image.flags().intersects(excluded),
            InvalidArgValue,
            "argument {index} of kernel `{}`: the access qualifier does not match an image with the flags {}",
            self.name,
            image.flags()
        );
        // "For each access qualifier, only images whose format is in the list of formats returned by
        // clGetSupportedImageFormats ... are permitted."
        let devices = self.program.context().devices();
        let supported = devices.iter().any(|device| format::is_supported(device.target(), image.image_type(), purpose, image.format()));
        ensure!(
            supported,
            InvalidMemObject,
            "argument {index} of kernel `{}`: the access qualifier is not supported for the format of the image",
            self.name
        );
        Ok(())
    }

    /// clSetKernelArgSVMPointer
    ///
    /// # Errors
    /// The errors of the specification, checked in its order.
    pub fn set_arg_svm(&self, index: u32, address: usize) -> Result<()> {
        // "CL_INVALID_ARG_INDEX if arg_index is not a valid argument index."
        self.arg(index)?;
        if address == 0 {
            return self.set_arg(index, ArgValue::Null);
        }
        // "CL_INVALID_ARG_VALUE if arg_value specified is not a valid value."
        let context = self.program.context();
        match context.svm_at(address) {
            Some((buffer, start)) => self.set_arg(index, ArgValue::Svm(Arc::downgrade(&buffer), start)),
            None if context.svm_capabilities().contains(SvmCapabilities::FINE_GRAIN_SYSTEM) => {
                self.set_arg(index, ArgValue::Address(address))
            }
            None => Err(Error::InvalidArgValue(format!("{address:#x} is not in shared virtual memory").into())),
        }
    }

    /// clSetKernelArgDevicePointerEXT
    ///
    /// # Errors
    /// The errors of the specification, checked in its order.
    pub fn set_arg_device_pointer(&self, index: u32, address: u64) -> Result<()> {
        // "CL_INVALID_ARG_INDEX if arg_index is not a valid argument index" or "the expected kernel argument is not a
        // pointer to global memory".
        let is_global = matches!(self.arg(index)?.passing, KernelParam::Buffer { space: Space::Global | Space::Constant, .. });
        ensure!(is_global, InvalidArgIndex, "argument {index} of kernel `{}` is not a pointer to global memory", self.name);
        if address == 0 {
            return self.set_arg(index, ArgValue::Null);
        }
        // "CL_INVALID_ARG_VALUE if arg_value specified is not a valid value."
        let found = self.program.context().buffer_at(address);
        let (buffer, start) =
            found.ok_or_else(|| Error::InvalidArgValue(format!("{address:#x} is not in a buffer that has a device address").into()))?;
        self.set_arg(index, ArgValue::Svm(Arc::downgrade(&buffer), start))
    }

    /// clSetKernelExecInfo: sets the buffers that the kernel accesses through pointers stored in memory.
    ///
    /// # Errors
    /// If an address is not in shared virtual memory, and no device can access all host memory. For
    /// [`PointerSet::Device`], the address must be in a buffer with a device address instead.
    pub fn set_pointers(&self, set: PointerSet, addresses: &[usize]) -> Result<()> {
        let mut buffers: Vec<Arc<Buffer>> = Vec::new();
        for address in addresses {
            let context = self.program.context();
            let found = if set == PointerSet::Device { context.buffer_at(*address as u64) } else { context.svm_at(*address) };
            let Some((buffer, _)) = found else {
                // A device that can access all host memory accepts other addresses. Nothing must be bound for them.
                let supports_system_svm = context.svm_capabilities().contains(SvmCapabilities::FINE_GRAIN_SYSTEM);
                let memory = if set == PointerSet::Device { "a buffer that has a device address" } else { "shared virtual memory" };
                ensure!(supports_system_svm, InvalidValue, "{address:#x} is not in {memory}");
                continue;
            };
            if buffers.iter().all(|other| !Arc::ptr_eq(other, &buffer)) {
                buffers.push(buffer);
            }
        }
        if let Some(place) = self.pointers.lock().get_mut(set as usize) {
            *place = buffers.iter().map(Arc::downgrade).collect();
        }
        Ok(())
    }

    /// The buffers of all pointer sets, without released ones. Buffers that share a store are listed once.
    pub(crate) fn indirect_buffers(&self) -> Vec<Arc<Buffer>> {
        let mut buffers: Vec<Arc<Buffer>> = Vec::new();
        for buffer in self.pointers.lock().iter().flatten().filter_map(Weak::upgrade) {
            if buffers.iter().all(|other| !Arc::ptr_eq(other.store(), buffer.store())) {
                buffers.push(buffer);
            }
        }
        buffers
    }

    /// Whether all arguments have been set.
    pub(crate) fn is_complete(&self) -> bool {
        self.args.lock().iter().all(Option::is_some)
    }

    /// Returns the current arguments, with strong references to their memory objects.
    ///
    /// # Errors
    /// If an argument is not set, or if its buffer was released.
    pub(crate) fn capture(&self) -> Result<Vec<Argument>> {
        let args = self.args.lock();
        let mut captured = Vec::with_capacity(args.len());
        for (index, arg) in args.iter().enumerate() {
            let released =
                || Error::InvalidKernelArgs(format!("the memory object of argument {index} of kernel `{}` was released", self.name).into());
            captured.push(match arg {
                // "CL_INVALID_KERNEL_ARGS if any kernel arguments for kernel have not been set."
                None => Err(Error::InvalidKernelArgs(format!("argument {index} of kernel `{}` is not set", self.name).into())),
                Some(ArgValue::Value(bytes)) => Ok(Argument::Value(ValueBytes::from_slice(bytes))),
                Some(ArgValue::Null) => Ok(Argument::Buffer(None)),
                Some(ArgValue::Buffer(buffer)) => buffer.upgrade().map(|buffer| Argument::Buffer(Some(buffer))).ok_or_else(released),
                Some(ArgValue::Image(image)) => image.upgrade().map(Argument::Image).ok_or_else(released),
                Some(ArgValue::Sampler(word)) => Ok(Argument::Value(ValueBytes::from_slice(&word.to_le_bytes()))),
                Some(ArgValue::Local(size)) => Ok(Argument::Local(*size)),
                Some(ArgValue::Address(address)) => Ok(Argument::Address(*address)),
                Some(ArgValue::Svm(buffer, start)) => buffer.upgrade().map(|buffer| Argument::Svm(buffer, *start)).ok_or_else(released),
            }?);
        }
        Ok(captured)
    }

    /// Returns the number of bytes of local memory that the kernel uses with its current arguments: its variables and
    /// local arguments, each at its alignment.
    pub(crate) fn local_memory(&self, info: &KernelInfo) -> u64 {
        let args = self.args.lock();
        info.args.iter().zip(args.iter()).fold(u64::from(info.local_memory), |sum, (info, arg)| match (&info.passing, arg) {
            (KernelParam::Local { align }, Some(ArgValue::Local(size))) => {
                sum.next_multiple_of(u64::from(*align).max(1)) + u64::from(*size)
            }
            _ => sum,
        })
    }

    /// clGetKernelWorkGroupInfo
    ///
    /// # Errors
    /// If the device is not associated with the program, or if the program was not built for the device.
    pub fn work_group_info(&self, device: &Arc<Device>) -> Result<WorkGroupInfo> {
        // "CL_INVALID_DEVICE if device is not in the list of devices associated with kernel."
        ensure!(
            self.program.devices().iter().any(|d| Arc::ptr_eq(d, device)),
            InvalidDevice,
            "device `{}` is not associated with the kernel's program",
            device.name()
        );
        let (_, info) = self.definition_on(device)?;
        Ok(WorkGroupInfo {
            compiled: info.reqd_work_group_size.unwrap_or([0; 3]),
            local_memory: self.local_memory(info),
            preferred_multiple: GroupLimits::of(device.properties(), info).subgroup,
        })
    }

    /// CL_KERNEL_WORK_GROUP_SIZE: the size that the kernel requires, or else the limit of the device. The query may
    /// compile the kernel if registers are the limit. Larger groups, up to CL_DEVICE_MAX_WORK_GROUP_SIZE, also run,
    /// with fewer registers per work-item.
    ///
    /// # Errors
    /// If the program was not built for the device.
    pub fn work_group_size(&self, device: &Arc<Device>) -> Result<u64> {
        let (executable, info) = self.definition_on(device)?;
        let max_items = GroupLimits::of(device.properties(), info).max_items;
        Ok(match info.reqd_work_group_size {
            Some(size) => size.iter().map(|&n| u64::from(n)).product(),
            None => executable.loaded.max_group_size(&self.function).map_or(max_items, |size| size.min(max_items)).into(),
        })
    }

    /// clGetKernelSubGroupInfo
    ///
    /// # Errors
    /// The errors of [`Self::work_group_info`]. Also fails if the device has no subgroups.
    pub fn sub_group_info(&self, device: &Arc<Device>) -> Result<SubGroupInfo> {
        let info = self.work_group_info(device)?;
        // "CL_INVALID_OPERATION if device does not support sub-groups."
        ensure!(device.target().language.subgroups, InvalidOperation, "{} does not support sub-groups", device.name());
        let (_, kernel) = self.definition_on(device)?;
        Ok(SubGroupInfo {
            size: GroupLimits::of(device.properties(), kernel).subgroup.into(),
            group_size: self.work_group_size(device)?,
            required: info.compiled,
            required_count: kernel.reqd_subgroups.unwrap_or(0),
            required_size: kernel.reqd_subgroup_size.unwrap_or(0),
        })
    }

    /// CL_KERNEL_PRIVATE_MEM_SIZE, or 0 if the backend cannot compile the kernel. The query may compile the kernel.
    ///
    /// # Errors
    /// If the program was not built for the device.
    pub fn private_memory(&self, device: &Arc<Device>) -> Result<u64> {
        let (executable, _) = self.definition_on(device)?;
        match executable.loaded.kernel_usage(&self.function) {
            Ok(usage) => Ok(u64::from(usage.private_memory)),
            Err(error) => {
                tracing::warn!("kernel `{}`: the private memory size is unknown: {error}", self.name);
                Ok(0)
            }
        }
    }
}

/// Whether an image fits a parameter of the type with this name. Other names are those of typedefs, and are not
/// checked.
fn fits(type_name: &str, image: &Image) -> bool {
    let is_depth = image.format().order == order::DEPTH;
    let is = |kind, depth, multisample| image.image_type() == kind && is_depth == depth && (image.samples() != 0) == multisample;
    match type_name {
        "image1d_t" => image.image_type() == ImageType::Image1d,
        "image1d_array_t" => image.image_type() == ImageType::Image1dArray,
        "image1d_buffer_t" => image.image_type() == ImageType::Image1dBuffer,
        "image3d_t" => image.image_type() == ImageType::Image3d,
        "image2d_t" => is(ImageType::Image2d, false, false),
        "image2d_array_t" => is(ImageType::Image2dArray, false, false),
        "image2d_depth_t" => is(ImageType::Image2d, true, false),
        "image2d_array_depth_t" => is(ImageType::Image2dArray, true, false),
        "image2d_msaa_t" => is(ImageType::Image2d, false, true),
        "image2d_array_msaa_t" => is(ImageType::Image2dArray, false, true),
        "image2d_msaa_depth_t" => is(ImageType::Image2d, true, true),
        "image2d_array_msaa_depth_t" => is(ImageType::Image2dArray, true, true),
        _ => true,
    }
}

impl Drop for Kernel {
    fn drop(&mut self) {
        self.program.count_kernel(false);
    }
}

/// Whether a parameter only reads its buffer or image.
pub(crate) fn reads_only(info: &ArgInfo) -> bool {
    match info.passing {
        KernelParam::Buffer { read_only, space, .. } => read_only || space == Space::Constant,
        KernelParam::Image => matches!(info.access, AccessQualifier::ReadOnly | AccessQualifier::None),
        _ => false,
    }
}

/// Checks that a kernel's arguments fit CL_DEVICE_MAX_PARAMETER_SIZE.
pub(crate) fn check_parameters(info: &KernelInfo, pointer: u32) -> Result<()> {
    let size: u64 = info.args.iter().map(|arg| u64::from(if arg.size == 0 { pointer } else { arg.size })).sum();
    ensure!(
        size <= MAX_PARAMETER_SIZE,
        OutOfResources,
        "the arguments of kernel `{}` need {size} bytes; the limit is {MAX_PARAMETER_SIZE}",
        info.name
    );
    Ok(())
}
