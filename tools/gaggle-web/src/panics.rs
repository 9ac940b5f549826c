//! Replaces calls that panic by traps and removes code that only made the panic message. A page
//! without a panic hook behaves the same: the browser reports `unreachable`.
//!
//! Called by `bundle` for modules of the arcade. Absent: programs of other crates, which may set a
//! hook.

use walrus::ir::{Instr, InstrSeqId, Unreachable, Visitor, dfs_in_order};
use walrus::{FunctionId, FunctionKind, LocalFunction, Module};

/// Parts of the names of functions of the standard library that start a panic.
const BEGIN_PANIC: [&str; 13] = [
    "core::panicking::",
    "std::panicking::",
    "core::option::unwrap_failed",
    "core::option::expect_failed",
    "core::result::unwrap_failed",
    "core::slice::",
    "core::str::slice_error_fail",
    "core::cell::panic_already",
    "alloc::raw_vec::",
    "alloc::alloc::handle_alloc_error",
    "alloc::vec::",
    "std::thread::local::panic_access_error",
    "core::cell::lazy::",
];

/// Cuts all panics of a module, and functions that have no caller then. Returns the number of cut
/// calls.
pub(crate) fn cut_panics(module: &mut Module) -> usize {
    let panics: Vec<FunctionId> =
        module.funcs.iter().filter(|it| begins_panic(it)).map(|it| it.id()).collect();
    let mut cut = 0;
    for (_, function) in module.funcs.iter_local_mut() {
        for sequence in sequences(function) {
            cut += cut_calls(&mut function.block_mut(sequence).instrs, &panics);
        }
    }
    walrus::passes::gc::run(module);
    cut
}

fn begins_panic(function: &walrus::Function) -> bool {
    let is_own = matches!(function.kind, FunctionKind::Local(_));
    // Names are `core::…`, `core[HASH]::…` or, for methods, `<alloc[HASH]::…`.
    let name = function.name.as_deref().unwrap_or_default();
    is_own && BEGIN_PANIC.iter().any(|begin| plain(name).starts_with(begin))
}

/// Removes hashes of crates from a name.
fn plain(name: &str) -> String {
    let mut depth = 0;
    let mut is_outside = |letter: char| {
        depth += i32::from(letter == '[');
        let outside = depth == 0;
        depth -= i32::from(letter == ']');
        outside
    };
    name.trim_start_matches('<').chars().filter(|letter| is_outside(*letter)).collect()
}

/// All instruction sequences of a function.
fn sequences(function: &LocalFunction) -> Vec<InstrSeqId> {
    #[derive(Default)]
    struct All(Vec<InstrSeqId>);
    impl<'a> Visitor<'a> for All {
        fn start_instr_seq(&mut self, sequence: &'a walrus::ir::InstrSeq) {
            self.0.push(sequence.id());
        }
    }
    let mut all = All::default();
    dfs_in_order(&mut all, function, function.entry_block());
    all.0
}

/// Cuts a sequence at its first call that never returns, along with the instructions that computed
/// its arguments. Returns the number of cut calls.
fn cut_calls(instructions: &mut Vec<(Instr, walrus::ir::InstrLocId)>, panics: &[FunctionId]) -> usize {
    let is_panic = |pair: &[(Instr, _)]| {
        // The compiler puts a trap after each call that never returns.
        matches!((&pair[0].0, &pair[1].0), (Instr::Call(call), Instr::Unreachable(_)) if panics.contains(&call.func))
    };
    let Some(mut at) = instructions.windows(2).position(is_panic) else { return 0 };
    while at > 0 && is_pure(&instructions[at - 1].0) {
        at -= 1;
    }
    instructions.truncate(at + 1);
    instructions[at].0 = Instr::Unreachable(Unreachable {});
    1
}

/// Whether an instruction has no effect that remains after a trap.
fn is_pure(instruction: &Instr) -> bool {
    matches!(
        instruction,
        Instr::LocalGet(_)
            | Instr::LocalSet(_)
            | Instr::LocalTee(_)
            | Instr::GlobalGet(_)
            | Instr::Const(_)
            | Instr::Binop(_)
            | Instr::Unop(_)
            | Instr::Load(_)
            | Instr::Select(_)
            | Instr::Drop(_)
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use walrus::{FunctionBuilder, ValType};

    /// A module with a function that panics under this name, and a caller of it.
    fn module(panic_name: &str) -> Module {
        let mut module = Module::default();
        let mut panics = FunctionBuilder::new(&mut module.types, &[ValType::I32], &[]);
        panics.func_body().unreachable();
        let argument = module.locals.add(ValType::I32);
        let panics = panics.finish(vec![argument], &mut module.funcs);
        module.funcs.get_mut(panics).name = Some(panic_name.to_string());
        let global = module.globals.add_local(
            ValType::I32,
            true,
            false,
            walrus::ConstExpr::Value(walrus::ir::Value::I32(0)),
        );
        let mut calls = FunctionBuilder::new(&mut module.types, &[], &[]);
        // A lasting effect, a computation for the message, and the call.
        calls.func_body().i32_const(5).global_set(global).i32_const(1000).call(panics).unreachable();
        let calls = calls.finish(vec![], &mut module.funcs);
        module.exports.add("calls", calls);
        module
    }

    fn body(module: &Module) -> String {
        let id = module.exports.iter().find(|it| it.name == "calls").map(|it| it.item);
        let Some(walrus::ExportItem::Function(id)) = id else { panic!("no function") };
        let function = module.funcs.get(id).kind.unwrap_local();
        let names =
            function.block(function.entry_block()).instrs.iter().map(|(instruction, _)| match instruction {
                Instr::Const(_) => "const ",
                Instr::GlobalSet(_) => "set ",
                Instr::Call(_) => "call ",
                Instr::Unreachable(_) => "trap ",
                _ => "other ",
            });
        names.collect()
    }

    #[test]
    fn panic_call_becomes_trap_and_earlier_effects_stay() {
        for name in [
            "core::panicking::panic_fmt::h0123",
            "core[0a1b]::option::unwrap_failed",
            "<alloc[77]::vec::Vec<_>>::remove::assert_failed",
        ] {
            let mut module = module(name);
            assert_eq!(cut_panics(&mut module), 1, "{name}");
            assert_eq!(body(&module), "const set trap ");
            assert_eq!(module.funcs.iter().count(), 1, "{name} is still there");
        }
    }

    #[test]
    fn other_diverging_call_stays() {
        let mut module = module("wasm_bindgen::throw_str");
        assert_eq!(cut_panics(&mut module), 0);
        assert_eq!(body(&module), "const set const call trap ");
    }
}
