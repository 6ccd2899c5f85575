//! The range of a launch.

/// The global size and the work-group size of a launch. The global offset is zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Range {
    pub(super) dimensions: u32,
    pub(super) global: [u32; 3],
    pub(super) local: [u32; 3],
}

impl Range {
    /// Creates a one-dimensional range.
    pub const fn linear(global: u32, work_group: u32) -> Self {
        Self { dimensions: 1, global: [global, 1, 1], local: [work_group, 1, 1] }
    }

    /// Creates a range of two dimensions.
    pub const fn plane(global: [u32; 2], work_group: [u32; 2]) -> Self {
        Self { dimensions: 2, global: [global[0], global[1], 1], local: [work_group[0], work_group[1], 1] }
    }

    /// Creates a range of three dimensions.
    pub const fn space(global: [u32; 3], work_group: [u32; 3]) -> Self {
        Self { dimensions: 3, global, local: work_group }
    }

    /// Returns the number of work-groups in each dimension, which is the size of a dispatch.
    pub fn work_groups(&self) -> [u32; 3] {
        std::array::from_fn(|dimension| self.global[dimension].div_ceil(self.local[dimension].max(1)))
    }
}
