//! Joining a room: by reservation, ticket, `find`, creation, or code.
//!
//! [`Directory::apply`] calls it. Each method either changes nothing and returns why, or moves the
//! peer from its room to another. Absent: which players a room admits (`room/members.rs`).

use gaggle_kit::{Micros, PeerId};

use super::command::{Attach, Caller, Find, Join, ShownTicket};
use super::{Directory, FindKey, JoinedReply, Notice, Reply};
use crate::id::{RoomCode, RoomId};
use crate::label::Label;
use crate::message::{Rejection, RejectionCode};
use crate::room::{Attached, Attachment, Displace, JoinRequest, NewRoom, Room};
use crate::view;

impl Directory {
    pub(super) fn attach(&mut self, now: Micros, attach: &Attach) -> Result<Reply, Rejection> {
        let Attach { caller, name, resume, displace, ticket } = attach;
        let Caller { peer, player, link, source } = *caller;
        if !self.leases.is_alive(link) {
            return Err(node_out_of_date());
        }
        let Some(id) = self.index.room_of(peer) else {
            let Some(ticket) = ticket else { return Ok(Reply::NotInRoom { why: None }) };
            let (spectate, players) = (ticket.claims.slot.is_none(), ticket.claims.players);
            let name = name.clone();
            let joiner = JoinRequest {
                peer,
                player,
                name,
                preferred_slot: 0,
                spectate,
                players,
                leave_current: false,
                source,
            };
            return Ok(self.restore(now, joiner, link, ticket).unwrap_or_else(|refusal| {
                let text = format!("the ticket is not valid for a room: {}", refusal.text);
                Reply::NotInRoom { why: Some(Rejection::new(RejectionCode::BadTicket, text)) }
            }));
        };
        let room = self.rooms.get_mut(&id).expect("the index names existing rooms");
        let before = room.reservation_of(peer).and_then(|seat| seat.link);
        // A dead node's connections are free to take over, even before its lease expires.
        let displace = match before {
            Some(old) if !self.leases.is_alive(old) => Displace::Always,
            _ => *displace,
        };
        match room.attach(peer, link, source, *resume, displace) {
            Ok(attached) => {
                if let Some(old) = before.filter(|old| *old != link) {
                    let displaced = Notice::Displaced { peer, session: old.session };
                    self.notices.push_back((old.node, displaced));
                }
                self.publish(now, id);
                let mail = self.mailboxes.take(peer, attached);
                self.joined(id, JoinedReply::kept(attached, mail))
            }
            Err(current) => Ok(Reply::Elsewhere { link: current, code: room.view().code }),
        }
    }

    /// Joins a peer by its ticket, restoring the room if the server has lost it.
    fn restore(
        &mut self,
        now: Micros,
        joiner: JoinRequest,
        link: Attachment,
        ticket: &ShownTicket,
    ) -> Result<Reply, Rejection> {
        let ShownTicket { claims, settings } = ticket;
        let peer = joiner.peer;
        // Tickets outlive reservations: with many of them a player must not restore more rooms than
        // it may be in.
        self.check_joiner(&joiner, link)?;
        if let Some(room) = self.rooms.get_mut(&claims.room) {
            room.restore_member(now, &self.rules, (claims, settings.clone()), joiner, link)?;
        } else if self.ended.contains(claims.room) {
            return Err(Rejection::new(RejectionCode::NoSuchRoom, "the room has ended"));
        } else if claims.slot.is_none() {
            // A room of one spectator is not restored.
            return Ok(Reply::NotInRoom { why: None });
        } else {
            let mut new = NewRoom::of_ticket(claims, settings.clone());
            new.code = self.check_new_room(&new)?;
            let room = Room::restore(now, &self.rules, claims, new, joiner, link)?;
            self.rooms.insert(claims.room, room);
        }
        self.publish(now, claims.room);
        self.joined_anew(claims.room, peer, false, true)
    }

    pub(super) fn find(&mut self, now: Micros, find: &Find) -> Result<Reply, Rejection> {
        let Find { joiner, link, new, may_create, skill } = find;
        let peer = joiner.peer;
        if let Some(skill) = skill {
            // A player who left and searches elsewhere is not attached again.
            if self.room_of(peer).is_some_and(|room| room.has_stepped_out(peer)) {
                self.leave_for_another(now, peer);
            }
            return self.search(now, find, *skill);
        }
        self.check_joiner(joiner, *link)?;
        let suits = |room: &&Room| {
            let view = room.view();
            let is_wanted = (&view.game, &view.mode, &view.build) == (&new.game, &new.mode, &new.build);
            !room.has_stepped_out(peer) && room.is_open() && is_wanted
        };
        let own = self.room_of(peer).filter(suits).map(|room| room.view().id);
        if let Some(id) = self.fullest_room(now, joiner, new) {
            self.leave_for_another(now, peer);
            let room = self.rooms.get_mut(&id).ok_or_else(no_such_room)?;
            room.enter(now, &self.rules, joiner.clone(), *link)?;
            room.set_matched();
            self.publish(now, id);
            return self.joined_anew(id, peer, false, false);
        }
        // The player stays in its own room if none is better.
        if let Some(id) = own {
            return self.joined(id, JoinedReply::kept(Attached::Fresh, Vec::new()));
        }
        if !may_create {
            return Err(too_many_rooms_made());
        }
        self.create(now, joiner.clone(), *link, new.clone())
    }

    /// The fullest open room that admits a player, other than its own. Rooms the player left a
    /// moment ago rank last, and so do rooms that recently voted a player out: otherwise two
    /// networks that vote out all others would attract every player.
    fn fullest_room(&self, now: Micros, joiner: &JoinRequest, new: &NewRoom) -> Option<RoomId> {
        let key = FindKey::of(&new.game, &new.mode, &new.build);
        let admits = |room: &Room| match room.view().member(joiner.peer) {
            Some(_) if room.has_stepped_out(joiner.peer) => self.check_entry(now, room, joiner).is_ok(),
            _ => room.slots_if_admitted(&self.rules, joiner).is_ok(),
        };
        let rank = |id: RoomId| {
            let room = self.rooms.get(&id).filter(|room| admits(room))?;
            Some((room.has_voted_out_lately(now), room.was_left_lately(now, joiner.player)))
        };
        self.index.open_room(&key, new.max_players, joiner.players, joiner.source.network, rank)
    }

    pub(super) fn create(
        &mut self,
        now: Micros,
        joiner: JoinRequest,
        link: Attachment,
        mut new: NewRoom,
    ) -> Result<Reply, Rejection> {
        self.check_joiner(&joiner, link)?;
        if joiner.players.count() > new.max_players {
            let text =
                format!("a room for {} players is too small for all players on your device", new.max_players);
            return Err(Rejection::new(RejectionCode::RoomFull, text));
        }
        new.code = self.check_new_room(&new)?;
        self.leave_for_another(now, joiner.peer);
        let (id, peer) = (new.id, joiner.peer);
        self.rooms.insert(id, Room::create(now, new, joiner, link));
        self.publish(now, id);
        self.joined_anew(id, peer, true, false)
    }

    /// Whether a room can be created, and its code.
    fn check_new_room(&self, new: &NewRoom) -> Result<RoomCode, Rejection> {
        let server_full = |text| Rejection::new(RejectionCode::ServerFull, text);
        if self.rooms.len() >= self.rules.rooms_max {
            return Err(server_full("the server has as many rooms as it can hold; try again later"));
        }
        let code = Some(new.code).filter(|code| !self.index.has_code(*code));
        let code = code.or_else(|| self.index.free_code(new.seed.0));
        code.ok_or_else(|| server_full("no room code is free; try again later"))
    }

    pub(super) fn join(&mut self, now: Micros, join: &Join) -> Result<Reply, Rejection> {
        let Join { joiner, link, code, room, build } = join;
        self.check_joiner(joiner, *link)?;
        let id = code.map_or(*room, |code| self.index.room_by_code(code)).ok_or_else(no_such_room)?;
        let room = self.rooms.get(&id).ok_or_else(no_such_room)?;
        let view = room.view();
        if view.build != *build {
            let text = other_build(view.game.as_str(), &view.build, build);
            let game = Some(view.game.clone());
            return Err(Rejection { game, ..Rejection::new(RejectionCode::BadGame, text) });
        }
        self.check_entry(now, room, joiner)?;
        self.leave_for_another(now, joiner.peer);
        let room = self.rooms.get_mut(&id).ok_or_else(no_such_room)?;
        room.enter(now, &self.rules, joiner.clone(), *link)?;
        self.publish(now, id);
        self.joined_anew(id, joiner.peer, false, false)
    }

    /// Whether a room will admit a peer once the peer has left its current one.
    fn check_entry(&self, now: Micros, room: &Room, joiner: &JoinRequest) -> Result<(), Rejection> {
        if room.view().member(joiner.peer).is_none() {
            return room.slots_if_admitted(&self.rules, joiner).map(drop);
        }
        // The same room: checked as if the peer had left it.
        let mut without = room.clone();
        without.give_up(now, joiner.peer);
        if without.is_over() {
            let text = "you cannot watch this room: you are its only player";
            return Err(Rejection::new(RejectionCode::NoSuchRoom, text));
        }
        without.slots_if_admitted(&self.rules, joiner).map(drop)
    }

    /// Whether a peer may join another room than the one it is in.
    pub(super) fn check_joiner(&self, joiner: &JoinRequest, link: Attachment) -> Result<(), Rejection> {
        if !self.leases.is_alive(link) {
            return Err(node_out_of_date());
        }
        let seat = self.room_of(joiner.peer).and_then(|room| Some((room, room.reservation_of(joiner.peer)?)));
        match seat {
            // A player who left and joins another room is not attached again.
            Some((_, seat)) if seat.stepped_out => {}
            Some((_, seat)) if joiner.leave_current && seat.link == Some(link) => {}
            Some(_) if joiner.leave_current => {
                return Err(Rejection::new(RejectionCode::Replaced, "you are playing on another device"));
            }
            Some((room, _)) => {
                let text = format!("you are in room {} already", room.view().code);
                return Err(Rejection::new(RejectionCode::AlreadyInRoom, text));
            }
            None => {}
        }
        // The reservation may belong to another account: the player signed in since.
        let kept = self.index.seats_of(joiner.player).saturating_sub(usize::from(seat.is_some()));
        if kept >= self.rules.rooms_per_player_max {
            let text = format!(
                "you are in {} rooms already; leave one of them first",
                self.rules.rooms_per_player_max
            );
            return Err(Rejection::new(RejectionCode::TooMany, text));
        }
        Ok(())
    }

    /// Removes a peer from its room when it is certain to join another.
    fn leave_for_another(&mut self, now: Micros, peer: PeerId) {
        let Some(id) = self.index.room_of(peer) else { return };
        if let Some(room) = self.rooms.get_mut(&id) {
            room.give_up(now, peer);
            self.publish(now, id);
        }
    }

    /// Reply to a peer that had no reservation in this room.
    pub(super) fn joined_anew(
        &self,
        id: RoomId,
        peer: PeerId,
        created: bool,
        returned: bool,
    ) -> Result<Reply, Rejection> {
        let reused_slots = self.rooms.get(&id).map(|room| room.reused_slots(peer)).unwrap_or_default();
        let (attached, mail) = (Attached::Fresh, Vec::new());
        self.joined(id, JoinedReply { created, returned, reused_slots, attached, mail })
    }

    /// Reply to a peer with a reservation, unless joining ended the room.
    fn joined(&self, id: RoomId, seated: JoinedReply) -> Result<Reply, Rejection> {
        let room = self.copy(id);
        let room = room.ok_or_else(|| Rejection::new(RejectionCode::NoSuchRoom, "the room has ended"))?;
        Ok(Reply::Joined { room, seated })
    }
}

fn no_such_room() -> Rejection {
    Rejection::new(RejectionCode::NoSuchRoom, "there is no such room")
}

fn too_many_rooms_made() -> Rejection {
    let refusal = Rejection::new(
        RejectionCode::TooFast,
        "too many rooms were created from your \
     network; try again later",
    );
    Rejection { retry_after_ms: Some(10_000), ..refusal }
}

fn node_out_of_date() -> Rejection {
    Rejection::new(
        RejectionCode::Unavailable,
        "the server lost contact with the lobby for a moment; \
     try again",
    )
}

/// Explains a build mismatch, by the versions if they differ.
fn other_build(game: &str, theirs: &Label, ours: &Label) -> String {
    match (view::version(theirs), view::version(ours)) {
        (theirs, ours) if theirs != ours && !theirs.is_empty() && !ours.is_empty() => {
            format!("this room plays {game} {theirs}, you have {ours}; get the same version")
        }
        _ => format!("this room plays another build of {game}; load the game again"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn build_mismatch_is_explained_by_version() {
        let told = |theirs: &str, ours: &str| {
            other_build("drake", &theirs.parse().expect("a label"), &ours.parse().expect("a label"))
        };
        assert_eq!(
            told("1.1-00ab", "1.0-00cd"),
            "this room plays drake 1.1, you have 1.0; get the same version"
        );
        let same = "this room plays another build of drake; load the game again";
        assert_eq!(told("1.0-00ab", "1.0-00cd"), same);
        assert_eq!(told("-00ab", "1.0-00cd"), same);
        assert_eq!(told("", "1.0-00cd"), same);
    }
}
