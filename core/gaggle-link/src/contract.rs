//! Contract tests of [`Transport`]: rules that every implementation can run.
//!
//! An implementation provides a [`Harness`]: three transports that find each other, and a clock.
//! Then one line makes a test of every rule. Absent: clocks of its own.
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
//!         let endpoint = |i| Endpoint::new(self.0.carrier(i), LinkConfig::default(), i as u64);
//!         (0..3).map(endpoint).collect()
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
//! # contract::run(contract::Rule::PeersConnectOnce, MyStage(SimNet::new(3, 1))).unwrap();
//! ```

mod local_peer;
mod room;
mod rules;

pub use local_peer::{LocalPeer, SignalBoard, SteppedClock};
pub use room::Failure;
pub use rules::Rule;

use gaggle_kit::Micros;

use crate::{Transport, contract::room::Room};

/// Longest time of a rule on the transports' clock. Real ones take a few seconds at most.
const TIME_MAX: Micros = Micros::from_secs(90);

/// Environment of transports under test.
pub trait Harness {
    /// Transport under test.
    type Transport: Transport;

    /// Three new transports that connect to each other by themselves once they are polled.
    fn transports(&mut self) -> Vec<Self::Transport>;

    /// Waits about a millisecond and returns the time.
    fn wait(&mut self) -> Micros;

    /// Timeout of these transports for a silent peer.
    fn timeout(&self) -> Micros {
        Micros::from_secs(3)
    }
}

/// One rule under test. Step it by hand where no call may block, as in a page.
#[derive(Debug)]
pub struct Run<T> {
    point: Rule,
    room: Room<T>,
    began_at: Option<Micros>,
}

/// Progress of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
#[must_use]
pub enum Progress {
    /// Step again a little later.
    Running,
    /// The transport satisfies the rule.
    Passed,
    /// The transport violates the rule.
    Failed(Failure),
}

impl<T: Transport> Run<T> {
    /// A run of this rule with three new transports. `timeout` is their timeout for a silent
    /// peer.
    pub fn new(point: Rule, transports: Vec<T>, timeout: Micros) -> Run<T> {
        Run { point, room: Room::new(transports, timeout), began_at: None }
    }

    /// Polls the transports and performs the next actions of the rule.
    pub fn step(&mut self, now: Micros) -> Progress {
        let began_at = *self.began_at.get_or_insert(now);
        let result = self.room.poll(now).and_then(|()| self.point.step(&mut self.room, now));
        match result {
            Ok(Progress::Running) if now.since(began_at) > TIME_MAX => {
                Progress::Failed(self.room.failure(format!("not finished after {TIME_MAX}")))
            }
            Ok(progress) => progress,
            Err(failure) => Progress::Failed(failure),
        }
    }
}

/// Runs one rule to its end.
///
/// # Errors
/// If the transport violates it.
pub fn run<S: Harness>(point: Rule, mut stage: S) -> Result<(), Failure> {
    let transports = stage.transports();
    let mut trial = Run::new(point, transports, stage.timeout());
    loop {
        match trial.step(stage.wait()) {
            Progress::Running => {}
            Progress::Passed => return Ok(()),
            Progress::Failed(failure) => return Err(failure),
        }
    }
}

/// Makes a `#[test]` of every rule, for the [`Harness`] of the expression. Use it in a module of
/// its own.
#[macro_export]
macro_rules! contract {
    ($stage:expr) => {
        $crate::contract_points!($stage;
            peers_connect_once: PeersConnectOnce,
            ids_are_distinct_and_constant: IdsAreDistinctAndConstant,
            peers_list_is_the_connected_ones: PeersListIsTheConnectedOnes,
            send_to_unconnected_is_rejected: SendToUnconnectedIsRejected,
            messages_name_their_sender: MessagesNameTheirSender,
            unreliable_arrives_whole_or_not_at_all: UnreliableArrivesWholeOrNotAtAll,
            oversized_unreliable_is_rejected: OversizedUnreliableIsRejected,
            reliable_arrives_once_in_order: ReliableArrivesOnceInOrder,
            streams_do_not_wait_for_each_other: StreamsDoNotWaitForEachOther,
            large_message_arrives_intact: LargeMessageArrivesIntact,
            empty_messages_arrive: EmptyMessagesArrive,
            broadcast_reaches_all_others: BroadcastReachesAllOthers,
            full_buffer_rejects_without_loss: FullBufferRejectsWithoutLoss,
            disconnect_is_reported_once_per_side: DisconnectIsReportedOncePerSide,
            nothing_arrives_after_disconnect: NothingArrivesAfterDisconnect,
            quiet_link_stays_up: QuietLinkStaysUp,
            silent_peer_times_out: SilentPeerTimesOut,
            statistics_are_counted: StatisticsAreCounted,
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

        /// Fails if a rule has no test.
        #[test]
        fn all_points_are_tested() {
            assert_eq!([$($crate::contract::Rule::$point),*], $crate::contract::Rule::ALL);
        }
    };
}
