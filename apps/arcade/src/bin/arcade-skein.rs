//! Page of the arcade that offers skein. The native build does nothing. Absent: everything else.

fn main() {
    #[cfg(target_arch = "wasm32")]
    arcade::page::offer(arcade::cabinets::skein());
}
