//! Packets of the running game on their way out, packets and messages on their way in.

mod receiver;
mod sender;

pub(crate) use receiver::{
    Inbound, acked_frame, check_controls, check_entry, decode, entry_range, moves_state, newest_frame,
};
pub(crate) use sender::{LOSS_MEMORY, SendView, Sender, Tell, is_due};
