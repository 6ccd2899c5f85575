//! Resolves types: specifiers, declarators and type names (OpenCL C 6.3, 6.7, 6.9; C99 6.7.2 to 6.7.6).

use super::scope::Symbol;
use super::{DeclTy, Sema};
use crate::ast::{AddrSpace, DeclSpecs, DeclaratorPart, Name, ParamDecl, Qualifiers, ScalarKind, TypeName, TypeSpec};
use crate::diag::{Span, WarningGroup};
use crate::ir::Space;
use crate::thir::{QualTy, Ty, TyKind};

/// Maximum size of an object in bytes.
pub(super) const MAX_OBJECT_SIZE: u64 = 1 << 31;

pub(super) const fn space_of(space: AddrSpace) -> Space {
    match space {
        AddrSpace::Global => Space::Global,
        AddrSpace::Local => Space::Local,
        AddrSpace::Constant => Space::Constant,
        AddrSpace::Private => Space::Private,
        AddrSpace::Generic => Space::Generic,
    }
}

impl Sema<'_> {
    /// Returns the type of a specifier list, with its qualifiers.
    pub(super) fn specifiers(&mut self, specs: &DeclSpecs) -> DeclTy {
        let mut base = self.type_spec(&specs.ty, specs);
        if let Some(span) = specs.pipe {
            base = self.pipe_of(base, specs.access, span);
        }
        let restricted = matches!(self.kind(base.qt.ty), TyKind::Pointer { .. } | TyKind::Error);
        if specs.quals.is_restrict && !restricted {
            let shown = self.show(base.qt.ty);
            self.err(specs.span, format!("restrict requires a pointer ('{shown}' is invalid)"));
        }
        self.qualify(base, specs.quals)
    }

    /// Adds qualifiers to a type. Qualifiers of an array apply to its elements (C99 6.7.3).
    fn qualify(&mut self, base: DeclTy, quals: Qualifiers) -> DeclTy {
        let mut base = base;
        base.qt = self.with_quals(base.qt, quals.is_const, quals.is_volatile);
        if quals.is_restrict
            && let TyKind::Pointer { pointee, space, .. } = *self.kind(base.qt.ty)
        {
            base.qt.ty = self.types.intern(TyKind::Pointer { pointee, space, is_restrict: true });
        }
        if let Some((space, span)) = quals.space {
            let space = space_of(space);
            if space == Space::Generic && !self.has_generic() && !self.in_library {
                let version = self.options.std.name();
                self.err(span, format!("OpenCL C version {version} does not support the '__generic' type qualifier"));
                return self.error_decl();
            }
            match base.space {
                Some((old, _)) if old != space => self.err(span, "multiple address spaces specified for type"),
                _ => base.space = Some((space, span)),
            }
        }
        base
    }

    pub(super) fn with_quals(&mut self, qt: QualTy, is_const: bool, is_volatile: bool) -> QualTy {
        if !is_const && !is_volatile {
            return qt;
        }
        if let TyKind::Array { element, len } = *self.kind(qt.ty) {
            let element = self.with_quals(element, is_const, is_volatile);
            return QualTy::plain(self.types.intern(TyKind::Array { element, len }));
        }
        QualTy { is_const: qt.is_const || is_const, is_volatile: qt.is_volatile || is_volatile, ..qt }
    }

    fn type_spec(&mut self, spec: &TypeSpec, specs: &DeclSpecs) -> DeclTy {
        let span = specs.ty_span;
        let kind = match spec {
            TypeSpec::Missing => TyKind::Error,
            TypeSpec::Void => TyKind::Void,
            TypeSpec::Scalar(kind) => {
                if !self.scalar_allowed(*kind, span) {
                    return self.error_decl();
                }
                TyKind::Scalar(*kind)
            }
            TypeSpec::Vector(kind, lanes) => {
                if !self.scalar_allowed(*kind, span) {
                    return self.error_decl();
                }
                if *kind == ScalarKind::Bool {
                    self.err(span, "invalid vector element type 'bool'");
                    return self.error_decl();
                }
                TyKind::Vector(*kind, *lanes)
            }
            TypeSpec::SizeT | TypeSpec::UintptrT => TyKind::Scalar(self.size_kind()),
            TypeSpec::PtrdiffT | TypeSpec::IntptrT => TyKind::Scalar(self.ptrdiff_kind()),
            TypeSpec::Image(kind) => {
                if !self.target.language.images {
                    self.err(span, "image support is not available on this device");
                    return self.error_decl();
                }
                if kind.is_multisample() && !self.target.has_extension("cl_khr_gl_msaa_sharing") {
                    let image = crate::thir::types::image_name(*kind);
                    self.err(span, format!("use of type '{image}' requires cl_khr_gl_msaa_sharing support, which this device lacks"));
                    return self.error_decl();
                }
                let (access, at) = specs.access.unwrap_or((crate::ast::Access::ReadOnly, span));
                if access == crate::ast::Access::ReadWrite && !self.has_read_write_images() {
                    let image = crate::thir::types::image_name(*kind);
                    self.err(
                        at,
                        format!(
                            "access qualifier 'read_write' can not be used for '__read_write {image}' prior to OpenCL C version 2.0 or in \
                             version 3.0 and without __opencl_c_read_write_images feature"
                        ),
                    );
                    return self.error_decl();
                }
                TyKind::Image(*kind, access)
            }
            TypeSpec::Sampler => {
                if !self.target.language.images {
                    self.err(span, "image support is not available on this device");
                    return self.error_decl();
                }
                TyKind::Sampler
            }
            TypeSpec::Event => TyKind::Event,
            TypeSpec::Queue => TyKind::Queue,
            TypeSpec::ClkEvent => TyKind::ClkEvent,
            TypeSpec::NdRange => return self.ndrange_type(span),
            TypeSpec::ReserveId => TyKind::ReserveId,
            TypeSpec::Typedef(name) => return self.typedef_name(name, span),
            TypeSpec::Record(record) => return self.record_spec(record),
            TypeSpec::Enum(spec) => return self.enum_spec(spec),
            TypeSpec::TypeofExpr(expr) => {
                let operand = self.unevaluated(expr);
                let qt = self.operand_type(&operand);
                if self.is_wide(qt.ty) {
                    self.err(expr.span, "the type of a 128-bit integer constant cannot be used to declare a variable");
                    return self.error_decl();
                }
                return DeclTy::of(qt.ty);
            }
            TypeSpec::TypeofType(name) => return self.type_name_decl(name),
        };
        if matches!(kind, TyKind::Queue | TyKind::ClkEvent) && !self.has_enqueue() {
            let why = self.enqueue_obstacle();
            self.err(span, format!("device-side enqueue is not supported: {why}"));
            return self.error_decl();
        }
        if kind == TyKind::ReserveId && !self.pipes_allowed(span) {
            return self.error_decl();
        }
        DeclTy::of(self.types.intern(kind))
    }

    pub(super) fn error_decl(&mut self) -> DeclTy {
        DeclTy::of(self.error_ty())
    }

    /// Whether the device supports a scalar type. Reports an error if not.
    fn scalar_allowed(&mut self, kind: ScalarKind, span: Span) -> bool {
        match kind {
            ScalarKind::Double if !self.target.language.fp64 => {
                self.err(span, "use of type 'double' requires cl_khr_fp64 and __opencl_c_fp64 support, which this device lacks");
                false
            }
            ScalarKind::Long | ScalarKind::ULong if !self.target.language.int64 => {
                self.err(
                    span,
                    format!(
                        "use of type '{}' requires 64-bit integer support, which this device lacks",
                        crate::thir::types::scalar_name(kind)
                    ),
                );
                false
            }
            _ => true,
        }
    }

    fn typedef_name(&mut self, name: &Name, span: Span) -> DeclTy {
        let symbol = match self.lookup(name).cloned() {
            Some(symbol) => Some(symbol),
            None if self.in_library => self.library_symbol(name),
            None => None,
        };
        let symbol = match symbol {
            Some(symbol) => Some(symbol),
            None => self.predeclared(name),
        };
        match symbol {
            Some(Symbol::Typedef(ty)) => {
                self.record_use(name, span);
                if let TyKind::Atomic(ScalarKind::Long | ScalarKind::ULong | ScalarKind::Double) = self.kind(ty.qt.ty)
                    && !self.target.language.int64_atomics
                {
                    self.err(span, format!("use of type '{name}' requires 64-bit atomics, which this device lacks"));
                    return self.error_decl();
                }
                if matches!(self.kind(ty.qt.ty), TyKind::Atomic(ScalarKind::Half)) && !self.target.language.fp16 {
                    self.err(span, format!("use of type '{name}' requires cl_khr_fp16 support, which this device lacks"));
                    return self.error_decl();
                }
                ty
            }
            Some(Symbol::Error) => self.error_decl(),
            _ => {
                let hint = self.suggest_type(name);
                self.err_hint(span, &format!("unknown type name '{name}'"), &hint);
                self.error_decl()
            }
        }
    }

    /// Applies the parts of a declarator to a base type. The part next to the declared name is applied last.
    pub(super) fn declarator_type(&mut self, base: DeclTy, parts: &[DeclaratorPart]) -> DeclTy {
        let mut ty = base;
        for part in parts.iter().rev() {
            ty = match part {
                DeclaratorPart::Pointer { quals, span } => self.pointer_part(ty, *quals, *span),
                DeclaratorPart::Array { size, quals, span } => self.array_part(ty, size.as_ref(), *quals, *span),
                DeclaratorPart::Function { params, variadic, span } => {
                    if let Some((_, at)) = ty.space {
                        self.err(at, "return type cannot be qualified with address space");
                    }
                    let what = match self.kind(ty.qt.ty) {
                        TyKind::Array { .. } => Some("array"),
                        TyKind::Function { .. } => Some("function"),
                        _ => None,
                    };
                    if let Some(what) = what {
                        let shown = self.show(ty.qt.ty);
                        self.err(*span, format!("function cannot return {what} type '{shown}'"));
                    }
                    let params = self.param_types(params);
                    let kind = TyKind::Function { ret: ty.qt.ty, params, variadic: *variadic };
                    DeclTy::of(self.types.intern(kind))
                }
                DeclaratorPart::Block { span } => self.block_part(ty, *span),
            };
        }
        ty
    }

    fn pointer_part(&mut self, pointee: DeclTy, quals: Qualifiers, span: Span) -> DeclTy {
        match self.kind(pointee.qt.ty) {
            TyKind::Error => return pointee,
            TyKind::Function { .. } => {
                self.err(span, "pointers to functions are not allowed");
                return self.error_decl();
            }
            TyKind::Image(..) | TyKind::Pipe(..) | TyKind::Sampler | TyKind::Event | TyKind::Block { .. } => {
                let shown = self.show(pointee.qt.ty);
                self.err(span, format!("pointer to type '{shown}' is invalid in OpenCL"));
                return self.error_decl();
            }
            _ => {}
        }
        let space = pointee.space.map_or_else(|| self.default_pointee_space(), |(space, _)| space);
        let pointee = self.underaligned(pointee);
        let ty = self.types.intern(TyKind::Pointer { pointee, space, is_restrict: quals.is_restrict });
        let plain = Qualifiers { is_restrict: false, ..quals };
        self.qualify(DeclTy::of(ty), plain)
    }

    /// Returns the type of a pointee or array element. It contains the declared alignment if that is less than the
    /// natural alignment.
    fn underaligned(&self, decl: DeclTy) -> QualTy {
        QualTy { align: decl.align.filter(|align| *align < self.align_of(decl.qt.ty)), ..decl.qt }
    }

    fn array_part(&mut self, element: DeclTy, size: Option<&crate::ast::Expr>, _quals: Qualifiers, span: Span) -> DeclTy {
        if self.is_error(element.qt.ty) {
            return element;
        }
        if self.types.layout(element.qt.ty).is_none() {
            let shown = self.show(element.qt.ty);
            match self.kind(element.qt.ty) {
                TyKind::Function { .. } => self.err(span, format!("declared as array of functions of type '{shown}'")),
                _ => self.err(span, format!("array has incomplete element type '{shown}'")),
            }
            return self.error_decl();
        }
        if matches!(self.kind(element.qt.ty), TyKind::Image(..) | TyKind::Pipe(..) | TyKind::Sampler) {
            let shown = self.show(element.qt.ty);
            self.err(span, format!("array of '{shown}' type is invalid in OpenCL"));
            return self.error_decl();
        }
        let len = match size {
            None => None,
            Some(size) => match self.array_size(size) {
                Some(len) => Some(len),
                None => return self.error_decl(),
            },
        };
        let elements = len.unwrap_or(0);
        let total = elements.checked_mul(self.size_of(element.qt.ty).unwrap_or(1));
        if total.is_none_or(|total| total > MAX_OBJECT_SIZE) {
            self.err(span, format!("array is too large ({elements} elements)"));
            return self.error_decl();
        }
        let qt = self.underaligned(element);
        let ty = self.types.intern(TyKind::Array { element: qt, len });
        DeclTy { qt: QualTy::plain(ty), space: element.space, align: element.align }
    }

    fn array_size(&mut self, size: &crate::ast::Expr) -> Option<u64> {
        let value = self.rvalue_expr(size);
        if self.is_error(value.ty) {
            return None;
        }
        if !self.is_integer_scalar(value.ty) {
            let shown = self.show(value.ty);
            self.err(size.span, format!("size of array has non-integer type '{shown}'"));
            return None;
        }
        let len = match self.integer_constant(&value) {
            Some(len) => len,
            // In `const int n = 4; int a[n];`, `n` is not a constant expression of C, but other compilers accept it.
            None => match self.folded_constant(&value) {
                Some(len) => {
                    self.warn(
                        WarningGroup::GnuFoldingConstant,
                        size.span,
                        "variable length array folded to constant array as an extension",
                    );
                    len
                }
                None => {
                    self.err(size.span, "variable length arrays are not supported in OpenCL: the size must be a constant");
                    return None;
                }
            },
        };
        if len < 0 {
            self.err(size.span, "array declared with a negative size");
            return None;
        }
        u64::try_from(len).ok()
    }

    /// Returns the value of an integer expression that consists of constants and `const` variables with constant
    /// initialisers. Returns `None` for other expressions.
    fn folded_constant(&mut self, value: &crate::thir::Expr) -> Option<i64> {
        self.fold_const = true;
        let folded = self.integer_constant(value);
        self.fold_const = false;
        folded
    }

    /// Returns the parameter types of a function type, without `void`.
    fn param_types(&mut self, params: &[ParamDecl]) -> Vec<Ty> {
        let mut types: Vec<Ty> = params.iter().map(|param| self.param_type(param).qt.ty).collect();
        types.retain(|ty| !matches!(self.kind(*ty), TyKind::Void));
        types
    }

    /// Returns the type of a parameter, with its qualifiers. An array becomes a pointer.
    pub(super) fn param_type(&mut self, param: &ParamDecl) -> DeclTy {
        let base = self.specifiers(&param.specs);
        let ty = self.declarator_type(base, &param.declarator.parts);
        match *self.kind(ty.qt.ty) {
            TyKind::Array { element, .. } => {
                let space = ty.space.map_or_else(|| self.default_pointee_space(), |(space, _)| space);
                let pointer = self.pointer(element, space);
                DeclTy::of(pointer)
            }
            TyKind::Function { .. } => {
                self.err(param.span, "pointers to functions are not allowed");
                self.error_decl()
            }
            _ => ty,
        }
    }

    /// Returns the type in a cast, `sizeof` or a similar operator.
    pub(super) fn type_name(&mut self, name: &TypeName) -> QualTy {
        self.type_name_decl(name).qt
    }

    pub(super) fn type_name_decl(&mut self, name: &TypeName) -> DeclTy {
        let base = self.specifiers(&name.specs);
        self.declarator_type(base, &name.declarator.parts)
    }
}
