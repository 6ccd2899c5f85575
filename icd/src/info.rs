//! Returns the results of the clGet...Info functions, with the same checks of sizes for all queries.

use wgcl_api::types::error::{Error, Result};
use wgcl_api::types::version::{NameVersion, Version};

use crate::ffi::{BytesMut, Out};
use wgcl_opencl_headers::CL_NAME_VERSION_MAX_NAME_SIZE;

/// A value in its C representation.
pub(crate) trait Encode {
    /// Appends the bytes of the value.
    fn encode(&self, out: &mut Vec<u8>);
}

macro_rules! numbers {
    ($($ty:ty)*) => {
        $(impl Encode for $ty {
            fn encode(&self, out: &mut Vec<u8>) {
                out.extend(self.to_ne_bytes());
            }
        })*
    };
}

numbers!(u8 u32 i32 u64 i64 usize isize);

/// cl_bool
impl Encode for bool {
    fn encode(&self, out: &mut Vec<u8>) {
        u32::from(*self).encode(out);
    }
}

/// A handle or a pointer.
impl<T> Encode for *mut T {
    fn encode(&self, out: &mut Vec<u8>) {
        self.addr().encode(out);
    }
}

/// A string with its terminating zero.
impl Encode for str {
    fn encode(&self, out: &mut Vec<u8>) {
        out.extend(self.bytes().filter(|&byte| byte != 0));
        out.push(0);
    }
}

impl Encode for String {
    fn encode(&self, out: &mut Vec<u8>) {
        self.as_str().encode(out);
    }
}

impl<T: Encode> Encode for [T] {
    fn encode(&self, out: &mut Vec<u8>) {
        self.iter().for_each(|value| value.encode(out));
    }
}

impl<T: Encode> Encode for Vec<T> {
    fn encode(&self, out: &mut Vec<u8>) {
        self.as_slice().encode(out);
    }
}

impl<T: Encode, const N: usize> Encode for [T; N] {
    fn encode(&self, out: &mut Vec<u8>) {
        self.as_slice().encode(out);
    }
}

impl<T: Encode + ?Sized> Encode for &T {
    fn encode(&self, out: &mut Vec<u8>) {
        (**self).encode(out);
    }
}

impl Encode for Version {
    fn encode(&self, out: &mut Vec<u8>) {
        self.0.encode(out);
    }
}

/// cl_name_version
impl Encode for NameVersion {
    fn encode(&self, out: &mut Vec<u8>) {
        let size = CL_NAME_VERSION_MAX_NAME_SIZE as usize;
        self.version.encode(out);
        let start = out.len();
        out.extend(self.name.bytes().take(size - 1));
        out.resize(start + size, 0);
    }
}

/// The destination of a query's result: param_value_size, param_value and param_value_size_ret.
pub(crate) struct Query {
    size: usize,
    value: BytesMut,
    size_ret: Out<usize>,
}

impl Query {
    /// Creates a query from the three arguments of the call.
    pub(crate) fn new(size: usize, value: BytesMut, size_ret: Out<usize>) -> Self {
        Self { size, value, size_ret }
    }

    /// Returns the size of the application's buffer in bytes.
    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Writes the value of the query.
    ///
    /// # Errors
    /// "CL_INVALID_VALUE ... if size in bytes specified by param_value_size is < size of return type and param_value
    /// is not NULL."
    pub(crate) fn put(&self, value: impl Encode) -> Result<()> {
        let mut bytes = Vec::new();
        value.encode(&mut bytes);
        if !self.value.is_null() {
            if self.size < bytes.len() {
                return Err(Error::InvalidValue(format!("the value has {} bytes, but the buffer has {}", bytes.len(), self.size).into()));
            }
            self.value.set(&bytes);
        }
        self.size_ret.set(bytes.len());
        Ok(())
    }

    /// Rejects an unknown query.
    ///
    /// # Errors
    /// Always: "CL_INVALID_VALUE if param_name is not valid."
    pub(crate) fn unknown(&self, param: u32) -> Result<()> {
        Err(Error::InvalidValue(format!("query {param:#x} is unknown").into()))
    }

    /// Stores the size of `count` pointers, and returns the application's buffer for them (CL_PROGRAM_BINARIES).
    /// Returns `None` if the buffer is null, and fails if it is too small.
    pub(crate) fn pointers(&self, count: usize) -> Result<Option<BytesMut>> {
        let bytes = count * size_of::<usize>();
        self.size_ret.set(bytes);
        if self.value.is_null() {
            return Ok(None);
        }
        if self.size < bytes {
            return Err(Error::InvalidValue(format!("the value has {bytes} bytes, but the buffer has {}", self.size).into()));
        }
        Ok(Some(self.value))
    }
}
