//! bevy_replicon in the course: three components per body, plain or packed by hand. Absent: other
//! libraries.

use bevy::prelude::*;
use bevy::state::app::StatesPlugin;
use bevy_replicon::prelude::*;
use serde::{Deserialize, Serialize};

use crate::bodies::{Bodies, Body};
use crate::course::{Course, Runner, at, at_receiver};
use crate::post::Post;

#[derive(Component, Clone, Copy, Serialize, Deserialize)]
struct Position([f32; 3]);

#[derive(Component, Clone, Copy, Serialize, Deserialize)]
struct Velocity([f32; 3]);

#[derive(Component, Clone, Copy, Serialize, Deserialize)]
struct Rotation([f32; 4]);

/// The same precision in one component, as small as possible without bit packing: the crate's
/// format writes an `i16` as one to three bytes.
#[derive(Component, Clone, Copy, Serialize, Deserialize)]
struct Packed {
    position: [u32; 3],
    velocity: [i16; 3],
    rotation: u32,
}

impl Packed {
    fn of(body: &Body) -> Packed {
        let [x, y, z, w] = body.rotation;
        let sign = if w < 0.0 { -1.0 } else { 1.0 };
        // Nine bits for each of three components, scaled to their largest length.
        let bits = |value: f32| ((value * sign * 0.707 + 0.5).clamp(0.0, 1.0) * 511.0) as u32;
        Packed {
            position: body.position.map(|axis| (axis * 512.0) as u32),
            velocity: body.velocity.map(|axis| (axis * 32.0) as i16),
            rotation: bits(x) | bits(y) << 9 | bits(z) << 18,
        }
    }
}

/// A server and its clients.
pub(crate) struct Replicon {
    server: App,
    clients: Vec<(App, Entity)>,
    down: Vec<Post>,
    up: Vec<Post>,
    entities: Vec<Entity>,
    packed: bool,
    bytes: u64,
    packets: u64,
}

/// Channel of mutations, which may be lost; all others are reliable.
const MUTATIONS: usize = 1;

fn app() -> App {
    let mut app = App::new();
    app.add_plugins((MinimalPlugins, StatesPlugin, RepliconPlugins.set(ServerPlugin::new(PostUpdate))))
        .replicate::<Position>()
        .replicate::<Velocity>()
        .replicate::<Rotation>()
        .replicate::<Packed>();
    app.finish();
    app
}

impl Replicon {
    pub(crate) fn new(course: &Course, packed: bool) -> Replicon {
        let mut server = app();
        server.world_mut().resource_mut::<NextState<ServerState>>().set(ServerState::Running);
        let clients = (0..course.receivers).map(|_| {
            let mut client = app();
            client.world_mut().resource_mut::<NextState<ClientState>>().set(ClientState::Connected);
            client.update();
            let entity = server.world_mut().spawn(ConnectedClient { max_size: 1_000 }).id();
            (client, entity)
        });
        let clients: Vec<(App, Entity)> = clients.collect();
        server.update();
        Replicon {
            down: (0..course.receivers).map(|index| course.post(index * 2)).collect(),
            up: (0..course.receivers).map(|index| course.post(index * 2 + 1)).collect(),
            server,
            clients,
            entities: Vec::new(),
            packed,
            bytes: 0,
            packets: 0,
        }
    }
}

impl Runner for Replicon {
    fn set(&mut self, index: usize, bodies: &Bodies) {
        let body = &bodies.bodies[index];
        let world = self.server.world_mut();
        if self.entities.len() <= index {
            let entity = if self.packed {
                world.spawn((Replicated, Packed::of(body)))
            } else {
                world.spawn((
                    Replicated,
                    Position(body.position),
                    Velocity(body.velocity),
                    Rotation(body.rotation),
                ))
            };
            self.entities.push(entity.id());
            return;
        }
        let Ok(mut entity) = world.get_entity_mut(self.entities[index]) else { return };
        if self.packed {
            if let Some(mut packed) = entity.get_mut::<Packed>() {
                *packed = Packed::of(body);
            }
            return;
        }
        if let Some(mut position) = entity.get_mut::<Position>() {
            position.0 = body.position;
        }
        if let Some(mut velocity) = entity.get_mut::<Velocity>() {
            velocity.0 = body.velocity;
        }
        if let Some(mut rotation) = entity.get_mut::<Rotation>() {
            rotation.0 = body.rotation;
        }
    }

    fn send(&mut self, tick: u64) {
        let mut messages = self.server.world_mut().resource_mut::<ServerMessages>();
        for (index, (_, entity)) in self.clients.iter().enumerate() {
            while let Some((channel, bytes)) = self.up[index].arrive(at(tick)) {
                messages.insert_received(*entity, channel, bytes);
            }
        }
        self.server.update();
    }

    fn carry(&mut self, tick: u64) {
        let mut messages = self.server.world_mut().resource_mut::<ServerMessages>();
        for (entity, channel, bytes) in messages.drain_sent() {
            let Some(to) = self.clients.iter().position(|(_, client)| *client == entity) else { continue };
            self.bytes += bytes.len() as u64;
            self.packets += 1;
            self.down[to].send(at(tick), channel != MUTATIONS, channel, &bytes);
        }
    }

    fn receive(&mut self, tick: u64) {
        for (index, (client, _)) in self.clients.iter_mut().enumerate() {
            let now = at_receiver(tick, index);
            let mut messages = client.world_mut().resource_mut::<ClientMessages>();
            while let Some((channel, bytes)) = self.down[index].arrive(now) {
                messages.insert_received(channel, bytes);
            }
            client.update();
            let mut messages = client.world_mut().resource_mut::<ClientMessages>();
            for (channel, bytes) in messages.drain_sent() {
                // The crate sends acknowledgements on a reliable channel.
                self.up[index].send(now, true, channel, &bytes);
            }
        }
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn updates(&self) -> Option<u64> {
        None
    }

    fn packets(&self) -> u64 {
        self.packets
    }

    fn objects_known(&self) -> usize {
        let count = |client: &App| {
            client
                .world()
                .iter_entities()
                .filter(|e| e.contains::<Position>() || e.contains::<Packed>())
                .count()
        };
        self.clients.iter().map(|(client, _)| count(client)).sum()
    }
}
