//! Checked requests to be in a room, made from a client's message once.
//!
//! `commands.rs` adds the peer and appends the command. Absent: connections, which rooms exist.

use super::limits::LimitedAction;
use crate::directory::{Command, command};
use crate::id::{RoomCode, RoomId};
use crate::label::Label;
use crate::message::client::{Create, Find, Join};
use crate::message::{Rejection, RejectionCode};
use crate::players::LocalPlayers;
use crate::room::{Attachment, JoinRequest, NewRoom, check_settings};
use crate::rules::Rules;
use crate::secret::Secrets;
use crate::view::RawJson;

/// A checked request to be in a room.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct RoomRequest {
    /// Limit it counts against.
    pub(super) action: LimitedAction,
    pub(super) preferred_slot: u8,
    pub(super) players: LocalPlayers,
    /// Whether the peer may leave its current room for it.
    pub(super) may_switch: bool,
    pub(super) spectate: bool,
    pub(super) goal: Goal,
}

/// Which room is requested.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Goal {
    /// The fullest open room, or this new one.
    Find(NewRoom),
    /// A room with players of similar skill, created as this one.
    Search(NewRoom),
    /// This new room.
    Create(NewRoom),
    /// The room with this code or id.
    Join { code: Option<RoomCode>, room: Option<RoomId>, build: Label },
}

/// A peer that may join. Its attachment is added when the command is appended.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Entering {
    pub(super) joiner: JoinRequest,
    pub(super) goal: Goal,
}

impl RoomRequest {
    pub(super) fn find(find: Find, rules: &Rules, secrets: &mut Secrets) -> Result<RoomRequest, Rejection> {
        let mode = rules.mode(&find.game, &find.mode)?;
        let (max_players, drop_in) = (mode.players(find.max_players)?, mode.drop_in);
        check_settings(rules, &find.settings)?;
        let Find { game, mode: name, build, preferred_slot, players, leave_current, settings, .. } = find;
        let new = new_room(secrets, (game, name, build), max_players, settings);
        let new = NewRoom { drop_in, matched: true, ..new };
        let goal = if mode.skill { Goal::Search(new) } else { Goal::Find(new) };
        Ok(RoomRequest::new(LimitedAction::Find, preferred_slot, players, leave_current, goal))
    }

    pub(super) fn create(
        create: Create,
        rules: &Rules,
        secrets: &mut Secrets,
    ) -> Result<RoomRequest, Rejection> {
        let max_players = rules.mode(&create.game, &create.mode)?.players(create.max_players)?;
        check_settings(rules, &create.settings)?;
        let Create { game, mode, build, preferred_slot, players, leave_current, settings, .. } = create;
        let (private, drop_in, host_starts) = (create.private, create.drop_in, create.host_starts);
        let new = new_room(secrets, (game, mode, build), max_players, settings);
        let goal = Goal::Create(NewRoom { private, drop_in, host_starts, ..new });
        Ok(RoomRequest::new(LimitedAction::Create, preferred_slot, players, leave_current, goal))
    }

    pub(super) fn join(join: Join) -> Result<RoomRequest, Rejection> {
        let Join { code, room, build, preferred_slot, players, leave_current, spectate, .. } = join;
        if code.is_none() && room.is_none() {
            return Err(Rejection::new(RejectionCode::BadMessage, "field code or room is missing"));
        }
        let goal = Goal::Join { code, room, build };
        Ok(RoomRequest {
            spectate,
            ..RoomRequest::new(LimitedAction::Join, preferred_slot, players, leave_current, goal)
        })
    }

    fn new(
        action: LimitedAction,
        preferred_slot: Option<u8>,
        players: LocalPlayers,
        may_switch: bool,
        goal: Goal,
    ) -> RoomRequest {
        let preferred_slot = preferred_slot.unwrap_or(0);
        RoomRequest { action, preferred_slot, players, may_switch, spectate: false, goal }
    }
}

impl Entering {
    /// The command, for a peer connected here; none for a search, which is repeated.
    pub(super) fn command(self, link: Attachment, may_create: bool) -> Option<Command> {
        let Entering { joiner, goal } = self;
        Some(match goal {
            Goal::Search(_) => return None,
            Goal::Find(new) => command::Find { joiner, link, new, may_create, skill: None }.into(),
            Goal::Create(new) => command::Create { joiner, link, new }.into(),
            Goal::Join { code, room, build } => command::Join { joiner, link, code, room, build }.into(),
        })
    }
}

fn new_room(
    secrets: &mut Secrets,
    (game, mode, build): (Label, Label, Label),
    max_players: u8,
    settings: RawJson,
) -> NewRoom {
    let (id, code, seed) = (secrets.room_id(), secrets.room_code(), secrets.seed());
    let (private, drop_in, host_starts, matched) = (false, false, false, false);
    NewRoom {
        id,
        code,
        seed,
        game,
        mode,
        build,
        max_players,
        private,
        drop_in,
        host_starts,
        matched,
        settings,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rules_and_secrets() -> (Rules, Secrets) {
        (Rules::default(), Secrets::new([1; 32]))
    }

    #[test]
    fn found_room_is_matched_and_new_one_is_not() {
        let (rules, mut secrets) = rules_and_secrets();
        let find = Find { game: "pond".parse().unwrap(), ..Find::default() };
        let request = RoomRequest::find(find, &rules, &mut secrets).unwrap();
        assert_eq!(request.action, LimitedAction::Find);
        assert!(matches!(request.goal, Goal::Find(new) if new.matched));
        let create = Create { game: "pond".parse().unwrap(), private: true, ..Create::default() };
        let request = RoomRequest::create(create, &rules, &mut secrets).unwrap();
        assert!(matches!(request.goal, Goal::Create(new) if new.private && !new.matched));
    }

    #[test]
    fn settings_too_long_make_no_request() {
        let (rules, mut secrets) = rules_and_secrets();
        let text = format!("{{\"a\":\"{}\"}}", "x".repeat(rules.settings_bytes_max));
        let settings = RawJson::new(&text).unwrap();
        let find = Find { game: "pond".parse().unwrap(), settings, ..Find::default() };
        let refusal = RoomRequest::find(find, &rules, &mut secrets).unwrap_err();
        assert_eq!(refusal.code, RejectionCode::BadSettings);
    }

    #[test]
    fn join_without_room_is_malformed() {
        let refusal = RoomRequest::join(Join::default()).unwrap_err();
        assert_eq!(refusal.code, RejectionCode::BadMessage);
        let join = Join { room: Some(RoomId::from_bytes([1; 16])), spectate: true, ..Join::default() };
        assert!(RoomRequest::join(join).unwrap().spectate);
    }
}
