//! Divides private variables into slices that become SSA values, and chooses their types.
//!
//! Example: an access to an `i32` at offset 0 and an access to an `f32` at offset 4 result in two slices.

use crate::ir::{Scalar, Space, Type, Var};

/// A range of a variable's bytes that becomes an SSA value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::passes) struct Slice {
    /// Offset in the variable, in bytes.
    pub offset: u32,
    /// Size in bytes.
    pub size: u32,
    /// The type of the SSA value.
    pub ty: Type,
}

/// A load or store at a known offset of a variable.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(in crate::passes) struct Access {
    /// Offset in the variable, in bytes.
    pub offset: u32,
    /// Size in bytes.
    pub size: u32,
    pub ty: Type,
}

/// Variables with more slices stay in memory.
const MAX_SLICES: usize = 256;

/// All slices of a function's variables, numbered consecutively.
#[derive(Debug, Default)]
pub(super) struct Slices {
    pub list: Vec<Slice>,
    /// For each variable, the range of its slices in `list`, in order of their offsets. Empty if the variable stays in
    /// memory.
    ranges: Vec<std::ops::Range<usize>>,
}

impl Slices {
    /// Divides each variable. `accesses` contains the accesses to each variable, or `None` if it must stay in memory.
    pub(super) fn new(accesses: Vec<Option<Vec<Access>>>) -> Self {
        let mut slices = Self::default();
        for accesses in accesses {
            let start = slices.list.len();
            if let Some(accesses) = accesses
                && let Some(list) = divide(accesses)
            {
                slices.list.extend(list);
            }
            slices.ranges.push(start..slices.list.len());
        }
        slices
    }

    /// Whether the variable is promoted.
    pub(super) fn is_promoted(&self, var: Var) -> bool {
        self.ranges.get(var.index()).is_some_and(|range| !range.is_empty())
    }

    /// Returns the numbers of the slices that a range of bytes overlaps.
    pub(super) fn overlapping(&self, var: Var, offset: u32, size: u32) -> std::ops::Range<usize> {
        let Some(range) = self.ranges.get(var.index()) else { return 0..0 };
        let list = &self.list[range.clone()];
        let first = list.partition_point(|slice| slice.offset + slice.size <= offset);
        let end = list.partition_point(|slice| slice.offset < offset + size);
        range.start + first..range.start + end
    }
}

/// Returns the slices of one variable, or `None` if it stays in memory.
pub(in crate::passes) fn divide(mut accesses: Vec<Access>) -> Option<Vec<Slice>> {
    accesses.sort_unstable();
    let mut slices = Vec::new();
    let mut start = 0;
    while start < accesses.len() {
        // Finds the accesses that overlap, directly or indirectly.
        let mut end_byte = accesses[start].offset + accesses[start].size;
        let mut end = start + 1;
        while end < accesses.len() && accesses[end].offset < end_byte {
            end_byte = end_byte.max(accesses[end].offset + accesses[end].size);
            end += 1;
        }
        let overlapping = &accesses[start..end];
        match whole_slice(overlapping, end_byte) {
            Some(slice) => slices.push(slice),
            None => integer_slices(overlapping, &mut slices)?,
        }
        if slices.len() > MAX_SLICES {
            return None;
        }
        start = end;
    }
    Some(slices)
}

/// Returns one slice for overlapping accesses. Returns `None` unless every access covers the whole slice, or lanes of
/// its type.
fn whole_slice(overlapping: &[Access], end: u32) -> Option<Slice> {
    let offset = overlapping.first()?.offset;
    let size = end - offset;
    let covering = || overlapping.iter().filter(|access| access.size == size);
    let mut candidates: Vec<(usize, Type)> = Vec::new();
    for access in covering() {
        if let Some((count, _)) = candidates.iter_mut().find(|(_, ty)| *ty == access.ty) {
            *count += 1;
        } else if candidates.len() < 8 {
            candidates.push((1, access.ty));
        }
    }
    // Prefer pointer types: conversions to integers would hide the object that the pointer is based on.
    candidates.sort_by_key(|&(count, ty)| (!matches!(ty, Type::Ptr(_)), std::cmp::Reverse(count)));
    let fits = |ty: Type| {
        overlapping.iter().all(|access| {
            if access.size == size {
                return match (ty, access.ty) {
                    (Type::Ptr(_), other) | (other, Type::Ptr(_)) => {
                        matches!(other, Type::Ptr(_) | Type::Scalar(Scalar::I64 | Scalar::I32))
                    }
                    _ => true,
                };
            }
            let (Some(own), Some(lane)) = (access.ty.scalar(), ty.scalar()) else { return false };
            own.size() == lane.size() && (access.offset - offset).is_multiple_of(lane.size())
        })
    };
    let (_, ty) = candidates.into_iter().find(|&(_, ty)| fits(ty))?;
    let ty = match ty {
        Type::Ptr(_) if overlapping.iter().any(|access| access.ty != ty) => common_pointer(overlapping, ty),
        ty => bit_preserving(overlapping, ty),
    };
    Some(Slice { offset, size, ty })
}

/// Returns a pointer type for all pointers in overlapping accesses: `ty`, or a generic pointer if there are several
/// address spaces.
fn common_pointer(overlapping: &[Access], ty: Type) -> Type {
    let same = overlapping.iter().all(|access| access.ty == ty || !matches!(access.ty, Type::Ptr(_)));
    if same { ty } else { Type::Ptr(Space::Generic) }
}

/// Returns the type of a slice that preserves all bits. With integer and float accesses, this is an integer, because
/// devices may change the bits of NaNs.
fn bit_preserving(overlapping: &[Access], ty: Type) -> Type {
    let Some(scalar) = ty.scalar() else { return ty };
    let mixed = overlapping.iter().any(|access| access.ty.scalar().is_some_and(|other| other.is_float() != scalar.is_float()));
    if mixed && scalar.is_float() { Scalar::int_of_size(scalar.size()).map_or(ty, |int| ty.with_scalar(int)) } else { ty }
}

/// Appends integer slices between all boundaries of accesses and lanes. Returns `None` if there are too many slices.
fn integer_slices(overlapping: &[Access], slices: &mut Vec<Slice>) -> Option<()> {
    let mut cuts = Vec::new();
    for access in overlapping {
        let lane = access.ty.scalar()?.size();
        let lanes = u32::from(access.ty.lanes());
        cuts.extend((0..=lanes).map(|lane_index| access.offset + lane_index * lane));
        if cuts.len() > 4 * MAX_SLICES {
            cuts.sort_unstable();
            cuts.dedup();
            if cuts.len() > MAX_SLICES {
                return None;
            }
        }
    }
    cuts.sort_unstable();
    cuts.dedup();
    for pair in cuts.windows(2) {
        let (mut at, end) = (pair[0], pair[1]);
        while at < end {
            let mut size = 8;
            while at % size != 0 || at + size > end {
                size /= 2;
            }
            slices.push(Slice { offset: at, size, ty: Type::Scalar(Scalar::int_of_size(size)?) });
            at += size;
        }
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::{Access, Slice, divide};
    use crate::ir::{Scalar, Type};

    const FLOAT: Type = Type::Scalar(Scalar::F32);
    const FLOAT4: Type = Type::Vector(Scalar::F32, 4);
    const BYTE: Type = Type::Scalar(Scalar::I8);

    fn access(offset: u32, ty: Type) -> Access {
        Access { offset, size: ty.access_size(8), ty }
    }

    #[test]
    fn lanes_of_a_vector_stay_together() {
        let slices = divide(vec![access(16, FLOAT4), access(20, FLOAT), access(0, FLOAT)]);
        assert_eq!(slices, Some(vec![Slice { offset: 0, size: 4, ty: FLOAT }, Slice { offset: 16, size: 16, ty: FLOAT4 }]));
    }

    #[test]
    fn a_union_of_float_and_int_is_an_integer() {
        let slices = divide(vec![access(0, FLOAT), access(0, Type::I32)]);
        assert_eq!(slices, Some(vec![Slice { offset: 0, size: 4, ty: Type::I32 }]));
    }

    #[test]
    fn partially_accessed_integers_have_aligned_slices() {
        let slices = divide(vec![access(0, Type::I32), access(0, BYTE)]);
        let short = Type::Scalar(Scalar::I16);
        let expected =
            vec![Slice { offset: 0, size: 1, ty: BYTE }, Slice { offset: 1, size: 1, ty: BYTE }, Slice { offset: 2, size: 2, ty: short }];
        assert_eq!(slices, Some(expected));
    }
}
