//! What is told of accesses that were found wrong: like a compiler's diagnostic, on standard error, once a place in the source.

use std::io::{self, Write};
use std::sync::{Arc, OnceLock};

use parking_lot::Mutex;
use rustc_hash::FxHashSet;
use wgcl_compiler::diag::{Diagnostic, SourceMap, Span, render_one};
use wgcl_compiler::ir::Space;
use wgcl_compiler::native::check::{Access, Object, Site};
use wgcl_compiler::program::Program;

/// Addresses below this are taken for those of null pointers and of what is behind them.
pub(crate) const NULL_END: u64 = 4096;

/// What an application knows of a program.
#[derive(Debug)]
struct Origin {
    /// The names of each kernel's arguments.
    args: Vec<(String, Vec<String>)>,
    sources: Option<Arc<SourceMap>>,
}

/// What stands for an access of which was told: its kernel, its place or number, and what it does.
type Told = (String, Span, usize, Access);

/// What is told of a program.
#[derive(Debug, Default)]
pub(crate) struct Reports {
    origin: OnceLock<Origin>,
    told: Mutex<FxHashSet<Told>>,
}

/// An access that is wrong.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Wrong<'a> {
    pub(crate) kernel: &'a str,
    pub(crate) site: &'a Site,
    /// The number of the site.
    pub(crate) number: usize,
    pub(crate) address: u64,
    /// The first byte of what the pointer leads into, and the first behind it.
    pub(crate) bounds: (u64, u64),
    /// Global id.
    pub(crate) item: [u64; 3],
    pub(crate) group: [u32; 3],
}

fn list<T: ToString>(ids: [T; 3]) -> String {
    format!("({})", ids.map(|id| id.to_string()).join(", "))
}

impl Reports {
    /// Notes what the program was made of.
    pub(crate) fn note_origin(&self, program: &Program) {
        let names = |kernel: &wgcl_compiler::program::KernelInfo| kernel.args.iter().map(|arg| arg.name.clone()).collect();
        let args = program.kernels.iter().map(|kernel| (kernel.name.clone(), names(kernel))).collect();
        // Who has told it before has told the same.
        let _ = self.origin.set(Origin { args, sources: program.sources.clone() });
    }

    /// Tells of an access, unless that was done; what is told without the place in the source.
    pub(crate) fn tell(&self, wrong: &Wrong<'_>) -> String {
        let message = self.message(wrong);
        let Wrong { kernel, site, number, .. } = *wrong;
        let number = if site.span == Span::NONE { number } else { 0 };
        if self.told.lock().insert((kernel.to_owned(), site.span, number, site.access)) {
            let text = match self.origin.get().and_then(|origin| origin.sources.as_ref()) {
                Some(sources) => render_one(sources, &Diagnostic::error(site.span, &message)),
                None => format!("error: {message}\n"),
            };
            // Nobody is left to hear of it.
            let _ = io::stderr().lock().write_all(text.as_bytes());
        }
        message
    }

    fn message(&self, wrong: &Wrong<'_>) -> String {
        let Wrong { kernel, site, item, group, .. } = *wrong;
        let access = match site.access {
            Access::Load => "load",
            Access::Store => "store",
            Access::Atomic => "atomic operation",
        };
        let (plural, place) = (if site.size == 1 { "" } else { "s" }, self.place(wrong));
        let (item, group) = (list(item), list(group));
        format!("kernel '{kernel}': {access} of {} byte{plural} {place}, by work-item {item} of group {group}", site.size)
    }

    /// Where it goes.
    fn place(&self, wrong: &Wrong<'_>) -> String {
        let Wrong { kernel, site, address, bounds: (start, end), .. } = *wrong;
        let inside = |object: String| {
            let (at, size) = (i128::from(address) - i128::from(start), i128::from(end) - i128::from(start));
            format!("at byte {at} of {object}, which has {size} bytes")
        };
        match &site.object {
            _ if address < NULL_END => "through a null pointer".to_owned(),
            Object::Argument(_) if end == 0 => format!("at address {address:#x}, where no memory object is"),
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
            Object::Any => format!("at address {address:#x}, where no memory object is"),
        }
    }
}
