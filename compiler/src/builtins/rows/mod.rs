//! The rows of the table, by sections of the specification.

mod atomics;
pub(super) mod groups;
mod images;
pub(super) mod memory;
pub(super) mod numbers;

use super::table::Row;

/// Returns all rows, in order of preference.
pub(super) fn all() -> impl Iterator<Item = &'static Row> {
    let sections: [&[Row]; 16] = [
        numbers::ROWS,
        memory::ROWS,
        memory::STORES.as_flattened(),
        atomics::ROWS,
        images::QUERIES,
        images::SAMPLES,
        images::FLOATS,
        images::HALVES,
        images::INTS,
        images::UINTS,
        groups::ROWS,
        groups::WORK_GROUP,
        groups::SUB_GROUP,
        groups::NON_UNIFORM,
        groups::INTEL_ARITHMETIC,
        groups::BLOCKS.as_flattened(),
    ];
    sections.into_iter().flatten()
}
