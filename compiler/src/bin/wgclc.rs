//! `wgclc`: the compiler on the command line, to look into every stage of it.
//!
//! Exit status: 0 where the source builds, 1 where it is refused, 2 for wrong usage.

use std::io::Write;
use std::process::ExitCode;

use clap::{Parser, ValueEnum};

use wgcl_compiler::diag::{Diagnostics, RenderOptions, SourceMap, render};
use wgcl_compiler::program::{BuildOptions, Source};
use wgcl_compiler::target::Target;
use wgcl_compiler::{ast, options, parse, preprocess, sema};

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
}

/// Compiles OpenCL C.
#[derive(Debug, Parser)]
#[command(
    name = "wgclc",
    version,
    about,
    after_help = "All other options are those of clBuildProgram, such as -D, -I, -cl-std=CL3.0, -Werror."
)]
struct Arguments {
    /// Print what a stage of the compiler makes of the source
    #[arg(long, value_enum)]
    emit: Option<Emit>,
    /// Only say whether the source builds
    #[arg(long, conflicts_with = "emit")]
    check: bool,
    /// The source, `-` for standard input
    file: String,
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

fn read(file: &str) -> std::io::Result<String> {
    let bytes = if file == "-" {
        let mut bytes = Vec::new();
        std::io::Read::read_to_end(&mut std::io::stdin(), &mut bytes)?;
        bytes
    } else {
        std::fs::read(file)?
    };
    Ok(String::from_utf8_lossy(&bytes).into_owned())
}

fn main() -> ExitCode {
    let (own, build) = split_arguments(std::env::args());
    let arguments = Arguments::parse_from(own);
    let options = match options::parse_words(build) {
        Ok(options) => options,
        Err(error) => return usage(&error.to_string()),
    };
    let text = match read(&arguments.file) {
        Ok(text) => text,
        Err(error) => return usage(&format!("{}: {error}", arguments.file)),
    };
    let name = if arguments.file == "-" { None } else { Some(arguments.file.clone()) };
    let source = Source { text, name, ..Default::default() };
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(move || compile(&arguments, &source, &options));
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
fn compile(arguments: &Arguments, source: &Source, options: &BuildOptions) -> bool {
    let target = Target::full();
    let mut map = SourceMap::new();
    let mut diags = Diagnostics::default();
    let tokens = preprocess::preprocess(source, options, &target, &mut map, &mut diags);
    let mut out = std::io::stdout().lock();
    if arguments.emit == Some(Emit::Tokens) {
        for token in &tokens {
            let _ = writeln!(out, "{}", token.kind);
        }
    }
    let unit = parse::parse(tokens, &mut diags);
    if arguments.emit == Some(Emit::Ast) {
        let _ = write!(out, "{}", ast::dump::dump(&unit));
    }
    if matches!(arguments.emit, None | Some(Emit::Thir)) {
        let program = sema::check(&unit, options, &target, &mut diags);
        if let (Some(program), Some(Emit::Thir)) = (&program, arguments.emit) {
            let _ = writeln!(out, "{program:#?}");
        }
    }
    let style = RenderOptions { colour: true, no_warnings: options.no_warnings, warnings_are_errors: options.warnings_are_errors };
    let _ = write!(anstream::stderr(), "{}", render(&map, &diags, style));
    !diags.fails(options.warnings_are_errors && !options.no_warnings)
}
