//! Tests files that wgcl writes for developers: the contents of `WGCL_DUMP_DIR`, and the symbol file of
//! `WGCL_PERF_MAP`.

mod common;

use common::ffi::CL_SUCCESS;
use common::objects::Context;

#[test]
fn compiled_kernels_are_dumped() {
    if std::env::var_os("WGCL_TEST_PLATFORM").is_some() {
        return;
    }
    let folder = tempfile::tempdir().expect("a folder");
    // SAFETY: the only test of this process; no other thread exists that reads the environment.
    unsafe {
        std::env::set_var("WGCL_DUMP_DIR", folder.path());
        std::env::set_var("WGCL_PERF_MAP", "1");
    }
    let context = Context::new();
    let (queue, mem) = (context.queue(0), context.buffer(256));
    let kernel = context.build("kernel void a_kernel_to_see(global uint *a) { a[get_global_id(0)] += 3; }").kernel("a_kernel_to_see");
    kernel.set_mem(0, &mem);
    assert_eq!(queue.launch(&kernel, &[64], None), CL_SUCCESS);
    queue.finish();

    let names: Vec<String> = std::fs::read_dir(folder.path())
        .expect("the folder")
        .map(|file| file.expect("a file").file_name().to_string_lossy().into_owned())
        .collect();
    let contents = |ending: &str| {
        let name = names.iter().find(|name| name.ends_with(ending));
        name.map(|name| std::fs::read(folder.path().join(name)).expect("the file")).unwrap_or_default()
    };
    assert!(String::from_utf8_lossy(&contents(".cl")).contains("a_kernel_to_see") && !contents(".ir").is_empty(), "{names:?}");
    let map = std::fs::read_to_string(format!("/tmp/perf-{}.map", std::process::id()));
    let _ = std::fs::remove_file(format!("/tmp/perf-{}.map", std::process::id()));
    if !common::is_cpu() {
        assert!(map.is_err(), "wgcl generates no machine code");
        let interprets = common::device_name(common::target()).contains("interpreter");
        assert_eq!(contents(".spv").is_empty(), interprets, "{names:?}");
        return;
    }
    let text = |ending| String::from_utf8(contents(ending)).expect("text");
    assert!(text(".vir").contains("load") && text(".s").contains("ret"), "{names:?}");
    if cfg!(not(unix)) {
        assert!(map.is_err(), "only Unix has the map");
        return;
    }
    let map = map.expect("a map");
    let fields: Vec<&str> = map.lines().find(|line| line.contains("a_kernel_to_see")).expect("a line").split(' ').collect();
    // wgcl may have compiled more kernels than the test launched.
    let sizes: Vec<usize> = names
        .iter()
        .filter(|name| name.ends_with(".bin"))
        .map(|name| std::fs::read(folder.path().join(name)).expect("the file").len())
        .collect();
    assert!(usize::from_str_radix(fields[1], 16).is_ok_and(|bytes| sizes.contains(&bytes)), "{map}, {sizes:?}");
    assert!(u64::from_str_radix(fields[0], 16).is_ok_and(|address| address != 0));
    assert!(
        ["sse4.2", "avx2", "avx512", "armv8", "armv8.2", "sve-128", "sve-256", "sve-512"]
            .map(|isa| format!("a_kernel_to_see.{isa}"))
            .contains(&fields[2].to_owned())
    );
}
