//! Known attributes (OpenCL C 6.13, GNU C).

/// Attributes that are implemented, and attributes that are ignored. Except for `weak`, an ignored attribute does not
/// change the meaning of a valid program.
pub(crate) const KNOWN: &[&str] = &[
    "aligned",
    "always_inline",
    "annotate",
    "artificial",
    "cold",
    "const",
    "convergent",
    "deprecated",
    // `endian` can be ignored, because all supported devices and hosts are little-endian.
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
    // `weak` is ignored. So a second definition of the symbol is a link error.
    "weak",
    "work_group_size_hint",
];

/// Attributes of GNU C that change the meaning of a program and are not implemented.
pub(crate) const REFUSED: &[&str] =
    &["address_space", "alias", "cleanup", "mode", "scalar_storage_order", "transparent_union", "vector_size"];

/// Whether an attribute is implemented or can be ignored (`__has_attribute`).
pub(crate) fn is_known(name: &str) -> bool {
    KNOWN.contains(&name)
}
