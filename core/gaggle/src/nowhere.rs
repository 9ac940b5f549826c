//! A world without a network: for playing alone, and for trying a game out.

use gaggle_kit::{Micros, PeerId};
use gaggle_link::{Busy, Carrier, CarrierEvent, Link, LinkStats, Path};

use crate::outside::{LinksSetup, LobbyNews, Outside};

/// No server, no links. A [`Room`](crate::Room) in it plays alone.
///
/// ```
/// use gaggle::{Game, Inputs, Micros, Nowhere, Room, RoomConfig, Slot, State};
///
/// #[derive(Clone, State)]
/// struct Counter { presses: u32 }
///
/// impl Game for Counter {
///     type Input = u8;
///     fn tick(&mut self, inputs: &Inputs<'_, u8>) {
///         self.presses += u32::from(inputs.get(Slot::at(0)));
///     }
/// }
///
/// let config = RoomConfig::new("counter", 2)?;
/// let mut room = Room::open(Micros::ZERO, config, Nowhere::default(), Counter { presses: 0 }, 7)?;
/// room.set_input(0, 1);
/// for frame in 1..=60 {
///     room.update(Micros::from_millis(frame * 17));
/// }
/// assert!(room.game().presses > 50);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug, Default)]
pub struct Nowhere {
    asked: bool,
}

/// Carries nothing to nobody.
#[derive(Debug)]
pub struct Silence(PeerId);

impl Carrier for Silence {
    fn local_id(&self) -> PeerId {
        self.0
    }

    fn send(&mut self, _now: Micros, _to: PeerId, _datagram: &[u8]) -> Result<(), Busy> {
        Ok(())
    }

    fn poll(&mut self, _now: Micros, _datagram: &mut Vec<u8>) -> Option<CarrierEvent> {
        None
    }

    fn poll_timeout(&self) -> Micros {
        Micros::MAX
    }

    fn close(&mut self, _now: Micros, _peer: PeerId) {}
}

impl Outside for Nowhere {
    type Links = Link<Silence>;

    fn open_lobby(&mut self, _now: Micros) {
        self.asked = true;
    }

    fn send_lobby(&mut self, _now: Micros, _text: &str) {}

    fn close_lobby(&mut self, _now: Micros) {}

    fn poll_lobby(&mut self, _now: Micros) -> Option<LobbyNews> {
        std::mem::take(&mut self.asked).then_some(LobbyNews::Closed)
    }

    fn open_links(&mut self, _now: Micros, _setup: &LinksSetup<'_>) {}

    fn links(&mut self) -> Option<&mut Link<Silence>> {
        None
    }

    fn close_links(&mut self, _now: Micros) {}

    fn connect(&mut self, _now: Micros, _peer: PeerId) {}

    fn handle_signal(&mut self, _now: Micros, _from: PeerId, _text: &str) {}

    fn next_signal(&mut self) -> Option<(PeerId, String)> {
        None
    }

    fn path(&self, _peer: PeerId) -> Option<Path> {
        None
    }

    fn link_stats(&self, _peer: PeerId) -> Option<LinkStats> {
        None
    }
}
