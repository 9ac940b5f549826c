//! One match on this peer: its session, its driver, its clock.
//!
//! [`Requests`](super::Requests) has one for the shown match and one for each join attempt. Absent:
//! game state, the lobby, which match is shown.

use gaggle_kit::{Input, Micros, PeerId, SlotSet};
use gaggle_link::Transport;
use gaggle_timeline::{Driver, Match, Tick, TickClock};

use crate::engine::input_latch::InputLatch;
use crate::lobby_room::Inbox;

/// Most ticks of catching up in one update.
const CATCH_UP_TICKS_MAX: u32 = 4;
/// Ticks whose inputs carry the new-player flag. 30 = `INPUT_DELAY_FRAMES_MAX`, so at least one
/// flagged input is confirmed.
const NEW_PLAYER_TICKS: u32 = 30;

/// A match that is running or about to start.
pub(crate) struct Play<I: Input> {
    session: Match<I>,
    driver: Driver,
    clock: TickClock,
    /// Slots that belonged to another player before, and the number of ticks whose inputs still say
    /// so.
    new_players: (SlotSet, u32),
}

impl<I: Input> Play<I> {
    /// `shape` is the fingerprint of the game's state encoding: see `gaggle_timeline::shape_of`.
    pub(crate) fn new(now: Micros, session: impl Into<Match<I>>, shape: u64) -> Play<I> {
        let mut session = session.into();
        session.set_shape(shape);
        let clock = TickClock::new(session.config().tick_rate, now);
        Play { session, driver: Driver::default(), clock, new_players: (SlotSet::EMPTY, 0) }
    }

    /// Marks the inputs of these slots for some ticks, if they are local: state the game keeps for
    /// them belongs to another player.
    pub(crate) fn inherit(&mut self, slots: SlotSet) {
        self.new_players = (slots, NEW_PLAYER_TICKS);
    }

    pub(crate) fn session(&self) -> &Match<I> {
        &self.session
    }

    pub(crate) fn session_mut(&mut self) -> &mut Match<I> {
        &mut self.session
    }

    /// Adds a link that was open before the match began here.
    pub(crate) fn connect(&mut self, now: Micros, peer: PeerId) {
        self.driver.connect(now, &mut self.session, peer);
    }

    pub(crate) fn receive(&mut self, now: Micros, mesh: &mut impl Transport, inbox: &mut Inbox) {
        let other = |peer, stream, bytes: &[u8]| inbox.receive(peer, stream, bytes);
        self.driver.receive_with(now, mesh, &mut self.session, other);
    }

    pub(crate) fn send(&mut self, now: Micros, mesh: &mut impl Transport) {
        self.driver.send(now, mesh, &mut self.session);
    }

    /// The number of frames that are due.
    pub(crate) fn ticks_due(&mut self, now: Micros) -> u32 {
        let due = self.clock.ticks_due(now, self.session.speed_ppm());
        due + self.session.take_catch_up_ticks(CATCH_UP_TICKS_MAX)
    }

    /// Drops the time until now: no tick is run for it.
    pub(crate) fn skip_time(&mut self, now: Micros) {
        self.clock = TickClock::new(self.session.config().tick_rate, now);
    }

    /// Elapsed part of the next frame, in thousandths.
    pub(crate) fn alpha_permille(&self) -> u32 {
        self.clock.alpha_permille()
    }

    /// Simulates one frame with the local players' inputs. Requests follow.
    pub(crate) fn tick(&mut self, now: Micros, players: &mut [InputLatch<I>]) -> Tick {
        let (inherited, ticks_left) = self.new_players;
        for (nth, player) in players.iter_mut().enumerate() {
            let Some(slot) = self.session.local_slots().iter().nth(nth) else { break };
            let input = player.take();
            let is_new = ticks_left > 0 && inherited.contains(slot);
            let input = if is_new { input.mark_new_player() } else { input };
            // Fails only for slots that are not local, and these are local.
            let _ = self.session.set_input(slot, input);
        }
        let tick = self.session.tick(now);
        if tick == Tick::Advanced {
            self.new_players.1 = ticks_left.saturating_sub(1);
        }
        tick
    }
}
