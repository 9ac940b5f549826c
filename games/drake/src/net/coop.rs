//! One peer's part of the game: local crafts, the view of the others, the referee at the leader.
//!
//! The room or a test calls [`Coop::step`] each frame and hands it events. Absent: pictures,
//! packets.

use gaggle_kit::Slot;
use gaggle_replica::{EventRequest, MemberId, RemoteEvent, Session, SessionEvent, Target};

use super::census::Census;
use super::ghosts::Ghosts;
use super::referee::{Referee, noise_in, tell_craft, tell_noise};
use super::{Cheer, Happening, view};
use crate::field::{self, SEATS};
use crate::mark::{Mark, What};
use crate::{Bout, Drake, Form, Pad, Phase, Setup};

/// Past leaders remembered: more than a match has seats.
const LED_MAX: usize = 8;

/// State of the game at one peer.
#[derive(Debug, Clone)]
pub struct Coop {
    game: Drake,
    /// `game`, smoothed for drawing.
    picture: Drake,
    referee: Referee,
    /// By seat: predicted peas of the local players.
    ghosts: [Ghosts; SEATS],
    /// Objects of the session in this frame.
    census: Census,
    /// Leaders this peer has seen, the latest last.
    led: Vec<MemberId>,
    leading: bool,
    told: Option<Bout>,
    /// By seat: whether the turn button was down in the last frame.
    turned: [bool; SEATS],
    /// Settings for a match this peer creates; a running match keeps its own.
    setup: Setup,
}

impl Coop {
    /// A peer outside a match. `seed` is for its random decisions while it leads.
    pub fn new(setup: Setup, seed: u64) -> Coop {
        let (game, referee) = (Drake::new(setup, seed), Referee::new(seed));
        Coop {
            game,
            picture: game,
            referee,
            ghosts: Default::default(),
            census: Census::default(),
            led: Vec::new(),
            leading: false,
            told: None,
            turned: [false; SEATS],
            setup,
        }
    }

    /// The game to draw: local crafts at their position, others interpolated.
    #[expect(clippy::misnamed_getters, reason = "callers draw it as the game")]
    pub fn game(&self) -> &Drake {
        &self.picture
    }

    /// Resets for another match.
    pub fn enter(&mut self) {
        let frame = self.game.frame;
        let mut random = self.game.random;
        *self = Coop::new(self.setup, random.next_u64());
        // Sounds are told apart by their frame, so it never goes back.
        self.game.frame = frame;
    }

    /// Seats of the local players; none of a spectator.
    pub fn seats(session: &Session) -> impl Iterator<Item = usize> + use<> {
        let seats = session.local_slots().map(Slot::index);
        let count = if session.is_spectator() { 0 } else { SEATS };
        seats.take(count).filter(|seat| *seat < SEATS)
    }

    /// Plays one frame. The session already has this peer's inputs.
    pub fn step(&mut self, session: &mut Session) {
        self.game.frame = self.game.frame.wrapping_add(1);
        let mut pads = [Pad::NONE; SEATS];
        for slot in session.local_slots().filter(|slot| slot.index() < SEATS) {
            pads[slot.index()] = session.input::<Pad>(slot).unwrap_or_default();
        }
        self.census.take(session);
        self.note_lead(session);
        let leads = session.is_leader();
        if leads && !self.leading {
            self.referee.take_over(session, &self.census, &mut self.game, &self.led);
        }
        self.leading = leads;
        if leads {
            self.referee.step(session, &self.census, &mut self.game, &pads);
        } else {
            self.follow(session, &pads);
        }
        for seat in Coop::seats(session).filter(|_| session.is_member()).collect::<Vec<_>>() {
            if self.game.body(seat).is_some() {
                tell_craft(session, &self.census, seat, &self.game.crafts[seat]);
            }
            // Spawned in this player's name by another peer: they must not act for the player.
            for id in self.census.idle_crafts(session, seat) {
                _ = session.despawn(id);
            }
        }
        for seat in Coop::seats(session) {
            self.cheer(session, seat, pads[seat]);
        }
        self.picture = self.game;
        if leads {
            view::smooth(&mut self.picture, session, &self.census);
        }
    }

    /// Sends the cheer of a player who is out of the round: its turn button.
    fn cheer(&mut self, session: &mut Session, seat: usize, pad: Pad) {
        let held = std::mem::replace(&mut self.turned[seat], pad.turn);
        if pad.turn && !held && self.may_cheer(seat) {
            // A lost cheer costs one sound.
            _ = session.send_event_from(Slot::at(seat), Target::All, &[], &Cheer);
        }
    }

    fn may_cheer(&self, seat: usize) -> bool {
        let out = self.game.seats.get(seat).is_some_and(|seat| seat.form == Form::Out);
        out && self.game.bout.phase == Phase::Play
    }

    /// Decides, as leader, on an event that needs approval.
    pub fn judge(&self, petition: &EventRequest) -> bool {
        let signal = &petition.event;
        signal.get::<Cheer>().is_some() && self.may_cheer(signal.from.index())
    }

    fn note_lead(&mut self, session: &Session) {
        if let Some(lead) = session.roster().leader().map(|lead| lead.id)
            && self.led.last() != Some(&lead)
        {
            self.led.retain(|member| *member != lead);
            if self.led.len() == LED_MAX {
                self.led.remove(0);
            }
            self.led.push(lead);
        }
    }

    /// A frame in which another peer leads.
    fn follow(&mut self, session: &mut Session, pads: &[Pad; SEATS]) {
        let mut own = [false; SEATS];
        for seat in Coop::seats(session).filter(|_| session.is_member()) {
            own[seat] = true;
        }
        view::look(&mut self.game, session, &self.census, &own, &mut self.ghosts, &mut self.told);
        for seat in (0..SEATS).filter(|seat| own[*seat]) {
            self.play(session, seat, pads[seat]);
        }
    }

    /// A frame of a local player while another peer leads.
    fn play(&mut self, session: &mut Session, seat: usize, pad: Pad) {
        let Some(deed) = self.game.steer(seat, pad) else { return };
        let (craft, standing) = (self.game.crafts[seat], self.game.seats[seat]);
        let fires = pad.fire && self.game.bout.phase == Phase::Play;
        if self.ghosts[seat].step(fires, &craft, &standing) {
            self.game.mark(Mark::at(What::Fire, seat as u8, craft.bill()));
        }
        for (happened, what) in [(deed.dash, What::Dash), (deed.bump, What::Bump)] {
            if happened && standing.form == Form::Drake {
                let mark = Mark { frame: self.game.frame, ..Mark::at(what, seat as u8, craft.place) };
                tell_noise(session, &self.census, seat, &mark);
            }
        }
    }

    /// Takes an event of another peer: noises from the peer whose craft makes them, all others only
    /// from the leader.
    pub fn signal(&mut self, session: &Session, signal: &RemoteEvent) {
        let from_lead = session.roster().leader().is_some_and(|lead| lead.has_slot(signal.from));
        let mark = if let Some(mark) = noise_in(signal) {
            // Only the leader decides whether a pea was fired.
            let own = mark.who == signal.from.byte() && mark.what != What::Fire;
            let mine = Coop::seats(session).any(|seat| seat == usize::from(mark.who));
            (own || from_lead).then_some(mark).filter(|_| !mine)
        } else if signal.get::<Cheer>().is_some() {
            let seat = signal.from.index();
            (seat < SEATS).then(|| Mark::at(What::Cheer, seat as u8, field::nest(seat)))
        } else {
            signal.get::<Happening>().map(|Happening(mark)| mark).filter(|_| from_lead)
        };
        if let Some(mark) = mark {
            self.game.mark(mark);
        }
    }

    /// Takes an event of the session. After a new membership the bout counts as unread.
    pub fn hear(&mut self, event: &SessionEvent) {
        if let SessionEvent::MembershipGranted = event {
            self.told = None;
        }
    }
}
