//! Block reads and writes of buffers and images (`cl_intel_subgroups`). Let `size` be the subgroup size. In a buffer,
//! element `i` of the work-item in lane `l` is element `i * size + l` of the block. In an image, element `i` of this
//! work-item is at column `l` and row `i` of the block.

use super::Call;
use crate::ir::image::{Colour, Coordinates, ImageCall, ImageShape, Level};
use crate::ir::{BinOp, Op, Scalar, Type, Value, WorkItem};
use crate::lower::function::Lowering;
use crate::lower::lvalue::lane_size;
use crate::lower::types::ArithType;
use crate::thir::TyKind;

/// The addresses of a work-item's elements.
enum BlockAddresses {
    Buffer(Vec<Value>),
    /// An image and coordinates.
    Image(Value, Vec<Value>),
}

impl<'p> Lowering<'p, '_> {
    pub(super) fn block_read(&mut self, call: &Call<'p>) -> Value {
        let block = self.arithmetic(call.ty);
        let scalar = Type::Scalar(Scalar::int_of_size(lane_size(block)).unwrap_or(Scalar::I32));
        let elements: Vec<Value> = match self.block_addresses(call, block) {
            BlockAddresses::Buffer(addresses) => {
                addresses.into_iter().map(|address| self.b.load(address, scalar, lane_size(block), false)).collect()
            }
            BlockAddresses::Image(image, addresses) => {
                let access = raw(false, block);
                let read = |at: Value, this: &mut Self| {
                    let words = this.b.emit(Op::Image { call: access, args: vec![image, at] }, access.colour.ty());
                    if scalar == Type::I64 {
                        let pair = this.b.lanes(words, &[0, 1]);
                        return this.b.bitcast(pair, scalar);
                    }
                    let word = this.b.extract(words, 0);
                    this.b.resize(word, false, scalar)
                };
                addresses.into_iter().map(|at| read(at, self)).collect()
            }
        };
        if let [only] = elements.as_slice() { *only } else { self.b.construct(&elements) }
    }

    pub(super) fn block_write(&mut self, call: &Call<'p>) {
        let last = call.values.len().saturating_sub(1);
        let (block, data) = (self.arg_type(call, last), self.value(call, last));
        let addresses = self.block_addresses(call, block);
        let element = |index: usize, this: &mut Self| if block.lanes == 1 { data } else { this.b.extract(data, index as u8) };
        match addresses {
            BlockAddresses::Buffer(addresses) => {
                for (index, address) in addresses.into_iter().enumerate() {
                    let element = element(index, self);
                    self.b.store(address, element, lane_size(block), false);
                }
            }
            BlockAddresses::Image(image, addresses) => {
                for (index, at) in addresses.into_iter().enumerate() {
                    let element = element(index, self);
                    let zero = self.b.i32(0);
                    let words = if lane_size(block) == 8 {
                        let pair = self.b.bitcast(element, Type::Vector(Scalar::I32, 2));
                        [self.b.extract(pair, 0), self.b.extract(pair, 1)]
                    } else {
                        [self.b.resize(element, false, Type::I32), zero]
                    };
                    let colour = self.b.construct(&[words[0], words[1], zero, zero]);
                    self.b.effect(Op::Image { call: raw(true, block), args: vec![image, at, colour] });
                }
            }
        }
    }

    fn block_addresses(&mut self, call: &Call<'p>, block: ArithType) -> BlockAddresses {
        let first = self.value(call, 0);
        let lane = self.b.emit(Op::WorkItem(WorkItem::SubgroupLocalId), Type::I32);
        let of_image = call.exprs.first().is_some_and(|expr| matches!(self.kind(expr.ty), TyKind::Image(..)));
        if !of_image {
            let size = self.b.emit(Op::WorkItem(WorkItem::SubgroupSize), Type::I32);
            let addresses = (0..i64::from(block.lanes)).map(|row| {
                let before = self.b.bin_int(BinOp::Mul, size, row);
                let index = self.b.add(before, lane);
                // The index is small, so its signedness does not matter.
                self.element_address(first, index, true, lane_size(block), false)
            });
            return BlockAddresses::Buffer(addresses.collect());
        }
        let at = self.value(call, 1);
        let (bytes, row) = (self.b.extract(at, 0), self.b.extract(at, 1));
        let column = self.b.bin_int(BinOp::AShr, bytes, i64::from(lane_size(block).trailing_zeros()));
        let column = self.b.add(column, lane);
        let rows = (0..i64::from(block.lanes)).map(|index| {
            let row = self.b.bin_int(BinOp::Add, row, index);
            self.b.construct(&[column, row])
        });
        BlockAddresses::Image(first, rows.collect())
    }
}

/// Returns an image access that reads or writes raw elements, independent of the image format.
const fn raw(write: bool, block: ArithType) -> ImageCall {
    ImageCall { write, shape: ImageShape::D2, colour: Colour::raw(lane_size(block)), coordinates: Coordinates::Plain, level: Level::Base }
}
