//! Stand-in for `shared/redis.rs` in a build without the feature `redis`: a process is alone.
//!
//! `server.rs` calls it. Absent: the log.

use std::sync::Arc;

use gaggle_kit::Micros;
use gaggle_lobby::NodeId;
use gaggle_lobby::rules::Rules;
use tokio::sync::mpsc::UnboundedReceiver;

use super::{Contact, Parcel, Start};
use crate::clock::Clock;
use crate::config::left_out;
use crate::dispatcher::Dispatcher;

/// Location of a lobby's log; there is none.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Store {}

#[allow(clippy::unused_async, reason = "its callers await the one that speaks to Redis")]
impl Store {
    pub(crate) fn new(_url: &str, _prefix: &str, _node: NodeId, _rules: &Rules) -> Result<Store, String> {
        Err(left_out("redis", "redis"))
    }

    pub(crate) async fn start(&self, _: &Rules, _: Result<Micros, Clock>) -> Result<Start, String> {
        match *self {}
    }

    pub(crate) async fn write(self, _: UnboundedReceiver<Parcel>, _: Arc<Contact>, _: Clock) {
        match self {}
    }

    pub(crate) async fn read(self, _: Arc<Dispatcher>, _: Rules, _: Arc<Contact>) {
        match self {}
    }
}
