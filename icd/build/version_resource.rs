//! Writes the version resource of `wgcl.dll` as an object file for the linker, so the build needs no resource compiler.
//! Tools such as Explorer show the version, and installers compare it.

/// The type of a version resource (`RT_VERSION`), and the resource number that Windows requires (`VS_VERSION_INFO`).
const RESOURCE: [u32; 2] = [16, 1];
/// The language identifier of American English.
const LANGUAGE: u16 = 0x409;
/// The code page number of UTF-16.
const CODE_PAGE: u16 = 1200;

/// Returns an object file (COFF) with the section `.rsrc`, or `None` for an unknown processor.
pub fn object(processor: &str, version: &str, texts: &[(&str, &str)]) -> Option<Vec<u8>> {
    // The COFF machine type, and the relocation type for an address relative to the image base.
    let (machine, relocation): (u16, u16) = match processor {
        "x86_64" => (0x8664, 3),
        "aarch64" => (0xaa64, 2),
        "x86" => (0x14c, 7),
        _ => return None,
    };
    let info = version_info(version, texts);
    let mut section = Vec::new();
    // The directories of the three levels: type, name, language. Each directory has one entry, which refers to the next
    // level.
    let levels = [RESOURCE[0], RESOURCE[1], u32::from(LANGUAGE)];
    for (level, id) in levels.into_iter().enumerate() {
        section.extend([0; 14]);
        section.extend(1u16.to_le_bytes());
        section.extend(id.to_le_bytes());
        let next = 24 * (level as u32 + 1);
        section.extend((if level < 2 { next | 1 << 31 } else { next }).to_le_bytes());
    }
    // The address of the data, which the linker relocates, and the size of the data.
    let address = section.len() as u32;
    section.extend((address + 16).to_le_bytes());
    section.extend((info.len() as u32).to_le_bytes());
    section.extend([0; 8]);
    section.extend(info);

    let mut file = Vec::new();
    let relocations = 60 + section.len() as u32;
    // The file header: one section, one symbol.
    file.extend(machine.to_le_bytes());
    file.extend(1u16.to_le_bytes());
    file.extend([0; 4]);
    file.extend((relocations + 10).to_le_bytes());
    file.extend(1u32.to_le_bytes());
    file.extend([0; 4]);
    // The section header: initialised, read-only data.
    file.extend(*b".rsrc\0\0\0");
    file.extend([0; 8]);
    file.extend((section.len() as u32).to_le_bytes());
    file.extend(60u32.to_le_bytes());
    file.extend(relocations.to_le_bytes());
    file.extend([0; 4]);
    file.extend(1u16.to_le_bytes());
    file.extend([0; 2]);
    file.extend(0x4000_0040u32.to_le_bytes());
    file.extend(section);
    file.extend(address.to_le_bytes());
    file.extend(0u32.to_le_bytes());
    file.extend(relocation.to_le_bytes());
    // The symbol of the section, and an empty string table.
    file.extend(*b".rsrc\0\0\0");
    file.extend([0; 4]);
    file.extend(1u16.to_le_bytes());
    file.extend(0u16.to_le_bytes());
    file.extend([3, 0]);
    file.extend(4u32.to_le_bytes());
    Some(file)
}

/// Returns the structure `VS_VERSIONINFO`.
fn version_info(version: &str, texts: &[(&str, &str)]) -> Vec<u8> {
    let mut numbers = version.split(['.', '-', '+']).map(|part| part.parse::<u16>().unwrap_or(0)).chain([0; 4]);
    let mut pair = || (u32::from(numbers.next().unwrap_or(0)) << 16) | u32::from(numbers.next().unwrap_or(0));
    let (high, low) = (pair(), pair());
    // VS_FIXEDFILEINFO: signature, structure version, file version, product version, flags mask, flags, the system
    // (Windows NT), the file type (library).
    let fixed = [0xfeef_04bd, 0x1_0000, high, low, high, low, 0x3f, 0, 0x4_0004, 2, 0, 0, 0];
    let fixed: Vec<u8> = fixed.into_iter().flat_map(u32::to_le_bytes).collect();
    let strings = texts.iter().map(|&(key, text)| {
        let text = utf16(text);
        node(key, 1, text.len() / 2, &text, &[])
    });
    let table = node(&format!("{LANGUAGE:04x}{CODE_PAGE:04x}"), 1, 0, &[], &strings.collect::<Vec<_>>());
    let translation: Vec<u8> = [LANGUAGE, CODE_PAGE].into_iter().flat_map(u16::to_le_bytes).collect();
    let variable = node("Translation", 0, 4, &translation, &[]);
    let children = [node("StringFileInfo", 1, 0, &[], &[table]), node("VarFileInfo", 1, 0, &[], &[variable])];
    node("VS_VERSION_INFO", 0, fixed.len(), &fixed, &children)
}

/// Returns a node of the version tree: its length, the length of its value, its kind, its key, its value, its children.
/// Key, value and children are aligned to 4 bytes. The length of a text value is in characters.
fn node(key: &str, kind: u16, value_length: usize, value: &[u8], children: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = vec![0; 2];
    bytes.extend((value_length as u16).to_le_bytes());
    bytes.extend(kind.to_le_bytes());
    bytes.extend(utf16(key));
    for part in [value].into_iter().chain(children.iter().map(Vec::as_slice)) {
        bytes.resize(bytes.len().next_multiple_of(4), 0);
        bytes.extend(part);
    }
    let length = bytes.len() as u16;
    bytes[..2].copy_from_slice(&length.to_le_bytes());
    bytes
}

fn utf16(text: &str) -> Vec<u8> {
    text.encode_utf16().chain([0]).flat_map(u16::to_le_bytes).collect()
}
