//! Types that own OpenCL objects. Creation asserts success, and dropping a value releases the object.

use std::ffi::{CString, c_void};
use std::ptr::{null, null_mut};

use super::ffi::{
    CL_MEM_READ_WRITE, CL_PROGRAM_BUILD_LOG, CL_SUCCESS, CL_TRUE, cl_bitfield, cl_command_queue, cl_context, cl_device_id, cl_event,
    cl_int, cl_kernel, cl_mem, cl_program, cl_sampler, cl_uint,
};
use super::{info_string, target};

macro_rules! owned {
    ($(#[$doc:meta])* $name:ident, $raw:ty, $release:ident) => {
        $(#[$doc])*
        pub struct $name(pub $raw);

        // SAFETY: OpenCL's entry points may be called from any thread with any handle.
        unsafe impl Send for $name {}
        // SAFETY: as above.
        unsafe impl Sync for $name {}

        impl Drop for $name {
            fn drop(&mut self) {
                let status = target().cl.$release(self.0);
                if !std::thread::panicking() {
                    assert_eq!(status, CL_SUCCESS, stringify!($release));
                }
            }
        }
    };
}

owned!(
    /// A context of the device under test.
    Context, cl_context, clReleaseContext
);
owned!(
    /// A command queue.
    Queue, cl_command_queue, clReleaseCommandQueue
);
owned!(Mem, cl_mem, clReleaseMemObject);
owned!(Program, cl_program, clReleaseProgram);
owned!(Kernel, cl_kernel, clReleaseKernel);
owned!(Sampler, cl_sampler, clReleaseSampler);
owned!(Event, cl_event, clReleaseEvent);

impl Context {
    pub fn new() -> Self {
        let target = target();
        let mut status = 1;
        let context = target.cl.clCreateContext(null(), 1, &target.device, None, null_mut(), &mut status);
        assert_eq!(status, CL_SUCCESS, "clCreateContext");
        assert!(!context.is_null());
        Self(context)
    }

    /// Creates a queue with the given properties. It is in-order unless they include
    /// CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE.
    pub fn queue(&self, properties: cl_bitfield) -> Queue {
        let target = target();
        let mut status = 1;
        let queue = target.cl.clCreateCommandQueue(self.0, target.device, properties, &mut status);
        assert_eq!(status, CL_SUCCESS, "clCreateCommandQueue");
        assert!(!queue.is_null());
        Queue(queue)
    }

    /// Creates a read-write buffer of `size` bytes with undefined contents.
    pub fn buffer(&self, size: usize) -> Mem {
        self.buffer_with(CL_MEM_READ_WRITE, size, null_mut())
    }

    pub fn buffer_with(&self, flags: cl_bitfield, size: usize, host: *mut c_void) -> Mem {
        let mut status = 1;
        let mem = target().cl.clCreateBuffer(self.0, flags, size, host, &mut status);
        assert_eq!(status, CL_SUCCESS, "clCreateBuffer({flags:#x}, {size})");
        assert!(!mem.is_null());
        Mem(mem)
    }

    /// Creates a pipe for `packets` packets of `packet` bytes each.
    pub fn pipe(&self, packet: cl_uint, packets: cl_uint) -> Mem {
        let mut status = 1;
        let mem = target().cl.clCreatePipe(self.0, 0, packet, packets, null(), &mut status);
        assert_eq!(status, CL_SUCCESS, "clCreatePipe({packet}, {packets})");
        assert!(!mem.is_null());
        Mem(mem)
    }

    /// Creates a program from a source. The program is not built yet.
    pub fn program(&self, source: &str) -> Program {
        let mut status = 1;
        let text = source.as_ptr().cast();
        let program = target().cl.clCreateProgramWithSource(self.0, 1, &text, &source.len(), &mut status);
        assert_eq!(status, CL_SUCCESS, "clCreateProgramWithSource");
        assert!(!program.is_null());
        Program(program)
    }

    /// Creates a program from a module in an intermediate language. The program is not built yet.
    pub fn program_with_il(&self, bytes: &[u8]) -> Program {
        let mut status = 1;
        let program = target().cl.clCreateProgramWithIL(self.0, bytes.as_ptr().cast(), bytes.len(), &mut status);
        assert_eq!(status, CL_SUCCESS, "clCreateProgramWithIL");
        assert!(!program.is_null());
        Program(program)
    }

    /// Creates a program with built-in kernels for the device under test.
    pub fn built_in(&self, names: &str) -> Result<Program, cl_int> {
        self.built_in_for(&[target().device], names)
    }

    /// Creates a program with built-in kernels for some devices.
    pub fn built_in_for(&self, devices: &[cl_device_id], names: &str) -> Result<Program, cl_int> {
        let names = CString::new(names).unwrap_or_default();
        let (count, list, mut status) = (devices.len() as cl_uint, devices.as_ptr(), 1);
        let program = target().cl.clCreateProgramWithBuiltInKernels(self.0, count, list, names.as_ptr(), &mut status);
        assert_eq!(program.is_null(), status != CL_SUCCESS, "status {status}");
        if status == CL_SUCCESS { Ok(Program(program)) } else { Err(status) }
    }

    /// Creates and builds a program without options. If the build fails, the test ends with the build log.
    pub fn build(&self, source: &str) -> Program {
        let program = self.program(source);
        let status = program.build("");
        assert_eq!(status, CL_SUCCESS, "clBuildProgram:\n{}", program.log());
        program
    }
}

impl Program {
    /// Calls `clBuildProgram` for the device under test, and waits for the end of the build.
    pub fn build(&self, options: &str) -> cl_int {
        let options = CString::new(options).unwrap_or_default();
        let target = target();
        target.cl.clBuildProgram(self.0, 1, &target.device, options.as_ptr(), None, null_mut())
    }

    pub fn log(&self) -> String {
        let target = target();
        info_string(|size, value, ret| target.cl.clGetProgramBuildInfo(self.0, target.device, CL_PROGRAM_BUILD_LOG, size, value, ret))
            .unwrap_or_else(|error| format!("(no log: {error})"))
    }

    pub fn kernel(&self, name: &str) -> Kernel {
        match self.try_kernel(name) {
            Ok(kernel) => kernel,
            Err(status) => {
                assert_eq!(status, CL_SUCCESS, "clCreateKernel({name})");
                Kernel(null_mut())
            }
        }
    }

    pub fn try_kernel(&self, name: &str) -> Result<Kernel, cl_int> {
        let text = CString::new(name).unwrap_or_default();
        let mut status = 1;
        let kernel = target().cl.clCreateKernel(self.0, text.as_ptr(), &mut status);
        if status == CL_SUCCESS {
            assert!(!kernel.is_null());
            Ok(Kernel(kernel))
        } else {
            assert!(kernel.is_null(), "clCreateKernel failed and returned a kernel");
            Err(status)
        }
    }
}

impl Kernel {
    /// Calls `clSetKernelArg` with the bytes of a value. Returns the status.
    pub fn set<T>(&self, index: cl_uint, value: &T) -> cl_int {
        target().cl.clSetKernelArg(self.0, index, size_of::<T>(), (&raw const *value).cast())
    }

    /// Sets a buffer argument.
    pub fn set_mem(&self, index: cl_uint, mem: &Mem) {
        assert_eq!(self.set(index, &mem.0), CL_SUCCESS, "clSetKernelArg({index}, buffer)");
    }
}

impl Queue {
    /// Enqueues a kernel for the global size `global`, and does not wait for it. Returns the status of the call.
    pub fn launch(&self, kernel: &Kernel, global: &[usize], local: Option<&[usize]>) -> cl_int {
        target().cl.clEnqueueNDRangeKernel(
            self.0,
            kernel.0,
            u32::try_from(global.len()).unwrap_or(0),
            null(),
            global.as_ptr(),
            local.map_or(null(), <[usize]>::as_ptr),
            0,
            null(),
            null_mut(),
        )
    }

    pub fn finish(&self) {
        assert_eq!(target().cl.clFinish(self.0), CL_SUCCESS, "clFinish");
    }

    /// Reads `count` elements from the start of a buffer, and waits for the end of the read.
    pub fn read<T: Copy + Default>(&self, mem: &Mem, count: usize) -> Vec<T> {
        let mut out = vec![T::default(); count];
        let status = target().cl.clEnqueueReadBuffer(
            self.0,
            mem.0,
            CL_TRUE,
            0,
            size_of_val(out.as_slice()),
            out.as_mut_ptr().cast(),
            0,
            null(),
            null_mut(),
        );
        assert_eq!(status, CL_SUCCESS, "clEnqueueReadBuffer");
        out
    }

    /// Writes a slice to the start of a buffer, and waits for the end of the write.
    pub fn write<T: Copy>(&self, mem: &Mem, data: &[T]) {
        let status =
            target().cl.clEnqueueWriteBuffer(self.0, mem.0, CL_TRUE, 0, size_of_val(data), data.as_ptr().cast(), 0, null(), null_mut());
        assert_eq!(status, CL_SUCCESS, "clEnqueueWriteBuffer");
    }
}
