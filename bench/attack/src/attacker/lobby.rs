//! Attacks of lobby members: large messages, endless searches. Absent: honest clients.

use std::net::SocketAddr;
use std::sync::mpsc;
use std::time::{Duration, Instant};

use tungstenite::Message;

use super::{Hits, Strength, spread};
use crate::client::{Guest, Target, hostile};

/// Bytes of a message; the lobby accepts 65,536.
const MESSAGE_BYTES: usize = 65_000;
const SPEAKERS: usize = 16;
const SPEAKERS_PER_ADDRESS: usize = 4;
const SEARCHERS_PER_ADDRESS: usize = 100;
const LANES: usize = 16;
/// Searchers of a thread served in a row before a pause: each is served several times in the 15 s
/// within which a ping must be answered.
const STAYING_AT_ONCE: usize = 8;
const STAYING_PAUSE: Duration = Duration::from_millis(30);
/// Time after which the attack begins with the players that have joined.
const COMING_MAX: Duration = Duration::from_secs(40);

/// Long messages without meaning, some of which the lobby has to parse to their end.
pub(super) fn large_messages(at: SocketAddr, strength: Strength, hits: &Hits) -> Result<(), String> {
    let filling = "x".repeat(MESSAGE_BYTES - 100);
    let nested = "[".repeat(15) + &"0,".repeat(30_000) + "0" + &"]".repeat(15);
    let said = [
        format!(r#"{{"type":"touch","unknown":"{filling}"}}"#),
        format!(r#"{{"type":"settings","settings":{{"a":{nested}}}}}"#),
        filling,
    ];
    let target = Target { address: at, tls: None };
    spread(SPEAKERS, strength, 1, hits, |speaker| {
        let (said, target, mut guest, mut nth) = (said.clone(), target.clone(), None::<Guest>, 0);
        Box::new(move || {
            nth += 1;
            let own = guest.take().or_else(|| {
                let from = hostile(speaker / SPEAKERS_PER_ADDRESS);
                let own = Guest::connect(from, &target, &format!("large-speaker-{speaker:06}")).ok()?;
                own.socket.get_ref().socket().set_read_timeout(Some(Duration::from_millis(1))).ok()?;
                Some(own)
            });
            let Some(mut own) = own else { return 0 };
            if own.socket.send(Message::text(said[nth % said.len()].as_str())).is_err() {
                return 0;
            }
            // Rejections are read, because the server would stop reading from a full connection.
            while own.hear().is_ok() {}
            guest = own.socket.can_write().then_some(own);
            1
        })
    });
    Ok(())
}

/// `strength` players who search by skill. Each peer has five players in a mode of eight slots, so
/// no two of them fit into one room and the search never ends.
pub(super) fn searchers(at: SocketAddr, strength: Strength, hits: &Hits) -> Result<(), String> {
    let target = Target { address: at, tls: None };
    let (came, all_came) = mpsc::channel();
    let began = Instant::now();
    for lane in 0..LANES {
        let (hits, target, came) = (hits.clone(), target.clone(), came.clone());
        std::thread::spawn(move || {
            let find = r#"{"type":"find","game":"siege","mode":"skill","players":5}"#;
            let mut guests = Vec::new();
            for nth in (lane..strength as usize).step_by(LANES) {
                if began.elapsed() > COMING_MAX {
                    break;
                }
                let from = hostile(nth / SEARCHERS_PER_ADDRESS);
                let guest = Guest::connect(from, &target, &format!("skill-searcher-{nth:08}"));
                if let Ok(guest) = guest.and_then(|mut guest| guest.say(find).map(|()| guest)) {
                    hits.add(1);
                    guests.push(guest);
                }
            }
            let _ = came.send(());
            // They only have to answer pings: at the lowest priority, so that they take no time
            // from the server, and in turns.
            let _ = rustix::process::setpriority_process(None, 19);
            guests.retain_mut(|guest| guest.socket.get_ref().socket().set_nonblocking(true).is_ok());
            loop {
                for some in guests.chunks_mut(STAYING_AT_ONCE) {
                    for guest in some {
                        while guest.socket.read().is_ok() {}
                    }
                    std::thread::sleep(STAYING_PAUSE);
                }
                std::thread::sleep(STAYING_PAUSE);
            }
        });
    }
    (0..LANES).for_each(|_| _ = all_came.recv());
    Ok(())
}
