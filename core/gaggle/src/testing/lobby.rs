//! State shared by the peers of a simulation: the lobby, messages under way, links that open and
//! close. [`SimLobby`](super::SimLobby) owns it, platforms share it. Absent: rooms, packets of
//! links.

use std::collections::{BTreeMap, BTreeSet, VecDeque};

use gaggle_kit::{IceServer, Micros, PeerId};
use gaggle_lobby::client::SocketEvent;
use gaggle_lobby::directory::command::{MarkStored, Tick};
use gaggle_lobby::directory::{Directory, LogEntry};
use gaggle_lobby::node::{ConnectionId, IceProvider, Identity, Node, NodeConfig, NodeOutput};
use gaggle_lobby::rules::Rules;
use gaggle_lobby::{MatchRecord, NodeId, PlayerId, Rejection, RejectionCode, TicketSigner};

/// 2027-01-15, so that tickets have plausible times.
pub(super) const EPOCH: Micros = Micros::from_secs(1_800_000_000);
/// Secret with which the simulated lobby signs tickets.
pub(super) const SECRET: [u8; 32] = [7; 32];
/// How long a message to or from the lobby takes.
pub(super) const LOBBY_DELAY: Micros = Micros::from_millis(20);
/// Packets sent before a link was closed arrive within this time.
pub(super) const UNDER_WAY: Micros = Micros::from_millis(100);

/// Lifetime of the simulated lobby's TURN credentials.
pub const ICE_TTL: Micros = Micros::from_secs(80);

/// A TURN server whose credentials expire soon. Their user name is their creation time.
#[derive(Debug)]
struct SimIce;

impl IceProvider for SimIce {
    fn servers(&self, now: Micros, _player: PlayerId) -> Vec<IceServer> {
        let made = (now - EPOCH).get().to_string();
        let urls = vec!["turn:testing:3478".to_string()];
        vec![IceServer { urls, username: Some(made), credential: Some("secret".to_string()) }]
    }

    fn ttl_seconds(&self) -> u64 {
        ICE_TTL.get() / 1_000_000
    }
}

/// Two peers, the lower number first.
pub(super) type Pair = (usize, usize);

/// Observations that tests read afterwards.
#[derive(Debug, Default)]
pub(super) struct Observed {
    /// When the TURN credentials of each peer were made.
    pub(super) ice_made: BTreeMap<usize, Micros>,
    /// Peers whose place at a relay another process took with their ticket, and the number of newer
    /// tickets they received.
    pub(super) robbed: BTreeSet<usize>,
    pub(super) renewed: BTreeMap<usize, usize>,
    /// Matches the lobby has decided.
    pub(super) records: Vec<MatchRecord>,
    /// Scores that peers sent to the lobby: time, peer, message.
    pub(super) scores: Vec<(Micros, usize, String)>,
}

/// State that all peers share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) now: Micros,
    pub(super) lobby_up: bool,
    pub(super) node: Node,
    pub(super) directory: Directory,
    pub(super) rules: Rules,
    pub(super) next_connection: u64,
    /// The peer of each connection.
    pub(super) owners: BTreeMap<ConnectionId, usize>,
    pub(super) to_node: VecDeque<(Micros, ConnectionId, Option<String>)>,
    pub(super) to_peer: Vec<VecDeque<(Micros, SocketEvent)>>,
    /// The peer of each id the lobby has given.
    pub(super) peers: BTreeMap<PeerId, usize>,
    pub(super) connected: BTreeSet<Pair>,
    /// How long a link takes to open, and when links under way will open.
    pub(super) link_delay: Micros,
    pub(super) opening: Vec<(Micros, Pair)>,
    /// Closed links, until packets under way have arrived.
    pub(super) closing: Vec<(Micros, Pair)>,
    /// Peers to and from which no link opens.
    pub(super) deaf: BTreeSet<usize>,
    /// Links that did not open because of `deaf`.
    pub(super) in_vain: BTreeSet<Pair>,
    /// Whether a dropped mesh closes no link.
    pub(super) crashing: bool,
    pub(super) observed: Observed,
    /// Tickets that peers show to a referee.
    pub(super) tickets: BTreeMap<PeerId, String>,
}

impl Shared {
    pub(super) fn start_lobby(rules: &Rules, now: Micros) -> Node {
        let config = NodeConfig {
            id: NodeId(1),
            secret: [3; 32],
            signer: TicketSigner::from_secret(&SECRET),
            server_name: "testing".into(),
            ice: Box::new(SimIce),
            lease: Micros::MAX,
        };
        Node::new(EPOCH + now, rules.clone(), config)
    }

    pub(super) fn hang_up(&mut self, peer: usize) {
        let Some((&connection, _)) = self.owners.iter().find(|(_, owner)| **owner == peer) else { return };
        self.owners.remove(&connection);
        self.to_node.push_back((self.now + LOBBY_DELAY, connection, None));
    }

    pub(super) fn set_lobby_up(&mut self, up: bool) {
        self.lobby_up = up;
        if up {
            return;
        }
        for peer in std::mem::take(&mut self.owners).into_values() {
            self.to_peer[peer].push_back((self.now, SocketEvent::Closed));
        }
        self.to_node.clear();
        self.restart_lobby(self.rules.clone());
    }

    /// Replaces the lobby by one without rooms.
    pub(super) fn restart_lobby(&mut self, rules: Rules) {
        self.node = Shared::start_lobby(&rules, self.now);
        self.directory = Directory::new(rules.clone());
        self.rules = rules;
    }

    pub(super) fn hear_again(&mut self, peer: usize) {
        self.deaf.remove(&peer);
        let (now, deaf) = (self.now, self.deaf.clone());
        let is_shut = |pair: &Pair| deaf.contains(&pair.0) || deaf.contains(&pair.1);
        let (shut, open): (Vec<Pair>, Vec<Pair>) =
            std::mem::take(&mut self.in_vain).into_iter().partition(is_shut);
        self.in_vain.extend(shut);
        for pair in open {
            if self.connected.insert(pair) {
                self.opening.push((now, pair));
            }
        }
    }

    /// Advances time. Returns the time, the links that open now and those that close.
    pub(super) fn advance(&mut self, time: Micros) -> (Micros, Vec<Pair>, Vec<Pair>) {
        self.now += time;
        if self.lobby_up {
            self.run_lobby();
        }
        let now = self.now;
        let opening = std::mem::take(&mut self.opening);
        let (due, later): (Vec<_>, Vec<_>) = opening.into_iter().partition(|(at, _)| *at <= now);
        self.opening = later;
        let due: Vec<Pair> = due.into_iter().map(|(_, pair)| pair).collect();
        let closing = std::mem::take(&mut self.closing);
        let (closed, later): (Vec<_>, Vec<_>) =
            closing.into_iter().partition(|(at, pair)| *at <= now || due.contains(pair));
        self.closing = later;
        (now, due, closed.into_iter().map(|(_, pair)| pair).collect())
    }

    /// Makes the lobby do what is due.
    fn run_lobby(&mut self) {
        let now = EPOCH + self.now;
        while self.to_node.front().is_some_and(|(at, ..)| *at <= self.now) {
            let Some((_, connection, text)) = self.to_node.pop_front() else { break };
            match text {
                Some(text) => self.node.handle_text(now, connection, &text),
                None => self.node.handle_closed(now, connection),
            }
        }
        self.node.handle_timeout(now);
        let _ = self.directory.apply(now, &LogEntry::new(Tick {}));
        loop {
            while let Some((_, notice)) = self.directory.poll_notice() {
                self.node.handle_notice(now, notice);
            }
            while let Some(record) = self.directory.poll_record() {
                // Stored at once, as by a storage without ratings.
                let stored =
                    MarkStored { room: record.room, round: record.round, verdict: None, ratings: Vec::new() };
                let _ = self.directory.apply(now, &LogEntry::new(stored));
                self.observed.records.push(record);
            }
            let Some(output) = self.node.poll_output() else { break };
            match output {
                NodeOutput::Send { connection, text } => {
                    if let Some(peer) = self.owners.get(&connection) {
                        let news = SocketEvent::Text(text.to_string());
                        self.to_peer[*peer].push_back((self.now + LOBBY_DELAY, news));
                    }
                }
                NodeOutput::Close { connection, .. } => {
                    if let Some(peer) = self.owners.remove(&connection) {
                        self.to_peer[peer].push_back((self.now + LOBBY_DELAY, SocketEvent::Closed));
                    }
                }
                NodeOutput::Ping { connection } => self.node.handle_pong(now, connection),
                NodeOutput::Append(entry) => {
                    let reply = self.directory.apply(now, &entry);
                    self.node.handle_applied(now, &entry, reply);
                }
                NodeOutput::LookUp(lookup) => {
                    let found = self.directory.look_up(&lookup);
                    self.node.handle_found(now, lookup, found);
                }
                NodeOutput::Verify { connection, token } => {
                    self.node.handle_verified(now, connection, verify(&token));
                }
                NodeOutput::Tell { .. } | NodeOutput::Query { .. } | NodeOutput::AuditRecord(_) => {}
            }
        }
    }
}

/// The simulated issuer of tokens: `token of NAME` is a token of the player NAME.
fn verify(token: &str) -> Result<Identity, Rejection> {
    let name = token.strip_prefix("token of ");
    let name = name.ok_or_else(|| Rejection::new(RejectionCode::BadToken, "the token has expired"))?;
    Ok(Identity { issuer: "testing".into(), subject: name.into(), name: Some(name.into()) })
}
