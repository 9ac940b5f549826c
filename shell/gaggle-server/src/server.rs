//! Start and stop of a server with all its parts.
//!
//! `main.rs`, [`BackgroundServer`](crate::BackgroundServer) and tests call it. Absent: what the
//! parts do.

use std::io;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use base64ct::{Base64UrlUnpadded, Encoding};
use gaggle_kit::Micros;
use gaggle_lobby::message::server::Relay;
use gaggle_lobby::node::NodeConfig;
use gaggle_lobby::{NodeId, TicketSigner};
use gaggle_relay::{RelayServer, UdpPort};
use gaggle_websocket::Reactor;
use thiserror::Error;
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinHandle;
use tracing::{debug, info, warn};

use crate::assets::Folder;
use crate::body::Disk;
use crate::clock::Clock;
use crate::config::Config;
use crate::dispatcher::Dispatcher;
use crate::extensions::{Extensions, Lobby};
use crate::handshake_limit::{HandshakeLimit, Pass};
use crate::http::Site;
use crate::ice::{ConfiguredIce, is_turn};
use crate::identity::TokenVerifier;
use crate::operator::Operator;
use crate::pace::Pace;
use crate::page_policy::PagePolicy;
use crate::referee::{RefereeFigures, Referees};
use crate::relay;
use crate::shared::Share;
use crate::shared::redis::Store;
use crate::socket::{LobbyHandler, reactor_config};
use crate::storage::{SqliteStorage, Storage};
use crate::tls::Tls;

/// Interval of the lobby's timers; none needs to be more exact.
const TICK: Duration = Duration::from_millis(50);
/// Pause between batches when more is due than one batch, so that messages are handled in between.
const PIECE_PAUSE: Duration = Duration::from_millis(1);
/// Burst of a network's rate limit, in seconds of its rate.
pub(crate) const REQUEST_BURST: u32 = 10;
/// Time to write last entries to the shared log when stopping.
const LAST_WORDS: Duration = Duration::from_secs(1);
/// Lease of a node: how long other nodes wait for its renewal.
pub(crate) const LEASE: Micros = Micros::from_secs(6);

/// Port numbers tried if any free one will do.
const BIND_ATTEMPTS: usize = 16;

/// Why a server cannot start. The text says what to do.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum StartError {
    /// The address is in use or does not belong to this machine.
    #[error("cannot listen on {address}: {error}; choose another with --listen")]
    Listen {
        /// Address to listen on.
        address: SocketAddr,
        /// Error of the system.
        error: io::Error,
    },
    /// The data folder cannot be used.
    #[error("cannot use the data folder {path}: {error}; choose another with --data")]
    Data {
        /// Path of the folder.
        path: PathBuf,
        /// Error of the system.
        error: io::Error,
    },
    /// The system provides no random bytes.
    #[error("the system provides no random bytes: {0}")]
    Entropy(getrandom::Error),
    /// The system provides too few threads.
    #[error("cannot start threads: {0}; raise the limit of processes or lower `threads`")]
    Threads(io::Error),
    /// A setting cannot be used.
    #[error("{0}")]
    Setting(String),
}

/// A server that runs until it is stopped.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    lobby: Lobby,
    site: Arc<Site>,
    relay: Option<Arc<RelayServer>>,
    referees: Option<Arc<Referees>>,
    drain: Micros,
    tasks: Vec<JoinHandle<()>>,
}

impl Server {
    /// Checks files and keys of the settings; opens no sockets.
    ///
    /// # Errors
    /// If the certificate or the ticket secret cannot be used.
    pub fn check(config: &Config) -> Result<(), StartError> {
        if let (Some(certificate), Some(key)) = (&config.tls_certificate, &config.tls_key) {
            Tls::new(certificate, key, config.rate_limits).map_err(StartError::Setting)?;
        }
        if config.ticket_secret.is_some() {
            ticket_secret(config)?;
        }
        if config.data.exists() && !config.data.is_dir() {
            let error = io::Error::other("it is not a folder");
            return Err(StartError::Data { path: config.data.clone(), error });
        }
        check_files(config)
    }

    /// Starts serving. Must be called inside a tokio runtime.
    ///
    /// # Errors
    /// If the address, the data folder or another setting cannot be used.
    pub async fn start(config: Config) -> Result<Server, StartError> {
        Server::start_with(config, Extensions::default()).await
    }

    /// Starts serving with extensions.
    ///
    /// # Errors
    /// If the address, the data folder or another setting cannot be used.
    pub async fn start_with(config: Config, mut extensions: Extensions) -> Result<Server, StartError> {
        std::fs::create_dir_all(&config.data)
            .map_err(|error| StartError::Data { path: config.data.clone(), error })?;
        check_files(&config)?;
        if let Some(files) = &config.files {
            extensions.assets = Arc::new(Folder::new(files));
        }
        config.warnings().iter().for_each(|warning| warn!("{warning}"));
        let tls = match (&config.tls_certificate, &config.tls_key) {
            (Some(certificate), Some(key)) => {
                Some(Tls::new(certificate, key, config.rate_limits).map_err(StartError::Setting)?)
            }
            _ => None,
        };
        let has_relay = config.relay && extensions.relay.is_none();
        let (listener, address, port) = bind(&config, has_relay).await?;
        let ticket_key = TicketSigner::from_secret(&ticket_secret(&config)?).key();
        // Tickets are made and checked by the same clock.
        let clock = Clock::new();
        let (relay, stun) = relay::mount(&config, port, ticket_key, clock, &mut extensions)?;
        let figures = RefereeFigures::default();
        if config.games.has_referee() {
            extensions.metrics.push(figures.source());
        }
        let Extensions { storage, assets, metrics, upgrades, relay: told } = extensions;
        let (dispatcher, mut tasks) = start_hub(&config, clock, stun, told, storage).await?;
        let referees = Referees::start(&config, relay.as_ref(), &dispatcher, &figures)?;
        let lobby = Lobby { dispatcher: dispatcher.clone(), ticket_key };
        upgrades.iter().for_each(|upgrade| upgrade.started(lobby.clone()));
        let site = Arc::new(Site {
            reactor: Reactor::start(LobbyHandler(dispatcher.clone()), reactor_config(config.thread_count()))
                .map_err(StartError::Threads)?,
            dispatcher: dispatcher.clone(),
            origins: config.origins.0.clone(),
            proxies: config.proxies.0.clone(),
            operator: Operator::new(config.operator_token.as_ref().map(|token| token.0.clone())),
            has_local_metrics: config.local_metrics,
            assets,
            disk: Disk::default(),
            policy: PagePolicy::read(&config.page_policy, tls.is_some()).map_err(StartError::Setting)?,
            tls,
            sources: metrics,
            upgrades,
            doorkeeper: Arc::new(HandshakeLimit::default()),
            requests: config.rate_limits.then(|| {
                let every = Duration::from_secs(1) / config.requests_per_address.max(1) as u32;
                Pace::new(every, (config.requests_per_address as u32).saturating_mul(REQUEST_BURST))
            }),
            is_ready: AtomicBool::new(true),
            has_silent_proxy: AtomicBool::new(false),
            has_unnamed_proxy: AtomicBool::new(false),
            next_connection: AtomicU64::new(1),
        });
        tasks.extend([tokio::spawn(accept(listener, site.clone())), tokio::spawn(tick(dispatcher))]);
        info!(%address, "serving");
        Ok(Server { address, lobby, site, relay, referees, drain: config.drain.0, tasks })
    }

    /// Address it serves on, with the actual port if 0 was configured.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Access to lobby state, for a relay.
    pub fn lobby(&self) -> Lobby {
        self.lobby.clone()
    }

    /// Asks all clients to reconnect elsewhere, waits for them up to the drain time, and stops.
    pub async fn stop(self) {
        let millis = self.drain.as_millis();
        self.site.is_ready.store(false, Ordering::Relaxed);
        self.lobby.dispatcher.drain(millis);
        info!(millis, "draining");
        let end = tokio::time::Instant::now() + Duration::from_millis(millis);
        while tokio::time::Instant::now() < end && self.lobby.dispatcher.connection_count() > 0 {
            tokio::time::sleep(TICK).await;
        }
        // Remaining clients are told why the connection ends.
        self.lobby.dispatcher.end_all();
        // Other nodes should learn who left.
        let end = tokio::time::Instant::now() + LAST_WORDS;
        while tokio::time::Instant::now() < end && self.lobby.dispatcher.unanswered_count() > 0 {
            tokio::time::sleep(TICK).await;
        }
        if let Some(referees) = self.referees {
            // Clients hold all frames before their links close.
            let _ = tokio::task::spawn_blocking(move || referees.stop()).await;
        }
        if let Some(relay) = &self.relay {
            relay.stop().await;
        }
        for task in self.tasks {
            task.abort();
            // Its port is free only after it has ended.
            let _ = task.await;
        }
        self.site.reactor.stop();
        info!("stopped");
    }
}

/// Opens the server's port, and the relay's UDP port if there is one. If any port will do, one that
/// is free for both.
async fn bind(
    config: &Config,
    has_relay: bool,
) -> Result<(TcpListener, SocketAddr, Option<UdpPort>), StartError> {
    let failed = |error| StartError::Listen { address: config.listen, error };
    let mut attempts = if config.listen.port() == 0 { BIND_ATTEMPTS } else { 1 };
    loop {
        let listener = TcpListener::bind(config.listen).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let port = if has_relay { relay::bind(address, config)? } else { None };
        attempts -= 1;
        if port.is_some() || !has_relay || attempts == 0 {
            return Ok((listener, address, port));
        }
    }
}

/// `stun` are the relay's own STUN addresses, used if no servers are configured. TURN servers do
/// not count for native peers, which use STUN only.
async fn start_hub(
    config: &Config,
    clock: Clock,
    stun: Vec<String>,
    relay: Option<Relay>,
    storage: Option<Box<dyn Storage>>,
) -> Result<(Arc<Dispatcher>, Vec<JoinHandle<()>>), StartError> {
    let has_stun = config.ice.0.iter().any(|url| !is_turn(url));
    let own = stun.into_iter().filter(|_| !has_stun);
    let ice: Vec<String> = own.chain(config.ice.0.iter().cloned()).collect();
    let signer = TicketSigner::from_secret(&ticket_secret(config)?);
    let secret = config.turn_secret.as_ref().map(|secret| secret.0.as_str());
    let id = NodeId(u64::from_le_bytes(random()?));
    let node = NodeConfig {
        id,
        secret: random()?,
        signer,
        server_name: crate::NAME.into(),
        ice: Box::new(ConfiguredIce::new(&ice, secret, config.turn_ttl.0, relay)),
        lease: if config.redis.is_some() { LEASE } else { Micros::MAX },
    };
    let tokens = match (&config.token_issuer, &config.token_keys) {
        (Some(issuer), Some(keys)) => {
            let verifier = TokenVerifier::new(issuer.clone(), config.token_audience.clone(), keys.clone());
            Some(verifier.await.map_err(StartError::Setting)?)
        }
        _ => None,
    };
    let storage = match storage {
        Some(storage) => storage,
        None => open_storage(config)?,
    };
    let rules = config.rules();
    let Some(url) = &config.redis else {
        return Ok((Dispatcher::new(clock, rules, node, None, tokens, storage), Vec::new()));
    };
    let failed =
        |error| StartError::Setting(format!("cannot use the Redis at {}: {error}", without_password(url)));
    let store = Store::new(url, &config.redis_prefix, id, &rules).map_err(failed)?;
    let start = store.start(&rules, Err(clock)).await.map_err(failed)?;
    let (outbox, parcels) = tokio::sync::mpsc::unbounded_channel();
    let share = Share::new(id, outbox);
    let contact = share.contact();
    let shared = Some((share, start));
    let dispatcher = Dispatcher::new(clock, rules.clone(), node, shared, tokens, storage);
    let write = store.clone().write(parcels, contact.clone(), clock);
    let read = store.read(dispatcher.clone(), rules, contact);
    Ok((dispatcher, vec![tokio::spawn(write), tokio::spawn(read)]))
}

/// Checks files and folders that the settings name.
fn check_files(config: &Config) -> Result<(), StartError> {
    if let Some(files) = config.files.as_ref().filter(|files| !files.is_dir()) {
        let text = format!("`files` is `{}`, where there is no folder", files.display());
        return Err(StartError::Setting(text));
    }
    for (name, path) in [("data", Some(&config.data)), ("tls_key", config.tls_key.as_ref())] {
        if let (Some(files), Some(path)) = (&config.files, path)
            && is_inside(path, files)
        {
            let (path, files) = (path.display(), files.display());
            let text = format!(
                "`{name}` is `{path}`, inside `files` (`{files}`): its keys would be served; move \
                 one of them out of the other"
            );
            return Err(StartError::Setting(text));
        }
    }
    let keys = config.token_keys.as_ref().filter(|keys| !keys.contains("://"));
    if let Some(keys) = keys.filter(|keys| !Path::new(keys).is_file()) {
        return Err(StartError::Setting(format!("`token_keys` is `{keys}`, where there is no file")));
    }
    Ok(())
}

/// Whether a path is inside a folder after resolving links. A missing path counts where it would be
/// created.
fn is_inside(path: &Path, folder: &Path) -> bool {
    let real = |path: &Path| -> Option<PathBuf> {
        let path = std::path::absolute(path).ok()?;
        path.ancestors().find_map(|known| {
            let rest = path.strip_prefix(known).ok()?;
            Some(known.canonicalize().ok()?.join(rest))
        })
    };
    real(path).zip(real(folder)).is_some_and(|(path, folder)| path.starts_with(folder))
}

fn open_storage(config: &Config) -> Result<Box<dyn Storage>, StartError> {
    let path = config.data.join("gaggle.sqlite");
    match SqliteStorage::open(&path) {
        Ok(storage) => Ok(Box::new(storage.counting(config.results))),
        Err(error) => Err(StartError::Data { path, error: io::Error::other(error.to_string()) }),
    }
}

/// An address without its password, for logs.
fn without_password(url: &str) -> String {
    match (url.split_once("://"), url.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, place))) => format!("{scheme}://…@{place}"),
        _ => url.to_string(),
    }
}

async fn accept(listener: TcpListener, site: Arc<Site>) {
    loop {
        match listener.accept().await {
            Ok((stream, remote)) => {
                let pass = site.doorkeeper.enter(remote.ip(), site.is_proxy(remote.ip()));
                let Some(pass) = pass.filter(|_| prepare(&stream).is_ok()) else {
                    debug!(%remote, "connection rejected: its network has too many idle ones");
                    continue;
                };
                tokio::spawn(serve(stream, remote, site.clone(), pass));
            }
            Err(error) => {
                // Out of file descriptors: waits instead of retrying in a busy loop.
                warn!(%error, "cannot accept connections");
                tokio::time::sleep(Duration::from_millis(100)).await;
            }
        }
    }
}

async fn serve(stream: TcpStream, remote: SocketAddr, site: Arc<Site>, pass: Pass) {
    match &site.tls {
        Some(tls) => tls.serve(stream, remote, site.clone(), pass).await,
        None => site.serve(stream, remote, pass).await,
    }
}

fn prepare(stream: &TcpStream) -> io::Result<()> {
    // Messages are small and urgent.
    stream.set_nodelay(true)
}

async fn tick(dispatcher: Arc<Dispatcher>) {
    let mut interval = tokio::time::interval(TICK);
    interval.set_missed_tick_behavior(tokio::time::MissedTickBehavior::Delay);
    loop {
        interval.tick().await;
        while dispatcher.tick() {
            tokio::time::sleep(PIECE_PAUSE).await;
        }
    }
}

/// Secret that signs tickets: configured, or created once and stored.
fn ticket_secret(config: &Config) -> Result<[u8; 32], StartError> {
    if let Some(secret) = &config.ticket_secret {
        let mut bytes = [0; 32];
        let decoded = Base64UrlUnpadded::decode(&secret.0, &mut bytes).map(<[u8]>::len);
        return match decoded {
            Ok(32) => Ok(bytes),
            _ => Err(StartError::Setting(
                "`ticket_secret` must be 32 bytes in base64url (43 characters)".into(),
            )),
        };
    }
    let path = config.data.join("ticket.key");
    let failed = |error| StartError::Data { path: path.clone(), error };
    match std::fs::read(&path) {
        Ok(bytes) => bytes.try_into().map_err(|_| failed(io::Error::other("it must be 32 bytes long"))),
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let secret: [u8; 32] = random()?;
            write_secret(&path, &secret).map_err(failed)?;
            Ok(secret)
        }
        Err(error) => Err(failed(error)),
    }
}

/// Writes a file readable by its owner only, atomically.
fn write_secret(path: &Path, bytes: &[u8]) -> io::Result<()> {
    use std::io::Write;
    use std::os::unix::fs::OpenOptionsExt;
    let temporary = path.with_extension("new");
    let mut file =
        std::fs::OpenOptions::new().write(true).create(true).truncate(true).mode(0o600).open(&temporary)?;
    file.write_all(bytes)?;
    file.sync_all()?;
    std::fs::rename(&temporary, path)
}

fn random<const N: usize>() -> Result<[u8; N], StartError> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(StartError::Entropy)?;
    Ok(bytes)
}
