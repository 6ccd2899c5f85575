//! Spellings as numbers: the preprocessor compares and looks up names all the time.

use std::sync::Arc;

use rustc_hash::FxHashMap;

/// A spelling of the compilation at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) struct Symbol(u32);

impl Symbol {
    /// The empty spelling.
    pub(crate) const EMPTY: Self = Self(0);

    /// Number of the spelling, from 0.
    pub(crate) const fn index(self) -> usize {
        self.0 as usize
    }

    /// The symbol with that number.
    pub(crate) const fn from_index(index: u32) -> Self {
        Self(index)
    }
}

/// All spellings seen.
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
    /// One that knows the empty spelling only.
    pub(crate) fn new() -> Self {
        let mut interner = Self { numbers: FxHashMap::default(), names: Vec::new() };
        interner.intern("");
        interner
    }

    /// The symbol of a spelling.
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

    /// The spelling of a symbol.
    pub(crate) fn name(&self, symbol: Symbol) -> &Arc<str> {
        // Symbols come from `intern` alone, and the empty spelling is always there.
        self.names.get(symbol.index()).unwrap_or(&self.names[0])
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.names.len()
    }
}
