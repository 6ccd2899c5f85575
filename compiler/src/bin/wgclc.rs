//! `wgclc`: the compiler on the command line, to look into every stage of it.
//!
//! Exit status: 0 where the source builds, 1 where it is refused, 2 for wrong usage.

use std::io::Write;
use std::process::ExitCode;

use clap::{CommandFactory, Parser, ValueEnum, ValueHint};

use wgcl_codegen::Isa;
use wgcl_compiler::build::build_watched;
use wgcl_compiler::diag::colourise;
use wgcl_compiler::emit::{Format, Shader, print};
use wgcl_compiler::front::FrontEnd;
use wgcl_compiler::ir::Function;
use wgcl_compiler::launch::{LaunchKey, LaunchResult};
use wgcl_compiler::native::{self, Style};
use wgcl_compiler::passes::{Left, Watch};
use wgcl_compiler::program::{BuildOptions, BuildResult, Program, Source};
use wgcl_compiler::specialise::{has_pass, launched, specialise};
use wgcl_compiler::target::Target;
use wgcl_compiler::target::profiles::PROFILES;
use wgcl_compiler::{options, spirv, timing};

#[path = "wgclc/describe.rs"]
mod describe;

/// Stack of the thread that compiles: sources may nest deeply.
const STACK: usize = 256 << 20;

/// What is printed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Emit {
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
}

/// Instruction sets of CPUs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum InstructionSet {
    /// Scalars only.
    #[value(name = "sse4.2")]
    Sse42,
    /// Vectors of 32 bytes.
    Avx2,
    /// Vectors of 64 bytes.
    Avx512,
}

/// How far a source is followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Check {
    /// Through all stages, to a valid shader for each kernel.
    Full,
    /// The language's rules only.
    Front,
}

/// Compiles OpenCL C, and SPIR-V modules of its environment.
#[derive(Debug, Parser)]
#[command(
    name = "wgclc",
    version,
    override_usage = "wgclc [build options] [--emit <STAGE> | --after <PASS> | --check | --time] FILE.cl|FILE.spv",
    after_help = "All options with one dash are those of clBuildProgram, such as -D, -I, -cl-std=CL3.0, -Werror."
)]
struct Arguments {
    /// Print what a stage of the compiler makes of the source
    #[arg(long, value_enum, value_name = "STAGE")]
    emit: Option<Emit>,
    /// Only say whether the source builds and every kernel of it compiles
    #[arg(long, value_enum, value_name = "DEPTH", conflicts_with = "emit", num_args = 0..=1, require_equals = true, default_missing_value = "full")]
    check: Option<Check>,
    /// Print the intermediate representation after every run of a pass, from the build on to the shader of each kernel
    #[arg(long, value_name = "PASS", value_parser = pass, conflicts_with_all = ["emit", "check"])]
    after: Option<String>,
    /// Make shaders of all kernels, print only how long each stage and each pass took
    #[arg(long, conflicts_with = "emit")]
    time: bool,
    /// The instruction set of `--emit vector` and `--emit asm`
    #[arg(long, value_enum, value_name = "SET", default_value = "avx2")]
    isa: InstructionSet,
    /// Emit that kernel only
    #[arg(long, value_name = "NAME")]
    kernel: Option<String>,
    /// Work-group size to emit shaders for, where the kernel does not require one
    #[arg(long, value_name = "X,Y,Z", value_delimiter = ',', default_values_t = [64])]
    local_size: Vec<u32>,
    /// Reach buffers by their addresses in the device's memory, where the device has such
    #[arg(long)]
    addresses: bool,
    /// The device to compile for
    #[arg(long, value_name = "PROFILE", value_parser = device, default_value = "full")]
    device: Target,
    #[command(flatten)]
    describe: describe::Describe,
    /// The source or module, `-` for standard input
    #[arg(value_hint = ValueHint::FilePath, required = true)]
    file: Option<String>,
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

/// Separates the options of clBuildProgram from those of the tool.
fn split_arguments(arguments: impl Iterator<Item = String>) -> (Vec<String>, Vec<String>) {
    let (mut own, mut build) = (Vec::new(), Vec::new());
    let mut arguments = arguments.peekable();
    own.extend(arguments.next());
    while let Some(argument) = arguments.next() {
        let is_own = !argument.starts_with('-') || argument.starts_with("--") || matches!(argument.as_str(), "-" | "-h" | "-V");
        if is_own {
            own.push(argument);
        } else {
            let takes_next = options::takes_next_word(&argument);
            build.push(argument);
            if takes_next {
                build.extend(arguments.next());
            }
        }
    }
    (own, build)
}

/// What is compiled.
enum Input {
    /// OpenCL C.
    Text(Source),
    /// The words of a SPIR-V module.
    Module(Vec<u32>),
}

impl Input {
    /// Builds it, with someone who looks at the IR after every pass.
    fn build(&self, options: &BuildOptions, target: &Target, watch: Option<&Watch<'_>>) -> BuildResult {
        match self {
            Self::Text(source) => build_watched(source, options, target, true, watch),
            Self::Module(words) => {
                let source = spirv::Source { words, specialisation: &spirv::Specialisation::new() };
                let mut result = spirv::build_watched(source, options, target, watch);
                result.log = colourise(&result.log);
                result
            }
        }
    }
}

fn read(file: &str) -> std::io::Result<Vec<u8>> {
    if file != "-" {
        return std::fs::read(file);
    }
    let mut bytes = Vec::new();
    std::io::Read::read_to_end(&mut std::io::stdin(), &mut bytes)?;
    Ok(bytes)
}

fn main() -> ExitCode {
    let (own, build) = split_arguments(std::env::args());
    let arguments = Arguments::parse_from(own);
    match arguments.describe.text(Arguments::command()) {
        Ok(None) => {}
        Ok(Some(text)) => {
            let _ = std::io::stdout().write_all(&text);
            return ExitCode::SUCCESS;
        }
        Err(error) => return usage(&error.to_string()),
    }
    let options = match options::parse_words(build) {
        Ok(options) => options,
        Err(error) => return usage(&error.to_string()),
    };
    let file = arguments.file.as_deref().unwrap_or("-");
    let bytes = match read(file) {
        Ok(bytes) => bytes,
        Err(error) => return usage(&format!("{file}: {error}")),
    };
    let input = match spirv::read_words(&bytes) {
        Ok(words) => Input::Module(words),
        Err(error) if file.ends_with(".spv") => return usage(&format!("{file}: {error}")),
        Err(_) => {
            let name = (file != "-").then(|| file.to_owned());
            Input::Text(Source { text: String::from_utf8_lossy(&bytes).into_owned(), name, ..Default::default() })
        }
    };
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(move || compile(&arguments, &input, &options));
    match thread.map(std::thread::JoinHandle::join) {
        Ok(Ok(true)) => ExitCode::SUCCESS,
        Ok(Ok(false)) => ExitCode::from(1),
        Ok(Err(_)) => ExitCode::from(101),
        Err(error) => usage(&format!("cannot start the compiler's thread: {error}")),
    }
}

fn usage(message: &str) -> ExitCode {
    let _ = writeln!(anstream::stderr(), "wgclc: {message}");
    ExitCode::from(2)
}

/// Runs the stages that are asked for; true if the source is accepted.
fn compile(arguments: &Arguments, input: &Input, options: &BuildOptions) -> bool {
    // The other languages want naga without what only SPIR-V can say.
    let is_portable = matches!(arguments.emit, Some(Emit::Wgsl | Emit::Msl | Emit::Hlsl | Emit::Glsl));
    let target = if is_portable { arguments.device.clone().without_spirv() } else { arguments.device.clone() };
    if let Some(stage @ (Emit::Tokens | Emit::Ast | Emit::Thir)) = arguments.emit {
        return front_end(Some(stage), input, options, &target);
    }
    match arguments.check {
        Some(Check::Front) => return front_end(None, input, options, &target),
        Some(Check::Full) => return check(arguments, input, options, &target),
        None => {}
    }
    if arguments.time {
        timing::enable();
    }
    let show_after = |left: &Left<'_>| {
        if arguments.after.as_deref() == Some(left.pass) {
            show(&left.to_string());
        }
    };
    let watch = arguments.after.is_some().then_some(&show_after as &Watch<'_>);
    let result = input.build(options, &target, watch);
    let _ = write!(anstream::stderr(), "{}", result.log);
    let Some(program) = result.program else {
        show(&times());
        return false;
    };
    if let Some(watch) = watch {
        let made = kernels(arguments, &program).try_for_each(|function| {
            let key = key(arguments, function, &target);
            launched(&program.module, &function.name, &key, &target, Some(watch)).map(drop)
        });
        if let Err(error) = &made {
            complain(&format!("error: {error}\n"));
        }
        return made.is_ok();
    }
    if arguments.time {
        let made = shaders(arguments, &program, &target, &mut |_| Ok(()));
        show(&times());
        if let Err(error) = &made {
            complain(&format!("error: {error}\n"));
        }
        return made.is_ok();
    }
    match arguments.emit.map_or(Ok(String::new()), |stage| emit(stage, arguments, &program, &target)) {
        Ok(text) => {
            show(&text);
            true
        }
        Err(error) => {
            complain(&format!("error: {error}\n"));
            false
        }
    }
}

/// Takes every kernel as far as it goes.
fn check(arguments: &Arguments, input: &Input, options: &BuildOptions, target: &Target) -> bool {
    let result = input.build(options, target, None);
    let _ = write!(anstream::stderr(), "{}", result.log);
    let Some(program) = result.program else { return false };
    let mut good = true;
    for function in kernels(arguments, &program) {
        let key = key(arguments, function, target);
        if let Err(error) = specialise(&program.module, &function.name, &key, target) {
            complain(&format!("error: {error}\n"));
            good = false;
        }
    }
    good
}

/// The kernels that are asked for.
fn kernels<'p>(arguments: &Arguments, program: &'p Program) -> impl Iterator<Item = &'p Function> {
    let wanted = arguments.kernel.clone();
    let kernels = program.module.functions.iter().filter(|function| function.kernel.is_some());
    kernels.filter(move |function| wanted.as_ref().is_none_or(|name| *name == function.name))
}

/// A launch as most are: no memory is bound twice.
fn key(arguments: &Arguments, function: &Function, target: &Target) -> LaunchKey {
    let local_size = [0, 1, 2].map(|dimension| arguments.local_size.get(dimension).copied().unwrap_or(1));
    LaunchKey::example(function, local_size)
        .changed(|key| (key.binding.distinct, key.binding.addresses) = (true, arguments.addresses && target.shaders.addresses))
}

fn complain(log: &str) {
    let _ = write!(anstream::stderr(), "{}", colourise(log));
}

/// Writes to standard output; that nobody reads it any more is no error.
fn show(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

/// The stages before the IR; without one to print all of them.
fn front_end(stage: Option<Emit>, input: &Input, options: &BuildOptions, target: &Target) -> bool {
    let Input::Text(source) = input else {
        if stage.is_some() {
            complain("error: a SPIR-V module has no tokens and no tree\n");
            return false;
        }
        let result = input.build(options, target, None);
        complain(&result.log);
        return result.program.is_some();
    };
    let mut front = FrontEnd::new(source, options, target);
    match stage {
        Some(Emit::Tokens) => show(&front.tokens()),
        Some(Emit::Ast) => show(&front.tree()),
        _ => {
            let checked = front.check();
            if let Some(program) = checked.filter(|_| stage.is_some()) {
                show(&format!("{program:#?}\n"));
            }
        }
    }
    let _ = write!(anstream::stderr(), "{}", front.log(true));
    !front.is_refused()
}

/// What a stage makes of a program that built.
fn emit(stage: Emit, arguments: &Arguments, program: &Program, target: &Target) -> LaunchResult<String> {
    let format = match stage {
        Emit::Naga => Format::Naga,
        Emit::Spirv => Format::Spirv,
        Emit::Wgsl => Format::Wgsl,
        Emit::Msl => Format::Msl,
        Emit::Hlsl => Format::Hlsl,
        Emit::Glsl => Format::Glsl,
        Emit::Reflection => return Ok(reflection(program)),
        Emit::Launched => return launched_text(arguments, program, target),
        Emit::Vector | Emit::Asm => return native_text(stage, arguments, program, target),
        Emit::Tokens | Emit::Ast | Emit::Thir | Emit::Ir => return Ok(program.module.to_string()),
    };
    let mut text = String::new();
    shaders(arguments, program, target, &mut |shader| {
        text.push_str(&print(shader, format, target)?);
        Ok(())
    })?;
    Ok(text)
}

/// The kernels that are asked for as emission reads them.
fn launched_text(arguments: &Arguments, program: &Program, target: &Target) -> LaunchResult<String> {
    let text = |function: &Function| {
        let key = key(arguments, function, target);
        launched(&program.module, &function.name, &key, target, None).map(|module| module.to_string())
    };
    kernels(arguments, program).map(text).collect()
}

/// The kernels that are asked for as a CPU runs them.
fn native_text(stage: Emit, arguments: &Arguments, program: &Program, target: &Target) -> LaunchResult<String> {
    let isa = match arguments.isa {
        InstructionSet::Sse42 => Isa::Sse42,
        InstructionSet::Avx2 => Isa::Avx2,
        InstructionSet::Avx512 => Isa::Avx512,
    };
    let style = Style::of(isa);
    let text = |function: &Function| {
        let key = key(arguments, function, target);
        if stage == Emit::Vector {
            return native::vector_ir(&program.module, &function.name, &key, target, style).map(|module| module.to_string());
        }
        native::assembly(&program.module, &function.name, &key, target, style)
    };
    kernels(arguments, program).map(text).collect()
}

/// Makes the shaders of the kernels that are asked for.
fn shaders(
    arguments: &Arguments,
    program: &Program,
    target: &Target,
    with: &mut dyn FnMut(&Shader) -> LaunchResult<()>,
) -> LaunchResult<()> {
    for function in kernels(arguments, program) {
        let key = key(arguments, function, target);
        with(&specialise(&program.module, &function.name, &key, target)?)?;
    }
    Ok(())
}

/// What the stages took, a line each; nothing where nobody asked.
fn times() -> String {
    timing::take().iter().map(|(stage, time)| format!("{:9.1} ms  {stage}\n", time.as_secs_f64() * 1e3)).collect()
}

/// Kernels and arguments, a line each.
fn reflection(program: &Program) -> String {
    let mut text = String::new();
    for kernel in &program.kernels {
        text.push_str(&format!("kernel {}: {} bytes of local memory\n", kernel.name, kernel.local_memory));
        if !kernel.attributes.is_empty() {
            text.push_str(&format!("  attributes {}\n", kernel.attributes));
        }
        for (index, arg) in kernel.args.iter().enumerate() {
            let qualifiers: String = [(arg.is_const, "const "), (arg.is_restrict, "restrict "), (arg.is_volatile, "volatile ")]
                .iter()
                .filter(|(set, _)| *set)
                .map(|(_, word)| *word)
                .collect();
            text.push_str(&format!(
                "  argument {index} {}: {qualifiers}{} in {}, access {:?}, {:?}, {} bytes\n",
                arg.name, arg.type_name, arg.address, arg.access, arg.passing, arg.size
            ));
        }
    }
    if program.global_variable_size > 0 {
        text.push_str(&format!("program-scope variables: {} bytes\n", program.global_variable_size));
    }
    text
}
