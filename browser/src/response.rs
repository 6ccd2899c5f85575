//! Responses as JSON.

use serde::Serialize;
use wgcl_compiler as compiler;
use wgcl_compiler::{ArgumentKind, BindingKind, DiagnosticKind, Resource};

/// A range in the source. Lines and columns start at 1.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Location {
    file: String,
    line: u32,
    column: usize,
    end_line: u32,
    end_column: usize,
}

impl Location {
    fn of(location: &compiler::Location) -> Self {
        let compiler::Location { file, line, column, end_line, end_column, .. } = location;
        Self { file: file.clone(), line: *line, column: *column, end_line: *end_line, end_column: *end_column }
    }
}

#[derive(Debug, Serialize)]
struct Note {
    kind: &'static str,
    message: String,
    location: Option<Location>,
    replacement: Option<String>,
}

#[derive(Debug, Serialize)]
pub(crate) struct Diagnostic {
    kind: &'static str,
    message: String,
    group: Option<&'static str>,
    location: Option<Location>,
    notes: Vec<Note>,
    rendered: String,
}

const fn kind(kind: DiagnosticKind) -> &'static str {
    match kind {
        DiagnosticKind::Error => "error",
        DiagnosticKind::Warning => "warning",
        DiagnosticKind::Help => "help",
        _ => "note",
    }
}

impl Diagnostic {
    pub(crate) fn of(diagnostic: &compiler::Diagnostic) -> Self {
        let note = |note: &compiler::Note| Note {
            kind: kind(note.kind),
            message: note.message.clone(),
            location: note.location.as_ref().map(Location::of),
            replacement: note.replacement.clone(),
        };
        Self {
            kind: kind(diagnostic.kind),
            message: diagnostic.message.clone(),
            group: diagnostic.group,
            location: diagnostic.location.as_ref().map(Location::of),
            notes: diagnostic.notes.iter().map(note).collect(),
            rendered: diagnostic.rendered.clone(),
        }
    }
}

#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Argument {
    name: String,
    type_name: String,
    kind: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    size: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_read_only: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    is_constant: Option<bool>,
}

impl Argument {
    fn of(argument: &compiler::Argument) -> Self {
        let made = Self { name: argument.name.clone(), type_name: argument.type_name.clone(), ..Self::default() };
        match argument.kind {
            ArgumentKind::Value { size } => Self { kind: "value", size: Some(size), ..made },
            ArgumentKind::Buffer { is_read_only, is_constant } => {
                Self { kind: "buffer", is_read_only: Some(is_read_only), is_constant: Some(is_constant), ..made }
            }
            ArgumentKind::Local => Self { kind: "local", ..made },
            ArgumentKind::Image => Self { kind: "image", ..made },
            ArgumentKind::Sampler => Self { kind: "sampler", ..made },
            ArgumentKind::Pipe => Self { kind: "pipe", ..made },
            _ => made,
        }
    }
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Kernel {
    name: String,
    arguments: Vec<Argument>,
    required_work_group_size: Option<[u32; 3]>,
    local_memory: u32,
}

impl Kernel {
    pub(crate) fn of(kernel: &compiler::Kernel) -> Self {
        Self {
            name: kernel.name.clone(),
            arguments: kernel.arguments.iter().map(Argument::of).collect(),
            required_work_group_size: kernel.required_work_group_size,
            local_memory: kernel.local_memory,
        }
    }
}

#[derive(Debug, Serialize)]
pub(crate) struct Binding {
    number: u32,
    kind: &'static str,
    /// The least size of a uniform buffer.
    size: Option<u32>,
    resource: BoundResource,
}

/// The resource of a binding. The contents of `Constants` and `Variables` are in a section of the message.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
enum BoundResource {
    Arguments,
    Argument { argument: usize },
    Constants { section: usize },
    Variables { section: usize },
    Scratch { bytes_per_work_item: u32 },
    Zeros { size: u64 },
    Unknown,
}

impl Binding {
    /// Adds the contents of the binding to `sections`.
    pub(crate) fn of(binding: &compiler::Binding, sections: &mut Vec<Vec<u8>>) -> Self {
        let mut add = |bytes: &[u8]| {
            sections.push(bytes.to_vec());
            sections.len()
        };
        let (kind, size) = match binding.kind {
            BindingKind::Uniform { size } => ("uniform", Some(size)),
            _ => ("storage", None),
        };
        let resource = match &binding.resource {
            Resource::Arguments => BoundResource::Arguments,
            Resource::Argument(argument) => BoundResource::Argument { argument: *argument },
            Resource::Constants(bytes) => BoundResource::Constants { section: add(bytes) },
            Resource::Variables(bytes) => BoundResource::Variables { section: add(bytes) },
            Resource::Scratch { bytes_per_work_item } => BoundResource::Scratch { bytes_per_work_item: *bytes_per_work_item },
            Resource::Zeros { size } => BoundResource::Zeros { size: *size },
            _ => BoundResource::Unknown,
        };
        Self { number: binding.number, kind, size, resource }
    }
}

/// The result of a successful request.
#[derive(Debug, Serialize)]
#[serde(untagged, rename_all_fields = "camelCase")]
pub(crate) enum Success {
    Diagnostics {
        diagnostics: Vec<Diagnostic>,
    },
    Program {
        program: usize,
        kernels: Vec<Kernel>,
        warnings: Vec<Diagnostic>,
    },
    Shader {
        shader: usize,
        entry_point: String,
        work_group_size: [u32; 3],
        bindings: Vec<Binding>,
    },
    Text {
        text: String,
    },
    Listing {
        text: String,
        lines: Vec<Option<u32>>,
    },
    Run {
        output: String,
    },
    /// The result is in section 1, if there is one.
    Bytes {},
}

/// The reason for which a request failed.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "camelCase", rename_all_fields = "camelCase")]
pub(crate) enum Failure {
    /// The source was rejected.
    Compile { message: String, diagnostics: Vec<Diagnostic> },
    /// The kernel cannot be compiled for the device.
    Shader { message: String },
    /// The kernel made an error.
    Run { message: String, line: Option<u32>, work_item: Option<[u32; 3]> },
    /// The request is not valid.
    Request { message: String },
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Response {
    Ok(Success),
    Error(Failure),
}
