//! Async copies (6.15.11): the group's work-items share the elements between them, and waiting is a barrier.

use super::super::function::Lowering;
use super::super::place::lane_size;
use super::super::types::Shape;
use super::Call;
use crate::ir::{CmpOp, Fence, Op, Space, Type, Value};

impl<'p> Lowering<'p, '_> {
    /// Arguments: destination, source, number of elements, the stride if there is one, event.
    pub(super) fn async_copy(&mut self, call: &Call<'p>, strided: bool) -> Value {
        let (dst, src, count) = (self.value(call, 0), self.value(call, 1), self.value(call, 2));
        let event = self.value(call, if strided { 4 } else { 3 });
        let pointee = self.pointee(call, 0);
        // Three lanes are copied as the four whose room they take.
        let element = Shape::new(pointee.kind, if pointee.lanes == 3 { 4 } else { pointee.lanes });
        let size = lane_size(element) * u32::from(element.lanes);
        let stride = strided.then(|| {
            let stride = self.value(call, 3);
            self.b.resize(stride, false, Type::I32)
        });
        let count = self.b.resize(count, false, Type::I32);
        let first = self.local_linear_id();
        let step = self.group_size();

        let var = self.b.temporary(4, 4);
        let at = self.b.var_addr(var);
        self.b.store(at, first, 4, false);
        self.b.open();
        let index = self.b.load(at, Type::I32, 4, false);
        let inside = self.b.cmp(CmpOp::ULt, index, count);
        self.branch(inside, |_| (), |this| this.b.effect(Op::Break(Vec::new())));
        let apart = match stride {
            Some(stride) => self.b.mul(index, stride),
            None => index,
        };
        let from_global = self.b.ty(src) == Type::Ptr(Space::Global);
        let (to, from) = if from_global { (index, apart) } else { (apart, index) };
        let to = self.element_address(dst, to, false, size, false);
        let from = self.element_address(src, from, false, size, false);
        let value = self.b.load(from, element.ir(), size, false);
        self.b.store(to, value, size, false);
        let next = self.b.add(index, step);
        self.b.store(at, next, 4, false);
        let body = self.b.close(Op::Continue(Vec::new()));
        self.b.loop_(body, None);
        event
    }

    pub(super) fn wait_group_events(&mut self) -> Option<Value> {
        self.b.effect(Op::Barrier(Fence { local: true, global: true, image: false }));
        None
    }
}
