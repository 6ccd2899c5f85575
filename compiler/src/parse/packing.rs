//! `#pragma pack`: maximum alignments of struct and union members, with a stack, as in GNU C and MSVC.

use crate::ast::{Name, Pack};

/// The current maximum alignment in bytes, and the stack of saved maximum alignments. `None` means that there is no
/// maximum.
#[derive(Debug, Default)]
pub(super) struct Packing {
    current: Option<u32>,
    stack: Vec<(Option<Name>, Option<u32>)>,
}

impl Packing {
    /// Returns the current maximum alignment of members in bytes, or `None` if there is no maximum.
    pub(super) const fn current(&self) -> Option<u32> {
        self.current
    }

    /// Applies a pragma. Fails with the text of a warning if there is no entry to pop.
    pub(super) fn apply(&mut self, pack: &Pack) -> Result<(), &'static str> {
        let set = |value: u32| (value > 0).then_some(value);
        match pack {
            Pack::Set(value) => self.current = set(*value),
            Pack::Push { label, value } => {
                self.stack.push((label.clone(), self.current));
                if let Some(value) = value {
                    self.current = set(*value);
                }
            }
            Pack::Pop { label, value } => {
                let to = match label {
                    Some(label) => self.stack.iter().rposition(|(entry, _)| entry.as_ref() == Some(label)),
                    None => self.stack.len().checked_sub(1),
                };
                let popped = to.and_then(|to| self.stack.drain(to..).next());
                match (popped, value) {
                    (_, Some(value)) => self.current = set(*value),
                    (Some((_, old)), None) => self.current = old,
                    (None, None) => {}
                }
                if to.is_none() {
                    return Err("#pragma pack(pop, ...) failed: stack empty");
                }
            }
        }
        Ok(())
    }
}
