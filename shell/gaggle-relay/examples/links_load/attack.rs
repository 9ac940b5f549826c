//! Strangers at a relay's UDP port: questions without end, checks with no password, greetings of DTLS, noise.

use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::Duration;

use gaggle_rtc::stun;

use crate::RelayProcess;

/// Datagrams in every millisecond.
const PER_MILLISECOND: usize = 5;

/// An attack, which ends when dropped.
pub(crate) struct Attack {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Attack {
    pub(crate) fn begin(relay: &RelayProcess) -> Attack {
        let address = relay.url().trim_start_matches("ws://").trim_end_matches("/relay");
        let address: SocketAddr = address.parse().unwrap();
        let stop = Arc::new(AtomicBool::new(false));
        let told = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            let socket = UdpSocket::bind("127.0.0.1:0").unwrap();
            let mut check = stun::brief_question([1; 12]).to_vec();
            check.extend([0x00, 0x06, 0x00, 0x09]);
            check.extend(b"evtj:h6vY\0\0\0");
            check[3] = 16;
            let greeting = [&[22, 254, 255, 0, 0, 0, 0, 0, 0, 0, 0, 0, 180, 1][..], &[0; 180]].concat();
            let thrown = [stun::question([7; 12]), check, greeting, vec![0x5a; 1_000], vec![1; 64]];
            while !told.load(Ordering::Relaxed) {
                // What the kernel has no room for is lost, as on any network.
                thrown
                    .iter()
                    .cycle()
                    .take(PER_MILLISECOND)
                    .for_each(|bytes| _ = socket.send_to(bytes, address));
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        Attack { stop, thread: Some(thread) }
    }
}

impl Drop for Attack {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            let _ = thread.join();
        }
    }
}
