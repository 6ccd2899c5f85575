//! Work-item queries: ids and sizes.

use smallvec::smallvec;
use std::mem::offset_of;
use wgcl_codegen::vir::{Addr, BinOp as VBin, CastOp as VCast, Elem, Mem, Op as VOp, Type as Register, Value as V};

use super::abi::{ArgPlace, ArgPlaces, LaunchContext};
use super::shape::Mode;
use super::value::{Regs, Val};
use super::vectorizer::Vectorizer;
use crate::ir::{Scalar, WorkItem};

/// The ids and arguments of the current gang.
#[derive(Clone, Debug, Default)]
pub(super) struct Items {
    /// The address of the launch's context.
    pub launch: Option<V>,
    /// The layout of the arguments.
    pub args: ArgPlaces,
    /// The enqueued local size.
    pub enqueued: [u32; 3],
    /// The ids of the current group.
    pub group: Option<[V; 3]>,
    /// The position of lane 0, if there is a loop over the rows of the group.
    pub in_row: Option<RowPosition>,
    /// The index of lane 0 in the order of [`Shape::lane_distance`](super::shape::Shape::lane_distance). If lanes are
    /// along dimension 0, this is the linear local id of lane 0.
    pub linear: Option<V>,
}

/// The position of lane 0 of a gang in a row, that is, along the vector dimension.
#[derive(Clone, Copy, Debug)]
pub(super) struct RowPosition {
    /// The index of the row's first work-item in the order of lanes.
    pub start: V,
    /// The id of lane 0 in the vector dimension.
    pub position: V,
}

impl Vectorizer<'_> {
    fn launch(&mut self) -> V {
        match self.items.launch {
            Some(launch) => launch,
            None => self.i64(0),
        }
    }

    /// Loads a word of the launch context at a byte offset. The word does not change, so it is loaded only once.
    pub(super) fn launch_word(&mut self, offset: usize) -> V {
        let launch = self.launch();
        self.load_invariant(launch, Register::I32, offset as i32)
    }

    /// Loads an address of the launch context at a byte offset. The address does not change, so it is loaded only once.
    pub(super) fn launch_address(&mut self, offset: usize) -> V {
        let launch = self.launch();
        self.load_invariant(launch, Register::I64, offset as i32)
    }

    /// Loads from memory that does not change while the kernel runs. The load is placed in the block that defines the
    /// address.
    pub(super) fn load_invariant(&mut self, base: V, ty: Register, disp: i32) -> V {
        let key = (base, disp, ty);
        if let Some(&value) = self.cache.fixed_loads.get(&key) {
            return value;
        }
        let mem = Mem::Elem(ty.elem().unwrap_or(Elem::I32));
        let value = self.emit_at_def(base, ty, VOp::Load(mem, Addr::offset(base, disp)));
        self.cache.fixed_loads.insert(key, value);
        value
    }

    /// Loads the address of the argument block.
    pub(super) fn args(&mut self) -> V {
        self.launch_address(offset_of!(LaunchContext, args))
    }

    fn of_dimension(&mut self, array: usize, dimension: u8, beyond: u32) -> V {
        if dimension < 3 { self.launch_word(array + 4 * usize::from(dimension)) } else { self.i32(beyond) }
    }

    /// Computes the result of a work-item query.
    pub(super) fn lower_query(&mut self, query: WorkItem) -> Val {
        let size = |sizes: [u32; 3], dimension: u8| sizes.get(usize::from(dimension)).copied().unwrap_or(1);
        let uniform = match query {
            WorkItem::GlobalId(dimension) => return self.global_id(dimension),
            WorkItem::LocalId(dimension) => return self.local_id(dimension),
            WorkItem::GroupId(dimension) => match self.items.group {
                Some(group) if dimension < 3 => group[usize::from(dimension)],
                _ => self.i32(0),
            },
            WorkItem::GlobalSize(dimension) => self.of_dimension(offset_of!(LaunchContext, global_size), dimension, 1),
            WorkItem::NumGroups(dimension) => self.of_dimension(offset_of!(LaunchContext, num_groups), dimension, 1),
            WorkItem::GlobalOffset(dimension) => self.of_dimension(offset_of!(LaunchContext, global_offset), dimension, 0),
            WorkItem::LocalSize(dimension) => self.i32(size(self.shape.group, dimension)),
            WorkItem::EnqueuedLocalSize(dimension) => self.i32(size(self.items.enqueued, dimension)),
            WorkItem::WorkDim => self.launch_word(offset_of!(LaunchContext, work_dim)),
            WorkItem::SubgroupSize => self.i32(self.shape.lanes),
            WorkItem::SubgroupLocalId => {
                let zero = self.i32(0);
                return if self.shape.lanes == 1 { Val::Uniform(smallvec![zero]) } else { Val::Linear(zero, 1) };
            }
            WorkItem::SubgroupId => {
                let (linear, by) = (self.linear(), self.i32(self.shape.lanes.trailing_zeros()));
                self.op(Register::I32, VOp::Bin(VBin::LShr, linear, by))
            }
            WorkItem::NumSubgroups => self.i32(self.shape.gangs()),
            WorkItem::ArgImage { param, word } => self.image_word(param, word),
            // Only shaders contain these queries.
            WorkItem::ArgIdentity(_)
            | WorkItem::ArgBase(_)
            | WorkItem::ArgSize(_)
            | WorkItem::ArgSizeHigh(_)
            | WorkItem::ArgAddress { .. }
            | WorkItem::ArgMergedOffset(_)
            | WorkItem::ArgStart(_) => self.i32(0),
        };
        Val::Uniform(smallvec![uniform])
    }

    fn image_word(&mut self, param: u32, word: u8) -> V {
        match self.items.args.places.get(param as usize) {
            Some(&ArgPlace::Image { offset }) => {
                let args = self.args();
                self.load_invariant(args, Register::I32, (offset + 8 + 4 * u32::from(word)).cast_signed())
            }
            _ => self.i32(0),
        }
    }

    pub(super) fn linear(&mut self) -> V {
        match self.items.linear {
            Some(linear) => linear,
            None => self.i32(0),
        }
    }

    fn linear_lanes(&mut self) -> Regs {
        let linear = self.linear();
        let (first, steps) = (self.splat(linear, Scalar::I32), self.steps(Scalar::I32, 1));
        self.bin_regs(VBin::Add, Scalar::I32, Mode::Varying, &first, &steps)
    }

    fn local_id(&mut self, dimension: u8) -> Val {
        let zero = self.i32(0);
        let index = usize::from(dimension);
        if index >= 3 || self.shape.group[index] == 1 {
            return Val::Uniform(smallvec![zero]);
        }
        let below = self.shape.lane_distance(dimension);
        if self.shape.along_dimension {
            let size = self.shape.group[index];
            let id = match self.items.in_row {
                Some(row) if dimension == self.shape.vector_dimension => row.position,
                Some(row) => self.in_block(self.def_site(row.start), |this| this.id_of(row.start, below, size)),
                None => {
                    let linear = self.linear();
                    self.id_of(linear, below, size)
                }
            };
            if dimension == self.shape.vector_dimension && self.shape.lanes > 1 { Val::Linear(id, 1) } else { Val::Uniform(smallvec![id]) }
        } else {
            let linear = self.linear_lanes();
            let regs = self.ids_of(&linear, below, self.shape.group[index]);
            Val::Varying(smallvec![regs])
        }
    }

    /// Computes `linear / below % size`.
    fn id_of(&mut self, linear: V, below: u32, size: u32) -> V {
        let ty = Register::I32;
        let mut id = linear;
        if below > 1 {
            id = if below.is_power_of_two() {
                let by = self.i32(below.trailing_zeros());
                self.op(ty, VOp::Bin(VBin::LShr, id, by))
            } else {
                let by = self.i32(below);
                self.emit(ty, VOp::Bin(VBin::UDiv, id, by))
            };
        }
        if below * size == self.shape.items() {
            return id;
        }
        if size.is_power_of_two() {
            let mask = self.i32(size - 1);
            self.op(ty, VOp::Bin(VBin::And, id, mask))
        } else {
            let by = self.i32(size);
            self.emit(ty, VOp::Bin(VBin::URem, id, by))
        }
    }

    /// Does the same as [`Self::id_of`], for all lanes. Ids are small, so `(n + 0.5) * (1 / d)` truncates to the exact
    /// quotient.
    fn ids_of(&mut self, linear: &[V], below: u32, size: u32) -> Regs {
        let mode = Mode::Varying;
        let divide = |this: &mut Self, value: &[V], by: u32| {
            let (floats, ints) = (this.shape.register(Scalar::F32, mode), this.shape.register(Scalar::I32, mode));
            let value = this.map(floats, value, |value| VOp::Cast(VCast::SToF, value));
            let half = this.number(Scalar::F32, mode, u64::from(0.5_f32.to_bits()));
            let factor = this.number(Scalar::F32, mode, u64::from((1.0 / by as f32).to_bits()));
            let above = this.bin_regs(VBin::FAdd, Scalar::F32, mode, &value, &half);
            let product = this.bin_regs(VBin::FMul, Scalar::F32, mode, &above, &factor);
            this.map(ints, &product, |value| VOp::Cast(VCast::FToS, value))
        };
        let id = if below > 1 { divide(self, linear, below) } else { linear.into() };
        if below * size == self.shape.items() {
            return id;
        }
        let rows = divide(self, &id, size);
        let product = self.bin_const(VBin::Mul, Scalar::I32, mode, &rows, u64::from(size));
        self.bin_regs(VBin::Sub, Scalar::I32, mode, &id, &product)
    }

    fn global_id(&mut self, dimension: u8) -> Val {
        let zero = self.i32(0);
        let index = usize::from(dimension);
        let Some(group) = self.items.group.filter(|_| index < 3) else { return Val::Uniform(smallvec![zero]) };
        let ty = Register::I32;
        let (offset, size) =
            (self.of_dimension(offset_of!(LaunchContext, global_offset), dimension, 0), self.i32(self.items.enqueued[index]));
        let start = self.op(ty, VOp::Bin(VBin::Mul, group[index], size));
        let start = self.op(ty, VOp::Bin(VBin::Add, start, offset));
        match self.local_id(dimension) {
            Val::Linear(first, stride) => Val::Linear(self.op(ty, VOp::Bin(VBin::Add, start, first)), stride),
            Val::Varying(comps) => {
                let start = self.splat(start, Scalar::I32);
                Val::Varying(smallvec![self.bin_regs(VBin::Add, Scalar::I32, Mode::Varying, &start, &comps[0])])
            }
            Val::Uniform(list) => Val::Uniform(smallvec![self.op(ty, VOp::Bin(VBin::Add, start, list[0]))]),
            other @ (Val::Based(..) | Val::ElementMajor(..)) => other,
        }
    }
}
