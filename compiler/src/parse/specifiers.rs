//! Declaration specifiers (C99 6.7p1): storage, qualifiers, address spaces, access, attributes, and the type, in any
//! order.

use crate::ast::{Access, AddrSpace, DeclSpecs, Qualifiers, StorageClass, TypeName, TypeSpec};
use crate::diag::{Span, WarningGroup};
use crate::lex::{Keyword, Punct, TokenKind};

use super::Parser;
use super::types::{self, TypeKeywords};

/// The context of a specifier list.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum SpecContext {
    /// A declaration outside of functions.
    File,
    /// A declaration or parameter.
    Declaration,
    /// A field or a type name, which cannot have a storage class.
    Type,
}

/// Returns the address space of a keyword, or `None` for other keywords.
pub(super) const fn address_space(keyword: Keyword) -> Option<AddrSpace> {
    Some(match keyword {
        Keyword::Global => AddrSpace::Global,
        Keyword::Local => AddrSpace::Local,
        Keyword::Constant => AddrSpace::Constant,
        Keyword::Private => AddrSpace::Private,
        Keyword::Generic => AddrSpace::Generic,
        _ => return None,
    })
}

const fn space_name(space: AddrSpace) -> &'static str {
    match space {
        AddrSpace::Global => "__global",
        AddrSpace::Local => "__local",
        AddrSpace::Constant => "__constant",
        AddrSpace::Private => "__private",
        AddrSpace::Generic => "__generic",
    }
}

const fn storage_name(storage: StorageClass) -> &'static str {
    match storage {
        StorageClass::Typedef => "typedef",
        StorageClass::Extern => "extern",
        StorageClass::Static => "static",
        StorageClass::Auto => "auto",
        StorageClass::Register => "register",
    }
}

/// Whether a type specifier defines a structure, union or enumeration.
const fn defines_record(ty: &TypeSpec) -> bool {
    match ty {
        TypeSpec::Record(spec) => spec.fields.is_some(),
        TypeSpec::Enum(spec) => spec.enumerators.is_some(),
        _ => false,
    }
}

/// Whether a keyword after the definition of a structure, union or enumeration starts the next declaration of a file. C
/// also permits `struct S { int a; } typedef T;`, which this parser rejects.
const fn starts_declaration(keyword: Keyword) -> bool {
    use Keyword as K;
    matches!(
        keyword,
        K::Kernel | K::Typedef | K::Void | K::Char | K::Short | K::Int | K::Long | K::Float | K::Double | K::Half | K::Bool | K::Unsigned
    ) || matches!(keyword, K::Signed | K::Struct | K::Union | K::Enum | K::Inline)
}

impl Parser<'_> {
    /// Whether a keyword is a declaration specifier.
    const fn is_specifier(keyword: Keyword) -> bool {
        use Keyword as K;
        matches!(
            keyword,
            K::Auto
                | K::Char
                | K::Const
                | K::Double
                | K::Enum
                | K::Extern
                | K::Float
                | K::Inline
                | K::Int
                | K::Long
                | K::Register
                | K::Restrict
                | K::Short
                | K::Signed
                | K::Static
                | K::Struct
                | K::Typedef
                | K::Union
                | K::Unsigned
                | K::Void
                | K::Volatile
                | K::Bool
                | K::Half
                | K::Kernel
                | K::Global
                | K::Local
                | K::Constant
                | K::Private
                | K::Generic
                | K::ReadOnly
                | K::WriteOnly
                | K::ReadWrite
                | K::Attribute
                | K::Typeof
                | K::Pipe
                | K::Complex
                | K::Imaginary
                | K::Atomic
                | K::ThreadLocal
                | K::Noreturn
                | K::Alignas
        )
    }

    /// Whether a type name starts at the next token.
    pub(super) fn at_type(&self) -> bool {
        self.type_at(0)
    }

    pub(super) fn type_at(&self, ahead: usize) -> bool {
        match self.peek_at(ahead) {
            TokenKind::Keyword(keyword) => Self::is_specifier(*keyword),
            TokenKind::Ident(name) => self.scopes.is_type(name),
            _ => false,
        }
    }

    /// Whether a declaration starts at the next token.
    pub(super) fn at_declaration(&self) -> bool {
        match self.peek() {
            TokenKind::Keyword(keyword) => Self::is_specifier(*keyword),
            TokenKind::Ident(name) => {
                // `name:` is a label, even if the name is a type.
                self.scopes.is_type(name) && *self.peek_at(1) != TokenKind::Punct(Punct::Colon)
            }
            _ => false,
        }
    }

    /// Parses a type name: specifiers without a storage class, and an abstract declarator.
    pub(super) fn type_name(&mut self) -> TypeName {
        let start = self.span();
        let specs = self.specifiers(SpecContext::Type);
        let declarator = self.abstract_declarator();
        TypeName { specs, declarator, span: self.since(start) }
    }

    /// Parses specifiers. Reports an error if there is no type among them.
    pub(super) fn specifiers(&mut self, context: SpecContext) -> DeclSpecs {
        let start = self.span();
        let mut specs = DeclSpecs::missing(start);
        let mut words = TypeKeywords::default();
        let mut has_type = false;
        let mut words_span = start;
        loop {
            if let Some(name) = self.peek_name() {
                if has_type || words.any() || !self.scopes.is_type(name) {
                    break;
                }
                let declared = self.scopes.is_declared(name);
                specs.ty = match types::predeclared(name) {
                    Some(ty) if !declared => ty.spec(),
                    _ => TypeSpec::Typedef(name.clone()),
                };
                has_type = true;
                specs.ty_span = self.span();
                self.advance();
                continue;
            }
            let TokenKind::Keyword(keyword) = *self.peek() else { break };
            if context == SpecContext::File && has_type && defines_record(&specs.ty) && starts_declaration(keyword) {
                self.error_missing(Punct::Semi, "expected ';' after struct, union or enum definition");
                self.ends_early = true;
                break;
            }
            if self.type_keyword(keyword, &mut words) {
                if has_type {
                    self.error(format!("cannot combine '{}' with previous declaration specifier", keyword.spelling()));
                }
                words_span = self.span();
                specs.ty_span = words_span;
                self.advance();
            } else if matches!(keyword, Keyword::Struct | Keyword::Union | Keyword::Enum | Keyword::Typeof) {
                if has_type || words.any() {
                    self.error(format!("cannot combine '{}' with previous declaration specifier", keyword.spelling()));
                }
                specs.ty = match keyword {
                    Keyword::Enum => self.enum_specifier(),
                    Keyword::Typeof => self.typeof_specifier(),
                    _ => self.record_specifier(keyword == Keyword::Union),
                };
                has_type = true;
            } else if !self.other_specifier(keyword, context, &mut specs) {
                break;
            }
        }
        if words.any() && !has_type {
            match words.combine() {
                Some(ty) => specs.ty = ty,
                None => {
                    let message = if words.long > 0 && words.double {
                        "'long double' is reserved in OpenCL C; use 'double'".to_owned()
                    } else {
                        format!("cannot combine '{}' with previous declaration specifier", self.word_at(words_span))
                    };
                    self.error_span(words_span, message);
                    specs.ty = TypeSpec::Scalar(crate::ast::ScalarKind::Int);
                }
            }
            has_type = true;
        }
        specs.span = self.since(start);
        if !has_type {
            self.missing_type(context);
        }
        specs
    }

    /// Returns the spelling of the consumed keyword at a span, for a diagnostic.
    fn word_at(&self, span: Span) -> &'static str {
        match self.tokens.iter().take(self.pos + 1).rev().find(|token| token.span == span).map(|token| &token.kind) {
            Some(TokenKind::Keyword(keyword)) => keyword.spelling(),
            _ => "type",
        }
    }

    /// Records a keyword of a built-in type of C. Returns false for other keywords. Does not consume it.
    fn type_keyword(&mut self, keyword: Keyword, words: &mut TypeKeywords) -> bool {
        let is_repeated = |set: &mut bool| std::mem::replace(set, true);
        let repeated = match keyword {
            Keyword::Void => is_repeated(&mut words.void),
            Keyword::Bool => is_repeated(&mut words.bool),
            Keyword::Char => is_repeated(&mut words.char),
            Keyword::Short => is_repeated(&mut words.short),
            Keyword::Int => is_repeated(&mut words.int),
            Keyword::Half => is_repeated(&mut words.half),
            Keyword::Float => is_repeated(&mut words.float),
            Keyword::Double => is_repeated(&mut words.double),
            Keyword::Signed => is_repeated(&mut words.signed),
            Keyword::Unsigned => is_repeated(&mut words.unsigned),
            Keyword::Long => {
                words.long = words.long.saturating_add(1);
                words.long > 2
            }
            _ => return false,
        };
        if repeated {
            self.error(format!("cannot combine with previous '{}' declaration specifier", keyword.spelling()));
        }
        true
    }

    /// Parses storage classes, qualifiers and other specifiers. Returns false if the keyword is not one of these.
    fn other_specifier(&mut self, keyword: Keyword, context: SpecContext, specs: &mut DeclSpecs) -> bool {
        let span = self.span();
        let storage = match keyword {
            Keyword::Typedef => Some(StorageClass::Typedef),
            Keyword::Extern => Some(StorageClass::Extern),
            Keyword::Static => Some(StorageClass::Static),
            Keyword::Auto => Some(StorageClass::Auto),
            Keyword::Register => Some(StorageClass::Register),
            _ => None,
        };
        if let Some(storage) = storage {
            if context == SpecContext::Type {
                self.error("type name does not allow storage class to be specified");
            } else if let Some((previous, _)) = specs.storage {
                self.error(format!("cannot combine with previous '{}' declaration specifier", storage_name(previous)));
            } else {
                specs.storage = Some((storage, span));
            }
            self.advance();
            return true;
        }
        match keyword {
            Keyword::Inline | Keyword::Noreturn => specs.is_inline |= keyword == Keyword::Inline,
            Keyword::Kernel => specs.is_kernel = true,
            Keyword::ReadOnly | Keyword::WriteOnly | Keyword::ReadWrite => {
                let access = match keyword {
                    Keyword::ReadOnly => Access::ReadOnly,
                    Keyword::WriteOnly => Access::WriteOnly,
                    _ => Access::ReadWrite,
                };
                if specs.access.is_some_and(|(previous, _)| previous != access) {
                    self.error("multiple access qualifiers");
                }
                specs.access = Some((access, span));
            }
            Keyword::Attribute => {
                self.attributes(&mut specs.attributes);
                return true;
            }
            Keyword::Pipe => {
                if specs.pipe.is_some() {
                    self.error("cannot combine with previous 'pipe' declaration specifier");
                }
                specs.pipe = Some(span);
            }
            Keyword::Complex | Keyword::Imaginary => self.error("complex numbers are not supported in OpenCL C"),
            Keyword::Atomic => self.error("'_Atomic' is not supported in OpenCL C; use the types atomic_int, atomic_uint, ..."),
            Keyword::ThreadLocal => self.error("thread-local storage is not supported in OpenCL C"),
            Keyword::Alignas => {
                self.error("'_Alignas' is not supported in OpenCL C; use __attribute__((aligned(n)))");
                self.advance();
                self.skip_parens();
                return true;
            }
            _ => return self.qualifier(&mut specs.quals),
        }
        self.advance();
        true
    }

    /// Skips `( ... )` if it follows.
    pub(super) fn skip_parens(&mut self) {
        let open = self.span();
        if self.accept(Punct::LParen) {
            self.skip_to(&[Punct::RParen, Punct::Semi]);
            self.close(Punct::RParen, open);
        }
    }

    /// Parses a type qualifier or address space. Returns false if the next token is neither.
    pub(super) fn qualifier(&mut self, quals: &mut Qualifiers) -> bool {
        let TokenKind::Keyword(keyword) = *self.peek() else { return false };
        match keyword {
            Keyword::Const => quals.is_const = true,
            Keyword::Volatile => quals.is_volatile = true,
            Keyword::Restrict => quals.is_restrict = true,
            _ => {
                let Some(space) = address_space(keyword) else { return false };
                match quals.space {
                    Some((previous, _)) if previous != space => {
                        self.error(format!(
                            "multiple address spaces specified for type: '{}' and '{}'",
                            space_name(previous),
                            space_name(space)
                        ));
                    }
                    Some(_) => {
                        let span = self.span();
                        self.diags.warning(
                            WarningGroup::DuplicateDeclSpecifier,
                            span,
                            "multiple identical address spaces specified for type",
                        );
                    }
                    None => quals.space = Some((space, self.span())),
                }
            }
        }
        self.advance();
        true
    }

    /// Reports a missing type.
    fn missing_type(&mut self, context: SpecContext) {
        let Some(name) = self.peek_name().cloned() else {
            if context == SpecContext::Type {
                self.error("expected a type");
            } else {
                self.error("a type specifier is required for all declarations");
            }
            return;
        };
        // In `foo x` and `foo *x`, `foo` is probably an undeclared type. In `f(int x) {`, the type is missing.
        let is_declarator = match self.peek_at(1) {
            TokenKind::Ident(_) => true,
            TokenKind::Keyword(keyword) => Self::is_specifier(*keyword) && *keyword != Keyword::Attribute,
            TokenKind::Punct(Punct::Star) => true,
            TokenKind::Punct(Punct::RParen | Punct::Comma) => context == SpecContext::Declaration,
            _ => context == SpecContext::Type,
        };
        if is_declarator {
            match self.tags.get(&name) {
                Some(word) => self.error(format!("must use '{word}' tag to refer to type '{name}'")),
                None => {
                    let hint = self.suggest_type(&name);
                    self.error_hint(&format!("unknown type name '{name}'"), &hint);
                }
            }
            self.advance();
            // The following qualifiers belong to the undeclared type.
            let mut ignored = Qualifiers::default();
            while self.qualifier(&mut ignored) {}
        } else {
            self.error("type specifier missing; OpenCL C does not support implicit int");
        }
    }

    /// Parses `typeof(expression)` or `typeof(type)`.
    fn typeof_specifier(&mut self) -> TypeSpec {
        self.advance();
        let open = self.span();
        if !self.expect(Punct::LParen, "expected '(' after 'typeof'") || !self.enter() {
            return TypeSpec::Missing;
        }
        let spec = if self.at_type() {
            TypeSpec::TypeofType(Box::new(self.type_name()))
        } else {
            TypeSpec::TypeofExpr(Box::new(self.expression()))
        };
        self.leave();
        self.close(Punct::RParen, open);
        spec
    }
}
