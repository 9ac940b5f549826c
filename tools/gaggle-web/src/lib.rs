//! Builds pages and drives a real browser. For tests and commands only: nothing of this is shipped.

pub mod bundle;
pub mod chromium;
mod devtools;
pub mod files;
mod order;
pub mod pack;
mod panics;
mod shorten;
