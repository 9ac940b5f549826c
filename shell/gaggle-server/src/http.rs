//! HTTP: what is served where, and the way from a request to a WebSocket.

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use bytes::Bytes;
use gaggle_lobby::node::ConnectionId;
use http_body_util::Full;
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::upgrade::{Upgraded, on};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tokio_rustls::rustls::ServerConnection;
use tokio_rustls::server::TlsStream;
use tracing::debug;
use tungstenite::handshake::derive_accept_key;

use crate::assets::{Accepts, Assets};
use crate::extensions::Upgrade;
use crate::hub::Hub;
use crate::metrics::MetricsSource;
use crate::switchboard::{Arrival, Switchboard};
use crate::{metrics, operator};

type Answer = Response<Full<Bytes>>;

/// A request must be complete within this time.
const HEADER_TIMEOUT: Duration = Duration::from_secs(5);
/// A connection that became no WebSocket is over after this time, so that nobody can hold its place by reading slowly. Pages open
/// another when they need one.
const CONNECTION_TIMEOUT: Duration = Duration::from_secs(120);
/// Longest request, headers included.
const REQUEST_BYTES_MAX: usize = 16_384;

/// Everything a request may need.
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) hub: Arc<Hub>,
    pub(crate) switchboard: Switchboard,
    pub(crate) origins: Vec<String>,
    pub(crate) proxies: Vec<IpAddr>,
    pub(crate) operator_token: Option<String>,
    pub(crate) assets: Arc<dyn Assets>,
    pub(crate) sources: Vec<Arc<dyn MetricsSource>>,
    pub(crate) upgrades: Vec<Arc<dyn Upgrade>>,
    /// False when the server is about to stop.
    pub(crate) is_ready: AtomicBool,
    pub(crate) next_connection: AtomicU64,
}

impl Site {
    pub(crate) fn is_proxy(&self, address: IpAddr) -> bool {
        self.proxies.contains(&address.to_canonical())
    }

    /// Serves one connection until it ends or becomes a WebSocket.
    pub(crate) async fn serve_plain(self: Arc<Site>, stream: TcpStream, remote: SocketAddr) {
        self.serve(TokioIo::new(stream), remote).await;
    }

    /// The same with TLS.
    pub(crate) async fn serve_tls(self: Arc<Site>, stream: TlsStream<TcpStream>, remote: SocketAddr) {
        self.serve(TokioIo::new(stream), remote).await;
    }

    async fn serve<S>(self: Arc<Site>, stream: TokioIo<S>, remote: SocketAddr)
    where
        TokioIo<S>: hyper::rt::Read + hyper::rt::Write + Unpin + Send + 'static,
    {
        let service = service_fn(move |request| {
            let answer = self.answer(request, remote.ip());
            std::future::ready(Ok::<_, Infallible>(answer))
        });
        let served = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEADER_TIMEOUT)
            .max_buf_size(REQUEST_BYTES_MAX)
            .serve_connection(stream, service)
            .with_upgrades();
        match tokio::time::timeout(CONNECTION_TIMEOUT, served).await {
            Ok(Ok(())) => {}
            Ok(Err(error)) => debug!(%remote, %error, "request failed"),
            Err(_) => debug!(%remote, "took too long"),
        }
    }

    fn answer(self: &Arc<Site>, request: Request<Incoming>, remote: IpAddr) -> Answer {
        if request.method() != Method::GET && request.method() != Method::HEAD {
            return plain(StatusCode::METHOD_NOT_ALLOWED, "only GET");
        }
        match request.uri().path() {
            "/lobby" => self.lobby(request, remote),
            "/health" => plain(StatusCode::OK, "ok"),
            "/ready" => self.ready(),
            "/metrics" if self.is_operator(&request, remote) => self.metrics(),
            "/metrics" => plain(StatusCode::UNAUTHORIZED, "the operator's token is needed"),
            "/operator" if self.operator_token.is_some() => page(operator::PAGE),
            "/operator/state" if operator::is_allowed(self.operator_token.as_deref(), request.headers()) => {
                let state = operator::state(&self.hub, &self.sources).to_string();
                with_type(StatusCode::OK, state.into(), "application/json")
            }
            "/operator/state" => plain(StatusCode::UNAUTHORIZED, "the operator's token is needed"),
            path => match self.upgrades.iter().find(|upgrade| upgrade.path() == path) {
                Some(upgrade) => self.upgrade(upgrade.clone(), request, remote),
                None => self.asset(&request),
            },
        }
    }

    /// Whether new clients should be sent here, or why not.
    fn ready(&self) -> Answer {
        let is_stopping = !self.is_ready.load(Ordering::Relaxed);
        match is_stopping.then_some("not ready: about to stop").or_else(|| self.hub.objection()) {
            None => plain(StatusCode::OK, "ready"),
            Some(why) => plain(StatusCode::SERVICE_UNAVAILABLE, why),
        }
    }

    /// Numbers are for operators, and for who is on the same machine and not sent by a proxy, whether that says for whom or not.
    fn is_operator(&self, request: &Request<Incoming>, remote: IpAddr) -> bool {
        let is_forwarded = request.headers().contains_key("x-forwarded-for") || self.is_proxy(remote);
        (remote.to_canonical().is_loopback() && !is_forwarded)
            || operator::is_allowed(self.operator_token.as_deref(), request.headers())
    }

    fn metrics(&self) -> Answer {
        let snapshot = self.hub.snapshot(0);
        let mut out = String::new();
        metrics::gauge(&mut out, "gaggle_connections", "Connections now.", snapshot.connections as u64);
        metrics::gauge(
            &mut out,
            "gaggle_rooms",
            "Rooms with a member connected here.",
            snapshot.rooms as u64,
        );
        metrics::tally(&mut out, &snapshot.tally);
        let about = "Matches that were stored.";
        metrics::counter(&mut out, "gaggle_matches_stored_total", about, snapshot.stored);
        let about = "Matches that could not be stored, as on a full disk, and have to be reported again.";
        metrics::counter(&mut out, "gaggle_matches_not_stored_total", about, snapshot.lost);
        let about = "How long it took to handle a message.";
        self.hub.handling.render(&mut out, "gaggle_message_handling_seconds", about);
        self.sources.iter().for_each(|source| source.render(&mut out));
        with_type(StatusCode::OK, out.into(), "text/plain; version=0.0.4")
    }

    fn asset(&self, request: &Request<Incoming>) -> Answer {
        let accepts = request.headers().get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
        let accepts = Accepts::read(accepts.unwrap_or_default());
        let Some(asset) = self.assets.get(request.uri().path(), accepts) else {
            return plain(StatusCode::NOT_FOUND, "there is nothing here");
        };
        let etag = asset.etag.and_then(|etag| HeaderValue::try_from(format!("\"{etag}\"")).ok());
        let is_known = etag.is_some() && request.headers().get(header::IF_NONE_MATCH) == etag.as_ref();
        let mut answer = match is_known {
            true => with_type(StatusCode::NOT_MODIFIED, Bytes::new(), asset.content_type),
            false => with_type(StatusCode::OK, asset.bytes, asset.content_type),
        };
        let headers = answer.headers_mut();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        headers.extend(etag.map(|etag| (header::ETAG, etag)));
        if let Some(encoding) = asset.encoding {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding));
        }
        answer
    }

    /// Hands a WebSocket at another path to whoever serves it.
    fn upgrade(
        self: &Arc<Site>,
        upgrade: Arc<dyn Upgrade>,
        request: Request<Incoming>,
        remote: IpAddr,
    ) -> Answer {
        let answer = match self.check_upgrade(request.headers()) {
            Ok(answer) => answer,
            Err(refusal) => return *refusal,
        };
        let address = self.address_of(request.headers(), remote);
        tokio::spawn(async move {
            if let Ok(upgraded) = on(request).await {
                upgrade.serve(TokioIo::new(upgraded), address).await;
            }
        });
        answer
    }

    /// Turns a request into a WebSocket of the lobby.
    fn lobby(self: &Arc<Site>, request: Request<Incoming>, remote: IpAddr) -> Answer {
        let answer = match self.check_upgrade(request.headers()) {
            Ok(answer) => answer,
            Err(refusal) => return *refusal,
        };
        let address = self.address_of(request.headers(), remote);
        let site = self.clone();
        tokio::spawn(async move {
            let Ok(upgraded) = on(request).await else { return };
            let id = ConnectionId(site.next_connection.fetch_add(1, Ordering::Relaxed));
            let Some((tcp, tls, read)) = take_back(upgraded) else { return };
            if let Ok(stream) = tcp.into_std() {
                site.switchboard.serve(Arrival { id, stream, tls, read, address });
            }
        });
        answer
    }

    /// The answer that opens a WebSocket, or why there is none.
    fn check_upgrade(&self, headers: &HeaderMap) -> Result<Answer, Box<Answer>> {
        let has = |name: header::HeaderName, word: &str| {
            let mut values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
            values.any(|value| value.split(',').any(|part| part.trim().eq_ignore_ascii_case(word)))
        };
        if !has(header::UPGRADE, "websocket") || !has(header::CONNECTION, "upgrade") {
            let text = "this is for WebSockets: connect with ws:// or wss://";
            let mut answer = plain(StatusCode::UPGRADE_REQUIRED, text);
            answer.headers_mut().insert(header::UPGRADE, HeaderValue::from_static("websocket"));
            return Err(Box::new(answer));
        }
        if !has(header::SEC_WEBSOCKET_VERSION, "13") {
            return Err(Box::new(plain(StatusCode::BAD_REQUEST, "only WebSocket version 13 is spoken here")));
        }
        let Some(key) = headers.get(header::SEC_WEBSOCKET_KEY).filter(|key| key.len() == 24) else {
            return Err(Box::new(plain(StatusCode::BAD_REQUEST, "Sec-WebSocket-Key is missing or wrong")));
        };
        if !self.is_allowed_origin(headers) {
            let text = "pages of this origin may not connect: see the setting `origins`";
            return Err(Box::new(plain(StatusCode::FORBIDDEN, text)));
        }
        let accept = HeaderValue::from_str(&derive_accept_key(key.as_bytes()));
        let mut answer = Response::new(Full::default());
        *answer.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        let headers = answer.headers_mut();
        headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
        headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
        headers.insert(header::SEC_WEBSOCKET_ACCEPT, accept.expect("base64 is a header value"));
        Ok(answer)
    }

    /// Programs without an origin are no pages and may always connect.
    fn is_allowed_origin(&self, headers: &HeaderMap) -> bool {
        let Some(origin) = headers.get(header::ORIGIN) else { return true };
        self.origins.iter().any(|allowed| allowed == "*" || allowed.as_bytes() == origin.as_bytes())
    }

    /// Where somebody really is, if a proxy we trust says so.
    fn address_of(&self, headers: &HeaderMap, remote: IpAddr) -> IpAddr {
        if !self.is_proxy(remote) {
            return remote;
        }
        forwarded_for(headers).unwrap_or(remote)
    }
}

/// Whom our own proxy says it speaks for. It wrote the last entry of the last line; those before it are whatever the client
/// claimed.
fn forwarded_for(headers: &HeaderMap) -> Option<IpAddr> {
    let line = headers.get_all("x-forwarded-for").iter().next_back()?.to_str().ok()?;
    line.rsplit(',').next()?.trim().parse().ok()
}

/// Takes the stream back from HTTP, with what was read of it already.
fn take_back(upgraded: Upgraded) -> Option<(TcpStream, Option<ServerConnection>, Vec<u8>)> {
    match upgraded.downcast::<TokioIo<TcpStream>>() {
        Ok(parts) => Some((parts.io.into_inner(), None, parts.read_buf.to_vec())),
        Err(upgraded) => {
            let parts = upgraded.downcast::<TokioIo<TlsStream<TcpStream>>>().ok()?;
            let (tcp, tls) = parts.io.into_inner().into_inner();
            Some((tcp, Some(tls), parts.read_buf.to_vec()))
        }
    }
}

fn plain(status: StatusCode, text: &'static str) -> Answer {
    with_type(status, Bytes::from_static(text.as_bytes()), "text/plain; charset=utf-8")
}

/// A page of ours: it loads nothing from elsewhere and is shown in nobody's frame.
fn page(text: &'static str) -> Answer {
    let mut answer =
        with_type(StatusCode::OK, Bytes::from_static(text.as_bytes()), "text/html; charset=utf-8");
    let policy = "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; \
                  connect-src 'self'; form-action 'none'; frame-ancestors 'none'; base-uri 'none'";
    answer.headers_mut().insert(header::CONTENT_SECURITY_POLICY, HeaderValue::from_static(policy));
    answer
}

fn with_type(status: StatusCode, bytes: Bytes, content_type: &'static str) -> Answer {
    let mut answer = Response::new(Full::new(bytes));
    *answer.status_mut() = status;
    let headers = answer.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    headers.insert(header::X_CONTENT_TYPE_OPTIONS, HeaderValue::from_static("nosniff"));
    answer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_our_own_proxy_wrote_is_believed() {
        let said = |lines: &[&'static str]| {
            let mut headers = HeaderMap::new();
            lines.iter().for_each(|line| {
                headers.append("x-forwarded-for", HeaderValue::from_static(line));
            });
            forwarded_for(&headers)
        };
        let real = Some(IpAddr::from([192, 0, 2, 7]));
        assert_eq!(said(&["192.0.2.7"]), real);
        assert_eq!(said(&["10.0.0.1, 192.0.2.7"]), real);
        // Some proxies add a line of their own after the client's.
        assert_eq!(said(&["10.0.0.1", "192.0.2.7"]), real);
        assert_eq!(said(&["10.0.0.1", "nonsense"]), None);
        assert_eq!(said(&[]), None);
    }
}
