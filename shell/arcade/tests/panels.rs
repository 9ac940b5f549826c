//! Paints every panel over a match, on screens of several sizes, into PNG files under the target folder: to be looked
//! at. What a program can tell about them it tells: that they can be seen.

#![cfg(not(target_arch = "wasm32"))]
#![allow(clippy::float_arithmetic)]

use std::fs::{self, File};
use std::io::BufWriter;
use std::path::Path;

use arcade::cabinets::NAMES;
use arcade::{
    BoardLine, Choice, JoiningFacts, Key, LinkFacts, Menu, MenuFacts, NetDetail, NetFacts, NetPanel, Notice,
    PlayerLine, RoomLine, ScoreBoard, ScoreFacts, ScrubFacts, Scrubber, Spot, Toasts, Touch, album,
    draw_joining,
};
use gaggle::Micros;
use gaggle_scene::{Album, Canvas, Scene, View};
use gander::arena::{HEIGHT, WIDTH};
use gander::bots::{Bot, Strength};
use gander::stage::{Audience, Stage};
use gander::{Gander, Pad, Setup};

/// Name, width, height, and screen pixels of a word pixel.
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

/// A match of four, some way in.
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

/// Paints a panel over the match on every screen, with the album it returns or that of all panels.
fn paint(name: &str, bare: bool, draw: impl Fn(View, &mut Scene) -> Option<Album>) {
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
        let changed = canvas.pixels().iter().zip(&before).filter(|(now, then)| now != then).count();
        assert!(changed > 200, "{name} cannot be seen on {}", screen.0);
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
fn menu() {
    let rooms = [
        room("HNKCDS", "team", 2, 0, true),
        room("TRNDBX", "team", 3, 2, true),
        room("BGWNLL", "versus", 1, 0, true),
        room("SDGHGY", "versus", 4, 1, false),
        room("KKLPRT", "team", 1, 0, true),
    ];
    let facts =
        MenuFacts { name: "Wren", best: Some(57_250), rooms: &rooms, online: Some(true), muted: false };
    paint("menu", true, |view, scene| {
        let mut menu = Menu::new(view, &arcade::cabinets::gander::ABOUT, &NAMES);
        menu.set_rooms(&rooms);
        menu.draw(scene, &facts);
        Some(menu.album().clone())
    });
    paint("menu-code", true, |view, scene| {
        let mut menu = Menu::new(view, &arcade::cabinets::gander::ABOUT, &NAMES);
        // Whatever one is looking for, a walk over the whole screen finds it.
        let (wide, tall) = (view.width as usize, view.height as usize);
        (0..wide * tall).step_by(61).find(|pixel| {
            menu.click((pixel % wide) as i32, (pixel / wide) as i32);
            menu.focus() == Choice::Code
        });
        menu.type_text("BGW");
        menu.draw(scene, &MenuFacts { rooms: &[], muted: true, ..facts });
        Some(menu.album().clone())
    });
    paint("menu-out", true, |view, scene| {
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
            guessed: 3 + frame / 40 % 2,
            bytes_in_per_second: 2_000 + chance(300),
            bytes_out_per_second: 1_400,
            packets_per_second: 93,
            agree: Some(true),
            shared: Vec::new(),
        };
        let depth = match chance(20) {
            0 => 1 + chance(3),
            _ if frame == 1_350 => 7,
            _ => 0,
        };
        panel.sample(&facts, depth);
    }
    for (name, detail, left) in [("net-line", NetDetail::Line, false), ("net-panel", NetDetail::Panel, false)]
    {
        panel.detail = detail;
        paint(name, false, |view, scene| {
            panel.draw(scene, view, left);
            None
        });
    }
}

#[test]
fn joining() {
    let linked_to = ["Wren", "Hob", "Ottilie"].map(str::to_string);
    paint("joining", false, |view, scene| {
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
        };
        draw_joining(scene, view, &facts);
        None
    });
}

#[test]
fn score_board() {
    let player = |seat, name: &str, score, falls, remark: &str| PlayerLine {
        seat,
        name: name.to_string(),
        score,
        falls,
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
        wave: 12,
        line: "The fen keeps four saddles; the geese kept their heads.",
        players: &players,
        board: Some(&board),
        board_note: "Your best yet.",
    };
    let waves: Vec<(u32, u16)> = (0..11).map(|nth| (nth * 4_500 + nth % 3 * 300, nth as u16 + 1)).collect();
    let falls: Vec<(u32, usize)> = (1..14).map(|nth| (nth * 3_700, nth as usize * 7)).collect();
    let scrub = ScrubFacts { frame: 33_120, frames: 51_600, playing: false, waves: &waves, falls: &falls };
    paint("replay", false, |view, scene| {
        Scrubber::new(view).draw(scene, &scrub);
        None
    });
    paint("score-board", true, |view, scene| {
        ScoreBoard::new(view).draw(scene, &facts);
        None
    });
    let out = ScoreFacts { players: &players[..1], board: None, board_note: "The lobby is out.", ..facts };
    paint("score-board-out", true, |view, scene| {
        ScoreBoard::new(view).draw(scene, &out);
        None
    });
}

#[test]
fn notices() {
    paint("interrupted", false, |view, scene| {
        let notice = Notice {
            seat: Some(0),
            heading: "Lost touch. Holding your seat for 21 s.",
            lines: &["Trying the relay. Second try."],
            keys: &[("Esc", "let go and play alone")],
            warn: true,
            shade_percent: 55,
        };
        notice.draw(scene, view);
        None
    });
}

#[test]
fn thumbs() {
    paint("thumbs", false, |view, scene| {
        let mut touch = Touch::default();
        touch.fit(view);
        touch.set(1, 0.02);
        touch.draw(scene, view, "FLAP", None);
        None
    });
}

#[test]
fn toasts() {
    let mut toasts = Toasts::default();
    toasts.push(Some(2), "Ottilie went quiet. Her goose glides on.".to_string(), true);
    toasts.tick(Micros::ZERO);
    paint("toast", false, |view, scene| {
        toasts.draw(scene, view, None, Spot::Flight);
        None
    });
}
