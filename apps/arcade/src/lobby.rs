//! The lobby of a room whose host starts: who waits, who is ready, what the host may do.
//!
//! Entries of games with such rooms make it; `Arcade` updates, draws and asks it, through
//! [`LobbyScreen`], so that pages of other games have none of its code. Absent: the picture behind.

mod countdown;
mod picture;

use gaggle::lobby::view::{RawJson, RoomView, Status};
use gaggle::{HostCommand, Micros, PeerId, Phase, Slot, SlowPolicy};
use gaggle_scene::{Scene, View};

use crate::Key;
use crate::cabinet::HostedRoom;
use countdown::Countdown;

pub(crate) use countdown::COUNT;

/// The host's page asks for the start again after this time without an answer.
const ASKED_AGAIN: Micros = Micros::from_secs(2);
/// Frames by which the window grows where slow players are loosened.
const LOOSEN_FRAMES: u32 = 2;

/// A player who waits.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// The player's peer.
    pub peer: PeerId,
    /// Slot that the match will give it.
    pub seat: usize,
    /// Display name of the player.
    pub name: String,
    /// Whether it is ready for the match.
    pub is_ready: bool,
    /// Whether its page is hidden or its connection lost: it is not waited for.
    pub is_away: bool,
    /// Whether it may change the room.
    pub is_host: bool,
    /// Whether it plays at this page.
    pub is_own: bool,
}

/// A request of a player that the arcade carries out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LobbyWish {
    /// Another input delay.
    Delay,
    /// The link for friends.
    Invite,
    /// To the menu.
    Leave,
}

/// Data of the picture that the lobby does not have itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct LobbyFacts<'a> {
    /// The chosen input delay.
    pub delay: &'a str,
    /// What that delay costs.
    pub cost: &'a str,
    /// Whether the screen is touched: buttons then name no keys.
    pub touch: bool,
    /// Label of the game's button, with which players say that they are ready.
    pub action: &'a str,
}

/// What the arcade asks of the lobby.
pub trait LobbyScreen {
    /// Takes over what the room says, and starts the match when it is due.
    fn update(&mut self, now: Micros, room: &mut dyn HostedRoom);
    /// Whether the room waits for its host.
    fn is_open(&self) -> bool;
    /// The players of the room, by slot.
    fn waiting(&self) -> &[Waiting];
    /// The player is ready, or no longer.
    fn honk(&mut self, room: &mut dyn HostedRoom);
    /// Handles a key.
    fn press(&mut self, key: Key, room: &mut dyn HostedRoom) -> Option<LobbyWish>;
    /// Handles a click or tap at a pixel of the screen.
    fn tap(&mut self, at: (View, i32, i32), touch: bool, room: &mut dyn HostedRoom) -> Option<LobbyWish>;
    /// Whether a click there would do something.
    fn is_button_at(&self, at: (View, i32, i32), touch: bool) -> bool;
    /// Draws the panel over the picture.
    fn draw(&self, scene: &mut Scene, view: View, facts: &LobbyFacts<'_>);
    /// The lobby as text, for screen readers.
    fn words(&self, facts: &LobbyFacts<'_>) -> String;
}

/// A button of the panel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Button {
    Ready,
    Start,
    /// Makes another player the host.
    Hand(PeerId),
    /// Sends another player away.
    Kick(PeerId),
    Slow,
    Delay,
    Invite,
    Leave,
}

/// What the host lets happen to slow players.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Slow {
    /// The autopilot flies for them.
    #[default]
    Off,
    /// Late inputs are predicted for a while.
    Loose,
    /// All wait for them.
    Wait,
}

impl Slow {
    const ALL: [(Slow, &str, &str); 3] = [
        (Slow::Off, "off", "autopilot"),
        (Slow::Loose, "loose", "loosen first"),
        (Slow::Wait, "wait", "all wait"),
    ];

    /// As the room's settings say. They are a JSON object of the host, perhaps of another version.
    fn of(settings: &str) -> Slow {
        let says = |word: &str| {
            let quoted = format!("\"{word}\"");
            settings.as_bytes().windows(quoted.len()).any(|part| part == quoted.as_bytes())
        };
        Slow::ALL.into_iter().find(|(_, word, _)| says(word)).map_or(Slow::Off, |(slow, ..)| slow)
    }

    fn row(self) -> (Slow, &'static str, &'static str) {
        Slow::ALL[self as usize]
    }

    fn next(self) -> Slow {
        Slow::ALL[(self as usize + 1) % Slow::ALL.len()].0
    }

    fn policy(self) -> SlowPolicy {
        match self {
            Slow::Off => SlowPolicy::TakeOff,
            Slow::Loose => SlowPolicy::Loosen { frames: LOOSEN_FRAMES },
            Slow::Wait => SlowPolicy::Wait,
        }
    }
}

/// The lobby of one room.
#[derive(Debug)]
pub struct Lobby {
    now: Micros,
    is_open: bool,
    code: String,
    /// Name of the mode for the lobby.
    mode: String,
    waiting: Vec<Waiting>,
    countdown: Countdown,
    starts_at: Option<Micros>,
    /// Whether the host has started without waiting for all.
    is_forced: bool,
    /// When this page last asked for the start, and told the settings of a new room.
    asked_at: Option<Micros>,
    told_at: Option<Micros>,
    slow: Slow,
    /// The rule about slow players that the session has.
    applied: Option<Slow>,
    focus: Button,
    /// The player whom the next press sends away.
    doomed: Option<PeerId>,
}

impl Default for Lobby {
    fn default() -> Lobby {
        Lobby {
            now: Micros::ZERO,
            is_open: false,
            code: String::new(),
            mode: String::new(),
            waiting: Vec::new(),
            countdown: Countdown::default(),
            starts_at: None,
            is_forced: false,
            asked_at: None,
            told_at: None,
            slow: Slow::default(),
            applied: None,
            focus: Button::Ready,
            doomed: None,
        }
    }
}

fn waiting_of(view: &RoomView, me: Option<PeerId>) -> Vec<Waiting> {
    let waiting = view.members.iter().filter_map(|member| {
        Some(Waiting {
            peer: member.peer,
            seat: member.slot.map(Slot::index)?,
            name: member.name.as_str().to_string(),
            is_ready: member.ready,
            is_away: member.away || member.resting,
            is_host: member.peer == view.host,
            is_own: Some(member.peer) == me,
        })
    });
    waiting.collect()
}

impl Lobby {
    fn own(&self) -> Option<&Waiting> {
        self.waiting.iter().find(|waiting| waiting.is_own)
    }

    fn is_host(&self) -> bool {
        self.own().is_some_and(|own| own.is_host)
    }

    /// Whole seconds until the match starts.
    fn seconds(&self) -> Option<u64> {
        let left = self.starts_at?.since(self.now).as_millis();
        Some(left.div_ceil(1_000))
    }

    /// Whether the last seconds are counted aloud.
    fn is_counting(&self) -> bool {
        self.starts_at.is_some_and(|at| at.since(self.now) <= COUNT)
    }

    /// The players who are here and not ready.
    fn missing(&self) -> impl Iterator<Item = &Waiting> {
        self.waiting.iter().filter(|waiting| !waiting.is_away && !waiting.is_ready)
    }

    /// One line about what is waited for.
    fn status(&self) -> String {
        let seconds = self.seconds();
        let mut missing = self.missing();
        match (missing.next(), missing.next(), seconds) {
            _ if self.is_forced => format!("The host starts in {}.", seconds.unwrap_or(0)),
            (None, _, Some(seconds)) => format!("Off in {seconds}."),
            (Some(last), None, Some(seconds)) if last.is_own => {
                format!("All wait for you. Off in {seconds}.")
            }
            (Some(last), None, Some(seconds)) => format!("Waiting for {}. Off in {seconds}.", last.name),
            (Some(last), None, None) if !last.is_own => format!("Waiting for {}.", last.name),
            _ if self.own().is_some_and(|own| own.is_ready) => "Waiting for the others.".to_string(),
            _ => "Say when you are ready.".to_string(),
        }
    }

    /// All buttons, in the order in which keys reach them.
    fn buttons(&self) -> Vec<Button> {
        let mut buttons = vec![Button::Ready];
        if self.is_host() {
            if self.missing().any(|waiting| !waiting.is_own) {
                buttons.push(Button::Start);
            }
            for other in self.waiting.iter().filter(|waiting| !waiting.is_own) {
                buttons.extend([Button::Hand(other.peer), Button::Kick(other.peer)]);
            }
            buttons.push(Button::Slow);
        }
        buttons.extend([Button::Delay, Button::Invite, Button::Leave]);
        buttons
    }

    fn settings(&self) -> String {
        format!("{{\"mode\":\"{}\",\"slow\":\"{}\"}}", self.mode, self.slow.row().1)
    }

    fn choose(&mut self, button: Button, room: &mut dyn HostedRoom) -> Option<LobbyWish> {
        let doomed = self.doomed.take();
        self.focus = button;
        match button {
            Button::Ready => self.honk(room),
            Button::Start => room.command(HostCommand::Start { countdown: COUNT }),
            Button::Hand(peer) => room.command(HostCommand::TransferHost(peer)),
            // The second press means it.
            Button::Kick(peer) if doomed == Some(peer) => room.command(HostCommand::Kick(peer)),
            Button::Kick(peer) => self.doomed = Some(peer),
            Button::Slow => {
                self.slow = self.slow.next();
                self.tell_settings(room);
            }
            Button::Delay => return Some(LobbyWish::Delay),
            Button::Invite => return Some(LobbyWish::Invite),
            Button::Leave => return Some(LobbyWish::Leave),
        }
        None
    }

    fn tell_settings(&self, room: &mut dyn HostedRoom) {
        if let Ok(settings) = RawJson::new(&self.settings()) {
            room.command(HostCommand::Settings(settings));
        }
    }

    /// Takes over the room's settings. The host's page writes the mode into those of a new room.
    fn read_settings(&mut self, settings: &str, room: &mut dyn HostedRoom) {
        let is_new = !settings.as_bytes().contains(&b'"');
        if is_new {
            if self.is_host() && self.told_at.is_none_or(|at| self.now.since(at) >= ASKED_AGAIN) {
                self.told_at = Some(self.now);
                self.tell_settings(room);
            }
            return;
        }
        self.slow = Slow::of(settings);
        if self.applied.replace(self.slow) != Some(self.slow) {
            room.set_slow_policy(self.slow.policy());
        }
    }
}

impl LobbyScreen for Lobby {
    fn update(&mut self, now: Micros, room: &mut dyn HostedRoom) {
        self.now = now;
        let me = room.members().into_iter().find(|member| member.is_local).map(|member| member.peer);
        let phase = room.phase();
        let view = room.lobby_client().and_then(|client| client.room());
        let Some(view) = view.filter(|view| view.starts_together()) else {
            *self = Lobby { now, applied: self.applied, ..Lobby::default() };
            return;
        };
        let was_open = std::mem::replace(&mut self.is_open, view.status != Status::Playing && me.is_some());
        let settings = view.settings.as_str().to_string();
        self.waiting = waiting_of(view, me);
        self.code = view.code.to_string();
        let mode = view.mode.as_str();
        self.mode = mode.split('-').next().unwrap_or(mode).to_string();
        self.read_settings(&settings, room);
        if !self.is_open {
            (self.starts_at, self.asked_at, self.doomed) = (None, None, None);
            self.countdown = Countdown::default();
            return;
        }
        if !was_open {
            self.focus = Button::Ready;
        }
        if !self.buttons().contains(&self.focus) {
            self.focus = Button::Ready;
        }
        let forced = match phase {
            Phase::Lobby { starts_at } => starts_at,
            _ => None,
        };
        let present = self.waiting.iter().filter(|waiting| !waiting.is_away);
        let (present, ready) = (present.clone().count(), present.filter(|waiting| waiting.is_ready).count());
        self.is_forced = forced.is_some();
        self.starts_at = forced.or_else(|| self.countdown.update(now, present, ready));
        let is_due = !self.is_forced && self.starts_at.is_some_and(|at| now >= at);
        if is_due && self.is_host() && self.asked_at.is_none_or(|at| now.since(at) >= ASKED_AGAIN) {
            self.asked_at = Some(now);
            room.command(HostCommand::Start { countdown: Micros::ZERO });
        }
    }

    fn is_open(&self) -> bool {
        self.is_open
    }

    fn waiting(&self) -> &[Waiting] {
        &self.waiting
    }

    fn honk(&mut self, room: &mut dyn HostedRoom) {
        // Once the host has started there is nothing to be ready for.
        if let Some(own) = self.own().filter(|_| !self.is_forced) {
            room.set_ready(!own.is_ready);
        }
    }

    fn press(&mut self, key: Key, room: &mut dyn HostedRoom) -> Option<LobbyWish> {
        let buttons = self.buttons();
        let at = buttons.iter().position(|button| *button == self.focus).unwrap_or(0);
        let to = match key {
            Key::Enter => return self.choose(self.focus, room),
            Key::Escape => return Some(LobbyWish::Leave),
            Key::Up | Key::Left => at + buttons.len() - 1,
            Key::Down | Key::Right => at + 1,
            _ => return None,
        };
        self.focus = buttons[to % buttons.len()];
        self.doomed = None;
        None
    }

    fn tap(&mut self, at: (View, i32, i32), touch: bool, room: &mut dyn HostedRoom) -> Option<LobbyWish> {
        let button = picture::Plan::of(self, at.0, touch).button_at(at.0, at.1, at.2)?;
        self.choose(button, room)
    }

    fn is_button_at(&self, at: (View, i32, i32), touch: bool) -> bool {
        picture::Plan::of(self, at.0, touch).button_at(at.0, at.1, at.2).is_some()
    }

    fn draw(&self, scene: &mut Scene, view: View, facts: &LobbyFacts<'_>) {
        picture::draw(self, scene, view, facts);
    }

    fn words(&self, facts: &LobbyFacts<'_>) -> String {
        let mut words = format!("The roost, room {}. {}", self.code, self.status());
        for waiting in &self.waiting {
            let host = if waiting.is_host { ", host" } else { "" };
            words.push_str(&format!(" {}{host}: {}.", waiting.name, state_of(waiting)));
        }
        words.push_str(&format!(" In focus: {}.", self.label(self.focus, facts)));
        words
    }
}

fn state_of(waiting: &Waiting) -> &'static str {
    match (waiting.is_away, waiting.is_ready) {
        (true, _) => "away",
        (false, true) => "ready",
        (false, false) => "not ready",
    }
}

impl Lobby {
    fn label(&self, button: Button, facts: &LobbyFacts<'_>) -> String {
        let name = |peer: PeerId| {
            let waiting = self.waiting.iter().find(|waiting| waiting.peer == peer);
            waiting.map_or("", |waiting| &waiting.name)
        };
        match button {
            Button::Ready if self.own().is_some_and(|own| own.is_ready) => "Not ready".to_string(),
            Button::Ready => "Ready".to_string(),
            Button::Start => "Start now".to_string(),
            Button::Hand(peer) => format!("Make {} the host", name(peer)),
            Button::Kick(peer) if self.doomed == Some(peer) => format!("Really send {} away", name(peer)),
            Button::Kick(peer) => format!("Send {} away", name(peer)),
            Button::Slow => format!("Slow machines: {}", self.slow.row().2),
            Button::Delay => format!("Input delay: {}. {}", facts.delay, facts.cost),
            Button::Invite => "Invite".to_string(),
            Button::Leave => "Leave".to_string(),
        }
    }
}
