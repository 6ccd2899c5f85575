//! The index space of a launch (OpenCL API 3.2).

/// The maximum of a dimension of the global size. Kernels use 32 bits for each dimension.
pub const MAX_GLOBAL_SIZE: u32 = u32::MAX;

/// An NDRange as the application passes it.
#[derive(Clone, Copy, Debug)]
pub struct NdRange<'a> {
    /// Number of dimensions.
    pub work_dim: u32,
    pub global_offset: Option<&'a [usize]>,
    pub global_size: Option<&'a [usize]>,
    /// `work_dim` values, or `None` if the driver chooses the size.
    pub local_size: Option<&'a [usize]>,
}

pub(crate) fn widen(values: Option<&[usize]>, default: u64) -> [u64; 3] {
    let mut wide = [default; 3];
    for (wide, value) in wide.iter_mut().zip(values.unwrap_or(&[])) {
        *wide = *value as u64;
    }
    wide
}
