//! Declarations of variables and typedefs, at program scope and in functions (OpenCL C 6.7, 6.8; C99 6.7).

use super::consteval::Value;
use super::scope::Symbol;
use super::{DeclTy, Sema};
use crate::ast::{self, Attribute, Declaration, DeclaratorPart, Ident, InitDeclarator, ScalarKind, StorageClass};
use crate::diag::Span;
use crate::ir::Space;
use crate::options::CStd;
use crate::target::MAX_GLOBAL_VARIABLE;
use crate::thir::{GlobalId, GlobalVar, Init, Linkage, QualTy, Stmt, StmtKind, Ty, TyKind};

impl Sema<'_> {
    pub(super) fn program_declaration(&mut self, declaration: &Declaration) {
        self.declaration(declaration);
    }

    /// A declaration; the statements initialise the private variables in it.
    pub(super) fn declaration(&mut self, declaration: &Declaration) -> Vec<Stmt> {
        let mut statements = Vec::new();
        let specs = &declaration.specs;
        if declaration.declarators.is_empty() {
            self.specifiers(specs);
            self.check_attributes(&specs.attributes);
            return statements;
        }
        // Struct and enum definitions among the specifiers are made once, however many declarators follow.
        let is_function = |d: &InitDeclarator| matches!(d.declarator.parts.first(), Some(DeclaratorPart::Function { .. }));
        let is_typedef = matches!(specs.storage, Some((StorageClass::Typedef, _)));
        if let [only] = declaration.declarators.as_slice()
            && is_function(only)
            && !is_typedef
        {
            self.declare_function(specs, &only.declarator, false);
            return statements;
        }
        let base = self.specifiers(specs);
        // What a typedef says of a function is as good as parentheses.
        if matches!(self.kind(base.qt.ty), TyKind::Function { .. }) && !is_typedef {
            for item in &declaration.declarators {
                self.typed_function(specs, base, item);
            }
            return statements;
        }
        if specs.is_kernel && !is_typedef {
            self.err(specs.span, "'__kernel' applies to functions only");
            for name in declaration.declarators.iter().filter_map(|item| item.declarator.name.as_ref()) {
                self.declare(&name.name, Symbol::Error, name.span);
            }
            return statements;
        }
        if let Some((class @ (StorageClass::Auto | StorageClass::Register), span)) = specs.storage {
            let word = if class == StorageClass::Auto { "auto" } else { "register" };
            let version = self.options.std.name();
            self.err(span, format!("OpenCL C version {version} does not support the '{word}' storage class specifier"));
        }
        for item in &declaration.declarators {
            if is_function(item) && !is_typedef {
                self.declare_function(specs, &item.declarator, false);
                continue;
            }
            let attributes: Vec<&Attribute> = specs.attributes.iter().chain(&item.declarator.attributes).collect();
            let ty = self.declarator_type(base, &item.declarator.parts);
            let ty = self.vector_attribute(ty, &attributes);
            self.check_attributes(attributes.iter().copied());
            let Some(name) = &item.declarator.name else { continue };
            match specs.storage {
                Some((StorageClass::Typedef, _)) => self.typedef(name, ty, item, &attributes),
                storage => {
                    if let Some(stmt) = self.variable(name, ty, storage, item, &attributes) {
                        statements.push(stmt);
                    }
                }
            }
        }
        statements
    }

    /// A declarator behind the name of a function type.
    fn typed_function(&mut self, specs: &ast::DeclSpecs, base: DeclTy, item: &InitDeclarator) {
        let attributes: Vec<&Attribute> = specs.attributes.iter().chain(&item.declarator.attributes).collect();
        self.check_attributes(attributes.iter().copied());
        let ty = self.declarator_type(base, &item.declarator.parts);
        let Some(name) = &item.declarator.name else { return };
        if item.init.is_some() {
            self.err(name.span, "illegal initializer (only variables can be initialized)");
        }
        if matches!(self.kind(ty.qt.ty), TyKind::Function { .. }) {
            self.declare_typed_function(specs, name, ty.qt.ty, &attributes);
        } else {
            // Pointers to functions and arrays of them: the error was reported.
            self.declare(&name.name, Symbol::Error, name.span);
        }
    }

    fn typedef(&mut self, name: &Ident, ty: DeclTy, item: &InitDeclarator, attributes: &[&Attribute]) {
        let mut ty = ty;
        for attribute in attributes {
            if &*attribute.name.name == "aligned"
                && let Some(align) = self.alignment(attribute)
            {
                // As GNU has it, a typedef may also ask for less.
                ty.align = Some(align);
            }
        }
        if item.init.is_some() {
            self.err(name.span, "illegal initializer (only variables can be initialized)");
        }
        if let Some((Symbol::Typedef(old), _)) = self.lookup_here(&name.name)
            && old.qt == ty.qt
        {
            return;
        }
        if let TyKind::Record(id) = *self.kind(ty.qt.ty) {
            self.types.record_mut(id).alias.get_or_insert_with(|| name.name.clone());
        }
        self.declare_new(&name.name, Symbol::Typedef(ty), name.span);
    }

    fn variable(
        &mut self,
        name: &Ident,
        ty: DeclTy,
        storage: Option<(StorageClass, Span)>,
        item: &InitDeclarator,
        attributes: &[&Attribute],
    ) -> Option<Stmt> {
        let at_program_scope = self.at_program_scope();
        if self.is_error(ty.qt.ty) {
            self.declare(&name.name, Symbol::Error, name.span);
            if let Some(ast::Initializer::Expr(expr)) = &item.init {
                self.operand(expr);
            }
            return None;
        }
        let incomplete_array = matches!(self.kind(ty.qt.ty), TyKind::Array { len: None, .. });
        // Another declaration, or another translation unit, completes the type.
        let may_be_incomplete = matches!(storage, Some((StorageClass::Extern, _)))
            && item.init.is_none()
            && matches!(self.kind(ty.qt.ty), TyKind::Array { len: None, .. } | TyKind::Record(_));
        let incomplete = if incomplete_array { item.init.is_none() } else { self.types.layout(ty.qt.ty).is_none() };
        if incomplete && !may_be_incomplete {
            let shown = self.show(ty.qt.ty);
            let text = match self.kind(ty.qt.ty) {
                TyKind::Array { .. } => "definition of variable with array type needs an explicit size or an initializer".to_owned(),
                _ => format!("variable has incomplete type '{shown}'"),
            };
            self.err(name.span, text);
            self.declare(&name.name, Symbol::Error, name.span);
            return None;
        }
        if matches!(self.kind(self.innermost(ty.qt)), TyKind::Scalar(ScalarKind::Half))
            && !self.target.language.fp16
            && !self.in_library
            && !matches!(ty.space, Some((Space::Local, _)))
        {
            let text = "declaring variable of type 'half' is not allowed without cl_khr_fp16, which this device lacks; use vload_half and vstore_half";
            self.err(name.span, text);
            self.declare(&name.name, Symbol::Error, name.span);
            return None;
        }
        // An array's is that of its elements, known before its length is.
        let natural = match *self.kind(ty.qt.ty) {
            TyKind::Array { element, .. } => self.align_of(element.ty),
            _ => self.align_of(ty.qt.ty),
        };
        let mut align = ty.align.unwrap_or(natural);
        for attribute in attributes {
            if &*attribute.name.name == "aligned"
                && let Some(value) = self.alignment(attribute)
            {
                align = align.max(value);
            }
        }
        if at_program_scope {
            self.program_variable(name, ty, storage, item, align);
            return None;
        }
        let is_static = matches!(storage, Some((StorageClass::Static, _)));
        let is_extern = matches!(storage, Some((StorageClass::Extern, _)));
        match ty.space {
            Some((Space::Constant, span)) if !is_static && !is_extern => {
                self.constant_variable(name, ty, item, align, span);
                None
            }
            Some((Space::Local | Space::Private | Space::Generic, span)) if is_static || is_extern => {
                let word = if is_static { "static" } else { "extern" };
                self.err(span, format!("{word} variable must reside in global or constant address space"));
                self.declare(&name.name, Symbol::Error, name.span);
                None
            }
            Some((Space::Constant, _)) if is_extern || self.options.std >= CStd::Cl20 => {
                if item.init.is_none() && !is_extern {
                    self.err(name.span, "variable in constant address space must be initialized");
                    self.declare(&name.name, Symbol::Error, name.span);
                    return None;
                }
                self.static_variable(name, ty, storage, item, align, Space::Constant);
                None
            }
            Some((Space::Local, span)) => {
                self.local_memory_variable(name, ty, item, align, span);
                None
            }
            Some((Space::Global, span)) if !is_static && !is_extern => {
                self.err(span, "function scope variable cannot be declared in global address space");
                self.declare(&name.name, Symbol::Error, name.span);
                None
            }
            Some((Space::Generic, span)) => {
                self.err(span, "automatic variable qualified with an invalid address space");
                self.declare(&name.name, Symbol::Error, name.span);
                None
            }
            _ if is_static || is_extern => {
                if !self.has_program_scope_globals() {
                    let span = storage.map_or(name.span, |(_, span)| span);
                    let word = if is_static { "static" } else { "extern" };
                    let version = self.options.std.name();
                    self.err(span, format!("variables in function scope cannot be declared '{word}' in OpenCL C {version}"));
                    self.declare(&name.name, Symbol::Error, name.span);
                    return None;
                }
                let program_scope = self.scopes.first().and_then(|scope| scope.names.get(&name.name)).map(|(symbol, _)| symbol.clone());
                match program_scope {
                    // The declaration of a variable that is known already (C99 6.2.2.4).
                    Some(symbol @ Symbol::Global(_)) if is_extern && item.init.is_none() => self.declare(&name.name, symbol, name.span),
                    _ => self.static_variable(name, ty, storage, item, align, Space::Global),
                }
                None
            }
            _ => self.private_variable(name, ty, item, align),
        }
    }

    /// The kind of an array's elements, or of the type itself.
    pub(super) fn innermost(&self, qt: QualTy) -> Ty {
        let mut ty = qt.ty;
        while let TyKind::Array { element, .. } = self.kind(ty) {
            ty = element.ty;
        }
        ty
    }

    fn program_variable(&mut self, name: &Ident, ty: DeclTy, storage: Option<(StorageClass, Span)>, item: &InitDeclarator, align: u32) {
        let globals = self.has_program_scope_globals() || self.in_library;
        let object = self.innermost(ty.qt);
        let shown = self.show(object);
        let text = match self.kind(object) {
            TyKind::Image(..) => Some(format!("type '{shown}' can only be used as a function parameter in OpenCL")),
            TyKind::Event | TyKind::Queue | TyKind::ClkEvent | TyKind::ReserveId => {
                Some(format!("the '{shown}' type cannot be used to declare a program scope variable"))
            }
            _ => None,
        };
        if let Some(text) = text {
            self.err(name.span, text);
            self.declare(&name.name, Symbol::Error, name.span);
            return;
        }
        let sampler = matches!(self.kind(ty.qt.ty), TyKind::Sampler);
        let space = match ty.space {
            Some((space, _)) => space,
            // A sampler of the program is constant, said or not (6.15.15.1); it has no storage that could be elsewhere.
            None if sampler && ty.qt.is_const => Space::Constant,
            None if globals => Space::Global,
            None => Space::Private,
        };
        match space {
            Space::Constant => {}
            Space::Global if globals && !sampler => {}
            _ => {
                let text = if sampler {
                    "global sampler requires a const or constant address space qualifier"
                } else if globals {
                    "program scope variable must reside in global or constant address space"
                } else {
                    "program scope variable must reside in constant address space: write 'constant' before its type"
                };
                self.err(name.span, text);
                self.declare(&name.name, Symbol::Error, name.span);
                return;
            }
        }
        let is_extern = matches!(storage, Some((StorageClass::Extern, _)));
        if item.init.is_none() && space == Space::Constant && !is_extern {
            self.err(name.span, "variable in constant address space must be initialized");
            self.declare(&name.name, Symbol::Error, name.span);
            return;
        }
        self.static_variable(name, ty, storage, item, align, space);
    }

    /// A variable with static storage whose initialiser is constant.
    fn static_variable(
        &mut self,
        name: &Ident,
        ty: DeclTy,
        storage: Option<(StorageClass, Span)>,
        item: &InitDeclarator,
        align: u32,
        space: Space,
    ) {
        let qt = ty.qt;
        let is_extern = matches!(storage, Some((StorageClass::Extern, _)));
        let is_static = matches!(storage, Some((StorageClass::Static, _)));
        let defined = !is_extern || item.init.is_some();
        let linkage = match self.at_program_scope() {
            true if !is_static && !self.in_library => Linkage::External,
            false if is_extern => Linkage::External,
            _ => Linkage::Internal,
        };
        // The variable's name is known in its own initialiser (`&self`).
        let previous = match self.lookup_here(&name.name) {
            Some((Symbol::Global(old), _)) => Some(*old),
            Some(_) => {
                self.declare_new(&name.name, Symbol::Error, name.span);
                return;
            }
            None => None,
        };
        let id = match previous {
            Some(old) => {
                let known = &self.globals[old.index()];
                let (old_ty, old_span, initialised) = (known.ty, known.span, known.init.is_some());
                if !self.same_unqualified(old_ty.ty, qt.ty) {
                    let (a, b) = (self.show(qt.ty), self.show(old_ty.ty));
                    self.err_note(
                        name.span,
                        format!("redefinition of '{}' with a different type: '{a}' vs '{b}'", name.name),
                        old_span,
                        "previous definition is here",
                    );
                    return;
                }
                if initialised && item.init.is_some() {
                    self.err_note(name.span, format!("redefinition of '{}'", name.name), old_span, "previous definition is here");
                    return;
                }
                let known = &mut self.globals[old.index()];
                known.defined |= defined;
                if linkage == Linkage::Internal {
                    known.linkage = linkage;
                }
                // A later declaration may complete an array or a record.
                known.align = known.align.max(align);
                if self.types.layout(old_ty.ty).is_none() {
                    self.globals[old.index()].ty = qt;
                }
                old
            }
            None => {
                let span = self.span(name.span);
                let variable =
                    GlobalVar { name: name.name.clone(), ty: qt, space, init: None, relocs: Vec::new(), align, linkage, defined, span };
                let id = self.new_global(variable);
                self.declare(&name.name, Symbol::Global(id), name.span);
                id
            }
        };
        let Some(init) = &item.init else {
            self.check_global_size(id, name.span);
            return;
        };
        // A string literal that a char array starts from is not needed besides.
        let Some((complete, init)) = self.initializer(qt, init) else {
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

    /// Refuses variables in global space that the device cannot hold.
    fn check_global_size(&mut self, id: GlobalId, span: Span) {
        let variable = &self.globals[id.index()];
        let size = self.size_of(variable.ty.ty).unwrap_or(0);
        if variable.space == Space::Global && size > MAX_GLOBAL_VARIABLE {
            self.err(span, format!("variable of {size} bytes is larger than the {MAX_GLOBAL_VARIABLE} that this device allows"));
        }
    }

    /// Whether declarations stand in the outermost block of a kernel now.
    fn in_kernel_scope(&self) -> bool {
        self.f.as_ref().is_some_and(|f| f.is_kernel && self.scopes.len() == f.outermost)
    }

    fn constant_variable(&mut self, name: &Ident, ty: DeclTy, item: &InitDeclarator, align: u32, span: Span) {
        if !self.in_kernel_scope() && !self.in_library {
            let text = if self.f.as_ref().is_some_and(|f| f.is_kernel) {
                "variables in the constant address space can only be declared in the outermost scope of a kernel function"
            } else {
                "non-kernel function variable cannot be declared in constant address space"
            };
            self.err(span, text);
            self.declare(&name.name, Symbol::Error, name.span);
            return;
        }
        if item.init.is_none() {
            self.err(name.span, "variable in constant address space must be initialized");
            self.declare(&name.name, Symbol::Error, name.span);
            return;
        }
        self.static_variable(name, ty, None, item, align, Space::Constant);
    }

    fn local_memory_variable(&mut self, name: &Ident, ty: DeclTy, item: &InitDeclarator, align: u32, span: Span) {
        if !self.in_kernel_scope() {
            let text = if self.f.as_ref().is_some_and(|f| f.is_kernel) {
                "variables in the local address space can only be declared in the outermost scope of a kernel function"
            } else {
                "non-kernel function variable cannot be declared in local address space"
            };
            self.err(span, text);
            self.declare(&name.name, Symbol::Error, name.span);
            return;
        }
        if item.init.is_some() {
            self.err(name.span, "'__local' variable cannot have an initializer; assign to it in a statement instead");
            self.declare(&name.name, Symbol::Error, name.span);
            return;
        }
        let size = self.size_of(ty.qt.ty).unwrap_or(0);
        if let Some(f) = &mut self.f {
            let at = u64::from(f.local_memory).next_multiple_of(u64::from(align.max(1)));
            f.local_memory = u32::try_from(at + size).unwrap_or(u32::MAX);
        }
        if self.f.as_ref().is_some_and(|f| f.local_memory > self.target.language.max_local_memory) {
            self.err(
                name.span,
                format!(
                    "the kernel's local variables exceed the {} bytes of local memory of this device",
                    self.target.language.max_local_memory
                ),
            );
        }
        let span = self.span(name.span);
        let variable = GlobalVar {
            name: name.name.clone(),
            ty: ty.qt,
            space: Space::Local,
            init: None,
            relocs: Vec::new(),
            align,
            linkage: Linkage::Internal,
            defined: true,
            span,
        };
        let id = self.new_global(variable);
        self.declare_new(&name.name, Symbol::Global(id), name.span);
    }

    fn private_variable(&mut self, name: &Ident, ty: DeclTy, item: &InitDeclarator, align: u32) -> Option<Stmt> {
        match self.kind(self.innermost(ty.qt)) {
            TyKind::Image(..) => {
                let shown = self.show(ty.qt.ty);
                self.err(name.span, format!("type '{shown}' can only be used as a function parameter in OpenCL"));
                self.declare(&name.name, Symbol::Error, name.span);
                return None;
            }
            TyKind::Atomic(_) | TyKind::AtomicFlag if !self.has_generic() => {}
            _ => {}
        }
        let local = self.new_local(&name.name, ty.qt, name.span)?;
        self.declare_new(&name.name, Symbol::Local(local), name.span);
        if let Some(f) = &mut self.f
            && let Some(entry) = f.locals.get_mut(local.index())
        {
            entry.align = align;
        }
        let init = match &item.init {
            None => None,
            Some(init) => {
                let (complete, init) = match self.initializer(ty.qt, init) {
                    Some(found) => found,
                    None => {
                        if matches!(self.kind(ty.qt.ty), TyKind::Array { len: None, .. }) {
                            self.declare(&name.name, Symbol::Error, name.span);
                        }
                        return None;
                    }
                };
                let constant = match &init {
                    Init::Expr(value) if ty.qt.is_const && !ty.qt.is_volatile && self.is_integer_scalar(ty.qt.ty) => self.evaluate(value),
                    _ => None,
                };
                if let Some(f) = &mut self.f {
                    if let Some(entry) = f.locals.get_mut(local.index()) {
                        entry.ty.ty = complete;
                    }
                    if let Some(Value::Const(constant)) = constant {
                        f.constants.insert(local, constant);
                    }
                }
                Some(init)
            }
        };
        Some(Stmt { kind: StmtKind::Local { local, init }, span: self.span(name.span) })
    }
}
