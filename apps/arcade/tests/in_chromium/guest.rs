//! Native peer in the room of a page, played by a bot in a thread of its own.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use arcade::cabinets::drake::Brawl;
use arcade::cabinets::millpond::Shore;
use gaggle::{JoinTarget, World, WorldConfig, WorldRoom};
use gaggle_native::{Clock, platform, random_seed};

/// The peer. It leaves the room when dropped.
pub(crate) struct Guest {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Guest {
    /// Joins a room of drake.
    pub(crate) fn brawler(server: &str, code: &str) -> Guest {
        Guest::come(server, code, Brawl::room(), |seed| {
            let mut bot = (usize::MAX, drake::bots::Bot::new(0, drake::bots::Strength::Steady, seed));
            let play = move |world: &Brawl, seat| {
                if bot.0 != seat {
                    bot = (seat, drake::bots::Bot::new(seat, drake::bots::Strength::Steady, seed));
                }
                bot.1.play(world.0.game())
            };
            (Brawl(drake::net::Coop::new(drake::Setup::default(), seed)), play)
        })
    }

    /// Joins a room of millpond.
    pub(crate) fn rower(server: &str, code: &str) -> Guest {
        Guest::come(server, code, Shore::room(), |seed| {
            let mut bot = (usize::MAX, millpond::bots::Bot::new(0, seed));
            let play = move |world: &Shore, seat| {
                if bot.0 != seat {
                    bot = (seat, millpond::bots::Bot::new(seat, seed));
                }
                bot.1.play(world.0.pond())
            };
            (Shore(millpond::net::Mill::new(seed)), play)
        })
    }

    fn come<W: World, P: FnMut(&W, usize) -> W::Input>(
        server: &str,
        code: &str,
        mut config: WorldConfig,
        make: impl FnOnce(u64) -> (W, P) + Send + 'static,
    ) -> Guest {
        config.join = JoinTarget::Code(code.parse().unwrap());
        let stop = Arc::new(AtomicBool::new(false));
        let (server, stopped) = (server.to_string(), Arc::clone(&stop));
        let thread = std::thread::spawn(move || {
            let (clock, seed) = (Clock::start(), random_seed().unwrap());
            let outside = platform(&server).unwrap();
            let (world, mut play) = make(seed);
            let mut room = WorldRoom::open(clock.now(), config, outside, world, seed).unwrap();
            while !stopped.load(Ordering::Relaxed) {
                let input = play(room.world(), room.local_slot().index());
                room.set_input(0, input);
                room.update(clock.now());
                while room.poll_event().is_some() {}
                std::thread::sleep(Duration::from_millis(6));
            }
            room.leave();
            room.update(clock.now());
        });
        Guest { stop, thread: Some(thread) }
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        let _ = self.thread.take().map(JoinHandle::join);
    }
}
