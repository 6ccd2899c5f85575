//! Image functions (OpenCL C 6.15.15). They remain image operations of the IR until launch specialisation, when formats
//! and samplers are known.

use super::Call;
use crate::ast::{ImageKind, ScalarKind};
use crate::builtins::ImageQuery;
use crate::ir::image::{Colour, Coordinates, FORMAT_WORD, ImageCall, ImageShape, LEVELS_WORD, Level, PARAMETER_WORD};
use crate::ir::{BinOp, Op, Type, Value};
use crate::lower::function::Lowering;
use crate::lower::types::ArithType;
use crate::thir::TyKind;

const WIDTH: u8 = 0;
const HEIGHT: u8 = 1;
const DEPTH: u8 = 2;
const ARRAY_SIZE: u8 = 3;

/// Returns the shape of an image type, and whether it is a depth image. Returns `None` for a multisample image.
const fn shape(kind: ImageKind) -> Option<(ImageShape, bool)> {
    Some(match kind {
        ImageKind::Image1d | ImageKind::Image1dBuffer => (ImageShape::D1, false),
        ImageKind::Image1dArray => (ImageShape::D1Array, false),
        ImageKind::Image2d => (ImageShape::D2, false),
        ImageKind::Image2dDepth => (ImageShape::D2, true),
        ImageKind::Image2dArray => (ImageShape::D2Array, false),
        ImageKind::Image2dArrayDepth => (ImageShape::D2Array, true),
        ImageKind::Image3d => (ImageShape::D3, false),
        ImageKind::Image2dMsaa | ImageKind::Image2dArrayMsaa | ImageKind::Image2dMsaaDepth | ImageKind::Image2dArrayMsaaDepth => {
            return None;
        }
    })
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
    /// Returns the shape of the image argument, and whether it is a depth image.
    fn image_shape(&mut self, call: &Call<'p>) -> (ImageShape, bool) {
        let kind = call.exprs.first().and_then(|expr| match *self.kind(expr.ty) {
            TyKind::Image(kind, _) => shape(kind),
            _ => None,
        });
        kind.unwrap_or_else(|| {
            self.b.fail("multisample images are not supported");
            (ImageShape::D2, false)
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
        let (shape, depth) = self.image_shape(call);
        let result = self.arithmetic(call.ty);
        let image = ImageCall { write: false, shape, colour: colour(result.kind), coordinates, level };
        let read = self.b.emit(Op::Image { call: image, args: call.values.clone() }, image.colour.ty());
        let read = if depth { self.b.extract(read, 0) } else { read };
        if result.kind == ScalarKind::Half { self.b.convert(read, ArithType::new(ScalarKind::Float, result.lanes), result) } else { read }
    }

    pub(super) fn write_image(&mut self, call: &Call<'p>) {
        let (shape, depth) = self.image_shape(call);
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
                let count = word(ARRAY_SIZE);
                let size = self.result(call);
                self.b.resize(count, false, size)
            }
        }
    }
}
