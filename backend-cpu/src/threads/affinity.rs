//! The host's processors that a device may use, and threads that keep to them.
//!
//! A thread begins where the one that starts it may run. Threads of a part of the device keep to its processors; one of them may start a thread of another device (what comes behind a command
//! is handed on by whoever has run it), which then begins where its starter came from ([`spawn`]).

use std::io;
use std::thread::{Builder, JoinHandle};

#[cfg(target_os = "linux")]
use linux::Affinity;

/// Bytes of the stack of a thread that runs commands.
const STACK: usize = 16 << 20;

/// Processors of compute units: for each unit the numbers of those that it stands for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Cores(Vec<Vec<usize>>);

impl Cores {
    /// The processors that the calling thread may use, dealt to so many units; `None` where the system does not tell, or tells of fewer.
    #[cfg(target_os = "linux")]
    pub(crate) fn of_this_thread(units: usize) -> Option<Self> {
        Self::deal(&Affinity::of_this_thread()?.processors(), units)
    }

    /// The same for systems that keep no thread to a processor.
    #[cfg(not(target_os = "linux"))]
    pub(crate) fn of_this_thread(_: usize) -> Option<Self> {
        None
    }

    /// Deals processors to units: where a control group leaves the process less time than its processors have, a unit stands for several.
    #[cfg(any(target_os = "linux", test))]
    pub(crate) fn deal(processors: &[usize], units: usize) -> Option<Self> {
        let bound = |unit: usize| unit * processors.len() / units;
        let dealt = || (0..units).map(|unit| processors[bound(unit)..bound(unit + 1)].to_vec()).collect();
        (units > 0 && units <= processors.len()).then(dealt).map(Self)
    }

    /// Those of some of the units; `None` if there are no such units.
    pub(crate) fn part(&self, units: &[u32]) -> Option<Self> {
        units.iter().map(|&unit| self.0.get(unit as usize).cloned()).collect::<Option<Vec<_>>>().filter(|units| !units.is_empty()).map(Self)
    }

    /// How many units there are.
    pub(crate) fn units(&self) -> usize {
        self.0.len()
    }

    /// The first processor of each unit.
    pub(crate) fn first_processors(&self) -> impl Iterator<Item = usize> {
        self.0.iter().filter_map(|unit| unit.first().copied())
    }

    /// Keeps the calling thread to the processors of all units.
    #[cfg(target_os = "linux")]
    fn keep(&self) {
        Affinity::of(self.0.iter().flatten().copied()).set();
    }
}

/// Starts a thread that keeps to processors, or without them may use all that threads of the application may.
#[cfg(target_os = "linux")]
pub(crate) fn spawn(name: &str, cores: Option<&Cores>, run: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    let (origin, cores) = (linux::origin(), cores.cloned());
    Builder::new().name(name.to_owned()).stack_size(STACK).spawn(move || {
        match (cores, origin) {
            (Some(cores), origin) => {
                linux::set_origin(origin.or_else(Affinity::of_this_thread));
                cores.keep();
            }
            (None, Some(origin)) => origin.set(),
            (None, None) => {}
        }
        run();
    })
}

/// Starts a thread.
#[cfg(not(target_os = "linux"))]
pub(crate) fn spawn(name: &str, _: Option<&Cores>, run: impl FnOnce() + Send + 'static) -> io::Result<JoinHandle<()>> {
    Builder::new().name(name.to_owned()).stack_size(STACK).spawn(run)
}

/// What Linux has of a thread.
#[cfg(target_os = "linux")]
mod linux {
    use std::cell::Cell;

    thread_local! {
        /// Where a thread might run before it was kept to some processors.
        static ORIGIN: Cell<Option<Affinity>> = const { Cell::new(None) };
    }

    /// Where the calling thread might run before it was kept to some processors, if it was.
    pub(super) fn origin() -> Option<Affinity> {
        ORIGIN.get()
    }

    /// The calling thread is going to be kept to some processors.
    pub(super) fn set_origin(origin: Option<Affinity>) {
        ORIGIN.set(origin);
    }

    /// Processors on which a thread may run.
    #[derive(Clone, Copy)]
    pub(super) struct Affinity(libc::cpu_set_t);

    impl Affinity {
        pub(super) fn of_this_thread() -> Option<Self> {
            // SAFETY: all bits zero are an empty set, which the call fills if it succeeds.
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
                // SAFETY: the set has a bit for it.
                unsafe { libc::CPU_SET(processor, &mut set) };
            }
            Self(set)
        }

        pub(super) fn processors(&self) -> Vec<usize> {
            // SAFETY: the set has a bit for each of these.
            (0..libc::CPU_SETSIZE as usize).filter(|&processor| unsafe { libc::CPU_ISSET(processor, &self.0) }).collect()
        }

        pub(super) fn set(&self) {
            // SAFETY: only reads the set.
            if unsafe { libc::sched_setaffinity(0, size_of_val(&self.0), &raw const self.0) } != 0 {
                tracing::warn!("a thread is not kept to its processors: {}", std::io::Error::last_os_error());
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Cores;

    #[test]
    fn processors_are_dealt_to_units() {
        assert_eq!(Cores::deal(&[1, 3], 2), Some(Cores(vec![vec![1], vec![3]])));
        assert_eq!(Cores::deal(&[0, 1, 2, 5, 7], 2), Some(Cores(vec![vec![0, 1], vec![2, 5, 7]])), "a quota of two");
        assert_eq!(Cores::deal(&[0], 2), None);
        assert_eq!(Cores::deal(&[], 0), None);
    }

    #[test]
    fn parts_have_the_processors_of_their_units() {
        let cores = Cores::deal(&[4, 5, 6, 7], 4).expect("four");
        let part = cores.part(&[1, 3]).expect("two of them");
        assert_eq!((part.units(), part.first_processors().collect::<Vec<_>>()), (2, vec![5, 7]));
        assert_eq!(part.part(&[1]).map(|part| part.first_processors().collect()), Some(vec![7]));
        assert_eq!((part.part(&[2]), part.part(&[])), (None, None));
    }
}
