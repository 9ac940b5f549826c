//! A room without its engine and platform types. Menus, overlays and tests that serve every game
//! hold it as `dyn`. Absent: what differs between engines.

use gaggle_kit::{PeerId, Slot, SlotSet};
use gaggle_link::SendError;
use gaggle_lobby::Label;
use gaggle_lobby::client::Client;

use crate::config::JoinTarget;
use crate::engine::Engine;
use crate::event::RoomEvent;
use crate::lobby_room::Member;
use crate::phase::{Phase, Stall};
use crate::platform::Platform;
use crate::room::Room;

/// Methods of a [`Room`] that menus need, the same for every engine. Hold it as `&mut dyn AnyRoom`.
/// It is kept small, because every method of it takes space in a page.
///
/// ```
/// use gaggle::{AnyRoom, Phase};
///
/// /// A menu that needs no game.
/// fn leave_room(room: &mut dyn AnyRoom) -> Phase {
///     room.leave();
///     room.phase()
/// }
/// ```
pub trait AnyRoom {
    /// The same as [`Room::poll_event`].
    fn poll_event(&mut self) -> Option<RoomEvent>;
    /// The same as [`Room::phase`].
    fn phase(&self) -> Phase;
    /// The same as [`Room::stall`].
    fn stall(&self) -> Option<Stall>;
    /// The requested room: see [`RoomConfig::join`](crate::RoomConfig::join).
    fn join_target(&self) -> &JoinTarget;
    /// The same as [`Room::join`].
    fn join(&mut self, target: JoinTarget);
    /// The same as [`Room::leave`].
    fn leave(&mut self);
    /// The same as [`Room::close`].
    fn close(&mut self);
    /// The same as [`Room::suspend`].
    fn suspend(&mut self);
    /// The same as [`Room::resume`].
    fn resume(&mut self);
    /// The same as [`Room::take_over`].
    fn take_over(&mut self);
    /// The same as [`Room::members`].
    fn members(&self) -> Vec<Member>;
    /// The same as [`Room::local_slots`].
    fn local_slots(&self) -> SlotSet;
    /// The same as [`Room::build_id`].
    fn build_id(&self) -> &Label;
    /// The same as [`Room::lobby_client`].
    fn lobby_client(&mut self) -> Option<&mut Client>;
    /// The same as [`Room::send_message`].
    ///
    /// # Errors
    /// As [`Room::send_message`].
    fn send_message(&mut self, to: Option<PeerId>, bytes: &[u8]) -> Result<(), SendError>;
    /// The same as [`Room::poll_message`].
    fn poll_message(&mut self) -> Option<(PeerId, Vec<u8>)>;
    /// The same as [`Room::set_name`].
    fn set_name(&mut self, name: &str);
    /// The same as [`Room::set_mode`].
    fn set_mode(&mut self, mode: Label);
    /// The same as [`Room::set_preferred_slot`].
    fn set_preferred_slot(&mut self, slot: Option<Slot>);
    /// The same as [`Room::set_score`].
    fn set_score(&mut self, score: i64, level: Option<u32>);
    /// The same as [`Room::start_round`].
    fn start_round(&mut self);
}

impl<E: Engine, P: Platform> AnyRoom for Room<E, P> {
    fn poll_event(&mut self) -> Option<RoomEvent> {
        Room::poll_event(self)
    }

    fn phase(&self) -> Phase {
        Room::phase(self)
    }

    fn stall(&self) -> Option<Stall> {
        Room::stall(self)
    }

    fn join_target(&self) -> &JoinTarget {
        &self.config().join
    }

    fn join(&mut self, target: JoinTarget) {
        Room::join(self, target);
    }

    fn leave(&mut self) {
        Room::leave(self);
    }

    fn close(&mut self) {
        Room::close(self);
    }

    fn suspend(&mut self) {
        Room::suspend(self);
    }

    fn resume(&mut self) {
        Room::resume(self);
    }

    fn take_over(&mut self) {
        Room::take_over(self);
    }

    fn members(&self) -> Vec<Member> {
        Room::members(self)
    }

    fn local_slots(&self) -> SlotSet {
        Room::local_slots(self)
    }

    fn build_id(&self) -> &Label {
        Room::build_id(self)
    }

    fn lobby_client(&mut self) -> Option<&mut Client> {
        Room::lobby_client(self)
    }

    fn send_message(&mut self, to: Option<PeerId>, bytes: &[u8]) -> Result<(), SendError> {
        Room::send_message(self, to, bytes)
    }

    fn poll_message(&mut self) -> Option<(PeerId, Vec<u8>)> {
        Room::poll_message(self)
    }

    fn set_name(&mut self, name: &str) {
        Room::set_name(self, name);
    }

    fn set_mode(&mut self, mode: Label) {
        Room::set_mode(self, mode);
    }

    fn set_preferred_slot(&mut self, slot: Option<Slot>) {
        Room::set_preferred_slot(self, slot);
    }

    fn set_score(&mut self, score: i64, level: Option<u32>) {
        Room::set_score(self, score, level);
    }

    fn start_round(&mut self) {
        Room::start_round(self);
    }
}
