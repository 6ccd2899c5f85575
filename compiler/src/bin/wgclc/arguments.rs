//! The command line: its own options, by clap, and those of clBuildProgram, which have one dash.

use std::path::PathBuf;

use clap::{Parser, ValueEnum, ValueHint};

use wgcl_codegen::Isa;
use wgcl_compiler::options;
use wgcl_compiler::program::BuildOptions;
use wgcl_compiler::specialise::has_pass;
use wgcl_compiler::target::profiles::PROFILES;
use wgcl_compiler::target::{self, Target};

use crate::describe::Describe;

/// What is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Emit {
    /// The tokens after preprocessing.
    Tokens,
    /// The syntax tree.
    Ast,
    /// The typed tree.
    Thir,
    /// The intermediate representation after the passes of the build.
    Ir,
    /// The intermediate representation of each kernel as emission reads it, specialised to a launch.
    Launched,
    /// The vector IR of each kernel, for a CPU.
    Vector,
    /// Machine code of each kernel, for a CPU.
    Asm,
    /// naga's structures for each kernel.
    Naga,
    /// SPIR-V for each kernel, disassembled.
    Spirv,
    /// WGSL for each kernel.
    Wgsl,
    /// Metal Shading Language for each kernel.
    Msl,
    /// HLSL for each kernel.
    Hlsl,
    /// GLSL (OpenGL ES 3.1) for each kernel.
    Glsl,
    /// Kernels, arguments and attributes.
    Reflection,
    /// What has to be bound for the shader of each kernel, and what lies where in the buffer of its arguments.
    Bindings,
}

impl Emit {
    /// Whether it is a stage before the IR, which a source with errors may have as well.
    pub const fn is_of_front_end(self) -> bool {
        matches!(self, Self::Tokens | Self::Ast | Self::Thir)
    }

    /// Whether it wants naga without what only SPIR-V can say.
    pub const fn is_portable(self) -> bool {
        matches!(self, Self::Wgsl | Self::Msl | Self::Hlsl | Self::Glsl | Self::Bindings)
    }

    /// What a file of it ends with.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Tokens => "tokens",
            Self::Ast => "ast",
            Self::Thir => "thir",
            Self::Ir => "ir",
            Self::Launched => "launched.ir",
            Self::Vector => "vir",
            Self::Asm => "s",
            Self::Naga => "naga",
            Self::Spirv => "spvasm",
            Self::Wgsl => "wgsl",
            Self::Msl => "metal",
            Self::Hlsl => "hlsl",
            Self::Glsl => "comp",
            Self::Reflection => "reflection",
            Self::Bindings => "bindings",
        }
    }
}

/// Instruction sets of CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum InstructionSet {
    /// Scalars only.
    #[value(name = "sse4.2")]
    Sse42,
    /// Vectors of 32 bytes.
    Avx2,
    /// Vectors of 64 bytes.
    Avx512,
}

impl From<InstructionSet> for Isa {
    fn from(set: InstructionSet) -> Self {
        match set {
            InstructionSet::Sse42 => Self::Sse42,
            InstructionSet::Avx2 => Self::Avx2,
            InstructionSet::Avx512 => Self::Avx512,
        }
    }
}

/// Types that a device does by others.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Emulated {
    /// 64-bit integers, by words.
    Int64,
    /// Doubles, by 64-bit integers.
    Fp64,
    /// Atomic operations of 64 bits, by locks.
    #[value(name = "int64_atomics")]
    Int64Atomics,
}

/// How far a source is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Check {
    /// Through all stages, to a valid shader for each kernel.
    Full,
    /// The language's rules only.
    Front,
}

/// What is checked of a kernel that runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Checked {
    /// What it does with memory, and integers that it divides by zero.
    Accesses,
    /// NaNs that it makes of numbers as well.
    Nan,
}

/// How diagnostics are told.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MessageFormat {
    /// As text on standard error, as clang has it.
    Human,
    /// As JSON on standard output, an object a line, as cargo has it.
    Json,
}

/// What stands below the options of `--help`.
const AFTER_HELP: &str = "\
All options with one dash but -o are those of clBuildProgram, such as -D, -I, -cl-std=CL3.0, -Werror.

Exit status: 0 where every file is accepted, 1 where one is refused or a kernel of it cannot be compiled, 2 for wrong usage and for files that \
cannot be read or written, 101 for a defect of the compiler. With --watch it ends by a signal only.";

/// Compiles OpenCL C, and SPIR-V modules of its environment.
#[derive(Debug, Parser)]
#[command(
    name = "wgclc",
    version,
    override_usage = "wgclc [build options] [--emit <STAGE> | --after <PASS> | --check | --time] FILE.cl|FILE.spv...\n       wgclc run [build options] [options] FILE KERNEL global=X [ARGUMENT...]    (see wgclc run --help)",
    after_help = AFTER_HELP
)]
pub struct Arguments {
    /// Print what stages of the compiler make of the source (several, with commas between them, where -o names a folder)
    #[arg(long, value_enum, value_name = "STAGE", value_delimiter = ',')]
    pub emit: Vec<Emit>,
    /// Write what --emit makes to that file; or, where it is a folder or ends with a slash, to FILE.STAGE in it
    #[arg(short, long, value_name = "PATH", requires = "emit")]
    pub output: Option<PathBuf>,
    /// Only say whether the source builds and every kernel of it compiles
    #[arg(long, value_enum, value_name = "DEPTH", conflicts_with = "emit", num_args = 0..=1, require_equals = true, default_missing_value = "full")]
    pub check: Option<Check>,
    /// Print the intermediate representation after every run of a pass, from the build on to the shader of each kernel
    #[arg(long, value_name = "PASS", value_parser = pass, conflicts_with_all = ["emit", "check"])]
    pub after: Option<String>,
    /// Make shaders of all kernels, print only how long each stage and each pass took
    #[arg(long, conflicts_with = "emit")]
    pub time: bool,
    /// How diagnostics are told: `json` writes an object a line to standard output, in the form of cargo's and rustc's
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "human", conflicts_with_all = ["after", "time"])]
    pub message_format: MessageFormat,
    /// Do it anew whenever one of the files, or a header that it includes, has changed
    #[arg(long)]
    pub watch: bool,
    /// The instruction set of `--emit vector` and `--emit asm`
    #[arg(long, value_enum, value_name = "SET", default_value = "avx2")]
    pub isa: InstructionSet,
    /// Emit that kernel only
    #[arg(long, value_name = "NAME")]
    pub kernel: Option<String>,
    /// Work-group size to emit shaders for, where the kernel does not require one
    #[arg(long, value_name = "X,Y,Z", value_delimiter = ',', default_values_t = [64])]
    pub local_size: Vec<u32>,
    /// Reach buffers by their addresses in the device's memory, where the device has such
    #[arg(long)]
    pub addresses: bool,
    /// The device to compile for
    #[arg(long, value_name = "PROFILE", value_parser = device, default_value = "full")]
    pub device: Target,
    /// Types that the device is to do by others, as WGCL_EMULATE says it to the driver
    #[arg(long, value_enum, value_name = "TYPES", value_delimiter = ',')]
    pub emulate: Vec<Emulated>,
    #[command(flatten)]
    pub describe: Describe,
    /// The sources or modules, `-` for standard input
    #[arg(required = true, value_hint = ValueHint::FilePath)]
    pub files: Vec<String>,
}

impl Arguments {
    /// Reads a command line, and the build options in it. Where it is wrong, or asks for help, clap ends the process.
    ///
    /// # Errors
    /// What is wrong with the build options or with what is asked for together.
    pub fn read(words: impl Iterator<Item = String>) -> Result<(Self, BuildOptions), String> {
        let (own, build) = split(words);
        let mut arguments = Self::parse_from(own);
        let emulates = |emulated| arguments.emulate.contains(&emulated);
        if !arguments.emulate.is_empty() {
            let (int64, fp64, int64_atomics) = (emulates(Emulated::Int64), emulates(Emulated::Fp64), emulates(Emulated::Int64Atomics));
            arguments.device = arguments.device.emulating(target::Emulated { int64, fp64, int64_atomics });
        }
        let options = options::parse_words(build).map_err(|error| error.to_string())?;
        if arguments.files.iter().filter(|file| *file == "-").count() > usize::from(!arguments.watch) {
            return Err("standard input can be read once, and cannot be watched".to_owned());
        }
        if arguments.message_format == MessageFormat::Json && !arguments.emit.is_empty() && arguments.output.is_none() {
            return Err("with `--message-format json` what is emitted goes to a file: -o is missing".to_owned());
        }
        let several = arguments.emit.len() > 1 || arguments.files.len() > 1 && arguments.output.is_some();
        if several && arguments.folder().is_none() {
            return Err("for several files or stages -o names a folder: end it with a slash".to_owned());
        }
        Ok((arguments, options))
    }

    /// The folder that -o names.
    pub fn folder(&self) -> Option<&PathBuf> {
        let names_folder = |path: &&PathBuf| path.is_dir() || path.as_os_str().as_encoded_bytes().ends_with(b"/");
        self.output.as_ref().filter(names_folder)
    }
}

/// The device of a profile.
fn device(name: &str) -> Result<Target, String> {
    let names = || PROFILES.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ");
    Target::profile(name).ok_or_else(|| format!("no profile is called so; there are {}", names()))
}

/// A pass by its name.
fn pass(name: &str) -> Result<String, String> {
    if has_pass(name) {
        Ok(name.to_owned())
    } else {
        Err("no pass is called so: they are named after their files in compiler/src/passes".to_owned())
    }
}

/// Separates the options of clBuildProgram, behind, from those of the tool.
pub fn split(mut words: impl Iterator<Item = String>) -> (Vec<String>, Vec<String>) {
    let (mut own, mut build) = (Vec::new(), Vec::new());
    own.extend(words.next());
    while let Some(word) = words.next() {
        let is_own =
            !word.starts_with('-') || word.starts_with("--") || word.starts_with("-o") || matches!(word.as_str(), "-" | "-h" | "-V");
        if is_own {
            let takes_next = word == "-o";
            own.push(word);
            if takes_next {
                own.extend(words.next());
            }
        } else {
            let takes_next = options::takes_next_word(&word);
            build.push(word);
            if takes_next {
                build.extend(words.next());
            }
        }
    }
    (own, build)
}

/// What stands below the options of `wgclc run --help`.
const AFTER_RUN_HELP: &str = "\
Sizes are global=X[xY[xZ]], local= and offset=; the device chooses local where it is left out. Arguments are written as in the tests of wgcl, in order or by \
the names of the kernel's own:
  'a: float[1024] = i * 0.5'   a buffer of 1024 floats, each computed from its index; zeros without a value
  'b: int[64] = rand(0, 9)'    the same numbers each time
  'n: int = 64'                a value; 'v: float4 = {1, 2, 3, 4}' a vector
  'local 256'                  bytes of local memory
  'null', 'same a', 'struct {int = 1; float = 2}', 'image2d 8x4 RGBA UNORM_INT8 = i', 'sampler unnormalized clamp nearest', 'pipe int[64]'
Values know earlier arguments by their names. docs/wgclc.md tells all of it.

Devices are those of the library that WGCL_LIBRARY names, or of a libwgcl beside wgclc, and else those that the ICD loader shows. All options with one dash are \
those of clBuildProgram.

Exit status: 0 where the kernel ran (and the devices agree), 1 where the program is refused, a call fails, the checker finds something or the devices differ, \
2 for wrong usage, 3 where there is no such device or no OpenCL at all.";

/// Runs a kernel of an OpenCL C source or a SPIR-V module, and prints its buffers and what it took.
#[derive(Debug, Parser)]
#[command(
    name = "wgclc run",
    override_usage = "wgclc run [build options] [options] FILE.cl|FILE.spv KERNEL global=X[xY[xZ]] [local=X...] [ARGUMENT...]",
    after_help = AFTER_RUN_HELP
)]
pub struct RunArguments {
    /// The device: a part of its name, or of its platform's (the first there is, without)
    #[arg(long, value_name = "NAME")]
    pub device: Option<String>,
    /// Run it on that device as well (`interpreter` is wgcl's), and compare the buffers
    #[arg(long, value_name = "NAME")]
    pub compare: Option<String>,
    /// By how many units of the last place floats may differ
    #[arg(long, value_name = "ULP", default_value_t = 0.0, requires = "compare")]
    pub within: f64,
    /// Check every access of the kernel, on wgcl's device that is the CPU; with `nan` also tell where it makes a NaN of numbers
    #[arg(long, value_enum, value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "accesses")]
    pub check: Option<Checked>,
    /// How often to launch it again, for its time; each launch works on what the one before has left
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub repeat: usize,
    /// How many elements of each buffer to print
    #[arg(long, value_name = "N", default_value_t = 16)]
    pub print: usize,
    /// The source or module
    pub file: PathBuf,
    /// The kernel
    pub kernel: String,
    /// Sizes and arguments
    #[arg(required = true, value_name = "SIZES AND ARGUMENTS")]
    pub words: Vec<String>,
}

impl RunArguments {
    /// Reads the words behind `wgclc run`; the build options come back as they are. Where they are wrong, or ask for help, clap ends the process.
    pub fn read(words: impl Iterator<Item = String>) -> (Self, Vec<String>) {
        let (own, build) = split(words);
        (Self::parse_from(own), build)
    }
}
