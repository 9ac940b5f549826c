//! Shared log in Redis: a stream with a script that appends to it, and a message stream per node.
//!
//! `shared.rs` decides what is written. Entries are numbered per node and the script skips known
//! ones, so a batch can be repeated. Each entry names its predecessor: if Redis loses entries,
//! nodes that applied them notice and restart. Absent: content of entries.

use std::sync::Arc;
use std::time::{Duration, Instant};

use gaggle_kit::Micros;
use gaggle_lobby::NodeId;
use gaggle_lobby::directory::{Directory, Snapshot};
use gaggle_lobby::node::NodeMessage;
use gaggle_lobby::rules::Rules;
use redis::aio::MultiplexedConnection;
use redis::streams::{StreamReadOptions, StreamReadReply};
use redis::{AsyncCommands, AsyncConnectionConfig, Client, RedisError, RedisResult, Script};
use ring::digest::{SHA256, digest};
use tokio::sync::mpsc::UnboundedReceiver;
use tracing::{error, info, warn};

use super::{Contact, Logged, Parcel, Position, Start};
use crate::clock::Clock;
use crate::dispatcher::Dispatcher;

/// Entries per write or read.
const BATCH_MAX: usize = 256;
/// Entries kept before the last snapshot, for slower nodes.
const KEPT_BEFORE_SNAPSHOT: u64 = 10_000;
/// Longest wait of a read, in milliseconds.
const BLOCK_MILLIS: usize = 1_000;
const ANSWER_WITHIN: Duration = Duration::from_secs(5);
const RETRY_AFTER: Duration = Duration::from_millis(300);
/// Lifetime of messages to a node that does not read them, in seconds.
const INBOX_TTL_SECONDS: i64 = 120;
const INBOX_MAX: usize = 10_000;

/// Version of the log format; other versions use other keys.
const LOG_FORMAT: u32 = 4;

/// How long a starting node waits for other nodes' entries: longer than two of their leases are
/// apart.
const SIGN_WITHIN: Duration = Duration::from_millis(3_000);
const LOOK_EVERY: Duration = Duration::from_millis(100);
/// A log whose last entry is younger counts as in use.
const FRESH: Micros = Micros::from_secs(2);

/// KEYS: log, head (a hash: `at`, `time`, the `name` of the last entry, and the last number of each
/// node). ARGV: node, the lobby's time as the node knows it, then number and text of each entry.
/// Appends entries that are not in the log yet. Time never goes back; Redis' clock is not used.
const APPEND: &str = "
local head = redis.call('HMGET', KEYS[2], 'at', 'time', ARGV[1], 'name')
local at, last, name = tonumber(head[1] or 0), tonumber(head[3] or 0), head[4] or ''
local now = string.format('%.0f', math.max(tonumber(ARGV[2]), tonumber(head[2] or 0)))
for i = 3, #ARGV, 2 do
  local number = tonumber(ARGV[i])
  if number == 0 or number > last then
    at = at + 1
    redis.call('XADD', KEYS[1], string.format('%.0f-1', at),
      'w', ARGV[1], 'n', ARGV[i], 't', now, 'p', name, 'e', ARGV[i + 1])
    name = now .. ':' .. ARGV[1] .. ':' .. ARGV[i]
    if number > last then last = number end
  end
end
redis.call('HSET', KEYS[2], 'at', string.format('%.0f', at), 'time', now, 'name', name, ARGV[1], last)
return at
";
/// KEYS: snapshot, log. ARGV: entry, text, first entry to keep, the entry's name. The latest
/// snapshot wins; one after an entry that is not in the log is ignored.
const KEEP_SNAPSHOT: &str = "
if tonumber(ARGV[1]) <= tonumber(redis.call('HGET', KEYS[1], 'at') or 0) then return 0 end
local found = redis.call('XRANGE', KEYS[2], ARGV[1] .. '-1', ARGV[1] .. '-1')[1]
local entry = {}
for i = 1, #(found and found[2] or {}), 2 do entry[found[2][i]] = found[2][i + 1] end
if (entry.t or '') .. ':' .. (entry.w or '') .. ':' .. (entry.n or '') ~= ARGV[4] then return 0 end
redis.call('HSET', KEYS[1], 'at', ARGV[1], 'text', ARGV[2], 'name', ARGV[4])
redis.call('XTRIM', KEYS[2], 'MINID', ARGV[3])
return 1
";

/// Location of a lobby's log.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    client: Client,
    /// Prefix of every key, in braces, so that a cluster keeps them together.
    prefix: String,
    node: NodeId,
}

impl Store {
    /// The log of all servers of this version with these rules: others would apply its entries
    /// differently.
    pub(crate) fn new(url: &str, prefix: &str, node: NodeId, rules: &Rules) -> RedisResult<Store> {
        // Settings that may differ per process.
        let Rules {
            connections_max,
            connections_per_address_max,
            connections_per_player_max,
            limits: rates,
            ..
        } = Rules::default();
        let shared = Rules {
            connections_max,
            connections_per_address_max,
            connections_per_player_max,
            limits: rates,
            ..rules.clone()
        };
        let print = digest(&SHA256, format!("{shared:?}").as_bytes());
        let print: String = print.as_ref()[..6].iter().map(|byte| format!("{byte:02x}")).collect();
        let prefix = format!("{{{prefix}:{}:{LOG_FORMAT}:{print}}}", env!("CARGO_PKG_VERSION"));
        info!(%prefix, "sharing rooms with nodes of the same version and rules");
        Ok(Store { client: Client::open(url)?, prefix, node })
    }

    fn key(&self, name: &str) -> String {
        format!("{}:{name}", self.prefix)
    }

    fn inbox(&self, node: NodeId) -> String {
        format!("{}:to:{node}", self.prefix)
    }

    async fn connect(&self) -> RedisResult<MultiplexedConnection> {
        let config = AsyncConnectionConfig::new()
            .set_connection_timeout(Some(ANSWER_WITHIN))
            .set_response_timeout(Some(ANSWER_WITHIN));
        self.client.get_multiplexed_async_connection_with_config(&config).await
    }

    /// Current state of the store. A process that followed the log knows the lobby's time; another
    /// passes its clock.
    pub(crate) async fn start(&self, rules: &Rules, known: Result<Micros, Clock>) -> RedisResult<Start> {
        let mut connection = self.connect().await?;
        let (at, name, text): (Option<u64>, Option<String>, Option<String>) = redis::cmd("HMGET")
            .arg(self.key("snapshot"))
            .arg(&["at", "name", "text"])
            .query_async(&mut connection)
            .await?;
        let position = Position { at: at.unwrap_or(0), name: name.unwrap_or_default() };
        let time = match known {
            Ok(time) => time,
            Err(clock) => self.time_to_begin_with(&mut connection, clock).await?,
        };
        let directory = match text.as_deref().map(Snapshot::from_text) {
            None => Directory::new(rules.clone()),
            Some(Ok(snapshot)) => Directory::from_snapshot(rules.clone(), snapshot),
            Some(Err(error)) => return Err(unreadable(&error.to_string())),
        };
        Ok(Start { directory, position, time })
    }

    /// The lobby's time for a process that has not followed the log: that of other nodes if any
    /// write, else the local clock.
    async fn time_to_begin_with(
        &self,
        connection: &mut MultiplexedConnection,
        clock: Clock,
    ) -> RedisResult<Micros> {
        let head = async |connection: &mut MultiplexedConnection| -> RedisResult<(Option<u64>, Option<u64>)> {
            let (key, fields) = (self.key("head"), ["at", "time"]);
            redis::cmd("HMGET").arg(key).arg(&fields).query_async(connection).await
        };
        let (at, last) = head(connection).await?;
        let mut last = Micros::new(last.unwrap_or(0));
        let start = Instant::now();
        while at.is_some() && last + FRESH < clock.now() && start.elapsed() < SIGN_WITHIN {
            tokio::time::sleep(LOOK_EVERY).await;
            let (now_at, time) = head(connection).await?;
            last = Micros::new(time.unwrap_or(0));
            if now_at != at {
                return Ok(last);
            }
        }
        Ok(last.max(clock.now()))
    }

    /// Writes queued items to the store until the server stops, without entries of earlier epochs.
    pub(crate) async fn write(
        self,
        mut outbox: UnboundedReceiver<Parcel>,
        contact: Arc<Contact>,
        clock: Clock,
    ) {
        let (append, keep) = (Script::new(APPEND), Script::new(KEEP_SNAPSHOT));
        let mut connection = None;
        while let Some(first) = outbox.recv().await {
            let mut batch = vec![first];
            while batch.len() < BATCH_MAX
                && let Ok(next) = outbox.try_recv()
            {
                batch.push(next);
            }
            loop {
                let current = contact.life();
                batch.retain(|parcel| !matches!(parcel, Parcel::Entry { life, .. } if *life != current));
                let Err(error) =
                    self.send(&mut connection, &append, &keep, &batch, contact.lobby_time(clock.now())).await
                else {
                    break;
                };
                warn!(%error, "the store cannot be written to");
                connection = None;
                tokio::time::sleep(RETRY_AFTER).await;
            }
            let numbers = batch.iter().map(|parcel| match parcel {
                Parcel::Entry { number, .. } => *number,
                _ => 0,
            });
            contact.has_written(clock.now(), numbers.max().unwrap_or(0));
        }
    }

    async fn send(
        &self,
        connection: &mut Option<MultiplexedConnection>,
        append: &Script,
        keep: &Script,
        batch: &[Parcel],
        time: Micros,
    ) -> RedisResult<()> {
        let connection = match connection {
            Some(connection) => connection,
            None => connection.insert(self.connect().await?),
        };
        let mut entries = append.prepare_invoke();
        entries.key(self.key("log")).key(self.key("head")).arg(self.node.to_string()).arg(time.get());
        let (mut has_entries, mut tells) = (false, redis::pipe());
        let mut has_tells = false;
        for parcel in batch {
            match parcel {
                Parcel::Entry { number, text, .. } => {
                    entries.arg(*number).arg(text);
                    has_entries = true;
                }
                Parcel::Tell { node, text, .. } => {
                    let inbox = self.inbox(*node);
                    tells.cmd("XADD").arg(&inbox).arg("MAXLEN").arg("~").arg(INBOX_MAX).arg("*");
                    tells.arg("m").arg(text).ignore();
                    tells.expire(&inbox, INBOX_TTL_SECONDS).ignore();
                    has_tells = true;
                }
                Parcel::Snapshot { .. } => {}
            }
        }
        if has_entries {
            let _: u64 = entries.invoke_async(connection).await?;
        }
        if has_tells {
            let () = tells.query_async(connection).await?;
        }
        for parcel in batch {
            if let Parcel::Snapshot { position: Position { at, name }, snapshot } = parcel {
                let text = snapshot.to_text();
                // An unreadable snapshot would keep every node from starting; the log still works.
                if let Err(error) = Snapshot::from_text(&text) {
                    error!(at, %error, "an unreadable snapshot is dropped");
                    continue;
                }
                let mut keep = keep.prepare_invoke();
                keep.key(self.key("snapshot")).key(self.key("log")).arg(*at).arg(text);
                let first = at.saturating_sub(KEPT_BEFORE_SNAPSHOT);
                let _: u64 = keep.arg(format!("{first}-1")).arg(name).invoke_async(connection).await?;
            }
        }
        Ok(())
    }

    /// Reads the log into the dispatcher until the server stops.
    pub(crate) async fn read(self, dispatcher: Arc<Dispatcher>, rules: Rules, contact: Arc<Contact>) {
        let mut told = "0-0".to_string();
        loop {
            let error = match self.read_on(&dispatcher, &mut told, &contact).await {
                Ok(()) => {
                    // Entries are missing or differ: restart from the state of the store.
                    match self.start(&rules, Ok(contact.lobby_time(dispatcher.now()))).await {
                        Ok(start) => {
                            error!(
                                entry = start.position.at,
                                "the log has a gap or lost its end: restarting, all clients must \
                                 reconnect"
                            );
                            dispatcher.restart(start);
                            continue;
                        }
                        Err(error) => error,
                    }
                }
                Err(error) => error,
            };
            warn!(%error, "the store cannot be read from");
            tokio::time::sleep(RETRY_AFTER).await;
        }
    }

    /// Reads until the connection breaks; returns without an error if an entry does not follow the
    /// last one.
    async fn read_on(
        &self,
        dispatcher: &Arc<Dispatcher>,
        told: &mut String,
        contact: &Contact,
    ) -> RedisResult<()> {
        let mut connection = self.connect().await?;
        if !self.has_all(&mut connection, &dispatcher.applied(), contact).await? {
            return Ok(());
        }
        let keys = [self.key("log"), self.inbox(self.node)];
        let options = StreamReadOptions::default().count(BATCH_MAX).block(BLOCK_MILLIS);
        loop {
            let mut applied = dispatcher.applied();
            let ids = [format!("{}-1", applied.at), told.clone()];
            let reply: Option<StreamReadReply> = connection.xread_options(&keys, &ids, &options).await?;
            contact.has_read(dispatcher.now());
            let Some(reply) = reply.filter(|reply| !reply.keys.is_empty()) else {
                // A store that lost its entries never answers a read for later ones.
                if !self.has_all(&mut connection, &applied, contact).await? {
                    return Ok(());
                }
                continue;
            };
            let (mut entries, mut messages) = (Vec::new(), Vec::new());
            for stream in reply.keys {
                for item in stream.ids {
                    if stream.key == keys[0] {
                        entries.push(parse(&item)?);
                    } else {
                        messages.extend(item.get::<String>("m"));
                        told.clone_from(&item.id);
                    }
                }
            }
            for entry in &entries {
                if !entry.follows(&applied) {
                    return Ok(());
                }
                applied = entry.position();
            }
            if dispatcher.misses_any(&entries) {
                return Ok(());
            }
            dispatcher.take_entries(&entries);
            for message in messages {
                match NodeMessage::from_text(&message) {
                    Ok(message) => dispatcher.told(message),
                    Err(error) => warn!(%error, "another node sent an unreadable message"),
                }
            }
        }
    }

    /// Whether the log still has the last applied entry and all own ones. Later entries are checked
    /// when read.
    async fn has_all(
        &self,
        connection: &mut MultiplexedConnection,
        applied: &Position,
        contact: &Contact,
    ) -> RedisResult<bool> {
        // Read first: more may be written meanwhile.
        let written = contact.written();
        let (at, name, number): (Option<u64>, Option<String>, Option<u64>) = redis::cmd("HMGET")
            .arg(self.key("head"))
            .arg(&["at", "name", &self.node.to_string()])
            .query_async(connection)
            .await?;
        let at = at.unwrap_or(0);
        let is_there = at > applied.at || (at == applied.at && name.unwrap_or_default() == applied.name);
        Ok(is_there && number.unwrap_or(0) >= written)
    }
}

fn parse(item: &redis::streams::StreamId) -> RedisResult<Logged> {
    let wrong = || unreadable(&item.id);
    Ok(Logged {
        at: item.id.split('-').next().and_then(|at| at.parse().ok()).ok_or_else(wrong)?,
        time: Micros::new(item.get("t").ok_or_else(wrong)?),
        writer: item
            .get::<String>("w")
            .and_then(|text| u64::from_str_radix(&text, 16).ok())
            .map(NodeId)
            .ok_or_else(wrong)?,
        number: item.get("n").ok_or_else(wrong)?,
        previous: item.get("p").ok_or_else(wrong)?,
        text: item.get("e").ok_or_else(wrong)?,
    })
}

fn unreadable(what: &str) -> RedisError {
    let text = "the store contains data of another program";
    RedisError::from((redis::ErrorKind::Client, text, what.to_string()))
}
