//! What may be counted on of any [`Transport`], point by point, as something any implementation can
//! run.
//!
//! An implementation gives a [`Harness`]: three transports that find each other, and a way to let
//! time pass. One line then makes a test of every point:
//!
//! ```
//! # use gaggle_kit::Micros;
//! # use gaggle_link::sim::{SimCarrier, SimNet};
//! # use gaggle_link::{Endpoint, LinkConfig, contract};
//! struct MyStage(SimNet);
//!
//! impl contract::Harness for MyStage {
//!     type Transport = Endpoint<SimCarrier>;
//!
//!     fn transports(&mut self) -> Vec<Endpoint<SimCarrier>> {
//!         (0..3).map(|i| Endpoint::new(self.0.carrier(i), LinkConfig::default(), i as u64)).collect()
//!     }
//!
//!     fn wait(&mut self) -> Micros {
//!         self.0.advance(Micros::from_millis(1));
//!         self.0.now()
//!     }
//! }
//!
//! mod my_transport {
//!     gaggle_link::contract!(super::MyStage(gaggle_link::sim::SimNet::new(3, 1)));
//! }
//! # contract::run(contract::Rule::EveryoneJoinsEveryoneOnce, MyStage(SimNet::new(3, 1))).unwrap();
//! ```
//!
//! Where nothing may wait, as inside a page, a [`Run`] is stepped by hand instead. The suite itself
//! reads no clock.

mod neighbour;
mod points;
mod room;

pub use neighbour::{LocalPeer, SignalBoard, SteppedClock};
pub use points::Rule;
pub use room::Failure;

use gaggle_kit::Micros;

use crate::{Transport, contract::room::Room};

/// Longest time a point may take on the transports' clock. Real ones take a few seconds at most.
const TIME_MAX: Micros = Micros::from_secs(90);

/// Where transports are put to the test.
pub trait Harness {
    /// What is tested.
    type Transport: Transport;

    /// Three fresh transports that connect to each other by themselves once they are polled.
    fn transports(&mut self) -> Vec<Self::Transport>;

    /// Lets a moment pass, about a millisecond, and says what time it is.
    fn wait(&mut self) -> Micros;

    /// How long a peer may be silent before it has left, as these transports are set up.
    fn dead_after(&self) -> Micros {
        Micros::from_secs(3)
    }
}

/// One point being tested.
#[derive(Debug)]
pub struct Run<T> {
    point: Rule,
    room: Room<T>,
    began_at: Option<Micros>,
}

/// How a trial stands.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Progress {
    /// Step again, a little later.
    Running,
    /// The transport keeps this point.
    Passed,
    /// It does not.
    Failed(Failure),
}

impl<T: Transport> Run<T> {
    /// A trial of this point with three fresh transports. `dead_after` is how long a peer may be
    /// silent before it has left.
    pub fn new(point: Rule, transports: Vec<T>, dead_after: Micros) -> Run<T> {
        Run { point, room: Room::new(transports, dead_after), began_at: None }
    }

    /// Polls the transports and does what the point asks for.
    pub fn step(&mut self, now: Micros) -> Progress {
        let began_at = *self.began_at.get_or_insert(now);
        let result = self.room.poll(now).and_then(|()| self.point.step(&mut self.room, now));
        match result {
            Ok(Progress::Running) if now.since(began_at) > TIME_MAX => {
                Progress::Failed(self.room.failure(format!("not done after {TIME_MAX}")))
            }
            Ok(progress) => progress,
            Err(failure) => Progress::Failed(failure),
        }
    }
}

/// Runs one point to its end.
///
/// # Errors
/// If the transport does not keep it.
pub fn run<S: Harness>(point: Rule, mut stage: S) -> Result<(), Failure> {
    let transports = stage.transports();
    let mut trial = Run::new(point, transports, stage.dead_after());
    loop {
        match trial.step(stage.wait()) {
            Progress::Running => {}
            Progress::Passed => return Ok(()),
            Progress::Failed(failure) => return Err(failure),
        }
    }
}

/// Makes a `#[test]` of every point of the contract, for the [`Harness`] the expression gives. Use
/// it in a module of its own.
#[macro_export]
macro_rules! contract {
    ($stage:expr) => {
        $crate::contract_points!($stage;
            everyone_joins_everyone_once: EveryoneJoinsEveryoneOnce,
            names_are_distinct_and_stay: NamesAreDistinctAndStay,
            peers_are_exactly_who_is_joined: PeersAreExactlyWhoIsJoined,
            nothing_can_be_sent_to_who_is_not_joined: NothingCanBeSentToWhoIsNotJoined,
            messages_name_their_sender: MessagesNameTheirSender,
            unreliable_messages_arrive_whole_or_not_at_all: UnreliableMessagesArriveWholeOrNotAtAll,
            unreliable_messages_too_large_are_refused: UnreliableMessagesTooLargeAreRefused,
            reliable_messages_arrive_exactly_once_in_order: ReliableMessagesArriveExactlyOnceInOrder,
            streams_do_not_wait_for_each_other: StreamsDoNotWaitForEachOther,
            a_large_message_arrives_intact: ALargeMessageArrivesIntact,
            empty_messages_are_messages: EmptyMessagesAreMessages,
            broadcast_reaches_all_others: BroadcastReachesAllOthers,
            a_full_buffer_is_refused_and_loses_nothing: AFullBufferIsRefusedAndLosesNothing,
            disconnecting_is_told_once_on_both_sides: DisconnectingIsToldOnceOnBothSides,
            nothing_comes_after_left: NothingComesAfterLeft,
            a_quiet_link_stays_up: AQuietLinkStaysUp,
            a_silent_peer_leaves: ASilentPeerLeaves,
            statistics_are_there: StatisticsAreThere,
        );
    };
}

#[doc(hidden)]
#[macro_export]
macro_rules! contract_points {
    ($stage:expr; $($name:ident: $point:ident,)*) => {
        $(
            #[test]
            fn $name() {
                if let Err(failure) = $crate::contract::run($crate::contract::Rule::$point, $stage) {
                    panic!("{failure}");
                }
            }
        )*

        /// A point that has no test would be a promise nobody checks.
        #[test]
        fn all_points_are_tested() {
            assert_eq!([$($crate::contract::Rule::$point),*], $crate::contract::Rule::ALL);
        }
    };
}
