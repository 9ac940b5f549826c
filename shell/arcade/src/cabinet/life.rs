//! Being online, whatever kind of room a game is played in.

use gaggle::link::SendError;
use gaggle::lobby::Label;
use gaggle::lobby::client::Client;
use gaggle::replica::Player;
use gaggle::{
    Game, JoinTarget, Member, PeerId, Phase, Platform, Room, RoomEvent, Slot, SlotSet, Stall, World,
    WorldRoom,
};

/// What a game's engine has to say about itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Engine {
    /// Everybody simulates everything: guesses, and frames that were simulated again.
    Timeline {
        /// The frame the game is at.
        frame: u32,
        /// How many frames may be simulated again.
        window: u32,
        /// Frames between a key and its effect.
        input_delay: u32,
        /// Frames that were simulated with guessed inputs.
        guessed: u32,
        /// How often frames were simulated again.
        rollbacks: u64,
        /// How many the last time.
        depth_last: u32,
        /// How many in all.
        again: u64,
        /// Ticks in which the game stood still.
        stalled: u64,
        /// A hash of who was there when.
        history: u64,
        /// Hashes of final states.
        marks: Vec<(u32, u64)>,
    },
    /// Objects are shared: whatever is worth a line in the overlay.
    Shared {
        /// Steps so far.
        frame: u32,
        /// What, and how much: at most six lines.
        lines: Vec<(&'static str, String)>,
    },
}

/// The part of a room that has nothing to do with what is played in it.
pub trait Life {
    /// Where we are.
    fn phase(&self) -> Phase;
    /// Which room we want to be in.
    fn wish(&self) -> JoinTarget;
    /// Seats played at this machine.
    fn local_slots(&self) -> SlotSet;
    /// Which build peers must have in common, as the lobby calls it.
    fn build_id(&self) -> Label;
    /// The seat of somebody who is in the match or was.
    fn seat_of(&self, peer: PeerId) -> Option<usize>;
    /// Others are in the match.
    fn has_company(&self) -> bool;
    /// Whether states were compared with those of all others in the match. Where objects are shared they never are.
    fn is_compared(&self) -> bool {
        false
    }
    /// What the engine says.
    fn engine(&self) -> Engine;
    /// Everybody in the room.
    fn members(&mut self) -> Vec<Member>;
    /// The lobby, unless we are offline.
    fn lobby_client(&mut self) -> Option<&mut Client>;
    /// What happened next.
    fn poll_event(&mut self) -> Option<RoomEvent>;
    /// Sends something beside the match to all others.
    ///
    /// # Errors
    /// If a peer does not keep up.
    fn send_message(&mut self, bytes: &[u8]) -> Result<(), SendError>;
    /// What a peer sent next beside the match.
    fn poll_message(&mut self) -> Option<(PeerId, Vec<u8>)>;
    /// Looks for others while the game goes on.
    fn join(&mut self, wish: JoinTarget);
    /// Leaves the room and goes on alone.
    fn leave(&mut self);
    /// The page is closed, or loaded again.
    fn close(&mut self);
    /// Nobody looks for a while.
    fn suspend(&mut self);
    /// Somebody looks again.
    fn resume(&mut self);
    /// Whom the game waits for, while it stands still. Where objects are shared it never does.
    fn stall(&self) -> Option<Stall> {
        None
    }
    /// Takes the seat over from another tab.
    fn take_over(&mut self);
    /// What we are called.
    fn set_name(&mut self, name: &str);
    /// Which mode the next match is of.
    fn set_mode(&mut self, mode: Label);
    /// Which colours to ask for in the next match.
    fn set_preferred_slot(&mut self, palette: u8);
    /// Another match begins in the same room.
    fn start_round(&mut self);
    /// Our points so far, and how far we came.
    fn set_score(&mut self, points: i64, level: u32);
}

impl<G: Game + Clone, P: Platform> Life for Room<G, P> {
    fn phase(&self) -> Phase {
        Room::phase(self)
    }

    fn wish(&self) -> JoinTarget {
        self.config().join.clone()
    }

    fn local_slots(&self) -> SlotSet {
        Room::local_slots(self)
    }

    fn build_id(&self) -> Label {
        Room::build_id(self).clone()
    }

    fn seat_of(&self, peer: PeerId) -> Option<usize> {
        let mut rows = self.session().roster().iter().filter(|row| row.stream.peer == peer);
        rows.next().and_then(|row| row.slots.lowest()).map(Slot::index)
    }

    fn has_company(&self) -> bool {
        self.session().roster().iter().filter(|row| row.is_active()).count() > 1
    }

    fn is_compared(&self) -> bool {
        self.session().is_compared()
    }

    fn engine(&self) -> Engine {
        let (session, stats) = (self.session(), self.stats());
        let (current, confirmed) = (session.current_frame().number(), session.confirmed_frame().number());
        Engine::Timeline {
            frame: current,
            window: session.config().prediction_frames(),
            input_delay: stats.input_delay_frames,
            guessed: current.saturating_sub(confirmed),
            rollbacks: stats.rollbacks,
            depth_last: stats.rollback_frames_last,
            again: stats.frames_resimulated,
            stalled: stats.stalled_ticks,
            history: session.branch_id(),
            marks: self.checksums().into_iter().map(|(frame, hash)| (frame.number(), hash)).collect(),
        }
    }

    fn members(&mut self) -> Vec<Member> {
        Room::members(self)
    }

    fn lobby_client(&mut self) -> Option<&mut Client> {
        Room::lobby_client(self)
    }

    fn poll_event(&mut self) -> Option<RoomEvent> {
        Room::poll_event(self)
    }

    fn send_message(&mut self, bytes: &[u8]) -> Result<(), SendError> {
        Room::send_message(self, None, bytes)
    }

    fn poll_message(&mut self) -> Option<(PeerId, Vec<u8>)> {
        Room::poll_message(self)
    }

    fn join(&mut self, wish: JoinTarget) {
        Room::join(self, wish);
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

    fn stall(&self) -> Option<Stall> {
        Room::stall(self)
    }

    fn take_over(&mut self) {
        Room::take_over(self);
    }

    fn set_name(&mut self, name: &str) {
        Room::set_name(self, name);
    }

    fn set_mode(&mut self, mode: Label) {
        Room::set_mode(self, mode);
    }

    fn set_preferred_slot(&mut self, palette: u8) {
        Room::set_preferred_slot(self, Some(palette));
    }

    fn start_round(&mut self) {
        Room::start_round(self);
    }

    fn set_score(&mut self, points: i64, level: u32) {
        Room::set_score(self, points, Some(level));
    }
}

impl<W: World, P: Platform> Life for WorldRoom<W, P> {
    fn phase(&self) -> Phase {
        WorldRoom::phase(self)
    }

    fn wish(&self) -> JoinTarget {
        self.config().join.clone()
    }

    fn local_slots(&self) -> SlotSet {
        let plays = !self.session().is_spectator();
        slot_of(self.local_slot()).filter(|_| plays).map_or(SlotSet::EMPTY, SlotSet::of)
    }

    fn build_id(&self) -> Label {
        WorldRoom::build_id(self)
    }

    fn seat_of(&self, peer: PeerId) -> Option<usize> {
        self.slot_of(peer).and_then(slot_of).map(Slot::index)
    }

    fn has_company(&self) -> bool {
        self.session().roster().len() > 1
    }

    fn engine(&self) -> Engine {
        let (session, stats) = (self.session(), self.stats());
        let host = match self.leader() {
            Some(host) if host == self.local_slot() => "here".to_string(),
            Some(host) => format!("seat {}", u16::from(host.number()) + 1),
            None => "nobody".to_string(),
        };
        let mut ages: Vec<u64> = session.update_ages().map(|age| age.as_millis()).collect();
        ages.sort_unstable();
        let age_of =
            |percent: usize| ages.get((ages.len() * percent / 100).min(ages.len().saturating_sub(1)));
        let age = age_of(50).zip(age_of(95));
        let age = age.map_or("nothing moves".to_string(), |(half, most)| format!("{half} ms, 95% {most}"));
        let lines = vec![
            ("host", host),
            ("age", age),
            ("updates", format!("{} out, {} in", stats.updates_sent, stats.updates_received)),
            ("budget", format!("{} kB/s each", session.config().bytes_per_second / 1_000)),
            ("claims", format!("{}, {} inherited", stats.claims, stats.inherited)),
            ("refused", stats.records_rejected.to_string()),
        ];
        // A machine that came later counts from when the world began, as the others do.
        let frame = session.session_age().get() * u64::from(W::TICK_RATE) / 1_000_000;
        Engine::Shared { frame: u32::try_from(frame).unwrap_or(u32::MAX), lines }
    }

    fn members(&mut self) -> Vec<Member> {
        WorldRoom::members(self)
    }

    fn lobby_client(&mut self) -> Option<&mut Client> {
        WorldRoom::lobby_client(self)
    }

    fn poll_event(&mut self) -> Option<RoomEvent> {
        WorldRoom::poll_event(self)
    }

    fn send_message(&mut self, bytes: &[u8]) -> Result<(), SendError> {
        WorldRoom::send_message(self, None, bytes)
    }

    fn poll_message(&mut self) -> Option<(PeerId, Vec<u8>)> {
        WorldRoom::poll_message(self)
    }

    fn join(&mut self, wish: JoinTarget) {
        WorldRoom::join(self, wish);
    }

    fn leave(&mut self) {
        WorldRoom::leave(self);
    }

    fn close(&mut self) {
        WorldRoom::close(self);
    }

    fn suspend(&mut self) {
        WorldRoom::suspend(self);
    }

    fn resume(&mut self) {
        WorldRoom::resume(self);
    }

    fn take_over(&mut self) {
        WorldRoom::take_over(self);
    }

    fn set_name(&mut self, name: &str) {
        WorldRoom::set_name(self, name);
    }

    fn set_mode(&mut self, mode: Label) {
        WorldRoom::set_mode(self, mode);
    }

    fn set_preferred_slot(&mut self, palette: u8) {
        WorldRoom::set_preferred_slot(self, Some(palette));
    }

    fn start_round(&mut self) {
        WorldRoom::start_round(self);
    }

    fn set_score(&mut self, points: i64, level: u32) {
        WorldRoom::set_score(self, points, Some(level));
    }
}

/// Players sit in chairs of their number.
fn slot_of(player: Player) -> Option<Slot> {
    Slot::new(player.number())
}
