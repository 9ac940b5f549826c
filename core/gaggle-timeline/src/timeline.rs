//! A session with its game: it fulfills the session's requests for any [`Game`].
//!
//! `Driver` moves its packets; rooms and tests own it. Absent: transports, packets, membership.

use gaggle_kit::{Frame, Micros, Shape, Slot};

use crate::bundle::DesyncBundle;
use crate::config::SessionError;
use crate::match_session::MatchSession;
use crate::session::Session;
use crate::simulation::Simulation;
use crate::{Game, Tick};

/// A game that is played over a session.
///
/// ```
/// use gaggle_kit::{Micros, PeerId, Slot, State};
/// use gaggle_timeline::{Game, Incarnation, Inputs, PeerSlots, Session, TimelineConfig, Timeline};
///
/// #[derive(Clone, Default, State)]
/// struct Counter { presses: u32 }
///
/// impl Game for Counter {
///     type Input = u8;
///     fn tick(&mut self, inputs: &Inputs<'_, u8>) {
///         self.presses += u32::from(inputs.get(Slot::at(0)));
///     }
/// }
///
/// let me = PeerId::from_u128(1);
/// let slots = [PeerSlots::new(me, Slot::at(0))];
/// let session = Session::new(TimelineConfig::default(), me, &slots, Incarnation(7))?;
/// let mut timeline = Timeline::new(session, Counter::default());
/// for frame in 1..=10 {
///     timeline.session_mut().set_input(Slot::at(0), 1)?;
///     timeline.tick(Micros::from_millis(frame * 17));
/// }
/// assert_eq!(timeline.game().presses, 10); // alone there is no input delay
/// # Ok::<(), gaggle_timeline::SessionError>(())
/// ```
#[derive(Debug)]
pub struct Timeline<G: Game, S = Session<<G as Game>::Input>> {
    session: S,
    simulation: Simulation<G>,
}

impl<G: Game, S: MatchSession<G::Input>> Timeline<G, S> {
    /// A match that begins with this state, which must be the same on all peers.
    pub fn new(mut session: S, game: G) -> Self {
        session.set_shape(shape_of::<G>());
        let simulation = Simulation::new(session.config(), game);
        Timeline { session, simulation }
    }

    /// State to show to players: confirmed as far as input is known, predicted beyond.
    pub fn game(&self) -> &G {
        self.simulation.game()
    }

    /// The session, for events and counters.
    pub fn session(&self) -> &S {
        &self.session
    }

    /// The session, to pass input to it and to drain its packets and events.
    pub fn session_mut(&mut self) -> &mut S {
        &mut self.session
    }

    /// Sets a local player's input, computed from the state that player sees now: an intent such as
    /// "the door in front of me" rather than a key.
    ///
    /// # Errors
    /// If the slot is not local.
    pub fn set_input_with(
        &mut self,
        slot: Slot,
        intent: impl FnOnce(&G) -> G::Input,
    ) -> Result<(), SessionError> {
        self.session.set_input(slot, intent(self.simulation.game()))
    }

    /// Advances by one frame's time. Then drain [`poll_transmit`](Session::poll_transmit) and
    /// [`poll_event`](Session::poll_event).
    pub fn tick(&mut self, now: Micros) -> Tick {
        let tick = self.session.tick(now);
        while let Some(request) = self.session.poll_request() {
            if let Some(imported) = self.simulation.fulfill(request) {
                self.simulation.take_over(imported, &self.session);
            }
        }
        tick
    }

    /// State this peer replaced, the one it took instead and the inputs between, for debugging.
    /// There is one after each [`DesyncRecovered`](crate::SessionEvent::DesyncRecovered) of this
    /// peer, and after each [`BranchAbandoned`](crate::SessionEvent::BranchAbandoned) where inputs
    /// differed. Returns the oldest of the last few, each once. A spectator has none: it has never
    /// simulated as far as the snapshot it takes.
    pub fn take_desync_bundle(&mut self) -> Option<DesyncBundle> {
        self.simulation.take_desync_bundle()
    }

    /// State of the last confirmed frame, nothing of it predicted: for spectators, results and
    /// comparisons. `None` if no saved state stands at exactly that frame.
    pub fn confirmed_game(&self) -> Option<(Frame, &G)> {
        self.simulation.confirmed_game(&self.session)
    }
}

/// Fingerprint of the encoding of a game's state and inputs: peers with different ones must not
/// play together. Never 0.
///
/// ```
/// use gaggle_kit::{Slot, State};
/// use gaggle_timeline::{Game, Inputs, shape_of};
///
/// #[derive(Clone, State)]
/// struct Rope { pulled: i32 }
///
/// #[derive(Clone, State)]
/// struct LongRope { pulled: i64 }
///
/// # impl Game for Rope { type Input = bool; fn tick(&mut self, _: &Inputs<'_, bool>) {} }
/// # impl Game for LongRope { type Input = bool; fn tick(&mut self, _: &Inputs<'_, bool>) {} }
/// assert_ne!(shape_of::<Rope>(), shape_of::<LongRope>());
/// ```
pub fn shape_of<G: Game>() -> u64 {
    let (state, input) = (Shape::of_state::<G>(), Shape::of_input::<G::Input>());
    (state ^ input.rotate_left(32)).max(1)
}

#[cfg(test)]
mod tests {
    use gaggle_kit::{PeerId, State};

    use super::*;
    use crate::event::SessionEvent;
    use crate::{Incarnation, Inputs, PeerSlots, TimelineConfig};

    /// Its speed soon exceeds its declared range: it can be encoded, but not decoded.
    #[derive(Clone, Debug, Default, State)]
    struct Speeding {
        #[state(range = 0..=8)]
        speed: u8,
    }

    impl Game for Speeding {
        type Input = u8;

        fn tick(&mut self, _: &Inputs<'_, u8>) {
            self.speed = 9;
        }
    }

    #[test]
    fn undecodable_state_is_no_fault_of_other_peers() {
        let peers = [1, 2].map(PeerId::from_u128);
        let seats = [0, 1].map(|index| PeerSlots::new(peers[index], Slot::at(index)));
        let mut both = [0, 1].map(|index| {
            let config = TimelineConfig::default();
            let mut session = Session::new(config, peers[index], &seats, Incarnation(1)).expect("sensible");
            session.handle_connected(Micros::ZERO, peers[1 - index]).expect("few links");
            Timeline::new(session, Speeding::default())
        });
        let (mut events, mut declined) = (Vec::new(), 0);
        for tick in 1..=120 {
            let now = Micros::from_millis(16 * tick);
            if tick == 60 {
                both[0].session_mut().handle_message(now, peers[1], &[0x1a]);
            }
            for from in 0..2 {
                both[from].tick(now);
                let session = both[from].session_mut();
                events.extend(std::iter::from_fn(|| session.poll_event()).filter(|_| from == 0));
                let mut said = Vec::new();
                while let Some(packet) = session.poll_transmit() {
                    said.push((packet.is_reliable(), packet.bytes.to_vec()));
                }
                for (reliable, bytes) in said {
                    declined += u32::from(reliable && bytes == [0x23, 0]);
                    let other = both[1 - from].session_mut();
                    match reliable {
                        true => other.handle_message(now, peers[from], &bytes),
                        false => other.handle_packet(now, peers[from], &bytes),
                    }
                }
            }
        }
        let unsound =
            events.iter().filter(|event| matches!(event, SessionEvent::StateNotDecodable { .. })).count();
        assert_eq!((unsound, declined), (1, 1), "{events:?}");
        assert!(!events.iter().any(|event| matches!(event, SessionEvent::PeerFault { .. })), "{events:?}");
    }
}
