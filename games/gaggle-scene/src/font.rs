//! The pixel font: 5 by 7 pixels and 2 rows for descenders, proportional, digits of one width.
//!
//! Bold draws each letter twice, one column apart, except letters that would close up. Called by
//! the canvas, by lettering and by layouts. Absent: other scripts (`covers`).

/// Pixels of a character, one bit each; the highest of five is the leftmost.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Glyph {
    /// Rows from the top; the baseline is below the seventh.
    pub rows: [u8; ROWS],
    /// Empty columns on the left, not drawn.
    left: u8,
    /// Columns it takes, without the gap after it.
    pub width: u8,
}

/// Rows of a glyph, descenders included.
pub const ROWS: usize = 9;
/// Rows of capitals and digits.
pub const CAP_ROWS: i32 = 7;
/// Columns of a space character.
const SPACE: i32 = 3;

/// One digit in base 32 for each row.
const LETTERS: &[(char, &str)] = &[
    ('A', "ehhvhhh"),
    ('B', "uhhuhhu"),
    ('C', "ehggghe"),
    ('D', "sihhhis"),
    ('E', "vgguggv"),
    ('F', "vgguggg"),
    ('G', "ehgnhhf"),
    ('H', "hhhvhhh"),
    ('I', "e44444e"),
    ('J', "7222iic"),
    ('K', "hikokih"),
    ('L', "ggggggv"),
    ('M', "hrllhhh"),
    ('N', "hppljjh"),
    ('O', "ehhhhhe"),
    ('P', "uhhuggg"),
    ('Q', "ehhhlid"),
    ('R', "uhhukih"),
    ('S', "fgge11u"),
    ('T', "v444444"),
    ('U', "hhhhhhe"),
    ('V', "hhhhha4"),
    ('W', "hhhllla"),
    ('X', "hha4ahh"),
    ('Y', "hha4444"),
    ('Z', "v1248gv"),
    ('a', "00e1fhf"),
    ('b', "ggmphhu"),
    ('c', "00ehghe"),
    ('d', "11djhhf"),
    ('e', "00ehvge"),
    ('f', "698s888"),
    ('g', "00fhhhf1e"),
    ('h', "ggmphhh"),
    ('i', "40c444e"),
    ('j', "2062222ic"),
    ('k', "ggikoki"),
    ('l', "c44444e"),
    ('m', "00qllll"),
    ('n', "00mphhh"),
    ('o', "00ehhhe"),
    ('p', "00uhhhugg"),
    ('q', "00fhhhf11"),
    ('r', "00mpggg"),
    ('s', "00fge1u"),
    ('t', "88s8896"),
    ('u', "00hhhjd"),
    ('v', "00hhha4"),
    ('w', "00hhlla"),
    ('x', "00ha4ah"),
    ('y', "00hhhhf1e"),
    ('z', "00v248v"),
    ('0', "ehhhhhe"),
    ('1', "4c4444e"),
    ('2', "eh168gv"),
    ('3', "eh161he"),
    ('4', "26aiv22"),
    ('5', "vgu11he"),
    ('6', "68guhhe"),
    ('7', "v124444"),
    ('8', "ehhehhe"),
    ('9', "ehhf12c"),
    (';', "0cc0cc48"),
    ('.', "00000cc"),
    (',', "00000cc48"),
    (':', "0cc0cc0"),
    ('!', "4444404"),
    ('?', "eh12404"),
    ('\'', "4400000"),
    ('"', "aa00000"),
    ('-', "000e000"),
    ('+', "044v440"),
    ('/', "11248gg"),
    ('(', "2488842"),
    (')', "8422248"),
    ('%', "op248j3"),
    ('<', "248g842"),
    ('>', "8421248"),
    ('=', "00v0v00"),
    ('_', "000000v"),
    ('#', "aavavaa"),
    ('*', "04lel40"),
    ('&', "cik8lid"),
    ('|', "4444444"),
    ('[', "c88888c"),
    (']', "6222226"),
    ('·', "000cc00"),
    ('×', "00ha4ah"),
    ('→', "042v240"),
    ('←', "048v840"),
    ('↑', "4el4444"),
    ('↓', "4444le4"),
    ('…', "000000l"),
    ('—', "000v000"),
    ('±', "44v440v"),
];

/// Bold letters that are drawn separately, up to 7 columns wide; the highest of 7 bits is the
/// leftmost.
const BOLD: &[(char, [u8; 7], u8)] = &[
    ('W', [0b1100011, 0b1100011, 0b1101011, 0b1101011, 0b1101011, 0b1111111, 0b0110110], 7),
    ('M', [0b1100011, 0b1110111, 0b1111111, 0b1101011, 0b1101011, 0b1100011, 0b1100011], 7),
    ('w', [0, 0, 0b1100011, 0b1101011, 0b1101011, 0b1111111, 0b0110110], 7),
    ('m', [0, 0, 0b1111110, 0b1101011, 0b1101011, 0b1101011, 0b1101011], 7),
    ('N', [0b1100110, 0b1110110, 0b1110110, 0b1111110, 0b1101110, 0b1101110, 0b1100110], 6),
    ('G', [0b0111100, 0b1100110, 0b1100000, 0b1101110, 0b1100110, 0b1100110, 0b0111110], 6),
    ('K', [0b1100110, 0b1101100, 0b1111000, 0b1110000, 0b1111000, 0b1101100, 0b1100110], 6),
];

const COUNT: usize = LETTERS.len();
const GLYPHS: [Glyph; COUNT] = glyphs();
/// Index of each ASCII character; that of `?` for a missing one.
const ASCII: [u8; 128] = ascii();

const fn glyphs() -> [Glyph; COUNT] {
    let mut table = [Glyph { rows: [0; ROWS], left: 0, width: 0 }; COUNT];
    let mut n = 0;
    while n < COUNT {
        table[n] = glyph(LETTERS[n].0, LETTERS[n].1.as_bytes());
        n += 1;
    }
    table
}

const fn glyph(letter: char, digits: &[u8]) -> Glyph {
    let mut rows = [0; ROWS];
    let mut all = 0;
    let mut n = 0;
    while n < digits.len() {
        let digit = digits[n];
        rows[n] = if digit.is_ascii_digit() { digit - b'0' } else { digit - b'a' + 10 };
        all |= rows[n];
        n += 1;
    }
    // Digits keep their full width, so that scores do not jitter.
    let all = if letter.is_ascii_digit() { 0b1_1111 } else { all };
    let left = all.leading_zeros() as u8 - 3;
    Glyph { rows, left, width: 5 - left - all.trailing_zeros() as u8 }
}

const fn ascii() -> [u8; 128] {
    let mut table = [0; 128];
    let mut missing = 0;
    let mut n = 0;
    while n < COUNT {
        if LETTERS[n].0 == '?' {
            missing = n as u8;
        }
        n += 1;
    }
    let mut letter = 0;
    while letter < 128 {
        table[letter] = missing;
        letter += 1;
    }
    n = 0;
    while n < COUNT {
        if (LETTERS[n].0 as u32) < 128 {
            table[LETTERS[n].0 as usize] = n as u8;
        }
        n += 1;
    }
    table
}

/// Glyph of a character; that of `?` for a missing one.
pub fn find(letter: char) -> &'static Glyph {
    let number = match u8::try_from(letter) {
        Ok(letter @ 0..128) => usize::from(ASCII[usize::from(letter)]),
        _ => LETTERS
            .iter()
            .position(|(known, _)| *known == letter)
            .unwrap_or(usize::from(ASCII[b'?' as usize])),
    };
    &GLYPHS[number]
}

/// Whether every character has a glyph. If not, the caller sets the text in another font.
pub fn covers(text: &str) -> bool {
    text.chars().all(|letter| letter == ' ' || LETTERS.iter().any(|(known, _)| *known == letter))
}

fn bold_letter(letter: char) -> Option<&'static (char, [u8; 7], u8)> {
    BOLD.iter().find(|(known, ..)| *known == letter)
}

/// Columns from the start of a character to that of the next.
fn advance(letter: char, bold: bool, track: i32) -> i32 {
    match letter {
        ' ' => return SPACE,
        // The thin space between thousands.
        '\u{2009}' => return 2,
        _ => {}
    }
    let width = match bold_letter(letter) {
        Some((_, _, width)) if bold => i32::from(*width),
        _ => i32::from(find(letter).width) + i32::from(bold),
    };
    width + 1 + track
}

/// Columns of a text, `track` extra ones between letters.
pub fn width(text: &str, bold: bool, track: i32) -> i32 {
    text.chars().map(|letter| advance(letter, bold, track)).sum::<i32>()
        - if text.is_empty() { 0 } else { 1 + track }
}

/// Calls `dot` for every pixel of a text, letter by letter, from its top left corner.
pub fn dots(text: &str, bold: bool, track: i32, mut dot: impl FnMut(i32, i32)) {
    runs(text, bold, track, |x, y, count| (x..x + count).for_each(|x| dot(x, y)));
}

/// Calls `run` for pixels side by side in a letter, with the first one's place and their count.
pub fn runs(text: &str, bold: bool, track: i32, mut run: impl FnMut(i32, i32, i32)) {
    let mut left = 0;
    for letter in text.chars() {
        if letter == ' ' || letter == '\u{2009}' {
        } else if bold && let Some((_, rows, _)) = bold_letter(letter) {
            for (y, row) in (0..).zip(rows) {
                row_runs(*row << 1, |x, count| run(left + x, y, count));
            }
        } else {
            let glyph = find(letter);
            for (y, row) in (0..).zip(glyph.rows) {
                let row = row << (3 + glyph.left);
                let row = if bold { row | row >> 1 } else { row };
                row_runs(row, |x, count| run(left + x, y, count));
            }
        }
        left += advance(letter, bold, track);
    }
}

/// Calls `run` for ones side by side in a row whose highest bit is the leftmost pixel.
fn row_runs(mut row: u8, mut run: impl FnMut(i32, i32)) {
    let mut passed = 0;
    while row != 0 {
        let gap = row.leading_zeros();
        row <<= gap;
        let count = row.leading_ones();
        run((passed + gap) as i32, count as i32);
        passed += gap + count;
        row = row.checked_shl(count).unwrap_or(0);
    }
}

/// Writes a number with a thin space between thousands: `24 250`.
pub fn thousands(number: u32, out: &mut String) {
    use std::fmt::Write;
    // Writing to a String cannot fail.
    let _ = match number {
        0..1_000 => write!(out, "{number}"),
        1_000..1_000_000 => write!(out, "{}\u{2009}{:03}", number / 1000, number % 1000),
        _ => write!(
            out,
            "{}\u{2009}{:03}\u{2009}{:03}",
            number / 1_000_000,
            number / 1000 % 1000,
            number % 1000
        ),
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn letters_take_their_pixels_and_digits_one_width() {
        assert_eq!(find('i').width, 3);
        assert_eq!(find('W').width, 5);
        assert!(('0'..='9').all(|digit| find(digit).width == 5));
        assert_eq!(width("", false, 0), 0);
        assert_eq!(width("i", false, 0), 3);
        assert_eq!(width("iW", false, 0), 3 + 1 + 5);
        assert_eq!(width("W", true, 0), 7);
    }

    #[test]
    fn runs_are_ones_of_row() {
        for row in 0..=u8::MAX {
            let mut seen = 0;
            row_runs(row, |x, count| {
                assert!(count > 0 && x + count <= 8);
                seen |= (0xff_u32 >> x) as u8 & !(0xff_u32 >> (x + count)) as u8;
                // The pixel after a run is empty: no run is split.
                assert_eq!(u32::from(row) << 1 << (x + count) & 0x100, 0);
            });
            assert_eq!(seen, row);
        }
    }

    #[test]
    fn no_dot_is_outside_width() {
        for bold in [false, true] {
            for (letter, _) in LETTERS {
                let text = letter.to_string();
                let mut seen = 0;
                dots(&text, bold, 0, |x, y| {
                    assert!((0..width(&text, bold, 0)).contains(&x), "{letter} {x}");
                    assert!((0..ROWS as i32).contains(&y));
                    seen += 1;
                });
                assert!(seen > 0, "{letter} is empty");
            }
        }
    }

    #[test]
    fn text_in_other_script_is_not_covered() {
        assert!(covers("Big Tam · 24"));
        assert!(!covers("Gänsehirt"));
        assert_eq!(find('雁'), find('?'));
    }

    #[test]
    fn thousands_are_separated() {
        for (number, text) in
            [(0, "0"), (999, "999"), (24_250, "24\u{2009}250"), (1_000_050, "1\u{2009}000\u{2009}050")]
        {
            let mut out = String::new();
            thousands(number, &mut out);
            assert_eq!(out, text);
        }
    }
}
