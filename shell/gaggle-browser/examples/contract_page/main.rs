//! A page that runs the transport contract on the browser's carriers: three peers in one page,
//! connected like three pages.
//!
//! `shell/gaggle-browser/tests/in_chromium.rs` opens it; `guests.rs` is for tests with native
//! peers. On other targets it does nothing.

#![allow(missing_docs, reason = "an example's glue exports functions of its own")]

#[cfg(target_arch = "wasm32")]
pub mod guests;

#[cfg(target_arch = "wasm32")]
pub mod page {
    use gaggle_browser::{MeshServers, PageMesh, RelayWebSocket, mesh, now};
    use gaggle_kit::PeerId;
    use gaggle_link::contract::{LocalPeer, Progress, Rule, Run, SignalBoard, SteppedClock};
    use gaggle_link::relay::RelaySocket;
    use gaggle_link::{LinkConfig, MeshConfig, Path, PathConfig};
    use wasm_bindgen::prelude::*;
    use wasm_bindgen_futures::JsFuture;

    /// Three peers. Each line of `passes` has a peer and its ticket.
    fn transports(seed: u64, path: Path, relay: &str, passes: &str) -> Vec<LocalPeer<PageMesh>> {
        let passes: Vec<(PeerId, &str)> = passes
            .lines()
            .map(|line| line.split_once(' ').expect("a peer and a ticket"))
            .map(|(peer, ticket)| (peer.parse().expect("a peer"), ticket))
            .collect();
        let post = SignalBoard::default();
        let servers = MeshServers { ice: vec![], relay: Some(relay.to_string()) };
        let neighbor = |(me, ticket): &(PeerId, &str)| {
            let config = MeshConfig { paths: PathConfig::only(path), ..MeshConfig::default() };
            let links = mesh(*me, ticket, &servers, config, seed);
            let others = passes.iter().map(|(peer, _)| *peer).filter(|other| other != me).collect();
            LocalPeer::new(links, &post, others, path)
        };
        passes.iter().map(neighbor).collect()
    }

    async fn pause(millis: i32) {
        let promise = js_sys::Promise::new(&mut |resolve, _| {
            let window = web_sys::window().expect("a page has a window");
            window
                .set_timeout_with_callback_and_timeout_and_arguments_0(&resolve, millis)
                .expect("timers work");
        });
        JsFuture::from(promise).await.expect("timers do not fail");
    }

    /// Number of rules.
    #[wasm_bindgen]
    pub fn points() -> usize {
        Rule::ALL.len()
    }

    /// Events a relay socket reports at once.
    #[wasm_bindgen]
    pub fn line_tells(relay: &str) -> String {
        let mut line = RelayWebSocket::new(relay);
        line.open(now());
        line.offer(now());
        let told = std::iter::from_fn(|| line.poll(now(), &mut Vec::new()));
        format!("{:?}", told.collect::<Vec<_>>())
    }

    /// Runs one rule over one path; an empty text on success, else the failure.
    #[wasm_bindgen]
    pub async fn try_point(nth: usize, path: String, relay: String, passes: String) -> String {
        let point = Rule::ALL[nth];
        let seed = now().get() ^ nth as u64;
        let path = Path::ALL.into_iter().find(|known| known.to_string() == path).expect("a path");
        let transports = transports(seed, path, &relay, &passes);
        let mut trial = Run::new(point, transports, LinkConfig::default().timeout);
        let mut clock = SteppedClock::default();
        loop {
            match trial.step(clock.look(now())) {
                Progress::Running => pause(1).await,
                Progress::Passed => return String::new(),
                Progress::Failed(failure) => return format!("{point:?}: {failure}"),
            }
        }
    }
}
