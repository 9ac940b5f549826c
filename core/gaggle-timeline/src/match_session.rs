//! What drivers, games and recordings need of a session, whether peers or a referee decide which
//! inputs count.
//!
//! `Driver`, `Simulation` and `Timeline` take any of them. Absent: how a session works.

use gaggle_kit::{Frame, Input, Micros, PeerId, Slot};
use gaggle_link::CloseCode;

use crate::any_match::Match;
use crate::config::{SessionError, TimelineConfig};
use crate::request::Request;
use crate::session::{Session, Tick, Transmit};
use crate::{Inputs, SessionEvent};

/// A session of a match: [`Session`] among peers, or [`Sealed`](crate::Sealed) at a referee. The
/// methods are those of the sessions.
#[allow(missing_docs, reason = "each method is documented at the sessions")]
pub trait MatchSession<I: Input>: sealed::Sealed {
    #[doc(hidden)]
    fn set_shape(&mut self, shape: u64);
    /// Handles a new link. False if it is not used.
    fn handle_connected(&mut self, now: Micros, peer: PeerId) -> bool;
    #[doc(hidden)]
    fn handle_disconnected(&mut self, now: Micros, peer: PeerId);
    #[doc(hidden)]
    fn handle_packet(&mut self, now: Micros, peer: PeerId, bytes: &[u8]);
    #[doc(hidden)]
    fn handle_message(&mut self, now: Micros, peer: PeerId, bytes: &[u8]);
    #[doc(hidden)]
    fn handle_packet_loss(&mut self, now: Micros, peer: PeerId);
    #[doc(hidden)]
    fn poll_transmit(&mut self) -> Option<Transmit<'_>>;
    #[doc(hidden)]
    fn poll_disconnect(&mut self) -> Option<(PeerId, CloseCode)>;
    #[doc(hidden)]
    fn poll_event(&mut self) -> Option<SessionEvent>;
    #[doc(hidden)]
    fn set_input(&mut self, slot: Slot, input: I) -> Result<(), SessionError>;
    #[doc(hidden)]
    fn tick(&mut self, now: Micros) -> Tick;
    #[doc(hidden)]
    fn poll_request(&mut self) -> Option<Request<'_, I>>;
    #[doc(hidden)]
    fn confirmed_inputs(&self, frame: Frame) -> Option<Inputs<'_, I>>;
    #[doc(hidden)]
    fn current_frame(&self) -> Frame;
    #[doc(hidden)]
    fn confirmed_state_frame(&self) -> Frame;
    #[doc(hidden)]
    fn slot_count(&self) -> usize;
    #[doc(hidden)]
    fn is_recovering(&self) -> bool;
    #[doc(hidden)]
    fn config(&self) -> &TimelineConfig;
}

mod sealed {
    pub trait Sealed {}
}

/// Implements the trait by the methods of the same names.
macro_rules! session {
    ($session:ident, $connected:expr, $loss:expr) => {
        impl<I: Input> sealed::Sealed for $session<I> {}

        impl<I: Input> MatchSession<I> for $session<I> {
            fn set_shape(&mut self, shape: u64) {
                $session::set_shape(self, shape);
            }
            fn handle_connected(&mut self, now: Micros, peer: PeerId) -> bool {
                $connected(self, now, peer)
            }
            fn handle_disconnected(&mut self, now: Micros, peer: PeerId) {
                $session::handle_disconnected(self, now, peer);
            }
            fn handle_packet(&mut self, now: Micros, peer: PeerId, bytes: &[u8]) {
                $session::handle_packet(self, now, peer, bytes);
            }
            fn handle_message(&mut self, now: Micros, peer: PeerId, bytes: &[u8]) {
                $session::handle_message(self, now, peer, bytes);
            }
            fn handle_packet_loss(&mut self, now: Micros, peer: PeerId) {
                $loss(self, now, peer)
            }
            fn poll_transmit(&mut self) -> Option<Transmit<'_>> {
                $session::poll_transmit(self)
            }
            fn poll_disconnect(&mut self) -> Option<(PeerId, CloseCode)> {
                $session::poll_disconnect(self)
            }
            fn poll_event(&mut self) -> Option<SessionEvent> {
                $session::poll_event(self)
            }
            fn set_input(&mut self, slot: Slot, input: I) -> Result<(), SessionError> {
                $session::set_input(self, slot, input)
            }
            fn tick(&mut self, now: Micros) -> Tick {
                $session::tick(self, now)
            }
            #[inline]
            fn poll_request(&mut self) -> Option<Request<'_, I>> {
                $session::poll_request(self)
            }
            fn confirmed_inputs(&self, frame: Frame) -> Option<Inputs<'_, I>> {
                $session::confirmed_inputs(self, frame)
            }
            fn current_frame(&self) -> Frame {
                $session::current_frame(self)
            }
            fn confirmed_state_frame(&self) -> Frame {
                $session::confirmed_state_frame(self)
            }
            fn slot_count(&self) -> usize {
                $session::slot_count(self)
            }
            fn is_recovering(&self) -> bool {
                $session::is_recovering(self)
            }
            fn config(&self) -> &TimelineConfig {
                $session::config(self)
            }
        }
    };
}

session!(
    Session,
    |session: &mut Session<I>, now, peer| session.handle_connected(now, peer).is_ok(),
    |session: &mut Session<I>, now, peer| session.handle_packet_loss(now, peer)
);

session!(
    Match,
    |session: &mut Match<I>, now, peer| Match::handle_connected(session, now, peer),
    |session: &mut Match<I>, now, peer| session.handle_packet_loss(now, peer)
);

#[cfg(feature = "seal")]
use crate::sealed::Sealed;

#[cfg(feature = "seal")]
session!(
    Sealed,
    |session: &mut Sealed<I>, now, peer| {
        session.handle_connected(now, peer);
        peer == session.referee()
    },
    |_: &mut Sealed<I>, _, _| {}
);
