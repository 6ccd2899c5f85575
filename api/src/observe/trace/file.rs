//! A trace in the JSON that Chrome and Perfetto read ("Trace Event Format").
//!
//! The file is complete after each event, so that it is readable even after a crash: the next event overwrites the
//! terminator.

use std::fs::File;
use std::io::{self, Seek, SeekFrom, Write};
use std::path::Path;

use serde_json::Value;

/// The terminator of the file.
const END: &[u8] = b"\n]\n";

/// A file of events.
#[derive(Debug)]
pub(super) struct TraceFile {
    file: File,
    /// The offset of the terminator.
    end: u64,
    is_empty: bool,
    buffer: Vec<u8>,
}

impl TraceFile {
    /// Creates the file, or truncates it.
    pub(super) fn create(path: &Path) -> io::Result<Self> {
        let mut file = File::create(path)?;
        file.write_all(b"[\n]\n")?;
        Ok(Self { file, end: 1, is_empty: true, buffer: Vec::new() })
    }

    /// Appends an event.
    pub(super) fn append(&mut self, event: &Value) -> io::Result<()> {
        self.buffer.clear();
        self.buffer.extend_from_slice(if self.is_empty { b"\n" } else { b",\n" });
        serde_json::to_writer(&mut self.buffer, event)?;
        let length = self.buffer.len() as u64;
        self.buffer.extend_from_slice(END);
        self.file.seek(SeekFrom::Start(self.end))?;
        self.file.write_all(&self.buffer)?;
        self.end += length;
        self.is_empty = false;
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::TraceFile;

    #[test]
    fn the_file_is_valid_after_each_event() {
        let path = std::env::temp_dir().join(format!("wgcl-trace-{}.json", std::process::id()));
        let read = || serde_json::from_slice::<Vec<serde_json::Value>>(&std::fs::read(&path).expect("the file")).expect("JSON");
        let mut file = TraceFile::create(&path).expect("the file");
        assert_eq!(read().len(), 0);
        for count in 1..4 {
            file.append(&serde_json::json!({ "name": "a \"name\"\n", "ts": count })).expect("an event");
            let events = read();
            assert_eq!((events.len(), &events[count - 1]["ts"]), (count, &serde_json::json!(count)));
        }
        std::fs::remove_file(&path).expect("removed");
    }
}
