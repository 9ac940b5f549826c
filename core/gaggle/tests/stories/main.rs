//! Stories of rooms, one program: what they share is built once.

mod callers;
mod cluster;
mod hidden;
mod input_delay;
mod large_object;
mod liars;
mod lockstep;
mod phases;
mod pond;
mod presses;
mod replays;
mod requests;
mod roles;
mod rooms;
mod scores;
#[cfg(feature = "seal")]
mod sealed;
mod several_players;
mod shared_rooms;
mod sign_in;
mod slow;
mod spectators;
mod starters;
mod starts;
mod strangers;
mod successors;
mod taps;
