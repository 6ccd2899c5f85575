//! Generates files for packages: shell completions and the manual page.

use std::io;

use clap::{Args, Command, ValueEnum};
use clap_complete::{Shell, generate};
use clap_mangen::Man;
use clap_mangen::roff::{Inline, Roff, bold, italic, roman};

/// Shells with completion files.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Completions {
    /// A file for bash-completion
    Bash,
    /// A function for a directory in zsh's `fpath`
    Zsh,
    /// A file for fish
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

/// Options that print a completion file or the manual page. Each is valid only without other arguments.
#[derive(Debug, Args)]
pub struct Describe {
    /// Print the shell completion file of this command
    #[arg(long, value_enum, value_name = "SHELL", exclusive = true)]
    completions: Option<Completions>,
    /// Print the manual page of this command, for man(1)
    #[arg(long, exclusive = true)]
    manual: bool,
}

impl Describe {
    /// Returns the requested file as bytes, or `None` if neither option was given. `subcommands` are
    /// `wgclc run` and `wgclc replay`.
    ///
    /// # Errors
    ///
    /// Does not fail in practice, because the file is written to memory.
    pub fn text(&self, command: Command, subcommands: &[(&'static str, Command)]) -> io::Result<Option<Vec<u8>>> {
        let mut text = Vec::new();
        if let Some(shell) = self.completions {
            let subcommands = subcommands.iter().map(|(name, subcommand)| subcommand.clone().name(*name));
            generate(shell.shell(), &mut command.subcommands(subcommands), "wgclc", &mut text);
        } else if self.manual {
            manual(command, subcommands, &mut text)?;
        } else {
            return Ok(None);
        }
        Ok(Some(text))
    }
}

/// Common build options. The OpenCL specification lists the others.
const BUILD_OPTIONS: &[(&str, &str, &str)] = &[
    ("-D ", "NAME[=VALUE]", "Define a macro."),
    ("-I ", "DIRECTORY", "Add a directory to the include search path."),
    ("-cl-std=", "CL1.0 ... CL3.1", "The version of OpenCL C."),
    ("-Werror", "[=NAME]", "Treat all warnings, or those of a group, as errors."),
    ("-Wno-", "NAME", "Suppress the warnings of a group."),
    ("-w", "", "Suppress all warnings."),
    ("-cl-fast-relaxed-math", "", "Allow floating-point optimisations that change results."),
];

/// Examples in the manual page.
const EXAMPLES: &[(&str, &str)] = &[
    ("wgclc --check -I include kernels.cl", "Check that the file builds and that all its kernels compile."),
    ("wgclc --device cpu --emit asm --isa avx512 kernels.cl", "Print the machine code of the kernels."),
    ("wgclc --emit spirv --kernel add -DN=16 kernels.cl", "Print the SPIR-V shader of one kernel."),
    ("wgclc run add.cl add global=64 'a: float[64] = i' 'b: float[64]'", "Run a kernel and print its buffers; see wgclc run --help."),
    ("wgclc replay captures --device llvmpipe --repeat 20", "Run captured launches on another device and compare the results."),
];

/// Writes the manual page (section 1).
fn manual(command: Command, subcommands: &[(&'static str, Command)], out: &mut Vec<u8>) -> io::Result<()> {
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
    for (_, subcommand) in subcommands {
        subcommand_section(subcommand.clone(), out)?;
    }
    additional_sections().to_writer(out)
}

/// Writes the section of a subcommand: usage, options, and the text after them.
fn subcommand_section(mut run: Command, out: &mut Vec<u8>) -> io::Result<()> {
    let mut text = Roff::new();
    text.control("SH", [run.get_name().to_uppercase().as_str()]);
    text.text([roman(run.render_usage().to_string().trim_start_matches("Usage: "))]);
    text.to_writer(out)?;
    let below = run.get_after_help().map(ToString::to_string).unwrap_or_default();
    let mut options = Vec::new();
    Man::new(run).render_options_section(&mut options)?;
    // Omit the heading that clap writes, because the options are part of this section.
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

/// Creates the sections that clap does not generate.
fn additional_sections() -> Roff {
    let mut text = Roff::new();
    text.control("SH", ["BUILD OPTIONS"]);
    text.text([roman("Options with one dash, except -o, -h and -V, are those of clBuildProgram, for example:")]);
    for (option, value, meaning) in BUILD_OPTIONS {
        entry(&mut text, vec![bold(*option), italic(*value)], meaning);
    }
    text.control("SH", ["EXIT STATUS"]);
    entry(&mut text, vec![bold("0")], "The sources build, or the kernel ran.");
    entry(&mut text, vec![bold("1")], "A source is rejected, a launch fails, the sanitizer reports an error, or results differ.");
    entry(&mut text, vec![bold("2")], "Wrong usage, or a file cannot be read or written.");
    entry(&mut text, vec![bold("3")], "There is no OpenCL library or no matching device.");
    text.control("SH", ["EXAMPLES"]);
    for (command, meaning) in EXAMPLES {
        entry(&mut text, vec![bold(*command)], meaning);
    }
    text.control("SH", ["SEE ALSO"]);
    text.text([bold("wgcl"), roman("(7), "), bold("clinfo"), roman("(1)")]);
    text
}

/// Appends a tagged paragraph.
fn entry(text: &mut Roff, term: Vec<Inline>, meaning: &str) {
    text.control("TP", []);
    text.text(term);
    text.text([roman(meaning)]);
}
