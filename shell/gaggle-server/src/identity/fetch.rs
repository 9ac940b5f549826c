//! Download of one small document over HTTP or HTTPS.
//!
//! `identity.rs` gets issuers' keys with it. Absent: caching, meaning of the document.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt, Empty, Limited};
use hyper::client::conn::http1;
use hyper::{Request, StatusCode, Uri, header};
use hyper_util::rt::TokioIo;
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::rustls::crypto::ring::default_provider;
use tokio_rustls::rustls::pki_types::ServerName;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};

const TIMEOUT: Duration = Duration::from_secs(10);
const BYTES_MAX: usize = 262_144;

/// The document at this address, or what went wrong.
pub(super) async fn get(url: &str) -> Result<Vec<u8>, String> {
    let uri = check(url)?;
    tokio::time::timeout(TIMEOUT, get_uri(&uri)).await.unwrap_or_else(|_| Err("no answer in 10 s".into()))
}

/// Checks that the address can work at all.
pub(super) fn check(url: &str) -> Result<Uri, String> {
    let uri: Uri = url.parse().map_err(|error| format!("not a URL: {error}"))?;
    if !matches!(uri.scheme_str(), Some("https" | "http")) {
        return Err("the URL must begin with https:// or http://".into());
    }
    uri.host().ok_or("the URL has no host")?;
    Ok(uri)
}

async fn get_uri(uri: &Uri) -> Result<Vec<u8>, String> {
    let host = uri.host().ok_or("the URL has no host")?;
    let is_secure = uri.scheme_str() == Some("https");
    let port = uri.port_u16().unwrap_or(if is_secure { 443 } else { 80 });
    let tcp = TcpStream::connect((host, port)).await.map_err(|error| error.to_string())?;
    if !is_secure {
        return exchange(TokioIo::new(tcp), uri, host).await;
    }
    let roots = RootCertStore { roots: webpki_roots::TLS_SERVER_ROOTS.to_vec() };
    let config = ClientConfig::builder_with_provider(Arc::new(default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|error| error.to_string())?
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from(host.to_string()).map_err(|error| error.to_string())?;
    let tls =
        TlsConnector::from(Arc::new(config)).connect(name, tcp).await.map_err(|error| error.to_string())?;
    exchange(TokioIo::new(tls), uri, host).await
}

async fn exchange<S>(stream: S, uri: &Uri, host: &str) -> Result<Vec<u8>, String>
where
    S: hyper::rt::Read + hyper::rt::Write + Unpin + Send + 'static,
{
    let (mut sender, connection) = http1::handshake(stream).await.map_err(|error| error.to_string())?;
    let connection = tokio::spawn(connection);
    let path = uri.path_and_query().map_or("/", |path| path.as_str());
    let request = Request::get(path)
        .header(header::HOST, host)
        .header(header::ACCEPT, "application/json")
        .body(Empty::<Bytes>::new())
        .map_err(|error| error.to_string())?;
    let response = sender.send_request(request).await.map_err(|error| error.to_string())?;
    if response.status() != StatusCode::OK {
        return Err(format!("the answer is {}", response.status()));
    }
    let body =
        Limited::new(response.into_body(), BYTES_MAX).collect().await.map_err(|error| error.to_string())?;
    connection.abort();
    Ok(body.to_bytes().to_vec())
}
