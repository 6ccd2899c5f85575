// read_write images need OpenCL C 2.0.
// build: -cl-std=CL1.2
// requires: images

kernel void k(read_write image2d_t a) { } // error: access qualifier 'read_write' can not be used for '__read_write image2d_t' prior to OpenCL C version 2.0
