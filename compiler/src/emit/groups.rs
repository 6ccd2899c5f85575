//! Subgroup operations that `passes::groups` does not expand: barriers, votes, ballots, shuffles of words (also from
//! the first active work-item), and arithmetic with words.

use super::EmitError;
use super::builder::{Expr, Val, single};
use super::function::Emitter;
use crate::ir::{BinOp, GroupOp, Value};
use naga::{Barrier, CollectiveOperation, Expression, GatherMode, Scalar, ScalarKind, Statement, SubgroupOperation};

impl Emitter<'_, '_> {
    pub(super) fn subgroup(&mut self, op: GroupOp, args: &[Value]) -> Result<Val, EmitError> {
        if !self.cx.target.language.subgroups {
            return Err(EmitError::unsupported("a subgroup function"));
        }
        let Some(&first) = args.first() else {
            self.b.stmt(Statement::ControlBarrier(Barrier::SUB_GROUP | Barrier::STORAGE | Barrier::WORK_GROUP));
            return Ok(Val::new());
        };
        let argument = self.one(first)?;
        let collective = match op {
            GroupOp::All => Some((SubgroupOperation::All, CollectiveOperation::Reduce)),
            GroupOp::Any => Some((SubgroupOperation::Any, CollectiveOperation::Reduce)),
            GroupOp::Reduce(op) => combined(op).map(|op| (op, CollectiveOperation::Reduce)),
            GroupOp::ScanInclusive(BinOp::Mul) => Some((SubgroupOperation::Mul, CollectiveOperation::InclusiveScan)),
            GroupOp::ScanExclusive(BinOp::Mul) => Some((SubgroupOperation::Mul, CollectiveOperation::ExclusiveScan)),
            GroupOp::ScanInclusive(BinOp::Add) => Some((SubgroupOperation::Add, CollectiveOperation::InclusiveScan)),
            GroupOp::ScanExclusive(BinOp::Add) => Some((SubgroupOperation::Add, CollectiveOperation::ExclusiveScan)),
            _ => None,
        };
        if let Some((operation, collective_op)) = collective {
            let signed = matches!(op, GroupOp::Reduce(BinOp::SMin | BinOp::SMax));
            let votes = matches!(op, GroupOp::All | GroupOp::Any);
            let scalar = match (votes, signed) {
                (true, _) => Scalar::BOOL,
                (_, true) => Scalar::I32,
                _ => Scalar::U32,
            };
            let argument = if signed { self.b.bitcast(argument, ScalarKind::Sint) } else { argument };
            let result = self.subgroup_result(scalar);
            self.b.stmt(Statement::SubgroupCollectiveOperation { op: operation, collective_op, argument, result });
            return Ok(single(if signed { self.b.bitcast(result, ScalarKind::Uint) } else { result }));
        }
        if op == GroupOp::Ballot {
            let result = self.b.bare(Expression::SubgroupBallotResult);
            self.b.stmt(Statement::SubgroupBallot { result, predicate: Some(argument) });
            return Ok(single(result));
        }
        let index = || {
            let index = args.get(1).ok_or_else(|| EmitError::Internal("a shuffle without an index".to_owned()))?;
            self.one(*index)
        };
        let mode = match op {
            GroupOp::BroadcastFirst => GatherMode::BroadcastFirst,
            GroupOp::Shuffle => GatherMode::Shuffle(index()?),
            GroupOp::ShuffleXor => GatherMode::ShuffleXor(index()?),
            GroupOp::ShuffleUp => GatherMode::ShuffleUp(index()?),
            GroupOp::ShuffleDown => GatherMode::ShuffleDown(index()?),
            op => return Err(EmitError::Internal(format!("{op:?} of a subgroup is not expanded"))),
        };
        let result = self.subgroup_result(Scalar::U32);
        self.b.stmt(Statement::SubgroupGather { mode, argument, result });
        Ok(single(result))
    }

    fn subgroup_result(&mut self, scalar: Scalar) -> Expr {
        let ty = self.b.shared.ty(scalar, 1);
        self.b.bare(Expression::SubgroupOperationResult { ty })
    }
}

fn combined(op: BinOp) -> Option<SubgroupOperation> {
    Some(match op {
        BinOp::Add => SubgroupOperation::Add,
        BinOp::Mul => SubgroupOperation::Mul,
        BinOp::And => SubgroupOperation::And,
        BinOp::Or => SubgroupOperation::Or,
        BinOp::Xor => SubgroupOperation::Xor,
        BinOp::SMin | BinOp::UMin => SubgroupOperation::Min,
        BinOp::SMax | BinOp::UMax => SubgroupOperation::Max,
        _ => return None,
    })
}
