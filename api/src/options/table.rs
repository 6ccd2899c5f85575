//! The table of all options.

/// The values that an option accepts.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A switch: `1` or `0`, or a word such as `true`.
    Switch,
    /// One of these words. A switch is accepted if `0` or `1` is one of them.
    Word(&'static [&'static str]),
    /// A list of these words, separated by commas. `0` alone is the empty list.
    Words(&'static [&'static str]),
    /// `0`, `1`, or the name of a file.
    SwitchOrFile,
    /// A positive number of this unit.
    Number(&'static str),
    /// Other text, described here: names, files, filters.
    Text(&'static str),
}

impl Kind {
    /// The accepted values, for the documentation and for messages.
    pub fn values(&self) -> String {
        let quoted = |words: &[&str]| words.iter().map(|word| format!("`{word}`")).collect::<Vec<_>>();
        match self {
            Self::Switch => "`0` or `1`".to_owned(),
            Self::Word(words) => match quoted(words).split_last() {
                Some((last, others)) => format!("{} or {last}", others.join(", ")),
                None => String::new(),
            },
            Self::Words(words) => format!("`0`, or list of {}", quoted(words).join(", ")),
            Self::SwitchOrFile => "`0`, `1` or FILE".to_owned(),
            Self::Number(values) | Self::Text(values) => (*values).to_owned(),
        }
    }
}

/// The readers for whom an option is documented.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Audience {
    User,
    /// Developers of wgcl, and its tests.
    Testing,
}

/// The documentation of an option.
#[derive(Clone, Copy, Debug)]
pub struct OptionInfo {
    /// Name of the environment variable.
    pub name: &'static str,
    pub kind: Kind,
    pub audience: Audience,
    /// The default, in words.
    pub default: &'static str,
    /// The effect of the option.
    pub doc: &'static str,
}

/// Every option, in the order of the documentation.
pub const TABLE: &[OptionInfo] = &[
    OptionInfo {
        name: "WGCL_DEVICE",
        kind: Kind::Text("LIST"),
        audience: Audience::User,
        default: "all devices",
        doc: "The devices that applications see, in this order. Each item is an index, `cpu`, `gpu`, or a part of a \
              name in upper or lower case. Commas separate the items (`0`, `llvmpipe`, `nvidia,1`).",
    },
    OptionInfo {
        name: "WGCL_DEVICE_TYPE",
        kind: Kind::Text("`gpu`, `cpu`, `accelerator`, or a list of `NAME=TYPE`"),
        audience: Audience::User,
        default: "the actual type",
        doc: "The reported device type (`CL_DEVICE_TYPE`), for programs that accept one type only. `NAME=TYPE` \
              applies to devices whose name contains NAME.",
    },
    OptionInfo {
        name: "WGCL_CPU",
        kind: Kind::Switch,
        audience: Audience::User,
        default: "1 on x86-64 and AArch64, on Windows and Unix; otherwise 0",
        doc: "Whether the CPU device is listed, after the GPUs. It replaces Vulkan drivers for CPUs, such as lavapipe: \
              with `1`, these are listed only if `WGCL_DEVICE` contains their names.",
    },
    OptionInfo {
        name: "WGCL_CPU_ISA",
        kind: Kind::Word(&["sse4.2", "avx2", "avx512", "armv8", "armv8.2", "sve-128", "sve-256", "sve-512"]),
        audience: Audience::User,
        default: "the processor's best",
        doc: "The best instruction set that the CPU device uses. A name of another architecture, \
              or a length of SVE other than the processor's, has no effect.",
    },
    OptionInfo {
        name: "WGCL_SUBGROUP",
        kind: Kind::Word(&["1", "2", "4", "8", "16", "32", "64", "128"]),
        audience: Audience::User,
        default: "32 on GPUs with several sizes, otherwise the only or usual size of the device",
        doc: "The subgroup size of kernels that do not require a size, on devices with several sizes \
              (VK_EXT_subgroup_size_control) and on the CPU device.",
    },
    OptionInfo {
        name: "WGCL_EMULATE",
        kind: Kind::Words(&["fp64", "int64_atomics", "int64"]),
        audience: Audience::User,
        default: "none",
        doc: "Features to emulate on GPUs. A GPU without `double` or 64-bit atomics reports them only if they are \
              listed here. `fp64`: software `double`, much slower than hardware `double` ([figures](internals/emulation.md)). `int64_atomics`: \
              lock-based 64-bit atomics, on Vulkan, OpenGL ES and Direct3D 12. 64-bit integers are always emulated if \
              the GPU lacks them; `int64` forces this for tests.",
    },
    OptionInfo {
        name: "WGCL_BOOST",
        kind: Kind::Switch,
        audience: Audience::User,
        default: "1",
        doc: "Whether wgcl requests the highest clocks from NVIDIA's driver on Linux. wgcl sends a request when a program \
              submits commands, at most every 2 seconds. A request lasts 5 seconds. Without requests, the driver lowers the \
              clocks of a GPU that is not always busy.",
    },
    OptionInfo {
        name: "WGCL_EXTENSIONS",
        kind: Kind::Text("list of `-NAME`, `+NAME`"),
        audience: Audience::User,
        default: "what the device supports",
        doc: "`-NAME` hides an extension; `+NAME` reports it although the device does not support it. Both apply to \
              queries and to macros of OpenCL C. The option is for programs that fail if an extension is present or \
              absent. `-cl_khr_fp64` and `-cl_khr_fp16` also disable the types.",
    },
    OptionInfo {
        name: "WGCL_LOG",
        kind: Kind::Text("LEVEL or FILTER"),
        audience: Audience::User,
        default: "no messages, except for wrong options",
        doc: "Messages on standard error: `error`, `warn`, `info`, `debug` (every call that returns an error, with \
              the reason) or `trace` (every call). A filter such as `wgcl_backend_wgpu=debug,wgpu=warn` selects \
              crates, including wgcl's dependencies.",
    },
    OptionInfo {
        name: "WGCL_TRACE",
        kind: Kind::Text("FILE"),
        audience: Audience::User,
        default: "no trace",
        doc: "Records a trace for [Perfetto](https://ui.perfetto.dev) or Chrome (`chrome://tracing`): calls, \
              builds, commands with device times and dependencies, and memory. The file is valid at any time, also \
              after a crash.",
    },
    OptionInfo {
        name: "WGCL_STATS",
        kind: Kind::SwitchOrFile,
        audience: Audience::User,
        default: "0",
        doc: "At the end of the process, prints a summary of kernels, transfers, builds, calls and memory on \
              standard error. FILE receives it as JSON instead.",
    },
    OptionInfo {
        name: "WGCL_CHECK",
        kind: Kind::Words(&["1", "fatal", "nan", "convert"]),
        audience: Audience::User,
        default: "0",
        doc: "Each of the words enables the kernel sanitizer on the CPU device. The sanitizer reports errors on standard \
              error, with the source line. It finds out-of-bounds and misaligned accesses, uninitialised reads, \
              writes to read-only buffers, data races, divergent barriers and division by zero. `nan` also reports \
              operations that create a NaN, and `convert` conversions of floats to integers that are out of range. \
              `fatal` fails the launch on any error. Kernels are much slower, and the \
              cache is not used. On every device, wgcl also warns about undefined uses of the API and reports objects \
              that were not released.",
    },
    OptionInfo {
        name: "WGCL_PERF_MAP",
        kind: Kind::Switch,
        audience: Audience::User,
        default: "0",
        doc: "Writes `/tmp/perf-PID.map`, so that Linux's `perf` shows the CPU device's kernels as `KERNEL.ISA`.",
    },
    OptionInfo {
        name: "WGCL_JITDUMP",
        kind: Kind::Switch,
        audience: Audience::User,
        default: "0",
        doc: "Writes `jit-PID.dump` to the directory `JITDUMPDIR`, or else to `/tmp`: the code of the CPU device's kernels with \
              source lines, in the jitdump format of Linux's `perf` ([profile a kernel](tracing.md#profile-machine-code)). \
              The cache is not used.",
    },
    OptionInfo {
        name: "WGCL_DUMP_DIR",
        kind: Kind::Text("DIRECTORY"),
        audience: Audience::User,
        default: "nothing is stored",
        doc: "Stores the source, options, log and IR of every build. Also stores every kernel: as SPIR-V (GPU), or \
              as vector IR, assembly and machine code (CPU). The cache is not used.",
    },
    OptionInfo {
        name: "WGCL_CAPTURE",
        kind: Kind::Text("`DIR`, `DIR:KERNEL` or `DIR:KERNEL:N`"),
        audience: Audience::User,
        default: "nothing is captured",
        doc: "Captures launches: each one in a folder of DIR, with the source, the options, the arguments, and the \
              contents of memory before and after the launch. `wgclc replay` [runs it again](replay.md) on any device. \
              KERNEL captures only this kernel, and N only its Nth launch. Without N, the first 10 launches of each \
              kernel are captured. The cache is not used.",
    },
    OptionInfo {
        name: "WGCL_INTERPRETER",
        kind: Kind::Word(&["0", "1", "only"]),
        audience: Audience::User,
        default: "0; 1 if the CPU device cannot create machine code",
        doc: "`1` adds the device \"wgcl interpreter\" after the others. It executes kernels on the host, slowly \
              and strictly, for comparison. `only` makes it the only device and loads no driver.",
    },
    OptionInfo {
        name: "WGCL_CACHE",
        kind: Kind::Switch,
        audience: Audience::User,
        default: "1",
        doc: "Whether compiled programs and kernels are cached on disk. GPU drivers have their own caches, which this \
              option does not affect.",
    },
    OptionInfo {
        name: "WGCL_CACHE_DIR",
        kind: Kind::Text("DIRECTORY"),
        audience: Audience::User,
        default: "`wgcl` in the user's cache directory",
        doc: "The cache directory. Several processes can use it at once. You can delete it at any time.",
    },
    OptionInfo {
        name: "WGCL_CACHE_SIZE",
        kind: Kind::Number("MIB"),
        audience: Audience::User,
        default: "512",
        doc: "The size limit of the cache directory in MiB. The least recently used files are deleted first.",
    },
    OptionInfo {
        name: "WGCL_CONFIG",
        kind: Kind::Text("FILE"),
        audience: Audience::User,
        default: "`wgcl/config.toml` in the user's configuration directory",
        doc: "The configuration file. This option can only be set in the environment.",
    },
    OptionInfo {
        name: "WGCL_PORTABLE",
        kind: Kind::Switch,
        audience: Audience::Testing,
        default: "0",
        doc: "`1` uses only wgpu's portable interface, as on OpenGL ES, Metal and Direct3D 12. wgcl then uses neither its \
              own Vulkan commands nor its own SPIR-V. Kernels and launches are slower than without it.",
    },
    OptionInfo {
        name: "WGCL_ADDRESSES",
        kind: Kind::Switch,
        audience: Audience::Testing,
        default: "if necessary or faster",
        doc: "Whether kernels on Vulkan access buffers by device address. `0`: never. `1`: whenever the device \
              supports it.",
    },
    OptionInfo {
        name: "WGCL_BINDING_LIMIT",
        kind: Kind::Number("BYTES"),
        audience: Audience::Testing,
        default: "the device's limit",
        doc: "Buffers larger than this are split across several bindings. If that needs more bindings than the device \
              has, the parts are larger. On the CPU and with device addresses, kernels use 64-bit offsets for buffers \
              above this size.",
    },
    OptionInfo {
        name: "WGCL_COARSEN",
        kind: Kind::Switch,
        audience: Audience::Testing,
        default: "if wgcl estimates that it is faster",
        doc: "Thread coarsening: one invocation executes several neighbouring work-items. `0`: never. `1`: wherever \
              the language permits it.",
    },
    OptionInfo {
        name: "WGCL_EXCHANGE",
        kind: Kind::Switch,
        audience: Audience::Testing,
        default: "if wgcl estimates that it is faster",
        doc: "Subgroup coalescing (exchange of accesses): work-items load and store for their neighbours, so that \
              accesses are wide. `0`: never. `1`: on every device that supports it.",
    },
    OptionInfo {
        name: "WGCL_INLINE",
        kind: Kind::Switch,
        audience: Audience::Testing,
        default: "functions that are small or called once",
        doc: "`0` inlines only functions that the device requires to be inlined. `1` has no effect.",
    },
    OptionInfo {
        name: "WGCL_DEFECTS",
        kind: Kind::Text("list of `NAME`, `-NAME`, `-all`"),
        audience: Audience::Testing,
        default: "those of the driver",
        doc: "Which defects of the GPU driver the compiler works around. `NAME` adds a workaround; `-NAME` removes one, and \
              `-all` removes all. The names are in `compiler/src/target/shaders.rs`.",
    },
];
