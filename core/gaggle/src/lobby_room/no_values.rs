//! Stands in for `values.rs` in builds without the feature `values`: a page of a game that has no
//! use for values does not carry them. Absent: all of it.

use gaggle_kit::{Micros, PeerId};
use gaggle_link::Transport;

/// No values at all.
#[derive(Debug, Default)]
pub(crate) struct MemberValues;

impl MemberValues {
    pub(crate) fn receive(&mut self, _from: PeerId, _stream: u8, _message: &[u8]) {}

    pub(crate) fn poll_change(&mut self) -> Option<(PeerId, u8)> {
        None
    }

    pub(crate) fn forget_connections(&mut self) {}

    pub(crate) fn forget(&mut self, _member: Option<PeerId>) {}

    pub(crate) fn send(&mut self, _now: Micros, _mesh: &mut impl Transport) {}
}
