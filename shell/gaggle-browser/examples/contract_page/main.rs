//! A page that puts the browser's ways to the test: three peers in one page, connected as three pages would be.
//!
//! `shell/gaggle-browser/tests/in_chromium.rs` opens it; `guests.rs` is for tests in which native peers take part. On other targets it
//! does nothing.

#![allow(missing_docs, reason = "an example's glue exports functions of its own")]

#[cfg(target_arch = "wasm32")]
pub mod guests;

#[cfg(target_arch = "wasm32")]
pub mod page {
    use std::cell::RefCell;
    use std::rc::Rc;

    use gaggle_browser::{Servers, links, now};
    use gaggle_kit::{Micros, PeerId};
    use gaggle_link::contract::{Point, Progress, Trial};
    use gaggle_link::{
        Channel, Event, Goodbye, LinkConfig, LinkStats, Links, LinksConfig, Path, PathConfig, SendError,
        Transport,
    };
    use wasm_bindgen::prelude::*;
    use wasm_bindgen_futures::JsFuture;

    /// Signals under way: from, to, what.
    type Post = Rc<RefCell<Vec<(PeerId, PeerId, String)>>>;

    /// Links whose signals travel within the page.
    struct Neighbour {
        links: Links,
        post: Post,
        others: Vec<PeerId>,
        /// The only way that may ever be taken.
        path: Path,
    }

    impl Transport for Neighbour {
        fn local_id(&self) -> PeerId {
            self.links.local_id()
        }

        fn peers(&self) -> &[PeerId] {
            self.links.peers()
        }

        fn send(&mut self, now: Micros, to: PeerId, channel: Channel, bytes: &[u8]) -> Result<(), SendError> {
            self.links.send(now, to, channel, bytes)
        }

        fn poll(&mut self, now: Micros) -> Option<Event<'_>> {
            for peer in std::mem::take(&mut self.others) {
                self.links.peer_up(now, peer);
            }
            let me = self.links.local_id();
            let mine: Vec<_> = self.post.borrow_mut().extract_if(.., |(_, to, _)| *to == me).collect();
            for (from, _, text) in mine {
                self.links.handle_signal(now, from, &text).expect("written by the same program");
            }
            while let Some((to, signal)) = self.links.next_signal() {
                self.post.borrow_mut().push((me, to, signal));
            }
            while let Some(change) = self.links.next_change() {
                assert!(change.path.is_none_or(|path| path == self.path), "{change:?}");
            }
            self.links.poll(now)
        }

        fn poll_timeout(&self) -> Micros {
            self.links.poll_timeout()
        }

        fn disconnect(&mut self, now: Micros, peer: PeerId, goodbye: Goodbye) {
            self.links.disconnect(now, peer, goodbye);
        }

        fn stats(&self, peer: PeerId) -> Option<LinkStats> {
            self.links.stats(peer)
        }
    }

    /// Three peers. Each line of `passes` has a peer and its ticket.
    fn transports(seed: u64, path: Path, relay: &str, passes: &str) -> Vec<Neighbour> {
        let passes: Vec<(PeerId, &str)> = passes
            .lines()
            .map(|line| line.split_once(' ').expect("a peer and a ticket"))
            .map(|(peer, ticket)| (peer.parse().expect("a peer"), ticket))
            .collect();
        let post = Post::default();
        let servers = Servers { ice: vec![], relay: Some(relay.to_string()) };
        let neighbour = |(me, ticket): &(PeerId, &str)| {
            let config = LinksConfig { paths: PathConfig::only(path), ..LinksConfig::default() };
            let links = links(*me, ticket, &servers, config, seed);
            let others = passes.iter().map(|(peer, _)| *peer).filter(|other| other != me).collect();
            Neighbour { links, post: Rc::clone(&post), others, path }
        };
        passes.iter().map(neighbour).collect()
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

    /// How many points there are.
    #[wasm_bindgen]
    pub fn points() -> usize {
        Point::ALL.len()
    }

    /// Tries one point over one path; an empty text if it is kept, else what went wrong.
    #[wasm_bindgen]
    pub async fn try_point(nth: usize, path: String, relay: String, passes: String) -> String {
        let point = Point::ALL[nth];
        let seed = now().get() ^ nth as u64;
        let path = Path::ALL.into_iter().find(|known| known.to_string() == path).expect("a path");
        let transports = transports(seed, path, &relay, &passes);
        let mut trial = Trial::new(point, transports, LinkConfig::default().dead_after);
        loop {
            match trial.step(now()) {
                Progress::Running => pause(1).await,
                Progress::Passed => return String::new(),
                Progress::Failed(failure) => return format!("{point:?}: {failure}"),
            }
        }
    }
}
