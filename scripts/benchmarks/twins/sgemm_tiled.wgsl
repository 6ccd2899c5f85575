// Twin of workloads/linear.py: the product of matrices by tiles in work-group memory.

@group(0) @binding(0) var<storage, read> a: array<f32>;
@group(0) @binding(1) var<storage, read> b: array<f32>;
@group(0) @binding(2) var<storage, read_write> c: array<f32>;
@group(0) @binding(3) var<uniform> n: u32;

const T = 16u;
var<workgroup> ta: array<array<f32, T>, T>;
var<workgroup> tb: array<array<f32, T>, T>;

@compute @workgroup_size(16, 16)
fn sgemm(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_id) lane: vec3u) {
    var sum = 0.0;
    for (var t = 0u; t < n; t += T) {
        ta[lane.y][lane.x] = a[id.y * n + t + lane.x];
        tb[lane.y][lane.x] = b[(t + lane.y) * n + id.x];
        workgroupBarrier();
        for (var k = 0u; k < T; k++) {
            sum += ta[lane.y][k] * tb[k][lane.x];
        }
        workgroupBarrier();
    }
    c[id.y * n + id.x] = sum;
}
