//! Carries entries to a Redis and back: a stream is the log, one script writes to it, and each node has a stream of
//! its own for what others tell it.
//!
//! Entries are numbered by their node and the script leaves out what it has seen, so that a batch can be sent again
//! after a lost connection. Entries get the Redis' own time: one clock for all.

use std::sync::Arc;
use std::time::Duration;

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

use super::{Logged, Parcel};
use crate::hub::Hub;

/// Entries written or read at once.
const BATCH_MAX: usize = 256;
/// Entries kept before the last snapshot, for nodes that are slower than others.
const KEPT_BEFORE_SNAPSHOT: u64 = 10_000;
/// How long a read waits for something to happen.
const BLOCK_MILLIS: usize = 1_000;
const ANSWER_WITHIN: Duration = Duration::from_secs(5);
const RETRY_AFTER: Duration = Duration::from_millis(300);
/// What is told to a node that is not there any more is forgotten after this many seconds.
const INBOX_TTL_SECONDS: i64 = 120;
const INBOX_MAX: usize = 10_000;

/// KEYS: log, head (a hash: `at`, `time`, and the last number of each node). ARGV: node, then number and text of each
/// entry. Writes those entries that are not there yet. Time never goes back, whatever the clock does.
const APPEND: &str = "
local clock = redis.call('TIME')
local now = clock[1] * 1000000 + clock[2]
local head = redis.call('HMGET', KEYS[2], 'at', 'time', ARGV[1])
local at, last = tonumber(head[1] or 0), tonumber(head[3] or 0)
now = math.max(now, tonumber(head[2] or 0))
for i = 2, #ARGV, 2 do
  local number = tonumber(ARGV[i])
  if number == 0 or number > last then
    at = at + 1
    redis.call('XADD', KEYS[1], string.format('%.0f-1', at),
      'w', ARGV[1], 'n', ARGV[i], 't', string.format('%.0f', now), 'e', ARGV[i + 1])
    if number > last then last = number end
  end
end
redis.call('HSET', KEYS[2], 'at', string.format('%.0f', at), 'time', string.format('%.0f', now), ARGV[1], last)
return at
";
/// KEYS: snapshot, log. ARGV: entry, text, first entry to keep. The latest snapshot wins.
const KEEP_SNAPSHOT: &str = "
if tonumber(ARGV[1]) <= tonumber(redis.call('HGET', KEYS[1], 'at') or 0) then return 0 end
redis.call('HSET', KEYS[1], 'at', ARGV[1], 'text', ARGV[2])
redis.call('XTRIM', KEYS[2], 'MINID', ARGV[3])
return 1
";

/// Where a lobby's log is.
#[derive(Debug, Clone)]
pub(crate) struct Store {
    client: Client,
    /// In front of every key. In braces, so that a cluster keeps all of them together.
    prefix: String,
    node: NodeId,
}

/// Where a directory starts from.
pub(crate) struct Start {
    pub(crate) directory: Directory,
    pub(crate) at: u64,
    pub(crate) time: Micros,
}

impl Store {
    /// The log of all servers of this version with these rules: others could not take its entries in the same way.
    pub(crate) fn new(url: &str, prefix: &str, node: NodeId, rules: &Rules) -> RedisResult<Store> {
        let mut shared = rules.clone();
        // What each process may have of its own.
        let Rules { connections_max, connections_per_address_max, rates, .. } = Rules::default();
        (shared.connections_max, shared.connections_per_address_max) =
            (connections_max, connections_per_address_max);
        shared.rates = rates;
        let print = digest(&SHA256, format!("{shared:?}").as_bytes());
        let print: String = print.as_ref()[..6].iter().map(|byte| format!("{byte:02x}")).collect();
        let prefix = format!("{{{prefix}:{}:{print}}}", env!("CARGO_PKG_VERSION"));
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

    /// What is known at the moment.
    pub(crate) async fn start(&self, rules: &Rules) -> RedisResult<Start> {
        let mut connection = self.connect().await?;
        let (at, text): (Option<u64>, Option<String>) = redis::cmd("HMGET")
            .arg(self.key("snapshot"))
            .arg("at")
            .arg("text")
            .query_async(&mut connection)
            .await?;
        let (seconds, micros): (u64, u64) = redis::cmd("TIME").query_async(&mut connection).await?;
        let time = Micros::new(seconds * 1_000_000 + micros);
        let directory = match text.as_deref().map(Snapshot::from_text) {
            None => Directory::new(rules.clone()),
            Some(Ok(snapshot)) => Directory::from_snapshot(rules.clone(), snapshot),
            Some(Err(error)) => return Err(unreadable(&error.to_string())),
        };
        Ok(Start { directory, at: at.unwrap_or(0), time })
    }

    /// Carries parcels to the store until the server is gone.
    pub(crate) async fn write(self, mut outbox: UnboundedReceiver<Parcel>) {
        let (append, keep) = (Script::new(APPEND), Script::new(KEEP_SNAPSHOT));
        let mut connection = None;
        while let Some(first) = outbox.recv().await {
            let mut batch = vec![first];
            while batch.len() < BATCH_MAX
                && let Ok(next) = outbox.try_recv()
            {
                batch.push(next);
            }
            while let Err(error) = self.send(&mut connection, &append, &keep, &batch).await {
                warn!(%error, "the store cannot be written to");
                connection = None;
                tokio::time::sleep(RETRY_AFTER).await;
            }
        }
    }

    async fn send(
        &self,
        connection: &mut Option<MultiplexedConnection>,
        append: &Script,
        keep: &Script,
        batch: &[Parcel],
    ) -> RedisResult<()> {
        let connection = match connection {
            Some(connection) => connection,
            None => connection.insert(self.connect().await?),
        };
        let mut entries = append.prepare_invoke();
        entries.key(self.key("log")).key(self.key("head")).arg(self.node.to_string());
        let (mut has_entries, mut tells) = (false, redis::pipe());
        let mut has_tells = false;
        for parcel in batch {
            match parcel {
                Parcel::Entry { number, text } => {
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
            if let Parcel::Snapshot { at, snapshot } = parcel {
                let text = snapshot.to_text();
                // With a snapshot that nobody can read no node could ever start again; the log it stands for still can.
                if let Err(error) = Snapshot::from_text(&text) {
                    error!(at, %error, "a snapshot cannot be read and is not kept");
                    continue;
                }
                let mut keep = keep.prepare_invoke();
                keep.key(self.key("snapshot")).key(self.key("log")).arg(*at).arg(text);
                let first = at.saturating_sub(KEPT_BEFORE_SNAPSHOT);
                let _: u64 = keep.arg(format!("{first}-1")).invoke_async(connection).await?;
            }
        }
        Ok(())
    }

    /// Brings what is in the log to the machines until the server is gone.
    pub(crate) async fn read(self, hub: Arc<Hub>, rules: Rules) {
        let mut told = "0-0".to_string();
        loop {
            let error = match self.read_on(&hub, &mut told).await {
                Ok(()) => {
                    // Entries are missing, or the store has forgotten: begin again from what it knows.
                    match self.start(&rules).await {
                        Ok(start) => {
                            error!(
                                entry = start.at,
                                "the log has a hole: beginning again, everybody has to come back"
                            );
                            hub.restart(start);
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

    /// Reads until the connection breaks; returns without an error when an entry is missing.
    async fn read_on(&self, hub: &Arc<Hub>, told: &mut String) -> RedisResult<()> {
        let mut connection = self.connect().await?;
        let at: Option<u64> = connection.hget(self.key("head"), "at").await?;
        if at.unwrap_or(0) < hub.applied() {
            return Ok(());
        }
        let keys = [self.key("log"), self.inbox(self.node)];
        let options = StreamReadOptions::default().count(BATCH_MAX).block(BLOCK_MILLIS);
        loop {
            let ids = [format!("{}-1", hub.applied()), told.clone()];
            let reply: Option<StreamReadReply> = connection.xread_options(&keys, &ids, &options).await?;
            let Some(reply) = reply.filter(|reply| !reply.keys.is_empty()) else {
                // A store that lost its memory has nothing to say to who waits for later entries.
                let at: Option<u64> = connection.hget(self.key("head"), "at").await?;
                if at.unwrap_or(0) < hub.applied() {
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
            let expected = (hub.applied() + 1)..;
            if entries.iter().zip(expected).any(|(entry, expected)| entry.at != expected) {
                return Ok(());
            }
            hub.take_entries(&entries);
            for message in messages {
                match NodeMessage::from_text(&message) {
                    Ok(message) => hub.told(message),
                    Err(error) => warn!(%error, "another node said something that cannot be read"),
                }
            }
        }
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
        text: item.get("e").ok_or_else(wrong)?,
    })
}

fn unreadable(what: &str) -> RedisError {
    let text = "what is in the store was not written by this server";
    RedisError::from((redis::ErrorKind::Client, text, what.to_string()))
}
