//! Declarations and declarators at program scope and in functions, and typedefs (C99 6.7). See [`super::variables`] for
//! variables and [`super::functions`] for functions.

use super::scope::Symbol;
use super::{DeclTy, Sema};
use crate::ast::{self, Attribute, Declaration, DeclaratorPart, Ident, InitDeclarator, StorageClass};
use crate::thir::{Stmt, TyKind};

impl Sema<'_> {
    pub(super) fn program_declaration(&mut self, declaration: &Declaration) {
        self.declaration(declaration);
    }

    /// Checks a declaration. Returns the statements that declare and initialise its private variables.
    pub(super) fn declaration(&mut self, declaration: &Declaration) -> Vec<Stmt> {
        let mut statements = Vec::new();
        let specs = &declaration.specs;
        if declaration.declarators.is_empty() {
            self.specifiers(specs);
            self.check_attributes(&specs.attributes);
            return statements;
        }
        // Process the specifiers only once, because they may define structs and enums. `declare_function` processes
        // those of a single function declarator.
        let is_function = |d: &InitDeclarator| matches!(d.declarator.parts.first(), Some(DeclaratorPart::Function { .. }));
        let is_typedef = matches!(specs.storage, Some((StorageClass::Typedef, _)));
        if let [only] = declaration.declarators.as_slice()
            && is_function(only)
            && !is_typedef
        {
            self.declare_function(specs, &only.declarator, false);
            return statements;
        }
        let base = self.specifiers(specs);
        // If the type is a typedef of a function type, declarators without parentheses declare functions.
        if matches!(self.kind(base.qt.ty), TyKind::Function { .. }) && !is_typedef {
            for item in &declaration.declarators {
                self.typed_function(specs, base, item);
            }
            return statements;
        }
        if specs.is_kernel && !is_typedef {
            self.err(specs.span, "'__kernel' attribute only applies to functions");
            for name in declaration.declarators.iter().filter_map(|item| item.declarator.name.as_ref()) {
                self.declare(&name.name, Symbol::Error, name.span);
            }
            return statements;
        }
        if let Some((class @ (StorageClass::Auto | StorageClass::Register), span)) = specs.storage {
            let word = if class == StorageClass::Auto { "auto" } else { "register" };
            let version = self.options.std.name();
            self.err(span, format!("OpenCL C version {version} does not support the '{word}' storage class specifier"));
        }
        for item in &declaration.declarators {
            if is_function(item) && !is_typedef {
                self.declare_function_of(specs, base, &item.declarator, false);
                continue;
            }
            let attributes: Vec<&Attribute> = specs.attributes.iter().chain(&item.declarator.attributes).collect();
            let ty = self.declarator_type(base, &item.declarator.parts);
            let ty = self.vector_attribute(ty, &attributes);
            self.check_attributes(attributes.iter().copied());
            let Some(name) = &item.declarator.name else { continue };
            match specs.storage {
                Some((StorageClass::Typedef, _)) => self.typedef(name, ty, item, &attributes),
                storage => {
                    if let Some(stmt) = self.variable(name, ty, storage, item.init.as_ref(), &attributes) {
                        statements.push(stmt);
                    }
                }
            }
        }
        statements
    }

    /// Checks a declarator whose type is a `typedef` of a function type.
    fn typed_function(&mut self, specs: &ast::DeclSpecs, base: DeclTy, item: &InitDeclarator) {
        let attributes: Vec<&Attribute> = specs.attributes.iter().chain(&item.declarator.attributes).collect();
        self.check_attributes(attributes.iter().copied());
        let ty = self.declarator_type(base, &item.declarator.parts);
        let Some(name) = &item.declarator.name else { return };
        if item.init.is_some() {
            self.err(name.span, "illegal initializer (only variables can be initialized)");
        }
        if matches!(self.kind(ty.qt.ty), TyKind::Function { .. }) {
            self.declare_typed_function(specs, name, ty.qt.ty, &attributes);
        } else {
            // The type is a pointer to a function or an array of functions, for which an error was already reported.
            self.declare(&name.name, Symbol::Error, name.span);
        }
    }

    fn typedef(&mut self, name: &Ident, ty: DeclTy, item: &InitDeclarator, attributes: &[&Attribute]) {
        let mut ty = ty;
        for attribute in attributes {
            if &*attribute.name.name == "aligned"
                && let Some(align) = self.alignment(attribute)
            {
                // As in GNU C, a typedef may also reduce the alignment.
                ty.align = Some(align);
            }
        }
        if item.init.is_some() {
            self.err(name.span, "illegal initializer (only variables can be initialized)");
        }
        if let Some((Symbol::Typedef(old), _)) = self.lookup_here(&name.name)
            && old.qt == ty.qt
        {
            return;
        }
        if let TyKind::Record(id) = *self.kind(ty.qt.ty) {
            self.types.record_mut(id).alias.get_or_insert_with(|| name.name.clone());
        }
        self.declare_new(&name.name, Symbol::Typedef(ty), name.span);
    }
}
