//! TLS of a server with a certificate of its own: from files to connections that are served.
//!
//! `server.rs` and `http.rs` call it. Absent: scheduling of handshakes (`handshakes.rs`), requests.

use std::fmt;
use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use gaggle_kit::rate_limit::network;
use gaggle_websocket::TlsSession;
use hyper::upgrade::Upgraded;
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::pem::PemObject;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio_rustls::server::TlsStream;
use tracing::debug;

use crate::handshake_limit::Pass;
use crate::handshakes::Handshakes;
use crate::http::Site;

/// Time for a TLS handshake.
const TLS_TIMEOUT: Duration = Duration::from_secs(5);

/// Certificate and handshake scheduling.
pub(crate) struct Tls {
    acceptor: TlsAcceptor,
    handshakes: Handshakes,
}

impl fmt::Debug for Tls {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tls").field("handshakes", &self.handshakes).finish_non_exhaustive()
    }
}

impl Tls {
    /// With or without a rate of handshakes per network; the error says what is wrong with the
    /// files.
    pub(crate) fn new(certificate: &Path, key: &Path, is_paced: bool) -> Result<Tls, String> {
        Ok(Tls { acceptor: acceptor(certificate, key)?, handshakes: Handshakes::new(is_paced) })
    }

    /// Handshakes that were rejected by the rate of their network.
    pub(crate) fn exceeded(&self) -> u64 {
        self.handshakes.exceeded()
    }

    /// Serves one connection from its handshake on.
    pub(crate) async fn serve(&self, stream: TcpStream, remote: SocketAddr, site: Arc<Site>, pass: Pass) {
        let network = network(remote.ip());
        if !site.is_proxy(remote.ip()) && !self.handshakes.may_begin(network).await {
            return debug!(%remote, "connection rejected: too many TLS handshakes");
        }
        let handshake = self.handshakes.run(network, self.acceptor.accept(stream));
        let accepted = tokio::select! {
            accepted = tokio::time::timeout(TLS_TIMEOUT, handshake) => accepted,
            () = pass.has_to_leave() => return debug!(%remote, "closed to make room for other networks"),
        };
        match accepted {
            Ok(Ok(stream)) => site.serve(stream, remote, pass).await,
            Ok(Err(error)) => debug!(%remote, %error, "TLS handshake failed"),
            Err(_) => debug!(%remote, "TLS handshake timed out"),
        }
    }
}

/// Takes an encrypted stream back from hyper, with the bytes it has read already.
pub(crate) fn take_back(upgraded: Upgraded) -> Option<(TcpStream, TlsSession, Bytes)> {
    let parts = upgraded.downcast::<TokioIo<TlsStream<TcpStream>>>().ok()?;
    let (tcp, tls) = parts.io.into_inner().into_inner();
    Some((tcp, tls, parts.read_buf))
}

/// Acceptor with this certificate; the error says what is wrong with the files.
fn acceptor(certificate: &Path, key: &Path) -> Result<TlsAcceptor, String> {
    let unreadable = |path: &Path, error: String| format!("cannot use {}: {error}", path.display());
    let chain: Result<Vec<_>, _> =
        CertificateDer::pem_file_iter(certificate).and_then(|certificates| certificates.collect());
    let chain = chain.map_err(|error| unreadable(certificate, error.to_string()))?;
    if chain.is_empty() {
        return Err(unreadable(certificate, "it contains no certificate".into()));
    }
    let private = PrivateKeyDer::from_pem_file(key).map_err(|error| unreadable(key, error.to_string()))?;
    let config = ServerConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_no_client_auth()
        .with_single_cert(chain, private)
        .map_err(|error| unreadable(certificate, error.to_string()))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}
