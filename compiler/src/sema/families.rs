//! Built-in functions whose types the table cannot express: conversions, vector data, shuffles, atomics, async copies,
//! fences, `printf` (OpenCL C 6.4.3, 6.4.4, 6.15.7 to 6.15.15).

use super::atomics::{AtomicKind, C11, parse_atomic, parse_c11};
use super::clock::{self, Clock};
use super::convert::Purpose;
use super::dot::{Dot, parse_dot};
use super::groups::Group;
use super::images::{ImageCall, parse_image};
use super::intel_subgroups::{self, SubgroupCall};
use super::pipes::PipeCall;
use super::{Sema, is_float, unsigned_of};
use crate::ast::{self, Name, ScalarKind};
use crate::builtins::Intrinsic;
use crate::diag::Span;
use crate::ir::Space;
use crate::thir::types::scalar_size;
use crate::thir::{CastKind, Expr, ExprKind, QualTy, Rounding, Ty, TyKind};

/// The extension with split barriers.
const SPLIT_BARRIER: &str = "cl_intel_split_work_group_barrier";

/// The meaning of a name outside of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Family {
    Convert { kind: ScalarKind, lanes: u8, saturate: bool, rounding: Option<Rounding> },
    As { kind: ScalarKind, lanes: u8 },
    VLoad(u8),
    VStore(u8),
    VLoadHalf { lanes: u8, aligned: bool },
    VStoreHalf { lanes: u8, aligned: bool, rounding: Option<Rounding> },
    Shuffle,
    Shuffle2,
    Nan,
    Barrier,
    MemFence,
    WorkItemFence,
    Atomic(AtomicKind),
    C11(C11, bool),
    AsyncCopy { strided: bool },
    AsyncCopyLines { planes: bool },
    WaitGroupEvents,
    Prefetch,
    ToSpace(Space),
    GetFence,
    Subgroup(Intrinsic),
    Image(ImageCall),
    Pipe(PipeCall),
    Group(Group),
    SubgroupCall(SubgroupCall),
    Dot(Dot),
    Clock(Clock),
    Printf,
}

fn parse_type(text: &str) -> Option<(ScalarKind, u8)> {
    let digits = text.find(|c: char| c.is_ascii_digit()).unwrap_or(text.len());
    let (name, lanes) = text.split_at(digits);
    let kind = match name {
        "char" => ScalarKind::Char,
        "uchar" => ScalarKind::UChar,
        "short" => ScalarKind::Short,
        "ushort" => ScalarKind::UShort,
        "int" => ScalarKind::Int,
        "uint" => ScalarKind::UInt,
        "long" => ScalarKind::Long,
        "ulong" => ScalarKind::ULong,
        "half" => ScalarKind::Half,
        "float" => ScalarKind::Float,
        "double" => ScalarKind::Double,
        _ => return None,
    };
    let lanes = if lanes.is_empty() { 1 } else { parse_lanes(lanes)? };
    Some((kind, lanes))
}

fn parse_lanes(text: &str) -> Option<u8> {
    match text {
        "2" => Some(2),
        "3" => Some(3),
        "4" => Some(4),
        "8" => Some(8),
        "16" => Some(16),
        _ => None,
    }
}

fn parse_rounding(text: &str) -> Option<Rounding> {
    match text {
        "rte" => Some(Rounding::Rte),
        "rtz" => Some(Rounding::Rtz),
        "rtp" => Some(Rounding::Rtp),
        "rtn" => Some(Rounding::Rtn),
        _ => None,
    }
}

fn parse_convert(rest: &str) -> Option<Family> {
    let mut parts = rest.split('_');
    let (kind, lanes) = parse_type(parts.next()?)?;
    let (mut saturate, mut rounding) = (false, None);
    for part in parts {
        if part == "sat" && !saturate && rounding.is_none() && !is_float(kind) {
            saturate = true;
        } else if rounding.is_none() {
            rounding = Some(parse_rounding(part)?);
        } else {
            return None;
        }
    }
    Some(Family::Convert { kind, lanes, saturate, rounding })
}

/// Parses the rest of `vload_half4` or `vstorea_half8_rtz` after `_half`.
fn parse_half(rest: &str) -> Option<(u8, Option<Rounding>)> {
    let (lanes, rounding) = match rest.split_once('_') {
        Some((lanes, rounding)) => (lanes, Some(parse_rounding(rounding)?)),
        None => (rest, None),
    };
    Some((if lanes.is_empty() { 1 } else { parse_lanes(lanes)? }, rounding))
}

impl Sema<'_> {
    fn family(&self, name: &str) -> Option<Family> {
        let modern = self.in_library || self.options.std.version() >= 200;
        if let Some(rest) = name.strip_prefix("convert_") {
            return parse_convert(rest);
        }
        if let Some(rest) = name.strip_prefix("as_") {
            return parse_type(rest).map(|(kind, lanes)| Family::As { kind, lanes });
        }
        if let Some(rest) = name.strip_prefix("vload") {
            if let Some(lanes) = parse_lanes(rest) {
                return Some(Family::VLoad(lanes));
            }
            let (aligned, rest) = match rest.strip_prefix("a_half") {
                Some(rest) => (true, rest),
                None => (false, rest.strip_prefix("_half")?),
            };
            let (lanes, rounding) = parse_half(rest)?;
            return (rounding.is_none() && !(aligned && lanes == 1)).then_some(Family::VLoadHalf { lanes, aligned });
        }
        if let Some(rest) = name.strip_prefix("vstore") {
            if let Some(lanes) = parse_lanes(rest) {
                return Some(Family::VStore(lanes));
            }
            let (aligned, rest) = match rest.strip_prefix("a_half") {
                Some(rest) => (true, rest),
                None => (false, rest.strip_prefix("_half")?),
            };
            let (lanes, rounding) = parse_half(rest)?;
            return (!(aligned && lanes == 1)).then_some(Family::VStoreHalf { lanes, aligned, rounding });
        }
        if let Some(rest) = name.strip_prefix("atom_") {
            return parse_atomic(rest).map(Family::Atomic);
        }
        if let Some(rest) = name.strip_prefix("atomic_") {
            if let Some(kind) = parse_atomic(rest) {
                return Some(Family::Atomic(kind));
            }
            // Programs that find cl_ext_float_atomics use these functions without -cl-std=CL2.0.
            if !modern && !self.target.has_extension("cl_ext_float_atomics") {
                return None;
            }
            if rest == "work_item_fence" {
                return Some(Family::WorkItemFence);
            }
            return parse_c11(rest).map(|(kind, explicit)| Family::C11(kind, explicit));
        }
        if self.target.language.images
            && let Some(call) = parse_image(name)
        {
            return Some(Family::Image(call));
        }
        if let Some(call) = self.pipe_function(name) {
            return Some(Family::Pipe(call));
        }
        if let Some(group) = self.group(name) {
            return Some(Family::Group(group));
        }
        if let Some(rest) = name.strip_prefix("intel_sub_group_") {
            let (call, extension) = intel_subgroups::parse(rest)?;
            return self.target.has_extension(extension).then_some(Family::SubgroupCall(call));
        }
        if let Some(dot) = parse_dot(name) {
            return self.target.has_extension(super::dot::EXTENSION).then_some(Family::Dot(dot));
        }
        if let Some(rest) = name.strip_prefix("clock_read_") {
            let (clock, feature) = clock::parse(rest)?;
            return self.target.has_feature(feature).then_some(Family::Clock(clock));
        }
        let subgroups = self.has_subgroups();
        Some(match name {
            "shuffle" => Family::Shuffle,
            "shuffle2" => Family::Shuffle2,
            "nan" => Family::Nan,
            "barrier" => Family::Barrier,
            "work_group_barrier" if modern => Family::Barrier,
            // A full barrier in the wait implements both halves and orders accesses before the arrival too.
            "intel_work_group_barrier_arrive" if self.target.has_extension(SPLIT_BARRIER) => Family::MemFence,
            "intel_work_group_barrier_wait" if self.target.has_extension(SPLIT_BARRIER) => Family::Barrier,
            "mem_fence" | "read_mem_fence" | "write_mem_fence" => Family::MemFence,
            "async_work_group_copy" => Family::AsyncCopy { strided: false },
            "async_work_group_strided_copy" => Family::AsyncCopy { strided: true },
            "async_work_group_copy_2D2D" => Family::AsyncCopyLines { planes: false },
            "async_work_group_copy_3D3D" => Family::AsyncCopyLines { planes: true },
            "wait_group_events" => Family::WaitGroupEvents,
            // The work-items make the copies themselves, so a barrier orders them.
            "async_work_group_copy_fence" if self.target.has_extension("cl_khr_async_work_group_copy_fence") => Family::Barrier,
            "prefetch" => Family::Prefetch,
            "to_global" if self.has_generic() => Family::ToSpace(Space::Global),
            "to_local" if self.has_generic() => Family::ToSpace(Space::Local),
            "to_private" if self.has_generic() => Family::ToSpace(Space::Private),
            "get_fence" if self.has_generic() => Family::GetFence,
            "get_sub_group_size" if subgroups => Family::Subgroup(Intrinsic::GetSubGroupSize),
            "get_max_sub_group_size" if subgroups => Family::Subgroup(Intrinsic::GetMaxSubGroupSize),
            "get_enqueued_num_sub_groups" if subgroups => Family::Subgroup(Intrinsic::GetEnqueuedNumSubGroups),
            "get_num_sub_groups" if subgroups => Family::Subgroup(Intrinsic::GetNumSubGroups),
            "get_sub_group_id" if subgroups => Family::Subgroup(Intrinsic::GetSubGroupId),
            "get_sub_group_local_id" if subgroups => Family::Subgroup(Intrinsic::GetSubGroupLocalId),
            "printf" => Family::Printf,
            _ => return None,
        })
    }

    /// Numbers of arguments of barriers and fences. The optional second argument is a scope.
    fn fence_arity(&self, name: &str) -> (usize, usize) {
        let scoped = match name {
            "work_group_barrier" => true,
            "intel_work_group_barrier_arrive" | "intel_work_group_barrier_wait" => self.options.std.version() >= 200,
            _ => false,
        };
        (1, if scoped { 2 } else { 1 })
    }

    pub(super) fn is_family(&self, name: &str) -> bool {
        self.family(name).is_some()
    }

    fn expect_args(&mut self, name: &str, values: &[Expr], least: usize, most: usize, span: Span) -> bool {
        if (least..=most).contains(&values.len()) {
            return true;
        }
        let (word, expected) = if values.len() < least { ("few", least) } else { ("many", most) };
        self.err(span, format!("too {word} arguments to function call '{name}', expected {expected}, have {}", values.len()));
        false
    }

    /// Converts a value to a parameter of arithmetic scalar type.
    pub(super) fn scalar_arg(&mut self, value: Expr, kind: ScalarKind) -> Expr {
        let ty = self.scalar(kind);
        self.assign_convert(value, ty, &Purpose::Pass)
    }

    pub(super) fn pointer_parts(&self, ty: Ty) -> Option<(QualTy, Space)> {
        match *self.kind(ty) {
            TyKind::Pointer { pointee, space, .. } => Some((pointee, space)),
            _ => None,
        }
    }

    pub(super) fn intrinsic(&mut self, op: Intrinsic, args: Vec<Expr>, ty: Ty, span: Span) -> Expr {
        if args.iter().any(|a| self.is_error(a.ty)) {
            return self.error_expr(span);
        }
        self.expr(ExprKind::Intrinsic { op, args }, ty, span)
    }

    pub(super) fn bad_arg(&mut self, name: &str, value: &Expr, what: &str) {
        let shown = self.show(value.ty);
        self.err(value.span, format!("invalid argument type '{shown}' to function '{name}', {what}"));
    }

    pub(super) fn family_call(&mut self, name: &Name, values: Vec<Expr>, args: &[ast::Expr], name_span: Span, span: Span) -> Expr {
        let Some(family) = self.family(name) else {
            self.err(name_span, format!("implicit declaration of function '{name}' is invalid in OpenCL"));
            return self.error_expr(span);
        };
        let (least, most) = match family {
            Family::Barrier | Family::MemFence => self.fence_arity(name),
            Family::Convert { .. } | Family::As { .. } | Family::Nan | Family::ToSpace(_) | Family::GetFence => (1, 1),
            Family::VLoad(_) | Family::VLoadHalf { .. } | Family::Shuffle | Family::WaitGroupEvents | Family::Prefetch => (2, 2),
            Family::VStore(_) | Family::VStoreHalf { .. } | Family::Shuffle2 | Family::WorkItemFence => (3, 3),
            Family::Atomic(AtomicKind::Inc | AtomicKind::Dec) => (1, 1),
            Family::Atomic(AtomicKind::CmpXchg) => (3, 3),
            Family::Atomic(_) => (2, 2),
            Family::C11(kind, explicit) => {
                let base = match kind {
                    C11::Load | C11::TestAndSet | C11::Clear => 1,
                    C11::Init | C11::Store | C11::Exchange | C11::Fetch(_) => 2,
                    C11::CompareExchange => 3,
                };
                match (explicit, kind) {
                    (false, _) => (base, base),
                    (true, C11::CompareExchange) => (base + 2, base + 3),
                    (true, _) => (base + 1, base + 2),
                }
            }
            Family::AsyncCopy { strided } => {
                if strided {
                    (5, 5)
                } else {
                    (4, 4)
                }
            }
            Family::AsyncCopyLines { planes } => {
                if planes {
                    (13, 13)
                } else {
                    (10, 10)
                }
            }
            Family::Subgroup(_) | Family::Clock(_) => (0, 0),
            Family::Image(call) => call.arguments(),
            Family::Pipe(call) => call.arguments(),
            Family::Group(group) => Self::group_arity(group),
            Family::SubgroupCall(call) => call.arity(),
            Family::Dot(dot) => dot.arity(),
            Family::Printf => (1, usize::MAX),
        };
        if !self.expect_args(name, &values, least, most, name_span) {
            return self.error_expr(span);
        }
        let mut values = values.into_iter();
        let mut next = || values.next();
        match family {
            Family::Convert { kind, lanes, saturate, rounding } => match next() {
                Some(value) => self.convert_call(name, value, (kind, lanes), saturate, rounding, span),
                None => self.error_expr(span),
            },
            Family::As { kind, lanes } => {
                let ty = self.lanes(kind, lanes);
                match next() {
                    Some(value) if self.kind_available(kind, span) => self.as_type(value, ty, span),
                    _ => self.error_expr(span),
                }
            }
            Family::Subgroup(op) => {
                let ty = self.scalar(ScalarKind::UInt);
                self.intrinsic(op, Vec::new(), ty, span)
            }
            Family::Clock(clock) => self.clock(clock, span),
            Family::Printf => self.printf(args, span),
            family => {
                let values: Vec<Expr> = values.collect();
                self.family_rest(family, name, values, span)
            }
        }
    }

    fn family_rest(&mut self, family: Family, name: &Name, values: Vec<Expr>, span: Span) -> Expr {
        match family {
            Family::VLoad(lanes) => self.vload(name, values, lanes, span),
            Family::VStore(lanes) => self.vstore(name, values, lanes, span),
            Family::VLoadHalf { lanes, aligned } => self.vload_half(name, values, lanes, aligned, span),
            Family::VStoreHalf { lanes, aligned, rounding } => self.vstore_half(name, values, lanes, aligned, rounding, span),
            Family::Shuffle | Family::Shuffle2 => self.shuffle(name, values, span),
            Family::Nan => self.nan(name, values, span),
            Family::Barrier | Family::MemFence | Family::WorkItemFence => {
                let void = self.void_ty();
                let mut args = Vec::new();
                for (index, value) in values.into_iter().enumerate() {
                    let known = match (family, index) {
                        (Family::WorkItemFence, 1) => self.check_order_value(&value),
                        (Family::WorkItemFence, 2) | (Family::Barrier | Family::MemFence, 1) => self.check_scope_value(&value),
                        _ => true,
                    };
                    if !known {
                        return self.error_expr(span);
                    }
                    let value = self.scalar_arg(value, ScalarKind::UInt);
                    // The memory order of a fence matters. Scopes are ignored.
                    if index == 0 || (index == 1 && family == Family::WorkItemFence) {
                        args.push(value);
                    }
                }
                let op = match family {
                    Family::Barrier => Intrinsic::Barrier,
                    Family::MemFence => Intrinsic::MemFence,
                    _ => Intrinsic::AtomicWorkItemFence,
                };
                self.intrinsic(op, args, void, span)
            }
            Family::SubgroupCall(call) => self.subgroup_call(name, call, values, span),
            Family::Group(group) => self.group_call(name, group, values, span),
            Family::Dot(dot) => self.integer_dot(name, dot, values, span),
            Family::Atomic(kind) => self.atomic(name, kind, values, span),
            Family::C11(kind, explicit) => self.c11_atomic(name, (kind, explicit), values, span),
            Family::Image(call) => self.image_call(name, call, values, span),
            Family::Pipe(call) => self.pipe_call(name, call, values, span),
            Family::AsyncCopy { strided } => self.async_copy(name, values, strided, span),
            Family::AsyncCopyLines { planes } => self.async_copy_lines(name, values, planes, span),
            Family::WaitGroupEvents => self.wait_group_events(name, values, span),
            Family::Prefetch => {
                let void = self.void_ty();
                let kind = self.size_kind();
                let mut values = values.into_iter();
                let (Some(pointer), Some(count)) = (values.next(), values.next()) else { return self.error_expr(span) };
                if !matches!(self.pointer_parts(pointer.ty), Some((_, Space::Global | Space::Generic))) {
                    self.bad_arg(name, &pointer, "expecting a pointer to global memory");
                    return self.error_expr(span);
                }
                let count = self.scalar_arg(count, kind);
                self.intrinsic(Intrinsic::Prefetch, vec![pointer, count], void, span)
            }
            Family::ToSpace(space) => {
                let Some(pointer) = values.into_iter().next() else { return self.error_expr(span) };
                let Some((pointee, from)) = self.pointer_parts(pointer.ty) else {
                    self.bad_arg(name, &pointer, "expecting a pointer");
                    return self.error_expr(span);
                };
                if from == Space::Constant {
                    self.bad_arg(name, &pointer, "expecting a generic pointer type");
                    return self.error_expr(span);
                }
                let generic = self.pointer(pointee, Space::Generic);
                let pointer = self.cast(CastKind::Pointer, pointer, generic);
                let ty = self.pointer(pointee, space);
                let op = match space {
                    Space::Global => Intrinsic::ToGlobal,
                    Space::Local => Intrinsic::ToLocal,
                    _ => Intrinsic::ToPrivate,
                };
                self.intrinsic(op, vec![pointer], ty, span)
            }
            Family::GetFence => {
                let Some(pointer) = values.into_iter().next() else { return self.error_expr(span) };
                let ty = self.scalar(ScalarKind::UInt);
                let Some((pointee, _)) = self.pointer_parts(pointer.ty).filter(|(_, space)| *space != Space::Constant) else {
                    self.bad_arg(name, &pointer, "expecting a generic pointer type");
                    return self.error_expr(span);
                };
                let generic = self.pointer(pointee, Space::Generic);
                let pointer = self.cast(CastKind::Pointer, pointer, generic);
                self.intrinsic(Intrinsic::GetFence, vec![pointer], ty, span)
            }
            _ => self.error_expr(span),
        }
    }

    pub(super) fn kind_available(&mut self, kind: ScalarKind, span: Span) -> bool {
        let missing = match kind {
            ScalarKind::Double => !self.target.language.fp64,
            ScalarKind::Half => !self.target.language.fp16,
            ScalarKind::Long | ScalarKind::ULong => !self.target.language.int64,
            _ => false,
        };
        if missing {
            self.err(span, format!("use of type '{}' is not supported by this device", crate::thir::types::scalar_name(kind)));
        }
        !missing
    }

    fn convert_call(
        &mut self,
        name: &Name,
        value: Expr,
        to: (ScalarKind, u8),
        saturate: bool,
        rounding: Option<Rounding>,
        span: Span,
    ) -> Expr {
        if !self.kind_available(to.0, span) {
            return self.error_expr(span);
        }
        let Some((from, lanes)) = self.arith(value.ty).filter(|(_, lanes)| *lanes == to.1) else {
            let wanted = if to.1 == 1 { "a scalar".to_owned() } else { format!("a vector of {} elements", to.1) };
            self.bad_arg(name, &value, &format!("expecting {wanted}"));
            return self.error_expr(span);
        };
        let ty = self.lanes(to.0, lanes);
        if from == to.0 {
            return value;
        }
        if from == ScalarKind::Bool {
            return self.cast(CastKind::Arith, value, ty);
        }
        self.cast(CastKind::Convert { saturate, rounding }, value, ty)
    }

    // 6.15.7

    fn vload(&mut self, name: &Name, values: Vec<Expr>, lanes: u8, span: Span) -> Expr {
        let mut values = values.into_iter();
        let (Some(offset), Some(pointer)) = (values.next(), values.next()) else { return self.error_expr(span) };
        let kind = self.size_kind();
        let offset = self.scalar_arg(offset, kind);
        let element =
            self.pointer_parts(pointer.ty).and_then(|(pointee, _)| self.scalar_kind(pointee.ty)).filter(|k| *k != ScalarKind::Bool);
        let Some(element) = element else {
            self.bad_arg(name, &pointer, "expecting a pointer to a scalar");
            return self.error_expr(span);
        };
        if !self.kind_available(element, span) {
            return self.error_expr(span);
        }
        let ty = self.lanes(element, lanes);
        self.intrinsic(Intrinsic::VLoad, vec![offset, pointer], ty, span)
    }

    fn vstore(&mut self, name: &Name, values: Vec<Expr>, lanes: u8, span: Span) -> Expr {
        let mut values = values.into_iter();
        let (Some(data), Some(offset), Some(pointer)) = (values.next(), values.next(), values.next()) else { return self.error_expr(span) };
        let kind = self.size_kind();
        let offset = self.scalar_arg(offset, kind);
        let Some(mut element) = self.writable_scalar(name, &pointer) else { return self.error_expr(span) };
        let mut pointer = pointer;
        if let (TyKind::Vector(kind, data_lanes), Some((pointee, space))) = (self.kind(data.ty).clone(), self.pointer_parts(pointer.ty))
            && data_lanes == lanes
            && kind != element
        {
            // The data determines the type. The pointer converts as for any other function.
            let ty = self.scalar(kind);
            let ty = self.pointer(QualTy { ty, ..pointee }, space);
            pointer = self.assign_convert(pointer, ty, &Purpose::Pass);
            element = kind;
        }
        let ty = self.lanes(element, lanes);
        let data = self.assign_convert(data, ty, &Purpose::Pass);
        let void = self.void_ty();
        self.intrinsic(Intrinsic::VStore, vec![data, offset, pointer], void, span)
    }

    /// The pointee of a scalar pointer that the function writes through.
    fn writable_scalar(&mut self, name: &str, pointer: &Expr) -> Option<ScalarKind> {
        let parts = self.pointer_parts(pointer.ty);
        let element = parts.and_then(|(pointee, _)| self.scalar_kind(pointee.ty)).filter(|k| *k != ScalarKind::Bool);
        match (parts, element) {
            (Some((pointee, space)), Some(_)) if pointee.is_const || space == Space::Constant => {
                self.bad_arg(name, pointer, "expecting a pointer to writable memory");
                None
            }
            (_, Some(element)) => Some(element),
            _ => {
                self.bad_arg(name, pointer, "expecting a pointer to a scalar");
                None
            }
        }
    }

    fn vload_half(&mut self, name: &Name, values: Vec<Expr>, lanes: u8, aligned: bool, span: Span) -> Expr {
        let mut values = values.into_iter();
        let (Some(offset), Some(pointer)) = (values.next(), values.next()) else { return self.error_expr(span) };
        let kind = self.size_kind();
        let offset = self.scalar_arg(offset, kind);
        let half = self.pointer_parts(pointer.ty).is_some_and(|(pointee, _)| self.scalar_kind(pointee.ty) == Some(ScalarKind::Half));
        if !half {
            self.bad_arg(name, &pointer, "expecting a pointer to 'half'");
            return self.error_expr(span);
        }
        let ty = self.lanes(ScalarKind::Float, lanes);
        self.intrinsic(if aligned { Intrinsic::VLoadaHalf } else { Intrinsic::VLoadHalf }, vec![offset, pointer], ty, span)
    }

    fn vstore_half(&mut self, name: &Name, values: Vec<Expr>, lanes: u8, aligned: bool, rounding: Option<Rounding>, span: Span) -> Expr {
        let mut values = values.into_iter();
        let (Some(data), Some(offset), Some(pointer)) = (values.next(), values.next(), values.next()) else { return self.error_expr(span) };
        let kind = self.size_kind();
        let offset = self.scalar_arg(offset, kind);
        if self.writable_scalar(name, &pointer) != Some(ScalarKind::Half) {
            self.bad_arg(name, &pointer, "expecting a pointer to 'half'");
            return self.error_expr(span);
        }
        let double = matches!(self.arith(data.ty), Some((ScalarKind::Double, n)) if n == lanes);
        let ty = self.lanes(if double { ScalarKind::Double } else { ScalarKind::Float }, lanes);
        let data = self.assign_convert(data, ty, &Purpose::Pass);
        let void = self.void_ty();
        let op = if aligned { Intrinsic::VStoreaHalf(rounding) } else { Intrinsic::VStoreHalf(rounding) };
        self.intrinsic(op, vec![data, offset, pointer], void, span)
    }

    fn shuffle(&mut self, name: &Name, values: Vec<Expr>, span: Span) -> Expr {
        let Some((mask, data)) = values.split_last() else { return self.error_expr(span) };
        let Some((kind, _)) = data.first().and_then(|d| self.arith(d.ty)).filter(|(_, lanes)| *lanes > 1) else {
            self.no_shuffle(name, &values);
            return self.error_expr(span);
        };
        let fits = self.arith(mask.ty).filter(|(mask_kind, lanes)| *lanes > 1 && *mask_kind == unsigned_of(kind));
        let same = data.iter().all(|d| d.ty == data[0].ty);
        let Some((_, lanes)) = fits.filter(|_| same) else {
            self.no_shuffle(name, &values);
            return self.error_expr(span);
        };
        let ty = self.lanes(kind, lanes);
        let op = if values.len() == 2 { Intrinsic::Shuffle } else { Intrinsic::Shuffle2 };
        self.intrinsic(op, values, ty, span)
    }

    fn no_shuffle(&mut self, name: &str, values: &[Expr]) {
        if let Some(first) = values.first() {
            self.bad_arg(name, first, "expecting vectors and a mask of unsigned integers of the same size");
        }
    }

    fn nan(&mut self, name: &Name, values: Vec<Expr>, span: Span) -> Expr {
        let Some(code) = values.into_iter().next() else { return self.error_expr(span) };
        let found = self.arith(code.ty).filter(|(kind, _)| !is_float(*kind));
        let Some((kind, lanes)) = found else {
            self.bad_arg(name, &code, "expecting unsigned integers");
            return self.error_expr(span);
        };
        let result = match scalar_size(kind) {
            8 if self.target.language.fp64 => ScalarKind::Double,
            2 if self.target.language.fp16 && kind == ScalarKind::UShort => ScalarKind::Half,
            _ => ScalarKind::Float,
        };
        let code_kind = unsigned_of(result);
        let code_ty = self.lanes(code_kind, lanes);
        let code = self.arith_cast(code, code_ty);
        let ty = self.lanes(result, lanes);
        self.intrinsic(Intrinsic::Nan, vec![code], ty, span)
    }

    // 6.15.11

    fn async_copy(&mut self, name: &Name, values: Vec<Expr>, strided: bool, span: Span) -> Expr {
        let mut values = values.into_iter();
        let (Some(dst), Some(src)) = (values.next(), values.next()) else { return self.error_expr(span) };
        let (Some((to, to_space)), Some((from, from_space))) = (self.pointer_parts(dst.ty), self.pointer_parts(src.ty)) else {
            self.bad_arg(name, &dst, "expecting pointers to local and global memory");
            return self.error_expr(span);
        };
        let spaces = matches!((to_space, from_space), (Space::Local, Space::Global) | (Space::Global, Space::Local));
        if !spaces || to.is_const || to.ty != from.ty || self.arith(to.ty).is_none() {
            self.bad_arg(name, &dst, "expecting pointers to the same scalar or vector type, one to local and the other to global memory");
            return self.error_expr(span);
        }
        let kind = self.size_kind();
        let mut args = vec![dst, src];
        let numbers = if strided { 2 } else { 1 };
        for _ in 0..numbers {
            let Some(value) = values.next() else { return self.error_expr(span) };
            args.push(self.scalar_arg(value, kind));
        }
        let event_ty = self.types.intern(TyKind::Event);
        let Some(event) = values.next() else { return self.error_expr(span) };
        args.push(self.assign_convert(event, event_ty, &Purpose::Pass));
        let op = if strided { Intrinsic::AsyncStridedCopy } else { Intrinsic::AsyncCopy };
        self.intrinsic(op, args, event_ty, span)
    }

    /// cl_khr_extended_async_copies: destination, its offset, source, its offset, sizes, event.
    fn async_copy_lines(&mut self, name: &Name, values: Vec<Expr>, planes: bool, span: Span) -> Expr {
        let kind = self.size_kind();
        let event_ty = self.types.intern(TyKind::Event);
        let last = values.len().saturating_sub(1);
        let spaces: Vec<Option<(bool, Space)>> = [0, 2]
            .iter()
            .map(|&at| values.get(at).and_then(|v| self.pointer_parts(v.ty)).map(|(to, space)| (to.is_const, space)))
            .collect();
        if !matches!(
            spaces[..],
            [Some((false, Space::Local)), Some((_, Space::Global))] | [Some((false, Space::Global)), Some((_, Space::Local))]
        ) {
            if let Some(first) = values.first() {
                self.bad_arg(name, first, "expecting pointers, one to local and the other to global memory");
            }
            return self.error_expr(span);
        }
        let mut args = Vec::new();
        for (index, value) in values.into_iter().enumerate() {
            args.push(match index {
                0 | 2 => value,
                _ if index == last => self.assign_convert(value, event_ty, &Purpose::Pass),
                _ => self.scalar_arg(value, kind),
            });
        }
        let op = if planes { Intrinsic::AsyncCopy3D } else { Intrinsic::AsyncCopy2D };
        self.intrinsic(op, args, event_ty, span)
    }

    fn wait_group_events(&mut self, name: &Name, values: Vec<Expr>, span: Span) -> Expr {
        let mut values = values.into_iter();
        let (Some(count), Some(events)) = (values.next(), values.next()) else { return self.error_expr(span) };
        let count = self.scalar_arg(count, ScalarKind::Int);
        if !self.pointer_parts(events.ty).is_some_and(|(pointee, _)| matches!(self.kind(pointee.ty), TyKind::Event)) {
            self.bad_arg(name, &events, "expecting a pointer to 'event_t'");
            return self.error_expr(span);
        }
        let void = self.void_ty();
        self.intrinsic(Intrinsic::WaitGroupEvents, vec![count, events], void, span)
    }
}
