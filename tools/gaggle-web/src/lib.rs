//! Pages and a browser for tests and commands; nothing here is shipped. Absent: what pages show.

pub mod bundle;
pub mod chromium;
mod devtools;
pub mod files;
pub mod firefox;
pub mod js;
mod order;
pub mod pack;
mod panics;
mod shorten;
