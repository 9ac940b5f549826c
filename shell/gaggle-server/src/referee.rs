//! Referees of this process: their threads, their journals on disk, and the relay's callback.
//!
//! `server.rs` starts them after the relay and stops them before it. Absent: sealing
//! (`gaggle-seal`), the relay's rules.

mod boots;
mod carrier;
mod figures;
mod journal;
mod members;
mod room;
mod thread;

use std::collections::BTreeMap;
use std::fmt;
use std::fs;
use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;

use gaggle_lobby::RoomId;
use gaggle_relay::RelayServer;
use gaggle_seal::SealConfig;
use tracing::{info, warn};

use crate::config::Config;
use crate::dispatcher::Dispatcher;
use crate::metrics::MetricsSource;
use crate::server::StartError;
use boots::Boots;
use figures::Figures;
use journal::{RoomJournal, Segments};
use thread::{Inbox, RefereeThread, Shared};

/// Folder in the data folder with journals and numbers of starts.
const FOLDER: &str = "referee";

/// All referees of a process.
pub(crate) struct Referees {
    shared: Arc<Shared>,
    threads: Mutex<Vec<JoinHandle<()>>>,
}

impl fmt::Debug for Referees {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Referees").finish_non_exhaustive()
    }
}

/// Counters of referees; the operator's page needs them before referees start.
#[derive(Debug, Default)]
pub(crate) struct RefereeFigures(Arc<Figures>);

impl RefereeFigures {
    pub(crate) fn source(&self) -> Arc<dyn MetricsSource> {
        self.0.clone()
    }
}

impl Referees {
    /// Starts the threads, which seal rooms as members ask for them. None if no mode has a referee.
    ///
    /// # Errors
    /// If there is no relay of this process, or the data folder cannot be used.
    pub(crate) fn start(
        config: &Config,
        relay: Option<&Arc<RelayServer>>,
        dispatcher: &Arc<Dispatcher>,
        figures: &RefereeFigures,
    ) -> Result<Option<Arc<Referees>>, StartError> {
        if !config.games.has_referee() {
            return Ok(None);
        }
        let conflict = |text: &str| StartError::Setting(format!("a mode has `referee = true`, {text}"));
        let Some(relay) = relay else {
            return Err(conflict("which needs this server's own relay; set `relay` to true"));
        };
        if config.relay_url.is_some() {
            return Err(conflict("which members reach at this server's own relay; remove `relay_url`"));
        }
        if config.redis.is_some() {
            return Err(conflict("which works on a single server only; remove `redis`"));
        }
        let folder = config.data.join(FOLDER);
        let failed = |error: io::Error| StartError::Data { path: folder.clone(), error };
        let boots = Boots::open(&folder.join("boots")).map_err(failed)?;
        let shared = Arc::new(Shared {
            relay: relay.clone(),
            lobby: dispatcher.clone(),
            boots,
            figures: figures.0.clone(),
            is_stopping: AtomicBool::new(false),
            config: settings(config),
        });
        let recovered = journal::recover(&folder).map_err(failed)?;
        for (path, at) in &recovered.damaged {
            shared.figures.segment_damaged();
            let path = path.display();
            warn!(%path, at, "a journal file is damaged: what is before that byte was read");
        }
        let first = recovered.paths.iter().map(|path| journal::number_of(path)).max().unwrap_or(0) + 1;
        let count = config.referee_thread_count();
        let mut shares = vec![BTreeMap::new(); count];
        for (room, journal) in recovered.rooms {
            shares[thread_of(room, count)].insert(room, journal);
        }
        let journals: usize = shares.iter().map(BTreeMap::len).sum();
        let inboxes: Vec<Arc<Inbox>> = (0..count).map(|_| Arc::default()).collect();
        let mut threads = Vec::new();
        for (index, (share, inbox)) in shares.into_iter().zip(&inboxes).enumerate() {
            let segments = Segments::begin(&folder, index, first, share.iter()).map_err(failed)?;
            threads.push(spawn(index, shared.clone(), inbox.clone(), share, segments)?);
        }
        // The new segments have all journals.
        recovered.paths.iter().for_each(|path| _ = fs::remove_file(path));
        relay.set_host(Box::new(move |room| inboxes[thread_of(room, count)].want(room)));
        info!(threads = count, journals, "referees are ready");
        Ok(Some(Arc::new(Referees { shared, threads: Mutex::new(threads) })))
    }

    /// Lets clients catch up with all rooms, then ends the threads. Blocks for up to two seconds.
    pub(crate) fn stop(&self) {
        self.shared.is_stopping.store(true, Ordering::Relaxed);
        let threads = std::mem::take(&mut *self.threads.lock().unwrap_or_else(PoisonError::into_inner));
        threads.into_iter().for_each(|thread| _ = thread.join());
    }
}

impl Drop for Referees {
    fn drop(&mut self) {
        self.shared.is_stopping.store(true, Ordering::Relaxed);
    }
}

fn spawn(
    index: usize,
    shared: Arc<Shared>,
    inbox: Arc<Inbox>,
    journals: BTreeMap<RoomId, RoomJournal>,
    segments: Segments,
) -> Result<JoinHandle<()>, StartError> {
    let thread = RefereeThread::new(shared, inbox, journals, segments);
    let named = std::thread::Builder::new().name(format!("referee-{index}"));
    named.spawn(move || thread.run()).map_err(StartError::Threads)
}

/// Index of the thread that serves a room, for the whole run of the process.
fn thread_of(room: RoomId, count: usize) -> usize {
    (gaggle_kit::fnv1a_64(room.as_bytes()) % count.max(1) as u64) as usize
}

/// Settings of all referees; the rules of a match come from its players.
fn settings(config: &Config) -> SealConfig {
    let delay = config.referee_spectator_delay.0.get() * 60 / 1_000_000;
    SealConfig { spectator_delay_frames: delay as u32, ..SealConfig::default() }
}
