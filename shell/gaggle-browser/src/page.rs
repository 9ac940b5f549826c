//! A whole page for a small game: a canvas, the keyboard, and a room.
//!
//! Other games use [`platform`](crate::platform) and build their own page. Absent: rules of games.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use gaggle::link::sim::Conditions;
use gaggle::replica::ReplicaConfig;
use gaggle::{Engine, Game, GameEngine, JoinTarget, OnlineConfig, Room, RoomConfig, World, WorldEngine};
use wasm_bindgen::prelude::*;
use web_sys::{CanvasRenderingContext2d, Document, Event, HtmlCanvasElement, KeyboardEvent, Window};

use crate::said::Said;
use crate::{KeyState, PagePlatform, now, on_arrival, platform_with, random_seed, sign_in, sign_out, token};

/// Update interval of the room while the page is hidden, in milliseconds.
const HIDDEN_EVERY_MS: i32 = 250;

#[doc = text!(GameRoom)]
pub type GameRoom<G> = gaggle::GameRoom<G, PagePlatform>;

#[doc = text!(WorldRoom)]
pub type WorldRoom<W> = gaggle::WorldRoom<W, PagePlatform>;

#[doc = text!(RequestRoom)]
pub type RequestRoom<I> = gaggle::RequestRoom<I, PagePlatform>;

#[doc = text!(Canvas)]
#[derive(Debug)]
pub struct Canvas {
    context: CanvasRenderingContext2d,
}

impl Canvas {
    #[doc = text!(SIZE)]
    pub const SIZE: (i32, i32) = (640, 360);

    #[doc = text!(fill_rect)]
    pub fn fill_rect(&self, color: &str, x: i32, y: i32, width: i32, height: i32) {
        self.context.set_fill_style_str(color);
        self.context.fill_rect(x.into(), y.into(), width.into(), height.into());
    }

    #[doc = text!(fill_text)]
    pub fn fill_text(&self, color: &str, x: i32, y: i32, words: &str) {
        self.context.set_fill_style_str(color);
        let _ = self.context.fill_text(words, x.into(), y.into());
    }
}

type MakeInput<I> = Box<dyn FnMut(&KeyState) -> I>;
type PageRoom<E> = Room<E, PagePlatform>;
type Draw<E> = Box<dyn FnMut(&mut PageRoom<E>, &Canvas)>;

struct Table<E: Engine> {
    room: PageRoom<E>,
    keys: KeyState,
    picture: Canvas,
    input: MakeInput<E::Input>,
    draw: Draw<E>,
    said: Said,
    /// The button to sign in or out is shown.
    offers_sign_in: bool,
    sign_in_clicked: Rc<Cell<bool>>,
    game: String,
    window: Window,
    document: Document,
}

#[doc = text!(run_page)]
pub fn run_page<G: Game + Clone + 'static>(
    config: RoomConfig,
    game: G,
    input: impl FnMut(&KeyState) -> G::Input + 'static,
    draw: impl FnMut(&mut GameRoom<G>, &Canvas) + 'static,
) {
    report(begin::<GameEngine<G>>(config, game, Box::new(input), Box::new(draw)));
}

#[doc = text!(run_world)]
pub fn run_world<W: World + 'static>(
    config: RoomConfig<ReplicaConfig>,
    world: W,
    input: impl FnMut(&KeyState) -> W::Input + 'static,
    draw: impl FnMut(&mut WorldRoom<W>, &Canvas) + 'static,
) {
    report(begin::<WorldEngine<W>>(config, world, Box::new(input), Box::new(draw)));
}

/// Shows why a page cannot start.
fn report(begun: Result<(), JsValue>) {
    let Err(error) = begun else { return };
    let body = web_sys::window().and_then(|window| window.document()).and_then(|document| document.body());
    let words = error.as_string().unwrap_or_else(|| format!("{error:?}"));
    body.inspect(|body| body.set_text_content(Some(&words)));
}

fn begin<E: Engine + 'static>(
    mut config: RoomConfig<E::Config>,
    content: E::Content,
    input: MakeInput<E::Input>,
    draw: Draw<E>,
) -> Result<(), JsValue> {
    let window = web_sys::window().ok_or("This is not a page.")?;
    let document = window.document().ok_or("This page has no document.")?;
    let body = document.body().ok_or("This page has no body.")?;
    let canvas: HtmlCanvasElement = document.create_element("canvas")?.dyn_into()?;
    canvas.set_width(Canvas::SIZE.0 as u32);
    canvas.set_height(Canvas::SIZE.1 as u32);
    body.append_child(&canvas)?;
    let context = canvas.get_context("2d")?.ok_or("This browser has no canvas.")?;
    let context: CanvasRenderingContext2d = context.dyn_into()?;
    context.set_font("14px monospace");

    let name = config.game.as_str().to_string();
    config.lobby.guest_key = kept(&window, &name, "key", true);
    config.lobby.device_key = Some(seat(&window, &name));
    config.lobby.token = token();
    let address = window.location().search().unwrap_or_default();
    let settings = address.trim_start_matches('?').split('&').filter_map(|pair| pair.split_once('='));
    let asked = settings.clone().find_map(|(name, value)| (name == "room").then_some(value));
    let (conditions, said) = match Conditions::from_settings(settings) {
        Ok(conditions) => (conditions, String::new()),
        Err(error) => (Conditions::default(), error.to_string()),
    };
    let before = kept(&window, &name, "room", false);
    if let Some(code) = asked.or(before.as_deref()).and_then(|code| code.parse().ok()) {
        config.join = JoinTarget::Code(code);
    }
    let outside = platform_with(OnlineConfig { conditions, ..OnlineConfig::default() });
    let room = Room::<E, _>::open(now(), config, outside, content, random_seed())
        .map_err(|error| error.to_string())?;
    let table = Table {
        room,
        keys: KeyState::default(),
        picture: Canvas { context },
        input,
        draw,
        said: Said::new(said),
        offers_sign_in: false,
        sign_in_clicked: Rc::default(),
        game: name,
        window,
        document,
    };
    let table = Rc::new(RefCell::new(table));
    listen(&table)?;
    run(&table)
}

impl<E: Engine + 'static> Table<E> {
    fn update(&mut self) {
        self.room.set_input(0, (self.input)(&self.keys));
        self.keys.seen();
        self.room.update(now());
        while let Some(event) = self.room.poll_event() {
            match &event {
                gaggle::RoomEvent::GuestKey(key) => keep(&self.window, &self.game, "key", Some(key), true),
                gaggle::RoomEvent::RoomJoined { code, .. } => {
                    keep(&self.window, &self.game, "room", Some(&code.to_string()), false);
                }
                gaggle::RoomEvent::SignInRejected(_) => sign_out(),
                gaggle::RoomEvent::RoomLeft { .. } => keep(&self.window, &self.game, "room", None, false),
                gaggle::RoomEvent::RequestRejected { .. }
                    if matches!(self.room.config().join, JoinTarget::Code(_))
                        && self.room.host().is_none() =>
                {
                    self.room.join(JoinTarget::Matchmake);
                }
                _ => {}
            }
            self.said.hear(&event);
        }
    }

    /// The page was shown or hidden. Timers of hidden pages are slow, but arrivals still wake them.
    fn note_visibility(&mut self, look: &Rc<dyn Fn()>) {
        let hidden = self.document.hidden();
        on_arrival(hidden.then(|| Rc::clone(look)));
        if hidden { self.room.suspend() } else { self.room.resume() }
    }

    /// Shows the button to sign in, once the lobby has announced an issuer.
    fn offer_sign_in(&mut self) {
        let url = self.room.lobby_client().and_then(|client| client.sign_in_url());
        if url.is_none() || std::mem::replace(&mut self.offers_sign_in, true) {
            return;
        }
        let is_signed_in = self.room.config().lobby.token.is_some();
        let Ok(link) = self.document.create_element("button") else { return };
        link.set_text_content(Some(if is_signed_in { "Sign out" } else { "Sign in" }));
        let clicked = Rc::clone(&self.sign_in_clicked);
        let go = Closure::<dyn FnMut()>::new(move || clicked.set(true));
        let _ = link.add_event_listener_with_callback("click", go.as_ref().unchecked_ref());
        go.forget();
        let _ = self.document.body().map(|body| body.append_child(&link));
    }

    /// Goes to the issuer, or signs out. Another identity is another player, so the room is left
    /// and its code stored first.
    fn change_identity(&mut self) {
        let code = kept(&self.window, &self.game, "room", false);
        self.room.leave();
        self.update();
        keep(&self.window, &self.game, "room", code.as_deref(), false);
        let url = self.room.lobby_client().and_then(|client| client.sign_in_url()).map(str::to_string);
        match url.filter(|_| self.room.config().lobby.token.is_none()) {
            Some(url) => sign_in(&url),
            None => {
                sign_out();
                let _ = self.window.location().reload();
            }
        }
    }

    fn frame(&mut self) {
        self.update();
        self.offer_sign_in();
        if self.sign_in_clicked.take() {
            self.change_identity();
        }
        self.picture.fill_rect("#10141f", 0, 0, Canvas::SIZE.0, Canvas::SIZE.1);
        (self.draw)(&mut self.room, &self.picture);
        self.picture.fill_text("#8090a0", 8, Canvas::SIZE.1 - 8, self.said.line());
    }
}

/// Storage of the browser or of this tab; browsers may deny it.
fn storage(window: &Window, lasting: bool) -> Option<web_sys::Storage> {
    if lasting { window.local_storage() } else { window.session_storage() }.ok().flatten()
}

fn kept(window: &Window, game: &str, what: &str, lasting: bool) -> Option<String> {
    storage(window, lasting)?.get_item(&format!("{game}.{what}")).ok().flatten()
}

fn keep(window: &Window, game: &str, what: &str, value: Option<&str>, lasting: bool) {
    let Some(storage) = storage(window, lasting) else { return };
    let name = format!("{game}.{what}");
    let _ = match value {
        Some(value) => storage.set_item(&name, value),
        None => storage.remove_item(&name),
    };
}

/// Device key: different per tab, stable over reloads.
fn seat(window: &Window, game: &str) -> String {
    kept(window, game, "seat", false).unwrap_or_else(|| {
        let seat = format!("{:016x}", random_seed());
        keep(window, game, "seat", Some(&seat), false);
        seat
    })
}

/// Callback for the next frame.
type Again = Closure<dyn FnMut()>;

fn run<E: Engine + 'static>(table: &Rc<RefCell<Table<E>>>) -> Result<(), JsValue> {
    let again: Rc<RefCell<Option<Again>>> = Rc::default();
    let (next, shared) = (Rc::clone(&again), Rc::clone(table));
    let window = table.borrow().window.clone();
    let asked = window.clone();
    *again.borrow_mut() = Some(Closure::new(move || {
        shared.borrow_mut().frame();
        if let Some(closure) = next.borrow().as_ref() {
            let _ = asked.request_animation_frame(closure.as_ref().unchecked_ref());
        }
    }));
    if let Some(closure) = again.borrow().as_ref() {
        window.request_animation_frame(closure.as_ref().unchecked_ref())?;
    }
    let shared = Rc::clone(table);
    let closure = Closure::<dyn FnMut()>::new(move || {
        let mut table = shared.borrow_mut();
        if table.document.hidden() {
            table.update();
        }
    });
    let callback = closure.as_ref().unchecked_ref();
    window.set_interval_with_callback_and_timeout_and_arguments_0(callback, HIDDEN_EVERY_MS)?;
    closure.forget();
    Ok(())
}

fn listen<E: Engine + 'static>(table: &Rc<RefCell<Table<E>>>) -> Result<(), JsValue> {
    let (window, document) = (table.borrow().window.clone(), table.borrow().document.clone());
    on(&window, "keydown", table, |table, event: KeyboardEvent| {
        // Keyboard shortcuts are for the browser.
        if event.ctrl_key() || event.alt_key() || event.meta_key() {
            return;
        }
        let code = event.code();
        if code.starts_with("Arrow") || code == "Space" {
            event.prevent_default();
        }
        table.keys.down(code);
    })?;
    on(&window, "keyup", table, |table, event: KeyboardEvent| {
        table.keys.up(&event.code());
    })?;
    on(&window, "blur", table, |table, _: Event| table.keys.let_go())?;
    on(&window, "pagehide", table, |table, _: Event| table.room.close())?;
    on(&window, "pageshow", table, |table, event: Event| {
        // The page was restored from the back-forward cache: its slot and links are gone.
        if js_sys::Reflect::get(&event, &"persisted".into()).is_ok_and(|persisted| persisted.is_truthy()) {
            let _ = table.window.location().reload();
        }
    })?;
    let shared = Rc::clone(table);
    let look: Rc<dyn Fn()> = Rc::new(move || {
        if let Ok(mut table) = shared.try_borrow_mut() {
            table.update();
        }
    });
    // The page may have been opened in the background.
    table.borrow_mut().note_visibility(&look);
    on(&document, "visibilitychange", table, move |table, _: Event| table.note_visibility(&look))
}

fn on<E: Engine + 'static, T: wasm_bindgen::convert::FromWasmAbi + 'static>(
    target: &web_sys::EventTarget,
    name: &str,
    table: &Rc<RefCell<Table<E>>>,
    handle: impl Fn(&mut Table<E>, T) + 'static,
) -> Result<(), JsValue> {
    let table = Rc::clone(table);
    let closure = Closure::<dyn FnMut(T)>::new(move |event: T| handle(&mut table.borrow_mut(), event));
    target.add_event_listener_with_callback(name, closure.as_ref().unchecked_ref())?;
    closure.forget();
    Ok(())
}
