//! Writing of outgoing game packets; reading of incoming packets and messages.
//!
//! `Session` calls both parts. Absent: decisions.

mod entries;
mod receiver;
mod sender;

pub(crate) use entries::{EntryView, Takes, TrackView, takes};
pub(crate) use receiver::{
    Inbound, acked_frame, check_controls, check_entry, decode, entry_range, moves_state, newest_frame,
};
pub(crate) use sender::{LOSS_MEMORY, SendView, Sender, Tell, is_due};
