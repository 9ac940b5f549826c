//! A room inside Bevy: systems give it keys and time and move entities to match its game. Nothing
//! is read back from entities, because the room's state is what is rolled back. Absent:
//! network and ticks, which are the room's.
//!
//! In a game, with all of Bevy and `gaggle-native`:
//!
//! ```text
//! let config = RoomConfig::new("rink", 4)?.version("1");
//! let platform = gaggle_native::platform("ws://127.0.0.1:8080")?;
//! let seed = gaggle_native::random_seed()?;
//! let room = GameRoom::open(Micros::ZERO, config, platform, Rink::default(), seed)?;
//! skate_in(App::new().add_plugins(DefaultPlugins), room).run();
//! ```

use bevy::prelude::*;
use bevy::time::Real;
use gaggle::{Game, GameRoom, Input, Inputs, Micros, Platform, Slot, State};

/// Buttons that a player holds.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Input)]
pub struct Pad {
    /// Skate to the left.
    pub left: bool,
    /// Skate to the right.
    pub right: bool,
}

/// Four geese on ice, in whole numbers, so that all peers compute the same.
#[derive(Clone, Debug, Default, State)]
pub struct Rink {
    /// Column of each goose.
    pub x: [i32; 4],
    /// By slot: whether a player plays the goose.
    pub here: [bool; 4],
}

impl Game for Rink {
    type Input = Pad;

    fn tick(&mut self, inputs: &Inputs<'_, Pad>) {
        for nth in 0..4 {
            let pad = inputs.get(Slot::at(nth));
            self.here[nth] = inputs.is_present(Slot::at(nth));
            self.x[nth] += 3 * (i32::from(pad.right) - i32::from(pad.left));
        }
    }
}

/// An entity that shows the goose of this slot.
#[derive(Component, Debug, PartialEq, Eq)]
pub struct Shows(pub usize);

/// Adds a room to an app. Not a plugin: those must be `Send` and `Sync`, which a room is not.
pub fn skate_in<P: Platform + 'static>(app: &mut App, room: GameRoom<Rink, P>) -> &mut App {
    app.insert_non_send(room).add_systems(Update, (play::<P>, say::<P>, show::<P>).chain())
}

/// Runs once per displayed frame: the room knows how many ticks are due, so `FixedUpdate` is not
/// needed.
fn play<P: Platform + 'static>(
    mut room: NonSendMut<GameRoom<Rink, P>>,
    keys: Option<Res<ButtonInput<KeyCode>>>,
    time: Res<Time<Real>>,
) {
    let held = |key| keys.as_ref().is_some_and(|keys| keys.pressed(key));
    room.set_input(0, Pad { left: held(KeyCode::ArrowLeft), right: held(KeyCode::ArrowRight) });
    room.update(Micros::from(time.elapsed()));
}

/// Prints each event as a sentence for players.
fn say<P: Platform + 'static>(mut room: NonSendMut<GameRoom<Rink, P>>) {
    while let Some(event) = room.poll_event() {
        println!("{event}");
    }
}

/// Spawns, despawns and moves entities between the game's last two frames.
fn show<P: Platform + 'static>(
    room: NonSend<GameRoom<Rink, P>>,
    mut shown: Query<(Entity, &Shows, &mut Transform)>,
    mut commands: Commands,
) {
    let (before, now, part) = (room.previous_game(), room.game(), room.alpha_permille() as f32 / 1_000.0);
    for nth in (0..4).filter(|nth| now.here[*nth]) {
        if !shown.iter().any(|(_, shows, _)| shows.0 == nth) {
            commands.spawn((Shows(nth), Transform::from_xyz(now.x[nth] as f32, 0.0, 0.0)));
        }
    }
    for (entity, shows, mut place) in &mut shown {
        if now.here[shows.0] {
            let [before, now] = [before, now].map(|game| game.x[shows.0] as f32);
            place.translation.x = before + (now - before) * part;
        } else {
            commands.entity(entity).despawn();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use bevy::time::TimeUpdateStrategy;
    use gaggle::{NoNetwork, RoomConfig};

    use super::*;

    #[test]
    fn held_key_moves_entity_of_local_goose() {
        let config = RoomConfig::new("rink", 4).unwrap().version("1");
        let room = GameRoom::open(Micros::ZERO, config, NoNetwork::default(), Rink::default(), 7).unwrap();
        let mut app = App::new();
        skate_in(app.add_plugins(MinimalPlugins), room);
        app.init_resource::<ButtonInput<KeyCode>>();
        app.insert_resource(TimeUpdateStrategy::ManualDuration(Duration::from_micros(7_000)));
        let mut places = Vec::new();
        for displayed in 0..300 {
            if displayed == 100 {
                app.world_mut().resource_mut::<ButtonInput<KeyCode>>().press(KeyCode::ArrowRight);
            }
            app.update();
            let world = app.world_mut();
            let mut shown = world.query::<(&Shows, &Transform)>();
            places.push(
                shown.iter(world).map(|(shows, place)| (shows.0, place.translation.x)).collect::<Vec<_>>(),
            );
        }
        assert!(places.iter().skip(50).all(|shown| shown.len() == 1), "one player has one entity");
        let x = |displayed: usize| places[displayed][0].1;
        assert_eq!(x(99), 0.0);
        let ticks = app.world().non_send::<GameRoom<Rink, NoNetwork>>().game().x[0] / 3;
        assert!(
            (70..=86).contains(&ticks),
            "200 displayed frames of 7 ms are 84 ticks, less the input delay: {ticks}"
        );
        // 143 displayed frames per second of a game with 60 ticks: nearly each one moves the
        // entity.
        let moved = (200..299).filter(|displayed| x(displayed + 1) > x(*displayed)).count();
        assert!(moved > 90, "{moved} of 99");
    }
}
