//! Accesses to memory.

use smallvec::{SmallVec, smallvec};
use wgcl_codegen::vir::{Addr, BinOp, CastOp, Elem, Mem, Op, Type, Value};

use super::{Generator, INPUTS, Quality, RESULTS, Region, SHARED, SIZE};

impl Generator<'_> {
    /// Generates the address of `bytes` bytes in a region. The offset is a multiple of `align`, a power of two.
    fn address(&mut self, region: Region, bytes: u32, align: u32) -> Addr {
        let space = region.end - region.start - bytes;
        // Often choose the last position, to find reads after the end of the memory.
        let within = |generator: &mut Self, space: u32| {
            let at = if generator.random.once_in(6) { space } else { generator.random.below(space as usize + 1) as u32 };
            region.start + (at & !(align - 1))
        };
        if self.random.once_in(2) {
            let disp = within(self, space) as i32;
            return Addr::offset(self.base, disp);
        }
        // Generate an index that is below a power of two.
        let scale = self.random.of(&[1_u8, 2, 4, 8]);
        let bits = self.random.below(6) as u32;
        let limit = ((1 << bits) - 1) & !(align - 1);
        let span = limit * u32::from(scale);
        if span > space {
            let disp = within(self, space) as i32;
            return Addr::offset(self.base, disp);
        }
        let any = self.exact(Type::I64);
        let most = self.constant(Type::I64, u64::from(limit));
        let mut index = self.bin(BinOp::And, Type::I64, any, most);
        let mut disp = within(self, space - span) as i32;
        if self.random.once_in(3) {
            let zero = self.constant(Type::I64, 0);
            index = self.bin(BinOp::Sub, Type::I64, zero, index);
            disp += span as i32;
        }
        match self.random.below(4) {
            0 => {
                let shift = u64::from(self.random.next() as u32 >> 2);
                let distance = self.constant(Type::I64, shift);
                let base = self.bin(BinOp::Add, Type::I64, self.base, distance);
                Addr { base, index: Some((index, scale)), disp: disp - shift as i32 }
            }
            1 if scale == 1 => Addr { base: index, index: Some((self.base, 1)), disp },
            2 if scale == 1 => {
                let base = self.bin(BinOp::Add, Type::I64, self.base, index);
                Addr::offset(base, disp)
            }
            _ => Addr { base: self.base, index: Some((index, scale)), disp },
        }
    }

    /// Loads from the inputs, whose bytes are all specified.
    pub(super) fn load_input(&mut self, ty: Type) -> Value {
        let Some(elem) = ty.elem() else { return self.constant(ty, 1) };
        let bytes = elem.bytes() * u32::from(ty.lanes());
        let align = self.random.of(&[1, 4, 8, 16]);
        let disp = self.random.below((INPUTS.end - bytes) as usize) as u32 & !(align - 1);
        let (mem, addr) = (Mem::Elem(elem), Addr::offset(self.base, disp as i32));
        let op = if ty.lanes() == 1 { Op::Load(mem, addr) } else { Op::LoadVector { mem, addr, mask: None } };
        self.emit(ty, op, Quality::Exact)
    }

    fn format(&mut self, elem: Elem) -> Mem {
        if elem == Elem::I32 { self.random.of(&[Mem::I8, Mem::I16, Mem::Elem(elem)]) } else { Mem::Elem(elem) }
    }

    /// Loads from any region.
    pub(super) fn load(&mut self, ty: Type, elem: Elem) -> Value {
        let mem = self.format(elem);
        let lanes = u32::from(ty.lanes());
        if self.random.once_in(4) {
            return self.load_shared(ty, mem);
        }
        let (region, quality) = if self.random.once_in(3) { (RESULTS, Quality::Unspecified) } else { (INPUTS, Quality::Exact) };
        if lanes == 1 {
            let addr = self.address(region, mem.bytes(), 1);
            return self.emit(ty, Op::Load(mem, addr), quality);
        }
        match self.random.below(7) {
            6 if self.config.isa.caps().has_piece_loads && lanes * elem.bytes() > 16 => {
                let places = (0..lanes * elem.bytes() / 16).map(|_| self.address(region, 16, 1)).collect();
                self.emit(ty, Op::LoadPieces(elem, places), quality)
            }
            0 => {
                let addr = self.address(region, mem.bytes() * lanes, 1);
                self.emit(ty, Op::LoadVector { mem, addr, mask: None }, quality)
            }
            1 => {
                let mask = self.exact(ty.compared());
                let addr = self.address(region, mem.bytes() * lanes, 1);
                self.emit(ty, Op::LoadVector { mem, addr, mask: Some(mask) }, Quality::Unspecified)
            }
            2 => {
                let (addr, mask) = self.edge(ty, mem, true);
                let loaded = self.emit(ty, Op::LoadVector { mem, addr, mask: Some(mask) }, Quality::Unspecified);
                self.or_zero(ty, mask, loaded, Quality::Unspecified)
            }
            _ => self.gather(ty, elem, region, quality),
        }
    }

    /// Generates a load that depends on earlier stores.
    fn load_shared(&mut self, ty: Type, mem: Mem) -> Value {
        let addr = self.address(SHARED, mem.bytes() * u32::from(ty.lanes()), 1);
        let op = if ty.lanes() == 1 { Op::Load(mem, addr) } else { Op::LoadVector { mem, addr, mask: None } };
        self.emit(ty, op, Quality::Exact)
    }

    /// Generates a load whose only use follows a store that may overwrite the loaded bytes.
    pub(super) fn overwritten(&mut self) {
        let all: Vec<Type> = self.types.iter().copied().filter(|ty| ty.elem().is_some()).collect();
        let Some(&ty) = all.get(self.random.below(all.len().max(1))) else { return };
        let Some(elem) = ty.elem() else { return };
        let (wide, spread) = (ty, ty.lanes() > 1 && self.random.once_in(3));
        let ty = if spread { Type::Scalar(elem) } else { ty };
        let (mem, bytes) = (Mem::Elem(elem), elem.bytes() * u32::from(ty.lanes()));
        let align = self.random.of(&[1, 8]);
        let addr = self.address(SHARED, bytes, align);
        let other = self.exact(wide);
        let load = if ty.lanes() == 1 { Op::Load(mem, addr) } else { Op::LoadVector { mem, addr, mask: None } };
        let mut value = self.build.value_of(ty, load);
        let new = self.exact(ty);
        match self.random.below(5) {
            0 | 1 if ty.lanes() == 1 => self.effect(Op::Store(mem, addr, new)),
            0 | 1 => self.effect(Op::StoreVector { mem, addr, value: new, mask: None }),
            2 => self.call_for_effect(),
            3 if align == 8 && !elem.is_float() => {
                let one = self.exact(Type::Scalar(elem));
                let _ = self.emit(Type::Scalar(elem), Op::AtomicAdd(mem, addr, one), Quality::Exact);
            }
            _ => {}
        }
        if spread {
            value = self.build.value_of(wide, Op::Splat(value));
            if self.random.once_in(2) {
                self.effect(Op::Store(mem, addr, new));
            }
        }
        let (a, b) = if self.random.once_in(2) { (value, other) } else { (other, value) };
        let op = if elem.is_float() { self.random.of(&[BinOp::FAdd, BinOp::FMin]) } else { self.random.of(&[BinOp::Sub, BinOp::Xor]) };
        let result = self.emit(wide, Op::Bin(op, a, b), if op == BinOp::FAdd { Quality::AnyNan } else { Quality::Exact });
        if self.random.once_in(2) {
            self.store_result(result, wide);
        }
    }

    fn store_shared(&mut self, ty: Type, mem: Mem) {
        let value = self.exact(ty);
        let addr = self.address(SHARED, mem.bytes() * u32::from(ty.lanes()), 1);
        if ty.lanes() == 1 {
            return self.effect(Op::Store(mem, addr, value));
        }
        let mask = self.random.once_in(2).then(|| self.exact(ty.compared()));
        self.effect(Op::StoreVector { mem, addr, value, mask });
    }

    /// Replaces the unspecified values of inactive lanes by zeros.
    fn or_zero(&mut self, ty: Type, mask: Value, loaded: Value, quality: Quality) -> Value {
        let zero = self.constant(ty, 0);
        self.emit(ty, Op::Select(mask, loaded, zero), quality)
    }

    /// Generates the address and the mask of an access whose inactive lanes are outside the memory.
    fn edge(&mut self, ty: Type, mem: Mem, at_start: bool) -> (Addr, Value) {
        let lanes = usize::from(ty.lanes());
        let inside = self.random.below(lanes + 1);
        let bytes = (inside as u32 * mem.bytes()) as i32;
        let all = mem.bytes() as i32 * lanes as i32;
        let some = if self.random.once_in(2) { u64::MAX } else { self.random.next() };
        let on = ((1_u64 << inside) - 1) & some;
        let (disp, on) = if at_start && self.random.once_in(2) { (bytes - all, on << (lanes - inside)) } else { (SIZE as i32 - bytes, on) };
        let bits = self.constant(Type::I32, on);
        let mask = self.emit(ty.compared(), Op::MaskOf(bits), Quality::Exact);
        if inside == 0 && self.random.once_in(2) {
            let null = self.constant(Type::I64, 16);
            return (Addr::of(null), mask);
        }
        (Addr::offset(self.base, disp), mask)
    }

    fn gather(&mut self, ty: Type, elem: Elem, region: Region, quality: Quality) -> Value {
        let mask = (!self.random.once_in(3)).then(|| self.exact(ty.compared()));
        let (base, index, scale) = self.indices(ty, elem, region, mask);
        let quality = if mask.is_some() { Quality::Unspecified } else { quality };
        let loaded = self.emit(ty, Op::Gather { elem, base, index, scale, mask }, quality);
        match mask {
            Some(mask) if self.random.once_in(2) => {
                let quality = if region.start == INPUTS.start { Quality::Exact } else { Quality::Unspecified };
                self.or_zero(ty, mask, loaded, quality)
            }
            _ => loaded,
        }
    }

    /// Generates the base, the indices and the scale of an access whose active lanes are in a region.
    fn indices(&mut self, ty: Type, elem: Elem, region: Region, mask: Option<Value>) -> (Option<Value>, SmallVec<[Value; 2]>, u8) {
        let lanes = ty.lanes();
        let scale = self.random.of(&[1_u8, 2, 4, 8]);
        let narrow = Type::Vector(Elem::I32, lanes);
        let is_narrow = self.has(narrow) && self.random.once_in(2);
        let limit = (256 / u32::from(scale)).next_power_of_two() - 1;
        let space = region.end - region.start - limit * u32::from(scale) - elem.bytes();
        let start = u64::from(region.start + self.random.below(space as usize) as u32);
        let has_base = is_narrow || !self.random.once_in(4);
        let shift = if is_narrow && self.random.once_in(2) { u64::from(scale) * u64::from(limit) } else { 0 };
        let start = self.constant(Type::I64, start + shift);
        let start = self.bin(BinOp::Add, Type::I64, self.base, start);
        let (base, scale) = if has_base { (Some(start), scale) } else { (None, 1) };
        let index: SmallVec<[Value; 2]> = if is_narrow {
            smallvec![self.lane_indices(narrow, limit, shift > 0)]
        } else {
            self.halves(Elem::I64, lanes, |generator, ty| {
                let index = generator.lane_indices(ty, limit, false);
                if has_base {
                    return index;
                }
                let start = generator.emit(ty, Op::Splat(start), Quality::Exact);
                generator.bin(BinOp::Add, ty, start, index)
            })
        };
        let Some(mask) = mask.filter(|_| self.random.once_in(2)) else { return (base, index, scale) };
        // Inactive lanes can have any address.
        (base, self.randomize_inactive(mask, ty, &index), scale)
    }

    fn lane_indices(&mut self, ty: Type, limit: u32, negative: bool) -> Value {
        let any = self.exact(ty);
        let most = self.constant(ty, u64::from(limit));
        let index = self.bin(BinOp::And, ty, any, most);
        if !negative {
            return index;
        }
        let zero = self.constant(ty, 0);
        self.bin(BinOp::Sub, ty, zero, index)
    }

    /// Replaces the indices of inactive lanes by arbitrary numbers. Keeps indices whose mask one instruction cannot
    /// derive from `mask`.
    fn randomize_inactive(&mut self, mask: Value, of: Type, index: &[Value]) -> SmallVec<[Value; 2]> {
        let mut out = SmallVec::new();
        for (part, &index) in (0..).zip(index) {
            let ty = self.build.ty(index);
            let mask = match (of.compared(), ty.compared()) {
                (whole, own) if whole == own => mask,
                (Type::Mask(whole), own @ Type::Mask(shape)) if whole.bits == 32 && shape.bits == 64 => {
                    self.emit(own, Op::MaskPart(mask, part), Quality::Exact)
                }
                (Type::Mask(whole), own @ Type::Mask(shape)) if whole.bits == 64 && shape.bits == 32 => {
                    self.emit(own, Op::MaskJoin(smallvec![mask]), Quality::Exact)
                }
                _ => {
                    out.push(index);
                    continue;
                }
            };
            let any = self.exact(ty);
            out.push(self.emit(ty, Op::Select(mask, index, any), Quality::Exact));
        }
        out
    }

    /// Stores to the shared bytes or to the results.
    pub(super) fn store(&mut self) {
        let ty = self.random.of(&self.types.clone());
        let Some(elem) = ty.elem() else {
            let mask = self.any(ty);
            return self.store_result(mask, ty);
        };
        let mem = self.format(elem);
        if self.random.once_in(3) {
            return self.store_shared(ty, mem);
        }
        let value = self.any(ty);
        let lanes = u32::from(ty.lanes());
        if lanes == 1 {
            let addr = self.address(RESULTS, mem.bytes(), 1);
            return self.effect(Op::Store(mem, addr, value));
        }
        match self.random.below(6) {
            0 => {
                let addr = self.address(RESULTS, mem.bytes() * lanes, 1);
                self.effect(Op::StoreVector { mem, addr, value, mask: None });
            }
            1 | 2 => {
                let mask = self.exact(ty.compared());
                let addr = self.address(RESULTS, mem.bytes() * lanes, 1);
                self.effect(Op::StoreVector { mem, addr, value, mask: Some(mask) });
            }
            3 => {
                let (addr, mask) = self.edge(ty, mem, false);
                self.effect(Op::StoreVector { mem, addr, value, mask: Some(mask) });
            }
            _ if self.config.isa.caps().has_scatter => {
                let mask = (!self.random.once_in(3)).then(|| self.exact(ty.compared()));
                let (base, index, scale) = self.indices(ty, elem, RESULTS, mask);
                self.effect(Op::Scatter { elem, base, index, scale, value, mask });
            }
            _ => self.store_result(value, ty),
        }
    }

    /// Stores a value at a new address.
    pub(super) fn store_result(&mut self, value: Value, ty: Type) {
        let (value, ty) = if ty.elem().is_some() { (value, ty) } else { (self.build.value_of(Type::I32, Op::MaskBits(value)), Type::I32) };
        let Some(elem) = ty.elem() else { return };
        let bytes = elem.bytes() * u32::from(ty.lanes());
        if self.slot + bytes > RESULTS.end {
            self.slot = RESULTS.start;
        }
        let (mem, addr) = (Mem::Elem(elem), Addr::offset(self.base, self.slot as i32));
        self.slot += bytes;
        self.effect(if ty.lanes() == 1 { Op::Store(mem, addr, value) } else { Op::StoreVector { mem, addr, value, mask: None } });
    }

    /// Generates an atomic operation of a random kind.
    pub(super) fn atomic(&mut self, ty: Type, elem: Elem) -> Value {
        let mem = Mem::Elem(elem);
        let addr = self.address(SHARED, elem.bytes(), 8);
        let value = self.exact(ty);
        match self.random.below(4) {
            0 => self.emit(ty, Op::AtomicExchange(mem, addr, value), Quality::Exact),
            1 => {
                let expected = self.exact(ty);
                self.emit(ty, Op::AtomicCompareExchange(mem, addr, expected, value), Quality::Exact)
            }
            2 => {
                // This comparison succeeds, because it expects the value in memory.
                let expected = self.emit(ty, Op::Load(mem, addr), Quality::Exact);
                self.emit(ty, Op::AtomicCompareExchange(mem, addr, expected, value), Quality::Exact)
            }
            _ => self.emit(ty, Op::AtomicAdd(mem, addr, value), Quality::Exact),
        }
    }

    /// Generates a call of a function of the module or the host. If no function has a result of this type, generates a
    /// conversion.
    pub(super) fn call(&mut self, ty: Type) -> Value {
        let (first, callees) = self.callees;
        let fitting: Vec<usize> = (0..callees.len()).filter(|index| callees[*index].returns == Some(ty)).collect();
        if !fitting.is_empty() && self.loops < 2 && self.random.once_in(2) {
            let index = self.random.of(&fitting);
            let args = self.arguments(&callees[index].params.clone(), true);
            return self.emit(ty, Op::Call(wgcl_codegen::vir::Func(first + index as u32), args), Quality::Exact);
        }
        let helpers: Vec<super::Helper> = self.config.helpers.iter().copied().filter(|helper| helper.returns == Some(ty)).collect();
        if helpers.is_empty() {
            let from = if ty == Type::I32 { Type::I64 } else { Type::I32 };
            let a = self.exact(from);
            return self.emit(ty, Op::Cast(if ty == Type::I32 { CastOp::Trunc } else { CastOp::ZExt }, a), Quality::Exact);
        }
        let helper = self.random.of(&helpers);
        let address = self.constant(Type::I64, helper.address);
        let args = self.arguments(helper.params, false);
        self.emit(ty, Op::CallHelper(address, args), Quality::Exact)
    }

    /// Generates a call of a function without a result, if such a function exists.
    pub(super) fn call_for_effect(&mut self) {
        let (first, callees) = self.callees;
        let fitting: Vec<usize> = (0..callees.len()).filter(|index| callees[*index].returns.is_none()).collect();
        if !fitting.is_empty() && self.loops < 2 && self.random.once_in(2) {
            let index = self.random.of(&fitting);
            let args = self.arguments(&callees[index].params.clone(), true);
            return self.effect(Op::Call(wgcl_codegen::vir::Func(first + index as u32), args));
        }
        let helpers: Vec<super::Helper> = self.config.helpers.iter().copied().filter(|helper| helper.returns.is_none()).collect();
        if !helpers.is_empty() {
            let helper = self.random.of(&helpers);
            let address = self.constant(Type::I64, helper.address);
            let args = self.arguments(helper.params, false);
            self.effect(Op::CallHelper(address, args));
        }
    }

    fn arguments(&mut self, params: &[Type], has_base: bool) -> SmallVec<[Value; 6]> {
        let base = self.base;
        params.iter().enumerate().map(|(index, &ty)| if index == 0 && has_base { base } else { self.exact(ty) }).collect()
    }
}
