//! The calling convention of generated code, and of the functions that it calls. On x86-64, it is that of the System V
//! ABI on every operating system. On other processors, it is the C calling convention.

/// Defines a function, or the type of a function pointer, with the calling convention of generated code.
macro_rules! generated_code_abi {
    ($(#[$meta:meta])* $vis:vis type $name:ident = unsafe fn($($param:ty),*);) => {
        #[cfg(target_arch = "x86_64")]
        $(#[$meta])*
        $vis type $name = unsafe extern "sysv64" fn($($param),*);
        #[cfg(not(target_arch = "x86_64"))]
        $(#[$meta])*
        $vis type $name = unsafe extern "C" fn($($param),*);
    };
    ($(#[$meta:meta])* $vis:vis unsafe fn $($function:tt)*) => {
        #[cfg(target_arch = "x86_64")]
        $(#[$meta])*
        $vis unsafe extern "sysv64" fn $($function)*
        #[cfg(not(target_arch = "x86_64"))]
        $(#[$meta])*
        $vis unsafe extern "C" fn $($function)*
    };
    ($(#[$meta:meta])* $vis:vis fn $($function:tt)*) => {
        #[cfg(target_arch = "x86_64")]
        $(#[$meta])*
        $vis extern "sysv64" fn $($function)*
        #[cfg(not(target_arch = "x86_64"))]
        $(#[$meta])*
        $vis extern "C" fn $($function)*
    };
}
