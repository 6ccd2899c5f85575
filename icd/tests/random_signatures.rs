//! Kernels with random signatures must read every argument as the host set it.
//!
//! A signature has scalars, vectors, structures of random layout (nested, packed, with arrays), buffers, local memory,
//! images and samplers in random order. The kernel writes every scalar of every argument to a buffer. It reads a scalar
//! directly, through a helper that takes the structure by value, or with an index that is known only at the launch. The
//! expected values are the bytes passed to clSetKernelArg, so the test applies to every device and to the interpreter.
//! `WGCL_FUZZ_SEED` is the first seed, and `WGCL_FUZZ_COUNT` the number of signatures.

mod common;

use std::fmt::Write as _;

use common::ffi::{
    CL_ADDRESS_CLAMP, CL_FALSE, CL_FILTER_NEAREST, CL_MEM_COPY_HOST_PTR, CL_MEM_OBJECT_IMAGE2D, CL_MEM_READ_ONLY, CL_RGBA, CL_SUCCESS,
    CL_UNSIGNED_INT8, cl_sampler,
};
use common::images::{desc, format, image, supported};
use common::objects::{Context, Kernel, Mem, Queue};
use common::random::{Random, setting};
use common::target;

/// The default number of signatures.
const COUNT: u64 = 24;
/// The number of kernels in one program.
const KERNELS: u64 = 12;
/// Maximum number of bytes of the value arguments of a kernel. wgcl's devices support 4,096 bytes for all arguments.
const MAX_BYTES: usize = 3900;

/// The scalar types: their names in OpenCL C, and their sizes in bytes.
const SCALARS: [(&str, usize); 10] =
    [("char", 1), ("uchar", 1), ("short", 2), ("ushort", 2), ("int", 4), ("uint", 4), ("float", 4), ("long", 8), ("ulong", 8), ("int", 4)];

/// A type that may be passed by value.
#[derive(Clone)]
enum Type {
    /// An index of `SCALARS`, and the number of lanes.
    Vector(usize, usize),
    Array(Box<Type>, usize),
    Structure(Structure),
}

#[derive(Clone)]
struct Structure {
    name: String,
    packed: bool,
    members: Vec<Type>,
}

impl Type {
    fn align(&self) -> usize {
        match self {
            Self::Vector(scalar, lanes) => SCALARS[*scalar].1 * lanes.next_power_of_two(),
            Self::Array(element, _) => element.align(),
            Self::Structure(structure) if structure.packed => 1,
            Self::Structure(structure) => structure.members.iter().map(Self::align).max().unwrap_or(1),
        }
    }

    fn size(&self) -> usize {
        match self {
            Self::Vector(scalar, lanes) => SCALARS[*scalar].1 * lanes.next_power_of_two(),
            Self::Array(element, count) => element.size() * count,
            Self::Structure(structure) => {
                let end = structure.offsets().last().map_or(0, |(offset, member)| offset + member.size());
                end.next_multiple_of(self.align())
            }
        }
    }

    fn name(&self) -> String {
        match self {
            Self::Vector(scalar, 1) => SCALARS[*scalar].0.to_owned(),
            Self::Vector(scalar, lanes) => format!("{}{lanes}", SCALARS[*scalar].0),
            Self::Array(element, _) => element.name(),
            Self::Structure(structure) => structure.name.clone(),
        }
    }

    /// Adds an entry for every scalar of the type: its expression, offset and type.
    fn scalars(&self, expression: &str, offset: usize, out: &mut Vec<Scalar>) {
        match self {
            Self::Vector(scalar, 1) => out.push(Scalar { expression: expression.to_owned(), offset, ty: *scalar }),
            Self::Vector(scalar, lanes) => {
                for lane in 0..*lanes {
                    let expression = format!("{expression}.s{lane:x}");
                    out.push(Scalar { expression, offset: offset + lane * SCALARS[*scalar].1, ty: *scalar });
                }
            }
            Self::Array(element, count) => {
                for index in 0..*count {
                    // The indices of every second element are known only at the launch. The argument `one` is 1.
                    let at = if index % 2 == 0 { index.to_string() } else { format!("one * {index}") };
                    element.scalars(&format!("{expression}[{at}]"), offset + index * element.size(), out);
                }
            }
            Self::Structure(structure) => {
                for (number, (at, member)) in structure.offsets().iter().enumerate() {
                    member.scalars(&format!("{expression}.m{number}"), offset + at, out);
                }
            }
        }
    }
}

impl Structure {
    fn offsets(&self) -> Vec<(usize, Type)> {
        let mut end = 0_usize;
        let mut offsets = Vec::new();
        for member in &self.members {
            let at = if self.packed { end } else { end.next_multiple_of(member.align()) };
            end = at + member.size();
            offsets.push((at, member.clone()));
        }
        offsets
    }
}

struct Scalar {
    expression: String,
    offset: usize,
    ty: usize,
}

/// An argument of a kernel.
enum Argument {
    Value(Vec<u8>),
    Global(u64),
    Constant(u64),
    Local(usize),
    Image,
    Sampler,
}

/// A kernel, its arguments, and the words that it must write.
struct Signature {
    arguments: Vec<Argument>,
    expected: Vec<u64>,
}

/// Writes a program of random kernels.
struct Writer {
    random: Random,
    images: bool,
    text: String,
    structures: usize,
}

impl Writer {
    fn ty(&mut self, depth: usize) -> Type {
        match self.random.below(if depth == 0 { 8 } else { 5 }) {
            0..3 => Type::Vector(self.random.below(SCALARS.len()), 1),
            3 => Type::Vector(self.random.below(SCALARS.len()), [2, 3, 4, 8, 16][self.random.below(if depth == 0 { 5 } else { 4 })]),
            4 if depth > 0 => {
                let element = if depth < 2 && self.random.below(3) == 0 {
                    self.structure(depth + 1)
                } else {
                    Type::Vector(self.random.below(SCALARS.len()), 1)
                };
                Type::Array(Box::new(element), 1 + self.random.below(6))
            }
            _ => self.structure(depth + 1),
        }
    }

    fn structure(&mut self, depth: usize) -> Type {
        let count = 1 + self.random.below(5);
        let members =
            (0..count).map(|_| if depth < 3 { self.ty(depth) } else { Type::Vector(self.random.below(SCALARS.len()), 1) }).collect();
        let packed = self.random.below(8) == 0;
        let name = format!("S{}", self.structures);
        self.structures += 1;
        let structure = Structure { name, packed, members };
        let mut text = format!("typedef struct {} {{ ", if packed { "__attribute__((packed))" } else { "" });
        for (number, member) in structure.members.iter().enumerate() {
            let array = if let Type::Array(_, count) = member { format!("[{count}]") } else { String::new() };
            let _ = write!(text, "{} m{number}{array}; ", member.name());
        }
        let _ = writeln!(self.text, "{text}}} {};", structure.name);
        Type::Structure(structure)
    }

    fn bytes(&mut self, count: usize) -> Vec<u8> {
        (0..count).map(|_| self.random.below(256) as u8).collect()
    }

    /// Generates the kernel with this number. `out` and `one` are the first parameters, so that the other parameters
    /// begin at any offset.
    fn kernel(&mut self, number: u64) -> Signature {
        let mut arguments = Vec::new();
        let (mut params, mut body) = ("global ulong *out, uint one".to_owned(), String::new());
        let mut expected = Vec::new();
        let mut total = 0;
        for index in 0..1 + self.random.below(8) {
            let name = format!("p{index}");
            match self.random.below(if self.images { 14 } else { 11 }) {
                kind @ (8 | 9) => {
                    let value = self.random.below(1 << 30) as u64;
                    let space = if kind == 8 { "global" } else { "constant" };
                    let _ = write!(params, ", {space} ulong *{name}");
                    let _ = writeln!(body, "    out[{}] = {name}[one];", expected.len());
                    expected.push(value);
                    arguments.push(if kind == 8 { Argument::Global(value) } else { Argument::Constant(value) });
                }
                10 => {
                    let _ = write!(params, ", local uchar *{name}");
                    let _ = writeln!(body, "    {name}[one] = {index}; out[{}] = {name}[one];", expected.len());
                    expected.push(index as u64);
                    arguments.push(Argument::Local(2 + self.random.below(60)));
                }
                11 | 12 => {
                    let _ = write!(params, ", read_only image2d_t {name}");
                    let _ = writeln!(body, "    out[{}] = get_image_width({name});", expected.len());
                    expected.push(3);
                    arguments.push(Argument::Image);
                }
                13 => {
                    let _ = write!(params, ", sampler_t {name}");
                    arguments.push(Argument::Sampler);
                }
                _ => {
                    let ty = self.ty(0);
                    if total + ty.size() + ty.align() > MAX_BYTES {
                        continue;
                    }
                    total += ty.size() + ty.align();
                    let bytes = self.bytes(ty.size());
                    let _ = write!(params, ", {} {name}", ty.name());
                    self.reads(&ty, &name, &bytes, &mut body, &mut expected);
                    arguments.push(Argument::Value(bytes));
                }
            }
        }
        let _ = writeln!(self.text, "kernel void k{number}({params})\n{{\n{body}}}");
        Signature { arguments, expected }
    }

    /// Adds reads of every scalar of an argument, with the expected values.
    fn reads(&mut self, ty: &Type, name: &str, bytes: &[u8], body: &mut String, expected: &mut Vec<u64>) {
        let helper = matches!(ty, Type::Structure(_)) && self.random.below(3) == 0;
        let mut scalars = Vec::new();
        ty.scalars(name, 0, &mut scalars);
        if helper {
            let function = format!("f{}_{}", self.structures, self.text.len());
            let _ = writeln!(body, "    {function}(out + {}, one, {name});", expected.len());
            let mut text = format!("void {function}(global ulong *out, uint one, {} {name})\n{{\n", ty.name());
            for (at, scalar) in scalars.iter().enumerate() {
                let _ = writeln!(text, "    out[{at}] = {};", word(scalar));
            }
            let _ = writeln!(self.text, "{text}}}");
        } else {
            for (at, scalar) in (expected.len()..).zip(&scalars) {
                let _ = writeln!(body, "    out[{at}] = {};", word(scalar));
            }
        }
        for scalar in &scalars {
            let size = SCALARS[scalar.ty].1;
            let mut word = [0; 8];
            word[..size].copy_from_slice(&bytes[scalar.offset..scalar.offset + size]);
            expected.push(u64::from_le_bytes(word));
        }
    }
}

/// Returns an expression for the bits of a scalar as an unsigned word.
fn word(scalar: &Scalar) -> String {
    let expression = &scalar.expression;
    match SCALARS[scalar.ty] {
        ("float", _) => format!("as_uint({expression})"),
        (_, 1) => format!("as_uchar({expression})"),
        (_, 2) => format!("as_ushort({expression})"),
        (_, 4) => format!("as_uint({expression})"),
        _ => format!("as_ulong({expression})"),
    }
}

/// Sets the arguments of a kernel. The returned memory objects must live until the kernel has run.
fn set(context: &Context, kernel: &Kernel, arguments: &[Argument], sampler: cl_sampler, picture: Option<&Mem>) -> Vec<Mem> {
    let cl = &target().cl;
    let mut kept = Vec::new();
    for (index, argument) in (2..).zip(arguments) {
        match argument {
            Argument::Value(bytes) => {
                assert_eq!(cl.clSetKernelArg(kernel.0, index, bytes.len(), bytes.as_ptr().cast()), CL_SUCCESS, "argument {index}");
            }
            Argument::Global(value) | Argument::Constant(value) => {
                let mut words = [0, *value];
                let mem = context.buffer_with(CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR, 16, words.as_mut_ptr().cast());
                kernel.set_mem(index, &mem);
                kept.push(mem);
            }
            Argument::Local(size) => assert_eq!(cl.clSetKernelArg(kernel.0, index, *size, std::ptr::null()), CL_SUCCESS),
            Argument::Image => kernel.set_mem(index, picture.expect("only devices with images get such signatures")),
            Argument::Sampler => assert_eq!(kernel.set(index, &sampler), CL_SUCCESS),
        }
    }
    kept
}

/// Runs the kernels of one program. Adds the mismatches of each kernel to `wrong`.
fn run(context: &Context, queue: &Queue, seed: u64, count: u64, wrong: &mut Vec<String>) {
    let images = supported();
    let mut writer = Writer { random: Random(seed), images, text: String::new(), structures: 0 };
    let signatures: Vec<Signature> = (0..count).map(|number| writer.kernel(number)).collect();
    let program = context.build(&writer.text);
    let cl = &target().cl;
    let mut status = CL_SUCCESS;
    let (sampler, picture) = if images {
        let sampler = cl.clCreateSampler(context.0, CL_FALSE, CL_ADDRESS_CLAMP, CL_FILTER_NEAREST, &mut status);
        assert_eq!(status, CL_SUCCESS, "clCreateSampler");
        let mut pixels = [7_u8; 3 * 2 * 4];
        let format = format(CL_RGBA, CL_UNSIGNED_INT8);
        let flags = CL_MEM_READ_ONLY | CL_MEM_COPY_HOST_PTR;
        (sampler, Some(image(context, flags, format, &desc(CL_MEM_OBJECT_IMAGE2D, [3, 2, 0]), pixels.as_mut_ptr().cast())))
    } else {
        (std::ptr::null_mut(), None)
    };
    for (number, signature) in signatures.iter().enumerate() {
        let kernel = program.kernel(&format!("k{number}"));
        let out = context.buffer(8 * signature.expected.len().max(1));
        kernel.set_mem(0, &out);
        assert_eq!(kernel.set(1, &1_u32), CL_SUCCESS);
        let _kept = set(context, &kernel, &signature.arguments, sampler, picture.as_ref());
        let status = queue.launch(&kernel, &[1], None);
        if status != CL_SUCCESS {
            wrong.push(format!("seed {seed}, k{number}: clEnqueueNDRangeKernel returns {status}\n{}", writer.text));
            continue;
        }
        let have: Vec<u64> = queue.read(&out, signature.expected.len());
        if let Some(at) = have.iter().zip(&signature.expected).position(|(have, want)| have != want) {
            let (have, want) = (have[at], signature.expected[at]);
            wrong.push(format!("seed {seed}, k{number}: out[{at}] is {have:#x}, expected {want:#x}\n{}", writer.text));
        }
    }
    if !sampler.is_null() {
        assert_eq!(cl.clReleaseSampler(sampler), CL_SUCCESS);
    }
}

#[test]
fn kernels_read_the_argument_values_that_were_set() {
    let context = Context::new();
    let queue = context.queue(0);
    let (first, count) = (setting("WGCL_FUZZ_SEED", 1), setting("WGCL_FUZZ_COUNT", COUNT));
    let mut wrong = Vec::new();
    for (seed, start) in (first..).zip((0..count).step_by(KERNELS as usize)) {
        run(&context, &queue, seed, KERNELS.min(count - start), &mut wrong);
    }
    assert!(wrong.is_empty(), "{} of {count} kernels read wrong values; the first:\n{}", wrong.len(), wrong[0]);
}
