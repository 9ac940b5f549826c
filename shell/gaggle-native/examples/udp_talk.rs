//! Chat of two or more terminals over UDP. In one:
//!
//! ```text
//! cargo run -p gaggle-native --example udp_talk -- 127.0.0.1:7001 "the geese fly at dawn"
//! ```
//!
//! and in another, with the address of the first behind the phrase:
//!
//! ```text
//! cargo run -p gaggle-native --example udp_talk -- \
//!     127.0.0.1:7002 "the geese fly at dawn" 127.0.0.1:7001
//! ```
//!
//! Try `LATENCY=300 LOSS=20` in front of one of them: every line still arrives, once and in order.

use std::error::Error;
use std::io::{BufRead, stdin};
use std::sync::mpsc;
use std::thread;
use std::time::Duration;

use gaggle_link::sim::Conditions;
use gaggle_link::{Channel, CloseCode, Endpoint, LinkConditioner, LinkConfig, Transport, TransportEvent};
use gaggle_native::{Clock, RoomKey, UdpCarrier, UdpConfig, random_peer_id, random_seed};

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [own, phrase, others @ ..] = arguments.as_slice() else {
        return Err("usage: udp_talk OWN_ADDRESS PHRASE [ADDRESS …]".into());
    };
    let mut carrier = UdpCarrier::bind(
        own.parse()?,
        random_peer_id()?,
        &RoomKey::from_phrase(phrase),
        UdpConfig::default(),
    )?;
    for other in others {
        carrier.connect(other.parse()?);
    }
    let settings = [("latency", "LATENCY"), ("loss", "LOSS")]
        .map(|(key, variable)| (key, std::env::var(variable).unwrap_or("0".into())));
    let conditions = Conditions::from_settings(settings.iter().map(|(key, value)| (*key, value.as_str())))?;
    let mut link = Endpoint::new(
        LinkConditioner::new(carrier, conditions, random_seed()?),
        LinkConfig::default(),
        random_seed()?,
    );

    // Reading a line blocks, so it has a thread of its own.
    let (typed, lines) = mpsc::channel();
    thread::spawn(move || stdin().lock().lines().map_while(Result::ok).all(|line| typed.send(line).is_ok()));
    let clock = Clock::start();
    println!("You are {:?}. Type a line, or end the input to leave.", link.local_id());
    loop {
        let now = clock.now();
        while let Some(event) = link.poll(now) {
            match event {
                TransportEvent::Connected { peer } => println!("* {peer:?} is connected"),
                TransportEvent::Disconnected { peer, reason } => println!("* {peer:?} is gone: {reason:?}"),
                TransportEvent::Message { peer, bytes, .. } => {
                    println!("{peer:?}: {}", String::from_utf8_lossy(bytes));
                }
            }
        }
        match lines.try_recv() {
            Ok(line) => link.broadcast(now, Channel::Reliable(0), line.as_bytes())?,
            Err(mpsc::TryRecvError::Empty) => thread::sleep(Duration::from_millis(5)),
            Err(mpsc::TryRecvError::Disconnected) => break,
        }
    }
    for peer in link.peers().to_vec() {
        link.disconnect(clock.now(), peer, CloseCode::LEAVING);
    }
    Ok(())
}
