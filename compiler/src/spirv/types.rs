//! Types and their layout in memory.
//!
//! Sizes and alignments are those of OpenCL C (6.3.5): a vector of three has the size of a vector of four, and members
//! are aligned unless the structure is packed.

use rspirv::spirv::{Decoration, Dim, Op, StorageClass};
use rustc_hash::FxHashMap;

use super::constants::Constants;
use super::decorations::Decorations;
use super::errors::{Checked, invalid, storage_class_name, unsupported};
use super::words::{Id, Inst};
use crate::ir::{Scalar, Space, Type};

/// Maximum size of an object in bytes.
const MAX_OBJECT_SIZE: u64 = 1 << 31;

/// Maximum nesting of structures and arrays (SPIR-V 2.17, "Universal Limits").
const MAX_TYPE_NESTING: u32 = 255;

/// The operands of an image type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct ImageType {
    pub(super) dim: Dim,
    pub(super) depth: bool,
    pub(super) arrayed: bool,
    pub(super) multisampled: bool,
    /// 0: read only, 1: write only, 2: read and write.
    pub(super) access: u32,
}

/// The kind of a type.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Void,
    /// A `bool`, integer or float, or a vector of one of these.
    Numbers(Type),
    Array {
        element: Id,
        count: u64,
    },
    Struct {
        /// The types and byte offsets of the members.
        members: Vec<(Id, u64)>,
    },
    Pointer {
        space: Space,
        /// Whether the pointer refers to a built-in variable (storage class `Input`).
        builtin: bool,
        pointee: Id,
    },
    Function {
        ret: Id,
        params: Vec<Id>,
    },
    Image(ImageType),
    Sampler,
    SampledImage,
    Event,
    /// A device-side event, represented by a number, see [`crate::enqueue`].
    DeviceEvent,
    /// A device-side queue, represented by a number.
    Queue,
    /// A pipe with the access qualifier `write_only` or `read_only`.
    Pipe {
        writes: bool,
    },
    ReserveId,
    /// The address of a pipe in global memory.
    PipeStorage,
    /// The address of a barrier's state in local memory (`named_barriers`).
    NamedBarrier,
    /// An opaque type.
    Opaque,
}

/// A type with its layout.
#[derive(Clone, Debug)]
pub(super) struct TypeInfo {
    pub(super) kind: Kind,
    pub(super) size: u64,
    /// Alignment in bytes, a power of two.
    pub(super) align: u32,
    /// Nesting depth of arrays and structures.
    depth: u32,
}

impl TypeInfo {
    /// Whether values of the type are in memory. Such a value is represented by its address.
    pub(super) const fn is_aggregate(&self) -> bool {
        matches!(self.kind, Kind::Array { .. } | Kind::Struct { .. })
    }

    /// Returns the IR type of values. An aggregate has the type of its address.
    pub(super) fn ir(&self) -> Checked<Type> {
        match &self.kind {
            Kind::Void => Ok(Type::Void),
            Kind::Numbers(ty) => Ok(*ty),
            Kind::Pointer { space, .. } => Ok(Type::Ptr(*space)),
            Kind::Array { .. } | Kind::Struct { .. } => Ok(Type::Ptr(Space::Private)),
            Kind::Image(_) | Kind::Pipe { .. } | Kind::PipeStorage => Ok(Type::Ptr(Space::Global)),
            Kind::NamedBarrier => Ok(Type::Ptr(Space::Local)),
            Kind::Sampler | Kind::Event | Kind::ReserveId => Ok(Type::I32),
            Kind::DeviceEvent | Kind::Queue => Ok(if self.size == 8 { Type::I64 } else { Type::I32 }),
            Kind::SampledImage | Kind::Function { .. } | Kind::Opaque => Err(unsupported!("a value of this type")),
        }
    }
}

/// The types of a module.
#[derive(Debug, Default)]
pub(super) struct Types {
    /// Size of a pointer in bytes.
    pub(super) pointer_size: u32,
    /// Whether the device has named barriers.
    pub(super) named_barriers: bool,
    /// Whether modules may use multisample images (cl_khr_gl_msaa_sharing).
    pub(super) multisample_images: bool,
    infos: FxHashMap<Id, TypeInfo>,
}

impl Types {
    /// Returns the type with this id.
    pub(super) fn get(&self, id: Id) -> Checked<&TypeInfo> {
        self.infos.get(&id).ok_or_else(|| invalid!("{id} is not a type"))
    }

    /// Returns the type with this id, which must be a scalar or vector type.
    pub(super) fn numbers(&self, id: Id) -> Checked<Type> {
        match self.get(id)?.kind {
            Kind::Numbers(ty) => Ok(ty),
            _ => Err(invalid!("{id} is not a scalar or vector type")),
        }
    }

    pub(super) fn ir(&self, id: Id) -> Checked<Type> {
        self.get(id)?.ir()
    }

    /// Returns the pointee and the address space of a pointer type.
    pub(super) fn pointee(&self, id: Id) -> Checked<(Id, Space)> {
        match self.get(id)?.kind {
            Kind::Pointer { pointee, space, .. } => Ok((pointee, space)),
            _ => Err(invalid!("{id} is not a pointer type")),
        }
    }

    /// Returns the integer type with the size of a pointer.
    pub(super) const fn pointer_int(&self) -> Type {
        if self.pointer_size == 8 { Type::I64 } else { Type::I32 }
    }

    /// Returns the size of a type in bytes. Fails if it exceeds the limit.
    pub(super) fn size(&self, id: Id) -> Checked<u32> {
        let size = self.get(id)?.size;
        u32::try_from(size)
            .ok()
            .filter(|_| size <= MAX_OBJECT_SIZE)
            .ok_or_else(|| unsupported!("an object of {size} bytes (the limit is {MAX_OBJECT_SIZE})"))
    }

    /// Returns the alignment of a type in bytes.
    pub(super) fn align(&self, id: Id) -> Checked<u32> {
        Ok(self.get(id)?.align)
    }

    /// Reads an instruction. Returns true if it declares a type.
    pub(super) fn read(&mut self, inst: &Inst<'_>, constants: &Constants, decorations: &Decorations) -> Checked<bool> {
        let info = match inst.op {
            Op::TypeForwardPointer => return Ok(true),
            Op::TypeVoid => type_info(Kind::Void, 0, 1),
            Op::TypeBool => type_info(Kind::Numbers(Type::BOOL), 1, 1),
            Op::TypeInt => numbers(int_scalar(inst.word(0)?)?, 1),
            Op::TypeFloat => numbers(float_scalar(inst.word(0)?)?, 1),
            Op::TypeVector => self.vector(inst)?,
            Op::TypeArray => self.array(inst, constants)?,
            Op::TypeStruct => self.structure(inst, decorations)?,
            Op::TypePointer => self.pointer(inst)?,
            Op::TypeFunction => {
                let (ret, params) = (inst.operand(0)?, inst.operands_from(1).collect());
                type_info(Kind::Function { ret, params }, 0, 1)
            }
            Op::TypeImage if inst.word(4)? != 0 && !self.multisample_images => {
                return Err(unsupported!("multisample images without cl_khr_gl_msaa_sharing"));
            }
            Op::TypeImage => type_info(Kind::Image(image(inst)?), self.pointer_size.into(), self.pointer_size),
            Op::TypeSampler => type_info(Kind::Sampler, self.pointer_size.into(), self.pointer_size),
            Op::TypeSampledImage => type_info(Kind::SampledImage, self.pointer_size.into(), self.pointer_size),
            Op::TypeEvent => type_info(Kind::Event, self.pointer_size.into(), self.pointer_size),
            Op::TypeDeviceEvent => type_info(Kind::DeviceEvent, self.pointer_size.into(), self.pointer_size),
            Op::TypeQueue => type_info(Kind::Queue, self.pointer_size.into(), self.pointer_size),
            Op::TypePipe => {
                let writes = match inst.word(0)? {
                    0 => false,
                    1 => true,
                    _ => return Err(invalid!("the access qualifier of the pipe is not valid")),
                };
                type_info(Kind::Pipe { writes }, self.pointer_size.into(), self.pointer_size)
            }
            Op::TypeReserveId => type_info(Kind::ReserveId, 4, 4),
            Op::TypePipeStorage => type_info(Kind::PipeStorage, self.pointer_size.into(), self.pointer_size),
            Op::TypeNamedBarrier if !self.named_barriers => {
                return Err(unsupported!("a named barrier on this device, whose subgroups do not make independent progress,"));
            }
            Op::TypeNamedBarrier => type_info(Kind::NamedBarrier, self.pointer_size.into(), self.pointer_size),
            Op::TypeOpaque => type_info(Kind::Opaque, 0, 1),
            Op::TypeMatrix | Op::TypeRuntimeArray => return Err(unsupported!("this type")),
            _ => return Ok(false),
        };
        self.infos.insert(inst.result()?, info);
        Ok(true)
    }

    fn vector(&self, inst: &Inst<'_>) -> Checked<TypeInfo> {
        let lanes = inst.word(1)?;
        match (self.numbers(inst.operand(0)?)?, lanes) {
            (Type::Scalar(scalar), 2 | 3 | 4 | 8 | 16) => Ok(numbers(scalar, lanes as u8)),
            (_, 2 | 3 | 4 | 8 | 16) => Err(invalid!("the component type of the vector is not a scalar")),
            _ => Err(invalid!("component count {lanes} is not valid; expected 2, 3, 4, 8 or 16")),
        }
    }

    fn array(&self, inst: &Inst<'_>, constants: &Constants) -> Checked<TypeInfo> {
        let element = inst.operand(0)?;
        let of = self.object(element)?;
        let count = constants.integer(inst.operand(1)?)?;
        let size = of.size.checked_mul(count).ok_or_else(|| unsupported!("an array of {count} elements"))?;
        Ok(TypeInfo { kind: Kind::Array { element, count }, size, align: of.align, depth: nested_depth(of.depth)? })
    }

    fn structure(&self, inst: &Inst<'_>, decorations: &Decorations) -> Checked<TypeInfo> {
        let packed = decorations.has(inst.result()?, Decoration::CPacked);
        let (mut size, mut align, mut depth) = (0_u64, 1, 0);
        let mut members = Vec::with_capacity(inst.operands.len());
        for id in inst.operands_from(0) {
            // A type that is not yet declared is a pointer type with a forward declaration.
            let (member_size, natural, member_depth) = match self.infos.get(&id) {
                Some(_) => self.object(id).map(|info| (info.size, info.align, info.depth))?,
                None => (u64::from(self.pointer_size), self.pointer_size, 0),
            };
            let member_align = if packed { 1 } else { natural };
            size = size.next_multiple_of(u64::from(member_align));
            members.push((id, size));
            size = size
                .checked_add(member_size)
                .filter(|size| *size <= 1 << 40)
                .ok_or_else(|| unsupported!("a structure of more than 1 TiB"))?;
            align = align.max(member_align);
            depth = depth.max(member_depth);
        }
        Ok(TypeInfo { kind: Kind::Struct { members }, size: size.next_multiple_of(u64::from(align)), align, depth: nested_depth(depth)? })
    }

    /// Returns the type with this id. Fails if it cannot be the type of an object.
    fn object(&self, id: Id) -> Checked<&TypeInfo> {
        let info = self.get(id)?;
        match info.kind {
            Kind::Void | Kind::Function { .. } => Err(invalid!("{id} is not an object type")),
            _ => Ok(info),
        }
    }

    fn pointer(&self, inst: &Inst<'_>) -> Checked<TypeInfo> {
        let (class, pointee) = (inst.word(0)?, inst.operand(1)?);
        let space = match StorageClass::from_u32(class) {
            Some(StorageClass::Function | StorageClass::Private | StorageClass::Input) => Space::Private,
            Some(StorageClass::Workgroup) => Space::Local,
            Some(StorageClass::CrossWorkgroup) => Space::Global,
            Some(StorageClass::UniformConstant) => Space::Constant,
            Some(StorageClass::Generic) => Space::Generic,
            _ => return Err(unsupported!("storage class {}", storage_class_name(class))),
        };
        let builtin = class == StorageClass::Input as u32;
        Ok(type_info(Kind::Pointer { space, builtin, pointee }, self.pointer_size.into(), self.pointer_size))
    }
}

const fn type_info(kind: Kind, size: u64, align: u32) -> TypeInfo {
    TypeInfo { kind, size, align: if align == 0 { 1 } else { align }, depth: 0 }
}

fn numbers(scalar: Scalar, lanes: u8) -> TypeInfo {
    let places = if lanes == 3 { 4 } else { u32::from(lanes) };
    let size = scalar.size().max(1) * places;
    type_info(Kind::Numbers(Type::of(scalar, lanes)), size.into(), size)
}

fn nested_depth(depth: u32) -> Checked<u32> {
    if depth < MAX_TYPE_NESTING { Ok(depth + 1) } else { Err(invalid!("types are nested more than {MAX_TYPE_NESTING} levels deep")) }
}

fn int_scalar(bits: u32) -> Checked<Scalar> {
    match bits {
        8 | 16 | 32 | 64 => Scalar::int_of_size(bits / 8).ok_or_else(|| unsupported!("a {bits}-bit integer")),
        _ => Err(unsupported!("a {bits}-bit integer")),
    }
}

fn float_scalar(bits: u32) -> Checked<Scalar> {
    match bits {
        16 => Ok(Scalar::F16),
        32 => Ok(Scalar::F32),
        64 => Ok(Scalar::F64),
        _ => Err(unsupported!("a {bits}-bit floating-point type")),
    }
}

fn image(inst: &Inst<'_>) -> Checked<ImageType> {
    let dim = inst.word(1)?;
    let dim = match Dim::from_u32(dim) {
        Some(dim @ (Dim::Dim1D | Dim::Dim2D | Dim::Dim3D | Dim::DimBuffer)) => dim,
        _ => return Err(unsupported!("image dimensionality {dim}")),
    };
    Ok(ImageType {
        dim,
        depth: inst.word(2)? == 1,
        arrayed: inst.word(3)? != 0,
        multisampled: inst.word(4)? != 0,
        access: inst.operands.get(7).copied().unwrap_or(0),
    })
}
