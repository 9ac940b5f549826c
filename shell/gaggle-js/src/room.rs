//! A room as JavaScript sees it: methods of numbers, texts and bytes.
//!
//! `js/handle.js` calls them. Absent: names for players, the page, what is drawn.

use gaggle::timeline::{Request, SimId};
use gaggle::{HostCommand, Micros, PeerId, Phase, RawJson, RequestRoom, SavedStates, Slot};
use wasm_bindgen::prelude::*;

use crate::events::{self, Sink};
use crate::pad::Pad;
use crate::script::{Driver, Script};
use crate::settings::{Settings, join_target};

#[cfg(not(feature = "simulate"))]
type Outside = gaggle_browser::PagePlatform;
#[cfg(feature = "simulate")]
type Outside = gaggle::testing::SimPlatform;

/// Checksums that are kept: about a minute.
const CHECKSUMS_KEPT: usize = 64;
/// What [`Room::update`] returns after the game threw.
const FAILED: i32 = -1;
/// Key of the one value under which a member's values travel together.
const VALUES: u8 = 0;

/// One room of a game in JavaScript.
#[wasm_bindgen]
pub struct Room {
    room: RequestRoom<Pad, Outside>,
    saved: SavedStates<JsValue>,
    script: Script,
    /// Frames and hashes of settled states, oldest first.
    checksums: Vec<(u32, u64)>,
    /// Matches shown so far; a recording is of one.
    matches: u32,
}

impl std::fmt::Debug for Room {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Room").field("room", &self.room).finish_non_exhaustive()
    }
}

impl Room {
    pub(crate) fn create(
        now: f64,
        settings: &Settings,
        platform: Outside,
        driver: Driver,
    ) -> Result<Room, String> {
        let config = settings.config()?;
        let saved = SavedStates::new(&config.engine);
        let room = RequestRoom::open(micros(now), config, platform, settings.shape(), settings.seed());
        Ok(Room {
            room: room.map_err(|error| error.to_string())?,
            saved,
            script: Script::new(driver),
            checksums: Vec::new(),
            matches: 0,
        })
    }

    /// Fulfills requests until the update is done. After the game threw none is fulfilled: no other
    /// peer gets anything of its state.
    fn fulfill(&mut self) {
        while let Some(request) = self.room.poll_request() {
            match request {
                _ if self.script.has_failed() => {}
                Request::Hash { sim: SimId::Live, frame, hash } => {
                    let request = Request::Hash { sim: SimId::Live, frame, hash: &mut *hash };
                    self.saved.fulfill::<Pad>(request, &mut self.script);
                    if self.script.has_failed() {
                        *hash = None;
                    }
                    if let Some(hash) = *hash {
                        if self.checksums.len() == CHECKSUMS_KEPT {
                            self.checksums.remove(0);
                        }
                        self.checksums.push((frame.number(), hash));
                    }
                }
                request => {
                    if begins_match(&request) {
                        self.checksums.clear();
                        self.matches += 1;
                    }
                    self.saved.fulfill(request, &mut self.script);
                }
            }
        }
        if !self.script.has_failed() {
            self.saved.load_live::<Pad>(&mut self.script);
        }
    }
}

/// Whether frames of the shown match are numbered anew.
fn begins_match(request: &Request<'_, Pad>) -> bool {
    match request {
        Request::Renumber { sim } | Request::Start { sim, .. } => *sim == SimId::Live,
        Request::Import { sim, is_repair, .. } => *sim == SimId::Live && !is_repair,
        Request::Show { .. } => true,
        _ => false,
    }
}

/// The time of JavaScript in milliseconds.
fn micros(millis: f64) -> Micros {
    Micros::new((millis * 1_000.0) as u64)
}

fn millis(time: Option<Micros>) -> f64 {
    time.map_or(-1.0, |time| time.get() as f64 / 1_000.0)
}

fn words(error: &impl ToString) -> String {
    error.to_string()
}

fn peer(text: &str) -> Result<PeerId, String> {
    text.parse().map_err(|error| words(&error))
}

#[wasm_bindgen]
impl Room {
    /// Opens a room of a page.
    ///
    /// # Errors
    /// In words, if a setting is out of its range.
    #[cfg(not(feature = "simulate"))]
    pub fn open(now: f64, texts: Vec<String>, numbers: Vec<u32>, driver: Driver) -> Result<Room, String> {
        let settings = Settings::new(texts, numbers);
        let online = gaggle::OnlineConfig { conditions: settings.conditions()?, ..Default::default() };
        let platform = match settings.server() {
            "" => gaggle_browser::platform_with(online),
            server => gaggle_browser::platform_at(server, online),
        };
        Room::create(now, &settings, platform, driver)
    }

    /// Sets the input of a local player.
    pub fn input(&mut self, player: usize, a: u32, b: u32, c: u32, d: u32) {
        self.room.set_input(player, Pad([a, b, c, d]));
    }

    /// Does everything that is due. Returns the number of ticks, or −1 once the game threw: this
    /// peer has left the others then.
    pub fn update(&mut self, now: f64) -> i32 {
        let mut ticks = 0;
        // It may have thrown between two updates, in a call of the page.
        if !self.script.has_failed() {
            ticks = self.room.update(micros(now));
            self.fulfill();
        }
        if self.script.has_failed() {
            self.room.leave();
            return FAILED;
        }
        ticks as i32
    }

    /// Passes the next event on; false if there is none.
    #[wasm_bindgen(js_name = pollEvent)]
    pub fn poll_event(&mut self, sink: &Sink) -> bool {
        let event = self.room.poll_event();
        event.as_ref().inspect(|event| events::pass_on(event, sink)).is_some()
    }

    /// The next message: 32 digits of its sender, then its bytes. Empty if there is none.
    #[wasm_bindgen(js_name = pollMessage)]
    pub fn poll_message(&mut self) -> Vec<u8> {
        let Some((from, bytes)) = self.room.poll_message() else { return Vec::new() };
        [from.to_string().as_bytes(), &bytes].concat()
    }

    /// Sends to one peer, or to all if `to` is empty.
    ///
    /// # Errors
    /// In words, if it is too large or the peer is not connected.
    pub fn send(&mut self, to: &str, bytes: &[u8]) -> Result<(), String> {
        let to = if to.is_empty() { None } else { Some(peer(to)?) };
        self.room.send_message(to, bytes).map_err(|error| words(&error))
    }

    /// Sets all values of this member.
    ///
    /// # Errors
    /// In words, if they are too large.
    #[wasm_bindgen(js_name = setValues)]
    pub fn set_values(&mut self, bytes: &[u8]) -> Result<(), String> {
        self.room.set_value(VALUES, bytes).map_err(|error| words(&error))
    }

    /// All values of a member; empty if it has none.
    pub fn values(&self, of: &str) -> Vec<u8> {
        let of = of.parse().ok();
        of.and_then(|peer| self.room.value(peer, VALUES)).unwrap_or_default().to_vec()
    }

    /// The members, one line each with fields between tabs.
    pub fn members(&self) -> String {
        let mut lines = String::new();
        for member in self.room.members() {
            let flags = [member.is_local, member.is_leader, member.is_host, member.is_ready, member.is_away];
            let flags = flags.iter().enumerate().map(|(nth, is)| u32::from(*is) << nth).sum::<u32>();
            let slots: Vec<String> = member.slots.iter().map(|slot| slot.index().to_string()).collect();
            let link = member.link_stats;
            // Microseconds, because the formatting of fractions takes 4 kB in a page.
            let rtt = link.and_then(|link| link.rtt).map(|rtt| rtt.get().to_string());
            let loss = link.map_or(0, |link| link.loss_in_permille);
            let (bytes_in, bytes_out) = link.map_or((0, 0), |link| (link.bytes_in, link.bytes_out));
            let fields = [
                member.peer.to_string(),
                member.name,
                slots.join(","),
                flags.to_string(),
                member.path.map(|path| path.to_string()).unwrap_or_default(),
                rtt.unwrap_or_default(),
                loss.to_string(),
                bytes_in.to_string(),
                bytes_out.to_string(),
            ];
            lines += &fields.join("\t");
            lines.push('\n');
        }
        lines
    }

    /// Counters and positions, in the order of `js/handle.js`.
    pub fn figures(&self) -> Vec<f64> {
        let (session, stats) = (self.room.session(), self.room.stats());
        let numbers = [
            u64::from(session.current_frame().number()),
            u64::from(session.confirmed_frame().number()),
            stats.rollbacks,
            stats.frames_resimulated,
            u64::from(stats.rollback_frames_max),
            stats.stalled_ticks,
            u64::from(stats.input_delay_frames),
            stats.packets_sent,
            stats.bytes_sent,
            stats.recoveries,
            stats.corrections_without_rollback,
        ];
        numbers.into_iter().map(|number| number as f64).collect()
    }

    /// Number of the phase, and percent or start time where it has one.
    pub fn phase(&self) -> Vec<f64> {
        match self.room.phase() {
            Phase::Solo => vec![0.0],
            Phase::Lobby { starts_at } => vec![1.0, millis(starts_at)],
            Phase::Joining { percent } => vec![2.0, f64::from(percent)],
            Phase::Playing => vec![3.0],
            Phase::Spectating => vec![4.0],
            Phase::Suspended => vec![5.0],
            // Phases added by a later version.
            _ => vec![3.0],
        }
    }

    /// How far the display is between the last two ticks, 0 to 1.
    pub fn alpha(&self) -> f64 {
        f64::from(self.room.alpha_permille()) / 1_000.0
    }

    /// The peers that the match waits for, between spaces.
    pub fn stall(&self) -> String {
        let waiting = self.room.stall().map(|stall| stall.waiting_for).unwrap_or_default();
        waiting.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    }

    /// Slots of the local players.
    #[wasm_bindgen(js_name = localSlots)]
    pub fn local_slots(&self) -> Vec<u8> {
        self.room.local_slots().iter().map(|slot| slot.index() as u8).collect()
    }

    /// Whether this peer is the host.
    #[wasm_bindgen(js_name = isHost)]
    pub fn is_host(&self) -> bool {
        self.room.is_host()
    }

    /// A command of the host: its number, with a text or a number where it has one.
    ///
    /// # Errors
    /// In words, if this peer is not the host or a value is unknown.
    #[wasm_bindgen(js_name = hostCommand)]
    pub fn host_command(&mut self, command: u32, text: &str, number: f64) -> Result<(), String> {
        let access = |locked, private, max_players| HostCommand::Access { locked, private, max_players };
        let command = match command {
            0 => HostCommand::Start { countdown: micros(number) },
            1 => HostCommand::EndMatch,
            2 => HostCommand::Kick(peer(text)?),
            3 => HostCommand::TransferHost(peer(text)?),
            4 => HostCommand::Settings(RawJson::new(text).map_err(|error| words(&error))?),
            5 => access(Some(number > 0.0), None, None),
            6 => access(None, Some(number > 0.0), None),
            _ => access(None, None, Some(number as u8)),
        };
        self.room.host_command(command).map(|_| ()).map_err(|error| words(&error))
    }

    /// Tells the others whether the local player is ready.
    #[wasm_bindgen(js_name = setReady)]
    pub fn set_ready(&mut self, ready: bool) {
        self.room.set_ready(ready);
    }

    /// Settings of the room as JSON.
    pub fn settings(&self) -> String {
        self.room.settings().as_str().to_string()
    }

    /// Changes the display name.
    #[wasm_bindgen(js_name = setName)]
    pub fn set_name(&mut self, name: &str) {
        self.room.set_name(name);
    }

    /// Joins another room.
    ///
    /// # Errors
    /// In words, if the code is none.
    pub fn join(&mut self, kind: u32, code: &str) -> Result<(), String> {
        self.room.join(join_target(kind, code)?);
        Ok(())
    }

    /// Leaves the room.
    pub fn leave(&mut self) {
        self.room.leave();
        self.fulfill();
    }

    /// The page is closed: the slot is kept for its reload.
    pub fn close(&mut self) {
        self.room.close();
    }

    /// The page is hidden.
    pub fn suspend(&mut self) {
        self.room.suspend();
    }

    /// The page is visible again.
    pub fn resume(&mut self) {
        self.room.resume();
    }

    /// Takes the slot over from another tab.
    #[wasm_bindgen(js_name = takeOver)]
    pub fn take_over(&mut self) {
        self.room.take_over();
    }

    /// Sets the input delay in frames; negative lets it adapt.
    ///
    /// # Errors
    /// In words, if it is out of its range.
    #[wasm_bindgen(js_name = setInputDelay)]
    pub fn set_input_delay(&mut self, frames: i32) -> Result<(), String> {
        self.room.set_input_delay(u32::try_from(frames).ok()).map_err(|error| words(&error))
    }

    /// Reports the scores of these slots. A negative level is none. Returns whether it was sent.
    #[wasm_bindgen(js_name = reportResult)]
    pub fn report_result(&mut self, slots: &[u8], scores: &[f64], level: i32, digest: &[u8]) -> bool {
        let scores = slots.iter().zip(scores);
        let scores: Vec<(Slot, i64)> =
            scores.map(|(slot, score)| (Slot::at((*slot).into()), *score as i64)).collect();
        let digest = gaggle::kit::fnv1a_64(digest);
        self.room.report_result(&scores, u32::try_from(level).ok(), digest)
    }

    /// Begins another match in the same room.
    #[wasm_bindgen(js_name = startRound)]
    pub fn start_round(&mut self) {
        self.room.start_round();
    }

    /// Number of the latest state without predicted input.
    #[wasm_bindgen(js_name = confirmedFrame)]
    pub fn confirmed_frame(&self) -> u32 {
        self.room.session().confirmed_state_frame().number()
    }

    /// The saved state of this frame; undefined if it is not held.
    pub fn saved(&self, frame: u32) -> JsValue {
        self.saved.saved(gaggle::Frame::new(frame)).cloned().unwrap_or_default()
    }

    /// Number of the shown match, counted from 0.
    #[wasm_bindgen(js_name = matchNumber)]
    pub fn match_number(&self) -> u32 {
        self.matches
    }

    /// Inputs of settled frames from this one on: for each the slots with a player in two words,
    /// then the words of every slot. None if a frame is not held any more.
    #[wasm_bindgen(js_name = settledRows)]
    pub fn settled_rows(&self, from: u32) -> Option<Vec<u32>> {
        let session = self.room.session();
        // A spectator does not know which frames are settled; the frames it is shown are confirmed.
        let last = match session.is_spectating() {
            true => session.confirmed_frame().min(session.current_frame()),
            false => session.settled_frame(),
        };
        let mut rows = Vec::new();
        for frame in from..=last.number() {
            let inputs = session.confirmed_inputs(gaggle::Frame::new(frame))?;
            let present = inputs.present_slots();
            rows.extend([present.bits() as u32, (present.bits() >> 32) as u32]);
            for slot in (0..session.slot_count()).map(Slot::at) {
                rows.extend(if present.contains(slot) { inputs.get(slot).0 } else { [0; 4] });
            }
        }
        Some(rows)
    }

    /// Frames and checksums of settled states, one line each.
    pub fn checksums(&self) -> String {
        self.checksums.iter().map(|(frame, hash)| format!("{frame} {hash:016x}\n")).collect()
    }

    /// Calls back when something arrives while the page is hidden, or no more without a function.
    #[cfg(not(feature = "simulate"))]
    #[wasm_bindgen(js_name = onArrival)]
    pub fn on_arrival(&self, handler: Option<js_sys::Function>) {
        let handler = handler.map(|handler| {
            std::rc::Rc::new(move || {
                let _ = handler.call0(&JsValue::NULL);
            }) as std::rc::Rc<dyn Fn()>
        });
        gaggle_browser::on_arrival(handler);
    }
}
