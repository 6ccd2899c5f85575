//! Statements (C99 6.8; `opencl_unroll_hint`: OpenCL C 6.13).

use rustc_hash::FxHashMap;

use super::convert::promoted;
use super::{Label, MAX_DEPTH, Sema, Switch, UnrollHint, is_float};
use crate::ast::{self, Attribute, Ident, ScalarKind};
use crate::diag::{Span, WarningGroup};
use crate::thir::{Expr, ExprKind, LabelId, Stmt, StmtKind, TyKind};

/// Returns the labels and the expression if the statement is an expression statement, possibly with labels.
fn labelled_expression(mut stmt: &ast::Stmt) -> Option<(Vec<&Ident>, &ast::Expr)> {
    let mut labels = Vec::new();
    loop {
        match &stmt.kind {
            ast::StmtKind::Expr(value) => return Some((labels, value)),
            ast::StmtKind::Label { name, body } => {
                labels.push(name);
                stmt = body;
            }
            _ => return None,
        }
    }
}

impl Sema<'_> {
    /// Checks a statement. Returns one statement for most kinds. Labels and declarations may return several or none.
    pub(super) fn statement(&mut self, stmt: &ast::Stmt) -> Vec<Stmt> {
        if self.diags.has_too_many_errors() {
            return Vec::new();
        }
        if self.depth >= MAX_DEPTH {
            self.err(stmt.span, format!("statements are nested too deeply (the limit is {MAX_DEPTH})"));
            return Vec::new();
        }
        self.check_unroll_hint(Some(&stmt.kind));
        self.depth += 1;
        let statements = self.statement_inner(stmt);
        self.depth -= 1;
        statements
    }

    fn stmt(&self, kind: StmtKind, span: Span) -> Vec<Stmt> {
        vec![Stmt { kind, span: self.span(span) }]
    }

    /// Checks the body of a loop or `switch`, or a branch of an `if`, in a new scope. Returns exactly one statement.
    fn single(&mut self, stmt: &ast::Stmt) -> Box<Stmt> {
        self.push_scope();
        let mut statements = self.statement(stmt);
        self.pop_scope(stmt.span);
        let span = self.span(stmt.span);
        if statements.len() == 1
            && let Some(only) = statements.pop()
        {
            return Box::new(only);
        }
        let kind = if statements.is_empty() { StmtKind::Empty } else { StmtKind::Block(statements) };
        Box::new(Stmt { kind, span })
    }

    fn statement_inner(&mut self, stmt: &ast::Stmt) -> Vec<Stmt> {
        let span = stmt.span;
        match &stmt.kind {
            ast::StmtKind::Empty => self.stmt(StmtKind::Empty, span),
            ast::StmtKind::Expr(expr) => {
                let value = self.expression_statement(expr);
                self.stmt(StmtKind::Expr(value), span)
            }
            ast::StmtKind::Declaration(declaration) => self.declaration(declaration),
            ast::StmtKind::Compound(body) => {
                let statements = self.block(body);
                self.stmt(StmtKind::Block(statements), span)
            }
            ast::StmtKind::If { .. } => vec![self.if_chain(stmt)],
            ast::StmtKind::While { cond, body } => {
                let unroll = self.take_unroll();
                let cond = self.condition(cond);
                let body = self.loop_body(body);
                self.stmt(StmtKind::While { cond, body, unroll }, span)
            }
            ast::StmtKind::DoWhile { body, cond } => {
                let unroll = self.take_unroll();
                let body = self.loop_body(body);
                let cond = self.condition(cond);
                self.stmt(StmtKind::DoWhile { body, cond, unroll }, span)
            }
            ast::StmtKind::For { init, cond, step, body } => {
                let unroll = self.take_unroll();
                self.push_scope();
                let mut statements = self.statement(init);
                statements.retain(|s| !matches!(s.kind, StmtKind::Empty));
                let cond = cond.as_ref().map(|cond| self.condition(cond));
                let step = step.as_ref().map(|step| self.expression_statement(step));
                let body = self.loop_body(body);
                self.pop_scope(span);
                let mut whole = self.stmt(StmtKind::For { cond, step, body, unroll }, span);
                if statements.is_empty() {
                    return whole;
                }
                statements.append(&mut whole);
                self.stmt(StmtKind::Block(statements), span)
            }
            ast::StmtKind::Switch { cond, body } => self.switch(cond, body, span),
            ast::StmtKind::Case { .. } | ast::StmtKind::Default { .. } | ast::StmtKind::Label { .. } => self.labelled(stmt),
            ast::StmtKind::Goto(name) => {
                let label = self.label(name);
                self.record_label(name, false);
                if let Some(f) = &mut self.f {
                    f.expression_jumps |= f.outside_counts.is_some();
                    f.gotos.push((label, f.statement_expressions.clone(), name.span));
                }
                if let Some(label) = self.f.as_mut().and_then(|f| f.labels.get_mut(label.index())) {
                    label.used.get_or_insert(name.span);
                }
                self.stmt(StmtKind::Goto(label), span)
            }
            ast::StmtKind::Break => {
                if self.f.as_ref().is_some_and(|f| f.breakable == 0) {
                    self.err(span, "'break' statement not in loop or switch statement");
                }
                if let Some(f) = &mut self.f {
                    f.expression_jumps |= f.outside_counts.is_some_and(|(_, breakable)| breakable == f.breakable);
                }
                self.stmt(StmtKind::Break, span)
            }
            ast::StmtKind::Continue => {
                if self.f.as_ref().is_some_and(|f| f.loops == 0) {
                    self.err(span, "'continue' statement not in loop statement");
                }
                if let Some(f) = &mut self.f {
                    f.expression_jumps |= f.outside_counts.is_some_and(|(loops, _)| loops == f.loops);
                }
                self.stmt(StmtKind::Continue, span)
            }
            ast::StmtKind::Return(value) => {
                let value = self.return_value(value.as_ref(), span);
                self.stmt(StmtKind::Return(value), span)
            }
            ast::StmtKind::Pragma(pragma) => {
                self.pragma(pragma);
                Vec::new()
            }
            ast::StmtKind::StaticAssert(assertion) => {
                self.static_assert(assertion);
                Vec::new()
            }
            ast::StmtKind::Attributed { attributes, body } => {
                self.statement_attributes(attributes);
                self.statement(body)
            }
        }
    }

    /// Checks an `if` with all its `else if` branches, without recursion, because there may be thousands.
    fn if_chain(&mut self, stmt: &ast::Stmt) -> Stmt {
        let mut links = Vec::new();
        let mut els = None;
        let mut next = Some(stmt);
        while let Some(stmt) = next.take() {
            let ast::StmtKind::If { cond, then, els: rest } = &stmt.kind else {
                els = Some(self.single(stmt));
                break;
            };
            let cond = self.condition(cond);
            links.push((cond, self.single(then), self.span(stmt.span)));
            next = rest.as_deref();
        }
        let mut result = Stmt { kind: StmtKind::Empty, span: self.span(stmt.span) };
        while let Some((cond, then, span)) = links.pop() {
            result = Stmt { kind: StmtKind::If { cond, then, els: els.take() }, span };
            if !links.is_empty() {
                els = Some(Box::new(std::mem::replace(&mut result, Stmt { kind: StmtKind::Empty, span })));
            }
        }
        result
    }

    /// Checks a statement with labels, without recursion, because there may be thousands of labels.
    fn labelled(&mut self, mut stmt: &ast::Stmt) -> Vec<Stmt> {
        let mut statements = Vec::new();
        loop {
            stmt = match &stmt.kind {
                ast::StmtKind::Case { value, end, body } => {
                    statements.append(&mut self.case(value, end.as_ref(), stmt.span));
                    body
                }
                ast::StmtKind::Default { body } => {
                    statements.append(&mut self.default_label(stmt.span));
                    body
                }
                ast::StmtKind::Label { name, body } => {
                    let label = self.define_label(name);
                    statements.append(&mut self.stmt(StmtKind::Label(label), name.span));
                    body
                }
                _ => {
                    statements.append(&mut self.statement(stmt));
                    return statements;
                }
            };
        }
    }

    /// Checks the statements of a block or function body.
    pub(super) fn statements(&mut self, items: &[ast::Stmt]) -> Vec<Stmt> {
        let mut statements = Vec::with_capacity(items.len());
        for (index, stmt) in items.iter().enumerate() {
            self.warn_of_empty_body(stmt, items.get(index + 1));
            statements.append(&mut self.statement(stmt));
        }
        statements
    }

    pub(super) fn block(&mut self, body: &ast::Compound) -> Vec<Stmt> {
        self.push_scope();
        let contract = self.is_contract_on();
        let statements = self.statements(&body.items);
        self.check_unroll_hint(None);
        // FP_CONTRACT in a compound statement applies until its end.
        if let Some(f) = &mut self.f {
            f.contract = contract;
        }
        self.pop_scope(body.span);
        statements
    }

    fn expression_statement(&mut self, expr: &ast::Expr) -> Expr {
        let value = self.discarded(expr);
        let unused = match &value.kind {
            ExprKind::Binary { op: crate::thir::BinaryOp::Eq | crate::thir::BinaryOp::Ne, .. } => {
                Some((WarningGroup::UnusedComparison, "comparison result unused"))
            }
            ExprKind::Load(lvalue) if lvalue.ty.is_volatile => None,
            ExprKind::Binary { .. } | ExprKind::Load(_) | ExprKind::Constant(_) => {
                Some((WarningGroup::UnusedValue, "expression result unused"))
            }
            _ => None,
        };
        if let Some((group, text)) = unused
            && !self.is_error(value.ty)
        {
            self.warn(group, expr.span, text);
        }
        value
    }

    /// Checks a controlling expression. Reports an error if it is not scalar.
    fn condition(&mut self, expr: &ast::Expr) -> Expr {
        self.warn_of_assigned_condition(expr);
        let value = self.rvalue_expr(expr);
        if self.is_error(value.ty) || self.scalar_kind(value.ty).is_some() || self.is_pointer(value.ty) {
            return value;
        }
        let shown = self.show(value.ty);
        let hint = if matches!(self.kind(value.ty), TyKind::Vector(..)) { "; use any() or all()" } else { "" };
        self.err(expr.span, format!("statement requires expression of scalar type ('{shown}' invalid){hint}"));
        self.error_expr(expr.span)
    }

    fn loop_body(&mut self, body: &ast::Stmt) -> Box<Stmt> {
        if let Some(f) = &mut self.f {
            f.loops += 1;
            f.breakable += 1;
        }
        let body = self.single(body);
        if let Some(f) = &mut self.f {
            f.loops -= 1;
            f.breakable -= 1;
        }
        body
    }

    fn take_unroll(&mut self) -> Option<u32> {
        self.f.as_mut().and_then(|f| f.unroll.take()).and_then(|hint| hint.count)
    }

    /// Reports an unroll hint if the next statement is not a loop, as clang does. `next` is `None` at the end of a
    /// block.
    fn check_unroll_hint(&mut self, next: Option<&ast::StmtKind>) {
        use ast::StmtKind::{Attributed, Declaration, DoWhile, For, Label, Pragma, While};
        if let Some(While { .. } | DoWhile { .. } | For { .. } | Pragma(_) | Attributed { .. }) = next {
            return;
        }
        let Some(hint) = self.f.as_mut().and_then(|f| f.unroll.take()) else { return };
        let message = match next {
            None => "expected statement",
            Some(_) if hint.is_pragma => "expected a for, while, or do-while loop to follow '#pragma unroll'",
            Some(Label { .. } | Declaration(_)) => "'opencl_unroll_hint' attribute cannot be applied to a declaration",
            Some(_) => "'opencl_unroll_hint' attribute only applies to 'for', 'while', and 'do' statements",
        };
        self.err(hint.span, message);
    }

    /// Records an unroll pragma for the next statement. Reports an error if there already is one, as clang does.
    pub(super) fn unroll_pragma(&mut self, count: Option<u32>, span: Span) {
        let text = |count: Option<u32>| count.map_or("#pragma unroll".to_owned(), |count| format!("#pragma unroll({count})"));
        let hint = UnrollHint { count, span, is_pragma: true };
        let before = self.f.as_mut().and_then(|f| f.unroll.replace(hint)).filter(|before| before.is_pragma);
        if let Some(before) = before {
            let kind = if before.count.is_some() == count.is_some() { "duplicate" } else { "incompatible" };
            self.err(span, format!("{kind} directives '{}' and '{}'", text(before.count), text(count)));
        }
    }

    fn statement_attributes(&mut self, attributes: &[Attribute]) {
        self.check_attributes(attributes);
        for attribute in attributes {
            if &*attribute.name.name == "opencl_unroll_hint" {
                let count = match attribute.args.first() {
                    None => Some(0),
                    Some(ast::AttributeArg::Expr(expr)) => {
                        let value = self.rvalue_expr(expr);
                        let count = self.integer_constant(&value).and_then(|v| u32::try_from(v).ok());
                        if count.is_none() && !self.is_error(value.ty) {
                            self.err(
                                expr.span,
                                "'opencl_unroll_hint' attribute requires a positive integral compile time constant expression",
                            );
                        }
                        count
                    }
                    Some(ast::AttributeArg::Type(_)) => {
                        self.err(attribute.span, "'opencl_unroll_hint' attribute requires an integer constant");
                        None
                    }
                };
                if let Some(f) = &mut self.f {
                    f.unroll = Some(UnrollHint { count, span: attribute.span, is_pragma: false });
                }
            }
        }
    }

    // switch

    fn switch(&mut self, cond: &ast::Expr, body: &ast::Stmt, span: Span) -> Vec<Stmt> {
        let value = self.rvalue_expr(cond);
        let kind = self.scalar_kind(value.ty).filter(|kind| !is_float(*kind));
        if kind.is_none() && !self.is_error(value.ty) {
            let shown = self.show(value.ty);
            self.err(cond.span, format!("statement requires expression of integer type ('{shown}' invalid)"));
        }
        let value = self.promote(value);
        if let Some(f) = &mut self.f {
            f.switches.push(Switch { ty: kind.map(promoted), cases: FxHashMap::default(), default: None });
            f.breakable += 1;
        }
        let body = self.single(body);
        if let Some(f) = &mut self.f {
            f.switches.pop();
            f.breakable -= 1;
        }
        self.stmt(StmtKind::Switch { cond: value, body }, span)
    }

    fn case(&mut self, value: &ast::Expr, end: Option<&ast::Expr>, span: Span) -> Vec<Stmt> {
        let Some(kind) = self.f.as_ref().and_then(|f| f.switches.last()).map(|s| s.ty) else {
            self.err(span, "'case' statement not in switch statement");
            self.rvalue_expr(value);
            return Vec::new();
        };
        let lo = self.case_value(value, kind);
        let hi = match end {
            Some(end) => self.case_value(end, kind),
            None => lo,
        };
        let (Some(lo), Some(hi), Some(kind)) = (lo, hi, kind) else { return Vec::new() };
        let show = |bits| super::consteval::int_value(kind, bits);
        if show(lo) > show(hi) {
            self.warn(None, span, "empty case range specified");
            return Vec::new();
        }
        let at = value.span;
        let mut duplicate = None;
        if let Some(switch) = self.f.as_mut().and_then(|f| f.switches.last_mut()) {
            if lo == hi {
                duplicate = switch.cases.insert(lo, at).map(|old| (lo, old));
            } else {
                // A range may be long. Only its two ends are checked for duplicates.
                for bits in [lo, hi] {
                    if let Some(old) = switch.cases.insert(bits, at) {
                        duplicate = Some((bits, old));
                    }
                }
            }
        }
        if let Some((bits, old)) = duplicate {
            self.err_note(at, format!("duplicate case value '{}'", show(bits)), old, "previous case defined here");
        }
        self.stmt(StmtKind::Case { lo, hi }, span)
    }

    fn case_value(&mut self, expr: &ast::Expr, kind: Option<ScalarKind>) -> Option<u64> {
        let value = self.rvalue_expr(expr);
        if self.is_error(value.ty) {
            return None;
        }
        let Some(value) = self.integer_constant(&value) else {
            self.err(expr.span, "expression is not an integer constant expression");
            return None;
        };
        Some(super::consteval::int_bits(kind?, i128::from(value)))
    }

    fn default_label(&mut self, span: Span) -> Vec<Stmt> {
        let Some(switch) = self.f.as_mut().and_then(|f| f.switches.last_mut()) else {
            self.err(span, "'default' statement not in switch statement");
            return Vec::new();
        };
        if let Some(old) = switch.default.replace(span) {
            self.err_note(span, "multiple default labels in one switch", old, "previous case defined here");
            return Vec::new();
        }
        self.stmt(StmtKind::Default, span)
    }

    // Labels.

    fn label(&mut self, name: &Ident) -> LabelId {
        let Some(f) = &mut self.f else { return LabelId(0) };
        if let Some(id) = f.label_ids.get(&name.name) {
            return *id;
        }
        let id = LabelId(crate::ir::number(f.labels.len()));
        f.labels.push(Label { name: name.name.clone(), defined: false, used: None, inside: Vec::new() });
        f.label_ids.insert(name.name.clone(), id);
        id
    }

    fn define_label(&mut self, name: &Ident) -> LabelId {
        let id = self.label(name);
        self.record_label(name, true);
        let again = self.f.as_mut().is_some_and(|f| {
            let Some(label) = f.labels.get_mut(id.index()) else { return false };
            label.inside.clone_from(&f.statement_expressions);
            std::mem::replace(&mut label.defined, true)
        });
        if again {
            self.err(name.span, format!("redefinition of label '{}'", name.name));
        }
        id
    }

    /// Checks a statement expression, `({ ... })`. Its value is that of the last statement, if this statement is an
    /// expression.
    pub(super) fn statement_expression(&mut self, body: &ast::Compound, span: Span) -> Expr {
        if self.f.is_none() {
            self.err(span, "statement expression not allowed at file scope");
            return self.error_expr(span);
        }
        let (labels, last, rest) = match body.items.split_last() {
            Some((stmt, rest)) => match labelled_expression(stmt) {
                Some((labels, last)) => (labels, Some(last), rest),
                None => (Vec::new(), None, body.items.as_slice()),
            },
            None => (Vec::new(), None, body.items.as_slice()),
        };
        self.push_scope();
        let mut outer = None;
        if let Some(f) = &mut self.f {
            outer = f.outside_counts.replace((f.loops, f.breakable));
            f.statement_expression_count += 1;
            f.statement_expressions.push(f.statement_expression_count);
        }
        let mut stmts = Vec::with_capacity(rest.len());
        for stmt in rest {
            stmts.append(&mut self.statement(stmt));
        }
        for name in labels {
            let label = self.define_label(name);
            stmts.append(&mut self.stmt(StmtKind::Label(label), name.span));
        }
        let value = last.map(|last| self.rvalue_expr(last));
        if let Some(f) = &mut self.f {
            f.outside_counts = outer;
            f.statement_expressions.pop();
        }
        self.pop_scope(body.span);
        let ty = match &value {
            Some(value) => value.ty,
            None => self.void_ty(),
        };
        if matches!(self.kind(ty), TyKind::Error) {
            return self.error_expr(span);
        }
        self.expr(ExprKind::StmtExpr { stmts, value: value.map(Box::new) }, ty, span)
    }

    pub(super) fn static_assert(&mut self, assertion: &ast::StaticAssert) {
        let value = self.rvalue_expr(&assertion.cond);
        if self.is_error(value.ty) {
            return;
        }
        match self.integer_constant(&value) {
            Some(0) => {
                let text = match &assertion.message {
                    Some(message) => format!("static assertion failed: {}", String::from_utf8_lossy(message)),
                    None => "static assertion failed".to_owned(),
                };
                self.err(assertion.cond.span, text);
            }
            Some(_) => {}
            None => self.err(assertion.cond.span, "static assertion expression is not an integral constant expression"),
        }
    }
}
