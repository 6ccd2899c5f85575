//! Tests with a machine that counts its calls of `load`.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};

use wgcl_api::backend::{BackendError, BackendResult, KernelUsage};

use crate::workers::Urgency;
use crate::{Artifact, History, KernelFacts, Launched, Machine, PrefetchedProgram, Program, ProgramCache};

/// The number of a specialisation, and the local size.
type Key = (u32, u32);

/// The artifact for a key. Artifacts of even specialisations can run work-groups of any size.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Code(Key);

impl Artifact for Code {
    type Key = Key;
    const KIND: &'static str = "test";

    fn encode(&self) -> Option<Vec<u8>> {
        None
    }

    fn decode(_: &[u8]) -> Option<Self> {
        None
    }

    fn usage(&self) -> KernelUsage {
        KernelUsage { local_memory: self.0.0, private_memory: 1 }
    }

    fn serves_any_group_size(&self) -> bool {
        self.0.0.is_multiple_of(2)
    }

    fn adapt(&mut self, key: &Key) {
        self.0.1 = key.1;
    }

    fn any_group_size(key: &Key) -> Key {
        (key.0, 0)
    }
}

#[derive(Default)]
struct Counter {
    loaded: AtomicUsize,
}

impl Machine for Counter {
    type Artifact = Code;
    type Executable = Code;

    fn load(&self, _: &str, artifact: Code, key: &Key) -> BackendResult<Code> {
        assert_eq!(artifact.0, *key);
        self.loaded.fetch_add(1, Ordering::SeqCst);
        Ok(artifact)
    }
}

/// Creates a program with one kernel, and a counter of compilations. Compiling specialisation 99 fails.
fn program() -> (Program<Counter>, Arc<AtomicUsize>) {
    let facts = KernelFacts {
        name: "k".to_owned(),
        params: Vec::new(),
        required_group_size: None,
        group_independent: true,
        requires_addresses: false,
        instructions: 0,
    };
    let compiled = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&compiled);
    let compile = move |_: &str, key: &Key| {
        count.fetch_add(1, Ordering::SeqCst);
        // Wait long enough for a second thread to request the same variant.
        std::thread::sleep(Duration::from_millis(5));
        if key.0 == 99 { Err(BackendError::OutOfHostMemory) } else { Ok(Code(*key)) }
    };
    (Program::new(Arc::default(), vec![facts], Box::new(compile), None), compiled)
}

fn loaded(program: &Program<Counter>) -> usize {
    program.machine().loaded.load(Ordering::SeqCst)
}

#[test]
fn a_variant_is_compiled_once_for_all_threads() {
    let (program, compiled) = program();
    let kernel = program.kernel("k").expect("it has one");
    assert!(program.kernel("none").is_err() && program.loaded(kernel, &(1, 8)).is_none() && !kernel.is_ready());
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert_eq!(program.executable(kernel, &(1, 8)).map(|code| code.0), Ok((1, 8))));
        }
    });
    assert_eq!((compiled.load(Ordering::SeqCst), loaded(&program), program.variant_count()), (1, 1, 1));
    assert!(kernel.is_ready() && program.loaded(kernel, &(1, 8)).is_some());
    assert_eq!(program.executable(kernel, &(1, 16)).map(|code| code.0), Ok((1, 16)));
    assert_eq!((compiled.load(Ordering::SeqCst), loaded(&program)), (2, 2));
}

#[test]
fn a_failed_compilation_is_not_repeated() {
    let (program, compiled) = program();
    let kernel = program.kernel("k").expect("it has one");
    for _ in 0..3 {
        assert_eq!(program.executable(kernel, &(99, 8)).err(), Some(BackendError::OutOfHostMemory));
    }
    assert_eq!(compiled.load(Ordering::SeqCst), 1);
}

#[test]
fn an_artifact_for_any_local_size_is_compiled_once() {
    let (program, compiled) = program();
    let kernel = program.kernel("k").expect("it has one");
    for size in [8, 16, 32] {
        assert_eq!(program.executable(kernel, &(2, size)).map(|code| code.0), Ok((2, size)));
    }
    assert_eq!((compiled.load(Ordering::SeqCst), loaded(&program)), (1, 3));
}

#[test]
fn an_inspected_artifact_is_used() {
    let (program, compiled) = program();
    let kernel = program.kernel("k").expect("it has one");
    assert_eq!(program.usage(kernel, || (3, 8)), Ok(KernelUsage { local_memory: 3, private_memory: 1 }));
    assert_eq!(program.inspect(kernel, &(3, 8), |_| 0, |code| code.0.0), Ok(3));
    assert_eq!((compiled.load(Ordering::SeqCst), loaded(&program)), (1, 0));
    assert_eq!(program.executable(kernel, &(3, 8)).map(|code| code.0), Ok((3, 8)));
    assert_eq!(program.inspect(kernel, &(3, 8), |code| code.0.1, |_| 0), Ok(8));
    assert_eq!((compiled.load(Ordering::SeqCst), loaded(&program)), (1, 1));
}

#[test]
fn a_stored_artifact_is_only_used_for_its_key() {
    let (program, compiled) = program();
    let kernel = program.kernel("k").expect("it has one");
    for (looked_at, wanted) in [((3, 8), (5, 8)), ((3, 8), (3, 16)), ((4, 8), (6, 8))] {
        assert_eq!(program.inspect(kernel, &looked_at, |code| code.0, |code| code.0), Ok(looked_at));
        assert_eq!(program.executable(kernel, &wanted).map(|code| code.0), Ok(wanted));
    }
    // At the second inspection of specialisation 3, its artifact is still stored.
    assert_eq!(compiled.load(Ordering::SeqCst), 5);
}

#[test]
fn a_background_compilation_is_used_by_the_launch() {
    let (program, compiled) = program();
    let program = Arc::new(program);
    let kernel = program.kernel("k").expect("it has one");
    for _ in 0..2 {
        program.compile_in_background(kernel, (5, 8), Urgency::Awaited);
    }
    let begin = Instant::now();
    while program.loaded(kernel, &(5, 8)).is_none() && begin.elapsed() < Duration::from_secs(60) {
        std::thread::yield_now();
    }
    assert_eq!(program.executable(kernel, &(5, 8)).map(|code| code.0), Ok((5, 8)));
    assert_eq!((compiled.load(Ordering::SeqCst), loaded(&program)), (1, 1));
    assert!(kernel.claim_background_compilation() && !kernel.claim_background_compilation());
}

#[test]
fn measurements_run_once_and_can_be_replaced() {
    let (program, _) = program();
    let kernel = program.kernel("k").expect("it has one");
    assert_eq!(kernel.measure_once(16, || Err(BackendError::OutOfHostMemory)), Err(BackendError::OutOfHostMemory));
    assert_eq!(kernel.measure_once(16, || Ok(4)), Ok(4));
    assert_eq!(kernel.measure_once(16, || Ok(5)), Ok(4));
    kernel.set_measurement(16, 2);
    assert_eq!(kernel.measure_once(16, || Ok(5)), Ok(2));
}

#[test]
fn a_program_uses_the_history_of_earlier_processes() {
    let (mut program, compiled) = program();
    let launches = vec![Launched { kernel: "k".to_owned(), key: (7, 8), any_group_size: false }];
    let history = History { launches, usage: vec![("k".to_owned(), 64, 8)], measurements: vec![("k".to_owned(), 16, 4)] };
    let prefetched = PrefetchedProgram::of_history(program.machine(), Arc::new(ProgramCache::empty()), history);
    program.adopt(prefetched);
    let kernel = program.kernel("k").expect("it has one");
    assert_eq!(program.usage(kernel, || (7, 8)), Ok(KernelUsage { local_memory: 64, private_memory: 8 }));
    assert_eq!(kernel.measure_once(16, || Ok(1)), Ok(4));
    // The disk cache is empty, so the launch compiles the variant.
    assert_eq!(program.executable(kernel, &(7, 8)).map(|code| code.0), Ok((7, 8)));
    assert_eq!((program.variant_count(), compiled.load(Ordering::SeqCst)), (1, 1));
}

#[test]
fn the_last_key_of_a_kernel_is_known() {
    let (mut program, _) = program();
    assert!(program.last_keys().is_empty());
    let launched = |key| Launched { kernel: "k".to_owned(), key, any_group_size: false };
    let history = History { launches: vec![launched((7, 16)), launched((7, 8))], usage: Vec::new(), measurements: Vec::new() };
    program.adopt(PrefetchedProgram::of_history(program.machine(), Arc::new(ProgramCache::empty()), history));
    let keys: Vec<_> = program.last_keys().into_iter().map(|(kernel, key)| (kernel.name().to_owned(), key)).collect();
    assert_eq!(keys, [("k".to_owned(), (7, 8))]);
}

#[test]
fn a_history_is_restored_and_drops_the_oldest_launch() {
    let mut history = History::<Key>::default();
    for number in 0..100 {
        history.push(Launched { kernel: "k".to_owned(), key: (number, 8), any_group_size: true });
    }
    assert_eq!((history.launches.len(), history.launches[0].key), (64, (36, 8)));
    history.usage.push(("k".to_owned(), 64, 8));
    history.measurements.push(("k".to_owned(), 16, 4));
    let bytes = postcard::to_stdvec(&history).expect("it is written");
    assert_eq!(postcard::from_bytes(&bytes), Ok(history));
    assert!(postcard::from_bytes::<History<Key>>(&bytes[..bytes.len() / 2]).is_err());
}
