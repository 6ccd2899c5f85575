//! Messages: sections of bytes. Each has its length in front, as a little-endian 32-bit word.

/// Joins sections to a message, each with its length in front.
pub fn encode(sections: &[Vec<u8>]) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(sections.iter().map(|section| section.len() + 4).sum());
    for section in sections {
        bytes.extend_from_slice(&u32::try_from(section.len()).unwrap_or(u32::MAX).to_le_bytes());
        bytes.extend_from_slice(section);
    }
    bytes
}

/// Splits a message into its sections. A section that is cut off is ignored.
pub fn decode(mut bytes: &[u8]) -> Vec<&[u8]> {
    let mut sections = Vec::new();
    while let Some((length, rest)) = bytes.split_first_chunk() {
        let Some((section, rest)) = rest.split_at_checked(u32::from_le_bytes(*length) as usize) else { break };
        sections.push(section);
        bytes = rest;
    }
    sections
}

#[cfg(test)]
mod tests {
    use super::{decode, encode};

    #[test]
    fn sections_are_separated() {
        let sections = vec![b"{}".to_vec(), Vec::new(), vec![1, 2, 3]];
        let bytes = encode(&sections);
        assert_eq!(decode(&bytes), sections);
        assert_eq!(decode(&bytes[..bytes.len() - 1]), &sections[..2]);
        assert!(decode(&[1, 0, 0]).is_empty());
    }
}
