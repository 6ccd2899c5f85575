//! The text of `--emit report`.

use wgcl_compiler::diag::{SourceMap, Span};
use wgcl_compiler::ir::{Function, KernelParam, Space};
use wgcl_compiler::launch::LaunchResult;
use wgcl_compiler::program::{KernelInfo, Program};
use wgcl_compiler::target::Target;
use wgcl_compiler::vectorize::Style;
use wgcl_compiler::vectorize::report::{AccessReport, Form, KernelReport, ScalarReason, Work, report};
use wgcl_compiler::vectorize::sanitize::{Access, Object};

use crate::arguments::Arguments;
use crate::launches::{kernels, key};

/// Below this number of operations per byte, a kernel whose data exceed the caches is limited by memory. A core of a
/// current x86-64 processor with AVX-512 reads 10 to 20 bytes/ns and executes 100 to 200 operations/ns.
const OPERATIONS_PER_BYTE: f64 = 10.0;

/// Returns the reports on the selected kernels.
pub fn text(arguments: &Arguments, program: &Program, target: &Target) -> LaunchResult<String> {
    let mut text = String::new();
    for function in kernels(arguments, program) {
        let key = key(arguments, function, target);
        let made = report(&program.module, &function.name, &key, target, Style::of(arguments.isa))?;
        let printer = Printer {
            report: &made,
            info: program.kernels.iter().find(|kernel| kernel.name == function.name),
            sources: program.sources.as_deref(),
        };
        let [x, y, z] = key.kernel.local_size;
        text.push_str(&format!("kernel {} ({}, work-group of {x} x {y} x {z})\n", function.name, arguments.isa.name()));
        printer.print(function, &mut text);
    }
    Ok(text)
}

fn local_arguments(kernel: &Function) -> usize {
    let params = kernel.kernel.as_ref().map(|kernel| kernel.params.as_slice()).unwrap_or_default();
    params.iter().filter(|param| matches!(param, KernelParam::Local { .. })).count()
}

struct Printer<'a> {
    report: &'a KernelReport,
    info: Option<&'a KernelInfo>,
    sources: Option<&'a SourceMap>,
}

impl Printer<'_> {
    fn print(&self, function: &Function, out: &mut String) {
        let report = self.report;
        out.push_str(&format!("  execution: {}\n", self.execution()));
        if report.is_split_at_barriers {
            out.push_str("  barriers: between barriers, the code loops over the work-items of the group\n");
        }
        let local = match local_arguments(function) {
            0 => String::new(),
            1 => " and 1 local argument".to_owned(),
            count => format!(" and {count} local arguments"),
        };
        out.push_str(&format!(
            "  memory: {} bytes of private memory per work-item, {} bytes of local memory{local} per work-group\n",
            report.private_memory, report.local_memory
        ));
        out.push_str(&format!(
            "  machine code: {} bytes, {} of stack; {} instructions spill or reload registers\n",
            report.code_bytes, report.stack, report.spills
        ));
        report.work.iter().for_each(|work| out.push_str(&self.work(work)));
        self.accesses(out);
    }

    fn execution(&self) -> String {
        let KernelReport { lanes, vectors, dimension, .. } = *self.report;
        if let Some(reason) = self.report.scalar {
            let reason = match reason {
                ScalarReason::Sanitized => "the sanitizer checks each access",
                ScalarReason::NoVectors => "wgcl uses no vectors of this instruction set",
                ScalarReason::Lock => "a work-item may wait for another one",
                ScalarReason::Gathers => "its loops mainly gather, and gathers are not faster than scalar loads",
                ScalarReason::SmallGroup => "the work-group has fewer than 3 work-items",
            };
            return format!("one work-item at a time, because {reason}");
        }
        let mut text = format!("{lanes} work-items at a time, in {vectors} vector{}", if vectors == 1 { "" } else { "s" });
        text.push_str(&match self.report.is_along_dimension {
            true => format!(" along dimension {dimension}"),
            false => ", by linear local id".to_owned(),
        });
        if self.report.has_partial_gang {
            text.push_str(&format!("; the last vector of a group is not full, because {lanes} does not divide the size of the group"));
        }
        text
    }

    fn work(&self, work: &Work) -> String {
        let Work { float_operations: floats, integer_operations: integers, loaded, stored, .. } = *work;
        let place = match self.place(work.span) {
            _ if work.span == Span::NONE => "outside of loops".to_owned(),
            Some(place) => format!("iteration of the loop at {place}"),
            None => "iteration of a loop".to_owned(),
        };
        let bytes = loaded + stored;
        let has_shared = self.report.accesses.iter().any(|access| access.form == Form::Uniform);
        let shared = if has_shared { " (accesses that a vector shares do not count)" } else { "" };
        let bound = if bytes == 0 {
            String::new()
        } else {
            let ratio = f64::from(floats + integers) / f64::from(bytes);
            let limit = if ratio < OPERATIONS_PER_BYTE { "memory" } else { "arithmetic" };
            format!("; {ratio:.2} operations per byte, so {limit} is the likely limit for data outside of the caches")
        };
        format!(
            "  {place}: {floats} floating-point and {integers} integer operations, {loaded} bytes loaded and {stored} stored per work-item{shared}{bound}\n"
        )
    }

    /// Writes the accesses by source line. Equal accesses of a line are counted.
    fn accesses(&self, out: &mut String) {
        let mut lines: Vec<(String, Vec<(String, u32)>)> = Vec::new();
        for access in &self.report.accesses {
            let line = match self.sources.and_then(|sources| sources.locate(access.span)) {
                Some(location) => format!("{}:{}: {}", location.file, location.line, location.text.trim()),
                None => "unknown source line".to_owned(),
            };
            let text = self.access(access);
            if lines.last().is_none_or(|(last, _)| *last != line) {
                lines.push((line, Vec::new()));
            }
            if let Some((_, list)) = lines.last_mut() {
                match list.iter_mut().find(|(known, _)| *known == text) {
                    Some((_, count)) => *count += 1,
                    None => list.push((text, 1)),
                }
            }
        }
        for (line, list) in lines {
            out.push_str(&format!("  {line}\n"));
            for (text, count) in list {
                let times = if count == 1 { String::new() } else { format!("{count} times: ") };
                out.push_str(&format!("    {times}{text}\n"));
            }
        }
    }

    fn access(&self, access: &AccessReport) -> String {
        let name = match access.access {
            Access::Store => "store",
            Access::Atomic => "atomic operation",
            _ => "load",
        };
        let object = match &access.object {
            Object::Argument(index) => match self.info.and_then(|info| info.args.get(*index as usize)) {
                Some(arg) if !arg.name.is_empty() => format!(" of {}", arg.name),
                _ => format!(" of argument {index}"),
            },
            Object::Variable { name, .. } if !name.is_empty() => format!(" of {name}"),
            Object::Variable { .. } | Object::Any => String::new(),
        };
        let space = match access.space {
            Space::Global => "global",
            Space::Constant => "constant",
            Space::Local => "local",
            Space::Private => "private",
            Space::Generic => "generic",
        };
        let masked = if access.masked { ", masked" } else { "" };
        let bytes = if access.size == 1 { "byte" } else { "bytes" };
        format!("{name}{object} ({space}, {} {bytes}): {}{masked}", access.size, self.form(access))
    }

    fn form(&self, access: &AccessReport) -> String {
        let reason = || match access.stride {
            Some(0) => "all work-items access the same address".to_owned(),
            Some(stride) => format!("neighbouring work-items access addresses {stride} bytes apart"),
            None => "the compiler does not know the distance between the addresses of neighbouring work-items".to_owned(),
        };
        match access.form {
            Form::Scalar => "scalar".to_owned(),
            Form::Uniform => "one scalar access for all work-items of a vector".to_owned(),
            Form::Contiguous => "contiguous vectors".to_owned(),
            Form::Interleaved => "contiguous vectors with permutations".to_owned(),
            Form::Rows => "16 bytes at a time for each work-item, with permutations".to_owned(),
            Form::Speculative if access.access == Access::Store => {
                "contiguous vectors if the addresses allow it at run time, otherwise a scatter".to_owned()
            }
            Form::Speculative => "contiguous vectors if the addresses allow it at run time, otherwise a gather".to_owned(),
            Form::Indexed if access.access == Access::Store => format!("scatter, because {}", reason()),
            Form::Indexed => format!("gather, because {}", reason()),
            Form::PerLane if access.access == Access::Atomic => "one work-item at a time".to_owned(),
            Form::PerLane => format!("one work-item at a time, because {}", reason()),
            Form::Merged => "part of another access, or not executed".to_owned(),
        }
    }

    fn place(&self, span: Span) -> Option<String> {
        self.sources?.locate(span).map(|location| format!("{}:{}", location.file, location.line))
    }
}
