//! Malformed session descriptions and candidates: whatever another peer sends is used or rejected,
//! without a panic of str0m.

#![allow(clippy::unwrap_used, reason = "helpers of tests may panic like tests")]

use std::time::Instant;

use gaggle_rtc::{Certificate, Role, RtcChannel};

/// Offer of a channel by Chromium.
const CHROMIUM: &str = "v=0\r\no=- 4611731400430051336 2 IN IP4 127.0.0.1\r\ns=-\r\nt=0 0\r\na=group:BUNDLE 0\r\n\
    a=extmap-allow-mixed\r\na=msid-semantic: WMS\r\nm=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\n\
    c=IN IP4 0.0.0.0\r\na=ice-ufrag:F7gI\r\na=ice-pwd:x9cml/YzichV2+XlhiMu8g10\r\na=ice-options:trickle\r\n\
    a=fingerprint:sha-256 D2:FA:0E:C3:22:59:5E:14:95:69:92:3D:13:B4:84:24:2C:C2:A2:C0:3E:FD:34:8E:5E:EA:6F:AF:52:CE:E6:0F\r\n\
    a=setup:actpass\r\na=mid:0\r\na=sctp-port:5000\r\na=max-message-size:262144\r\n";

/// Offer of a channel by Firefox.
const FIREFOX: &str = "v=0\r\no=mozilla...THIS_IS_SDPARTA-99.0 5936500821043434337 0 IN IP4 0.0.0.0\r\ns=-\r\nt=0 0\r\n\
    a=sendrecv\r\n\
    a=fingerprint:sha-256 D2:FA:0E:C3:22:59:5E:14:95:69:92:3D:13:B4:84:24:2C:C2:A2:C0:3E:FD:34:8E:5E:EA:6F:AF:52:CE:E6:0F\r\n\
    a=group:BUNDLE 0\r\na=ice-options:trickle\r\na=msid-semantic:WMS *\r\n\
    m=application 9 UDP/DTLS/SCTP webrtc-datachannel\r\nc=IN IP4 0.0.0.0\r\na=sendrecv\r\na=ice-pwd:0a1b2c3d4e5f60718293a4b5c6d7e8f9\r\n\
    a=ice-ufrag:5e1f0a2b\r\na=mid:0\r\na=setup:actpass\r\na=sctp-port:5000\r\na=max-message-size:1073741823\r\n";

const CANDIDATES: [&str; 4] = [
    "candidate:842163049 1 udp 1677729535 192.0.2.7 46154 typ srflx raddr 10.0.0.1 rport 46154 generation 0 ufrag F7gI network-cost 999",
    "candidate:1 1 UDP 2122252543 192.168.1.7 49203 typ host",
    "candidate:2 1 tcp 1518280447 2001:db8::1 9 typ host tcptype active",
    "candidate:3 1 udp 1 4d7f2c1e-9f0e-4c2a-9d0a-3f1f8ad0a001.local 9 typ host",
];

/// Replacements for a number, name or word.
const ODD: [&str; 7] = ["", "0", "-1", "65536", "18446744073709551616", "\0é", ":::::::::::::::::::::::::::"];

struct Rig {
    certificate: Certificate,
    now: Instant,
    used: usize,
    refused: usize,
}

impl Rig {
    fn new() -> Rig {
        Rig { certificate: Certificate::generate().unwrap(), now: Instant::now(), used: 0, refused: 0 }
    }

    fn channel(&self, role: Role) -> RtcChannel {
        let mut channel = RtcChannel::new(self.now, role, &self.certificate);
        channel.add_host(([127, 0, 0, 1], 4_000).into()).unwrap();
        channel
    }

    fn note(&mut self, is_used: bool) {
        self.used += usize::from(is_used);
        self.refused += usize::from(!is_used);
    }

    /// Passes a description as an offer and as an answer.
    fn describe(&mut self, description: &str) {
        let mut answering = self.channel(Role::Server);
        let is_used = answering.answer(description).is_ok();
        let _ = answering.poll(self.now);
        assert!(!answering.crashed(), "as an offer: {description:?}");
        self.note(is_used);
        let mut offering = self.channel(Role::Peer);
        offering.offer().unwrap();
        let is_used = offering.accept(description).is_ok();
        let _ = offering.poll(self.now);
        assert!(!offering.crashed(), "as an answer: {description:?}");
        self.note(is_used);
    }

    fn find(&mut self, channel: &mut RtcChannel, candidate: &str) {
        let is_used = channel.add_remote(candidate).is_ok();
        let _ = channel.poll(self.now);
        assert!(!channel.crashed(), "{candidate:?}");
        self.note(is_used);
    }
}

/// Variations of a text: truncated, with lines removed, repeated or swapped, with words replaced.
fn near(text: &str) -> Vec<String> {
    let lines: Vec<&str> = text.split_inclusive("\r\n").collect();
    let mut all: Vec<String> =
        (0..text.len()).step_by(7).filter_map(|cut| text.get(..cut)).map(String::from).collect();
    for nth in 0..lines.len() {
        let with = |lines: Vec<&str>| lines.concat();
        all.push(with([&lines[..nth], &lines[nth + 1..]].concat()));
        all.push(with([&lines[..=nth], &lines[nth..]].concat()));
        all.push(with([&lines[nth..], &lines[..nth]].concat()));
        let words: Vec<&str> = lines[nth].split_inclusive([' ', ':', '=', '/', ',']).collect();
        for word in 0..words.len() {
            for odd in ODD {
                let mut changed = words.clone();
                changed[word] = odd;
                all.push(
                    [&lines[..nth].concat(), &changed.concat(), "\r\n", &lines[nth + 1..].concat()].concat(),
                );
            }
        }
    }
    all
}

/// The text with a few random bytes replaced, many times, from a fixed seed.
fn noise(text: &str, times: usize) -> impl Iterator<Item = String> {
    let (bytes, mut state) = (text.as_bytes().to_vec(), 7u64);
    let mut next = move || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as usize
    };
    (0..times).map(move |_| {
        let mut bytes = bytes.clone();
        for _ in 0..1 + next() % 4 {
            let at = next() % bytes.len();
            bytes[at] = b"\r\n :=/,0123456789ABCDEFabcdefmvosticap\xff"[next() % 39];
        }
        String::from_utf8_lossy(&bytes).into_owned()
    })
}

#[test]
fn descriptions_are_used_or_rejected() {
    let mut rig = Rig::new();
    for whole in [CHROMIUM, FIREFOX] {
        assert!(rig.channel(Role::Server).answer(whole).is_ok(), "{whole}");
        noise(whole, 300).for_each(|text| rig.describe(&text));
    }
    near(CHROMIUM).iter().for_each(|text| rig.describe(text));
    let long = CHROMIUM.replace("a=mid:0\r\n", &"a=mid:0\r\n".repeat(700));
    rig.describe(&long);
    rig.describe(&CHROMIUM.replace("F7gI", &"F".repeat(8_000)));
    assert!(rig.used > 50 && rig.refused > 500, "{} used and {} rejected", rig.used, rig.refused);
}

#[test]
fn candidates_are_used_or_rejected() {
    let mut rig = Rig::new();
    for whole in CANDIDATES {
        let mut channel = rig.channel(Role::Peer);
        let offer = channel.offer();
        assert!(offer.is_ok());
        for text in near(whole).into_iter().chain(noise(whole, 1_000)) {
            rig.find(&mut channel, &text);
            rig.find(&mut channel, &format!("a={text}"));
        }
    }
    assert!(rig.used > 10 && rig.refused > 100, "{} used and {} rejected", rig.used, rig.refused);
}
