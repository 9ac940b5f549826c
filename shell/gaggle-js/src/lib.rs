//! WASM module behind the npm package `gaggle-js`: rooms whose game is written in JavaScript.
//!
#![doc = include_str!("../README.md")]
// `math` computes with floats so that JavaScript need not use its platform's functions.
#![allow(clippy::float_arithmetic, reason = "numbers of JavaScript are floats")]

#[cfg(target_arch = "wasm32")]
mod events;
pub mod math;
#[cfg(all(target_arch = "wasm32", feature = "simulate"))]
mod network;
pub mod pad;
#[cfg(target_arch = "wasm32")]
mod room;
#[cfg(target_arch = "wasm32")]
mod script;
#[cfg(target_arch = "wasm32")]
mod settings;
