//! The processor's name and vendor, from CPUID.

use std::arch::x86_64::__cpuid;

use super::Processor;

/// The processor of this machine.
pub(crate) fn processor() -> Processor {
    let name = brand().or_else(of_cpuinfo).unwrap_or_else(|| "x86-64 CPU".to_owned());
    let leaf = __cpuid(0);
    let (vendor, vendor_id) = match &*text(&[leaf.ebx, leaf.edx, leaf.ecx]) {
        "GenuineIntel" => ("Intel".to_owned(), 0x8086),
        "AuthenticAMD" => ("AMD".to_owned(), 0x1022),
        "HygonGenuine" => ("Hygon".to_owned(), 0x1d94),
        "CentaurHauls" | "  Shanghai  " => ("Zhaoxin".to_owned(), 0x1d17),
        other => (other.to_owned(), 0),
    };
    Processor { name, vendor, vendor_id, signature: __cpuid(1).eax }
}

/// The brand string of the processor; `None` if it has none.
fn brand() -> Option<String> {
    const FIRST: u32 = 0x8000_0002;
    if __cpuid(0x8000_0000).eax < FIRST + 2 {
        return None;
    }
    let words: Vec<u32> = (FIRST..=FIRST + 2).map(__cpuid).flat_map(|leaf| [leaf.eax, leaf.ebx, leaf.ecx, leaf.edx]).collect();
    trim_blanks(&text(&words))
}

/// The name of the first processor in /proc/cpuinfo; `None` if it has none.
fn of_cpuinfo() -> Option<String> {
    let text = std::fs::read_to_string("/proc/cpuinfo").ok()?;
    let line = text.lines().find(|line| line.starts_with("model name"))?;
    trim_blanks(line.split_once(':')?.1)
}

/// The characters in register values, up to the first zero byte.
fn text(words: &[u32]) -> String {
    let bytes = words.iter().flat_map(|word| word.to_le_bytes()).take_while(|&byte| byte != 0);
    bytes.map(char::from).collect()
}

/// Removes blanks at the ends and repeated blanks; `None` if the result is empty.
fn trim_blanks(name: &str) -> Option<String> {
    let name = name.split_whitespace().collect::<Vec<_>>().join(" ");
    (!name.is_empty()).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::trim_blanks;

    #[test]
    fn blanks_are_removed_from_names() {
        assert_eq!(trim_blanks("  Intel(R) Xeon(R)   CPU @ 2.00GHz "), Some("Intel(R) Xeon(R) CPU @ 2.00GHz".to_owned()));
        assert_eq!(trim_blanks("   "), None);
    }
}
