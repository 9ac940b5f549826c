//! A network in virtual time, with a lobby: rooms of several peers in one process.
//!
//! `js/simulate.js` plays whole matches on it. Absent: inputs, what is tested.

use gaggle::Micros;
use gaggle::testing::SimLobby;
use wasm_bindgen::prelude::*;

use crate::room::Room;
use crate::script::Driver;
use crate::settings::{Settings, conditions};

/// Peers numbered from 0, a lobby, and the links between them.
#[wasm_bindgen]
#[derive(Debug)]
pub struct Network {
    net: SimLobby,
}

fn millis(time: Micros) -> f64 {
    time.get() as f64 / 1_000.0
}

#[wasm_bindgen]
impl Network {
    /// A network of this many peers. `query` says how bad it is, as in the address of a page.
    ///
    /// # Errors
    /// In words, if a condition is out of range.
    #[wasm_bindgen(constructor)]
    pub fn new(peers: usize, seed: u32, query: &str) -> Result<Network, String> {
        Ok(Network { net: SimLobby::new(peers, seed.into(), conditions(query)?) })
    }

    /// Opens the room of a peer.
    ///
    /// # Errors
    /// In words, if a setting is out of its range.
    pub fn open(
        &self,
        peer: usize,
        texts: Vec<String>,
        numbers: Vec<u32>,
        driver: Driver,
    ) -> Result<Room, String> {
        let settings = Settings::new(texts, numbers);
        Room::create(millis(self.net.now()), &settings, self.net.platform(peer), driver)
    }

    /// Advances by one displayed frame. Returns the time in milliseconds.
    pub fn advance(&mut self) -> f64 {
        millis(self.net.advance())
    }

    /// Drops the room of a peer as a crash does.
    pub fn crash(&mut self, peer: usize, room: Room) {
        self.net.crash(peer, room);
    }

    /// Changes the conditions between all peers.
    ///
    /// # Errors
    /// In words, if one is out of range.
    #[wasm_bindgen(js_name = setConditions)]
    pub fn set_conditions(&mut self, query: &str) -> Result<(), String> {
        self.net.set_conditions(conditions(query)?);
        Ok(())
    }

    /// Stops the lobby, or starts it again without its state.
    #[wasm_bindgen(js_name = setServerUp)]
    pub fn set_server_up(&mut self, up: bool) {
        self.net.set_lobby_up(up);
    }
}
