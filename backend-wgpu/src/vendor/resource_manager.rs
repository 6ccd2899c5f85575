//! A client of NVIDIA's resource manager, the part of the kernel driver that owns the GPU. The client requests high
//! clocks.
//!
//! libcuda makes the same request when it creates a context. A context takes 300 ms and 527 MiB of the GPU's memory,
//! which this client avoids. The calls of this client have been the same for all drivers since 2018. On a driver that
//! refuses a call, [`Subdevice::open`] fails.
//!
//! Calls, classes and structures: NVIDIA's open-gpu-kernel-modules, `nv_escape.h`, `nv-ioctl.h`, `nvos.h`, `cl0080.h`,
//! `cl2080.h`, `ctrl0000gpu.h` and `ctrl2080perf.h`.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;

// `NV_ESC_RM_CONTROL`
const CONTROL: u32 = 0x2a;
// `NV_ESC_RM_ALLOC`
const ALLOC: u32 = 0x2b;
// `NV_ESC_CARD_INFO`
const CARD_INFO: u32 = 200;
// `NV_ESC_REGISTER_FD`
const REGISTER_FD: u32 = 201;
// `NV_MAX_DEVICES`
const MAX_CARDS: usize = 32;

// `NV01_ROOT`
const ROOT_CLASS: u32 = 0;
// `NV01_DEVICE_0`
const DEVICE_CLASS: u32 = 0x80;
// `NV20_SUBDEVICE_0`
const SUBDEVICE_CLASS: u32 = 0x2080;
/// Handles that this client chooses for its objects.
const DEVICE: u32 = 0x7763_0001;
const SUBDEVICE: u32 = 0x7763_0002;

// `NV0000_CTRL_CMD_GPU_GET_ID_INFO_V2`
const GET_ID_INFO: u32 = 0x205;
// `NV2080_CTRL_CMD_PERF_BOOST`
const PERF_BOOST: u32 = 0x2080_200a;
/// `NV2080_CTRL_PERF_BOOST_FLAGS_CMD_BOOST_TO_MAX`, `_CUDA_YES` and `_ASYNC_YES`: the call does not wait for the
/// clocks. The call takes 0.25 ms, and with `_ASYNC_NO` 3 to 17 ms (H100, driver 580).
const BOOST_ASYNC: u32 = 2 | 1 << 4 | 1 << 5;

// `nv_ioctl_card_info_t`
#[repr(C)]
#[derive(Clone, Copy, Default)]
struct CardInfo {
    valid: u8,
    domain: u32,
    bus: u8,
    slot: u8,
    function: u8,
    vendor: u16,
    device: u16,
    gpu: u32,
    interrupt: u16,
    registers: [u64; 2],
    framebuffer: [u64; 2],
    minor: u32,
    name: [u8; 10],
}

/// `NVOS21_PARAMETERS`. Drivers before 535 write the status to the word `size`.
#[repr(C)]
#[derive(Default)]
struct AllocParameters {
    root: u32,
    parent: u32,
    object: u32,
    class: u32,
    parameters: u64,
    /// 0: the class determines the size.
    size: u32,
    status: u32,
}

// `NVOS54_PARAMETERS`
#[repr(C)]
#[derive(Default)]
struct ControlParameters {
    client: u32,
    object: u32,
    command: u32,
    flags: u32,
    parameters: u64,
    size: u32,
    status: u32,
}

// `NV0080_ALLOC_PARAMETERS`
#[repr(C)]
#[derive(Default)]
struct DeviceParameters {
    device: u32,
    client_share: u32,
    target_client: u32,
    target_device: u32,
    flags: u32,
    address_space: [u64; 3],
    address_mode: u32,
}

// `NV0000_CTRL_GPU_GET_ID_INFO_V2_PARAMS`
#[repr(C)]
#[derive(Default)]
struct IdInfo {
    gpu: u32,
    flags: u32,
    device: u32,
    subdevice: u32,
    sli: u32,
    board: u32,
    instance: u32,
    numa: i32,
}

// `NV2080_CTRL_PERF_BOOST_PARAMS`
#[repr(C)]
struct BoostParameters {
    flags: u32,
    seconds: u32,
}

/// One GPU, as an object of the resource manager. Closing the files destroys the object.
#[derive(Debug)]
pub(super) struct Subdevice {
    control: File,
    _device: File,
    client: u32,
}

impl Subdevice {
    /// Opens the GPU at a PCI address (domain, bus, device, function). Takes 0.6 ms (H100, driver 580).
    ///
    /// # Errors
    /// If the driver is not NVIDIA's, does not know the GPU, or refuses a call.
    pub(super) fn open([domain, bus, slot, _]: [u32; 4]) -> io::Result<Self> {
        let open = |path: &str| OpenOptions::new().read(true).write(true).open(path);
        let control = open("/dev/nvidiactl")?;
        let mut cards = [CardInfo::default(); MAX_CARDS];
        call(&control, CARD_INFO, &mut cards)?;
        let card = cards
            .iter()
            .find(|card| card.valid != 0 && [card.domain, card.bus.into(), card.slot.into()] == [domain, bus, slot])
            .ok_or_else(|| io::Error::other(format!("NVIDIA's driver has no GPU at {domain:04x}:{bus:02x}:{slot:02x}")))?;
        let device = open(&format!("/dev/nvidia{}", card.minor))?;
        call(&device, REGISTER_FD, &mut control.as_raw_fd())?;
        let mut opened = Self { control, _device: device, client: 0 };
        opened.client = opened.allocate(0, 0, ROOT_CLASS, &mut ())?;
        let mut info = IdInfo { gpu: card.gpu, ..IdInfo::default() };
        opened.control(opened.client, GET_ID_INFO, &mut info)?;
        let mut parameters = DeviceParameters { device: info.device, client_share: opened.client, ..DeviceParameters::default() };
        opened.allocate(opened.client, DEVICE, DEVICE_CLASS, &mut parameters)?;
        opened.allocate(DEVICE, SUBDEVICE, SUBDEVICE_CLASS, &mut info.subdevice)?;
        Ok(opened)
    }

    /// Requests the highest clocks for some seconds. A later request replaces this one.
    ///
    /// # Errors
    /// If the driver refuses the request.
    pub(super) fn boost(&self, seconds: u32) -> io::Result<()> {
        self.control(SUBDEVICE, PERF_BOOST, &mut BoostParameters { flags: BOOST_ASYNC, seconds })
    }

    /// Creates an object with the handle `object`. If `object` is 0, the driver chooses the handle. Returns the handle.
    fn allocate<T>(&self, parent: u32, object: u32, class: u32, parameters: &mut T) -> io::Result<u32> {
        let address = if size_of::<T>() == 0 { 0 } else { std::ptr::from_mut(parameters).addr() as u64 };
        let mut call_parameters =
            AllocParameters { root: self.client, parent, object, class, parameters: address, ..AllocParameters::default() };
        call(&self.control, ALLOC, &mut call_parameters)?;
        check(call_parameters.status | call_parameters.size, class)?;
        Ok(call_parameters.object)
    }

    fn control<T>(&self, object: u32, command: u32, parameters: &mut T) -> io::Result<()> {
        let mut call_parameters = ControlParameters {
            client: self.client,
            object,
            command,
            parameters: std::ptr::from_mut(parameters).addr() as u64,
            size: size_of::<T>() as u32,
            ..ControlParameters::default()
        };
        call(&self.control, CONTROL, &mut call_parameters)?;
        check(call_parameters.status, command)
    }
}

fn check(status: u32, what: u32) -> io::Result<()> {
    if status == 0 {
        Ok(())
    } else {
        Err(io::Error::other(format!("NVIDIA's driver refused the class or command {what:#x}: status {status:#x}")))
    }
}

/// Calls the driver. `parameters`, and the structures that it points to, must have the layout that the driver expects
/// for `number`.
fn call<T>(file: &File, number: u32, parameters: &mut T) -> io::Result<()> {
    // Linux encodes a request as direction (read and write), size, type 'F', and number.
    let request = 3_u32 << 30 | (size_of::<T>() as u32) << 16 | u32::from(b'F') << 8 | number;
    // SAFETY: the request contains the size of `parameters`, which the driver reads and writes. The structures in this
    // file are those of the driver, so that their pointers refer to live values of the expected size.
    let status = unsafe { libc::ioctl(file.as_raw_fd(), request.into(), std::ptr::from_mut(parameters)) };
    if status < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn structures_have_the_sizes_of_the_driver() {
        assert_eq!(size_of::<CardInfo>(), 72);
        assert_eq!(std::mem::offset_of!(CardInfo, gpu), 16);
        assert_eq!(std::mem::offset_of!(CardInfo, minor), 56);
        assert_eq!(size_of::<AllocParameters>(), 32);
        assert_eq!(size_of::<ControlParameters>(), 32);
        assert_eq!(size_of::<DeviceParameters>(), 56);
        assert_eq!(size_of::<IdInfo>(), 32);
        assert_eq!(size_of::<BoostParameters>(), 8);
    }
}
