//! The rules of gander as stories: a set-up, some frames, an outcome.

mod dangers;
mod eggs;
mod fen;
mod flight;
mod jousts;
mod players;
mod waves;
