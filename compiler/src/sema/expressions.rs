//! Expressions: traversal, literals, names, `sizeof` and similar operators (OpenCL C 6.5; C99 6.5).

use std::sync::Arc;

use super::consteval::round_to;
use super::operators::fits;
use super::scope::Symbol;
use super::{MAX_DEPTH, Operand, Sema};
use crate::ast::{self, Designator, FloatSuffix, IntSuffix, Name, ScalarKind};
use crate::diag::{Span, WarningGroup};
use crate::ir::Space;
use crate::thir::{Constant, Expr, ExprKind, GlobalId, GlobalVar, Linkage, QualTy, TyKind};

impl Sema<'_> {
    /// Checks an expression.
    pub(super) fn operand(&mut self, expr: &ast::Expr) -> Operand {
        if self.depth >= MAX_DEPTH {
            self.err(expr.span, format!("expression is nested too deeply (the limit is {MAX_DEPTH})"));
            return self.error_operand(expr.span);
        }
        self.depth += 1;
        let operand = self.operand_inner(expr);
        self.depth -= 1;
        operand
    }

    fn operand_inner(&mut self, expr: &ast::Expr) -> Operand {
        let span = expr.span;
        match &expr.kind {
            ast::ExprKind::Error => self.error_operand(span),
            ast::ExprKind::Ident(name) => self.identifier(name, span),
            ast::ExprKind::Int { value, decimal, suffix } => Operand::Value(self.int_literal(*value, *decimal, *suffix, span)),
            ast::ExprKind::Float { value, suffix, text } => Operand::Value(self.float_literal(*value, *suffix, text, span)),
            ast::ExprKind::Char(value) => Operand::Value(self.int_const(i64::from(*value), ScalarKind::Int, span)),
            ast::ExprKind::Str(bytes) => {
                let global = self.string_global(bytes);
                Operand::Lvalue(self.global_lvalue(global, span))
            }
            ast::ExprKind::Paren(inner) => self.operand(inner),
            ast::ExprKind::Unary(op, operand) => self.unary(*op, operand, span),
            ast::ExprKind::Binary(..) => Operand::Value(self.binary_chain(expr)),
            ast::ExprKind::Assign(op, at, target, value) => {
                let target = self.operand(target);
                if matches!(target, Operand::Block(..)) {
                    self.modifiable(target, span);
                    return self.error_operand(span);
                }
                let value = self.any_rvalue(value);
                Operand::Value(self.about_operator(span, *at, |sema| sema.assignment(*op, target, value, span)))
            }
            ast::ExprKind::Cond { cond, then, els } => Operand::Value(self.conditional(cond, then.as_deref(), els, span)),
            ast::ExprKind::Comma(..) => Operand::Value(self.comma_chain(expr)),
            ast::ExprKind::Cast(name, operand) => Operand::Value(self.cast_expr(name, operand, span)),
            ast::ExprKind::VectorLit(name, parts) => Operand::Value(self.vector_literal(name, parts, span)),
            ast::ExprKind::CompoundLit(name, list) => self.compound_literal(name, list, span),
            ast::ExprKind::SizeofExpr(operand) => {
                let operand = self.unevaluated(operand);
                let ty = self.operand_type(&operand);
                Operand::Value(self.size_value(ty, false, &operand, span))
            }
            ast::ExprKind::SizeofType(name) => {
                let ty = self.type_name(name);
                let none = self.error_operand(span);
                Operand::Value(self.size_value(ty, false, &none, span))
            }
            ast::ExprKind::AlignofExpr(operand) => {
                let operand = self.unevaluated(operand);
                let ty = self.operand_type(&operand);
                Operand::Value(self.size_value(ty, true, &operand, span))
            }
            ast::ExprKind::AlignofType(name) => {
                let ty = self.type_name_decl(name);
                let none = self.error_operand(span);
                if let (Some(align), false) = (ty.align, self.is_error(ty.qt.ty)) {
                    let kind = self.size_kind();
                    return Operand::Value(self.int_const(i64::from(align), kind, span));
                }
                Operand::Value(self.size_value(ty.qt, true, &none, span))
            }
            ast::ExprKind::VecStepExpr(operand) => {
                let operand = self.unevaluated(operand);
                let ty = self.operand_type(&operand);
                Operand::Value(self.vec_step(ty, span))
            }
            ast::ExprKind::VecStepType(name) => {
                let ty = self.type_name(name);
                Operand::Value(self.vec_step(ty, span))
            }
            ast::ExprKind::Offsetof(name, path) => Operand::Value(self.offset_of(name, path, span)),
            ast::ExprKind::Index(base, index) => self.subscript(base, index, span, false),
            ast::ExprKind::Call(callee, args) => Operand::Value(self.call(callee, args, span)),
            ast::ExprKind::Member { base, arrow, field } => self.member(base, *arrow, field, span),
            ast::ExprKind::AsType(operand, name) => {
                let value = self.rvalue_expr(operand);
                let ty = self.type_name(name).ty;
                Operand::Value(self.as_type(value, ty, span))
            }
            ast::ExprKind::Generic { control, choices } => self.generic_selection(control, choices, span),
            ast::ExprKind::Block(literal) => self.block_literal(literal, span),
            ast::ExprKind::StmtExpr(body) => Operand::Value(self.statement_expression(body, span)),
        }
    }

    /// Checks an operand of `sizeof` or a similar operator. Calls in the operand are not recorded, because it is not
    /// evaluated.
    pub(super) fn unevaluated(&mut self, expr: &ast::Expr) -> Operand {
        let calls = self.calls.len();
        let operand = self.operand(expr);
        self.calls.truncate(calls);
        operand
    }

    fn comma_chain(&mut self, expr: &ast::Expr) -> Expr {
        let mut chain = Vec::new();
        let mut node = expr;
        while let ast::ExprKind::Comma(lhs, rhs) = &node.kind {
            chain.push((&**rhs, node.span));
            node = lhs;
        }
        let mut value = self.discarded(node);
        self.warn_of_unused_operand(&value, node);
        while let Some((tree, span)) = chain.pop() {
            let rhs = if chain.is_empty() { self.rvalue_expr(tree) } else { self.discarded(tree) };
            if !chain.is_empty() {
                self.warn_of_unused_operand(&rhs, tree);
            }
            let ty = rhs.ty;
            value = self.expr(ExprKind::Comma(Box::new(value), Box::new(rhs)), ty, span);
        }
        value
    }

    /// Checks an expression whose value is not used.
    pub(super) fn discarded(&mut self, expr: &ast::Expr) -> Expr {
        self.rvalue_expr(expr)
    }

    fn identifier(&mut self, name: &Name, span: Span) -> Operand {
        let (symbol, scope) = match self.lookup_scoped(name).map(|(symbol, scope)| (symbol.clone(), scope)) {
            None if self.in_library => (self.library_symbol(name), 0),
            Some((symbol, scope)) => (Some(symbol), scope),
            None => (None, 0),
        };
        let symbol = match symbol {
            None if self.is_builtin(name) => {
                self.record_builtin(name, span, None);
                return Operand::Builtin(name.clone(), span);
            }
            None => {
                if !self.check_enumerator(name, span) {
                    return self.error_operand(span);
                }
                self.predeclared(name)
            }
            other => other,
        };
        if symbol.is_some() {
            self.record_use(name, span);
        }
        match symbol {
            Some(Symbol::Local(local)) => match self.captured(local, scope) {
                Some(local) => Operand::Lvalue(self.local_lvalue(local, span)),
                None => self.error_operand(span),
            },
            Some(Symbol::Block(_)) if scope > 0 && self.f.as_ref().is_some_and(|f| f.outermost > scope + 1) => {
                self.err(span, format!("cannot refer to a block inside block: '{name}' would have to be captured"));
                self.error_operand(span)
            }
            Some(Symbol::Block(block)) => Operand::Block(block, span),
            Some(Symbol::Global(global)) => Operand::Lvalue(self.global_lvalue(global, span)),
            Some(Symbol::Functions(list)) => Operand::Functions(list, span),
            Some(Symbol::Constant(value, ty)) => {
                let kind = self.scalar_kind(ty).unwrap_or(ScalarKind::Int);
                Operand::Value(self.int_const(value, kind, span))
            }
            Some(Symbol::Typedef(_)) => {
                self.err(span, format!("unexpected type name '{name}': expected expression"));
                self.error_operand(span)
            }
            Some(Symbol::Error) => self.error_operand(span),
            None if &**name == "__func__" || &**name == "__FUNCTION__" => {
                let text: Arc<[u8]> = match &self.f {
                    Some(f) => self.decls[f.id.index()].name.as_bytes().into(),
                    None => Arc::from(&b""[..]),
                };
                let global = self.string_global(&text);
                Operand::Lvalue(self.global_lvalue(global, span))
            }
            None => {
                let hint = self.suggest_name(name);
                self.err_hint(span, &format!("use of undeclared identifier '{name}'"), &hint);
                self.error_operand(span)
            }
        }
    }

    fn int_literal(&mut self, value: [u64; 2], decimal: bool, suffix: IntSuffix, span: Span) -> Expr {
        use ScalarKind::{Int, Long, UInt, ULong};
        let candidates: &[ScalarKind] = match (suffix.unsigned, suffix.long, decimal) {
            (false, false, true) => &[Int, Long],
            (false, false, false) => &[Int, UInt, Long, ULong],
            (true, false, _) => &[UInt, ULong],
            (false, true, true) => &[Long],
            (false, true, false) => &[Long, ULong],
            (true, true, _) => &[ULong],
        };
        let whole = ast::int_value(value);
        let [low, high] = value;
        let kind = candidates.iter().copied().find(|kind| high == 0 && fits(*kind, low));
        if !self.target.language.int64 && !matches!(kind, Some(Int | UInt)) {
            self.err(span, "64-bit integer literals are not supported by this device");
            return self.error_expr(span);
        }
        let Some(kind) = kind else { return self.wide_literal(whole, suffix, span) };
        let ty = self.scalar(kind);
        self.expr(ExprKind::Constant(Constant::Int(low)), ty, span)
    }

    fn float_literal(&mut self, value: f64, suffix: FloatSuffix, text: &str, span: Span) -> Expr {
        let kind = match suffix {
            FloatSuffix::Float => ScalarKind::Float,
            FloatSuffix::Half => {
                if !self.target.language.fp16 {
                    self.err(span, "half precision constant requires cl_khr_fp16");
                    return self.error_expr(span);
                }
                ScalarKind::Half
            }
            FloatSuffix::None if !self.target.language.fp64 || (self.options.single_precision_constant && !self.in_library) => {
                ScalarKind::Float
            }
            FloatSuffix::None => ScalarKind::Double,
        };
        let value = match kind {
            // Round decimal literals only once, from the spelling. Hexadecimal literals are rounded from `double`,
            // which is exact for up to 53 significant bits.
            ScalarKind::Float => {
                let digits = text.trim_end_matches(['f', 'F']);
                if text.starts_with("0x") || text.starts_with("0X") {
                    round_to(kind, value)
                } else {
                    digits.parse::<f32>().map_or_else(|_| round_to(kind, value), f64::from)
                }
            }
            _ => round_to(kind, value),
        };
        if value.is_infinite() {
            self.warn(
                WarningGroup::LiteralRange,
                span,
                format!("magnitude of floating-point constant too large for type '{}'", crate::thir::types::scalar_name(kind)),
            );
        }
        let ty = self.scalar(kind);
        self.expr(ExprKind::Constant(Constant::Float(value)), ty, span)
    }

    /// Returns the constant array of a string literal. Equal literals share one array.
    pub(super) fn string_global(&mut self, bytes: &[u8]) -> GlobalId {
        if let Some(id) = self.strings.get(bytes) {
            return *id;
        }
        let mut init = bytes.to_vec();
        init.push(0);
        let char_ty = self.scalar(ScalarKind::Char);
        let element = QualTy::plain(char_ty);
        let ty = self.types.intern(TyKind::Array { element, len: Some(init.len() as u64) });
        let id = self.new_global(GlobalVar {
            name: ".str".into(),
            ty: QualTy::plain(ty),
            space: Space::Constant,
            init: Some(init),
            relocs: Vec::new(),
            align: 1,
            linkage: Linkage::Internal,
            defined: true,
            span: Span::NONE,
        });
        self.strings.insert(bytes.to_vec(), id);
        id
    }

    // sizeof and similar operators.

    fn size_value(&mut self, ty: QualTy, align: bool, operand: &Operand, span: Span) -> Expr {
        let word = if align { "alignof" } else { "sizeof" };
        if self.is_error(ty.ty) {
            if matches!(operand, Operand::Functions(..) | Operand::Builtin(..)) {
                self.err(span, format!("invalid application of '{word}' to a function type"));
            }
            return self.error_expr(span);
        }
        let value = match (self.types.layout(ty.ty), self.kind(ty.ty)) {
            // Images and samplers are handles with the size of a pointer.
            (_, TyKind::Image(..) | TyKind::Sampler) => Some(u64::from(self.target.pointer_size())),
            (Some((_, own)), _) if align => Some(u64::from(match operand {
                Operand::Lvalue(lvalue) => lvalue.align.max(1),
                _ => own,
            })),
            (layout, _) => layout.map(|(size, _)| size),
        };
        match value {
            Some(value) => {
                let kind = self.size_kind();
                self.int_const(value.cast_signed(), kind, span)
            }
            None => {
                let shown = self.show(ty.ty);
                match self.kind(ty.ty) {
                    TyKind::Void => self.err(span, format!("invalid application of '{word}' to a void type")),
                    _ => self.err(span, format!("invalid application of '{word}' to an incomplete type '{shown}'")),
                }
                self.error_expr(span)
            }
        }
    }

    fn vec_step(&mut self, ty: QualTy, span: Span) -> Expr {
        let lanes = match self.kind(ty.ty) {
            TyKind::Error => return self.error_expr(span),
            TyKind::Vector(_, 3) => 4,
            TyKind::Vector(_, lanes) => i64::from(*lanes),
            TyKind::Scalar(_) | TyKind::Wide | TyKind::Enum { .. } | TyKind::Void => 1,
            _ => {
                let shown = self.show(ty.ty);
                self.err(span, format!("'vec_step' requires built-in scalar or vector type, '{shown}' invalid"));
                return self.error_expr(span);
            }
        };
        self.int_const(lanes, ScalarKind::Int, span)
    }

    fn offset_of(&mut self, name: &ast::TypeName, path: &[Designator], span: Span) -> Expr {
        let mut ty = self.type_name(name).ty;
        let mut offset = 0u64;
        for step in path {
            match (step, self.kind(ty).clone()) {
                (_, TyKind::Error) => return self.error_expr(span),
                (Designator::Field(ident), TyKind::Record(id)) if self.types.record(id).complete => {
                    match self.find_field(id, &ident.name) {
                        Some(found) => {
                            self.record_member(id, &ident.name, ident.span);
                            offset += u64::from(found.offset);
                            ty = found.ty.ty;
                        }
                        None => {
                            let shown = self.show(ty);
                            self.err(ident.span, format!("no member named '{}' in '{shown}'", ident.name));
                            return self.error_expr(span);
                        }
                    }
                }
                (Designator::Index(index), TyKind::Array { element, .. }) => {
                    let value = self.rvalue_expr(index);
                    let Some(value) = self.integer_constant(&value).and_then(|v| u64::try_from(v).ok()) else {
                        self.err(index.span, "expression is not an integer constant expression");
                        return self.error_expr(span);
                    };
                    offset = offset.saturating_add(value.saturating_mul(self.size_of(element.ty).unwrap_or(1)));
                    ty = element.ty;
                }
                (Designator::Field(_), _) => {
                    let shown = self.show(ty);
                    self.err(span, format!("offsetof requires struct, union, or class type, '{shown}' invalid"));
                    return self.error_expr(span);
                }
                (Designator::Index(_) | Designator::Range(..), _) => {
                    let shown = self.show(ty);
                    self.err(span, format!("offsetof requires array type, '{shown}' invalid"));
                    return self.error_expr(span);
                }
            }
        }
        let kind = self.size_kind();
        self.int_const(offset.cast_signed(), kind, span)
    }
}
