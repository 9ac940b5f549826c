//! Fuzz target of drake: peers that play with a peer whose packets the fuzzer chooses.
//!
//! Called by `fuzz_targets/` and by the tests of drake. Absent: the fuzzer's script (`pair.rs`).

use drake::bots::{Bot, Strength};
use drake::net::{self, Coop};
use drake::{SEATS, Setup, Standing};
use gaggle_kit::Micros;
use gaggle_replica::{Kinds, RemoteEvent, ReplicaConfig, Session};

use super::pair::{self, Part};

/// Name, which is also that of its corpus, and function over the fuzzer's bytes.
pub type Target = (&'static str, fn(&[u8]));

/// All fuzz targets of drake.
pub const TARGETS: [Target; 1] = [("drake_session", session)];

struct Brawler {
    coop: Coop,
    bot: Bot,
}

impl Part for Brawler {
    fn config() -> ReplicaConfig {
        net::config()
    }

    fn kinds() -> Kinds {
        net::kinds_with_input()
    }

    fn new(number: usize, _: &mut Session) -> Brawler {
        Brawler { coop: Coop::new(Setup::default(), 3), bot: Bot::new(number, Strength::Sharp, 5) }
    }

    fn frame(&mut self, now: Micros, session: &mut Session) {
        session.set_input(self.bot.play(self.coop.game()));
        self.coop.step(session);
        session.tick(now);
    }

    fn signal(&mut self, session: &Session, signal: &RemoteEvent) {
        self.coop.signal(session, signal);
    }

    fn expect_order(&self, session: &Session) {
        let game = self.coop.game();
        assert!(
            game.seats.iter().all(|seat| seat.wins <= game.setup.wins),
            "no player has more wins than a match allows"
        );
        assert_eq!(
            session.iter_authoritative::<Standing>().count(),
            SEATS,
            "every standing is the referee's"
        );
    }
}

/// Runs [`pair::session`] with drake's world.
pub fn session(data: &[u8]) {
    pair::session::<Brawler>(data);
}
