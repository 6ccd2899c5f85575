//! Images and samplers (SPIR-V 3.52.10): calls of OpenCL C functions, and words of the image descriptor.

use rspirv::spirv::{AccessQualifier, Dim, ImageOperands, Op as Opcode};

use super::bridge::{Signedness, c_type};
use super::constants::Constant;
use super::errors::{Checked, OperandIndex, Shown, invalid, unsupported};
use super::function::{Lowering, Val};
use super::types::{ImageType, Kind};
use super::words::Id;
use crate::ir::image::{FORMAT_WORD, LEVELS_WORD, SAMPLES_WORD};
use crate::ir::{BinOp, Op, Scalar, Type, Value};

/// OpenCL C values of the first channel data type and the first channel order. SPIR-V counts both from 0.
const FIRST_DATA_TYPE: i64 = 0x10d0;
const FIRST_ORDER: i64 = 0x10b0;

/// Index of the descriptor word that contains the number of layers.
const ARRAY_SIZE: u8 = 3;

/// The access qualifier ReadWrite of an image type.
const READ_WRITE: u32 = AccessQualifier::ReadWrite as u32;

impl ImageType {
    /// Returns the OpenCL C name of the type, with the access qualifier of the type or of the access (a write if
    /// `write`).
    pub(super) fn c_name(self, write: bool) -> String {
        let access = match (self.access, write) {
            (READ_WRITE, _) => "read_write ",
            (_, true) => "write_only ",
            (_, false) => "read_only ",
        };
        format!("{access}{}", self.c_type_name())
    }

    /// Returns the OpenCL C name of the type, without an access qualifier.
    pub(super) fn c_type_name(self) -> String {
        let dim = match self.dim {
            Dim::Dim1D => "1d",
            Dim::Dim3D => "3d",
            Dim::DimBuffer => "1d_buffer",
            _ => "2d",
        };
        let part = |set: bool, text: &'static str| if set { text } else { "" };
        let array = part(self.arrayed, "_array");
        format!("image{dim}{array}{}{}_t", part(self.multisampled, "_msaa"), part(self.depth, "_depth"))
    }

    /// Returns the number of lanes of the gradients in OpenCL C.
    const fn gradients(self) -> u8 {
        match self.dim {
            Dim::Dim1D | Dim::DimBuffer => 1,
            Dim::Dim3D => 4,
            _ => 2,
        }
    }

    /// Returns the number of lanes of the coordinates in OpenCL C.
    const fn coordinates(self) -> u8 {
        match (self.dim, self.arrayed) {
            (Dim::Dim1D | Dim::DimBuffer, false) => 1,
            (Dim::Dim1D, true) | (Dim::Dim2D, false) => 2,
            _ => 4,
        }
    }
}

impl Lowering<'_, '_, '_> {
    /// Lowers the current instruction if it belongs to this file. Returns false otherwise.
    pub(super) fn image(&mut self) -> Checked<bool> {
        match self.current.op {
            Opcode::SampledImage => {
                let (image, sampler) = (self.arg(0)?, self.arg(1)?);
                self.image_type(self.current.operand(0)?)?;
                if self.b.ty(sampler) != Type::I32 {
                    return Err(invalid!("{} is not a sampler", OperandIndex(1)));
                }
                self.define(Val::Sampled(image, sampler))?;
            }
            Opcode::Image => match self.get(self.current.operand(0)?)? {
                Val::Sampled(image, _) => self.define(Val::One(image))?,
                _ => return Err(invalid!("{} is not a sampled image", OperandIndex(0))),
            },
            Opcode::ImageSampleExplicitLod => {
                let id = self.current.operand(0)?;
                let Val::Sampled(image, sampler) = self.get(id)? else { return Err(invalid!("{id} is not a sampled image")) };
                let ty = self.sampled_type(id)?;
                self.read(image, ty, Some(sampler), 2)?;
            }
            Opcode::ImageRead | Opcode::ImageFetch => {
                let (image, ty) = (self.arg(0)?, self.image_type(self.current.operand(0)?)?);
                self.read(image, ty, None, 2)?;
            }
            Opcode::ImageWrite => self.write()?,
            Opcode::ImageQuerySizeLod | Opcode::ImageQuerySize => self.size()?,
            Opcode::ImageQueryFormat | Opcode::ImageQueryOrder => {
                let word = self.image_word(FORMAT_WORD)?;
                let value = if self.current.op == Opcode::ImageQueryFormat {
                    let kind = self.b.bin_int(BinOp::And, word, 0xffff);
                    self.b.bin_int(BinOp::Sub, kind, FIRST_DATA_TYPE)
                } else {
                    let order = self.b.bin_int(BinOp::LShr, word, 16);
                    self.b.bin_int(BinOp::Sub, order, FIRST_ORDER)
                };
                self.set_result(value)?;
            }
            Opcode::ImageQueryLevels => {
                let (word, want) = (self.image_word(LEVELS_WORD)?, self.result_type()?);
                let levels = self.b.resize(word, false, want);
                self.set_result(levels)?;
            }
            Opcode::ImageQuerySamples => {
                let (want, ty) = (self.result_type()?, self.image_type(self.current.operand(0)?)?);
                let samples = if ty.multisampled {
                    let word = self.image_word(SAMPLES_WORD)?;
                    self.b.resize(word, false, want)
                } else {
                    self.b.bits(want, 1)
                };
                self.set_result(samples)?;
            }
            _ => return Ok(false),
        }
        Ok(true)
    }

    /// Returns the image type of the image `id`.
    fn image_type(&self, id: Id) -> Checked<ImageType> {
        match self.module.types.get(self.type_id(id)?)?.kind {
            Kind::Image(image) => Ok(image),
            _ => Err(invalid!("{id} is not an image")),
        }
    }

    /// Returns the image type of the sampled image `id`.
    fn sampled_type(&self, id: Id) -> Checked<ImageType> {
        let mut id = id;
        for _ in 0..8 {
            let inst = self
                .module
                .definitions
                .get(&id)
                .ok_or_else(|| unsupported!("a sampled image without an OpSampledImage in the same function"))?;
            match inst.op {
                Opcode::SampledImage => return self.image_type(inst.operand(0)?),
                Opcode::CopyObject => id = inst.operand(0)?,
                _ => break,
            }
        }
        Err(unsupported!("a sampled image without an OpSampledImage in the same function"))
    }

    /// Returns the image in operand 0, and its OpenCL C type. `write` is true if the instruction writes the image.
    pub(super) fn image_argument(&mut self, write: bool) -> Checked<(Value, String)> {
        let (image, ty) = (self.arg(0)?, self.image_type(self.current.operand(0)?)?);
        Ok((image, ty.c_name(write)))
    }

    /// Returns the coordinates in an operand, with the number of lanes that OpenCL C requires.
    fn coordinates(&mut self, index: usize, image: ImageType) -> Checked<Value> {
        let value = self.number(index)?;
        let have = self.b.ty(value);
        if !matches!(have.scalar(), Some(Scalar::I32 | Scalar::F32)) {
            return Err(unsupported!("coordinates of type {}", Shown(have)));
        }
        self.with_lanes(value, image.coordinates())
    }

    /// Converts coordinates or gradients to `want` lanes. The last of four lanes may be missing in `value`.
    fn with_lanes(&mut self, value: Value, want: u8) -> Checked<Value> {
        let have = self.b.ty(value);
        if have.lanes() == want {
            return Ok(value);
        }
        let least = if want == 4 { 3 } else { want };
        if have.lanes() < least {
            return Err(invalid!("{} components are too few for an image of this type", have.lanes()));
        }
        let lanes: Vec<u8> = (0..want.min(have.lanes())).collect();
        let cut = self.b.lanes(value, &lanes);
        Ok(if self.b.ty(cut).lanes() < want { self.b.widen(cut, want) } else { cut })
    }

    /// Returns the signedness of integer texels, or `None` if the image operands, which start at `index`, do not
    /// specify it.
    fn texel_sign(&self, index: usize) -> Option<Signedness> {
        let operands = self.current.operands.get(index).copied().unwrap_or_default();
        if operands & ImageOperands::SIGN_EXTEND.bits() != 0 {
            return Some(Signedness::Signed);
        }
        (operands & ImageOperands::ZERO_EXTEND.bits() != 0).then_some(Signedness::Unsigned)
    }

    /// Returns the level in an operand. Returns `None` for level 0, which many modules specify for images without
    /// mipmaps.
    fn lod(&mut self, index: usize) -> Checked<Option<Value>> {
        let constant = self.module.constants.get(self.current.operand(index)?);
        let first = matches!(constant, Some((_, Constant::Bits(0) | Constant::Null)));
        if first { Ok(None) } else { self.number(index).map(Some) }
    }

    /// Returns the arguments that select a level of a mipmapped image or a sample of a multisample image. These are
    /// none, a level, two gradients, or a sample. The image operands start at operand `index`.
    fn level(&mut self, index: usize, image: ImageType) -> Checked<Vec<Value>> {
        let operands = ImageOperands::from_bits_truncate(self.current.operands.get(index).copied().unwrap_or_default());
        if operands.contains(ImageOperands::BIAS) {
            return Err(unsupported!("the image operand Bias"));
        }
        if image.multisampled {
            if !operands.contains(ImageOperands::SAMPLE) {
                return Err(invalid!("an access of a multisample image requires the image operand Sample"));
            }
            if operands.intersects(!(ImageOperands::SAMPLE | ImageOperands::SIGN_EXTEND | ImageOperands::ZERO_EXTEND)) {
                return Err(unsupported!("other image operands than Sample for a multisample image"));
            }
            return Ok(vec![self.number(index + 1)?]);
        }
        if operands.contains(ImageOperands::LOD) {
            return Ok(self.lod(index + 1)?.into_iter().collect());
        }
        if operands.contains(ImageOperands::GRAD) {
            let (x, y) = (self.number(index + 1)?, self.number(index + 2)?);
            return Ok(vec![self.with_lanes(x, image.gradients())?, self.with_lanes(y, image.gradients())?]);
        }
        Ok(Vec::new())
    }

    fn read(&mut self, image: Value, ty: ImageType, sampler: Option<Value>, first_operand: usize) -> Checked<()> {
        let (coordinates, level) = (self.coordinates(1, ty)?, self.level(first_operand, ty)?);
        let want = self.result_type()?;
        let (mut args, mut params, mut names) = (vec![image], vec![ty.c_name(false)], "a0".to_owned());
        if let Some(sampler) = sampler {
            args.push(sampler);
            params.push("sampler_t".to_owned());
            names.push_str(", a1");
        }
        let place = self.b.ty(coordinates);
        let number = args.len();
        // OpenCL C accepts a level only with float coordinates.
        names.push_str(&match (sampler, place.scalar()) {
            (Some(_), Some(Scalar::I32)) if !level.is_empty() => {
                format!(", convert_{}(a{number})", c_type(place.with_scalar(Scalar::F32), Signedness::Signed)?)
            }
            _ => format!(", a{number}"),
        });
        names.extend((0..level.len()).map(|index| format!(", a{}", number + 1 + index)));
        for value in std::iter::once(coordinates).chain(level.iter().copied()) {
            params.push(c_type(self.b.ty(value), Signedness::Signed)?);
            args.push(value);
        }
        let selects_level = sampler.is_none() && !level.is_empty() && !ty.multisampled;
        let read = if selects_level { "__wgcl_read_image" } else { "read_image" };
        let body = match want.scalar() {
            Some(Scalar::F32) => format!("return {read}f({names});"),
            Some(Scalar::F16) => format!("return {read}h({names});"),
            Some(Scalar::I32) => match self.texel_sign(first_operand) {
                Some(Signedness::Signed) => format!("return {read}i({names});"),
                Some(Signedness::Unsigned) => format!("return as_int4({read}ui({names}));"),
                // The format is unknown until the kernel is launched, so the code checks at run time whether it is
                // signed.
                None => format!(
                    "int t = get_image_channel_data_type(a0); if (t >= CLK_SIGNED_INT8 && t <= CLK_SIGNED_INT32) return {read}i({names}); \
                     return as_int4({read}ui({names}));"
                ),
            },
            _ => return Err(unsupported!("a texel of type {}", Shown(want))),
        };
        let value = self.library_text(want, &c_type(want, Signedness::Signed)?, &params, &args, &body)?;
        self.set_result(value)
    }

    fn write(&mut self) -> Checked<()> {
        let (image, ty) = (self.arg(0)?, self.image_type(self.current.operand(0)?)?);
        let (coordinates, texel) = (self.coordinates(1, ty)?, self.number(2)?);
        let level = self.level(3, ty)?;
        let have = self.b.ty(texel);
        let (mut args, mut names) = (vec![image, texel, coordinates], "a0, a2".to_owned());
        if let &[level] = level.as_slice() {
            args.push(level);
            names.push_str(", a3");
        }
        let mut params = vec![ty.c_name(true)];
        for &value in &args[1..] {
            params.push(c_type(self.b.ty(value), Signedness::Signed)?);
        }
        let body = match have.scalar() {
            Some(Scalar::F32) => format!("write_imagef({names}, a1);"),
            Some(Scalar::F16) => format!("write_imageh({names}, a1);"),
            Some(Scalar::I32) => match self.texel_sign(3) {
                Some(Signedness::Signed) => format!("write_imagei({names}, a1);"),
                Some(Signedness::Unsigned) => format!("write_imageui({names}, as_uint4(a1));"),
                None => format!(
                    "int t = get_image_channel_data_type(a0); if (t >= CLK_SIGNED_INT8 && t <= CLK_SIGNED_INT32) write_imagei({names}, a1); \
                     else write_imageui({names}, as_uint4(a1));"
                ),
            },
            _ => return Err(unsupported!("a texel of type {}", Shown(have))),
        };
        self.library_effect(&params, &args, &body);
        Ok(())
    }

    fn image_word(&mut self, word: u8) -> Checked<Value> {
        let image = self.arg(0)?;
        self.image_type(self.current.operand(0)?)?;
        Ok(self.b.emit(Op::ImageWord { image, word }, Type::I32))
    }

    /// Lowers a size query. The result has the dimensions of the image type. The array size does not depend on the
    /// level.
    fn size(&mut self) -> Checked<()> {
        let ty = self.image_type(self.current.operand(0)?)?;
        let level = if self.current.op == Opcode::ImageQuerySizeLod {
            self.lod(1)?.map(|level| self.b.resize(level, false, Type::I32))
        } else {
            None
        };
        let mut words: Vec<u8> = match ty.dim {
            Dim::Dim1D | Dim::DimBuffer => vec![0],
            Dim::Dim3D => vec![0, 1, 2],
            _ => vec![0, 1],
        };
        if ty.arrayed {
            words.push(ARRAY_SIZE);
        }
        let want = self.result_type()?;
        let scalar = want.scalar().filter(|scalar| scalar.is_int()).ok_or_else(|| invalid!("result type {want} is not valid"))?;
        let mut lanes = Vec::new();
        for word in words {
            let mut value = self.image_word(word)?;
            if word == ARRAY_SIZE && ty.multisampled {
                let samples = self.image_word(SAMPLES_WORD)?;
                value = self.b.bin(BinOp::UDiv, value, samples);
            }
            if let Some(level) = level.filter(|_| word != ARRAY_SIZE) {
                let small = self.b.bin(BinOp::LShr, value, level);
                let one = self.b.i32(1);
                value = self.b.bin(BinOp::UMax, small, one);
            }
            lanes.push(self.b.resize(value, false, Type::Scalar(scalar)));
        }
        while lanes.len() < usize::from(want.lanes()) {
            lanes.push(self.b.bits(Type::Scalar(scalar), 0));
        }
        lanes.truncate(want.lanes().into());
        let value = self.b.construct(&lanes);
        self.set_result(value)
    }
}
