//! Suggestions ("did you mean ...?"): words of other languages, and declared names with a similar spelling.

use super::types::predeclared_names;
use crate::diag::suggest::{Hint, nearest};

/// Words of other languages and APIs, and their equivalents in OpenCL C.
const FOREIGN: &[(&str, &str)] = &[
    ("__syncthreads", "barrier(CLK_LOCAL_MEM_FENCE)"),
    ("__syncwarp", "sub_group_barrier(CLK_LOCAL_MEM_FENCE)"),
    ("GroupMemoryBarrierWithGroupSync", "barrier(CLK_LOCAL_MEM_FENCE)"),
    ("threadIdx", "get_local_id"),
    ("blockIdx", "get_group_id"),
    ("blockDim", "get_local_size"),
    ("gridDim", "get_num_groups"),
    ("gl_GlobalInvocationID", "get_global_id"),
    ("gl_LocalInvocationID", "get_local_id"),
    ("gl_WorkGroupID", "get_group_id"),
    ("atomicAdd", "atomic_add"),
    ("atomicMin", "atomic_min"),
    ("atomicMax", "atomic_max"),
    ("atomicCAS", "atomic_cmpxchg"),
    ("atomicExch", "atomic_xchg"),
    ("__shared__", "__local"),
    ("__shared", "__local"),
    ("__global__", "__kernel"),
    ("__constant__", "__constant"),
    ("groupshared", "__local"),
    ("shared", "__local"),
    ("fabsf", "fabs"),
    ("sqrtf", "sqrt"),
    ("sinf", "sin"),
    ("cosf", "cos"),
    ("tanf", "tan"),
    ("expf", "exp"),
    ("logf", "log"),
    ("powf", "pow"),
    ("floorf", "floor"),
    ("ceilf", "ceil"),
    ("fminf", "fmin"),
    ("fmaxf", "fmax"),
    ("fmodf", "fmod"),
    ("lerp", "mix"),
    ("saturate", "clamp"),
    ("frac", "fract"),
    ("inversesqrt", "rsqrt"),
    ("__expf", "native_exp"),
    ("__logf", "native_log"),
    ("__sinf", "native_sin"),
    ("__cosf", "native_cos"),
    ("__popc", "popcount"),
    ("__clz", "clz"),
    ("__float_as_int", "as_int"),
    ("__int_as_float", "as_float"),
    ("vec2", "float2"),
    ("vec3", "float3"),
    ("vec4", "float4"),
    ("ivec2", "int2"),
    ("ivec3", "int3"),
    ("ivec4", "int4"),
    ("uvec4", "uint4"),
    ("int8_t", "char"),
    ("int16_t", "short"),
    ("int32_t", "int"),
    ("int64_t", "long"),
    ("uint8_t", "uchar"),
    ("uint16_t", "ushort"),
    ("uint32_t", "uint"),
    ("uint64_t", "ulong"),
    ("byte", "uchar"),
    ("string", "constant char *"),
    ("boolean", "bool"),
    ("nullptr", "NULL"),
    ("cl_int", "int"),
    ("cl_uint", "uint"),
    ("cl_float", "float"),
    ("cl_double", "double"),
    ("cl_long", "long"),
    ("cl_ulong", "ulong"),
    ("cl_float4", "float4"),
];

pub(crate) fn foreign(name: &str) -> Option<&'static str> {
    FOREIGN.iter().find(|(foreign, _)| *foreign == name).map(|(_, ours)| *ours)
}

/// Returns a suggestion with the most similar name, or an empty one if no name is similar.
pub(crate) fn hint<'n>(name: &str, names: impl IntoIterator<Item = &'n str>) -> Hint {
    Hint::name(nearest(name, names))
}

/// Returns a suggestion for an undeclared type, or an empty one. `declared` are the types that the source declares.
pub(crate) fn type_hint<'n>(name: &str, declared: impl IntoIterator<Item = &'n str>) -> Hint {
    const WORDS: &[&str] =
        &["void", "bool", "char", "short", "int", "long", "half", "float", "double", "unsigned", "signed", "struct", "const", "kernel"];
    if name == "__device__" {
        return Hint::text("; OpenCL C functions need no qualifier: remove '__device__'");
    }
    if let Some(ours) = foreign(name) {
        return Hint::name(Some(ours));
    }
    let mut names: Vec<&str> = declared.into_iter().collect();
    names.extend(predeclared_names().map(|name| -> &str { name }));
    names.extend(WORDS);
    hint(name, names)
}
