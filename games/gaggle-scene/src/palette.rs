//! Colors that all games and menus share.
//!
//! Orange belongs to fire, bills and the one primary button, red to knaves and lost packets; only
//! fire, moon and lance tips may be near white. Absent: colors of one game only.

use crate::Color;

const fn hex(rgb: u32) -> Color {
    Color::hex(rgb)
}

/// Outlines and panels.
pub const INK: Color = hex(0x0a0c18);
/// Night sky, from the top down.
pub const NIGHT: [Color; 4] = [hex(0x0b1124), hex(0x101b36), hex(0x182a4a), hex(0x243c5c)];
/// Far land and haze, from dark to light.
pub const MIST: [Color; 3] = [hex(0x375470), hex(0x587889), hex(0x8ba6aa)];
/// Moon, and moonlit edges.
pub const MOON: Color = hex(0xf3ecd2);
/// Gray patches of the moon.
pub const MOON_SHADE: Color = hex(0xcfc9b4);
/// Color of stars.
pub const STAR: Color = hex(0x9fb6cf);
/// Near land against the fire, from dark to light.
pub const PLUM: [Color; 3] = [hex(0x17132a), hex(0x261a35), hex(0x3a2039)];
/// Ledges, wood and cabinets, from dark to light.
pub const PEAT: [Color; 5] = [hex(0x15121d), hex(0x241d2a), hex(0x382d39), hex(0x54434c), hex(0x7a6466)];
/// Turf, from dark to light; the last is the edge to walk on.
pub const SEDGE: [Color; 5] = [hex(0x12211f), hex(0x203a33), hex(0x3c5f4a), hex(0x7d9b72), hex(0xc3d3a4)];
/// Fire, from its depth to its crest.
pub const FIRE: [Color; 7] =
    [hex(0x35101a), hex(0x6e1a1c), hex(0xb8321d), hex(0xec6420), hex(0xffa636), hex(0xffe08a), hex(0xfff6d4)];
/// Color of text.
pub const TEXT: Color = hex(0xeef1e6);
/// Text of less weight.
pub const DIM: Color = hex(0xa9b9c4);
/// Text of least weight.
pub const FAINT: Color = hex(0x849ca8);
/// Bone and paper.
pub const BONE: Color = hex(0xe9ddc2);
/// Color of good news.
pub const OK: Color = hex(0x7fd6a4);
/// Color of warnings.
pub const WARN: Color = hex(0xffb84d);
/// Color of bad news.
pub const BAD: Color = hex(0xff7a5c);
/// Colors by slot: blue, yellow, pink, green. They differ in gray too, and for every kind of color
/// vision.
pub const SEAT: [Color; 4] = [hex(0x4a8cff), hex(0xffdf3a), hex(0xf26db4), hex(0x2ee68c)];
/// Colors by slot of games with six: the four, violet and light blue.
pub const SEATS_SIX: [Color; 6] = [SEAT[0], SEAT[1], SEAT[2], SEAT[3], hex(0xb9a0ff), hex(0x4fd8e8)];

/// Fill of large lettering, from moonlight at the top to fire.
pub const LETTERING: [Color; 6] = [MOON, MOON, MIST[2], MIST[1], FIRE[4], FIRE[3]];
