//! Methods of every cabinet's room beyond [`AnyRoom`]. `Arcade` calls them. Absent: rules of games.

use gaggle::{AnyRoom, Game, GameRoom, HostCommand, PeerId, Platform, Slot, SlowPolicy, World, WorldRoom};

/// Engine figures for the overlay.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum EngineReport {
    /// Timeline engine: predictions and resimulated frames.
    Timeline {
        /// Frame shown now.
        frame: u32,
        /// Prediction window in frames.
        window: u32,
        /// Input delay in frames.
        input_delay: u32,
        /// Frames that were simulated with predicted inputs.
        guessed: u32,
        /// Number of rollbacks.
        rollbacks: u64,
        /// Depth of the last rollback.
        depth_last: u32,
        /// Resimulated frames in all.
        again: u64,
        /// Ticks stalled so far.
        stalled: u64,
        /// Identity of the branch.
        history: u64,
        /// Hashes of settled states.
        marks: Vec<(u32, u64)>,
    },
    /// Replica engine: figures for the overlay.
    Shared {
        /// Steps so far.
        frame: u32,
        /// Labels and figures, at most six lines.
        lines: Vec<(&'static str, String)>,
    },
}

/// A room of a cabinet.
pub trait CabinetRoom: AnyRoom {
    /// The slot of a peer that is in the match or was.
    fn seat_of(&self, peer: PeerId) -> Option<usize>;
    /// Whether other peers are in the match.
    fn has_company(&self) -> bool;
    /// Whether states were compared with those of all others in the match. Never for replicated
    /// objects.
    fn is_compared(&self) -> bool {
        false
    }
    /// Engine figures for the overlay.
    fn report(&self) -> EngineReport;
}

/// What the arcade needs of a room whose host starts the matches. Only cabinets of such games offer
/// it, so that pages of others have none of it.
pub trait HostedRoom: CabinetRoom {
    /// Says whether the local players are ready.
    fn set_ready(&mut self, ready: bool);
    /// Executes a command of the host; nothing if this peer is not the host.
    fn command(&mut self, command: HostCommand);
    /// Sets what happens to slow players.
    fn set_slow_policy(&mut self, policy: SlowPolicy);
    /// Fixes the input delay in frames, or lets it adapt. False if the game does not permit it.
    fn set_input_delay(&mut self, frames: Option<u32>) -> bool;
}

impl<G: Game + Clone, P: Platform> HostedRoom for GameRoom<G, P> {
    fn set_ready(&mut self, ready: bool) {
        GameRoom::set_ready(self, ready);
    }

    fn command(&mut self, command: HostCommand) {
        // Another member may have become the host a moment ago.
        let _ = self.host_command(command);
    }

    fn set_slow_policy(&mut self, policy: SlowPolicy) {
        // Rooms of these games permit every policy that their lobby offers.
        let _ = GameRoom::set_slow_policy(self, policy);
    }

    fn set_input_delay(&mut self, frames: Option<u32>) -> bool {
        GameRoom::set_input_delay(self, frames).is_ok()
    }
}

impl<G: Game + Clone, P: Platform> CabinetRoom for GameRoom<G, P> {
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

    fn report(&self) -> EngineReport {
        let (session, stats) = (self.session(), self.stats());
        let (current, confirmed) = (session.current_frame().number(), session.confirmed_frame().number());
        EngineReport::Timeline {
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
}

impl<W: World, P: Platform> CabinetRoom for WorldRoom<W, P> {
    fn seat_of(&self, peer: PeerId) -> Option<usize> {
        self.slot_of(peer).map(Slot::index)
    }

    fn has_company(&self) -> bool {
        self.session().roster().len() > 1
    }

    fn report(&self) -> EngineReport {
        let (session, stats) = (self.session(), self.stats());
        let host = match self.leader_slot() {
            Some(host) if host == self.local_slot() => "here".to_string(),
            Some(host) => format!("seat {}", host.number() + 1),
            None => "none".to_string(),
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
        // A later joiner counts from the beginning of the world, like the other peers.
        let frame = session.session_age().get() * u64::from(W::TICK_RATE) / 1_000_000;
        EngineReport::Shared { frame: u32::try_from(frame).unwrap_or(u32::MAX), lines }
    }
}
