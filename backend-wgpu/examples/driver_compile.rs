//! Compiles kernels with a Vulkan driver without running them, and prints the statistics that the driver reports for
//! each shader. Drivers can do this for GPUs that are not present: Mesa's RADV with `RADV_FORCE_FAMILY=navi21`.
//!
//! ```text
//! printf '%s\n' '-DN=4 kernel.cl' | cargo run --release -p wgcl-backend-wgpu --example driver_compile
//! ```
//! Each line of standard input has build options and, last, the path of an OpenCL C file. Each line of output has four
//! fields, separated by tabs: path, kernel, result, and the statistics or the error. The exit code is 1 if a result is
//! `FAILED`.
//!
//! | result | meaning |
//! |---|---|
//! | `ok` | the driver compiled the kernel |
//! | `limit` | the kernel exceeds a limit of the device |
//! | `skip` | the file does not build, for example because the device lacks a feature |
//! | `FAILED` | wgcl or the driver rejected the kernel |

#![allow(clippy::panic, reason = "a tool for developers")]

use std::collections::BTreeMap;
use std::error::Error;
use std::ffi::CString;
use std::io::BufRead;
use std::path::Path;

use ash::vk;
use wgcl_api::backend::Device as _;
use wgcl_backend_wgpu::{Settings, WgpuBackend};
use wgcl_compiler::emit::{BindingKind, BindingSource, Shader};
use wgcl_compiler::launch::{LaunchError, LaunchKey};
use wgcl_compiler::options::Source;
use wgcl_compiler::target::Target;
use wgcl_compiler::{build, options, specialise};

type Outcome<T> = Result<T, Box<dyn Error>>;

/// Work-group size of kernels that do not require one.
const LOCAL_SIZE: [u32; 3] = [64, 1, 1];

fn main() -> Outcome<()> {
    let devices = WgpuBackend::new(Settings::default()).list_devices();
    let device = devices.first().ok_or("no Vulkan device found (see VK_DRIVER_FILES)")?;
    let driver = Driver::new(&device.properties().name)?;
    let mut failed = false;
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        let mut words: Vec<String> = line.split_whitespace().map(str::to_owned).collect();
        let Some(path) = words.pop() else { continue };
        for (kernel, result) in compile(&driver, device.target(), words, &path)? {
            failed |= result.starts_with("FAILED");
            println!("{path}\t{kernel}\t{result}");
        }
    }
    std::process::exit(i32::from(failed));
}

/// Compiles the kernels of a file. Returns their names and results.
fn compile(driver: &Driver, target: &Target, words: Vec<String>, path: &str) -> Outcome<Vec<(String, String)>> {
    let text = std::fs::read_to_string(path)?;
    let mut options = options::parse_words(words)?;
    options.include_dirs.extend(Path::new(path).parent().map(Path::to_owned));
    let result = build::build(&Source { text, ..Source::default() }, &options, target);
    let Some(program) = result.program else {
        let first = result.log.lines().find(|line| line.contains("error")).unwrap_or_default();
        return Ok(vec![("-".to_owned(), format!("skip\t{first}"))]);
    };
    let kernels = program.module.functions.iter().filter(|function| function.kernel.is_some());
    let compile_one = |function| {
        let key = LaunchKey::example(function, LOCAL_SIZE).changed(|key| key.binding.distinct = true);
        let result = match specialise::specialise(&program.module, &function.name, &key, target) {
            Ok(shader) => match driver.pipeline(&shader) {
                Ok(statistics) => format!("ok\t{statistics}"),
                Err(error) => format!("FAILED\t{error}"),
            },
            Err(error @ (LaunchError::Limit { .. } | LaunchError::TooLarge { .. })) => format!("limit\t{error}"),
            Err(error) => format!("FAILED\t{error}"),
        };
        (function.name.to_string(), result)
    };
    Ok(kernels.map(compile_one).collect())
}

/// A device that only creates pipelines.
struct Driver {
    _entry: ash::Entry,
    device: ash::Device,
    statistics: ash::khr::pipeline_executable_properties::Device,
    /// The subgroup size for kernels that require none (`WGCL_SUBGROUP`). The driver must support it.
    subgroup: Option<u32>,
}

impl Driver {
    /// Opens the first device whose name is `name` or a prefix of it.
    fn new(name: &str) -> Outcome<Self> {
        // SAFETY: the Vulkan loader may be loaded.
        let entry = unsafe { ash::Entry::load()? };
        let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
        // SAFETY: the structure is valid.
        let instance = unsafe { entry.create_instance(&vk::InstanceCreateInfo::default().application_info(&application), None)? };
        // SAFETY: the instance is alive, as it is never destroyed. The same holds for the calls below.
        let all = unsafe { instance.enumerate_physical_devices()? };
        let named = |device: &vk::PhysicalDevice| {
            // SAFETY: see above.
            let properties = unsafe { instance.get_physical_device_properties(*device) };
            properties.device_name_as_c_str().is_ok_and(|other| name.starts_with(&*other.to_string_lossy()))
        };
        let physical = all.into_iter().find(named).ok_or_else(|| format!("no Vulkan device is named {name}"))?;
        let mut core = vk::PhysicalDeviceVulkan11Features::default();
        let mut newer = vk::PhysicalDeviceVulkan12Features::default();
        let mut newest = vk::PhysicalDeviceVulkan13Features::default();
        let mut executables = vk::PhysicalDevicePipelineExecutablePropertiesFeaturesKHR::default();
        let mut features = vk::PhysicalDeviceFeatures2::default()
            .push_next(&mut core)
            .push_next(&mut newer)
            .push_next(&mut newest)
            .push_next(&mut executables);
        // SAFETY: the instance is alive, and the structures form a valid chain.
        unsafe { instance.get_physical_device_features2(physical, &mut features) };
        let queue = [vk::DeviceQueueCreateInfo::default().queue_family_index(0).queue_priorities(&[1.0])];
        let extensions = [ash::khr::pipeline_executable_properties::NAME.as_ptr()];
        let info = vk::DeviceCreateInfo::default().queue_create_infos(&queue).enabled_extension_names(&extensions).push_next(&mut features);
        // SAFETY: the device has these features, as it reported them.
        let device = unsafe { instance.create_device(physical, &info, None)? };
        let statistics = ash::khr::pipeline_executable_properties::Device::new(&instance, &device);
        let subgroup = std::env::var("WGCL_SUBGROUP").ok().and_then(|size| size.parse().ok());
        Ok(Self { _entry: entry, device, statistics, subgroup })
    }

    /// Creates the pipeline of a shader. Returns the driver's statistics about it.
    fn pipeline(&self, shader: &Shader) -> Outcome<String> {
        let words = shader.spirv.as_deref().ok_or("the device has no SPIR-V passthrough")?;
        let entry_point = CString::new(shader.entry_point.clone())?;
        let kind = |kind: BindingKind, source: BindingSource| match (kind, source) {
            (_, BindingSource::Arguments) => vk::DescriptorType::UNIFORM_BUFFER_DYNAMIC,
            (BindingKind::Uniform { .. }, _) => vk::DescriptorType::UNIFORM_BUFFER,
            (BindingKind::Storage, _) => vk::DescriptorType::STORAGE_BUFFER,
        };
        let bindings: Vec<_> = shader
            .bindings
            .iter()
            .map(|binding| {
                vk::DescriptorSetLayoutBinding::default()
                    .binding(binding.binding)
                    .descriptor_type(kind(binding.kind, binding.source))
                    .descriptor_count(1)
                    .stage_flags(vk::ShaderStageFlags::COMPUTE)
            })
            .collect();
        let mut size = vk::PipelineShaderStageRequiredSubgroupSizeCreateInfo::default();
        let required = shader.subgroup_size.or(self.subgroup);
        // SAFETY: the handles belong to the device and live until the end of the block. The compiler checked the
        // module.
        unsafe {
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            let set = [self.device.create_descriptor_set_layout(&info, None)?];
            let layout = self.device.create_pipeline_layout(&vk::PipelineLayoutCreateInfo::default().set_layouts(&set), None)?;
            let module = self.device.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(words), None)?;
            let mut stage =
                vk::PipelineShaderStageCreateInfo::default().stage(vk::ShaderStageFlags::COMPUTE).module(module).name(&entry_point);
            if let Some(required) = required {
                size = size.required_subgroup_size(required);
                stage = stage.push_next(&mut size);
            }
            let flags = vk::PipelineCreateFlags::CAPTURE_STATISTICS_KHR;
            let info = [vk::ComputePipelineCreateInfo::default().flags(flags).layout(layout).stage(stage)];
            let pipelines = self.device.create_compute_pipelines(vk::PipelineCache::null(), &info, None);
            self.device.destroy_shader_module(module, None);
            let pipeline = *pipelines.map_err(|(_, result)| result)?.first().ok_or("the driver returned no pipeline")?;
            let text = self.statistics(pipeline)?;
            self.device.destroy_pipeline(pipeline, None);
            self.device.destroy_pipeline_layout(layout, None);
            self.device.destroy_descriptor_set_layout(set[0], None);
            Ok(text)
        }
    }

    /// Returns `name=value` for each integer statistic, in alphabetical order.
    ///
    /// # Safety
    /// The pipeline must belong to this device, and must have been created with statistics.
    unsafe fn statistics(&self, pipeline: vk::Pipeline) -> Outcome<String> {
        let info = vk::PipelineExecutableInfoKHR::default().pipeline(pipeline).executable_index(0);
        // SAFETY: the caller ensures the requirements.
        let all = unsafe { self.statistics.get_pipeline_executable_statistics(&info)? };
        let mut values = BTreeMap::new();
        for statistic in &all {
            if statistic.format == vk::PipelineExecutableStatisticFormatKHR::UINT64 {
                // SAFETY: the format says which field of the union is set.
                values.insert(statistic.name_as_c_str()?.to_string_lossy().replace(' ', "_"), unsafe { statistic.value.u64 });
            }
        }
        Ok(values.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(" "))
    }
}
