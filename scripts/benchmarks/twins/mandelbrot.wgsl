// Twin of workloads/numeric.py: the Mandelbrot set.

struct Parameters {
    pixel: f32,
    limit: i32,
}

@group(0) @binding(0) var<storage, read_write> out: array<i32>;
@group(0) @binding(1) var<uniform> parameters: Parameters;

@compute @workgroup_size(8, 8)
fn mandelbrot(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    let c = vec2f(-2.0, -1.25) + vec2f(id.xy) * parameters.pixel;
    var z = vec2f();
    var n = 0i;
    while n < parameters.limit && dot(z, z) <= 4.0 {
        z = vec2f(z.x * z.x - z.y * z.y + c.x, 2.0 * z.x * z.y + c.y);
        n++;
    }
    out[id.y * groups.x * 8u + id.x] = n;
}
