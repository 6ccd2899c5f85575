//! Reads the folder of a launch that wgcl captured (`WGCL_CAPTURE`): `launch.json`, the source, and the contents of
//! memory before and after the launch.

use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::element::Element;
use crate::error::ClientError;
use crate::image::{ImageProperties, SamplerProperties};

/// The version of the format.
const FORMAT: u32 = 1;

/// The name of the description.
const DESCRIPTION: &str = "launch.json";

type Result<T> = std::result::Result<T, ClientError>;

/// A captured launch.
#[derive(Clone, Debug, Deserialize)]
pub struct Capture {
    format: u32,
    /// The version of wgcl that captured the launch.
    pub wgcl: String,
    /// The device on which the launch ran.
    pub device: String,
    pub kernel: String,
    /// The number of the launch among the launches of the kernel, from 1.
    pub launch: u64,
    /// `complete`, or the reason why there are no contents after the launch.
    pub status: String,
    pub offset: Vec<usize>,
    pub global: Vec<usize>,
    /// The local size, if the application requested one.
    pub local: Option<Vec<usize>>,
    /// Bytes of the program-scope variables, whose contents are not captured.
    pub program_variables: u64,
    pub units: Vec<Unit>,
    pub arguments: Vec<Argument>,
    pub memory: Vec<Memory>,
    #[serde(skip)]
    pub folder: PathBuf,
}

/// A translation unit of the program.
#[derive(Clone, Debug, Deserialize)]
pub struct Unit {
    pub file: String,
    /// The folder of included files.
    pub include: Option<String>,
    pub options: String,
    #[serde(default)]
    pub constants: Vec<Constant>,
}

/// The value of a specialisation constant.
#[derive(Clone, Debug, Deserialize)]
pub struct Constant {
    pub number: u32,
    bytes: String,
}

/// A kernel argument.
#[derive(Clone, Debug, Deserialize)]
pub struct Argument {
    pub name: String,
    #[serde(rename = "type")]
    pub type_name: String,
    #[serde(flatten)]
    pub value: Value,
}

#[derive(Clone, Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Value {
    /// A value as the hexadecimal digits of its bytes.
    Value {
        bytes: String,
    },
    Null,
    Local {
        size: usize,
    },
    Buffer {
        memory: usize,
        offset: usize,
        size: usize,
    },
    Image {
        memory: usize,
    },
    Sampler {
        sampler: String,
    },
}

/// A memory object.
#[derive(Clone, Debug, Deserialize)]
pub struct Memory {
    pub size: usize,
    pub image: Option<String>,
}

/// Returns the folders of captures in a directory, which may be such a folder itself, sorted by their names.
///
/// # Errors
/// Fails if there are none.
pub fn folders(directory: &Path) -> Result<Vec<PathBuf>> {
    if directory.join(DESCRIPTION).is_file() {
        return Ok(vec![directory.to_owned()]);
    }
    let wrong = |why: &str| ClientError::Arguments(format!("{}: {why}", directory.display()));
    let entries = std::fs::read_dir(directory).map_err(|error| wrong(&error.to_string()))?;
    let mut found: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).filter(|path| path.join(DESCRIPTION).is_file()).collect();
    if found.is_empty() {
        return Err(wrong("there is no captured launch: neither `launch.json` nor a folder with this file"));
    }
    found.sort_by_key(|path| natural_order(path));
    Ok(found)
}

/// A key that sorts numbers in names by their value: `scale-2` before `scale-10`.
fn natural_order(path: &Path) -> (String, u64, String) {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let (stem, number) = name.rsplit_once('-').unwrap_or((&name, ""));
    let number = number.split('.').next().and_then(|number| number.parse().ok()).unwrap_or(0);
    (stem.to_owned(), number, name)
}

impl Capture {
    /// Reads the description in a folder.
    ///
    /// # Errors
    /// Fails if the file cannot be read, or has another format.
    pub fn read(folder: &Path) -> Result<Self> {
        let path = folder.join(DESCRIPTION);
        let wrong = |why: String| ClientError::Arguments(format!("{}: {why}", path.display()));
        let text = std::fs::read_to_string(&path).map_err(|error| wrong(error.to_string()))?;
        let mut capture: Self = serde_json::from_str(&text).map_err(|error| wrong(error.to_string()))?;
        if capture.format != FORMAT {
            return Err(wrong(format!("the format is {}; this wgclc reads format {FORMAT}", capture.format)));
        }
        folder.clone_into(&mut capture.folder);
        Ok(capture)
    }

    /// Reads a file of the folder.
    ///
    /// # Errors
    /// Fails if the file cannot be read.
    pub fn file(&self, name: &str) -> Result<Vec<u8>> {
        let path = self.folder.join(name);
        std::fs::read(&path).map_err(|error| ClientError::Arguments(format!("{}: {error}", path.display())))
    }

    /// Reads the contents of a memory object. `when` is `before` or `after`.
    ///
    /// # Errors
    /// Fails if the file cannot be read or has another size.
    pub fn contents(&self, index: usize, when: &str) -> Result<Vec<u8>> {
        let name = format!("memory-{index}.{when}");
        let bytes = self.file(&name)?;
        let size = self.memory.get(index).map_or(0, |memory| memory.size);
        if bytes.len() != size {
            let path = self.folder.join(name);
            return Err(ClientError::Arguments(format!("{}: expected {size} bytes, found {}", path.display(), bytes.len())));
        }
        Ok(bytes)
    }

    /// Whether there are contents after the launch.
    pub fn is_complete(&self) -> bool {
        self.status == "complete"
    }

    /// The name of the first argument that uses a memory object, and the type of its scalars. Structures are bytes.
    pub fn describe(&self, index: usize) -> (String, Element) {
        let uses =
            |argument: &&Argument| matches!(argument.value, Value::Buffer { memory, .. } | Value::Image { memory } if memory == index);
        let argument = self.arguments.iter().enumerate().find(|(_, argument)| uses(argument));
        let Some((number, argument)) = argument else { return (format!("memory {index}"), Element::Uchar) };
        let name = if argument.name.is_empty() { format!("argument {number}") } else { argument.name.clone() };
        let image = self.memory.get(index).and_then(|memory| memory.image.as_deref());
        let element = match image {
            Some(text) => ImageProperties::parse(text).map(|image| image.element).ok(),
            None => Element::vector_from_name(argument.type_name.trim_end_matches('*')).map(|(element, _)| element),
        };
        let size = self.memory.get(index).map_or(0, |memory| memory.size);
        (name, element.filter(|element| size.is_multiple_of(element.size())).unwrap_or(Element::Uchar))
    }
}

impl Constant {
    /// The bytes of the value.
    ///
    /// # Errors
    /// Fails if the digits are not hexadecimal.
    pub fn bytes(&self) -> Result<Vec<u8>> {
        bytes(&self.bytes)
    }
}

impl Memory {
    /// The properties of an image; `None` for a buffer.
    ///
    /// # Errors
    /// Fails if the text is not valid.
    pub fn image(&self) -> Result<Option<ImageProperties>> {
        let Some(text) = &self.image else { return Ok(None) };
        let image = ImageProperties::parse(text)?;
        let size = image.count() * image.element.size();
        if size != self.size {
            return Err(ClientError::Arguments(format!("image `{text}`: expected {size} bytes, found {}", self.size)));
        }
        Ok(Some(image))
    }
}

/// Parses the notation of a sampler.
///
/// # Errors
/// Fails if the text is not valid.
pub fn sampler(text: &str) -> Result<SamplerProperties> {
    Ok(SamplerProperties::parse(text)?)
}

/// Parses hexadecimal digits.
///
/// # Errors
/// Fails if the text is not hexadecimal.
pub fn bytes(digits: &str) -> Result<Vec<u8>> {
    let wrong = || ClientError::Arguments(format!("`{digits}` is not a list of bytes in hexadecimal digits"));
    if !digits.len().is_multiple_of(2) {
        return Err(wrong());
    }
    let byte = |at: usize| digits.get(at..at + 2).and_then(|digits| u8::from_str_radix(digits, 16).ok());
    (0..digits.len()).step_by(2).map(byte).collect::<Option<_>>().ok_or_else(wrong)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::{bytes, natural_order};

    #[test]
    fn bytes_are_parsed() {
        assert_eq!(bytes("00a5ff").ok(), Some(vec![0, 0xa5, 0xff]));
        assert!(bytes("0").is_err() && bytes("0g").is_err() && bytes("é0").is_err());
    }

    #[test]
    fn launches_are_sorted_by_number() {
        let mut names = ["scale-10", "scale-2", "add-3", "scale-2.2"];
        names.sort_by_key(|name| natural_order(Path::new(name)));
        assert_eq!(names, ["add-3", "scale-2", "scale-2.2", "scale-10"]);
    }
}
