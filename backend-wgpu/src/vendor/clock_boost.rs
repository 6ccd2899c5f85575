//! Keeps the clocks of a GPU high while a program uses it.
//!
//! NVIDIA's driver lowers the clocks of a GPU that is not always busy, unless a process has a CUDA context. In a test,
//! a kernel of 2 ms ran every 20 ms. After 7 s, the kernel took 7.8 ms, at 510 MHz instead of 1,980 MHz (H100, driver
//! 580). Small submissions every 1 or 5 ms did not change that, nor did `cuInit`. With the request that libcuda makes
//! for its contexts, the kernel still took 2.0 ms. Other vendors' drivers have no such request.
//!
//! A request lasts `DURATION` seconds, so that an idle GPU saves power soon.

#[cfg(target_os = "linux")]
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use wgcl_api::options::Options;

#[cfg(target_os = "linux")]
use crate::vendor::resource_manager::Subdevice;

/// Maximum number of seconds for which the clocks stay high after the last submission.
#[cfg(target_os = "linux")]
const DURATION: u32 = 5;
/// The interval at which the request is renewed while the program submits commands.
const INTERVAL: Duration = Duration::from_secs(2);
/// The value of [`ClockBoost::next`] after an error.
const NEVER: u64 = u64::MAX;

/// Requests high clocks for one GPU.
#[derive(Debug)]
pub(crate) struct ClockBoost {
    begin: Instant,
    /// The time of the next request, in nanoseconds since `begin`.
    next: AtomicU64,
    #[cfg(target_os = "linux")]
    address: [u32; 4],
    #[cfg(target_os = "linux")]
    subdevice: OnceLock<Subdevice>,
}

impl ClockBoost {
    /// Returns the boost of the GPU at a PCI address. Returns `None` if the driver has no request for high clocks, or
    /// if `WGCL_BOOST=0` disables it.
    pub(crate) fn new(vendor: u32, address: Option<[u32; 4]>) -> Option<Self> {
        let is_wanted = vendor == crate::vendor::NVIDIA && Options::get().boost.as_deref() != Some("0");
        #[cfg(target_os = "linux")]
        return address.filter(|_| is_wanted).map(|address| Self {
            begin: Instant::now(),
            next: AtomicU64::new(0),
            address,
            subdevice: OnceLock::new(),
        });
        #[cfg(not(target_os = "linux"))]
        return {
            let _ = (is_wanted, address);
            None
        };
    }

    /// Reports to the driver that the GPU is in use. Called before each submission. Most calls only read the clock.
    pub(crate) fn refresh(&self) {
        let now = u64::try_from(self.begin.elapsed().as_nanos()).unwrap_or(NEVER);
        let next = self.next.load(Ordering::Relaxed);
        if now < next || next == NEVER {
            return;
        }
        let next_request = now.saturating_add(INTERVAL.as_nanos() as u64);
        // Only one thread makes the request.
        if self.next.compare_exchange(next, next_request, Ordering::Relaxed, Ordering::Relaxed).is_ok()
            && let Err(error) = self.request()
        {
            tracing::debug!("cannot request high GPU clocks: {error}");
            self.next.store(NEVER, Ordering::Relaxed);
        }
    }

    #[cfg(target_os = "linux")]
    fn request(&self) -> std::io::Result<()> {
        let subdevice = match self.subdevice.get() {
            Some(subdevice) => subdevice,
            None => {
                let opened = Subdevice::open(self.address)?;
                self.subdevice.get_or_init(|| opened)
            }
        };
        subdevice.boost(DURATION)
    }

    #[cfg(not(target_os = "linux"))]
    fn request(&self) -> std::io::Result<()> {
        Ok(())
    }
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

    use super::*;

    #[test]
    fn an_unknown_gpu_ends_the_requests() {
        assert!(ClockBoost::new(0x1002, Some([0, 1, 0, 0])).is_none());
        assert!(ClockBoost::new(crate::vendor::NVIDIA, None).is_none());
        // No GPU has this address.
        let boost = ClockBoost::new(crate::vendor::NVIDIA, Some([0xffff, 0xff, 0x1f, 7])).unwrap();
        boost.refresh();
        assert_eq!(boost.next.load(Ordering::Relaxed), NEVER);
        boost.refresh();
        assert_eq!(boost.next.load(Ordering::Relaxed), NEVER);
    }
}
