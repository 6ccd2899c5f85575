//! The vectorisation plan of a kernel: whether it uses vectors, and which work-items form a gang.
//!
//! The first line that applies determines the shape:
//!
//! ```text
//! sanitized                                      one work-item at a time
//! subgroups are observable                       a gang is a subgroup
//! a lock (locks)                                 one work-item at a time
//! loops that mainly gather (gather_bound)        one work-item at a time, with 64-bit offsets
//! otherwise                                      a vector along the cheaper dimension (dimension);
//!   on more 64-bit numbers than registers          half a vector (narrow_gangs)
//!   without loops, on narrow numbers               more lanes, so that bytes fill vectors (subword_packing)
//!   short, without loops, on AArch64               two or four vectors (interleave)
//!   with loops that leave registers free           two or four vectors (interleave)
//! ```

use wgcl_codegen::Isa;

use super::Style;
use super::collective::sees_subgroups;
use super::gather_bound::{contains_loop, is_gather_bound};
use super::private::PrivateMemory;
use super::shape::{Shape, subgroup_size};
use super::uniformity::{Entry, Uniformity};
use super::{dimension, interleave, locks, narrow_gangs, subword_packing, waits};
use crate::ir::{Function, Module};
use crate::launch::KernelKey;
use crate::target::Language;

/// The reason why work-items run one at a time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScalarReason {
    /// The accesses are checked.
    Sanitized,
    /// The instruction set has no vectors that the vectoriser uses.
    NoVectors,
    /// A work-item may wait for another work-item.
    Lock,
    /// The loops mainly gather, which is slower with vectors.
    Gathers,
    /// The work-group has too few work-items.
    SmallGroup,
}

/// The plan of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Plan {
    pub shape: Shape,
    /// The reason for a shape with one lane.
    pub scalar: Option<ScalarReason>,
    /// Whether the subgroups of a group make independent progress ([`super::progress`]). A program can rely on this
    /// only if it observes its subgroups, because their members are implementation-defined.
    pub independent: bool,
}

impl Plan {
    /// Creates the plan of function 0 of a module for a device with these language features.
    pub(super) fn of(module: &Module, key: &KernelKey, style: Style, language: &Language) -> Self {
        let kernel = &module.functions[0];
        let planner = Planner {
            kernel,
            isa: style.isa,
            group: key.local_size,
            has_lock: locks::has_lock(module),
            has_loop: contains_loop(&kernel.body),
        };
        let subgroups = sees_subgroups(module);
        let shape = if style.checked {
            Shape::scalar(style.isa, key.local_size)
        } else if subgroups {
            planner.subgroup_shape(language.requested_subgroup_size)
        } else {
            match planner.best_shape() {
                Some(shape) => shape,
                None => {
                    let shape = Shape::scalar(style.isa, key.local_size);
                    return Self { shape, scalar: Some(ScalarReason::Gathers), independent: false };
                }
            }
        };
        let shape = if key.zero_offset { shape.without_offset(key.enqueued_local_size[0]) } else { shape };
        let independent = language.independent_subgroups && subgroups && shape.gangs() > 1 && waits::may_wait(module);
        Self { shape, scalar: (shape.lanes == 1).then(|| planner.scalar_reason(style)), independent }
    }

    /// Whether the kernel is faster with 64-bit offsets. Scalar code must extend 32-bit offsets at each access.
    pub(super) fn prefers_large_offsets(&self) -> bool {
        self.scalar == Some(ScalarReason::Gathers)
    }
}

/// The properties of a kernel that determine its shape.
struct Planner<'a> {
    kernel: &'a Function,
    isa: Isa,
    group: [u32; 3],
    has_lock: bool,
    has_loop: bool,
}

impl<'a> Planner<'a> {
    /// Returns the shape in which gangs are subgroups. Their size is the size that the kernel requires, otherwise the
    /// size that the user requests, otherwise the number of 32-bit lanes of a vector.
    fn subgroup_shape(&self, requested: Option<u32>) -> Shape {
        let usual = requested.unwrap_or(subgroup_size(self.isa));
        Shape::of_subgroups(self.isa, self.group, self.kernel.kernel.as_ref().map_or(usual, |kernel| kernel.subgroup_size(usual)))
    }

    /// Returns the reason for a shape with one lane, if it is not the cost of gathers.
    fn scalar_reason(&self, style: Style) -> ScalarReason {
        match () {
            () if style.checked => ScalarReason::Sanitized,
            () if style.isa.caps().vector_bytes < 16 => ScalarReason::NoVectors,
            () if self.has_lock => ScalarReason::Lock,
            () => ScalarReason::SmallGroup,
        }
    }

    /// Analyses how the values of the kernel vary in a shape.
    fn uniformity(&self, shape: Shape) -> Uniformity<'a> {
        Uniformity::of(self.kernel, shape, PrivateMemory::of(self.kernel, shape.lanes), Entry::Kernel { may_have_returned: false })
    }

    /// Returns the best shape, or `None` if the kernel is gather-bound and therefore faster without vectors.
    fn best_shape(&self) -> Option<Shape> {
        let shape = Shape::of(self.isa, self.group, if self.has_lock { 1 } else { u32::MAX });
        let alternative = dimension::alternative(self.kernel, shape);
        let straight = self.isa.caps().interleaves_straight_code
            || subword_packing::may_widen(self.kernel, shape)
            || narrow_gangs::may_narrow(self.kernel, shape);
        if shape.lanes < 4 || !self.has_loop && alternative.is_none() && !straight {
            return Some(shape);
        }
        let mut uniformity = self.uniformity(shape);
        if self.has_loop && is_gather_bound(self.kernel, &uniformity) {
            return None;
        }
        if let Some(alternative) = alternative {
            let other = self.uniformity(alternative);
            if dimension::is_cheaper(self.kernel, &other, &uniformity) {
                uniformity = other;
            }
        }
        if let Some(narrow) = narrow_gangs::narrow(self.kernel, &uniformity) {
            return Some(narrow);
        }
        Some(if self.has_loop {
            interleave::interleave(self.kernel, &uniformity)
        } else {
            let widened = subword_packing::widen(self.kernel, &uniformity);
            if widened.lanes > uniformity.shape().lanes { widened } else { interleave::interleave_straight_code(self.kernel, &uniformity) }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{Plan, ScalarReason};
    use crate::build::build;
    use crate::launch::LaunchKey;
    use crate::options::{Source, parse_options};
    use crate::specialise::prepared;
    use crate::target::Target;
    use crate::vectorize::Style;
    use wgcl_codegen::Isa;

    /// Returns the vector dimension of a kernel in groups of 16 by 16.
    fn dimension(body: &str) -> u8 {
        plan(&format!(
            "kernel void k(global const float *a, global float *b, int n) {{ int x = get_global_id(0), y = get_global_id(1); {body} }}"
        ))
        .shape
        .vector_dimension
    }

    /// Returns the plan of a kernel in groups of 16 by 16.
    fn plan(text: &str) -> Plan {
        let text = text.to_owned();
        let (options, target) = (parse_options("").expect("no options"), Target::cpu());
        let program = build(&Source { text, ..Source::default() }, &options, &target).program.expect("it builds");
        let key = LaunchKey::example(&program.module.functions[0], [16, 16, 1]).changed(|key| key.kernel.zero_offset = true);
        let module = prepared(&program.module, "k", &key, &target, false, None).expect("it specialises");
        Plan::of(&module, &key.kernel, Style::of(Isa::AVX512), &target.language)
    }

    #[test]
    fn many_long_numbers_have_half_a_vector() {
        let state = |ty: &str, words: u32| {
            let text = format!(
                "kernel void k(global {ty} *a) {{
                    size_t id = get_global_id(0) + 16 * get_global_id(1);
                    {ty} s[{words}];
                    for (int i = 0; i < {words}; i++) s[i] = id * i;
                    for (int n = 0; n < 100; n++)
                        for (int i = 0; i < {words}; i++) s[i] = rotate(s[i], ({ty})7) + s[(i + 1) % {words}];
                    for (int i = 0; i < {words}; i++) a[{words} * id + i] = s[i];
                }}"
            );
            plan(&text).shape.lanes
        };
        assert_eq!([state("ulong", 32), state("ulong", 10), state("uint", 32)], [8, 16, 16]);
    }

    #[test]
    fn loops_that_mainly_gather_are_scalar() {
        let scalar = |body: &str| {
            let text = format!(
                "kernel void k(global const uchar *a, global const int *b, global int *c, int n) {{ int x = get_global_id(0); {body} }}"
            );
            plan(&text).scalar == Some(ScalarReason::Gathers)
        };
        // Words at any distance from another, and rows of 34 bytes.
        assert!(scalar(
            "int i = 0; while (i < b[x]) { if (as_uint(vload4(0, a + x + i)) - as_uint(vload4(0, a + n + i))) break; i += 4; } c[x] = i;"
        ));
        assert!(scalar("int sum = 0; for (int i = 0; i < b[x]; i++) sum += (int)a[34 * x + i] * b[68 * x + i]; c[x] = sum;"));
        assert!(!scalar("int sum = 0; for (int i = x; i < n; i += 256) sum += a[i] * b[i]; c[x] = sum;"));
    }

    #[test]
    fn lanes_are_along_the_dimension_of_contiguous_stores() {
        assert_eq!(dimension("b[y * n + x] = a[y * n + x];"), 0);
        assert_eq!(dimension("b[x * n + y] = a[x * n + y];"), 1);
        assert_eq!(dimension("b[x * n + y] = a[y * n + x];"), 1);
        assert_eq!(dimension("b[y * n + x] = a[x * n + y];"), 0);
        // A load with a uniform address executes once for all lanes.
        assert_eq!(dimension("float sum = 0; for (int i = 0; i < n; i++) sum += a[y * n + i]; b[y * n + x] = sum;"), 0);
    }
}
