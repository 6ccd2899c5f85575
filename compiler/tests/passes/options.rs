//! The options in the first lines of a file in `tests/passes`.
//!
//! Example: `; pass: coarsen simplify key.coarsen=16 alone`.

use wgcl_compiler::ir::Function;
use wgcl_compiler::launch::{LaunchKey, SplitBindings};
use wgcl_compiler::target::{Inlining, Target};

/// The launch that the test runs for every kernel of the file (directive `; run:`).
pub struct Run {
    pub global: [u32; 3],
    /// Size in bytes of each buffer.
    pub bytes: u32,
    /// Values of the value parameters, in order.
    pub values: Vec<u64>,
    /// Exclusive upper bound for the initial words in buffers. 0 means that there is no bound.
    pub below: u32,
}

/// The passes to run, and the target, launch key and launch for which they run.
pub struct Options {
    pub passes: Vec<String>,
    /// Whether each kernel of the file becomes a separate module.
    pub alone: bool,
    /// Whether the test compares only the results of kernels, and not the printed IR.
    pub unprinted: bool,
    pub target: Target,
    local: [u32; 3],
    /// Names and new values of the fields of the launch key that differ from the example key.
    key: Vec<(String, String)>,
    pub run: Option<Run>,
}

impl Options {
    /// Parses the first lines of a file.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut lines = text.lines();
        let list = lines.next().and_then(|line| line.strip_prefix("; pass:")).ok_or("the first line must be `; pass: NAME...`")?;
        let mut options = Self {
            passes: Vec::new(),
            alone: false,
            unprinted: false,
            target: Target::full(),
            local: [64, 1, 1],
            key: Vec::new(),
            run: None,
        };
        let (mut lanes, mut called) = (None, false);
        for word in list.split_whitespace() {
            match word.split_once('=') {
                None if word == "alone" => options.alone = true,
                None if word == "unprinted" => options.unprinted = true,
                None if word == "called" => called = true,
                None => options.passes.push(word.to_owned()),
                Some(("target", name)) => options.target = Target::profile(name).ok_or_else(|| format!("unknown profile `{name}`"))?,
                Some(("local", size)) => options.local = sizes(size)?,
                Some(("lanes", count)) => lanes = Some(number(count)?),
                Some((name, value)) => {
                    let name = name.strip_prefix("key.").ok_or_else(|| format!("unknown option `{name}`"))?;
                    options.key.push((name.to_owned(), value.to_owned()));
                }
            }
        }
        if called {
            options.target.inlining = Inlining::NONE;
        }
        if let Some(lanes) = lanes {
            options.target = options.target.changed(|target| target.language.subgroup_size = lanes);
        }
        options.run = lines.next().and_then(|line| line.strip_prefix("; run:")).map(read_run).transpose()?;
        Ok(options)
    }

    /// Returns the launch key of a kernel: [`LaunchKey::example`] with the changed fields.
    pub fn key(&self, kernel: &Function) -> Result<LaunchKey, String> {
        let mut key = LaunchKey::example(kernel, self.local);
        for (name, value) in &self.key {
            match name.as_str() {
                "distinct" => key.binding.distinct = value == "true",
                "coarsen" => key.binding.coarsen = number(value)?,
                "extra" => key.binding.extra_buffers = number(value)?,
                "offset" => key.kernel.zero_offset = value != "true",
                "large_offsets" => key.kernel.large_offsets = value == "true",
                "null" => key.kernel.null_args = list(value)?.into(),
                "started" => key.binding.started_args = list(value)?.into(),
                "merged" => key.binding.merged = list(value)?.into(),
                "split" => key.binding.split = split_bindings(value)?,
                name => return Err(format!("unknown option `key.{name}`")),
            }
        }
        Ok(key)
    }
}

fn read_run(text: &str) -> Result<Run, String> {
    let mut run = Run { global: [64, 1, 1], bytes: 4096, values: Vec::new(), below: 0 };
    for word in text.split_whitespace() {
        match word.split_once('=') {
            Some(("global", size)) => run.global = sizes(size)?,
            Some(("bytes", count)) => run.bytes = number(count)?,
            Some(("values", values)) => run.values = list(values)?,
            Some(("below", limit)) => run.below = number(limit)?,
            _ => return Err(format!("unknown option `{word}` of `; run:`")),
        }
    }
    Ok(run)
}

/// Parses split bindings. `0:3,1:2/9` means: parameter 0 has 3 bindings, parameter 1 has 2 bindings, and each binding
/// has 2^9 bytes.
fn split_bindings(text: &str) -> Result<SplitBindings, String> {
    let (params, shift) = text.split_once('/').ok_or("expected `PARAM:COUNT,.../LOG2_SIZE`")?;
    let param = |text: &str| {
        let (param, count) = text.split_once(':').ok_or_else(|| format!("expected `PARAM:COUNT`, found `{text}`"))?;
        Ok((number(param)?, number(count)?))
    };
    let params = params.split(',').map(param).collect::<Result<_, String>>()?;
    Ok(SplitBindings { params, shift: number(shift)?, overlap: SplitBindings::WIDEST })
}

fn number<T: std::str::FromStr>(text: &str) -> Result<T, String> {
    text.parse().map_err(|_| format!("`{text}` is not a number"))
}

fn list<T: std::str::FromStr>(text: &str) -> Result<Vec<T>, String> {
    text.split(',').map(number).collect()
}

/// Parses sizes such as `8x4`. Missing dimensions are 1.
fn sizes(text: &str) -> Result<[u32; 3], String> {
    let named: Vec<u32> = text.split('x').map(number).collect::<Result<_, _>>()?;
    Ok(std::array::from_fn(|d| named.get(d).copied().unwrap_or(1)))
}
