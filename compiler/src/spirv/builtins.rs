//! Built-in variables (section 2.9 of the OpenCL SPIR-V environment specification).

use rspirv::spirv::BuiltIn;

use super::bridge::Signedness;
use super::errors::{Checked, Shown, invalid, unsupported};
use super::function::Lowering;
use super::words::Id;
use crate::ir::{CmpOp, Op, Scalar, Type, Value, WorkItem};

/// Returns the work-item query for a built-in vector variable, or `None` for other variables.
const fn by_dimension(builtin: BuiltIn) -> Option<fn(u8) -> WorkItem> {
    Some(match builtin {
        BuiltIn::NumWorkgroups => WorkItem::NumGroups,
        BuiltIn::WorkgroupSize => WorkItem::LocalSize,
        BuiltIn::WorkgroupId => WorkItem::GroupId,
        BuiltIn::LocalInvocationId => WorkItem::LocalId,
        BuiltIn::GlobalInvocationId => WorkItem::GlobalId,
        BuiltIn::GlobalSize => WorkItem::GlobalSize,
        BuiltIn::EnqueuedWorkgroupSize => WorkItem::EnqueuedLocalSize,
        BuiltIn::GlobalOffset => WorkItem::GlobalOffset,
        _ => return None,
    })
}

/// Returns the OpenCL C function for a scalar built-in variable, or `None` for other variables.
const fn function(builtin: BuiltIn) -> Option<&'static str> {
    Some(match builtin {
        BuiltIn::WorkDim => "get_work_dim",
        BuiltIn::LocalInvocationIndex => "get_local_linear_id",
        BuiltIn::GlobalLinearId => "get_global_linear_id",
        BuiltIn::SubgroupSize => "get_sub_group_size",
        BuiltIn::SubgroupMaxSize => "get_max_sub_group_size",
        BuiltIn::NumSubgroups => "get_num_sub_groups",
        BuiltIn::NumEnqueuedSubgroups => "get_enqueued_num_sub_groups",
        BuiltIn::SubgroupId => "get_sub_group_id",
        BuiltIn::SubgroupLocalInvocationId => "get_sub_group_local_id",
        BuiltIn::SubgroupEqMask => "get_sub_group_eq_mask",
        BuiltIn::SubgroupGeMask => "get_sub_group_ge_mask",
        BuiltIn::SubgroupGtMask => "get_sub_group_gt_mask",
        BuiltIn::SubgroupLeMask => "get_sub_group_le_mask",
        BuiltIn::SubgroupLtMask => "get_sub_group_lt_mask",
        _ => return None,
    })
}

impl Lowering<'_, '_, '_> {
    /// Returns the value of a built-in variable with type `ty`.
    pub(super) fn builtin(&mut self, number: u32, ty: Id) -> Checked<Value> {
        let builtin = BuiltIn::from_u32(number).ok_or_else(|| unsupported!("built-in variable {number}"))?;
        let want = self.module.types.numbers(ty)?;
        let scalar = want
            .scalar()
            .filter(|scalar| scalar.is_int())
            .ok_or_else(|| invalid!("built-in variable {builtin:?}: type {} is not an integer type", Shown(want)))?;
        if let Some(query) = by_dimension(builtin) {
            let mut lanes = Vec::with_capacity(3);
            for dimension in 0..want.lanes() {
                let lane =
                    if dimension < 3 { self.work_item_query(query(dimension), scalar) } else { self.b.bits(Type::Scalar(scalar), 0) };
                lanes.push(lane);
            }
            let value = self.b.construct(&lanes);
            self.queries.insert(value, (lanes, builtin));
            return Ok(value);
        }
        let name = function(builtin).ok_or_else(|| unsupported!("built-in variable {builtin:?}"))?;
        let result_type = if want.lanes() > 1 { Type::Vector(Scalar::I32, 4) } else { Type::I32 };
        if want.lanes() != result_type.lanes() {
            return Err(invalid!("built-in variable {builtin:?} does not have type {}", Shown(want)));
        }
        let result = super::bridge::c_type(result_type, Signedness::Unsigned)?;
        let wide = builtin == BuiltIn::GlobalLinearId;
        let (result_type, result) = if wide { (self.module.types.pointer_int(), "size_t".to_owned()) } else { (result_type, result) };
        let value = self.library_text(result_type, &result, &[], &[], &format!("return {name}();"))?;
        Ok(self.b.resize(value, false, want))
    }

    /// Selects a component of a query by a variable index. For an index above 2, the result is 1 for a size or count
    /// and 0 otherwise, as in OpenCL C.
    pub(super) fn component_of_query(&mut self, vector: Value, dimension: Value) -> Value {
        let (lanes, builtin) = self.queries.get(&vector).cloned().unwrap_or((Vec::new(), BuiltIn::WorkDim));
        let is_size =
            matches!(builtin, BuiltIn::NumWorkgroups | BuiltIn::WorkgroupSize | BuiltIn::GlobalSize | BuiltIn::EnqueuedWorkgroupSize);
        let ty = lanes.first().map_or(Type::I32, |&lane| self.b.ty(lane));
        let mut value = self.b.int(ty, i64::from(is_size));
        for (number, lane) in (0..).zip(lanes) {
            let is = self.b.cmp_int(CmpOp::Eq, dimension, number);
            value = self.b.select(is, lane, value);
        }
        value
    }

    fn work_item_query(&mut self, query: WorkItem, scalar: Scalar) -> Value {
        let value = self.b.emit(Op::WorkItem(query), Type::I32);
        let result = self.b.resize(value, false, Type::Scalar(scalar));
        if result != value {
            self.extended.insert(result, (value, false));
        }
        result
    }
}
