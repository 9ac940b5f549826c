//! A game with its saved states, which fulfills the requests of a session.
//!
//! [`Timeline`](crate::Timeline) has one, a room has one for each match. Absent: packets, time,
//! which session a request comes from.

use std::collections::VecDeque;

use gaggle_kit::{Frame, Slot, decode_state, encode_state, state_hash};

use crate::bundle::DesyncBundle;
use crate::config::TimelineConfig;
use crate::match_session::MatchSession;
use crate::request::{Request, SimId};
use crate::snapshots::Snapshots;
use crate::transfer::STATE_BYTES_MAX;
use crate::{Game, MatchStart};

/// Most bundles kept until they are fetched: each holds two states.
const BUNDLES_MAX: usize = 4;

/// A game, its saved states, and the copy that is resimulated for an audit.
///
/// Its requests may be for the live match or for one being joined: it treats only [`SimId::Audit`]
/// differently.
#[derive(Debug)]
pub struct Simulation<G: Game> {
    game: G,
    snapshots: Snapshots<G>,
    /// A second game, while past frames are resimulated.
    audit: Option<G>,
    /// Bundles of the last recoveries, oldest first.
    bundles: VecDeque<DesyncBundle>,
}

/// A state of another peer that was decoded: see [`Simulation::take_over`].
#[derive(Debug)]
pub struct Imported<G> {
    game: G,
    frame: Frame,
    bytes: Vec<u8>,
}

impl<G: Game> Simulation<G> {
    /// A simulation that begins with this state, for a session with these settings.
    pub fn new(config: &TimelineConfig, game: G) -> Self {
        let snapshots = Snapshots::new(config.prediction_frames_max());
        Simulation { game, snapshots, audit: None, bundles: VecDeque::new() }
    }

    /// The current state.
    pub fn game(&self) -> &G {
        &self.game
    }

    /// Fulfills a request. A state to continue with is returned, for
    /// [`take_over`](Simulation::take_over) before the next request.
    ///
    /// [`Request::Start`] begins with the current state; [`Request::Show`] and [`Request::Discard`]
    /// are for programs with several simulations, and do nothing here.
    #[inline]
    #[must_use = "an imported state must be taken over"]
    pub fn fulfill(&mut self, request: Request<'_, G::Input>) -> Option<Imported<G>> {
        match request {
            Request::Load { sim: SimId::Audit, frame } => {
                self.audit = self.snapshots.retained(frame).cloned();
            }
            Request::Advance { sim: SimId::Audit, inputs } => {
                if let Some(game) = &mut self.audit {
                    game.tick(&inputs);
                }
            }
            Request::Hash { sim: SimId::Audit, hash, .. } => *hash = self.audit.as_ref().map(state_hash),
            Request::Save { frame, .. } => self.snapshots.save(frame, &self.game),
            Request::Load { frame, .. } => {
                let saved = self.snapshots.get(frame);
                self.game.copy_from(saved.expect("the session loads what it had saved within its window"));
            }
            Request::Advance { inputs, .. } => self.game.tick(&inputs),
            Request::Hash { frame, hash, .. } => *hash = self.snapshots.hash(frame),
            Request::Retain { frame, forget_before, .. } => self.snapshots.retain(frame, forget_before),
            Request::Export { frame, state, .. } => self.export(frame, state),
            Request::Import { frame, state, is_repair, accepted, .. } => {
                let imported = decode::<G>(frame, state, is_repair);
                *accepted = imported.is_some();
                return imported;
            }
            Request::Renumber { .. } => self.forget(),
            Request::Start { start, .. } => self.start(&start),
            Request::Show { .. } | Request::Discard { .. } => {}
        }
        None
    }

    fn export(&self, frame: Frame, state: &mut Vec<u8>) {
        let Some(written) = self.snapshots.get(frame).map(encode_state) else { return };
        // A state that is too large is only measured. One that cannot be decoded is not sent: other
        // peers would take it for a violation.
        if written.len() as u64 > STATE_BYTES_MAX || reads_back::<G>(&written) {
            *state = written;
        }
    }

    fn start(&mut self, start: &MatchStart<'_>) {
        self.forget();
        self.game.on_start(start);
    }

    fn forget(&mut self) {
        self.snapshots.clear();
        self.audit = None;
    }

    /// Continues with another peer's state. If it replaces a wrong one, both are kept as a
    /// [bundle](Simulation::take_desync_bundle).
    pub fn take_over(&mut self, imported: Imported<G>, session: &impl MatchSession<G::Input>) {
        let Imported { game, frame, bytes } = imported;
        if session.is_recovering()
            && let Some(bundle) = self.bundle_with(session, (frame, bytes))
        {
            if self.bundles.len() == BUNDLES_MAX {
                self.bundles.pop_front();
            }
            self.bundles.push_back(bundle);
        }
        self.game = game;
        self.forget();
    }

    fn bundle_with(
        &self,
        session: &impl MatchSession<G::Input>,
        remote: (Frame, Vec<u8>),
    ) -> Option<DesyncBundle> {
        let from = remote.0;
        let local = self.confirmed_game(session).filter(|(frame, _)| *frame >= from)?;
        let slots = session.slot_count();
        let mut bundle = DesyncBundle::new(session.config().game_fingerprint, slots, remote, local);
        for number in from.next().number()..=local.0.number() {
            let inputs = session.confirmed_inputs(Frame::new(number))?;
            let row: Vec<G::Input> = (0..slots).map(|slot| inputs.get(Slot::at(slot))).collect();
            bundle.push(&row, inputs.present_slots());
        }
        Some(bundle)
    }

    /// The oldest of the last few bundles, each once: see
    /// [`Timeline::take_desync_bundle`](crate::Timeline::take_desync_bundle).
    pub fn take_desync_bundle(&mut self) -> Option<DesyncBundle> {
        self.bundles.pop_front()
    }

    /// The latest state without predicted input, if it is still held: see
    /// [`Timeline::confirmed_game`](crate::Timeline::confirmed_game).
    pub fn confirmed_game(&self, session: &impl MatchSession<G::Input>) -> Option<(Frame, &G)> {
        let frame = session.confirmed_state_frame();
        if frame == session.current_frame() {
            return Some((frame, &self.game));
        }
        self.snapshots.get(frame).map(|game| (frame, game))
    }
}

/// An honest peer sends only states it has decoded itself, and those encode to the same bytes
/// again. A state for a repair comes from a peer the others agree with.
fn decode<G: Game>(frame: Frame, state: &[u8], is_repair: bool) -> Option<Imported<G>> {
    let is_canonical = |game: &G| is_repair || encode_state(game) == state;
    let game = decode_state(state).ok().filter(is_canonical)?;
    Some(Imported { game, frame, bytes: state.to_vec() })
}

/// Whether an encoded state can be decoded, and is encoded to the same bytes again.
fn reads_back<G: Game>(written: &[u8]) -> bool {
    decode_state::<G>(written).is_ok_and(|again| encode_state(&again) == written)
}
