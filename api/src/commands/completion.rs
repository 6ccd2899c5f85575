//! The completion of commands that have no event.

use std::sync::Arc;

use parking_lot::Mutex;

use crate::backend::{BackendError, BackendResult, Progress, Times};

struct OnCompletion<F: FnOnce(BackendResult<Times>) + Send>(Mutex<Option<F>>);

/// Returns the progress of a command whose result is passed to `next`, exactly once. A lost device may drop a command
/// without a result: `next` then gets an error.
pub(crate) fn on_completion(next: impl FnOnce(BackendResult<Times>) + Send + 'static) -> Arc<dyn Progress> {
    Arc::new(OnCompletion(Mutex::new(Some(next))))
}

impl<F: FnOnce(BackendResult<Times>) + Send> Progress for OnCompletion<F> {
    fn submitted(&self, _now: u64) {}

    fn running(&self) {}

    fn complete(&self, result: BackendResult<Times>) {
        // The lock is not held during the call, which may enqueue commands.
        let next = self.0.lock().take();
        if let Some(next) = next {
            next(result);
        }
    }
}

impl<F: FnOnce(BackendResult<Times>) + Send> Drop for OnCompletion<F> {
    fn drop(&mut self) {
        if let Some(next) = self.0.get_mut().take() {
            next(Err(BackendError::DeviceLost("the device was lost before the command completed".to_owned())));
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::channel;

    use super::{Times, on_completion};

    #[test]
    fn each_command_has_one_result() {
        let (sender, receiver) = channel();
        for is_lost in [false, true] {
            let sender = sender.clone();
            let progress = on_completion(move |result| sender.send(result.is_err()).expect("a receiver"));
            if !is_lost {
                progress.complete(Ok(Times::default()));
                progress.complete(Ok(Times::default()));
            }
            drop(progress);
            assert_eq!(receiver.try_iter().collect::<Vec<_>>(), [is_lost]);
        }
    }
}
