//! What is told of what kernels were found to do wrong: like a compiler's diagnostic, on standard error, once a place in the source.

use std::io::{self, Write};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use rustc_hash::FxHashSet;
use wgcl_compiler::diag::{Diagnostic, SourceMap, Span, render_one};
use wgcl_compiler::ir::Space;
use wgcl_compiler::program::Program;
use wgcl_compiler::vectorize::sanitize::{Access, AccessSite, Object};

/// Addresses below this are taken for those of null pointers and of what is behind them.
pub(crate) const NULL_END: u64 = 4096;

/// What an application knows of a program.
#[derive(Debug)]
struct Origin {
    /// The names of each kernel's arguments.
    args: Vec<(String, Vec<String>)>,
    sources: Option<Arc<SourceMap>>,
}

/// What stands for what was told: the kernel, the place or its number, what is done there, and what is wrong with it. Of a race both places, and not who came first.
type Told = (String, [Span; 2], usize, Option<Access>, u8);

/// What is wrong.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fault<'a> {
    /// Something is touched that is not the object's.
    OutOfBounds,
    /// The address is not a multiple of what the type's alignment asks for.
    Misaligned,
    /// Nobody has written what is read.
    NeverWritten,
    /// What the application lets kernels only read is written.
    ReadOnly,
    /// Another work-item may do something to the same bytes before or after it.
    Race {
        /// What that does.
        other: &'a AccessSite,
        /// Its global id.
        item: [u64; 3],
        /// Its group, if that is another.
        group: Option<[u32; 3]>,
    },
    /// Not all of a group come to a barrier.
    Diverged {
        /// How many do.
        came: u32,
        /// How many there are.
        of: u32,
    },
    /// An integer is divided by zero.
    DivisionByZero,
    /// A NaN comes of operands that are none.
    NanOfNumbers {
        /// These.
        operands: &'a [f64],
        /// In which component of a vector.
        component: Option<u8>,
    },
}

impl Fault<'_> {
    /// What stands for all faults of a kind.
    const fn kind(&self) -> u8 {
        match self {
            Self::OutOfBounds => 0,
            Self::Misaligned => 1,
            Self::NeverWritten => 2,
            Self::ReadOnly => 3,
            Self::Race { .. } => 4,
            Self::Diverged { .. } => 5,
            Self::DivisionByZero => 6,
            Self::NanOfNumbers { .. } => 7,
        }
    }
}

/// What is told of a program.
#[derive(Debug, Default)]
pub(crate) struct Reports {
    origin: OnceLock<Origin>,
    told: Mutex<FxHashSet<Told>>,
}

/// Something that a kernel does wrong.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wrong<'a> {
    pub(crate) kernel: &'a str,
    pub(crate) site: &'a AccessSite,
    /// The number of the site.
    pub(crate) number: usize,
    pub(crate) address: u64,
    /// The first byte of what the pointer leads into, and the first behind it.
    pub(crate) bounds: (u64, u64),
    /// Global id.
    pub(crate) item: [u64; 3],
    pub(crate) group: [u32; 3],
    pub(crate) fault: Fault<'a>,
}

fn list<T: ToString>(ids: [T; 3]) -> String {
    format!("({})", ids.map(|id| id.to_string()).join(", "))
}

impl Reports {
    /// Notes what the program was made of.
    pub(crate) fn attach_source(&self, program: &Program) {
        let names = |kernel: &wgcl_compiler::program::KernelInfo| kernel.args.iter().map(|arg| arg.name.clone()).collect();
        let args = program.kernels.iter().map(|kernel| (kernel.name.clone(), names(kernel))).collect();
        // Who has told it before has told the same.
        let _ = self.origin.set(Origin { args, sources: program.sources.clone() });
    }

    /// Tells of something, unless that was done; what is told without the place in the source.
    pub(crate) fn tell(&self, wrong: &Wrong<'_>) -> String {
        let message = self.message(wrong);
        let Wrong { kernel, site, number, fault, .. } = *wrong;
        let number = if site.span == Span::NONE { number } else { 0 };
        let mut places = [site.span; 2];
        if let Fault::Race { other, .. } = fault {
            places[1] = other.span;
            places.sort_unstable();
        }
        let access = (!matches!(fault, Fault::Race { .. })).then_some(site.access);
        if self.told.lock().insert((kernel.to_owned(), places, number, access, fault.kind())) {
            let mut diagnostic = Diagnostic::error(site.span, &message);
            if let Fault::Race { other, .. } = fault {
                diagnostic = diagnostic.with_note(other.span, format!("the other {} is here", name(other.access)));
            }
            let text = match self.origin.get().and_then(|origin| origin.sources.as_ref()) {
                Some(sources) => render_one(sources, &diagnostic, false),
                None => format!("error: {message}\n"),
            };
            // Nobody is left to hear of it.
            let _ = io::stderr().lock().write_all(text.as_bytes());
        }
        message
    }

    fn message(&self, wrong: &Wrong<'_>) -> String {
        let Wrong { kernel, site, item, group, fault, .. } = *wrong;
        let by = format!("by work-item {} of group {}", list(item), list(group));
        let access = || {
            let (plural, place) = (if site.size == 1 { "" } else { "s" }, self.place(wrong));
            format!("{} of {} byte{plural} {place}", name(site.access), site.size)
        };
        let what = match fault {
            Fault::OutOfBounds => format!("{}, {by}", access()),
            Fault::Misaligned => format!("{}, whose address is not a multiple of {}, {by}", access(), site.align),
            Fault::NeverWritten => format!("{}, which nothing has written, {by}", access()),
            Fault::ReadOnly => format!("{}, which is CL_MEM_READ_ONLY, {by}", access()),
            Fault::Race { item, group, .. } => {
                let of = group.map_or_else(|| "the same group".to_owned(), |group| format!("group {}", list(group)));
                format!("{}, {by}: a data race with work-item {} of {of}", access(), list(item))
            }
            Fault::Diverged { came, of } => {
                format!("a barrier that {came} of {of} work-items of group {} come to; work-item {} does not", list(group), list(item))
            }
            Fault::DivisionByZero => format!("an integer is divided by zero, {by}"),
            Fault::NanOfNumbers { operands, component } => {
                let component = component.map_or_else(String::new, |number| format!(" in component s{number:x}"));
                format!("a NaN comes of {}{component}, {by}", numbers(operands, site.size))
            }
        };
        format!("kernel '{kernel}': {what}")
    }

    /// Where it goes.
    fn place(&self, wrong: &Wrong<'_>) -> String {
        let Wrong { kernel, site, address, bounds: (start, end), fault, .. } = *wrong;
        let inside = |object: String| {
            let (at, size) = (i128::from(address) - i128::from(start), i128::from(end) - i128::from(start));
            let which = if matches!(fault, Fault::OutOfBounds) { format!(", which has {size} bytes") } else { String::new() };
            format!("at byte {at} of {object}{which}")
        };
        let somewhere = || {
            let which = if matches!(fault, Fault::OutOfBounds) { ", where no memory object is" } else { "" };
            format!("at address {address:#x}{which}")
        };
        match &site.object {
            _ if address < NULL_END => "through a null pointer".to_owned(),
            Object::Argument(_) if end == 0 => somewhere(),
            Object::Argument(index) => {
                let args = self.origin.get().and_then(|origin| origin.args.iter().find(|(name, _)| name == kernel));
                let name = args.and_then(|(_, args)| args.get(*index as usize)).filter(|name| !name.is_empty());
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
            Object::Any => somewhere(),
        }
    }
}

/// Numbers of so many bytes each, as one reads them.
fn numbers(list: &[f64], size: u32) -> String {
    let shown: Vec<String> = list.iter().map(|&number| if size < 8 { (number as f32).to_string() } else { number.to_string() }).collect();
    match shown.as_slice() {
        [before @ .., last] if !before.is_empty() => format!("{} and {last}", before.join(", ")),
        _ => shown.concat(),
    }
}

/// What an access is called.
const fn name(access: Access) -> &'static str {
    match access {
        Access::Load | Access::Copy => "load",
        Access::Store => "store",
        Access::Atomic => "atomic operation",
        Access::Barrier { .. } | Access::Together | Access::Fence => "synchronisation",
        Access::Begin | Access::End => "group",
        Access::Divide => "division",
        Access::NanOperand | Access::Nan => "operation",
    }
}
