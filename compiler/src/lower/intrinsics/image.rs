//! Image functions (OpenCL C 6.15.15). They remain image operations of the IR until launch specialisation, when formats
//! and samplers are known.

use super::Call;
use crate::ast::{ImageKind, ScalarKind};
use crate::builtins::ImageQuery;
use crate::ir::image::{Colour, Coordinates, FORMAT_WORD, ImageCall, ImageShape, LEVELS_WORD, Level, PARAMETER_WORD, SAMPLES_WORD};
use crate::ir::{BinOp, Op, Type, Value};
use crate::lower::function::Lowering;
use crate::lower::types::ArithType;
use crate::thir::TyKind;

const WIDTH: u8 = 0;
const HEIGHT: u8 = 1;
const DEPTH: u8 = 2;
const ARRAY_SIZE: u8 = 3;

/// Returns the shape of an image type, and whether it is a depth image. In memory, a multisample image is an array of
/// images with one sample ([`crate::image`]).
const fn shape(kind: ImageKind) -> (ImageShape, bool) {
    match kind {
        ImageKind::Image1d | ImageKind::Image1dBuffer => (ImageShape::D1, false),
        ImageKind::Image1dArray => (ImageShape::D1Array, false),
        ImageKind::Image2d => (ImageShape::D2, false),
        ImageKind::Image2dDepth => (ImageShape::D2, true),
        ImageKind::Image2dArray | ImageKind::Image2dMsaa | ImageKind::Image2dArrayMsaa => (ImageShape::D2Array, false),
        ImageKind::Image2dArrayDepth | ImageKind::Image2dMsaaDepth | ImageKind::Image2dArrayMsaaDepth => (ImageShape::D2Array, true),
        ImageKind::Image3d => (ImageShape::D3, false),
    }
}

/// Returns the channel type of an image access. `kind` is the scalar type of the colour's components. Half precision is
/// accessed as single precision.
const fn colour(kind: ScalarKind) -> Colour {
    match kind {
        ScalarKind::Int => Colour::Int,
        ScalarKind::UInt => Colour::UInt,
        _ => Colour::Float,
    }
}

impl<'p> Lowering<'p, '_> {
    /// Returns the type of the image argument.
    fn image_kind(&mut self, call: &Call<'p>) -> ImageKind {
        let kind = call.exprs.first().and_then(|expr| match *self.kind(expr.ty) {
            TyKind::Image(kind, _) => Some(kind),
            _ => None,
        });
        kind.unwrap_or_else(|| {
            self.b.fail("the first argument of an image function is not an image");
            ImageKind::Image2d
        })
    }

    pub(super) fn read_image(&mut self, call: &Call<'p>) -> Value {
        let coordinates = match call.exprs.get(2) {
            Some(coordinates) if self.arithmetic(coordinates.ty).is_float() => Coordinates::Float,
            Some(_) => Coordinates::Int,
            None => Coordinates::Plain,
        };
        let level = match call.exprs.len() {
            4 => Level::Lod,
            5 => Level::Gradients,
            _ => Level::Base,
        };
        self.read_elements(call, (coordinates, level))
    }

    pub(super) fn read_elements(&mut self, call: &Call<'p>, (coordinates, level): (Coordinates, Level)) -> Value {
        self.read_with(call, call.values.clone(), (coordinates, level))
    }

    /// Reads one sample: an element of the layer that contains the sample. The layers of all samples of one layer of
    /// the multisample image are adjacent.
    pub(super) fn read_sample(&mut self, call: &Call<'p>) -> Value {
        let (image, coordinates, sample) = (self.value(call, 0), self.value(call, 1), self.value(call, 2));
        let layer = if self.b.ty(coordinates).lanes() == 4 {
            let samples = self.b.emit(Op::ImageWord { image, word: SAMPLES_WORD }, Type::I32);
            let layer = self.b.extract(coordinates, 2);
            let first = self.b.bin(BinOp::Mul, layer, samples);
            self.b.bin(BinOp::Add, first, sample)
        } else {
            sample
        };
        let lanes = [self.b.extract(coordinates, 0), self.b.extract(coordinates, 1), layer, self.b.i32(0)];
        let place = self.b.construct(&lanes);
        self.read_with(call, vec![image, place], (Coordinates::Plain, Level::Base))
    }

    /// Reads an image with the arguments `args`.
    fn read_with(&mut self, call: &Call<'p>, args: Vec<Value>, (coordinates, level): (Coordinates, Level)) -> Value {
        let (shape, depth) = shape(self.image_kind(call));
        let result = self.arithmetic(call.ty);
        let image = ImageCall { write: false, shape, colour: colour(result.kind), coordinates, level };
        let read = self.b.emit(Op::Image { call: image, args }, image.colour.ty());
        let read = if depth { self.b.extract(read, 0) } else { read };
        if result.kind == ScalarKind::Half { self.b.convert(read, ArithType::new(ScalarKind::Float, result.lanes), result) } else { read }
    }

    pub(super) fn write_image(&mut self, call: &Call<'p>) {
        let (shape, depth) = shape(self.image_kind(call));
        let mut args = call.values.clone();
        let levelled = args.len() == 4;
        let from = self.arg_type(call, args.len().saturating_sub(1));
        let level = if levelled { Level::Lod } else { Level::Base };
        let image = ImageCall { write: true, shape, colour: colour(from.kind), coordinates: Coordinates::Plain, level };
        if let Some(colour) = args.last_mut() {
            if from.kind == ScalarKind::Half {
                *colour = self.b.convert(*colour, from, ArithType::new(ScalarKind::Float, from.lanes));
            }
            if depth {
                *colour = self.b.splat(*colour, 4);
            }
        }
        self.b.effect(Op::Image { call: image, args });
    }

    pub(super) fn image_query(&mut self, query: ImageQuery, call: &Call<'p>) -> Value {
        let image = self.value(call, 0);
        let mut word = |word: u8| self.b.emit(Op::ImageWord { image, word }, Type::I32);
        match query {
            ImageQuery::Width => word(WIDTH),
            ImageQuery::Height => word(HEIGHT),
            ImageQuery::Depth => word(DEPTH),
            ImageQuery::ChannelDataType => {
                let format = word(FORMAT_WORD);
                self.b.bin_int(BinOp::And, format, 0xffff)
            }
            ImageQuery::ChannelOrder => {
                let format = word(FORMAT_WORD);
                self.b.bin_int(BinOp::LShr, format, 16)
            }
            ImageQuery::NumMipLevels => word(LEVELS_WORD),
            ImageQuery::NumSamples => word(SAMPLES_WORD),
            ImageQuery::Parameter => word(PARAMETER_WORD),
            ImageQuery::Dim => {
                let mut lanes = vec![word(WIDTH), word(HEIGHT)];
                if self.result(call).lanes() == 4 {
                    lanes.push(self.b.emit(Op::ImageWord { image, word: DEPTH }, Type::I32));
                    lanes.push(self.b.i32(0));
                }
                self.b.construct(&lanes)
            }
            ImageQuery::ArraySize => {
                let mut count = word(ARRAY_SIZE);
                if self.image_kind(call).is_multisample() {
                    let samples = self.b.emit(Op::ImageWord { image, word: SAMPLES_WORD }, Type::I32);
                    count = self.b.bin(BinOp::UDiv, count, samples);
                }
                let size = self.result(call);
                self.b.resize(count, false, size)
            }
        }
    }
}
