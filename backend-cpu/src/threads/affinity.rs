//! The processors of a device, and threads bound to them.
//!
//! A new thread inherits the affinity mask of its creator. The threads of a sub-device are bound to its processors.
//! Such a thread may create a thread of another device, because it enqueues the dependents of commands that it
//! completes. The new thread then gets the affinity mask that its creator had before it was bound ([`spawn`]).

use std::io;
use std::thread::{Builder, JoinHandle};

#[cfg(target_os = "linux")]
use linux::Affinity;

/// Stack size of a thread that runs commands, in bytes.
const STACK: usize = 16 << 20;

/// The processors of each compute unit, by their numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct ComputeUnits(Vec<Vec<usize>>);

impl ComputeUnits {
    /// The processors of the calling thread's affinity mask, distributed among `units` compute units. `None` if the
    /// system does not report them, or if there are fewer processors than units.
    #[cfg(target_os = "linux")]
    pub(crate) fn of_this_thread(units: usize) -> Option<Self> {
        Self::distribute(&Affinity::of_this_thread()?.processors(), units)
    }

    /// `None`: the system has no affinity masks.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn of_this_thread(_: usize) -> Option<Self> {
        None
    }

    /// Distributes processors among units. A unit has several processors if a control group allows fewer CPUs than the
    /// affinity mask has.
    #[cfg(any(target_os = "linux", test))]
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
    #[cfg(target_os = "linux")]
    fn bind(&self) {
        Affinity::of(self.0.iter().flatten().copied()).set();
    }
}

/// Starts a thread that is bound to `units`. If `units` is `None`, it has the affinity mask of the application's
/// threads.
#[cfg(target_os = "linux")]
pub(crate) fn spawn(name: &str, units: Option<&ComputeUnits>, run: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    let (origin, units) = (linux::origin(), units.cloned());
    Builder::new().name(name.to_owned()).stack_size(STACK).spawn(move || {
        match (units, origin) {
            (Some(units), origin) => {
                linux::set_origin(origin.or_else(Affinity::of_this_thread));
                units.bind();
            }
            (None, Some(origin)) => origin.set(),
            (None, None) => {}
        }
        run();
    })
}

/// Starts a thread. The system has no affinity masks.
#[cfg(not(target_os = "linux"))]
pub(crate) fn spawn(name: &str, _: Option<&ComputeUnits>, run: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    Builder::new().name(name.to_owned()).stack_size(STACK).spawn(run)
}

/// Affinity masks of Linux threads.
#[cfg(target_os = "linux")]
mod linux {
    use std::cell::Cell;

    thread_local! {
        /// The affinity mask of the thread before it was bound; `None` if it is not bound.
        static ORIGIN: Cell<Option<Affinity>> = const { Cell::new(None) };
    }

    /// The affinity mask of the calling thread before it was bound; `None` if it is not bound.
    pub(super) fn origin() -> Option<Affinity> {
        ORIGIN.get()
    }

    /// Sets the result of [`origin`] for the calling thread, before it is bound.
    pub(super) fn set_origin(origin: Option<Affinity>) {
        ORIGIN.set(origin);
    }

    /// A set of processors.
    #[derive(Clone, Copy)]
    pub(super) struct Affinity(libc::cpu_set_t);

    impl Affinity {
        pub(super) fn of_this_thread() -> Option<Self> {
            // SAFETY: all bits zero are an empty set. The call writes at most its size.
            let (set, result) = unsafe {
                let mut set: libc::cpu_set_t = std::mem::zeroed();
                let result = libc::sched_getaffinity(0, size_of_val(&set), &raw mut set);
                (set, result)
            };
            (result == 0).then_some(Self(set))
        }

        pub(super) fn of(processors: impl Iterator<Item = usize>) -> Self {
            // SAFETY: all bits zero are an empty set.
            let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
            for processor in processors.filter(|&processor| processor < libc::CPU_SETSIZE as usize) {
                // SAFETY: the filter ensures that the set has this bit.
                unsafe { libc::CPU_SET(processor, &mut set) };
            }
            Self(set)
        }

        pub(super) fn processors(&self) -> Vec<usize> {
            // SAFETY: the set has a bit for each number below CPU_SETSIZE.
            (0..libc::CPU_SETSIZE as usize).filter(|&processor| unsafe { libc::CPU_ISSET(processor, &self.0) }).collect()
        }

        pub(super) fn set(&self) {
            // SAFETY: the call only reads the set.
            if unsafe { libc::sched_setaffinity(0, size_of_val(&self.0), &raw const self.0) } != 0 {
                tracing::warn!("cannot bind a thread to its processors: {}", std::io::Error::last_os_error());
            }
        }
    }
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
