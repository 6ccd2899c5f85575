//! Writes the syntax tree as text, for `wgclc --emit ast`.
//!
//! Each declaration and statement is on one line with its types and expressions, indented by its nesting. Expressions
//! are fully parenthesised in prefix form: `(+ a (* b c))`.

use std::fmt::Write;

use super::{
    Access, AddrSpace, Attribute, AttributeArg, Compound, DeclSpecs, Declaration, Declarator, DeclaratorPart, Designator, EnumSpec, Expr,
    ExprKind, FloatSuffix, FunctionDef, InitList, Initializer, Item, ParamDecl, Pragma, PragmaKind, Qualifiers, RecordSpec, ScalarKind,
    StaticAssert, Stmt, StmtKind, StorageClass, TranslationUnit, TypeName, TypeSpec, UnaryOp,
};

/// Maximum depth of dumped statements and expressions. Deeper ones are written as `...`.
const MAX_DEPTH: usize = 1000;

pub(crate) fn dump(unit: &TranslationUnit) -> String {
    let mut dump = Dump { out: String::new(), indent: 0, depth: 0 };
    for item in &unit.items {
        match item {
            Item::Function(function) => dump.function(function),
            Item::Declaration(declaration) => dump.declaration(declaration),
            Item::Pragma(pragma) => dump.pragma(pragma),
            Item::StaticAssert(assertion) => dump.static_assert(assertion),
        }
    }
    dump.out
}

struct Dump {
    out: String,
    indent: usize,
    depth: usize,
}

impl Dump {
    fn start(&mut self) {
        for _ in 0..self.indent {
            self.out.push_str("  ");
        }
    }

    fn line(&mut self, text: &str) {
        self.start();
        self.out.push_str(text);
        self.out.push('\n');
    }

    fn put(&mut self, text: &str) {
        self.out.push_str(text);
    }

    fn nested(&mut self, body: impl FnOnce(&mut Self)) {
        self.indent += 1;
        body(self);
        self.indent -= 1;
    }

    // ----- declarations -----

    fn function(&mut self, function: &FunctionDef) {
        self.start();
        self.put("function ");
        self.declarator(&function.specs, &function.declarator);
        self.put("\n");
        self.nested(|dump| dump.compound(&function.body));
    }

    fn declaration(&mut self, declaration: &Declaration) {
        if declaration.declarators.is_empty() {
            self.start();
            self.put("declare ");
            self.specs(&declaration.specs);
            self.put("\n");
        }
        for item in &declaration.declarators {
            self.start();
            let typedef = matches!(declaration.specs.storage, Some((StorageClass::Typedef, _)));
            self.put(if typedef { "typedef " } else { "declare " });
            self.declarator(&declaration.specs, &item.declarator);
            if let Some(init) = &item.init {
                self.put(" = ");
                self.initializer(init);
            }
            self.put("\n");
        }
    }

    fn declarator(&mut self, specs: &DeclSpecs, declarator: &Declarator) {
        if let Some(name) = &declarator.name {
            let _ = write!(self.out, "{}: ", name.name);
        }
        for part in &declarator.parts {
            self.part(part);
        }
        self.specs(specs);
        self.attributes(&declarator.attributes);
    }

    fn part(&mut self, part: &DeclaratorPart) {
        match part {
            DeclaratorPart::Pointer { quals, .. } => {
                self.quals(*quals);
                self.put("pointer to ");
            }
            DeclaratorPart::Array { size, quals, .. } => {
                self.quals(*quals);
                self.put("array");
                if let Some(size) = size {
                    self.put(" of ");
                    self.expr(size);
                }
                self.put(" of ");
            }
            DeclaratorPart::Function { params, variadic, .. } => {
                self.put("function (");
                self.params(params);
                self.put(if *variadic { ", ...) returning " } else { ") returning " });
            }
            DeclaratorPart::Block { .. } => self.put("block of "),
        }
    }

    fn params(&mut self, params: &[ParamDecl]) {
        for (index, param) in params.iter().enumerate() {
            if index > 0 {
                self.put(", ");
            }
            self.declarator(&param.specs, &param.declarator);
        }
    }

    fn quals(&mut self, quals: Qualifiers) {
        for (set, word) in [(quals.is_const, "const "), (quals.is_volatile, "volatile "), (quals.is_restrict, "restrict ")] {
            if set {
                self.put(word);
            }
        }
        if let Some((space, _)) = quals.space {
            self.put(match space {
                AddrSpace::Global => "global ",
                AddrSpace::Local => "local ",
                AddrSpace::Constant => "constant ",
                AddrSpace::Private => "private ",
                AddrSpace::Generic => "generic ",
            });
        }
    }

    fn specs(&mut self, specs: &DeclSpecs) {
        match specs.storage {
            Some((StorageClass::Extern, _)) => self.put("extern "),
            Some((StorageClass::Static, _)) => self.put("static "),
            Some((StorageClass::Auto, _)) => self.put("auto "),
            Some((StorageClass::Register, _)) => self.put("register "),
            Some((StorageClass::Typedef, _)) | None => {}
        }
        if specs.is_inline {
            self.put("inline ");
        }
        if specs.is_kernel {
            self.put("kernel ");
        }
        self.quals(specs.quals);
        match specs.access {
            Some((Access::ReadOnly, _)) => self.put("read_only "),
            Some((Access::WriteOnly, _)) => self.put("write_only "),
            Some((Access::ReadWrite, _)) => self.put("read_write "),
            None => {}
        }
        if specs.pipe.is_some() {
            self.put("pipe ");
        }
        self.type_spec(&specs.ty);
        self.attributes(&specs.attributes);
    }

    fn attributes(&mut self, attributes: &[Attribute]) {
        for attribute in attributes {
            let _ = write!(self.out, " [[{}", attribute.name.name);
            for (index, arg) in attribute.args.iter().enumerate() {
                self.put(if index == 0 { "(" } else { ", " });
                match arg {
                    AttributeArg::Expr(expr) => self.expr(expr),
                    AttributeArg::Type(ty) => self.type_name(ty),
                }
            }
            self.put(if attribute.args.is_empty() { "]]" } else { ")]]" });
        }
    }

    fn type_spec(&mut self, ty: &TypeSpec) {
        match ty {
            TypeSpec::Missing => self.put("<missing>"),
            TypeSpec::Void => self.put("void"),
            TypeSpec::Scalar(scalar) => self.put(scalar_name(*scalar)),
            TypeSpec::Vector(scalar, lanes) => {
                let _ = write!(self.out, "{}{lanes}", scalar_name(*scalar));
            }
            TypeSpec::SizeT => self.put("size_t"),
            TypeSpec::PtrdiffT => self.put("ptrdiff_t"),
            TypeSpec::IntptrT => self.put("intptr_t"),
            TypeSpec::UintptrT => self.put("uintptr_t"),
            TypeSpec::Image(kind) => {
                let _ = write!(self.out, "{kind:?}");
            }
            TypeSpec::Sampler => self.put("sampler_t"),
            TypeSpec::Event => self.put("event_t"),
            TypeSpec::Queue => self.put("queue_t"),
            TypeSpec::ClkEvent => self.put("clk_event_t"),
            TypeSpec::NdRange => self.put("ndrange_t"),
            TypeSpec::ReserveId => self.put("reserve_id_t"),
            TypeSpec::Typedef(name) => self.put(name),
            TypeSpec::Record(record) => self.record(record),
            TypeSpec::Enum(spec) => self.enumeration(spec),
            TypeSpec::TypeofExpr(expr) => {
                self.put("typeof ");
                self.expr(expr);
            }
            TypeSpec::TypeofType(ty) => {
                self.put("typeof(");
                self.type_name(ty);
                self.put(")");
            }
        }
    }

    fn record(&mut self, record: &RecordSpec) {
        self.put(if record.is_union { "union" } else { "struct" });
        if let Some(tag) = &record.tag {
            let _ = write!(self.out, " {}", tag.name);
        }
        if let Some(fields) = &record.fields {
            self.put(" { ");
            for field in fields {
                if field.declarators.is_empty() {
                    self.specs(&field.specs);
                    self.put("; ");
                }
                for (declarator, width) in &field.declarators {
                    self.declarator(&field.specs, declarator);
                    if let Some(width) = width {
                        self.put(" : ");
                        self.expr(width);
                    }
                    self.put("; ");
                }
            }
            for assertion in &record.asserts {
                self.static_assert(assertion);
            }
            self.put("}");
        }
        self.attributes(&record.attributes);
    }

    fn enumeration(&mut self, spec: &EnumSpec) {
        self.put("enum");
        if let Some(tag) = &spec.tag {
            let _ = write!(self.out, " {}", tag.name);
        }
        if let Some(enumerators) = &spec.enumerators {
            self.put(" { ");
            for (name, value) in enumerators {
                self.put(&name.name);
                if let Some(value) = value {
                    self.put(" = ");
                    self.expr(value);
                }
                self.put("; ");
            }
            self.put("}");
        }
        self.attributes(&spec.attributes);
    }

    fn type_name(&mut self, ty: &TypeName) {
        self.declarator(&ty.specs, &ty.declarator);
    }

    fn initializer(&mut self, init: &Initializer) {
        match init {
            Initializer::Expr(expr) => self.expr(expr),
            Initializer::List(list) => self.init_list(list),
        }
    }

    fn init_list(&mut self, list: &InitList) {
        self.put("{");
        for (index, (designators, value)) in list.items.iter().enumerate() {
            self.put(if index == 0 { " " } else { ", " });
            if !designators.is_empty() {
                self.designators(designators);
                self.put(" = ");
            }
            self.initializer(value);
        }
        self.put(" }");
    }

    fn designators(&mut self, designators: &[Designator]) {
        for designator in designators {
            match designator {
                Designator::Index(index) => {
                    self.put("[");
                    self.expr(index);
                    self.put("]");
                }
                Designator::Range(first, last) => {
                    self.put("[");
                    self.expr(first);
                    self.put(" ... ");
                    self.expr(last);
                    self.put("]");
                }
                Designator::Field(field) => {
                    let _ = write!(self.out, ".{}", field.name);
                }
            }
        }
    }

    fn pragma(&mut self, pragma: &Pragma) {
        let text = match &pragma.kind {
            PragmaKind::Extension { name, enable } => format!("pragma extension {name} {}", if *enable { "enable" } else { "disable" }),
            PragmaKind::FpContract(on) => format!("pragma fp_contract {}", if *on { "on" } else { "off" }),
            PragmaKind::Unroll(Some(count)) => format!("pragma unroll {count}"),
            PragmaKind::Unroll(None) => "pragma unroll".to_owned(),
            PragmaKind::Pack(_) => "pragma pack".to_owned(),
        };
        self.line(&text);
    }

    fn static_assert(&mut self, assertion: &StaticAssert) {
        self.start();
        self.put("static_assert ");
        self.expr(&assertion.cond);
        if let Some(message) = &assertion.message {
            let _ = write!(self.out, " {:?}", String::from_utf8_lossy(message));
        }
        self.put("\n");
    }

    // ----- statements -----

    fn compound(&mut self, compound: &Compound) {
        for statement in &compound.items {
            self.statement(statement);
        }
    }

    fn headed(&mut self, head: &str, expr: &Expr) {
        self.start();
        self.put(head);
        self.put(" ");
        self.expr(expr);
        self.put("\n");
    }

    fn statement(&mut self, statement: &Stmt) {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            self.line("...");
        } else {
            self.statement_kind(&statement.kind);
        }
        self.depth -= 1;
    }

    fn statement_kind(&mut self, kind: &StmtKind) {
        match kind {
            StmtKind::Empty => self.line("empty"),
            StmtKind::Expr(expr) => {
                self.start();
                self.expr(expr);
                self.put("\n");
            }
            StmtKind::Declaration(declaration) => self.declaration(declaration),
            StmtKind::Compound(compound) => {
                self.line("block");
                self.nested(|dump| dump.compound(compound));
            }
            StmtKind::If { cond, then, els } => {
                self.headed("if", cond);
                self.nested(|dump| dump.statement(then));
                if let Some(els) = els {
                    self.line("else");
                    self.nested(|dump| dump.statement(els));
                }
            }
            StmtKind::While { cond, body } => {
                self.headed("while", cond);
                self.nested(|dump| dump.statement(body));
            }
            StmtKind::DoWhile { body, cond } => {
                self.line("do");
                self.nested(|dump| dump.statement(body));
                self.headed("while", cond);
            }
            StmtKind::For { init, cond, step, body } => self.for_statement(init, cond.as_ref(), step.as_ref(), body),
            StmtKind::Switch { cond, body } => {
                self.headed("switch", cond);
                self.nested(|dump| dump.statement(body));
            }
            StmtKind::Case { value, end, body } => {
                self.start();
                self.put("case ");
                self.expr(value);
                if let Some(end) = end {
                    self.put(" ... ");
                    self.expr(end);
                }
                self.put("\n");
                self.statement(body);
            }
            StmtKind::Default { body } => {
                self.line("default");
                self.statement(body);
            }
            StmtKind::Label { name, body } => {
                self.line(&format!("label {}", name.name));
                self.statement(body);
            }
            StmtKind::Goto(name) => self.line(&format!("goto {}", name.name)),
            StmtKind::Break => self.line("break"),
            StmtKind::Continue => self.line("continue"),
            StmtKind::Return(Some(value)) => self.headed("return", value),
            StmtKind::Return(None) => self.line("return"),
            StmtKind::Pragma(pragma) => self.pragma(pragma),
            StmtKind::StaticAssert(assertion) => self.static_assert(assertion),
            StmtKind::Attributed { attributes, body } => {
                self.start();
                self.put("with");
                self.attributes(attributes);
                self.put("\n");
                self.nested(|dump| dump.statement(body));
            }
        }
    }

    fn for_statement(&mut self, init: &Stmt, cond: Option<&Expr>, step: Option<&Expr>, body: &Stmt) {
        self.line("for");
        self.nested(|dump| {
            dump.statement(init);
            for (head, expr) in [("while", cond), ("step", step)] {
                if let Some(expr) = expr {
                    dump.headed(head, expr);
                }
            }
            dump.statement(body);
        });
    }

    // ----- expressions -----

    fn expr(&mut self, expr: &Expr) {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            self.put("...");
        } else {
            self.expr_kind(&expr.kind);
        }
        self.depth -= 1;
    }

    fn operation(&mut self, head: &str, operands: &[&Expr]) {
        self.put("(");
        self.put(head);
        for operand in operands {
            self.put(" ");
            self.expr(operand);
        }
        self.put(")");
    }

    fn typed(&mut self, head: &str, ty: &TypeName, operand: Option<&Expr>) {
        self.put("(");
        self.put(head);
        self.put(" <");
        self.type_name(ty);
        self.put(">");
        if let Some(operand) = operand {
            self.put(" ");
            self.expr(operand);
        }
        self.put(")");
    }

    fn expr_kind(&mut self, kind: &ExprKind) {
        match kind {
            ExprKind::Error => self.put("<error>"),
            ExprKind::Ident(name) => self.put(name),
            ExprKind::Int { value, suffix, .. } => {
                let _ = write!(
                    self.out,
                    "{}{}{}",
                    super::int_value(*value),
                    if suffix.unsigned { "u" } else { "" },
                    if suffix.long { "l" } else { "" }
                );
            }
            ExprKind::Float { suffix, text, .. } => {
                self.put(text);
                self.put(match suffix {
                    FloatSuffix::None => "",
                    FloatSuffix::Float => "f",
                    FloatSuffix::Half => "h",
                });
            }
            ExprKind::Char(value) => {
                let _ = write!(self.out, "'{value}'");
            }
            ExprKind::Str(bytes) => {
                let _ = write!(self.out, "{:?}", String::from_utf8_lossy(bytes));
            }
            ExprKind::Paren(inner) => self.expr(inner),
            ExprKind::Unary(operator, operand) => self.operation(unary_name(*operator), &[operand]),
            ExprKind::Binary(operator, _, left, right) => self.operation(operator.symbol(), &[left, right]),
            ExprKind::Assign(None, _, left, right) => self.operation("=", &[left, right]),
            ExprKind::Assign(Some(operator), _, left, right) => self.operation(&format!("{}=", operator.symbol()), &[left, right]),
            ExprKind::Cond { cond, then: Some(then), els } => self.operation("?", &[cond, then, els]),
            ExprKind::Cond { cond, then: None, els } => self.operation("?:", &[cond, els]),
            ExprKind::Comma(left, right) => self.operation(",", &[left, right]),
            ExprKind::Cast(ty, operand) => self.typed("cast", ty, Some(operand)),
            ExprKind::VectorLit(ty, items) => {
                self.put("(vector <");
                self.type_name(ty);
                self.put(">");
                for item in items {
                    self.put(" ");
                    self.expr(item);
                }
                self.put(")");
            }
            ExprKind::CompoundLit(ty, list) => {
                self.put("(literal <");
                self.type_name(ty);
                self.put("> ");
                self.init_list(list);
                self.put(")");
            }
            ExprKind::SizeofExpr(operand) => self.operation("sizeof", &[operand]),
            ExprKind::SizeofType(ty) => self.typed("sizeof", ty, None),
            ExprKind::AlignofType(ty) => self.typed("alignof", ty, None),
            ExprKind::AlignofExpr(operand) => self.operation("alignof", &[operand]),
            ExprKind::VecStepExpr(operand) => self.operation("vec_step", &[operand]),
            ExprKind::VecStepType(ty) => self.typed("vec_step", ty, None),
            ExprKind::Offsetof(ty, path) => {
                self.put("(offsetof <");
                self.type_name(ty);
                self.put("> ");
                self.designators(path);
                self.put(")");
            }
            ExprKind::Index(base, index) => self.operation("[]", &[base, index]),
            ExprKind::Call(callee, args) => {
                self.put("(call ");
                self.expr(callee);
                for arg in args {
                    self.put(" ");
                    self.expr(arg);
                }
                self.put(")");
            }
            ExprKind::Member { base, arrow, field } => {
                self.put(if *arrow { "(-> " } else { "(. " });
                self.expr(base);
                let _ = write!(self.out, " {})", field.name);
            }
            ExprKind::Generic { control, choices } => {
                self.put("(generic ");
                self.expr(control);
                for (ty, value) in choices {
                    match ty {
                        Some(ty) => {
                            self.put(" <");
                            self.type_name(ty);
                            self.put("> ");
                        }
                        None => self.put(" default "),
                    }
                    self.expr(value);
                }
                self.put(")");
            }
            ExprKind::AsType(value, ty) => self.typed("as", ty, Some(value)),
            ExprKind::Block(literal) => {
                self.put("(^");
                for part in &literal.declarator.parts {
                    self.part(part);
                }
                if let Some(specs) = &literal.specs {
                    self.specs(specs);
                }
                self.put("\n");
                self.nested(|dump| dump.nested(|dump| dump.compound(&literal.body)));
                self.start();
                self.put(")");
            }
            ExprKind::StmtExpr(block) => {
                self.put("(block\n");
                self.nested(|dump| dump.nested(|dump| dump.compound(block)));
                self.start();
                self.put(")");
            }
        }
    }
}

const fn scalar_name(scalar: ScalarKind) -> &'static str {
    match scalar {
        ScalarKind::Bool => "bool",
        ScalarKind::Char => "char",
        ScalarKind::UChar => "uchar",
        ScalarKind::Short => "short",
        ScalarKind::UShort => "ushort",
        ScalarKind::Int => "int",
        ScalarKind::UInt => "uint",
        ScalarKind::Long => "long",
        ScalarKind::ULong => "ulong",
        ScalarKind::Half => "half",
        ScalarKind::Float => "float",
        ScalarKind::Double => "double",
    }
}

const fn unary_name(operator: UnaryOp) -> &'static str {
    match operator {
        UnaryOp::Plus => "+",
        UnaryOp::Minus => "-",
        UnaryOp::Not => "!",
        UnaryOp::BitNot => "~",
        UnaryOp::Deref => "*",
        UnaryOp::AddrOf => "&",
        UnaryOp::PreInc => "++_",
        UnaryOp::PreDec => "--_",
        UnaryOp::PostInc => "_++",
        UnaryOp::PostDec => "_--",
    }
}
