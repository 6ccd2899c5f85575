//! Divergence analysis: how values differ between work-items, and which work-items execute an instruction together.
//!
//! ```text
//! %1 = workitem.local_id 0        stride 1
//! %2 = shl %1, 2                   stride 4
//! %3 = ptr_add %p, %2              stride 4 (bytes)
//! %4 = workitem.group_id 0        uniform in a group
//! %5 = mul %1, %1                  varying
//! if ult %1, %n { ... }            divergent control flow
//! ```
//! # The lattice
//! Each value has two properties. They start at the top element and descend until nothing changes.
//!
//! * [`Variation`], between neighbouring work-items of dimension 0. The top element is "not computed yet". Below it are
//!   "uniform" and every stride, which are not comparable with each other. The bottom element is "varying". Integers of
//!   N = 32 or 64 bits have strides modulo 2^N; addresses have strides in bytes modulo 2^32.
//! * [`Scope`], the set of work-items with the same value: the launch, a group, a subgroup, or a single work-item. In
//!   a group of several dimensions, a value may be uniform along dimension 0 but not in the group.
//!
//! Both properties refer to the work-items that compute the value together, in the same iteration of each loop.
//!
//! # Transfer functions
//! * Operations without effects are uniform if their operands are. Sums, differences, products with constants and
//!   shifts by constants keep strides.
//! * A load is uniform if its address is, and if nothing may change the memory between the loads of two work-items.
//!   [`StableLoads`] defines these loads.
//! * Results of uniform control flow are the join of the incoming values. Results of divergent control flow are
//!   varying. An `if` or `switch` is divergent if its selector is not uniform. A loop is divergent if some work-items
//!   leave it earlier than others. Such a loop also reduces the scope of its parameters, because work-items may be in
//!   different iterations.
//!
//! # Complexity
//! A traversal visits each instruction once, and the bodies of loops once more per enclosing loop. Traversals repeat
//! until nothing changes. Each value can descend at most a few times. In practice, there are two or three traversals.
//!
//! The vectoriser uses this analysis to find code that runs once per group. For the lanes of a vector, which run in
//! lockstep, the vectoriser has a separate analysis (`vectorize::uniformity`).

mod control;

use super::definitions::Definitions;
use super::strides::stride;
use super::targets::Targets;
use crate::ir::{CastOp, Function, GroupOp, Op, Region, Space, Type, Value, WorkItem};
pub(crate) use control::Together;

/// How a value changes between neighbouring work-items of dimension 0.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Variation {
    /// Not computed yet, or unreachable.
    Unknown,
    Uniform,
    /// Increases by this number, which is not 0.
    Stride(u64),
    Varying,
}

/// The work-items that have the same value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Scope {
    /// Only the work-item itself.
    Item,
    /// The work-items of a subgroup.
    Subgroup,
    /// The work-items of a group.
    Group,
    Launch,
}

/// The parameters of the analysis.
#[derive(Clone, Copy)]
pub(crate) struct DivergenceParams {
    /// Work-group size in each dimension. A pass that combines neighbouring work-items may use the number of combined
    /// work-items instead.
    pub group: [u32; 3],
    /// Whether the global offset is zero. Global ids then do not wrap within a group.
    pub zero_offset: bool,
    /// The loads that return the same value to all work-items with the same address, independent of when they execute.
    pub stable: StableLoads,
}

/// Loads that return the same value to two work-items with the same address. This excludes volatile loads and loads
/// from private memory.
#[derive(Clone, Copy)]
pub(crate) enum StableLoads {
    /// Loads from constant memory, which is never written.
    Constant,
    /// All loads. Correct for kernels without synchronisation, because a work-item may see memory before or after the
    /// writes of another one.
    Unordered,
}

/// The result of the analysis for a kernel.
pub(crate) struct Divergence<'f> {
    function: &'f Function,
    definitions: Definitions<'f>,
    params: DivergenceParams,
    variations: Vec<Variation>,
    scopes: Vec<Scope>,
    changed: bool,
}

impl Variation {
    fn join(self, other: Self) -> Self {
        match (self, other) {
            (Self::Unknown, variation) | (variation, Self::Unknown) => variation,
            (a, b) if a == b => a,
            _ => Self::Varying,
        }
    }

    /// The stride; 0 if uniform, `None` if varying or not computed yet.
    const fn stride(self) -> Option<u64> {
        match self {
            Self::Uniform => Some(0),
            Self::Stride(stride) => Some(stride),
            Self::Unknown | Self::Varying => None,
        }
    }

    /// The variation of an integer or address of type `ty` whose stride is `stride` modulo 2^64.
    fn of_stride(stride: u64, ty: Type) -> Self {
        let stride = stride & if ty == Type::I64 { u64::MAX } else { u64::from(u32::MAX) };
        if stride == 0 { Self::Uniform } else { Self::Stride(stride) }
    }
}

impl<'f> Divergence<'f> {
    /// Analyses a function whose body is `body`.
    pub(crate) fn of(function: &'f Function, body: &'f Region, params: DivergenceParams) -> Self {
        let count = function.values.len();
        let mut this = Self {
            function,
            definitions: Definitions::of_body(function, body, 0),
            params,
            variations: vec![Variation::Unknown; count],
            scopes: vec![Scope::Launch; count],
            changed: true,
        };
        let known = if function.kernel.is_some() { (Variation::Uniform, Scope::Launch) } else { (Variation::Varying, Scope::Item) };
        for &param in &function.params {
            this.join(param, known);
        }
        while std::mem::take(&mut this.changed) {
            this.region(body, Targets::NONE);
        }
        this
    }

    /// The variation of a value.
    pub(crate) fn variation(&self, value: Value) -> Variation {
        self.variations.get(value.index()).copied().unwrap_or(Variation::Varying)
    }

    /// The variation of each value, by number, for passes that rewrite the function.
    pub(crate) fn into_variations(self) -> Vec<Variation> {
        self.variations
    }

    /// The largest scope in which a value is uniform, among the work-items that compute it together.
    pub(crate) fn scope(&self, value: Value) -> Scope {
        self.scopes.get(value.index()).copied().unwrap_or(Scope::Item)
    }

    /// Whether a value is uniform in a group, among the work-items that compute it together.
    pub(crate) fn is_uniform_in_group(&self, value: Value) -> bool {
        self.scope(value) >= Scope::Group
    }

    /// Joins a variation and a scope into those of a value.
    fn join(&mut self, value: Value, (variation, scope): (Variation, Scope)) {
        let (old, known) = (self.variation(value), self.scope(value));
        let new = (old.join(variation), known.min(scope));
        self.changed |= new != (old, known);
        (self.variations[value.index()], self.scopes[value.index()]) = new;
    }

    fn join_all(&mut self, from: &[Value], to: &[Value]) {
        for (&from, &to) in from.iter().zip(to) {
            self.join(to, (self.variation(from), self.scope(from)));
        }
    }

    /// Joins `scope`, in which control flow is uniform, into the results of this control flow.
    fn join_scope(&mut self, results: &[Value], scope: Scope) {
        let variation = if scope < Scope::Group { Variation::Varying } else { Variation::Unknown };
        results.iter().for_each(|&result| self.join(result, (variation, scope)));
    }

    fn region(&mut self, region: &Region, targets: Targets<'_>) {
        for inst in &region.insts {
            match &inst.op {
                Op::If { cond: selector, .. } | Op::Switch { selector, .. } => {
                    for nested in inst.op.regions() {
                        self.region(nested, targets.in_branch(&inst.results));
                    }
                    self.join_scope(&inst.results, self.scope(*selector));
                }
                Op::Loop { init, params, body, .. } => {
                    self.join_all(init, params);
                    self.region(body, Targets::in_loop(params, &inst.results));
                    let scope = self.split_scope(inst);
                    self.join_scope(&inst.results, scope);
                    params.iter().for_each(|&param| self.join(param, (Variation::Unknown, scope)));
                }
                op => {
                    if let Some((from, to)) = targets.of(op) {
                        self.join_all(from, to);
                    }
                    for &result in &inst.results {
                        let variation = self.operation(op, result, &|value| self.variation(value));
                        self.join(result, (variation, self.scope_of(op)));
                    }
                }
            }
        }
    }

    /// Whether an operation has equal results in all work-items that have equal operands.
    fn depends_only_on_operands(&self, op: &Op) -> bool {
        match *op {
            Op::Load { ptr, volatile: false, .. } => {
                let Type::Ptr(space) = self.function.ty(ptr) else { return false };
                match self.params.stable {
                    StableLoads::Constant => space == Space::Constant,
                    StableLoads::Unordered => space != Space::Private,
                }
            }
            Op::WorkItem(_) => false,
            ref op => op.is_pure(),
        }
    }

    /// The variation of the result of an operation without regions, given the variation `of` its operands.
    pub(crate) fn operation(&self, op: &Op, result: Value, of: &dyn Fn(Value) -> Variation) -> Variation {
        if let &Op::WorkItem(query) = op {
            return self.query_variation(query);
        }
        if !self.depends_only_on_operands(op) {
            return Variation::Varying;
        }
        let mut uniform = true;
        op.for_each_operand(|value| uniform &= of(value) == Variation::Uniform);
        let otherwise = if uniform { Variation::Uniform } else { Variation::Varying };
        self.strided(op, self.function.ty(result), of).unwrap_or(otherwise)
    }

    /// The variation of the result of an operation that keeps strides. `None` if the operands have no strides, or the
    /// operation does not keep them.
    fn strided(&self, op: &Op, ty: Type, of: &dyn Fn(Value) -> Variation) -> Option<Variation> {
        let stride = match *op {
            Op::Cast(CastOp::ZExt, a) if ty == Type::I64 && self.is_small_id(a) => of(a).stride().filter(|&stride| stride == 1)?,
            _ => stride(self.function, &self.definitions, op, ty, |value| of(value).stride())?,
        };
        Some(Variation::of_stride(stride, ty))
    }

    /// Whether a value is an id that does not wrap within a group.
    fn is_small_id(&self, value: Value) -> bool {
        match self.definitions.get(value) {
            Some(Op::WorkItem(WorkItem::LocalId(_))) => true,
            Some(Op::WorkItem(WorkItem::GlobalId(_))) => self.params.zero_offset,
            _ => false,
        }
    }

    /// Whether a group has only one work-item in a dimension.
    fn is_alone(&self, dimension: u8) -> bool {
        self.params.group.get(usize::from(dimension)).is_some_and(|&size| size <= 1)
    }

    fn query_variation(&self, query: WorkItem) -> Variation {
        match query {
            WorkItem::GlobalId(0) | WorkItem::LocalId(0) if !self.is_alone(0) => Variation::Stride(1),
            WorkItem::SubgroupLocalId | WorkItem::SubgroupId => Variation::Varying,
            _ => Variation::Uniform,
        }
    }

    /// The scope of the result of an operation without regions.
    fn scope_of(&self, op: &Op) -> Scope {
        match op {
            Op::WorkItem(query) => match query {
                WorkItem::LocalId(dimension) if self.is_alone(*dimension) => Scope::Launch,
                WorkItem::GlobalId(dimension) if self.is_alone(*dimension) => Scope::Group,
                WorkItem::GlobalId(_) | WorkItem::LocalId(_) | WorkItem::SubgroupLocalId => Scope::Item,
                WorkItem::SubgroupId => Scope::Subgroup,
                WorkItem::GroupId(_) | WorkItem::LocalSize(_) | WorkItem::SubgroupSize | WorkItem::NumSubgroups => Scope::Group,
                _ => Scope::Launch,
            },
            Op::Group {
                sub: true,
                op: GroupOp::All | GroupOp::Any | GroupOp::Broadcast | GroupOp::Reduce(_) | GroupOp::BroadcastFirst | GroupOp::Ballot,
                ..
            } => Scope::Subgroup,
            Op::Group { sub: false, op: GroupOp::All | GroupOp::Any | GroupOp::Broadcast | GroupOp::Reduce(_), .. } => Scope::Group,
            op if self.depends_only_on_operands(op) => {
                let mut scope = Scope::Launch;
                op.for_each_operand(|value| scope = scope.min(self.scope(value)));
                scope
            }
            _ => Scope::Item,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Divergence, DivergenceParams, Scope, StableLoads, Variation};
    use crate::ir::Value;
    use crate::ir::read::read_module;

    /// Analyses a kernel with the parameters `%0: ptr.global`, `%1: ptr.constant` and `%2: i32`, and the given group
    /// size. Returns the results for `values`.
    fn analyse(body: &str, group: [u32; 3], values: &[u32]) -> Vec<(Variation, Scope)> {
        let text = format!("kernel @f0 \"k\" (%0: ptr.global buffer, %1: ptr.constant buffer, %2: i32 value) {{\n{body}\n  return\n}}\n");
        let module = read_module(&text).expect("the text is IR");
        let function = &module.functions[0];
        let divergence =
            Divergence::of(function, &function.body, DivergenceParams { group, zero_offset: true, stable: StableLoads::Constant });
        values.iter().map(|&value| (divergence.variation(Value(value)), divergence.scope(Value(value)))).collect()
    }

    #[test]
    fn sums_keep_strides() {
        let body = "%3: i32 = workitem.local_id 0\n%4: i32 = const 12\n%5: i32 = mul %3, %4\n%6: ptr.global = ptr_add %0, %5
            %7: i64 = zext %3\n%8: i64 = const 33\n%9: i64 = shl %7, %8\n%10: i32 = trunc %9\n%11: i32 = sub %5, %5\n%12: i32 = mul %3, %3";
        assert_eq!(
            analyse(body, [64, 1, 1], &[3, 5, 6, 7, 9, 10, 11, 12]),
            [
                (Variation::Stride(1), Scope::Item),
                (Variation::Stride(12), Scope::Item),
                (Variation::Stride(12), Scope::Item),
                (Variation::Stride(1), Scope::Item),
                (Variation::Stride(1 << 33), Scope::Item),
                (Variation::Uniform, Scope::Item),
                (Variation::Uniform, Scope::Item),
                (Variation::Varying, Scope::Item),
            ]
        );
    }

    #[test]
    fn rows_of_a_group_differ() {
        let body = "%3: i32 = workitem.local_id 1\n%4: i32 = workitem.group_id 0\n%5: i32 = add %3, %4\n%6: i32 = add %2, %2";
        let row = (Variation::Uniform, Scope::Item);
        let launch = (Variation::Uniform, Scope::Launch);
        let group = (Variation::Uniform, Scope::Group);
        assert_eq!(analyse(body, [8, 8, 1], &[3, 4, 5, 6]), [row, group, row, launch]);
        assert_eq!(analyse(body, [64, 1, 1], &[3, 5]), [launch, group]);
    }

    #[test]
    fn loads_from_constant_memory_are_uniform() {
        let body = "%3: i32 = load %0 align 4\n%4: i32 = load %1 align 4";
        assert_eq!(analyse(body, [64, 1, 1], &[3, 4]), [(Variation::Varying, Scope::Item), (Variation::Uniform, Scope::Launch)]);
    }

    #[test]
    fn results_of_divergent_loops_vary() {
        let looped = |bound: &str| {
            format!(
                "%3: i32 = const 0\n%4: i32 = const 1\n%5: i32 = workitem.local_id 0
                %6: i32 = loop (%7: i32 = %3) {{
                    %8: bool = ult %7, {bound}
                    if %8 {{ yield }} else {{ break %7 }}
                    %9: i32 = add %7, %4
                    continue %9
                }}"
            )
        };
        assert_eq!(analyse(&looped("%2"), [64, 1, 1], &[6, 7]), [(Variation::Uniform, Scope::Launch); 2]);
        assert_eq!(analyse(&looped("%5"), [64, 1, 1], &[6, 7]), [(Variation::Varying, Scope::Item), (Variation::Uniform, Scope::Item)]);
    }

    #[test]
    fn results_of_divergent_branches_vary() {
        let body = |selector: &str| {
            format!(
                "%3: i32 = const 4\n%4: i32 = const 5\n%5: i32 = workitem.local_id 0
                %6: bool = ult {selector}, %3
                %7: i32 = if %6 {{ yield %3 }} else {{ yield %3 }}"
            )
        };
        assert_eq!(analyse(&body("%2"), [64, 1, 1], &[7]), [(Variation::Uniform, Scope::Launch)]);
        assert_eq!(analyse(&body("%5"), [64, 1, 1], &[7]), [(Variation::Varying, Scope::Item)]);
    }
}
