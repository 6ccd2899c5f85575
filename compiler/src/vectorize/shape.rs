//! The shape of gangs: which work-items are the lanes of vectors, and which registers represent a value.
//!
//! A *gang* consists of work-items with consecutive linear local ids, or of neighbours along another dimension
//! ([`super::dimension`]). Let `W` be the number of 32-bit lanes of a vector. A value of at most 32 bits occupies
//! `lanes / W` registers for a gang, at least one. A 64-bit value occupies `lanes / (W / 2)` registers, at least one.
//! If the lanes of a gang are along [`Shape::vector_dimension`], the ids of that dimension grow by one from lane to
//! lane. The ids of the other dimensions are uniform.

use wgcl_codegen::Isa;
use wgcl_codegen::vir::{Elem, Type};

use crate::ir::Scalar;

/// The assignment of the work-items of a group to gangs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Shape {
    pub isa: Isa,
    /// Work-items per gang: 1, or a power of two of at least 4.
    pub lanes: u32,
    /// The work-items of a group in each dimension.
    pub group: [u32; 3],
    /// The dimension along which consecutive lanes are neighbours.
    pub vector_dimension: u8,
    /// Whether the lanes of each gang differ only in the id of `vector_dimension`.
    pub along_dimension: bool,
    /// Whether the global id of lane 0 of each gang is a multiple of `lanes`, along dimension 0.
    pub aligned: bool,
}

/// Returns the subgroup size of a kernel that does not require a size: the number of 32-bit lanes of a vector.
pub(super) const fn subgroup_size(isa: Isa) -> u32 {
    match isa.caps().vector_bytes / 4 {
        0 => 1,
        lanes => lanes,
    }
}

/// Returns the subgroup sizes that a kernel may require, from four work-items to two vectors. A size `n` is the bit
/// with the value `n`.
pub(super) const fn subgroup_sizes(isa: Isa) -> u32 {
    match subgroup_size(isa) {
        1 => 1,
        lanes => (4 * lanes - 1) & !3,
    }
}

/// The kind of registers that represent a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Mode {
    /// One scalar for all lanes.
    Uniform,
    Varying,
}

impl Shape {
    /// Returns the best shape for groups of a size, with at most `widest` lanes per gang.
    pub(super) fn of(isa: Isa, group: [u32; 3], widest: u32) -> Self {
        let group = group.map(|size| size.max(1));
        let vector_dimension = (0_u8..3).find(|&dimension| group[usize::from(dimension)] > 1).unwrap_or(0);
        let (items, row) = (items(group), group[usize::from(vector_dimension)]);
        let most = (isa.caps().vector_bytes / 4).min(widest);
        let wide = |lanes: u32| Self {
            isa,
            lanes,
            group,
            vector_dimension,
            along_dimension: row == items || row.is_multiple_of(lanes),
            aligned: false,
        };
        let widths = || [16, 8, 4].into_iter().filter(|&lanes| lanes <= most);
        let whole = widths().find(|&lanes| row.is_multiple_of(lanes));
        // If the row is not a multiple of a vector, gangs may cross rows, and the last gang may be partial.
        let part = || widths().rev().find(|&lanes| lanes >= items).or_else(|| widths().next()).filter(|_| items > 2);
        let lanes = whole.or_else(part);
        lanes.map_or(Self { isa, lanes: 1, group, vector_dimension, along_dimension: true, aligned: false }, wide)
    }

    /// Returns the shape in which each work-item is its own gang and subgroup.
    pub(super) fn scalar(isa: Isa, group: [u32; 3]) -> Self {
        Self::of(isa, group, 1)
    }

    /// Returns the shape whose gangs are subgroups of a size. Only the last gang of a group may be smaller.
    pub(super) fn of_subgroups(isa: Isa, group: [u32; 3], lanes: u32) -> Self {
        let group = group.map(|size| size.max(1));
        let vector_dimension = (0_u8..3).find(|&dimension| group[usize::from(dimension)] > 1).unwrap_or(0);
        let row = group[usize::from(vector_dimension)];
        Self { isa, lanes, group, vector_dimension, along_dimension: row == items(group) || row.is_multiple_of(lanes), aligned: false }
    }

    /// Returns the shape for launches without an offset. All groups except the last ones have `enqueued` work-items in
    /// dimension 0.
    pub(super) fn without_offset(self, enqueued: u32) -> Self {
        let aligned = self.vector_dimension == 0 && self.group[0].is_multiple_of(self.lanes) && enqueued.is_multiple_of(self.lanes);
        Self { aligned, ..self }
    }

    /// Returns the distance in the order of lanes between two work-items whose ids differ by one in a dimension.
    /// `vector_dimension` counts fastest, then the other dimensions in order.
    pub(super) fn lane_distance(&self, dimension: u8) -> u32 {
        let comes_first = |other: u8| dimension != self.vector_dimension && (other == self.vector_dimension || other < dimension);
        (0..3).filter(|&other| comes_first(other)).map(|other| self.group[usize::from(other)]).product()
    }

    pub(super) fn items(&self) -> u32 {
        items(self.group)
    }

    /// Returns the number of gangs of a group.
    pub(super) fn gangs(&self) -> u32 {
        self.items().div_ceil(self.lanes)
    }

    /// Returns the number of work-items along `vector_dimension` if a group has several such rows, and no gang crosses
    /// rows.
    pub(super) fn row(&self) -> Option<u32> {
        let row = self.group[usize::from(self.vector_dimension)];
        (self.lanes > 1 && self.along_dimension && row.is_multiple_of(self.lanes) && row < self.items()).then_some(row)
    }

    /// Whether the last gang of a group has fewer work-items than lanes.
    pub(super) fn has_partial_gang(&self) -> bool {
        !self.items().is_multiple_of(self.lanes)
    }

    /// Returns the number of lanes of a register with 32-bit lanes.
    pub(super) fn lanes32(&self) -> u32 {
        self.lanes.min((self.isa.caps().vector_bytes / 4).max(1))
    }

    /// Returns the number of lanes of a register with 64-bit lanes.
    pub(super) fn lanes64(&self) -> u32 {
        self.lanes.min((self.isa.caps().vector_bytes / 8).max(1))
    }

    /// Returns the number of registers of one component.
    pub(super) fn registers(&self, scalar: Scalar, mode: Mode) -> usize {
        if mode == Mode::Uniform {
            return 1;
        }
        (self.lanes / if elem(scalar).bits() == 64 { self.lanes64() } else { self.lanes32() }) as usize
    }

    /// Returns the type of the registers of a scalar type. A uniform `bool` is an `i32`, a varying `bool` is a mask.
    pub(super) fn register(&self, scalar: Scalar, mode: Mode) -> Type {
        match mode {
            Mode::Uniform => Type::Scalar(elem(scalar)),
            Mode::Varying if scalar == Scalar::Bool => Type::mask(self.lanes32() as u8, 32),
            Mode::Varying => self.vector(elem(scalar)),
        }
    }

    /// Returns the type of a vector register of an element.
    pub(super) fn vector(&self, elem: Elem) -> Type {
        Type::Vector(elem, (if elem.bits() == 64 { self.lanes64() } else { self.lanes32() }) as u8)
    }

    /// Returns the type of masks for vectors of 64-bit lanes.
    pub(super) fn mask64(&self) -> Type {
        Type::mask(self.lanes64() as u8, 64)
    }
}

/// Returns the element that represents a scalar type in a register. Narrow integers and `half` are in 32 bits whose
/// upper bits are undefined.
pub(super) const fn elem(scalar: Scalar) -> Elem {
    match scalar {
        Scalar::Bool | Scalar::I8 | Scalar::I16 | Scalar::F16 | Scalar::I32 => Elem::I32,
        Scalar::I64 => Elem::I64,
        Scalar::F32 => Elem::F32,
        Scalar::F64 => Elem::F64,
    }
}

fn items(group: [u32; 3]) -> u32 {
    group.iter().fold(1_u32, |product, &size| product.saturating_mul(size))
}

#[cfg(test)]
mod tests {
    use super::{Shape, subgroup_size, subgroup_sizes};
    use wgcl_codegen::Isa;

    #[test]
    fn lanes_divide_rows_if_possible() {
        let of = |isa, group| {
            let shape = Shape::of(isa, group, u32::MAX);
            (shape.lanes, shape.vector_dimension, shape.along_dimension)
        };
        assert_eq!(of(Isa::AVX512, [64, 1, 1]), (16, 0, true));
        assert_eq!(of(Isa::AVX2, [64, 1, 1]), (8, 0, true));
        assert_eq!(of(Isa::AVX512, [8, 8, 1]), (8, 0, true));
        assert_eq!(of(Isa::AVX512, [1, 64, 1]), (16, 1, true));
        assert_eq!(of(Isa::AVX512, [5, 5, 1]), (16, 0, false));
        assert_eq!(of(Isa::AVX512, [7, 1, 1]), (8, 0, true));
        assert_eq!(of(Isa::AVX512, [100, 1, 1]), (4, 0, true));
        assert_eq!(of(Isa::AVX512, [1, 1, 1]), (1, 0, true));
        assert_eq!(of(Isa::SSE42, [64, 1, 1]), (1, 0, true));
    }

    #[test]
    fn lane_0_is_aligned_if_lanes_divide_dimension_0() {
        let of = |group, enqueued| Shape::of(Isa::AVX512, group, u32::MAX).without_offset(enqueued).aligned;
        assert!(of([64, 1, 1], 64) && of([8, 8, 1], 8) && of([32, 1, 1], 64));
        assert!(!of([7, 1, 1], 7) && !of([16, 1, 1], 20) && !of([1, 64, 1], 1));
    }

    #[test]
    fn subgroups_are_vectors_or_have_the_required_size() {
        let required = |isa, group, lanes| {
            let shape = Shape::of_subgroups(isa, group, lanes);
            (shape.lanes, shape.along_dimension, shape.gangs(), shape.has_partial_gang())
        };
        let of = |isa, group| required(isa, group, subgroup_size(isa));
        assert_eq!(of(Isa::AVX512, [64, 1, 1]), (16, true, 4, false));
        assert_eq!(of(Isa::AVX512, [8, 8, 1]), (16, false, 4, false));
        assert_eq!(of(Isa::AVX512, [3, 1, 1]), (16, true, 1, true));
        assert_eq!(of(Isa::AVX2, [20, 1, 1]), (8, true, 3, true));
        assert_eq!(of(Isa::SSE42, [20, 1, 1]), (1, true, 20, false));
        assert_eq!(required(Isa::AVX512, [40, 1, 1], 32), (32, true, 2, true));
        assert_eq!(required(Isa::AVX512, [8, 8, 1], 4), (4, true, 16, false));
        assert_eq!([Isa::AVX512, Isa::AVX2, Isa::SSE42].map(subgroup_sizes), [4 | 8 | 16 | 32, 4 | 8 | 16, 1]);
    }
}
