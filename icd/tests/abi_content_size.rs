//! Buffers with a content size (cl_pocl_content_size): errors, and migrations that transfer only the meaningful bytes.
//!
//! The second device is the interpreter.

mod common;

use std::ptr::{null, null_mut};

use common::ffi::{
    CL_DEVICE_EXTENSIONS, CL_DEVICE_TYPE_ALL, CL_INVALID_BUFFER_SIZE, CL_INVALID_CONTEXT, CL_INVALID_MEM_OBJECT, CL_SUCCESS, cl_device_id,
    cl_int, cl_mem, cl_uint,
};
use common::objects::{Context, Kernel, Mem, Queue};
use common::{info_string, target};

common::extension_functions! {
    fn clSetContentSizeBufferPoCL(buffer: cl_mem, count: cl_mem) -> cl_int;
}

/// Words of the buffer.
const WORDS: usize = 1 << 16;

const SOURCE: &str = "
kernel void produce(global uint *words, global ulong *count, ulong bytes)
{
    size_t i = get_global_id(0);
    words[i] = 7 + i;
    if (i == 0) count[0] = bytes;
}
kernel void consume(global const uint *words, global uint *out) { out[get_global_id(0)] = words[get_global_id(0)]; }";

/// Returns the function, if the device reports the extension.
fn supported() -> Option<Functions> {
    let target = target();
    let all = info_string(|size, value, ret| target.cl.clGetDeviceInfo(target.device, CL_DEVICE_EXTENSIONS, size, value, ret));
    let reported = all.expect("extensions").split(' ').any(|name| name == "cl_pocl_content_size");
    assert!(reported || !target.is_wgcl());
    reported.then(|| Functions::load().expect("the function"))
}

fn devices() -> Vec<cl_device_id> {
    let target = target();
    let mut devices = vec![null_mut(); 8];
    let mut count: cl_uint = 0;
    assert_eq!(target.cl.clGetDeviceIDs(target.platform, CL_DEVICE_TYPE_ALL, 8, devices.as_mut_ptr(), &mut count), CL_SUCCESS);
    devices.truncate(count as usize);
    devices
}

/// Two devices, and kernels on each.
struct Setup {
    context: Context,
    queues: [Queue; 2],
    produce: Kernel,
    consume: Kernel,
}

impl Setup {
    fn new() -> Self {
        let cl = &target().cl;
        let all = [target().device, *devices().last().expect("the interpreter")];
        let mut status = 1;
        let context = Context(cl.clCreateContext(null(), 2, all.as_ptr(), None, null_mut(), &mut status));
        assert_eq!(status, CL_SUCCESS, "clCreateContext");
        let queues = all.map(|device| Queue(cl.clCreateCommandQueue(context.0, device, 0, &mut status)));
        let program = context.program(SOURCE);
        assert_eq!(cl.clBuildProgram(program.0, 0, null(), c"".as_ptr(), None, null_mut()), CL_SUCCESS);
        let (produce, consume) = (program.kernel("produce"), program.kernel("consume"));
        Self { context, queues, produce, consume }
    }

    /// The first device fills a buffer with ones. The second one writes other words and the count, and the first one
    /// copies the buffer. Returns the number of words that were transferred, and checks all words.
    fn transferred(&self, words: &Mem, count: &Mem, bytes: u64) -> usize {
        let [first, second] = &self.queues;
        first.write(words, &vec![1_u32; WORDS]);
        self.produce.set_mem(0, words);
        self.produce.set_mem(1, count);
        assert_eq!(self.produce.set(2, &bytes), CL_SUCCESS);
        assert_eq!(second.launch(&self.produce, &[WORDS], None), CL_SUCCESS);
        second.finish();
        let out = self.context.buffer(4 * WORDS);
        self.consume.set_mem(0, words);
        self.consume.set_mem(1, &out);
        assert_eq!(first.launch(&self.consume, &[WORDS], None), CL_SUCCESS);
        let found = first.read::<u32>(&out, WORDS);
        let transferred = found.iter().zip(7..).take_while(|(word, wanted)| **word == *wanted).count();
        assert!(found[transferred..].iter().all(|word| *word == 1), "the words that were not transferred have changed");
        transferred
    }
}

#[test]
fn only_meaningful_bytes_are_transferred() {
    // The second device must be another one than the device under test.
    let is_interpreter = std::env::var("WGCL_TEST_DEVICE").is_ok_and(|device| device == "interpreter");
    if is_interpreter || std::env::var_os("WGCL_TEST_PLATFORM").is_some() {
        return;
    }
    // SAFETY: the only test of this process; no other thread exists that reads the environment.
    unsafe { std::env::set_var("WGCL_INTERPRETER", "1") };
    let Some(functions) = supported() else { return };
    invalid_buffers_are_rejected(&functions);
    assert!(devices().len() >= 2, "the interpreter is not listed");
    let setup = Setup::new();
    let (words, count) = (setup.context.buffer(4 * WORDS), setup.context.buffer(16));
    assert_eq!(setup.transferred(&words, &count, 4000), WORDS, "without a content size");
    assert_eq!(functions.clSetContentSizeBufferPoCL(words.0, count.0), CL_SUCCESS);
    for (bytes, wanted) in [(4000, 1000), (4, 1), (0, 0), (4 * WORDS as u64, WORDS), (u64::MAX, WORDS), (80_000, 20_000)] {
        assert_eq!(setup.transferred(&words, &count, bytes), wanted, "{bytes} bytes");
    }
    // The second device reads its own words: nothing is transferred.
    assert_eq!(setup.queues[1].read::<u32>(&words, WORDS), (7..7 + WORDS as u32).collect::<Vec<_>>());
    // After the release of the count, all bytes are transferred.
    drop(count);
    let other = setup.context.buffer(8);
    assert_eq!(setup.transferred(&words, &other, 4000), WORDS);
}

fn invalid_buffers_are_rejected(functions: &Functions) {
    let (context, other) = (Context::new(), Context::new());
    let (words, count, small, foreign) = (context.buffer(4096), context.buffer(8), context.buffer(7), other.buffer(8));
    let set = |buffer: cl_mem, count: cl_mem| functions.clSetContentSizeBufferPoCL(buffer, count);
    assert_eq!(set(words.0, count.0), CL_SUCCESS);
    assert_eq!((set(null_mut(), count.0), set(words.0, null_mut())), (CL_INVALID_MEM_OBJECT, CL_INVALID_MEM_OBJECT));
    assert_eq!(set(words.0, small.0), CL_INVALID_BUFFER_SIZE);
    assert_eq!(set(words.0, foreign.0), CL_INVALID_CONTEXT);
}
