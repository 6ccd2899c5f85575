//! Built-in kernels (OpenCL API 3.3): kernels that programs create by name, without a source.
//!
//! Names, arguments and results are those of PoCL's registry (`lib/CL/pocl_builtin_kernels.c`), and of OpenVX for names
//! that begin with `org.khronos.openvx`. docs/built-in-kernels.md describes each kernel. Only kernels whose results are
//! defined by a document or by PoCL's code are here.
//!
//! The kernels are OpenCL C 1.2 without optional features, so every device has all of them. The function of a kernel
//! has its name, with `_` in place of `.`.

/// The options with which the kernels are compiled. clGetKernelArgInfo works for built-in kernels.
pub(crate) const OPTIONS: &str = "-cl-kernel-arg-info";

/// A file with built-in kernels.
#[derive(Debug)]
struct File {
    source: &'static str,
    /// The names of the kernels in the file.
    kernels: &'static [&'static str],
}

/// The functions that several files call.
const COMMON: &str = include_str!("common.cl");

static FILES: [File; 4] = [
    File {
        source: include_str!("arrays.cl"),
        kernels: &[
            "pocl.copy.i8",
            "pocl.add.i8",
            "pocl.add.i16",
            "pocl.add.i32",
            "pocl.mul.i8",
            "pocl.mul.i16",
            "pocl.mul.i32",
            "pocl.abs.f32",
        ],
    },
    File { source: include_str!("matrices.cl"), kernels: &["pocl.sgemm.local.f32"] },
    File { source: include_str!("convolution.cl"), kernels: &["pocl.dnn.conv2d.nchw.f32"] },
    File {
        source: include_str!("openvx.cl"),
        kernels: &[
            "org.khronos.openvx.scale_image.nn.u8",
            "org.khronos.openvx.scale_image.bl.u8",
            "org.khronos.openvx.tensor_convert_depth.wrap.u8.f32",
            "org.khronos.openvx.minmaxloc.r1.u8",
        ],
    },
];

/// The names of all built-in kernels.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    FILES.iter().flat_map(|file| file.kernels.iter().copied())
}

/// The name of a built-in kernel's function.
pub(crate) fn function(name: &str) -> String {
    name.replace('.', "_")
}

/// Parses a list of names. Empty entries and repetitions are ignored: PoCL's list of its kernels ends with a separator.
///
/// # Errors
/// The first unknown name. It is empty if the list has no names.
pub(crate) fn parse(list: &str) -> Result<Vec<&'static str>, &str> {
    let mut found = Vec::new();
    for entry in list.split(';').filter(|entry| !entry.is_empty()) {
        let name = names().find(|name| *name == entry).ok_or(entry)?;
        if !found.contains(&name) {
            found.push(name);
        }
    }
    if found.is_empty() { Err("") } else { Ok(found) }
}

/// The source of a program with these kernels. It also contains the other kernels of their files.
pub(crate) fn source(kernels: &[&str]) -> String {
    let files = FILES.iter().filter(|file| file.kernels.iter().any(|name| kernels.contains(name)));
    std::iter::once(COMMON).chain(files.map(|file| file.source)).collect()
}

#[cfg(test)]
mod tests {
    use super::{FILES, function, names, parse, source};

    #[test]
    fn names_fit_the_query_and_are_unique() {
        // cl_name_version has 64 bytes for the name and its terminator.
        assert!(names().all(|name| name.len() < 64 && !name.contains(';')));
        let mut functions: Vec<String> = names().map(function).collect();
        functions.sort();
        functions.dedup();
        assert_eq!(functions.len(), names().count());
    }

    #[test]
    fn lists_are_parsed() {
        assert_eq!(parse("pocl.add.i8"), Ok(vec!["pocl.add.i8"]));
        assert_eq!(parse("pocl.mul.i8;pocl.add.i8;;pocl.mul.i8;"), Ok(vec!["pocl.mul.i8", "pocl.add.i8"]));
        assert_eq!(parse("pocl.add.i8; pocl.mul.i8;x"), Err(" pocl.mul.i8"));
        assert_eq!([parse(""), parse(";")], [Err(""), Err("")]);
        for wrong in ["pocl.add.i8,pocl.mul.i8", "pocl_add_i8", "POCL.ADD.I8", "pocl.add"] {
            assert_eq!(parse(wrong), Err(wrong));
        }
    }

    #[test]
    fn a_source_has_the_files_of_its_kernels() {
        let one = source(&["pocl.sgemm.local.f32"]);
        assert!(one.contains("pocl_sgemm_local_f32") && one.contains("position(void)") && !one.contains("pocl_copy_i8"));
        let all: Vec<&str> = names().collect();
        assert_eq!(source(&all).len(), source(&[]).len() + FILES.iter().map(|file| file.source.len()).sum::<usize>());
    }
}
