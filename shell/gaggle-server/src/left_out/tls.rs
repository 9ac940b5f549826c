//! Stand-in for `tls.rs` in a build without the feature `tls`: no certificate is accepted.
//!
//! `server.rs` and `http.rs` call it. Absent: encryption.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use gaggle_websocket::TlsSession;
use hyper::upgrade::Upgraded;
use tokio::net::TcpStream;

use crate::config::left_out;
use crate::handshake_limit::Pass;
use crate::http::Site;

/// Certificate of the server; there is none.
#[derive(Debug)]
pub(crate) enum Tls {}

impl Tls {
    pub(crate) fn new(_certificate: &Path, _key: &Path, _is_paced: bool) -> Result<Tls, String> {
        Err(left_out("tls_certificate", "tls"))
    }

    pub(crate) fn exceeded(&self) -> u64 {
        match *self {}
    }

    #[allow(clippy::unused_async, reason = "its callers await the one with TLS")]
    pub(crate) async fn serve(&self, _: TcpStream, _: SocketAddr, _: Arc<Site>, _: Pass) {
        match *self {}
    }
}

pub(crate) fn take_back(_upgraded: Upgraded) -> Option<(TcpStream, TlsSession, Bytes)> {
    None
}
