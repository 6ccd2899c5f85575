//! Semantic analysis: checks the syntax tree and creates the typed tree. Resolves names, types, conversions, overloads
//! and constants (OpenCL C 6.3 to 6.15).
//!
//! One [`Sema`] checks one program. It checks expressions bottom-up. The result is an [`Operand`]: a value, an lvalue,
//! a function name or a block. After an error, the result has the type [`TyKind::Error`], which is compatible with
//! every type, so that the error is reported only once.
//!
//! [`crate::builtins`] contains the table of the built-in functions. [`library`] parses functions of the built-in
//! library on their first call, and checks them after the user's functions, in a separate scope.

mod atomics;
mod attributes;
mod block_kernels;
mod blocks;
mod call;
mod casts;
mod consteval;
mod convert;
mod declarations;
mod enqueue;
mod enums;
mod expressions;
mod families;
mod functions;
mod gnu;
mod graph;
mod initializers;
mod library;
mod library_call;
mod lvalues;
mod members;
mod operators;
mod overloads;
mod pipes;
mod printf;
mod recording;
mod records;
mod reflection;
mod scope;
mod selection;
mod specifiers;
mod statements;
mod suggest;
mod suspicious;
mod uninitialized;
mod variables;
mod wide;

use std::fmt::Display;
use std::sync::Arc;

use rustc_hash::FxHashMap;

use crate::ast::{self, ScalarKind};
use crate::diag::suggest::Hint;
use crate::diag::{Diagnostic, Diagnostics, Span, WarningGroup};
use crate::editor::Recorder;
use crate::ir::Space;
use crate::options::{BuildOptions, CStd};
use crate::reflection::KernelInfo;
use crate::target::Target;
use crate::thir::{
    self, Expr, ExprKind, FuncId, Function, GlobalId, GlobalVar, LabelId, Local, LocalId, Lvalue, Program, QualTy, Ty, TyKind, Types,
};

use blocks::BlockRef;
use functions::FuncDecl;
use scope::Scope;

/// Checks a program.
///
/// Returns the typed tree, or `None` if there are errors in `diags`.
pub(crate) fn check(unit: &ast::TranslationUnit, options: &BuildOptions, target: &Target, diags: &mut Diagnostics) -> Option<Program> {
    let mut sema = Sema::new(options, target, diags);
    sema.unit(unit);
    sema.finish()
}

/// Checks a program as [`check`] does, and records its names.
pub(crate) fn check_recorded(
    unit: &ast::TranslationUnit,
    options: &BuildOptions,
    target: &Target,
    diags: &mut Diagnostics,
    recorder: Recorder,
) -> (Option<Program>, Recorder) {
    let mut sema = Sema::new(options, target, diags);
    sema.recorder = Some(Box::new(recorder));
    sema.unit(unit);
    let recorder = sema.recorder.take().map_or_else(Recorder::default, |recorder| *recorder);
    (sema.finish(), recorder)
}

/// A checked expression.
#[derive(Debug)]
pub(crate) enum Operand {
    Value(Expr),
    Lvalue(Lvalue),
    /// The name of the user's functions. There are several if they are overloadable.
    Functions(Vec<FuncId>, Span),
    /// The name of a built-in function.
    Builtin(ast::Name, Span),
    /// A block literal, or a block variable.
    Block(Arc<BlockRef>, Span),
}

/// A declared type. The address space is not part of the type. It applies to a variable that is declared with the type,
/// or to the pointee of a pointer that is declared with the type.
#[derive(Clone, Copy, Debug)]
pub(crate) struct DeclTy {
    pub(crate) qt: QualTy,
    pub(crate) space: Option<(Space, Span)>,
    /// The alignment in bytes of a typedef with `__attribute__((aligned(n)))`.
    pub(crate) align: Option<u32>,
}

impl DeclTy {
    /// Creates a declared type without an address space and an alignment.
    const fn of(ty: Ty) -> Self {
        Self { qt: QualTy::plain(ty), space: None, align: None }
    }
}

/// A label of the current function.
#[derive(Debug)]
struct Label {
    name: ast::Name,
    defined: bool,
    used: Option<Span>,
    /// Numbers of the enclosing statement expressions, outermost first.
    inside: Vec<u32>,
}

/// An enclosing `switch`.
#[derive(Debug)]
struct Switch {
    /// The promoted type of the condition, or `None` after an error.
    ty: Option<ScalarKind>,
    cases: FxHashMap<u64, Span>,
    default: Option<Span>,
}

/// State of the function that is being checked.
#[derive(Debug)]
struct FnContext {
    id: FuncId,
    ret: Ty,
    is_kernel: bool,
    locals: Vec<Local>,
    labels: Vec<Label>,
    label_ids: FxHashMap<ast::Name, LabelId>,
    loops: u32,
    switches: Vec<Switch>,
    /// Number of enclosing loops and switches.
    breakable: u32,
    /// The values of `loops` and `breakable` at the start of the innermost statement expression. `None` outside of
    /// statement expressions.
    outside_counts: Option<(u32, u32)>,
    /// The value of [`Function::expression_jumps`].
    expression_jumps: bool,
    /// The numbers of the enclosing statement expressions.
    statement_expressions: Vec<u32>,
    /// The number of statement expressions until now.
    statement_expression_count: u32,
    /// The label, the numbers of the enclosing statement expressions, and the location of each `goto`.
    gotos: Vec<(LabelId, Vec<u32>, Span)>,
    /// The length of [`Sema::scopes`] in the outermost block of the body.
    outermost: usize,
    contract: bool,
    unroll: Option<UnrollHint>,
    /// Size in bytes of the `__local` variables until now.
    local_memory: u32,
    /// Values of `const` integers with constant initialisers. Array sizes may use them.
    constants: FxHashMap<LocalId, thir::Constant>,
    /// The captured variables of the enclosing function, and the block's copies. Empty if the function is not a block.
    captures: Vec<(LocalId, LocalId)>,
    /// Whether a `return` has determined the result type of a block without an explicit result type.
    has_returned: bool,
}

/// An unroll hint that applies to the next statement.
#[derive(Clone, Copy, Debug)]
struct UnrollHint {
    /// The factor, encoded as in [`crate::ir::Op::Loop`].
    count: Option<u32>,
    span: Span,
    /// True for a pragma, false for an attribute.
    is_pragma: bool,
}

/// The state of the analysis: types, symbols, and the output.
#[derive(Debug)]
pub(crate) struct Sema<'a> {
    options: &'a BuildOptions,
    target: &'a Target,
    diags: &'a mut Diagnostics,
    types: Types,
    functions: Vec<Function>,
    /// Indexed like `functions`.
    decls: Vec<FuncDecl>,
    globals: Vec<GlobalVar>,
    kernels: Vec<(FuncId, KernelInfo)>,
    scopes: Vec<Scope>,
    strings: FxHashMap<Vec<u8>, GlobalId>,
    /// The function that is being checked, or `None` outside of functions.
    f: Option<FnContext>,
    /// The functions that enclose the current block, outermost first.
    enclosing: Vec<FnContext>,
    /// Maps the functions of enqueued blocks to the numbers of their kernels.
    block_kernels: FxHashMap<FuncId, u64>,
    /// `ndrange_t`, after its first use.
    ndrange: Option<Ty>,
    /// Whether an error was reported because the program cannot use blocks.
    blocks_refused: bool,
    /// The state of FP_CONTRACT outside of functions.
    contract: bool,
    /// Calls: caller, callee, location.
    calls: Vec<(FuncId, FuncId, Span)>,
    /// The location of the first use of each variable that was only declared (`extern`) before the use.
    extern_uses: FxHashMap<GlobalId, Span>,
    library: library::State,
    /// Whether a library function is being checked.
    in_library: bool,
    /// No diagnostics are emitted while this is not zero. Used for the declarations of library functions.
    quiet: u32,
    enum_count: u32,
    /// Current nesting of expressions and statements, at most [`MAX_DEPTH`].
    depth: u32,
    /// The span of the binary expression or assignment that is being checked, and of its operator.
    operator: Option<(Span, Span)>,
    /// Whether constant expressions may read `const` variables.
    fold_const: bool,
    /// Structs that cannot be kernel parameters because a member type has another size on the host, and the name of
    /// this type.
    device_sized: FxHashMap<thir::RecordId, &'static str>,
    /// Records names for an editor. `None` in builds.
    recorder: Option<Box<Recorder>>,
}

impl FnContext {
    /// Creates the context of a function. `outermost` and `contract` are the fields of these names.
    fn new(id: FuncId, ret: Ty, is_kernel: bool, (outermost, contract): (usize, bool)) -> Self {
        Self {
            id,
            ret,
            is_kernel,
            locals: Vec::new(),
            labels: Vec::new(),
            label_ids: FxHashMap::default(),
            loops: 0,
            switches: Vec::new(),
            breakable: 0,
            outside_counts: None,
            expression_jumps: false,
            statement_expressions: Vec::new(),
            statement_expression_count: 0,
            gotos: Vec::new(),
            outermost,
            contract,
            unroll: None,
            local_memory: 0,
            constants: FxHashMap::default(),
            captures: Vec::new(),
            has_returned: false,
        }
    }
}

/// Maximum nesting of expressions and statements.
const MAX_DEPTH: u32 = 10_000;

impl<'a> Sema<'a> {
    fn new(options: &'a BuildOptions, target: &'a Target, diags: &'a mut Diagnostics) -> Self {
        Self {
            options,
            target,
            diags,
            types: Types::new(target.pointer_size()),
            functions: Vec::new(),
            decls: Vec::new(),
            globals: Vec::new(),
            kernels: Vec::new(),
            scopes: vec![Scope::default()],
            strings: FxHashMap::default(),
            f: None,
            enclosing: Vec::new(),
            block_kernels: FxHashMap::default(),
            ndrange: None,
            blocks_refused: false,
            contract: true,
            calls: Vec::new(),
            extern_uses: FxHashMap::default(),
            library: library::State::default(),
            in_library: false,
            quiet: 0,
            enum_count: 0,
            depth: 0,
            operator: None,
            fold_const: false,
            device_sized: FxHashMap::default(),
            recorder: None,
        }
    }

    fn unit(&mut self, unit: &ast::TranslationUnit) {
        for item in &unit.items {
            if self.diags.has_too_many_errors() {
                return;
            }
            match item {
                ast::Item::Function(def) => self.function_definition(def),
                ast::Item::Declaration(declaration) => self.program_declaration(declaration),
                ast::Item::Pragma(pragma) => self.pragma(pragma),
                ast::Item::StaticAssert(assertion) => self.static_assert(assertion),
            }
        }
    }

    fn pragma(&mut self, pragma: &ast::Pragma) {
        match &pragma.kind {
            ast::PragmaKind::FpContract(on) => match &mut self.f {
                Some(f) => f.contract = *on,
                None => self.contract = *on,
            },
            ast::PragmaKind::Unroll(count) => self.unroll_pragma(*count, pragma.span),
            ast::PragmaKind::Extension { name, enable } => {
                let known = &**name == "all" || self.target.language.accepts_extension(name);
                if *enable && !known {
                    self.warn(WarningGroup::IgnoredPragmas, pragma.span, format!("unsupported OpenCL extension '{name}' - ignoring"));
                }
            }
            // The parser has handled packing.
            ast::PragmaKind::Pack(_) => {}
        }
    }

    fn finish(mut self) -> Option<Program> {
        self.complete_tentative_arrays();
        self.check_library_functions();
        self.check_call_graph();
        self.check_variables();
        if self.diags.has_errors() {
            return None;
        }
        self.describe_declared();
        Some(Program { types: self.types, functions: self.functions, globals: self.globals, kernels: self.kernels })
    }

    // Diagnostics.

    fn err(&mut self, span: Span, message: impl Into<String>) {
        if self.quiet == 0 {
            if self.in_library {
                let function = self.f.as_ref().map_or_else(String::new, |f| self.decls[f.id.index()].name.to_string());
                self.diags.error(Span::NONE, format!("in the built-in library, function '{function}': {}", message.into()));
            } else {
                let error = Diagnostic::error(span, message);
                self.diags.push(self.at_operator(error));
            }
        }
    }

    /// Reports an error whose message ends with a hint.
    fn err_hint(&mut self, span: Span, message: &str, hint: &Hint) {
        let error = Diagnostic::error(span, format!("{message}{hint}")).with_hint(hint);
        self.report(error);
    }

    /// If a diagnostic is about the whole current binary expression or assignment, changes its location to that of the
    /// operator.
    fn at_operator(&self, diagnostic: Diagnostic) -> Diagnostic {
        match self.operator {
            Some((whole, operator)) if whole == diagnostic.span => Diagnostic { span: operator, around: Some(whole), ..diagnostic },
            _ => diagnostic,
        }
    }

    fn warn(&mut self, group: impl Into<Option<WarningGroup>>, span: Span, message: impl Into<String>) {
        self.warn_with(self.at_operator(Diagnostic::warning(group, span, message)));
    }

    fn warn_with(&mut self, warning: Diagnostic) {
        if self.reports_warnings() {
            self.diags.push(warning);
        }
    }

    const fn reports_warnings(&self) -> bool {
        self.quiet == 0 && !self.in_library && !self.options.warnings.none
    }

    /// Warns about an implicit conversion that changes the value of a constant from `old` to `new`.
    fn warn_of_conversion(&mut self, group: WarningGroup, span: Span, (from, to): (&str, &str), old: impl Display, new: impl Display) {
        self.warn(group, span, format!("implicit conversion from '{from}' to '{to}' changes value from {old} to {new}"));
    }

    fn err_note(&mut self, span: Span, message: impl Into<String>, note: Span, text: impl Into<String>) {
        let error = Diagnostic::error(span, message);
        self.report(if note == Span::NONE { error } else { error.with_note(note, text) });
    }

    /// Reports an error, with its notes unless it is in a library function.
    fn report(&mut self, error: Diagnostic) {
        if self.in_library || self.quiet != 0 {
            self.err(error.span, error.message);
        } else {
            self.diags.push(error);
        }
    }

    // Types.

    fn kind(&self, ty: Ty) -> &TyKind {
        self.types.kind(ty)
    }

    fn scalar(&mut self, kind: ScalarKind) -> Ty {
        self.types.intern(TyKind::Scalar(kind))
    }

    /// Returns the type with this number of lanes: a scalar for one lane, otherwise a vector.
    fn lanes(&mut self, kind: ScalarKind, lanes: u8) -> Ty {
        if lanes == 1 { self.scalar(kind) } else { self.types.intern(TyKind::Vector(kind, lanes)) }
    }

    fn error_ty(&mut self) -> Ty {
        self.types.intern(TyKind::Error)
    }

    fn void_ty(&mut self) -> Ty {
        self.types.intern(TyKind::Void)
    }

    fn int(&mut self) -> Ty {
        self.scalar(ScalarKind::Int)
    }

    fn size_kind(&self) -> ScalarKind {
        if self.target.pointer_size() == 8 { ScalarKind::ULong } else { ScalarKind::UInt }
    }

    fn ptrdiff_kind(&self) -> ScalarKind {
        if self.target.pointer_size() == 8 { ScalarKind::Long } else { ScalarKind::Int }
    }

    fn size_ty(&mut self) -> Ty {
        let kind = self.size_kind();
        self.scalar(kind)
    }

    fn pointer(&mut self, pointee: QualTy, space: Space) -> Ty {
        self.types.intern(TyKind::Pointer { pointee, space, is_restrict: false })
    }

    fn is_error(&self, ty: Ty) -> bool {
        matches!(self.kind(ty), TyKind::Error)
    }

    /// Returns the lane type and the lane count of an arithmetic type, or `None` for other types. An enumeration has
    /// the integer type that represents it.
    fn arith(&self, ty: Ty) -> Option<(ScalarKind, u8)> {
        match *self.kind(ty) {
            TyKind::Scalar(kind) | TyKind::Enum { repr: kind, .. } => Some((kind, 1)),
            TyKind::Vector(kind, lanes) => Some((kind, lanes)),
            _ => None,
        }
    }

    /// Returns the kind of a scalar or enumeration, or `None` for other types.
    fn scalar_kind(&self, ty: Ty) -> Option<ScalarKind> {
        match *self.kind(ty) {
            TyKind::Scalar(kind) | TyKind::Enum { repr: kind, .. } => Some(kind),
            _ => None,
        }
    }

    fn is_integer_scalar(&self, ty: Ty) -> bool {
        self.scalar_kind(ty).is_some_and(|kind| !is_float(kind))
    }

    fn is_pointer(&self, ty: Ty) -> bool {
        matches!(self.kind(ty), TyKind::Pointer { .. })
    }

    fn size_of(&self, ty: Ty) -> Option<u64> {
        self.types.layout(ty).map(|(size, _)| size)
    }

    fn align_of(&self, ty: Ty) -> u32 {
        self.types.layout(ty).map_or(1, |(_, align)| align)
    }

    fn show(&self, ty: Ty) -> String {
        let text = self.types.display(ty);
        match text.strip_suffix(' ') {
            Some(text) => text.to_owned(),
            None => text,
        }
    }

    // Properties of the language version.

    /// Whether pointers without an address space qualifier are generic (OpenCL C 6.7.5). False in the library.
    fn has_generic(&self) -> bool {
        !self.in_library && crate::builtins::has_generic(self.options.std.version(), self.target)
    }

    /// Whether programs may use subgroups.
    fn has_subgroups(&self) -> bool {
        crate::builtins::has_subgroups(self.options.std.version(), self.target)
    }

    /// Whether variables at program scope may be in global address space.
    fn has_program_scope_globals(&self) -> bool {
        match self.options.std {
            CStd::Cl20 => true,
            CStd::Cl30 | CStd::Cl31 => self.target.language.features.iter().any(|f| f == "__opencl_c_program_scope_global_variables"),
            _ => false,
        }
    }

    /// Whether kernels may read and write the same image.
    fn has_read_write_images(&self) -> bool {
        self.in_library
            || match self.options.std {
                CStd::Cl20 => true,
                CStd::Cl30 | CStd::Cl31 => self.target.has_feature("__opencl_c_read_write_images"),
                _ => false,
            }
    }

    fn default_pointee_space(&self) -> Space {
        if self.has_generic() { Space::Generic } else { Space::Private }
    }

    // Building trees.

    /// Returns the span for a node of the typed tree. Nodes of library functions have no span.
    fn span(&self, span: Span) -> Span {
        if self.in_library { Span::NONE } else { span }
    }

    fn expr(&self, kind: ExprKind, ty: Ty, span: Span) -> Expr {
        Expr { kind, ty, span: self.span(span) }
    }

    fn error_expr(&mut self, span: Span) -> Expr {
        let ty = self.error_ty();
        self.expr(ExprKind::Constant(thir::Constant::Int(0)), ty, span)
    }

    fn error_operand(&mut self, span: Span) -> Operand {
        Operand::Value(self.error_expr(span))
    }

    fn int_const(&mut self, value: i64, kind: ScalarKind, span: Span) -> Expr {
        let ty = self.scalar(kind);
        let bits = consteval::int_bits(kind, i128::from(value));
        self.expr(ExprKind::Constant(thir::Constant::Int(bits)), ty, span)
    }

    /// Declares a private variable of the current function. Returns `None` outside of functions.
    fn new_local(&mut self, name: &str, ty: QualTy, span: Span) -> Option<LocalId> {
        let align = self.align_of(ty.ty);
        let span = self.span(span);
        let f = self.f.as_mut()?;
        let id = LocalId(crate::ir::number(f.locals.len()));
        f.locals.push(Local { name: name.into(), ty, align, span });
        Some(id)
    }

    fn new_global(&mut self, global: GlobalVar) -> GlobalId {
        let id = GlobalId(u32::try_from(self.globals.len()).unwrap_or(u32::MAX));
        self.globals.push(global);
        id
    }

    fn is_contract_on(&self) -> bool {
        self.f.as_ref().map_or(self.contract, |f| f.contract)
    }
}

/// Whether a scalar is `half`, `float` or `double`.
pub(crate) const fn is_float(kind: ScalarKind) -> bool {
    matches!(kind, ScalarKind::Half | ScalarKind::Float | ScalarKind::Double)
}

/// Whether an integer scalar is signed.
pub(crate) const fn is_signed(kind: ScalarKind) -> bool {
    matches!(kind, ScalarKind::Char | ScalarKind::Short | ScalarKind::Int | ScalarKind::Long)
}

/// Returns the signed integer type with the size of a scalar.
pub(crate) const fn signed_of(kind: ScalarKind) -> ScalarKind {
    match thir::types::scalar_size(kind) {
        1 => ScalarKind::Char,
        2 => ScalarKind::Short,
        4 => ScalarKind::Int,
        _ => ScalarKind::Long,
    }
}

/// Returns the unsigned integer type with the size of a scalar.
pub(crate) const fn unsigned_of(kind: ScalarKind) -> ScalarKind {
    match thir::types::scalar_size(kind) {
        1 => ScalarKind::UChar,
        2 => ScalarKind::UShort,
        4 => ScalarKind::UInt,
        _ => ScalarKind::ULong,
    }
}
