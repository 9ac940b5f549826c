//! Clients that abuse the protocol: many hellos, outdated tickets, deeply nested values, everything
//! at once and in any order. The invariants must hold for all other clients.

use std::collections::BTreeMap;

use gaggle_kit::PeerId;
use gaggle_lobby::message::server::MyStats;
use gaggle_lobby::node::{ConnectionId, Identity, Purpose, Query};
use gaggle_lobby::{Envelope, NodeId, Rejection, RejectionCode, ServerMessage};

use super::{Happening, World};

/// Accounts they share: few, so that they reach the limits per player.
const PEOPLE: usize = 4;
const TABS: u32 = 12;
const TICKETS_MAX: usize = 40;

/// One abusive client.
#[derive(Default)]
pub(crate) struct Rude {
    connection: Option<(usize, ConnectionId)>,
    /// Device it last claimed to be.
    tab: u32,
    /// Every ticket received, with its device.
    tickets: Vec<(u32, String)>,
    /// Peers it has met.
    peers: Vec<PeerId>,
}

/// Counters of abusive clients.
#[derive(Debug, Default)]
pub(crate) struct RudeTally {
    pub(crate) seats: u64,
    pub(crate) seats_by_ticket: u64,
    pub(crate) tokens: u64,
    pub(crate) searches: u64,
    pub(crate) refused: BTreeMap<RejectionCode, u64>,
}

impl World {
    pub(crate) fn add_rude(&mut self) {
        self.rude.push(Rude::default());
    }

    /// Sends a few messages of one client at once.
    pub(crate) fn misbehave(&mut self, number: usize) {
        if self.rude[number].connection.is_none() || self.prng.chance(1, 6) {
            self.connect_rude(number);
        }
        let Some((slot, connection)) = self.rude[number].connection else { return };
        for _ in 0..=self.prng.below(6) {
            let text = self.rude_word(number);
            let delay = self.delays.socket;
            self.later(delay, (0, connection.0), Happening::ToNode { slot, connection, text });
        }
    }

    /// Closes all their connections.
    pub(crate) fn send_rude_away(&mut self) {
        for number in 0..self.rude.len() {
            self.cut_rude(number);
        }
    }

    pub(super) fn rude_hears(&mut self, number: usize, text: &str) {
        let envelope = Envelope::<ServerMessage>::decode(text).expect("server texts are valid");
        let rude = &mut self.rude[number];
        match envelope.message {
            ServerMessage::JoinedRoom(seated) => {
                self.rude_tally.seats += 1;
                self.rude_tally.seats_by_ticket += u64::from(seated.returned);
                rude.tickets.push((rude.tab, seated.ticket));
                rude.peers = seated.room.members.iter().map(|member| member.peer).collect();
            }
            ServerMessage::TicketRenewed(new) => rude.tickets.push((rude.tab, new.ticket)),
            ServerMessage::Searching(_) => self.rude_tally.searches += 1,
            ServerMessage::Refused(refused) => {
                *self.rude_tally.refused.entry(refused.code).or_default() += 1;
            }
            _ => {}
        }
        let excess = rude.tickets.len().saturating_sub(TICKETS_MAX);
        rude.tickets.drain(..excess);
    }

    pub(super) fn rude_closed(&mut self, number: usize, connection: ConnectionId) {
        let rude = &mut self.rude[number];
        rude.connection = rude.connection.filter(|(_, current)| *current != connection);
    }

    /// Answers a token check: some tokens are valid.
    pub(super) fn verify(&mut self, slot: usize, node: NodeId, connection: ConnectionId) {
        self.rude_tally.tokens += 1;
        let subject = format!("account {}", self.prng.below(PEOPLE as u32));
        let identity = Identity { issuer: "https://id.example".into(), subject, name: None };
        let refusal = Rejection::new(RejectionCode::BadToken, "the token is forged");
        let identity = if self.prng.chance(1, 3) { Ok(identity) } else { Err(refusal) };
        let happening = Happening::Verified { slot, node, connection, identity };
        self.later(self.delays.directory, (6, connection.0), happening);
    }

    /// Answers storage queries: all players have the same rating.
    pub(super) fn query(&mut self, slot: usize, node: NodeId, purpose: Purpose, query: Query) {
        let Query::PlayerStats { game, mode, .. } = query else {
            panic!("no client of this world asks for that")
        };
        let answer = MyStats { game, mode, best: None, rating: Some(1_500), matches: Vec::new() };
        let happening = Happening::Answered { slot, node, purpose, answer: Box::new(answer) };
        self.later(self.delays.directory, (7, node.0), happening);
    }

    fn connect_rude(&mut self, number: usize) {
        self.cut_rude(number);
        let up: Vec<usize> = (0..self.nodes.len()).filter(|slot| self.nodes[*slot].is_some()).collect();
        let Some(&slot) = self.prng.pick(&up) else { return };
        self.next_connection += 1;
        let connection = ConnectionId(self.next_connection);
        self.rude[number].connection = Some((slot, connection));
        self.rude_owners.insert(connection, number);
        let address = format!("10.200.{number}.1").parse().unwrap();
        self.with_live_node(slot, |node, now| node.handle_connected(now, connection, address));
    }

    fn cut_rude(&mut self, number: usize) {
        if let Some((slot, connection)) = self.rude[number].connection.take() {
            self.rude_owners.remove(&connection);
            let happening = Happening::ClosedAtNode { slot, connection };
            self.later(self.delays.socket, (0, connection.0), happening);
        }
    }

    fn rude_word(&mut self, number: usize) -> String {
        let key = format!("key-of-a-rude-person-{}", number % PEOPLE);
        match self.prng.below(20) {
            0..3 => r#"{"type":"hello","token":"x"}"#.into(),
            3..5 => {
                let tab = self.prng.below(TABS);
                self.rude[number].tab = tab;
                format!(r#"{{"type":"hello","key":"{key}","seat":"tab-{tab}"}}"#)
            }
            5..9 => {
                let Some((tab, ticket)) = self.prng.pick(&self.rude[number].tickets).cloned() else {
                    return r#"{"type":"touch"}"#.into();
                };
                self.rude[number].tab = tab;
                format!(r#"{{"type":"hello","key":"{key}","seat":"tab-{tab}","ticket":"{ticket}"}}"#)
            }
            9 => {
                let (settings, drop_in) = (self.rude_value(), self.prng.chance(1, 2));
                format!(
                    r#"{{"type":"create","game":"gander","switch":true,"drop_in":{drop_in},"settings":{{"a":{settings}}}}}"#
                )
            }
            10 => format!(r#"{{"type":"settings","settings":{{"b" : {}}}}}"#, self.rude_value()),
            11 => r#"{"type":"find","game":"ranked","mode":"duel"}"#.into(),
            12 | 13 => {
                let rooms: Vec<_> = self.directory.rooms().take(20).map(|room| room.view().code).collect();
                let Some(code) = self.prng.pick(&rooms) else { return r#"{"type":"ticket"}"#.into() };
                let watch = self.prng.chance(1, 2);
                format!(r#"{{"type":"join","code":"{code}","watch":{watch},"switch":true}}"#)
            }
            14 => {
                let peers = &self.rude[number].peers;
                let Some(peer) = self.prng.pick(peers).copied() else { return "[".repeat(50) };
                format!(r#"{{"type":"signal","to":"{peer}","data":{}}}"#, self.rude_value())
            }
            15 => r#"{"type":"start"}"#.into(),
            16 => r#"{"type":"leave"}"#.into(),
            17 => format!(r#"{{"type":"access","locked":{}}}"#, self.prng.chance(1, 2)),
            18 => r#"{"type":"take_over"}"#.into(),
            _ => r#"{"type":"touch"}"#.into(),
        }
    }

    /// A value of any depth, with any white space.
    fn rude_value(&mut self) -> String {
        let depth = 1 + self.prng.below(16) as usize;
        let space = ["", " ", "\n", "\t", "\r\n"][self.prng.below(5) as usize];
        format!("{}{space}\"a\\tb\"{space}{}", "[".repeat(depth), "]".repeat(depth))
    }
}
