//! The folder of a captured launch.
//!
//! ```text
//! DIR/scale-1/launch.json       the description
//!             source.cl         the source; module.spv for SPIR-V; source-2.cl and so on for linked programs
//!             include/          the files that the source includes
//!             memory-0.before   the contents of a memory object before the launch
//!             memory-0.after    the contents after the launch
//! ```
//! `wgcl_client::capture` reads the folder. The description and the contents before the launch are written before the
//! launch, so that they exist even if the launch ends the process.

use std::fs;
use std::io;
use std::path::{Component, Path, PathBuf};

use serde::Serialize;

/// The version of the format. Readers reject other versions.
const FORMAT: u32 = 1;

/// The name of the description.
const DESCRIPTION: &str = "launch.json";

/// A launch, as `launch.json` describes it.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Record {
    format: u32,
    wgcl: &'static str,
    pub(crate) device: String,
    pub(crate) driver: String,
    pub(crate) kernel: String,
    /// The number of the launch among the launches of the kernel in the process, from 1.
    pub(crate) launch: u64,
    /// `running`, `complete`, or the error of the launch.
    pub(crate) status: String,
    pub(crate) offset: Vec<u64>,
    pub(crate) global: Vec<u64>,
    /// The local size that the application requested; `None` if wgcl chose it.
    pub(crate) local: Option<Vec<u64>>,
    /// The local size with which the kernel ran.
    pub(crate) chosen_local: Vec<u64>,
    /// Bytes of the program-scope variables. Their contents are not captured.
    pub(crate) program_variables: u64,
    pub(crate) units: Vec<UnitRecord>,
    pub(crate) arguments: Vec<ArgumentRecord>,
    pub(crate) memory: Vec<MemoryRecord>,
    /// The contents of the files of the units.
    #[serde(skip)]
    pub(crate) files: Vec<(PathBuf, Vec<u8>)>,
}

/// A translation unit of the program.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct UnitRecord {
    /// The file with the source or the SPIR-V module.
    pub(crate) file: String,
    /// The folder of included files, if there are any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) include: Option<String>,
    pub(crate) options: String,
    /// The values of specialisation constants.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) constants: Vec<ConstantRecord>,
}

/// The value of a specialisation constant.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ConstantRecord {
    pub(crate) number: u32,
    /// The little-endian value as hexadecimal digits.
    pub(crate) bytes: String,
}

/// A kernel argument.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct ArgumentRecord {
    pub(crate) name: String,
    #[serde(rename = "type")]
    pub(crate) type_name: String,
    #[serde(flatten)]
    pub(crate) value: ValueRecord,
}

#[derive(Clone, Debug, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub(crate) enum ValueRecord {
    /// The bytes in hexadecimal digits, and the value of a scalar or vector for readers.
    Value {
        bytes: String,
        #[serde(skip_serializing_if = "Option::is_none")]
        value: Option<String>,
    },
    Null,
    /// Bytes of local memory.
    Local {
        size: u32,
    },
    /// A range of a memory object, in bytes.
    Buffer {
        memory: usize,
        offset: u64,
        size: u64,
    },
    Image {
        memory: usize,
    },
    /// A sampler in the notation of `wgclc run`.
    Sampler {
        sampler: String,
    },
}

/// A memory object.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct MemoryRecord {
    pub(crate) size: u64,
    /// The properties of an image in the notation of `wgclc run`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) image: Option<String>,
}

impl Record {
    /// Creates a record without arguments and units.
    pub(crate) fn new(kernel: &str, launch: u64) -> Self {
        Self {
            format: FORMAT,
            wgcl: env!("CARGO_PKG_VERSION"),
            device: String::new(),
            driver: String::new(),
            kernel: kernel.to_owned(),
            launch,
            status: "running".to_owned(),
            offset: Vec::new(),
            global: Vec::new(),
            local: None,
            chosen_local: Vec::new(),
            program_variables: 0,
            units: Vec::new(),
            arguments: Vec::new(),
            memory: Vec::new(),
            files: Vec::new(),
        }
    }

    /// Writes the folder before the launch, with these contents of the memory objects. Returns its path. Removes the
    /// folder if a file cannot be written.
    ///
    /// # Errors
    /// Names the file that cannot be written.
    pub(crate) fn write_before(&self, directory: &Path, contents: &[Vec<u8>]) -> Result<PathBuf, WriteError> {
        let folder = self.create_folder(directory)?;
        let write_all = || {
            for (path, bytes) in &self.files {
                write(&folder.join(path), bytes)?;
            }
            self.write_memory(&folder, "before", contents)?;
            self.write_description(&folder)
        };
        write_all().inspect_err(|_| remove(&folder))?;
        Ok(folder)
    }

    /// Completes a folder after the launch. Removes the folder if a file cannot be written.
    ///
    /// # Errors
    /// Names the file that cannot be written.
    pub(crate) fn write_after(&self, folder: &Path, contents: &[Vec<u8>]) -> Result<(), WriteError> {
        let written = self.write_memory(folder, "after", contents).and_then(|()| self.write_description(folder));
        written.inspect_err(|_| remove(folder))
    }

    /// Creates a new folder, whose name has a further number if an earlier process has captured the same launch.
    fn create_folder(&self, directory: &Path) -> Result<PathBuf, WriteError> {
        fs::create_dir_all(directory).map_err(WriteError::at(directory))?;
        let name = format!("{}-{}", self.kernel, self.launch);
        let mut folder = directory.join(&name);
        for further in 2.. {
            match fs::create_dir(&folder) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => folder = directory.join(format!("{name}.{further}")),
                result => {
                    result.map_err(WriteError::at(&folder))?;
                    break;
                }
            }
        }
        Ok(folder)
    }

    fn write_memory(&self, folder: &Path, when: &str, contents: &[Vec<u8>]) -> Result<(), WriteError> {
        contents.iter().enumerate().try_for_each(|(index, bytes)| write(&folder.join(format!("memory-{index}.{when}")), bytes))
    }

    fn write_description(&self, folder: &Path) -> Result<(), WriteError> {
        let path = folder.join(DESCRIPTION);
        let mut text = serde_json::to_string_pretty(self).map_err(|error| WriteError::at(&path)(error.into()))?;
        text.push('\n');
        write(&path, text.as_bytes())
    }
}

/// A file or folder of a capture that cannot be written.
#[derive(Debug, thiserror::Error)]
#[error("{}: {source}", .path.display())]
pub(crate) struct WriteError {
    path: PathBuf,
    source: io::Error,
}

impl WriteError {
    fn at(path: &Path) -> impl FnOnce(io::Error) -> Self {
        let path = path.to_owned();
        |source| Self { path, source }
    }
}

fn write(path: &Path, bytes: &[u8]) -> Result<(), WriteError> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(WriteError::at(folder))?;
    }
    fs::write(path, bytes).map_err(WriteError::at(path))
}

/// Removes an incomplete folder. The failure that made it incomplete is reported, so a further failure is ignored.
fn remove(folder: &Path) {
    let _ = fs::remove_dir_all(folder);
}

/// Returns the path of an included file in the include folder: its path relative to a directory of `-I`, or its path if
/// it is relative. Otherwise its file name.
pub(crate) fn include_path(name: &str, directories: &[PathBuf]) -> Option<PathBuf> {
    let path = Path::new(name);
    let relative = directories.iter().filter_map(|directory| path.strip_prefix(directory).ok()).min_by_key(|rest| rest.as_os_str().len());
    let relative = relative.unwrap_or(path);
    let is_plain = relative.components().all(|part| matches!(part, Component::Normal(_) | Component::CurDir));
    let relative = if is_plain { relative } else { Path::new(relative.file_name()?) };
    Some(relative.to_owned())
}

/// Formats bytes as hexadecimal digits.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Formats the value of a scalar or vector. Returns `None` for other types.
pub(crate) fn value_text(type_name: &str, bytes: &[u8]) -> Option<String> {
    let digits = type_name.find(|c: char| c.is_ascii_digit()).unwrap_or(type_name.len());
    let (scalar, width) = type_name.split_at(digits);
    let width = if width.is_empty() { 1 } else { width.parse::<usize>().ok()? };
    let size = match scalar {
        "char" | "uchar" => 1,
        "short" | "ushort" => 2,
        "int" | "uint" | "float" => 4,
        "long" | "ulong" | "double" => 8,
        _ => return None,
    };
    let one = |bytes: &[u8]| -> Option<String> {
        Some(match scalar {
            "char" => i8::from_le_bytes(bytes.try_into().ok()?).to_string(),
            "uchar" => u8::from_le_bytes(bytes.try_into().ok()?).to_string(),
            "short" => i16::from_le_bytes(bytes.try_into().ok()?).to_string(),
            "ushort" => u16::from_le_bytes(bytes.try_into().ok()?).to_string(),
            "int" => i32::from_le_bytes(bytes.try_into().ok()?).to_string(),
            "uint" => u32::from_le_bytes(bytes.try_into().ok()?).to_string(),
            "long" => i64::from_le_bytes(bytes.try_into().ok()?).to_string(),
            "ulong" => u64::from_le_bytes(bytes.try_into().ok()?).to_string(),
            "float" => format!("{:?}", f32::from_le_bytes(bytes.try_into().ok()?)),
            _ => format!("{:?}", f64::from_le_bytes(bytes.try_into().ok()?)),
        })
    };
    let parts = bytes.chunks_exact(size).take(width).map(one).collect::<Option<Vec<_>>>()?;
    match parts.as_slice() {
        [] => None,
        [part] => Some(part.clone()),
        parts => Some(format!("{{{}}}", parts.join(", "))),
    }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::{Record, hex, include_path, value_text};

    #[test]
    fn values_are_readable() {
        assert_eq!(value_text("float", &2.5f32.to_le_bytes()).as_deref(), Some("2.5"));
        assert_eq!(value_text("char3", &[1, 255, 3, 0]).as_deref(), Some("{1, -1, 3}"));
        assert_eq!(value_text("pair", &[1, 2]), None);
        assert_eq!(hex(&[0, 0xa5]), "00a5");
    }

    #[test]
    fn included_files_keep_their_relative_paths() {
        let directories = [PathBuf::from("/usr/inc"), PathBuf::from("/usr/inc/deep")];
        let path = |name: &str| include_path(name, &directories);
        assert_eq!(path("/usr/inc/deep/a.h"), Some(PathBuf::from("a.h")));
        assert_eq!(path("/usr/inc/sub/a.h"), Some(PathBuf::from("sub/a.h")));
        assert_eq!(path("b.h"), Some(PathBuf::from("b.h")));
        assert_eq!(path("/other/c.h"), Some(PathBuf::from("c.h")));
        assert_eq!(path("../c.h"), Some(PathBuf::from("c.h")));
    }

    #[test]
    fn a_second_capture_of_the_same_launch_has_another_folder() {
        let directory = tempfile::tempdir().expect("a folder");
        let record = Record::new("scale", 1);
        let first = record.write_before(directory.path(), &[vec![1]]).expect("a folder");
        let second = record.write_before(directory.path(), &[vec![2]]).expect("a folder");
        assert_eq!((first, second.clone()), (directory.path().join("scale-1"), directory.path().join("scale-1.2")));
        assert_eq!(std::fs::read(second.join("memory-0.before")).expect("a file"), [2]);
    }

    #[test]
    fn a_folder_that_cannot_be_completed_is_removed() {
        let directory = tempfile::tempdir().expect("a folder");
        let record = Record::new("scale", 1);
        let folder = record.write_before(directory.path(), &[]).expect("a folder");
        // A folder with the name of the file makes the write fail.
        std::fs::create_dir(folder.join("memory-0.after")).expect("a folder");
        let error = record.write_after(&folder, &[vec![1]]).expect_err("the file cannot be written");
        assert!(error.to_string().contains("memory-0.after: "), "{error}");
        assert!(!folder.exists());
    }
}
