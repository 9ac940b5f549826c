//! The still picture of the pond: water, banks, jetties, houses.
//!
//! `Stage` paints it once. Absent: everything that moves.

use gaggle_scene::{Bitmap, Color, bayer, chance, noise, palette};
use palette::{BONE, FIRE, INK, MIST, MOON, NIGHT, PEAT, PLUM, SEDGE};

use crate::ledger::WISHES;
use crate::water::{HEIGHT, RACE, RACE_HALF, SHORE, WHEEL, WIDTH};

/// Paints the whole pond.
pub(super) fn paint() -> Bitmap {
    let mut out = Bitmap::new(WIDTH, HEIGHT);
    water(&mut out);
    race(&mut out);
    banks(&mut out);
    for wish in &WISHES {
        jetty(&mut out, wish.x, wish.y);
    }
    mill(&mut out);
    house(&mut out, 22, 520, 40, 30, FIRE[1].mix(PEAT[2], 0.5));
    house(&mut out, 486, 548, 46, 22, SEDGE[2].mix(PEAT[2], 0.4));
    chapel(&mut out, 972, 540);
    house(&mut out, 250, 6, 36, 18, PEAT[2]);
    house(&mut out, 610, 4, 42, 19, PLUM[2]);
    out
}

/// Distance of a place from the bank, with a rough edge.
fn depth(x: i32, y: i32) -> f32 {
    let rough = |along: f32, purpose| {
        (noise(along / 19.0, purpose) - 0.5) * 11.0 + (noise(along / 5.0, purpose + 1) - 0.5) * 4.0
    };
    let sides = [
        x as f32 + rough(y as f32, 41),
        (WIDTH - 1 - x) as f32 + rough(y as f32, 43),
        y as f32 + rough(x as f32, 45),
        (HEIGHT - 1 - y) as f32 + rough(x as f32, 47),
    ];
    sides.into_iter().fold(f32::MAX, f32::min) - (SHORE - 7) as f32
}

fn water(out: &mut Bitmap) {
    for y in 0..HEIGHT {
        for x in 0..WIDTH {
            let far = depth(x, y);
            let deep = (far / 90.0).clamp(0.0, 1.0);
            let share = (deep * 3.0 + bayer(x, y)).floor() / 3.0;
            let mut color = NIGHT[3].mix(NIGHT[1], share.min(1.0));
            // Reflected sky: broken streaks of lighter blue.
            let streak = noise(x as f32 / 26.0 + (y / 3) as f32 * 7.7, 5);
            if streak > 0.74 && y % 3 == 0 {
                color = color.mix(MIST[0], 0.4);
            }
            // Fire beyond the far bank.
            let warm = ((y - 380) as f32 / 200.0).clamp(0.0, 1.0);
            if warm * warm * (0.4 + streak) > bayer(x, y) {
                color = color.mix(FIRE[1], 0.42);
            }
            out.set(x, y, color);
        }
    }
}

fn race(out: &mut Bitmap) {
    for y in RACE - RACE_HALF..RACE + RACE_HALF {
        for x in 0..WHEEL.0 {
            let aside = (y - RACE).abs() as f32 / RACE_HALF as f32;
            if 1.0 - aside > bayer(x, y) {
                out.blend(x, y, MIST[0], 0.22);
            }
            let foam = noise(x as f32 / 30.0 + y as f32 * 3.1, 77);
            if foam > 0.8 && y % 5 == 0 {
                out.blend(x, y, MIST[1], 0.4);
            }
        }
    }
}

fn banks(out: &mut Bitmap) {
    for y in 0..HEIGHT {
        for x in 0..WIDTH {
            let far = depth(x, y);
            let inlet = x < SHORE + 8 && (y - RACE).abs() < RACE_HALF - 14;
            if far > 1.5 || inlet {
                continue;
            }
            let warm = ((y - 300) as f32 / 300.0).clamp(0.0, 0.5);
            let blade = chance(x, y / 2, 13);
            let color = match far {
                far if far > 0.0 => INK,
                far if far > -2.5 => SEDGE[4].mix(FIRE[3], warm),
                far if far > -6.0 => if blade > 0.5 { SEDGE[3] } else { SEDGE[2] }.mix(FIRE[2], warm),
                _ => if blade > 0.86 {
                    SEDGE[2]
                } else if blade > 0.4 {
                    SEDGE[1]
                } else {
                    SEDGE[0]
                }
                .mix(PLUM[0], warm),
            };
            out.set(x, y, color);
        }
    }
    for clump in 0..90 {
        let own = |purpose| chance(clump, 3, purpose);
        let side = clump % 4;
        let along = own(1);
        let (x, y) = match side {
            0 => ((along * WIDTH as f32) as i32, SHORE - 2),
            1 => ((along * WIDTH as f32) as i32, HEIGHT - SHORE + 8),
            2 => (SHORE - 4, (along * HEIGHT as f32) as i32),
            _ => (WIDTH - SHORE + 4, (along * HEIGHT as f32) as i32),
        };
        reeds(out, x, y, clump);
    }
}

fn reeds(out: &mut Bitmap, x: i32, y: i32, purpose: i32) {
    for reed in 0..7 {
        let own = |what| chance(reed, purpose, what);
        let (foot, height) = (x + (own(1) * 22.0) as i32 - 11, 8 + (own(2) * 12.0) as i32);
        for up in 0..height {
            let lean = (up * up) as f32 / 90.0 * (own(3) - 0.4) * 3.0;
            let color = if up > height - 3 { SEDGE[3] } else { SEDGE[1] };
            out.set(foot + lean as i32, y - up, color);
        }
        if own(4) > 0.6 {
            out.rect(foot, y - height - 3, 2, 4, PEAT[3]);
            out.set(foot, y - height - 3, PEAT[4]);
        }
    }
}

/// Planks from the nearest bank to the place of delivery.
fn jetty(out: &mut Bitmap, x: i32, y: i32) {
    let down = y > HEIGHT / 2;
    let (from, to) = if down { (y, HEIGHT - SHORE + 12) } else { (SHORE - 12, y) };
    for row in from..to {
        for column in x - 9..=x + 9 {
            let edge = (column - x).abs() == 9;
            let board = row.rem_euclid(4) == 0;
            let grain = chance(column / 5, row / 4, 31);
            let color = match (edge, board) {
                (true, _) => INK,
                (_, true) => PEAT[1],
                _ if grain > 0.6 => PEAT[4].mix(BONE, 0.25),
                _ => PEAT[4],
            };
            out.set(column, row, color);
        }
    }
    let end = if down { from } else { to };
    out.rect(x - 10, end - 1, 21, 2, INK);
    for post in [x - 10, x + 7] {
        let top = if down { end - 5 } else { end - 3 };
        out.rect(post, top, 4, 8, PEAT[3]);
        out.rect(post, top, 4, 1, MOON.mix(PEAT[4], 0.3));
        out.rect(post, top + 7, 4, 1, INK);
    }
}

fn house(out: &mut Bitmap, x: i32, y: i32, wide: i32, high: i32, roof: Color) {
    out.rect(x - 1, y - 1, wide + 2, high + 2, INK);
    out.rect(x, y, wide, high, PEAT[3]);
    for row in 0..high / 2 {
        out.rect(x - 2, y + row, wide + 4, 1, if row == 0 { MOON.mix(roof, 0.45) } else { roof });
        if row % 3 == 2 {
            for column in (x - 2 + row % 6..x + wide + 2).step_by(6) {
                out.set(column, y + row, INK);
            }
        }
    }
    out.rect(x - 2, y + high / 2, wide + 4, 1, INK);
    for window in 0..wide / 14 {
        let at = x + 5 + window * 14;
        out.rect(at - 1, y + high / 2 + 3, 6, 6, INK);
        out.rect(at, y + high / 2 + 4, 4, 4, if window % 2 == 0 { FIRE[5] } else { FIRE[3] });
    }
}

fn mill(out: &mut Bitmap) {
    house(out, WIDTH - 22, RACE - 62, 40, 130, PEAT[2]);
    out.rect(WIDTH - 24, RACE - 64, 26, 5, PEAT[4]);
    house(out, 958, 4, 40, 34, FIRE[0].mix(PEAT[3], 0.5));
}

fn chapel(out: &mut Bitmap, x: i32, y: i32) {
    house(out, x, y - 6, 40, 36, MIST[0].mix(PEAT[2], 0.5));
    out.rect(x + 13, y - 30, 15, 26, INK);
    out.rect(x + 14, y - 29, 13, 25, PEAT[4]);
    for row in 0..9 {
        out.rect(
            x + 20 - row * 9 / 12,
            y - 39 + row,
            1 + row * 3 / 2,
            1,
            if row < 2 { MOON } else { MIST[0] },
        );
    }
    out.rect(x + 17, y - 24, 7, 7, INK);
}
