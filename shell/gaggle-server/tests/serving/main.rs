//! The server over real sockets, in this process or in one of its own.

#![allow(clippy::unwrap_used, reason = "test failures are explained by their messages")]

mod clocks;
mod extensions;
mod files;
mod guest;
mod hostile;
mod http;
mod lobby;
mod place;
mod places;
mod process;
mod referee;
mod relay;
mod shared;
mod sign_in;
mod tls;
