//! HTTP requests: routing, responses, and the upgrade to a WebSocket.
//!
//! `server.rs` calls it for each connection. Absent: lobby messages, files (`assets.rs`), limits
//! (`handshake_limit.rs`, `pace.rs`).

use std::convert::Infallible;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};
use std::time::{Duration, Instant};

use bytes::Bytes;
use gaggle_kit::rate_limit::network;
use gaggle_websocket::handshake::accept_key;
use gaggle_websocket::{Accepted, Reactor};
use hyper::body::Incoming;
use hyper::header::{self, HeaderMap, HeaderValue};
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::upgrade::{Upgraded, on};
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use tokio::net::TcpStream;
use tracing::{debug, warn};

use crate::assets::{Accepts, Assets};
use crate::body::{Answered, Disk};
use crate::client_address::{Prefix, forwarded_for, is_forwarded, is_local_host};
use crate::dispatcher::Dispatcher;
use crate::extensions::Upgrade;
use crate::handshake_limit::{HandshakeLimit, Pass};
use crate::metrics::{self, MetricsSource};
use crate::operator::{self, Operator, Standing};
use crate::pace::Pace;
use crate::page_policy::{PagePolicy, inline_scripts};
use crate::progress::bounded;
use crate::tls::{self, Tls};

type Answer = Response<Answered>;

/// Time for a request's headers to arrive.
const HEADER_TIMEOUT: Duration = Duration::from_secs(5);
/// Limits of connections and requests, as the operators' table names them.
pub(crate) const HTTP_LIMITS: [&str; 4] =
    ["http_connections", "http_requests", "tls_handshakes", "operator_guesses"];
/// Longest request with headers, in bytes.
const REQUEST_BYTES_MAX: usize = 16_384;
/// Requests per connection; further ones need another connection.
const REQUESTS_MAX: u32 = 1_000;
/// Longest wait of a request beyond its network's rate before it is rejected.
const REQUEST_WAIT: Duration = Duration::from_secs(1);

/// Everything requests need.
#[derive(Debug)]
pub(crate) struct Site {
    pub(crate) dispatcher: Arc<Dispatcher>,
    pub(crate) reactor: Reactor,
    pub(crate) origins: Vec<String>,
    pub(crate) proxies: Vec<Prefix>,
    pub(crate) operator: Operator,
    /// Whether local programs see metrics without the operator's token.
    pub(crate) has_local_metrics: bool,
    pub(crate) assets: Arc<dyn Assets>,
    pub(crate) disk: Disk,
    pub(crate) policy: PagePolicy,
    pub(crate) sources: Vec<Arc<dyn MetricsSource>>,
    pub(crate) upgrades: Vec<Arc<dyn Upgrade>>,
    /// TLS of connections that come without a proxy.
    pub(crate) tls: Option<Tls>,
    pub(crate) doorkeeper: Arc<HandshakeLimit>,
    /// Rate of requests per network, if limited.
    pub(crate) requests: Option<Pace>,
    /// False once the server is stopping.
    pub(crate) is_ready: AtomicBool,
    /// Whether a proxy without `X-Forwarded-For` was logged already.
    pub(crate) has_silent_proxy: AtomicBool,
    /// Whether a local proxy missing in `proxies` was logged already.
    pub(crate) has_unnamed_proxy: AtomicBool,
    pub(crate) next_connection: AtomicU64,
}

impl Site {
    pub(crate) fn is_proxy(&self, address: IpAddr) -> bool {
        self.proxies.iter().any(|prefix| prefix.contains(address))
    }

    /// Serves one connection, plain or TLS, until it ends, becomes a WebSocket or is closed to make
    /// room.
    pub(crate) async fn serve<S>(self: Arc<Site>, stream: S, remote: SocketAddr, pass: Pass)
    where
        TokioIo<S>: hyper::rt::Read + hyper::rt::Write + Unpin + Send + 'static,
    {
        let stream = TokioIo::new(stream);
        let pass = Arc::new(pass);
        let service = {
            let pass = pass.clone();
            service_fn(move |request| {
                let (site, pass) = (self.clone(), pass.clone());
                async move { Ok::<_, Infallible>(site.answer(request, remote.ip(), &pass).await) }
            })
        };
        let served = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEADER_TIMEOUT)
            .max_buf_size(REQUEST_BYTES_MAX)
            .serve_connection(stream, service)
            .with_upgrades();
        tokio::select! {
            served = bounded(served, || pass.sent_bytes()) => match served {
                Some(Ok(())) => {}
                Some(Err(error)) => debug!(%remote, %error, "request failed"),
                None => debug!(%remote, "took too long"),
            },
            () = pass.has_to_leave() => debug!(%remote, "closed to make room for other networks"),
        }
    }

    /// Answers a request once its network's rate permits it, and counts it until the response is
    /// sent.
    async fn answer(self: Arc<Site>, request: Request<Incoming>, remote: IpAddr, pass: &Pass) -> Answer {
        let client = self.address_of(request.headers(), remote);
        let is_last = pass.count_request() >= REQUESTS_MAX;
        let mut answer = match pass.serve(client) {
            None => ending(plain(
                StatusCode::TOO_MANY_REQUESTS,
                "too many of your requests are \
             running; try again in a moment",
            )),
            Some(serving) => {
                let mut answer = match self.wait_turn(client).await {
                    Ok(()) => self.route(request, client, remote).await,
                    Err(wait) => ending(too_many(wait)),
                };
                answer.body_mut().hold(serving);
                answer
            }
        };
        if is_last && answer.status() != StatusCode::SWITCHING_PROTOCOLS {
            answer = ending(answer);
        }
        self.policy.add_to_all(answer.headers_mut());
        answer
    }

    /// Waits until this client's network may make a request, or returns the time it would take.
    async fn wait_turn(&self, client: IpAddr) -> Result<(), Duration> {
        let Some(requests) = &self.requests else { return Ok(()) };
        let wait = requests.take(network(client), Instant::now(), REQUEST_WAIT)?;
        if wait > Duration::ZERO {
            tokio::time::sleep(wait).await;
        }
        Ok(())
    }

    async fn route(self: &Arc<Site>, request: Request<Incoming>, client: IpAddr, remote: IpAddr) -> Answer {
        if request.method() != Method::GET && request.method() != Method::HEAD {
            return plain(StatusCode::METHOD_NOT_ALLOWED, "only GET is supported");
        }
        match request.uri().path() {
            "/lobby" => self.lobby(request, client),
            "/health" => plain(StatusCode::OK, "ok"),
            "/ready" => self.ready(),
            "/metrics" if self.is_local(&request, remote) => self.metrics(),
            "/metrics" => self.for_operator(&request, client, |site| site.metrics()),
            "/operator" if self.operator.has_token() => page(operator::PAGE),
            "/operator/state" => self.for_operator(&request, client, |site| {
                let state = operator::state(&site.dispatcher, &site.sources).to_string();
                with_type(StatusCode::OK, state.into(), "application/json")
            }),
            path => match self.upgrades.iter().find(|upgrade| upgrade.path() == path) {
                Some(upgrade) => self.upgrade(upgrade.clone(), request, client),
                None => self.asset(&request).await,
            },
        }
    }

    /// Answers requests for operators.
    fn for_operator(
        &self,
        request: &Request<Incoming>,
        client: IpAddr,
        answer: impl FnOnce(&Site) -> Answer,
    ) -> Answer {
        match self.operator.standing_of(request.headers(), client) {
            Standing::Operator => answer(self),
            Standing::Stranger => plain(StatusCode::UNAUTHORIZED, "the operator's token is required"),
            Standing::Guessing => too_many(operator::GUESS_EVERY),
        }
    }

    /// Response that says whether new clients should be sent here.
    fn ready(&self) -> Answer {
        let is_stopping = !self.is_ready.load(Ordering::Relaxed);
        match is_stopping
            .then_some("not ready: the server is stopping")
            .or_else(|| self.dispatcher.objection())
        {
            None => plain(StatusCode::OK, "ready"),
            Some(why) => plain(StatusCode::SERVICE_UNAVAILABLE, why),
        }
    }

    /// Whether a local program asks under a local name and without a forwarding header. A proxy
    /// that sends no such header looks the same, so operators must enable this access.
    fn is_local(&self, request: &Request<Incoming>, remote: IpAddr) -> bool {
        let headers = request.headers();
        self.has_local_metrics
            && remote.to_canonical().is_loopback()
            && !self.is_proxy(remote)
            && !is_forwarded(headers)
            && is_local_host(headers)
    }

    fn metrics(&self) -> Answer {
        let snapshot = self.dispatcher.snapshot(0);
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
        let bytes = self.dispatcher.message_bytes.load(Ordering::Relaxed);
        metrics::counter(&mut out, "gaggle_message_bytes_total", "Bytes of messages received.", bytes);
        let about = "Time to handle a message.";
        self.dispatcher.handling.render(&mut out, "gaggle_message_handling_seconds", about);
        let (now, refused, evicted) = self.doorkeeper.counts();
        metrics::gauge(&mut out, "gaggle_http_connections", "Connections that speak HTTP now.", now as u64);
        let about = "HTTP connections and requests rejected by network limits.";
        metrics::counter(&mut out, "gaggle_http_refused_total", about, refused);
        let about = "HTTP connections closed to make room for other networks.";
        metrics::counter(&mut out, "gaggle_http_evicted_total", about, evicted);
        let about = "Wrong operator tokens.";
        metrics::counter(&mut out, "gaggle_operator_guesses_total", about, self.operator.wrong_count());
        let exceeded = [
            refused,
            self.requests.as_ref().map_or(0, Pace::exceeded),
            self.tls.as_ref().map_or(0, Tls::exceeded),
            self.operator.exceeded(),
        ];
        metrics::limited(&mut out, "http", HTTP_LIMITS.into_iter().zip(exceeded));
        metrics::limited(&mut out, "lobby", snapshot.exceeded.iter());
        self.sources.iter().for_each(|source| source.render(&mut out));
        with_type(StatusCode::OK, out.into(), "text/plain; version=0.0.4")
    }

    /// Serves a file.
    async fn asset(&self, request: &Request<Incoming>) -> Answer {
        let accepts = request.headers().get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok());
        let accepts = Accepts::read(accepts.unwrap_or_default());
        let path = request.uri().path();
        let found = if self.assets.may_wait() {
            let (assets, path) = (self.assets.clone(), path.to_string());
            self.disk.run(move || assets.get(&path, accepts)).await.ok().flatten()
        } else {
            self.assets.get(path, accepts)
        };
        let Some(asset) = found else {
            return plain(StatusCode::NOT_FOUND, "not found");
        };
        let etag = asset.etag.and_then(|etag| HeaderValue::try_from(format!("\"{etag}\"")).ok());
        let is_known = etag.is_some() && request.headers().get(header::IF_NONE_MATCH) == etag.as_ref();
        let length = asset.content.length();
        let mut answer = if is_known {
            with_type(StatusCode::NOT_MODIFIED, Bytes::new(), asset.content_type)
        } else if request.method() == Method::HEAD {
            let mut answer = with_type(StatusCode::OK, Bytes::new(), asset.content_type);
            answer.headers_mut().insert(header::CONTENT_LENGTH, length.into());
            answer
        } else {
            let mut answer = with_type(StatusCode::OK, Bytes::new(), asset.content_type);
            *answer.body_mut() = Answered::new(asset.content, &self.disk);
            answer
        };
        let headers = answer.headers_mut();
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static("no-cache"));
        headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        headers.extend(etag.map(|etag| (header::ETAG, etag)));
        if let Some(encoding) = asset.encoding {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding));
        }
        self.policy.add_to_file(headers, asset.content_type, &asset.scripts);
        answer
    }

    /// Hands a WebSocket at another path to its handler.
    fn upgrade(
        self: &Arc<Site>,
        upgrade: Arc<dyn Upgrade>,
        request: Request<Incoming>,
        address: IpAddr,
    ) -> Answer {
        let answer = match self.check_upgrade(request.headers()) {
            Ok(answer) => answer,
            Err(refusal) => return *refusal,
        };
        tokio::spawn(async move {
            if let Ok(upgraded) = on(request).await {
                upgrade.serve(TokioIo::new(upgraded), address).await;
            }
        });
        answer
    }

    /// Upgrades a request to a WebSocket of the lobby.
    fn lobby(self: &Arc<Site>, request: Request<Incoming>, address: IpAddr) -> Answer {
        let answer = match self.check_upgrade(request.headers()) {
            Ok(answer) => answer,
            Err(refusal) => return *refusal,
        };
        let site = self.clone();
        tokio::spawn(async move {
            let Ok(upgraded) = on(request).await else { return };
            let id = site.next_connection.fetch_add(1, Ordering::Relaxed);
            if let Some(accepted) = take_back(upgraded, address) {
                site.reactor.serve(id, accepted);
            }
        });
        answer
    }

    /// The response that opens a WebSocket, or the reason against it.
    fn check_upgrade(&self, headers: &HeaderMap) -> Result<Answer, Box<Answer>> {
        let has = |name: header::HeaderName, word: &str| {
            let mut values = headers.get_all(name).iter().filter_map(|value| value.to_str().ok());
            values.any(|value| value.split(',').any(|part| part.trim().eq_ignore_ascii_case(word)))
        };
        if !has(header::UPGRADE, "websocket") || !has(header::CONNECTION, "upgrade") {
            let text = "this address is for WebSockets: connect with ws:// or wss://";
            let mut answer = plain(StatusCode::UPGRADE_REQUIRED, text);
            answer.headers_mut().insert(header::UPGRADE, HeaderValue::from_static("websocket"));
            return Err(Box::new(answer));
        }
        if !has(header::SEC_WEBSOCKET_VERSION, "13") {
            return Err(Box::new(plain(StatusCode::BAD_REQUEST, "only WebSocket version 13 is supported")));
        }
        let Some(key) = headers.get(header::SEC_WEBSOCKET_KEY).filter(|key| key.len() == 24) else {
            return Err(Box::new(plain(StatusCode::BAD_REQUEST, "Sec-WebSocket-Key is missing or wrong")));
        };
        if !self.is_allowed_origin(headers) {
            let text = "pages of this origin may not connect; see the setting `origins`";
            return Err(Box::new(plain(StatusCode::FORBIDDEN, text)));
        }
        let accept = HeaderValue::from_str(&accept_key(key.as_bytes()));
        let mut answer = Response::new(Answered::default());
        *answer.status_mut() = StatusCode::SWITCHING_PROTOCOLS;
        let headers = answer.headers_mut();
        headers.insert(header::CONNECTION, HeaderValue::from_static("Upgrade"));
        headers.insert(header::UPGRADE, HeaderValue::from_static("websocket"));
        headers.insert(header::SEC_WEBSOCKET_ACCEPT, accept.expect("base64 is a header value"));
        Ok(answer)
    }

    /// Programs without an origin are not pages and may always connect.
    fn is_allowed_origin(&self, headers: &HeaderMap) -> bool {
        let Some(origin) = headers.get(header::ORIGIN) else { return true };
        self.origins.iter().any(|allowed| allowed == "*" || allowed.as_bytes() == origin.as_bytes())
    }

    /// Address of the client, as reported by trusted proxies.
    fn address_of(&self, headers: &HeaderMap, remote: IpAddr) -> IpAddr {
        if self.proxies.is_empty() || !self.is_proxy(remote) {
            self.note_unnamed_proxy(headers, remote);
            return remote;
        }
        let client = forwarded_for(headers, |address| self.is_proxy(address));
        if client.is_none() && !self.has_silent_proxy.swap(true, Ordering::Relaxed) {
            warn!(
                proxy = %remote,
                "a proxy sends no X-Forwarded-For: all its clients count as one; configure it to \
                 send the header"
            );
        }
        client.unwrap_or(remote)
    }
}

impl Site {
    /// Logs a proxy on a server that listens on loopback: it must be reached through one.
    fn note_unnamed_proxy(&self, headers: &HeaderMap, remote: IpAddr) {
        let is_unnamed = remote.to_canonical().is_loopback() && is_forwarded(headers);
        if is_unnamed && !self.has_unnamed_proxy.swap(true, Ordering::Relaxed) {
            let any_origin = self.origins.iter().any(|origin| origin == "*");
            warn!(
                proxy = %remote,
                any_origin,
                "a proxy on this machine is not in `proxies`: all its clients count as one; add it \
                 there, and your pages to `origins`"
            );
        }
    }
}

/// Takes the stream back from hyper, with the bytes it has read already.
pub(crate) fn take_back(upgraded: Upgraded, address: IpAddr) -> Option<Accepted> {
    let (tcp, tls, read) = match upgraded.downcast::<TokioIo<TcpStream>>() {
        Ok(parts) => (parts.io.into_inner(), None, parts.read_buf),
        Err(upgraded) => {
            let (tcp, tls, read) = tls::take_back(upgraded)?;
            (tcp, Some(tls), read)
        }
    };
    Some(Accepted { stream: tcp.into_std().ok()?, tls, read: read.to_vec(), address })
}

fn plain(status: StatusCode, text: &'static str) -> Answer {
    with_type(status, Bytes::from_static(text.as_bytes()), "text/plain; charset=utf-8")
}

/// A built-in page: it loads nothing from elsewhere, runs its one inline script and cannot be
/// framed.
fn page(text: &'static str) -> Answer {
    static SCRIPTS: OnceLock<String> = OnceLock::new();
    let script = SCRIPTS.get_or_init(|| inline_scripts(text.as_bytes()).concat());
    let mut answer =
        with_type(StatusCode::OK, Bytes::from_static(text.as_bytes()), "text/html; charset=utf-8");
    let policy = format!(
        "default-src 'none'; style-src 'unsafe-inline'; script-src '{script}'; connect-src 'self'; form-action 'none'; \
         frame-ancestors 'none'; base-uri 'none'"
    );
    if let Ok(policy) = HeaderValue::from_str(&policy) {
        answer.headers_mut().insert(header::CONTENT_SECURITY_POLICY, policy);
    }
    answer.headers_mut().insert(header::X_FRAME_OPTIONS, HeaderValue::from_static("DENY"));
    answer
}

fn with_type(status: StatusCode, bytes: Bytes, content_type: &'static str) -> Answer {
    let mut answer = Response::new(Answered::from(bytes));
    *answer.status_mut() = status;
    answer.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(content_type));
    answer
}

/// Closes the connection after this response.
fn ending(mut answer: Answer) -> Answer {
    answer.headers_mut().insert(header::CONNECTION, HeaderValue::from_static("close"));
    answer
}

fn too_many(wait: Duration) -> Answer {
    let mut answer = plain(StatusCode::TOO_MANY_REQUESTS, "too many requests; try again later");
    answer.headers_mut().insert(header::RETRY_AFTER, (wait.as_secs() + 1).into());
    answer
}
