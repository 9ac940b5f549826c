//! The arcade with skein on, as a page loads it. Natively it is nothing.

fn main() {
    #[cfg(target_arch = "wasm32")]
    arcade::page::offer(arcade::cabinets::skein());
}
