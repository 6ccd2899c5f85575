//! The files of the built-in library: those in `compiler/library`, but not those in its subfolders.
//! `compiler/library/README.md` describes how to write a function.

macro_rules! files {
    ($($name:literal),* $(,)?) => {
        /// Name and text of each file.
        pub(crate) static FILES: &[(&str, &str)] = &[$(($name, include_str!(concat!("../../library/", $name)))),*];
    };
}

files!(
    "enqueue.cl",
    "exp.cl",
    "exp_f64.cl",
    "fp16.cl",
    "fused.cl",
    "fused_f64.cl",
    "half.cl",
    "hyperbolic.cl",
    "hyperbolic_f64.cl",
    "inverse.cl",
    "inverse_f64.cl",
    "log.cl",
    "log_f64.cl",
    "parts.cl",
    "parts_f64.cl",
    "pipes.cl",
    "power.cl",
    "power_f64.cl",
    "rounding.cl",
    "rounding_f64.cl",
    "special.cl",
    "special_f64.cl",
    "trigonometric.cl",
    "trigonometric_f64.cl",
);

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    #[test]
    fn every_file_is_listed() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("library");
        let found: BTreeSet<String> = std::fs::read_dir(folder)
            .expect("the library's folder")
            .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
            .filter(|name| name.ends_with(".cl"))
            .collect();
        let listed: BTreeSet<String> = super::FILES.iter().map(|(name, _)| (*name).to_owned()).collect();
        assert_eq!(found, listed);
    }
}
