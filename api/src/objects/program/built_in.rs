//! Programs with built-in kernels (clCreateProgramWithBuiltInKernels).
//!
//! The creation of such a program compiles the kernels, and the program can never be built: "CL_INVALID_OPERATION if
//! program was not created with clCreateProgramWithSource, clCreateProgramWithIL or clCreateProgramWithBinary." It has
//! no source, no binary, and the state of a program that was not built.

use std::borrow::Cow;
use std::sync::Arc;

use crate::built_in_kernels;
use crate::objects::context::Context;
use crate::objects::device::Device;
use crate::objects::program::binary::{BinaryKind, Object, Unit};
use crate::objects::program::build::Units;
use crate::objects::program::{DeviceBuild, Origin, Program};
use crate::types::error::{Error, Result, ensure};

impl Program {
    /// clCreateProgramWithBuiltInKernels. `names` is a list with the separator `;`.
    ///
    /// # Errors
    /// If a name is unknown, or if a device is not in the context. Also if a device cannot compile the kernels.
    pub fn with_built_in_kernels(context: &Arc<Context>, devices: Vec<Arc<Device>>, names: &str) -> Result<Arc<Self>> {
        // "CL_INVALID_VALUE if ... kernel_names contains a kernel name that is not supported by any of the devices in
        // device_list." Every device supports the same kernels.
        let unknown = |name: &str| Error::InvalidValue(format!("no built-in kernel is named `{name}`").into());
        let names = built_in_kernels::parse(names).map_err(unknown)?;
        // "CL_INVALID_DEVICE if any device in device_list is not in the list of devices associated with context."
        let is_known = |device: &Arc<Device>| context.device_index(device).is_some();
        ensure!(devices.iter().all(is_known), InvalidDevice, "a device does not belong to the context");
        let unit = Unit { options: built_in_kernels::OPTIONS.to_owned(), source: built_in_kernels::source(&names), ..Unit::default() };
        let object = Arc::new(Object { units: vec![unit] });
        let work = (0..devices.len()).map(|index| (index, object.clone(), Units::new())).collect();
        let builds = vec![DeviceBuild::default(); devices.len()];
        let program = Self::make(context, devices, Origin::BuiltIn(names), String::new(), builds);
        let failure = || Error::OutOfResources("the built-in kernels cannot be compiled".into());
        let result = program.run(work, BinaryKind::Executable, failure, None);
        let mut builds = program.builds.lock();
        for build in builds.iter_mut() {
            if result.is_err() {
                tracing::warn!("the built-in kernels cannot be compiled: {}", build.log);
            }
            // The object is only for captures of launches: a program has a binary only if its kind is not `None`.
            *build = DeviceBuild { object: Some(object.clone()), executable: build.executable.take(), ..DeviceBuild::default() };
        }
        drop(builds);
        result.map(|()| program)
    }

    /// Whether the program was created by clCreateProgramWithBuiltInKernels.
    pub fn is_built_in(&self) -> bool {
        matches!(self.origin, Origin::BuiltIn(_))
    }

    /// The name of the function of a kernel. `None` if the program has built-in kernels, and none of them has this
    /// name.
    pub(crate) fn function_of<'a>(&self, kernel: &'a str) -> Option<Cow<'a, str>> {
        match &self.origin {
            Origin::BuiltIn(names) => names.contains(&kernel).then(|| built_in_kernels::function(kernel).into()),
            _ => Some(kernel.into()),
        }
    }
}
