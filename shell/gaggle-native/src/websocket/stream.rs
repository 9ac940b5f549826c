//! Stream below a WebSocket: TCP with or without TLS.
//!
//! Used by `websocket.rs`. Absent: frames.

use std::io::{self, Read, Write};
use std::net::TcpStream;
#[cfg(feature = "tls")]
use std::sync::Arc;

#[cfg(feature = "tls")]
use rustls::crypto::ring::default_provider;
#[cfg(feature = "tls")]
use rustls::pki_types::ServerName;
#[cfg(feature = "tls")]
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};

/// A stream to a server.
#[derive(Debug)]
pub(crate) enum Stream {
    Plain(TcpStream),
    #[cfg(feature = "tls")]
    Tls(Box<StreamOwned<ClientConnection, TcpStream>>),
}

impl Stream {
    /// The TCP connection below.
    pub(crate) fn tcp(&self) -> &TcpStream {
        match self {
            Stream::Plain(tcp) => tcp,
            #[cfg(feature = "tls")]
            Stream::Tls(tls) => tls.get_ref(),
        }
    }
}

impl Read for Stream {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(tcp) => tcp.read(buffer),
            #[cfg(feature = "tls")]
            Stream::Tls(tls) => tls.read(buffer),
        }
    }
}

impl Write for Stream {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Stream::Plain(tcp) => tcp.write(bytes),
            #[cfg(feature = "tls")]
            Stream::Tls(tls) => tls.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Stream::Plain(tcp) => tcp.flush(),
            #[cfg(feature = "tls")]
            Stream::Tls(tls) => tls.flush(),
        }
    }
}

/// Certificates that are trusted.
#[derive(Debug, Clone, Default)]
pub(crate) struct Security {
    #[cfg(feature = "tls")]
    config: Option<Arc<ClientConfig>>,
}

impl Security {
    /// Uses this TLS configuration.
    #[cfg(feature = "tls")]
    pub(crate) fn with(config: Arc<ClientConfig>) -> Security {
        Security { config: Some(config) }
    }

    /// Performs the TLS handshake.
    #[cfg(feature = "tls")]
    pub(crate) fn wrap(&self, host: &str, mut tcp: TcpStream) -> io::Result<Stream> {
        let config = match &self.config {
            Some(config) => config.clone(),
            None => {
                let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
                let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
                    .with_safe_default_protocol_versions()
                    .map_err(io::Error::other)?;
                Arc::new(config.with_root_certificates(roots).with_no_client_auth())
            }
        };
        let name = ServerName::try_from(host.to_string()).map_err(io::Error::other)?;
        let mut tls = ClientConnection::new(config, name).map_err(io::Error::other)?;
        // At once and not with the first bytes: a bad certificate must end the attempt.
        while tls.is_handshaking() {
            tls.complete_io(&mut tcp)?;
        }
        Ok(Stream::Tls(Box::new(StreamOwned::new(tls, tcp))))
    }

    #[cfg(not(feature = "tls"))]
    #[allow(clippy::unused_self, reason = "the same call with and without TLS")]
    pub(crate) fn wrap(&self, _host: &str, _tcp: TcpStream) -> io::Result<Stream> {
        Err(io::ErrorKind::Unsupported.into())
    }
}
