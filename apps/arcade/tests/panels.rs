//! Pictures of every panel over a match, on screens of several sizes, as PNG files in the target
//! folder for review. Checked: all texts are on the screen, painted where they are placed, and
//! contain what the panel must say. Absent: input, networks.

#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::float_arithmetic)]

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::Path;

use arcade::cabinets::NAMES;
use arcade::{
    BoardLine, Choice, Invite, JoiningFacts, Key, LinkFacts, Menu, MenuFacts, NetDetail, NetFacts, NetPanel,
    Notice, PlayerLine, RoomLine, ScoreBoard, ScoreFacts, ScrubFacts, Scrubber, Spot, Toasts, Touch, Volume,
    album, draw_joining,
};
use gaggle::Micros;
use gaggle_scene::{Album, Align, Bitmap, Canvas, Item, Scene, View, font, palette};
use gander::arena::{HEIGHT, WIDTH};
use gander::bots::{Bot, Strength};
use gander::stage::{Audience, Stage};
use gander::{Gander, Pad, Setup};

/// Name, width, height, and screen pixels per text pixel.
const SCREENS: [(&str, i32, i32, i32); 5] = [
    ("laptop", 1280, 720, 2),
    ("desktop", 1920, 1080, 3),
    ("phone", 780, 1688, 4),
    ("phone-sideways", 1688, 780, 4),
    ("old", 800, 600, 2),
];

fn view((_, width, height, words): (&str, i32, i32, i32)) -> View {
    let scale = View::fit(width, height, WIDTH, HEIGHT).scale;
    View::at_scale(width, height, WIDTH, HEIGHT, scale, words)
}

/// A match of four players, some seconds after its start.
fn game() -> Gander {
    let mut game = Gander::new(Setup { first_wave: 6, ..Setup::default() }, 5);
    let mut bots: Vec<Bot> = (0..4).map(|seat| Bot::new(seat, Strength::Steady, seat as u64)).collect();
    for _ in 0..900 {
        let mut pads = [Pad::NONE; 4];
        bots.iter_mut().for_each(|bot| pads[bot.seat()] = bot.play(&game));
        game.step(&pads, [true; 4]);
    }
    game
}

/// Texts of a panel with their places, in text pixels.
fn texts(scene: &Scene) -> Vec<((i32, i32, i32, i32), String)> {
    let mut found = vec![];
    for item in &scene.words {
        let Item::Text { words, x, y, align, bold, track, size, .. } = *item else { continue };
        let text = scene.text_of(words).to_string();
        let wide = font::width(&text, bold, i32::from(track)) * i32::from(size);
        let left = match align {
            Align::Left => 0,
            Align::Center => wide / 2,
            Align::Right => wide,
        };
        found.push(((x as i32 - left, y as i32, wide, font::CAP_ROWS * i32::from(size)), text));
    }
    found
}

/// Whether any pixel of the place changed color.
fn differs(view: View, place: (i32, i32, i32, i32), now: &[u32], before: &[u32]) -> bool {
    let scale = view.word_scale;
    let (left, top, right, bottom) =
        (place.0 * scale, place.1 * scale, (place.0 + place.2) * scale, (place.1 + place.3) * scale);
    (top..bottom).flat_map(|y| (left..right).map(move |x| y * view.width + x)).any(|nth| {
        let nth = nth as usize;
        now.get(nth) != before.get(nth)
    })
}

/// Panics unless every text is on the screen and painted there, and the texts contain `said`.
fn assert_written(what: &str, view: View, over: &Scene, said: &[&str], now: &[u32], before: &[u32]) {
    let texts = texts(over);
    for (place, text) in &texts {
        let (x, y, wide, tall) = *place;
        let inside = x >= 0 && y >= 0 && x + wide <= view.word_width() && y + tall <= view.word_height();
        assert!(inside, "{what}: {text:?} at {place:?}");
        assert!(text.trim().is_empty() || differs(view, *place, now, before), "{what}: {text:?} is not seen");
    }
    let all: String = texts.iter().map(|(_, text)| format!("{text} ")).collect();
    for words in said {
        assert!(all.contains(words), "{what} does not say {words:?}: {all}");
    }
}

/// Paints a panel over the match on every screen with the album it returns, or else that of all
/// panels, and checks that its texts contain `said`.
fn paint(name: &str, bare: bool, said: &[&str], draw: impl Fn(View, &mut Scene) -> Option<Album>) {
    let game = game();
    for screen in SCREENS {
        let view = view(screen);
        let mut stage = Stage::new(view);
        let mut scene = Scene::default();
        let names = ["Wren", "Hob", "Ottilie", "Big Tam"];
        let bars = [None, Some(3), Some(2), Some(3)];
        let own = [true, false, false, false];
        let audience = Audience { names, own, bars, bare, plain: bare, ..Audience::default() };
        stage.draw(&game, &game, 1.0, &audience, &mut scene);
        let mut canvas = Canvas::new(view);
        canvas.paint(&scene, stage.album());
        let before = canvas.pixels();
        let mut over = Scene::default();
        let own_album = draw(view, &mut over);
        canvas.paint(&over, own_album.as_ref().unwrap_or(album()));
        let what = format!("{name} on {}", screen.0);
        assert_written(&what, view, &over, said, &canvas.pixels(), &before);
        write(&format!("{name}-{}.png", screen.0), view, &canvas);
    }
}

fn write(name: &str, view: View, canvas: &Canvas) {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("pictures");
    fs::create_dir_all(&folder).expect("the target folder can be written to");
    let file = BufWriter::new(File::create(folder.join(name)).expect("a file can be made"));
    let mut encoder = png::Encoder::new(file, view.width as u32, view.height as u32);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_compression(png::Compression::Fast);
    let bytes: Vec<u8> = canvas.pixels().iter().flat_map(|pixel| pixel.to_be_bytes()[1..].to_vec()).collect();
    let mut writer = encoder.write_header().expect("a header can be written");
    writer.write_image_data(&bytes).expect("as many pixels as announced");
}

fn room(code: &str, mode: &str, players: u8, watchers: u8, open: bool) -> RoomLine {
    RoomLine { code: code.to_string(), mode: mode.to_string(), players, seats: 4, watchers, open }
}

#[test]
#[should_panic(expected = "is not seen")]
fn panel_that_is_not_painted_is_noticed() {
    let view = view(SCREENS[0]);
    let pixels = Canvas::new(view).pixels();
    let mut over = Scene::default();
    over.word("PLAY", 20.0, 20.0, palette::TEXT);
    assert_written("nothing", view, &over, &[], &pixels, &pixels);
}

#[test]
fn menu() {
    let rooms = [
        room("HNKCDS", "team", 2, 0, true),
        room("TRNDBX", "team", 3, 2, true),
        room("BGWNLL", "versus", 1, 0, true),
        room("SDGHGY", "versus", 4, 1, false),
        room("KKLPRT", "team", 1, 0, true),
    ];
    let facts = MenuFacts {
        name: "Wren",
        best: Some(57_250),
        rooms: &rooms,
        online: Some(true),
        volume: Volume::default(),
    };
    paint("menu", true, &["PLAY", "Team", "Versus", "HNKCDS", "Wren"], |view, scene| {
        let mut menu = Menu::new(view, &arcade::cabinets::gander::ABOUT, &NAMES);
        menu.set_rooms(&rooms);
        menu.draw(scene, &facts);
        Some(menu.album().clone())
    });
    paint("menu-code", true, &["PLAY", "B G W"], |view, scene| {
        let mut menu = Menu::new(view, &arcade::cabinets::gander::ABOUT, &NAMES);
        // A scan of the whole screen finds every button.
        let (wide, tall) = (view.width as usize, view.height as usize);
        (0..wide * tall).step_by(61).find(|pixel| {
            menu.click((pixel % wide) as i32, (pixel / wide) as i32);
            menu.focus() == Choice::Code
        });
        menu.type_text("BGW");
        menu.draw(scene, &MenuFacts { rooms: &[], volume: Volume::read("0"), ..facts });
        Some(menu.album().clone())
    });
    paint("menu-out", true, &["PLAY", "lobby is out", "your name"], |view, scene| {
        let mut menu = Menu::new(view, &arcade::cabinets::gander::ABOUT, &NAMES);
        menu.press(Key::Right);
        menu.draw(scene, &MenuFacts { name: "", best: None, rooms: &[], online: Some(false), ..facts });
        Some(menu.album().clone())
    });
}

fn link(seat: usize, name: &str, path: &'static str, rtt_ms: u32, jitter_ms: u32, loss: u32) -> LinkFacts {
    LinkFacts {
        seat: Some(seat),
        name: name.to_string(),
        path,
        rtt_ms,
        jitter_ms,
        loss_permille: loss,
        lead: seat == 1,
    }
}

#[test]
fn net_panel() {
    let mut panel = NetPanel::default();
    let mut noise = 1_u32;
    let mut chance = |below: u32| {
        noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (noise >> 8) % below
    };
    for frame in 0..1_400 {
        let links = vec![
            link(1, "Hob", "direct", 36 + chance(5), 2, 0),
            link(2, "Ottilie", "relay", 105 + chance(40), 19, 28 + frame / 400),
            link(3, "Big Tam", "socket", 58 + chance(14), 6, 4),
        ];
        let facts = NetFacts {
            frame: 16_840 + frame,
            links,
            rollback_window: 8,
            input_delay: 2,
            delay_is_fixed: false,
            stalled: 0,
            guessed: 3 + frame / 40 % 2,
            bytes_in_per_second: 2_000 + chance(300),
            bytes_out_per_second: 1_400,
            packets_per_second: 93,
            agree: Some(true),
            pictures_per_second: 60,
            shared: Vec::new(),
        };
        let depth = match chance(20) {
            0 => 1 + chance(3),
            _ if frame == 1_350 => 7,
            _ => 0,
        };
        panel.sample(&facts, depth);
    }
    let line: &[&str] = &["ms"];
    let whole: &[&str] = &["Net", "F3 closes", "Hob", "direct", "Ottilie", "relay", "all agree"];
    for (name, detail, left, said) in
        [("net-line", NetDetail::Line, false, line), ("net-panel", NetDetail::Panel, false, whole)]
    {
        panel.detail = detail;
        paint(name, false, said, |view, scene| {
            panel.draw(scene, view, left);
            None
        });
    }
}

#[test]
fn joining() {
    let linked_to = ["Wren", "Hob", "Ottilie"].map(str::to_string);
    paint(
        "joining",
        false,
        &["FNWKBX", "Found the room", "Copying the fen", "61%", "your seat", "play alone instead"],
        |view, scene| {
            let facts = JoiningFacts {
                code: "FNWKBX",
                percent: 61,
                linked_to: &linked_to,
                slowest_ms: Some(121),
                place: "the fen",
                arrival: "",
                seats: &[Some("Wren"), Some("Hob"), Some("Ottilie"), None],
                own_seat: Some(3),
                since_ms: 900,
                touch: false,
            };
            draw_joining(scene, view, &facts);
            None
        },
    );
}

#[test]
fn score_board() {
    let player = |seat, name: &str, score, falls: u16, remark: &str| PlayerLine {
        seat,
        name: name.to_string(),
        score,
        figures: vec![falls.to_string()],
        remark: remark.to_string(),
        own: seat == 0,
    };
    let players = [
        player(0, "Wren", 61_250, 0, "most eggs"),
        player(2, "Ottilie", 58_000, 0, "sharpest lance"),
        player(1, "Hob", 40_750, 0, ""),
        player(3, "Big Tam", 22_500, 2, "fell in twice"),
    ];
    let names =
        ["Sister Agnes", "the two Pauls", "Maud", "Nib", "Wren", "Ottilie", "goosefoot", "Ash", "K", "Pim"];
    let line = |(nth, name): (usize, &&str)| BoardLine {
        place: nth as u32 + 1,
        name: (*name).to_string(),
        level: Some(18 - nth as u32),
        score: 142_500 - 9_250 * nth as i64,
        own: *name == "Wren",
    };
    let board: Vec<BoardLine> = names.iter().enumerate().map(line).collect();
    let facts = ScoreFacts {
        mode: "Team",
        level: "Wave",
        wave: 12,
        line: "The fen keeps four saddles; the geese kept their heads.",
        columns: &["falls"],
        players: &players,
        board: Some(&board),
        board_note: "Your best yet.",
    };
    let waves: Vec<(u32, u16)> = (0..11).map(|nth| (nth * 4_500 + nth % 3 * 300, nth as u16 + 1)).collect();
    let falls: Vec<(u32, usize)> = (1..14).map(|nth| (nth * 3_700, nth as usize * 7)).collect();
    let scrub = ScrubFacts { frame: 33_120, frames: 51_600, playing: false, waves: &waves, falls: &falls };
    paint("replay", false, &["wave"], |view, scene| {
        Scrubber::new(view).draw(scene, &scrub);
        None
    });
    paint("score-board", true, &["Team", "Ottilie", "Fly again", "Menu"], |view, scene| {
        ScoreBoard::new(view).draw(scene, &facts);
        None
    });
    let out = ScoreFacts { players: &players[..1], board: None, board_note: "The lobby is out.", ..facts };
    paint("score-board-out", true, &["Wren", "Fly again", "Menu"], |view, scene| {
        ScoreBoard::new(view).draw(scene, &out);
        None
    });
}

#[test]
fn notices() {
    paint(
        "interrupted",
        false,
        &["Lost touch.", "Trying the relay.", "Esc", "let go and play alone"],
        |view, scene| {
            let notice = Notice {
                seat: Some(0),
                heading: "Lost touch. Holding your seat for 21 s.",
                lines: &["Trying the relay. Second try."],
                keys: &[("Esc", "let go and play alone")],
                warn: true,
                shade_percent: 55,
                touch: false,
                is_high: false,
                focus: None,
            };
            notice.draw(scene, view);
            None
        },
    );
}

#[test]
fn thumbs() {
    paint("thumbs", false, &["FLAP"], |view, scene| {
        let mut touch = Touch::new(view, false);
        touch.set(1, 20, view.height - 60);
        touch.draw(scene, view, "FLAP", None);
        None
    });
}

#[test]
fn toasts() {
    let mut toasts = Toasts::default();
    toasts.push(Some(2), "Ottilie went quiet. Her goose glides on.".to_string(), true);
    toasts.tick(Micros::ZERO);
    paint("toast", false, &["Ottilie went quiet."], |view, scene| {
        toasts.draw(scene, view, None, Spot::Flight);
        None
    });
}

#[test]
fn invite() {
    paint("invite", false, &["HNKCDS", "Invite friends", "Copy", "Play"], |view, scene| {
        let (code, link) =
            ("HNKCDS".to_string(), "https://play.example.org/?game=millpond&room=HNKCDS".to_string());
        Invite::new(code, link, view.height > view.width).draw(scene, view, view.height > view.width, None);
        None
    });
}

/// Icon of the page: a goose in the night, in art pixels.
fn icon() -> Bitmap {
    const ACROSS: i32 = 48;
    let mut album = Album::default();
    let figures = gander::stage::Figures::bake(&mut album);
    let mut out = Bitmap::new(ACROSS, ACROSS);
    for y in 0..ACROSS {
        for x in 0..ACROSS {
            let (right, down) = (2 * x - ACROSS + 1, 2 * y - ACROSS + 1);
            let in_moon = right * right + down * down < 38 * 38;
            out.set(x, y, if in_moon { palette::NIGHT[3] } else { palette::NIGHT[0] });
        }
    }
    let goose = album.image(figures.flying(0, false));
    out.blit(goose, (ACROSS - goose.width()) / 2, (ACROSS - goose.height()) / 2);
    out
}

/// Preview picture of a shared link: the fen and the name of the arcade.
fn card() -> (View, Canvas) {
    let view = View::fit(1_200, 630, WIDTH, HEIGHT);
    let mut stage = Stage::new(view);
    let mut scene = Scene::default();
    let audience = Audience { bare: true, plain: true, ..Audience::default() };
    let game = game();
    stage.draw(&game, &game, 1.0, &audience, &mut scene);
    let mut canvas = Canvas::new(view);
    canvas.paint(&scene, stage.album());
    let mut letters = Album::default();
    let title = letters.add(gaggle_scene::lettering("GAGGLE", &palette::LETTERING, 2, 1));
    let (wide, tall) = (letters.image(title).width(), letters.image(title).height());
    let mut over = Scene::default();
    let (x, y) = ((view.art_width - wide) / 2 - view.left, (view.art_height - tall) / 2 - view.top);
    over.blend(
        -view.left as f32,
        (y - 6) as f32,
        view.art_width as f32,
        (tall + 8) as f32,
        palette::INK,
        0.55,
    );
    over.image(title, x as f32, y as f32);
    canvas.paint(&over, &letters);
    (view, canvas)
}

/// Icons and previews have the sizes that the page declares. `GAGGLE_DRAW=1` draws them anew.
#[test]
fn page_pictures_have_their_sizes() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("page");
    if std::env::var("GAGGLE_DRAW").is_ok() {
        let (view, canvas) = card();
        let bytes: Vec<u8> =
            canvas.pixels().iter().flat_map(|pixel| pixel.to_be_bytes()[1..].to_vec()).collect();
        save(&folder.join("card.png"), (view.width as u32, view.height as u32), &bytes);
        for across in [192, 512_u32] {
            let icon = icon();
            let unit = across as i32 / icon.width();
            let edge = (across as i32 - unit * icon.width()) / 2;
            let color = |x: i32, y: i32| {
                icon.get((x - edge).div_euclid(unit), (y - edge).div_euclid(unit))
                    .unwrap_or(palette::NIGHT[0])
            };
            let pixels = (0..across as i32).flat_map(|y| (0..across as i32).map(move |x| (x, y)));
            let bytes: Vec<u8> = pixels.flat_map(|(x, y)| color(x, y).parts()).collect();
            save(&folder.join(format!("icon-{across}.png")), (across, across), &bytes);
        }
    }
    for (name, size) in
        [("card.png", (1_200, 630)), ("icon-192.png", (192, 192)), ("icon-512.png", (512, 512))]
    {
        let bytes = fs::read(folder.join(name)).expect("it is there");
        assert!(bytes.len() < 100_000, "{name} has {} bytes", bytes.len());
        let reader = png::Decoder::new(std::io::Cursor::new(bytes)).read_info().expect("a picture");
        assert_eq!((reader.info().width, reader.info().height), size, "{name}");
    }
}

fn save(path: &Path, (width, height): (u32, u32), bytes: &[u8]) {
    let mut encoder = png::Encoder::new(BufWriter::new(File::create(path).expect("a file")), width, height);
    encoder.set_color(png::ColorType::Rgb);
    encoder.set_compression(png::Compression::High);
    let mut writer = encoder.write_header().expect("a header can be written");
    writer.write_image_data(bytes).expect("as many pixels as announced");
}

/// The page must work with a content security policy that forbids inline scripts and styles.
#[test]
fn page_has_no_inline_script_or_style() {
    let page = include_str!("../page/index.html");
    let from_file = ["<script src=", "<script type=\"module\" src="].map(|begin| page.matches(begin).count());
    assert_eq!((page.matches("<script").count(), from_file), (2, [1, 1]));
    for forbidden in
        ["<style", "style=", "onclick", "onload", "javascript:", "data:", "user-scalable", "maximum-scale"]
    {
        assert!(!page.contains(forbidden), "{forbidden}");
    }
}
