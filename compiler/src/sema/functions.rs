//! Functions: declarations, definitions, parameters, kernels (OpenCL C 6.9.1, 6.11; C99 6.9.1).

use super::convert::Purpose;
use super::scope::Symbol;
use super::{DeclTy, FnContext, Sema};
use crate::ast::{
    self, Attribute, DeclSpecs, Declarator, DeclaratorPart, FunctionDef, Ident, Name, ParamDecl, ScalarKind, StorageClass, TypeSpec,
};
use crate::diag::{Span, WarningGroup};
use crate::ir::Space;
use crate::options::CStd;
use crate::thir::{Expr, FuncId, Function, Linkage, Local, LocalId, QualTy, Stmt, StmtKind, Ty, TyKind};

/// A parameter as declared.
#[derive(Clone, Debug)]
pub(super) struct Param {
    pub(super) name: Option<Name>,
    pub(super) ty: QualTy,
    pub(super) span: Span,
    /// The spelling of the type in clGetKernelArgInfo.
    pub(super) type_name: String,
}

/// A function, without its body.
#[derive(Clone, Debug)]
pub(super) struct FuncDecl {
    pub(super) name: Name,
    pub(super) params: Vec<Param>,
    pub(super) ret: Ty,
    /// Whether `return` statements determine the result type, which is possible only for a block.
    pub(super) infers_result: bool,
    pub(super) overloadable: bool,
    pub(super) is_kernel: bool,
    pub(super) is_library: bool,
    pub(super) defined: bool,
    pub(super) linkage: Linkage,
    pub(super) span: Span,
    /// The attributes that only kernels can have, from all declarations of the function.
    pub(super) attributes: Vec<Attribute>,
}

impl Sema<'_> {
    /// Declares a function. Returns its id, or `None` after an error. A redeclaration has the id of the first
    /// declaration.
    pub(super) fn declare_function(&mut self, specs: &DeclSpecs, declarator: &Declarator, defined: bool) -> Option<FuncId> {
        let base = self.specifiers(specs);
        self.declare_function_of(specs, base, declarator, defined)
    }

    /// Does the same as [`Self::declare_function`], for specifiers that are already analysed. To analyse them again
    /// would define their structures again.
    pub(super) fn declare_function_of(
        &mut self,
        specs: &DeclSpecs,
        base: DeclTy,
        declarator: &Declarator,
        defined: bool,
    ) -> Option<FuncId> {
        let ident = declarator.name.as_ref()?;
        let (Some(DeclaratorPart::Function { params, variadic, span: parens }), rest) =
            (declarator.parts.first(), declarator.parts.get(1..).unwrap_or_default())
        else {
            return None;
        };
        let returned = self.declarator_type(base, rest);
        if let Some((_, at)) = returned.space {
            self.err(at, "return type cannot be qualified with address space");
        }
        let ret = returned.qt.ty;
        match self.kind(ret).clone() {
            TyKind::Array { .. } | TyKind::Function { .. } => {
                let shown = self.show(ret);
                let what = if matches!(self.kind(ret), TyKind::Array { .. }) { "array" } else { "function" };
                self.err(specs.span, format!("function cannot return {what} type '{shown}'"));
                return None;
            }
            TyKind::Image(..) | TyKind::Pipe(..) | TyKind::Sampler | TyKind::Queue | TyKind::Block { .. } if !self.in_library => {
                let shown = self.show(ret);
                self.err(specs.span, format!("declaring function return value of type '{shown}' is not allowed"));
                return None;
            }
            TyKind::Scalar(ScalarKind::Half) if !self.target.language.fp16 => {
                self.err(specs.span, "declaring function return value of type 'half' is not allowed without cl_khr_fp16");
            }
            // A prototype may have incomplete types (C99 6.7.5.3). A definition may not.
            _ if defined && self.is_incomplete(ret) => {
                let shown = self.show(ret);
                self.err(specs.span, format!("incomplete result type '{shown}' in function definition"));
                return None;
            }
            _ => {}
        }
        let list = self.parameters(params, specs.is_kernel, defined);
        self.check_attributes(specs.attributes.iter().chain(&declarator.attributes));
        let attributes = || specs.attributes.iter().chain(&declarator.attributes);
        let overloadable = self.in_library || attributes().any(|a| &*a.name.name == "overloadable");
        if *variadic && !self.in_library {
            self.err(*parens, "invalid prototype, variadic arguments are not allowed in OpenCL");
        }
        let decl = FuncDecl {
            name: ident.name.clone(),
            params: list,
            ret,
            infers_result: false,
            overloadable,
            is_kernel: specs.is_kernel,
            is_library: self.in_library,
            defined,
            linkage: self.function_linkage(specs),
            span: ident.span,
            attributes: attributes().filter(|a| is_kernel_attribute(&a.name.name)).cloned().collect(),
        };
        self.enter_function(decl, attributes().collect::<Vec<_>>().as_slice())
    }

    fn function_linkage(&self, specs: &DeclSpecs) -> Linkage {
        match specs.storage {
            _ if self.in_library => Linkage::Internal,
            Some((StorageClass::Static, _)) => Linkage::Internal,
            Some((StorageClass::Extern, _)) => Linkage::External,
            _ if specs.is_inline => Linkage::Inline,
            _ => Linkage::External,
        }
    }

    /// Declares a function with a named function type, as in `binary_operator add;` (C99 6.7.5.3). Such a declaration
    /// is never a definition.
    pub(super) fn declare_typed_function(&mut self, specs: &DeclSpecs, name: &Ident, ty: Ty, attributes: &[&Attribute]) {
        let TyKind::Function { ret, params, .. } = self.kind(ty).clone() else { return };
        let params =
            params.into_iter().map(|ty| Param { name: None, ty: QualTy::plain(ty), span: name.span, type_name: self.show(ty) }).collect();
        let decl = FuncDecl {
            name: name.name.clone(),
            params,
            ret,
            infers_result: false,
            overloadable: self.in_library || attributes.iter().any(|a| &*a.name.name == "overloadable"),
            is_kernel: specs.is_kernel,
            is_library: self.in_library,
            defined: false,
            linkage: self.function_linkage(specs),
            span: name.span,
            attributes: attributes.iter().filter(|a| is_kernel_attribute(&a.name.name)).map(|a| (*a).clone()).collect(),
        };
        self.enter_function(decl, attributes);
    }

    fn enter_function(&mut self, decl: FuncDecl, attributes: &[&Attribute]) -> Option<FuncId> {
        let name = decl.name.clone();
        let span = decl.span;
        let previous = self.scopes.first().and_then(|s| s.names.get(&name)).map(|(s, _)| s.clone());
        let mut overloads = Vec::new();
        match previous {
            Some(Symbol::Functions(list)) => {
                if let Some(id) = list.iter().copied().find(|id| self.same_parameters(*id, &decl)) {
                    return self.redeclare_function(id, decl, attributes);
                }
                let any_overloadable = decl.overloadable || list.iter().any(|id| self.decls[id.index()].overloadable);
                if !any_overloadable {
                    let old_span = list.first().map_or(Span::NONE, |id| self.decls[id.index()].span);
                    self.err_note(span, format!("conflicting types for '{name}'"), old_span, "previous declaration is here");
                    return None;
                }
                overloads = list;
            }
            Some(Symbol::Error) | None => {}
            Some(_) => {
                self.err(span, format!("redefinition of '{name}' as different kind of symbol"));
                return None;
            }
        }
        let id = FuncId(crate::ir::number(self.functions.len()));
        self.record_function(&decl, decl.span);
        self.functions.push(Function {
            name: name.clone(),
            linkage: decl.linkage,
            overloadable: decl.overloadable,
            ret: decl.ret,
            params: Vec::new(),
            locals: Vec::new(),
            labels: Vec::new(),
            expression_jumps: false,
            body: None,
            is_kernel: false,
            reqd_work_group_size: None,
            reqd_subgroup_size: None,
            no_inline: false,
            is_library: self.in_library,
            span: self.span(span),
        });
        self.decls.push(decl);
        overloads.push(id);
        if let Some(scope) = self.scopes.first_mut() {
            scope.names.insert(name, (Symbol::Functions(overloads), span));
        }
        self.apply_function_attributes(id, attributes);
        Some(id)
    }

    fn same_parameters(&self, known: FuncId, decl: &FuncDecl) -> bool {
        let known = &self.decls[known.index()].params;
        known.len() == decl.params.len() && known.iter().zip(&decl.params).all(|(a, b)| self.is_compatible(a.ty.ty, b.ty.ty))
    }

    /// Merges another declaration of the function `id`. Reports an error and returns `None` if they conflict.
    fn redeclare_function(&mut self, id: FuncId, decl: FuncDecl, attributes: &[&Attribute]) -> Option<FuncId> {
        let (name, span) = (&decl.name, decl.span);
        let old = &self.decls[id.index()];
        let (old_span, old_ret, old_defined) = (old.span, old.ret, old.defined);
        if !self.is_compatible(old_ret, decl.ret) {
            self.err_note(span, format!("conflicting types for '{name}'"), old_span, "previous declaration is here");
            return None;
        }
        if old_defined && decl.defined {
            self.err_note(span, format!("redefinition of '{name}'"), old_span, "previous definition is here");
            return None;
        }
        self.record_function(&decl, old_span);
        let entry = &mut self.decls[id.index()];
        entry.is_kernel |= decl.is_kernel;
        entry.overloadable |= decl.overloadable;
        // The declarations share one linkage: internal if one is `static`, otherwise inline if one is `inline`.
        entry.linkage = match (entry.linkage, decl.linkage) {
            (Linkage::Internal, _) | (_, Linkage::Internal) => Linkage::Internal,
            (Linkage::Inline, _) | (_, Linkage::Inline) => Linkage::Inline,
            _ => Linkage::External,
        };
        entry.attributes.extend(decl.attributes);
        if decl.defined {
            entry.defined = true;
            entry.span = span;
            entry.params = decl.params;
        }
        self.apply_function_attributes(id, attributes);
        Some(id)
    }

    fn apply_function_attributes(&mut self, id: FuncId, attributes: &[&Attribute]) {
        if attributes.iter().any(|a| &*a.name.name == "noinline") {
            self.functions[id.index()].no_inline = true;
        }
    }

    pub(super) fn parameters(&mut self, params: &[ParamDecl], is_kernel: bool, defined: bool) -> Vec<Param> {
        let mut list = Vec::new();
        let alone = params.len() == 1;
        for param in params {
            let decl = self.param_type(param);
            let span = param.declarator.name.as_ref().map_or(param.span, |n| n.span);
            if matches!(self.kind(decl.qt.ty), TyKind::Void) {
                if !alone || param.declarator.name.is_some() {
                    self.err(param.span, "argument may not have 'void' type");
                }
                continue;
            }
            let mut ty = decl.qt;
            if let Some((space, at)) = decl.space
                && space != Space::Private
                && !self.is_error(ty.ty)
            {
                let hint = match self.kind(ty.ty) {
                    TyKind::Image(..) => ": images are always in global memory",
                    _ => "",
                };
                self.err(at, format!("parameter may not be qualified with an address space{hint}"));
                ty = QualTy::plain(self.error_ty());
            }
            match self.kind(ty.ty) {
                TyKind::Scalar(ScalarKind::Half) if !self.target.language.fp16 && !is_kernel && !self.in_library => {
                    self.err(span, "declaring function parameter of type 'half' is not allowed; did you forget * ?");
                }
                TyKind::Block { .. } => {
                    let shown = self.show(ty.ty);
                    self.err(span, format!("declaring function parameter of type '{shown}' is not allowed"));
                    ty = QualTy::plain(self.error_ty());
                }
                _ if defined && self.is_incomplete(ty.ty) => {
                    let shown = self.show(ty.ty);
                    self.err(span, format!("variable has incomplete type '{shown}'"));
                    ty = QualTy::plain(self.error_ty());
                }
                _ => {}
            }
            if let Some((class, at)) = param.specs.storage
                && class != StorageClass::Register
            {
                self.err(at, "invalid storage class specifier in function declarator");
            }
            list.push(Param {
                name: param.declarator.name.as_ref().map(|n| n.name.clone()),
                ty,
                span,
                type_name: self.written_type(&param.specs, &param.declarator, ty.ty),
            });
        }
        list
    }

    /// Returns the spelling of a parameter type for clGetKernelArgInfo: no qualifiers, short type names (`uint`), and
    /// `*` for each pointer.
    fn written_type(&self, specs: &DeclSpecs, declarator: &Declarator, ty: Ty) -> String {
        let mut text = match &specs.ty {
            TypeSpec::Typedef(name) => name.to_string(),
            TypeSpec::SizeT => "size_t".to_owned(),
            TypeSpec::PtrdiffT => "ptrdiff_t".to_owned(),
            TypeSpec::IntptrT => "intptr_t".to_owned(),
            TypeSpec::UintptrT => "uintptr_t".to_owned(),
            TypeSpec::Image(kind) => crate::thir::types::image_name(*kind).to_owned(),
            _ => {
                let mut base = ty;
                let count = declarator.parts.iter().filter(|p| !matches!(p, DeclaratorPart::Function { .. })).count();
                for _ in 0..count {
                    if let TyKind::Pointer { pointee, .. } = *self.kind(base) {
                        base = pointee.ty;
                    }
                }
                if let TyKind::Pipe(packet, _) = *self.kind(base) {
                    base = packet;
                }
                self.show(base)
            }
        };
        for part in &declarator.parts {
            if matches!(part, DeclaratorPart::Pointer { .. } | DeclaratorPart::Array { .. }) {
                text.push('*');
            }
        }
        text
    }

    pub(super) fn function_definition(&mut self, def: &FunctionDef) {
        let Some(id) = self.declare_function(&def.specs, &def.declarator, true) else {
            return;
        };
        if let Some((class, at)) = def.specs.storage {
            match class {
                StorageClass::Static if def.specs.is_kernel => self.err(at, "kernel functions cannot be declared static"),
                StorageClass::Static | StorageClass::Extern => {}
                _ => self.err(at, "illegal storage class on function"),
            }
        }
        let is_kernel = self.decls[id.index()].is_kernel;
        if is_kernel {
            self.check_kernel_signature(id);
        }
        let attributes = self.decls[id.index()].attributes.clone();
        let kernel = if is_kernel { Some(self.kernel_attributes(&attributes)) } else { None };
        if let (false, Some(attribute)) = (is_kernel, attributes.first()) {
            let name = &attribute.name.name;
            self.err(attribute.span, format!("attribute '{name}' can only be applied to an OpenCL kernel function"));
        }
        self.record_definition(id, def.specs.span.to(def.body.span));
        self.function_body(id, &def.body);
        self.record_end_of_definition();
        let local_memory = self.finish_function(id);
        if let Some(attributes) = kernel {
            self.functions[id.index()].is_kernel = true;
            self.functions[id.index()].reqd_work_group_size = attributes.reqd_work_group_size;
            self.functions[id.index()].reqd_subgroup_size = attributes.reqd_subgroup_size;
            let info = self.reflect(id, attributes, local_memory);
            self.kernels.push((id, info));
        }
    }

    /// Checks a function body. The context of the function remains in `self.f`. The caller must call
    /// [`Self::finish_function`].
    pub(super) fn function_body(&mut self, id: FuncId, body: &ast::Compound) {
        let decl = self.decls[id.index()].clone();
        self.f = Some(FnContext::new(id, decl.ret, decl.is_kernel, (self.scopes.len() + 1, self.contract)));
        self.push_scope();
        for param in &decl.params {
            let name: Name = param.name.clone().unwrap_or_else(|| "".into());
            if param.name.is_none() && !self.is_error(param.ty.ty) {
                self.warn(
                    WarningGroup::C23Extensions,
                    param.span,
                    "omitting the parameter name in a function definition is a C23 extension",
                );
            }
            let Some(local) = self.new_local(&name, param.ty, param.span) else { continue };
            if param.name.is_some() {
                self.declare_new(&name, Symbol::Local(local), param.span);
            }
        }
        let statements = self.statements(&body.items);
        self.pop_scope(body.span);
        let void = matches!(self.kind(decl.ret), TyKind::Void | TyKind::Error);
        if !void && !self.in_library && may_reach_end(&statements) && !self.diags.has_errors() {
            let end = Span { lo: body.span.hi.saturating_sub(1), hi: body.span.hi };
            self.warn(WarningGroup::ReturnType, end, "non-void function does not return a value");
        }
        self.functions[id.index()].body = Some(statements);
    }

    /// Reports undefined labels, and moves variables and labels from `self.f` to the function. Returns the size of the
    /// `__local` variables in bytes.
    pub(super) fn finish_function(&mut self, id: FuncId) -> u32 {
        let Some(f) = self.f.take() else { return 0 };
        for label in &f.labels {
            if let (false, Some(span)) = (label.defined, label.used) {
                self.err(span, format!("use of undeclared label '{}'", label.name));
            }
        }
        for (label, inside, span) in &f.gotos {
            if let Some(label) = f.labels.get(label.index()).filter(|label| label.defined && !inside.starts_with(&label.inside)) {
                self.err(
                    *span,
                    format!("cannot jump from this goto statement to its label: label '{}' is in a statement expression", label.name),
                );
            }
        }
        let params = self.decls[id.index()].params.len();
        let function = &mut self.functions[id.index()];
        function.params = (0..params).map(|i| LocalId(crate::ir::number(i))).collect();
        function.locals = f.locals;
        // After errors, variables of parameters may be missing. Add placeholders.
        while function.locals.len() < params {
            let ty = function.ret;
            function.locals.push(Local { name: "".into(), ty: QualTy::plain(ty), align: 1, span: Span::NONE });
        }
        function.labels = f.labels.into_iter().map(|l| l.name).collect();
        function.expression_jumps = f.expression_jumps;
        self.warn_of_uninitialized(id);
        f.local_memory
    }

    /// Checks the restrictions on kernel signatures (6.11, 6.7.1).
    fn check_kernel_signature(&mut self, id: FuncId) {
        let decl = self.decls[id.index()].clone();
        if !matches!(self.kind(decl.ret), TyKind::Void | TyKind::Error) {
            self.err(decl.span, "kernel must have void return type");
        }
        if &*decl.name == "main" {
            self.err(decl.span, "kernel cannot be called 'main'");
        }
        if decl.overloadable
            && !decl.is_library
            && self.scopes.first().is_some_and(|s| matches!(s.names.get(&decl.name), Some((Symbol::Functions(l), _)) if l.len() > 1))
        {
            self.err(decl.span, "kernel functions cannot be overloaded");
        }
        for param in &decl.params {
            self.check_kernel_param(param);
        }
    }

    fn check_kernel_param(&mut self, param: &Param) {
        let span = param.span;
        match self.kind(param.ty.ty).clone() {
            TyKind::Pointer { pointee, space, .. } => {
                if matches!(space, Space::Private | Space::Generic) {
                    self.err(
                        span,
                        "pointer arguments to kernel functions must reside in '__global', '__constant' or '__local' address space",
                    );
                    return;
                }
                if let TyKind::Pointer { space: inner, .. } = *self.kind(pointee.ty) {
                    if self.options.std < CStd::Cl20 {
                        self.err(span, "kernel parameter cannot be declared as a pointer to a pointer");
                    } else if matches!(inner, Space::Private) {
                        self.err(
                            span,
                            "pointer arguments to kernel functions must reside in '__global', '__constant' or '__local' address space",
                        );
                    }
                    return;
                }
                if matches!(self.kind(pointee.ty), TyKind::Event) {
                    let shown = self.show(param.ty.ty);
                    self.err(span, format!("'{shown}' cannot be used as the type of a kernel parameter"));
                }
            }
            TyKind::Scalar(ScalarKind::Bool)
            | TyKind::Event
            | TyKind::ClkEvent
            | TyKind::ReserveId
            | TyKind::Atomic(_)
            | TyKind::AtomicFlag => {
                let shown = self.show(param.ty.ty);
                self.err(span, format!("'{shown}' cannot be used as the type of a kernel parameter"));
            }
            TyKind::Scalar(ScalarKind::Half) if !self.target.language.fp16 => {
                self.err(span, "'half' cannot be used as the type of a kernel parameter");
            }
            TyKind::Scalar(_) if matches!(param.type_name.as_str(), "size_t" | "ptrdiff_t" | "intptr_t" | "uintptr_t") => {
                self.err(span, format!("'{}' cannot be used as the type of a kernel parameter", param.type_name));
            }
            TyKind::Record(_) if Some(param.ty.ty) == self.ndrange => {
                self.err(span, "'ndrange_t' cannot be used as the type of a kernel parameter");
            }
            TyKind::Record(id) => {
                if let Some(member) = self.device_sized.get(&id) {
                    let shown = self.show(param.ty.ty);
                    let text = format!("'{shown}' cannot be used as the type of a kernel parameter: it has a member of type '{member}'");
                    self.err(span, text);
                    return;
                }
                if let Some(member) = self.invalid_member(param.ty.ty) {
                    let (shown, member_type) = (self.show(param.ty.ty), self.show(member));
                    let text = if matches!(self.kind(member), TyKind::Pointer { .. }) {
                        format!("struct kernel parameters may not contain pointers: '{shown}' has a member of type '{member_type}'")
                    } else {
                        format!("'{shown}' cannot be used as the type of a kernel parameter: it has a member of type '{member_type}'")
                    };
                    self.err(span, text);
                }
            }
            _ => {}
        }
    }

    /// Returns the type of a member at any depth that is a pointer, an `event_t` or a `reserve_id_t`. The host cannot
    /// provide values of these types. Returns `None` if there is no such member.
    fn invalid_member(&self, ty: Ty) -> Option<Ty> {
        match self.kind(ty) {
            TyKind::Pointer { .. } | TyKind::Event | TyKind::ReserveId => Some(ty),
            TyKind::Record(id) => self.types.record(*id).fields.iter().find_map(|field| self.invalid_member(field.ty.ty)),
            TyKind::Array { element, .. } => self.invalid_member(element.ty),
            _ => None,
        }
    }

    /// Checks a `return`. Returns the converted value, or `None` if there is none. After an error, returns `None` or an
    /// error expression.
    pub(super) fn return_value(&mut self, value: Option<&ast::Expr>, span: Span) -> Option<Expr> {
        let (ret, name) = match &self.f {
            Some(f) => (f.ret, self.decls[f.id.index()].name.clone()),
            None => return None,
        };
        if self.f.as_ref().is_some_and(|f| self.decls[f.id.index()].infers_result) {
            return self.inferred_return(value, span);
        }
        let void = matches!(self.kind(ret), TyKind::Void);
        match value {
            None => {
                if !void && !self.is_error(ret) {
                    self.err(span, format!("non-void function '{name}' should return a value"));
                }
                None
            }
            Some(expr) => {
                let value = self.any_rvalue(expr);
                if void {
                    if matches!(self.kind(value.ty), TyKind::Void) {
                        return Some(value);
                    }
                    if !self.is_error(value.ty) {
                        self.err(span, format!("void function '{name}' should not return a value"));
                    }
                    return None;
                }
                Some(self.assign_convert(value, ret, &Purpose::Return))
            }
        }
    }
}

/// Whether only kernels can have the attribute (6.13.2).
fn is_kernel_attribute(name: &str) -> bool {
    matches!(name, "reqd_work_group_size" | "work_group_size_hint" | "vec_type_hint" | "intel_reqd_sub_group_size")
}

/// Whether control may reach the end of a list of statements. Returns false if this is unknown.
fn may_reach_end(statements: &[Stmt]) -> bool {
    match statements.iter().rev().find(|s| !matches!(s.kind, StmtKind::Empty)) {
        None => true,
        Some(stmt) => match &stmt.kind {
            StmtKind::Block(inner) => may_reach_end(inner),
            StmtKind::Expr(_) | StmtKind::Local { .. } => true,
            StmtKind::If { then, els, .. } => match els {
                None => true,
                Some(els) => may_reach_end(std::slice::from_ref(&**then)) || may_reach_end(std::slice::from_ref(&**els)),
            },
            _ => false,
        },
    }
}
