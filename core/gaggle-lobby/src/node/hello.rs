//! Identification of a client, from `hello` to `welcome`, and conflicts of two connections of one
//! peer.
//!
//! Called by [`Node`](super::Node). Absent: joining rooms, token checks.

use std::net::IpAddr;

use gaggle_kit::{Micros, PeerId};

use super::admission;
use super::connection::{Greeting, Prober, Session, Stage};
use super::entering::{Entering, Goal};
use super::signals::Signals;
use super::{ConnectionId, Identity, Node, NodeOutput, Probe, ProbeResult, Purpose, Query};
use crate::directory::command::ShownTicket;
use crate::id::{PlayerId, ResumeId, RoomCode};
use crate::label::DisplayName;
use crate::message::client::Hello;
use crate::message::server::{MembershipState, Welcome};
use crate::message::{PROTOCOL_VERSION, Rejection, RejectionCode};
use crate::room::{Attachment, Displace, Source};
use crate::secret;
use crate::ticket::Claims;
use crate::view::RawJson;

/// Identified player of a `hello`.
struct Known {
    player: PlayerId,
    /// A token issuer has authenticated the player.
    signed_in: bool,
    /// Name given by the issuer.
    name: Option<String>,
    /// Key created for a guest without one.
    made_key: Option<String>,
}

impl Node {
    pub(super) fn hello(&mut self, now: Micros, connection: ConnectionId, id: Option<u64>, mut hello: Hello) {
        let version = hello.version.unwrap_or(PROTOCOL_VERSION);
        if version != PROTOCOL_VERSION {
            let text = format!(
                "protocol version {version} is not supported; this server uses \
             {PROTOCOL_VERSION}"
            );
            return self.refuse(now, connection, id, Rejection::new(RejectionCode::BadVersion, text));
        }
        if let Some(token) = hello.token.take() {
            if let Some(known) = self.connections.get_mut(connection) {
                known.begin_verifying(id, hello);
                self.outbox.push(NodeOutput::Verify { connection, token });
            }
            return;
        }
        let made = hello.key.is_none().then(|| self.secrets.token());
        let key = hello.key.as_ref().or(made.as_ref());
        match key.and_then(|key| secret::guest(key)) {
            Some(player) => {
                let who = Known { player, signed_in: false, name: None, made_key: made };
                self.identified(now, connection, id, hello, who);
            }
            None => {
                let text = "a key must be 16 to 128 of A-Z a-z 0-9 _ -";
                self.refuse(now, connection, id, Rejection::new(RejectionCode::BadKey, text));
            }
        }
    }

    /// Call with the result of a token check.
    pub fn handle_verified(
        &mut self,
        now: Micros,
        connection: ConnectionId,
        identity: Result<Identity, Rejection>,
    ) {
        let Some(known) = self.connections.get_mut(connection) else { return };
        let Some((id, hello)) = known.end_verifying() else { return };
        match identity {
            Ok(identity) => {
                let player = secret::account(&self.id_key, &identity.issuer, &identity.subject);
                let who = Known { player, signed_in: true, name: identity.name, made_key: None };
                self.identified(now, connection, id, hello, who);
            }
            // The token is not at fault: the client reconnects and shows it again.
            Err(refusal) if refusal.code == RejectionCode::Unavailable => {
                self.disconnect(now, connection, refusal);
            }
            Err(refusal) => self.refuse(now, connection, id, refusal),
        }
        // The check is over either way: handle the messages that waited.
        self.handle_waiting(now, connection);
    }

    /// Continues with a known player: derives the peer and prepares the welcome.
    fn identified(
        &mut self,
        now: Micros,
        connection: ConnectionId,
        id: Option<u64>,
        hello: Hello,
        who: Known,
    ) {
        let Some(address) = self.connections.get(connection).map(|known| known.address()) else { return };
        let Known { player, signed_in, name: known_name, made_key } = who;
        let Some(peer) = secret::peer_of(player, hello.seat.as_deref().unwrap_or_default()) else {
            let text = "a device key has at most 64 of A-Z a-z 0-9 _ -";
            return self.refuse(now, connection, id, Rejection::new(RejectionCode::BadKey, text));
        };
        let is_named = hello.name.is_some();
        let name = match hello.name.map(|name| name.parse::<DisplayName>()) {
            Some(Ok(name)) => name,
            Some(Err(error)) => {
                let refusal = Rejection::new(RejectionCode::BadName, error.to_string());
                return self.refuse(now, connection, id, refusal);
            }
            // An unusable name of the issuer is replaced by a guest name.
            None => known_name.and_then(|name| name.parse().ok()).unwrap_or_else(|| guest_name(peer)),
        };
        let ticket = hello
            .ticket
            .and_then(|ticket| self.check_ticket(now, connection, &ticket, player, peer, hello.settings));
        // The reserve is for members of rooms and for proven networks.
        if admission::reaches_reserve(self.connections.len(), &self.rules) {
            self.make_way(now, address, Some(connection));
            let Node { connections, limits, rules, .. } = self;
            let has_ticket = ticket.is_some();
            if admission::reaches_reserve(connections.len(), rules)
                && !admission::take_reserve(now, connection, has_ticket, connections, limits, rules)
            {
                let refusal = Rejection::new(
                    RejectionCode::ServerFull,
                    "the server is full; try again \
                 later",
                );
                return self.disconnect(now, connection, refusal);
            }
        }
        let resume = self.secrets.token();
        let link = Attachment {
            node: self.lease.node(),
            epoch: self.lease.epoch(),
            session: secret::session(&resume),
        };
        let greeting = Greeting {
            id,
            is_named,
            key: made_key,
            resume: hello.resume.as_deref().map(secret::session),
            seen: hello.seen,
            ticket,
            probe_until: None,
            probed: None,
            resumed: false,
        };
        let Some(known) = self.connections.get_mut(connection) else { return };
        let source = Source { network: secret::network(&self.id_key, address), signed_in };
        let session = Session {
            player,
            source,
            peer,
            name,
            link,
            resume,
            stage: Stage::Greeting(Box::new(greeting)),
            room: None,
            signals: Signals::default(),
            touched_at: now,
        };
        known.identify(session);
        self.limits.identify(player);
        self.greet(now, connection);
    }

    /// Checks the shown ticket. An invalid one is reported to the client and otherwise ignored.
    fn check_ticket(
        &mut self,
        now: Micros,
        connection: ConnectionId,
        ticket: &str,
        player: PlayerId,
        peer: PeerId,
        settings: RawJson,
    ) -> Option<ShownTicket> {
        let opened = self.signer.key().open(ticket, now.get() / 1_000_000);
        let text = match opened {
            Ok(claims) if (claims.player, claims.peer) == (player, peer) => {
                // Settings are trusted only if the ticket was signed with them.
                let fits = settings.as_str().len() <= self.rules.settings_bytes_max
                    && Claims::digest(&settings) == claims.settings;
                let settings = if fits { settings } else { RawJson::default() };
                return Some(ShownTicket { claims, settings });
            }
            Ok(_) => "the ticket belongs to another player".to_string(),
            Err(error) => error.to_string(),
        };
        self.refuse(now, connection, None, Rejection::new(RejectionCode::BadTicket, text));
        None
    }

    /// Resolves conflicts with other connections of the same peer here, then requests the
    /// reservation.
    fn greet(&mut self, now: Micros, connection: ConnectionId) {
        let Some(session) = self.session(connection) else { return };
        let Stage::Greeting(greeting) = &session.stage else { return };
        let (peer, player, resume) = (session.peer, session.player, greeting.resume);
        let older = self.connections.speaker(peer).filter(|older| *older != connection);
        let older_session = older.and_then(|older| self.session(older)).map(|session| session.link.session);
        if let Some(older) = older
            && resume.is_some()
            && resume == older_session
        {
            self.carry_over(now, older, connection);
            self.request_reservation(connection, Displace::Never);
            return;
        }
        let max = self.rules.connections_per_player_max;
        if self.limits.connections_of(player) > max {
            let text = format!("{max} connections use this key already; close one of them");
            return self.disconnect(now, connection, Rejection::new(RejectionCode::TooMany, text));
        }
        let Some(older) = older else { return self.request_reservation(connection, Displace::Never) };
        let until = now + self.rules.probe_timeout;
        self.wait_for_probe(connection, until);
        self.probe(now, older, Prober::Here(connection));
    }

    /// Pings a connection at once, because another one claims to be the same peer.
    fn probe(&mut self, now: Micros, connection: ConnectionId, prober: Prober) {
        let Some(known) = self.connections.get_mut(connection) else { return };
        known.probe(now, prober);
        self.outbox.push(NodeOutput::Ping { connection });
    }

    /// A probed connection has proven that it is alive.
    pub(super) fn answer_probe(&mut self, now: Micros, connection: ConnectionId) {
        let Some(known) = self.connections.get_mut(connection) else { return };
        for prober in known.take_probers() {
            self.tell_prober(now, prober, true);
        }
    }

    pub(super) fn tell_prober(&mut self, now: Micros, prober: Prober, alive: bool) {
        match prober {
            Prober::Here(connection) => self.probed(now, connection, alive),
            Prober::There(node, connection) => {
                let message = ProbeResult { connection: connection.0, alive }.into();
                self.outbox.push(NodeOutput::Tell { node, message });
            }
        }
    }

    /// Closes connections outside rooms for one from this address.
    pub(super) fn make_way(&mut self, now: Micros, address: IpAddr, joiner: Option<ConnectionId>) {
        let chosen = admission::making_way(address, joiner, &self.connections, &self.limits, &self.rules);
        for connection in chosen {
            let text = "the server is full and you are in no room; try again later";
            self.disconnect(now, connection, Rejection::new(RejectionCode::ServerFull, text));
        }
    }

    fn wait_for_probe(&mut self, connection: ConnectionId, until: Micros) {
        if let Some(session) = self.session_mut(connection)
            && let Stage::Greeting(greeting) = &mut session.stage
        {
            greeting.probe_until = Some(until);
            self.connections.check_at(until, connection);
        }
    }

    /// Replaces a lost connection of a client whose loss the server has not noticed.
    fn carry_over(&mut self, now: Micros, older: ConnectionId, connection: ConnectionId) {
        let Some(session) = self.session_mut(older) else { return };
        let room = session.room.take();
        let (peer, signals) = (session.peer, std::mem::take(&mut session.signals));
        let name = session.name.clone();
        if let Some(room) = room {
            self.rooms.remove_local(room, peer, older);
        }
        self.connections.remove_speaker(peer, older);
        if let Some(session) = self.session_mut(connection)
            && let Stage::Greeting(greeting) = &mut session.stage
        {
            greeting.resumed = true;
            session.signals = signals;
        }
        self.keep_name(connection, &name);
        let text = "replaced by a newer connection of the same client";
        self.say_bye(older, Rejection::new(RejectionCode::Replaced, text), false);
        // It has no room any more, so nothing is detached.
        self.forget_connection(now, older);
    }

    /// Keeps the name of a client that sends none with this `hello`.
    pub(super) fn keep_name(&mut self, connection: ConnectionId, name: &DisplayName) {
        if let Some(session) = self.session_mut(connection)
            && matches!(&session.stage, Stage::Greeting(greeting) if !greeting.is_named)
        {
            session.name = name.clone();
        }
    }

    /// Asks the directory for the peer's reservation.
    pub(super) fn request_reservation(&mut self, connection: ConnectionId, displace: Displace) {
        let Some(session) = self.session(connection) else { return };
        let attach = session.attach(displace);
        self.append(self.origin(connection, None), attach);
    }

    /// Handles the result of a probe: whether the other connection of the same key is alive.
    pub(super) fn probed(&mut self, now: Micros, connection: ConnectionId, alive: bool) {
        let Some(session) = self.session_mut(connection) else { return };
        let peer = session.peer;
        let dead = match &mut session.stage {
            Stage::Greeting(greeting) if greeting.probe_until.is_some() => {
                greeting.probe_until = None;
                greeting.probed.take()
            }
            _ => return,
        };
        if alive {
            let code = self.connections.speaker(peer).and_then(|older| self.code_of(older));
            self.welcome(now, connection, MembershipState::Elsewhere, code);
            return;
        }
        match self.connections.speaker(peer) {
            Some(older) => {
                // Its probers are answered; do not notify them again.
                if let Some(known) = self.connections.get_mut(older) {
                    let _ = known.take_probers();
                }
                let text = "it did not answer, and another device with the same key connected";
                self.disconnect(now, older, Rejection::new(RejectionCode::Replaced, text));
                self.request_reservation(connection, Displace::Never);
            }
            None => self.request_reservation(connection, dead.map_or(Displace::Never, Displace::OnlyFrom)),
        }
    }

    /// Probes one of our connections for a connection of another node.
    pub(super) fn probe_for(&mut self, now: Micros, probe: Probe) {
        let Probe { peer, session, from, connection } = probe;
        let ours = self.connections.speaker(peer);
        let ours = ours.filter(|ours| self.session(*ours).is_some_and(|known| known.link.session == session));
        match ours {
            Some(ours) => self.probe(now, ours, Prober::There(from, ConnectionId(connection))),
            None => {
                let message = ProbeResult { connection, alive: false }.into();
                self.outbox.push(NodeOutput::Tell { node: from, message });
            }
        }
    }

    /// The reservation is used by another connection: probes whether it is alive.
    pub(super) fn probe_other_node(
        &mut self,
        now: Micros,
        connection: ConnectionId,
        current: Attachment,
        code: RoomCode,
    ) {
        let is_greeting =
            self.session(connection).is_some_and(|session| matches!(session.stage, Stage::Greeting(_)));
        let Some(peer) = self.session(connection).map(|session| session.peer) else { return };
        if current.node == self.lease.node() && self.connections.speaker(peer).is_none() {
            // Ours, and closed: the directory has not applied that yet.
            return self.request_reservation(connection, Displace::OnlyFrom(current.session));
        }
        if current.node == self.lease.node() || !is_greeting {
            return self.welcome(now, connection, MembershipState::Elsewhere, Some(code));
        }
        // Twice the local timeout, for the round trip between nodes.
        let until = now + Micros::new(self.rules.probe_timeout.get() * 2);
        self.wait_for_probe(connection, until);
        if let Some(session) = self.session_mut(connection)
            && let Stage::Greeting(greeting) = &mut session.stage
        {
            greeting.probed = Some(current.session);
        }
        let (session, from) = (current.session, self.lease.node());
        let message = Probe { peer, session, from, connection: connection.0 }.into();
        self.outbox.push(NodeOutput::Tell { node: current.node, message });
    }

    /// Answers `hello` with `welcome`.
    pub(super) fn welcome(
        &mut self,
        now: Micros,
        connection: ConnectionId,
        seat: MembershipState,
        code: Option<RoomCode>,
    ) {
        let (server, ticket_key) = (self.server_name.clone(), self.ticket_key.clone());
        let (touch_ms, sign_in) = (self.rules.idle_timeout.as_millis() / 4, self.rules.sign_in.clone());
        let Some(session) = self.session_mut(connection) else { return };
        let stage = if seat == MembershipState::Elsewhere { Stage::Elsewhere } else { Stage::Home };
        let Stage::Greeting(greeting) = std::mem::replace(&mut session.stage, stage) else { return };
        let welcome = Welcome {
            version: PROTOCOL_VERSION,
            server,
            now: now.as_millis(),
            player: session.player,
            peer: session.peer,
            name: session.name.clone(),
            key: greeting.key,
            resume: session.resume.clone(),
            resumed: greeting.resumed,
            got: session.signals.got(),
            seat,
            code,
            ticket_key,
            touch_ms,
            sign_in,
        };
        let peer = session.peer;
        if seat != MembershipState::Elsewhere {
            self.connections.set_speaker(peer, connection);
        }
        self.outbox.count(|stats| stats.authenticated += 1);
        self.send(connection, greeting.id, welcome);
        if seat != MembershipState::Yours {
            self.end_procedure(connection);
            self.handle_waiting(now, connection);
        }
    }

    /// Another connection took this one's reservation over.
    pub(super) fn displace(&mut self, now: Micros, peer: PeerId, session: ResumeId) {
        let Some(connection) = self.connections.speaker(peer) else { return };
        let Some(known) = self.session_mut(connection).filter(|known| known.link.session == session) else {
            return;
        };
        if let Some(room) = known.room.take() {
            self.rooms.remove_local(room, peer, connection);
        }
        let text = "another device of yours took over";
        self.say_bye(connection, Rejection::new(RejectionCode::Replaced, text), false);
        self.forget_connection(now, connection);
    }

    fn code_of(&self, connection: ConnectionId) -> Option<RoomCode> {
        let room = self.session(connection)?.room?;
        self.rooms.get(room).map(|copy| copy.view().code)
    }

    /// Starts a search for players of similar skill, after asking storage for the rating.
    pub(super) fn begin_search(
        &mut self,
        now: Micros,
        connection: ConnectionId,
        id: Option<u64>,
        entering: Entering,
    ) {
        let Goal::Search(new) = entering.goal else { return };
        let joiner = &entering.joiner;
        let (game, mode) = (new.game.clone(), new.mode.clone());
        let query = Query::PlayerStats { player: joiner.player, game, mode };
        self.searches.begin(now, connection, id, joiner, new, self.rules.search.rating_start);
        self.outbox.push(NodeOutput::Query { purpose: Purpose::Search(connection), query });
    }
}

/// Name of a guest who sent none: different per peer, stable over reloads.
fn guest_name(peer: PeerId) -> DisplayName {
    let [a, b, ..] = peer.as_bytes();
    format!("Goose {a:02X}{b:02X}").parse().expect("a valid name")
}
