//! A peer with another build of the game that keeps trying to join and must be rejected by all.
//!
//! Called by `company.rs`. Absent: the match, on which it must have no effect.

use gaggle_kit::{Micros, PeerId, Prng};
use gaggle_link::sim::{NetChange, SimNet};
use gaggle_link::{Endpoint, LinkConfig};
use gaggle_timeline::{
    Driver, Incarnation, RejectReason, Session, SessionEvent, TickClock, Timeline, TimelineConfig,
};

use super::broth::{MixGame, Press};

/// Time after which it restarts and tries again.
const KNOCK_INTERVAL: Micros = Micros::from_secs(7);

/// Peer with another build of the game.
pub(super) struct Stranger {
    /// Index of the machine on the network.
    index: usize,
    rng: Prng,
    knocks: Option<Knocks>,
    next_knock: Micros,
    /// Rejections so far.
    pub(super) refused: u64,
}

/// One attempt to join, at all running peers.
struct Knocks {
    timeline: Timeline<MixGame>,
    exchange: Driver,
    link: Endpoint<gaggle_link::sim::SimCarrier>,
    pace: TickClock,
}

impl Stranger {
    pub(super) fn new(index: usize, seed: u64) -> Stranger {
        let next_knock = KNOCK_INTERVAL;
        Stranger { index, rng: Prng::stream(seed, 5), knocks: None, next_knock, refused: 0 }
    }

    pub(super) fn id(&self, net: &SimNet) -> PeerId {
        net.id(self.index)
    }

    /// Runs the ticks that are due. `on` has the running peers.
    pub(super) fn step(&mut self, net: &SimNet, config: &TimelineConfig, on: &[usize]) -> Result<(), String> {
        if net.now() >= self.next_knock {
            self.next_knock = net.now() + KNOCK_INTERVAL;
            self.knock(net, config, on);
        }
        let Some(knocks) = &mut self.knocks else { return Ok(()) };
        let now = net.local_now(self.index);
        let due = knocks.pace.ticks_due(now, knocks.timeline.session().speed_ppm());
        for _ in 0..due {
            knocks.exchange.receive(now, &mut knocks.link, knocks.timeline.session_mut());
            knocks.timeline.tick(now);
            knocks.exchange.send(now, &mut knocks.link, knocks.timeline.session_mut());
        }
        while let Some(event) = knocks.timeline.session_mut().poll_event() {
            match event {
                SessionEvent::Rejected { reason: RejectReason::Shape { .. }, .. } => self.refused += 1,
                SessionEvent::Synchronizing { .. } => {}
                other => return Err(format!("a peer with another build got {other:?}")),
            }
        }
        let is_in = knocks.timeline.session().is_running();
        if is_in { Err("a peer with another build is in the match".to_owned()) } else { Ok(()) }
    }

    fn knock(&mut self, net: &SimNet, config: &TimelineConfig, on: &[usize]) {
        let name = Incarnation(self.rng.next_u32());
        let session: Session<Press> =
            Session::join(config.clone(), net.id(self.index), 1, name).expect("valid settings");
        let mut timeline = Timeline::new(session, MixGame::of(64));
        timeline.session_mut().set_shape(7);
        let now = net.local_now(self.index);
        let carrier = net.restarted_carrier(self.index);
        let link = Endpoint::new(carrier, LinkConfig::default(), self.rng.next_u64());
        let pace = TickClock::new(config.tick_rate, now);
        self.knocks = Some(Knocks { timeline, exchange: Driver::default(), link, pace });
        for other in on {
            net.apply(&NetChange::Disconnect(*other, self.index));
            net.apply(&NetChange::Connect(*other, self.index));
        }
    }
}
