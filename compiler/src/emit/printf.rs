//! `printf`: appends a record to the printf buffer, in the format of [`crate::printf`].

use super::EmitError;
use super::builder::{Expr, Val, single};
use super::function::Emitter;
use super::views::{AccessShape, Kind, ViewKey};
use crate::ir::{Global, Value};
use crate::printf::CAPACITY;
use naga::{AtomicFunction, BinaryOperator, Expression, Scalar, Statement};

impl Emitter<'_, '_> {
    /// Emits a `printf`. Its result is 0, or -1 if the buffer is full.
    ///
    /// ```text
    /// if load(count) <= CAPACITY - words {       so that the counter never wraps
    ///     at = atomic_add(count, words)
    ///     if at <= CAPACITY - words { store the record }
    ///     else if at < CAPACITY { store site number 0 }
    /// }
    /// ```
    pub(super) fn printf(&mut self, format: Option<Global>, args: &[Value]) -> Result<Val, EmitError> {
        let missing = || EmitError::Internal("a printf that was not planned".to_owned());
        let object = self.cx.plan.printf.ok_or_else(missing)?;
        let types: Vec<_> = args.iter().map(|&arg| self.function.ty(arg)).collect();
        let (number, words) = self.cx.printf.find(format, &types).map(|(number, site)| (number, site.words())).ok_or_else(missing)?;
        let mut record = vec![self.b.u32(number)];
        for (&arg, &ty) in args.iter().zip(&types) {
            let chunks = self.value(arg)?;
            let raw = self.raw_of_lanes(&chunks, ty)?;
            record.extend(self.split(&raw, ty.scalar().map_or(4, crate::ir::Scalar::size), 4));
        }
        if record.len() != words as usize {
            return Err(EmitError::Internal("a printf record of another size than planned".to_owned()));
        }
        let ty = self.b.shared.ty(Scalar::I32, 1);
        let result = self.b.local(None, ty);
        let failed = self.b.scalar(Scalar::I32, u64::from(u32::MAX));
        self.b.store_local(result, failed);
        let Some(last_start) = CAPACITY.checked_sub(words) else {
            let value = self.b.load_local(result);
            return Ok(single(self.b.bitcast(value, naga::ScalarKind::Uint)));
        };
        let last_start = self.b.u32(last_start);
        let (capacity, words, zero) = (self.b.u32(CAPACITY), self.b.u32(words), self.b.u32(0));
        let done = self.b.scalar(Scalar::I32, 0);
        let (count, plain) = self.printf_views(object)?;
        let count = self.b.element_at(count, 0);
        let seen = self.b.load(count);
        let open = self.b.binary(BinaryOperator::LessEqual, seen, last_start);

        self.b.open();
        let u32_ty = self.b.shared.ty(Scalar::U32, 1);
        let at = self.b.bare(Expression::AtomicResult { ty: u32_ty, comparison: false });
        self.b.stmt(Statement::Atomic { pointer: count, fun: AtomicFunction::Add, value: words, result: Some(at) });
        let fits = self.b.binary(BinaryOperator::LessEqual, at, last_start);

        self.b.open();
        for (index, &word) in (1..).zip(&record) {
            self.printf_store(plain, at, index, word);
        }
        self.b.store_local(result, done);
        let accept = self.b.close();

        self.b.open();
        let inside = self.b.binary(BinaryOperator::Less, at, capacity);
        self.b.open();
        self.printf_store(plain, at, 1, zero);
        let end = self.b.close();
        self.b.stmt(Statement::If { condition: inside, accept: end, reject: naga::Block::new() });
        let reject = self.b.close();

        self.b.stmt(Statement::If { condition: fits, accept, reject });
        let body = self.b.close();
        self.b.stmt(Statement::If { condition: open, accept: body, reject: naga::Block::new() });
        let value = self.b.load_local(result);
        Ok(single(self.b.bitcast(value, naga::ScalarKind::Uint)))
    }

    /// Pointers to the buffer as counters and as words.
    fn printf_views(&mut self, object: usize) -> Result<(Expr, Expr), EmitError> {
        let data = self.object(object)?;
        let shape = |kind| AccessShape { size: 4, lanes: 1, align: 4, kind, volatile: false };
        let keys = (data.atomic(shape(Kind::Atomic)), data.natural(shape(Kind::Store), self.cx.target));
        let (Some(count), Some(plain)) = keys else { return Err(EmitError::Internal("a printf buffer without views".to_owned())) };
        Ok((self.view_pointer(object, count)?, self.view_pointer(object, plain)?))
    }

    pub(super) fn view_pointer(&mut self, object: usize, key: ViewKey) -> Result<Expr, EmitError> {
        let data = self.object(object)?;
        match data.view(key).map(|view| view.variable) {
            Some(super::views::Variable::Global(global)) => Ok(self.b.global_ptr(global)),
            _ => Err(EmitError::Internal(format!("object {} has no view {key:?}", data.name))),
        }
    }

    fn printf_store(&mut self, buffer: Expr, at: Expr, extra: u32, word: Expr) {
        let extra = self.b.u32(extra);
        let index = self.b.add(at, extra);
        let place = self.b.element(buffer, index);
        self.b.store(place, word);
    }
}
