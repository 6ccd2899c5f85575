//! Interned spellings. The preprocessor compares and looks up names by number.

use std::sync::Arc;

use rustc_hash::FxHashMap;

/// An interned spelling of the current compilation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Symbol(u32);

impl Symbol {
    /// The empty spelling.
    pub(crate) const EMPTY: Self = Self(0);

    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }

    pub(crate) const fn from_index(index: u32) -> Self {
        Self(index)
    }
}

#[derive(Debug)]
pub(crate) struct Interner {
    numbers: FxHashMap<Arc<str>, Symbol>,
    names: Vec<Arc<str>>,
}

impl Default for Interner {
    fn default() -> Self {
        Self::new()
    }
}

impl Interner {
    /// An interner that contains only the empty spelling.
    pub(crate) fn new() -> Self {
        let mut interner = Self { numbers: FxHashMap::default(), names: Vec::new() };
        interner.intern("");
        interner
    }

    pub(crate) fn intern(&mut self, text: &str) -> Symbol {
        if let Some(symbol) = self.numbers.get(text) {
            return *symbol;
        }
        let symbol = Symbol(u32::try_from(self.names.len()).unwrap_or(u32::MAX));
        let name: Arc<str> = Arc::from(text);
        self.names.push(name.clone());
        self.numbers.insert(name, symbol);
        symbol
    }

    pub(crate) fn name(&self, symbol: Symbol) -> &Arc<str> {
        // Symbols come from `intern` only, and the empty spelling always exists.
        self.names.get(symbol.index()).unwrap_or(&self.names[0])
    }

    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }
}
