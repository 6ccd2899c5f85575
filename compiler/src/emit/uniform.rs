//! The uniformity analysis of WGSL: barriers must be in uniform control flow.
//!
//! Browsers reject a shader with a barrier unless their analysis (WGSL, section 15.2 "Uniformity") proves that all
//! work-items of a work-group execute it together. This module performs a more conservative analysis on the naga
//! module, so browsers accept every shader that it accepts.
//!
//! ```text
//! if (get_group_id(0) < n) barrier        uniform: group ids, arguments, read-only memory
//! while (m[0] > 0) barrier                not uniform for WGSL: written memory
//! if (get_local_id(0) < 5) barrier        not uniform
//! ```
//! # Taints
//! Each value, each variable at each position, and control flow at each position is uniform or tainted. Taint comes
//! from operands, from the last value of a variable, and from the control flow at the position. After an `if`, control
//! flow has the taint from before the `if`, unless the `if` contains a `break`, `continue` or `return`. After a loop,
//! control flow has the taint from before the loop, unless the loop contains a `return`. Loops are analysed until there
//! is no change. Taint only increases, so a few iterations suffice.
//!
//! # Loaded values
//! OpenCL C requires that all work-items of a work-group execute a barrier together, and the program must ensure this.
//! If control flow depends on a load from written memory, and each work-item loads from the same address, one
//! work-item's value is broadcast ([`super::broadcast`]). If control flow depends on the work-item's id, the kernel is
//! rejected.

use naga::{
    AddressSpace, Binding, Block, BuiltIn, Expression, Function, GlobalVariable, Handle, LocalVariable, Module, Range, Span, Statement,
    StorageAccess,
};

use super::nesting::operands;

/// The uniformity of a value in a work-group.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Level {
    Same,
    /// Computed from memory that all work-items read at the same address.
    Read,
    /// Possibly different in each work-item.
    Item,
}

/// The machine address of a statement. The function must not change during the analysis.
pub(super) type StatementAddress = usize;

/// Uniformity, and the cause of non-uniform control flow.
#[derive(Clone, Copy, Debug)]
pub(super) struct Taint {
    pub(super) level: Level,
    /// The branch that caused the taint of control flow, and its source location.
    pub(super) branch: Option<(StatementAddress, Span)>,
}

const SAME: Taint = Taint { level: Level::Same, branch: None };
const READ: Taint = Taint { level: Level::Read, branch: None };
const ITEM: Taint = Taint { level: Level::Item, branch: None };

impl Taint {
    fn join(self, other: Self) -> Self {
        if other.level > self.level { other } else { self }
    }
}

/// A barrier or subgroup operation that browsers would reject.
#[derive(Clone, Copy, Debug)]
pub(super) struct Failure {
    /// The source location of the operation.
    pub(super) span: Span,
    /// The taint of the control flow.
    pub(super) taint: Taint,
}

/// Returns the barrier or subgroup operation of the entry point whose control flow has the highest level of taint.
/// Returns `None` if control flow is uniform at all such operations.
pub(super) fn failure(module: &Module) -> Option<Failure> {
    let entry = module.entry_points.first()?;
    let mut returned: Vec<Taint> = Vec::new();
    for (_, function) in module.functions.iter() {
        // Callees come first. A call adds the taint of the arguments.
        let mut walk = Walk::new(module, function, vec![SAME; function.arguments.len()], &returned);
        walk.function();
        let taint = walk.result;
        returned.push(taint);
    }
    let arguments = entry.function.arguments.iter().map(|argument| match argument.binding {
        Some(Binding::BuiltIn(BuiltIn::WorkGroupId | BuiltIn::NumWorkGroups)) => SAME,
        _ => ITEM,
    });
    let mut walk = Walk::new(module, &entry.function, arguments.collect(), &returned);
    walk.function();
    walk.failure
}

/// How control flow leaves a statement (WGSL, section 9.8 "Statements Behavior Analysis").
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Ends {
    next: bool,
    breaks: bool,
    continues: bool,
    returns: bool,
}

impl Ends {
    const NEXT: Self = Self { next: true, breaks: false, continues: false, returns: false };

    const fn or(self, other: Self) -> Self {
        Self {
            next: self.next || other.next,
            breaks: self.breaks || other.breaks,
            continues: self.continues || other.continues,
            returns: self.returns || other.returns,
        }
    }
}

/// The taint of control flow and of each variable at a position.
#[derive(Clone, Debug)]
struct State {
    control: Taint,
    variables: Vec<Taint>,
}

/// Joins the variables of two paths where control flow joins.
fn join_variables(into: &mut Option<Vec<Taint>>, variables: &[Taint]) {
    match into {
        Some(known) => known.iter_mut().zip(variables).for_each(|(known, taint)| *known = known.join(*taint)),
        None => *into = Some(variables.to_vec()),
    }
}

/// An enclosing loop or switch, with the variables at its jumps.
struct Enclosing {
    is_loop: bool,
    breaks: Option<Vec<Taint>>,
    continues: Option<Vec<Taint>>,
}

/// The analysis of a function.
struct Walk<'m> {
    module: &'m Module,
    function: &'m Function,
    arguments: Vec<Taint>,
    /// The taint of each function's result if its arguments are uniform.
    returned: &'m [Taint],
    /// The taint of evaluated expressions.
    values: Vec<Taint>,
    enclosing: Vec<Enclosing>,
    result: Taint,
    failure: Option<Failure>,
}

impl<'m> Walk<'m> {
    fn new(module: &'m Module, function: &'m Function, arguments: Vec<Taint>, returned: &'m [Taint]) -> Self {
        let values = vec![SAME; function.expressions.len()];
        Self { module, function, arguments, returned, values, enclosing: Vec::new(), result: SAME, failure: None }
    }

    fn function(&mut self) {
        let mut state = State { control: SAME, variables: vec![SAME; self.function.local_variables.len()] };
        self.block(&self.function.body, &mut state);
    }

    // ---- values ----

    fn value(&self, expression: Handle<Expression>) -> Taint {
        match self.function.expressions[expression] {
            Expression::FunctionArgument(index) => self.arguments.get(index as usize).copied().unwrap_or(ITEM),
            _ => self.values[expression.index()],
        }
    }

    fn emit(&mut self, range: &Range<Expression>, state: &State) {
        for handle in range.clone() {
            let expression = &self.function.expressions[handle];
            let own = match *expression {
                Expression::Load { pointer } => self.loaded(pointer, state).join(state.control),
                _ => SAME,
            };
            self.values[handle.index()] = operands(expression).into_iter().fold(own, |taint, operand| taint.join(self.value(operand)));
        }
    }

    /// The taint of a value that is loaded through a pointer.
    fn loaded(&self, pointer: Handle<Expression>, state: &State) -> Taint {
        match self.root(pointer) {
            Some(Root::Local(variable)) => state.variables[variable.index()],
            Some(Root::Global(global)) => match self.module.global_variables[global].space {
                AddressSpace::Uniform | AddressSpace::Handle | AddressSpace::Immediate => SAME,
                AddressSpace::Storage { access } if !access.contains(StorageAccess::STORE) => SAME,
                AddressSpace::Storage { .. } | AddressSpace::WorkGroup => READ,
                _ => ITEM,
            },
            None => ITEM,
        }
    }

    /// The variable to which a pointer belongs.
    fn root(&self, mut pointer: Handle<Expression>) -> Option<Root> {
        loop {
            pointer = match self.function.expressions[pointer] {
                Expression::Access { base, .. } | Expression::AccessIndex { base, .. } => base,
                Expression::LocalVariable(variable) => return Some(Root::Local(variable)),
                Expression::GlobalVariable(variable) => return Some(Root::Global(variable)),
                _ => return None,
            };
        }
    }

    // ---- statements ----

    fn block(&mut self, block: &'m Block, state: &mut State) -> Ends {
        let mut all = Ends::NEXT;
        for (statement, span) in block.span_iter() {
            let ends = self.statement(statement, *span, state);
            all = Ends { next: ends.next, ..all.or(ends) };
            if !ends.next {
                // The following statements are unreachable.
                break;
            }
        }
        all
    }

    fn statement(&mut self, statement: &'m Statement, span: Span, state: &mut State) -> Ends {
        match statement {
            Statement::Emit(range) => self.emit(range, state),
            Statement::Block(block) => return self.block(block, state),
            Statement::If { condition, accept, reject } => {
                return self.branch((statement, span), *condition, [(accept, true), (reject, true)].into_iter(), state);
            }
            Statement::Switch { selector, cases } => {
                self.enclosing.push(Enclosing { is_loop: false, breaks: None, continues: None });
                let arms = cases.iter().map(|case| (&case.body, !case.fall_through));
                let ends = self.branch((statement, span), *selector, arms, state);
                let left = self.enclosing.pop().and_then(|enclosing| enclosing.breaks);
                return after_jumps(ends, left, state);
            }
            Statement::Loop { body, continuing, break_if } => {
                return self.loop_body((statement, span), (body, continuing), *break_if, state);
            }
            Statement::Break => {
                if let Some(enclosing) = self.enclosing.last_mut() {
                    join_variables(&mut enclosing.breaks, &state.variables);
                }
                return Ends { breaks: true, ..Ends::default() };
            }
            Statement::Continue => {
                if let Some(enclosing) = self.enclosing.iter_mut().rev().find(|enclosing| enclosing.is_loop) {
                    join_variables(&mut enclosing.continues, &state.variables);
                }
                return Ends { continues: true, ..Ends::default() };
            }
            Statement::Return { value } => {
                let value = value.map_or(SAME, |value| self.value(value));
                self.result = self.result.join(value).join(state.control);
                return Ends { returns: true, ..Ends::default() };
            }
            _ => self.plain(statement, span, state),
        }
        Ends::NEXT
    }

    /// Analyses a statement without nested control flow.
    fn plain(&mut self, statement: &Statement, span: Span, state: &mut State) {
        match statement {
            Statement::ControlBarrier(_) => self.require_uniform(span, state.control),
            Statement::WorkGroupUniformLoad { pointer, result } => {
                self.require_uniform(span, state.control.join(self.value(*pointer)));
                self.values[result.index()] = SAME;
            }
            Statement::Store { pointer, value } => {
                if let Some(Root::Local(variable)) = self.root(*pointer) {
                    let mut taint = self.value(*value).join(self.value(*pointer)).join(state.control);
                    if !matches!(self.function.expressions[*pointer], Expression::LocalVariable(_)) {
                        taint = taint.join(state.variables[variable.index()]);
                    }
                    state.variables[variable.index()] = taint;
                }
            }
            Statement::Atomic { result: Some(result), .. } => self.values[result.index()] = ITEM,
            Statement::Call { function, arguments, result } => {
                for &argument in arguments {
                    // The stores of a callee through its pointer arguments are not analysed, so the variable may differ
                    // in each work-item.
                    if let Some(Root::Local(variable)) = self.root(argument) {
                        state.variables[variable.index()] = ITEM;
                    }
                }
                if let Some(result) = result {
                    let own = self.returned.get(function.index()).copied().unwrap_or(ITEM).join(state.control);
                    self.values[result.index()] = arguments.iter().fold(own, |taint, &argument| taint.join(self.value(argument)));
                }
            }
            Statement::SubgroupBallot { result, .. }
            | Statement::SubgroupGather { result, .. }
            | Statement::SubgroupCollectiveOperation { result, .. } => {
                self.require_uniform(span, state.control);
                self.values[result.index()] = ITEM;
            }
            _ => {}
        }
    }

    /// Records a failure if control flow is not uniform at this position.
    fn require_uniform(&mut self, span: Span, taint: Taint) {
        if taint.level > Level::Same && self.failure.is_none_or(|known| known.taint.level < taint.level) {
            self.failure = Some(Failure { span, taint });
        }
    }

    /// Analyses an `if` or `switch`. For each arm, the Boolean is false if the arm falls through to the next arm.
    fn branch(
        &mut self,
        (statement, span): (&Statement, Span),
        selector: Handle<Expression>,
        arms: impl Iterator<Item = (&'m Block, bool)>,
        state: &mut State,
    ) -> Ends {
        let within = branch_control(state.control, self.value(selector), (statement, span));
        let (mut all, mut control, mut after) = (Ends::default(), SAME, None);
        for (arm, is_followed) in arms {
            let mut own = State { control: within, variables: state.variables.clone() };
            let ends = self.block(arm, &mut own);
            if ends.next && is_followed {
                join_variables(&mut after, &own.variables);
            }
            (all, control) = (all.or(ends), control.join(own.control));
        }
        let is_plain = all == Ends::NEXT || (all == Ends { breaks: true, ..Ends::NEXT } && matches!(statement, Statement::Switch { .. }));
        if !is_plain {
            state.control = control;
        }
        if let Some(after) = after {
            state.variables = after;
        }
        all
    }

    fn loop_body(
        &mut self,
        (statement, span): (&Statement, Span),
        (body, continuing): (&'m Block, &'m Block),
        break_if: Option<Handle<Expression>>,
        state: &mut State,
    ) -> Ends {
        let mut start = state.clone();
        let (ends, left) = loop {
            self.enclosing.push(Enclosing { is_loop: true, breaks: None, continues: None });
            let mut iteration = start.clone();
            let mut ends = self.block(body, &mut iteration);
            let enclosing = self.enclosing.pop();
            let (mut left, continues) = enclosing.map_or((None, None), |enclosing| (enclosing.breaks, enclosing.continues));
            let mut again = continues;
            if ends.next {
                join_variables(&mut again, &iteration.variables);
            }
            if let Some(variables) = again {
                iteration.variables = variables;
                self.block(continuing, &mut iteration);
                if let Some(condition) = break_if {
                    join_variables(&mut left, &iteration.variables);
                    iteration.control = branch_control(iteration.control, self.value(condition), (statement, span));
                    ends.breaks = true;
                }
            }
            let next = State {
                control: start.control.join(iteration.control),
                variables: start.variables.iter().zip(&iteration.variables).map(|(a, b)| a.join(*b)).collect(),
            };
            let levels = |state: &State| -> Vec<Level> {
                std::iter::once(state.control).chain(state.variables.iter().copied()).map(|taint| taint.level).collect()
            };
            if levels(&next) == levels(&start) {
                break (ends, left);
            }
            start = next;
        };
        if ends.returns {
            state.control = start.control;
        }
        after_jumps(Ends { next: false, continues: false, ..ends }, left, state)
    }
}

/// The variable to which a pointer belongs.
enum Root {
    Local(Handle<LocalVariable>),
    Global(Handle<GlobalVariable>),
}

/// The taint of control flow in a branch.
fn branch_control(control: Taint, selector: Taint, (statement, span): (&Statement, Span)) -> Taint {
    if selector.level > control.level { Taint { level: selector.level, branch: Some((address_of(statement), span)) } } else { control }
}

/// The address of a statement.
pub(super) fn address_of(statement: &Statement) -> StatementAddress {
    std::ptr::from_ref(statement).addr()
}

/// Updates the state after a loop or switch. `exits` are the variables at its exits.
fn after_jumps(ends: Ends, exits: Option<Vec<Taint>>, state: &mut State) -> Ends {
    if let Some(exits) = exits {
        if ends.next {
            let mut after = Some(std::mem::take(&mut state.variables));
            join_variables(&mut after, &exits);
            state.variables = after.unwrap_or_default();
        } else {
            state.variables = exits;
        }
    }
    Ends { next: ends.next || ends.breaks, breaks: false, ..ends }
}
