//! `wgclc run`: runs a kernel on a device, with arguments from the command line.

use std::fmt::Write as _;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::time::Duration;

use wgcl_client::compare::differences;
use wgcl_client::devices::{Device, Libraries};
use wgcl_client::element::{Element, Value};
use wgcl_client::error::ClientError;
use wgcl_client::notation::{Argument, Launch};
use wgcl_client::session::{Buffer, Code, RunResult, Session};
use wgcl_compiler::diag::{colourise, suggest};

use crate::arguments::RunArguments;
use crate::child;
use crate::compile::show;
use crate::{FAILED, NO_DEVICE, USAGE, usage};

/// Runs the kernel that the command line describes.
pub fn run(arguments: &RunArguments, options: &[String]) -> ExitCode {
    if !child::is_child() {
        return child::run(&[&arguments.device, &arguments.compare], arguments.check);
    }
    exit_code(Job::read(arguments, options).and_then(|job| job.run()))
}

/// Returns the exit status for a result, which is false if results differ. Prints the error.
pub fn exit_code(result: Result<bool, ClientError>) -> ExitCode {
    match result {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(FAILED),
        Err(ClientError::Build { log }) => {
            print_log(&format!("{log}\n"));
            ExitCode::from(FAILED)
        }
        Err(error) => {
            usage(&error.to_string());
            ExitCode::from(match error {
                ClientError::Arguments(_) | ClientError::NoKernel { .. } => USAGE,
                ClientError::NoLibrary { .. } | ClientError::NoDevice { .. } => NO_DEVICE,
                ClientError::Build { .. } | ClientError::Call { .. } => FAILED,
            })
        }
    }
}

/// Fails if a word looks like a size with a wrong name, such as `globl=64`.
fn check_size_names(words: &[&String]) -> Result<(), ClientError> {
    for word in words {
        let Some((key, value)) = word.split_once('=') else { continue };
        let is_size = !value.is_empty() && value.chars().all(|c| c.is_ascii_digit() || c == 'x');
        if is_size && let Some(known) = suggest::nearest(key, ["global", "local", "offset"]) {
            return Err(ClientError::Arguments(format!("unknown size `{key}=`; did you mean `{known}=`?")));
        }
    }
    Ok(())
}

/// The kernel to run.
struct Job<'a> {
    arguments: &'a RunArguments,
    launch: Launch,
    given: Vec<Argument>,
    /// The source, preceded by a `#line` directive with its name, or a SPIR-V module.
    bytes: Vec<u8>,
    options: String,
}

impl<'a> Job<'a> {
    fn read(arguments: &'a RunArguments, options: &[String]) -> Result<Self, ClientError> {
        let (sizes, rest): (Vec<&String>, Vec<&String>) = arguments.words.iter().partition(|word| Launch::is_size(word));
        check_size_names(&rest)?;
        let launch = Launch::parse(std::iter::once(arguments.kernel.as_str()).chain(sizes.into_iter().map(String::as_str)))?;
        let given = rest.into_iter().map(|word| Argument::parse(word)).collect::<Result<_, _>>()?;
        let file = &arguments.file;
        let mut bytes = std::fs::read(file).map_err(|error| ClientError::Arguments(format!("{}: {error}", file.display())))?;
        let mut words: Vec<String> = options.iter().map(|option| quoted(option)).collect();
        if !is_module(file) {
            // Insert a `#line` directive, so that diagnostics contain the file name.
            let name = file.display().to_string().replace('\\', "\\\\").replace('"', "\\\"");
            bytes.splice(0..0, format!("#line 1 \"{name}\"\n").into_bytes());
            words.push("-cl-kernel-arg-info".to_owned());
            // Also search for headers in the directory of the source.
            if bytes.windows(8).any(|word| word == b"#include")
                && let Some(folder) = file.parent().map(|folder| if folder.as_os_str().is_empty() { Path::new(".") } else { folder })
            {
                words.push(format!("-I {}", quoted(&folder.display().to_string())));
            }
        }
        Ok(Self { arguments, launch, given, bytes, options: words.join(" ") })
    }

    /// Runs the kernel on one device or two. Returns false if the results of two devices differ.
    fn run(&self) -> Result<bool, ClientError> {
        let arguments = self.arguments;
        let libraries = Libraries::find(std::env::var_os("WGCL_LIBRARY").map(PathBuf::from));
        let device = libraries.device(arguments.device.as_deref(), |device| arguments.check.is_none() || device.checks_kernels())?;
        let other = arguments.compare.as_deref().map(|name| libraries.device(Some(name), |_| true)).transpose()?;
        let ran = self.run_on(&device)?;
        let mut text = String::new();
        ran.buffers.iter().for_each(|buffer| self.describe(buffer, &mut text));
        show(&text);
        let Some(other) = other else { return Ok(true) };
        let compared = self.run_on(&other)?;
        Ok(compare((&device, &ran), (&other, &compared), arguments.within))
    }

    fn run_on(&self, device: &Device) -> Result<RunResult, ClientError> {
        show(&format!("{} ({})\n", device.name, device.platform));
        let source;
        let code = if is_module(&self.arguments.file) {
            Code::Module(&self.bytes)
        } else {
            source = String::from_utf8_lossy(&self.bytes);
            Code::Source(&source)
        };
        let session = Session::build(device, &code, &self.options)?;
        if !session.log.is_empty() {
            print_log(&format!("{}\n", session.log));
        }
        let ran = session.run(&self.launch, &self.given, self.arguments.repeat)?;
        let mut text = first_times(session.build, ran.first, ran.first_on_device);
        if let Some(median) = median(&ran.further) {
            let _ = write!(text, ", median of {} further launches: {}", ran.further.len(), format_time(median));
        }
        show(&format!("{text}\n"));
        Ok(ran)
    }

    /// Appends a line with the elements of a buffer.
    fn describe(&self, buffer: &Buffer, text: &mut String) {
        let count = buffer.after.len() / buffer.element.size();
        let _ = write!(text, "{}: {}[{count}]", buffer.name, buffer.element.name());
        if buffer.after == buffer.before {
            text.push_str(" is unchanged\n");
            return;
        }
        let printed = count.min(self.arguments.print);
        let values = (0..printed).filter_map(|index| Some(value(buffer.element, buffer.element.load(&buffer.after, index)?)));
        let rest = if printed < count { ", ..." } else { "" };
        let _ = writeln!(text, " = {{{}{rest}}}", values.collect::<Vec<_>>().join(", "));
    }
}

fn is_module(file: &Path) -> bool {
    file.extension().is_some_and(|extension| extension == "spv")
}

/// Quotes an option as one word of clBuildProgram's options.
fn quoted(option: &str) -> String {
    if option.contains(char::is_whitespace) { format!("\"{}\"", option.replace('"', "\\\"")) } else { option.to_owned() }
}

/// Formats a value with the fewest digits that identify it.
pub fn value(element: Element, value: Value) -> String {
    match (element, value) {
        (Element::Float | Element::Half, Value::Float(float)) => format!("{:?}", float as f32),
        _ => value.to_string(),
    }
}

/// Formats a time with a suitable unit.
pub fn format_time(time: Duration) -> String {
    match time.as_secs_f64() {
        seconds if seconds < 1e-3 => format!("{:.1} us", seconds * 1e6),
        seconds if seconds < 1.0 => format!("{:.2} ms", seconds * 1e3),
        seconds => format!("{seconds:.2} s"),
    }
}

pub fn median(times: &[Duration]) -> Option<Duration> {
    let mut times = times.to_vec();
    times.sort_unstable();
    times.get(times.len() / 2).copied()
}

/// Describes the times of a build and of the first launch.
pub fn first_times(build: Duration, first: Duration, on_device: Option<Duration>) -> String {
    let on_device = on_device.map_or(String::new(), |time| format!(" ({} on the device)", format_time(time)));
    format!("build {}, first launch {}{on_device}", format_time(build), format_time(first))
}

/// Writes a build log to standard error.
pub fn print_log(log: &str) {
    let _ = write!(anstream::stderr(), "{}", colourise(log));
}

/// Prints how the buffers of two devices differ. Returns whether they agree.
fn compare((device, ran): (&Device, &RunResult), (other, compared): (&Device, &RunResult), within: f64) -> bool {
    let mut agree = true;
    let mut text = String::new();
    for (one, two) in ran.buffers.iter().zip(&compared.buffers) {
        let Some(found) = differences(one, two, within, 1) else {
            let _ = writeln!(text, "{}: the devices agree", one.name);
            continue;
        };
        agree = false;
        let Some(&(index, a, b)) = found.first.first() else { continue };
        let (a, b) = (value(one.element, a), value(one.element, b));
        let by = if one.element.is_float() { format!(", by up to {:.1} ulp", found.ulp) } else { String::new() };
        let _ = writeln!(
            text,
            "{}: {} of {} elements differ{by}; first: {}[{index}] is {a} on {} and {b} on {}",
            one.name, found.count, found.total, one.name, device.name, other.name
        );
    }
    show(&text);
    agree
}
