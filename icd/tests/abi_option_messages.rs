//! wgcl reports unknown options and invalid values on standard error, even without a log.

mod common;

use std::process::Command;

use common::target;

/// Returns the standard error of a child process with these options.
fn errors(options: &[(&str, &str)]) -> String {
    let mut command = Command::new(std::env::current_exe().expect("this program"));
    command.args(["--exact", "child", "--ignored"]).env_remove("WGCL_LOG").envs(options.iter().copied());
    let output = command.output().expect("the child");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stdout));
    String::from_utf8_lossy(&output.stderr).into_owned()
}

#[test]
#[ignore = "the child of the other tests"]
fn child() {
    assert!(!target().device.is_null());
}

#[test]
fn unknown_names_and_values_are_reported() {
    if std::env::var_os("WGCL_TEST_PLATFORM").is_some() {
        return;
    }
    let text = errors(&[("WGCL_CHEK", "1"), ("WGCL_COARSEN", "maybe"), ("WGCL_CACHE_SIZE", "64MB")]);
    for expected in [
        "wgcl: unknown option WGCL_CHEK; did you mean WGCL_CHECK?\n",
        "wgcl: WGCL_COARSEN: `maybe` is ignored; expected `0` or `1`\n",
        "wgcl: WGCL_CACHE_SIZE: `64MB` is ignored; expected a positive number\n",
    ] {
        assert_eq!(text.matches(expected).count(), 1, "{expected}{text}");
    }
}

#[test]
fn words_for_on_and_off_are_accepted() {
    let text = errors(&[("WGCL_CHECK", "true"), ("WGCL_CACHE", "Off"), ("WGCL_PERF_MAP", "no"), ("WGCL_TEST_TIMEOUT", "60")]);
    assert!(!text.contains("wgcl: "), "{text}");
}

#[test]
fn devices_that_do_not_exist_are_reported() {
    if std::env::var_os("WGCL_TEST_PLATFORM").is_some() {
        return;
    }
    let text = errors(&[("WGCL_DEVICE", "0,nosuch,99")]);
    for expected in ["wgcl: WGCL_DEVICE: no device is named `nosuch`; devices: 0 (", "wgcl: WGCL_DEVICE: no device has the index `99`"] {
        assert_eq!(text.matches(expected).count(), 1, "{expected}{text}");
    }
}
