//! Timestamps of profiled commands, and their conversion to the host's clock.

use std::sync::Arc;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU32, Ordering};

use wgcl_api::backend::{BackendError, BackendResult, Times};

use crate::buffer::Buffer;
use crate::context_lock::Guarded;
use crate::gpu::open_device::{Gpu, Submission};
use crate::host::clock;
use crate::memory::staging_buffer::{Direction, HostBuffer};
use crate::vulkan::command_buffer;
use crate::vulkan::queue;

/// Number of queries of a set: wgpu's maximum.
const QUERIES: u32 = 4096;
/// Size of a resolved query in bytes.
const BYTES: u64 = 8;
/// Nanoseconds until the clocks are compared again. The clocks drift apart.
const VALIDITY: u64 = 50_000_000;
/// Number of clock comparisons. The comparison with the least uncertainty is used.
const PROBES: usize = 5;

/// Converts device ticks to the host's nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Conversion {
    period: f64,
    /// Host time minus device time, in nanoseconds.
    offset: i64,
}

impl Conversion {
    fn host(self, ticks: u64) -> u64 {
        let nanoseconds = if (self.period - 1.0).abs() < f64::EPSILON { ticks } else { (ticks as f64 * self.period) as u64 };
        nanoseconds.wrapping_add_signed(self.offset)
    }
}

#[derive(Debug)]
pub(crate) enum Queries {
    Wgpu { set: Guarded<wgpu::QuerySet>, resolved: Buffer, down: HostBuffer },
    Vulkan(queue::TimestampQueries),
}

/// The timestamps of one batch.
#[derive(Debug)]
pub(crate) struct TimestampSet {
    pub(crate) queries: Queries,
    used: AtomicU32,
    conversion: Conversion,
    values: OnceLock<BackendResult<Vec<u64>>>,
}

impl TimestampSet {
    fn new(gpu: &Gpu, conversion: Conversion) -> BackendResult<Self> {
        let queries = match &gpu.vulkan_queue {
            Some(queue) => Queries::Vulkan(queue::TimestampQueries::new(queue, QUERIES)?),
            None => {
                let size = u64::from(QUERIES) * BYTES;
                let (resolved, _) = gpu.buffer(size, wgpu::BufferUsages::QUERY_RESOLVE | wgpu::BufferUsages::COPY_SRC, false)?;
                let descriptor = wgpu::QuerySetDescriptor { label: None, ty: wgpu::QueryType::Timestamp, count: QUERIES };
                let set = gpu.scoped(|| gpu.device.create_query_set(&descriptor))?;
                Queries::Wgpu { set: gpu.context_lock.guard(set), resolved, down: HostBuffer::new(gpu, size, Direction::Down)? }
            }
        };
        Ok(Self { queries, used: AtomicU32::new(0), conversion, values: OnceLock::new() })
    }

    /// Allocates the start and the end query of a command. If the command directly follows a profiled one, its start
    /// query is that command's end query, `previous`. Returns `None` if the set is full.
    pub(crate) fn take(&self, previous: Option<u32>) -> Option<(u32, u32)> {
        let used = self.used.load(Ordering::Relaxed);
        let (start, end) = previous.map_or((used, used + 1), |previous| (previous, used));
        (end < QUERIES).then(|| {
            self.used.store(end + 1, Ordering::Relaxed);
            (start, end)
        })
    }

    /// Records the copy of the query results to the host, at the end of a wgpu batch.
    pub(crate) fn resolve(&self, encoder: &mut wgpu::CommandEncoder) {
        let used = self.used.load(Ordering::Relaxed);
        if let (Queries::Wgpu { set, resolved, down }, true) = (&self.queries, used > 0) {
            encoder.resolve_query_set(set, 0..used, &resolved.wgpu, 0);
            encoder.copy_buffer_to_buffer(&resolved.wgpu, 0, &down.buffer.wgpu, 0, u64::from(used) * BYTES);
        }
    }

    fn values(&self, gpu: &Gpu) -> &BackendResult<Vec<u64>> {
        self.values.get_or_init(|| {
            let used = self.used.load(Ordering::Relaxed);
            match &self.queries {
                Queries::Vulkan(queries) => queries.values(used),
                Queries::Wgpu { down, .. } => {
                    let mut values = Vec::new();
                    down.read(gpu, 0, u64::from(used) * BYTES, &mut |bytes| {
                        values = bytes.as_chunks::<8>().0.iter().map(|bytes| u64::from_ne_bytes(*bytes)).collect();
                    })?;
                    Ok(values)
                }
            }
        })
    }
}

/// The timestamps of one command.
#[derive(Clone, Debug)]
pub(crate) struct CommandTimestamps {
    pub(crate) set: Arc<TimestampSet>,
    pub(crate) start: u32,
    pub(crate) end: u32,
    /// Whether `start` is the end query of the previous command, and thus already written.
    pub(crate) follows: bool,
}

impl CommandTimestamps {
    /// Returns the times of the command. Its batch must be complete.
    pub(crate) fn times(&self, gpu: &Gpu) -> BackendResult<Times> {
        let values = self.set.values(gpu).as_ref().map_err(Clone::clone)?;
        match (values.get(self.start as usize), values.get(self.end as usize)) {
            (Some(start), Some(end)) => Ok(Times { start: self.set.conversion.host(*start), end: self.set.conversion.host(*end) }),
            _ => Err(BackendError::Other("internal error: a timestamp query is missing".to_owned())),
        }
    }
}

/// The timestamp sets of a device. A set is reused once all commands with its queries are complete.
#[derive(Debug, Default)]
pub(crate) struct TimestampPool {
    /// The conversion, and the time at which the clocks were compared.
    conversion: Option<(Conversion, u64)>,
    sets: Vec<Arc<TimestampSet>>,
}

impl TimestampPool {
    /// Whether the device supports timestamps between any two commands.
    pub(crate) fn is_supported(gpu: &Gpu) -> bool {
        gpu.features.contains(
            wgpu::Features::TIMESTAMP_QUERY
                | wgpu::Features::TIMESTAMP_QUERY_INSIDE_ENCODERS
                | wgpu::Features::TIMESTAMP_QUERY_INSIDE_PASSES,
        )
    }

    /// Returns an unused set. The first call compares the clocks, and may wait for the device.
    pub(crate) fn get(&mut self, gpu: &Gpu) -> BackendResult<Arc<TimestampSet>> {
        let now = clock::now();
        let conversion = match self.conversion {
            // The comparison is repeated only if the driver can compare the clocks, because it then needs no wait.
            Some((conversion, compared)) if now < compared + VALIDITY || gpu.capabilities.host_clock || !can_compare(gpu) => conversion,
            _ => self.conversion.insert((calibrate(gpu)?, now)).0,
        };
        for set in &mut self.sets {
            if let Some(free) = Arc::get_mut(set) {
                free.conversion = conversion;
                free.used = AtomicU32::new(0);
                free.values = OnceLock::new();
                return Ok(Arc::clone(set));
            }
        }
        let set = Arc::new(TimestampSet::new(gpu, conversion)?);
        self.sets.push(Arc::clone(&set));
        Ok(set)
    }
}

/// Whether the driver can compare the clocks.
fn can_compare(gpu: &Gpu) -> bool {
    gpu.vulkan_queue.as_ref().is_some_and(|queue| queue.calibrated_timestamps().is_some())
}

/// Compares the device's clock with the host's.
fn calibrate(gpu: &Gpu) -> BackendResult<Conversion> {
    let period = f64::from(gpu.queue.get_timestamp_period());
    let mut best = Conversion { period, offset: 0 };
    if gpu.capabilities.host_clock {
        return Ok(best);
    }
    let mut uncertainty = u64::MAX;
    for _ in 0..PROBES {
        let begin = clock::now();
        let (ticks, host) = match &gpu.vulkan_queue {
            Some(queue) => match queue.calibrated_timestamps() {
                Some((ticks, host)) => (ticks, Some(host)),
                None => (command_buffer::probe(queue)?, None),
            },
            None => (probe(gpu, best)?, None),
        };
        let end = clock::now();
        let device = Conversion { period, offset: 0 }.host(ticks);
        if end - begin < uncertainty {
            uncertainty = end - begin;
            best.offset = host.unwrap_or(begin + uncertainty / 2).wrapping_sub(device).cast_signed();
        }
    }
    Ok(best)
}

/// Reads the device's clock with a wgpu submission. Returns it in ticks.
fn probe(gpu: &Gpu, conversion: Conversion) -> BackendResult<u64> {
    let timestamp_set = TimestampSet::new(gpu, conversion)?;
    let (Some((start, end)), Queries::Wgpu { set, .. }) = (timestamp_set.take(None), &timestamp_set.queries) else { return Ok(0) };
    let context = gpu.context_lock.lock();
    let mut encoder = gpu.device.create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    encoder.write_timestamp(set, start);
    encoder.write_timestamp(set, end);
    timestamp_set.resolve(&mut encoder);
    let index = gpu.scoped(|| gpu.queue.submit([encoder.finish()]))?;
    drop(context);
    gpu.wait(Submission::Wgpu(index))?;
    Ok(timestamp_set.values(gpu).as_ref().map_err(Clone::clone)?.first().copied().unwrap_or(0))
}
