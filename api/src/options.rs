//! The switches of wgcl: one table from which environment variables, the configuration file and the documentation are made.
//!
//! An environment variable beats the configuration file. In the file (TOML) the name is that of the variable without `WGCL_`, in lower case:
//! `log = "debug"`.

use std::path::PathBuf;
use std::sync::OnceLock;

/// What a switch takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Words.
    Text,
    /// The path of a file.
    File,
    /// The path of a directory, made if it is not there.
    Directory,
}

/// A switch.
#[derive(Clone, Copy, Debug)]
pub struct Switch {
    /// Name of the environment variable.
    pub name: &'static str,
    /// What it takes.
    pub kind: Kind,
    /// Its value when it is not given, in words.
    pub default: &'static str,
    /// What it does.
    pub doc: &'static str,
}

/// All switches.
pub const SWITCHES: &[Switch] = &[
    Switch {
        name: "WGCL_LOG",
        kind: Kind::Text,
        default: "nothing is logged",
        doc: "What to log to standard error: `error`, `warn`, `info`, `debug` (every call that returns an error, and why) or `trace` (every call), \
              or a filter such as `wgcl_backend_wgpu=debug,wgpu=warn`, which may name the crates below wgcl as well.",
    },
    Switch {
        name: "WGCL_TRACE",
        kind: Kind::File,
        default: "nothing is recorded",
        doc: "A file for a trace of calls, builds, commands with the device's times and what they waited for, and memory, which [Perfetto](https://ui.perfetto.dev) and Chrome \
              (`chrome://tracing`) open. It is whole at any time, whatever becomes of the program.",
    },
    Switch {
        name: "WGCL_STATS",
        kind: Kind::Text,
        default: "0",
        doc: "`1` sums up at the end of the program, on standard error, what kernels, transfers, builds and calls took and how much memory there was; a path writes it there as JSON.",
    },
    Switch {
        name: "WGCL_DUMP_DIR",
        kind: Kind::Directory,
        default: "nothing is kept",
        doc: "A directory in which the source, options, log and IR of every build and the SPIR-V of every kernel, or its vector IR, assembly and machine code, \
              are kept.",
    },
    Switch {
        name: "WGCL_DEVICE",
        kind: Kind::Text,
        default: "all devices",
        doc: "Which devices an application sees and in what order: indices or parts of names, separated by commas (`0`, `llvmpipe`, `nvidia,1`).",
    },
    Switch {
        name: "WGCL_DEVICE_TYPE",
        kind: Kind::Text,
        default: "what the device is",
        doc: "What devices say they are (`CL_DEVICE_TYPE`), for programs that look for one type only or choose their kernels by it: `gpu`, `cpu`, `accelerator`, or \
              `NAME=TYPE` for those in whose name NAME occurs, separated by commas.",
    },
    Switch {
        name: "WGCL_CPU",
        kind: Kind::Text,
        default: "1 on x86-64 (Linux, other Unix)",
        doc: "Whether the host's CPU is offered, behind GPUs, by machine code of wgcl's own: `1` or `0`. Vulkan drivers for CPUs are offered beside it only where `WGCL_DEVICE` names them.",
    },
    Switch {
        name: "WGCL_CPU_ISA",
        kind: Kind::Text,
        default: "all that the processor has",
        doc: "The instructions that this device may use at most: `sse4.2`, `avx2` or `avx512`.",
    },
    Switch {
        name: "WGCL_PERF_MAP",
        kind: Kind::Text,
        default: "0",
        doc: "`1` writes `/tmp/perf-PID.map`, by which Linux' `perf` names the machine code of this device's kernels: `KERNEL.ISA`.",
    },
    Switch {
        name: "WGCL_CHECK",
        kind: Kind::Text,
        default: "0",
        doc: "`1` checks kernels on the CPU's device and tells on standard error, with the line of the source, of accesses out of bounds (which touch nothing, and fail their launch), of misaligned ones, of \
              reads of what nothing has written, of writes to read-only buffers, of data races, of barriers that not all of a group come to, and of integers divided by zero. `nan` tells as well of operators and built-in functions that make a NaN of \
              numbers; `fatal` fails the launch whatever is found (`fatal,nan` does both). \
              Kernels take many times as long, and nothing is taken from the cache or kept there.",
    },
    Switch {
        name: "WGCL_INTERPRETER",
        kind: Kind::Text,
        default: "no interpreter",
        doc: "`1` adds a device, \"wgcl interpreter\", behind the others: it executes kernels on the host, slowly and strictly, to compare with. With `only` it is \
              the only device, and no driver is looked for.",
    },
    Switch {
        name: "WGCL_CACHE",
        kind: Kind::Text,
        default: "on",
        doc: "`0` keeps nothing of what is compiled for the next time. Otherwise programs and kernels that were compiled once are kept on disk.",
    },
    Switch {
        name: "WGCL_CACHE_DIR",
        kind: Kind::Directory,
        default: "`wgcl` in the user's cache directory",
        doc: "Where they are kept. Any number of processes may use it at once, and it may be removed at any time.",
    },
    Switch {
        name: "WGCL_CACHE_SIZE",
        kind: Kind::Text,
        default: "512",
        doc: "The size of that directory in MiB: what was used longest ago is removed.",
    },
    Switch {
        name: "WGCL_COARSEN",
        kind: Kind::Text,
        default: "where it is quicker",
        doc: "Whether one invocation may do the work of several neighbouring work-items: `0` never, `1` wherever the language allows it.",
    },
    Switch {
        name: "WGCL_EXCHANGE",
        kind: Kind::Text,
        default: "where it is quicker",
        doc: "Whether neighbouring work-items may make wide accesses to memory for each other: `0` never, `1` on every device that can.",
    },
    Switch {
        name: "WGCL_SUBGROUP",
        kind: Kind::Text,
        default: "the device's, 32 where a GPU has several",
        doc: "Work-items of a subgroup of kernels that require no size, where the device has several (or a Vulkan driver takes one, VK_EXT_subgroup_size_control): a power of two that it has.",
    },
    Switch {
        name: "WGCL_INLINE",
        kind: Kind::Text,
        default: "while it is little code",
        doc: "Whether helpers are copied into what calls them: `0` only those that cannot be functions on a GPU: for tests.",
    },
    Switch {
        name: "WGCL_ADDRESSES",
        kind: Kind::Text,
        default: "where bindings do not do, or it is quicker",
        doc: "Whether kernels on Vulkan reach buffers by their addresses in the device's memory: `0` never, `1` always, on devices that have such addresses.",
    },
    Switch {
        name: "WGCL_PORTABLE",
        kind: Kind::Text,
        default: "0",
        doc: "`1` uses nothing below wgpu's portable interface, as on Metal and Direct3D 12: no commands and no SPIR-V of Vulkan's own. Slower: for tests.",
    },
    Switch {
        name: "WGCL_EMULATE",
        kind: Kind::Text,
        default: "what the device lacks",
        doc: "What kernels on GPUs do by other means, separated by commas. `fp64`: `double` by 64-bit integers, which takes some ten to thirty times as long; devices that have no `double` of their own \
              (Metal, Direct3D 12, OpenGL ES) report it only so. `int64_atomics`: atomic operations of 64 bits by locks, on Vulkan and OpenGL ES; \
              devices that have none report them only so. `int64`: 64-bit integers by words although the device has them, for tests.",
    },
    Switch {
        name: "WGCL_BINDING_LIMIT",
        kind: Kind::Text,
        default: "the device's",
        doc: "Bytes of a buffer from which on kernels see it in several pieces, as they do where it is larger than the device can bind: for tests. The pieces are \
              larger where there would be too many. Where kernels reach it by its address, and on the CPU: from which on offsets within it take 64 bits.",
    },
    Switch {
        name: "WGCL_CONFIG",
        kind: Kind::File,
        default: "`wgcl/config.toml` in the user's configuration directory",
        doc: "The configuration file. It is only read from the environment.",
    },
];

/// The values of the switches.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    /// `WGCL_LOG`
    pub log: Option<String>,
    /// `WGCL_TRACE`
    pub trace: Option<PathBuf>,
    /// `WGCL_STATS`
    pub stats: Option<String>,
    /// `WGCL_DUMP_DIR`
    pub dump_dir: Option<PathBuf>,
    /// `WGCL_DEVICE`
    pub device: Option<String>,
    /// `WGCL_DEVICE_TYPE`
    pub device_type: Option<String>,
    /// `WGCL_CPU`
    pub cpu: Option<String>,
    /// `WGCL_CPU_ISA`
    pub cpu_isa: Option<String>,
    /// `WGCL_PERF_MAP`
    pub perf_map: Option<String>,
    /// `WGCL_CHECK`
    pub check: Option<String>,
    /// `WGCL_INTERPRETER`
    pub interpreter: Option<String>,
    /// `WGCL_CACHE`
    pub cache: Option<String>,
    /// `WGCL_CACHE_DIR`
    pub cache_dir: Option<PathBuf>,
    /// `WGCL_CACHE_SIZE`
    pub cache_size: Option<String>,
    /// `WGCL_COARSEN`
    pub coarsen: Option<String>,
    /// `WGCL_EXCHANGE`
    pub exchange: Option<String>,
    /// `WGCL_SUBGROUP`
    pub subgroup: Option<String>,
    /// `WGCL_INLINE`
    pub inline: Option<String>,
    /// `WGCL_ADDRESSES`
    pub addresses: Option<String>,
    /// `WGCL_PORTABLE`
    pub portable: Option<String>,
    /// `WGCL_EMULATE`
    pub emulate: Option<String>,
    /// `WGCL_BINDING_LIMIT`
    pub binding_limit: Option<String>,
    /// What was wrong with the configuration; logged once logging is up.
    pub complaints: Vec<String>,
}

static OPTIONS: OnceLock<Options> = OnceLock::new();

impl Options {
    /// The options of this process, read at the first call.
    pub fn get() -> &'static Self {
        OPTIONS.get_or_init(|| Self::read(&|name| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned())))
    }

    /// Whether kernels are checked.
    pub fn is_checked(&self) -> bool {
        ["1", "fatal", "nan"].into_iter().any(|word| self.check_has(word))
    }

    /// Whether whatever is found wrong with a kernel fails its launch.
    pub fn fails_on_findings(&self) -> bool {
        self.check_has("fatal")
    }

    /// Whether it is told where kernels make a NaN of numbers.
    pub fn checks_nans(&self) -> bool {
        self.check_has("nan")
    }

    fn check_has(&self, word: &str) -> bool {
        self.check.iter().flat_map(|list| list.split(',')).any(|part| part.trim() == word)
    }

    /// Whether a type is to be done by others.
    pub fn emulates(&self, name: &str) -> bool {
        self.emulate.iter().flat_map(|list| list.split(',')).any(|part| part.trim() == name)
    }

    /// The size of subgroups that is asked for, if it can be one: a power of two.
    pub fn subgroup_size(&self) -> Option<u32> {
        self.subgroup.as_deref().and_then(|text| text.parse().ok()).filter(|size: &u32| size.is_power_of_two())
    }

    /// Reads the options from an environment and the configuration file that it names.
    fn read(env: &dyn Fn(&str) -> Option<String>) -> Self {
        let mut complaints = Vec::new();
        let table = config_file(env, &mut complaints);
        let value = |name: &str| {
            let given = env(name).or_else(|| table.get(&key(name)).and_then(toml::Value::as_str).map(str::to_owned));
            given.filter(|value| !value.is_empty())
        };
        for (name, value) in &table {
            match SWITCHES.iter().find(|switch| key(switch.name) == *name) {
                None => complaints.push(format!("the configuration file has an unknown option `{name}`")),
                Some(_) if !value.is_str() => complaints.push(format!("the configuration file's `{name}` is not a string")),
                Some(_) => {}
            }
        }
        Self {
            log: value("WGCL_LOG"),
            trace: value("WGCL_TRACE").map(PathBuf::from),
            stats: value("WGCL_STATS"),
            dump_dir: value("WGCL_DUMP_DIR").map(PathBuf::from),
            device: value("WGCL_DEVICE"),
            device_type: value("WGCL_DEVICE_TYPE"),
            cpu: value("WGCL_CPU"),
            cpu_isa: value("WGCL_CPU_ISA"),
            perf_map: value("WGCL_PERF_MAP"),
            check: value("WGCL_CHECK"),
            interpreter: value("WGCL_INTERPRETER"),
            cache: value("WGCL_CACHE"),
            cache_dir: value("WGCL_CACHE_DIR").map(PathBuf::from),
            cache_size: value("WGCL_CACHE_SIZE"),
            coarsen: value("WGCL_COARSEN"),
            exchange: value("WGCL_EXCHANGE"),
            subgroup: value("WGCL_SUBGROUP"),
            inline: value("WGCL_INLINE"),
            addresses: value("WGCL_ADDRESSES"),
            portable: value("WGCL_PORTABLE"),
            emulate: value("WGCL_EMULATE"),
            binding_limit: value("WGCL_BINDING_LIMIT"),
            complaints,
        }
    }

    /// The table of docs/options.md, in Markdown.
    pub fn markdown() -> String {
        let mut text = String::from("| Variable | Takes | Default | Meaning |\n|---|---|---|---|\n");
        for Switch { name, kind, default, doc } in SWITCHES {
            let kind = match kind {
                Kind::Text => "text",
                Kind::File => "file",
                Kind::Directory => "directory",
            };
            text.push_str(&format!("| `{name}` | {kind} | {default} | {doc} |\n"));
        }
        text
    }
}

/// The name of a switch in the configuration file.
fn key(name: &str) -> String {
    name.strip_prefix("WGCL_").unwrap_or(name).to_lowercase()
}

fn config_file(env: &dyn Fn(&str) -> Option<String>, complaints: &mut Vec<String>) -> toml::Table {
    let named = env("WGCL_CONFIG").filter(|path| !path.is_empty()).map(PathBuf::from);
    let required = named.is_some();
    let usual = || {
        env("XDG_CONFIG_HOME")
            .map(PathBuf::from)
            .or_else(|| env("HOME").map(|home| PathBuf::from(home).join(".config")))
            .or_else(|| env("APPDATA").map(PathBuf::from))
            .map(|directory| directory.join("wgcl/config.toml"))
    };
    let Some(path) = named.or_else(usual) else { return toml::Table::new() };
    match std::fs::read_to_string(&path) {
        Ok(text) => text.parse().unwrap_or_else(|error| {
            complaints.push(format!("{}: {error}", path.display()));
            toml::Table::new()
        }),
        Err(error) => {
            if required {
                complaints.push(format!("{}: {error}", path.display()));
            }
            toml::Table::new()
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{Options, SWITCHES, key};

    #[test]
    fn the_environment_beats_the_file() {
        let path = std::env::temp_dir().join(format!("wgcl-options-{}.toml", std::process::id()));
        std::fs::write(&path, "log = \"info\"\ndevice = \"llvmpipe\"\nspeed = \"high\"\ndump_dir = 3\n").expect("temporary file");
        let file = path.to_string_lossy().into_owned();
        let options = Options::read(&|name| match name {
            "WGCL_CONFIG" => Some(file.clone()),
            "WGCL_LOG" => Some("debug".to_owned()),
            _ => None,
        });
        let _ = std::fs::remove_file(&path);
        assert_eq!(options.log.as_deref(), Some("debug"));
        assert_eq!(options.device.as_deref(), Some("llvmpipe"));
        assert_eq!(options.dump_dir, None);
        assert_eq!(options.complaints.len(), 2, "{:?}", options.complaints);
    }

    #[test]
    fn a_missing_file_is_only_an_error_when_it_was_named() {
        let none = Options::read(&|name| (name == "HOME").then(|| "/nonexistent".to_owned()));
        assert_eq!(none, Options::default());
        let named = Options::read(&|name| (name == "WGCL_CONFIG").then(|| "/nonexistent/config.toml".to_owned()));
        assert_eq!(named.complaints.len(), 1);
    }

    #[test]
    fn the_documentation_has_the_table() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/options.md");
        let text = std::fs::read_to_string(page).expect("docs/options.md");
        let (_, rest) = text.split_once("<!-- options:begin -->").expect("options:begin");
        let (table, _) = rest.split_once("<!-- options:end -->").expect("options:begin without options:end");
        assert_eq!(table.trim(), Options::markdown().trim(), "docs/options.md: the table of options is not that of api/src/options.rs");
    }

    #[test]
    fn names_are_alike() {
        for switch in SWITCHES {
            assert!(switch.name.starts_with("WGCL_"));
            assert_eq!(key(switch.name).to_uppercase(), switch.name["WGCL_".len()..]);
        }
    }
}
