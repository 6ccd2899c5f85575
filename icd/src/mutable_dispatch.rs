//! Mutable launches of command buffers (cl_khr_command_buffer_mutable_dispatch, OpenCL API 5.15.5), version 0.9.5.
//! Since version 0.9.2, an update is an array of structures, which the headers of the bindings do not have.

use std::sync::Arc;

use wgcl_api::commands::command_buffer::CommandBuffer;
use wgcl_api::commands::command_buffer::mutable_dispatch::{
    DispatchAsserts, DispatchFields, DispatchOptions, DispatchUpdate, MutableCommand,
};
use wgcl_api::types::error::{Error, Result};

use crate::check;
use crate::ffi::{Bytes, BytesMut, List, Out};
use crate::handles;
use crate::info::Query;
use crate::kernel::read_arg;
use crate::svm::{self, ExecInfo};
use wgcl_opencl_headers::{
    CL_COMMAND_NDRANGE_KERNEL, CL_MUTABLE_COMMAND_COMMAND_BUFFER_KHR, CL_MUTABLE_COMMAND_COMMAND_QUEUE_KHR,
    CL_MUTABLE_COMMAND_COMMAND_TYPE_KHR, CL_MUTABLE_DISPATCH_DIMENSIONS_KHR, CL_MUTABLE_DISPATCH_GLOBAL_WORK_OFFSET_KHR,
    CL_MUTABLE_DISPATCH_GLOBAL_WORK_SIZE_KHR, CL_MUTABLE_DISPATCH_KERNEL_KHR, CL_MUTABLE_DISPATCH_LOCAL_WORK_SIZE_KHR,
    CL_MUTABLE_DISPATCH_PROPERTIES_ARRAY_KHR, CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR, cl_command_buffer_khr, cl_mutable_command_info_khr,
    cl_mutable_command_khr, cl_properties, cl_uint,
};

/// The headers of the bindings do not have these values and the structures below yet.
const CL_MUTABLE_DISPATCH_ASSERTS_KHR: cl_properties = 0x12B8;
const CL_STRUCTURE_TYPE_MUTABLE_DISPATCH_CONFIG_KHR: cl_uint = 0;

/// cl_mutable_dispatch_arg_khr
#[derive(Clone, Copy)]
#[repr(C)]
struct Arg {
    index: cl_uint,
    size: usize,
    value: Bytes,
}

/// cl_mutable_dispatch_exec_info_khr
#[derive(Clone, Copy)]
#[repr(C)]
struct Info {
    name: cl_uint,
    size: usize,
    value: Bytes,
}

/// cl_mutable_dispatch_config_khr
#[derive(Clone, Copy)]
#[repr(C)]
struct Config {
    command: cl_mutable_command_khr,
    num_args: cl_uint,
    num_svm_args: cl_uint,
    num_exec_infos: cl_uint,
    work_dim: cl_uint,
    args: List<Arg>,
    svm_args: List<Arg>,
    exec_infos: List<Info>,
    global_offset: List<usize>,
    global_size: List<usize>,
    local_size: List<usize>,
}

/// Returns the elements of a list in a structure. Fails if the pointer is null and the count is not 0, or if the
/// pointer is not null and the count is 0.
fn elements<T: Copy>(count: cl_uint, list: &List<T>, what: &str) -> Result<Vec<T>> {
    check!((count == 0) == list.is_null(), InvalidValue, "the list of {what} does not match the count {count}");
    Ok(list.get(count as usize))
}

impl Config {
    /// Reads an update and the data that it points to. Checks arguments like clSetKernelArg and similar functions.
    fn read(&self) -> Result<DispatchUpdate> {
        let command = handles::get::<MutableCommand>(self.command)?;
        let kernel = command.kernel();
        let context = kernel.program().context();
        let given = elements(self.num_args, &self.args, "arguments")?;
        let svm_args = elements(self.num_svm_args, &self.svm_args, "SVM arguments")?;
        let exec_infos = elements(self.num_exec_infos, &self.exec_infos, "execution infos")?;
        let args = given
            .iter()
            .map(|arg| Ok((arg.index, read_arg(context, arg.index, kernel.arg(arg.index)?, arg.size, arg.value)?)))
            .collect::<Result<_>>()?;
        // "CL_INVALID_OPERATION if no devices in the context associated with kernel support SVM."
        check!(svm_args.is_empty() || context.has_svm(), InvalidOperation, "no device of the context supports SVM");
        let mut pointers = Vec::new();
        for info in &exec_infos {
            if let ExecInfo::Pointers(set, addresses) = svm::read_exec_info(info.name, info.size, info.value, context)? {
                pointers.push((set, addresses));
            }
        }
        // An update cannot change the number of dimensions, so the arrays have one element for each dimension.
        let count = command.work_dim() as usize;
        let [global_offset, global_size, local_size] =
            [&self.global_offset, &self.global_size, &self.local_size].map(|list| (!list.is_null()).then(|| list.get(count)));
        Ok(DispatchUpdate {
            args,
            svm_args: svm_args.iter().map(|arg| (arg.index, arg.value.address())).collect(),
            pointers,
            sets_exec_info: !exec_infos.is_empty(),
            work_dim: self.work_dim,
            global_offset,
            global_size,
            local_size,
            command,
        })
    }
}

/// Returns the assertions in the value of a property.
pub(crate) fn asserts(value: u64) -> Result<DispatchAsserts> {
    DispatchAsserts::from_bits(value).ok_or_else(|| Error::InvalidValue(format!("assertions {value:#x} are unknown").into()))
}

/// Checks and returns the properties of a launch.
pub(crate) fn dispatch_options(list: &List<cl_properties>, handle: &Out<cl_mutable_command_khr>) -> Result<DispatchOptions> {
    let mut options = DispatchOptions { wants_handle: !handle.is_null(), ..DispatchOptions::default() };
    let mut seen = [false; 2];
    options.property_list = list.checked_properties(|name, value| {
        // "CL_INVALID_VALUE if values specified in properties are not valid."
        let index = if name == u64::from(CL_MUTABLE_DISPATCH_UPDATABLE_FIELDS_KHR) {
            let fields = DispatchFields::from_bits(value);
            options.fields = Some(fields.ok_or_else(|| Error::InvalidValue(format!("fields {value:#x} are unknown").into()))?);
            0
        } else if name == CL_MUTABLE_DISPATCH_ASSERTS_KHR {
            options.asserts = asserts(value)?;
            1
        } else {
            return Err(Error::InvalidValue(format!("property {name:#x} is unknown").into()));
        };
        check!(!std::mem::replace(&mut seen[index], true), InvalidValue, "property {name:#x} is specified twice");
        Ok(())
    })?;
    Ok(options)
}

crate::entry! {
    fn clUpdateMutableCommandsKHR(
        command_buffer: cl_command_buffer_khr,
        num_configs: cl_uint,
        types: List<cl_uint>,
        configs: List<Bytes>,
    ) {
        let command_buffer: Arc<CommandBuffer> = handles::get(command_buffer)?;
        command_buffer.check_update()?;
        // "CL_INVALID_VALUE if config_types is NULL and num_configs > 0, or config_types is not NULL and num_configs is
        // 0". The same applies to configs.
        let types = elements(num_configs, &types, "types")?;
        let configs = elements(num_configs, &configs, "structures")?;
        // "CL_INVALID_VALUE if any element of config_types is not a valid [...] enum", "if any element of configs is
        // NULL." All types are checked before a structure is read, because other types have other structures.
        for kind in types {
            check!(kind == CL_STRUCTURE_TYPE_MUTABLE_DISPATCH_CONFIG_KHR, InvalidValue, "structure type {kind} is unknown");
        }
        for (index, config) in configs.iter().enumerate() {
            check!(!config.is_null(), InvalidValue, "element {index} of configs is null");
        }
        let updates = configs.iter().flat_map(|config| config.list::<Config>().get(1)).map(|config| config.read()).collect::<Result<_>>()?;
        command_buffer.update(updates)
    }

    fn clGetMutableCommandInfoKHR(
        command: cl_mutable_command_khr,
        param: cl_mutable_command_info_khr,
        size: usize,
        value: BytesMut,
        size_ret: Out<usize>,
    ) {
        let command = handles::get::<MutableCommand>(command)?;
        let query = Query::new(size, value, size_ret);
        match param {
            CL_MUTABLE_COMMAND_COMMAND_QUEUE_KHR => query.put(handles::borrowed(&command.queue()?)),
            CL_MUTABLE_COMMAND_COMMAND_BUFFER_KHR => query.put(handles::borrowed(&command.command_buffer()?)),
            CL_MUTABLE_COMMAND_COMMAND_TYPE_KHR => query.put(CL_COMMAND_NDRANGE_KERNEL),
            // Later versions of the specification rename this query to CL_MUTABLE_COMMAND_PROPERTIES_ARRAY_KHR.
            CL_MUTABLE_DISPATCH_PROPERTIES_ARRAY_KHR => query.put(command.property_list().unwrap_or(&[])),
            CL_MUTABLE_DISPATCH_KERNEL_KHR => query.put(handles::borrowed(command.kernel())),
            CL_MUTABLE_DISPATCH_DIMENSIONS_KHR => query.put(command.work_dim()),
            CL_MUTABLE_DISPATCH_GLOBAL_WORK_OFFSET_KHR | CL_MUTABLE_DISPATCH_GLOBAL_WORK_SIZE_KHR | CL_MUTABLE_DISPATCH_LOCAL_WORK_SIZE_KHR => {
                let [offset, global, local] = command.sizes()?;
                query.put(match param {
                    CL_MUTABLE_DISPATCH_GLOBAL_WORK_OFFSET_KHR => &*offset,
                    CL_MUTABLE_DISPATCH_GLOBAL_WORK_SIZE_KHR => &*global,
                    _ => &*local,
                })
            }
            _ => query.unknown(param),
        }
    }
}
