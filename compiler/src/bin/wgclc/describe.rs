//! What the command says of itself for packages: completions for shells and its manual page.

use std::io;

use clap::{Args, Command, ValueEnum};
use clap_complete::{Shell, generate};
use clap_mangen::Man;
use clap_mangen::roff::{Inline, Roff, bold, italic, roman};

/// The shells whose completions are packaged.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Completions {
    /// A file for bash-completion.
    Bash,
    /// A function for a folder of zsh's `fpath`.
    Zsh,
    /// A file for fish.
    Fish,
}

impl Completions {
    fn shell(self) -> Shell {
        match self {
            Self::Bash => Shell::Bash,
            Self::Zsh => Shell::Zsh,
            Self::Fish => Shell::Fish,
        }
    }
}

/// The options that ask for it; each stands alone on the command line.
#[derive(Debug, Args)]
pub struct Describe {
    /// Print what a shell needs to complete options of this command
    #[arg(long, value_enum, value_name = "SHELL", exclusive = true)]
    completions: Option<Completions>,
    /// Print the manual page of this command, for man(1)
    #[arg(long, exclusive = true)]
    manual: bool,
}

impl Describe {
    /// What is asked for, as bytes to print; nothing where the command has other work. `run` is what `wgclc run` takes.
    ///
    /// # Errors
    ///
    /// None that are known: what is written goes to memory.
    pub fn text(&self, command: Command, run: Command) -> io::Result<Option<Vec<u8>>> {
        let mut text = Vec::new();
        if let Some(shell) = self.completions {
            generate(shell.shell(), &mut command.subcommand(run.name("run")), "wgclc", &mut text);
        } else if self.manual {
            manual(command, run, &mut text)?;
        } else {
            return Ok(None);
        }
        Ok(Some(text))
    }
}

/// The build options that are worth a line here: the others are in OpenCL's specification.
const BUILD_OPTIONS: &[(&str, &str, &str)] = &[
    ("-D ", "NAME[=VALUE]", "Define a macro."),
    ("-I ", "FOLDER", "Look for included files there."),
    ("-cl-std=", "CL1.0 ... CL3.1", "The version of OpenCL C."),
    ("-Werror", "", "Make errors of warnings."),
    ("-w", "", "Say no warnings."),
    ("-cl-fast-relaxed-math", "", "Allow whatever changes results of floating point and is quicker."),
];

/// Ways to use it.
const EXAMPLES: &[(&str, &str)] = &[
    ("wgclc --check -I include kernels.cl", "Say whether the file builds and all its kernels compile."),
    ("wgclc --device cpu --emit asm --isa avx512 kernels.cl", "Show the machine code of its kernels."),
    ("wgclc --emit spirv --kernel add -DN=16 kernels.cl", "Show the shader of one kernel as a GPU gets it."),
    (
        "wgclc run add.cl add global=64 'a: float[64] = i' 'b: float[64]'",
        "Run a kernel and print its buffers; wgclc run --help tells more.",
    ),
];

/// Writes the manual page of section 1.
fn manual(command: Command, run: Command, out: &mut Vec<u8>) -> io::Result<()> {
    let usage = command.clone().render_usage().to_string();
    let page = Man::new(command.version(env!("CARGO_PKG_VERSION"))).manual("wgcl");
    page.render_title(out)?;
    page.render_name_section(out)?;
    let mut text = Roff::new();
    text.control("SH", ["SYNOPSIS"]);
    text.text([roman(usage.trim_start_matches("Usage: "))]);
    text.to_writer(out)?;
    page.render_description_section(out)?;
    page.render_options_section(out)?;
    running(run, out)?;
    rest().to_writer(out)
}

/// The section of `wgclc run`: its usage, its options, and what its help says below them, line by line.
fn running(mut run: Command, out: &mut Vec<u8>) -> io::Result<()> {
    let mut text = Roff::new();
    text.control("SH", ["WGCLC RUN"]);
    text.text([roman(run.render_usage().to_string().trim_start_matches("Usage: "))]);
    text.to_writer(out)?;
    let below = run.get_after_help().map(ToString::to_string).unwrap_or_default();
    let mut options = Vec::new();
    Man::new(run).render_options_section(&mut options)?;
    // They stand in that section, and not in one of their own; the page has begun already.
    let lines = options.split_inclusive(|&byte| byte == b'\n').filter(|line| !line.starts_with(b".SH"));
    out.extend(lines.flatten());
    for line in std::iter::once("").chain(below.lines()) {
        let mut text = Roff::new();
        text.control(if line.is_empty() { "PP" } else { "br" }, []);
        if !line.is_empty() {
            text.text([roman(line)]);
        }
        text.to_writer(out)?;
    }
    Ok(())
}

/// What clap does not know.
fn rest() -> Roff {
    let mut text = Roff::new();
    text.control("SH", ["BUILD OPTIONS"]);
    text.text([roman("Options with one dash are those of clBuildProgram, among them:")]);
    for (option, value, meaning) in BUILD_OPTIONS {
        entry(&mut text, vec![bold(*option), italic(*value)], meaning);
    }
    text.control("SH", ["EXIT STATUS"]);
    entry(&mut text, vec![bold("0")], "The sources build, or the kernel ran.");
    entry(&mut text, vec![bold("1")], "One is refused, or a launch fails.");
    entry(&mut text, vec![bold("2")], "The command was used wrongly, or a file cannot be read or written.");
    entry(&mut text, vec![bold("3")], "There is no device to run a kernel on.");
    text.control("SH", ["EXAMPLES"]);
    for (command, meaning) in EXAMPLES {
        entry(&mut text, vec![bold(*command)], meaning);
    }
    text.control("SH", ["SEE ALSO"]);
    text.text([bold("wgcl"), roman("(7), "), bold("clinfo"), roman("(1)")]);
    text
}

/// A paragraph with a term in front.
fn entry(text: &mut Roff, term: Vec<Inline>, meaning: &str) {
    text.control("TP", []);
    text.text(term);
    text.text([roman(meaning)]);
}
