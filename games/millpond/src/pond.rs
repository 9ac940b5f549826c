//! The pond at one peer: its boats and things in motion, collisions, towing, stacking.
//!
//! `net::mill` steps it, or a caller without a network. It asks through [`Hands`] for a thing it
//! may not move yet. Absent: deliveries, network.

use gaggle_kit::{Fixed16, Prng};
use gaggle_replica::ObjectId;

use crate::boat::{self, Boat};
use crate::ledger::{Ledger, PADDLES, WISHES};
use crate::mark::{Mark, Marks, What};
use crate::pad::Pad;
use crate::thing::{STACK_MAX, Sort, Thing};
use crate::water::{self, HEIGHT, SEATS, SHORE, Vec2, WIDTH};

/// Things on a new pond.
pub const THINGS: usize = 400;
/// Things of a new pond, by sort.
pub(crate) const LITTER: [(Sort, usize); 8] = [
    (Sort::Lily, 150),
    (Sort::Log, 80),
    (Sort::Crate, 60),
    (Sort::Barrel, 50),
    (Sort::Decoy, 30),
    (Sort::Lantern, 19),
    (Sort::Cheese, 10),
    (Sort::Bell, 1),
];
/// Distance behind a boat at which it can take a thing in tow, in pixels.
const TOW_REACH: i32 = 26;
/// Length of the rope, in pixels.
const ROPE: i32 = 21;
/// Distance at which a boat helps to move the bell, in pixels.
const BELL_REACH: i32 = 46;
/// Distance at which a thing is put on another, in pixels.
const STACK_REACH: i32 = 18;

/// Authority over things, asked before a peer changes one.
pub trait Hands {
    /// Claims a thing. Returns whether this peer may move it.
    fn touch(&mut self, id: ObjectId) -> bool;
    /// Locks a thing for towing. Returns whether it was free.
    fn grab(&mut self, id: ObjectId) -> bool;
    /// Unlocks and releases a thing.
    fn release(&mut self, id: ObjectId);
    /// Deletes a thing. Returns whether this peer may.
    fn delete(&mut self, id: ObjectId) -> bool;
    /// Spawns a thing, unless the session is full.
    fn spawn(&mut self, thing: &Thing) -> Option<ObjectId>;
}

/// Authority without a network: everything is allowed.
#[derive(Debug, Clone, Default)]
pub struct Alone {
    made: u64,
}

impl Hands for Alone {
    fn touch(&mut self, _: ObjectId) -> bool {
        true
    }

    fn grab(&mut self, _: ObjectId) -> bool {
        true
    }

    fn release(&mut self, _: ObjectId) {}

    fn delete(&mut self, _: ObjectId) -> bool {
        true
    }

    fn spawn(&mut self, _: &Thing) -> Option<ObjectId> {
        self.made += 1;
        Some(ObjectId::from_bits(self.made))
    }
}

/// A thing on the pond and its authority, as this peer knows them.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Floating {
    /// Object id, the same at all peers.
    pub id: ObjectId,
    /// Sort, count and motion.
    pub thing: Thing,
    /// Whether this peer moves it.
    pub mine: bool,
    /// Seat whose peer moves it.
    pub holder: u8,
    /// Whether it is locked, that is, in tow.
    pub held: bool,
}

/// State of the pond at one peer.
#[derive(Debug, Clone)]
pub struct Pond {
    /// Number of the frame, wrapping.
    pub frame: u32,
    /// Source of this peer's randomness.
    pub random: Prng,
    /// All things, ascending by id.
    pub floating: Vec<Floating>,
    /// Boats by seat, none without a player or bot.
    pub boats: [Option<Boat>; SEATS],
    /// Wishes and deliveries.
    pub ledger: Ledger,
    /// Recent events, for pictures and sounds.
    pub marks: Marks,
    /// By seat: whether the hand button was down in the last frame.
    closed: [bool; SEATS],
}

impl Pond {
    /// A pond without things and boats.
    pub fn new(seed: u64) -> Pond {
        Pond {
            frame: 0,
            random: Prng::new(seed),
            floating: Vec::new(),
            boats: [None; SEATS],
            ledger: Ledger::default(),
            marks: Marks::default(),
            closed: [false; SEATS],
        }
    }

    /// Things of a new pond, at random free places.
    pub fn litter(random: &mut Prng) -> Vec<Thing> {
        let mut things: Vec<Thing> = Vec::with_capacity(THINGS);
        for (sort, count) in LITTER.into_iter().rev() {
            for _ in 0..count {
                things.push(Thing::new(sort, free_place(&things, sort, random)));
            }
        }
        things
    }

    /// A full pond for a game without a network.
    pub fn alone(seed: u64, hands: &mut Alone) -> Pond {
        let mut pond = Pond::new(seed);
        for thing in Pond::litter(&mut pond.random) {
            pond.put(thing, hands);
        }
        pond
    }

    /// Spawns a thing and adds it to the pond.
    pub fn put(&mut self, thing: Thing, hands: &mut impl Hands) -> Option<ObjectId> {
        let id = hands.spawn(&thing)?;
        let floating = Floating { id, thing, mine: true, holder: crate::mark::NOBODY, held: false };
        let place = self.floating.partition_point(|other| other.id < id);
        self.floating.insert(place, floating);
        Some(id)
    }

    /// The thing with this id, if it is on the pond.
    pub fn find(&self, id: ObjectId) -> Option<&Floating> {
        let place = self.floating.binary_search_by_key(&id, |floating| floating.id).ok()?;
        self.floating.get(place)
    }

    fn place_of(&self, id: ObjectId) -> Option<usize> {
        self.floating.binary_search_by_key(&id, |floating| floating.id).ok()
    }

    /// Plays one frame of a boat of this peer.
    pub fn row(&mut self, seat: usize, pad: Pad, hands: &mut impl Hands) {
        let Some(mut boat) = self.boats[seat] else { return };
        let rowed = boat.rows;
        boat.row(pad, self.ledger.open);
        if boat.rows && (!rowed || self.frame.is_multiple_of(40)) {
            self.mark(Mark::at(What::Stroke, seat as u8, boat.place, 0));
        }
        self.give_way(seat, &mut boat);
        self.push(seat, &mut boat, hands);
        self.pull(&mut boat);
        self.boats[seat] = Some(boat);
        if pad.hand && !self.closed[seat] {
            self.use_hand(seat, hands);
        }
        self.closed[seat] = pad.hand;
    }

    /// Pushes a boat out of others; each peer does so for its own boats.
    fn give_way(&mut self, seat: usize, boat: &mut Boat) {
        for other in self.boats.iter().flatten().filter(|other| usize::from(other.seat) != seat) {
            if water::is_within(boat.place, other.place, 2 * boat::RADIUS) {
                let out = water::direction(water::offset(other.place, boat.place));
                boat.place = water::add(boat.place, water::from_polar(out, Fixed16::ONE));
                boat.velocity = water::add(boat.velocity, water::from_polar(out, Fixed16::from_int(4)));
            }
        }
    }

    /// Pushes things out of the boat's way and claims them.
    fn push(&mut self, seat: usize, boat: &mut Boat, hands: &mut impl Hands) {
        for number in 0..self.floating.len() {
            let Floating { id, thing, mine, .. } = self.floating[number];
            let reach = boat::RADIUS + thing.sort.radius();
            if !water::is_within(boat.place, thing.place, reach) || boat.tow == Some(id) {
                continue;
            }
            let out = water::direction(water::offset(boat.place, thing.place));
            let overlap = Fixed16::from_int(reach) - water::length(water::offset(boat.place, thing.place));
            if !mine && !hands.touch(id) {
                // Another peer holds it, so it stands still like a post.
                boat.place = water::add(boat.place, water::from_polar(out, -overlap));
                boat.velocity = boat.velocity.map(|part| part / 2);
                continue;
            }
            let weight = thing.weight();
            let (cos, sin) = (out.cos::<16>(), out.sin::<16>());
            let [x, y] = water::offset(thing.velocity, boat.velocity);
            let speed = (x * cos + y * sin).max(Fixed16::ZERO);
            let share = boat::WEIGHT + weight;
            let floating = &mut self.floating[number];
            (floating.mine, floating.holder, floating.thing.by) = (true, seat as u8, seat as u8);
            let pushed = water::from_polar(out, speed * boat::WEIGHT / share);
            floating.thing.velocity = water::add(thing.velocity, pushed);
            floating.thing.place =
                water::add(thing.place, water::from_polar(out, overlap * boat::WEIGHT / share));
            boat.velocity = water::add(boat.velocity, water::from_polar(out, -speed * weight / share));
            boat.place = water::add(boat.place, water::from_polar(out, -overlap * weight / share));
            if speed > Fixed16::from_int(24) {
                self.mark(Mark::at(What::Bump, seat as u8, thing.place, thing.sort as u8));
            }
        }
        water::keep_afloat(&mut boat.place, &mut boat.velocity, boat::RADIUS);
    }

    /// Applies the rope between a boat and its towed thing.
    fn pull(&mut self, boat: &mut Boat) {
        let Some(place) =
            boat.tow.and_then(|id| self.place_of(id)).filter(|place| self.floating[*place].mine)
        else {
            boat.tow = None;
            return;
        };
        let thing = &mut self.floating[place].thing;
        let stern = boat.stern();
        let rope = water::offset(thing.place, stern);
        let stretch = water::length(rope) - Fixed16::from_int(ROPE - 9 + thing.sort.radius());
        if stretch <= Fixed16::ZERO {
            return;
        }
        let towards = water::direction(rope);
        let (weight, share) = (thing.weight(), boat::WEIGHT + thing.weight());
        let pull = stretch.min(Fixed16::from_int(12)) * 2;
        thing.velocity = water::add(thing.velocity, water::from_polar(towards, pull * boat::WEIGHT / share));
        boat.velocity = water::add(boat.velocity, water::from_polar(towards, -pull * weight / share));
    }

    /// A press of the hand: lets the towed thing go, or takes the nearest one astern.
    fn use_hand(&mut self, seat: usize, hands: &mut impl Hands) {
        let Some(mut boat) = self.boats[seat] else { return };
        if let Some(id) = boat.tow.take() {
            self.boats[seat] = Some(boat);
            return self.let_go(seat, id, hands);
        }
        let (stern, who) = (boat.stern(), seat as u8);
        let near = self.floating.iter().filter(|floating| {
            floating.thing.sort.tows()
                && water::is_within(stern, floating.thing.place, TOW_REACH + floating.thing.sort.radius() - 7)
        });
        let nearest = near.min_by_key(|floating| water::length(water::offset(stern, floating.thing.place)));
        let Some(Floating { id, thing, .. }) = nearest.copied() else { return };
        let taken = if thing.count > 1 {
            self.take_one(id, &thing, seat, hands)
        } else {
            hands.grab(id).then_some(id)
        };
        let Some(id) = taken else {
            return self.mark(Mark::at(What::Refused, who, thing.place, thing.sort as u8));
        };
        if let Some(place) = self.place_of(id) {
            let floating = &mut self.floating[place];
            (floating.mine, floating.held, floating.holder) = (true, true, who);
            floating.thing.by = who;
        }
        boat.tow = Some(id);
        self.boats[seat] = Some(boat);
        let what = if thing.count > 1 { What::Unstack } else { What::Tow };
        self.mark(Mark::at(what, who, thing.place, thing.sort as u8));
    }

    /// Takes one thing from the top of a stack. Returns its id.
    fn take_one(
        &mut self,
        id: ObjectId,
        stack: &Thing,
        seat: usize,
        hands: &mut impl Hands,
    ) -> Option<ObjectId> {
        let place = self.place_of(id)?;
        if !self.floating[place].mine && !hands.touch(id) {
            return None;
        }
        let floating = &mut self.floating[place];
        (floating.mine, floating.holder) = (true, seat as u8);
        floating.thing.count -= 1;
        let stern = self.boats[seat]?.stern();
        let one = self.put(Thing::new(stack.sort, stern), hands)?;
        hands.grab(one).then_some(one)
    }

    fn let_go(&mut self, seat: usize, id: ObjectId, hands: &mut impl Hands) {
        hands.release(id);
        let (who, Some(place)) = (seat as u8, self.place_of(id)) else { return };
        self.floating[place].held = false;
        let thing = self.floating[place].thing;
        let below = self.floating.iter().find(|other| {
            other.id != id
                && other.thing.sort == thing.sort
                && thing.sort.stacks()
                && !other.held
                && other.thing.count + thing.count <= STACK_MAX
                && water::is_within(other.thing.place, thing.place, STACK_REACH)
        });
        let Some(Floating { id: below, mine, .. }) = below.copied() else {
            return self.mark(Mark::at(What::Drop, who, thing.place, thing.sort as u8));
        };
        if (mine || hands.touch(below)) && hands.delete(id) {
            self.floating.remove(place);
            if let Some(place) = self.place_of(below) {
                let floating = &mut self.floating[place];
                (floating.mine, floating.holder) = (true, who);
                floating.thing.count += thing.count;
                floating.thing.by = who;
                let count = floating.thing.count;
                self.mark(Mark::at(What::Stack, who, thing.place, count));
            }
        }
    }

    /// Moves all things of this peer by one frame.
    pub fn float(&mut self, hands: &mut impl Hands) {
        let wind = water::wind(self.frame);
        let gust = wind != [Fixed16::ZERO; 2];
        for number in 0..self.floating.len() {
            let Floating { id, mut thing, mine, .. } = self.floating[number];
            let light = thing.weight() <= 2;
            let flows = water::current(thing.place, false) != [Fixed16::ZERO; 2];
            if !mine || thing.rests() && !flows && !(gust && light) {
                continue;
            }
            let pulled = self.boats.iter().flatten().any(|boat| boat.tow == Some(id));
            let at_it = self
                .boats
                .iter()
                .flatten()
                .filter(|boat| water::is_within(boat.place, thing.place, BELL_REACH));
            let at_it = if thing.sort == Sort::Bell { at_it.count() } else { 0 };
            thing.float(wind, self.ledger.open, pulled, at_it);
            self.floating[number].thing = thing;
            self.jostle(number, hands);
        }
    }

    /// A moving thing pushes and claims those in its way.
    fn jostle(&mut self, number: usize, hands: &mut impl Hands) {
        let moving = self.floating[number];
        for other in 0..self.floating.len() {
            let there = self.floating[other];
            let reach = moving.thing.sort.radius() + there.thing.sort.radius();
            if other == number || !water::is_within(moving.thing.place, there.thing.place, reach) {
                continue;
            }
            let here = self.floating[number].thing;
            let out = water::direction(water::offset(here.place, there.thing.place));
            let overlap =
                Fixed16::from_int(reach) - water::length(water::offset(here.place, there.thing.place));
            let (cos, sin) = (out.cos::<16>(), out.sin::<16>());
            let [x, y] = water::offset(there.thing.velocity, here.velocity);
            let speed = x * cos + y * sin;
            // A slow thing leans on another without claiming it.
            let takes = speed > Fixed16::from_int(3);
            let ours = there.mine || takes && !there.held && hands.touch(there.id);
            let (weight, share) = (here.weight(), here.weight() + there.thing.weight());
            if !ours || there.held {
                let floating = &mut self.floating[number].thing;
                floating.place = water::add(here.place, water::from_polar(out, -overlap / 2));
                if speed > Fixed16::ZERO {
                    floating.velocity = water::add(here.velocity, water::from_polar(out, -speed));
                }
                continue;
            }
            let pushed = &mut self.floating[other];
            (pushed.mine, pushed.holder) = (true, moving.holder);
            if takes {
                pushed.thing.by = here.by;
            }
            pushed.thing.place =
                water::add(there.thing.place, water::from_polar(out, overlap * weight / share));
            if speed > Fixed16::ZERO {
                pushed.thing.velocity =
                    water::add(there.thing.velocity, water::from_polar(out, speed * weight / share));
                let loss = speed * (share - weight) / share;
                self.floating[number].thing.velocity =
                    water::add(here.velocity, water::from_polar(out, -loss));
            }
            let back = overlap * (share - weight) / share;
            let floating = &mut self.floating[number].thing;
            floating.place = water::add(floating.place, water::from_polar(out, -back));
        }
        let floating = &mut self.floating[number].thing;
        water::keep_afloat(&mut floating.place, &mut floating.velocity, floating.sort.radius());
    }

    pub(crate) fn mark(&mut self, mark: Mark) {
        self.marks.push(Mark { frame: self.frame, ..mark });
    }
}

/// A random place on the water away from things, jetties, berths and sluice.
pub(crate) fn free_place(things: &[Thing], sort: Sort, random: &mut Prng) -> Vec2 {
    let mut place = water::at(WIDTH / 2, HEIGHT / 2);
    for _ in 0..40 {
        let x = random.range(SHORE + 16..=WIDTH - SHORE - 16);
        let mut y = random.range(SHORE + 16..=HEIGHT - SHORE - 16);
        // Heavy things start outside the race, which would carry them all to the wheel.
        if sort != Sort::Lily && (y - water::RACE).abs() < water::RACE_HALF + 10 {
            y += 2 * water::RACE_HALF + 30;
        }
        place = water::at(x, y);
        let taken = things
            .iter()
            .any(|other| water::is_within(place, other.place, sort.radius() + other.sort.radius() + 2));
        let jetty = WISHES.iter().any(|wish| water::is_within(place, wish.place(), 60));
        let berth = (0..SEATS).any(|seat| water::is_within(place, Boat::moored(seat).place, 40));
        let paddle = PADDLES.iter().any(|(x, y)| water::is_within(place, water::at(*x, *y), 40));
        if !(taken || jetty || berth || paddle) {
            break;
        }
    }
    place
}
