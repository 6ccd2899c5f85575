//! The processors of a device, and threads bound to them.
//!
//! A new thread inherits the affinity mask of its creator. On Windows, [`spawn`] ensures this. On macOS, threads have
//! no affinity masks, and a new thread inherits the quality of service of its creator. The threads of a sub-device are
//! bound to its processors. Such a thread may create a thread of another device, because it enqueues the dependents of
//! commands that it completes. The new thread then gets the affinity mask that its creator had before it was bound
//! ([`spawn`]).

#[cfg(target_os = "linux")]
mod linux;
#[cfg(target_os = "macos")]
mod macos;
#[cfg(not(any(target_os = "linux", target_os = "macos", windows)))]
mod none;
#[cfg(windows)]
pub(crate) mod windows;

#[cfg(target_os = "linux")]
use linux as system;
#[cfg(target_os = "macos")]
use macos as system;
#[cfg(not(any(target_os = "linux", target_os = "macos", windows)))]
use none as system;
#[cfg(windows)]
use windows as system;

use std::cell::RefCell;
use std::io;
use std::thread::{Builder, JoinHandle};

pub(crate) use system::cores;

use system::Affinity;

/// Stack size of a thread that runs commands, in bytes.
const STACK: usize = 16 << 20;

/// The processors of each compute unit, by their numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ComputeUnits(Vec<Vec<usize>>);

impl ComputeUnits {
    /// Distributes the processors of the calling thread's affinity mask among `units` compute units. Returns `None` if
    /// the system does not report the mask, or if there are fewer processors than units.
    pub(crate) fn of_this_thread(units: usize) -> Option<Self> {
        Self::distribute(&Affinity::of_this_thread()?.processors(), units)
    }

    /// Distributes processors among units. A unit has several processors if a control group allows fewer CPUs than the
    /// affinity mask has.
    pub(crate) fn distribute(processors: &[usize], units: usize) -> Option<Self> {
        let bound = |unit: usize| unit * processors.len() / units;
        let distributed = || (0..units).map(|unit| processors[bound(unit)..bound(unit + 1)].to_vec()).collect();
        (units > 0 && units <= processors.len()).then(distributed).map(Self)
    }

    /// The compute units with these indices; `None` if one does not exist, or the list is empty.
    pub(crate) fn subset(&self, units: &[u32]) -> Option<Self> {
        units.iter().map(|&unit| self.0.get(unit as usize).cloned()).collect::<Option<Vec<_>>>().filter(|units| !units.is_empty()).map(Self)
    }

    pub(crate) fn count(&self) -> usize {
        self.0.len()
    }

    /// The first processor of each unit.
    pub(crate) fn first_processors(&self) -> impl Iterator<Item = usize> {
        self.0.iter().filter_map(|unit| unit.first().copied())
    }

    /// Binds the calling thread to the processors of all units.
    fn bind(&self) {
        Affinity::of(self.0.iter().flatten().copied()).set();
    }
}

thread_local! {
    /// The affinity mask of the thread before it was bound; `None` if it is not bound.
    static ORIGIN: RefCell<Option<Affinity>> = const { RefCell::new(None) };
}

/// Starts a thread that is bound to `units`. If `units` is `None`, it has the affinity mask of the application's
/// threads.
pub(crate) fn spawn(name: &str, units: Option<&ComputeUnits>, run: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    let (origin, units) = (ORIGIN.with_borrow(Clone::clone).or_else(system::to_inherit), units.cloned());
    Builder::new().name(name.to_owned()).stack_size(STACK).spawn(move || {
        match (units, origin) {
            (Some(units), origin) => {
                ORIGIN.set(origin.or_else(Affinity::of_this_thread));
                units.bind();
            }
            (None, Some(origin)) => origin.set(),
            (None, None) => {}
        }
        run();
    })
}

#[cfg(test)]
mod tests {
    use super::ComputeUnits;

    #[test]
    fn processors_are_distributed_to_units() {
        assert_eq!(ComputeUnits::distribute(&[1, 3], 2), Some(ComputeUnits(vec![vec![1], vec![3]])));
        assert_eq!(
            ComputeUnits::distribute(&[0, 1, 2, 5, 7], 2),
            Some(ComputeUnits(vec![vec![0, 1], vec![2, 5, 7]])),
            "a limit of two processors"
        );
        assert_eq!(ComputeUnits::distribute(&[0], 2), None);
        assert_eq!(ComputeUnits::distribute(&[], 0), None);
    }

    #[test]
    fn subsets_have_the_processors_of_their_units() {
        let units = ComputeUnits::distribute(&[4, 5, 6, 7], 4).expect("four");
        let part = units.subset(&[1, 3]).expect("two of them");
        assert_eq!((part.count(), part.first_processors().collect::<Vec<_>>()), (2, vec![5, 7]));
        assert_eq!(part.subset(&[1]).map(|part| part.first_processors().collect()), Some(vec![7]));
        assert_eq!((part.subset(&[2]), part.subset(&[])), (None, None));
    }
}
