//! Memory that a program of Vulkan's has made, and what both compute on it by turns (cl_khr_external_memory).

mod common;

use std::ffi::c_void;
use std::ptr::{null, null_mut};
use std::sync::OnceLock;

use ash::vk;
use common::ffi::{
    CL_EVENT_COMMAND_TYPE, CL_INVALID_COMMAND_QUEUE, CL_INVALID_DEVICE, CL_INVALID_MEM_OBJECT, CL_INVALID_PROPERTY, CL_INVALID_VALUE,
    CL_MEM_ALLOC_HOST_PTR, CL_SUCCESS, cl_bitfield, cl_command_queue, cl_event, cl_int, cl_mem, cl_uint,
};
use common::objects::{Context, Event, Mem, Queue};
use common::{info, info_bytes, target};

const CL_DEVICE_UUID: cl_uint = 0x106A;
const IMPORT_HANDLE_TYPES: cl_uint = 0x204F;
const OPAQUE_FD: u64 = 0x2060;
const DEVICES: u64 = 0x2051;
const COMMAND_ACQUIRE: cl_uint = 0x2047;
const COMMAND_RELEASE: cl_uint = 0x2048;

/// Words of the memory.
const COUNT: usize = 256;
const SIZE: usize = 4 * COUNT;

const SHADER: &[u8] = include_bytes!("../../tests/vulkan/turn.spv");

common::extension_functions! {
    fn clEnqueueAcquireExternalMemObjectsKHR(q: cl_command_queue, n: cl_uint, list: *const cl_mem, events: cl_uint, wait: *const cl_event, event: *mut cl_event) -> cl_int;
    fn clEnqueueReleaseExternalMemObjectsKHR(q: cl_command_queue, n: cl_uint, list: *const cl_mem, events: cl_uint, wait: *const cl_event, event: *mut cl_event) -> cl_int;
}

/// The functions, where the device takes memory of Vulkan's.
fn functions() -> Option<&'static Functions> {
    static FUNCTIONS: OnceLock<Option<Functions>> = OnceLock::new();
    let target = target();
    let kinds = info_bytes(|size, value, ret| target.cl.clGetDeviceInfo(target.device, IMPORT_HANDLE_TYPES, size, value, ret));
    let has = kinds.is_ok_and(|kinds| kinds.chunks(4).any(|kind| kind == (OPAQUE_FD as u32).to_ne_bytes()));
    FUNCTIONS.get_or_init(Functions::load).as_ref().filter(|_| has)
}

/// A program of Vulkan's with a buffer that it has exported.
struct Vulkan {
    _entry: ash::Entry,
    instance: ash::Instance,
    device: ash::Device,
    queue: vk::Queue,
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    export: ash::khr::external_memory_fd::Device,
    module: vk::ShaderModule,
    set_layout: vk::DescriptorSetLayout,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
    sets: vk::DescriptorPool,
    set: vk::DescriptorSet,
    commands: vk::CommandPool,
}

impl Vulkan {
    /// On the device of that UUID.
    fn new(uuid: &[u8]) -> Result<Self, vk::Result> {
        // SAFETY: what a program of Vulkan's does, in its order: everything is made of what was made before, and lives until `drop`.
        unsafe {
            let entry = ash::Entry::load().expect("Vulkan's loader");
            let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_2);
            let instance = entry.create_instance(&vk::InstanceCreateInfo::default().application_info(&application), None)?;
            let physical = instance.enumerate_physical_devices()?.into_iter().find(|&physical| {
                let mut ids = vk::PhysicalDeviceIDProperties::default();
                instance.get_physical_device_properties2(physical, &mut vk::PhysicalDeviceProperties2::default().push_next(&mut ids));
                ids.device_uuid == uuid
            });
            let physical = physical.expect("the device by its UUID");
            let queues = [vk::DeviceQueueCreateInfo::default().queue_family_index(0).queue_priorities(&[1.0])];
            let extensions = [ash::khr::external_memory_fd::NAME.as_ptr()];
            let made = vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(&extensions);
            let device = instance.create_device(physical, &made, None)?;
            let queue = device.get_device_queue(0, 0);
            let (buffer, memory) = exported(&instance, physical, &device)?;
            let export = ash::khr::external_memory_fd::Device::new(&instance, &device);

            let binding = [vk::DescriptorSetLayoutBinding::default()
                .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                .descriptor_count(1)
                .stage_flags(vk::ShaderStageFlags::COMPUTE)];
            let set_layout = device.create_descriptor_set_layout(&vk::DescriptorSetLayoutCreateInfo::default().bindings(&binding), None)?;
            let set_layouts = [set_layout];
            let layout = device.create_pipeline_layout(&vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layouts), None)?;
            let words: Vec<u32> = SHADER.chunks_exact(4).map(|word| u32::from_le_bytes([word[0], word[1], word[2], word[3]])).collect();
            let module = device.create_shader_module(&vk::ShaderModuleCreateInfo::default().code(&words), None)?;
            let stage = vk::PipelineShaderStageCreateInfo::default().stage(vk::ShaderStageFlags::COMPUTE).module(module).name(c"main");
            let pipelines = [vk::ComputePipelineCreateInfo::default().stage(stage).layout(layout)];
            let pipeline = device.create_compute_pipelines(vk::PipelineCache::null(), &pipelines, None).map_err(|(_, error)| error)?[0];
            let sizes = [vk::DescriptorPoolSize::default().ty(vk::DescriptorType::STORAGE_BUFFER).descriptor_count(1)];
            let sets = device.create_descriptor_pool(&vk::DescriptorPoolCreateInfo::default().max_sets(1).pool_sizes(&sizes), None)?;
            let set = device
                .allocate_descriptor_sets(&vk::DescriptorSetAllocateInfo::default().descriptor_pool(sets).set_layouts(&set_layouts))?[0];
            let whole = [vk::DescriptorBufferInfo::default().buffer(buffer).range(vk::WHOLE_SIZE)];
            let write = vk::WriteDescriptorSet::default().dst_set(set).descriptor_type(vk::DescriptorType::STORAGE_BUFFER);
            device.update_descriptor_sets(&[write.buffer_info(&whole)], &[]);
            let commands = device.create_command_pool(&vk::CommandPoolCreateInfo::default(), None)?;
            Ok(Self {
                _entry: entry,
                instance,
                device,
                queue,
                buffer,
                memory,
                export,
                module,
                set_layout,
                layout,
                pipeline,
                sets,
                set,
                commands,
            })
        }
    }

    /// A descriptor of the memory, which belongs to whoever takes it.
    fn fd(&self) -> i32 {
        let info = vk::MemoryGetFdInfoKHR::default().memory(self.memory).handle_type(vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD);
        // SAFETY: the memory was made to be exported so.
        unsafe { self.export.get_memory_fd(&info) }.expect("a file descriptor")
    }

    /// Runs commands on the buffer, and waits for them.
    fn run(&self, record: impl FnOnce(&ash::Device, vk::CommandBuffer)) {
        // SAFETY: the commands are complete before they are freed, and nobody else uses the queue.
        unsafe {
            let info = vk::CommandBufferAllocateInfo::default().command_pool(self.commands).command_buffer_count(1);
            let buffers = self.device.allocate_command_buffers(&info).expect("a command buffer");
            self.device.begin_command_buffer(buffers[0], &vk::CommandBufferBeginInfo::default()).expect("recording");
            record(&self.device, buffers[0]);
            self.device.end_command_buffer(buffers[0]).expect("recorded");
            let submits = [vk::SubmitInfo::default().command_buffers(&buffers)];
            self.device.queue_submit(self.queue, &submits, vk::Fence::null()).expect("submitted");
            self.device.queue_wait_idle(self.queue).expect("done");
            self.device.free_command_buffers(self.commands, &buffers);
        }
    }

    fn fill(&self, value: u32) {
        // SAFETY: the buffer has so many bytes.
        self.run(|device, commands| unsafe { device.cmd_fill_buffer(commands, self.buffer, 0, SIZE as u64, value) });
    }

    /// Each word becomes three times itself and one.
    fn turn(&self) {
        // SAFETY: the shader stays within the buffer.
        self.run(|device, commands| unsafe {
            device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, self.pipeline);
            device.cmd_bind_descriptor_sets(commands, vk::PipelineBindPoint::COMPUTE, self.layout, 0, &[self.set], &[]);
            device.cmd_dispatch(commands, (COUNT / 64) as u32, 1, 1);
        });
    }
}

/// A buffer, and memory for it that can be exported.
///
/// # Safety
/// All of them belong together.
unsafe fn exported(
    instance: &ash::Instance,
    physical: vk::PhysicalDevice,
    device: &ash::Device,
) -> Result<(vk::Buffer, vk::DeviceMemory), vk::Result> {
    let kind = vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD;
    let mut external = vk::ExternalMemoryBufferCreateInfo::default().handle_types(kind);
    let usage = vk::BufferUsageFlags::STORAGE_BUFFER | vk::BufferUsageFlags::TRANSFER_DST;
    let info = vk::BufferCreateInfo::default().size(SIZE as u64).usage(usage).push_next(&mut external);
    // SAFETY: the type is one of the buffer's, and the memory is as large as it needs.
    unsafe {
        let buffer = device.create_buffer(&info, None)?;
        let needs = device.get_buffer_memory_requirements(buffer);
        let properties = instance.get_physical_device_memory_properties(physical);
        let mut types = properties.memory_types_as_slice().iter().zip(0u32..);
        let own = vk::MemoryPropertyFlags::DEVICE_LOCAL;
        let found = types.find(|(ty, index)| needs.memory_type_bits & (1 << index) != 0 && ty.property_flags.contains(own));
        let (_, index) = found.expect("memory of the device's own");
        let mut export = vk::ExportMemoryAllocateInfo::default().handle_types(kind);
        let info = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(index).push_next(&mut export);
        let memory = device.allocate_memory(&info, None)?;
        device.bind_buffer_memory(buffer, memory, 0)?;
        Ok((buffer, memory))
    }
}

impl Drop for Vulkan {
    fn drop(&mut self) {
        // SAFETY: nothing runs any more, and nothing is used again.
        unsafe {
            self.device.destroy_command_pool(self.commands, None);
            self.device.destroy_descriptor_pool(self.sets, None);
            self.device.destroy_pipeline(self.pipeline, None);
            self.device.destroy_shader_module(self.module, None);
            self.device.destroy_pipeline_layout(self.layout, None);
            self.device.destroy_descriptor_set_layout(self.set_layout, None);
            self.device.destroy_buffer(self.buffer, None);
            self.device.free_memory(self.memory, None);
            self.device.destroy_device(None);
            self.instance.destroy_instance(None);
        }
    }
}

fn vulkan() -> Vulkan {
    let target = target();
    let uuid = info_bytes(|size, value, ret| target.cl.clGetDeviceInfo(target.device, CL_DEVICE_UUID, size, value, ret));
    Vulkan::new(&uuid.expect("a UUID")).expect("a program of Vulkan's")
}

fn import(context: &Context, flags: cl_bitfield, list: &[u64], size: usize) -> Result<Mem, cl_int> {
    let mut status = 1;
    let mem = target().cl.clCreateBufferWithProperties(context.0, list.as_ptr(), flags, size, null_mut(), &mut status);
    assert_eq!(mem.is_null(), status != CL_SUCCESS);
    if mem.is_null() { Err(status) } else { Ok(Mem(mem)) }
}

type HandOver = fn(&Functions, cl_command_queue, cl_uint, *const cl_mem, cl_uint, *const cl_event, *mut cl_event) -> cl_int;

fn hand_over(functions: &Functions, call: HandOver, queue: &Queue, mem: &Mem, command: cl_uint) {
    let mut event = null_mut();
    assert_eq!(call(functions, queue.0, 1, &mem.0, 0, null(), &mut event), CL_SUCCESS);
    let event = Event(event);
    let kind = info::<cl_uint>(|size, value, ret| target().cl.clGetEventInfo(event.0, CL_EVENT_COMMAND_TYPE, size, value, ret));
    assert_eq!(kind, Ok(command));
}

#[test]
fn opencl_and_vulkan_compute_on_one_memory_by_turns() {
    let Some(functions) = functions() else { return };
    let vulkan = vulkan();
    let context = Context::new();
    let queue = context.queue(0);
    let program = context.build("kernel void turn(global uint *a) { size_t i = get_global_id(0); a[i] = 2 * a[i] + (uint)i; }");
    let kernel = program.kernel("turn");
    vulkan.fill(5);
    let mem = import(&context, 0, &[OPAQUE_FD, vulkan.fd() as u64, 0], SIZE).expect("the memory");
    kernel.set_mem(0, &mem);
    let mut expected: Vec<u32> = vec![5; COUNT];
    for _ in 0..3 {
        vulkan.turn();
        hand_over(functions, Functions::clEnqueueAcquireExternalMemObjectsKHR, &queue, &mem, COMMAND_ACQUIRE);
        assert_eq!(queue.launch(&kernel, &[COUNT], None), CL_SUCCESS);
        hand_over(functions, Functions::clEnqueueReleaseExternalMemObjectsKHR, &queue, &mem, COMMAND_RELEASE);
        queue.finish();
        expected.iter_mut().enumerate().for_each(|(i, word)| *word = 2 * (3 * *word + 1) + i as u32);
    }
    hand_over(functions, Functions::clEnqueueAcquireExternalMemObjectsKHR, &queue, &mem, COMMAND_ACQUIRE);
    assert_eq!(queue.read::<u32>(&mem, COUNT), expected);
    // Maps, writes and copies go there as well.
    let other = context.buffer(SIZE);
    queue.write(&other, &[7u32; COUNT]);
    assert_eq!(target().cl.clEnqueueCopyBuffer(queue.0, other.0, mem.0, 0, 0, SIZE, 0, null(), null_mut()), CL_SUCCESS);
    hand_over(functions, Functions::clEnqueueReleaseExternalMemObjectsKHR, &queue, &mem, COMMAND_RELEASE);
    queue.finish();
    vulkan.turn();
    // A second import is another object of the same memory.
    let again = import(&context, 0, &[OPAQUE_FD, vulkan.fd() as u64, DEVICES, target().device as u64, 0, 0], SIZE).expect("the memory");
    hand_over(functions, Functions::clEnqueueAcquireExternalMemObjectsKHR, &queue, &again, COMMAND_ACQUIRE);
    assert_eq!(queue.read::<u32>(&again, COUNT), [22; COUNT]);
}

#[test]
fn bad_imports_are_refused() {
    let Some(functions) = functions() else {
        if target().is_wgcl() && common::is_cpu() {
            // A device without memory of others knows no property for it.
            assert_eq!(import(&Context::new(), 0, &[OPAQUE_FD, 0, 0], SIZE).err(), Some(CL_INVALID_PROPERTY));
        }
        return;
    };
    let vulkan = vulkan();
    let context = Context::new();
    let queue = context.queue(0);
    let fd = vulkan.fd() as u64;
    let refused = |flags: cl_bitfield, list: &[u64]| import(&context, flags, list, SIZE).err();
    assert_eq!(refused(0, &[OPAQUE_FD, fd, OPAQUE_FD, fd, 0]), Some(CL_INVALID_PROPERTY), "two handles");
    assert_eq!(refused(0, &[DEVICES, target().device as u64, 0, 0]), Some(CL_INVALID_PROPERTY), "no handle");
    assert_eq!(refused(0, &[OPAQUE_FD, u64::MAX, 0]), Some(CL_INVALID_PROPERTY), "no descriptor");
    assert_eq!(refused(0, &[OPAQUE_FD, fd, DEVICES, context.0 as u64, 0, 0]), Some(CL_INVALID_DEVICE));
    assert_eq!(refused(CL_MEM_ALLOC_HOST_PTR, &[OPAQUE_FD, fd, 0]), Some(CL_INVALID_VALUE));
    // After all of these the descriptor is still the program's.
    let mem = import(&context, 0, &[OPAQUE_FD, fd, 0], SIZE).expect("the memory");

    let ordinary = context.buffer(SIZE);
    let acquire = |queue: cl_command_queue, count: cl_uint, list: *const cl_mem| {
        functions.clEnqueueAcquireExternalMemObjectsKHR(queue, count, list, 0, null(), null_mut())
    };
    assert_eq!(acquire(queue.0, 1, &ordinary.0), CL_INVALID_MEM_OBJECT);
    assert_eq!(acquire(queue.0, 1, null()), CL_INVALID_VALUE);
    assert_eq!(acquire(queue.0, 0, &mem.0), CL_INVALID_VALUE);
    assert_eq!(acquire(queue.0, 0, null()), CL_SUCCESS);
    assert_eq!(acquire(null_mut(), 1, &mem.0), CL_INVALID_COMMAND_QUEUE);
    let foreign = Context::new();
    assert_eq!(acquire(foreign.queue(0).0, 1, &mem.0), CL_INVALID_COMMAND_QUEUE);
    let _: *mut c_void = mem.0;
}
