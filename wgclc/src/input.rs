//! Input files: OpenCL C or SPIR-V, from a file or standard input.

use std::io::Read;

use wgcl_compiler::build::build_watched;
use wgcl_compiler::passes::Watch;
use wgcl_compiler::program::{BuildOptions, BuildResult, Source};
use wgcl_compiler::spirv;
use wgcl_compiler::target::Target;

/// A compiler input.
pub enum Input {
    /// OpenCL C source
    Text(Source),
    /// A SPIR-V module
    Module(Vec<u32>),
}

impl Input {
    /// Reads a file, or standard input if the name is `-`.
    ///
    /// # Errors
    /// Fails with the file name and the reason.
    pub fn read(file: &str) -> Result<Self, String> {
        let bytes = bytes(file).map_err(|error| format!("{file}: {error}"))?;
        match spirv::read_words(&bytes) {
            Ok(words) => Ok(Self::Module(words)),
            Err(error) if file.ends_with(".spv") => Err(format!("{file}: {error}")),
            Err(_) => {
                let name = if file == "-" { None } else { Some(file.to_owned()) };
                Ok(Self::Text(Source { text: String::from_utf8_lossy(&bytes).into_owned(), name, ..Default::default() }))
            }
        }
    }

    /// Builds the program. Calls `watch` with the IR after each pass.
    pub fn build(&self, options: &BuildOptions, target: &Target, watch: Option<&Watch<'_>>) -> BuildResult {
        match self {
            Self::Text(source) => build_watched(source, options, target, watch),
            Self::Module(words) => {
                let source = spirv::Source { words, specialisation: &spirv::Specialisation::new() };
                spirv::build_watched(source, options, target, watch)
            }
        }
    }
}

fn bytes(file: &str) -> std::io::Result<Vec<u8>> {
    if file != "-" {
        return std::fs::read(file);
    }
    let mut bytes = Vec::new();
    std::io::stdin().read_to_end(&mut bytes)?;
    Ok(bytes)
}
