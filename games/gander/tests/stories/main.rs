//! The rules of gander, told as stories: somebody is put here, something there, and this comes of
//! it.

mod dangers;
mod eggs;
mod fen;
mod flight;
mod jousts;
mod players;
mod waves;
