//! Gaggle's replica engine in the course. Absent: other libraries.

use bench_report::uncounted;
use gaggle_kit::{Micros, PeerId, Slot};
use gaggle_replica::{AuthorityPolicy, JoinMode, Kinds, ObjectId, ReplicaConfig, Session};

use crate::bodies::{Bodies, Body};
use crate::course::{Course, Runner, at, at_receiver};
use crate::post::Post;

/// Channel of reliable messages.
const RELIABLE: usize = 1;

/// A host and its receivers.
pub(crate) struct Gaggle {
    host: Session,
    receivers: Vec<Session>,
    down: Vec<Post>,
    up: Vec<Post>,
    /// Packets of this tick in one buffer: receiver, whether it is reliable, and its end.
    written: Vec<(usize, bool, usize)>,
    buffer: Vec<u8>,
    ids: Vec<ObjectId>,
    bytes: u64,
    packets: u64,
}

fn host() -> PeerId {
    PeerId::from_u128(1)
}

fn peer(index: usize) -> PeerId {
    PeerId::from_u128(index as u128 + 2)
}

impl Gaggle {
    pub(crate) fn new(course: &Course) -> Gaggle {
        let config = |display| ReplicaConfig {
            authority: AuthorityPolicy::Leader,
            bytes_per_second: 50_000_000,
            smoothing: display,
            ..ReplicaConfig::default()
        };
        let kinds = Kinds::new().with::<Body>();
        let session = |player, entry, seed| {
            Session::new(config(false), kinds.clone(), Slot::at(player), entry, seed).expect("sensible")
        };
        let mut gaggle = Gaggle {
            host: session(0, JoinMode::Create, 1),
            receivers: (0..course.receivers).map(|i| session(i + 1, JoinMode::Join, i as u64 + 2)).collect(),
            down: Vec::new(),
            up: Vec::new(),
            written: Vec::new(),
            buffer: Vec::new(),
            ids: Vec::new(),
            bytes: 0,
            packets: 0,
        };
        for index in 0..course.receivers {
            gaggle.down.push(course.post(index * 2));
            gaggle.up.push(course.post(index * 2 + 1));
            gaggle.host.handle_connected(Micros::ZERO, peer(index));
            gaggle.receivers[index].handle_connected(Micros::ZERO, host());
        }
        gaggle
    }
}

impl Runner for Gaggle {
    fn set(&mut self, index: usize, bodies: &Bodies) {
        if self.ids.len() <= index {
            let id = self.host.spawn(&bodies.bodies[index]).expect("the host may spawn");
            self.ids.push(id);
        } else {
            self.host.set(self.ids[index], &bodies.bodies[index]).expect("the host has authority");
        }
    }

    fn send(&mut self, tick: u64) {
        let now = at(tick);
        for index in 0..self.up.len() {
            while let Some((channel, bytes)) = self.up[index].arrive(now) {
                match channel == RELIABLE {
                    true => self.host.handle_message(now, peer(index), &bytes),
                    false => self.host.handle_packet(now, peer(index), &bytes),
                }
            }
        }
        self.host.tick(now);
        self.buffer.clear();
        self.written.clear();
        while let Some(out) = self.host.poll_transmit() {
            uncounted(|| {
                self.buffer.extend_from_slice(out.bytes);
                let to = out.to.to_u128() as usize - 2;
                self.written.push((to, out.reliable, self.buffer.len()));
            });
        }
    }

    fn carry(&mut self, tick: u64) {
        let mut start = 0;
        for &(to, reliable, end) in &self.written {
            let bytes = &self.buffer[start..end];
            start = end;
            if !reliable {
                self.bytes += bytes.len() as u64;
                self.packets += 1;
            }
            self.down[to].send(at(tick), reliable, usize::from(reliable), bytes);
        }
        while self.host.poll_event().is_some() {}
    }

    fn receive(&mut self, tick: u64) {
        for (index, session) in self.receivers.iter_mut().enumerate() {
            let now = at_receiver(tick, index);
            while let Some((channel, bytes)) = self.down[index].arrive(now) {
                match channel == RELIABLE {
                    true => session.handle_message(now, host(), &bytes),
                    false => session.handle_packet(now, host(), &bytes),
                }
            }
            session.tick(now);
            while let Some(out) = session.poll_transmit() {
                self.up[index].send(now, out.reliable, usize::from(out.reliable), out.bytes);
            }
            while session.poll_event().is_some() {}
        }
    }

    fn bytes(&self) -> u64 {
        self.bytes
    }

    fn updates(&self) -> Option<u64> {
        Some(self.host.stats().updates_sent)
    }

    fn packets(&self) -> u64 {
        self.packets
    }

    fn objects_known(&self) -> usize {
        self.receivers.iter().map(|session| session.iter::<Body>().count()).sum()
    }
}
