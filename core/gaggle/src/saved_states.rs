//! States of a caller that keeps its own: fulfils the requests of a room for anything that can be
//! saved, loaded and advanced.
//!
//! The caller of a [`RequestRoom`] holds one. Absent: sessions, which match a state belongs to.

use gaggle_kit::{Frame, Input, StateHasher};
use gaggle_timeline::{Inputs, MatchStart, Request, STATE_BYTES_MAX, SimId, Snapshots, TimelineConfig};

use crate::platform::Platform;
use crate::room::RequestRoom;

/// State that can be saved, loaded and advanced, and of which there is one at a time: the
/// components of an ECS, the memory of a script.
///
/// It must be as deterministic as a [`Game`](crate::Game): the same state and inputs give the same
/// state on every peer.
pub trait Simulate<I: Input> {
    /// A copy of the state, the cheaper the better: most are never written as bytes.
    type Saved: Clone;

    /// Begins anew with the state that the room was opened with, changed by what all peers that
    /// start a match have in common: see [`Game::on_start`](crate::Game::on_start).
    fn start(&mut self, start: &MatchStart<'_>);

    /// Ticks once. Read every input through `inputs`.
    fn advance(&mut self, inputs: &Inputs<'_, I>);

    /// Copies the current state.
    fn save(&mut self) -> Self::Saved;

    /// Makes a copy the current state.
    fn load(&mut self, saved: &Self::Saved);

    /// Writes a copy for other peers: equal states have equal bytes, at least one.
    fn encode(&self, saved: &Self::Saved) -> Vec<u8>;

    /// Reads what another peer wrote. The bytes may be anything: check before you allocate.
    fn decode(&self, bytes: &[u8]) -> Option<Self::Saved>;

    /// A hash of all of a copy, the same on every peer. Default: of its bytes, as peers with a
    /// [`Game`](crate::Game) of the same encoding make it.
    fn hash(&self, saved: &Self::Saved) -> u64 {
        StateHasher::of(&self.encode(saved))
    }
}

/// Saved states of one match.
#[derive(Debug)]
struct Match<S> {
    snapshots: Snapshots<S>,
    /// Its current state, while that of another match is loaded.
    parked: Option<S>,
}

/// The saved states of a [`RequestRoom`]'s caller. It runs a match that is being joined, and an
/// audit, on the one state there is, and puts the live one back.
///
/// ```
/// # use gaggle::{Input, Micros, NoNetwork, RequestRoom, SavedStates, Simulate};
/// fn frame<I: Input, S: Simulate<I>>(
///     now: Micros,
///     room: &mut RequestRoom<I, NoNetwork>,
///     saved: &mut SavedStates<S::Saved>,
///     state: &mut S,
/// ) {
///     room.update(now);
///     saved.run(room, state);
/// }
/// ```
#[derive(Debug)]
pub struct SavedStates<S> {
    window_frames: u32,
    live: Match<S>,
    joining: Match<S>,
    /// The state of the audit, while another is loaded.
    audit: Option<S>,
    /// The simulation whose state is loaded.
    loaded: SimId,
}

impl<S> Match<S> {
    fn new(window_frames: u32) -> Match<S> {
        Match { snapshots: Snapshots::new(window_frames), parked: None }
    }
}

impl<S: Clone> SavedStates<S> {
    /// For a room whose engine has these settings. The live match has the state that is loaded now.
    pub fn new(config: &TimelineConfig) -> SavedStates<S> {
        let window_frames = config.prediction_frames_max();
        SavedStates {
            window_frames,
            live: Match::new(window_frames),
            joining: Match::new(window_frames),
            audit: None,
            loaded: SimId::Live,
        }
    }

    /// Fulfils all requests of an update. The state of the live match is loaded afterwards.
    pub fn run<I: Input, P: Platform>(
        &mut self,
        room: &mut RequestRoom<I, P>,
        state: &mut impl Simulate<I, Saved = S>,
    ) {
        while let Some(request) = room.poll_request() {
            self.fulfil(request, state);
        }
        self.load_live(state);
    }

    /// Fulfils one request. Call [`load_live`](SavedStates::load_live) after the last of an update.
    pub fn fulfil<I: Input>(&mut self, request: Request<'_, I>, state: &mut impl Simulate<I, Saved = S>) {
        match request {
            Request::Load { sim: SimId::Audit, frame } => {
                self.load_live(state);
                self.audit = self.live.snapshots.retained(frame).cloned();
            }
            Request::Hash { sim: SimId::Audit, hash, .. } => {
                let is_loaded = self.loaded == SimId::Audit;
                let current = is_loaded.then(|| state.save()).or_else(|| self.audit.clone());
                *hash = current.map(|current| state.hash(&current));
            }
            Request::Advance { sim: SimId::Audit, .. }
                if self.audit.is_none() && self.loaded != SimId::Audit => {}
            Request::Advance { sim, inputs } => {
                self.switch(sim, state);
                state.advance(&inputs);
            }
            Request::Save { sim, frame } => {
                self.switch(sim, state);
                let saved = state.save();
                self.of(sim).snapshots.put(frame, saved);
            }
            Request::Load { sim, frame } => {
                self.switch(sim, state);
                let saved = self.of(sim).snapshots.get(frame);
                state.load(saved.expect("a session loads what it had saved within its window"));
            }
            Request::Hash { sim, frame, hash } => {
                *hash = self.of(sim).snapshots.get(frame).map(|saved| state.hash(saved));
            }
            Request::Retain { sim, frame, forget_before } => {
                self.of(sim).snapshots.retain_clone(frame, forget_before);
            }
            Request::Export { sim, frame, state: out } => {
                if let Some(saved) = self.of(sim).snapshots.get(frame) {
                    export(saved, out, state);
                }
            }
            Request::Import { sim, state: bytes, is_repair, accepted, .. } => {
                // What an honest peer writes is the same when it is written again.
                let is_canonical = |saved: &S| is_repair || state.encode(saved) == bytes;
                let Some(saved) = state.decode(bytes).filter(is_canonical) else { return };
                *accepted = true;
                self.load_live(state);
                self.begin(sim, Some(saved));
                if sim == SimId::Live {
                    self.unpark(state);
                }
            }
            Request::Renumber { sim } => {
                self.load_live(state);
                self.begin(sim, None);
            }
            Request::Start { sim, start } => {
                self.load_live(state);
                self.begin(sim, None);
                self.switch(sim, state);
                state.start(&start);
            }
            Request::Show { sim } => {
                self.switch(sim, state);
                let empty = Match::new(self.window_frames);
                self.live = std::mem::replace(self.of(sim), empty);
                self.loaded = SimId::Live;
                self.audit = None;
            }
            Request::Discard { sim } => {
                self.load_live(state);
                self.begin(sim, None);
            }
            // Requests that a later version adds are for callers that look after them.
            _ => {}
        }
    }

    /// Loads the state of the live match, if that of another simulation is loaded.
    pub fn load_live<I: Input>(&mut self, state: &mut impl Simulate<I, Saved = S>) {
        self.switch(SimId::Live, state);
    }

    /// A state of the live match that was saved under this number and is still held. For results
    /// ask for that of
    /// [`confirmed_state_frame`](gaggle_timeline::Session::confirmed_state_frame); if this is the
    /// current frame, it is the loaded state.
    pub fn saved(&self, frame: Frame) -> Option<&S> {
        self.live.snapshots.get(frame)
    }

    fn of(&mut self, sim: SimId) -> &mut Match<S> {
        match sim {
            SimId::Joining => &mut self.joining,
            _ => &mut self.live,
        }
    }

    /// All saved states of a match are void; its next one is this, if any.
    fn begin(&mut self, sim: SimId, parked: Option<S>) {
        if sim == SimId::Live {
            self.audit = None;
        }
        let saved = self.of(sim);
        saved.snapshots.clear();
        saved.parked = parked;
    }

    fn switch<I: Input>(&mut self, to: SimId, state: &mut impl Simulate<I, Saved = S>) {
        if self.loaded == to {
            return;
        }
        let current = Some(state.save());
        match self.loaded {
            SimId::Audit => self.audit = current,
            from => self.of(from).parked = current,
        }
        self.loaded = to;
        self.unpark(state);
    }

    /// Loads what is parked for the simulation that is to be loaded.
    fn unpark<I: Input>(&mut self, state: &mut impl Simulate<I, Saved = S>) {
        let parked = match self.loaded {
            SimId::Audit => self.audit.take(),
            sim => self.of(sim).parked.take(),
        };
        if let Some(parked) = parked {
            state.load(&parked);
        }
    }
}

/// Writes a state if other peers can read it: they would take another for a fault of this one. A
/// state that is too large is only measured.
fn export<I: Input, S: Clone>(saved: &S, out: &mut Vec<u8>, state: &impl Simulate<I, Saved = S>) {
    let written = state.encode(saved);
    let reads_back =
        |written: &[u8]| state.decode(written).is_some_and(|again| state.encode(&again) == written);
    if written.len() as u64 > STATE_BYTES_MAX || reads_back(&written) {
        *out = written;
    }
}
