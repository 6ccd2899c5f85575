//! Interned spellings. The preprocessor compares and looks up names by their symbol.

use std::sync::Arc;

use rustc_hash::FxHashMap;

/// The number of an interned spelling. It is valid within one compilation.
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
    symbols: FxHashMap<Arc<str>, Symbol>,
    spellings: Vec<Arc<str>>,
}

impl Default for Interner {
    fn default() -> Self {
        Self::new()
    }
}

impl Interner {
    /// Creates an interner that contains only the empty spelling.
    pub(crate) fn new() -> Self {
        let mut interner = Self { symbols: FxHashMap::default(), spellings: Vec::new() };
        interner.intern("");
        interner
    }

    pub(crate) fn intern(&mut self, text: &str) -> Symbol {
        if let Some(symbol) = self.symbols.get(text) {
            return *symbol;
        }
        let symbol = Symbol(u32::try_from(self.spellings.len()).unwrap_or(u32::MAX));
        let name: Arc<str> = Arc::from(text);
        self.spellings.push(name.clone());
        self.symbols.insert(name, symbol);
        symbol
    }

    pub(crate) fn name(&self, symbol: Symbol) -> &Arc<str> {
        // The index is out of range only for a symbol of another interner. The empty spelling always exists.
        self.spellings.get(symbol.index()).unwrap_or(&self.spellings[0])
    }

    pub(crate) fn len(&self) -> usize {
        self.spellings.len()
    }
}
