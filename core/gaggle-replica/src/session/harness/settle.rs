//! The end of a run: the network heals, and all replicas must be equal and silent.
//! Absent: the faults before it.

use std::collections::BTreeMap;

use super::World;
use crate::ObjectId;
use crate::session::Session;

impl World {
    /// Corrects all timeouts and heals the network, apart from some loss: all replicas must become
    /// equal and silent.
    pub(super) fn heal(&mut self) -> Result<(), String> {
        self.group.fill(0);
        let count = self.machines.len();
        for index in 0..count {
            for other in 0..count {
                if index == other || self.machines[index].is_none() {
                    continue;
                }
                if self.machines[other].is_none() {
                    self.unlink(index, other);
                } else if self.linked[index].get(&other) != Some(&self.lives[other]) {
                    self.unlink(index, other);
                    self.link(index, other);
                }
            }
        }
        let mut quiet = 0;
        for _ in 0..600 {
            for index in 0..count {
                self.tick(index, 50);
            }
            for from in 0..count {
                for to in 0..count {
                    while self.deliver_message(from, to) {}
                }
            }
            let mut packets = self.net.take_all();
            while let Some((from, to, bytes)) = packets.take_any(&mut self.random) {
                if !self.random.chance(1, 5) {
                    self.deliver(from, to, &bytes);
                }
            }
            if self.accused.is_some() {
                return Ok(());
            }
            quiet = if self.is_silent() { quiet + 1 } else { 0 };
            if quiet > 8 {
                return Ok(());
            }
        }
        Err(format!("never silent: {}", self.noise()))
    }

    fn is_silent(&self) -> bool {
        let is_delivered =
            |((_, to), waiting): ((usize, usize), usize)| waiting == 0 || self.machines[to].is_none();
        self.net.streams().all(is_delivered)
            && self.machines.iter().flatten().all(|session| {
                let links = 0..session.peers.len();
                let places = 0..session.objects.places() as u32;
                let duty = |link: usize, place: u32| {
                    session.view().wants(&session.objects, &session.peers[link], place)
                        || session.peers[link].out[place].is_closing()
                };
                let idle = links.clone().all(|link| places.clone().all(|place| !duty(link, place)));
                idle && session.is_member()
                    && session.objects.dirty().is_empty()
                    && session.authority.succeeding(&session.objects).next().is_none()
            })
    }

    /// The records every peer has of an object.
    fn describe(&self, id: ObjectId) -> String {
        let mut text = String::new();
        for (index, session) in self.machines.iter().enumerate() {
            let Some(session) = session else { continue };
            text += &format!("\n{index} is {:?}", session.members.me().id);
            let Some(place) = session.objects.find(id) else { continue };
            text += &format!(": {:?}", session.objects[place]);
            for link in session.peers.iter() {
                let record = link.inbound.of_object(place).and_then(|incoming| incoming.record);
                text += &format!("\n  {:?}: {:?}\n    has {record:?}", link.id, link.out[place]);
            }
        }
        text
    }

    /// The reasons why peers still send.
    fn noise(&self) -> String {
        let mut noise = String::new();
        for (index, session) in self.machines.iter().enumerate() {
            let Some(session) = session else { continue };
            for (number, link) in session.peers.iter().enumerate() {
                for place in 0..session.objects.places() as u32 {
                    let out = &link.out[place];
                    if session.view().wants(&session.objects, &session.peers[number], place)
                        || out.is_closing()
                    {
                        let object = &session.objects[place];
                        noise += &format!("\n{index} to {:?}: {object:?} {out:?}", link.id);
                    }
                }
            }
            noise += &format!(
                "\n{index}: {} dirty, tick {}, {:?}",
                session.objects.dirty().len(),
                session.cx.tick,
                session.members.roster()
            );
            for place in session.authority.succeeding(&session.objects) {
                noise += &format!("\n{index} inherits {:?}", session.objects[place]);
            }
        }
        for (way, waiting) in self.net.streams().filter(|(_, waiting)| *waiting > 0) {
            noise += &format!("\n{waiting} messages {way:?}");
        }
        noise
    }

    pub(super) fn check(&self) -> Result<(), String> {
        if let Some(accused) = self.accused {
            return Err(format!("{accused:?}"));
        }
        type Seen = BTreeMap<ObjectId, (crate::version::Record, Vec<i32>)>;
        let seen = |session: &Session| -> Seen {
            let live = session.objects.iter().filter_map(|(place, object)| {
                let mut record = object.record.filter(|record| !record.gone)?;
                // An unchanged value is the same under every later tick.
                record.version.tick = 0;
                Some((object.id, (record, session.objects.value(place).to_vec())))
            });
            live.collect()
        };
        let alive: Vec<(usize, &Session)> = self
            .machines
            .iter()
            .enumerate()
            .filter_map(|(index, m)| m.as_ref().map(|m| (index, m)))
            .collect();
        let first = seen(alive[0].1);
        for (index, session) in &alive {
            let seen = seen(session);
            if let Some((id, record)) = seen.iter().find(|(id, record)| first.get(id) != Some(record)) {
                let all = self.describe(*id);
                return Err(format!(
                    "{id:?}: {:?} at {}, {record:?} at {index}{all}",
                    first.get(id),
                    alive[0].0
                ));
            }
            if let Some((id, record)) = first.iter().find(|(id, _)| !seen.contains_key(id)) {
                let all = self.describe(*id);
                return Err(format!("{id:?}: {record:?} at {}, missing at {index}{all}", alive[0].0));
            }
            for (id, (record, _)) in &seen {
                if !session.view().is_rightful(*id, record) {
                    return Err(format!("{id:?} is still an orphan at {index}: {record:?}"));
                }
            }
            for (place, object) in session.objects.iter() {
                if session.objects.find(object.id) == Some(place) {
                    let mentions =
                        session.peers.iter().filter(|link| link.inbound.handle_of(place).is_some());
                    let refused: usize = session
                        .peers
                        .iter()
                        .map(|link| {
                            link.inbound.refused().iter().filter(|refused| refused.object == place).count()
                        })
                        .sum();
                    assert_eq!(
                        object.mentions as usize,
                        mentions.count() + refused,
                        "mentions of {object:?}"
                    );
                    let owed = session.peers.iter().filter(|link| link.out[place].is_owed()).count();
                    assert_eq!(object.owed as usize, owed, "owed of {object:?}");
                }
            }
        }
        Ok(())
    }
}
