//! Facts about variables for hints: whether a value may differ between work-items, and the address spaces of the
//! objects that generic pointers can point to.
//!
//! The analysis is that of the typed tree and ignores the order of statements. Its result is therefore an upper bound:
//! a variable that is never assigned a varying value, and is never assigned under a varying condition, is uniform.

use rustc_hash::FxHashMap;

use crate::builtins::{GroupFn, Intrinsic};
use crate::diag::Span;
use crate::ir::Space;
use crate::thir::visit::{children, in_expressions, init_children, lvalue_children, nested};
use crate::thir::{Expr, ExprKind, FuncId, Function, Init, LocalId, Lvalue, LvalueKind, Program, Stmt, StmtKind, Ty, TyKind};

/// Facts about a variable or parameter.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Fact {
    /// Whether the value may differ between the work-items of a work-group.
    pub is_varying: bool,
    /// The address spaces of the objects that a generic pointer can point to. Empty for other variables.
    pub spaces: Vec<&'static str>,
}

/// The facts about the variables of a program.
#[derive(Debug, Default)]
pub struct Facts {
    by_name: FxHashMap<Span, Fact>,
}

impl Facts {
    /// Returns the facts about the variable that is declared at a span.
    pub fn of(&self, declared: Span) -> Option<&Fact> {
        self.by_name.get(&declared)
    }
}

/// The state of a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct State {
    is_varying: bool,
    /// A bit for each address space in [`SPACES`].
    spaces: u8,
}

/// The named address spaces of a generic pointer.
const SPACES: [(Space, &str); 3] = [(Space::Private, "private"), (Space::Local, "local"), (Space::Global, "global")];

impl State {
    const VARYING: Self = Self { is_varying: true, spaces: 0 };

    const fn join(self, other: Self) -> Self {
        Self { is_varying: self.is_varying || other.is_varying, spaces: self.spaces | other.spaces }
    }

    const fn under(self, varying: bool) -> Self {
        Self { is_varying: self.is_varying || varying, ..self }
    }
}

fn bit(space: Space) -> u8 {
    SPACES.iter().position(|(known, _)| *known == space).map_or(0, |index| 1 << index)
}

/// Maximum number of passes over the program. Usual programs need less than ten.
const MAX_ROUNDS: u32 = 64;

/// Computes the facts about all variables of the user's functions. Returns no facts if there are not enough rounds.
pub fn facts(program: &Program) -> Facts {
    let mut flow = Flow {
        program,
        locals: program.functions.iter().map(|function| vec![State::default(); function.locals.len()]).collect(),
        results: vec![State::default(); program.functions.len()],
        changed: true,
        current: FuncId(0),
    };
    let mut rounds = 0;
    while std::mem::take(&mut flow.changed) {
        rounds += 1;
        if rounds > MAX_ROUNDS {
            return Facts::default();
        }
        for (number, function) in program.functions.iter().enumerate() {
            flow.current = FuncId(crate::ir::number(number));
            flow.function(function);
        }
    }
    let mut facts = Facts::default();
    for (function, states) in program.functions.iter().zip(&flow.locals).filter(|(function, _)| !function.is_library) {
        for (local, state) in function.locals.iter().zip(states).filter(|(local, _)| local.span != Span::NONE) {
            let is_generic = matches!(program.types.kind(local.ty.ty), TyKind::Pointer { space: Space::Generic, .. });
            let named = SPACES.iter().filter(|(space, _)| is_generic && state.spaces & bit(*space) != 0);
            let spaces = named.map(|(_, name)| *name).collect();
            facts.by_name.insert(local.span, Fact { is_varying: state.is_varying, spaces });
        }
    }
    facts
}

struct Flow<'a> {
    program: &'a Program,
    /// The states of the locals of each function.
    locals: Vec<Vec<State>>,
    /// The states of the results of each function.
    results: Vec<State>,
    changed: bool,
    current: FuncId,
}

impl Flow<'_> {
    fn function(&mut self, function: &Function) {
        // The targets of a `goto` are not known here.
        let varying = !function.labels.is_empty();
        for stmt in function.body.iter().flatten() {
            self.stmt(stmt, varying);
        }
    }

    fn join_local(&mut self, function: FuncId, local: LocalId, state: State) {
        if let Some(slot) = self.locals.get_mut(function.index()).and_then(|locals| locals.get_mut(local.index())) {
            let joined = slot.join(state);
            self.changed |= joined != *slot;
            *slot = joined;
        }
    }

    fn stmt(&mut self, stmt: &Stmt, varying: bool) {
        match &stmt.kind {
            StmtKind::Expr(expr) => {
                self.expr(expr, varying);
            }
            StmtKind::Local { local, init } => {
                let state = init.as_ref().map_or_else(State::default, |init| self.init(init, varying));
                self.join_local(self.current, *local, state.under(varying && init.is_some()));
            }
            StmtKind::If { cond, then, els } => {
                let varying = self.expr(cond, varying).is_varying || varying;
                self.stmt(then, varying);
                els.iter().for_each(|els| self.stmt(els, varying));
            }
            StmtKind::Switch { cond, body } => {
                let varying = self.expr(cond, varying).is_varying || varying;
                self.stmt(body, varying);
            }
            StmtKind::While { cond, body, .. } | StmtKind::DoWhile { cond, body, .. } => {
                let varying = self.expr(cond, varying).is_varying || varying || self.leaves_varying(body, false);
                self.stmt(body, varying);
            }
            StmtKind::For { cond, step, body, .. } => {
                let is_varying = cond.as_ref().is_some_and(|cond| self.expr(cond, varying).is_varying);
                let varying = is_varying || varying || self.leaves_varying(body, false);
                self.stmt(body, varying);
                step.iter().for_each(|step| {
                    self.expr(step, varying);
                });
            }
            StmtKind::Return(Some(value)) => {
                let state = self.expr(value, varying).under(varying);
                if let Some(slot) = self.results.get_mut(self.current.index()) {
                    let joined = slot.join(state);
                    self.changed |= joined != *slot;
                    *slot = joined;
                }
            }
            StmtKind::Block(stmts) => stmts.iter().for_each(|stmt| self.stmt(stmt, varying)),
            _ => {}
        }
        for stmt in in_expressions(stmt) {
            self.stmt(stmt, varying);
        }
    }

    /// Whether a varying condition in a loop's body decides whether a work-item leaves an iteration.
    fn leaves_varying(&mut self, stmt: &Stmt, varying: bool) -> bool {
        match &stmt.kind {
            StmtKind::Break | StmtKind::Continue | StmtKind::Return(_) | StmtKind::Goto(_) => varying,
            StmtKind::If { cond, then, els } => {
                let varying = varying || self.expr(cond, varying).is_varying;
                self.leaves_varying(then, varying) || els.as_ref().is_some_and(|els| self.leaves_varying(els, varying))
            }
            StmtKind::Switch { cond, body } => {
                let varying = varying || self.expr(cond, varying).is_varying;
                self.leaves_varying(body, varying)
            }
            _ => {
                let mut inner = Vec::new();
                nested(stmt, &mut inner);
                inner.into_iter().any(|stmt| self.leaves_varying(stmt, varying))
            }
        }
    }

    fn init(&mut self, init: &Init, varying: bool) -> State {
        let mut parts = Vec::new();
        init_children(init, &mut parts);
        parts.into_iter().fold(State::default(), |state, part| state.join(self.expr(part, varying)))
    }

    /// Returns the state of an expression. Joins the states of assigned variables with those of their values.
    fn expr(&mut self, expr: &Expr, varying: bool) -> State {
        match &expr.kind {
            ExprKind::Load(lvalue) => self.read(lvalue, varying),
            ExprKind::AddrOf(lvalue) | ExprKind::Decay(lvalue) => {
                // Another expression may assign the variable through the pointer.
                if let Some(local) = root(lvalue) {
                    self.join_local(self.current, local, State::VARYING);
                }
                let state = self.operands_of(lvalue, varying);
                State { spaces: state.spaces | bit(lvalue.space), ..state }
            }
            ExprKind::Assign { lvalue, value }
            | ExprKind::CompoundAssign { lvalue, value, .. }
            | ExprKind::PointerAssign { lvalue, index: value, .. } => {
                let mut state = self.expr(value, varying).join(self.operands_of(lvalue, varying));
                if !matches!(expr.kind, ExprKind::Assign { .. }) {
                    state = state.join(self.read(lvalue, varying));
                }
                let state = state.under(varying);
                self.write(lvalue, state);
                state
            }
            ExprKind::IncDec { lvalue, .. } => {
                let state = self.read(lvalue, varying).under(varying);
                self.write(lvalue, state);
                state
            }
            ExprKind::Call { func, args, .. } | ExprKind::CallLanes { func, args } => self.call(*func, args, varying),
            ExprKind::Intrinsic { op, args } => {
                let state = args.iter().fold(State::default(), |state, arg| state.join(self.expr(arg, varying)));
                intrinsic(*op, state)
            }
            ExprKind::Cond { cond, then, els } => {
                let cond = self.expr(cond, varying).is_varying;
                let (then, els) = (self.expr(then, varying || cond), self.expr(els, varying || cond));
                then.join(els).under(cond)
            }
            ExprKind::LogAnd(lhs, rhs) | ExprKind::LogOr(lhs, rhs) => {
                let lhs = self.expr(lhs, varying).is_varying;
                self.expr(rhs, varying || lhs).under(lhs)
            }
            ExprKind::Cast(_, operand) => {
                let state = self.expr(operand, varying);
                State { spaces: state.spaces | self.named_space(operand.ty), ..state }
            }
            _ => {
                let mut operands = Vec::new();
                children(expr, &mut operands);
                operands.into_iter().fold(State::default(), |state, operand| state.join(self.expr(operand, varying)))
            }
        }
    }

    /// Returns the bit of a pointer type's address space, or 0.
    fn named_space(&self, ty: Ty) -> u8 {
        match self.program.types.kind(ty) {
            TyKind::Pointer { space, .. } => bit(*space),
            _ => 0,
        }
    }

    fn call(&mut self, func: FuncId, args: &[Expr], varying: bool) -> State {
        let states: Vec<State> = args.iter().map(|arg| self.expr(arg, varying)).collect();
        let Some(callee) = self.program.functions.get(func.index()) else { return State::VARYING };
        if callee.is_library || callee.body.is_none() {
            return states.into_iter().fold(State::default(), State::join);
        }
        for (param, state) in callee.params.iter().zip(&states) {
            self.join_local(func, *param, *state);
        }
        self.results.get(func.index()).copied().unwrap_or(State::VARYING)
    }

    /// Returns the joined state of the expressions in an lvalue.
    fn operands_of(&mut self, lvalue: &Lvalue, varying: bool) -> State {
        let mut operands = Vec::new();
        lvalue_children(lvalue, &mut operands);
        let state = operands.into_iter().fold(State::default(), |state, operand| state.join(self.expr(operand, varying)));
        if let (LvalueKind::Compound { local, .. }, true) = (&lvalue.kind, varying) {
            self.join_local(self.current, *local, state);
        }
        state
    }

    fn read(&mut self, lvalue: &Lvalue, varying: bool) -> State {
        let address = self.operands_of(lvalue, varying);
        let own = root(lvalue).and_then(|local| self.locals.get(self.current.index())?.get(local.index()).copied());
        match own {
            Some(own) => own.under(address.is_varying),
            // Each work-item has its own private memory. The address spaces of the pointer are not those of the value.
            None => {
                let is_private = matches!(lvalue.space, Space::Private | Space::Generic) && is_dereference(lvalue);
                State { is_varying: address.is_varying || is_private, spaces: self.named_space(lvalue.ty.ty) }
            }
        }
    }

    fn write(&mut self, lvalue: &Lvalue, state: State) {
        if let Some(local) = root(lvalue) {
            self.join_local(self.current, local, state);
        }
    }
}

/// Returns the local variable that contains an lvalue.
fn root(lvalue: &Lvalue) -> Option<LocalId> {
    match &lvalue.kind {
        LvalueKind::Local(local) | LvalueKind::Compound { local, .. } => Some(*local),
        LvalueKind::Field { base, .. }
        | LvalueKind::Element { base, .. }
        | LvalueKind::Lanes { base, .. }
        | LvalueKind::LaneDyn { base, .. } => root(base),
        LvalueKind::Global(_) | LvalueKind::Deref(_) | LvalueKind::Temporary(_) => None,
    }
}

fn is_dereference(lvalue: &Lvalue) -> bool {
    match &lvalue.kind {
        LvalueKind::Deref(_) => true,
        LvalueKind::Field { base, .. }
        | LvalueKind::Element { base, .. }
        | LvalueKind::Lanes { base, .. }
        | LvalueKind::LaneDyn { base, .. } => is_dereference(base),
        _ => false,
    }
}

/// Returns the state of the result of an intrinsic. `state` is that of its arguments.
const fn intrinsic(op: Intrinsic, state: State) -> State {
    match op {
        Intrinsic::GetGlobalId
        | Intrinsic::GetLocalId
        | Intrinsic::GetGlobalLinearId
        | Intrinsic::GetLocalLinearId
        | Intrinsic::GetSubGroupId
        | Intrinsic::GetSubGroupLocalId
        | Intrinsic::GetSubGroupSize
        | Intrinsic::SubGroup(_)
        | Intrinsic::Atomic(_)
        | Intrinsic::AtomicInc
        | Intrinsic::AtomicDec
        | Intrinsic::AtomicCmpXchg
        | Intrinsic::AtomicCompareExchange
        | Intrinsic::AtomicFlagTestAndSet
        | Intrinsic::Clock { .. }
        | Intrinsic::WorkGroup(GroupFn::ScanInclusive(_) | GroupFn::ScanExclusive(_)) => State::VARYING,
        Intrinsic::WorkGroup(_) => State { is_varying: false, spaces: 0 },
        Intrinsic::VLoad | Intrinsic::VLoadHalf | Intrinsic::VLoadaHalf => State { is_varying: state.is_varying, spaces: 0 },
        Intrinsic::ToGlobal => State { is_varying: state.is_varying, spaces: 4 },
        Intrinsic::ToLocal => State { is_varying: state.is_varying, spaces: 2 },
        Intrinsic::ToPrivate => State { is_varying: state.is_varying, spaces: 1 },
        _ => state,
    }
}
