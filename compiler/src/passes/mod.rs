//! Transformations of the IR, one a file, listed in their order here.
