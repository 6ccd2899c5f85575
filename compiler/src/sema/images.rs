//! Built-in functions of images (OpenCL C 6.15.15).
//!
//! The image type determines the types of coordinates and colour, so there is no overload resolution. The arguments
//! convert to these types.

use super::convert::Purpose;
use super::{Sema, is_float};
use crate::ast::{Access, ImageKind, Name, ScalarKind};
use crate::builtins::{ImageQuery, Intrinsic};
use crate::diag::Span;
use crate::thir::{Expr, Ty, TyKind};

/// An image function. The scalar is the colour type.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ImageCall {
    Read(ScalarKind),
    /// A read of a mipmap level without a sampler, for other source languages: `__wgcl_read_imagef(image, coordinates,
    /// level)`.
    ReadLevel(ScalarKind),
    Write(ScalarKind),
    Query(ImageQuery),
}

/// The prefix of `ReadLevel` functions.
const OWN_READ: &str = "__wgcl_read_image";

impl ImageCall {
    /// Minimum and maximum number of arguments.
    pub(super) const fn arguments(self) -> (usize, usize) {
        match self {
            Self::Read(_) => (2, 5),
            Self::ReadLevel(_) => (3, 3),
            Self::Write(_) => (3, 4),
            Self::Query(_) => (1, 1),
        }
    }
}

/// The function with this name.
pub(super) fn parse_image(name: &str) -> Option<ImageCall> {
    if let Some(letters) = name.strip_prefix("read_image") {
        return Some(ImageCall::Read(colour(letters)?));
    }
    if let Some(letters) = name.strip_prefix(OWN_READ) {
        return Some(ImageCall::ReadLevel(colour(letters)?));
    }
    if let Some(letters) = name.strip_prefix("write_image") {
        return Some(ImageCall::Write(colour(letters)?));
    }
    Some(ImageCall::Query(match name.strip_prefix("get_image_")? {
        "width" => ImageQuery::Width,
        "height" => ImageQuery::Height,
        "depth" => ImageQuery::Depth,
        "channel_data_type" => ImageQuery::ChannelDataType,
        "channel_order" => ImageQuery::ChannelOrder,
        "dim" => ImageQuery::Dim,
        "array_size" => ImageQuery::ArraySize,
        "num_mip_levels" => ImageQuery::NumMipLevels,
        _ => return None,
    }))
}

fn colour(letters: &str) -> Option<ScalarKind> {
    Some(match letters {
        "f" => ScalarKind::Float,
        "i" => ScalarKind::Int,
        "ui" => ScalarKind::UInt,
        "h" => ScalarKind::Half,
        _ => return None,
    })
}

/// Number of coordinates of an image type (6.15.15.2 to 6.15.15.5). `None` for multisample images, which require an
/// extension.
const fn coordinate_lanes(kind: ImageKind) -> Option<u8> {
    Some(match kind {
        ImageKind::Image1d | ImageKind::Image1dBuffer => 1,
        ImageKind::Image1dArray | ImageKind::Image2d | ImageKind::Image2dDepth => 2,
        ImageKind::Image2dArray | ImageKind::Image2dArrayDepth | ImageKind::Image3d => 4,
        ImageKind::Image2dMsaa | ImageKind::Image2dArrayMsaa | ImageKind::Image2dMsaaDepth | ImageKind::Image2dArrayMsaaDepth => {
            return None;
        }
    })
}

/// Number of lanes of the gradients that select a level.
const fn gradient_lanes(kind: ImageKind) -> u8 {
    match kind {
        ImageKind::Image1d | ImageKind::Image1dArray => 1,
        ImageKind::Image3d => 4,
        _ => 2,
    }
}

const fn is_depth(kind: ImageKind) -> bool {
    matches!(kind, ImageKind::Image2dDepth | ImageKind::Image2dArrayDepth)
}

impl Sema<'_> {
    pub(super) fn image_call(&mut self, name: &Name, call: ImageCall, values: Vec<Expr>, span: Span) -> Expr {
        let Some(&TyKind::Image(kind, access)) = values.first().map(|value| self.kind(value.ty)) else {
            if let Some(value) = values.first() {
                self.bad_arg(name, value, "expecting an image");
            }
            return self.error_expr(span);
        };
        match call {
            ImageCall::Read(scalar) => self.read_image(name, (kind, access), scalar, values, span),
            ImageCall::ReadLevel(scalar) => self.read_level(name, kind, scalar, values, span),
            ImageCall::Write(scalar) => self.write_image(name, (kind, access), scalar, values, span),
            ImageCall::Query(query) => self.image_query(name, kind, query, values, span),
        }
    }

    fn no_image_match(&mut self, name: &str, values: &[Expr], span: Span) -> Expr {
        let types: Vec<String> = values.iter().map(|value| format!("'{}'", self.show(value.ty))).collect();
        self.err(span, format!("no matching function for call to '{name}' with arguments of type {}", types.join(", ")));
        self.error_expr(span)
    }

    /// Whether the device supports colours of this scalar type. Reports an error if not.
    fn colour_available(&mut self, name: &str, scalar: ScalarKind, span: Span) -> bool {
        let available = scalar != ScalarKind::Half || self.target.language.fp16;
        if !available {
            self.err(span, format!("'{name}' requires cl_khr_fp16"));
        }
        available
    }

    /// (image[, sampler], coordinates), or with a sampler (..., level) or two gradients (6.15.15.2, 6.15.15.3).
    fn read_image(&mut self, name: &Name, image: (ImageKind, Access), scalar: ScalarKind, values: Vec<Expr>, span: Span) -> Expr {
        let (kind, access) = image;
        let sampled = values.len() >= 3;
        let readable = match access {
            Access::ReadOnly => true,
            Access::WriteOnly => false,
            // Sampling a read_write image is not allowed (6.15.15.3).
            Access::ReadWrite => !sampled,
        };
        // Reads without a sampler require OpenCL C 1.2.
        let known = sampled || self.options.std.version() >= 120;
        let fits = readable && known && !(sampled && kind == ImageKind::Image1dBuffer) && !(is_depth(kind) && scalar != ScalarKind::Float);
        let Some(lanes) = coordinate_lanes(kind).filter(|_| fits) else { return self.no_image_match(name, &values, span) };
        if !self.colour_available(name, scalar, span) {
            return self.error_expr(span);
        }
        let Some(coordinates) = values.get(1 + usize::from(sampled)) else { return self.error_expr(span) };
        let levelled = values.len() > 3;
        let wanted = match self.arith(coordinates.ty) {
            Some((found, _)) if is_float(found) && sampled => ScalarKind::Float,
            Some((found, _)) if !levelled && (!is_float(found) || lanes == 1) => ScalarKind::Int,
            _ => return self.no_image_match(name, &values, span),
        };
        let mut types: Vec<Ty> = Vec::new();
        if sampled {
            types.push(self.types.intern(TyKind::Sampler));
        }
        types.push(self.lanes(wanted, lanes));
        match values.len() {
            4 => types.push(self.lanes(ScalarKind::Float, 1)),
            5 => types.extend([self.lanes(ScalarKind::Float, gradient_lanes(kind)); 2]),
            _ => {}
        }
        let ret = self.lanes(scalar, if is_depth(kind) { 1 } else { 4 });
        self.image_access(name, Intrinsic::ReadImage, (values, &types), ret, span)
    }

    fn read_level(&mut self, name: &Name, kind: ImageKind, scalar: ScalarKind, values: Vec<Expr>, span: Span) -> Expr {
        let Some(lanes) = coordinate_lanes(kind) else { return self.no_image_match(name, &values, span) };
        let types = [self.lanes(ScalarKind::Int, lanes), self.int()];
        let ret = self.lanes(scalar, if is_depth(kind) { 1 } else { 4 });
        self.image_access(name, Intrinsic::ReadImageLevel, (values, &types), ret, span)
    }

    /// Creates the call. The arguments after the image convert to these types; vectors must match.
    fn image_access(&mut self, name: &Name, intrinsic: Intrinsic, (values, types): (Vec<Expr>, &[Ty]), ret: Ty, span: Span) -> Expr {
        let wrong = |sema: &Self, value: &Expr, ty: Ty| matches!(sema.kind(value.ty), TyKind::Vector(..)) && value.ty != ty;
        if values.iter().skip(1).zip(types).any(|(value, &ty)| wrong(self, value, ty)) {
            return self.no_image_match(name, &values, span);
        }
        let mut values = values.into_iter();
        let mut args: Vec<Expr> = values.next().into_iter().collect();
        for (value, &ty) in values.zip(types) {
            args.push(self.assign_convert(value, ty, &Purpose::Pass));
        }
        self.intrinsic(intrinsic, args, ret, span)
    }

    fn write_image(&mut self, name: &Name, image: (ImageKind, Access), scalar: ScalarKind, values: Vec<Expr>, span: Span) -> Expr {
        let (kind, access) = image;
        let fits = access != Access::ReadOnly && !(is_depth(kind) && scalar != ScalarKind::Float);
        let Some(lanes) = coordinate_lanes(kind).filter(|_| fits) else { return self.no_image_match(name, &values, span) };
        if !self.colour_available(name, scalar, span) {
            return self.error_expr(span);
        }
        let mut types = vec![self.lanes(ScalarKind::Int, lanes)];
        if values.len() == 4 {
            // An image from a buffer has no levels.
            if kind == ImageKind::Image1dBuffer {
                return self.no_image_match(name, &values, span);
            }
            types.push(self.int());
        }
        types.push(self.lanes(scalar, if is_depth(kind) { 1 } else { 4 }));
        let mut values = values.into_iter();
        let mut args: Vec<Expr> = values.next().into_iter().collect();
        for (value, ty) in values.zip(types) {
            args.push(self.assign_convert(value, ty, &Purpose::Pass));
        }
        let void = self.void_ty();
        self.intrinsic(Intrinsic::WriteImage, args, void, span)
    }

    fn image_query(&mut self, name: &Name, kind: ImageKind, query: ImageQuery, values: Vec<Expr>, span: Span) -> Expr {
        let flat = matches!(kind, ImageKind::Image1d | ImageKind::Image1dArray | ImageKind::Image1dBuffer);
        let array = matches!(
            kind,
            ImageKind::Image1dArray
                | ImageKind::Image2dArray
                | ImageKind::Image2dArrayDepth
                | ImageKind::Image2dArrayMsaa
                | ImageKind::Image2dArrayMsaaDepth
        );
        let ty = match query {
            ImageQuery::Width | ImageQuery::ChannelDataType | ImageQuery::ChannelOrder => self.int(),
            ImageQuery::Height if !flat => self.int(),
            ImageQuery::Depth if kind == ImageKind::Image3d => self.int(),
            ImageQuery::Dim if kind == ImageKind::Image3d => self.lanes(ScalarKind::Int, 4),
            ImageQuery::Dim if !flat => self.lanes(ScalarKind::Int, 2),
            ImageQuery::ArraySize if array => self.size_ty(),
            ImageQuery::NumMipLevels if kind != ImageKind::Image1dBuffer => self.int(),
            _ => return self.no_image_match(name, &values, span),
        };
        self.intrinsic(Intrinsic::GetImage(query), values, ty, span)
    }
}
