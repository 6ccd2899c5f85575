//! A lost device: commands that were not submitted before the loss end with an error. Nothing hangs or panics.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

mod common;

use std::sync::Arc;

use common::{ALL, adder, buffer, bytes, device, launch, run, start, write};
use wgcl_api::backend::{Action, BackendError, Command, CopyRegion, Device, LaunchArg};

#[test]
fn all_commands_fail_once_the_device_is_lost() {
    for settings in ALL {
        let device = device(settings);
        let program = adder(&device);
        let memory = device.allocate(1024).unwrap();
        write(&*device, &memory, 0, &bytes(&[1; 256]));
        let add = |n: u32| {
            launch(&program, "add", vec![buffer(&memory), LaunchArg::Value(n.to_le_bytes().to_vec().into())], [256, 1, 1], [64, 1, 1])
        };
        run(&*device, add(1));
        // Some commands are in a batch that was not submitted, some are enqueued afterwards.
        let before: Vec<_> = (0..5).map(|n| start(&*device, add(n), n % 2 == 0)).collect();
        device.lose().unwrap();
        let regions = vec![CopyRegion { buffer: 0, host: 0, size: 64 }];
        let after = [
            start(&*device, add(9), false),
            start(&*device, Action::Fill { dst: memory.clone(), pattern: vec![1; 4], offset: 0, size: 1024 }, true),
            start(&*device, Action::Write { dst: memory.clone(), src: Arc::new(vec![0; 64]), regions: regions.clone() }, false),
            start(
                &*device,
                Action::Copy { src: memory.clone(), dst: memory.clone(), regions: vec![CopyRegion { host: 512, ..regions[0] }] },
                true,
            ),
        ];
        device.flush();
        for pending in before {
            // Commands that were submitted earlier may have completed.
            let _ = pending.wait();
        }
        for pending in after {
            assert!(matches!(pending.wait(), Err(BackendError::DeviceLost(_))), "{settings:?}");
        }
        assert!(matches!(device.allocate(64), Err(BackendError::DeviceLost(_))), "{settings:?}");
        drop(memory);
        assert!(start(&*device, Command::Nop, false).wait().is_err(), "{settings:?}");
    }
}
