//! Pipes (OpenCL C 6.15.17): their type, and the functions that read and write them.
//!
//! A pipe is a memory object. The library (`compiler/library/pipes.cl`) implements reservation, commit and counting,
//! and computes the address of a packet. Sema checks the types and copies packets by assignment.

use std::ops::RangeInclusive;

use super::convert::Purpose;
use super::{DeclTy, Operand, Sema};
use crate::ast::{Access, Name, ScalarKind};
use crate::diag::Span;
use crate::ir::Space;
use crate::thir::{BinaryOp, CastKind, Expr, ExprKind, FuncId, Init, QualTy, Stmt, StmtKind, Ty, TyKind};

use super::scope::Symbol;

/// The scope of a reservation or commit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ReservationScope {
    WorkItem,
    WorkGroup,
    SubGroup,
}

/// A pipe function.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PipeCall {
    /// `read_pipe` and `write_pipe`.
    Packet(Access),
    Reserve(Access),
    Commit(Access),
    /// `get_pipe_num_packets` and `get_pipe_max_packets`.
    Query,
    /// The function `is_valid_reserve_id`.
    IsValid,
}

impl PipeCall {
    /// Returns the minimum and the maximum number of arguments.
    pub(super) const fn arguments(self) -> RangeInclusive<usize> {
        match self {
            Self::Packet(_) => 2..=4,
            Self::Reserve(_) | Self::Commit(_) => 2..=2,
            Self::Query | Self::IsValid => 1..=1,
        }
    }
}

/// Returns the pipe function with this name and its scope, or `None` for other names.
fn parse(name: &str) -> Option<(PipeCall, ReservationScope)> {
    let (rest, scope) = match (name.strip_prefix("work_group_"), name.strip_prefix("sub_group_")) {
        (Some(rest), _) => (rest, ReservationScope::WorkGroup),
        (_, Some(rest)) => (rest, ReservationScope::SubGroup),
        _ => (name, ReservationScope::WorkItem),
    };
    let call = match rest {
        "reserve_read_pipe" => PipeCall::Reserve(Access::ReadOnly),
        "reserve_write_pipe" => PipeCall::Reserve(Access::WriteOnly),
        "commit_read_pipe" => PipeCall::Commit(Access::ReadOnly),
        "commit_write_pipe" => PipeCall::Commit(Access::WriteOnly),
        _ if scope != ReservationScope::WorkItem => return None,
        "read_pipe" => PipeCall::Packet(Access::ReadOnly),
        "write_pipe" => PipeCall::Packet(Access::WriteOnly),
        "get_pipe_num_packets" | "get_pipe_max_packets" => PipeCall::Query,
        "is_valid_reserve_id" => PipeCall::IsValid,
        _ => return None,
    };
    Some((call, scope))
}

impl Sema<'_> {
    fn has_pipes(&self) -> bool {
        self.options.std.version() >= 200 && self.target.has_feature("__opencl_c_pipes")
    }

    /// Whether the language version and the device support pipes. Reports an error if not.
    pub(super) fn pipes_allowed(&mut self, span: Span) -> bool {
        let allowed = self.has_pipes();
        if !allowed {
            self.err(span, "pipes require OpenCL C 2.0 or newer, and a device with the feature __opencl_c_pipes");
        }
        allowed
    }

    /// Returns the pipe function with this name. Returns `None` if there is no such function, or if the language
    /// version or the device lacks it.
    pub(super) fn pipe_function(&self, name: &str) -> Option<PipeCall> {
        let (call, scope) = parse(name)?;
        (self.has_pipes() && (scope != ReservationScope::SubGroup || self.has_subgroups())).then_some(call)
    }

    /// Returns the type of a pipe with this packet type. Reports an error if the packet type is invalid.
    pub(super) fn pipe_of(&mut self, packet: DeclTy, access: Option<(Access, Span)>, span: Span) -> DeclTy {
        if self.is_error(packet.qt.ty) || !self.pipes_allowed(span) {
            return self.error_decl();
        }
        let ty = packet.qt.ty;
        if !self.is_packet(ty) {
            let shown = self.show(ty);
            self.err(
                span,
                format!("invalid packet type '{shown}' of a pipe; expected an integer, floating-point, vector or structure type"),
            );
            return self.error_decl();
        }
        let access = match access {
            Some((Access::ReadWrite, at)) => {
                let shown = self.show(ty);
                self.err(at, format!("access qualifier 'read_write' cannot be used for 'pipe {shown}'"));
                return self.error_decl();
            }
            Some((access, _)) => access,
            // "If no qualifier is specified, read_only is assumed."
            None => Access::ReadOnly,
        };
        let pipe = self.types.intern(TyKind::Pipe(ty, access));
        DeclTy { space: packet.space, ..DeclTy::of(pipe) }
    }

    /// Whether a type can be a packet type: "any supported OpenCL C scalar and vector integer or floating-point data
    /// types, or a user-defined type built from these".
    fn is_packet(&self, ty: Ty) -> bool {
        match self.kind(ty) {
            TyKind::Error | TyKind::Vector(..) | TyKind::Enum { .. } => true,
            TyKind::Scalar(ScalarKind::Half) => self.target.language.fp16,
            TyKind::Scalar(kind) => *kind != ScalarKind::Bool,
            TyKind::Record(id) => {
                let record = self.types.record(*id);
                record.complete && record.fields.iter().all(|field| self.is_packet(self.innermost(field.ty)))
            }
            _ => false,
        }
    }

    /// Checks a call of a pipe function and creates its expression. `first` is the first argument, `values` are the
    /// other arguments.
    pub(super) fn pipe_call(
        &mut self,
        name: &Name,
        call: PipeCall,
        first: Expr,
        mut values: impl ExactSizeIterator<Item = Expr>,
        span: Span,
    ) -> Expr {
        let count = values.len() + 1;
        if call == PipeCall::IsValid {
            let reservation = self.reservation_type();
            let id = self.assign_convert(first, reservation, &Purpose::Pass);
            return self.is_valid_reservation(id, span);
        }
        let Some(packet) = self.check_pipe(name, call, &first) else { return self.error_expr(span) };
        let pipe = self.pipe_memory(first);
        match (call, values.next()) {
            (PipeCall::Query, _) => self.pipe_library(name, vec![pipe], span),
            (PipeCall::Reserve(_), Some(number)) => {
                let number = self.scalar_arg(number, ScalarKind::UInt);
                let id = self.pipe_library(name, vec![pipe, number], span);
                self.as_reservation(id)
            }
            (PipeCall::Commit(_), Some(id)) => {
                let id = self.reservation_arg(id);
                self.pipe_library(name, vec![pipe, id], span)
            }
            (PipeCall::Packet(access), Some(pointer)) if count == 2 => self.move_reserving(name, (access, packet), pipe, pointer, span),
            (PipeCall::Packet(access), Some(id)) => {
                let (Some(index), Some(pointer)) = (values.next(), values.next()) else {
                    self.err(span, format!("invalid number of arguments to function: '{name}', expected 2 or 4, have {count}"));
                    return self.error_expr(span);
                };
                let id = self.reservation_arg(id);
                let index = self.scalar_arg(index, ScalarKind::UInt);
                let Some(pointer) = self.packet_pointer(name, (access, packet), pointer) else { return self.error_expr(span) };
                let moved = self.move_packet((access, packet), vec![pipe, id, index], pointer, span);
                let done = self.int_const(0, ScalarKind::Int, span);
                self.in_sequence(moved, done, span)
            }
            _ => self.error_expr(span),
        }
    }

    /// Returns the packet type of `value`. Reports an error if `value` is not a valid pipe argument of the function.
    fn check_pipe(&mut self, name: &str, call: PipeCall, value: &Expr) -> Option<Ty> {
        let &TyKind::Pipe(packet, access) = self.kind(value.ty) else {
            if !self.is_error(value.ty) {
                self.err(value.span, format!("first argument to '{name}' must be a pipe type"));
            }
            return None;
        };
        if let PipeCall::Packet(wanted) | PipeCall::Reserve(wanted) | PipeCall::Commit(wanted) = call
            && wanted != access
        {
            let wanted = if wanted == Access::ReadOnly { "read_only" } else { "write_only" };
            self.err(value.span, format!("invalid pipe access modifier (expecting {wanted})"));
            return None;
        }
        Some(packet)
    }

    fn reservation_type(&mut self) -> Ty {
        self.types.intern(TyKind::ReserveId)
    }

    /// Converts a reservation from the library's type, `uint`, to `reserve_id_t`.
    fn as_reservation(&mut self, id: Expr) -> Expr {
        let ty = self.reservation_type();
        if self.is_error(id.ty) { id } else { self.cast(CastKind::AsType, id, ty) }
    }

    /// Converts a reservation from `reserve_id_t` to the library's type, `uint`.
    fn reservation_arg(&mut self, id: Expr) -> Expr {
        let ty = self.reservation_type();
        let id = self.assign_convert(id, ty, &Purpose::Pass);
        let number = self.scalar(ScalarKind::UInt);
        if self.is_error(id.ty) { id } else { self.cast(CastKind::AsType, id, number) }
    }

    /// Creates the `bool` expression that is true if a reservation id is valid.
    fn is_valid_reservation(&mut self, id: Expr, span: Span) -> Expr {
        if self.is_error(id.ty) {
            return id;
        }
        let number = self.scalar(ScalarKind::UInt);
        let id = if id.ty == number { id } else { self.cast(CastKind::AsType, id, number) };
        let none = self.int_const(0, ScalarKind::UInt, span);
        let int = self.int();
        let valid = self.expr(ExprKind::Binary { op: BinaryOp::Ne, lhs: Box::new(id), rhs: Box::new(none), contract: false }, int, span);
        let truth = self.scalar(ScalarKind::Bool);
        self.cast(CastKind::Arith, valid, truth)
    }

    /// Converts a pipe to the `global uint *` that the library expects.
    fn pipe_memory(&mut self, pipe: Expr) -> Expr {
        let word = self.scalar(ScalarKind::UInt);
        let ty = self.pointer(QualTy::plain(word), Space::Global);
        self.cast(CastKind::Pointer, pipe, ty)
    }

    /// Creates a call of `__wgcl_NAME`, the library function that implements the built-in function NAME.
    fn pipe_library(&mut self, name: &str, args: Vec<Expr>, span: Span) -> Expr {
        if args.iter().any(|arg| self.is_error(arg.ty)) {
            return self.error_expr(span);
        }
        let library_name: Name = format!("__wgcl_{name}").as_str().into();
        let found = match self.library_symbol(&library_name) {
            Some(Symbol::Functions(list)) => list.first().copied(),
            _ => None,
        };
        let Some(func): Option<FuncId> = found else {
            self.err(span, format!("function '{name}' is not supported by this device"));
            return self.error_expr(span);
        };
        self.note_call(func, span);
        let ret = self.decls[func.index()].ret;
        self.expr(ExprKind::Call { func, args, part: None }, ret, span)
    }

    /// Checks the packet pointer of a call. Reports an error and returns `None` if its type does not fit the pipe.
    fn packet_pointer(&mut self, name: &str, (access, packet): (Access, Ty), pointer: Expr) -> Option<Expr> {
        let fits = match self.pointer_parts(pointer.ty) {
            Some((pointee, space)) => {
                let writable = !pointee.is_const && space != Space::Constant;
                self.is_compatible(pointee.ty, packet) && (access == Access::WriteOnly || writable)
            }
            None => false,
        };
        if !fits && !self.is_error(pointer.ty) {
            let shown = self.show(packet);
            let qualifier = if access == Access::WriteOnly { "const " } else { "" };
            self.bad_arg(name, &pointer, &format!("expecting '{qualifier}{shown} *'"));
        }
        fits.then_some(pointer)
    }

    /// Copies a packet between `pointer` and its slot in the pipe. The library computes the address of the slot from
    /// `args`: the pipe, the reservation and the index.
    fn move_packet(&mut self, (access, packet): (Access, Ty), mut args: Vec<Expr>, pointer: Expr, span: Span) -> Expr {
        let size = self.size_of(packet).and_then(|size| i64::try_from(size).ok()).unwrap_or(0);
        args.push(self.int_const(size, ScalarKind::UInt, span));
        let memory = self.pipe_library("pipe_packet", args, span);
        if self.is_error(memory.ty) {
            return memory;
        }
        let ty = self.pointer(QualTy::plain(packet), Space::Global);
        let memory = self.cast(CastKind::Pointer, memory, ty);
        let (to, from) = if access == Access::WriteOnly { (memory, pointer) } else { (pointer, memory) };
        let (to, from) = (self.deref_lvalue(to, span), self.deref_lvalue(from, span));
        let value = self.rvalue(Operand::Lvalue(from));
        self.expr(ExprKind::Assign { lvalue: Box::new(to), value: Box::new(value) }, packet, span)
    }

    /// Creates `read_pipe` or `write_pipe` without a reservation: reserves one packet, copies it, and commits the
    /// reservation.
    ///
    /// The value of the expression is 0 on success, or -1 if the pipe is empty (for a read) or full (for a write).
    fn move_reserving(&mut self, name: &Name, (access, packet): (Access, Ty), pipe: Expr, pointer: Expr, span: Span) -> Expr {
        let Some(pointer) = self.packet_pointer(name, (access, packet), pointer) else { return self.error_expr(span) };
        let verb = if access == Access::WriteOnly { "write" } else { "read" };
        let mut stmts = Vec::new();
        let mut kept = |sema: &mut Self, value: Expr| {
            let local = sema.new_local("", QualTy::plain(value.ty), span)?;
            stmts.push(Stmt { kind: StmtKind::Local { local, init: Some(Init::Expr(value)) }, span: sema.span(span) });
            Some(local)
        };
        let one = self.int_const(1, ScalarKind::UInt, span);
        let (Some(pipe), Some(pointer)) = (kept(self, pipe), kept(self, pointer)) else {
            self.err(span, "initializer element is not a compile-time constant");
            return self.error_expr(span);
        };
        let memory = self.local_value(pipe, span);
        let reserved = self.pipe_library(&format!("reserve_{verb}_pipe"), vec![memory, one], span);
        let Some(id) = kept(self, reserved) else { return self.error_expr(span) };
        let args = vec![self.local_value(pipe, span), self.local_value(id, span), self.int_const(0, ScalarKind::UInt, span)];
        let pointer = self.local_value(pointer, span);
        let moved = self.move_packet((access, packet), args, pointer, span);
        let args = vec![self.local_value(pipe, span), self.local_value(id, span)];
        let committed = self.pipe_library(&format!("commit_{verb}_pipe"), args, span);
        let done = self.int_const(0, ScalarKind::Int, span);
        let done = self.in_sequence(committed, done, span);
        let then = self.in_sequence(moved, done, span);
        let valid = self.local_value(id, span);
        let valid = self.is_valid_reservation(valid, span);
        if [&then, &valid].into_iter().any(|part| self.is_error(part.ty)) {
            return self.error_expr(span);
        }
        let els = self.int_const(-1, ScalarKind::Int, span);
        let int = self.int();
        let value = self.expr(ExprKind::Cond { cond: Box::new(valid), then: Box::new(then), els: Box::new(els) }, int, span);
        self.expr(ExprKind::StmtExpr { stmts, value: Some(Box::new(value)) }, int, span)
    }

    /// Creates the comma expression of two expressions. Returns `first` if it is an error.
    fn in_sequence(&mut self, first: Expr, second: Expr, span: Span) -> Expr {
        if self.is_error(first.ty) {
            return first;
        }
        let ty = second.ty;
        self.expr(ExprKind::Comma(Box::new(first), Box::new(second)), ty, span)
    }
}
