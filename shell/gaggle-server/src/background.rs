//! A server in threads of its own, for programs and tests that do not wait on anything.

use std::net::SocketAddr;
use std::time::Duration;

use tokio::runtime::{Builder, Runtime};

use crate::config::Config;
use crate::extensions::{Extensions, Lobby};
use crate::server::{Server, StartError};

/// A server that runs in threads of its own until this is dropped or stopped.
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

    /// Starts serving, with what others add to it, which is made inside the server's runtime.
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

    /// Where it serves.
    pub fn address(&self) -> SocketAddr {
        self.address
    }

    /// What a relay needs to know about the lobby.
    pub fn lobby(&self) -> &Lobby {
        &self.lobby
    }

    /// Says goodbye to everybody, and ends.
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
