// Convolution of images with filters, as in neural networks.

// output = alpha * convolution + beta * output. The filters are not mirrored. The input has the order (n, c, h, w),
// the filters have (k, c, h, w), and the output has (n, k, h, w). Pixels outside of the input are 0. The work-items
// share the elements of the output, so the NDRange can have any size.
kernel void pocl_dnn_conv2d_nchw_f32(global const float *restrict input, global const float *restrict weights,
                                     global float *restrict output, int input_n, int input_c, int input_h, int input_w,
                                     int filt_k, int filt_c, int filt_h, int filt_w, int stride_h, int stride_w,
                                     int dilation_h, int dilation_w, int padding_h, int padding_w, int groups,
                                     float alpha, float beta) {
    int output_h = (input_h + 2 * padding_h - dilation_h * (filt_h - 1) - 1) / stride_h + 1;
    int output_w = (input_w + 2 * padding_w - dilation_w * (filt_w - 1) - 1) / stride_w + 1;
    size_t elements = (size_t)input_n * filt_k * output_h * output_w;
    size_t items = get_global_size(0) * get_global_size(1) * get_global_size(2);
    for (size_t i = position(); i < elements; i += items) {
        int x = i % output_w, y = i / output_w % output_h;
        size_t plane = i / output_w / output_h;
        int k = plane % filt_k, n = plane / filt_k;
        int first_channel = k / (filt_k / groups) * filt_c;
        float sum = 0;
        for (int c = 0; c < filt_c; c++)
            for (int row = 0; row < filt_h; row++)
                for (int column = 0; column < filt_w; column++) {
                    int from_y = y * stride_h - padding_h + row * dilation_h;
                    int from_x = x * stride_w - padding_w + column * dilation_w;
                    if (from_y < 0 || from_y >= input_h || from_x < 0 || from_x >= input_w) continue;
                    size_t from = (((size_t)n * input_c + first_channel + c) * input_h + from_y) * input_w + from_x;
                    size_t weight = (((size_t)k * filt_c + c) * filt_h + row) * filt_w + column;
                    sum += input[from] * weights[weight];
                }
        // With beta = 0, the output may be undefined before the launch, for example NaN.
        output[i] = beta == 0 ? alpha * sum : alpha * sum + beta * output[i];
    }
}
