//! Built-in functions that enqueue kernels, and the functions of device-side events and NDRanges (OpenCL C 6.15.18).
//!
//! The library (`compiler/library/enqueue.cl`) implements these functions. This module adds what OpenCL C cannot
//! express: block arguments and variable argument counts. An enqueued block becomes a kernel ([`super::block_kernels`])
//! that reads its captures from memory, where the enqueuing kernel stores them.

use std::sync::Arc;

use super::block_kernels::CaptureSlot;
use super::blocks::BlockRef;
use super::convert::Purpose;
use super::scope::Symbol;
use super::{DeclTy, Operand, Sema};
use crate::ast::{self, Name, ScalarKind};
use crate::builtins::{ImageQuery, Intrinsic};
use crate::diag::Span;
use crate::enqueue::kernel_name;
use crate::ir::Space;
use crate::thir::{BinaryOp, CastKind, Expr, ExprKind, Field, Init, LocalId, QualTy, Record, Stmt, StmtKind, Ty, TyKind};

/// The number of the kernel that records the profiling times of a completed event.
const CAPTURE_TIMES: u64 = 1;

/// Functions without block and NDRange arguments, and the library function that implements each.
const LIBRARY_FUNCTIONS: &[(&str, &str)] = &[
    ("get_default_queue", "__wgcl_default_queue"),
    ("create_user_event", "__wgcl_create_user_event"),
    ("is_valid_event", "__wgcl_is_valid_event"),
    ("retain_event", "__wgcl_retain_event"),
    ("release_event", "__wgcl_release_event"),
    ("set_user_event_status", "__wgcl_set_user_event_status"),
];

/// Functions that query a block: the name, whether the first argument is an NDRange, and the library function.
const QUERIES: &[(&str, bool, &str)] = &[
    ("get_kernel_work_group_size", false, "__wgcl_group_items"),
    ("get_kernel_preferred_work_group_size_multiple", false, "__wgcl_subgroup_items"),
    ("get_kernel_max_sub_group_size_for_ndrange", true, "__wgcl_range_subgroup_size"),
    ("get_kernel_sub_group_count_for_ndrange", true, "__wgcl_range_subgroups"),
];

/// Whether `name` is a built-in function that this module checks.
pub(super) fn is_known(name: &str) -> bool {
    matches!(name, "enqueue_kernel" | "enqueue_marker" | "capture_event_profiling_info" | "ndrange_1D" | "ndrange_2D" | "ndrange_3D")
        || LIBRARY_FUNCTIONS.iter().any(|(known, _)| *known == name)
        || QUERIES.iter().any(|(known, ..)| *known == name)
}

/// The expressions for the events that a command waits for, and for the address of the event that it returns.
struct WaitList {
    count: Expr,
    list: Expr,
    returned: Expr,
}

impl Sema<'_> {
    /// Returns the type `ndrange_t`, a structure whose members only the library accesses. Creates it on first use.
    pub(super) fn ndrange_type(&mut self, span: Span) -> DeclTy {
        if !self.has_enqueue() {
            let why = self.enqueue_obstacle();
            self.err(span, format!("device-side enqueue is not supported: {why}"));
            return self.error_decl();
        }
        if let Some(ty) = self.ndrange {
            return DeclTy::of(ty);
        }
        let size = self.size_ty();
        let three = self.types.intern(TyKind::Array { element: QualTy::plain(size), len: Some(3) });
        let uint = self.scalar(ScalarKind::UInt);
        let bytes = self.types.pointer_size();
        let field = |name: &str, ty, offset| Field { name: Some(name.into()), ty: QualTy::plain(ty), offset };
        let fields = vec![
            field("__dimensions", uint, 0),
            // The padding is a member, because the library writes only members. Otherwise, copying a range would read
            // uninitialised padding, which the sanitizer reports.
            field("__padding", uint, 4),
            field("__offset", three, 8),
            field("__global_size", three, 8 + 3 * bytes),
            field("__local_size", three, 8 + 6 * bytes),
        ];
        let record = Record {
            name: None,
            is_union: false,
            fields,
            size: 8 + 9 * bytes,
            align: bytes,
            alias: Some("ndrange_t".into()),
            complete: true,
        };
        let id = self.types.add_record(record);
        let ty = self.types.intern(TyKind::Record(id));
        self.ndrange = Some(ty);
        DeclTy::of(ty)
    }

    /// Checks a call of a function for which [`is_known`] is true.
    pub(super) fn enqueue_call(&mut self, name: &Name, args: &[ast::Expr], name_span: Span, span: Span) -> Expr {
        let call = match &**name {
            "enqueue_kernel" => self.enqueue_kernel(args, name_span, span),
            "enqueue_marker" => self.enqueue_marker(args, name_span, span),
            "capture_event_profiling_info" => self.capture_times(args, name_span, span),
            "ndrange_1D" => self.ndrange(1, args, name_span, span),
            "ndrange_2D" => self.ndrange(2, args, name_span, span),
            "ndrange_3D" => self.ndrange(3, args, name_span, span),
            _ => match QUERIES.iter().find(|(known, ..)| *known == &**name) {
                Some(&(_, has_range, library_name)) => self.block_query(library_name, has_range, args, name_span, span),
                None => {
                    let library_name =
                        LIBRARY_FUNCTIONS.iter().find(|(known, _)| *known == &**name).map_or("", |(_, library_name)| *library_name);
                    let values: Vec<Expr> = args.iter().map(|arg| self.rvalue_expr(arg)).collect();
                    self.library_function_call(library_name, values, (args, name_span), span)
                }
            },
        };
        call.unwrap_or_else(|| self.error_expr(span))
    }

    /// Creates a call of the library function `library_name`. `args` are the arguments in the source, for errors.
    /// Returns `None` after an error.
    fn library_function_call(
        &mut self,
        library_name: &str,
        values: Vec<Expr>,
        (args, name_span): (&[ast::Expr], Span),
        span: Span,
    ) -> Option<Expr> {
        if values.iter().any(|value| self.is_error(value.ty)) {
            return None;
        }
        let Some(Symbol::Functions(list)) = self.library_symbol(&Name::from(library_name)) else {
            self.err(span, format!("in the built-in library, function '{library_name}' is missing"));
            return None;
        };
        let id = *list.first()?;
        let call = self.call_function(id, values, args, name_span, span);
        (!self.is_error(call.ty)).then_some(call)
    }

    /// Creates a call of the library function `library_name` with arguments that the compiler created.
    pub(super) fn call_library(&mut self, library_name: &str, values: Vec<Expr>, span: Span) -> Option<Expr> {
        self.library_function_call(library_name, values, (&[], span), span)
    }

    fn counted<'e>(&mut self, args: &'e [ast::Expr], least: usize, most: usize, span: Span) -> Option<&'e [ast::Expr]> {
        if (least..=most).contains(&args.len()) {
            return Some(args);
        }
        let (word, expected) = if args.len() < least { ("few", least) } else { ("many", most) };
        self.err(span, format!("too {word} arguments to function call, expected {expected}, have {}", args.len()));
        None
    }

    /// Converts a value to a parameter type.
    fn argument(&mut self, arg: &ast::Expr, ty: Ty) -> Option<Expr> {
        let value = self.rvalue_expr(arg);
        let value = self.assign_convert(value, ty, &Purpose::Pass);
        (!self.is_error(value.ty)).then_some(value)
    }

    /// Checks that an argument is a block that can be enqueued. Returns `None` after an error.
    fn block_argument(&mut self, arg: &ast::Expr) -> Option<Arc<BlockRef>> {
        let block = match self.operand(arg) {
            Operand::Block(block, _) => block,
            other => {
                let ty = self.operand_type(&other).ty;
                if !self.is_error(ty) {
                    let shown = self.show(ty);
                    self.err(arg.span, format!("expected block argument type, have '{shown}'"));
                }
                return None;
            }
        };
        let decl = self.decls[block.func.index()].clone();
        let of_local = |sema: &Self, ty| match *sema.kind(ty) {
            TyKind::Pointer { pointee, space: Space::Local, .. } => matches!(sema.kind(pointee.ty), TyKind::Void),
            _ => false,
        };
        if !matches!(self.kind(decl.ret), TyKind::Void) {
            self.err(arg.span, "enqueued block must return 'void'");
            return None;
        }
        if !decl.params.iter().all(|param| of_local(self, param.ty.ty)) {
            self.err(arg.span, "blocks used in enqueue_kernel call are expected to have parameters of type 'local void*'");
            return None;
        }
        Some(block)
    }

    /// Checks a call of `enqueue_kernel`, with or without an event wait list.
    fn enqueue_kernel(&mut self, args: &[ast::Expr], name_span: Span, span: Span) -> Option<Expr> {
        let [queue, flags, range, rest @ ..] = args else { return self.too_few(4, args, name_span) };
        let queue = self.queue_argument(queue)?;
        let int = self.int();
        let flags = self.argument(flags, int)?;
        let range_ty = self.ndrange_type(span).qt.ty;
        let range = self.argument(range, range_ty)?;
        let [fourth, ..] = rest else { return self.too_few(4, args, name_span) };
        let has_block = matches!(self.unevaluated_kind(fourth), Some(TyKind::Block { .. }));
        let (waits, block, sizes) = match rest {
            [block, sizes @ ..] if has_block => (self.no_waits(span), block, sizes),
            [count, list, returned, block, sizes @ ..] => (self.waits(count, list, returned)?, block, sizes),
            _ => return self.too_few(7, args, name_span),
        };
        let block_span = block.span;
        let block = self.block_argument(block)?;
        let wanted = self.decls[block.func.index()].params.len();
        if wanted != sizes.len() {
            self.err(block_span, "mismatch in number of block parameters and local size arguments passed");
            return None;
        }
        let uint = self.scalar(ScalarKind::UInt);
        let mut stmts = Vec::new();
        let mut locals = Vec::new();
        for size in sizes {
            let value = self.rvalue_expr(size);
            if !self.is_integer_scalar(value.ty) {
                if !self.is_error(value.ty) {
                    self.err(size.span, "illegal call to enqueue_kernel, parameter needs to be specified as integer type");
                }
                return None;
            }
            let value = self.cast(CastKind::Arith, value, uint);
            locals.push(self.hidden_local(&mut stmts, value, span)?);
        }
        let kernel = self.block_kernel(&block, block_span)?;
        self.enqueue_statements((stmts, locals), (&block, kernel), [queue, flags, range], waits, span)
    }

    /// Returns the type of a block variable, or a block type without parameters for any block literal. Returns `None`
    /// for all other expressions. Does not check the expression.
    fn unevaluated_kind(&mut self, expr: &ast::Expr) -> Option<TyKind> {
        match &expr.without_parentheses().kind {
            ast::ExprKind::Block(_) => {
                let ret = self.void_ty();
                Some(TyKind::Block { ret, params: Vec::new() })
            }
            ast::ExprKind::Ident(name) => match self.lookup(name) {
                Some(Symbol::Block(block)) => Some(self.kind(block.ty).clone()),
                _ => None,
            },
            _ => None,
        }
    }

    fn too_few(&mut self, expected: usize, args: &[ast::Expr], span: Span) -> Option<Expr> {
        self.err(span, format!("too few arguments to function call, expected at least {expected}, have {}", args.len()));
        None
    }

    fn queue_argument(&mut self, arg: &ast::Expr) -> Option<Expr> {
        let ty = self.types.intern(TyKind::Queue);
        let value = self.rvalue_expr(arg);
        if value.ty != ty {
            if !self.is_error(value.ty) {
                let shown = self.show(value.ty);
                self.err(arg.span, format!("expected 'queue_t' argument type, have '{shown}'"));
            }
            return None;
        }
        Some(value)
    }

    /// Returns the type of a generic pointer to device-side events.
    fn events_pointer(&mut self, is_const: bool) -> Ty {
        let event = self.types.intern(TyKind::ClkEvent);
        self.pointer(QualTy { is_const, ..QualTy::plain(event) }, Space::Generic)
    }

    fn null(&self, ty: Ty, span: Span) -> Expr {
        self.expr(ExprKind::Constant(crate::thir::Constant::Null), ty, span)
    }

    fn no_waits(&mut self, span: Span) -> WaitList {
        let (list, returned) = (self.events_pointer(true), self.events_pointer(false));
        WaitList { count: self.int_const(0, ScalarKind::UInt, span), list: self.null(list, span), returned: self.null(returned, span) }
    }

    fn waits(&mut self, count: &ast::Expr, list: &ast::Expr, returned: &ast::Expr) -> Option<WaitList> {
        let uint = self.scalar(ScalarKind::UInt);
        let (list_ty, returned_ty) = (self.events_pointer(true), self.events_pointer(false));
        Some(WaitList {
            count: self.argument(count, uint)?,
            list: self.argument(list, list_ty)?,
            returned: self.argument(returned, returned_ty)?,
        })
    }

    /// Declares an unnamed private variable with an initial value. Appends the declaration to `stmts`.
    pub(super) fn hidden_local(&mut self, stmts: &mut Vec<Stmt>, value: Expr, span: Span) -> Option<LocalId> {
        let local = self.new_local("", QualTy::plain(value.ty), span)?;
        stmts.push(Stmt { kind: StmtKind::Local { local, init: Some(Init::Expr(value)) }, span: self.span(span) });
        Some(local)
    }

    /// Creates the expression that enqueues the record of a block. If the enqueue succeeds at run time, the expression
    /// stores the captures and the kernel arguments to the record. `locals` are the sizes of the local memory
    /// arguments.
    fn enqueue_statements(
        &mut self,
        (mut stmts, locals): (Vec<Stmt>, Vec<LocalId>),
        (block, kernel): (&BlockRef, u64),
        [queue, flags, range]: [Expr; 3],
        waits: WaitList,
        span: Span,
    ) -> Option<Expr> {
        let (slots, words) = self.capture_slots(block.func);
        let int = self.int();
        // A local memory size of 0 causes the error CLK_INVALID_ARG_SIZE.
        let mut has_empty = self.int_const(0, ScalarKind::Int, span);
        for &size in &locals {
            let size = self.local_value(size, span);
            let zero = self.int_const(0, ScalarKind::UInt, span);
            let is_empty =
                self.expr(ExprKind::Binary { op: BinaryOp::Eq, lhs: Box::new(size), rhs: Box::new(zero), contract: false }, int, span);
            has_empty = self.expr(ExprKind::LogOr(Box::new(has_empty), Box::new(is_empty)), int, span);
        }
        let number = self.int_const(kernel.cast_signed(), ScalarKind::ULong, span);
        let handles = block.captures.iter().zip(&slots).filter(|(_, (_, slot))| matches!(slot, CaptureSlot::Parameter));
        let handles: Vec<LocalId> = handles.map(|(&captured, _)| captured).collect();
        let count = self.int_const(i64::try_from(locals.len() + handles.len()).unwrap_or(0), ScalarKind::UInt, span);
        let words = self.int_const(i64::from(words), ScalarKind::UInt, span);
        let WaitList { count: waited, list, returned } = waits;
        let values = vec![queue, flags, range, waited, list, returned, number, count, words];
        let enqueue = self.call_library("__wgcl_enqueue", values, span)?;
        let invalid_size = self.int_const(-51, ScalarKind::Int, span);
        let enqueue =
            self.expr(ExprKind::Cond { cond: Box::new(has_empty), then: Box::new(invalid_size), els: Box::new(enqueue) }, int, span);
        let at = self.hidden_local(&mut stmts, enqueue, span)?;
        let mut stores = Vec::new();
        for (index, &local) in (0i64..).zip(locals.iter().chain(&handles)) {
            let word = self.parameter_word(local, span);
            let values = vec![self.local_value(at, span), self.int_const(index, ScalarKind::UInt, span), word];
            let store = self.call_library("__wgcl_enqueue_parameter", values, span)?;
            stores.push(Stmt { kind: StmtKind::Expr(store), span: self.span(span) });
        }
        for (&captured, (ty, slot)) in block.captures.iter().zip(slots) {
            let CaptureSlot::Memory(offset) = slot else { continue };
            let record = self.local_value(at, span);
            let base = self.call_library("__wgcl_captures", vec![record], span)?;
            let lvalue = self.captured_lvalue(base, ty, offset, span);
            let value = self.local_value(captured, span);
            let store = self.expr(ExprKind::Assign { lvalue: Box::new(lvalue), value: Box::new(value) }, ty, span);
            stores.push(Stmt { kind: StmtKind::Expr(store), span: self.span(span) });
        }
        if !stores.is_empty() {
            let (record, zero) = (self.local_value(at, span), self.int_const(0, ScalarKind::Int, span));
            let cond =
                self.expr(ExprKind::Binary { op: BinaryOp::Ge, lhs: Box::new(record), rhs: Box::new(zero), contract: false }, int, span);
            let then = Box::new(Stmt { kind: StmtKind::Block(stores), span: self.span(span) });
            stmts.push(Stmt { kind: StmtKind::If { cond, then, els: None }, span: self.span(span) });
        }
        let record = self.local_value(at, span);
        let value = self.enqueued(record, span)?;
        Some(self.expr(ExprKind::StmtExpr { stmts, value: Some(Box::new(value)) }, int, span))
    }

    /// Creates the 32-bit word for a kernel argument in a record: the size of local memory in bytes, the value of a
    /// sampler, or the index of an image among the parameters of the enqueuing kernel.
    fn parameter_word(&mut self, local: LocalId, span: Span) -> Expr {
        let (value, uint) = (self.local_value(local, span), self.scalar(ScalarKind::UInt));
        match self.kind(value.ty) {
            TyKind::Image(..) => self.intrinsic(Intrinsic::GetImage(ImageQuery::Parameter), vec![value], uint, span),
            TyKind::Sampler => self.cast(CastKind::AsType, value, uint),
            _ => value,
        }
    }

    /// Creates the result of an enqueue function. `record` is a record index, or negative after an error.
    fn enqueued(&mut self, record: Expr, span: Span) -> Option<Expr> {
        // With the compile option `-g`, the function may return a more specific error than CLK_ENQUEUE_FAILURE.
        let detailed = self.int_const(i64::from(self.options.debug_info), ScalarKind::Int, span);
        self.call_library("__wgcl_enqueued", vec![record, detailed], span)
    }

    fn enqueue_marker(&mut self, args: &[ast::Expr], name_span: Span, span: Span) -> Option<Expr> {
        let [queue, count, list, returned] = self.counted(args, 4, 4, name_span)? else { return None };
        let queue = self.queue_argument(queue)?;
        let WaitList { count, list, returned } = self.waits(count, list, returned)?;
        let record = self.call_library("__wgcl_enqueue_marker", vec![queue, count, list, returned], span)?;
        self.enqueued(record, span)
    }

    fn capture_times(&mut self, args: &[ast::Expr], name_span: Span, span: Span) -> Option<Expr> {
        let [event, what, value] = self.counted(args, 3, 3, name_span)? else { return None };
        let event_ty = self.types.intern(TyKind::ClkEvent);
        let event = self.argument(event, event_ty)?;
        let int = self.int();
        let what = self.argument(what, int)?;
        let (void, ulong) = (self.void_ty(), self.scalar(ScalarKind::ULong));
        let any = self.pointer(QualTy::plain(void), Space::Global);
        let value = self.argument(value, any)?;
        let times = self.pointer(QualTy::plain(ulong), Space::Global);
        let value = self.cast(CastKind::Pointer, value, times);
        if !self.kernels.iter().any(|(_, info)| info.name == kernel_name(CAPTURE_TIMES)) {
            self.kernel_of(CAPTURE_TIMES, &[], span, |sema, at, _| {
                let index = sema.local_value(at, span);
                let call = sema.call_library("__wgcl_captured_times", vec![index], span)?;
                Some(vec![Stmt { kind: StmtKind::Expr(call), span: sema.span(span) }])
            })?;
        }
        let number = self.int_const(CAPTURE_TIMES.cast_signed(), ScalarKind::ULong, span);
        let capture = self.call_library("__wgcl_capture_times", vec![event, value, number], span)?;
        let ty = capture.ty;
        Some(self.expr(ExprKind::Comma(Box::new(what), Box::new(capture)), ty, span))
    }

    /// Checks a call of `ndrange_1D`, `ndrange_2D` or `ndrange_3D`. One argument is the global size. Two are the global
    /// and the local size. Three are the offset, the global size and the local size.
    fn ndrange(&mut self, dimensions: usize, args: &[ast::Expr], name_span: Span, span: Span) -> Option<Expr> {
        let args = self.counted(args, 1, 3, name_span)?;
        let zero = |sema: &mut Self| {
            let kind = sema.size_kind();
            sema.int_const(0, kind, span)
        };
        let mut stmts = Vec::new();
        let mut lists = Vec::new();
        for arg in args {
            lists.push(self.range_sizes(dimensions, arg, &mut stmts, span)?);
        }
        let mut lists = lists.into_iter();
        let (offset, global, local) = match args.len() {
            1 => (None, lists.next(), None),
            2 => (None, lists.next(), lists.next()),
            _ => (lists.next(), lists.next(), lists.next()),
        };
        let count = i64::try_from(dimensions).unwrap_or(1);
        let mut values = vec![self.int_const(count, ScalarKind::UInt, span)];
        for list in [offset, global, local] {
            let mut list = list.unwrap_or_default();
            while list.len() < 3 {
                list.push(zero(self));
            }
            values.append(&mut list);
        }
        let range = self.call_library("__wgcl_ndrange", values, span)?;
        let ty = range.ty;
        if stmts.is_empty() {
            return Some(range);
        }
        Some(self.expr(ExprKind::StmtExpr { stmts, value: Some(Box::new(range)) }, ty, span))
    }

    /// Returns the sizes in an argument of an `ndrange_*` function: the value itself for one dimension, otherwise the
    /// elements of the array that it points to.
    fn range_sizes(&mut self, dimensions: usize, arg: &ast::Expr, stmts: &mut Vec<Stmt>, span: Span) -> Option<Vec<Expr>> {
        let size = self.size_ty();
        if dimensions == 1 {
            return Some(vec![self.argument(arg, size)?]);
        }
        let value = self.rvalue_expr(arg);
        if self.is_error(value.ty) {
            return None;
        }
        let fits = match *self.kind(value.ty) {
            TyKind::Pointer { pointee, .. } => self.scalar_kind(pointee.ty) == Some(self.size_kind()),
            _ => false,
        };
        if !fits {
            let shown = self.show(value.ty);
            self.err(arg.span, format!("passing '{shown}' to a parameter of type 'const size_t[{dimensions}]'"));
            return None;
        }
        let (ty, stride) = (value.ty, self.types.pointer_size());
        let pointer = self.hidden_local(stmts, value, span)?;
        let mut list = Vec::new();
        for index in 0..i64::try_from(dimensions).unwrap_or(3) {
            let pointer = Box::new(self.local_value(pointer, span));
            let index = Box::new(self.int_const(index, ScalarKind::UInt, span));
            let element = self.expr(ExprKind::PointerAdd { pointer, index, stride, negate: false }, ty, span);
            let lvalue = self.deref_lvalue(element, span);
            list.push(self.rvalue(Operand::Lvalue(lvalue)));
        }
        Some(list)
    }

    /// Checks a call of a function in [`QUERIES`].
    fn block_query(&mut self, library_name: &str, has_range: bool, args: &[ast::Expr], name_span: Span, span: Span) -> Option<Expr> {
        let count = usize::from(has_range) + 1;
        let args = self.counted(args, count, count, name_span)?;
        let mut values = Vec::new();
        if let (true, Some(range)) = (has_range, args.first()) {
            let ty = self.ndrange_type(span).qt.ty;
            values.push(self.argument(range, ty)?);
        }
        self.block_argument(args.last()?)?;
        self.call_library(library_name, values, span)
    }
}
