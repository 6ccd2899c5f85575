//! Programs: sources, builds and binaries (OpenCL API 5.8).
//!
//! For each of its devices, a program stores its inputs ([`Object`]) and, after a build, its [`Executable`]. Compiled
//! objects and libraries also store the compiled form of each translation unit ([`Units`]), which the linker combines.

pub mod binary;
mod build;
mod built_in;
pub mod executable;

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use wgcl_compiler::enqueue::is_block;
use wgcl_compiler::spirv::{self, Specialisation};
use wgcl_compiler::{address_space, parallel};

use crate::objects::context::Context;
use crate::objects::device::Device;
use crate::objects::program::binary::{BinaryKind, Object, SpirvModule, Unit};
use crate::objects::program::build::{Outcome, Units};
use crate::objects::program::executable::Executable;
use crate::types::callback;
use crate::types::callback::Notify;
use crate::types::error::{Error, Result, ensure};
use crate::types::lock::{Mutex, Rank};
use crate::types::object::{self, HandleSlot};

/// CL_PROGRAM_BUILD_STATUS; the values are the specification's.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[repr(i32)]
pub enum BuildStatus {
    /// CL_BUILD_SUCCESS
    Success = 0,
    /// CL_BUILD_NONE
    #[default]
    None = -1,
    /// CL_BUILD_ERROR
    Error = -2,
    /// CL_BUILD_IN_PROGRESS
    InProgress = -3,
}

/// The log of a build that panicked.
const PANICKED: &str = concat!("error: internal error of the compiler; report it at ", env!("CARGO_PKG_REPOSITORY"), "/issues\n");

/// The state of a program on one device.
#[derive(Clone, Debug, Default)]
pub struct DeviceBuild {
    /// CL_PROGRAM_BUILD_STATUS
    pub status: BuildStatus,
    /// CL_PROGRAM_BUILD_OPTIONS
    pub options: String,
    /// CL_PROGRAM_BUILD_LOG
    pub log: String,
    /// CL_PROGRAM_BINARY_TYPE
    pub kind: BinaryKind,
    /// The inputs of the build.
    pub object: Option<Arc<Object>>,
    /// The compiled units of the object; empty for executables and for programs loaded from a binary.
    pub units: Units,
    pub executable: Option<Arc<Executable>>,
    /// Whether the program was built for the parent of this device, not for the device itself.
    is_of_parent: bool,
}

/// The origin of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Origin {
    Source,
    /// An intermediate language.
    Il,
    Binary,
    Linked,
    /// Built-in kernels, with their names.
    BuiltIn(Vec<&'static str>),
}

#[derive(Debug)]
pub struct Program {
    slot: HandleSlot,
    context: Arc<Context>,
    devices: Vec<Arc<Device>>,
    origin: Origin,
    source: String,
    il: Option<Il>,
    kernels: AtomicUsize,
    builds: Mutex<Vec<DeviceBuild>>,
}

/// A program in an intermediate language.
#[derive(Debug)]
struct Il {
    /// The original bytes: CL_PROGRAM_IL.
    bytes: Vec<u8>,
    words: Arc<[u32]>,
    /// The specialisation constants of the module: numbers and sizes in bytes.
    constants: Vec<(u32, usize)>,
    specialisation: Mutex<Specialisation>,
}

impl object::Object for Program {
    fn handle_slot(&self) -> &HandleSlot {
        &self.slot
    }

    fn listener(&self) -> Option<&Notify> {
        self.context.listener()
    }
}

/// The function to call when an asynchronous build has ended.
pub type Done = callback::Job;

impl Program {
    fn make(context: &Arc<Context>, devices: Vec<Arc<Device>>, origin: Origin, source: String, builds: Vec<DeviceBuild>) -> Arc<Self> {
        Arc::new(Self {
            slot: HandleSlot::default(),
            context: context.clone(),
            devices,
            origin,
            source,
            il: None,
            kernels: AtomicUsize::new(0),
            builds: Mutex::new(Rank::Program, builds),
        })
    }

    /// clCreateProgramWithSource
    pub fn with_source(context: &Arc<Context>, source: String) -> Arc<Self> {
        let devices = context.devices().to_vec();
        let builds = vec![DeviceBuild::default(); devices.len()];
        Self::make(context, devices, Origin::Source, source, builds)
    }

    /// clCreateProgramWithIL
    ///
    /// # Errors
    /// If the bytes are not a SPIR-V module.
    pub fn with_il(context: &Arc<Context>, bytes: Vec<u8>) -> Result<Arc<Self>> {
        // "CL_INVALID_VALUE if the length-byte memory pointed to by il does not contain well-formed intermediate
        // language input that can be consumed by the OpenCL runtime."
        let words = spirv::read_words(&bytes).map_err(|error| Error::InvalidValue(error.to_string().into()))?;
        let constants = spirv::specialisation_constants(&words);
        let specialisation = Mutex::new(Rank::Program, Specialisation::new());
        let devices = context.devices().to_vec();
        let builds = vec![DeviceBuild::default(); devices.len()];
        Ok(Arc::new(Self {
            slot: HandleSlot::default(),
            context: context.clone(),
            devices,
            origin: Origin::Il,
            source: String::new(),
            il: Some(Il { bytes, words: words.into(), constants, specialisation }),
            kernels: AtomicUsize::new(0),
            builds: Mutex::new(Rank::Program, builds),
        }))
    }

    /// clSetProgramSpecializationConstant
    ///
    /// # Errors
    /// If the program was not created from an intermediate language or has no such constant. Also if `value` does not
    /// have the size of the constant.
    pub fn set_specialisation(&self, number: u32, value: &[u8]) -> Result<()> {
        // "CL_INVALID_PROGRAM if program is not a valid program object created from an intermediate language (e.g.
        // SPIR-V)".
        let il =
            self.il.as_ref().ok_or_else(|| Error::InvalidProgram("the program was not created from an intermediate language".into()))?;
        // "CL_INVALID_SPEC_ID if spec_id is not a valid specialization constant identifier."
        let known = il.constants.iter().find(|(known, _)| *known == number);
        let (_, size) = known.ok_or_else(|| Error::InvalidSpecId(format!("there is no specialisation constant {number}").into()))?;
        // "CL_INVALID_VALUE if spec_size does not match the size of the specialization constant in the module, or if
        // spec_value is NULL."
        ensure!(value.len() == *size, InvalidValue, "specialisation constant {number}: expected {size} bytes, got {}", value.len());
        let mut bits = [0; 8];
        bits[..value.len()].copy_from_slice(value);
        il.specialisation.lock().insert(number, u64::from_le_bytes(bits));
        Ok(())
    }

    /// CL_PROGRAM_IL: empty for programs that were not created from an intermediate language.
    pub fn il(&self) -> &[u8] {
        self.il.as_ref().map_or(&[], |il| &il.bytes)
    }

    /// Creates the translation unit of the program's source or module.
    fn unit(&self, options: &str, headers: BTreeMap<String, String>) -> Unit {
        let module = self.il.as_ref().map(|il| SpirvModule { words: il.words.clone(), specialisation: il.specialisation.lock().clone() });
        Unit { options: options.to_owned(), source: self.source.clone(), headers, module }
    }

    /// Creates a program from binaries (clCreateProgramWithBinary).
    ///
    /// # Errors
    /// If a device is not in the context, or if a binary is not valid. The list in the error states, for each binary,
    /// whether it is valid.
    pub fn with_binaries(context: &Arc<Context>, binaries: &[(Arc<Device>, &[u8])]) -> Result<Arc<Self>, (Error, Vec<bool>)> {
        let none = || vec![false; binaries.len()];
        // "CL_INVALID_DEVICE if any device in device_list is not in the list of devices associated with context."
        if binaries.iter().any(|(device, _)| context.device_index(device).is_none()) {
            return Err((Error::InvalidDevice("a device does not belong to the context".into()), none()));
        }
        let decoded: Vec<_> = binaries.iter().map(|(_, bytes)| binary::decode(bytes)).collect();
        let valid: Vec<bool> = decoded.iter().map(Result::is_ok).collect();
        let mut builds = Vec::new();
        for result in decoded {
            match result {
                Ok((object, kind)) => builds.push(DeviceBuild { kind, object: Some(Arc::new(object)), ..DeviceBuild::default() }),
                Err(error) => return Err((error, valid)),
            }
        }
        let devices = binaries.iter().map(|(device, _)| device.clone()).collect();
        Ok(Self::make(context, devices, Origin::Binary, String::new(), builds))
    }

    pub fn context(&self) -> &Arc<Context> {
        &self.context
    }

    /// CL_PROGRAM_DEVICES
    pub fn devices(&self) -> &[Arc<Device>] {
        &self.devices
    }

    /// CL_PROGRAM_SOURCE
    pub fn source(&self) -> &str {
        &self.source
    }

    fn index_of(&self, device: &Arc<Device>) -> Option<usize> {
        self.devices.iter().position(|d| Arc::ptr_eq(d, device))
    }

    /// The state of the program on a device.
    ///
    /// # Errors
    /// If the device is not associated with the program.
    pub fn build_of(&self, device: &Arc<Device>) -> Result<DeviceBuild> {
        let index = self.index_of(device).ok_or_else(|| Error::InvalidDevice("the device is not associated with the program".into()))?;
        self.builds.lock().get(index).cloned().ok_or_else(|| Error::InvalidDevice("the program is not built for the device".into()))
    }

    /// CL_PROGRAM_BINARIES: one per device; empty for devices without a build.
    pub fn binaries(&self) -> Vec<Vec<u8>> {
        let builds = self.builds.lock().clone();
        builds
            .iter()
            .map(|build| match &build.object {
                Some(object) if build.kind != BinaryKind::None => binary::encode(object, build.kind),
                _ => Vec::new(),
            })
            .collect()
    }

    /// The executable of each device; `None` if the program is not built for it.
    pub fn executables(&self) -> Vec<Option<Arc<Executable>>> {
        self.builds.lock().iter().map(|build| build.executable.clone()).collect()
    }

    /// The kernels of the first executable: CL_PROGRAM_NUM_KERNELS, CL_PROGRAM_KERNEL_NAMES.
    ///
    /// # Errors
    /// If the program was not built for any device.
    pub fn kernel_names(&self) -> Result<Vec<String>> {
        // "CL_INVALID_PROGRAM_EXECUTABLE if param_name is CL_PROGRAM_NUM_KERNELS or CL_PROGRAM_KERNEL_NAMES and a
        // successfully built program executable has not been created for at least one device."
        let executable = self.executables().into_iter().flatten().next().ok_or_else(|| {
            Error::InvalidProgramExecutable("the program has no executable: it was not built, or the build failed".into())
        })?;
        if let Origin::BuiltIn(names) = &self.origin {
            return Ok(names.iter().map(|&name| name.to_owned()).collect());
        }
        let names = executable.compiled.kernels.iter().map(|kernel| kernel.name.clone());
        Ok(names.filter(|name| !is_block(name)).collect())
    }

    /// Records that a kernel of the program was created or released.
    pub(crate) fn count_kernel(&self, made: bool) {
        if made {
            self.kernels.fetch_add(1, Ordering::AcqRel);
        } else {
            self.kernels.fetch_sub(1, Ordering::AcqRel);
        }
    }

    /// The indices of the devices of a build. They include sub-devices of these devices that have no separate build.
    fn targets(&self, devices: Option<&[Arc<Device>]>) -> Result<Vec<usize>> {
        let Some(devices) = devices else { return Ok((0..self.devices.len()).collect()) };
        let mut indices = Vec::new();
        for device in devices {
            // "CL_INVALID_DEVICE if any device in device_list is not in the list of devices associated with program."
            let index = self.index_of(device).ok_or_else(|| Error::InvalidDevice("a device is not associated with the program".into()))?;
            if !indices.contains(&index) {
                indices.push(index);
            }
        }
        let mut builds = self.builds.lock();
        for (index, (device, build)) in self.devices.iter().zip(builds.iter_mut()).enumerate() {
            if indices.contains(&index) {
                build.is_of_parent = false;
                continue;
            }
            let is_part = device.with_ancestors().skip(1).any(|ancestor| devices.iter().any(|listed| Arc::ptr_eq(listed, ancestor)));
            if is_part && (build.is_of_parent || build.status == BuildStatus::None) {
                build.is_of_parent = true;
                indices.push(index);
            }
        }
        Ok(indices)
    }

    /// Marks the builds of devices as in progress.
    fn begin_builds(&self, targets: &[usize], options: &str) -> Result<()> {
        // "CL_INVALID_OPERATION if there are kernel objects attached to program."
        ensure!(self.kernels.load(Ordering::Acquire) == 0, InvalidOperation, "kernels are attached to the program");
        let mut builds = self.builds.lock();
        // "CL_INVALID_OPERATION if the build of a program executable for any of the devices listed in device_list by
        // a previous call to clBuildProgram for program has not completed."
        ensure!(
            targets.iter().filter_map(|&index| builds.get(index)).all(|build| build.status != BuildStatus::InProgress),
            InvalidOperation,
            "the program is being built"
        );
        for &index in targets {
            if let Some(build) = builds.get_mut(index) {
                build.status = BuildStatus::InProgress;
                options.clone_into(&mut build.options);
                build.log.clear();
                build.executable = None;
            }
        }
        Ok(())
    }

    /// Records the result of a build.
    fn record_result(&self, index: usize, object: Arc<Object>, kind: BinaryKind, outcome: Outcome) {
        let mut builds = self.builds.lock();
        let Some(build) = builds.get_mut(index) else { return };
        build.log = outcome.log;
        if outcome.success {
            build.status = BuildStatus::Success;
            build.kind = kind;
            build.object = Some(object);
            build.units = outcome.units;
        } else {
            build.status = BuildStatus::Error;
            build.kind = if self.origin == Origin::Binary { build.kind } else { BinaryKind::None };
        }
        build.executable = outcome.executable;
    }

    /// Builds objects for devices: in this call, or in the background if `done` is set. Returns `failure` if a build in
    /// this call fails.
    fn run(
        self: &Arc<Self>,
        work: Vec<(usize, Arc<Object>, Units)>,
        kind: BinaryKind,
        failure: fn() -> Error,
        done: Option<Done>,
    ) -> Result<()> {
        let bytes = work.iter().map(|(_, object, _)| object.units.iter().map(Unit::size).sum::<usize>()).max().unwrap_or(0);
        if !address_space::has_room_to_compile(bytes, parallel::STACK) {
            self.abandon("error: the process does not have enough address space for the compiler (ulimit -v)\n");
            return Err(Error::OutOfHostMemory(format!("not enough address space to compile {bytes} bytes of source").into()));
        }
        let program = self.clone();
        let job = move || {
            let mut success = true;
            let mut earlier: Vec<(Arc<Device>, Arc<Object>, build::Built)> = Vec::new();
            for (index, object, units) in work {
                let device = program.devices[index].clone();
                // Devices with equal targets share the compiler's result.
                let known = earlier.iter().find(|(d, o, _)| Arc::ptr_eq(o, &object) && d.target() == device.target());
                let built = match known {
                    Some((_, _, built)) => built.clone(),
                    None => build::compile(&object, &units, kind, (&device, &program.context.target_of(&device))),
                };
                earlier.push((device.clone(), object.clone(), built.clone()));
                let outcome = build::load(built, kind, &device);
                success &= outcome.success;
                program.record_result(index, object, kind, outcome);
            }
            success
        };
        match done {
            Some(done) => {
                let program = self.clone();
                build::spawn(move || {
                    if std::panic::catch_unwind(std::panic::AssertUnwindSafe(job)).is_err() {
                        tracing::error!("a build panicked");
                    }
                    program.abandon(PANICKED);
                    callback::schedule(done);
                })
                .inspect_err(|error| self.abandon(&format!("error: {error}\n")))
            }
            None => {
                let success = std::panic::catch_unwind(std::panic::AssertUnwindSafe(job)).unwrap_or(false);
                self.abandon(PANICKED);
                if success { Ok(()) } else { Err(failure()) }
            }
        }
    }

    /// Marks builds that are still in progress as failed.
    fn abandon(&self, why: &str) {
        for build in self.builds.lock().iter_mut().filter(|build| build.status == BuildStatus::InProgress) {
            build.status = BuildStatus::Error;
            build.log.push_str(why);
        }
    }

    /// Checks build options. Programs print the build log if a build fails, so the log of each target gets the error.
    fn check_options(&self, targets: &[usize], options: &str, invalid: fn(Cow<'static, str>) -> Error) -> Result<()> {
        let Err(error) = wgcl_compiler::program::parse_options(options) else { return Ok(()) };
        let text = error.to_string();
        let mut builds = self.builds.lock();
        for &target in targets {
            if let Some(build) = builds.get_mut(target).filter(|build| build.status != BuildStatus::InProgress) {
                build.log = format!("error: {text}\n");
            }
        }
        Err(invalid(text.into()))
    }

    /// clBuildProgram; asynchronous with `done`.
    ///
    /// # Errors
    /// The errors of the specification, checked in its order.
    pub fn build(self: &Arc<Self>, devices: Option<&[Arc<Device>]>, options: &str, done: Option<Done>) -> Result<()> {
        let targets = self.targets(devices)?;
        // "CL_INVALID_BUILD_OPTIONS if the build options specified by options are invalid."
        self.check_options(&targets, options, Error::InvalidBuildOptions)?;
        // "CL_INVALID_OPERATION if program was not created with clCreateProgramWithSource, clCreateProgramWithIL or
        // clCreateProgramWithBinary."
        let objects = match self.origin {
            Origin::Linked => return Err(Error::InvalidOperation("a program that clLinkProgram created cannot be built".into())),
            Origin::BuiltIn(_) => return Err(Error::InvalidOperation("a program with built-in kernels is not built".into())),
            Origin::Source | Origin::Il => {
                let object = Arc::new(Object { units: vec![self.unit(options, BTreeMap::new())] });
                targets.iter().map(|&index| (index, object.clone(), Units::new())).collect()
            }
            Origin::Binary => {
                let builds = self.builds.lock();
                // "CL_INVALID_BINARY if program is created with clCreateProgramWithBinary and devices listed in
                // device_list do not have a valid program binary loaded."
                targets
                    .iter()
                    .map(|&index| {
                        let object = builds.get(index).and_then(|build| build.object.clone());
                        object
                            .map(|object| (index, object, Units::new()))
                            .ok_or_else(|| Error::InvalidBinary("no program binary is loaded for one of the devices".into()))
                    })
                    .collect::<Result<Vec<_>>>()?
            }
        };
        self.begin_builds(&targets, options)?;
        self.run(objects, BinaryKind::Executable, || Error::BuildProgramFailure("see the build log".into()), done)
    }

    /// clCompileProgram; `headers` are programs by the names under which they are included.
    ///
    /// # Errors
    /// The errors of the specification, checked in its order.
    pub fn compile(
        self: &Arc<Self>,
        devices: Option<&[Arc<Device>]>,
        options: &str,
        headers: &[(String, Arc<Self>)],
        done: Option<Done>,
    ) -> Result<()> {
        // "CL_INVALID_CONTEXT if the context associated with program and programs in input_headers are not the same."
        let same = headers.iter().all(|(_, header)| Arc::ptr_eq(&header.context, &self.context));
        ensure!(same, InvalidContext, "a header belongs to another context");
        let targets = self.targets(devices)?;
        // "CL_INVALID_COMPILER_OPTIONS if the compiler options specified by options are invalid."
        self.check_options(&targets, options, Error::InvalidCompilerOptions)?;
        // "CL_INVALID_OPERATION if program has no source or IL available, i.e. it has not been created with
        // clCreateProgramWithSource ..."
        ensure!(matches!(self.origin, Origin::Source | Origin::Il), InvalidOperation, "the program has no source");
        let headers = headers.iter().map(|(name, program)| (name.clone(), program.source.clone())).collect();
        let unit = self.unit(options, headers);
        let object = Arc::new(Object { units: vec![unit] });
        self.begin_builds(&targets, options)?;
        let work = targets.iter().map(|&index| (index, object.clone(), Units::new())).collect();
        self.run(work, BinaryKind::CompiledObject, || Error::CompileProgramFailure("see the build log".into()), done)
    }

    /// clLinkProgram. Returns the new program and the result of the link. With `done` the link is asynchronous: the
    /// result is `Ok`, and `done` receives the program.
    ///
    /// # Errors
    /// The errors of the specification, checked in its order.
    pub fn link(
        context: &Arc<Context>,
        devices: Option<&[Arc<Device>]>,
        options: &str,
        inputs: &[Arc<Self>],
        done: Option<Box<dyn FnOnce(Arc<Self>) + Send>>,
    ) -> Result<(Arc<Self>, Result<()>)> {
        let devices = devices.unwrap_or(context.devices());
        // "CL_INVALID_CONTEXT if the context associated with programs in input_programs is not the same as context."
        ensure!(inputs.iter().all(|input| Arc::ptr_eq(&input.context, context)), InvalidContext, "an input belongs to another context");
        ensure!(!inputs.is_empty(), InvalidValue, "the list of input programs is empty");
        // "CL_INVALID_DEVICE if any device in device_list is not in the list of devices associated with context."
        ensure!(devices.iter().all(|d| context.device_index(d).is_some()), InvalidDevice, "a device does not belong to the context");
        let kind = build::parse_link_options(options)?;
        let mut work: Vec<(usize, Arc<Object>, Units)> = Vec::new();
        for (index, device) in devices.iter().enumerate() {
            let mut object = Object::default();
            let mut units = Units::new();
            let mut found = 0;
            for input in inputs {
                let build = input.build_of(device).ok().filter(|build| build.status != BuildStatus::InProgress);
                if let Some(DeviceBuild {
                    object: Some(part),
                    kind: BinaryKind::CompiledObject | BinaryKind::Library,
                    units: compiled,
                    ..
                }) = build
                {
                    found += 1;
                    let known = compiled.into_iter().chain(std::iter::repeat(None));
                    for (unit, compiled) in part.units.iter().zip(known) {
                        object.units.push(unit.clone());
                        units.push(compiled);
                    }
                }
            }
            // If no input is compiled for a device, the device is skipped. If only some inputs are, the specification
            // requires CL_INVALID_OPERATION.
            ensure!(found == 0 || found == inputs.len(), InvalidOperation, "an input is not compiled for {}", device.name());
            if found > 0 {
                // Equal objects are built once.
                let known = work.iter().find(|(_, other, _)| **other == object).map(|(_, other, _)| other.clone());
                work.push((index, known.unwrap_or_else(|| Arc::new(object)), units));
            }
        }
        ensure!(!work.is_empty(), InvalidOperation, "no input is compiled for any of the devices");
        let builds = vec![DeviceBuild { options: options.to_owned(), ..DeviceBuild::default() }; devices.len()];
        let program = Self::make(context, devices.to_vec(), Origin::Linked, String::new(), builds);
        let targets: Vec<usize> = work.iter().map(|(index, ..)| *index).collect();
        program.begin_builds(&targets, options)?;
        let done = done.map(|done| {
            let program = program.clone();
            Box::new(move || done(program)) as Done
        });
        let result = program.run(work, kind, || Error::LinkProgramFailure("see the build log".into()), done);
        Ok((program, result))
    }
}
