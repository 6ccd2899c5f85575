//! Calls of functions, and statement expressions.

use super::Instance;
use super::function::Lowering;
use super::lvalue::lane_size;
use crate::ir::{Global, Op, Type, Value};
use crate::thir::{Expr, FuncId, GlobalId, Stmt, Ty, TyKind};

impl<'p> Lowering<'p, '_> {
    /// Evaluates an argument. A record is copied, and the argument is the address of the copy.
    fn argument(&mut self, arg: &'p Expr) -> Value {
        let value = self.expr(arg);
        if self.is_record(arg.ty) { self.spill(arg.ty, value) } else { value }
    }

    pub(super) fn call(&mut self, func: FuncId, args: &'p [Expr], ty: Ty, part: Option<u8>) -> Option<Value> {
        let values: Vec<Value> = args.iter().map(|arg| self.argument(arg)).collect();
        let result = self.call_values(func, values.clone(), ty);
        self.call_nan_check(func, result, &values, part);
        result
    }

    fn call_values(&mut self, func: FuncId, mut args: Vec<Value>, ty: Ty) -> Option<Value> {
        let number = self.shared.function_number(Instance { id: func, kernel: false });
        if self.is_record(ty) {
            let (size, align) = self.layout(ty);
            let var = self.b.temporary(size, align);
            let address = self.b.var_addr(var);
            args.insert(0, address);
            self.b.effect(Op::Call(number, args));
            return Some(address);
        }
        match self.value_type(ty) {
            Type::Void => {
                self.b.effect(Op::Call(number, args));
                None
            }
            ir => Some(self.b.emit(Op::Call(number, args), ir)),
        }
    }

    /// Calls a scalar function for each lane. A pointer to a vector is replaced by a pointer to the lane.
    pub(super) fn call_lanes(&mut self, func: FuncId, args: &'p [Expr], ty: Ty) -> Option<Value> {
        let program = self.shared.program;
        let Some(callee) = program.functions.get(func.index()) else {
            self.b.fail("internal error: a call of a function that does not exist");
            return None;
        };
        let strides: Vec<Option<u32>> = args.iter().map(|arg| self.pointee_lane_stride(arg.ty)).collect();
        let values: Vec<Value> = args.iter().map(|arg| self.argument(arg)).collect();
        let argument_types = args.iter().filter_map(|arg| match self.kind(arg.ty) {
            TyKind::Pointer { pointee, .. } => self.arith_type(pointee.ty),
            _ => self.arith_type(arg.ty),
        });
        let most = argument_types.map(|arith| arith.lanes).max().unwrap_or(1);
        let lanes = self.arith_type(ty).map_or(most, |arith| arith.lanes);
        let mut results = Vec::new();
        for lane in 0..lanes {
            let of_lane = values
                .iter()
                .zip(&strides)
                .map(|(&value, stride)| match stride {
                    Some(stride) => self.b.offset(value, i64::from(*stride) * i64::from(lane)),
                    None => self.b.extract(value, lane),
                })
                .collect();
            results.extend(self.call_values(func, of_lane, callee.ret));
        }
        let result = (!results.is_empty()).then(|| self.b.construct(&results));
        self.call_nan_check(func, result, &values, None);
        result
    }

    /// Returns the distance in bytes between the lanes of the vector that a pointer argument points to. Returns 0 if
    /// the object is not arithmetic, and `None` if the argument is not a pointer.
    fn pointee_lane_stride(&self, ty: Ty) -> Option<u32> {
        match self.kind(ty) {
            TyKind::Pointer { pointee, .. } => Some(self.arith_type(pointee.ty).map_or(0, lane_size)),
            _ => None,
        }
    }

    pub(super) fn printf(&mut self, format: Option<GlobalId>, args: &'p [Expr]) -> Value {
        let args = args
            .iter()
            .map(|arg| {
                let value = self.expr(arg);
                if self.b.ty(value) == Type::BOOL { self.b.resize(value, false, Type::I32) } else { value }
            })
            .collect();
        self.b.emit(Op::Printf { format: format.map(|format| Global(format.0)), args }, Type::I32)
    }

    /// Lowers the statements of `({ ... })`. A jump out of the statement expression terminates the current region.
    pub(super) fn statement_expression(&mut self, stmts: &'p [Stmt]) {
        let outer = self.outer;
        match self.irregular.clone() {
            Some(irregular) if !irregular.is_local(stmts) => super::blocks::lower_expression(self, irregular, stmts, outer.before_more()),
            _ => self.block(stmts, outer.before_more()),
        }
        self.outer = outer;
    }
}
