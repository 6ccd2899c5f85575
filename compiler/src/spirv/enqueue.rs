//! Device-side enqueue (SPIR-V 3.52.22, "Device-Side Enqueue Instructions"), implemented with OpenCL C functions.
//!
//! A block consists of a function and of memory with its captures. The address of this memory is the function's first
//! parameter. In OpenCL C, the captures are a structure of N bytes. The enqueued block captures the structure by value,
//! and passes the address of its copy to the module's function.
//!
//! ```text
//! %r = OpEnqueueKernel %int %queue %flags %range %n %waits %event %invoke %param %28 %8 %bytes
//! ```
//! becomes `enqueue_kernel(queue, flags, range, n, waits, event, ^(local void *p0) { captured_28 own = param;
//! invoke(&own, p0); }, bytes)`. So both languages create the kernels of blocks in one place. Captured images and
//! samplers are variables of the OpenCL C block (`captures`).

use std::ops::Range;

use rspirv::spirv::Op as Opcode;

use super::bridge::c_space;
use super::captures::Handle;
use super::errors::{Checked, OperandIndex, invalid, unsupported};
use super::function::{Lowering, Val};
use super::module::{Entry, FunctionDef, Module};
use super::types::Kind;
use super::words::{Id, Inst};
use crate::enqueue::MAX_CAPTURED;
use crate::ir::{CastOp, CmpOp, Func, Op, Space, Type, Value};

/// Index of the function among the operands of `OpEnqueueKernel`. The memory of the captures, its size, its alignment,
/// and the sizes of local memory follow.
const INVOKE: usize = 6;

/// Alignment in bytes of the captures when the block runs: that of the largest type. Translators do not always specify
/// the alignment of the memory.
const ALIGN: u32 = 128;

/// Alignment in bytes of captured images and samplers. Translators align them like pointers.
const HANDLE_ALIGN: u32 = 4;

/// The kind of an operand.
#[derive(Clone, Copy)]
enum Operand {
    Queue,
    Event,
    /// A pointer to events, or null.
    Events,
    Integer,
    /// A pointer to global memory.
    Memory,
}

use Operand::{Event, Events, Integer, Memory, Queue};

/// Returns the result type, the name and the operands of the OpenCL C function for an instruction that becomes one
/// call. Returns `None` for other instructions.
const fn simple_call(op: Opcode) -> Option<(&'static str, &'static str, &'static [Operand])> {
    Some(match op {
        Opcode::EnqueueMarker => ("int", "enqueue_marker", &[Queue, Integer, Events, Events]),
        Opcode::CreateUserEvent => ("clk_event_t", "create_user_event", &[]),
        Opcode::IsValidEvent => ("int", "is_valid_event", &[Event]),
        Opcode::RetainEvent => ("void", "retain_event", &[Event]),
        Opcode::ReleaseEvent => ("void", "release_event", &[Event]),
        Opcode::SetUserEventStatus => ("void", "set_user_event_status", &[Event, Integer]),
        Opcode::CaptureEventProfilingInfo => ("void", "capture_event_profiling_info", &[Event, Integer, Memory]),
        _ => return None,
    })
}

/// The operand before the function in a query about a block.
#[derive(Clone, Copy, PartialEq, Eq)]
enum LeadingOperand {
    Nothing,
    Range,
    Count,
}

/// The statements of a query whose result depends on the maximum work-group size, `items`, and on the preferred
/// multiple, `size`.
macro_rules! of_sizes {
    ($answer:literal) => {
        concat!(
            "uint items = get_kernel_work_group_size(^{}), size = get_kernel_preferred_work_group_size_multiple(^{}); return ",
            $answer,
            ";"
        )
    };
}

/// Returns the OpenCL C statements of a query about a block, and the operand before the block. The result does not
/// depend on the block, so an empty block replaces it. Returns `None` for other instructions.
const fn block_query_code(op: Opcode) -> Option<(LeadingOperand, &'static str)> {
    Some(match op {
        Opcode::GetKernelWorkGroupSize => (LeadingOperand::Nothing, "return get_kernel_work_group_size(^{});"),
        Opcode::GetKernelPreferredWorkGroupSizeMultiple => {
            (LeadingOperand::Nothing, "return get_kernel_preferred_work_group_size_multiple(^{});")
        }
        Opcode::GetKernelNDrangeSubGroupCount => (LeadingOperand::Range, "return get_kernel_sub_group_count_for_ndrange(range, ^{});"),
        Opcode::GetKernelNDrangeMaxSubGroupSize => (LeadingOperand::Range, "return get_kernel_max_sub_group_size_for_ndrange(range, ^{});"),
        // OpenCL C has no functions for the following two queries. The subgroup size is the preferred multiple.
        Opcode::GetKernelMaxNumSubgroups => (LeadingOperand::Nothing, of_sizes!("(items + size - 1) / size")),
        Opcode::GetKernelLocalSizeForSubgroupCount => (LeadingOperand::Count, of_sizes!("a0 <= items / size ? a0 * size : 0")),
        _ => return None,
    })
}

/// Returns the function that an instruction calls or enqueues, or `None` for other instructions.
pub(super) fn called_function(inst: &Inst<'_>) -> Option<Id> {
    match inst.op {
        Opcode::FunctionCall => inst.operand(0).ok(),
        _ => enqueued_function(inst),
    }
}

/// Returns the function that an instruction enqueues, or `None` for other instructions.
pub(super) fn enqueued_function(inst: &Inst<'_>) -> Option<Id> {
    if inst.op == Opcode::EnqueueKernel { inst.operand(INVOKE).ok() } else { None }
}

/// Returns the address space of the captures and the number of pointers to local memory, if a function can be a block.
/// Returns `None` for other functions.
fn signature(module: &Module<'_>, def: &FunctionDef<'_>) -> Option<(Space, usize)> {
    let space = |param: &Inst<'_>| module.types.pointee(param.ty().ok()?).ok().map(|(_, space)| space);
    let returns = module.types.ir(def.inst.ty().ok()?).ok()?;
    let (memory, locals) = def.params.split_first()?;
    let fits = returns == Type::Void && locals.iter().all(|param| space(param) == Some(Space::Local));
    fits.then_some((space(memory)?, locals.len()))
}

/// Whether an entry point is a block that a translator has declared as a kernel. Its first parameter is a generic
/// pointer, which a host cannot pass.
pub(super) fn is_block(module: &Module<'_>, entry: &Entry) -> bool {
    let def = module.function_numbers.get(&entry.function).map(|&number| &module.functions[number]);
    def.and_then(|def| signature(module, def)).is_some_and(|(space, _)| space == Space::Generic)
}

/// A function that is enqueued or queried.
struct InvokedFunction {
    id: Id,
    /// The address space of the captures.
    space: Space,
    /// Number of parameters that point to local memory.
    locals: usize,
}

impl Lowering<'_, '_, '_> {
    /// Lowers the current instruction if it belongs to this file. Returns false otherwise.
    pub(super) fn device_enqueue(&mut self) -> Checked<bool> {
        let op = self.current.op;
        let is_known = simple_call(op).is_some()
            || block_query_code(op).is_some()
            || matches!(op, Opcode::EnqueueKernel | Opcode::BuildNDRange | Opcode::GetDefaultQueue);
        if is_known && !self.module.device_enqueue {
            return Err(unsupported!("device-side enqueue on this device"));
        }
        if let Some((result, name, operands)) = simple_call(op) {
            self.call_simple_function(result, name, operands)?;
        } else if let Some((before, answer)) = block_query_code(op) {
            self.block_query(before, answer)?;
        } else {
            match op {
                Opcode::EnqueueKernel => self.enqueue_kernel()?,
                Opcode::BuildNDRange => self.build_range()?,
                Opcode::GetDefaultQueue => self.default_queue()?,
                Opcode::ConvertUToPtr | Opcode::GenericCastToPtr => return self.null_handle(),
                _ => return Ok(false),
            }
        }
        Ok(true)
    }

    /// Lowers clang's translation of CLK_NULL_EVENT and CLK_NULL_QUEUE. The result 0 is not a valid handle.
    fn null_handle(&mut self) -> Checked<bool> {
        let ty = self.current.ty()?;
        if !matches!(self.module.types.get(ty)?.kind, Kind::DeviceEvent | Kind::Queue) {
            return Ok(false);
        }
        let none = self.module.types.ir(ty)?;
        let none = self.b.bits(none, 0);
        self.set_result(none).map(|()| true)
    }

    /// Lowers `OpGetDefaultQueue`. The queue is returned through memory, since OpenCL C functions cannot return queues.
    fn default_queue(&mut self) -> Checked<()> {
        let ty = self.current.ty()?;
        let (size, align, want) = (self.module.types.size(ty)?, self.module.types.align(ty)?, self.result_type()?);
        if self.module.types.get(ty)?.kind != Kind::Queue {
            return Err(invalid!("the result type is not a queue"));
        }
        let var = self.b.temporary(size, align);
        let address = self.b.var_addr(var);
        self.library_effect(&["__private void *".to_owned()], &[address], "*(__private queue_t *)a0 = get_default_queue();");
        let value = self.b.load(address, want, align, false);
        self.set_result(value)
    }

    fn call_simple_function(&mut self, result: &str, name: &str, operands: &[Operand]) -> Checked<()> {
        let (mut args, mut params) = (Vec::new(), Vec::new());
        for (index, &operand) in operands.iter().enumerate() {
            let (value, param) = self.enqueue_operand(index, operand)?;
            args.push(value);
            params.push(param.to_owned());
        }
        let names: Vec<String> = (0..args.len()).map(|index| format!("a{index}")).collect();
        let call = format!("{name}({});", names.join(", "));
        if result == "void" {
            self.library_effect(&params, &args, &call);
            return Ok(());
        }
        let want = self.result_type()?;
        let ty = if want == Type::BOOL { Type::I32 } else { want };
        let kind = &self.module.types.get(self.current.ty()?)?.kind;
        let fits = match result {
            "clk_event_t" => *kind == Kind::DeviceEvent,
            _ => (want == Type::BOOL) == (name == "is_valid_event") && ty == Type::I32,
        };
        if !fits {
            return Err(invalid!("the result type is not the type that {name} returns"));
        }
        let value = self.library_text(ty, result, &params, &args, &format!("return {call}"))?;
        let value = if want == Type::BOOL { self.b.cmp_int(CmpOp::Ne, value, 0) } else { value };
        self.set_result(value)
    }

    /// Returns an operand and its OpenCL C type.
    fn enqueue_operand(&mut self, index: usize, operand: Operand) -> Checked<(Value, &'static str)> {
        let kind = &self.module.types.get(self.type_id(self.current.operand(index)?)?)?.kind;
        match operand {
            Queue if *kind != Kind::Queue => Err(invalid!("{} is not a queue", OperandIndex(index))),
            Event if *kind != Kind::DeviceEvent => Err(invalid!("{} is not a device event", OperandIndex(index))),
            Queue => Ok((self.arg(index)?, "queue_t")),
            Event => Ok((self.arg(index)?, "clk_event_t")),
            Integer => {
                let value = self.integer(index)?;
                Ok((self.b.resize(value, false, Type::I32), "uint"))
            }
            Events => {
                let pointer = self.pointer(index)?;
                if self.b.ty(pointer) == Type::Ptr(Space::Constant) {
                    return Err(invalid!("{} is a pointer to constant memory", OperandIndex(index)));
                }
                Ok((self.b.cast(CastOp::SpaceCast, pointer, Type::Ptr(Space::Generic)), "__generic clk_event_t *"))
            }
            Memory => {
                let pointer = self.pointer(index)?;
                if self.b.ty(pointer) != Type::Ptr(Space::Global) {
                    return Err(invalid!("{} is not a pointer to global memory", OperandIndex(index)));
                }
                Ok((pointer, "__global void *"))
            }
        }
    }

    /// Lowers `OpBuildNDRange`. The result is a structure of the dimension count, the offsets, and the global and local
    /// sizes.
    fn build_range(&mut self) -> Checked<()> {
        let ty = self.current.ty()?;
        self.check_range(ty)?;
        let (size, align) = (self.module.types.size(ty)?, self.module.types.align(ty)?);
        let var = self.b.temporary(size, align);
        let address = self.b.var_addr(var);
        let first = self.range_sizes(0)?;
        let dimensions = self.b.int(Type::I32, i64::try_from(first.len()).unwrap_or(1));
        self.b.store(address, dimensions, 4, false);
        // Copies include the padding between members, so the padding must be defined.
        let (zero, padding) = (self.b.int(Type::I32, 0), self.b.offset(address, 4));
        self.b.store(padding, zero, 4, false);
        let int = self.module.types.pointer_int();
        let bytes = self.module.types.pointer_size;
        let lists = [self.range_sizes(2)?, first, self.range_sizes(1)?];
        for (place, list) in (0..).zip(lists.iter().flat_map(|list| (0..3).map(|index| list.get(index).copied()))) {
            let value = list.unwrap_or_else(|| self.b.int(int, 0));
            let value = self.b.resize(value, false, int);
            let at = self.b.offset(address, 8 + place * i64::from(bytes));
            self.b.store(at, value, bytes, false);
        }
        self.define(Val::Memory(address))
    }

    /// Checks that a type has the layout of OpenCL C's `ndrange_t`.
    fn check_range(&self, ty: Id) -> Checked<()> {
        let types = &self.module.types;
        let bytes = u64::from(types.pointer_size);
        match &types.get(ty)?.kind {
            Kind::Struct { members } if members.iter().map(|(_, at)| *at).eq([0, 8, 8 + 3 * bytes, 8 + 6 * bytes]) => Ok(()),
            _ => Err(invalid!("{ty} is not an ndrange type")),
        }
    }

    /// Returns the sizes of a range from operand `index`, which is a scalar or an array of two or three elements.
    fn range_sizes(&mut self, index: usize) -> Checked<Vec<Value>> {
        let id = self.current.operand(index)?;
        let ty = self.type_id(id)?;
        match (self.get(id)?, &self.module.types.get(ty)?.kind) {
            (Val::One(_), _) => Ok(vec![self.integer(index)?]),
            (Val::Memory(address), Kind::Array { element, count: count @ (2 | 3) }) => {
                let int = self.module.types.numbers(*element)?;
                let bytes = self.module.types.align(*element)?;
                let offsets = (0..*count).map(|number| i64::try_from(number).unwrap_or(0) * i64::from(bytes));
                Ok(offsets
                    .map(|offset| {
                        let at = self.b.offset(address, offset);
                        self.b.load(at, int, bytes, false)
                    })
                    .collect())
            }
            _ => Err(invalid!("{} is not a size or an array of sizes", OperandIndex(index))),
        }
    }

    /// Reads a range operand, which translators pass by value or by pointer. Returns the address of the range, and
    /// two texts in OpenCL C: the type of a parameter for the address, and the expression that loads the range from the
    /// parameter `name`.
    fn range(&mut self, index: usize, name: &str) -> Checked<(Value, String, String)> {
        let id = self.current.operand(index)?;
        let ty = self.type_id(id)?;
        let address = match self.get(id)? {
            Val::Memory(address) => {
                self.check_range(ty)?;
                address
            }
            _ => {
                self.check_range(self.module.types.pointee(ty)?.0)?;
                self.pointer(index)?
            }
        };
        let space = self.space_text(address);
        Ok((address, format!("const {space}void *"), format!("*(const {space}ndrange_t *){name}")))
    }

    /// Returns the function in an operand.
    fn invoked(&self, index: usize) -> Checked<InvokedFunction> {
        let id = self.current.operand(index)?;
        let def = self.module.function_numbers.get(&id).map(|&number| &self.module.functions[number]);
        let def = def.ok_or_else(|| invalid!("{id} is not a function"))?;
        let found = signature(self.module, def);
        let (space, locals) = found.ok_or_else(|| invalid!("{id} is not a function that can be enqueued"))?;
        Ok(InvokedFunction { id, space, locals })
    }

    fn block_query(&mut self, before: LeadingOperand, answer: &str) -> Checked<()> {
        self.invoked(usize::from(before != LeadingOperand::Nothing))?;
        let (mut params, mut args, mut body) = (Vec::new(), Vec::new(), String::new());
        match before {
            LeadingOperand::Nothing => {}
            LeadingOperand::Range => {
                let (address, param, value) = self.range(0, "a0")?;
                args.push(address);
                params.push(param);
                body = format!("ndrange_t range = {value}; ");
            }
            LeadingOperand::Count => {
                let (count, param) = self.enqueue_operand(0, Integer)?;
                args.push(count);
                params.push(param.to_owned());
            }
        }
        let value = self.library_text(Type::I32, "uint", &params, &args, &format!("{body}{answer}"))?;
        self.set_result(value)
    }

    fn enqueue_kernel(&mut self) -> Checked<()> {
        let invoked = self.invoked(INVOKE)?;
        let size = self.captured_bytes(INVOKE + 2)?;
        let (queue, _) = self.enqueue_operand(0, Queue)?;
        let (flags, _) = self.enqueue_operand(1, Integer)?;
        let (range, range_param, range_value) = self.range(2, "a2")?;
        let (count, _) = self.enqueue_operand(3, Integer)?;
        let (waits, events) = self.enqueue_operand(4, Events)?;
        let (returned, _) = self.enqueue_operand(5, Events)?;
        let memory = self.pointer(INVOKE + 1)?;
        let captured_handles = self.shared.captured;
        let handles = captured_handles.of(invoked.id);
        let (memory, handle_values) = self.split_captures(memory, size, handles)?;
        let space = self.space_text(memory);
        let (wrapper, captured) = self.wrapper(&invoked, size, handles)?;
        let mut args = vec![queue, flags, range, count, waits, returned, memory];
        let mut params: Vec<String> = ["queue_t", "int", &range_param, "uint", events, events].map(str::to_owned).to_vec();
        params.push(format!("const {space}void *"));
        let mut call = format!("{wrapper}(a0, a1, {range_value}, a3, a4, a5");
        if let Some(captured) = captured {
            call.push_str(&format!(", *(const {space}{captured} *)a6"));
        }
        for (value, handle) in handle_values.into_iter().zip(handles) {
            call.push_str(&format!(", a{}", args.len()));
            args.push(value);
            params.push(self.handle_text(handle)?);
        }
        let given = self.current.operands.len().saturating_sub(INVOKE + 4);
        if given != invoked.locals {
            return Err(invalid!("the function has {} parameters in local memory, but {given} sizes are passed", invoked.locals));
        }
        for index in INVOKE + 4..self.current.operands.len() {
            call.push_str(&format!(", a{}", args.len()));
            args.push(self.local_bytes(index)?);
            params.push("uint".to_owned());
        }
        let value = self.library_text(Type::I32, "int", &params, &args, &format!("return {call});"))?;
        self.set_result(value)
    }

    /// Loads the captured images and samplers of a block, which has `size` bytes of captures at `memory`. Returns the
    /// address of a copy of the captures without them, and their values.
    fn split_captures(&mut self, memory: Value, size: u32, handles: &[Handle]) -> Checked<(Value, Vec<Value>)> {
        if handles.is_empty() {
            return Ok((memory, Vec::new()));
        }
        let var = self.b.temporary(size, HANDLE_ALIGN);
        let copy = self.b.var_addr(var);
        let (mut values, mut end) = (Vec::new(), 0);
        for &Handle { offset, ty } in handles {
            let info = self.module.types.get(ty)?;
            let (bytes, want) = (u32::try_from(info.size).unwrap_or(u32::MAX), info.ir()?);
            let start = u32::try_from(offset).unwrap_or(u32::MAX);
            let next = start.checked_add(bytes).filter(|next| *next <= size && end <= start && start.is_multiple_of(HANDLE_ALIGN));
            let next = next.ok_or_else(|| unsupported!("a captured image or sampler at byte {offset} of a block of {size} bytes"))?;
            self.copy_part(copy, memory, end..start);
            let (from, to) = (self.b.offset(memory, i64::from(start)), self.b.offset(copy, i64::from(start)));
            values.push(self.b.load(from, want, HANDLE_ALIGN, false));
            self.b.effect(Op::Zero { dst: to, size: bytes, align: HANDLE_ALIGN });
            end = next;
        }
        self.copy_part(copy, memory, end..size);
        Ok((copy, values))
    }

    fn copy_part(&mut self, to: Value, from: Value, part: Range<u32>) {
        if !part.is_empty() {
            let (src, dst) = (self.b.offset(from, i64::from(part.start)), self.b.offset(to, i64::from(part.start)));
            self.b.effect(Op::Copy { dst, src, size: part.end - part.start, align: HANDLE_ALIGN });
        }
    }

    /// Returns the OpenCL C type of a captured image or sampler.
    fn handle_text(&self, handle: &Handle) -> Checked<String> {
        Ok(match self.module.types.get(handle.ty)?.kind {
            Kind::Image(image) => image.c_name(image.access == 1),
            _ => "sampler_t".to_owned(),
        })
    }

    /// Returns the size of a block's captures in bytes, which must be constant.
    fn captured_bytes(&self, index: usize) -> Checked<u32> {
        let id = self.current.operand(index)?;
        if self.module.constants.get(id).is_none() {
            return Err(unsupported!("a block of non-constant size"));
        }
        match self.module.constants.word(id)? {
            size if size <= MAX_CAPTURED => Ok(size),
            size => Err(unsupported!("a block of {size} bytes (the limit is {MAX_CAPTURED})")),
        }
    }

    /// Returns a size of local memory in bytes. Translators pass it by value or by pointer.
    fn local_bytes(&mut self, index: usize) -> Checked<Value> {
        let ty = self.type_id(self.current.operand(index)?)?;
        let value = match self.module.types.pointee(ty) {
            Ok((pointee, _)) => {
                let (number, align) = (self.module.types.numbers(pointee)?, self.module.types.align(pointee)?);
                let address = self.pointer(index)?;
                self.b.load(address, number, align, false)
            }
            Err(_) => self.integer(index)?,
        };
        match self.b.ty(value) {
            Type::Scalar(scalar) if scalar.is_int() => Ok(self.b.resize(value, false, Type::I32)),
            _ => Err(invalid!("{} is not a size", OperandIndex(index))),
        }
    }

    /// Declares the OpenCL C function that enqueues a function of the module with `size` bytes of captures, and the
    /// given images and samplers. Returns its name, and the name of the structure for the captures if `size` is not 0.
    fn wrapper(&mut self, invoked: &InvokedFunction, size: u32, handles: &[Handle]) -> Checked<(String, Option<String>)> {
        let &InvokedFunction { id, space, locals } = invoked;
        if !matches!(space, Space::Generic | Space::Private) {
            return Err(unsupported!("an enqueued function whose block parameter is neither in generic nor in private memory"));
        }
        let function = *self.shared.helpers.get(&id).ok_or_else(|| invalid!("{id} is not a function"))?;
        let list = |text: fn(usize) -> String| (0..locals).map(text).collect::<String>();
        let space = c_space(space);
        let invoke = self.shared.bridge.add_module_function(id.0, function);
        let (given_handles, stores) = self.handle_stores(handles)?;
        let bridge = &mut *self.shared.bridge;
        bridge.declare(&format!("void {invoke}({space}uchar *{});\n", list(|_| ", __local void *".to_owned())));
        // The kernel numbers of blocks derive from function names. So the names must be unique in the program: `invoke`
        // contains the hash of the module.
        let wrapper = format!("{invoke}_{size}");
        let fixed = "queue_t queue, int flags, ndrange_t range, uint count, __generic clk_event_t *waits, __generic clk_event_t *event";
        let sizes = list(|index| format!(", uint size{index}"));
        let pointers = list(|index| format!(", __local void *p{index}"));
        let given = list(|index| format!(", size{index}"));
        let passed = list(|index| format!(", p{index}"));
        let parameters = pointers.strip_prefix(", ").unwrap_or("void");
        let captured = (size > 0).then(|| {
            let align = 1 << size.trailing_zeros().min(ALIGN.trailing_zeros());
            let name = format!("captured_{size}");
            bridge.declare(&format!("typedef struct {{ uchar bytes[{size}]; }} __attribute__((aligned({align}))) {name};\n"));
            name
        });
        let (param, own, address) = match &captured {
            Some(name) => (
                format!(", {name} param"),
                format!("{name} own __attribute__((aligned({ALIGN}))) = param; "),
                format!("({space}uchar *)&own"),
            ),
            None => (String::new(), String::new(), format!("({space}uchar *)0")),
        };
        bridge.declare(&format!(
            "int {wrapper}({fixed}{param}{given_handles}{sizes}) {{ return enqueue_kernel(queue, flags, range, count, waits, event, \
             ^({parameters}) {{ {own}{stores}{invoke}({address}{passed}); }}{given}); }}\n"
        ));
        Ok((wrapper, captured))
    }

    /// Returns two texts of the OpenCL C function that enqueues a block: the parameters for captured images and
    /// samplers, and the statements that store them in the block's copy of the captures, `own`.
    fn handle_stores(&mut self, handles: &[Handle]) -> Checked<(String, String)> {
        let (mut params, mut stores) = (String::new(), String::new());
        for (index, handle) in handles.iter().enumerate() {
            let ty = self.handle_text(handle)?;
            let is_sampler = self.module.types.get(handle.ty)?.kind == Kind::Sampler;
            self.shared.stores_handles = true;
            let function = Func(self.shared.first_store.0 + u32::from(is_sampler));
            let store = self.shared.bridge.add_module_function(handle.ty.0, function);
            self.shared.bridge.declare(&format!("void {store}(__private uchar *, {ty});\n"));
            params.push_str(&format!(", {ty} h{index}"));
            stores.push_str(&format!("{store}((__private uchar *)&own + {}, h{index}); ", handle.offset));
        }
        Ok((params, stores))
    }
}
