//! A page that puts the browser's ways to the test: three peers in one page, connected as three pages would be.
//!
//! `shell/gaggle-browser/tests/in_chromium.rs` opens it. On other targets it does nothing.

#![allow(missing_docs, reason = "an example's glue exports functions of its own")]

#[cfg(target_arch = "wasm32")]
pub mod page {
    use std::cell::RefCell;
    use std::rc::Rc;

    use gaggle_browser::{DirectWay, now};
    use gaggle_kit::{Micros, PeerId};
    use gaggle_link::contract::{Point, Progress, Trial};
    use gaggle_link::{Busy, Carrier, CarrierEvent, Link, LinkConfig, Way};
    use wasm_bindgen::prelude::*;
    use wasm_bindgen_futures::JsFuture;

    /// Signals under way: from, to, what.
    type Post = Rc<RefCell<Vec<(PeerId, PeerId, String)>>>;

    /// A direct way whose signals travel within the page.
    struct Neighbour {
        way: DirectWay,
        post: Post,
        others: Vec<PeerId>,
    }

    impl Carrier for Neighbour {
        fn local_id(&self) -> PeerId {
            self.way.local_id()
        }

        fn send(&mut self, now: Micros, to: PeerId, datagram: &[u8]) -> Result<(), Busy> {
            self.way.send(now, to, datagram)
        }

        fn poll(&mut self, now: Micros, datagram: &mut Vec<u8>) -> Option<CarrierEvent> {
            for peer in std::mem::take(&mut self.others) {
                self.way.connect(now, peer);
            }
            let me = self.way.local_id();
            let mine: Vec<_> = self.post.borrow_mut().extract_if(.., |(_, to, _)| *to == me).collect();
            for (from, _, text) in mine {
                self.way.handle_signal(now, from, &text).expect("written by the same program");
            }
            let event = self.way.poll(now, datagram);
            while let Some((to, signal)) = self.way.next_signal() {
                self.post.borrow_mut().push((me, to, signal.to_string()));
            }
            event
        }

        fn poll_timeout(&self) -> Micros {
            self.way.poll_timeout()
        }

        fn close(&mut self, now: Micros, peer: PeerId) {
            self.way.close(now, peer);
        }
    }

    fn transports(seed: u64) -> Vec<Link<Neighbour>> {
        let ids = [1, 2, 3].map(|n: u128| PeerId::from_u128(n << 64 | u128::from(seed)));
        let post = Post::default();
        ids.iter()
            .map(|id| {
                let way = DirectWay::new(*id, &[], seed);
                let others = ids.iter().copied().filter(|other| other > id).collect();
                Link::new(Neighbour { way, post: Rc::clone(&post), others }, LinkConfig::default(), seed)
            })
            .collect()
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

    /// Tries one point; an empty text if it is kept, else what went wrong.
    #[wasm_bindgen]
    pub async fn try_point(nth: usize) -> String {
        let point = Point::ALL[nth];
        let seed = now().get() ^ nth as u64;
        let mut trial = Trial::new(point, transports(seed), LinkConfig::default().dead_after);
        loop {
            match trial.step(now()) {
                Progress::Running => pause(1).await,
                Progress::Passed => return String::new(),
                Progress::Failed(failure) => return format!("{point:?}: {failure}"),
            }
        }
    }
}
