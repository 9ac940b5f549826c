//! What the match says, and who is who in it.

use gaggle_kit::{PeerId, SlotSet};
use gaggle_link::{LinkStats, Path, Transport};
use gaggle_timeline::{Event as MatchEvent, Game};

use super::Room;
use crate::event::{Event, Parting};
use crate::outside::Outside;

/// Somebody whose name is not known.
const NOBODY: &str = "somebody";
/// Names kept of those who were here once.
const NAMES_MAX: usize = 256;

/// Somebody in the room.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Person {
    /// Their machine.
    pub peer: PeerId,
    /// What they are called.
    pub name: String,
    /// The colours they wear.
    pub palette: u8,
    /// The slots of their players in the match; empty if they are not in it.
    pub slots: SlotSet,
    /// It is us.
    pub is_self: bool,
    /// They are present longest.
    pub is_lead: bool,
    /// How the link to them runs.
    pub path: Option<Path>,
    /// What is known about that link.
    pub link: Option<LinkStats>,
}

impl<G: Game + Clone, O: Outside> Room<G, O> {
    /// Everybody in the room, as far as we know.
    pub fn people(&mut self) -> Vec<Person> {
        let Some((_, local)) = self.seat else { return Vec::new() };
        let session = self.shown.session();
        let lead = session.lead_at(session.current_frame());
        let slots_of = |peer: PeerId| {
            let rows = session.roster().iter().filter(|row| row.stream.peer == peer && row.is_open());
            rows.fold(SlotSet::EMPTY, |slots, row| slots.union(row.slots))
        };
        let members = self.client.as_ref().and_then(|client| client.room());
        let mut people: Vec<Person> = members
            .iter()
            .flat_map(|room| &room.members)
            .map(|member| Person {
                peer: member.peer,
                name: member.name.as_str().to_string(),
                palette: member.palette,
                slots: slots_of(member.peer),
                is_self: member.peer == local,
                is_lead: lead == Some(member.peer),
                path: None,
                link: None,
            })
            .collect();
        for person in people.iter_mut().filter(|person| !person.is_self) {
            person.path = self.outside.path(person.peer);
            person.link = self.outside.links().and_then(|links| links.stats(person.peer));
        }
        people
    }

    pub(super) fn learn_names(&mut self) {
        let Some(room) = self.client.as_ref().and_then(|client| client.room()) else { return };
        if self.names.len() > NAMES_MAX {
            self.names.clear();
        }
        self.names.extend(room.members.iter().map(|member| (member.peer, member.name.as_str().to_string())));
    }

    fn name(&self, peer: PeerId) -> String {
        self.names.get(&peer).map_or(NOBODY, String::as_str).to_string()
    }

    pub(super) fn hear_session(&mut self) {
        while let Some(event) = self.shown.session_mut().next_event() {
            if self.together {
                self.hear_match(&event);
            }
        }
        self.hear_joining();
    }

    /// Whoever the lobby says has left did not fall silent, even if their own words to us were lost.
    fn parting(&mut self, peer: PeerId) -> Parting {
        let was_silent = self.silent.remove(&peer);
        let room = self.client.as_ref().and_then(|client| client.room());
        let has_seat = room.is_none_or(|room| room.member(peer).is_some());
        if was_silent && has_seat { Parting::Silence } else { Parting::Goodbye }
    }

    fn hear_match(&mut self, event: &MatchEvent) {
        let me = self.seat.map(|(_, peer)| peer);
        let others = |peer: &PeerId| Some(*peer).filter(|peer| Some(*peer) != me);
        let told = match event {
            MatchEvent::Joined { peer, .. } => {
                others(peer).map(|peer| Event::Came { peer, name: self.name(peer) })
            }
            MatchEvent::Left { peer, .. } => {
                let parting = self.parting(*peer);
                others(peer).map(|peer| Event::Went { peer, name: self.name(peer), parting })
            }
            MatchEvent::Gone { peer } => {
                self.silent.insert(*peer);
                None
            }
            MatchEvent::Interrupted { peer } => {
                self.silent.insert(*peer);
                Some(Event::Interrupted { peer: *peer, name: self.name(*peer) })
            }
            MatchEvent::Resumed { peer } => {
                self.silent.remove(peer);
                Some(Event::Resumed { peer: *peer, name: self.name(*peer) })
            }
            MatchEvent::LeadChanged { lead } => {
                Some(Event::LeadChanged { peer: *lead, name: self.name(*lead) })
            }
            MatchEvent::HistoryChanged { ours_lost: true, .. } => {
                self.recording = None;
                Some(Event::HistoryChanged)
            }
            MatchEvent::Desync { peer, .. } => Some(Event::Desync { peer: *peer, name: self.name(*peer) }),
            _ => None,
        };
        if let Some(event) = told {
            self.push(event);
        }
    }

    /// Follows an attempt to come in until it worked or has taken too long.
    fn hear_joining(&mut self) {
        let Some(joining) = &mut self.joining else { return };
        let before = joining.percent;
        while let Some(event) = joining.play.session_mut().next_event() {
            if let MatchEvent::Joining { percent } = event {
                joining.percent = percent.min(99);
            }
        }
        let (percent, is_member) = (joining.percent, joining.play.session().is_member());
        let is_late = self.now >= joining.give_up_at;
        if percent != before {
            self.push(Event::Joining { percent });
        }
        if is_member {
            if let Some(joining) = self.joining.take() {
                self.show(joining.play);
                self.together = true;
                self.push(Event::Together);
            }
        } else if is_late {
            self.joining = None;
            self.push(Event::JoinFailed);
            // Links know the attempt that failed: the match that begins now has nothing to do with it.
            self.outside.close_links(self.now);
            self.found();
            self.open_links();
        }
    }
}
