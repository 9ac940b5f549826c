//! Implementation of [`Engine`](crate::Engine) by [`Requests`].
//!
//! [`GameEngine`](crate::GameEngine) forwards the same calls. Absent: requests, sessions' events.

use gaggle_kit::{Input, Micros, OutOfRange, PeerId, Prng, Slot, SlotSet, VecSet};
use gaggle_lobby::Label;
use gaggle_timeline::{LatePolicy, SessionError, SessionStats, TimelineConfig};

use super::play::Play;
use super::turn::{Notice, Turn};
use super::{Lobby, Requests, StateShape, solo_session};
use crate::config::RoomConfig;
use crate::engine::input_latch::InputLatch;
use crate::engine::state::State;
use crate::engine::transitions::Transitions;
use crate::engine::{Engine, first_scores};
use crate::lobby_room::LobbyAction;
use crate::phase::{Phase, Stall};
use crate::platform::Platform;

impl<I: Input> Engine for Requests<I> {
    type Config = TimelineConfig;
    type Content = StateShape;
    type Input = I;
    type Stats = SessionStats;
    type Error = SessionError;

    fn create(
        now: Micros,
        config: &RoomConfig,
        shape: StateShape,
        rng: &mut Prng,
    ) -> Result<Self, SessionError> {
        check_slots(config)?;
        if Self::has_referee(config) && !super::star::HAS_STAR {
            return Err(SessionError::OtherPolicy);
        }
        let unknown = PeerId::from_u128(rng.next_u64().into());
        let slots = config.first_slots(config.local_players);
        let session = solo_session(&config.engine, unknown, slots, 0, rng)?;
        let mut turn = Turn::default();
        // States the caller saved in a match before a restart are void.
        turn.note(Notice::Renumber);
        Ok(Requests {
            shape,
            shown: Play::new(now, session, shape.0),
            state: State::Solo,
            joining: None,
            starting: None,
            players: vec![InputLatch::default(); config.local_players],
            old_slots: None,
            input_delay: None,
            slow_policy: config.engine.slow_policy,
            star: super::star::Star::default(),
            silent: VecSet::new(),
            stalled_since: None,
            turn,
            has_abandoned: false,
        })
    }

    fn build_id(&self, config: &RoomConfig) -> Label {
        config.build_id::<I>(self.shape.0)
    }

    fn has_referee(config: &RoomConfig) -> bool {
        !matches!(config.engine.late_policy, LatePolicy::Stall { .. })
    }

    fn keep_choices_of(&mut self, previous: &Self) {
        // Cannot fail: the limits are those under which the delay was chosen.
        let _ = self.set_input_delay(previous.input_delay);
        let _ = self.set_slow_policy(previous.slow_policy);
    }

    fn set_input(&mut self, player: usize, input: I) {
        if let Some(latch) = self.players.get_mut(player) {
            latch.set(input);
        }
    }

    fn handle_action<P: Platform>(&mut self, room: &mut Lobby<P>, action: LobbyAction) {
        self.carry_out(room, action);
    }

    fn remove_peer<P: Platform>(&mut self, _room: &mut Lobby<P>, peer: PeerId) {
        // A peer that is not in the room has no slot in the match either. Usually it has left the
        // match already.
        if !self.is_spectating() {
            let _ = self.shown.session_mut().evict(peer);
        }
        if let Some(joining) = self.joining.as_mut().filter(|joining| joining.awaited.is_some()) {
            let _ = joining.play.session_mut().evict(peer);
        }
    }

    /// Begins an update: its ticks follow as [requests](Requests::poll_request).
    fn update<P: Platform>(
        &mut self,
        room: &mut Lobby<P>,
        input: &mut dyn FnMut(&Self, usize) -> Option<I>,
    ) -> u32 {
        let ticks = self.begin_update(room);
        if ticks > 0 {
            self.ask_for_inputs(input);
        }
        ticks
    }

    fn suspend<P: Platform>(&mut self, room: &mut Lobby<P>) {
        self.pause_match(room);
    }

    fn resume<P: Platform>(&mut self, room: &mut Lobby<P>) {
        self.resume_match(room);
    }

    fn leave<P: Platform>(&mut self, room: &mut Lobby<P>, is_reload: bool) {
        self.leave_room(room, is_reload);
        self.old_slots = None;
    }

    fn phase(&self) -> Phase {
        self.current_phase()
    }

    fn is_playing(&self) -> bool {
        self.takes_part()
    }

    fn alpha_permille(&self) -> u32 {
        self.shown.alpha_permille()
    }

    fn stats(&self) -> SessionStats {
        self.shown.session().stats()
    }

    fn local_slots(&self) -> SlotSet {
        self.shown.session().local_slots()
    }

    fn slots_of<P: Platform>(&self, _room: &Lobby<P>, peer: PeerId) -> SlotSet {
        let roster = self.shown.session().roster().iter();
        let rows = roster.filter(|row| row.stream.peer == peer && row.is_active());
        rows.fold(SlotSet::EMPTY, |slots, row| slots.union(row.slots))
    }

    fn leader<P: Platform>(&self, _room: &Lobby<P>) -> Option<PeerId> {
        let session = self.shown.session();
        session.leader_at(session.current_frame()).filter(|_| self.state.is_in_match())
    }

    fn scores_by_peer<P: Platform>(&self, _room: &Lobby<P>, scores: &[(Slot, i64)]) -> Vec<(PeerId, i64)> {
        let rows = self.shown.session().roster().iter().filter(|row| row.is_active());
        first_scores(scores, rows.map(|row| (row.stream.peer, row.slots)))
    }

    fn stall<P: Platform>(&self, room: &Lobby<P>) -> Option<Stall> {
        self.current_stall(room)
    }
}

/// Checks that the room's players, and the local ones, have slots in the match.
fn check_slots(config: &RoomConfig) -> Result<(), OutOfRange> {
    let (slots, local_players) = (config.engine.slot_count as u64, config.local_players as u64);
    let players_max = config.max_players.into();
    // More slots than a match can have are the session's to reject.
    OutOfRange::check("engine.slot_count", slots, players_max, slots.max(SlotSet::COUNT_MAX as u64))?;
    OutOfRange::check("local_players", local_players, 1, slots)
}
