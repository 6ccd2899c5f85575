//! Programs (OpenCL API 5.8).

use std::ffi::{c_char, c_void};
use std::sync::Arc;

use wgcl_api::objects::context::Context;
use wgcl_api::objects::device::Device;
use wgcl_api::objects::program::Program;
use wgcl_api::types::error::{Error, Result};

use crate::check;
use crate::context::UserHandle;
use crate::ffi::{Blobs, Bytes, BytesMut, Callback, FromC, List, Out, OutList, Text, Texts, UserData};
use crate::handles;
use crate::info::Query;
use wgcl_opencl_headers::{
    _cl_program, CL_INVALID_BINARY, CL_INVALID_VALUE, CL_PROGRAM_BINARIES, CL_PROGRAM_BINARY_SIZES, CL_PROGRAM_BINARY_TYPE,
    CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE, CL_PROGRAM_BUILD_LOG, CL_PROGRAM_BUILD_OPTIONS, CL_PROGRAM_BUILD_STATUS,
    CL_PROGRAM_CONTEXT, CL_PROGRAM_DEVICES, CL_PROGRAM_IL, CL_PROGRAM_KERNEL_NAMES, CL_PROGRAM_NUM_DEVICES, CL_PROGRAM_NUM_KERNELS,
    CL_PROGRAM_REFERENCE_COUNT, CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT, CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT, CL_PROGRAM_SOURCE,
    CL_SUCCESS, cl_context, cl_device_id, cl_int, cl_program, cl_program_build_info, cl_program_info, cl_uint,
};

/// pfn_notify of builds.
type ProgramFn = unsafe extern "C" fn(cl_program, *mut c_void);

/// Returns the devices of a build. Returns `None`, which means all devices, for an empty list.
fn device_list(count: cl_uint, devices: &List<cl_device_id>) -> Result<Option<Vec<Arc<Device>>>> {
    // "CL_INVALID_VALUE if device_list is NULL and num_devices is greater than zero, or if device_list is not NULL
    // and num_devices is zero."
    check!((count == 0) == devices.is_null(), InvalidValue, "the list of devices does not match the count {count}");
    if count == 0 {
        return Ok(None);
    }
    handles::get_all(&devices.get(count as usize)).map(Some)
}

/// Returns the callback of a build. The callback keeps a reference to the program until it has run.
fn completion_callback(
    program: &Arc<Program>,
    callback: &Callback<ProgramFn>,
    user_data: UserData,
) -> Result<Option<Box<dyn FnOnce() + Send>>> {
    // "CL_INVALID_VALUE if pfn_notify is NULL but user_data is not NULL."
    check!(callback.get().is_some() || user_data.is_null(), InvalidValue, "user_data is not null, but the callback is null");
    let Some(callback) = callback.get() else { return Ok(None) };
    let program = program.clone();
    Ok(Some(Box::new(move || {
        // SAFETY: the application's function, called as the specification says.
        unsafe { callback(handles::borrowed(&program), user_data.get()) };
    })))
}

fn with_il(context: cl_context, il: Bytes, length: usize) -> Result<*mut _cl_program> {
    let context = handles::get::<Context>(context)?;
    // "CL_INVALID_VALUE if il is NULL or if length is zero."
    check!(!il.is_null() && length != 0, InvalidValue, "the intermediate language module (il) is null or empty");
    Program::with_il(&context, il.get(length)).map(handles::retained)
}

crate::entry! {
    fn clCreateProgramWithSource(context: cl_context, count: cl_uint, strings: Texts, lengths: List<usize>) -> *mut _cl_program {
        let context = handles::get::<Context>(context)?;
        // "CL_INVALID_VALUE if count is zero or if strings or any entry in strings is NULL."
        let parts = strings.get(count as usize, &lengths.get(count as usize)).filter(|parts| !parts.is_empty());
        let parts = parts.ok_or_else(|| Error::InvalidValue("the list of source strings is null or empty, or contains a null pointer".into()))?;
        let source = String::from_utf8_lossy(&parts.concat()).into_owned();
        Ok(handles::retained(Program::with_source(&context, source)))
    }

    fn clCreateProgramWithBinary(
        context: cl_context,
        num_devices: cl_uint,
        devices: List<cl_device_id>,
        lengths: List<usize>,
        binaries: Blobs,
        binary_status: OutList<cl_int>,
    ) -> *mut _cl_program {
        let context = handles::get::<Context>(context)?;
        // "CL_INVALID_VALUE if device_list is NULL or num_devices is zero; if lengths or binaries is NULL, or an
        // entry of them is NULL or zero."
        check!(!devices.is_null() && num_devices != 0, InvalidValue, "the list of devices is null or empty");
        let count = num_devices as usize;
        let devices = handles::get_all::<Device>(&devices.get(count))?;
        check!(devices.iter().all(|device| context.device_index(device).is_some()), InvalidDevice, "a device does not belong to the context");
        check!(!lengths.is_null() && !binaries.is_null(), InvalidValue, "the list of lengths or of binaries is null");
        let blobs = binaries.get(&lengths.get(count));
        if blobs.iter().any(Option::is_none) {
            binary_status.set(&blobs.iter().map(|blob| if blob.is_some() { CL_SUCCESS } else { CL_INVALID_VALUE }).collect::<Vec<_>>());
            return Err(Error::InvalidValue("a binary is null or empty".into()));
        }
        let blobs: Vec<Vec<u8>> = blobs.into_iter().flatten().collect();
        let given: Vec<_> = devices.into_iter().zip(blobs.iter().map(Vec::as_slice)).collect();
        match Program::with_binaries(&context, &given) {
            Ok(program) => {
                binary_status.set(&vec![CL_SUCCESS; count]);
                Ok(handles::retained(program))
            }
            Err((error, valid)) => {
                binary_status.set(&valid.iter().map(|&ok| if ok { CL_SUCCESS } else { CL_INVALID_BINARY }).collect::<Vec<_>>());
                Err(error)
            }
        }
    }

    fn clCreateProgramWithBuiltInKernels(
        context: cl_context,
        num_devices: cl_uint,
        devices: List<cl_device_id>,
        names: Text,
    ) -> *mut _cl_program {
        let context = handles::get::<Context>(context)?;
        check!(!devices.is_null() && num_devices != 0, InvalidValue, "the list of devices is null or empty");
        // "CL_INVALID_VALUE if kernel_names is NULL".
        let names = names.get().ok_or_else(|| Error::InvalidValue("kernel_names is null".into()))?;
        let devices = handles::get_all::<Device>(&devices.get(num_devices as usize))?;
        Program::with_built_in_kernels(&context, devices, &names).map(handles::retained)
    }

    fn clCreateProgramWithIL(context: cl_context, il: Bytes, length: usize) -> *mut _cl_program {
        with_il(context, il, length)
    }

    fn clCreateProgramWithILKHR(context: cl_context, il: Bytes, length: usize) -> *mut _cl_program {
        with_il(context, il, length)
    }

    fn clRetainProgram(program: cl_program) {
        handles::retain::<Program>(program)
    }

    fn clReleaseProgram(program: cl_program) {
        handles::release::<Program>(program).map(drop)
    }

    fn clBuildProgram(
        program: cl_program,
        num_devices: cl_uint,
        devices: List<cl_device_id>,
        options: Text,
        pfn_notify: Callback<ProgramFn>,
        user_data: UserData,
    ) {
        let program = handles::get::<Program>(program)?;
        let devices = device_list(num_devices, &devices)?;
        let done = completion_callback(&program, &pfn_notify, user_data)?;
        program.build(devices.as_deref(), &options.get().unwrap_or_default(), done)
    }

    fn clCompileProgram(
        program: cl_program,
        num_devices: cl_uint,
        devices: List<cl_device_id>,
        options: Text,
        num_headers: cl_uint,
        headers: List<cl_program>,
        names: Texts,
        pfn_notify: Callback<ProgramFn>,
        user_data: UserData,
    ) {
        let program = handles::get::<Program>(program)?;
        let devices = device_list(num_devices, &devices)?;
        let names = names.get(num_headers as usize, &[]);
        // "CL_INVALID_VALUE if num_input_headers is zero and header_include_names or input_headers are not NULL or if
        // num_input_headers is not zero and [they] are NULL."
        let named = names.as_ref().is_some_and(|names| names.len() == num_headers as usize);
        check!((num_headers == 0) == headers.is_null() && named, InvalidValue, "the lists of headers do not match the count {num_headers}");
        let programs = handles::get_all::<Program>(&headers.get(num_headers as usize))?;
        let headers: Vec<_> = names
            .unwrap_or_default()
            .into_iter()
            .map(|name| String::from_utf8_lossy(&name).into_owned())
            .zip(programs)
            .collect();
        let done = completion_callback(&program, &pfn_notify, user_data)?;
        program.compile(devices.as_deref(), &options.get().unwrap_or_default(), &headers, done)
    }

    fn clSetProgramReleaseCallback(program: cl_program, _pfn_notify: Callback<ProgramFn>, _user_data: UserData) {
        handles::get::<Program>(program)?;
        // "CL_INVALID_OPERATION" if the devices do not support constructors and destructors of programs. OpenCL 3.0
        // deprecates this function.
        Err(Error::InvalidOperation("programs have no destructors".into()))
    }

    fn clSetProgramSpecializationConstant(program: cl_program, id: cl_uint, size: usize, value: Bytes) {
        let program = handles::get::<Program>(program)?;
        check!(!value.is_null(), InvalidValue, "the value is null");
        program.set_specialisation(id, &value.get(size))
    }

    fn clGetProgramInfo(program: cl_program, param: cl_program_info, size: usize, value: BytesMut, size_ret: Out<usize>) {
        let program = handles::get::<Program>(program)?;
        let query = Query::new(size, value, size_ret);
        match param {
            CL_PROGRAM_REFERENCE_COUNT => query.put(handles::reference_count(&program)),
            CL_PROGRAM_CONTEXT => query.put(handles::borrowed(program.context())),
            CL_PROGRAM_NUM_DEVICES => query.put(program.devices().len() as cl_uint),
            CL_PROGRAM_DEVICES => query.put(program.devices().iter().map(handles::borrowed).collect::<Vec<_>>()),
            CL_PROGRAM_SOURCE => query.put(program.source()),
            CL_PROGRAM_BINARY_SIZES => query.put(program.binaries().iter().map(Vec::len).collect::<Vec<_>>()),
            CL_PROGRAM_BINARIES => {
                let binaries = program.binaries();
                if let Some(targets) = query.pointers(binaries.len())? {
                    for (target, binary) in targets.pointers(binaries.len()).into_iter().zip(&binaries) {
                        target.set(binary);
                    }
                }
                Ok(())
            }
            CL_PROGRAM_NUM_KERNELS => query.put(program.kernel_names()?.len()),
            CL_PROGRAM_KERNEL_NAMES => query.put(program.kernel_names()?.join(";")),
            CL_PROGRAM_IL => query.put(program.il().to_vec()),
            CL_PROGRAM_SCOPE_GLOBAL_CTORS_PRESENT | CL_PROGRAM_SCOPE_GLOBAL_DTORS_PRESENT => query.put(false),
            _ => query.unknown(param),
        }
    }

    fn clGetProgramBuildInfo(
        program: cl_program,
        device: cl_device_id,
        param: cl_program_build_info,
        size: usize,
        value: BytesMut,
        size_ret: Out<usize>,
    ) {
        let program = handles::get::<Program>(program)?;
        let device = handles::get::<Device>(device)?;
        let build = program.build_of(&device)?;
        let query = Query::new(size, value, size_ret);
        match param {
            CL_PROGRAM_BUILD_STATUS => query.put(build.status as i32),
            CL_PROGRAM_BUILD_OPTIONS => query.put(build.options),
            CL_PROGRAM_BUILD_LOG => query.put(build.log),
            CL_PROGRAM_BINARY_TYPE => query.put(build.kind as u32),
            CL_PROGRAM_BUILD_GLOBAL_VARIABLE_TOTAL_SIZE => {
                query.put(build.executable.map_or(0, |executable| executable.compiled.global_variable_size as usize))
            }
            _ => query.unknown(param),
        }
    }
}

/// `clLinkProgram`. It may return both an object and an error code, so that the application can read the build log.
/// Other functions that create an object return either an object or an error code.
#[unsafe(no_mangle)]
pub(crate) unsafe extern "C" fn clLinkProgram(
    context: cl_context,
    num_devices: cl_uint,
    device_list: *const cl_device_id,
    options: *const c_char,
    num_programs: cl_uint,
    programs: *const cl_program,
    pfn_notify: Option<ProgramFn>,
    user_data: *mut c_void,
    errcode_ret: *mut cl_int,
) -> cl_program {
    // SAFETY: arguments of a call from C, as in all entry points.
    let (devices, options, programs) = unsafe { (List::from_c(device_list), Text::from_c(options), List::from_c(programs)) };
    // SAFETY: as above.
    let (callback, user_data) = unsafe { (Callback::from_c(pfn_notify), UserData::from_c(user_data)) };
    crate::ffi::pointer("clLinkProgram", errcode_ret, |code| {
        link(context, (num_devices, &devices), &options, (num_programs, &programs), (&callback, user_data), code)
    })
}

fn link(
    context: cl_context,
    (num_devices, devices): (cl_uint, &List<cl_device_id>),
    options: &Text,
    (num_programs, programs): (cl_uint, &List<cl_program>),
    (callback, user_data): (&Callback<ProgramFn>, UserData),
    code: &Out<cl_int>,
) -> Result<*mut _cl_program> {
    let context = handles::get::<Context>(context)?;
    let devices = device_list(num_devices, devices)?;
    // "CL_INVALID_VALUE if num_input_programs is zero and input_programs is NULL", or if only one of these conditions
    // holds.
    check!(num_programs != 0 && !programs.is_null(), InvalidValue, "the list of input programs is null or empty");
    check!(callback.get().is_some() || user_data.is_null(), InvalidValue, "user_data is not null, but the callback is null");
    let inputs = handles::get_all::<Program>(&programs.get(num_programs as usize))?;
    let done = callback.get().map(|callback| {
        Box::new(move |program: Arc<Program>| {
            let handle = UserHandle(handles::borrowed(&program));
            // SAFETY: the application's function, called as the specification says.
            unsafe { callback(handle.0, user_data.get()) };
        }) as Box<dyn FnOnce(Arc<Program>) + Send>
    });
    let (program, result) = Program::link(&context, devices.as_deref(), &options.get().unwrap_or_default(), &inputs, done)?;
    if let Err(error) = result {
        tracing::debug!("clLinkProgram: {error}");
        code.set(error.code());
    }
    Ok(handles::retained(program))
}
