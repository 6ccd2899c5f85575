//! The log on standard error (`WGCL_LOG`).
//!
//! The layer of `tracing_subscriber::fmt` formats into a thread-local buffer. That layer panics if a destructor of the
//! application calls OpenCL after the thread-local values of the main thread are destroyed. The layer of this module,
//! [`Lines`], has no thread-local state.

use std::fmt::Write as _;
use std::io::{self, Write as _};

use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::format::{DefaultVisitor, Writer};
use tracing_subscriber::fmt::time::{FormatTime, SystemTime};
use tracing_subscriber::layer::{Context, Layer, SubscriberExt};
use tracing_subscriber::util::SubscriberInitExt;
use tracing_subscriber::{EnvFilter, registry};

use wgcl_api::options::Options;

use crate::terminal;

/// Writes each event as a line.
struct Lines {
    /// Whether levels have colours.
    has_colours: bool,
}

/// Returns the ANSI colour code of a level.
fn colour(level: Level) -> u8 {
    match level {
        Level::ERROR => 31,
        Level::WARN => 33,
        Level::INFO => 32,
        Level::DEBUG => 34,
        Level::TRACE => 35,
    }
}

impl<S: Subscriber> Layer<S> for Lines {
    fn on_event(&self, event: &Event<'_>, _: Context<'_, S>) {
        let mut line = String::new();
        // Writes to a string do not fail.
        let _ = SystemTime.format_time(&mut Writer::new(&mut line));
        let (level, target) = (*event.metadata().level(), event.metadata().target());
        let _ = match self.has_colours {
            true => write!(line, " \x1b[{}m{level:>5}\x1b[0m {target}: ", colour(level)),
            false => write!(line, " {level:>5} {target}: "),
        };
        event.record(&mut DefaultVisitor::new(Writer::new(&mut line), true));
        line.push('\n');
        // A single write keeps the lines of several threads separate. A failure is ignored: the log cannot be written
        // then.
        let _ = io::stderr().write_all(line.as_bytes());
    }
}

/// Starts the log that the options request.
pub(crate) fn start(options: &Options) {
    if let Some(filter) = &options.log {
        let filter = EnvFilter::try_new(own_crates(filter)).unwrap_or_else(|error| {
            let _ = writeln!(io::stderr(), "wgcl: WGCL_LOG: {error}");
            EnvFilter::new("wgcl=info")
        });
        // The subscriber belongs to this library's copy of `tracing`, so no other code has set it.
        let _ = registry().with(filter).with(Lines { has_colours: terminal::shows_colours() }).try_init();
    }
    // These messages are printed even without a log. Otherwise, users would not notice that an option has no effect.
    for message in &options.messages {
        let _ = writeln!(io::stderr(), "wgcl: {message}");
    }
}

/// Limits a filter that is only a level (`debug`) to wgcl: the log output of its dependencies is rarely useful. Targets
/// are prefixes of module paths, so `wgcl` covers all of its crates.
fn own_crates(filter: &str) -> String {
    let filter = filter.trim();
    if filter.parse::<Level>().is_ok() { format!("wgcl={filter}") } else { filter.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::own_crates;

    #[test]
    fn a_level_alone_is_for_our_own_crates() {
        assert_eq!(own_crates("debug"), "wgcl=debug");
        assert_eq!(own_crates(" WARN "), "wgcl=WARN");
        assert_eq!(own_crates("naga=debug,warn"), "naga=debug,warn");
        assert_eq!(own_crates("wgcl_backend_wgpu=trace"), "wgcl_backend_wgpu=trace");
    }
}
