//! Converts C arguments to safe values. Only this module dereferences pointers of the application.
//!
//! [`entry!`](crate::entry) declares an `extern "C"` function whose body is safe code. Its parameters have the types
//! of this module. [`FromC::from_c`] converts each raw C argument under one assumption, the contract of the C API: a
//! pointer is null, or valid for the data and the time that the specification requires. Handles stay raw and
//! are never dereferenced ([`crate::handles`]).

use std::ffi::{CStr, c_char, c_void};
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::Arc;

use wgcl_api::backend::{HostSource, HostTarget, ValueBytes};
use wgcl_api::observe::trace;
use wgcl_api::types::error::{Error, Result};
use wgcl_api::types::host_memory::HostRegion;

use crate::errors;
use wgcl_opencl_headers::{CL_OUT_OF_HOST_MEMORY, CL_SUCCESS, cl_int};

/// A value converted from an argument of a C function.
pub(crate) trait FromC {
    /// The C type of the argument.
    type Raw;

    /// Converts the raw argument.
    ///
    /// # Safety
    /// `raw` must be an argument of a C call that meets the specification's contract: null, or valid for the number of
    /// elements that the call specifies.
    unsafe fn from_c(raw: Self::Raw) -> Self;
}

macro_rules! unchanged {
    ($($ty:ty)*) => {
        $(impl FromC for $ty {
            type Raw = Self;

            unsafe fn from_c(raw: Self) -> Self {
                raw
            }
        })*
    };
}

unchanged!(u32 i32 u64 i64 usize isize);

/// Handles, which are compared and not dereferenced.
impl<T> FromC for *mut T {
    type Raw = Self;

    unsafe fn from_c(raw: Self) -> Self {
        raw
    }
}

/// A pointer to an output value, which may be null.
pub(crate) struct Out<T>(*mut T);

impl<T> FromC for Out<T> {
    type Raw = *mut T;

    unsafe fn from_c(raw: *mut T) -> Self {
        Self(raw)
    }
}

impl<T> Out<T> {
    /// Whether the pointer is null.
    pub(crate) fn is_null(&self) -> bool {
        self.0.is_null()
    }

    /// Writes the value.
    pub(crate) fn set(&self, value: T) {
        if !self.0.is_null() {
            // SAFETY: by the contract of `from_c`, the pointer is valid for a value of this type. The write is
            // unaligned, because applications may pass unaligned pointers.
            unsafe { self.0.write_unaligned(value) };
        }
    }
}

/// A pointer to an output array, which may be null.
pub(crate) struct OutList<T>(*mut T);

impl<T> FromC for OutList<T> {
    type Raw = *mut T;

    unsafe fn from_c(raw: *mut T) -> Self {
        Self(raw)
    }
}

impl<T: Copy> OutList<T> {
    /// Whether the pointer is null.
    pub(crate) fn is_null(&self) -> bool {
        self.0.is_null()
    }

    /// Returns the first `count` elements of an array that is only read, although its C type is not const.
    pub(crate) fn get(&self, count: usize) -> Vec<T> {
        List(self.0.cast_const()).get(count)
    }

    /// Writes `values` to the first elements.
    pub(crate) fn set(&self, values: &[T]) {
        if !self.0.is_null() {
            // SAFETY: by the contract of `from_c`, the pointer is valid for the number of elements that the call
            // specifies. Callers have checked that `values` has at most this number.
            unsafe { ptr::copy_nonoverlapping(values.as_ptr(), self.0, values.len()) };
        }
    }
}

/// A list of properties: its names and values, and the original list with its terminating zero.
pub(crate) type Properties<T> = (Vec<(T, T)>, Vec<T>);

/// A pointer to an input array, which may be null. Also used in structures of the application.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct List<T>(*const T);

impl<T> FromC for List<T> {
    type Raw = *const T;

    unsafe fn from_c(raw: *const T) -> Self {
        Self(raw)
    }
}

impl<T: Copy> List<T> {
    /// Whether the pointer is null.
    pub(crate) fn is_null(&self) -> bool {
        self.0.is_null()
    }

    /// Returns the first `count` elements, or an empty list for a null pointer.
    pub(crate) fn get(&self, count: usize) -> Vec<T> {
        if self.0.is_null() {
            return Vec::new();
        }
        // SAFETY: the pointer is valid for `count` elements, by the contract of `from_c`.
        (0..count).map(|index| unsafe { self.0.add(index).read_unaligned() }).collect()
    }

    /// Checks every pair of a list of properties, and returns the list with its terminating zero. Returns `None` for a
    /// null pointer. Reading stops at an invalid pair, because such a list may lack its terminator.
    ///
    /// # Errors
    /// The error of `check`.
    pub(crate) fn checked_properties(&self, mut check: impl FnMut(T, T) -> Result<()>) -> Result<Option<Vec<T>>>
    where
        T: Default + PartialEq,
    {
        if self.0.is_null() {
            return Ok(None);
        }
        let mut all = Vec::new();
        loop {
            // SAFETY: by the contract of `from_c` the list continues until a name is zero, and every name is followed
            // by a value.
            let name = unsafe { self.0.add(all.len()).read_unaligned() };
            all.push(name);
            if name == T::default() {
                return Ok(Some(all));
            }
            // SAFETY: the name is not zero, so a value follows it.
            let value = unsafe { self.0.add(all.len()).read_unaligned() };
            all.push(value);
            check(name, value)?;
        }
    }

    /// Returns the pairs of a list of properties, and the original list with its terminating zero. Returns `None` for a
    /// null pointer.
    pub(crate) fn properties(&self) -> Option<Properties<T>>
    where
        T: Default + PartialEq,
    {
        if self.0.is_null() {
            return None;
        }
        let (mut pairs, mut all) = (Vec::new(), Vec::new());
        loop {
            // SAFETY: by the contract of `from_c` the list continues until a name is zero, and every name is followed
            // by a value.
            let name = unsafe { self.0.add(all.len()).read_unaligned() };
            all.push(name);
            if name == T::default() {
                return Some((pairs, all));
            }
            // SAFETY: the name is not zero, so a value follows it.
            let value = unsafe { self.0.add(all.len()).read_unaligned() };
            all.push(value);
            pairs.push((name, value));
        }
    }
}

/// A string that ends with a zero, or a null pointer.
pub(crate) struct Text(*const c_char);

impl FromC for Text {
    type Raw = *const c_char;

    unsafe fn from_c(raw: *const c_char) -> Self {
        Self(raw)
    }
}

impl Text {
    /// Returns the text, or `None` for a null pointer. Bytes that are not UTF-8 become replacement characters.
    pub(crate) fn get(&self) -> Option<String> {
        if self.0.is_null() {
            return None;
        }
        // SAFETY: the pointer is valid for a string that ends with a zero, by the contract of `from_c`.
        Some(unsafe { CStr::from_ptr(self.0) }.to_string_lossy().into_owned())
    }
}

/// An array of strings with or without lengths.
pub(crate) struct Texts(*const *const c_char);

impl FromC for Texts {
    type Raw = *mut *const c_char;

    unsafe fn from_c(raw: *mut *const c_char) -> Self {
        Self(raw.cast_const())
    }
}

impl Texts {
    /// Returns the bytes of `count` strings. A string without a length in `lengths`, or with the length 0, ends at its
    /// terminating zero. Returns `None` if the pointer of a string is null.
    pub(crate) fn get(&self, count: usize, lengths: &[usize]) -> Option<Vec<Vec<u8>>> {
        List(self.0)
            .get(count)
            .into_iter()
            .enumerate()
            .map(|(index, text)| match lengths.get(index) {
                _ if text.is_null() => None,
                // SAFETY: the string has that many bytes, by the contract of `from_c`.
                Some(&length) if length != 0 => Some(unsafe { std::slice::from_raw_parts(text.cast::<u8>(), length) }.to_vec()),
                // SAFETY: the string ends with a zero, by the contract of `from_c`.
                _ => Some(unsafe { CStr::from_ptr(text) }.to_bytes().to_vec()),
            })
            .collect()
    }
}

/// An array of arrays of bytes.
pub(crate) struct Blobs(*const *const u8);

impl FromC for Blobs {
    type Raw = *mut *const u8;

    unsafe fn from_c(raw: *mut *const u8) -> Self {
        Self(raw.cast_const())
    }
}

impl Blobs {
    /// Whether the pointer is null.
    pub(crate) fn is_null(&self) -> bool {
        self.0.is_null()
    }

    /// Returns the bytes of each array. An array is `None` if its pointer is null or its length is zero.
    pub(crate) fn get(&self, lengths: &[usize]) -> Vec<Option<Vec<u8>>> {
        List(self.0)
            .get(lengths.len())
            .into_iter()
            .zip(lengths)
            .map(|(bytes, &length)| {
                let given = !bytes.is_null() && length != 0;
                // SAFETY: the array has that many bytes, by the contract of `from_c`.
                given.then(|| unsafe { std::slice::from_raw_parts(bytes, length) }.to_vec())
            })
            .collect()
    }
}

/// A function of the application, which may be null.
pub(crate) struct Callback<F>(Option<F>);

impl<F> FromC for Callback<F> {
    type Raw = Option<F>;

    unsafe fn from_c(raw: Option<F>) -> Self {
        Self(raw)
    }
}

impl<F: Copy> Callback<F> {
    pub(crate) fn get(&self) -> Option<F> {
        self.0
    }
}

/// The application's user_data for a callback. It is passed to the callback unchanged.
#[derive(Clone, Copy)]
pub(crate) struct UserData(*mut c_void);

// SAFETY: the pointer is never dereferenced here, and the specification permits callbacks on any thread.
unsafe impl Send for UserData {}
// SAFETY: as above.
unsafe impl Sync for UserData {}

impl FromC for UserData {
    type Raw = *mut c_void;

    unsafe fn from_c(raw: *mut c_void) -> Self {
        Self(raw)
    }
}

impl UserData {
    /// Returns the original pointer.
    pub(crate) fn get(self) -> *mut c_void {
        self.0
    }

    /// Whether the pointer is null.
    pub(crate) fn is_null(self) -> bool {
        self.0.is_null()
    }
}

/// Input bytes: a value of an argument, a pattern, or the source of a command. May be null.
#[derive(Clone, Copy)]
#[repr(transparent)]
pub(crate) struct Bytes(*const c_void);

impl FromC for Bytes {
    type Raw = *const c_void;

    unsafe fn from_c(raw: *const c_void) -> Self {
        Self(raw)
    }
}

impl Bytes {
    /// Returns the address as a number.
    pub(crate) fn address(self) -> usize {
        self.0.addr()
    }

    /// Whether the pointer is null.
    pub(crate) fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Returns the first `size` bytes.
    pub(crate) fn get(self, size: usize) -> Vec<u8> {
        if self.0.is_null() || size == 0 {
            return Vec::new();
        }
        // SAFETY: the pointer is valid for `size` bytes, by the contract of `from_c`.
        unsafe { std::slice::from_raw_parts(self.0.cast::<u8>(), size) }.to_vec()
    }

    /// Returns the pattern of a fill command.
    pub(crate) fn fill_pattern(self, size: usize) -> Result<Vec<u8>> {
        // "CL_INVALID_VALUE if pattern is NULL or if pattern_size is 0 or if pattern_size is not one of { 1, 2, 4, 8,
        // 16, 32, 64, 128 }."
        crate::check!(!self.is_null(), InvalidValue, "the pattern is null");
        let fits = size.is_power_of_two() && size <= 128;
        crate::check!(fits, InvalidValue, "pattern: expected 1, 2, 4, 8, 16, 32, 64 or 128 bytes, got {size}");
        Ok(self.get(size))
    }

    /// Returns the array at this address, with elements of type `T`.
    pub(crate) fn list<T>(self) -> List<T> {
        List(self.0.cast())
    }

    /// Returns the first `size` bytes as the value of an argument.
    pub(crate) fn value(self, size: usize) -> ValueBytes {
        if self.0.is_null() || size == 0 {
            return ValueBytes::new();
        }
        // SAFETY: the pointer is valid for `size` bytes, by the contract of `from_c`.
        ValueBytes::from_slice(unsafe { std::slice::from_raw_parts(self.0.cast::<u8>(), size) })
    }

    /// Returns the two numbers of a cl_buffer_region, or `None` for a null pointer.
    pub(crate) fn pair(self) -> Option<(usize, usize)> {
        match List(self.0.cast::<usize>()).get(2).as_slice() {
            &[first, second] => Some((first, second)),
            _ => None,
        }
    }

    /// Returns a copy of the first `size` bytes. Unlike [`Self::get`], it returns an error if the copy cannot be
    /// allocated, so it is suitable for large sizes.
    ///
    /// # Errors
    /// If the allocation of the copy fails.
    pub(crate) fn try_get(self, size: usize) -> Result<Vec<u8>> {
        let mut copy = Vec::new();
        copy.try_reserve_exact(size)
            .map_err(|_| Error::OutOfHostMemory(format!("cannot allocate {size} bytes for a copy of the host memory").into()))?;
        // SAFETY: by the contract of `from_c`, the pointer is valid for `size` bytes. Callers have checked that it is
        // not null.
        copy.extend_from_slice(unsafe { std::slice::from_raw_parts(self.0.cast::<u8>(), size) });
        Ok(copy)
    }

    /// Returns the memory as the source of a command, which reads it until the command is complete. Fails for null.
    pub(crate) fn source(self, size: u64) -> Result<Arc<dyn HostSource>> {
        Ok(Arc::new(HostBytes::new(self.0.cast_mut(), size)?))
    }
}

/// Output bytes: the target of a command or of a query, or memory that a buffer uses. May be null.
#[derive(Clone, Copy)]
pub(crate) struct BytesMut(*mut c_void);

impl FromC for BytesMut {
    type Raw = *mut c_void;

    unsafe fn from_c(raw: *mut c_void) -> Self {
        Self(raw)
    }
}

impl BytesMut {
    /// Whether the pointer is null.
    pub(crate) fn is_null(self) -> bool {
        self.0.is_null()
    }

    /// Returns the address as a number.
    pub(crate) fn address(self) -> usize {
        self.0.addr()
    }

    /// Writes to the start of the memory. The caller must have checked that the size that the application passed is
    /// sufficient.
    pub(crate) fn set(self, bytes: &[u8]) {
        if !self.0.is_null() {
            // SAFETY: the pointer is valid for writes of that many bytes, by the contract of `from_c`: the caller has
            // compared the size.
            unsafe { ptr::copy_nonoverlapping(bytes.as_ptr(), self.0.cast::<u8>(), bytes.len()) };
        }
    }

    /// Returns the first `count` pointers that are stored in the memory.
    pub(crate) fn pointers(self, count: usize) -> Vec<Self> {
        List(self.0.cast::<*mut c_void>().cast_const()).get(count).into_iter().map(Self).collect()
    }

    /// Returns the same memory as input.
    pub(crate) fn as_bytes(self) -> Bytes {
        Bytes(self.0)
    }

    /// Returns the memory as the target of a command, which writes it until the command is complete. Fails for null.
    pub(crate) fn target(self, size: u64) -> Result<Arc<dyn HostTarget>> {
        Ok(Arc::new(HostBytes::new(self.0, size)?))
    }

    /// Returns the memory as the contents of a buffer, which uses it until the buffer is freed. Fails for null.
    pub(crate) fn region(self, size: u64) -> Result<Arc<dyn HostRegion>> {
        Ok(Arc::new(HostBytes::new(self.0, size)?))
    }
}

/// Memory of the application that a command or a buffer uses.
struct HostBytes {
    start: *mut u8,
    size: usize,
}

// SAFETY: the specification requires the application to keep the memory valid and unchanged while commands use it,
// on every thread that executes them.
unsafe impl Send for HostBytes {}
// SAFETY: as above.
unsafe impl Sync for HostBytes {}

impl HostBytes {
    fn new(start: *mut c_void, size: u64) -> Result<Self> {
        // "CL_INVALID_VALUE ... if ptr is a NULL value."
        if start.is_null() {
            return Err(Error::InvalidValue("the host pointer is null".into()));
        }
        let size = usize::try_from(size).ok().filter(|&size| isize::try_from(size).is_ok() && start.addr().checked_add(size).is_some());
        match size {
            Some(size) => Ok(Self { start: start.cast(), size }),
            None => Err(Error::InvalidValue("the region does not fit the address space".into())),
        }
    }

    fn part(&self, offset: u64, size: u64) -> Self {
        let offset = usize::try_from(offset).unwrap_or(usize::MAX).min(self.size);
        let size = usize::try_from(size).unwrap_or(usize::MAX).min(self.size - offset);
        // SAFETY: the offset is at most the size.
        Self { start: unsafe { self.start.add(offset) }, size }
    }
}

impl fmt::Debug for HostBytes {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} bytes at {:p}", self.size, self.start)
    }
}

impl HostSource for HostBytes {
    fn with(&self, f: &mut dyn FnMut(&[u8])) {
        // SAFETY: the memory is valid until the command is complete (see `Send`), and the command is running.
        f(unsafe { std::slice::from_raw_parts(self.start, self.size) });
    }
}

impl HostTarget for HostBytes {
    fn with_mut(&self, f: &mut dyn FnMut(&mut [u8])) {
        // SAFETY: the memory is valid until the command is complete (see `Send`), and the command is running. No other
        // code may use the memory until then.
        f(unsafe { std::slice::from_raw_parts_mut(self.start, self.size) });
    }
}

impl HostRegion for HostBytes {
    fn address(&self) -> usize {
        self.start.expose_provenance()
    }

    fn source(self: Arc<Self>, offset: u64, size: u64) -> Arc<dyn HostSource> {
        Arc::new(self.part(offset, size))
    }

    fn target(self: Arc<Self>, offset: u64, size: u64) -> Arc<dyn HostTarget> {
        Arc::new(self.part(offset, size))
    }
}

/// Runs the body of an entry point. Reports its error, and catches panics.
fn guarded<T>(name: &'static str, body: impl FnOnce() -> Result<T>) -> Result<T, cl_int> {
    tracing::trace!("{name}");
    let call = trace::call(name);
    let result = match catch_unwind(AssertUnwindSafe(body)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => {
            tracing::debug!("{name}: {error}");
            errors::report(name, &error);
            Err(error.code())
        }
        Err(_) => {
            tracing::error!("{name}: internal error (a panic was caught)");
            Err(CL_OUT_OF_HOST_MEMORY)
        }
    };
    errors::end_call();
    if let Some(call) = call {
        call.end(result.as_ref().err().copied().unwrap_or(CL_SUCCESS));
    }
    result
}

/// Runs an entry point that returns an error code.
pub(crate) fn status(name: &'static str, body: impl FnOnce() -> Result<()>) -> cl_int {
    match guarded(name, body) {
        Ok(()) => CL_SUCCESS,
        Err(code) => code,
    }
}

/// Runs an entry point that returns a pointer, and stores its error code through `errcode_ret`. A body that returns a
/// pointer together with an error code writes the code to its parameter.
pub(crate) fn pointer<T>(name: &'static str, errcode_ret: *mut cl_int, body: impl FnOnce(&Out<cl_int>) -> Result<*mut T>) -> *mut T {
    let code = Out(errcode_ret);
    code.set(CL_SUCCESS);
    match guarded(name, || body(&code)) {
        Ok(pointer) => pointer,
        Err(error) => {
            code.set(error);
            ptr::null_mut()
        }
    }
}

/// Returns an error from the function unless the condition holds.
#[macro_export]
macro_rules! check {
    ($condition:expr, $variant:ident, $($why:tt)+) => {
        if !$condition {
            return Err(wgcl_api::types::error::Error::$variant(format!($($why)+).into()));
        }
    };
}

/// Declares entry points: `extern "C"` functions with safe bodies.
///
/// ```text
/// entry! {
///     fn clDoThis(object: cl_thing, result: Out<cl_uint>) { ...Result<()>... }
///     // The C function has errcode_ret as its last parameter.
///     fn clMakeThat(object: cl_thing) -> *mut _cl_that { ...Result<*mut _cl_that>... }
/// }
/// ```
#[macro_export]
macro_rules! entry {
    () => {};
    (
        $(#[$meta:meta])* fn $name:ident($($arg:ident: $ty:ty),* $(,)?) $body:block
        $($rest:tt)*
    ) => {
        $(#[$meta])*
        #[doc = concat!("`", stringify!($name), "`")]
        #[unsafe(no_mangle)]
        #[allow(unreachable_pub, reason = "exported by its C name")]
        pub unsafe extern "C" fn $name($($arg: <$ty as $crate::ffi::FromC>::Raw),*) -> ::wgcl_opencl_headers::cl_int {
            fn body($($arg: $ty),*) -> wgcl_api::types::error::Result<()> $body
            // SAFETY: these are arguments of a call from C, which meets the specification's contract.
            $(let $arg = unsafe { <$ty as $crate::ffi::FromC>::from_c($arg) };)*
            $crate::ffi::status(stringify!($name), || body($($arg),*))
        }
        $crate::entry! { $($rest)* }
    };
    (
        $(#[$meta:meta])* fn $name:ident($($arg:ident: $ty:ty),* $(,)?) -> *mut $ret:ty $body:block
        $($rest:tt)*
    ) => {
        $(#[$meta])*
        #[doc = concat!("`", stringify!($name), "`")]
        #[unsafe(no_mangle)]
        #[allow(unreachable_pub, reason = "exported by its C name")]
        pub unsafe extern "C" fn $name(
            $($arg: <$ty as $crate::ffi::FromC>::Raw,)*
            errcode_ret: *mut ::wgcl_opencl_headers::cl_int,
        ) -> *mut $ret {
            fn body($($arg: $ty),*) -> wgcl_api::types::error::Result<*mut $ret> $body
            // SAFETY: these are arguments of a call from C, which meets the specification's contract.
            $(let $arg = unsafe { <$ty as $crate::ffi::FromC>::from_c($arg) };)*
            $crate::ffi::pointer(stringify!($name), errcode_ret, |_| body($($arg),*))
        }
        $crate::entry! { $($rest)* }
    };
}
