//! One WebRTC connection attempt: a peer connection, its data channel, and their reports.
//!
//! Owned by `webrtc_carrier.rs` and `relay.rs`. The channel is negotiated in advance (number 0,
//! unordered, no retransmission), so that it is open as soon as the connection is. Promises and
//! events of the browser all end up in one [`Inbox`]. Absent: which peer offers.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use gaggle_kit::PeerId;
use gaggle_link::relay::RELAY_FRAME_BYTES_MAX;
use gaggle_link::{Candidate, WouldBlock};
use js_sys::{ArrayBuffer, Uint8Array};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::{JsFuture, spawn_local};
use web_sys::{
    Event, MessageEvent, RtcConfiguration, RtcDataChannel, RtcDataChannelInit, RtcDataChannelState,
    RtcDataChannelType, RtcIceCandidateInit, RtcPeerConnection, RtcPeerConnectionIceEvent,
    RtcPeerConnectionState, RtcSdpType, RtcSessionDescriptionInit,
};

use crate::arrival::arrived;

/// Most bytes the browser may buffer. More would only arrive later.
const BUFFERED_BYTES_MAX: u32 = 64 * 1024;
/// Received datagrams queued for polling; beyond that the oldest is dropped.
const DATAGRAMS_MAX: usize = 1_024;

/// Report of a connection.
#[derive(Debug)]
pub(crate) enum Report {
    Described(String),
    Found(Candidate),
    Open,
    Failed,
}

/// Reports of all connections.
#[derive(Debug, Default)]
pub(crate) struct Inbox {
    pub(crate) reports: VecDeque<(PeerId, u32, Report)>,
    pub(crate) datagrams: VecDeque<(PeerId, u32, Vec<u8>)>,
    /// Buffers for reuse.
    pub(crate) spare: Vec<Vec<u8>>,
    /// Datagrams dropped because they were not polled in time, or were too long.
    pub(crate) dropped: u64,
    /// Unusable descriptions and addresses of peers.
    pub(crate) refused: u64,
}

impl Inbox {
    fn push_datagram(&mut self, peer: PeerId, attempt: u32, bytes: &Uint8Array) {
        // Browsers accept a quarter of a megabyte from any sender, which must not be copied into
        // WASM memory.
        if bytes.length() as usize > RELAY_FRAME_BYTES_MAX {
            self.dropped += 1;
            return;
        }
        let mut buffer = self.spare.pop().unwrap_or_default();
        buffer.clear();
        buffer.resize(bytes.length() as usize, 0);
        bytes.copy_to(&mut buffer);
        if self.datagrams.len() == DATAGRAMS_MAX {
            self.dropped += 1;
            self.datagrams.pop_front();
        }
        self.datagrams.push_back((peer, attempt, buffer));
    }
}

/// Operations on descriptions, performed one after another.
#[derive(Debug)]
pub(crate) enum Task {
    Offer,
    Answer(String),
    Accept(String),
    Candidate(Candidate),
}

/// One attempt to connect to a peer.
pub(crate) struct Connection {
    pub(crate) attempt: u32,
    connection: RtcPeerConnection,
    channel: RtcDataChannel,
    tasks: Rc<RefCell<VecDeque<Task>>>,
    working: Rc<Cell<bool>>,
    reporter: Reporter,
    /// Kept alive as long as the browser may call them.
    _handlers: Handlers,
}

struct Handlers {
    _opened: Closure<dyn FnMut()>,
    _closed: Closure<dyn FnMut()>,
    _message: Closure<dyn FnMut(MessageEvent)>,
    _candidate: Closure<dyn FnMut(RtcPeerConnectionIceEvent)>,
    _state: Closure<dyn FnMut(Event)>,
}

/// Names the connection in its reports.
#[derive(Clone)]
struct Reporter {
    inbox: Rc<RefCell<Inbox>>,
    peer: PeerId,
    attempt: u32,
}

impl Reporter {
    fn report(&self, report: Report) {
        self.inbox.borrow_mut().reports.push_back((self.peer, self.attempt, report));
        arrived();
    }
}

impl Connection {
    /// Starts an attempt.
    pub(crate) fn new(
        peer: PeerId,
        attempt: u32,
        configuration: &RtcConfiguration,
        inbox: &Rc<RefCell<Inbox>>,
    ) -> Result<Connection, JsValue> {
        let connection = RtcPeerConnection::new_with_configuration(configuration)?;
        let init = RtcDataChannelInit::new();
        init.set_ordered(false);
        init.set_max_retransmits(0);
        init.set_negotiated(true);
        init.set_id(0);
        let channel = connection.create_data_channel_with_data_channel_dict("gaggle", &init);
        channel.set_binary_type(RtcDataChannelType::Arraybuffer);
        let reporter = Reporter { inbox: Rc::clone(inbox), peer, attempt };
        let handlers = Handlers::attach(&connection, &channel, &reporter);
        Ok(Connection {
            attempt,
            connection,
            channel,
            tasks: Rc::default(),
            working: Rc::default(),
            reporter,
            _handlers: handlers,
        })
    }

    /// Sends one datagram.
    pub(crate) fn send(&self, datagram: &[u8]) -> Result<(), WouldBlock> {
        if self.channel.ready_state() != RtcDataChannelState::Open {
            return Ok(());
        }
        if self.channel.buffered_amount() > BUFFERED_BYTES_MAX {
            return Err(WouldBlock);
        }
        self.channel.send_with_u8_array(datagram).map_err(|_| WouldBlock)
    }

    /// Queues a task; tasks run in order.
    pub(crate) fn push(&self, task: Task) {
        self.tasks.borrow_mut().push_back(task);
        if self.working.replace(true) {
            return;
        }
        let (connection, tasks, working) =
            (self.connection.clone(), Rc::clone(&self.tasks), Rc::clone(&self.working));
        let reporter = self.reporter.clone();
        spawn_local(async move {
            loop {
                let Some(task) = tasks.borrow_mut().pop_front() else { break };
                let (is_theirs, fatal) = (!matches!(task, Task::Offer), !matches!(task, Task::Candidate(_)));
                if perform(&connection, &reporter, task).await.is_err() {
                    reporter.inbox.borrow_mut().refused += u64::from(is_theirs);
                    // A bad address does not end the attempt; a bad description does.
                    if fatal {
                        reporter.report(Report::Failed);
                        break;
                    }
                }
            }
            working.set(false);
        });
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        // Failures after closing are expected.
        self.tasks.borrow_mut().clear();
        self.channel.set_onopen(None);
        self.channel.set_onclose(None);
        self.channel.set_onmessage(None);
        self.connection.set_onicecandidate(None);
        self.connection.set_onconnectionstatechange(None);
        self.channel.close();
        self.connection.close();
    }
}

impl Handlers {
    fn attach(connection: &RtcPeerConnection, channel: &RtcDataChannel, reporter: &Reporter) -> Handlers {
        let on = reporter.clone();
        let opened = Closure::<dyn FnMut()>::new(move || on.report(Report::Open));
        channel.set_onopen(Some(opened.as_ref().unchecked_ref()));

        let on = reporter.clone();
        let closed = Closure::<dyn FnMut()>::new(move || on.report(Report::Failed));
        channel.set_onclose(Some(closed.as_ref().unchecked_ref()));

        let on = reporter.clone();
        let message = Closure::<dyn FnMut(MessageEvent)>::new(move |event: MessageEvent| {
            if let Ok(buffer) = event.data().dyn_into::<ArrayBuffer>() {
                on.inbox.borrow_mut().push_datagram(on.peer, on.attempt, &Uint8Array::new(&buffer));
                arrived();
            }
        });
        channel.set_onmessage(Some(message.as_ref().unchecked_ref()));

        let on = reporter.clone();
        let candidate =
            Closure::<dyn FnMut(RtcPeerConnectionIceEvent)>::new(move |event: RtcPeerConnectionIceEvent| {
                if let Some(found) = event.candidate().filter(|found| !found.candidate().is_empty()) {
                    on.report(Report::Found(Candidate {
                        line: found.sdp_m_line_index().unwrap_or(0),
                        mid: found.sdp_mid().unwrap_or_default(),
                        candidate: found.candidate(),
                    }));
                }
            });
        connection.set_onicecandidate(Some(candidate.as_ref().unchecked_ref()));

        let (on, watched) = (reporter.clone(), connection.clone());
        let state = Closure::<dyn FnMut(Event)>::new(move |_| {
            if matches!(
                watched.connection_state(),
                RtcPeerConnectionState::Failed | RtcPeerConnectionState::Closed
            ) {
                on.report(Report::Failed);
            }
        });
        connection.set_onconnectionstatechange(Some(state.as_ref().unchecked_ref()));
        Handlers { _opened: opened, _closed: closed, _message: message, _candidate: candidate, _state: state }
    }
}

async fn perform(connection: &RtcPeerConnection, reporter: &Reporter, task: Task) -> Result<(), JsValue> {
    match task {
        Task::Offer => {
            let offer = JsFuture::from(connection.create_offer()).await?;
            describe(connection, reporter, &offer.unchecked_into()).await
        }
        Task::Answer(offer) => {
            set_remote(connection, RtcSdpType::Offer, &offer).await?;
            let answer = JsFuture::from(connection.create_answer()).await?;
            describe(connection, reporter, &answer.unchecked_into()).await
        }
        Task::Accept(answer) => set_remote(connection, RtcSdpType::Answer, &answer).await,
        Task::Candidate(candidate) => {
            let init = RtcIceCandidateInit::new(&candidate.candidate);
            init.set_sdp_mid(Some(&candidate.mid));
            init.set_sdp_m_line_index(Some(candidate.line));
            let added = connection.add_ice_candidate_with_opt_rtc_ice_candidate_init(Some(&init));
            JsFuture::from(added).await.map(drop)
        }
    }
}

async fn describe(
    connection: &RtcPeerConnection,
    reporter: &Reporter,
    description: &RtcSessionDescriptionInit,
) -> Result<(), JsValue> {
    JsFuture::from(connection.set_local_description(description)).await?;
    let local = connection.local_description().ok_or(JsValue::NULL)?;
    reporter.report(Report::Described(local.sdp()));
    Ok(())
}

async fn set_remote(connection: &RtcPeerConnection, kind: RtcSdpType, sdp: &str) -> Result<(), JsValue> {
    let description = RtcSessionDescriptionInit::new(kind);
    description.set_sdp(sdp);
    JsFuture::from(connection.set_remote_description(&description)).await.map(drop)
}
