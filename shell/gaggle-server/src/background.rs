//! A server on its own threads, for programs and tests without an async runtime.
//!
//! They start it and stop it. Absent: what the server does (`server.rs`).

use std::net::SocketAddr;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

use crate::config::Config;
use crate::extensions::{Extensions, Lobby};
use crate::server::{Server, StartError};

/// A server that runs on its own threads until this is stopped or dropped.
///
/// ```no_run
/// # fn example() -> Result<(), gaggle_server::StartError> {
/// use gaggle_server::{BackgroundServer, Config};
///
/// let config = Config { listen: ([127, 0, 0, 1], 0).into(), ..Config::default() };
/// let server = BackgroundServer::start(config)?;
/// println!("open http://{}", server.address());
/// # Ok(())
/// # }
/// ```
#[derive(Debug)]
pub struct BackgroundServer {
    server: Option<Server>,
    runtime: Option<Runtime>,
    address: SocketAddr,
    lobby: Lobby,
}

impl BackgroundServer {
    /// Starts serving.
    ///
    /// # Errors
    /// If the address, the data folder or another setting cannot be used.
    pub fn start(config: Config) -> Result<BackgroundServer, StartError> {
        BackgroundServer::start_with(config, |_| Extensions::default())
    }

    /// Starts serving with extensions, which are created inside the server's runtime.
    ///
    /// # Errors
    /// If the address, the data folder or another setting cannot be used.
    pub fn start_with(
        config: Config,
        extensions: impl FnOnce(&Config) -> Extensions,
    ) -> Result<BackgroundServer, StartError> {
        let runtime = Builder::new_multi_thread()
            .worker_threads(config.threads.max(2))
            .enable_all()
            .build()
            .map_err(|error| StartError::Setting(format!("cannot start threads: {error}")))?;
        let server = runtime.block_on(async {
            let extensions = extensions(&config);
            Server::start_with(config, extensions).await
        })?;
        let (address, lobby) = (server.address(), server.lobby());
        Ok(BackgroundServer { server: Some(server), runtime: Some(runtime), address, lobby })
    }

    /// Address it serves on.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// Access to lobby state, for a relay.
    pub fn lobby(&self) -> &Lobby {
        &self.lobby
    }

    /// Closes all connections and stops.
    pub fn stop(mut self) {
        if let (Some(runtime), Some(server)) = (&self.runtime, self.server.take()) {
            runtime.block_on(server.stop());
        }
    }
}

impl Drop for BackgroundServer {
    fn drop(&mut self) {
        self.server = None;
        if let Some(runtime) = self.runtime.take() {
            runtime.shutdown_timeout(Duration::from_secs(1));
        }
    }
}
