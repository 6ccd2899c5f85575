//! Blocks (OpenCL C 6.14): literals, block variables and captures.
//!
//! The compiler can resolve every use of a block: block variables are initialised at their declaration and never
//! assigned, and blocks cannot be parameters, results, members or elements. Blocks are therefore not values in the
//! typed tree. A literal becomes a function with the parameters of the block, followed by its captures. A [`BlockRef`]
//! contains the function and the variables with the captured values. A call of the block is a call of the function.

use std::sync::Arc;

use super::functions::{FuncDecl, Param};
use super::scope::Symbol;
use super::{DeclTy, FnContext, Operand, Sema};
use crate::ast::{self, BlockLiteral, DeclaratorPart, Ident, StorageClass};
use crate::diag::Span;
use crate::ir::Space;
use crate::options::CStd;
use crate::thir::{Expr, ExprKind, FuncId, Function, Init, Linkage, Local, LocalId, QualTy, Stmt, StmtKind, Ty, TyKind};

/// The block that a literal or a block variable refers to.
#[derive(Clone, Debug)]
pub(crate) struct BlockRef {
    /// The function of the block. Its parameters are those of the block, followed by the captures.
    pub(super) func: FuncId,
    /// The type, a [`TyKind::Block`].
    pub(super) ty: Ty,
    /// The variables that contain the captured values at the point of use, in the order of the capture parameters.
    pub(super) captures: Vec<LocalId>,
}

impl Sema<'_> {
    /// Whether the language version and the device support device-side enqueue.
    pub(super) fn has_enqueue(&self) -> bool {
        self.in_library
            || match self.options.std {
                CStd::Cl20 => self.target.language.device_enqueue,
                CStd::Cl30 | CStd::Cl31 => self.target.has_feature("__opencl_c_device_enqueue"),
                _ => false,
            }
    }

    /// Whether the program can use blocks. If not, reports an error on the first call.
    pub(super) fn has_blocks(&mut self, span: Span) -> bool {
        let has = self.has_enqueue();
        if !has && !std::mem::replace(&mut self.blocks_refused, true) {
            let why = self.enqueue_obstacle();
            self.err(span, format!("blocks are not supported: {why}"));
        }
        has
    }

    /// Returns the reason why [`Self::has_enqueue`] is false, for messages.
    pub(super) const fn enqueue_obstacle(&self) -> &'static str {
        if self.target.language.device_enqueue {
            "OpenCL C 2.0 or newer is required"
        } else {
            "this device does not support device-side enqueue"
        }
    }

    /// Returns the type of a block with the function type `function`, for a declarator with `^`.
    pub(super) fn block_part(&mut self, function: DeclTy, span: Span) -> DeclTy {
        if !self.has_blocks(span) {
            return self.error_decl();
        }
        match self.kind(function.qt.ty).clone() {
            TyKind::Error => function,
            TyKind::Function { variadic: true, .. } => {
                self.err(span, "invalid block prototype, variadic arguments are not allowed in OpenCL");
                self.error_decl()
            }
            TyKind::Function { ret, params, .. } => DeclTy::of(self.types.intern(TyKind::Block { ret, params })),
            _ => {
                self.err(span, "block pointer to non-function type is invalid");
                self.error_decl()
            }
        }
    }

    /// Checks a block literal and creates its function.
    pub(super) fn block_literal(&mut self, literal: &BlockLiteral, span: Span) -> Operand {
        if !self.has_blocks(span) {
            return self.error_operand(span);
        }
        let Some(decl) = self.block_declaration(literal, span) else { return self.error_operand(span) };
        let func = FuncId(crate::ir::number(self.functions.len()));
        self.functions.push(Function {
            name: decl.name.clone(),
            linkage: Linkage::Internal,
            overloadable: false,
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
        let contracts = self.is_contract_on();
        let contract = std::mem::replace(&mut self.contract, contracts);
        let enclosing = self.f.take();
        let is_inside = enclosing.is_some();
        self.enclosing.extend(enclosing);
        self.function_body(func, &literal.body);
        let captured = self.f.as_mut().map(|f| std::mem::take(&mut f.captures)).unwrap_or_default();
        self.finish_function(func);
        if is_inside {
            self.f = self.enclosing.pop();
        }
        self.contract = contract;
        self.functions[func.index()].params.extend(captured.iter().map(|(_, copy)| *copy));
        let decl = &self.decls[func.index()];
        let (ret, params) = (decl.ret, decl.params.iter().map(|param| param.ty.ty).collect());
        self.functions[func.index()].ret = ret;
        let ty = self.types.intern(TyKind::Block { ret, params });
        let captures = captured.into_iter().map(|(outer, _)| outer).collect();
        Operand::Block(Arc::new(BlockRef { func, ty, captures }), span)
    }

    /// Creates the declaration of a literal's function. Returns `None` after an error.
    fn block_declaration(&mut self, literal: &BlockLiteral, span: Span) -> Option<FuncDecl> {
        let parts = literal.declarator.parts.as_slice();
        let (literal_params, rest): (&[ast::ParamDecl], _) = match parts.split_first() {
            Some((DeclaratorPart::Function { variadic: true, span, .. }, _)) => {
                self.err(*span, "invalid block prototype, variadic arguments are not allowed in OpenCL");
                return None;
            }
            Some((DeclaratorPart::Function { params, .. }, rest)) => (params, rest),
            _ => (&[], parts),
        };
        let ret = literal.specs.as_ref().map(|specs| {
            let base = self.specifiers(specs);
            self.declarator_type(base, rest).qt.ty
        });
        if let Some(ty) = ret
            && matches!(self.kind(ty), TyKind::Array { .. } | TyKind::Function { .. } | TyKind::Block { .. })
        {
            let shown = self.show(ty);
            self.err(span, format!("block declared as returning '{shown}'"));
            return None;
        }
        let params: Vec<Param> = self.parameters(literal_params, false, true);
        let void = self.void_ty();
        Some(FuncDecl {
            name: format!("__wgcl_block_{}", self.functions.len()).into(),
            params,
            ret: ret.unwrap_or(void),
            infers_result: ret.is_none(),
            overloadable: false,
            is_kernel: false,
            is_library: self.in_library,
            defined: true,
            linkage: Linkage::Internal,
            span,
            attributes: Vec::new(),
        })
    }

    /// Checks a `return` in a block without an explicit result type. The first `return` determines the result type.
    /// Returns the value, or `None` if the `return` has none.
    pub(super) fn inferred_return(&mut self, value: Option<&ast::Expr>, span: Span) -> Option<Expr> {
        let value = value.map(|value| self.rvalue_expr(value));
        let ty = match &value {
            Some(value) => value.ty,
            None => self.void_ty(),
        };
        let f = self.f.as_mut()?;
        let (id, first) = (f.id, !std::mem::replace(&mut f.has_returned, true));
        if first {
            f.ret = ty;
            self.decls[id.index()].ret = ty;
        } else if f.ret != ty && !self.is_error(ty) {
            let (a, b) = (self.show(ty), self.show(self.decls[id.index()].ret));
            self.err(
                span,
                format!("return type '{a}' must match previous return type '{b}' when block literal has unspecified explicit return type"),
            );
        }
        value
    }

    /// Returns the variable that the current function uses for `local`. That is `local` itself if the current function
    /// declares it, otherwise the copy that the current block captures. `scope` is the index of the scope that declares
    /// `local`. Returns `None` if no enclosing function declares it.
    pub(super) fn captured(&mut self, local: LocalId, scope: usize) -> Option<LocalId> {
        let declares = |f: &FnContext| f.outermost <= scope + 1;
        if self.f.as_ref().is_none_or(declares) {
            return Some(local);
        }
        let owner = self.enclosing.iter().rposition(declares)?;
        let mut id = local;
        for level in owner + 1..=self.enclosing.len() {
            id = self.capture(level, id)?;
        }
        Some(id)
    }

    /// Returns the copy of `outer` in the function at nesting level `level`. The function at `level - 1` declares
    /// `outer` or has captured it. Creates the copy on first use.
    fn capture(&mut self, level: usize, outer: LocalId) -> Option<LocalId> {
        let inner = self.enclosing.get(level).or(self.f.as_ref())?;
        if let Some((_, copy)) = inner.captures.iter().find(|(known, _)| *known == outer) {
            return Some(*copy);
        }
        let source = self.enclosing.get(level.checked_sub(1)?)?;
        let constant = source.constants.get(&outer).cloned();
        let Local { name, ty, span: declared, .. } = source.locals.get(outer.index())?;
        let (name, mut ty, declared) = (name.clone(), *ty, *declared);
        // "Block capture semantics follows regular C argument passing convention, i.e. arrays are captured by reference
        // (decayed to pointers)". The copy of an array is therefore a pointer.
        if let TyKind::Array { element, .. } = *self.kind(ty.ty) {
            ty = QualTy::plain(self.pointer(element, Space::Private));
        }
        let align = self.align_of(ty.ty);
        let inner = self.enclosing.get_mut(level).or(self.f.as_mut())?;
        let copy = LocalId(crate::ir::number(inner.locals.len()));
        inner.locals.push(Local { name, ty: QualTy { is_const: true, ..ty }, align, span: declared });
        inner.captures.push((outer, copy));
        inner.constants.extend(constant.map(|constant| (copy, constant)));
        Some(copy)
    }

    /// Declares a block variable. Returns the statement that copies the captures of the block to unnamed variables.
    /// Returns `None` if there are no captures, and after an error.
    pub(super) fn declare_block(
        &mut self,
        name: &Ident,
        ty: DeclTy,
        storage: Option<(StorageClass, Span)>,
        init: Option<&ast::Initializer>,
    ) -> Option<Stmt> {
        let block = self.block_initializer(name, ty, storage, init);
        let Some(block) = block else {
            self.declare(&name.name, Symbol::Error, name.span);
            return None;
        };
        let mut statements = Vec::new();
        let mut copies = Vec::new();
        for &captured in &block.captures {
            let lvalue = self.local_lvalue(captured, name.span);
            let value = self.rvalue(Operand::Lvalue(lvalue));
            let copy = self.new_local("", QualTy::plain(value.ty), name.span)?;
            copies.push(copy);
            statements.push(Stmt { kind: StmtKind::Local { local: copy, init: Some(Init::Expr(value)) }, span: self.span(name.span) });
        }
        let block = BlockRef { captures: copies, ..BlockRef::clone(&block) };
        self.declare_new(&name.name, Symbol::Block(Arc::new(block)), name.span);
        (!statements.is_empty()).then(|| Stmt { kind: StmtKind::Block(statements), span: self.span(name.span) })
    }

    /// Returns the block in the initialiser of a block variable. Reports an error and returns `None` if the declaration
    /// is invalid.
    fn block_initializer(
        &mut self,
        name: &Ident,
        ty: DeclTy,
        storage: Option<(StorageClass, Span)>,
        init: Option<&ast::Initializer>,
    ) -> Option<Arc<BlockRef>> {
        if let Some((StorageClass::Extern, span)) = storage {
            self.err(span, "invalid block variable declaration - using 'extern' storage class is disallowed");
            return None;
        }
        if let Some((Space::Local | Space::Generic, span)) = ty.space {
            self.err(span, "block variable cannot be declared in local or generic address space");
            return None;
        }
        let Some(ast::Initializer::Expr(init)) = init else {
            self.err(name.span, "invalid block variable declaration - must be initialized");
            return None;
        };
        match self.operand(init) {
            Operand::Block(block, span) => {
                if self.is_error(self.decls[block.func.index()].ret) {
                    return None;
                }
                if block.ty != ty.qt.ty {
                    let (a, b) = (self.show(ty.qt.ty), self.show(block.ty));
                    self.err(span, format!("initializing '{a}' with an expression of incompatible type '{b}'"));
                    return None;
                }
                Some(block)
            }
            other => {
                let found = self.operand_type(&other).ty;
                if !self.is_error(found) {
                    let (a, b) = (self.show(ty.qt.ty), self.show(found));
                    self.err(init.span, format!("initializing '{a}' with an expression of incompatible type '{b}'"));
                }
                None
            }
        }
    }

    pub(super) fn call_block(&mut self, block: &BlockRef, args: &[ast::Expr], name_span: Span, span: Span) -> Expr {
        let values: Vec<Expr> = args.iter().map(|arg| self.any_rvalue(arg)).collect();
        if values.iter().any(|value| self.is_error(value.ty)) {
            return self.error_expr(span);
        }
        let mut call = self.call_function(block.func, values, args, name_span, span);
        if let ExprKind::Call { args, .. } = &mut call.kind {
            for &captured in &block.captures {
                let lvalue = self.local_lvalue(captured, span);
                args.push(self.rvalue(Operand::Lvalue(lvalue)));
            }
        }
        call
    }

    /// Reports the use of a block as a value.
    pub(super) fn no_block_value(&mut self, block: &BlockRef, span: Span) {
        let shown = self.show(block.ty);
        self.err(span, format!("a block of type '{shown}' can only be called, enqueued, or used to initialize a block variable"));
    }
}
