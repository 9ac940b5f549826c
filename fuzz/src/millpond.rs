//! Fuzz target of millpond: peers that play with a peer whose packets the fuzzer chooses.
//!
//! Called by `fuzz_targets/` and by the tests of millpond. Absent: the fuzzer's script (`pair.rs`).

use gaggle_kit::Micros;
use gaggle_replica::{Kinds, RemoteEvent, ReplicaConfig, Session};
use millpond::bots::Bot;
use millpond::net::{self, Mill};

use super::pair::{self, Part};

/// Name, which is also that of its corpus, and function over the fuzzer's bytes.
pub type Target = (&'static str, fn(&[u8]));

/// All fuzz targets of millpond.
pub const TARGETS: [Target; 1] = [("millpond_session", session)];

struct Rower {
    mill: Mill,
    bot: Bot,
}

impl Part for Rower {
    fn config() -> ReplicaConfig {
        net::config()
    }

    fn kinds() -> Kinds {
        net::kinds_with_input()
    }

    fn new(number: usize, session: &mut Session) -> Rower {
        let mut mill = Mill::new(3);
        if number == 0 {
            mill.found(session);
        }
        Rower { mill, bot: Bot::new(number, 5) }
    }

    fn frame(&mut self, now: Micros, session: &mut Session) {
        session.set_input(self.bot.play(self.mill.pond()));
        self.mill.step(session);
        session.tick_with(now, Some(self.mill.nearness()));
    }

    fn signal(&mut self, session: &Session, signal: &RemoteEvent) {
        self.mill.signal(session, signal);
    }

    fn expect_order(&self, _: &Session) {
        let pond = self.mill.pond();
        assert!(
            pond.floating.len() <= net::config().objects_max
                && pond.boats.iter().flatten().count() <= pond.boats.len()
        );
    }
}

/// Runs [`pair::session`] with millpond's world.
pub fn session(data: &[u8]) {
    pair::session::<Rower>(data);
}
