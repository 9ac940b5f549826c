//! One match as this machine runs it: the game, its session, its clock.

use gaggle_kit::{Input, Micros, PeerId, Slot, SlotSet};
use gaggle_link::Transport;
use gaggle_timeline::{Driver, Game, Session, Tick, TickClock, Timeline};

use crate::engine::input_latch::InputLatch;
use crate::lobby_room::Inbox;

/// Ticks made up for in one go.
const MAKE_UP_AT_ONCE: u32 = 4;
/// For so many ticks newcomers say that they are: longer than an input can be ahead of the frame
/// from which they count.
const NEWCOMER_TICKS: u32 = 30;

/// A match that is running or about to.
pub(crate) struct Play<G: Game> {
    pub(crate) timeline: Timeline<G>,
    exchange: Driver,
    pace: TickClock,
    /// Slots whose players have sat down where somebody else sat last, and ticks for which they
    /// still say so.
    new_players: (SlotSet, u32),
}

impl<G: Game> Play<G> {
    pub(crate) fn new(now: Micros, session: Session<G::Input>, game: G) -> Play<G> {
        let pace = TickClock::new(session.config().tick_rate, now);
        let newcomers = (SlotSet::EMPTY, 0);
        Play {
            timeline: Timeline::new(session, game),
            exchange: Driver::default(),
            pace,
            new_players: newcomers,
        }
    }

    /// What is kept in these slots, if they are ours, is somebody else's: our players say so with
    /// what they do next.
    pub(crate) fn inherit(&mut self, slots: SlotSet) {
        self.new_players = (slots, NEWCOMER_TICKS);
    }

    pub(crate) fn session(&self) -> &Session<G::Input> {
        self.timeline.session()
    }

    pub(crate) fn session_mut(&mut self) -> &mut Session<G::Input> {
        self.timeline.session_mut()
    }

    /// A link was up before the match began here.
    pub(crate) fn connect(&mut self, now: Micros, peer: PeerId) {
        self.exchange.connect(now, self.timeline.session_mut(), peer);
    }

    pub(crate) fn receive(&mut self, now: Micros, links: &mut impl Transport, inbox: &mut Inbox) {
        let other = |peer, stream, bytes: &[u8]| inbox.receive(peer, stream, bytes);
        self.exchange.receive_with(now, links, self.timeline.session_mut(), other);
    }

    pub(crate) fn send(&mut self, now: Micros, links: &mut impl Transport) {
        self.exchange.send(now, links, self.timeline.session_mut());
    }

    /// How many frames are due.
    pub(crate) fn ticks_due(&mut self, now: Micros) -> u32 {
        let session = self.timeline.session_mut();
        self.pace.ticks_due(now, session.speed_ppm()) + session.take_catch_up_ticks(MAKE_UP_AT_ONCE)
    }

    /// The time until now is nobody's: nothing is to be made up for.
    pub(crate) fn skip_time(&mut self, now: Micros) {
        self.pace = TickClock::new(self.session().config().tick_rate, now);
    }

    /// How far into the next frame we are, in thousandths.
    pub(crate) fn alpha_permille(&self) -> u32 {
        self.pace.alpha_permille()
    }

    /// One frame, with what the players at this machine do.
    pub(crate) fn tick(&mut self, now: Micros, players: &mut [InputLatch<G::Input>]) -> Tick {
        let slots: [Option<Slot>; SlotSet::COUNT_MAX] = {
            let mut own = self.session().local_slots().into_iter();
            std::array::from_fn(|_| own.next())
        };
        let (inherited, ticks_left) = self.new_players;
        for (slot, player) in slots.into_iter().flatten().zip(players) {
            let input = player.take();
            let is_newcomer = ticks_left > 0 && inherited.contains(slot);
            let input = if is_newcomer { input.mark_new_player() } else { input };
            // Only fails for slots that are not local, and these are.
            let _ = self.session_mut().set_input(slot, input);
        }
        let tick = self.timeline.tick(now);
        if tick == Tick::Advanced {
            self.new_players.1 = ticks_left.saturating_sub(1);
        }
        tick
    }
}
