//! A thousand moving bodies: the load of the promised sizes.

#![allow(
    dead_code,
    unreachable_pub,
    clippy::float_arithmetic,
    reason = "a simulation that runs on one peer only"
)]

use gaggle_kit::Prng;
use gaggle_replica::Kind;

/// 1/512 m in a world of 512 × 32 × 512 m, 1/32 m/s, 9 bits a component of the rotation.
#[derive(Debug, Clone, Copy, PartialEq, Kind)]
pub struct Body {
    #[kind(range = [0.0..=511.998, 0.0..=31.998, 0.0..=511.998], precision = 1.0 / 512.0, moved_by = velocity)]
    pub position: [f32; 3],
    #[kind(range = -63.9..=63.9, precision = 1.0 / 32.0)]
    pub velocity: [f32; 3],
    #[kind(rotation = 9)]
    pub rotation: [f32; 4],
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Motion {
    /// Gravity, bounces, steady spin.
    Ballistic,
    /// Thrust that changes every half second, drag, knocks every two seconds, a spin that wanders.
    Driven,
}

pub struct Bodies {
    pub bodies: Vec<Body>,
    spin: Vec<[f32; 3]>,
    thrust: Vec<[f32; 3]>,
    motion: Motion,
    random: Prng,
}

impl Bodies {
    pub fn new(count: usize, motion: Motion) -> Bodies {
        let mut random = Prng::new(7);
        let body = |random: &mut Prng| Body {
            position: [draw(random, 510.0) + 1.0, draw(random, 30.0), draw(random, 510.0) + 1.0],
            velocity: [draw(random, 12.0) - 6.0, draw(random, 8.0), draw(random, 12.0) - 6.0],
            rotation: [0.0, 0.0, 0.0, 1.0],
        };
        let bodies = (0..count).map(|_| body(&mut random)).collect();
        let spin = (0..count).map(|_| std::array::from_fn(|_| draw(&mut random, 3.0) - 1.5)).collect();
        Bodies { bodies, spin, thrust: vec![[0.0; 3]; count], motion, random }
    }

    /// Moves one body by a twentieth of a second.
    pub fn step(&mut self, index: usize) {
        const H: f32 = 1.0 / 60.0;
        let random = &mut self.random;
        let body = &mut self.bodies[index];
        if self.motion == Motion::Driven {
            if random.chance(1, 10) {
                self.thrust[index] =
                    [draw(random, 12.0) - 6.0, draw(random, 6.0) - 3.0, draw(random, 12.0) - 6.0];
            }
            if random.chance(1, 40) {
                for axis in 0..3 {
                    body.velocity[axis] += draw(random, 8.0) - 4.0;
                    self.spin[index][axis] = draw(random, 3.0) - 1.5;
                }
            }
            for axis in 0..3 {
                self.spin[index][axis] += (draw(random, 1.0) - 0.5) * 0.1;
            }
        }
        for _ in 0..3 {
            match self.motion {
                Motion::Ballistic => body.velocity[1] -= 9.8 * H,
                Motion::Driven => {
                    for axis in 0..3 {
                        body.velocity[axis] += (self.thrust[index][axis] - 0.5 * body.velocity[axis]) * H;
                    }
                }
            }
            for axis in 0..3 {
                body.position[axis] += body.velocity[axis] * H;
            }
            if body.position[1] < 0.0 {
                body.position[1] = -body.position[1];
                body.velocity[1] = -body.velocity[1] * 0.98;
            }
            if body.position[1] > 31.9 {
                body.position[1] = 31.9;
                body.velocity[1] = -body.velocity[1].abs();
            }
            for axis in [0, 2] {
                if body.position[axis] < 0.1 || body.position[axis] > 511.9 {
                    body.velocity[axis] = -body.velocity[axis];
                    body.position[axis] = body.position[axis].clamp(0.1, 511.9);
                }
            }
            body.rotation = turned(body.rotation, self.spin[index], H);
        }
    }
}

fn draw(random: &mut Prng, end: f32) -> f32 {
    (random.next_u32() >> 8) as f32 / 16_777_216.0 * end
}

fn turned([x, y, z, w]: [f32; 4], [a, b, c]: [f32; 3], h: f32) -> [f32; 4] {
    let d = [a * w + b * z - c * y, b * w + c * x - a * z, c * w + a * y - b * x, -a * x - b * y - c * z];
    let q = [x + d[0] * h * 0.5, y + d[1] * h * 0.5, z + d[2] * h * 0.5, w + d[3] * h * 0.5];
    let length = q.iter().map(|part| part * part).sum::<f32>().sqrt();
    q.map(|part| part / length)
}
