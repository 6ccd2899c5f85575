//! Attributes (OpenCL C 6.13): known names, and the attributes of kernels and types.

use super::{DeclTy, Sema};
use crate::ast::{Attribute, AttributeArg, TypeSpec};
use crate::builtins::attributes::{KNOWN, REFUSED};
use crate::diag::{Diagnostic, WarningGroup};
use crate::target::Language;
use crate::thir::types::scalar_name;

/// The attributes of a kernel.
#[derive(Clone, Debug, Default)]
pub(super) struct KernelAttributes {
    pub(super) reqd_work_group_size: Option<[u32; 3]>,
    pub(super) work_group_size_hint: Option<[u32; 3]>,
    pub(super) reqd_subgroup_size: Option<u32>,
    /// The value of `CL_KERNEL_ATTRIBUTES` (clGetKernelInfo).
    pub(super) text: String,
}

impl Sema<'_> {
    /// Warns about unknown attributes and rejects those that cannot be ignored.
    pub(super) fn check_attributes<'b>(&mut self, attributes: impl IntoIterator<Item = &'b Attribute>) {
        for attribute in attributes {
            let name = &*attribute.name.name;
            if REFUSED.contains(&name) {
                self.err(attribute.name.span, format!("attribute '{name}' is not supported"));
            } else if !KNOWN.contains(&name) {
                let hint = super::suggest::hint(name, KNOWN.iter().copied());
                let warning = Diagnostic::warning(
                    WarningGroup::UnknownAttributes,
                    attribute.name.span,
                    format!("unknown attribute '{name}' ignored{hint}"),
                );
                self.warn_with(warning.with_hint(&hint));
            }
        }
    }

    /// Applies the attribute `ext_vector_type(n)` to the scalar type `ty`. Returns `ty` if `attributes` does not
    /// contain it.
    pub(super) fn vector_attribute(&mut self, ty: DeclTy, attributes: &[&Attribute]) -> DeclTy {
        let Some(attribute) = attributes.iter().find(|a| &*a.name.name == "ext_vector_type") else { return ty };
        let lanes = match attribute.args.first() {
            Some(AttributeArg::Expr(expr)) => {
                let value = self.rvalue_expr(expr);
                self.integer_constant(&value).and_then(|lanes| u8::try_from(lanes).ok())
            }
            _ => None,
        };
        match (self.scalar_kind(ty.qt.ty), lanes) {
            (Some(kind), Some(lanes @ (2 | 3 | 4 | 8 | 16))) => {
                let mut ty = ty;
                ty.qt.ty = self.lanes(kind, lanes);
                ty
            }
            _ => {
                self.err(attribute.span, "'ext_vector_type' requires a scalar type and 2, 3, 4, 8 or 16 elements");
                DeclTy::of(self.error_ty())
            }
        }
    }

    pub(super) fn kernel_attributes(&mut self, attributes: &[Attribute]) -> KernelAttributes {
        let mut result = KernelAttributes::default();
        let mut texts: Vec<String> = Vec::new();
        for attribute in attributes {
            match &*attribute.name.name {
                name @ ("reqd_work_group_size" | "work_group_size_hint") => {
                    let Some(size) = self.sizes(attribute) else { continue };
                    texts.push(format!("{name}({},{},{})", size[0], size[1], size[2]));
                    let slot =
                        if name == "reqd_work_group_size" { &mut result.reqd_work_group_size } else { &mut result.work_group_size_hint };
                    if slot.is_some_and(|old| old != size) {
                        self.err(attribute.span, format!("attribute '{name}' is already applied with different arguments"));
                    } else {
                        *slot = Some(size);
                    }
                }
                name @ "intel_reqd_sub_group_size" => {
                    let Some([size]) = self.sizes(attribute) else { continue };
                    if !self.target.language.has_subgroups_of(size) {
                        let sizes = listed_sizes(&self.target.language);
                        self.err(attribute.span, format!("subgroups of {size} work-items are not supported by this device{sizes}"));
                        continue;
                    }
                    texts.push(format!("{name}({size})"));
                    result.reqd_subgroup_size = Some(size);
                }
                "vec_type_hint" => match attribute.args.first() {
                    Some(AttributeArg::Type(name)) => {
                        let ty = self.type_name(name).ty;
                        if self.arith(ty).is_none() && !self.is_error(ty) {
                            let shown = self.show(ty);
                            self.err(
                                attribute.span,
                                format!("invalid attribute argument '{shown}' - expecting a vector or vectorizable scalar type"),
                            );
                            continue;
                        }
                        let shown = match &name.specs.ty {
                            TypeSpec::Scalar(kind) => scalar_name(*kind).to_owned(),
                            _ => self.show(ty),
                        };
                        texts.push(format!("vec_type_hint({shown})"));
                    }
                    Some(AttributeArg::Expr(_)) | None => self.err(attribute.span, "'vec_type_hint' attribute requires a type"),
                },
                _ => {}
            }
        }
        texts.dedup();
        result.text = texts.join(" ");
        result
    }

    /// Returns the N positive integer arguments of an attribute. Reports an error and returns `None` if they are
    /// invalid.
    fn sizes<const N: usize>(&mut self, attribute: &Attribute) -> Option<[u32; N]> {
        let name = attribute.name.name.clone();
        if attribute.args.len() != N {
            let plural = if N == 1 { "" } else { "s" };
            self.err(attribute.span, format!("'{name}' attribute requires exactly {N} argument{plural}"));
            return None;
        }
        let mut size = [1u32; N];
        for (number, (slot, arg)) in (1..).zip(size.iter_mut().zip(&attribute.args)) {
            let AttributeArg::Expr(expr) = arg else {
                self.err(attribute.span, format!("'{name}' attribute requires parameter {number} to be an integer constant"));
                return None;
            };
            let value = self.rvalue_expr(expr);
            if self.is_error(value.ty) {
                return None;
            }
            match self.integer_constant(&value).and_then(|v| u32::try_from(v).ok()) {
                Some(0) => {
                    self.err(expr.span, format!("'{name}' attribute must be greater than 0"));
                    return None;
                }
                Some(value) => *slot = value,
                None => {
                    self.err(expr.span, format!("'{name}' attribute requires parameter {number} to be an integer constant"));
                    return None;
                }
            }
        }
        Some(size)
    }
}

/// Returns the subgroup sizes that kernels may require, as the end of a message.
fn listed_sizes(language: &Language) -> String {
    let sizes: Vec<String> =
        (0..u32::BITS).map(|bit| 1 << bit).filter(|&size| language.has_subgroups_of(size)).map(|size| size.to_string()).collect();
    if sizes.is_empty() { String::new() } else { format!("; expected {}", sizes.join(", ")) }
}
