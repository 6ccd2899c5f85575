//! Functions of the built-in library. The compiler parses a function on its first call, and checks it after the user's
//! functions.
//!
//! The library's files are preprocessed once per target and options, and split into top-level items. An index maps
//! names to the tokens of their overloads. Only functions that the program calls, directly or indirectly, are compiled.

use std::sync::{Arc, LazyLock, Mutex};

use rustc_hash::FxHashMap;

use super::Sema;
use super::scope::{Scope, Symbol};
use crate::ast::{FunctionDef, Item, Name, ScalarKind};
use crate::builtins::library::FILES;
use crate::builtins::signature::{Element, Signature, Type};
use crate::diag::{Diagnostics, SourceMap, WarningLevels};
use crate::lex::{Punct, Token, TokenKind};
use crate::options::BuildOptions;
use crate::target::Target;
use crate::thir::{FuncId, Ty, TyKind};

/// The library for one target and set of options.
#[derive(Debug, Default)]
struct Library {
    items: Vec<Vec<Token>>,
    index: FxHashMap<Name, Vec<u32>>,
}

/// The inputs of the library's preprocessing.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Key {
    target: Target,
    options: BuildOptions,
}

/// Preprocessed libraries, oldest first.
type Cache = Vec<(Key, Arc<Library>)>;

static LIBRARIES: LazyLock<Mutex<Cache>> = LazyLock::new(Mutex::default);

/// Maximum number of cached libraries. Usually there is one per device and set of options.
const MAX_LIBRARIES: usize = 16;

/// The library functions of a program.
#[derive(Debug, Default)]
pub(super) struct State {
    library: Option<Arc<Library>>,
    scope: Scope,
    /// Names that were looked up.
    declared: FxHashMap<Name, ()>,
    bodies: FxHashMap<FuncId, FunctionDef>,
    pending: Vec<FuncId>,
}

fn library(target: &Target, options: &BuildOptions) -> Arc<Library> {
    // Reset the options that the library does not depend on, such as the user's macros.
    let options = BuildOptions {
        macros: Vec::new(),
        include_dirs: Vec::new(),
        warnings: WarningLevels::default(),
        unknown_warnings: Vec::new(),
        kernel_arg_info: false,
        debug_info: false,
        open_references: false,
        ..options.clone()
    };
    let key = Key { target: target.clone(), options };
    let mut cache = LIBRARIES.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    if let Some((_, library)) = cache.iter().find(|(known, _)| *known == key) {
        return library.clone();
    }
    let library = Arc::new(Library::read(&key));
    if cache.len() >= MAX_LIBRARIES {
        cache.remove(0);
    }
    cache.push((key, library.clone()));
    library
}

impl Library {
    fn read(key: &Key) -> Self {
        let mut library = Self::default();
        for (name, text) in FILES {
            let mut map = SourceMap::default();
            let mut diags = Diagnostics::default();
            let tokens = crate::preprocess::preprocess_library(name, text, &key.options, &key.target, &mut map, &mut diags);
            library.split(tokens);
        }
        library
    }

    /// Splits tokens into items. An item ends at a `;` outside of brackets, or at the `}` of a function body.
    fn split(&mut self, tokens: Vec<Token>) {
        let mut item: Vec<Token> = Vec::new();
        let mut depth = 0usize;
        let mut body = false;
        let mut name: Option<Name> = None;
        for token in tokens {
            let mut ends = false;
            match &token.kind {
                TokenKind::Eof => break,
                TokenKind::Pragma(_) if depth == 0 => continue,
                TokenKind::Punct(punct) => match punct {
                    Punct::LParen | Punct::LBracket => {
                        if depth == 0 && name.is_none() {
                            name = last_name(&item);
                        }
                        depth += 1;
                    }
                    Punct::LBrace => {
                        if depth == 0 {
                            body = matches!(item.last().map(|t| &t.kind), Some(TokenKind::Punct(Punct::RParen)));
                        }
                        depth += 1;
                    }
                    Punct::RParen | Punct::RBracket => depth = depth.saturating_sub(1),
                    Punct::RBrace => {
                        depth = depth.saturating_sub(1);
                        ends = depth == 0 && body;
                    }
                    Punct::Eq if depth == 0 && name.is_none() => name = last_name(&item),
                    Punct::Semi => ends = depth == 0,
                    _ => {}
                },
                _ => {}
            }
            let span = token.span;
            item.push(token);
            if ends {
                item.push(Token { kind: TokenKind::Eof, span });
                if let Some(name) = name.take() {
                    let id = u32::try_from(self.items.len()).unwrap_or(u32::MAX);
                    self.items.push(std::mem::take(&mut item));
                    self.index.entry(name).or_default().push(id);
                }
                item.clear();
                body = false;
            }
        }
    }
}

/// Returns the last token if it is an identifier.
fn last_name(item: &[Token]) -> Option<Name> {
    match &item.last()?.kind {
        TokenKind::Ident(name) => Some(name.clone()),
        _ => None,
    }
}

impl Sema<'_> {
    /// Looks up a name in the library's scope. The first lookup of a name declares the library items of this name.
    /// Returns `None` if the library does not contain the name.
    pub(super) fn library_symbol(&mut self, name: &Name) -> Option<Symbol> {
        if !self.library.declared.contains_key(name) {
            self.library.declared.insert(name.clone(), ());
            self.declare_library_items(name);
        }
        if self.in_library {
            return self.scopes.first().and_then(|s| s.names.get(name)).map(|(symbol, _)| symbol.clone());
        }
        self.library.scope.names.get(name).map(|(symbol, _)| symbol.clone())
    }

    fn declare_library_items(&mut self, name: &Name) {
        let library = match &self.library.library {
            Some(library) => library.clone(),
            None => {
                let library = library(self.target, self.options);
                self.library.library = Some(library.clone());
                library
            }
        };
        let Some(items) = library.index.get(name) else { return };
        for item in items {
            let Some(tokens) = library.items.get(*item as usize) else { continue };
            let mut diags = Diagnostics::default();
            let unit = crate::parse::parse(tokens.clone(), &mut diags);
            if let Some(first) = diags.list().first() {
                let text = format!("in the built-in library, '{name}': {}", first.message);
                self.diags.error(crate::diag::Span::NONE, text);
                continue;
            }
            for item in unit.items {
                self.in_library_scope(|sema| match item {
                    Item::Function(def) => sema.declare_library_function(*def),
                    Item::Declaration(declaration) => {
                        sema.declaration(&declaration);
                    }
                    Item::Pragma(_) | Item::StaticAssert(_) => {}
                });
            }
        }
    }

    /// Runs a closure in the library's program scope.
    fn in_library_scope<T>(&mut self, run: impl FnOnce(&mut Self) -> T) -> T {
        let was_in_library = self.in_library;
        let f = self.f.take();
        let contract = std::mem::replace(&mut self.contract, false);
        let depth = std::mem::take(&mut self.depth);
        // While a library function is checked, the library's scope is the outermost of the current scopes.
        let library_scope = if was_in_library {
            if self.scopes.is_empty() { Scope::default() } else { std::mem::take(&mut self.scopes[0]) }
        } else {
            std::mem::take(&mut self.library.scope)
        };
        let scopes = std::mem::replace(&mut self.scopes, vec![library_scope]);
        self.in_library = true;
        let result = run(self);
        let library_scope = self.scopes.drain(..).next().unwrap_or_default();
        self.scopes = scopes;
        if was_in_library {
            if let Some(first) = self.scopes.first_mut() {
                *first = library_scope;
            }
        } else {
            self.library.scope = library_scope;
        }
        self.in_library = was_in_library;
        self.f = f;
        self.contract = contract;
        self.depth = depth;
        result
    }

    fn declare_library_function(&mut self, def: FunctionDef) {
        // Do not report errors: an overload with types that the device lacks is omitted.
        self.quiet += 1;
        let id = self.declare_function(&def.specs, &def.declarator, true);
        self.quiet -= 1;
        if let Some(id) = id {
            self.library.bodies.insert(id, def);
        }
    }

    /// Whether all types in a function's signature are valid.
    fn has_valid_types(&self, id: FuncId) -> bool {
        let decl = &self.decls[id.index()];
        !self.is_error(decl.ret) && decl.params.iter().all(|p| !self.is_error(p.ty.ty))
    }

    /// Returns the library function for a built-in function of the table, and its scalar type. The type is `kind`,
    /// or `float` if `kind` is `half` and the library has no function for `half`. Returns `None` if the library has
    /// neither.
    pub(super) fn library_variant(&mut self, name: &Name, kind: ScalarKind, signature: &Signature) -> Option<(FuncId, ScalarKind)> {
        let Some(Symbol::Functions(list)) = self.library_symbol(name) else { return None };
        let candidates: &[ScalarKind] = if kind == ScalarKind::Half { &[ScalarKind::Half, ScalarKind::Float] } else { &[kind] };
        for candidate in candidates {
            for id in &list {
                if !self.has_valid_types(*id) {
                    continue;
                }
                let types: Vec<Ty> = self.decls[id.index()].params.iter().map(|p| p.ty.ty).collect();
                let matches = types.len() == signature.params.len()
                    && types.iter().zip(&signature.params).all(|(ty, slot)| {
                        let ty = match (&slot.pointer, self.kind(*ty)) {
                            (Some(_), TyKind::Pointer { pointee, .. }) => pointee.ty,
                            (Some(_), _) => return false,
                            (None, _) => *ty,
                        };
                        let wanted = match slot.ty {
                            Type::Value(Element::Generic, _) => *candidate,
                            _ => ScalarKind::Int,
                        };
                        self.scalar_kind(ty) == Some(wanted)
                    });
                if matches {
                    return Some((*id, *candidate));
                }
            }
        }
        None
    }

    /// Queues the body of a library function for checking, unless it was queued before.
    pub(super) fn require_library(&mut self, id: FuncId) {
        if self.library.bodies.contains_key(&id) && !self.library.pending.contains(&id) {
            self.library.pending.push(id);
        }
    }

    /// Checks the bodies of all library functions that are called. Stops after an error.
    pub(super) fn check_library_functions(&mut self) {
        while let Some(id) = self.library.pending.pop() {
            if self.diags.has_errors() {
                return;
            }
            let Some(def) = self.library.bodies.remove(&id) else { continue };
            self.in_library_scope(|sema| {
                sema.function_body(id, &def.body);
                sema.finish_function(id);
            });
        }
    }
}
