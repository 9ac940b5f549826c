//! The arcade in a browser page: canvas, keyboard, gamepads, touch, audio. The page's script starts
//! it. Absent: decisions, which `Arcade` makes.

mod way_back;

use std::cell::RefCell;
use std::rc::Rc;

use gaggle::{Micros, OnlineConfig};
use gaggle_browser::PagePlatform;
use gaggle_scene::Heard;
use wasm_bindgen::Clamped;
use wasm_bindgen::prelude::*;
use web_sys::{
    CanvasRenderingContext2d, ClipboardEvent, Document, Event, FileList, Gamepad, HtmlCanvasElement,
    HtmlInputElement, ImageData, KeyboardEvent, PointerEvent, Window,
};

use crate::audio::Audio;
use crate::cabinets::Entry;
use crate::{Arcade, Busy, Download, HAS_LOBBY, Held, Keeping, Opening, Params, Screen, Volume, Whereabouts};
use way_back::WayBack;

/// Interval of updates while the page is hidden.
const HIDDEN_EVERY_MS: i32 = 250;
/// Largest accepted replay file in bytes.
const REPLAY_BYTES_MAX: f64 = 64e6;
/// Interval at which the page publishes its facts for tests.
const FACTS_EVERY: Micros = Micros::from_millis(100);

/// Platform of pages.
pub type Outdoors = PagePlatform;

thread_local! {
    /// The game of this module, from the moment it is loaded.
    static GAME: RefCell<Option<Entry<Outdoors>>> = const { RefCell::new(None) };
    /// The page while it is open.
    static SHOWN: RefCell<Option<Rc<RefCell<Page>>>> = const { RefCell::new(None) };
}

struct Page {
    arcade: Arcade,
    window: Window,
    canvas: HtmlCanvasElement,
    context: CanvasRenderingContext2d,
    audio: Option<Audio>,
    /// Whether no audio output is available.
    is_silent: bool,
    said: String,
    document: Document,
    frames: u32,
    busy: Busy,
    facts_at: Micros,
    /// The state published last.
    facts_of: Option<Whereabouts>,
    /// Function of the page's own script, called with an action and its argument: see
    /// `page/page.js`.
    host: js_sys::Function,
    /// Screen that the page's script knows.
    shown: &'static str,
    /// Volume that the audio output has.
    volume: Volume,
    listeners: Vec<Listener>,
    way_back: WayBack,
    /// Callback for arrivals while the page is hidden.
    look: Rc<dyn Fn()>,
    /// Timer for updates while the page is hidden.
    _timer: Option<Timer>,
}

/// Registers the game of this module.
pub fn offer(game: Entry<Outdoors>) {
    GAME.set(Some(game));
}

/// Leaves the room, because another cabinet takes the canvas over.
#[wasm_bindgen]
pub fn close() {
    if let Some(page) = SHOWN.take() {
        let mut page = page.borrow_mut();
        page.arcade.close();
        page.listeners.clear();
    }
}

/// A requested cabinet could not be loaded, or was loaded and does not start.
#[wasm_bindgen]
pub fn miss(name: &str, is_lost: bool) {
    SHOWN.with_borrow(|page| {
        if let Some(page) = page {
            page.borrow_mut().arcade.miss(name, is_lost);
        }
    });
}

/// Bit for a script that can open the system's share sheet.
const CAN_SHARE: u32 = 1;
/// Bit for a script that can fill the screen.
const CAN_FILL: u32 = 2;

/// Starts the arcade on the page's canvas. The cabinet that is `first` handles the requests in the
/// address. `able` has a bit for each ability of the script.
///
/// # Errors
/// If the page has no canvas with the name `arcade`.
#[wasm_bindgen]
pub fn open(host: js_sys::Function, first: bool, able: u32) -> Result<(), JsValue> {
    let window = web_sys::window().ok_or("no window")?;
    let document = window.document().ok_or("no document")?;
    let canvas: HtmlCanvasElement =
        document.get_element_by_id("arcade").ok_or("the page has no canvas `arcade`")?.dyn_into()?;
    let context: CanvasRenderingContext2d =
        canvas.get_context("2d")?.ok_or("this browser has no canvas")?.dyn_into()?;
    let calm = matches(&window, "(prefers-reduced-motion: reduce)");
    let now = gaggle_browser::now();
    let address = window.location();
    let mut params = Params::parse(&address.search().unwrap_or_default());
    if !first {
        (params.game, params.room, params.watch, params.frame) = (None, None, None, None);
        params.complaints.clear();
        // The previous cabinet was asked to join a room in which this game is played.
        let goto = Params::parse(&kept(&window, "goto", Keeping::Tab).unwrap_or_default());
        (params.room, params.watch) = (goto.room, goto.watch);
    }
    keep(&window, "goto", None, Keeping::Tab);
    let follows = !first || kept(&window, "left", Keeping::Tab).is_some();
    keep(&window, "left", None, Keeping::Tab);
    let ways = OnlineConfig { only_path: params.path, conditions: params.conditions };
    let outside = gaggle_browser::platform_with(ways);
    let return_to = kept(&window, "room", Keeping::Tab);
    let opening = Opening {
        seed: gaggle_browser::random_seed(),
        calm,
        volume: kept(&window, "volume", Keeping::Lasting),
        address: base_of(&address),
        can_share: able & CAN_SHARE != 0,
        can_fill: able & CAN_FILL != 0,
        params,
        key: kept(&window, "key", Keeping::Lasting),
        seat: Some(own_seat(&window)),
        name: kept(&window, "name", Keeping::Lasting),
        palette: kept(&window, "palette", Keeping::Lasting),
        keys: kept(&window, "keys", Keeping::Lasting),
        delays: if HAS_LOBBY { kept(&window, "delay", Keeping::Lasting) } else { None },
        return_to: return_to.filter(|_| first),
        touch: matches(&window, "(pointer: coarse)"),
        follows,
    };
    let arcade = GAME.with_borrow(|game| {
        let game = game.as_ref().ok_or("this module has no game")?;
        Ok::<_, JsValue>(Arcade::new(now, opening, game, outside))
    })?;
    canvas.set_attribute("aria-label", &arcade.label())?;
    let way_back = WayBack::new(&window, !first);
    let page = Page {
        arcade,
        window,
        canvas,
        context,
        audio: None,
        is_silent: false,
        said: String::new(),
        document,
        frames: 0,
        busy: Busy::default(),
        facts_at: now,
        facts_of: None,
        host,
        shown: "",
        volume: Volume::default(),
        listeners: Vec::new(),
        way_back,
        look: Rc::new(|| {}),
        _timer: None,
    };
    let page = Rc::new(RefCell::new(page));
    page.borrow_mut().fit();
    page.borrow_mut().say_what_is_missing();
    listen(&page)?;
    look_after(&page)?;
    // A page may be opened in the background.
    page.borrow_mut().note_visibility();
    run(&page)?;
    SHOWN.set(Some(page));
    Ok(())
}

/// The page's address without its query.
fn base_of(address: &web_sys::Location) -> String {
    address.origin().unwrap_or_default() + &address.pathname().unwrap_or_default()
}

/// Storage of the browser or the tab, which may be denied.
fn store(window: &Window, keeping: Keeping) -> Option<web_sys::Storage> {
    match keeping {
        Keeping::Lasting => window.local_storage().ok().flatten(),
        Keeping::Tab => window.session_storage().ok().flatten(),
    }
}

fn kept(window: &Window, name: &str, keeping: Keeping) -> Option<String> {
    store(window, keeping)?.get_item(&format!("gaggle.{name}")).ok().flatten()
}

fn keep(window: &Window, name: &str, value: Option<&str>, keeping: Keeping) {
    let Some(store) = store(window, keeping) else { return };
    let name = format!("gaggle.{name}");
    let _ = match value {
        Some(value) => store.set_item(&name, value),
        None => store.remove_item(&name),
    };
}

/// Device key of this tab: stable over reloads, different for every tab. A duplicated tab begins
/// with a copy, which the lobby detects.
fn own_seat(window: &Window) -> String {
    kept(window, "seat", Keeping::Tab).unwrap_or_else(|| {
        let seat = format!("{:016x}", gaggle_browser::random_seed());
        keep(window, "seat", Some(&seat), Keeping::Tab);
        seat
    })
}

/// Updates the room while the page is hidden and gets no frames.
fn look_after(page: &Rc<RefCell<Page>>) -> Result<(), JsValue> {
    let weak = Rc::downgrade(page);
    let look: Rc<dyn Fn()> = Rc::new(move || {
        if let Some(page) = weak.upgrade()
            && let Ok(mut page) = page.try_borrow_mut()
            && page.document.hidden()
        {
            page.arcade.update(gaggle_browser::now());
            page.tell();
        }
    });
    let timed = Rc::clone(&look);
    let closure = Closure::<dyn FnMut()>::new(move || timed());
    let mut page = page.borrow_mut();
    page.look = look;
    let callback = closure.as_ref().unchecked_ref();
    let number =
        page.window.set_interval_with_callback_and_timeout_and_arguments_0(callback, HIDDEN_EVERY_MS)?;
    page._timer = Some(Timer { window: page.window.clone(), number, _closure: closure });
    Ok(())
}

/// Callback for the next frame.
type Again = Closure<dyn FnMut()>;

/// Draws with every frame of the display.
fn run(page: &Rc<RefCell<Page>>) -> Result<(), JsValue> {
    let again: Rc<RefCell<Option<Again>>> = Rc::default();
    let (next, weak) = (Rc::clone(&again), Rc::downgrade(page));
    let window = page.borrow().window.clone();
    let asked = window.clone();
    *again.borrow_mut() = Some(Closure::new(move || {
        // Once another cabinet has the canvas there is no next frame.
        let Some(page) = weak.upgrade() else { return };
        let _ = page.borrow_mut().frame();
        if let Some(closure) = next.borrow().as_ref() {
            let _ = asked.request_animation_frame(closure.as_ref().unchecked_ref());
        }
    }));
    if let Some(closure) = again.borrow().as_ref() {
        window.request_animation_frame(closure.as_ref().unchecked_ref())?;
    }
    Ok(())
}

impl Page {
    fn frame(&mut self) -> Result<(), JsValue> {
        let began = gaggle_browser::now();
        self.read_gamepads();
        let Page { arcade, audio, volume, .. } = self;
        let recipes = arcade.recipes();
        if let Some(audio) = audio
            && *volume != arcade.volume()
        {
            *volume = arcade.volume();
            audio.set_loudness(volume.loudness());
        }
        arcade.frame(gaggle_browser::now(), |heard: Heard| {
            if let Some(audio) = audio {
                audio.hear(heard, recipes);
            }
        });
        let (width, height) = self.arcade.size();
        let image = ImageData::new_with_u8_clamped_array_and_sh(Clamped(self.arcade.rgba()), width, height)?;
        self.context.put_image_data(&image, 0.0, 0.0)?;
        self.frames += 1;
        self.say();
        self.tell();
        self.oblige();
        self.show_screen();
        self.busy.note(gaggle_browser::now().since(began));
        Ok(())
    }

    /// Notes whether the page is visible: hidden pages have slow timers, but arrivals are
    /// immediate.
    fn note_visibility(&mut self) {
        let hidden = self.document.hidden();
        gaggle_browser::on_arrival(hidden.then(|| Rc::clone(&self.look)));
        if hidden {
            self.arcade.hide();
        } else {
            self.arcade.show();
        }
    }

    /// Handles Back or Forward of the browser.
    fn stepped(&mut self, state: &JsValue) {
        if self.way_back.stepped(state) {
            self.arcade.go_back();
        }
        self.oblige();
    }

    /// Executes requests of the arcade: storing, copying, asking.
    fn oblige(&mut self) {
        while let Some(wish) = self.arcade.next_keep() {
            keep(&self.window, wish.name, wish.value.as_deref(), wish.keeping);
        }
        if let Some(query) = self.arcade.take_copy() {
            self.copy(base_of(&self.window.location()) + "?" + &query);
        }
        if let Some(place) = self.arcade.take_address() {
            self.way_back.set_place(place);
        }
        let has_way_back = self.arcade.has_way_back();
        self.way_back.follow(gaggle_browser::now(), has_way_back, self.arcade.cabinet().about().name);
        if self.arcade.take_wants_file()
            && let Some(input) = self.document.get_element_by_id("file")
            && let Ok(input) = input.dyn_into::<HtmlInputElement>()
        {
            input.click();
        }
        if let Some(file) = self.arcade.take_download() {
            let _ = self.download(&file);
        }
        if let Some(question) = self.arcade.take_question()
            && let Ok(Some(answer)) =
                self.window.prompt_with_message_and_default(question, self.arcade.field())
        {
            self.arcade.enter_text(&answer);
        }
        if let Some(name) = self.arcade.take_wanted() {
            self.ask("switch", name);
        }
    }

    /// Calls the page's script.
    fn ask(&self, what: &str, with: &str) {
        let _ = self.host.call2(&JsValue::NULL, &what.into(), &with.into());
    }

    /// Executes requests that browsers permit only during a key press or touch.
    fn oblige_pressed(&mut self) {
        self.oblige();
        if let Some(link) = self.arcade.take_share() {
            self.ask("share", &link);
        }
        if self.arcade.take_fill() {
            self.ask("fullscreen", "");
        }
    }

    /// Tells the page's script which screen is shown: it keeps a phone awake during a match, and
    /// permits zooming elsewhere.
    fn show_screen(&mut self) {
        let shown = match self.arcade.screen() {
            Screen::Flying | Screen::Replay => "match",
            Screen::Menu | Screen::Paused | Screen::Help => "rest",
        };
        if shown != self.shown {
            self.shown = shown;
            let _ = self.canvas.set_attribute("data-screen", shown);
        }
    }

    /// Copies a link to the clipboard. Insecure pages have none, and browsers may deny it: then the
    /// link is shown, to be copied by hand.
    fn copy(&mut self, link: String) {
        let navigator = self.window.navigator();
        if !js_sys::Reflect::get(&navigator, &"clipboard".into()).is_ok_and(|clipboard| clipboard.is_truthy())
        {
            self.arcade.copied(&link, false);
            return;
        }
        let written = wasm_bindgen_futures::JsFuture::from(navigator.clipboard().write_text(&link));
        wasm_bindgen_futures::spawn_local(async move {
            let done = written.await.is_ok();
            SHOWN.with_borrow(|page| {
                if let Some(page) = page {
                    page.borrow_mut().arcade.copied(&link, done);
                }
            });
        });
    }

    /// Reads the first of these files, and opens it.
    fn read(&mut self, files: Option<FileList>) {
        let Some(file) = files.and_then(|files| files.get(0)) else { return };
        if file.size() >= REPLAY_BYTES_MAX {
            self.arcade.note("No replay is that large.");
            return;
        }
        let bytes = wasm_bindgen_futures::JsFuture::from(file.array_buffer());
        wasm_bindgen_futures::spawn_local(async move {
            let Ok(buffer) = bytes.await else { return };
            SHOWN.with_borrow(|page| {
                if let Some(page) = page {
                    page.borrow_mut().arcade.open_replay(js_sys::Uint8Array::new(&buffer).to_vec());
                }
            });
        });
    }

    fn download(&self, file: &Download) -> Result<(), JsValue> {
        let parts = js_sys::Array::of1(&js_sys::Uint8Array::from(&file.bytes[..]));
        let blob = web_sys::Blob::new_with_u8_array_sequence(&parts)?;
        let url = web_sys::Url::create_object_url_with_blob(&blob)?;
        let anchor: web_sys::HtmlAnchorElement = self.document.create_element("a")?.dyn_into()?;
        anchor.set_href(&url);
        anchor.set_download(&format!("{}.{}", self.arcade.cabinet().about().name, file.kind));
        anchor.click();
        web_sys::Url::revoke_object_url(&url)
    }

    /// Publishes the page's facts for tests and tools.
    fn tell(&mut self) {
        let now = gaggle_browser::now();
        let Some(mirror) = self.document.get_element_by_id("facts") else { return };
        // At once when the player joins or leaves, because no later update would report a room that
        // was left. A tool that counts frames requests every one.
        let is_elsewhere = self.facts_of.replace(self.arcade.whereabouts()) != self.facts_of;
        if is_elsewhere || now.since(self.facts_at) >= FACTS_EVERY || mirror.has_attribute("data-live") {
            self.facts_at = now;
            mirror.set_text_content(Some(&self.arcade.facts_json(self.frames, &self.busy)));
        }
    }

    /// Makes one canvas pixel one screen pixel.
    fn fit(&mut self) {
        let css =
            |value: Result<JsValue, JsValue>| value.ok().and_then(|value| value.as_f64()).unwrap_or(640.0);
        let (wide, high) = (css(self.window.inner_width()), css(self.window.inner_height()));
        // On larger screens pixels are larger, with equal width and height.
        let ratio = self.window.device_pixel_ratio().clamp(0.5, 4.0).min(3_840.0 / wide.max(high).max(1.0));
        let sharp = ratio;
        let ratio = widen(ratio, wide * ratio, high * ratio, self.arcade.cabinet().about().world);
        let _ = self.canvas.toggle_attribute_with_force("data-soft", ratio > sharp);
        let size = |css: f64| (css * ratio).round().max(1.0) as i32;
        let (width, height) = (size(wide), size(high));
        self.arcade.resize(width, height, ratio as f32);
        let (width, height) = self.arcade.size();
        self.canvas.set_width(width);
        self.canvas.set_height(height);
    }

    /// Updates the canvas' label for screen readers, only when it changes.
    fn say(&mut self) {
        let (menu, joining) = (self.arcade.menu_words(), self.arcade.joining_words());
        let (notice, board) = (self.arcade.notice_words(), self.arcade.board_words());
        let panel = self.arcade.invite_words().or_else(|| self.arcade.top_words());
        let (paused, lobby) = (self.arcade.paused_words(), self.arcade.lobby_words());
        let cabinet = self.arcade.cabinet();
        let mut said = match self.arcade.screen() {
            _ if panel.is_some() => panel.unwrap_or_default(),
            Screen::Menu => format!("Menu. {}", notice.unwrap_or(menu)),
            Screen::Flying => {
                notice.or(joining).or(lobby).or(board).unwrap_or_else(|| cabinet.standing().said)
            }
            Screen::Paused => paused,
            Screen::Replay => {
                "Replay. Space holds, arrows jump, L copies a link, O opens another.".to_string()
            }
            Screen::Help => format!("How to play. {}", self.arcade.help_words()),
        };
        // All messages: of two that come at once the older would never be read aloud.
        for toast in self.arcade.toasts() {
            said.push(' ');
            said.push_str(toast);
        }
        if said != self.said {
            if let Some(mirror) = self.document.get_element_by_id("said") {
                mirror.set_text_content(Some(&said));
            }
            self.said = said;
        }
    }

    fn wake_audio(&mut self) {
        // Some browsers require a touch to end first.
        if let Some(audio) = &self.audio {
            audio.wake();
        }
        if self.audio.is_none() && !self.is_silent {
            self.audio = Audio::new().ok();
            self.is_silent = self.audio.is_none();
            if self.is_silent {
                self.arcade.note("No sound here. Imagine honking.");
            }
        }
    }

    /// Reports missing abilities of this browser.
    fn say_what_is_missing(&mut self) {
        if store(&self.window, Keeping::Lasting).is_none() {
            self.arcade.note("This browser forgets. Your name stays for today.");
        }
        if !gaggle_browser::has_webrtc() {
            self.arcade.note("No direct links in this browser. Using the slower road.");
        }
    }

    /// Reads gamepads; the first one belongs to the first player.
    fn read_gamepads(&mut self) {
        let pads = self.window.navigator().get_gamepads().unwrap_or_default();
        let mut found = [(Held::default(), false); 2];
        let connected = pads.iter().filter_map(|pad| pad.dyn_into::<Gamepad>().ok()).take(2);
        for (pad, held) in connected.zip(&mut found) {
            let pressed = |nth: u32| {
                let button = pad.buttons().get(nth);
                js_sys::Reflect::get(&button, &"pressed".into()).is_ok_and(|pressed| pressed.is_truthy())
            };
            let stick = |axis: u32| pad.axes().get(axis).as_f64().unwrap_or(0.0);
            let holds = Held {
                left: stick(0) < -0.4 || pressed(14),
                right: stick(0) > 0.4 || pressed(15),
                up: stick(1) < -0.7 || pressed(12),
                down: stick(1) > 0.7 || pressed(13),
                action: (0..4).any(pressed),
                second: pressed(5),
            };
            *held = (holds, pressed(9));
        }
        for (player, (held, start)) in found.into_iter().enumerate() {
            self.arcade.set_gamepad(player, held, start);
        }
    }

    /// Converts a place of the page to a pixel of the canvas.
    fn pixel(&self, event: &PointerEvent) -> (i32, i32) {
        let rect = self.canvas.get_bounding_client_rect();
        let (width, height) = self.arcade.size();
        let x = (f64::from(event.client_x()) - rect.left()) / rect.width().max(1.0) * f64::from(width);
        let y = (f64::from(event.client_y()) - rect.top()) / rect.height().max(1.0) * f64::from(height);
        (x as i32, y as i32)
    }
}

fn listen(page: &Rc<RefCell<Page>>) -> Result<(), JsValue> {
    let window = page.borrow().window.clone();
    on(&window, "keydown", page, |page, event: KeyboardEvent| {
        page.wake_audio();
        if event.repeat() {
            page.arcade.key_repeats(&event.code());
        }
        // Shortcuts with Ctrl and Alt belong to the browser.
        if !event.ctrl_key()
            && !event.alt_key()
            && !event.meta_key()
            && page.arcade.key_down(&event.code(), &event.key())
        {
            event.prevent_default();
        }
        page.oblige_pressed();
    })?;
    on(&window, "paste", page, |page, event: ClipboardEvent| {
        let text = event.clipboard_data().and_then(|data| data.get_data("text").ok());
        page.arcade.paste(&text.unwrap_or_default());
    })?;
    on(&window, "keyup", page, |page, event: KeyboardEvent| page.arcade.key_up(&event.code()))?;
    on(&window, "blur", page, |page, _: Event| page.arcade.blur())?;
    on(&window, "pagehide", page, |page, _: Event| {
        page.arcade.close();
        keep(&page.window, "left", Some("yes"), Keeping::Tab);
    })?;
    on(&window, "pageshow", page, |page, event: Event| {
        // The page was kept in memory while the player was elsewhere: it has no reservation and no
        // links any more.
        if js_sys::Reflect::get(&event, &"persisted".into()).is_ok_and(|persisted| persisted.is_truthy()) {
            let _ = page.window.location().reload();
        }
    })?;
    on(&window, "popstate", page, |page, event: Event| {
        page.stepped(&js_sys::Reflect::get(&event, &"state".into()).unwrap_or(JsValue::NULL));
    })?;
    let document = page.borrow().document.clone();
    on(&document, "visibilitychange", page, |page, _: Event| page.note_visibility())?;
    on(&window, "dragover", page, |_, event: web_sys::DragEvent| event.prevent_default())?;
    on_file(page)?;
    on(&window, "resize", page, |page, _: Event| page.fit())?;
    on(&window, "pointerdown", page, |page, event: PointerEvent| {
        page.wake_audio();
        let (x, y) = page.pixel(&event);
        let is_touch = event.pointer_type() != "mouse";
        page.arcade.pointer_down(event.pointer_id(), x, y, is_touch);
        // Browsers permit some calls only while a key or finger is down.
        page.oblige();
        event.prevent_default();
    })?;
    on(&window, "pointermove", page, |page, event: PointerEvent| {
        let (x, y) = page.pixel(&event);
        page.arcade.pointer_move(event.pointer_id(), x, y, event.pointer_type() != "mouse");
        page.canvas.set_class_name(if page.arcade.points() { "hot" } else { "" });
    })?;
    on(&window, "pointerup", page, |page, event: PointerEvent| {
        page.wake_audio();
        page.arcade.pointer_up(event.pointer_id());
        page.oblige_pressed();
    })?;
    on(&window, "pointercancel", page, |page, event: PointerEvent| page.arcade.pointer_up(event.pointer_id()))
}

/// Handles a file that was chosen or dropped on the page: a replay, or a message that it is none.
fn on_file(page: &Rc<RefCell<Page>>) -> Result<(), JsValue> {
    let window = page.borrow().window.clone();
    on(&window, "drop", page, |page, event: web_sys::DragEvent| {
        event.prevent_default();
        page.read(event.data_transfer().and_then(|transfer| transfer.files()));
    })?;
    let Some(input) = page.borrow().document.get_element_by_id("file") else { return Ok(()) };
    on(&input, "change", page, |page, event: Event| {
        let Some(input) = event.target().and_then(|target| target.dyn_into::<HtmlInputElement>().ok()) else {
            return;
        };
        page.read(input.files());
        // The same file may be chosen again.
        input.set_value("");
    })
}

/// Adds a few pixels to the screen's width if the world becomes much larger then: it is drawn in
/// whole steps, and many phones are a few pixels too narrow for the second or the third. A world
/// that is larger than the screen fits as a whole.
fn widen(ratio: f64, width: f64, height: f64, world: (i32, i32)) -> f64 {
    let scale = (width / f64::from(world.0)).min(height / f64::from(world.1));
    let more = scale.ceil() / scale.max(0.1);
    match scale {
        scale if scale < 1.0 => ratio / scale.max(0.3),
        scale if scale < 3.0 && more < 1.07 => ratio * more,
        _ => ratio,
    }
}

/// Evaluates a media query.
fn matches(window: &Window, query: &str) -> bool {
    window.match_media(query).ok().flatten().is_some_and(|query| query.matches())
}

/// Listens while the page is open.
fn on<E: JsCast>(
    target: &web_sys::EventTarget,
    name: &'static str,
    page: &Rc<RefCell<Page>>,
    handle: impl Fn(&mut Page, E) + 'static,
) -> Result<(), JsValue> {
    let weak = Rc::downgrade(page);
    let closure = Closure::<dyn FnMut(Event)>::new(move |event: Event| {
        if let Some(page) = weak.upgrade() {
            handle(&mut page.borrow_mut(), event.unchecked_into());
        }
    });
    target.add_event_listener_with_callback(name, closure.as_ref().unchecked_ref())?;
    page.borrow_mut().listeners.push(Listener { target: target.clone(), name, closure });
    Ok(())
}

/// An event listener, removed when dropped.
struct Listener {
    target: web_sys::EventTarget,
    name: &'static str,
    closure: Closure<dyn FnMut(Event)>,
}

impl Drop for Listener {
    fn drop(&mut self) {
        let callback = self.closure.as_ref().unchecked_ref();
        let _ = self.target.remove_event_listener_with_callback(self.name, callback);
    }
}

/// A periodic timer, stopped when dropped.
struct Timer {
    window: Window,
    number: i32,
    _closure: Closure<dyn FnMut()>,
}

impl Drop for Timer {
    fn drop(&mut self) {
        self.window.clear_interval_with_handle(self.number);
    }
}
