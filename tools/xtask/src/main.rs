//! The project's commands: `cargo xtask test`, `play`, `bench`, `chaos`.

fn main() {}
