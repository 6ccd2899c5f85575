//! The layout of private variables.
//!
//! In element-major layout, the elements with the same index are contiguous for all lanes of a gang. So an access with
//! a uniform index is a vector access. A variable has this layout if its address is used only for accesses to elements
//! of one size. Other variables have item-major layout: the variables of a work-item are contiguous.

use rustc_hash::FxHashMap;

use crate::ir::{Function, Op, Region, Scalar, Type, Value, Var};

/// The layout of a function's private variables, for one work-item.
#[derive(Clone, Debug, Default)]
pub(super) struct PrivateMemory {
    /// The location of each variable.
    pub vars: Vec<Place>,
    /// Distance in bytes between the item-major variables of consecutive work-items.
    pub stride: u32,
    /// Bytes of the variables in element-major layout, for one work-item.
    pub element_major_bytes: u32,
}

/// The location of a variable in private memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// In item-major layout, at this byte offset in the variables of a work-item.
    ItemMajor(u32),
    /// In element-major layout, with elements of `element` bytes. The byte offset in the variables of the gang is `at`
    /// multiplied by the number of lanes.
    ElementMajor { at: u32, element: u32 },
}

impl PrivateMemory {
    /// Creates the layout for a function whose gangs have `lanes` lanes.
    pub(super) fn of(function: &Function, lanes: u32) -> Self {
        let elements = if lanes == 1 { FxHashMap::default() } else { elements(function) };
        let mut this = Self::default();
        let (mut end, mut align) = (0_u32, 16);
        for (index, var) in (0..).zip(&function.vars) {
            if let Some(&element) = elements.get(&Var(index)) {
                let at = this.element_major_bytes;
                this.element_major_bytes = at.saturating_add(var.size).next_multiple_of(16);
                this.vars.push(Place::ElementMajor { at, element });
                continue;
            }
            align = align.max(var.align);
            let at = end.next_multiple_of(var.align.max(4));
            this.vars.push(Place::ItemMajor(at));
            end = at.saturating_add(var.size);
        }
        // A gather of a narrow variable loads whole words, which can extend beyond the variable.
        this.stride = if end == 0 { 0 } else { (end + 4).next_multiple_of(align) };
        this
    }

    /// Whether a variable has element-major layout.
    pub(super) fn is_element_major(&self, var: Var) -> bool {
        matches!(self.vars.get(var.index()), Some(Place::ElementMajor { .. }))
    }
}

/// Returns the variables that can have element-major layout, and the size of their elements in bytes.
fn elements(function: &Function) -> FxHashMap<Var, u32> {
    let mut search = Search { function, roots: FxHashMap::default(), sizes: FxHashMap::default() };
    search.region(&function.body);
    search.sizes.into_iter().filter_map(|(var, size)| Some((var, size?))).collect()
}

struct Search<'f> {
    function: &'f Function,
    /// The variable that a pointer points into.
    roots: FxHashMap<Value, Var>,
    /// The size of the accessed elements in bytes; `None` if the variable cannot have element-major layout.
    sizes: FxHashMap<Var, Option<u32>>,
}

impl Search<'_> {
    fn keep_layout(&mut self, value: Value) {
        if let Some(&var) = self.roots.get(&value) {
            self.sizes.insert(var, None);
        }
    }

    fn access(&mut self, pointer: Value, ty: Type, align: u32) {
        let Some(&var) = self.roots.get(&pointer) else { return };
        let size = ty.scalar().map_or(8, Scalar::size);
        let fits = align >= size && matches!(size, 1 | 2 | 4 | 8);
        let known = self.sizes.get(&var).copied();
        let new = match known {
            _ if !fits => None,
            None => Some(size),
            Some(known) => known.filter(|&known| known == size),
        };
        self.sizes.insert(var, new);
    }

    /// Analyses a region. One forward pass suffices, because definitions precede uses.
    fn region(&mut self, region: &Region) {
        for inst in &region.insts {
            match &inst.op {
                Op::VarAddr(var) => drop(inst.results.first().map(|&result| self.roots.insert(result, *var))),
                Op::PtrAdd(base, offset) => {
                    self.keep_layout(*offset);
                    if let (Some(&var), Some(&result)) = (self.roots.get(base), inst.results.first()) {
                        self.roots.insert(result, var);
                    }
                }
                Op::Load { ptr, align, .. } => {
                    if let Some(&result) = inst.results.first() {
                        self.access(*ptr, self.function.ty(result), *align);
                    }
                }
                Op::Store { ptr, value, align, .. } => {
                    self.keep_layout(*value);
                    self.access(*ptr, self.function.ty(*value), *align);
                }
                op => op.for_each_operand(|value| self.keep_layout(value)),
            }
            inst.op.regions().into_iter().for_each(|nested| self.region(nested));
        }
    }
}
