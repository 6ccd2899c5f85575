//! The argument block of a launch, in the layout of `wgcl_compiler::vectorize::abi`.
//!
//! Example: a kernel `(global float *a, int n)` has the address of `a` at byte 0 and `n` at byte 8.

use wgcl_api::backend::{BackendError, BackendResult, LaunchArg, MemoryRange};
use wgcl_api::host_commands::downcast;
use wgcl_compiler::vectorize::abi::{ARGS_ALIGN, ArgPlace, ArgPlaces};

use crate::memory::CpuMemory;
use crate::memory::address_range::AddressRange;

/// Size and alignment of a [`Line`], in bytes.
const LINE: usize = ARGS_ALIGN as usize;

#[repr(C, align(128))]
#[derive(Clone, Copy, Debug)]
struct Line([u8; LINE]);

const _: () = assert!(align_of::<Line>() == LINE);

/// An argument block at a fixed address.
#[derive(Debug)]
pub(crate) struct ArgumentBlock(Box<[Line]>);

impl ArgumentBlock {
    /// Writes the arguments of a launch at the offsets of their layout.
    ///
    /// # Errors
    /// Fails if the arguments do not match the parameters of the kernel.
    pub(crate) fn new(places: &ArgPlaces, args: &[LaunchArg]) -> BackendResult<Self> {
        if places.places.len() != args.len() {
            let (expected, given) = (places.places.len(), args.len());
            return Err(BackendError::Other(format!("launch: expected {expected} arguments, got {given}")));
        }
        let mut block = Self(vec![Line([0; LINE]); (places.size as usize).div_ceil(LINE)].into_boxed_slice());
        for (index, (place, arg)) in places.places.iter().zip(args).enumerate() {
            block.write(index, *place, arg)?;
        }
        Ok(block)
    }

    /// The address of the first byte. It must not be accessed if there are no arguments.
    pub(crate) fn address(&self) -> u64 {
        self.0.as_ptr().expose_provenance() as u64
    }

    /// The address range of the argument block.
    pub(crate) fn range(&self, places: &ArgPlaces) -> AddressRange {
        AddressRange { start: self.address(), end: self.address() + u64::from(places.size) }
    }

    fn write(&mut self, index: usize, place: ArgPlace, arg: &LaunchArg) -> BackendResult<()> {
        match (place, arg) {
            (ArgPlace::Bytes { offset, size }, LaunchArg::Value(bytes)) if bytes.len() <= size as usize => self.put(offset, bytes),
            (ArgPlace::Address { offset }, LaunchArg::Buffer(range)) => {
                let address = range.as_ref().map(address).transpose()?.unwrap_or(0);
                self.put(offset, &address.to_le_bytes())
            }
            (ArgPlace::Address { offset }, LaunchArg::Address(address)) => self.put(offset, &address.to_le_bytes()),
            (ArgPlace::Image { offset }, LaunchArg::Image(range, image)) => {
                self.put(offset, &address(range)?.to_le_bytes())?;
                for (word, at) in image.words().into_iter().zip((offset + 8..).step_by(4)) {
                    self.put(at, &word.to_le_bytes())?;
                }
                Ok(())
            }
            (ArgPlace::InKey, LaunchArg::Local(_) | LaunchArg::Value(_)) => Ok(()),
            _ => Err(BackendError::Other(format!("launch: argument {index} does not match its parameter"))),
        }
    }

    fn put(&mut self, offset: u32, mut bytes: &[u8]) -> BackendResult<()> {
        let (mut line, mut at) = (offset as usize / LINE, offset as usize % LINE);
        while !bytes.is_empty() {
            let outside = || BackendError::Other(format!("launch: offset {offset} is outside of the argument block"));
            let place = &mut self.0.get_mut(line).ok_or_else(outside)?.0[at..];
            let (here, rest) = bytes.split_at(bytes.len().min(place.len()));
            place[..here.len()].copy_from_slice(here);
            (bytes, line, at) = (rest, line + 1, 0);
        }
        Ok(())
    }
}

/// The address that a buffer argument points to. Fails if the memory belongs to another backend.
fn address(range: &MemoryRange) -> BackendResult<u64> {
    Ok(downcast::<CpuMemory>(&range.memory)?.address() + range.offset + range.start)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use wgcl_api::backend::{LaunchArg, Memory, MemoryRange};
    use wgcl_compiler::image::ImageDescriptor;
    use wgcl_compiler::ir::{Function, Kernel, KernelParam, Scalar, Space, Type};
    use wgcl_compiler::vectorize::abi::{ArgPlace, ArgPlaces};

    use super::ArgumentBlock;
    use crate::memory::{CpuMemory, MemoryTracker};

    fn bytes(block: &ArgumentBlock, offset: u32, size: u32) -> Vec<u8> {
        block.0.iter().flat_map(|line| line.0).skip(offset as usize).take(size as usize).collect()
    }

    fn places() -> ArgPlaces {
        let mut function = Function::new("k", Type::Void);
        let buffer = KernelParam::Buffer { space: Space::Global, read_only: false, restrict: false };
        let types = [Type::Scalar(Scalar::I8), Type::Vector(Scalar::F32, 3), Type::Ptr(Space::Global), Type::Ptr(Space::Global)];
        function.params = types.into_iter().map(|ty| function.new_value(ty)).collect();
        let pointers: Vec<_> = (0..4).map(|_| function.new_value(Type::Ptr(Space::Global))).collect();
        function.params.extend(pointers);
        let params = vec![
            KernelParam::Value,
            KernelParam::Value,
            buffer.clone(),
            buffer,
            KernelParam::Local { align: 4 },
            KernelParam::Bytes { size: 200, align: 4 },
            KernelParam::Sampler,
            KernelParam::Image,
        ];
        function.kernel = Some(Kernel { params, ..Kernel::default() });
        ArgPlaces::of(&function)
    }

    #[test]
    fn arguments_are_at_the_offsets_of_the_layout() {
        let places = places();
        let memory: Arc<dyn Memory> = Arc::new(CpuMemory::new(&MemoryTracker::new(1 << 20), 4096).expect("memory"));
        let start = memory.host_address().expect("an address") as u64;
        let range = MemoryRange { memory, offset: 256, size: 1024, start: 3, identity: 0x1_0000, read_only: false };
        let value = |bytes: &[u8]| LaunchArg::Value(bytes.into());
        let large: Vec<u8> = (0..200).collect();
        let image = ImageDescriptor { width: 7, height: 5, ..ImageDescriptor::default() };
        let args = vec![
            value(&[42]),
            value(&[5; 16]),
            LaunchArg::Buffer(Some(range.clone())),
            LaunchArg::Buffer(None),
            LaunchArg::Local(64),
            value(&large),
            value(&[0x12, 0, 0, 0]),
            LaunchArg::Image(range, image),
        ];
        let block = ArgumentBlock::new(&places, &args).expect("a block");
        assert!(block.address().is_multiple_of(128));
        for (place, arg) in places.places.iter().zip(&args) {
            let (offset, expected) = match (*place, arg) {
                (ArgPlace::Bytes { offset, .. }, LaunchArg::Value(bytes)) => (offset, bytes.to_vec()),
                (ArgPlace::Address { offset }, LaunchArg::Buffer(None)) => (offset, vec![0; 8]),
                (ArgPlace::Address { offset }, _) => (offset, (start + 259).to_le_bytes().to_vec()),
                (ArgPlace::Image { offset }, _) => {
                    let words = image.words().into_iter().flat_map(u32::to_le_bytes);
                    (offset, (start + 259).to_le_bytes().into_iter().chain(words).collect())
                }
                _ => continue,
            };
            assert_eq!(bytes(&block, offset, expected.len() as u32), expected, "{place:?}");
        }
    }

    #[test]
    fn arguments_that_do_not_match_the_layout_are_errors() {
        let places = ArgPlaces { places: vec![ArgPlace::Bytes { offset: 0, size: 4 }], size: 128 };
        assert!(ArgumentBlock::new(&places, &[]).is_err());
        assert!(ArgumentBlock::new(&places, &[LaunchArg::Value([1; 8].as_slice().into())]).is_err());
        assert!(ArgumentBlock::new(&places, &[LaunchArg::Buffer(None)]).is_err());
        assert!(ArgumentBlock::new(&places, &[LaunchArg::Value([1; 4].as_slice().into())]).is_ok());
        let outside = ArgPlaces { places: vec![ArgPlace::Bytes { offset: 126, size: 4 }], size: 128 };
        assert!(ArgumentBlock::new(&outside, &[LaunchArg::Value([1; 4].as_slice().into())]).is_err());
        assert!(ArgumentBlock::new(&ArgPlaces::default(), &[]).is_ok());
    }
}
