//! The file `.wgclc.toml`: build options, include folders, the device, and the hints that are shown.
//!
//! The file applies to all sources in its folder and in the folders below. The nearest file is used.
//!
//! ```toml
//! options = "-cl-std=CL3.0 -DTILE=16"
//! include = ["include"]
//! device = "cpu"
//! [hints]
//! uniformity = true
//! ```

use std::path::{Path, PathBuf};
use std::time::SystemTime;

use serde::Deserialize;
use wgcl_compiler::options::{BuildOptions, parse_options};
use wgcl_compiler::target::Target;
use wgcl_compiler::target::profiles::PROFILES;

/// The name of the file.
pub(crate) const FILE: &str = ".wgclc.toml";

/// The contents of the file.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Contents {
    #[serde(default)]
    options: String,
    #[serde(default)]
    include: Vec<PathBuf>,
    device: Option<String>,
    #[serde(default)]
    hints: Hints,
}

/// The hints that the server shows.
#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Hints {
    /// The types of swizzles.
    pub(crate) vectors: bool,
    /// Whether a variable has the same value in all work-items of a work-group.
    pub(crate) uniformity: bool,
    /// The address spaces of generic pointers.
    pub(crate) spaces: bool,
}

impl Default for Hints {
    fn default() -> Self {
        Self { vectors: true, uniformity: true, spaces: true }
    }
}

/// The settings of a source.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) options: BuildOptions,
    pub(crate) target: Target,
    pub(crate) hints: Hints,
    /// The file that contains the settings, and the time of its last change.
    file: Option<(PathBuf, Option<SystemTime>)>,
    /// An error in the file.
    pub(crate) error: Option<String>,
}

impl Default for Settings {
    fn default() -> Self {
        let hints = Hints::default();
        Self { options: BuildOptions::default(), target: Target::full(), hints, file: None, error: None }
    }
}

impl Settings {
    /// Reads the settings of a source. After an error in the file, returns the defaults and the error.
    pub(crate) fn of(source: &Path) -> Self {
        let Some(file) = find(source) else { return Self::default() };
        let changed = changed(&file);
        let read = std::fs::read_to_string(&file).map_err(|error| error.to_string()).and_then(|text| Self::parse(&text, &file));
        let mut settings = read.unwrap_or_else(|error| Self { error: Some(format!("{}: {error}", file.display())), ..Self::default() });
        settings.file = Some((file, changed));
        settings
    }

    /// Whether the settings of a source are still those of the files on disk.
    pub(crate) fn is_current(&self, source: &Path) -> bool {
        match (&self.file, find(source)) {
            (None, None) => true,
            (Some((known, time)), Some(found)) => *known == found && *time == changed(&found),
            _ => false,
        }
    }

    fn parse(text: &str, file: &Path) -> Result<Self, String> {
        let contents: Contents = toml::from_str(text).map_err(|error| error.to_string())?;
        let mut options = parse_options(&contents.options).map_err(|error| error.to_string())?;
        let folder = file.parent().unwrap_or(Path::new(""));
        for include in &mut options.include_dirs {
            *include = folder.join(&*include);
        }
        options.include_dirs.extend(contents.include.iter().map(|include| folder.join(include)));
        let target = match &contents.device {
            None => Target::full(),
            Some(name) => Target::profile(name).ok_or_else(|| {
                let names: Vec<&str> = PROFILES.iter().map(|(name, _)| *name).collect();
                format!("device: unknown device `{name}`; expected one of {}", names.join(", "))
            })?,
        };
        Ok(Self { options, target, hints: contents.hints, file: None, error: None })
    }
}

/// Returns the nearest settings file in the folder of a source and above.
fn find(source: &Path) -> Option<PathBuf> {
    source.ancestors().skip(1).map(|folder| folder.join(FILE)).find(|file| file.is_file())
}

fn changed(file: &Path) -> Option<SystemTime> {
    file.metadata().and_then(|data| data.modified()).ok()
}

#[cfg(test)]
mod tests {
    use super::Settings;
    use std::path::Path;
    use wgcl_compiler::options::CStd;

    #[test]
    fn settings_are_read() {
        let text = "options = '-cl-std=CL3.0 -I inc'\ninclude = ['/abs', 'more']\ndevice = 'cpu'\n[hints]\nuniformity = false\n";
        let settings = Settings::parse(text, Path::new("/p/.wgclc.toml")).expect("valid settings");
        assert_eq!(settings.options.std, CStd::Cl30);
        let folders: Vec<&Path> = settings.options.include_dirs.iter().map(|folder| &**folder).collect();
        assert_eq!(folders, [Path::new("/p/inc"), Path::new("/abs"), Path::new("/p/more")]);
        assert_eq!((settings.hints.uniformity, settings.hints.vectors), (false, true));
    }

    #[test]
    fn errors_name_the_value() {
        let error = |text| Settings::parse(text, Path::new("/p/.wgclc.toml")).expect_err("invalid settings");
        assert!(error("device = 'gpu'").starts_with("device: unknown device `gpu`; expected one of full, cpu"));
        assert_eq!(error("options = '-cl-nonsense'"), "unknown build option `-cl-nonsense`");
        assert!(error("option = ''").contains("unknown field `option`"));
    }
}
