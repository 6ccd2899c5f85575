//! Names of attributes (OpenCL C 6.13, GNU C): which are known.

/// Attributes that are obeyed, or that may be ignored without changing what a program does.
pub(crate) const KNOWN: &[&str] = &[
    "aligned",
    "always_inline",
    "annotate",
    "artificial",
    "cold",
    "const",
    "convergent",
    "deprecated",
    // Devices are little-endian, and so are the hosts that this runs on.
    "endian",
    "ext_vector_type",
    "fallthrough",
    "flatten",
    "format",
    "gnu_inline",
    "hot",
    "intel_reqd_sub_group_size",
    "leaf",
    "malloc",
    "may_alias",
    "noclone",
    "noduplicate",
    "noinline",
    "nonnull",
    "nosvm",
    "nothrow",
    "opencl_unroll_hint",
    "optnone",
    "overloadable",
    "packed",
    "pure",
    "reqd_work_group_size",
    "returns_nonnull",
    "unused",
    "used",
    "vec_type_hint",
    "visibility",
    "warn_unused_result",
    "weak",
    "work_group_size_hint",
];

/// Attributes of GNU C that change what a program means, and that nothing here obeys.
pub(crate) const REFUSED: &[&str] =
    &["address_space", "alias", "cleanup", "mode", "scalar_storage_order", "transparent_union", "vector_size"];

/// Whether an attribute of that name is obeyed or may be ignored (`__has_attribute`).
pub(crate) fn is_known(name: &str) -> bool {
    KNOWN.contains(&name)
}
