//! The command line. clap parses the options of `wgclc`. Options with one dash are those of
//! clBuildProgram, except `-o`, `-h` and `-V`.

use std::path::PathBuf;

use clap::builder::{EnumValueParser, TypedValueParser as _};
use clap::{Parser, ValueEnum, ValueHint};

use wgcl_codegen::Isa;
use wgcl_compiler::diag::suggest;
use wgcl_compiler::options;
use wgcl_compiler::program::BuildOptions;
use wgcl_compiler::specialise::{has_pass, pass_names};
use wgcl_compiler::target::profiles::PROFILES;
use wgcl_compiler::target::{self, Target};

use crate::describe::Describe;

/// A compiler stage whose output is printed.
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
    /// The intermediate representation of each kernel after specialisation for a launch
    Launched,
    /// The vector IR of each kernel, for a CPU.
    Vector,
    /// Machine code of each kernel, for a CPU.
    Asm,
    /// A report on the machine code of each kernel, for a CPU: vectors, accesses, spills and operations per byte.
    Report,
    /// naga's module for each kernel
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
    /// The bindings of each kernel's shader, and the layout of its argument buffer
    Bindings,
}

impl Emit {
    /// Whether the stage precedes the IR. These stages also have an output for sources with errors.
    pub const fn is_of_front_end(self) -> bool {
        matches!(self, Self::Tokens | Self::Ast | Self::Thir)
    }

    /// Whether the stage requires a naga module without features that only SPIR-V supports.
    pub const fn is_portable(self) -> bool {
        matches!(self, Self::Wgsl | Self::Msl | Self::Hlsl | Self::Glsl | Self::Bindings)
    }

    /// Returns the file name extension of the stage's output.
    pub const fn extension(self) -> &'static str {
        match self {
            Self::Tokens => "tokens",
            Self::Ast => "ast",
            Self::Thir => "thir",
            Self::Ir => "ir",
            Self::Launched => "launched.ir",
            Self::Vector => "vir",
            Self::Asm => "s",
            Self::Report => "report",
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
    /// Scalar code with instructions up to SSE4.2
    #[value(name = "sse4.2")]
    Sse42,
    /// Vectors of 32 bytes
    Avx2,
    /// Vectors of 64 bytes
    Avx512,
    /// The best one that this processor supports
    Native,
    /// AArch64 without extensions, vectors of 16 bytes
    #[value(name = "armv8", alias = "neon")]
    Armv8,
    /// AArch64 with FP16, LSE and DotProd, vectors of 16 bytes
    #[value(name = "armv8.2")]
    Armv82,
    /// AArch64 with SVE, vectors of 16 bytes
    #[value(name = "sve-128")]
    Sve128,
    /// AArch64 with SVE, vectors of 32 bytes
    #[value(name = "sve-256")]
    Sve256,
    /// AArch64 with SVE, vectors of 64 bytes
    #[value(name = "sve-512")]
    Sve512,
}

impl InstructionSet {
    /// Returns the instruction set of the code generator. Fails for `Native` if the code generator does not support
    /// this processor.
    fn isa(self) -> Result<Isa, &'static str> {
        Ok(match self {
            Self::Native => return Isa::detect().ok_or("wgcl does not generate code for this processor"),
            Self::Sse42 => Isa::SSE42,
            Self::Avx2 => Isa::AVX2,
            Self::Avx512 => Isa::AVX512,
            Self::Armv8 => Isa::ARMV8,
            Self::Armv82 => Isa::ARMV8_2,
            Self::Sve128 => Isa::SVE_128,
            Self::Sve256 => Isa::SVE_256,
            Self::Sve512 => Isa::SVE_512,
        })
    }
}

/// Features to emulate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Emulated {
    /// 64-bit integers, emulated with 32-bit integers
    Int64,
    /// Doubles, emulated with 64-bit integers
    Fp64,
    /// 64-bit atomic operations, emulated with locks
    #[value(name = "int64_atomics")]
    Int64Atomics,
}

/// The stages that `--check` runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Check {
    /// All stages, up to a valid shader for each kernel
    Full,
    /// The front end only
    Front,
}

/// The checks of the kernel sanitizer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Checked {
    /// All checks except for those of values
    Accesses,
    /// As `accesses`, and NaNs that result from operands that are not NaN
    Nan,
    /// As `accesses`, and conversions of floats to integers that cannot represent the result
    Convert,
}

/// The format of diagnostics.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum MessageFormat {
    /// Text on standard error, in clang's format
    Human,
    /// JSON on standard output, one object per line, in cargo's format
    Json,
}

/// The help text after the options.
const AFTER_HELP: &str = concat!(
    "\
Options with one dash are those of clBuildProgram (-D, -I, -cl-std=CL3.0, -Werror), except -o, -h and -V.

Exit status: 0 if every file is accepted, 1 if a file is rejected or one of its kernels cannot be compiled, 2 for wrong usage or a file that cannot be \
read or written, 101 for a bug in the compiler. With --watch, the command runs until it receives a signal.

Report bugs at ",
    env!("CARGO_PKG_REPOSITORY"),
    "/issues."
);

/// Compiles OpenCL C, and SPIR-V modules for OpenCL.
#[derive(Debug, Parser)]
#[command(
    name = "wgclc",
    version,
    override_usage = "wgclc [build options] [--emit <STAGE> | --after <PASS> | --check | --time] FILE.cl|FILE.spv...\n       wgclc run [build options] [options] FILE KERNEL global=X [ARGUMENT...]    (see wgclc run --help)\n       wgclc replay [options] DIR    (see wgclc replay --help)\n       wgclc lsp    (see wgclc lsp --help)",
    after_help = AFTER_HELP
)]
pub struct Arguments {
    /// Print the output of compiler stages (a comma-separated list if -o names a directory)
    #[arg(long, value_enum, value_name = "STAGE", value_delimiter = ',')]
    pub emit: Vec<Emit>,
    /// Write the output of --emit to this file, or to FILE.STAGE in this directory if PATH is a directory or ends with
    /// a slash
    #[arg(short, long, value_name = "PATH", requires = "emit")]
    pub output: Option<PathBuf>,
    /// Only check that the source builds and that every kernel compiles
    #[arg(long, value_enum, value_name = "DEPTH", conflicts_with = "emit", num_args = 0..=1, require_equals = true, default_missing_value = "full")]
    pub check: Option<Check>,
    /// Print the IR after each run of this pass, both when the program is built and when each kernel is specialised
    #[arg(long, value_name = "PASS", value_parser = pass, conflicts_with_all = ["emit", "check"])]
    pub after: Option<String>,
    /// Compile all kernels to shaders and print only the time of each stage and pass
    #[arg(long, conflicts_with = "emit")]
    pub time: bool,
    /// Format of diagnostics: `json` writes one object per line to standard output, in the format of cargo and rustc
    #[arg(long, value_enum, value_name = "FORMAT", default_value = "human", conflicts_with_all = ["after", "time"])]
    pub message_format: MessageFormat,
    /// Compile again whenever one of the files or an included header changes
    #[arg(long)]
    pub watch: bool,
    /// Instruction set of `--emit vector`, `--emit asm` and `--emit report`
    #[arg(long, value_name = "SET", default_value = "avx2", value_parser = EnumValueParser::<InstructionSet>::new().try_map(InstructionSet::isa))]
    pub isa: Isa,
    /// Compile only this kernel (not for `--emit ir` and `--emit reflection`)
    #[arg(long, value_name = "NAME")]
    pub kernel: Option<String>,
    /// Work-group size for which kernels are compiled; ignored for kernels with reqd_work_group_size
    #[arg(long, value_name = "X[,Y[,Z]]", value_parser = local_size, default_value = "64")]
    pub local_size: [u32; 3],
    /// Access buffers by device addresses if the device supports them
    #[arg(long)]
    pub addresses: bool,
    #[arg(long, value_name = "PROFILE", value_parser = device, default_value = "full", help = format!("Device to compile for: {}", profiles()))]
    pub device: Target,
    /// Features to emulate, as in WGCL_EMULATE
    #[arg(long, value_enum, value_name = "FEATURES", value_delimiter = ',')]
    pub emulate: Vec<Emulated>,
    #[command(flatten)]
    pub describe: Describe,
    /// Source files or SPIR-V modules; `-` is standard input
    #[arg(required = true, value_hint = ValueHint::FilePath)]
    pub files: Vec<String>,
}

impl Arguments {
    /// Parses a command line. clap ends the process if the command line is invalid or contains `--help`.
    ///
    /// # Errors
    /// Fails if a build option is invalid or options contradict each other.
    pub fn read(words: impl Iterator<Item = String>) -> Result<(Self, BuildOptions), String> {
        let (own, build) = split(words);
        let mut arguments = Self::parse_from(own);
        let emulates = |emulated| arguments.emulate.contains(&emulated);
        if !arguments.emulate.is_empty() {
            let (int64, fp64, int64_atomics) = (emulates(Emulated::Int64), emulates(Emulated::Fp64), emulates(Emulated::Int64Atomics));
            arguments.device = arguments.device.emulating(target::Emulated { int64, fp64, int64_atomics });
        }
        // As the CPU device: without the instruction, kernels use library functions that do not need it.
        if arguments.device.native && !arguments.isa.caps().has_fma_f64 {
            arguments.device = arguments.device.without_fused_fma();
        }
        let options = options::parse_words(build).map_err(|error| error.to_string())?;
        if arguments.files.iter().filter(|file| *file == "-").count() > usize::from(!arguments.watch) {
            return Err("`-` (standard input) can be given only once, and not with --watch".to_owned());
        }
        if arguments.message_format == MessageFormat::Json && !arguments.emit.is_empty() && arguments.output.is_none() {
            return Err("--emit with --message-format json requires -o".to_owned());
        }
        let several = arguments.emit.len() > 1 || arguments.files.len() > 1 && arguments.output.is_some();
        if several && arguments.folder().is_none() {
            return Err("-o must name a directory for several files or stages (end the name of a new directory with a slash)".to_owned());
        }
        Ok((arguments, options))
    }

    /// Returns the directory that -o names, or `None` if -o names a file or is missing.
    pub fn folder(&self) -> Option<&PathBuf> {
        let names_folder = |path: &&PathBuf| path.is_dir() || path.as_os_str().as_encoded_bytes().ends_with(b"/");
        self.output.as_ref().filter(names_folder)
    }
}

/// Returns the target of a device profile. Fails if the profile is unknown.
fn device(name: &str) -> Result<Target, String> {
    Target::profile(name).ok_or_else(|| format!("unknown device `{name}`; expected one of {}", profiles()))
}

/// Parses a work-group size. `x` separates the dimensions as well, as in the sizes of `wgclc run`.
fn local_size(text: &str) -> Result<[u32; 3], String> {
    let mut size = [1; 3];
    for (index, word) in text.split([',', 'x']).enumerate() {
        let place = size.get_mut(index).ok_or_else(|| format!("`{text}` has more than three dimensions"))?;
        *place = word.parse().ok().filter(|items| *items > 0).ok_or_else(|| format!("`{word}` is not a number of work-items"))?;
    }
    Ok(size)
}

fn profiles() -> String {
    PROFILES.iter().map(|(name, _)| *name).collect::<Vec<_>>().join(", ")
}

/// Fails if there is no pass with this name.
fn pass(name: &str) -> Result<String, String> {
    if has_pass(name) {
        return Ok(name.to_owned());
    }
    let mut names = pass_names();
    names.sort_unstable();
    names.dedup();
    Err(match suggest::nearest(name, names.iter().copied()) {
        Some(known) => format!("unknown pass `{name}`; did you mean `{known}`?"),
        None => format!("unknown pass `{name}`; the passes are {}", names.join(", ")),
    })
}

/// Separates the words of `wgclc` (first list) from the options of clBuildProgram (second list).
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

/// The help text after the options of `wgclc run`.
const AFTER_RUN_HELP: &str = "\
Sizes are global=X[xY[xZ]], local= and offset=. If local= is omitted, the device chooses the local size. Arguments are given in order, or by the parameter names of the \
kernel:
  'a: float[1024] = i * 0.5'   a buffer of 1024 floats, computed from the index i; zeros if there is no value
  'b: int[64] = rand(0, 9)'    pseudo-random numbers, the same in each run
  'n: int = 64'                a scalar; 'v: float4 = {1, 2, 3, 4}' a vector
  'local 256'                  local memory, in bytes
  'null'                       a null buffer
  'same a'                     the buffer of the earlier argument a
  'struct {int = 1; float = 2}'
                               a structure
  'image2d 8x4 RGBA UNORM_INT8 = i'
                               an image, computed from the index i
  'sampler unnormalized clamp nearest'
                               a sampler
  'pipe int[64]'               a pipe of 64 packets
A value may refer to earlier arguments by name. docs/wgclc.md describes the syntax.

The devices of wgcl come first, then all devices of the ICD loader. The library of wgcl is the one that WGCL_LIBRARY names, or libwgcl in the directory of \
wgclc, in ../lib or in the Python package of the wheel. Options with one dash are those of clBuildProgram, except -h and -V.

Exit status: 0 if the kernel ran (and the devices agree), 1 if the program is rejected, a call fails, the sanitizer reports an error or the devices differ, \
2 for wrong usage, 3 if there is no matching device or no OpenCL library.";

/// Runs a kernel of an OpenCL C source or a SPIR-V module, and prints its buffers and its time.
#[derive(Debug, Parser)]
#[command(
    name = "wgclc run",
    override_usage = "wgclc run [build options] [options] FILE.cl|FILE.spv KERNEL global=X[xY[xZ]] [local=X...] [ARGUMENT...]",
    after_help = AFTER_RUN_HELP
)]
pub struct RunArguments {
    /// Device, by a part of its name or of its platform's name [default: the first device]
    #[arg(long, value_name = "NAME")]
    pub device: Option<String>,
    /// Also run the kernel on this device (`interpreter` is wgcl's interpreter) and compare the buffers
    #[arg(long, value_name = "NAME")]
    pub compare: Option<String>,
    /// Largest accepted difference of floats, in units in the last place
    #[arg(long, value_name = "ULP", default_value_t = 0.0, requires = "compare")]
    pub within: f64,
    /// Run the kernel with the kernel sanitizer on wgcl's CPU device; `nan` also reports NaNs that result from operands
    /// that are not NaN, and `convert` conversions to integers that are out of range
    #[arg(long, value_enum, value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "accesses")]
    pub check: Option<Checked>,
    /// Launch the kernel N more times and print the median time; each launch reads the output of the previous one
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub repeat: usize,
    /// Number of elements of each buffer to print
    #[arg(long, value_name = "N", default_value_t = 16)]
    pub print: usize,
    /// Source file or SPIR-V module
    pub file: PathBuf,
    /// Name of the kernel
    pub kernel: String,
    /// Sizes and arguments
    #[arg(required = true, value_name = "SIZES AND ARGUMENTS")]
    pub words: Vec<String>,
}

impl RunArguments {
    /// Parses the words after `wgclc run`. Returns the build options unparsed. clap ends the process if the words are
    /// invalid or contain `--help`.
    pub fn read(words: impl Iterator<Item = String>) -> (Self, Vec<String>) {
        let (own, build) = split(words);
        (Self::parse_from(own), build)
    }
}

/// The help text after the options of `wgclc replay`.
const AFTER_REPLAY_HELP: &str = "\
WGCL_CAPTURE=DIR[:KERNEL[:N]] captures launches of a program that uses wgcl. DIR is such a directory, or the folder of one launch in it. docs/replay.md describes \
the folder.

Exit status: 0 if the results are as captured, 1 if they differ, the program is rejected, a call fails or the sanitizer reports an error, 2 for wrong usage or \
a capture that cannot be read, 3 if there is no matching device or no OpenCL library.";

/// Runs captured launches again on any OpenCL device, and compares the results with the captured ones.
#[derive(Debug, Parser)]
#[command(name = "wgclc replay", bin_name = "wgclc replay", after_help = AFTER_REPLAY_HELP)]
pub struct ReplayArguments {
    /// Device, by a part of its name or of its platform's name [default: the first device]
    #[arg(long, value_name = "NAME")]
    pub device: Option<String>,
    /// Largest accepted difference of floats, in units in the last place
    #[arg(long, value_name = "ULP", default_value_t = 0.0)]
    pub within: f64,
    /// Run the kernel with the kernel sanitizer on wgcl's CPU device; `nan` also reports NaNs that result from operands
    /// that are not NaN, and `convert` conversions to integers that are out of range
    #[arg(long, value_enum, value_name = "WHAT", num_args = 0..=1, require_equals = true, default_missing_value = "accesses")]
    pub check: Option<Checked>,
    /// Launch the kernel N more times, each time with the captured contents of memory, and print the times
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub repeat: usize,
    /// Number of differing elements to print for each memory object
    #[arg(long, value_name = "N", default_value_t = 4)]
    pub print: usize,
    /// Directory of captures, or the folder of one captured launch
    #[arg(value_hint = ValueHint::DirPath)]
    pub directory: PathBuf,
}

impl ReplayArguments {
    /// Parses the words after `wgclc replay`. clap ends the process if the words are invalid or contain `--help`.
    pub fn read(words: impl Iterator<Item = String>) -> Self {
        Self::parse_from(words)
    }
}

/// Runs a language server for OpenCL C on standard input and output, for editors.
///
/// The file .wgclc.toml in the folder of a source or above contains its build options, include folders and device.
/// docs/language-server.md describes the file and the configuration of editors.
#[derive(Debug, Parser)]
#[command(name = "wgclc lsp")]
pub struct LanguageServerArguments {
    /// Accepted for editors that always pass it; the server has no other transport
    #[arg(long)]
    pub stdio: bool,
}

impl LanguageServerArguments {
    /// Parses the words after `wgclc lsp`. clap ends the process if the words are invalid or contain `--help`.
    pub fn read(words: impl Iterator<Item = String>) -> Self {
        Self::parse_from(words)
    }
}
