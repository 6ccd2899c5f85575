// The settings of the examples. Their sources are in `examples`.

export const examples = {
  saxpy: {
    title: "saxpy",
    global: "256",
    group: "64",
    args: { a: { text: "2" }, x: { count: 256, init: "index" }, y: { count: 256, init: "ones" }, n: { text: "256" } },
  },
  mandelbrot: {
    title: "Mandelbrot set",
    global: "192, 128",
    group: "16, 16",
    args: {
      image: { count: 24576, init: "zeros", view: "picture", width: 192 },
      x0: { text: "-2.2" }, y0: { text: "-1" }, pixel: { text: "0.015625" }, limit: { text: "100" },
    },
  },
  blur: {
    title: "Blur of a picture in a buffer",
    global: "160, 120",
    group: "16, 4",
    args: {
      from: { count: 19200, init: "picture", view: "picture", width: 160 },
      to: { count: 19200, init: "zeros", view: "picture", width: 160 },
      width: { text: "160" }, height: { text: "120" }, vertical: { text: "0" },
    },
  },
  rotate: {
    title: "Rotation of an image",
    global: "128, 128",
    group: "16, 16",
    args: {
      from: { width: 128, height: 128, init: "picture" },
      to: { width: 128, height: 128, init: "zeros" },
      sampler: { linear: true, addressing: "clamp" },
      angle: { text: "0.5" },
    },
  },
  reduction: {
    title: "Sum, with local memory",
    global: "1024",
    group: "128",
    args: { in: { count: 1024, init: "index" }, out: { count: 8, init: "zeros" }, part: { local: 512 } },
  },
  sgemm: {
    title: "Product of matrices",
    global: "32, 32",
    group: "8, 8",
    args: { a: { count: 1024, init: "random" }, b: { count: 1024, init: "random" }, c: { count: 1024, init: "zeros" }, n: { text: "32" } },
  },
  nbody: {
    title: "Bodies that attract each other",
    global: "64",
    group: "32",
    args: {
      from: { count: 64, init: "random" }, to: { count: 64, init: "zeros" }, velocity: { count: 64, init: "zeros" },
      dt: { text: "0.01" }, n: { text: "64" },
    },
  },
  histogram: {
    title: "Histogram, with atomic operations",
    global: "256",
    group: "64",
    args: { bytes: { count: 4096, init: "picture" }, counts: { count: 256, init: "zeros" }, n: { text: "4096" } },
  },
  printf: { title: "printf", global: "8", group: "4", args: { in: { count: 8, init: "random" } } },
  mistake: {
    title: "A mistake that the checker finds",
    global: "16",
    group: "4",
    args: { in: { count: 16, init: "index" }, out: { count: 16, init: "zeros" } },
  },
};
