//! Stored results: matches, best scores, ratings. SQLite unless the extensions bring a [`Storage`].
//!
//! The dispatcher hands in matches and queries. One thread writes groups of matches per transaction
//! and confirms them once they are on disk; queries may fill only a part of the queue. Absent:
//! verdicts (`gaggle-lobby`).

mod ratings;
mod sqlite;

pub use sqlite::SqliteStorage;

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::thread::JoinHandle;

use gaggle_lobby::message::server::{Leaderboard, MyStats};
use gaggle_lobby::node::{Purpose, Query};
use gaggle_lobby::view::{RatingChange, Verdict};
use gaggle_lobby::{Label, MatchRecord, PlayerId, Rejection, RejectionCode, ServerMessage};
use thiserror::Error;
use tracing::{error, info};

/// Longest queue of matches and queries. Beyond that, storage is too slow.
const WAITING_MAX: usize = 4_096;
/// Queries among them.
const QUESTIONS_MAX: usize = 1_024;
/// Matches per transaction.
const GROUP_MAX: usize = 256;

/// Why storing or reading failed.
#[derive(Debug, Error)]
#[error("storage failed: {0}; check the data folder and its disk")]
pub struct StorageError(pub String);

/// Effect of a stored match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outcome {
    /// The verdict stored first.
    pub verdict: Verdict,
    /// Rating changes it caused.
    pub ratings: Vec<RatingChange>,
}

/// Permanent storage of results.
pub trait Storage: fmt::Debug + Send + 'static {
    /// Stores decided matches, all or none, each once however often it is given. They are durable
    /// when it returns. Returns what each match counts as, equal at every repeat.
    ///
    /// # Errors
    /// If they could not be stored; then none was.
    fn store(&mut self, records: &[MatchRecord]) -> Result<Vec<Outcome>, StorageError>;

    /// Leaderboard of a game and mode.
    ///
    /// # Errors
    /// If it could not be read.
    fn top(
        &mut self,
        game: &Label,
        mode: &Label,
        verified: bool,
        count: u8,
    ) -> Result<Leaderboard, StorageError>;

    /// A player's best result, rating and last matches.
    ///
    /// # Errors
    /// If they could not be read.
    fn mine(&mut self, player: PlayerId, game: &Label, mode: &Label) -> Result<MyStats, StorageError>;
}

/// Receives results of storage operations.
pub(crate) trait Listener: Send + 'static {
    /// A match is stored.
    fn stored(&self, record: &MatchRecord, outcome: Outcome);
    /// Matches could not be stored and must be reported again.
    fn lost(&self, matches: usize);
    /// A query is answered.
    fn answered(&self, purpose: Purpose, answer: Result<ServerMessage, Rejection>);
}

enum Job {
    Store(Box<MatchRecord>),
    Answer(Purpose, Query),
}

/// Storage on a thread of its own.
#[derive(Debug)]
pub(crate) struct StorageThread {
    jobs: Option<SyncSender<Job>>,
    /// Queries in the queue.
    questions: Arc<AtomicUsize>,
    thread: Option<JoinHandle<()>>,
}

impl StorageThread {
    pub(crate) fn start(storage: Box<dyn Storage>, listener: impl Listener) -> StorageThread {
        let (jobs, waiting) = sync_channel(WAITING_MAX);
        let questions = Arc::new(AtomicUsize::new(0));
        let asked = questions.clone();
        let thread = std::thread::Builder::new().name("storage".into());
        let thread = thread.spawn(move || work(storage, &listener, &waiting, &asked)).ok();
        StorageThread { jobs: Some(jobs), questions, thread }
    }

    /// Queues a match. False if the queue is full: the match is dropped, and stored when it is
    /// reported again.
    pub(crate) fn store(&self, record: MatchRecord) -> bool {
        let is_sent = self.send(Job::Store(Box::new(record)));
        if !is_sent {
            error!("storage is too slow: a match must be reported again");
        }
        is_sent
    }

    /// Queues a query. False if the queue is full.
    pub(crate) fn ask(&self, purpose: Purpose, query: Query) -> bool {
        let has_place = self.questions.fetch_add(1, Ordering::Relaxed) < QUESTIONS_MAX
            && self.send(Job::Answer(purpose, query));
        if !has_place {
            self.questions.fetch_sub(1, Ordering::Relaxed);
        }
        has_place
    }

    fn send(&self, job: Job) -> bool {
        self.jobs.as_ref().is_some_and(|jobs| jobs.try_send(job).is_ok())
    }
}

/// Stores everything queued before the thread ends.
impl Drop for StorageThread {
    fn drop(&mut self) {
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}

fn work(
    mut storage: Box<dyn Storage>,
    listener: &impl Listener,
    waiting: &Receiver<Job>,
    asked: &AtomicUsize,
) {
    while let Ok(first) = waiting.recv() {
        let mut records = Vec::new();
        let mut questions = Vec::new();
        let mut next = Some(first);
        while let Some(job) = next {
            match job {
                Job::Store(record) => records.push(*record),
                Job::Answer(purpose, query) => questions.push((purpose, query)),
            }
            let is_enough = records.len() + questions.len() >= GROUP_MAX;
            next = if is_enough { None } else { waiting.try_recv().ok() };
        }
        if !records.is_empty() {
            store(&mut *storage, listener, &records);
        }
        for (purpose, query) in questions {
            listener.answered(purpose, answer(&mut *storage, query));
            asked.fetch_sub(1, Ordering::Relaxed);
        }
    }
}

fn store(storage: &mut dyn Storage, listener: &impl Listener, records: &[MatchRecord]) {
    match storage.store(records) {
        Ok(outcomes) => {
            for (record, outcome) in records.iter().zip(outcomes) {
                info!(room = %record.room, round = record.round, verdict = %outcome.verdict, "match stored");
                listener.stored(record, outcome);
            }
        }
        Err(error) => {
            error!(%error, matches = records.len(), "matches could not be stored");
            listener.lost(records.len());
        }
    }
}

fn answer(storage: &mut dyn Storage, query: Query) -> Result<ServerMessage, Rejection> {
    let answer = match query {
        Query::Leaderboard { game, mode, verified, count } => {
            storage.top(&game, &mode, verified, count).map(ServerMessage::from)
        }
        Query::PlayerStats { player, game, mode } => {
            storage.mine(player, &game, &mode).map(ServerMessage::from)
        }
    };
    answer.map_err(|error| {
        error!(%error, "a storage query failed");
        Rejection::new(RejectionCode::Unavailable, "the storage does not answer; try again later")
    })
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Sender, channel};

    use gaggle_lobby::RoomId;
    use gaggle_lobby::node::ConnectionId;

    use super::*;

    #[test]
    fn result_has_space_however_many_queries_wait() {
        let (open, gate) = channel();
        let (heard, hearing) = channel();
        let thread = StorageThread::start(Box::new(SlowStorage(gate)), Heard(heard));
        let ask = |number: u64| {
            let (game, mode) = (Label::default(), Label::default());
            thread.ask(purpose(number), Query::Leaderboard { game, mode, verified: false, count: 10 })
        };
        let taken = (0..10_000).filter(|number| ask(*number)).count();
        thread.store(record());
        drop(open);
        drop(thread);
        // Checked once the thread can end: a failed assertion would wait for it.
        assert_eq!(taken, QUESTIONS_MAX);
        let heard: Vec<&str> = hearing.iter().collect();
        assert_eq!(heard.iter().filter(|what| **what == "stored").count(), 1);
        assert_eq!(heard.iter().filter(|what| **what == "answered").count(), taken);
    }

    #[test]
    fn answered_query_makes_space_for_another() {
        let (_open, gate) = channel();
        let (heard, hearing) = channel();
        let thread = StorageThread::start(Box::new(SlowStorage(gate)), Heard(heard));
        for number in 0..3 * QUESTIONS_MAX as u64 {
            let query = Query::PlayerStats {
                player: PlayerId::from_bytes([1; 16]),
                game: Label::default(),
                mode: Label::default(),
            };
            assert!(thread.ask(purpose(number), query));
            assert_eq!(hearing.recv(), Ok("answered"));
        }
    }

    /// Blocks on leaderboards until the channel is closed, and answers the rest at once.
    #[derive(Debug)]
    struct SlowStorage(Receiver<()>);

    impl Storage for SlowStorage {
        fn store(&mut self, records: &[MatchRecord]) -> Result<Vec<Outcome>, StorageError> {
            let outcome = |record: &MatchRecord| Outcome { verdict: record.verdict, ratings: Vec::new() };
            Ok(records.iter().map(outcome).collect())
        }

        fn top(&mut self, game: &Label, mode: &Label, _: bool, _: u8) -> Result<Leaderboard, StorageError> {
            let _ = self.0.recv();
            Ok(Leaderboard { game: game.clone(), mode: mode.clone(), entries: Vec::new() })
        }

        fn mine(&mut self, _: PlayerId, game: &Label, mode: &Label) -> Result<MyStats, StorageError> {
            let (game, mode) = (game.clone(), mode.clone());
            Ok(MyStats { game, mode, best: None, rating: None, matches: Vec::new() })
        }
    }

    fn purpose(number: u64) -> Purpose {
        Purpose::Search(ConnectionId(number))
    }

    struct Heard(Sender<&'static str>);

    impl Listener for Heard {
        fn stored(&self, _: &MatchRecord, _: Outcome) {
            let _ = self.0.send("stored");
        }

        fn lost(&self, _: usize) {
            let _ = self.0.send("lost");
        }

        fn answered(&self, _: Purpose, _: Result<ServerMessage, Rejection>) {
            let _ = self.0.send("answered");
        }
    }

    fn record() -> MatchRecord {
        MatchRecord {
            room: RoomId::from_bytes([1; 16]),
            round: 1,
            game: Label::default(),
            mode: Label::default(),
            verdict: Verdict::Disputed,
            scores: Vec::new(),
            level: None,
            digest: None,
            match_started_at: 1,
            ended: 2,
        }
    }
}
