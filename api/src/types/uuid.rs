//! UUIDs of devices whose drivers do not report a UUID (`cl_khr_device_uuid`).

use sha2::{Digest, Sha256};

/// Computes a UUID from identifying parts: equal parts have the same UUID (RFC 9562, version 8).
pub fn of_parts(parts: &[&[u8]]) -> [u8; 16] {
    let mut hasher = Sha256::new();
    for part in parts {
        hasher.update((part.len() as u64).to_le_bytes());
        hasher.update(part);
    }
    let mut uuid = [0; 16];
    uuid.copy_from_slice(&hasher.finalize()[..16]);
    uuid[6] = uuid[6] & 0x0f | 0x80;
    uuid[8] = uuid[8] & 0x3f | 0x80;
    uuid
}

#[cfg(test)]
mod tests {
    use super::of_parts;

    #[test]
    fn the_uuid_depends_only_on_the_parts() {
        let name = of_parts(&[b"a", b"bc"]);
        assert_eq!(name, of_parts(&[b"a", b"bc"]));
        assert_ne!(name, of_parts(&[b"ab", b"c"]));
        assert_eq!((name[6] >> 4, name[8] >> 6), (8, 2));
    }
}
