//! Ways into a room: by a reservation, a ticket, `find`, a new room, a code.
//!
//! Called by [`Directory::apply`]. Each way either changes nothing and says why, or gives the peer
//! up in the room it was in and seats it in another. Absent: whom a room takes (`room/members.rs`).

use gaggle_kit::{Micros, PeerId};

use super::command::{Attach, Caller, Find, Join, ShownTicket};
use super::{Directory, FindKey, JoinedReply, Notice, Reply};
use crate::id::{RoomCode, RoomId};
use crate::label::Label;
use crate::message::{Rejection, RejectionCode};
use crate::room::{Attached, Attachment, Displace, JoinRequest, NewRoom, Room};

impl Directory {
    pub(super) fn attach(&mut self, now: Micros, attach: &Attach) -> Result<Reply, Rejection> {
        let Attach { caller, name, resume, displace, ticket } = attach;
        let Caller { peer, player, link, source } = *caller;
        if !self.leases.is_alive(link) {
            return Err(node_out_of_date());
        }
        let Some(id) = self.index.room_of(peer) else {
            let Some(ticket) = ticket else { return Ok(Reply::NotInRoom { why: None }) };
            let (watch, players) = (ticket.claims.slot.is_none(), ticket.claims.players);
            let name = name.clone();
            let joiner =
                JoinRequest { peer, player, name, palette: 0, watch, players, switch: false, source };
            return Ok(self.restore(now, joiner, link, ticket).unwrap_or_else(|refusal| {
                let text = format!("the ticket brings no seat: {}", refusal.text);
                Reply::NotInRoom { why: Some(Rejection::new(RejectionCode::BadTicket, text)) }
            }));
        };
        let room = self.rooms.get_mut(&id).expect("the index names rooms that exist");
        let before = room.reservation_of(peer).and_then(|seat| seat.link);
        // What a dead node holds is free, even before its lease ends.
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

    /// Seats a peer by its ticket, in a room that is created again if the server has lost it.
    fn restore(
        &mut self,
        now: Micros,
        joiner: JoinRequest,
        link: Attachment,
        ticket: &ShownTicket,
    ) -> Result<Reply, Rejection> {
        let ShownTicket { claims, settings } = ticket;
        let peer = joiner.peer;
        // Players who left keep their tickets: a collection of them brings no more rooms than
        // others have.
        self.check_joiner(&joiner, link)?;
        if let Some(room) = self.rooms.get_mut(&claims.room) {
            room.restore_member(now, &self.rules, (claims, settings.clone()), joiner, link)?;
        } else if self.ended.contains(claims.room) {
            return Err(Rejection::new(RejectionCode::NoSuchRoom, "the room has ended"));
        } else if claims.slot.is_none() {
            // A spectator alone is no room.
            return Ok(Reply::NotInRoom { why: None });
        } else {
            let mut new = NewRoom::of_ticket(claims, settings.clone());
            new.code = self.check_new_room(&new)?;
            let room = Room::restore(now, &self.rules, claims, new, joiner, link);
            self.rooms.insert(claims.room, room);
        }
        self.publish(now, claims.room);
        self.joined_anew(claims.room, peer, false, true)
    }

    pub(super) fn find(&mut self, now: Micros, find: &Find) -> Result<Reply, Rejection> {
        let Find { joiner, link, new, may_create, skill } = find;
        let peer = joiner.peer;
        if let Some(skill) = skill {
            // A player who left and searches does not come back.
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
        // There is no better room than the one it is in.
        if let Some(id) = own {
            return self.joined(id, JoinedReply::kept(Attached::Fresh, Vec::new()));
        }
        if !may_create {
            return Err(too_many_rooms_made());
        }
        self.create(now, joiner.clone(), *link, new.clone())
    }

    /// The fullest open room that takes a player in, other than the one it is in. Those it left a
    /// moment ago come last, and so do those that voted a player out lately: two networks that
    /// remove all others would collect them one by one.
    fn fullest_room(&self, now: Micros, joiner: &JoinRequest, new: &NewRoom) -> Option<RoomId> {
        let key = FindKey::of(&new.game, &new.mode, &new.build);
        let admits = |room: &Room| match room.view().member(joiner.peer) {
            Some(_) if room.has_stepped_out(joiner.peer) => self.check_entry(now, room, joiner).is_ok(),
            _ => room.seats_if_admitted(&self.rules, joiner).is_ok(),
        };
        let rank = |id: RoomId| {
            let room = self.rooms.get(&id).filter(|room| admits(room))?;
            Some((room.has_voted_out_lately(now), room.was_left_lately(now, joiner.player)))
        };
        self.index.open_room(&key, new.seats, joiner.players, joiner.source.network, rank)
    }

    pub(super) fn create(
        &mut self,
        now: Micros,
        joiner: JoinRequest,
        link: Attachment,
        mut new: NewRoom,
    ) -> Result<Reply, Rejection> {
        self.check_joiner(&joiner, link)?;
        if joiner.players.count() > new.seats {
            let text = format!("a room of {} seats is too small for all at your machine", new.seats);
            return Err(Rejection::new(RejectionCode::RoomFull, text));
        }
        new.code = self.check_new_room(&new)?;
        self.leave_for_another(now, joiner.peer);
        let (id, peer) = (new.id, joiner.peer);
        self.rooms.insert(id, Room::create(now, new, joiner, link));
        self.publish(now, id);
        self.joined_anew(id, peer, true, false)
    }

    /// Whether a room can be created, and the code it gets.
    fn check_new_room(&self, new: &NewRoom) -> Result<RoomCode, Rejection> {
        let server_full = |text| Rejection::new(RejectionCode::ServerFull, text);
        if self.rooms.len() >= self.rules.rooms_max {
            return Err(server_full("there are as many rooms as this server can hold"));
        }
        let code = Some(new.code).filter(|code| !self.index.has_code(*code));
        let code = code.or_else(|| self.index.free_code(new.seed.0));
        code.ok_or_else(|| server_full("no room code is free"))
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

    /// Whether a room will take a peer in once it has left the one it is in.
    fn check_entry(&self, now: Micros, room: &Room, joiner: &JoinRequest) -> Result<(), Rejection> {
        if room.view().member(joiner.peer).is_none() {
            return room.seats_if_admitted(&self.rules, joiner).map(drop);
        }
        // It is the same room, in another slot.
        let mut without = room.clone();
        without.give_up(now, joiner.peer);
        if without.is_over() {
            let text = "you are the only one who plays in this room";
            return Err(Rejection::new(RejectionCode::NoSuchRoom, text));
        }
        without.seats_if_admitted(&self.rules, joiner).map(drop)
    }

    /// Whether a peer may be in another room than it is, wherever that is.
    pub(super) fn check_joiner(&self, joiner: &JoinRequest, link: Attachment) -> Result<(), Rejection> {
        if !self.leases.is_alive(link) {
            return Err(node_out_of_date());
        }
        let seat = self.room_of(joiner.peer).and_then(|room| Some((room, room.reservation_of(joiner.peer)?)));
        match seat {
            // A player who left and wants to be somewhere else does not come back.
            Some((_, seat)) if seat.stepped_out => {}
            Some((_, seat)) if joiner.switch && seat.link == Some(link) => {}
            Some(_) if joiner.switch => {
                return Err(Rejection::new(RejectionCode::Replaced, "another connection has this seat"));
            }
            Some((room, _)) => {
                let text = format!("you are in room {}", room.view().code);
                return Err(Rejection::new(RejectionCode::AlreadyInRoom, text));
            }
            None => {}
        }
        // A player who signed in since has it under another account.
        let kept = self.index.seats_of(joiner.player).saturating_sub(usize::from(seat.is_some()));
        if kept >= self.rules.rooms_per_player_max {
            let text = format!("you have {} seats in rooms already", self.rules.rooms_per_player_max);
            return Err(Rejection::new(RejectionCode::TooMany, text));
        }
        Ok(())
    }

    /// Gives up the reservation of a peer that is certain to get another.
    fn leave_for_another(&mut self, now: Micros, peer: PeerId) {
        let Some(id) = self.index.room_of(peer) else { return };
        if let Some(room) = self.rooms.get_mut(&id) {
            room.give_up(now, peer);
            self.publish(now, id);
        }
    }

    /// For a peer that had no reservation there a moment ago.
    pub(super) fn joined_anew(
        &self,
        id: RoomId,
        peer: PeerId,
        created: bool,
        returned: bool,
    ) -> Result<Reply, Rejection> {
        let inherited = self.rooms.get(&id).map(|room| room.inherited(peer)).unwrap_or_default();
        let (attached, mail) = (Attached::Fresh, Vec::new());
        self.joined(id, JoinedReply { created, returned, inherited, attached, mail })
    }

    /// The reply to a peer that has a reservation, unless that has ended the room.
    fn joined(&self, id: RoomId, seated: JoinedReply) -> Result<Reply, Rejection> {
        let room = self.copy(id);
        let room = room.ok_or_else(|| Rejection::new(RejectionCode::NoSuchRoom, "the room was closed"))?;
        Ok(Reply::Joined { room, seated })
    }
}

fn no_such_room() -> Rejection {
    Rejection::new(RejectionCode::NoSuchRoom, "there is no such room")
}

fn too_many_rooms_made() -> Rejection {
    let refusal = Rejection::new(RejectionCode::TooFast, "too many rooms were made from your address lately");
    Rejection { retry_after_ms: Some(10_000), ..refusal }
}

fn node_out_of_date() -> Rejection {
    Rejection::new(RejectionCode::Unavailable, "this server was out of touch for too long: try again")
}

/// Says that a room plays another build, by the versions if they differ. A build is a version, a
/// dash and a number that means nothing to people.
fn other_build(game: &str, theirs: &Label, ours: &Label) -> String {
    let version =
        |build: &Label| build.as_str().rsplit_once('-').unwrap_or((build.as_str(), "")).0.to_string();
    match (version(theirs), version(ours)) {
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
    fn other_build_is_told_by_version_where_it_differs() {
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
