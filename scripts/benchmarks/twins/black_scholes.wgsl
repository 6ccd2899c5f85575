// Twin of workloads/numeric.py: prices of European options.

struct Parameters {
    rate: f32,
    volatility: f32,
}

@group(0) @binding(0) var<storage, read> spots: array<f32>;
@group(0) @binding(1) var<storage, read> strikes: array<f32>;
@group(0) @binding(2) var<storage, read> years: array<f32>;
@group(0) @binding(3) var<storage, read_write> calls: array<f32>;
@group(0) @binding(4) var<storage, read_write> puts: array<f32>;
@group(0) @binding(5) var<uniform> parameters: Parameters;

fn normal(d: f32) -> f32 {
    let k = 1.0 / (1.0 + 0.2316419 * abs(d));
    let polynomial = k * (0.31938153 + k * (-0.356563782 + k * (1.781477937 + k * (-1.821255978 + k * 1.330274429))));
    let tail = 0.39894228 * exp(-0.5 * d * d) * polynomial;
    return select(tail, 1.0 - tail, d > 0.0);
}

@compute @workgroup_size(64)
fn price(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
    let i = id.y * groups.x * 64u + id.x;
    let r = parameters.rate;
    let v = parameters.volatility;
    let s = spots[i];
    let x = strikes[i];
    let t = years[i];
    let root = sqrt(t);
    let d1 = (log(s / x) + (r + 0.5 * v * v) * t) / (v * root);
    let n1 = normal(d1);
    let n2 = normal(d1 - v * root);
    let discounted = x * exp(-r * t);
    calls[i] = s * n1 - discounted * n2;
    puts[i] = discounted * (1.0 - n2) - s * (1.0 - n1);
}
