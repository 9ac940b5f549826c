//! Stand-in for `tls.rs` in a build without the feature `tls`: there is no TLS session, so nothing
//! here ever runs.
//!
//! `connection.rs` calls it. Absent: encryption.

use std::io::{self, Write};

/// TLS state of one connection; a build without the feature `tls` has none.
#[derive(Debug)]
pub enum TlsSession {}

impl TlsSession {
    pub(crate) fn send_close_notify(&mut self) {
        match *self {}
    }
}

pub(crate) fn open(tls: &mut TlsSession, _sealed: &mut &[u8], _plain: &mut [u8]) -> io::Result<usize> {
    match *tls {}
}

pub(crate) fn seal(tls: &mut TlsSession, _out: &mut impl Write, _bytes: &[u8]) -> io::Result<usize> {
    match *tls {}
}

pub(crate) fn send_sealed(tls: &mut TlsSession, _out: &mut impl Write) -> io::Result<()> {
    match *tls {}
}
