//! Declarations of variables: valid types, address spaces, and initialisers (OpenCL C 6.7, 6.8; C99 6.7).
//!
//! An invalid variable is declared as [`Symbol::Error`], so that its uses cause no further errors.

use super::consteval::Value;
use super::scope::Symbol;
use super::{DeclTy, Sema};
use crate::ast::{self, Attribute, Ident, ScalarKind, StorageClass};
use crate::diag::{Span, WarningGroup};
use crate::ir::Space;
use crate::options::CStd;
use crate::target::MAX_GLOBAL_VARIABLE;
use crate::thir::{Constant, GlobalId, GlobalVar, Init, Linkage, LocalId, QualTy, Stmt, StmtKind, Ty, TyKind};

/// The location and text of an error.
type InvalidDeclaration = (Span, String);

fn reject<T>(span: Span, text: impl Into<String>) -> Result<T, InvalidDeclaration> {
    Err((span, text.into()))
}

/// The declaration of a variable.
struct Variable<'a> {
    name: &'a Ident,
    ty: DeclTy,
    storage: Option<(StorageClass, Span)>,
    init: Option<&'a ast::Initializer>,
    /// The alignment in bytes: that of the type or, if larger, of an `aligned` attribute.
    align: u32,
}

impl Variable<'_> {
    const fn is_static(&self) -> bool {
        matches!(self.storage, Some((StorageClass::Static, _)))
    }

    const fn is_extern(&self) -> bool {
        matches!(self.storage, Some((StorageClass::Extern, _)))
    }
}

impl Sema<'_> {
    /// Declares a variable. For a private variable, returns the statement that declares and initialises it.
    pub(super) fn variable(
        &mut self,
        name: &Ident,
        ty: DeclTy,
        storage: Option<(StorageClass, Span)>,
        init: Option<&ast::Initializer>,
        attributes: &[&Attribute],
    ) -> Option<Stmt> {
        if self.is_error(ty.qt.ty) {
            self.declare(&name.name, Symbol::Error, name.span);
            if let Some(ast::Initializer::Expr(expr)) = init {
                self.operand(expr);
            }
            return None;
        }
        if let TyKind::Block { .. } = self.kind(ty.qt.ty) {
            return self.declare_block(name, ty, storage, init);
        }
        let mut variable = Variable { name, ty, storage, init, align: 1 };
        let declared = self.check_type(&variable).and_then(|()| {
            variable.align = self.variable_alignment(ty, attributes);
            if self.at_program_scope() { self.program_variable(&variable).map(|()| None) } else { self.block_scope_variable(&variable) }
        });
        declared.unwrap_or_else(|(span, text)| {
            self.err(span, text);
            self.declare(&name.name, Symbol::Error, name.span);
            None
        })
    }

    /// Fails if a variable cannot have this type.
    fn check_type(&self, variable: &Variable<'_>) -> Result<(), InvalidDeclaration> {
        let (ty, name) = (variable.ty, variable.name);
        let incomplete = match self.kind(ty.qt.ty) {
            TyKind::Array { len: None, .. } => variable.init.is_none(),
            _ => self.types.layout(ty.qt.ty).is_none(),
        };
        if let TyKind::Pipe(..) = self.kind(self.innermost(ty.qt)) {
            let shown = self.show(ty.qt.ty);
            return reject(name.span, format!("type '{shown}' can only be used as a function parameter in OpenCL"));
        }
        // Another declaration or translation unit may complete the type. Otherwise an array gets one element (C99
        // 6.9.2).
        let may_be_incomplete = variable.init.is_none()
            && match self.kind(ty.qt.ty) {
                TyKind::Array { len: None, .. } => variable.is_extern() || self.at_program_scope(),
                TyKind::Record(_) => variable.is_extern(),
                _ => false,
            };
        if incomplete && !may_be_incomplete {
            return match self.kind(ty.qt.ty) {
                TyKind::Array { .. } => {
                    reject(name.span, "definition of variable with array type needs an explicit size or an initializer")
                }
                _ => reject(name.span, format!("variable has incomplete type '{}'", self.show(ty.qt.ty))),
            };
        }
        if matches!(self.kind(self.innermost(ty.qt)), TyKind::Scalar(ScalarKind::Half))
            && !self.target.language.fp16
            && !self.in_library
            && !matches!(ty.space, Some((Space::Local, _)))
        {
            let text = "declaring variable of type 'half' is not allowed without cl_khr_fp16, which this device lacks; use vload_half and vstore_half";
            return reject(name.span, text);
        }
        Ok(())
    }

    /// Returns the alignment of a variable in bytes.
    fn variable_alignment(&mut self, ty: DeclTy, attributes: &[&Attribute]) -> u32 {
        // The alignment of an array is that of its elements. The length of the array may be unknown here.
        let natural = match *self.kind(ty.qt.ty) {
            TyKind::Array { element, .. } => self.align_of(element.ty),
            _ => self.align_of(ty.qt.ty),
        };
        let requested = attributes.iter().filter(|attribute| &*attribute.name.name == "aligned");
        requested.fold(ty.align.unwrap_or(natural), |align, attribute| align.max(self.alignment(attribute).unwrap_or(align)))
    }

    /// Returns the innermost element type of an array, or the type itself.
    pub(super) fn innermost(&self, qt: QualTy) -> Ty {
        let mut ty = qt.ty;
        while let TyKind::Array { element, .. } = self.kind(ty) {
            ty = element.ty;
        }
        ty
    }

    fn program_variable(&mut self, variable: &Variable<'_>) -> Result<(), InvalidDeclaration> {
        let &Variable { name, ty, .. } = variable;
        let globals = self.has_program_scope_globals() || self.in_library;
        let object = self.innermost(ty.qt);
        match self.kind(object) {
            TyKind::Image(..) => {
                let shown = self.show(object);
                return reject(name.span, format!("type '{shown}' can only be used as a function parameter in OpenCL"));
            }
            TyKind::Event | TyKind::Queue | TyKind::ClkEvent | TyKind::ReserveId => {
                let shown = self.show(object);
                return reject(name.span, format!("the '{shown}' type cannot be used to declare a program scope variable"));
            }
            _ => {}
        }
        let sampler = matches!(self.kind(ty.qt.ty), TyKind::Sampler);
        let space = match ty.space {
            Some((space, _)) => space,
            // A `const` sampler at program scope needs no address space qualifier (6.15.15.1). It is declared like a
            // `constant` variable.
            None if sampler && ty.qt.is_const => Space::Constant,
            None if globals => Space::Global,
            None => Space::Private,
        };
        match space {
            Space::Constant => {}
            Space::Global if globals && !sampler => {}
            _ if sampler => return reject(name.span, "global sampler requires a const or constant address space qualifier"),
            _ if globals => return reject(name.span, "program scope variable must reside in global or constant address space"),
            _ => {
                let text = "program scope variable must reside in constant address space: write 'constant' before its type";
                return reject(name.span, text);
            }
        }
        if space == Space::Constant && !variable.is_extern() {
            Self::check_constant_init(variable)?;
        }
        self.static_variable(variable, space);
        Ok(())
    }

    /// Fails if a variable in constant memory has no initialiser.
    fn check_constant_init(variable: &Variable<'_>) -> Result<(), InvalidDeclaration> {
        match variable.init {
            Some(_) => Ok(()),
            None => reject(variable.name.span, "variable in constant address space must be initialized"),
        }
    }

    /// Declares a variable at block scope.
    fn block_scope_variable(&mut self, variable: &Variable<'_>) -> Result<Option<Stmt>, InvalidDeclaration> {
        let (is_static, is_extern) = (variable.is_static(), variable.is_extern());
        let word = if is_static { "static" } else { "extern" };
        match variable.ty.space {
            Some((Space::Constant, span)) if !is_static && !is_extern => {
                if !self.in_library {
                    self.check_kernel_scope(span, "constant")?;
                }
                Self::check_constant_init(variable)?;
                self.static_variable(variable, Space::Constant);
            }
            Some((Space::Local | Space::Private | Space::Generic, span)) if is_static || is_extern => {
                return reject(span, format!("{word} variable must reside in global or constant address space"));
            }
            Some((Space::Constant, _)) if is_extern || self.options.std >= CStd::Cl20 => {
                if !is_extern {
                    Self::check_constant_init(variable)?;
                }
                self.static_variable(variable, Space::Constant);
            }
            Some((Space::Local, span)) => self.local_memory_variable(variable, span)?,
            Some((Space::Global, span)) if !is_static && !is_extern => {
                return reject(span, "function scope variable cannot be declared in global address space");
            }
            Some((Space::Generic, span)) => {
                return reject(span, "automatic variable qualified with an invalid address space 'generic'; remove the qualifier");
            }
            _ if is_static || is_extern => {
                if !self.has_program_scope_globals() {
                    let span = variable.storage.map_or(variable.name.span, |(_, span)| span);
                    let version = self.options.std.name();
                    return reject(span, format!("variables in function scope cannot be declared '{word}' in OpenCL C {version}"));
                }
                self.static_variable_at_block_scope(variable);
            }
            _ => return self.private_variable(variable),
        }
        Ok(None)
    }

    /// Declares a `static` or `extern` variable in global memory at block scope.
    fn static_variable_at_block_scope(&mut self, variable: &Variable<'_>) {
        let name = variable.name;
        let program_scope = self.scopes.first().and_then(|scope| scope.names.get(&name.name)).map(|(symbol, _)| symbol.clone());
        match program_scope {
            // The declaration refers to the variable at program scope (C99 6.2.2.4).
            Some(symbol @ Symbol::Global(_)) if variable.is_extern() && variable.init.is_none() => {
                self.declare(&name.name, symbol, name.span);
            }
            _ => self.static_variable(variable, Space::Global),
        }
    }

    /// Declares a variable with static storage. Its initialiser, if there is one, must be constant.
    fn static_variable(&mut self, variable: &Variable<'_>, space: Space) {
        let name = variable.name;
        let linkage = match self.at_program_scope() {
            true if !variable.is_static() && !self.in_library => Linkage::External,
            // Hidden variables for device-side enqueue have one copy per program.
            true if crate::enqueue::is_hidden(&name.name) => Linkage::Inline,
            false if variable.is_extern() => Linkage::External,
            _ => Linkage::Internal,
        };
        // A name is visible in its own initialiser: `global int *p = (global int *)&p`.
        let id = match self.lookup_here(&name.name) {
            Some((Symbol::Global(old), _)) => {
                let old = *old;
                if !self.redeclare(old, variable, linkage) {
                    return;
                }
                old
            }
            Some(_) => {
                self.declare_new(&name.name, Symbol::Error, name.span);
                return;
            }
            None => {
                let id = self.new_variable(variable, space, linkage, !variable.is_extern() || variable.init.is_some());
                self.declare(&name.name, Symbol::Global(id), name.span);
                id
            }
        };
        let Some(init) = variable.init else {
            self.check_global_size(id, name.span);
            return;
        };
        let Some((complete, init)) = self.initializer(variable.ty.qt, init) else {
            self.declare(&name.name, Symbol::Error, name.span);
            return;
        };
        self.globals[id.index()].ty.ty = complete;
        self.check_global_size(id, name.span);
        if let Some((bytes, relocs)) = self.constant_initializer(complete, &init, name.span) {
            let zero = space != Space::Constant && bytes.iter().all(|b| *b == 0);
            let global = &mut self.globals[id.index()];
            global.init = if zero { None } else { Some(bytes) };
            global.relocs = relocs;
        }
    }

    fn new_variable(&mut self, variable: &Variable<'_>, space: Space, linkage: Linkage, defined: bool) -> GlobalId {
        let (name, span) = (variable.name.name.clone(), self.span(variable.name.span));
        let (ty, align) = (variable.ty.qt, variable.align);
        self.new_global(GlobalVar { name, ty, space, init: None, relocs: Vec::new(), align, linkage, defined, span })
    }

    /// Merges a redeclaration of a variable. Reports an error and returns false if the declarations conflict.
    fn redeclare(&mut self, old: GlobalId, variable: &Variable<'_>, linkage: Linkage) -> bool {
        let (name, qt) = (variable.name, variable.ty.qt);
        let known = &self.globals[old.index()];
        let (old_ty, old_span, initialised) = (known.ty, known.span, known.init.is_some());
        let contradiction = if !self.is_compatible(old_ty.ty, qt.ty) {
            let (a, b) = (self.show(qt.ty), self.show(old_ty.ty));
            Some(format!("redefinition of '{}' with a different type: '{a}' vs '{b}'", name.name))
        } else if initialised && variable.init.is_some() {
            Some(format!("redefinition of '{}'", name.name))
        } else {
            None
        };
        if let Some(text) = contradiction {
            self.err_note(name.span, text, old_span, "previous definition is here");
            return false;
        }
        // A later declaration may complete an array or a record.
        let completes = self.types.layout(old_ty.ty).is_none();
        let known = &mut self.globals[old.index()];
        known.defined |= !variable.is_extern() || variable.init.is_some();
        if linkage == Linkage::Internal {
            known.linkage = linkage;
        }
        known.align = known.align.max(variable.align);
        if completes {
            known.ty = qt;
        }
        true
    }

    /// Sets the length of defined arrays to 1 if no declaration specifies it (C99 6.9.2).
    pub(super) fn complete_tentative_arrays(&mut self) {
        for index in 0..self.globals.len() {
            let variable = &self.globals[index];
            let (ty, span) = (variable.ty.ty, variable.span);
            if let (TyKind::Array { element, len: None }, true) = (self.kind(ty).clone(), variable.defined) {
                self.warn(WarningGroup::TentativeDefinitionArray, span, "tentative array definition assumed to have one element");
                self.globals[index].ty.ty = self.types.intern(TyKind::Array { element, len: Some(1) });
            }
        }
    }

    /// Reports an error if a variable in global memory exceeds the maximum size.
    fn check_global_size(&mut self, id: GlobalId, span: Span) {
        let variable = &self.globals[id.index()];
        let size = self.size_of(variable.ty.ty).unwrap_or(0);
        if variable.space == Space::Global && size > MAX_GLOBAL_VARIABLE {
            self.err(
                span,
                format!(
                    "variable has {size} bytes; the limit in global memory is {MAX_GLOBAL_VARIABLE} bytes ({} MiB)",
                    MAX_GLOBAL_VARIABLE >> 20
                ),
            );
        }
    }

    /// Fails if the current scope is not the outermost scope of a kernel. `span` is the span of the address space
    /// qualifier of the variable.
    fn check_kernel_scope(&self, span: Span, space: &str) -> Result<(), InvalidDeclaration> {
        match &self.f {
            Some(f) if f.is_kernel && self.scopes.len() == f.outermost => Ok(()),
            Some(f) if f.is_kernel => reject(
                span,
                format!("variables in the {space} address space can only be declared in the outermost scope of a kernel function"),
            ),
            _ => reject(span, format!("non-kernel function variable cannot be declared in {space} address space")),
        }
    }

    fn local_memory_variable(&mut self, variable: &Variable<'_>, span: Span) -> Result<(), InvalidDeclaration> {
        let name = variable.name;
        self.check_kernel_scope(span, "local")?;
        if variable.init.is_some() {
            return reject(name.span, "'__local' variable cannot have an initializer; assign to it in a statement instead");
        }
        let size = self.size_of(variable.ty.qt.ty).unwrap_or(0);
        let limit = self.target.language.max_local_memory;
        if let Some(f) = &mut self.f {
            let at = u64::from(f.local_memory).next_multiple_of(u64::from(variable.align.max(1)));
            f.local_memory = u32::try_from(at + size).unwrap_or(u32::MAX);
        }
        if let Some(size) = self.f.as_ref().map(|f| f.local_memory).filter(|size| *size > limit) {
            self.err(
                name.span,
                format!("the local variables of the kernel need {size} bytes; this device has {limit} bytes of local memory"),
            );
        }
        let id = self.new_variable(variable, Space::Local, Linkage::Internal, true);
        self.declare_new(&name.name, Symbol::Global(id), name.span);
        Ok(())
    }

    fn private_variable(&mut self, variable: &Variable<'_>) -> Result<Option<Stmt>, InvalidDeclaration> {
        let &Variable { name, ty, .. } = variable;
        if let TyKind::Image(..) = self.kind(self.innermost(ty.qt)) {
            let shown = self.show(ty.qt.ty);
            return reject(name.span, format!("type '{shown}' can only be used as a function parameter in OpenCL"));
        }
        let Some(local) = self.new_local(&name.name, ty.qt, name.span) else { return Ok(None) };
        self.declare_new(&name.name, Symbol::Local(local), name.span);
        if let Some(entry) = self.f.as_mut().and_then(|f| f.locals.get_mut(local.index())) {
            entry.align = variable.align;
        }
        let init = match variable.init {
            None => None,
            Some(init) => match self.private_initializer(local, variable, init) {
                None => return Ok(None),
                init => init,
            },
        };
        Ok(Some(Stmt { kind: StmtKind::Local { local, init }, span: self.span(name.span) }))
    }

    /// Checks the initialiser of a private variable. Sets the length of an array. Records the value of a `const`
    /// integer for use in constant expressions. Returns `None` after an error.
    fn private_initializer(&mut self, local: LocalId, variable: &Variable<'_>, init: &ast::Initializer) -> Option<Init> {
        let &Variable { name, ty, .. } = variable;
        let Some((complete, init)) = self.initializer(ty.qt, init) else {
            if matches!(self.kind(ty.qt.ty), TyKind::Array { len: None, .. }) {
                self.declare(&name.name, Symbol::Error, name.span);
            }
            return None;
        };
        let constant: Option<Constant> = match &init {
            Init::Expr(value) if ty.qt.is_const && !ty.qt.is_volatile && self.is_integer_scalar(ty.qt.ty) => match self.evaluate(value) {
                Some(Value::Const(constant)) => Some(constant),
                _ => None,
            },
            _ => None,
        };
        if let Some(f) = &mut self.f {
            if let Some(entry) = f.locals.get_mut(local.index()) {
                entry.ty.ty = complete;
            }
            f.constants.extend(constant.map(|constant| (local, constant)));
        }
        Some(init)
    }
}
