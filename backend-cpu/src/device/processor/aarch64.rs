//! The processor's name and vendor on AArch64, from the main identification registers (`MIDR_EL1`) of its cores.
//!
//! A processor can have several kinds of cores (big.LITTLE). Its name lists all of them: the fastest
//! first if sysfs reports their capacity, otherwise in the order of /proc/cpuinfo.

use std::fs::{self, read_to_string};
use std::path::Path;

use super::Processor;

/// The directory of Linux's sysfs with a directory for each processor.
#[cfg(target_arch = "aarch64")]
const PROCESSORS: &str = "/sys/devices/system/cpu";

/// Companies by the implementer code of `MIDR_EL1`, with their PCI ids. Sources of the codes: `sys-utils/lscpu-arm.c`
/// of util-linux, and `arch/arm64/include/asm/cputype.h` of Linux for Microsoft. Source of the PCI ids: pci.ids.
const IMPLEMENTERS: [(u32, &str, u32); 15] = [
    // Arm's reference manual reserves this code for software. The only known user is QEMU.
    (0x00, "QEMU", 0x1b36),
    (0x41, "Arm", 0x13b5),
    (0x42, "Broadcom", 0x14e4),
    (0x43, "Cavium", 0x177d),
    (0x46, "Fujitsu", 0x10cf),
    (0x48, "HiSilicon", 0x19e5),
    (0x49, "Infineon", 0x15d1),
    (0x4e, "NVIDIA", 0x10de),
    (0x50, "Applied Micro", 0x10e8),
    (0x51, "Qualcomm", 0x17cb),
    (0x53, "Samsung", 0x144d),
    (0x61, "Apple", 0x106b),
    (0x6d, "Microsoft", 0x1414),
    (0x70, "Phytium", 0x1db7),
    (0xc0, "Ampere", 0x1def),
];

/// Cores by implementer code and part number. Source, if a comment names no other: `arch/arm64/include/asm/cputype.h`
/// of Linux 6.18. "LLVM" is `llvm/lib/TargetParser/Host.cpp`, and "util-linux" is `sys-utils/lscpu-arm.c`.
const CORES: [(u32, u32, &str); 104] = [
    // `-cpu max`, in `target/arm/tcg/cpu64.c` of QEMU.
    (0x00, 0x051, "max"),
    (0x41, 0xd02, "Cortex-A34"), // LLVM
    (0x41, 0xd03, "Cortex-A53"),
    (0x41, 0xd04, "Cortex-A35"),
    (0x41, 0xd05, "Cortex-A55"),
    (0x41, 0xd06, "Cortex-A65"), // LLVM
    (0x41, 0xd07, "Cortex-A57"),
    (0x41, 0xd08, "Cortex-A72"),
    (0x41, 0xd09, "Cortex-A73"),
    (0x41, 0xd0a, "Cortex-A75"),
    (0x41, 0xd0b, "Cortex-A76"),
    (0x41, 0xd0c, "Neoverse-N1"),
    (0x41, 0xd0d, "Cortex-A77"),
    (0x41, 0xd0e, "Cortex-A76AE"),
    (0x41, 0xd40, "Neoverse-V1"),
    (0x41, 0xd41, "Cortex-A78"),
    (0x41, 0xd42, "Cortex-A78AE"),
    (0x41, 0xd43, "Cortex-A65AE"), // LLVM
    (0x41, 0xd44, "Cortex-X1"),
    (0x41, 0xd46, "Cortex-A510"),
    (0x41, 0xd47, "Cortex-A710"),
    (0x41, 0xd48, "Cortex-X2"),
    (0x41, 0xd49, "Neoverse-N2"),
    (0x41, 0xd4a, "Neoverse-E1"), // LLVM
    (0x41, 0xd4b, "Cortex-A78C"),
    (0x41, 0xd4c, "Cortex-X1C"),
    (0x41, 0xd4d, "Cortex-A715"),
    (0x41, 0xd4e, "Cortex-X3"),
    (0x41, 0xd4f, "Neoverse-V2"),
    (0x41, 0xd80, "Cortex-A520"),
    (0x41, 0xd81, "Cortex-A720"),
    (0x41, 0xd82, "Cortex-X4"),
    (0x41, 0xd83, "Neoverse-V3AE"),
    (0x41, 0xd84, "Neoverse-V3"),
    (0x41, 0xd85, "Cortex-X925"),
    (0x41, 0xd87, "Cortex-A725"),
    (0x41, 0xd88, "Cortex-A520AE"), // LLVM
    (0x41, 0xd89, "Cortex-A720AE"),
    (0x41, 0xd8b, "C1-Pro"),
    (0x41, 0xd8c, "C1-Ultra"),
    (0x41, 0xd8e, "Neoverse-N3"),
    (0x41, 0xd8f, "Cortex-A320"), // LLVM
    (0x42, 0x100, "Brahma-B53"),
    (0x42, 0x516, "Vulcan"),
    (0x43, 0x0a1, "ThunderX"),
    (0x43, 0x0a2, "ThunderX 81XX"),
    (0x43, 0x0a3, "ThunderX 83XX"),
    (0x43, 0x0af, "ThunderX2"),
    (0x43, 0x0b1, "OcteonTX2 98XX"),
    (0x43, 0x0b2, "OcteonTX2 96XX"),
    (0x43, 0x0b3, "OcteonTX2 95XX"),
    (0x43, 0x0b4, "OcteonTX2 95XXN"),
    (0x43, 0x0b5, "OcteonTX2 95XXMM"),
    (0x43, 0x0b6, "OcteonTX2 95XXO"),
    (0x46, 0x001, "A64FX"),
    (0x46, 0x003, "Monaka"), // LLVM
    (0x48, 0xd01, "TSV110"),
    (0x48, 0xd02, "HIP09"),
    (0x48, 0xd06, "HIP12"),
    (0x4e, 0x003, "Denver"),
    (0x4e, 0x004, "Carmel"),
    (0x4e, 0x010, "Olympus"),
    (0x50, 0x000, "X-Gene"),
    (0x51, 0x001, "Oryon"),
    (0x51, 0x200, "Kryo"),
    (0x51, 0x201, "Kryo"), // LLVM
    (0x51, 0x205, "Kryo"), // LLVM
    (0x51, 0x211, "Kryo"), // LLVM
    (0x51, 0x800, "Kryo 2xx Gold"),
    (0x51, 0x801, "Kryo 2xx Silver"),
    (0x51, 0x802, "Kryo 3xx Gold"),
    (0x51, 0x803, "Kryo 3xx Silver"),
    (0x51, 0x804, "Kryo 4xx Gold"),
    (0x51, 0x805, "Kryo 4xx Silver"),
    (0x51, 0xc00, "Falkor"),
    (0x51, 0xc01, "Saphira"),       // LLVM
    (0x53, 0x001, "Exynos-M1"),     // util-linux
    (0x53, 0x002, "Exynos-M3"),     // util-linux
    (0x53, 0x003, "Exynos-M4"),     // util-linux
    (0x53, 0x004, "Exynos-M5"),     // util-linux
    (0x61, 0x020, "A14 Icestorm"),  // util-linux
    (0x61, 0x021, "A14 Firestorm"), // util-linux
    (0x61, 0x022, "M1 Icestorm"),
    (0x61, 0x023, "M1 Firestorm"),
    (0x61, 0x024, "M1 Pro Icestorm"),
    (0x61, 0x025, "M1 Pro Firestorm"),
    (0x61, 0x028, "M1 Max Icestorm"),
    (0x61, 0x029, "M1 Max Firestorm"),
    (0x61, 0x030, "A15 Blizzard"),  // util-linux
    (0x61, 0x031, "A15 Avalanche"), // util-linux
    (0x61, 0x032, "M2 Blizzard"),
    (0x61, 0x033, "M2 Avalanche"),
    (0x61, 0x034, "M2 Pro Blizzard"),
    (0x61, 0x035, "M2 Pro Avalanche"),
    (0x61, 0x038, "M2 Max Blizzard"),
    (0x61, 0x039, "M2 Max Avalanche"),
    (0x6d, 0xd49, "Cobalt 100"),
    (0x70, 0x660, "FTC660"), // util-linux
    (0x70, 0x661, "FTC661"), // util-linux
    (0x70, 0x662, "FTC662"), // util-linux
    (0x70, 0x663, "FTC663"), // util-linux
    (0xc0, 0xac3, "Ampere-1"),
    (0xc0, 0xac4, "Ampere-1a"),
    (0xc0, 0xac5, "Ampere-1b"), // LLVM
];

/// The main identification register of a core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Midr(u32);

impl Midr {
    fn implementer(self) -> u32 {
        self.0 >> 24
    }

    fn part(self) -> u32 {
        self.0 >> 4 & 0xfff
    }

    /// The name of the core, without the company.
    fn core(self) -> String {
        let known = CORES.iter().find(|(implementer, part, _)| (*implementer, *part) == (self.implementer(), self.part()));
        known.map_or_else(|| format!("part {:#05x}", self.part()), |(.., name)| (*name).to_owned())
    }

    /// The name and PCI id of the company.
    fn vendor(self) -> (String, u32) {
        let known = IMPLEMENTERS.iter().find(|(code, ..)| *code == self.implementer());
        known.map_or_else(|| (format!("implementer {:#04x}", self.implementer()), 0), |(_, name, id)| ((*name).to_owned(), *id))
    }
}

/// The processor of this machine.
#[cfg(target_arch = "aarch64")]
pub(crate) fn processor() -> Processor {
    let cores = cores_in(Path::new(PROCESSORS));
    let cores = if cores.is_empty() { read_to_string("/proc/cpuinfo").map(|text| cores_of(&text)).unwrap_or_default() } else { cores };
    describe(&if cores.is_empty() { this_core().into_iter().collect() } else { cores })
}

/// Describes a processor with these cores. The first core determines the vendor.
fn describe(cores: &[Midr]) -> Processor {
    let Some(&first) = cores.first() else {
        // Apple's systems do not report the register, but a name.
        #[cfg(target_vendor = "apple")]
        let (vendor, vendor_id, name) = ("Apple", 0x106b, wgcl_runtime::host::processor_name());
        #[cfg(not(target_vendor = "apple"))]
        let (vendor, vendor_id, name) = ("AArch64", 0, None::<&str>);
        let name = name.map_or_else(|| format!("{vendor} CPU"), str::to_owned);
        return Processor { name, vendor: vendor.to_owned(), vendor_id, signature: 0 };
    };
    let mut names: Vec<String> = Vec::new();
    for name in cores.iter().map(|core| core.core()) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    let (vendor, vendor_id) = first.vendor();
    Processor { name: format!("{vendor} {}", names.join(" + ")), vendor, vendor_id, signature: first.0 }
}

/// The cores in Linux's sysfs, sorted by capacity, the highest first.
fn cores_in(processors: &Path) -> Vec<Midr> {
    let read = |path: &Path| read_to_string(path).ok().map(|text| text.trim().to_owned());
    let core = |entry: fs::DirEntry| {
        let number: u32 = entry.file_name().to_str()?.strip_prefix("cpu")?.parse().ok()?;
        let folder = entry.path();
        let midr = Midr(number_of(&read(&folder.join("regs/identification/midr_el1"))?)?);
        let capacity: u32 = read(&folder.join("cpu_capacity")).and_then(|text| text.parse().ok()).unwrap_or(0);
        Some((u32::MAX - capacity, number, midr))
    };
    let mut cores: Vec<_> = fs::read_dir(processors).into_iter().flatten().flatten().filter_map(core).collect();
    cores.sort_by_key(|&(capacity, number, _)| (capacity, number));
    cores.into_iter().map(|(.., midr)| midr).collect()
}

/// The cores in the text of /proc/cpuinfo.
fn cores_of(cpuinfo: &str) -> Vec<Midr> {
    let mut cores = Vec::new();
    let mut implementer = None;
    for (key, value) in cpuinfo.lines().filter_map(|line| line.split_once(':')) {
        match (key.trim(), number_of(value.trim())) {
            ("CPU implementer", found) => implementer = found,
            // The value 15 of the architecture field in `MIDR_EL1` means that the ID registers describe the features.
            ("CPU part", Some(part)) => {
                cores.extend(implementer.take().map(|implementer| Midr(implementer << 24 | 0xf << 16 | part << 4)));
            }
            _ => {}
        }
    }
    cores
}

/// Parses a hexadecimal number with the prefix `0x`. Keeps the low 32 bits.
fn number_of(text: &str) -> Option<u32> {
    Some(u64::from_str_radix(text.strip_prefix("0x")?, 16).ok()? as u32)
}

/// The register of the core that runs this thread; `None` if programs cannot read it.
#[cfg(target_arch = "aarch64")]
fn this_core() -> Option<Midr> {
    if !can_read_registers(&fs::read("/proc/self/auxv").ok()?) {
        return None;
    }
    let midr: u64;
    // SAFETY: `HWCAP_CPUID` is set, so the system emulates this instruction for programs.
    unsafe { std::arch::asm!("mrs {0}, midr_el1", out(reg) midr, options(nomem, nostack, preserves_flags)) };
    // The upper half is reserved.
    Some(Midr(midr as u32))
}

/// Whether an auxiliary vector has `HWCAP_CPUID`, so that programs can read identification registers.
fn can_read_registers(auxiliary: &[u8]) -> bool {
    /// The key of the capabilities word (`AT_HWCAP`).
    const CAPABILITIES: u64 = 16;
    /// The bit `HWCAP_CPUID` of that word, from Linux's `arch/arm64/include/uapi/asm/hwcap.h`.
    const REGISTERS: u64 = 1 << 11;
    let words: Vec<u64> = auxiliary.as_chunks().0.iter().map(|bytes| u64::from_ne_bytes(*bytes)).collect();
    words.as_chunks().0.iter().any(|[key, value]| *key == CAPABILITIES && value & REGISTERS != 0)
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::{Midr, Processor, can_read_registers, cores_in, cores_of, describe};

    #[test]
    fn a_processor_has_the_names_of_its_cores() {
        let named = |cores: &[u32]| describe(&cores.iter().copied().map(Midr).collect::<Vec<_>>());
        let n1 = Processor { name: "Arm Neoverse-N1".to_owned(), vendor: "Arm".to_owned(), vendor_id: 0x13b5, signature: 0x413f_d0c1 };
        assert_eq!(named(&[0x413f_d0c1, 0x413f_d0c1]), n1);
        assert_eq!(named(&[0x611f_0230, 0x611f_0220]).name, "Apple M1 Firestorm + M1 Icestorm");
        assert_eq!(named(&[0x410f_eee0]).name, "Arm part 0xeee");
        assert_eq!((named(&[0x010f_0020]).vendor, named(&[0x010f_0020]).vendor_id), ("implementer 0x01".to_owned(), 0));
        assert_eq!(named(&[]).name, "AArch64 CPU");
    }

    #[test]
    fn fast_cores_come_first() {
        let root = tempfile::tempdir().expect("a folder");
        let processors = [("cpu0", "0x00000000412fd050\n", "200\n"), ("cpu1", "0x00000000414fd0b1\n", "1024\n")];
        for (name, midr, capacity) in processors {
            let registers = root.path().join(name).join("regs/identification");
            fs::create_dir_all(&registers).expect("a folder");
            fs::write(registers.join("midr_el1"), midr).expect("a file");
            fs::write(root.path().join(name).join("cpu_capacity"), capacity).expect("a file");
        }
        fs::create_dir(root.path().join("cpufreq")).expect("a folder");
        assert_eq!(cores_in(root.path()), [Midr(0x414f_d0b1), Midr(0x412f_d050)]);
        assert_eq!(describe(&cores_in(root.path())).name, "Arm Cortex-A76 + Cortex-A55");
    }

    #[test]
    fn cpuinfo_has_a_paragraph_for_each_core() {
        let text = "processor\t: 0\nCPU implementer\t: 0x41\nCPU architecture: 8\nCPU variant\t: 0x0\nCPU part\t: 0xd03\n\n\
                    processor\t: 1\nCPU implementer\t: 0x41\nCPU part\t: 0xd08\n";
        assert_eq!(describe(&cores_of(text)).name, "Arm Cortex-A53 + Cortex-A72");
        assert_eq!(cores_of("vendor_id\t: AuthenticAMD\nmodel name\t: AMD EPYC\n"), []);
    }

    #[test]
    fn registers_are_readable_if_hwcap_cpuid_is_set() {
        let vector = |pairs: &[[u64; 2]]| pairs.iter().flatten().flat_map(|word| word.to_ne_bytes()).collect::<Vec<u8>>();
        assert!(can_read_registers(&vector(&[[6, 4096], [16, 0x8ff], [0, 0]])));
        assert!(!can_read_registers(&vector(&[[16, 0xff], [26, 0x800], [0, 0]])));
        assert!(!can_read_registers(&[]));
    }
}
