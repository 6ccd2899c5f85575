//! Reports findings on standard error, in the format of a compiler diagnostic: once per kernel, source location, kind
//! of access and kind of error.
//!
//! Example: `k.cl:4:5: error: kernel 'k': store of 4 bytes at byte 64 of argument 'a', which has 64 bytes, by work-item
//! (16, 0, 0) of group (1, 0, 0)`, followed by the source line.

use std::io::{self, Write};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use rustc_hash::FxHashSet;
use wgcl_api::observe::sanitizer_summary;
use wgcl_compiler::diag::{Diagnostic, SourceMap, Span, render_one};
use wgcl_compiler::ir::{Scalar, Space, UndefinedUse};
use wgcl_compiler::program::{KernelInfo, Program};
use wgcl_compiler::vectorize::sanitize::{Access, AccessSite, Object};

use crate::memory::address_range::AddressRange;

/// Addresses below this are offsets from a null pointer.
pub(crate) const NULL_END: u64 = 4096;

/// The names and sources of a program.
#[derive(Debug)]
struct Origin {
    kernels: Vec<KernelArguments>,
    sources: Option<Arc<SourceMap>>,
}

/// The arguments of a kernel.
#[derive(Debug)]
struct KernelArguments {
    kernel: String,
    args: Vec<Argument>,
}

/// An argument of a kernel.
#[derive(Debug)]
struct Argument {
    name: String,
    /// The address space that a pointer points to.
    space: Space,
}

/// Identifies a finding. Findings with equal ids are reported once.
#[derive(Debug, PartialEq, Eq, Hash)]
struct FindingId {
    kernel: String,
    /// The source location. For two conflicting accesses, the locations of both, in source order.
    spans: [Span; 2],
    /// Index of the access site, if it has no source location.
    site: Option<usize>,
    /// The name of the kind of access. `None` for two conflicting accesses, which can be found in either order.
    access: Option<&'static str>,
    /// The kind of use and the variables of an undefined value, which are reported at the first position only.
    undefined: Option<(UndefinedUse, String)>,
    kind: u8,
}

/// The kind of an error.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault<'a> {
    OutOfBounds,
    Misaligned,
    /// A load or atomic operation that reads uninitialised bytes.
    Uninitialized,
    /// A store to a CL_MEM_READ_ONLY buffer.
    ReadOnly,
    /// A data race with an earlier access.
    Race {
        other: &'a AccessSite,
        /// Global id of the other work-item.
        item: [u64; 3],
        /// The group of the other work-item; `None` for the same group.
        group: Option<[u32; 3]>,
    },
    /// An access to bytes of an asynchronous copy by a work-item that has begun the copy and not waited for its event.
    UnfinishedCopy {
        other: &'a AccessSite,
        /// The work-item of the same group that accesses the bytes, if `other` is its access and the finding is the
        /// copy. `None` if `other` is the copy.
        item: Option<[u64; 3]>,
    },
    /// A copy for which a work-item did not wait before the end of the kernel.
    NeverWaitedFor,
    /// A barrier, work-group function, copy or wait that some work-items of the group did not reach.
    Divergence {
        arrived: u32,
        of: u32,
    },
    /// An integer division by zero.
    DivisionByZero,
    /// An operation whose result is a NaN although no operand is a NaN.
    NanProduced {
        operands: &'a [f64],
        /// The component of a vector operation; `None` for a scalar.
        component: Option<u8>,
    },
    /// A conversion of a float to an integer that cannot represent the result.
    ConversionOutOfRange {
        value: f64,
        to: Scalar,
        signed: bool,
        /// The component of a vector; `None` for a scalar.
        component: Option<u8>,
    },
    /// A use of a value that depends on an uninitialised private variable.
    Undefined(UndefinedUse),
}

impl Fault<'_> {
    /// A number that identifies the variant.
    const fn kind(&self) -> u8 {
        match self {
            Self::OutOfBounds => 0,
            Self::Misaligned => 1,
            Self::Uninitialized => 2,
            Self::ReadOnly => 3,
            Self::Race { .. } => 4,
            Self::Divergence { .. } => 5,
            Self::DivisionByZero => 6,
            Self::NanProduced { .. } => 7,
            Self::ConversionOutOfRange { .. } => 8,
            Self::UnfinishedCopy { .. } => 9,
            Self::Undefined(_) => 10,
            Self::NeverWaitedFor => 11,
        }
    }

    /// The other one of two conflicting accesses.
    const fn other(&self) -> Option<&AccessSite> {
        match self {
            Self::Race { other, .. } | Self::UnfinishedCopy { other, .. } => Some(other),
            _ => None,
        }
    }
}

/// The findings in the kernels of a program.
#[derive(Debug, Default)]
pub(crate) struct Reports {
    origin: OnceLock<Origin>,
    reported: Mutex<FxHashSet<FindingId>>,
}

/// An error in a kernel.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Finding<'a> {
    pub(crate) kernel: &'a str,
    pub(crate) site: &'a AccessSite,
    /// Index of the access site.
    pub(crate) site_index: usize,
    pub(crate) address: u64,
    /// The memory that the pointer may access; `None` if it is unknown.
    pub(crate) bounds: Option<AddressRange>,
    /// Global id of the work-item.
    pub(crate) item: [u64; 3],
    pub(crate) group: [u32; 3],
    pub(crate) fault: Fault<'a>,
}

/// Formats an id as `(1, 0, 0)`.
fn tuple<T: ToString>(id: [T; 3]) -> String {
    format!("({})", id.map(|id| id.to_string()).join(", "))
}

impl FindingId {
    fn of(finding: &Finding<'_>) -> Self {
        let Finding { kernel, site, site_index, fault, .. } = *finding;
        let mut spans = [site.span; 2];
        if let Some(other) = fault.other() {
            spans[1] = other.span;
            spans.sort_unstable();
        }
        let undefined = match (fault, &site.object) {
            (Fault::Undefined(what), Object::Variable { name, .. }) => Some((what, name.clone())),
            _ => None,
        };
        if undefined.is_some() {
            spans = [Span::NONE; 2];
        }
        Self {
            kernel: kernel.to_owned(),
            spans,
            site: (site.span == Span::NONE && undefined.is_none()).then_some(site_index),
            access: fault.other().is_none().then_some(access_name(site.access)),
            undefined,
            kind: fault.kind(),
        }
    }
}

impl Reports {
    /// Sets the names and sources that reports use.
    pub(crate) fn attach_source(&self, program: &Program) {
        let arguments = |kernel: &KernelInfo| KernelArguments {
            kernel: kernel.name.clone(),
            args: kernel.args.iter().map(|arg| Argument { name: arg.name.clone(), space: arg.address }).collect(),
        };
        let kernels = program.kernels.iter().map(arguments).collect();
        // A second call has the same program, so its result is ignored.
        let _ = self.origin.set(Origin { kernels, sources: program.sources.clone() });
    }

    /// The sources of the program, if [`Self::attach_source`] was called and they are known.
    #[cfg(target_os = "linux")]
    pub(crate) fn sources(&self) -> Option<&SourceMap> {
        self.origin.get()?.sources.as_deref()
    }

    /// Prints a finding, unless an equal one has been printed. Returns the message without the source location.
    pub(crate) fn report(&self, finding: &Finding<'_>) -> String {
        let message = self.message(finding);
        if self.reported.lock().insert(FindingId::of(finding)) {
            sanitizer_summary::count_finding();
            let mut diagnostic = Diagnostic::error(finding.site.span, &message);
            if let Some(other) = finding.fault.other() {
                let remedy = self.remedy(finding, other).map(|remedy| format!("; {remedy}")).unwrap_or_default();
                let which = match finding.fault {
                    Fault::UnfinishedCopy { item: None, .. } => "copy",
                    _ => "other access",
                };
                diagnostic =
                    diagnostic.with_note(other.span, format!("the {which} ({}) is at this position{remedy}", access_name(other.access)));
            }
            let text = match self.origin.get().and_then(|origin| origin.sources.as_ref()) {
                Some(sources) => render_one(sources, &diagnostic, diagnostic.severity),
                None => format!("error: {message}\n"),
            };
            // A failure to write to standard error cannot be reported.
            let _ = io::stderr().lock().write_all(text.as_bytes());
        }
        message
    }

    /// Suggests a barrier or a wait between two accesses of one work-group. `None` if the accesses are of different
    /// groups, on one line, or in different files.
    fn remedy(&self, finding: &Finding<'_>, other: &AccessSite) -> Option<String> {
        if matches!(finding.fault, Fault::Race { group: Some(_), .. }) {
            return None;
        }
        let sources = self.origin.get()?.sources.as_ref()?;
        let [one, two] = [finding.site.span, other.span].map(|span| sources.locate(span));
        let (one, two) = (one?, two?);
        if one.file != two.file || one.line == two.line {
            return None;
        }
        let (first, last) = (one.line.min(two.line), one.line.max(two.line));
        if matches!(finding.fault, Fault::UnfinishedCopy { .. }) {
            return Some(format!("wait_group_events between line {first} and line {last} completes the copy"));
        }
        let fence = match self.space(finding) {
            Some(Space::Local) => "CLK_LOCAL_MEM_FENCE",
            Some(Space::Global) => "CLK_GLOBAL_MEM_FENCE",
            _ => "CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE",
        };
        Some(format!("a barrier({fence}) between line {first} and line {last} orders them"))
    }

    /// The address space of the object of an access; `None` if it is unknown.
    fn space(&self, finding: &Finding<'_>) -> Option<Space> {
        match &finding.site.object {
            Object::Argument(index) => {
                let kernel = self.origin.get()?.kernels.iter().find(|known| known.kernel == finding.kernel)?;
                kernel.args.get(*index as usize).map(|arg| arg.space)
            }
            Object::Variable { space, .. } => Some(*space),
            Object::Any => None,
        }
    }

    fn message(&self, finding: &Finding<'_>) -> String {
        let Finding { kernel, site, item, group, fault, .. } = *finding;
        let by = format!("by work-item {} of group {}", tuple(item), tuple(group));
        let access = || {
            let (plural, place) = (if site.size == 1 { "" } else { "s" }, self.place(finding));
            format!("{} of {} byte{plural} {place}", access_name(site.access), site.size)
        };
        let what = match fault {
            Fault::OutOfBounds => format!("{}, {by}", access()),
            Fault::Misaligned => format!("{}, whose address is not a multiple of {}, {by}", access(), site.align),
            Fault::Uninitialized => format!("{}, which is uninitialised, {by}", access()),
            Fault::ReadOnly => format!("{}, which is CL_MEM_READ_ONLY, {by}", access()),
            Fault::Race { item, group, .. } => {
                let of = group.map_or_else(|| "the same group".to_owned(), |group| format!("group {}", tuple(group)));
                format!("{}, {by}: a data race with work-item {} of {of}", access(), tuple(item))
            }
            Fault::UnfinishedCopy { item: None, .. } => {
                format!("{}, {by}: the asynchronous copy of these bytes is not complete", access())
            }
            Fault::UnfinishedCopy { item: Some(item), .. } => {
                let item = tuple(item);
                format!(
                    "{}, {by}: an asynchronous copy; work-item {item} of the same group accesses the bytes before the copy is complete",
                    access()
                )
            }
            Fault::Divergence { arrived, of } => {
                let (group, item) = (tuple(group), tuple(item));
                let what = match site.access {
                    Access::Reach => "work-group function",
                    Access::CopyBegin => "asynchronous copy",
                    Access::CopyWait => "wait for an asynchronous copy",
                    _ => "barrier",
                };
                format!("{what} reached by {arrived} of {of} work-items of group {group}; work-item {item} does not reach it")
            }
            Fault::NeverWaitedFor => format!("asynchronous copy, for which wait_group_events was not called, {by}"),
            Fault::DivisionByZero => format!("integer division by zero, {by}"),
            Fault::Undefined(what) => {
                let name = if let Object::Variable { name, .. } = &site.object { name.as_str() } else { "" };
                format!("{} depends on the uninitialised variable '{name}', {by}", what.describe())
            }
            Fault::NanProduced { operands, component } => {
                format!("NaN produced from {}{}, {by}", numbers(operands, site.size), in_component(component))
            }
            Fault::ConversionOutOfRange { value, to, signed, component } => {
                let (min, max) = to.integer_range(signed);
                // The shortest text of a float could differ from the exact value that exceeds the range.
                let is_short = value.fract() == 0.0 && value.abs() < 1e20;
                let value = if is_short { format!("{value:.0}") } else { number(value, site.size) };
                let (name, component) = (integer_name(to, signed), in_component(component));
                format!("conversion of {value}{component} to '{name}', which can represent {min} to {max}, {by}")
            }
        };
        format!("kernel '{kernel}': {what}")
    }

    /// Describes the object and the offset of an access.
    fn place(&self, finding: &Finding<'_>) -> String {
        let Finding { kernel, site, address, bounds, fault, .. } = *finding;
        let unknown = || {
            let which = if matches!(fault, Fault::OutOfBounds) { ", which is not in a memory object" } else { "" };
            format!("at address {address:#x}{which}")
        };
        let inside = |object: String| {
            let Some(AddressRange { start, end }) = bounds else { return unknown() };
            let (offset, size) = (i128::from(address) - i128::from(start), i128::from(end) - i128::from(start));
            let which = if matches!(fault, Fault::OutOfBounds) { format!(", which has {size} bytes") } else { String::new() };
            format!("at byte {offset} of {object}{which}")
        };
        match &site.object {
            _ if address < NULL_END => "through a null pointer".to_owned(),
            Object::Argument(index) => {
                let kernel = self.origin.get().and_then(|origin| origin.kernels.iter().find(|known| known.kernel == kernel));
                let name = kernel.and_then(|kernel| kernel.args.get(*index as usize)).map(|arg| &arg.name).filter(|name| !name.is_empty());
                inside(name.map_or_else(|| format!("argument {index}"), |name| format!("argument '{name}'")))
            }
            Object::Variable { name, space, .. } => {
                let space = match space {
                    Space::Private => "private",
                    Space::Local => "local",
                    Space::Constant => "constant",
                    Space::Global | Space::Generic => "global",
                };
                inside(if name.is_empty() { format!("a {space} variable") } else { format!("the {space} variable '{name}'") })
            }
            Object::Any => unknown(),
        }
    }
}

fn in_component(component: Option<u8>) -> String {
    component.map_or_else(String::new, |number| format!(" in component s{number:x}"))
}

/// The name of an integer type in OpenCL C.
const fn integer_name(scalar: Scalar, signed: bool) -> &'static str {
    match (scalar.size(), signed) {
        (1, true) => "char",
        (1, false) => "uchar",
        (2, true) => "short",
        (2, false) => "ushort",
        (4, true) => "int",
        (4, false) => "uint",
        (_, true) => "long",
        (_, false) => "ulong",
    }
}

/// Formats a number of a type of `size` bytes. Very large and very small numbers have an exponent.
fn number(number: f64, size: u32) -> String {
    let text = if size < 8 { format!("{:?}", number as f32) } else { format!("{number:?}") };
    text.strip_suffix(".0").map_or_else(|| text.clone(), ToOwned::to_owned)
}

/// Lists numbers of a type of `size` bytes: `0, 1 and inf`.
fn numbers(list: &[f64], size: u32) -> String {
    let shown: Vec<String> = list.iter().map(|&operand| number(operand, size)).collect();
    match shown.as_slice() {
        [before @ .., last] if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        _ => shown.concat(),
    }
}

const fn access_name(access: Access) -> &'static str {
    match access {
        Access::Load | Access::Copy => "load",
        Access::Store => "store",
        Access::Atomic | Access::AtomicLoad | Access::AtomicStore => "atomic operation",
        Access::Barrier { .. } | Access::Collective | Access::Reach | Access::Fence => "synchronisation",
        Access::Begin | Access::End => "group",
        Access::CopyBegin | Access::CopyEnd | Access::CopyWait => "asynchronous copy",
        Access::Divide => "division",
        Access::NanOperand | Access::Nan | Access::Conversion { .. } | Access::Undefined(_) => "operation",
    }
}
