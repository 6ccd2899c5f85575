//! The front end: runs the stages for one source, up to the IR before all passes.

use crate::diag::message::{Message, messages};
use crate::diag::suggest::{Hint, nearest};
use crate::diag::{Diagnostic, Diagnostics, SourceMap, Span, render, warning_group_names};
use crate::editor::Recorder;
use crate::editor::index::Index;
use crate::lex::Token;
use crate::options::{BuildOptions, CStd, Source};
use crate::target::Target;
pub use crate::thir::Program as TypedProgram;
use crate::timing::stage;
use crate::{ast, ir, lower, parse, preprocess, sema};

/// Number of errors after which an analysis for an editor stops. It is larger than the limit of builds, so that names
/// after errors are also known.
const EDITOR_ERROR_LIMIT: usize = 200;

/// The compilation of one source. A method that returns the output of a stage also runs the preceding stages.
#[derive(Debug)]
pub struct FrontEnd<'a> {
    source: &'a Source,
    options: &'a BuildOptions,
    target: &'a Target,
    /// The files of the compilation.
    pub map: SourceMap,
    pub diags: Diagnostics,
}

/// Returns the note about an option such as `-Wfoo`. clang reports a warning instead, which `-Werror` would promote.
fn unknown_warning(option: &str) -> Diagnostic {
    let name = option.trim_start_matches("-W");
    let name = ["error=", "no-error="].iter().find_map(|prefix| name.strip_prefix(prefix)).unwrap_or(name);
    let hint = Hint::name(nearest(name, warning_group_names()));
    Diagnostic::note(Span::NONE, format!("option '{option}' has no effect: wgcl has no warning of this name{hint}"))
}

impl<'a> FrontEnd<'a> {
    pub fn new(source: &'a Source, options: &'a BuildOptions, target: &'a Target) -> Self {
        Self { source, options, target, map: SourceMap::new(), diags: Diagnostics::default() }
    }

    fn preprocess(&mut self) -> Vec<Token> {
        stage("preprocess", || preprocess::preprocess(self.source, self.options, self.target, &mut self.map, &mut self.diags))
    }

    fn parse(&mut self) -> ast::TranslationUnit {
        for option in &self.options.unknown_warnings {
            self.diags.push(unknown_warning(option));
        }
        let tokens = self.preprocess();
        stage("parse", || parse::parse(tokens, &mut self.diags))
    }

    /// Returns the tokens after preprocessing, one per line.
    pub fn tokens(&mut self) -> String {
        self.preprocess().iter().map(|token| format!("{}\n", token.kind)).collect()
    }

    /// Returns the syntax tree as indented text.
    pub fn tree(&mut self) -> String {
        ast::dump::dump(&self.parse())
    }

    /// Returns the typed tree, or `None` if the source has errors.
    pub fn check(&mut self) -> Option<TypedProgram> {
        // The OpenCL API specification requires this error: "-cl-std=CL3.1 will fail to compile the program for any
        // devices when CL_DEVICE_OPENCL_C_ALL_VERSIONS does not include OpenCL C 3.1."
        if self.options.std >= CStd::Cl31 && !self.target.language.supports_opencl_c_31() {
            self.diags.error(Span::NONE, "this device does not support OpenCL C 3.1, because it has no subgroups; use -cl-std=CL3.0");
        }
        let unit = self.parse();
        // After a syntax error, check the parsed parts as well, to report their errors.
        let checked = stage("sema", || sema::check(&unit, self.options, self.target, &mut self.diags));
        checked.filter(|_| !self.diags.has_errors())
    }

    /// Checks the source, also after errors, and returns its names and the typed tree. The tree is `None` if the source
    /// has errors. `wanted` is the position of a member name for which [`Index::members`] lists the candidates.
    pub fn index(&mut self, wanted: Option<u32>) -> (Index, Option<TypedProgram>) {
        self.map.record_macro_names();
        self.diags = Diagnostics::with_limit(EDITOR_ERROR_LIMIT);
        let unit = self.parse();
        let recorder = Recorder::new(wanted);
        let (checked, recorder) = sema::check_recorded(&unit, self.options, self.target, &mut self.diags, recorder);
        (recorder.finish(&self.map), checked.filter(|_| !self.diags.has_errors()))
    }

    /// Returns the IR before all passes, or `None` if the source has errors or exceeds a limit of the lowering.
    pub fn lower(&mut self) -> Option<ir::Module> {
        let checked = self.check()?;
        self.lower_checked(&checked)
    }

    /// Lowers a typed tree from [`Self::check`] to IR. Reports an error and returns `None` if it exceeds a limit.
    pub(crate) fn lower_checked(&mut self, checked: &TypedProgram) -> Option<ir::Module> {
        let lowered = stage("lower", || lower::lower(checked, self.options, self.target));
        lowered.map_err(|error| self.diags.error(error.span, error.message)).ok()
    }

    /// Returns the build log: the diagnostics in clang's format.
    pub fn log(&self) -> String {
        render(&self.map, &self.diags, self.options.warnings)
    }

    /// Returns the diagnostics as data.
    pub fn messages(&self) -> Vec<Message> {
        messages(&self.map, &self.diags, self.options.warnings)
    }

    /// Whether the source is rejected: it has errors, or warnings that `-Werror` reports as errors.
    pub fn is_rejected(&self) -> bool {
        self.diags.fails(&self.options.warnings)
    }
}
