//! The relay on this server's own port: the path for everyone who has no better one.

use std::fmt;
use std::future::Future;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};

use gaggle_lobby::message::server::Relay;
use gaggle_relay::{RelayConfig, RelayServer};

use crate::extensions::{Lobby, Upgrade, UpgradedStream};

/// Where it is mounted.
const PATH: &str = "/relay";

/// Serves the relay's WebSockets.
#[derive(Default)]
pub(crate) struct RelayMount {
    server: OnceLock<Arc<RelayServer>>,
}

impl fmt::Debug for RelayMount {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("RelayMount").finish_non_exhaustive()
    }
}

impl RelayMount {
    /// What members are told about it.
    pub(crate) fn told() -> Relay {
        Relay { socket: PATH.to_string(), udp: Vec::new(), fingerprint: None }
    }
}

impl Upgrade for RelayMount {
    fn path(&self) -> &str {
        PATH
    }

    fn started(&self, lobby: Lobby) {
        match RelayServer::start(lobby.ticket_key(), RelayConfig::default()) {
            Ok(server) => drop(self.server.set(server)),
            Err(error) => {
                tracing::error!(%error, "the relay does not start: who has no direct path stays alone");
            }
        }
    }

    fn serve(
        self: Arc<Self>,
        stream: UpgradedStream,
        _address: IpAddr,
    ) -> Pin<Box<dyn Future<Output = ()> + Send>> {
        Box::pin(async move {
            if let Some(server) = self.server.get() {
                server.serve(stream).await;
            }
        })
    }
}
