//! A Vulkan program that does not use OpenCL. It exports a buffer and semaphores, and runs commands on them.

#![allow(dead_code, reason = "each test binary uses another part of this module")]

use ash::vk;

/// The number of words in the buffer.
pub const COUNT: usize = 256;
pub const SIZE: usize = 4 * COUNT;

const SHADER: &[u8] = include_bytes!("../../../tests/vulkan/step.spv");

/// A Vulkan program with a buffer that it exports.
pub struct Vulkan {
    _entry: ash::Entry,
    instance: ash::Instance,
    device: ash::Device,
    queue: vk::Queue,
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    export: ash::khr::external_memory_fd::Device,
    semaphores: ash::khr::external_semaphore_fd::Device,
    module: vk::ShaderModule,
    set_layout: vk::DescriptorSetLayout,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
    sets: vk::DescriptorPool,
    set: vk::DescriptorSet,
    commands: vk::CommandPool,
}

impl Vulkan {
    /// Uses the device with this UUID, and device-local memory. If `shares` is set, the device must support exportable
    /// semaphores.
    pub fn new(uuid: &[u8], shares: bool) -> Result<Self, vk::Result> {
        Self::of_type(uuid, shares, None)
    }

    /// Uses memory of the memory type with index `number`, counted among the types that the buffer supports. `None`
    /// selects the first device-local type.
    pub fn of_type(uuid: &[u8], shares: bool, number: Option<usize>) -> Result<Self, vk::Result> {
        // SAFETY: valid usage of Vulkan: every object is created from earlier ones, and lives until `drop`.
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
            let extensions = [ash::khr::external_memory_fd::NAME.as_ptr(), ash::khr::external_semaphore_fd::NAME.as_ptr()];
            let extensions = &extensions[..if shares { 2 } else { 1 }];
            let made = vk::DeviceCreateInfo::default().queue_create_infos(&queues).enabled_extension_names(extensions);
            let device = instance.create_device(physical, &made, None)?;
            let queue = device.get_device_queue(0, 0);
            let (buffer, memory) = exported(&instance, physical, &device, number)?;
            let export = ash::khr::external_memory_fd::Device::new(&instance, &device);
            let semaphores = ash::khr::external_semaphore_fd::Device::new(&instance, &device);

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
                semaphores,
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

    /// Returns a file descriptor of the memory. The caller owns the descriptor.
    pub fn fd(&self) -> i32 {
        let info = vk::MemoryGetFdInfoKHR::default().memory(self.memory).handle_type(vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD);
        // SAFETY: the memory was allocated as exportable with this handle type.
        unsafe { self.export.get_memory_fd(&info) }.expect("a file descriptor")
    }

    /// Runs commands on the buffer, and waits for them.
    fn run(&self, record: impl FnOnce(&ash::Device, vk::CommandBuffer)) {
        self.submit(record, &[], &[]);
        self.wait();
    }

    /// Waits for all submitted commands.
    pub fn wait(&self) {
        // SAFETY: no other thread uses the queue.
        unsafe { self.device.queue_wait_idle(self.queue) }.expect("done");
    }

    /// Submits commands on the buffer that wait for semaphores and signal others.
    fn submit(&self, record: impl FnOnce(&ash::Device, vk::CommandBuffer), waits: &[vk::Semaphore], signals: &[vk::Semaphore]) {
        // SAFETY: the commands are freed with their pool, after all have completed, and no other thread uses the queue.
        unsafe {
            let info = vk::CommandBufferAllocateInfo::default().command_pool(self.commands).command_buffer_count(1);
            let buffers = self.device.allocate_command_buffers(&info).expect("a command buffer");
            self.device.begin_command_buffer(buffers[0], &vk::CommandBufferBeginInfo::default()).expect("recording");
            record(&self.device, buffers[0]);
            self.device.end_command_buffer(buffers[0]).expect("recorded");
            let stages = vec![vk::PipelineStageFlags::ALL_COMMANDS; waits.len()];
            let submit = vk::SubmitInfo::default().command_buffers(&buffers).wait_semaphores(waits).wait_dst_stage_mask(&stages);
            self.device.queue_submit(self.queue, &[submit.signal_semaphores(signals)], vk::Fence::null()).expect("submitted");
        }
    }

    pub fn fill(&self, value: u32) {
        // SAFETY: the buffer has that many bytes.
        self.run(|device, commands| unsafe { device.cmd_fill_buffer(commands, self.buffer, 0, SIZE as u64, value) });
    }

    /// Replaces each word `w` by `3 * w + 1`.
    pub fn step(&self) {
        self.step_between(&[], &[]);
        self.wait();
    }

    /// Like [`Vulkan::step`], but the commands wait for the semaphores `waits` and signal the semaphores `signals`.
    /// Does not wait for their completion.
    pub fn step_between(&self, waits: &[vk::Semaphore], signals: &[vk::Semaphore]) {
        // SAFETY: the shader stays within the buffer.
        let record = |device: &ash::Device, commands| unsafe {
            device.cmd_bind_pipeline(commands, vk::PipelineBindPoint::COMPUTE, self.pipeline);
            device.cmd_bind_descriptor_sets(commands, vk::PipelineBindPoint::COMPUTE, self.layout, 0, &[self.set], &[]);
            device.cmd_dispatch(commands, (COUNT / 64) as u32, 1, 1);
        };
        self.submit(record, waits, signals);
    }

    /// Creates an exportable semaphore.
    pub fn semaphore(&self, kind: vk::ExternalSemaphoreHandleTypeFlags) -> vk::Semaphore {
        let mut export = vk::ExportSemaphoreCreateInfo::default().handle_types(kind);
        // SAFETY: the caller ensures that the device supports exportable semaphores.
        unsafe { self.device.create_semaphore(&vk::SemaphoreCreateInfo::default().push_next(&mut export), None) }.expect("a semaphore")
    }

    /// Returns a file descriptor of a semaphore. The caller owns the descriptor.
    pub fn semaphore_fd(&self, semaphore: vk::Semaphore, kind: vk::ExternalSemaphoreHandleTypeFlags) -> i32 {
        let info = vk::SemaphoreGetFdInfoKHR::default().semaphore(semaphore).handle_type(kind);
        // SAFETY: the semaphore was created as exportable with this handle type.
        unsafe { self.semaphores.get_semaphore_fd(&info) }.expect("a file descriptor")
    }

    /// Imports a payload from a file descriptor into a semaphore. Vulkan becomes the owner of the descriptor.
    pub fn import(&self, semaphore: vk::Semaphore, kind: vk::ExternalSemaphoreHandleTypeFlags, fd: i32) {
        let is_file = kind == vk::ExternalSemaphoreHandleTypeFlags::SYNC_FD;
        let flags = if is_file { vk::SemaphoreImportFlags::TEMPORARY } else { vk::SemaphoreImportFlags::empty() };
        let info = vk::ImportSemaphoreFdInfoKHR::default().semaphore(semaphore).flags(flags).handle_type(kind).fd(fd);
        // SAFETY: nothing uses the semaphore, and the descriptor has that handle type.
        unsafe { self.semaphores.import_semaphore_fd(&info) }.expect("an import");
    }

    /// Destroys an unused semaphore.
    pub fn destroy(&self, semaphore: vk::Semaphore) {
        // SAFETY: the caller ensures that it is unused.
        unsafe { self.device.destroy_semaphore(semaphore, None) };
    }
}

/// Creates a buffer, and exportable memory for it.
///
/// # Safety
/// All handles must belong to the same instance and device.
unsafe fn exported(
    instance: &ash::Instance,
    physical: vk::PhysicalDevice,
    device: &ash::Device,
    number: Option<usize>,
) -> Result<(vk::Buffer, vk::DeviceMemory), vk::Result> {
    let kind = vk::ExternalMemoryHandleTypeFlags::OPAQUE_FD;
    let mut external = vk::ExternalMemoryBufferCreateInfo::default().handle_types(kind);
    let usage = vk::BufferUsageFlags::STORAGE_BUFFER | vk::BufferUsageFlags::TRANSFER_DST;
    let info = vk::BufferCreateInfo::default().size(SIZE as u64).usage(usage).push_next(&mut external);
    // SAFETY: the buffer supports the memory type, and the memory is large enough.
    unsafe {
        let buffer = device.create_buffer(&info, None)?;
        let needs = device.get_buffer_memory_requirements(buffer);
        let properties = instance.get_physical_device_memory_properties(physical);
        let types = properties.memory_types_as_slice().iter().zip(0u32..);
        let mut types = types.filter(|(_, index)| needs.memory_type_bits & (1 << index) != 0);
        let own = vk::MemoryPropertyFlags::DEVICE_LOCAL;
        let found = match number {
            Some(number) => types.nth(number),
            None => types.find(|(ty, _)| ty.property_flags.contains(own)),
        };
        let Some((_, index)) = found else { return Err(vk::Result::ERROR_FEATURE_NOT_PRESENT) };
        let mut export = vk::ExportMemoryAllocateInfo::default().handle_types(kind);
        let info = vk::MemoryAllocateInfo::default().allocation_size(needs.size).memory_type_index(index).push_next(&mut export);
        let memory = device.allocate_memory(&info, None)?;
        device.bind_buffer_memory(buffer, memory, 0)?;
        Ok((buffer, memory))
    }
}

impl Drop for Vulkan {
    fn drop(&mut self) {
        // SAFETY: all commands have completed, and no handle is used again.
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
