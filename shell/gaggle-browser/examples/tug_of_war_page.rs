//! Tug of war in a page, playable with other pages and terminals:
//!
//! ```text
//! cargo run -p gaggle-web -- example gaggle-browser tug_of_war_page target/page/tug_of_war
//! cargo run -p gaggle-server -- --files target/page/tug_of_war
//! cargo run -p gaggle-native --example tug_of_war
//! ```
//!
//! The space bar pulls. `shell/gaggle-browser/tests/tug_of_war_in_chromium.rs` plays it.

#[path = "../../gaggle-native/examples/tug_of_war/game.rs"]
mod game;

use gaggle::RoomConfig;
use gaggle_browser::{Canvas, GameRoom, run_page};

use game::TugOfWar;

fn draw(room: &mut GameRoom<TugOfWar>, picture: &Canvas) {
    picture.fill_rect("tan", 15, 178, 610, 4);
    picture.fill_rect("white", 319, 160, 2, 40);
    picture.fill_rect("salmon", 315 + room.game().rope / 2, 170, 10, 20);
}

fn main() {
    let config = RoomConfig::new("tug-of-war", 2).expect("a name of small letters").version("1");
    run_page(config, TugOfWar::default(), |keys| keys.is_down("Space"), draw);
}
