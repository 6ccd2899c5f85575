//! Scopes (C99 6.2.1) and predeclared names.

use std::sync::Arc;

use rustc_hash::FxHashMap;

use super::blocks::BlockRef;
use super::{DeclTy, Sema};
use crate::ast::{Name, ScalarKind};
use crate::diag::Span;
use crate::thir::{FuncId, GlobalId, LocalId, RecordId, Ty, TyKind};

/// The meaning of an ordinary identifier.
#[derive(Clone, Debug)]
pub(super) enum Symbol {
    Typedef(DeclTy),
    Local(LocalId),
    Global(GlobalId),
    /// There are several functions only if they are overloadable.
    Functions(Vec<FuncId>),
    /// A block variable. It is not in memory, because the compiler resolves its uses.
    Block(Arc<BlockRef>),
    /// The value of an enumerator, and its type.
    Constant(i64, Ty),
    /// The declaration has errors. Uses of the name cause no further errors.
    Error,
}

/// The meaning of a tag.
#[derive(Clone, Copy, Debug)]
pub(super) enum Tag {
    Record { id: RecordId, is_union: bool },
    Enum(Ty),
}

/// A scope: the names and tags of a block, a parameter list or the program.
#[derive(Debug, Default)]
pub(super) struct Scope {
    pub(super) names: FxHashMap<Name, (Symbol, Span)>,
    pub(super) tags: FxHashMap<Name, Tag>,
}

impl Sema<'_> {
    pub(super) fn push_scope(&mut self) {
        self.scopes.push(Scope::default());
        if let Some(recorder) = self.recorder() {
            recorder.open_scope();
        }
    }

    /// Leaves a scope that ends at the end of a span.
    pub(super) fn pop_scope(&mut self, whole: Span) {
        self.scopes.pop();
        if let Some(recorder) = self.recorder() {
            recorder.close_scope(whole.hi);
        }
    }

    /// Whether the current scope is program scope.
    pub(super) fn at_program_scope(&self) -> bool {
        self.scopes.len() == 1
    }

    pub(super) fn lookup(&self, name: &str) -> Option<&Symbol> {
        self.scopes.iter().rev().find_map(|scope| scope.names.get(name)).map(|(symbol, _)| symbol)
    }

    /// Looks up a name in all scopes. Returns its meaning and the index of the scope that declares it.
    pub(super) fn lookup_scoped(&self, name: &str) -> Option<(&Symbol, usize)> {
        self.scopes.iter().enumerate().rev().find_map(|(number, scope)| scope.names.get(name).map(|(symbol, _)| (symbol, number)))
    }

    pub(super) fn lookup_tag(&self, name: &str) -> Option<Tag> {
        self.scopes.iter().rev().find_map(|scope| scope.tags.get(name)).copied()
    }

    /// Looks up a name in the innermost scope.
    pub(super) fn lookup_here(&self, name: &str) -> Option<&(Symbol, Span)> {
        self.scopes.last().and_then(|scope| scope.names.get(name))
    }

    pub(super) fn declare(&mut self, name: &Name, symbol: Symbol, span: Span) {
        if self.recorder.is_some() {
            self.record_declaration(name, &symbol, span);
        }
        if let Some(scope) = self.scopes.last_mut() {
            scope.names.insert(name.clone(), (symbol, span));
        }
    }

    /// Declares a name. Reports an error if the innermost scope already declares it.
    pub(super) fn declare_new(&mut self, name: &Name, symbol: Symbol, span: Span) {
        if let Some((_, previous)) = self.lookup_here(name) {
            let previous = *previous;
            self.err_note(span, format!("redefinition of '{name}'"), previous, "previous definition is here");
        }
        self.declare(name, symbol, span);
    }

    pub(super) fn declare_tag(&mut self, name: &Name, tag: Tag) {
        if let Some(scope) = self.scopes.last_mut() {
            scope.tags.insert(name.clone(), tag);
        }
    }

    /// Returns the meaning of a predeclared name: a type (6.3) or a memory order or scope (6.15.12). Returns `None` for
    /// other names.
    pub(super) fn predeclared(&mut self, name: &str) -> Option<Symbol> {
        use ScalarKind::{Float, Int, Long, UInt, ULong};
        let scalar = |sema: &mut Self, kind| {
            let ty = sema.scalar(kind);
            Some(Symbol::Typedef(DeclTy::of(ty)))
        };
        let special = |sema: &mut Self, kind| {
            let ty = sema.types.intern(kind);
            Some(Symbol::Typedef(DeclTy::of(ty)))
        };
        let constant = |sema: &mut Self, value| {
            let ty = sema.int();
            Some(Symbol::Constant(value, ty))
        };
        match name {
            "uchar" => scalar(self, ScalarKind::UChar),
            "ushort" => scalar(self, ScalarKind::UShort),
            "uint" | "cl_mem_fence_flags" => scalar(self, UInt),
            "ulong" => scalar(self, ULong),
            "size_t" | "uintptr_t" => {
                let kind = self.size_kind();
                scalar(self, kind)
            }
            "ptrdiff_t" | "intptr_t" => {
                let kind = self.ptrdiff_kind();
                scalar(self, kind)
            }
            "memory_order" | "memory_scope" | "kernel_enqueue_flags_t" | "clk_profiling_info" => scalar(self, Int),
            "atomic_int" => special(self, TyKind::Atomic(Int)),
            "atomic_uint" => special(self, TyKind::Atomic(UInt)),
            "atomic_float" => special(self, TyKind::Atomic(Float)),
            "atomic_half" => special(self, TyKind::Atomic(ScalarKind::Half)),
            "atomic_double" => special(self, TyKind::Atomic(ScalarKind::Double)),
            "atomic_long" => special(self, TyKind::Atomic(Long)),
            "atomic_ulong" => special(self, TyKind::Atomic(ULong)),
            "atomic_size_t" | "atomic_uintptr_t" => {
                let kind = self.size_kind();
                special(self, TyKind::Atomic(kind))
            }
            "atomic_ptrdiff_t" | "atomic_intptr_t" => {
                let kind = self.ptrdiff_kind();
                special(self, TyKind::Atomic(kind))
            }
            "atomic_flag" => special(self, TyKind::AtomicFlag),
            "memory_order_relaxed" => constant(self, 0),
            "memory_order_acquire" => constant(self, 2),
            "memory_order_release" => constant(self, 3),
            "memory_order_acq_rel" => constant(self, 4),
            "memory_order_seq_cst" => constant(self, 5),
            "memory_scope_work_item" => constant(self, 0),
            "memory_scope_work_group" => constant(self, 1),
            "memory_scope_device" => constant(self, 2),
            "memory_scope_all_svm_devices" | "memory_scope_all_devices" => constant(self, 3),
            "memory_scope_sub_group" => constant(self, 4),
            _ => None,
        }
    }
}
