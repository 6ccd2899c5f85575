//! Device addresses of buffers (cl_ext_buffer_device_address): pointers that kernels use and that the host can query.
//! The host may store them anywhere and pass them as arguments.
//!
//! If kernels use host addresses (the CPU device), the device address is the host address. Otherwise the device address
//! is the pointer that kernels store in memory ([`wgcl_compiler::pointer`]). Its high half is the buffer's identity,
//! and its low half is the byte offset. Device addresses are constant during the buffer's lifetime, and support
//! addition.

use std::sync::Arc;

use crate::objects::context::Context;
use crate::objects::device::Device;
use crate::objects::memory::Buffer;
use crate::types::error::{Result, ensure};

/// CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT: requests a buffer with a constant device address.
pub const DEVICE_ADDRESS: u64 = 0x5000;

impl Buffer {
    /// The first byte's address on each device of the context, for CL_MEM_DEVICE_ADDRESS_EXT
    /// (cl_ext_buffer_device_address).
    ///
    /// # Errors
    /// If neither the buffer nor its parent was created with [`DEVICE_ADDRESS`], or if the allocation on a device
    /// fails.
    pub fn device_addresses(&self) -> Result<Vec<u64>> {
        // "CL_INVALID_OPERATION if ... the buffer was not created with CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT."
        ensure!(self.has_device_address(), InvalidOperation, "the buffer was created without CL_MEM_DEVICE_PRIVATE_ADDRESS_EXT");
        let by_identity = u64::from(self.store().identity()) << 32;
        let address = |index| Ok(self.store().memory(index)?.kernel_address().unwrap_or(by_identity) + self.origin());
        (0..self.context().devices().len()).map(address).collect()
    }

    fn has_device_address(&self) -> bool {
        let owner = self.parent().map_or(self, |parent| &**parent);
        owner.property_list().is_some_and(|list| list.as_chunks::<2>().0.contains(&[DEVICE_ADDRESS, 1]))
    }
}

impl Device {
    /// Whether the device has cl_ext_buffer_device_address. The addresses of this extension have 64 bits, so the device
    /// needs 64-bit integers.
    pub fn has_device_addresses(&self) -> bool {
        self.target().language.int64
    }
}

impl Context {
    /// Whether all devices of the context have cl_ext_buffer_device_address.
    pub fn has_device_addresses(&self) -> bool {
        self.devices().iter().all(|device| device.has_device_addresses())
    }

    /// Registers a new buffer by its address, if the application requested the address.
    ///
    /// # Errors
    /// If the allocation fails on a device.
    pub fn register_address(&self, buffer: &Arc<Buffer>) -> Result<()> {
        if buffer.has_device_address() {
            let addresses = buffer.device_addresses()?;
            let mut addressed = self.addressed.lock();
            // Removes released buffers whenever the number of entries is a power of two, so that the average cost is
            // low.
            if addressed.len().is_power_of_two() {
                addressed.retain(|_, buffer| buffer.strong_count() > 0);
            }
            addressed.extend(addresses.into_iter().map(|address| (address, Arc::downgrade(buffer))));
        }
        Ok(())
    }

    /// The buffer that contains a device address, and the byte offset in it. The search covers SVM allocations, and
    /// buffers with [`DEVICE_ADDRESS`], including the address after their last byte. Returns `None` if no buffer
    /// contains the address.
    pub fn buffer_at(&self, address: u64) -> Option<(Arc<Buffer>, u64)> {
        let registered = self.addressed.lock().range(..=address).rev().find_map(|(start, buffer)| Some((*start, buffer.upgrade()?)));
        let found = registered.map(|(start, buffer)| (buffer, address - start)).filter(|(buffer, offset)| *offset <= buffer.size());
        found.or_else(|| self.svm_at(usize::try_from(address).ok()?))
    }
}
