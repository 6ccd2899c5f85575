//! Kernel information for clGetKernelInfo and clGetKernelArgInfo.

use super::Sema;
use super::attributes::KernelAttributes;
use super::functions::Param;
use crate::ast::Access;
use crate::ir::{KernelParam, Space};
use crate::reflection::{AccessQualifier, ArgInfo, KernelInfo};
use crate::thir::{FuncId, TyKind};

const fn qualifier(access: Access) -> AccessQualifier {
    match access {
        Access::ReadOnly => AccessQualifier::ReadOnly,
        Access::WriteOnly => AccessQualifier::WriteOnly,
        Access::ReadWrite => AccessQualifier::ReadWrite,
    }
}

impl Sema<'_> {
    pub(super) fn reflect(&mut self, id: FuncId, attributes: KernelAttributes, local_memory: u32) -> KernelInfo {
        let decl = self.decls[id.index()].clone();
        KernelInfo {
            name: decl.name.to_string(),
            args: decl.params.iter().map(|param| self.reflect_param(param)).collect(),
            reqd_work_group_size: attributes.reqd_work_group_size,
            reqd_subgroup_size: attributes.reqd_subgroup_size,
            reqd_subgroups: None,
            work_group_size_hint: attributes.work_group_size_hint,
            attributes: attributes.text,
            local_memory,
            has_arg_info: self.options.kernel_arg_info,
            non_uniform_groups: self.options.non_uniform_groups(),
            // Set in `Program::new`, when all calls are known.
            enqueues: false,
            group_independent: false,
        }
    }

    fn reflect_param(&self, param: &Param) -> ArgInfo {
        let ty = param.ty.ty;
        let (size, align) = self.types.layout(ty).unwrap_or((0, 1));
        let size = u32::try_from(size).unwrap_or(u32::MAX);
        let mut info = ArgInfo {
            address: Space::Private,
            access: AccessQualifier::None,
            type_name: param.type_name.clone(),
            name: param.name.as_deref().unwrap_or("").to_owned(),
            is_const: false,
            is_restrict: false,
            is_volatile: false,
            passing: KernelParam::Value,
            is_queue: matches!(self.kind(ty), TyKind::Queue),
            size,
            packet: None,
        };
        match *self.kind(ty) {
            TyKind::Pointer { pointee, space, is_restrict } => {
                info.address = space;
                info.is_const = pointee.is_const || space == Space::Constant;
                info.is_volatile = pointee.is_volatile;
                info.is_restrict = is_restrict;
                info.size = 0;
                info.passing = if space == Space::Local {
                    KernelParam::Local { align: self.align_of(pointee.ty) }
                } else {
                    KernelParam::Buffer { space, read_only: info.is_const, restrict: is_restrict }
                };
            }
            TyKind::Record(_) => info.passing = KernelParam::Bytes { size, align },
            TyKind::Image(_, access) => {
                info.address = Space::Global;
                info.access = qualifier(access);
                info.size = 0;
                info.passing = KernelParam::Image;
            }
            TyKind::Pipe(packet, access) => {
                info.address = Space::Global;
                info.access = qualifier(access);
                info.size = 0;
                info.packet = Some(self.size_of(packet).and_then(|size| u32::try_from(size).ok()).unwrap_or(u32::MAX));
                info.passing = KernelParam::Buffer { space: Space::Global, read_only: false, restrict: false };
            }
            TyKind::Sampler => {
                info.size = 0;
                info.passing = KernelParam::Sampler;
            }
            _ => {}
        }
        info
    }
}
