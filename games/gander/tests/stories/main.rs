//! Rules of gander, one story per test: a prepared state, some frames, an outcome.

mod dangers;
mod eggs;
mod fen;
mod flight;
mod jousts;
mod players;
mod waves;
