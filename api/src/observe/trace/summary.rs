//! The statistics that `WGCL_STATS` prints at the end of a process: sums over kernels, transfers, calls and builds.

use std::collections::BTreeMap;
use std::fmt::{self, Write as _};
use std::time::Duration;

use serde::Serialize;

/// The count, the total time and the total amount of an activity.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(super) struct Sum {
    pub(super) count: u64,
    pub(super) seconds: f64,
    /// Work-items or bytes.
    pub(super) amount: u64,
}

impl Sum {
    fn add(&mut self, time: Duration, amount: u64) {
        self.count += 1;
        self.seconds += time.as_secs_f64();
        self.amount += amount;
    }
}

/// Bytes of memory objects on a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub(super) struct Memory {
    pub(super) now: u64,
    pub(super) peak: u64,
}

/// The kind of activity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Kernel,
    Transfer,
    Call,
    Build,
}

#[derive(Clone, Debug, Default, Serialize)]
pub(super) struct Summary {
    kernels: BTreeMap<String, Sum>,
    transfers: BTreeMap<String, Sum>,
    calls: BTreeMap<String, Sum>,
    builds: BTreeMap<String, Sum>,
    pub(super) memory: BTreeMap<String, Memory>,
    /// The number of programs that were found in the disk cache, and of programs that were compiled.
    pub(super) cached_programs: (u64, u64),
}

impl Summary {
    pub(super) fn add(&mut self, kind: Kind, name: &str, time: Duration, amount: u64) {
        let sums = match kind {
            Kind::Kernel => &mut self.kernels,
            Kind::Transfer => &mut self.transfers,
            Kind::Call => &mut self.calls,
            Kind::Build => &mut self.builds,
        };
        match sums.get_mut(name) {
            Some(sum) => sum.add(time, amount),
            None => sums.entry(name.to_owned()).or_default().add(time, amount),
        }
    }

    /// Records that memory on a device was allocated, or freed if `bytes` is negative. Returns the number of allocated
    /// bytes.
    pub(super) fn record_memory(&mut self, device: &str, bytes: i64) -> u64 {
        let memory = self.memory.entry(device.to_owned()).or_default();
        memory.now = memory.now.saturating_add_signed(bytes);
        memory.peak = memory.peak.max(memory.now);
        memory.now
    }
}

/// Names and sums, the longest total time first.
fn sorted(sums: &BTreeMap<String, Sum>) -> Vec<(&String, &Sum)> {
    let mut list: Vec<_> = sums.iter().collect();
    list.sort_by(|(_, a), (_, b)| b.seconds.total_cmp(&a.seconds));
    list
}

/// The maximum number of entries that a table lists. One more line contains the sum of the others.
const LINES: usize = 20;

fn table(f: &mut fmt::Formatter<'_>, title: &str, unit: &str, sums: &BTreeMap<String, Sum>) -> fmt::Result {
    if sums.is_empty() {
        return Ok(());
    }
    let total: f64 = sums.values().map(|sum| sum.seconds).sum();
    let header = format!("{title:<40} {:>10} {:>12} {:>6} {:>12} {unit:>14}", "count", "total ms", "%", "mean us");
    writeln!(f, "\n{}", header.trim_end())?;
    let list = sorted(sums);
    let (shown, rest) = list.split_at(list.len().min(LINES));
    let mut line = |name: &str, sum: &Sum| {
        let share = if total > 0.0 { 100.0 * sum.seconds / total } else { 0.0 };
        let mean = sum.seconds * 1e6 / sum.count.max(1) as f64;
        write!(f, "{name:<40} {:>10} {:>12.3} {share:>6.1} {mean:>12.2}", sum.count, sum.seconds * 1e3)?;
        if unit.is_empty() { writeln!(f) } else { writeln!(f, " {:>14}", sum.amount) }
    };
    shown.iter().try_for_each(|(name, sum)| line(name, sum))?;
    let others = rest.iter().fold(Sum::default(), |all, (_, sum)| Sum {
        count: all.count + sum.count,
        seconds: all.seconds + sum.seconds,
        amount: all.amount + sum.amount,
    });
    if rest.is_empty() { Ok(()) } else { line(&format!("({} others)", rest.len()), &others) }
}

impl fmt::Display for Summary {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("wgcl: summary (WGCL_STATS)")?;
        f.write_char('\n')?;
        table(f, "kernels", "work-items", &self.kernels)?;
        table(f, "transfers", "bytes", &self.transfers)?;
        table(f, "builds", "input bytes", &self.builds)?;
        table(f, "calls", "", &self.calls)?;
        if !self.memory.is_empty() {
            writeln!(f, "\n{:<40} {:>14} {:>14}", "memory objects", "peak bytes", "at the end")?;
            self.memory.iter().try_for_each(|(device, memory)| writeln!(f, "{device:<40} {:>14} {:>14}", memory.peak, memory.now))?;
        }
        let (found, compiled) = self.cached_programs;
        if found + compiled > 0 {
            writeln!(f, "\nprograms: {found} found in the cache, {compiled} compiled")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::{Kind, Summary};

    #[test]
    fn sums_are_sorted_and_shares_add_up() {
        let mut summary = Summary::default();
        for (name, ms, items) in [("slow", 30, 100), ("quick", 5, 10), ("slow", 30, 100), ("quick", 35, 1)] {
            summary.add(Kind::Kernel, name, Duration::from_millis(ms), items);
        }
        for bytes in [100, 50, -150, 20] {
            summary.record_memory("device", bytes);
        }
        let text = summary.to_string();
        let lines: Vec<&str> = text.lines().filter(|line| line.starts_with("slow") || line.starts_with("quick")).collect();
        let words = |line: &str| line.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        assert_eq!(words(lines[0]), ["slow", "2", "60.000", "60.0", "30000.00", "200"]);
        assert_eq!(words(lines[1]), ["quick", "2", "40.000", "40.0", "20000.00", "11"]);
        assert_eq!(words(text.lines().find(|line| line.starts_with("device")).unwrap_or_default()), ["device", "150", "20"]);
    }
}
