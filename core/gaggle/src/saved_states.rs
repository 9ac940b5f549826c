//! Saved states of a caller that keeps its own state: it fulfills a room's requests for any state
//! that can be saved, loaded and advanced.
//!
//! The caller of a [`RequestRoom`] has one. Absent: sessions, which match a state belongs to.

use gaggle_kit::{Frame, Input, StateHasher};
use gaggle_timeline::{Inputs, MatchStart, Request, STATE_BYTES_MAX, SimId, Snapshots, TimelineConfig};

use crate::platform::Platform;
use crate::room::RequestRoom;

/// State of which only one exists at a time, and that can be saved, loaded and advanced: the
/// components of an ECS, the memory of a script.
///
/// It must be as deterministic as a [`Game`](crate::Game): the same state and inputs give the same
/// state on every peer.
pub trait Simulate<I: Input> {
    /// A copy of the state. It should be cheap: most copies are never encoded.
    type Saved: Clone;

    /// Restarts with the state that the room was opened with, changed by the parameters all peers
    /// of a started match have in common: see [`Game::on_start`](crate::Game::on_start).
    fn start(&mut self, start: &MatchStart<'_>);

    /// Ticks once. Read every input through `inputs`.
    fn advance(&mut self, inputs: &Inputs<'_, I>);

    /// Copies the current state.
    fn save(&mut self) -> Self::Saved;

    /// Replaces the current state with a copy.
    fn load(&mut self, saved: &Self::Saved);

    /// Encodes a copy for other peers: equal states have equal bytes, at least one.
    fn encode(&self, saved: &Self::Saved) -> Vec<u8>;

    /// Decodes another peer's bytes, which may be anything: check before you allocate.
    fn decode(&self, bytes: &[u8]) -> Option<Self::Saved>;

    /// A hash of a whole copy, the same on every peer. Default: of its bytes, as peers with a
    /// [`Game`](crate::Game) of the same encoding compute it.
    fn hash(&self, saved: &Self::Saved) -> u64 {
        StateHasher::of(&self.encode(saved))
    }
}

/// Saved states of one match.
#[derive(Debug)]
struct Match<S> {
    snapshots: Snapshots<S>,
    /// Its current state, while another match's state is loaded.
    parked: Option<S>,
}

/// The saved states of a [`RequestRoom`]'s caller. It simulates a match being joined, and an audit,
/// on the one existing state, and then loads the live state again.
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
    /// The state of the audit, while another one is loaded.
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
    /// Saved states for a room whose engine has these settings. The state loaded now belongs to the
    /// live match.
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

    /// Fulfills all requests of an update. Afterwards the state of the live match is loaded.
    pub fn run<I: Input, P: Platform>(
        &mut self,
        room: &mut RequestRoom<I, P>,
        state: &mut impl Simulate<I, Saved = S>,
    ) {
        while let Some(request) = room.poll_request() {
            self.fulfill(request, state);
        }
        self.load_live(state);
    }

    /// As [`run`](SavedStates::run), with an input made for each tick and local player, counted
    /// from 0, from the state before it: for bots, assisted aim, gestures.
    pub fn run_with<I: Input, P: Platform, T: Simulate<I, Saved = S>>(
        &mut self,
        room: &mut RequestRoom<I, P>,
        state: &mut T,
        mut input: impl FnMut(&T, usize) -> I,
    ) {
        loop {
            // Only before a tick: a match that is being joined catches up without.
            if room.has_tick_due() {
                self.load_live(state);
            }
            let request = room.poll_request_with(|context| input(state, context.player));
            let Some(request) = request else { break };
            self.fulfill(request, state);
        }
        self.load_live(state);
    }

    /// Fulfills one request. Call [`load_live`](SavedStates::load_live) after the last of an
    /// update.
    pub fn fulfill<I: Input>(&mut self, request: Request<'_, I>, state: &mut impl Simulate<I, Saved = S>) {
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
                // An honest peer's bytes are the same when they are encoded again.
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
            // Requests added by a later version are for callers that know them.
            _ => {}
        }
    }

    /// Loads the state of the live match, if another simulation's state is loaded.
    pub fn load_live<I: Input>(&mut self, state: &mut impl Simulate<I, Saved = S>) {
        self.switch(SimId::Live, state);
    }

    /// A state of the live match that was saved under this number and is still held. For results
    /// use [`confirmed_state_frame`](gaggle_timeline::Session::confirmed_state_frame); if that is
    /// the current frame, its state is the loaded one.
    pub fn saved(&self, frame: Frame) -> Option<&S> {
        self.live.snapshots.get(frame)
    }

    fn of(&mut self, sim: SimId) -> &mut Match<S> {
        match sim {
            SimId::Joining => &mut self.joining,
            _ => &mut self.live,
        }
    }

    /// Drops all saved states of a match; `parked`, if given, is its next one.
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

    /// Loads the parked state of the simulation that is to be loaded.
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

/// Encodes a state if other peers can decode it: otherwise they would take it for a violation. A
/// state that is too large is only measured.
fn export<I: Input, S: Clone>(saved: &S, out: &mut Vec<u8>, state: &impl Simulate<I, Saved = S>) {
    let written = state.encode(saved);
    let reads_back =
        |written: &[u8]| state.decode(written).is_some_and(|again| state.encode(&again) == written);
    if written.len() as u64 > STATE_BYTES_MAX || reads_back(&written) {
        *out = written;
    }
}
