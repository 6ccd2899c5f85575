//! Generates random launches for devices with a named profile: sizes, arguments, and the launch key that a driver would
//! use.

use crate::launches::{ArgValue, Case, bytes_of};
use crate::random::Random;
use wgcl_compiler::interpret::NdRange;
use wgcl_compiler::ir::{Func, Function, KernelParam, Module, Scalar, Space};
use wgcl_compiler::launch::{ConstantBinding, LaunchKey, SplitBindings};
use wgcl_compiler::passes;
use wgcl_compiler::target::Target;
use wgcl_compiler::target::profiles::PROFILES;

/// The properties of a launch that a program requires.
#[derive(Clone, Copy, Debug)]
pub struct Requirements {
    /// Size of every buffer in bytes, divided by the span of the launch ([`Case::span`]).
    pub stride: u32,
    /// Whether the program supports only one-dimensional launches.
    pub linear: bool,
    /// Whether two arguments may be the same buffer. If true, work-items access disjoint parts of the buffer even then.
    pub may_alias: bool,
    /// The maximum of the first value argument, divided by the span. The second value argument is the span.
    pub times: u32,
    /// Size in bytes of each local argument.
    pub local: u32,
    /// Maximum work-group size.
    pub items: u32,
    /// The index of a pointer argument that may be null.
    pub nullable: Option<u32>,
    /// The name of the profile that most launches use. If it is `None`, all profiles are equally likely.
    pub device: Option<&'static str>,
}

impl Default for Requirements {
    fn default() -> Self {
        Self { stride: 64, linear: false, may_alias: false, times: 1, local: 256, items: 64, nullable: None, device: None }
    }
}

/// Returns the name and the target of profile `number`. The subgroup size is reduced at random, so that small groups
/// consist of several subgroups.
fn target(number: usize, random: &mut Random) -> (&'static str, Target) {
    let (name, profile) = PROFILES[number % PROFILES.len()];
    let target = profile();
    let lanes = [4, 8, 8, 16, 32][random.below(5)].min(target.language.subgroup_size);
    (name, target.changed(|target| target.language.subgroup_size = lanes))
}

/// Whether a module computes with doubles.
fn has_doubles(module: &Module) -> bool {
    module.functions.iter().any(|function| function.values.iter().any(|value| value.ty.scalar() == Some(Scalar::F64)))
}

const LOCAL_SIZES: [[u32; 3]; 16] = [
    [4, 1, 1],
    [8, 1, 1],
    [8, 1, 1],
    [16, 1, 1],
    [32, 1, 1],
    [32, 1, 1],
    [64, 1, 1],
    [64, 1, 1],
    [12, 1, 1],
    [7, 1, 1],
    [4, 2, 1],
    [8, 4, 1],
    [4, 4, 2],
    [2, 2, 2],
    [16, 2, 1],
    [1, 8, 1],
];

impl Case {
    /// Generates a launch of kernel 0 of a built module.
    pub fn random(module: &Module, requirements: Requirements, seed: u64) -> Self {
        let mut random = Random::new(seed ^ 0x00ca_5e00);
        let kernel = &module.functions[0];
        let any = random.below(PROFILES.len());
        let wanted = PROFILES.iter().position(|(name, _)| Some(*name) == requirements.device);
        let (mut profile, mut target) = target(wanted.filter(|_| random.below(4) > 0).unwrap_or(any), &mut random);
        let by_address = kernel.kernel.as_ref().is_some_and(|kernel| kernel.requires_addresses);
        if !target.language.fp64 && has_doubles(module) || by_address && !target.shaders.addresses {
            // A build for this device would have rejected the program, or inlined its functions. Use the profile `full`
            // instead.
            let lanes = target.language.subgroup_size;
            (profile, target) = ("full", Target::full().changed(|target| target.language.subgroup_size = lanes));
        }
        let group_independent = passes::group_independent(module, Func(0));
        let local = loop {
            let size = LOCAL_SIZES[random.below(LOCAL_SIZES.len())];
            if size.iter().product::<u32>() <= requirements.items && (!requirements.linear || size[1] * size[2] == 1) {
                break size;
            }
        };
        let groups: [u32; 3] = std::array::from_fn(|d| if local[d] == 1 { 1 } else { 1 + random.below(if d == 0 { 3 } else { 2 }) as u32 });
        let mut global: [u32; 3] = std::array::from_fn(|d| groups[d] * local[d]);
        if random.below(4) == 0 {
            // Make the last group of each dimension smaller.
            global = std::array::from_fn(|d| global[d] - random.below(local[d] as usize) as u32);
        }
        let mut key = LaunchKey::example(kernel, local);
        let mut offset = [0; 3];
        if group_independent && random.below(3) > 0 {
            key.binding.coarsen = 2 << random.below(4);
            if !global[0].is_multiple_of(key.binding.coarsen) && random.below(4) > 0 {
                global[0] = global[0].next_multiple_of(key.binding.coarsen);
            }
            while !global[0].is_multiple_of(key.binding.coarsen) {
                key.binding.coarsen /= 2;
            }
        } else if random.below(4) == 0 {
            offset = [random.below(70) as u32, random.below(3) as u32, random.below(3) as u32];
            if requirements.linear {
                offset = [offset[0], 0, 0];
            }
        }
        key.kernel.zero_offset = offset == [0; 3];
        let work_dim = if global[2] > 1 || offset[2] > 0 { 3 } else { 1 + u32::from(global[1] > 1 || offset[1] > 0) };
        let range = NdRange { work_dim, global_offset: offset, global_size: global, local_size: local };
        key.binding.single_dispatch = random.below(4) > 0;
        let split_at = if key.binding.single_dispatch { 0 } else { random.below(3) as u32 };
        let (memory, args, merged_offsets) = (Vec::new(), Vec::new(), Vec::new());
        let name = kernel.name.clone();
        let mut case =
            Self { profile, kernel: name, target, range, memory, args, key, merged_offsets, common: 0, group_independent, split_at };
        case.arguments(kernel, requirements, &mut random);
        case
    }

    fn arguments(&mut self, kernel: &Function, requirements: Requirements, random: &mut Random) {
        let params = kernel.kernel.as_ref().map_or(&[][..], |kernel| &kernel.params);
        let span = self.span();
        let first = match random.below(4) {
            0 => span * requirements.times,
            1 => span * requirements.times / 2,
            _ => random.below((span * requirements.times) as usize + 1) as u32,
        };
        let mut values = [u64::from(first), u64::from(span)].into_iter();
        let is_buffer = |param: &KernelParam| matches!(param, KernelParam::Buffer { space: Space::Global, .. });
        self.key.binding.distinct = random.below(4) > 0;
        let alias = requirements.may_alias && !self.key.binding.distinct && random.below(2) == 0;
        for (index, (param, &value)) in (0..).zip(params.iter().zip(&kernel.params)) {
            self.args.push(match param {
                KernelParam::Buffer { .. } if requirements.nullable == Some(index) && random.below(2) == 0 => {
                    self.key.kernel.null_args.push(index);
                    ArgValue::Buffer(None)
                }
                KernelParam::Buffer { .. } if alias && !self.memory.is_empty() && is_buffer(param) => self.args[0].clone(),
                KernelParam::Buffer { .. } => {
                    let start = if random.below(8) == 0 { 128 * (1 + random.below(2)) as u32 } else { 0 };
                    let bytes = start + requirements.stride * span + 64;
                    self.memory.push((0..bytes).map(|_| (random.next() >> 20) as u8).collect());
                    ArgValue::Buffer(Some((self.memory.len() - 1, start)))
                }
                KernelParam::Local { .. } => ArgValue::Local(requirements.local),
                _ => ArgValue::Value(bytes_of(kernel.ty(value), values.next().unwrap_or_else(|| random.next() & 0xff))),
            });
        }
        let starts = |given: &ArgValue| matches!(given, ArgValue::Buffer(Some((_, 1..))));
        self.key.binding.started_args = (0..).zip(&self.args).filter(|(_, given)| starts(given)).map(|(index, _)| index).collect();
        self.key.kernel.local_args.fill(requirements.local);
        for binding in &mut self.key.binding.constant_args {
            let size = requirements.stride * span + 64 + 256;
            *binding =
                if random.below(2) == 0 { ConstantBinding::Storage } else { ConstantBinding::Uniform(size.next_power_of_two().max(256)) };
        }
        self.key.binding.extra_buffers = u32::from(random.below(16) == 0);
        let buffers: Vec<u32> = (0..)
            .zip(params.iter().zip(&self.args))
            .filter(|(_, (param, given))| is_buffer(param) && matches!(given, ArgValue::Buffer(Some(_))))
            .map(|(index, _)| index)
            .collect();
        if self.key.binding.addresses {
            return;
        }
        if !alias && (buffers.len() > 4 && random.below(4) > 0 || (buffers.len() > 1 && random.below(8) == 0)) {
            self.merge_buffers(&buffers, random);
        } else if !buffers.is_empty() && !alias && random.below(6) == 0 {
            self.split_buffers(&buffers, random);
        }
    }

    /// Merges some of the buffers into one binding.
    fn merge_buffers(&mut self, buffers: &[u32], random: &mut Random) {
        let first = random.below(buffers.len() - 1);
        self.key.binding.merged = buffers[first..].to_vec().into();
        self.merged_offsets = vec![0; self.args.len()];
        for &index in self.key.binding.merged.iter() {
            if let ArgValue::Buffer(Some((object, start))) = self.args[index as usize] {
                // The offset of a merged argument must be aligned.
                self.merged_offsets[index as usize] = self.common;
                self.common = (self.common + self.memory[object].len() as u32 - start).next_multiple_of(256);
                // A merged argument must point to the first byte of its object.
                self.args[index as usize] = ArgValue::Buffer(Some((object, 0)));
                self.memory[object].drain(..start as usize);
            }
        }
        self.key.binding.started_args.retain(|index| !self.key.binding.merged.contains(index));
    }

    /// Splits some of the buffers across bindings.
    fn split_buffers(&mut self, buffers: &[u32], random: &mut Random) {
        let least = buffers.iter().map(|&index| self.bound(index)).min().unwrap_or(0);
        let shift = (least / 2).max(512).ilog2() + random.below(2) as u32;
        let mut pieces = SplitBindings { params: Vec::new(), shift, overlap: SplitBindings::WIDEST };
        for &index in buffers {
            let count = pieces.count(self.bound(index).into()) as u32;
            if count > 1 && count * SplitBindings::WIDEST < 1 << shift {
                pieces.params.push((index, count));
            }
        }
        if !pieces.params.is_empty() {
            self.key.binding.split = pieces;
        }
    }

    /// Returns the number of bytes that are bound for a buffer.
    fn bound(&self, index: u32) -> u32 {
        match self.args[index as usize] {
            ArgValue::Buffer(Some((object, _))) => self.memory[object].len() as u32,
            _ => 0,
        }
    }
}
