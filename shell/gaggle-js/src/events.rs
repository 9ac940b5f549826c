//! Events of a room as JavaScript gets them: a name, and few fields that every event has.
//!
//! `room.rs` passes them on; `js/events.js` names the fields. Absent: what players see.

use gaggle::{LeaveCause, PeerId, RoomEvent};
use wasm_bindgen::prelude::*;

#[wasm_bindgen]
extern "C" {
    /// The part of a room in JavaScript that takes events.
    pub type Sink;

    #[wasm_bindgen(method)]
    fn event(this: &Sink, kind: &str, text: &str, peer: &str, name: &str, word: &str, number: f64);
}

/// Fields of an event, empty where it has none.
#[derive(Default)]
struct Fields<'a> {
    peer: Option<PeerId>,
    name: &'a str,
    word: String,
    number: f64,
}

/// Passes an event to JavaScript.
pub(crate) fn pass_on(event: &RoomEvent, sink: &Sink) {
    let (kind, fields) = parts(event);
    let peer = fields.peer.map(|peer| peer.to_string()).unwrap_or_default();
    sink.event(kind, &event.to_string(), &peer, fields.name, &fields.word, fields.number);
}

fn of_word(word: String) -> Fields<'static> {
    Fields { word, ..Fields::default() }
}

fn of_number(number: f64) -> Fields<'static> {
    Fields { number, ..Fields::default() }
}

fn of_peer<'a>(peer: &PeerId, name: &'a str) -> Fields<'a> {
    Fields { peer: Some(*peer), name, ..Fields::default() }
}

fn parts(event: &RoomEvent) -> (&'static str, Fields<'_>) {
    let none = Fields::default();
    match event {
        RoomEvent::GuestKey(key) => ("guestKey", of_word(key.clone())),
        RoomEvent::SignedIn { name } => ("signedIn", Fields { name, ..none }),
        RoomEvent::SignInRejected(_) => ("signInRejected", none),
        RoomEvent::RoomJoined { code, resumed } => {
            ("roomJoined", Fields { number: f64::from(u8::from(*resumed)), ..of_word(code.to_string()) })
        }
        RoomEvent::RoomLeft { reason } => ("roomLeft", of_word(reason.to_string())),
        RoomEvent::OpenedElsewhere => ("openedElsewhere", none),
        RoomEvent::LobbyDisconnected => ("serverLost", none),
        RoomEvent::LobbyReconnected => ("serverBack", none),
        RoomEvent::RequestRejected { rejection, .. } => ("rejected", of_word(rejection.code.to_string())),
        RoomEvent::ResultStored => ("resultStored", none),
        RoomEvent::MatchStarting { at } => ("matchStarting", of_number(at.get() as f64 / 1_000.0)),
        RoomEvent::MatchEnded => ("matchEnded", none),
        RoomEvent::Joining { percent } => ("joining", of_number(f64::from(*percent))),
        RoomEvent::JoinFailed => ("joinFailed", none),
        RoomEvent::Rejected { peer, name, reason } => {
            ("peerRejected", Fields { word: reason.to_string(), ..of_peer(peer, name) })
        }
        RoomEvent::StateTooLarge { bytes, .. } => ("stateTooLarge", of_number(*bytes as f64)),
        RoomEvent::LinkTooSlow { peer, name, rtt, .. } => {
            ("linkTooSlow", Fields { number: rtt.get() as f64 / 1_000.0, ..of_peer(peer, name) })
        }
        RoomEvent::MatchJoined => ("matchJoined", none),
        RoomEvent::SpectatingStarted => ("spectatingStarted", none),
        RoomEvent::PlayerJoined { peer, name } => ("playerJoined", of_peer(peer, name)),
        RoomEvent::PlayerLeft { peer, name, cause } => {
            let word = if *cause == LeaveCause::Left { "left" } else { "timed out" };
            ("playerLeft", Fields { word: word.to_string(), ..of_peer(peer, name) })
        }
        RoomEvent::SlowPlayer { peer, name, share_permille, .. } => {
            ("slowPlayer", Fields { number: f64::from(*share_permille) / 1_000.0, ..of_peer(peer, name) })
        }
        RoomEvent::PlayerInterrupted { peer, name } => ("playerInterrupted", of_peer(peer, name)),
        RoomEvent::PlayerResumed { peer, name } => ("playerResumed", of_peer(peer, name)),
        RoomEvent::PathChanged { peer, name, path, .. } => {
            let word = path.map(|path| path.to_string()).unwrap_or_default();
            ("pathChanged", Fields { word, ..of_peer(peer, name) })
        }
        RoomEvent::HostChanged { peer, name } => ("hostChanged", of_peer(peer, name)),
        RoomEvent::ReadyChanged { peer, name, ready } => {
            ("readyChanged", Fields { number: f64::from(u8::from(*ready)), ..of_peer(peer, name) })
        }
        RoomEvent::ValueChanged { peer, .. } => ("valuesChanged", of_peer(peer, "")),
        RoomEvent::SettingsChanged => ("settingsChanged", none),
        RoomEvent::LeaderChanged { peer, name } => ("leaderChanged", of_peer(peer, name)),
        RoomEvent::BranchAbandoned => ("branchAbandoned", none),
        RoomEvent::DesyncDetected { peer, name, frame } => {
            ("desyncDetected", Fields { number: f64::from(frame.number()), ..of_peer(peer, name) })
        }
        RoomEvent::DesyncLocated { peer, name, cause } => {
            ("desyncLocated", Fields { word: cause.to_string(), ..of_peer(peer, name) })
        }
        RoomEvent::InputsDiverged { peer, name, frame, .. } => {
            ("inputsDiverged", Fields { number: f64::from(frame.number()), ..of_peer(peer, name) })
        }
        RoomEvent::StateNotDecodable { frame } => ("stateNotDecodable", of_number(f64::from(frame.number()))),
        RoomEvent::DesyncRecovered { peer, name, frame } => {
            ("desyncRecovered", Fields { number: f64::from(frame.number()), ..of_peer(peer, name) })
        }
        // Events added by a later version have a text at least.
        _ => ("other", none),
    }
}
