//! The options of wgcl. One table defines the environment variables, the configuration file and `docs/options.md`.
//!
//! An environment variable has precedence over the configuration file. In the file (TOML), the name is that of the
//! variable without `WGCL_`, in lower case: `log = "debug"`.

pub(crate) mod capture;
pub(crate) mod device_type;
mod extension_names;
mod table;
mod values;

use std::path::PathBuf;
use std::sync::OnceLock;

use rustc_hash::FxHashMap;

pub use capture::CaptureOption;
pub use table::{Audience, Kind, OptionInfo, TABLE};

/// The values of all options.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Options {
    pub boost: Option<String>,
    pub log: Option<String>,
    pub trace: Option<PathBuf>,
    pub stats: Option<String>,
    pub dump_dir: Option<PathBuf>,
    pub capture: Option<CaptureOption>,
    pub device: Option<String>,
    pub device_type: Option<String>,
    pub cpu: Option<String>,
    pub cpu_isa: Option<String>,
    pub perf_map: Option<String>,
    pub jitdump: Option<String>,
    pub check: Option<String>,
    pub interpreter: Option<String>,
    pub cache: Option<String>,
    pub cache_dir: Option<PathBuf>,
    pub cache_size: Option<String>,
    pub coarsen: Option<String>,
    pub exchange: Option<String>,
    pub subgroup: Option<String>,
    pub inline: Option<String>,
    pub defects: Option<String>,
    pub addresses: Option<String>,
    pub portable: Option<String>,
    pub emulate: Option<String>,
    pub extensions: Option<String>,
    pub binding_limit: Option<String>,
    /// Messages about unknown options and invalid values. They are written to standard error.
    pub messages: Vec<String>,
}

static OPTIONS: OnceLock<Options> = OnceLock::new();

impl Options {
    /// Returns the options of this process. The first call reads them.
    pub fn get() -> &'static Self {
        OPTIONS.get_or_init(|| {
            let mut options = Self::read(&|name| std::env::var_os(name).map(|value| value.to_string_lossy().into_owned()));
            let names = std::env::vars_os().map(|(name, _)| name.to_string_lossy().into_owned());
            values::check_names(names, &mut options.messages);
            options
        })
    }

    /// Ignores the environment and the configuration file, and disables the cache. The user who started a program with
    /// more rights controls these, and could make the program write files or execute code. Call this before
    /// [`Self::get`].
    pub fn ignore_environment() {
        OPTIONS.get_or_init(|| Self { cache: Some("0".to_owned()), perf_map: Some("0".to_owned()), ..Self::default() });
    }

    /// Whether the kernel sanitizer is enabled.
    pub fn is_checked(&self) -> bool {
        ["1", "fatal", "nan", "convert"].into_iter().any(|word| self.check_contains(word))
    }

    /// Whether the CPU device writes its code with source lines for `perf`.
    pub fn writes_jitdump(&self) -> bool {
        self.jitdump.as_deref() == Some("1")
    }

    /// Whether every error that the sanitizer reports fails the launch.
    pub fn fails_on_findings(&self) -> bool {
        self.check_contains("fatal")
    }

    /// Whether the sanitizer reports operations that create a NaN from operands that are not NaN.
    pub fn checks_nans(&self) -> bool {
        self.check_contains("nan")
    }

    /// Whether the sanitizer reports conversions of floats to integers that cannot represent the result.
    pub fn checks_conversions(&self) -> bool {
        self.check_contains("convert")
    }

    fn check_contains(&self, word: &str) -> bool {
        self.check.iter().flat_map(|list| list.split(',')).any(|part| part.trim() == word)
    }

    /// Whether `WGCL_EMULATE` contains a feature.
    pub fn emulates(&self, name: &str) -> bool {
        self.emulate.iter().flat_map(|list| list.split(',')).any(|part| part.trim() == name)
    }

    /// The requested subgroup size, if it is a power of two.
    pub fn subgroup_size(&self) -> Option<u32> {
        self.subgroup.as_deref().and_then(|text| text.parse().ok()).filter(|size: &u32| size.is_power_of_two())
    }

    /// Reads the options from an environment and from the configuration file.
    fn read(env: &dyn Fn(&str) -> Option<String>) -> Self {
        let mut messages = Vec::new();
        let (file, table) = config_file(env, &mut messages);
        let mut given = FxHashMap::default();
        for option in TABLE {
            let text = env(option.name).or_else(|| text_of(table.get(&key(option.name))?));
            let value = text.filter(|value| !value.is_empty()).and_then(|value| values::accepted(option, value, &mut messages));
            given.extend(value.map(|value| (option.name, value)));
        }
        let value = |name: &str| given.get(name).cloned();
        for (name, value) in &table {
            match TABLE.iter().find(|option| key(option.name) == *name) {
                None => messages.push(format!("{}: unknown option `{name}`", file.display())),
                Some(_) if text_of(value).is_none() => {
                    messages.push(format!("{}: `{name}` must be a string, a number or a boolean", file.display()));
                }
                Some(_) => {}
            }
        }
        let device_type = value("WGCL_DEVICE_TYPE");
        messages.extend(device_type.iter().flat_map(|list| device_type::unknown_types(list)));
        let capture = value("WGCL_CAPTURE").and_then(|text| CaptureOption::parse(&text, &mut messages));
        let extensions = value("WGCL_EXTENSIONS");
        for change in changes(extensions.as_deref()) {
            match change.strip_prefix(['-', '+']) {
                None => messages.push(format!("WGCL_EXTENSIONS: `{change}` must begin with `-` or `+`")),
                Some(name) if !extension_names::is_known(name) => {
                    messages.push(format!("WGCL_EXTENSIONS: unknown extension `{name}`"));
                }
                Some(_) => {}
            }
        }
        Self {
            boost: value("WGCL_BOOST"),
            log: value("WGCL_LOG"),
            trace: value("WGCL_TRACE").map(PathBuf::from),
            stats: value("WGCL_STATS"),
            dump_dir: value("WGCL_DUMP_DIR").map(PathBuf::from),
            capture,
            device: value("WGCL_DEVICE"),
            device_type,
            cpu: value("WGCL_CPU"),
            cpu_isa: value("WGCL_CPU_ISA"),
            perf_map: value("WGCL_PERF_MAP"),
            jitdump: value("WGCL_JITDUMP"),
            check: value("WGCL_CHECK"),
            interpreter: value("WGCL_INTERPRETER"),
            cache: value("WGCL_CACHE"),
            cache_dir: value("WGCL_CACHE_DIR").map(PathBuf::from),
            cache_size: value("WGCL_CACHE_SIZE"),
            coarsen: value("WGCL_COARSEN"),
            exchange: value("WGCL_EXCHANGE"),
            subgroup: value("WGCL_SUBGROUP"),
            inline: value("WGCL_INLINE"),
            defects: value("WGCL_DEFECTS"),
            addresses: value("WGCL_ADDRESSES"),
            portable: value("WGCL_PORTABLE"),
            emulate: value("WGCL_EMULATE"),
            extensions,
            binding_limit: value("WGCL_BINDING_LIMIT"),
            messages,
        }
    }

    /// The changes in `WGCL_EXTENSIONS`: names after `-` or `+`.
    pub fn extension_changes(&self) -> Vec<String> {
        changes(self.extensions.as_deref()).filter(|change| change.starts_with(['-', '+'])).map(str::to_owned).collect()
    }

    /// Returns the table of the options for an audience in Markdown, as docs/options.md contains it.
    pub fn markdown(audience: Audience) -> String {
        let mut text = String::from("| Variable | Values | Default | Meaning |\n|---|---|---|---|\n");
        for OptionInfo { name, kind, default, doc, .. } in TABLE.iter().filter(|option| option.audience == audience) {
            text.push_str(&format!("| `{name}` | {} | {default} | {doc} |\n", kind.values()));
        }
        text
    }
}

/// The parts of a list that is separated by commas or blanks.
fn changes(list: Option<&str>) -> impl Iterator<Item = &str> {
    list.into_iter().flat_map(|list| list.split([',', ' '])).filter(|change| !change.is_empty())
}

/// Returns the text of a value in the configuration file. `None` for lists, tables, times and fractions.
fn text_of(value: &toml::Value) -> Option<String> {
    match value {
        toml::Value::String(text) => Some(text.clone()),
        toml::Value::Integer(number) => Some(number.to_string()),
        toml::Value::Boolean(is_on) => Some(is_on.to_string()),
        _ => None,
    }
}

/// The name of an option in the configuration file.
fn key(name: &str) -> String {
    name.strip_prefix("WGCL_").unwrap_or(name).to_lowercase()
}

fn config_file(env: &dyn Fn(&str) -> Option<String>, messages: &mut Vec<String>) -> (PathBuf, toml::Table) {
    let named = env("WGCL_CONFIG").filter(|path| !path.is_empty()).map(PathBuf::from);
    let required = named.is_some();
    let usual = || {
        let unix = || env("XDG_CONFIG_HOME").map(PathBuf::from).or_else(|| Some(PathBuf::from(env("HOME")?).join(".config")));
        // Windows does not use HOME, because Unix tools on Windows also set it.
        let directory = if cfg!(windows) { env("APPDATA").map(PathBuf::from) } else { unix() };
        directory.map(|directory| directory.join("wgcl").join("config.toml"))
    };
    let Some(path) = named.or_else(usual) else { return Default::default() };
    let table = match std::fs::read_to_string(&path) {
        Ok(text) => text.parse().map_err(|error: toml::de::Error| error.to_string()),
        Err(error) if required => Err(error.to_string()),
        Err(_) => Ok(toml::Table::new()),
    };
    let table = table.unwrap_or_else(|error| {
        messages.push(format!("cannot read the configuration file {}: {error}", path.display()));
        toml::Table::new()
    });
    (path, table)
}

#[cfg(test)]
mod tests {
    use super::{Audience, Kind, Options, TABLE, key};

    #[test]
    fn environment_has_precedence_over_the_file() {
        let path = std::env::temp_dir().join(format!("wgcl-options-{}.toml", std::process::id()));
        std::fs::write(&path, "log = \"info\"\ndevice = \"llvmpipe\"\nspeed = \"high\"\ndump_dir = [3]\ncache = false\ncache_size = 64\n")
            .expect("temporary file");
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
        assert_eq!((options.cache.as_deref(), options.cache_size.as_deref()), (Some("0"), Some("64")));
        assert_eq!(options.messages.len(), 2, "{:?}", options.messages);
    }

    #[test]
    fn a_missing_file_is_an_error_only_if_it_was_named() {
        let none = Options::read(&|name| (name == "HOME").then(|| "/nonexistent".to_owned()));
        assert_eq!(none, Options::default());
        let named = Options::read(&|name| (name == "WGCL_CONFIG").then(|| "/nonexistent/config.toml".to_owned()));
        assert_eq!(named.messages.len(), 1);
    }

    #[test]
    fn the_file_is_in_the_users_folder() {
        let folder = tempfile::tempdir().expect("temporary folder");
        let file = folder.path().join("wgcl").join("config.toml");
        std::fs::create_dir(folder.path().join("wgcl")).and_then(|()| std::fs::write(file, "log = \"info\"\n")).expect("temporary file");
        let variable = if cfg!(windows) { "APPDATA" } else { "XDG_CONFIG_HOME" };
        let options = Options::read(&|name| match name {
            "HOME" => Some("/nonexistent".to_owned()),
            _ => (name == variable).then(|| folder.path().to_string_lossy().into_owned()),
        });
        assert_eq!(options.log.as_deref(), Some("info"));
    }

    #[test]
    fn unknown_extensions_are_reported() {
        let read = |list: &str| Options::read(&|name| (name == "WGCL_EXTENSIONS").then(|| list.to_owned()));
        let good = read("-cl_khr_fp64, +cl_nv_pragma_unroll");
        assert_eq!(
            (good.extension_changes(), good.messages.len()),
            (vec!["-cl_khr_fp64".to_owned(), "+cl_nv_pragma_unroll".to_owned()], 0)
        );
        let bad = read("-cl_khr_fp46,cl_khr_fp16,+cl_khr_fp16");
        assert_eq!((bad.extension_changes().len(), bad.messages.len()), (2, 2), "{:?}", bad.messages);
    }

    #[test]
    fn every_option_of_the_table_is_read() {
        for option in TABLE {
            let value = match option.kind {
                Kind::Switch | Kind::SwitchOrFile => "1",
                Kind::Number(_) => "5",
                Kind::Word(words) | Kind::Words(words) => words[0],
                Kind::Text(_) if option.name == "WGCL_EXTENSIONS" => "-cl_khr_fp64",
                Kind::Text(_) if option.name == "WGCL_DEVICE_TYPE" => "gpu",
                Kind::Text(_) => "some-text",
            };
            // `WGCL_CONFIG` has no field: it names the file from which the other options are read.
            let options = Options::read(&|name| (name == option.name).then(|| value.to_owned()));
            assert_ne!(options, Options::default(), "{} is in the table, but `Options::read` does not read it", option.name);
        }
    }

    /// `UPDATE_EXPECT=1` rewrites the tables of the page.
    #[test]
    fn documentation_has_both_tables() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../docs/options.md");
        let text = std::fs::read_to_string(page).expect("docs/options.md");
        let mut updated = text.clone();
        for (audience, section) in [(Audience::User, "options"), (Audience::Testing, "testing options")] {
            let (begin, end) = (format!("<!-- {section}:begin -->"), format!("<!-- {section}:end -->"));
            let (before, rest) = updated.split_once(&begin).expect(&begin);
            let (_, after) = rest.split_once(&end).expect(&end);
            updated = format!("{before}{begin}\n{}{end}{after}", Options::markdown(audience));
        }
        if std::env::var("UPDATE_EXPECT").is_ok_and(|value| value == "1") {
            std::fs::write(page, updated).expect("docs/options.md");
        } else {
            assert_eq!(text, updated, "docs/options.md: a table differs from api/src/options/table.rs");
        }
    }

    #[test]
    fn names_in_the_file_correspond_to_variables() {
        for option in TABLE {
            assert!(option.name.starts_with("WGCL_"));
            assert_eq!(key(option.name).to_uppercase(), option.name["WGCL_".len()..]);
        }
    }
}
