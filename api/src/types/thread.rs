//! The identity of a thread, which is also available while the thread ends.
//!
//! Destructors of the application may call OpenCL after the thread-local values of a thread are destroyed. The
//! thread-local values of the main thread are destroyed before exit handlers run. `std::thread::current` panics after
//! that.

/// A number that is unique among the running threads.
pub fn token() -> usize {
    // A thread-local value with a constant initialiser and without a destructor is accessible until the thread has
    // ended.
    thread_local!(static TOKEN: u8 = const { 0 });
    TOKEN.with(|token| std::ptr::from_ref(token).addr())
}

#[cfg(test)]
mod tests {
    use super::token;

    #[test]
    fn running_threads_have_different_numbers() {
        assert_eq!(token(), token());
        assert_ne!(std::thread::scope(|scope| scope.spawn(token).join().unwrap_or_default()), token());
    }
}
