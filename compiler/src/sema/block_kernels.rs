//! Kernels for enqueued blocks (OpenCL C 6.15.18.1).
//!
//! A block is a function whose last parameters are its captures ([`super::blocks`]). The kernel of the block loads the
//! captures from memory and calls this function. The parameters of the kernel are the offset of the captures, the
//! pointers to local memory, and the captured images and samplers. Images and samplers are parameters because they
//! cannot be in memory. The offset is in 32-bit words, from the start of [`crate::enqueue::PARAMETERS`]. Each kernel
//! has a number ([`kernel_name`]), which identifies the kernel in the records of the device-side queue.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use super::attributes::KernelAttributes;
use super::blocks::BlockRef;
use super::functions::{FuncDecl, Param};
use super::{FnContext, Operand, Sema};
use crate::ast::{Name, ScalarKind};
use crate::diag::Span;
use crate::enqueue::{MAX_CAPTURED, kernel_name};
use crate::ir::Space;
use crate::thir::{CastKind, Expr, ExprKind, FuncId, Function, Linkage, LocalId, Lvalue, LvalueKind, QualTy, Stmt, StmtKind, Ty, TyKind};

/// Maximum alignment in bytes of a captured value. The captures of a block start at a multiple of this alignment.
const MAX_CAPTURE_ALIGN: u32 = 8;

/// The location of a captured value in a block's kernel.
#[derive(Clone, Copy, Debug)]
pub(super) enum CaptureSlot {
    /// The offset in bytes from the start of the captures.
    Memory(u32),
    /// In a parameter after the pointers to local memory.
    Parameter,
}

impl Sema<'_> {
    /// Returns the types and locations of a block's captures, and their total size in 32-bit words, rounded up to an
    /// even number.
    pub(super) fn capture_slots(&self, block: FuncId) -> (Vec<(Ty, CaptureSlot)>, u32) {
        let function = &self.functions[block.index()];
        let param_count = self.decls[block.index()].params.len();
        let mut end = 0u32;
        let mut slots = Vec::new();
        for local in function.params.get(param_count..).unwrap_or_default() {
            let Some(local) = function.locals.get(local.index()) else { continue };
            if matches!(self.kind(local.ty.ty), TyKind::Image(..) | TyKind::Sampler) {
                slots.push((local.ty.ty, CaptureSlot::Parameter));
                continue;
            }
            let (size, align) = self.types.layout(local.ty.ty).unwrap_or((0, 1));
            let at = end.next_multiple_of(align.clamp(1, MAX_CAPTURE_ALIGN));
            slots.push((local.ty.ty, CaptureSlot::Memory(at)));
            end = at.saturating_add(u32::try_from(size).unwrap_or(u32::MAX));
        }
        (slots, end.div_ceil(8) * 2)
    }

    /// Creates the lvalue of a capture at `offset` bytes from the pointer `base`.
    pub(super) fn captured_lvalue(&mut self, base: Expr, ty: Ty, offset: u32, span: Span) -> Lvalue {
        let align = self.align_of(ty).clamp(1, MAX_CAPTURE_ALIGN);
        let base_ty = base.ty;
        let index = self.int_const(offset.into(), ScalarKind::UInt, span);
        let kind = ExprKind::PointerAdd { pointer: Box::new(base), index: Box::new(index), stride: 1, negate: false };
        let pointer = self.expr(kind, base_ty, span);
        let to = self.pointer(QualTy::plain(ty), Space::Global);
        let pointer = self.cast(CastKind::Pointer, pointer, to);
        Lvalue { kind: LvalueKind::Deref(Box::new(pointer)), ty: QualTy::plain(ty), space: Space::Global, align, span: self.span(span) }
    }

    /// Returns the number of the kernel of a block. Creates the kernel on first use. Reports an error and returns
    /// `None` if the captures are invalid.
    pub(super) fn block_kernel(&mut self, block: &BlockRef, span: Span) -> Option<u64> {
        if let Some(number) = self.block_kernels.get(&block.func) {
            return Some(*number);
        }
        let (slots, words) = self.capture_slots(block.func);
        if words > MAX_CAPTURED / 4 {
            self.err(span, format!("enqueued block captures {} bytes; the limit is {MAX_CAPTURED}", words * 4));
            return None;
        }
        for (ty, _) in &slots {
            if matches!(self.kind(*ty), TyKind::Event) {
                let shown = self.show(*ty);
                self.err(span, format!("enqueued block cannot capture a variable of type '{shown}'"));
                return None;
            }
        }
        // Every build of the source computes the same number. All other blocks have other numbers, including blocks in
        // units that may be linked with this unit.
        let mut hasher = FxHasher::default();
        let around = self.f.as_ref().map(|f| self.decls[f.id.index()].name.clone());
        format!("{around:?} {} {span:?} {:?}", block.func.0, self.functions[block.func.index()]).hash(&mut hasher);
        let number = hasher.finish() | 1 << 63;
        let (func, locals) = (block.func, self.decls[block.func.index()].params.len());
        let void = self.void_ty();
        let local = self.pointer(QualTy::plain(void), Space::Local);
        let handles = slots.iter().filter(|(_, slot)| matches!(slot, CaptureSlot::Parameter)).map(|&(ty, _)| ty);
        let types: Vec<Ty> = std::iter::repeat_n(local, locals).chain(handles).collect();
        self.kernel_of(number, &types, span, |sema, at, parameters| {
            let (parameters, handles) = parameters.split_at_checked(locals)?;
            let mut handles = handles.iter();
            let mut stmts = Vec::new();
            let mut captured = Vec::new();
            for &(ty, slot) in &slots {
                let CaptureSlot::Memory(offset) = slot else {
                    captured.push(*handles.next()?);
                    continue;
                };
                let index = sema.local_value(at, span);
                let base = sema.call_library("__wgcl_captured", vec![index], span)?;
                let lvalue = sema.captured_lvalue(base, ty, offset, span);
                let value = sema.rvalue(Operand::Lvalue(lvalue));
                captured.push(sema.hidden_local(&mut stmts, value, span)?);
            }
            let values = parameters.iter().map(|&local| sema.local_value(local, span)).collect();
            let mut call = sema.call_function(func, values, &[], span, span);
            if let ExprKind::Call { args, .. } = &mut call.kind {
                args.extend(captured.into_iter().map(|local| sema.local_value(local, span)));
            }
            stmts.push(Stmt { kind: StmtKind::Expr(call), span: sema.span(span) });
            Some(stmts)
        })?;
        self.block_kernels.insert(block.func, number);
        Some(number)
    }

    /// Creates the kernel with the number `number`. Its parameters are the offset of its captures, followed by
    /// parameters of `types`. `body` receives these parameters and returns the statements. Returns `None` if `body`
    /// fails.
    pub(super) fn kernel_of<F>(&mut self, number: u64, types: &[Ty], span: Span, body: F) -> Option<FuncId>
    where
        F: FnOnce(&mut Self, LocalId, &[LocalId]) -> Option<Vec<Stmt>>,
    {
        let (void, uint) = (self.void_ty(), self.scalar(ScalarKind::UInt));
        let all = std::iter::once(&uint).chain(types);
        let params: Vec<Param> = all.map(|&ty| Param { name: None, ty: QualTy::plain(ty), span, type_name: self.show(ty) }).collect();
        let name: Name = kernel_name(number).into();
        let id = FuncId(crate::ir::number(self.functions.len()));
        self.functions.push(Function {
            name: name.clone(),
            linkage: Linkage::Internal,
            overloadable: false,
            ret: void,
            params: Vec::new(),
            locals: Vec::new(),
            labels: Vec::new(),
            expression_jumps: false,
            body: None,
            is_kernel: true,
            reqd_work_group_size: None,
            reqd_subgroup_size: None,
            no_inline: false,
            is_library: self.in_library,
            span: self.span(span),
        });
        self.decls.push(FuncDecl {
            name,
            params: params.clone(),
            ret: void,
            infers_result: false,
            overloadable: false,
            is_kernel: true,
            is_library: false,
            defined: true,
            linkage: Linkage::Internal,
            span,
            attributes: Vec::new(),
        });
        let context = FnContext::new(id, void, true, (self.scopes.len() + 1, false));
        let outer = self.f.replace(context);
        let locals: Option<Vec<LocalId>> = params.iter().map(|param| self.new_local("", param.ty, span)).collect();
        let stmts = locals.and_then(|locals| {
            let (at, pointers) = locals.split_first()?;
            body(self, *at, pointers)
        });
        self.finish_function(id);
        self.f = outer;
        self.functions[id.index()].body = Some(stmts?);
        let info = self.reflect(id, KernelAttributes::default(), 0);
        self.kernels.push((id, info));
        Some(id)
    }
}
