//! Traces of applications and devices: a trace for Perfetto and Chrome (`WGCL_TRACE`), and statistics at exit
//! (`WGCL_STATS`).
//!
//! Calls are slices of their threads, and builds are slices within the calls. Commands are slices of their queues, with
//! the device's own times. Arrows connect commands to the calls that enqueued them and to the commands of their wait
//! lists. Each device has a counter for its memory. Without the two options, tracing costs one test of a flag.

mod file;
mod summary;

use std::cell::Cell;
use std::fmt;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use parking_lot::Mutex;
use rustc_hash::FxHashMap;
use serde_json::{Value, json};

use super::at_exit;
use crate::backend::Device;
use crate::options::Options;
use file::TraceFile;
pub(crate) use summary::Kind;
use summary::Summary;

/// The processes of the trace: one for the application's threads, one for devices.
const HOST: u32 = 1;
const DEVICES: u32 = 2;
/// The maximum number of rows of a queue. Overlapping commands are in different rows.
const ROWS_PER_QUEUE: u64 = 32;

static IS_ON: AtomicBool = AtomicBool::new(false);
static RECORDER: OnceLock<Recorder> = OnceLock::new();

struct Recorder {
    start: Instant,
    file: Option<Mutex<TraceFile>>,
    summary: Mutex<Summary>,
    /// The destination of the summary: `Some(None)` is standard error. `None` if no summary is requested.
    report: Option<Option<PathBuf>>,
    next: AtomicU64,
    queues: Mutex<FxHashMap<(usize, String), Rows>>,
}

/// The rows of a queue in the trace: the number of the queue, and the time when the last command of each row ended.
struct Rows {
    number: u64,
    ends: Vec<f64>,
}

/// The recorder, or `None` if tracing is off.
fn recorder() -> Option<&'static Recorder> {
    if IS_ON.load(Ordering::Relaxed) { RECORDER.get() } else { None }
}

/// Whether tracing is on.
pub fn is_on() -> bool {
    recorder().is_some()
}

/// Starts the trace and the summary that the options request. An error on creating the file is printed on standard
/// error.
pub fn begin(options: &Options) {
    let file = options
        .trace
        .as_ref()
        .and_then(|path| TraceFile::create(path).inspect_err(|error| eprintln!("wgcl: WGCL_TRACE: {}: {error}", path.display())).ok());
    let report = options.stats.as_deref().filter(|stats| *stats != "0").map(|stats| (stats != "1").then(|| PathBuf::from(stats)));
    if file.is_none() && report.is_none() {
        return;
    }
    let recorder = Recorder {
        start: Instant::now(),
        file: file.map(Mutex::new),
        summary: Mutex::default(),
        report,
        next: AtomicU64::new(1),
        queues: Mutex::default(),
    };
    if RECORDER.set(recorder).is_ok() {
        IS_ON.store(true, Ordering::Relaxed);
        for (process, name) in [(HOST, "application"), (DEVICES, "devices")] {
            write(&json!({ "ph": "M", "name": "process_name", "pid": process, "args": { "name": name } }));
        }
    }
}

/// Prints the summary in an exit handler, or writes it to its file.
pub fn end() {
    let Some(Recorder { report: Some(destination), summary, .. }) = recorder() else { return };
    let Some(summary) = at_exit::lock(summary) else { return at_exit::print_lost("the summary (WGCL_STATS)") };
    let result = match destination {
        None => {
            at_exit::print(format_args!("{summary}"));
            Ok(())
        }
        Some(path) => serde_json::to_vec_pretty(&*summary).map_err(Into::into).and_then(|text| std::fs::write(path, text)),
    };
    if let (Err(error), Some(path)) = (result, destination) {
        at_exit::print(format_args!("wgcl: WGCL_STATS: {}: {error}\n", path.display()));
    }
}

fn write(event: &Value) {
    let Some(file) = recorder().and_then(|recorder| recorder.file.as_ref()) else { return };
    if let Err(error) = file.lock().append(event) {
        // A write error, such as a full disk, does not stop the application.
        tracing::warn!("WGCL_TRACE: cannot write to the trace: {error}");
    }
}

/// The time from the start of the trace to `moment`, in microseconds (the unit of the format).
fn microseconds(recorder: &Recorder, moment: Instant) -> f64 {
    in_microseconds(moment.saturating_duration_since(recorder.start))
}

fn in_microseconds(time: Duration) -> f64 {
    time.as_nanos() as f64 / 1e3
}

/// Returns the number of the calling thread in the trace. The first call on a thread also writes the thread's name to
/// the trace.
fn thread() -> u64 {
    thread_local! {
        static NUMBER: Cell<u64> = const { Cell::new(0) };
    }
    static NEXT: AtomicU64 = AtomicU64::new(1);
    NUMBER.with(|number| {
        if number.get() == 0 {
            number.set(NEXT.fetch_add(1, Ordering::Relaxed));
            let name = thread_name().unwrap_or_else(|| "thread".to_owned());
            write(&json!({ "ph": "M", "name": "thread_name", "pid": HOST, "tid": number.get(), "args": { "name": name } }));
        }
        number.get()
    })
}

/// The name of the calling thread. The system returns it even after the thread-local values of the thread are
/// destroyed. `std::thread::current` panics then.
#[cfg(target_os = "linux")]
fn thread_name() -> Option<String> {
    let name = std::fs::read_to_string("/proc/thread-self/comm").ok()?;
    Some(name.trim_end().to_owned())
}

#[cfg(not(target_os = "linux"))]
fn thread_name() -> Option<String> {
    std::thread::current().name().map(str::to_owned)
}

/// An activity of a thread. It ends when the value is dropped.
#[derive(Debug)]
pub struct Span {
    kind: SpanKind,
    name: std::borrow::Cow<'static, str>,
    begin: Instant,
    /// The size in bytes of a build's input.
    amount: u64,
    result: i32,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SpanKind {
    Call,
    Build,
}

/// Begins the span of an API call. Returns `None` if tracing is off.
pub fn call(name: &'static str) -> Option<Span> {
    recorder()?;
    Some(Span { kind: SpanKind::Call, name: name.into(), begin: Instant::now(), amount: 0, result: 0 })
}

/// Begins a span for a part of a build, with the size of its input in bytes.
pub fn build(name: impl FnOnce() -> String, bytes: u64) -> Option<Span> {
    recorder()?;
    Some(Span { kind: SpanKind::Build, name: name().into(), begin: Instant::now(), amount: bytes, result: 0 })
}

impl Span {
    /// Ends the span of a call with its result code.
    pub fn end(mut self, code: i32) {
        self.result = code;
    }
}

impl Drop for Span {
    fn drop(&mut self) {
        let Some(recorder) = recorder() else { return };
        let took = self.begin.elapsed();
        let (kind, category) = match self.kind {
            SpanKind::Call => (Kind::Call, "call"),
            SpanKind::Build => (Kind::Build, "build"),
        };
        recorder.summary.lock().add(kind, &self.name, took, self.amount);
        let args = match self.kind {
            SpanKind::Call => json!({ "result": self.result }),
            SpanKind::Build => json!({ "bytes": self.amount }),
        };
        write(&json!({
            "ph": "X", "cat": category, "name": &*self.name, "pid": HOST, "tid": thread(), "ts": microseconds(recorder, self.begin),
            "dur": in_microseconds(took), "args": args,
        }));
    }
}

/// Records a search for a program in the disk cache.
pub(crate) fn record_cache_lookup(is_found: bool) {
    if let Some(recorder) = recorder() {
        let (found, compiled) = &mut recorder.summary.lock().cached_programs;
        *(if is_found { found } else { compiled }) += 1;
    }
}

/// Records that memory for objects on a device was allocated. A negative number of bytes means that it was freed.
pub(crate) fn record_memory(device: &str, bytes: i64) {
    let Some(recorder) = recorder() else { return };
    let now = recorder.summary.lock().record_memory(device, bytes);
    let time = microseconds(recorder, Instant::now());
    write(&json!({ "ph": "C", "name": format!("memory of {device}"), "pid": DEVICES, "ts": time, "args": { "bytes": now } }));
}

/// The description of a command in a trace.
pub(crate) struct Description {
    pub(crate) kind: Kind,
    pub(crate) name: String,
    /// Work-items or bytes.
    pub(crate) amount: u64,
    /// Details, shown in the trace only.
    pub(crate) args: Value,
}

/// The trace record of a command. It is written when the command is done, because its times are unknown before.
pub(crate) struct Traced {
    number: u64,
    kind: Kind,
    name: String,
    amount: u64,
    args: Value,
    enqueued: (u64, Instant),
    /// The commands of the command's wait list.
    after: Mutex<Vec<Arc<Self>>>,
    /// The row of the command and the time of its end, once it is done.
    ended: OnceLock<(u64, f64)>,
}

impl fmt::Debug for Traced {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Traced").field("number", &self.number).field("name", &self.name).finish_non_exhaustive()
    }
}

impl Traced {
    /// Creates the record of a command that is enqueued now. Returns `None` if tracing is off.
    pub(crate) fn new(describe: impl FnOnce() -> Description) -> Option<Arc<Self>> {
        let recorder = recorder()?;
        let Description { kind, name, amount, args } = describe();
        let number = recorder.next.fetch_add(1, Ordering::Relaxed);
        let enqueued = (thread(), Instant::now());
        Some(Arc::new(Self { number, kind, name, amount, args, enqueued, after: Mutex::default(), ended: OnceLock::new() }))
    }

    /// Records that the command waits for another one.
    pub(crate) fn add_predecessor(&self, other: &Arc<Self>) {
        self.after.lock().push(Arc::clone(other));
    }

    /// Records that the command is done: it ran from `start` to `end`, nanoseconds of its device's clock.
    pub(crate) fn record_done(&self, (queue, device): (usize, &dyn Device), (start, end): (u64, u64)) {
        let Some(recorder) = recorder() else { return };
        let took = Duration::from_nanos(end.saturating_sub(start));
        recorder.summary.lock().add(self.kind, &self.name, took, self.amount);
        // Reads the clocks of the host and of the device at the same moment.
        let (now, device_now) = (microseconds(recorder, Instant::now()), device.now());
        let to_trace_time = |time: u64| now - (device_now as f64 - time as f64) / 1e3;
        let (start, end) = (to_trace_time(start), to_trace_time(end));
        let row = recorder.row(queue, &device.properties().name, start, end);
        let _ = self.ended.set((row, end));
        let duration = in_microseconds(took);
        write(
            &json!({ "ph": "X", "cat": "command", "name": self.name, "pid": DEVICES, "tid": row, "ts": start, "dur": duration, "args": self.args }),
        );
        let (thread, enqueued) = self.enqueued;
        arrow(self.number, (HOST, thread, microseconds(recorder, enqueued)), (row, start));
        for other in std::mem::take(&mut *self.after.lock()) {
            if let Some(&(from, ended)) = other.ended.get() {
                arrow(recorder.next.fetch_add(1, Ordering::Relaxed), (DEVICES, from, ended.min(start)), (row, start));
            }
        }
    }
}

/// Writes an arrow from a slice (process, row, time) to a command.
fn arrow(number: u64, (process, thread, from): (u32, u64, f64), (row, to): (u64, f64)) {
    write(&json!({ "ph": "s", "cat": "flow", "name": "flow", "id": number, "pid": process, "tid": thread, "ts": from }));
    write(&json!({ "ph": "f", "bp": "e", "cat": "flow", "name": "flow", "id": number, "pid": DEVICES, "tid": row, "ts": to }));
}

impl Recorder {
    /// Returns a row of the queue that is free at `start`, and reserves the row until `end`. If no row is free, uses
    /// the last one.
    fn row(&self, queue: usize, device: &str, start: f64, end: f64) -> u64 {
        let mut queues = self.queues.lock();
        let count = queues.len() as u64;
        let rows = queues.entry((queue, device.to_owned())).or_insert_with(|| Rows { number: count, ends: Vec::new() });
        let lane = rows.ends.iter().position(|ended| *ended <= start).unwrap_or(rows.ends.len());
        let lane = lane.min(ROWS_PER_QUEUE as usize - 1);
        let row = rows.number * ROWS_PER_QUEUE + lane as u64 + 1;
        match rows.ends.get_mut(lane) {
            Some(last) => *last = end,
            None => {
                rows.ends.push(end);
                let name = format!("queue {}, {device}", rows.number + 1);
                write(&json!({ "ph": "M", "name": "thread_name", "pid": DEVICES, "tid": row, "args": { "name": name } }));
            }
        }
        row
    }
}
