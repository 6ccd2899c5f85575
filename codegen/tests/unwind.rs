//! Tests the unwinding of generated code. The frames that [`Code`] describes must be those of the prologues. On x86-64,
//! Windows must restore the registers of the caller from these descriptions.

#![allow(clippy::unwrap_used, clippy::panic, reason = "a test fails by panicking")]

use iced_x86::{Code as Instruction, Decoder, DecoderOptions, Register};
use wgcl_codegen::vir::{Addr, BinOp, Builder, Elem, Mem, Module, Op, Terminator, Type};
use wgcl_codegen::{Code, FunctionFrame, Isa, compile};

/// A function `f(address: u64, base: u64) -> u64`. It loads `count` numbers at `base`, and calls the function at
/// `address`. It returns the sum of the result and the numbers, which are live across the call.
fn calling(count: i32) -> Module {
    let mut build = Builder::new("calling", vec![Type::I64, Type::I64], Some(Type::I64));
    let address = build.value_of(Type::I64, Op::Param(0));
    let base = build.value_of(Type::I64, Op::Param(1));
    let numbers: Vec<_> =
        (0..count).map(|at| build.value_of(Type::I64, Op::Load(Mem::Elem(Elem::I64), Addr::offset(base, at * 8)))).collect();
    let result = build.value_of(Type::I64, Op::CallHelper(address, [base].into_iter().collect()));
    let sum = numbers.into_iter().fold(result, |sum, number| build.value_of(Type::I64, Op::Bin(BinOp::Add, sum, number)));
    build.end(Terminator::Return(Some(sum)));
    Module { functions: vec![build.finish()] }
}

/// The registers that the prologue at the start of `bytes` pushes after rbp.
fn pushed(bytes: &[u8]) -> Vec<u8> {
    let mut pushed = Vec::new();
    for instruction in &mut Decoder::new(64, bytes, DecoderOptions::NONE) {
        match instruction.code() {
            Instruction::Endbr64 | Instruction::Mov_r64_rm64 | Instruction::Mov_rm64_r64 => {}
            Instruction::Push_r64 => pushed.push(instruction.op0_register() as u8 - Register::RAX as u8),
            _ => break,
        }
    }
    assert_eq!(pushed.remove(0), 5, "rbp is the first");
    pushed
}

/// The registers of the pairs that an AArch64 prologue stores after the frame record, and the bytes that it allocates
/// then.
fn stored(bytes: &[u8]) -> (Vec<u8>, u32) {
    let mut words = bytes.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word));
    // stp x29, x30, [sp, #-16]!; mov x29, sp
    assert_eq!([words.next(), words.next()], [Some(0xA9BF_7BFD), Some(0x9100_03FD)]);
    let (mut registers, mut slots) = (Vec::new(), 0);
    for word in words {
        let pair = [word & 31, word >> 10 & 31].map(|number| number as u8);
        match (word & 0xFFFF_83E0, word & 0xFF80_03FF) {
            // stp REGISTER, REGISTER, [sp, #-16]!
            (0xA9BF_03E0, _) => registers.extend(pair),
            (0x6DBF_03E0, _) => registers.extend(pair.map(|number| number + FunctionFrame::FIRST_VECTOR)),
            // sub sp, sp, #SIZE
            (_, 0xD100_03FF) => slots += ((word >> 10) & 0xFFF) << (((word >> 22) & 1) * 12),
            _ => break,
        }
    }
    (registers, slots)
}

#[test]
fn frames_are_those_of_the_prologues_on_aarch64() {
    let mut most = 0;
    for count in [0, 1, 3, 5, 40, 600] {
        let code = compiled(count, Isa::ARMV8);
        let [frame] = &code.frames[..] else { panic!("{:?}", code.frames) };
        let text = &code.bytes[frame.start as usize..frame.end as usize];
        assert_eq!((frame.saved.clone(), frame.slots), stored(text), "{count}");
        most = most.max(frame.saved.len());
    }
    assert_eq!(most, 10, "all callee-saved general registers are covered");
}

fn compiled(count: i32, isa: Isa) -> Code {
    compile(&calling(count), isa).unwrap()
}

#[test]
fn frames_are_those_of_the_prologues() {
    let mut most = 0;
    for isa in [Isa::SSE42, Isa::AVX2, Isa::AVX512] {
        for count in [0, 1, 3, 5, 40, 600] {
            let code = compiled(count, isa);
            let [frame] = &code.frames[..] else { panic!("{:?}", code.frames) };
            assert_eq!((frame.start, frame.start), (code.entries[0], 0));
            let text = &code.bytes[..frame.end as usize];
            assert_eq!(text.last(), Some(&0xC3), "the frame ends with the function");
            assert_eq!(frame.saved, pushed(text), "{isa:?}, {count}");
            most = most.max(frame.saved.len());
        }
    }
    assert_eq!(most, 5, "all callee-saved registers are covered");
}

#[cfg(all(windows, target_arch = "x86_64"))]
mod windows {
    use std::arch::asm;
    use std::sync::Mutex;

    use wgcl_codegen::Isa;
    use wgcl_codegen::exec::Executable;
    use windows_sys::Win32::System::Diagnostics::Debug::{CONTEXT, RtlCaptureContext, RtlLookupFunctionEntry, RtlVirtualUnwind};

    use super::compiled;

    /// The values of rbx and r12 to r15 in the caller.
    const VALUES: [u64; 5] = [0x1111_2222_3333_4444, 0x12, 0x1300_0000_0000, 0x14, 0xFFFF_FFFF_FFFF_FF15];

    /// The results of [`observe`].
    struct Observed {
        /// The addresses that unwinding finds: one in the generated code, and one in its caller.
        addresses: [u64; 2],
        /// rbx and r12 to r15 in the caller.
        registers: [u64; 5],
    }

    static OBSERVED: Mutex<Option<Observed>> = Mutex::new(None);

    #[repr(align(16))]
    struct Context(CONTEXT);

    /// Unwinds its own frame and that of its caller. Returns 1000.
    unsafe extern "sysv64" fn observe(_: u64) -> u64 {
        // SAFETY: a `CONTEXT` with all bits zero is valid. The calls write the context, and read the stack of this
        // thread.
        let (context, addresses) = unsafe {
            let mut context = Context(std::mem::zeroed());
            RtlCaptureContext(&raw mut context.0);
            let addresses = [(); 2].map(|()| {
                let (mut base, mut data, mut frame) = (0, std::ptr::null_mut(), 0);
                let entry = RtlLookupFunctionEntry(context.0.Rip, &raw mut base, std::ptr::null_mut());
                assert!(!entry.is_null(), "no unwind information at {:x}", context.0.Rip);
                RtlVirtualUnwind(0, base, context.0.Rip, entry, &raw mut context.0, &raw mut data, &raw mut frame, std::ptr::null_mut());
                context.0.Rip
            });
            (context.0, addresses)
        };
        let registers = [context.Rbx, context.R12, context.R13, context.R14, context.R15];
        *OBSERVED.lock().unwrap() = Some(Observed { addresses, registers });
        1000
    }

    /// Calls generated code with [`VALUES`] in registers. Returns its result, and whether the registers have the values
    /// afterwards.
    fn call(entry: *const u8, numbers: &[u64]) -> (u64, bool) {
        let result: u64;
        let values: *const u64 = VALUES.as_ptr();
        let mut after = [0u64; 5];
        // SAFETY: calls a function of the System V ABI. The assembly saves rbx. The other changed registers are
        // outputs.
        unsafe {
            asm!(
                "push rbx",
                "push rcx",
                "mov rbx, [rax]",
                "mov r12, [rax + 8]",
                "mov r13, [rax + 16]",
                "mov r14, [rax + 24]",
                "mov r15, [rax + 32]",
                "call rdx",
                "pop rcx",
                "mov [rcx], rbx",
                "pop rbx",
                inout("rax") values => result,
                inout("rcx") &raw mut after => _,
                inout("rdx") entry => _,
                inout("rdi") observe as *const () => _,
                inout("rsi") numbers.as_ptr() => _,
                out("r12") after[1],
                out("r13") after[2],
                out("r14") after[3],
                out("r15") after[4],
                clobber_abi("sysv64"),
            );
        }
        (result, after == VALUES)
    }

    #[test]
    fn windows_unwinds_generated_code() {
        let best = Isa::detect().unwrap();
        for isa in [Isa::SSE42, Isa::AVX2, Isa::AVX512].into_iter().filter(|isa| best.includes(*isa)) {
            for count in [0, 1, 3, 5, 40, 600] {
                let executable = Executable::new(&compiled(count, isa)).unwrap();
                let numbers: Vec<u64> = (0..count as u64).collect();
                let (result, kept) = call(executable.entry(0).unwrap(), &numbers);
                assert_eq!((result, kept), (1000 + numbers.iter().sum::<u64>(), true));
                let Observed { addresses, registers } = OBSERVED.lock().unwrap().take().unwrap();
                let (start, bytes) = executable.range();
                assert!((start as u64..start as u64 + bytes as u64).contains(&addresses[0]), "{isa:?}, {count}");
                let caller = call as *const () as u64;
                assert!((caller..caller + 0x1000).contains(&addresses[1]), "{isa:?}, {count}: {:x}", addresses[1]);
                assert_eq!(registers, VALUES, "{isa:?}, {count}");
            }
        }
    }
}
