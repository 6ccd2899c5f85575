//! `wgclc`: the compiler as a command. It prints the output of any stage, and checks sources for editors. `wgclc run`
//! runs kernels, `wgclc replay` runs captured launches, and `wgclc lsp` is a language server.
//!
//! Exit status:
//! - 0: all sources build, or the kernel ran
//! - 1: a source is rejected, a launch fails, the sanitizer reports an error, or devices differ
//! - 2: wrong usage, or files that cannot be read or written
//! - 3: no OpenCL library or no matching device
//! - 101: the compiler has a bug

#![forbid(unsafe_code)]

mod arguments;
mod bindings;
mod child;
mod compile;
mod describe;
mod input;
mod kernel_report;
mod launches;
mod replay;
mod report;
mod run;
mod watch;

use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;

use clap::CommandFactory;
use wgcl_compiler::program::BuildOptions;

use arguments::{Arguments, LanguageServerArguments, MessageFormat, ReplayArguments, RunArguments};
use compile::{Outcome, compile};
use input::Input;
use report::Report;
use watch::WatchedFiles;

/// Stack size in bytes of the compiler thread. The depth of recursion depends on the nesting of the source.
const STACK: usize = 256 << 20;

/// Exit status for rejected sources and failed launches.
const FAILED: u8 = 1;

/// Exit status for wrong usage and for files that cannot be read or written.
const USAGE: u8 = 2;

/// Exit status if there is no OpenCL library or no matching device.
const NO_DEVICE: u8 = 3;

fn main() -> ExitCode {
    let words: Result<Vec<_>, _> = std::env::args_os().map(std::ffi::OsString::into_string).collect();
    let words = match words {
        Ok(words) => words,
        Err(word) => return usage(&format!("an argument is not valid Unicode: {}", word.display())),
    };
    if words.get(1).is_some_and(|word| word == "run") {
        let (arguments, options) = RunArguments::read(words.into_iter().skip(1));
        return run::run(&arguments, &options);
    }
    if words.get(1).is_some_and(|word| word == "replay") {
        return replay::run(&ReplayArguments::read(words.into_iter().skip(1)));
    }
    if words.get(1).is_some_and(|word| word == "lsp") {
        LanguageServerArguments::read(words.into_iter().skip(1));
        return match wgcl_language_server::serve_stdio() {
            Ok(()) => ExitCode::SUCCESS,
            Err(error) => usage(&error.to_string()),
        };
    }
    let (arguments, options) = match Arguments::read(words.into_iter()) {
        Ok(read) => read,
        Err(error) => return usage(&error),
    };
    match arguments.describe.text(Arguments::command(), &[("run", RunArguments::command()), ("replay", ReplayArguments::command())]) {
        Ok(None) => {}
        Ok(Some(text)) => {
            let _ = std::io::stdout().write_all(&text);
            return ExitCode::SUCCESS;
        }
        Err(error) => return usage(&error.to_string()),
    }
    let thread = std::thread::Builder::new().stack_size(STACK).spawn(move || compile_all(&arguments, &options));
    match thread.map(std::thread::JoinHandle::join) {
        Ok(Ok(code)) => code,
        Ok(Err(_)) => ExitCode::from(101),
        Err(error) => usage(&format!("cannot start the compiler thread: {error}")),
    }
}

fn usage(message: &str) -> ExitCode {
    let _ = writeln!(anstream::stderr(), "wgclc: {message}");
    ExitCode::from(USAGE)
}

/// Compiles all files. With `--watch`, compiles them again after each change, and does not return.
fn compile_all(arguments: &Arguments, options: &BuildOptions) -> ExitCode {
    loop {
        let mut watched = WatchedFiles::observe(arguments.files.iter().map(PathBuf::from));
        let code = compile_once(arguments, options, &mut watched);
        if !arguments.watch {
            return ExitCode::from(code);
        }
        if code == 0 && arguments.message_format == MessageFormat::Human {
            let _ = writeln!(anstream::stderr(), "wgclc: no errors; waiting for changes");
        }
        watched.wait();
    }
}

/// Compiles all files once. Returns the largest exit status.
fn compile_once(arguments: &Arguments, options: &BuildOptions, watched: &mut WatchedFiles) -> u8 {
    let mut report = Report::new(arguments);
    let mut code = 0;
    for file in &arguments.files {
        let outcome = match Input::read(file) {
            Ok(input) => compile(arguments, &input, options),
            Err(error) => {
                report.error(file, &error);
                code = USAGE;
                continue;
            }
        };
        if let Err(error) = report.outcome(file, &outcome) {
            report.error(file, &error);
            code = USAGE;
        }
        let Outcome { has_errors, files, .. } = outcome;
        code = code.max(if has_errors { FAILED } else { 0 });
        watched.add(files);
    }
    report.finish(code == 0);
    code
}
