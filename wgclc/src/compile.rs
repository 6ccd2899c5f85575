//! Runs the requested stages on one file.

use std::io::Write;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};

use wgcl_compiler::diag::{Diagnostics, Message, WarningLevels, colourise, messages, render_one};
use wgcl_compiler::emit::{Format, print};
use wgcl_compiler::front::FrontEnd;
use wgcl_compiler::ir::{self, Function};
use wgcl_compiler::launch::{LaunchError, LaunchResult};
use wgcl_compiler::passes::{AfterPass, Watch};
use wgcl_compiler::program::{BuildOptions, Program};
use wgcl_compiler::specialise::{launched, prepared, specialise};
use wgcl_compiler::target::Target;
use wgcl_compiler::timing;
use wgcl_compiler::vectorize::{self, Style};

use crate::arguments::{Arguments, Check, Emit};
use crate::bindings::bindings;
use crate::input::Input;
use crate::kernel_report;
use crate::launches::{kernels, key, shaders};

/// The result of compiling one file.
#[derive(Default)]
pub struct Outcome {
    /// Whether the file has errors.
    pub has_errors: bool,
    /// The diagnostics as text with terminal colours.
    pub log: String,
    /// The diagnostics as data.
    pub messages: Vec<Message>,
    /// The outputs of the requested stages.
    pub texts: Vec<(Emit, String)>,
    /// Every file that was searched for, even if it does not exist.
    pub files: Vec<PathBuf>,
}

impl Outcome {
    fn fail(&mut self, error: &impl ToString) {
        let error = error.to_string();
        self.log.push_str(&colourise(&format!("error: {error}\n")));
        self.messages.push(Message::error(error));
        self.has_errors = true;
    }

    /// Reports an error about a kernel that cannot be compiled for the device, with its source location if it is known.
    fn report(&mut self, error: &LaunchError, program: &Program) {
        let (Some(diagnostic), Some(sources)) = (error.diagnostic(), &program.sources) else { return self.fail(error) };
        self.log.push_str(&colourise(&render_one(sources, &diagnostic, diagnostic.severity)));
        let mut list = Diagnostics::default();
        list.push(diagnostic);
        self.messages.extend(messages(sources, &list, WarningLevels::default()));
        self.has_errors = true;
    }
}

/// Runs the requested stages on one input.
pub fn compile(arguments: &Arguments, input: &Input, options: &BuildOptions) -> Outcome {
    let job = Job { arguments, input, options };
    let mut outcome = Outcome::default();
    if arguments.check == Some(Check::Front) {
        job.front_end(&[], &mut outcome);
        return outcome;
    }
    if arguments.time {
        timing::enable();
    }
    let (front, back): (Vec<Emit>, Vec<Emit>) = arguments.emit.iter().partition(|stage| stage.is_of_front_end());
    if !front.is_empty() {
        job.front_end(&front, &mut outcome);
        if back.is_empty() || outcome.has_errors {
            return outcome;
        }
        // Discard the diagnostics, because the build reports them again.
        (outcome.log, outcome.messages) = Default::default();
    }
    // Portable stages have a different target, and need a separate build.
    let (portable, rest): (Vec<Emit>, Vec<Emit>) = back.iter().partition(|stage| stage.is_portable());
    if !portable.is_empty() {
        job.stages(&portable, &arguments.device.clone().without_spirv(), &mut outcome);
        if rest.is_empty() || outcome.has_errors {
            return outcome;
        }
        (outcome.log, outcome.messages) = Default::default();
    }
    job.stages(&rest, &arguments.device, &mut outcome);
    outcome
}

/// Writes to standard output. A closed pipe is not an error.
pub fn show(text: &str) {
    let _ = std::io::stdout().write_all(text.as_bytes());
}

struct Job<'a> {
    arguments: &'a Arguments,
    input: &'a Input,
    options: &'a BuildOptions,
}

impl Job<'_> {
    /// Runs the stages that precede the IR. If `stages` is empty, runs all of them and emits nothing.
    fn front_end(&self, stages: &[Emit], outcome: &mut Outcome) {
        let Input::Text(source) = self.input else {
            if !stages.is_empty() {
                return outcome.fail(&"--emit tokens, ast and thir require an OpenCL C source, not a SPIR-V module");
            }
            return self.stages(&[], &self.arguments.device, outcome);
        };
        let last = stages.len().saturating_sub(1);
        for (index, stage) in stages.iter().map(Some).chain(stages.is_empty().then_some(None)).enumerate() {
            let mut front = FrontEnd::new(source, self.options, &self.arguments.device);
            let text = match stage {
                Some(Emit::Tokens) => Some(front.tokens()),
                Some(Emit::Ast) => Some(front.tree()),
                _ => front.check().map(|program| format!("{program:#?}\n")),
            };
            outcome.texts.extend(stage.copied().zip(text));
            if index == last {
                (outcome.log, outcome.messages) = (colourise(&front.log()), front.messages());
            }
            outcome.has_errors |= front.is_rejected();
            outcome.files.extend(front.map.take_searched_files().into_iter().map(|(path, _)| path));
        }
    }

    /// Builds the program, runs `--after`, `--time` or `--check`, and emits the stages in the list.
    fn stages(&self, stages: &[Emit], target: &Target, outcome: &mut Outcome) {
        let arguments = self.arguments;
        let did_run = AtomicBool::new(false);
        let show_after = |after: &AfterPass<'_>| {
            if arguments.after.as_deref() == Some(after.pass) {
                did_run.store(true, Ordering::Relaxed);
                show(&after.to_string());
            }
        };
        let watch = arguments.after.is_some().then_some(&show_after as &Watch<'_>);
        let result = self.input.build(self.options, target, watch);
        outcome.files.extend(result.files.into_iter().map(|(path, _)| path));
        outcome.log.push_str(&colourise(&result.log));
        outcome.messages.extend(result.messages);
        let Some(program) = result.program else {
            show(&times());
            outcome.has_errors = true;
            return;
        };
        if let Some(error) = unknown_kernel(arguments, &program) {
            return outcome.fail(&error);
        }
        if watch.is_some() {
            let made =
                kernels(arguments, &program).try_for_each(|function| specialised(arguments, &program, function, target, watch).map(drop));
            made.unwrap_or_else(|error| outcome.report(&error, &program));
            if let Some(pass) = arguments.after.as_ref().filter(|_| !did_run.load(Ordering::Relaxed) && !outcome.has_errors) {
                outcome.fail(&format!("--after: the pass `{pass}` did not run; passes depend on --device and on the build options"));
            }
        } else if arguments.time {
            let made = shaders(arguments, &program, target, &mut |_| Ok(()));
            show(&times());
            made.unwrap_or_else(|error| outcome.report(&error, &program));
        } else if arguments.check == Some(Check::Full) {
            // Compile the remaining kernels even if one fails.
            for function in kernels(arguments, &program) {
                let key = key(arguments, function, target);
                let made = if target.native {
                    vectorize::compile(&program.module, &function.name, &key, target, Style::of(arguments.isa)).map(drop)
                } else {
                    specialise(&program.module, &function.name, &key, target).map(drop)
                };
                made.unwrap_or_else(|error| outcome.report(&error, &program));
            }
        }
        for &stage in stages {
            match emit(stage, arguments, &program, target) {
                Ok(text) => outcome.texts.push((stage, text)),
                Err(error) => outcome.report(&error, &program),
            }
        }
    }
}

/// Returns an error message if the program does not have the kernel of `--kernel`.
fn unknown_kernel(arguments: &Arguments, program: &Program) -> Option<String> {
    let wanted = arguments.kernel.as_ref()?;
    if kernels(arguments, program).next().is_some() {
        return None;
    }
    let names: Vec<String> = program.kernels.iter().map(|kernel| format!("`{}`", kernel.name)).collect();
    let known = if names.is_empty() { "it has no kernels".to_owned() } else { format!("its kernels are {}", names.join(", ")) };
    Some(format!("--kernel: the program does not have a kernel `{wanted}`; {known}"))
}

/// Returns the output of one stage for a built program.
fn emit(stage: Emit, arguments: &Arguments, program: &Program, target: &Target) -> LaunchResult<String> {
    let format = match stage {
        Emit::Naga => Format::Naga,
        Emit::Spirv => Format::Spirv,
        Emit::Wgsl => Format::Wgsl,
        Emit::Msl => Format::Msl,
        Emit::Hlsl => Format::Hlsl,
        Emit::Glsl => Format::Glsl,
        Emit::Reflection => return Ok(reflection(program)),
        Emit::Bindings => return bindings(arguments, program, target),
        Emit::Launched => return launched_text(arguments, program, target),
        Emit::Report => return kernel_report::text(arguments, program, target),
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

/// Returns the IR of the selected kernels, specialised for a launch.
fn launched_text(arguments: &Arguments, program: &Program, target: &Target) -> LaunchResult<String> {
    let text = |function: &Function| specialised(arguments, program, function, target, None).map(|module| module.to_string());
    kernels(arguments, program).map(text).collect()
}

/// Returns the IR that the vectoriser reads if the target is a CPU, or else the IR that the shader emitter reads.
fn specialised(
    arguments: &Arguments,
    program: &Program,
    function: &Function,
    target: &Target,
    watch: Option<&Watch<'_>>,
) -> LaunchResult<ir::Module> {
    let key = key(arguments, function, target);
    if target.native {
        return prepared(&program.module, &function.name, &key, target, false, watch);
    }
    launched(&program.module, &function.name, &key, target, watch)
}

/// Returns the vector IR or the machine code of the selected kernels for a CPU.
fn native_text(stage: Emit, arguments: &Arguments, program: &Program, target: &Target) -> LaunchResult<String> {
    let style = Style::of(arguments.isa);
    let text = |function: &Function| {
        let key = key(arguments, function, target);
        if stage == Emit::Vector {
            return vectorize::vector_ir(&program.module, &function.name, &key, target, style).map(|module| module.to_string());
        }
        vectorize::assembly(&program.module, &function.name, &key, target, style, program.sources.as_deref())
    };
    kernels(arguments, program).map(text).collect()
}

/// Returns the time of each stage, one per line. Empty without `--time`.
fn times() -> String {
    timing::take().iter().map(|(stage, time)| format!("{:9.1} ms  {stage}\n", time.as_secs_f64() * 1e3)).collect()
}

/// Returns the kernels and their arguments, one per line.
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
