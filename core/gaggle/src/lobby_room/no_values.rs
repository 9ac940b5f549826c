//! Replacement of `values.rs` in builds without the feature `values`, so that pages of games
//! without values do not include its code. Absent: any effect.

use gaggle_kit::{Micros, PeerId};
use gaggle_link::Transport;

/// Member values of such a build: none.
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
