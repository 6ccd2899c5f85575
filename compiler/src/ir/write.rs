//! Writes the text form. The text contains neither spans nor
//! [`Kernel::coarsening_log2`](super::Kernel::coarsening_log2). [`super::read`] restores everything else.
//!
//! ```text
//! global @g0 "tile" local size=256 align=4
//! global @g1 "table" constant size=4 align=4 = 2a000000
//!
//! kernel @f0 "add" (%0: ptr.global buffer, %1: i32 value) {
//!   var $0 "i" size=4 align=4
//!   %2: i32 = workitem.global_id 0
//!   %3: bool = ult %2, %1
//!   if %3 {
//!     %4: i32 = const 2
//!     %5: i32 = shl %2, %4
//!     %6: ptr.global = ptr_add %0, %5
//!     store %6, %2 align 4
//!     yield
//!   } else {
//!     yield
//!   }
//!   return
//! }
//! ```

use std::fmt::{self, Display};

use super::{Const, Fence, Func, Function, Global, GlobalVar, Inst, KernelParam, Module, Op, Region, Type, Value, Var, WorkItem};

impl Display for Module {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut first = true;
        for (i, global) in self.globals.iter().enumerate() {
            write_global(f, Global(super::number(i)), global)?;
            first = false;
        }
        for (i, function) in self.functions.iter().enumerate() {
            if !first {
                writeln!(f)?;
            }
            first = false;
            write_function(f, Func(super::number(i)), function)?;
        }
        Ok(())
    }
}

fn write_global(f: &mut dyn fmt::Write, id: Global, global: &GlobalVar) -> fmt::Result {
    write!(f, "global {id} {:?} {} size={} align={}", global.name, global.space, global.size, global.align)?;
    if let Some(init) = &global.init {
        f.write_str(" = ")?;
        for byte in init {
            write!(f, "{byte:02x}")?;
        }
        if init.is_empty() {
            f.write_str("empty")?;
        }
    }
    for reloc in &global.relocs {
        write!(f, " reloc {} {} {}", reloc.at, reloc.target, reloc.addend)?;
    }
    f.write_char('\n')
}

fn write_function(f: &mut dyn fmt::Write, id: Func, function: &Function) -> fmt::Result {
    let kind = if function.kernel.is_some() { "kernel" } else { "func" };
    write!(f, "{kind} {id} {:?} (", function.name)?;
    for (i, param) in function.params.iter().enumerate() {
        if i > 0 {
            f.write_str(", ")?;
        }
        write!(f, "{param}: {}", function.ty(*param))?;
        if let Some(passing) = function.kernel.as_ref().and_then(|k| k.params.get(i)) {
            write_param(f, passing)?;
        }
    }
    f.write_str(")")?;
    for (index, ty) in function.returns.iter().enumerate() {
        write!(f, "{}{ty}", if index == 0 { " -> " } else { ", " })?;
    }
    if let Some([x, y, z]) = function.kernel.as_ref().and_then(|k| k.reqd_work_group_size) {
        write!(f, " reqd {x} {y} {z}")?;
    }
    if let Some(size) = function.kernel.as_ref().and_then(|k| k.reqd_subgroup_size) {
        write!(f, " subgroups {size}")?;
    }
    if function.kernel.as_ref().is_some_and(|kernel| kernel.zeroed) {
        write!(f, " zeroed")?;
    }
    if function.kernel.as_ref().is_some_and(|kernel| kernel.requires_addresses) {
        write!(f, " by_address")?;
    }
    if function.kernel.as_ref().is_some_and(|kernel| kernel.aligned) {
        write!(f, " aligned")?;
    }
    if function.no_inline {
        f.write_str(" noinline")?;
    }
    f.write_str(" {\n")?;
    for (i, var) in function.vars.iter().enumerate() {
        writeln!(f, "  var {} {:?} size={} align={}", Var(super::number(i)), var.name, var.size, var.align)?;
    }
    write_region(f, function, &function.body, 1)?;
    f.write_str("}\n")
}

fn write_param(f: &mut dyn fmt::Write, param: &KernelParam) -> fmt::Result {
    match param {
        KernelParam::Value => f.write_str(" value"),
        KernelParam::Bytes { size, align } => write!(f, " bytes {size} {align}"),
        KernelParam::Buffer { space: _, read_only, restrict } => {
            f.write_str(" buffer")?;
            if *read_only {
                f.write_str(" readonly")?;
            }
            if *restrict {
                f.write_str(" restrict")?;
            }
            Ok(())
        }
        KernelParam::Local { align } => write!(f, " local {align}"),
        KernelParam::Sampler => f.write_str(" sampler"),
        KernelParam::Image => f.write_str(" image"),
    }
}

fn write_region(f: &mut dyn fmt::Write, function: &Function, region: &Region, depth: usize) -> fmt::Result {
    for inst in &region.insts {
        write_inst(f, function, inst, depth)?;
    }
    Ok(())
}

/// Prints one instruction with its regions, for verifier messages.
pub fn inst_to_string(function: &Function, inst: &Inst) -> String {
    let mut text = String::new();
    // Writing to a string cannot fail.
    let _ = write_inst(&mut text, function, inst, 0);
    text.truncate(text.trim_end().len());
    text
}

fn list(f: &mut dyn fmt::Write, values: &[Value]) -> fmt::Result {
    for (i, value) in values.iter().enumerate() {
        f.write_str(if i == 0 { " " } else { ", " })?;
        write!(f, "{value}")?;
    }
    Ok(())
}

fn write_inst(f: &mut dyn fmt::Write, function: &Function, inst: &Inst, depth: usize) -> fmt::Result {
    let pad = "  ".repeat(depth);
    f.write_str(&pad)?;
    for (i, result) in inst.results.iter().enumerate() {
        if i > 0 {
            f.write_str(", ")?;
        }
        let ty = function.values.get(result.index()).map_or(Type::Void, |v| v.ty);
        write!(f, "{result}: {ty}")?;
    }
    if !inst.results.is_empty() {
        f.write_str(" = ")?;
    }
    write_op(f, function, inst, depth, &pad)?;
    f.write_char('\n')
}

fn write_op(f: &mut dyn fmt::Write, function: &Function, inst: &Inst, depth: usize, pad: &str) -> fmt::Result {
    match &inst.op {
        Op::Const(c) => {
            let float =
                inst.results.first().and_then(|r| function.values.get(r.index())).and_then(|v| v.ty.scalar()).is_some_and(|s| s.is_float());
            write_const(f, c, float)
        }
        Op::Un(op, a) => write!(f, "{} {a}", op.name()),
        Op::Bin(op, a, b) => write!(f, "{} {a}, {b}", op.name()),
        Op::Cmp(op, a, b) => write!(f, "{} {a}, {b}", op.name()),
        Op::Cast(op, a) => write!(f, "{} {a}", op.name()),
        Op::Select(c, a, b) => write!(f, "select {c}, {a}, {b}"),
        Op::Math(op, args) => {
            f.write_str(op.name())?;
            list(f, args)
        }
        Op::All(a) => write!(f, "all {a}"),
        Op::Any(a) => write!(f, "any {a}"),
        Op::Construct(lanes) => {
            f.write_str("construct")?;
            list(f, lanes)
        }
        Op::Splat(a) => write!(f, "splat {a}"),
        Op::Extract(a, lane) => write!(f, "extract {a}, {lane}"),
        Op::ExtractDyn(a, i) => write!(f, "extract_dyn {a}, {i}"),
        Op::Insert(a, lane, x) => write!(f, "insert {a}, {lane}, {x}"),
        Op::InsertDyn(a, i, x) => write!(f, "insert_dyn {a}, {i}, {x}"),
        Op::Shuffle(a, b, lanes) => {
            write!(f, "shuffle {a}, {b}, [")?;
            for (i, lane) in lanes.iter().enumerate() {
                if i > 0 {
                    f.write_str(", ")?;
                }
                match lane {
                    Some(lane) => write!(f, "{lane}")?,
                    None => f.write_char('_')?,
                }
            }
            f.write_char(']')
        }
        Op::WorkItem(w) => write_work_item(f, *w),
        Op::VarAddr(v) => write!(f, "var_addr {v}"),
        Op::GlobalAddr(g) => write!(f, "global_addr {g}"),
        Op::ParamAddr(index) => write!(f, "param_addr {index}"),
        Op::PtrAdd(p, o) => write!(f, "ptr_add {p}, {o}"),
        Op::Load { ptr, align, volatile } => write!(f, "load {ptr} align {align}{}", volatile_text(*volatile)),
        Op::Store { ptr, value, align, volatile } => write!(f, "store {ptr}, {value} align {align}{}", volatile_text(*volatile)),
        Op::Copy { dst, src, size, align } => write!(f, "copy {dst}, {src} size {size} align {align}"),
        Op::Zero { dst, size, align } => write!(f, "zero {dst} size {size} align {align}"),
        Op::Atomic { op, ptr, value, ty } => {
            write!(f, "{} {ty} {ptr}", op.name())?;
            value.map_or(Ok(()), |v| write!(f, ", {v}"))
        }
        Op::CmpXchg { ptr, expected, desired, ty } => write!(f, "cmpxchg {ty} {ptr}, {expected}, {desired}"),
        Op::Barrier(fence) => write_fence(f, "barrier", *fence),
        Op::MemFence(fence) => write_fence(f, "mem_fence", *fence),
        Op::Group { sub, op, args } => {
            write!(f, "group {} {}", if *sub { "sub" } else { "work" }, op.name())?;
            if let Some(bin) = op.combining_op() {
                write!(f, " {}", bin.name())?;
            }
            args.iter().try_for_each(|a| write!(f, ", {a}"))
        }
        Op::Image { call, args } => {
            write!(f, "image {}", call.name())?;
            args.iter().try_for_each(|a| write!(f, ", {a}"))
        }
        Op::ImageWord { image, word } => write!(f, "image_word {image} {word}"),
        Op::NanCheck { values, part } => {
            f.write_str("nan_check ")?;
            match part {
                Some(part) => write!(f, "part {part}")?,
                None => f.write_str("whole")?,
            }
            values.iter().try_for_each(|value| write!(f, ", {value}"))
        }
        Op::ConversionCheck { value, to, signed } => {
            write!(f, "conversion_check {to} {} {value}", if *signed { "signed" } else { "unsigned" })
        }
        Op::UndefinedUse { what, names } => {
            write!(f, "undefined_use {}", what.name())?;
            names.iter().enumerate().try_for_each(|(index, name)| write!(f, "{} {name:?}", if index == 0 { "" } else { "," }))
        }
        Op::AsyncCopyBegin(event) => write!(f, "async_copy_begin {event}"),
        Op::AsyncCopyEnd => f.write_str("async_copy_end"),
        Op::AsyncCopyWait(event) => write!(f, "async_copy_wait {event}"),
        Op::Clock { sub } => f.write_str(if *sub { "clock sub" } else { "clock device" }),
        Op::Printf { format, args } => {
            match format {
                Some(format) => write!(f, "printf {format}")?,
                None => f.write_str("printf dynamic")?,
            }
            args.iter().try_for_each(|a| write!(f, ", {a}"))
        }
        Op::Call(func, args) => {
            write!(f, "call {func}")?;
            args.iter().try_for_each(|a| write!(f, ", {a}"))
        }
        Op::If { cond, then, els } => {
            writeln!(f, "if {cond} {{")?;
            write_region(f, function, then, depth + 1)?;
            writeln!(f, "{pad}}} else {{")?;
            write_region(f, function, els, depth + 1)?;
            write!(f, "{pad}}}")
        }
        Op::Loop { init, params, body, unroll } => {
            f.write_str("loop (")?;
            for (i, (param, init)) in params.iter().zip(init).enumerate() {
                if i > 0 {
                    f.write_str(", ")?;
                }
                let ty = function.values.get(param.index()).map_or(Type::Void, |v| v.ty);
                write!(f, "{param}: {ty} = {init}")?;
            }
            f.write_char(')')?;
            if let Some(n) = unroll {
                write!(f, " unroll {n}")?;
            }
            f.write_str(" {\n")?;
            write_region(f, function, body, depth + 1)?;
            write!(f, "{pad}}}")
        }
        Op::Switch { selector, cases, default } => {
            writeln!(f, "switch {selector} {{")?;
            for (values, region) in cases {
                write!(f, "{pad}  case ")?;
                for (i, value) in values.iter().enumerate() {
                    if i > 0 {
                        f.write_str(", ")?;
                    }
                    write!(f, "{value}")?;
                }
                f.write_str(" {\n")?;
                write_region(f, function, region, depth + 2)?;
                writeln!(f, "{pad}  }}")?;
            }
            writeln!(f, "{pad}  default {{")?;
            write_region(f, function, default, depth + 2)?;
            write!(f, "{pad}  }}\n{pad}}}")
        }
        Op::Yield(values) => {
            f.write_str("yield")?;
            list(f, values)
        }
        Op::Break(values) => {
            f.write_str("break")?;
            list(f, values)
        }
        Op::Continue(values) => {
            f.write_str("continue")?;
            list(f, values)
        }
        Op::Return(values) => {
            f.write_str("return")?;
            list(f, values)
        }
        Op::Unreachable => f.write_str("unreachable"),
    }
}

const fn volatile_text(volatile: bool) -> &'static str {
    if volatile { " volatile" } else { "" }
}

fn write_bits(f: &mut dyn fmt::Write, bits: u64, float: bool) -> fmt::Result {
    if float { write!(f, "{bits:#x}") } else { write!(f, "{bits}") }
}

fn write_const(f: &mut dyn fmt::Write, c: &Const, float: bool) -> fmt::Result {
    match c {
        Const::Bits(bits) => {
            f.write_str("const ")?;
            write_bits(f, *bits, float)
        }
        Const::Lanes(lanes) => {
            f.write_str("const [")?;
            for (i, bits) in lanes.iter().enumerate() {
                if i > 0 {
                    f.write_str(", ")?;
                }
                write_bits(f, *bits, float)?;
            }
            f.write_char(']')
        }
        Const::Null => f.write_str("const null"),
        Const::Undef => f.write_str("const undef"),
    }
}

fn write_fence(f: &mut dyn fmt::Write, name: &str, fence: Fence) -> fmt::Result {
    f.write_str(name)?;
    for (set, text) in [(fence.local, " local"), (fence.global, " global"), (fence.image, " image")] {
        if set {
            f.write_str(text)?;
        }
    }
    Ok(())
}

fn write_work_item(f: &mut dyn fmt::Write, w: WorkItem) -> fmt::Result {
    if let WorkItem::ArgAddress { param, high } = w {
        return write!(f, "workitem.arg_address {param} {}", u8::from(high));
    }
    if let WorkItem::ArgImage { param, word } = w {
        return write!(f, "workitem.arg_image {param} {word}");
    }
    let (name, dim) = work_item_name(w);
    write!(f, "workitem.{name}")?;
    dim.map_or(Ok(()), |dim| write!(f, " {dim}"))
}

const fn work_item_name(w: WorkItem) -> (&'static str, Option<u32>) {
    match w {
        WorkItem::GlobalId(d) => ("global_id", Some(d as u32)),
        WorkItem::LocalId(d) => ("local_id", Some(d as u32)),
        WorkItem::GroupId(d) => ("group_id", Some(d as u32)),
        WorkItem::GlobalSize(d) => ("global_size", Some(d as u32)),
        WorkItem::EnqueuedLocalSize(d) => ("enqueued_local_size", Some(d as u32)),
        WorkItem::LocalSize(d) => ("local_size", Some(d as u32)),
        WorkItem::NumGroups(d) => ("num_groups", Some(d as u32)),
        WorkItem::GlobalOffset(d) => ("global_offset", Some(d as u32)),
        WorkItem::WorkDim => ("work_dim", None),
        WorkItem::SubgroupSize => ("subgroup_size", None),
        WorkItem::SubgroupLocalId => ("subgroup_local_id", None),
        WorkItem::SubgroupId => ("subgroup_id", None),
        WorkItem::NumSubgroups => ("num_subgroups", None),
        WorkItem::ArgIdentity(index) => ("arg_identity", Some(index)),
        WorkItem::ArgBase(index) => ("arg_base", Some(index)),
        WorkItem::ArgSize(index) => ("arg_size", Some(index)),
        WorkItem::ArgSizeHigh(index) => ("arg_size_high", Some(index)),
        WorkItem::ArgAddress { param, .. } => ("arg_address", Some(param)),
        WorkItem::ArgMergedOffset(index) => ("arg_merged_offset", Some(index)),
        WorkItem::ArgStart(index) => ("arg_start", Some(index)),
        WorkItem::ArgImage { param, .. } => ("arg_image", Some(param)),
    }
}
