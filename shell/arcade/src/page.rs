//! The arcade in a page: canvas, keyboard, gamepads, fingers, loudspeaker. Decides nothing.

use std::cell::RefCell;
use std::rc::Rc;

use gaggle_scene::Heard;
use gander::Pad;
use gander::stage::RECIPES;
use wasm_bindgen::Clamped;
use wasm_bindgen::prelude::*;
use web_sys::{
    CanvasRenderingContext2d, Document, Event, Gamepad, HtmlCanvasElement, ImageData, KeyboardEvent,
    PointerEvent, Window,
};

use crate::audio::Audio;
use crate::{Arcade, Screen};

/// Where the choice of sound is kept.
const MUTED_KEY: &str = "gaggle.muted";

struct Page {
    arcade: Arcade,
    window: Window,
    canvas: HtmlCanvasElement,
    context: CanvasRenderingContext2d,
    audio: Option<Audio>,
    said: String,
    document: Document,
    frames: u32,
}

/// Starts the arcade on the page's canvas.
///
/// # Errors
/// If the page has no canvas with the name `arcade`.
#[wasm_bindgen(start)]
pub(crate) fn start() -> Result<(), JsValue> {
    let window = web_sys::window().ok_or("no window")?;
    let document = window.document().ok_or("no document")?;
    let canvas: HtmlCanvasElement =
        document.get_element_by_id("arcade").ok_or("the page has no canvas `arcade`")?.dyn_into()?;
    let context: CanvasRenderingContext2d =
        canvas.get_context("2d")?.ok_or("this browser has no canvas")?.dyn_into()?;
    let calm = window
        .match_media("(prefers-reduced-motion: reduce)")
        .ok()
        .flatten()
        .is_some_and(|query| query.matches());
    let now = gaggle_browser::now();
    let seed = (js_sys::Math::random() * 9_007_199_254_740_992.0) as u64;
    let mut arcade = Arcade::new(now, seed, calm);
    let stored =
        window.local_storage().ok().flatten().and_then(|store| store.get_item(MUTED_KEY).ok().flatten());
    arcade.set_muted(stored.as_deref() == Some("yes"));
    let page =
        Page { arcade, window, canvas, context, audio: None, said: String::new(), document, frames: 0 };
    let page = Rc::new(RefCell::new(page));
    page.borrow_mut().fit();
    listen(&page)?;
    run(&page)
}

/// What the browser calls for the next frame.
type Again = Closure<dyn FnMut()>;

/// Draws with every frame the screen shows.
fn run(page: &Rc<RefCell<Page>>) -> Result<(), JsValue> {
    let again: Rc<RefCell<Option<Again>>> = Rc::default();
    let (next, page) = (Rc::clone(&again), Rc::clone(page));
    let window = page.borrow().window.clone();
    let asked = window.clone();
    *again.borrow_mut() = Some(Closure::new(move || {
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
        self.read_gamepads();
        let Page { arcade, audio, .. } = self;
        arcade.frame(gaggle_browser::now(), |heard: Heard| {
            if let Some(audio) = audio {
                audio.hear(heard, &RECIPES);
            }
        });
        let (width, height) = self.arcade.size();
        let image = ImageData::new_with_u8_clamped_array_and_sh(Clamped(self.arcade.rgba()), width, height)?;
        self.context.put_image_data(&image, 0.0, 0.0)?;
        self.frames += 1;
        self.say();
        Ok(())
    }

    /// One canvas pixel is one pixel of the screen.
    fn fit(&mut self) {
        let ratio = self.window.device_pixel_ratio().clamp(0.5, 4.0);
        let size = |value: Result<JsValue, JsValue>| {
            let css = value.ok().and_then(|value| value.as_f64()).unwrap_or(640.0);
            (css * ratio).round().clamp(1.0, 3_840.0) as i32
        };
        let (width, height) = (size(self.window.inner_width()), size(self.window.inner_height()));
        self.arcade.resize(width, height, ratio as f32);
        let (width, height) = self.arcade.size();
        self.canvas.set_width(width);
        self.canvas.set_height(height);
    }

    /// What the canvas says, for those who cannot see it, and for tests: only when it changes.
    fn say(&mut self) {
        let (game, _) = self.arcade.flight().states();
        let own = self.arcade.flight().own();
        let scores = game.players.iter().zip(own).filter(|(_, own)| *own).map(|(player, _)| player.score);
        let scores = scores.map(|score| score.to_string()).collect::<Vec<_>>().join(" and ");
        let said = match self.arcade.screen() {
            Screen::Menu => "Menu. Enter plays.".to_string(),
            Screen::Flying if self.arcade.flight().is_over() => format!("Well flown. Score {scores}."),
            Screen::Flying => format!("Wave {}. Score {scores}.", game.wave.number),
            Screen::Paused => format!("Paused. Score {scores}."),
            Screen::Help => "How to play. Lean, flap, be higher.".to_string(),
        };
        if said != self.said {
            if let Some(mirror) = self.document.get_element_by_id("said") {
                mirror.set_text_content(Some(&said));
            }
            self.said = said;
        }
    }

    fn wake_audio(&mut self) {
        if self.audio.is_none() {
            self.audio = Audio::new().ok();
        }
    }

    fn keep_choices(&self) {
        if let Ok(Some(store)) = self.window.local_storage() {
            let _ = store.set_item(MUTED_KEY, if self.arcade.muted() { "yes" } else { "no" });
        }
    }

    /// The first gamepad is the first player's.
    fn read_gamepads(&mut self) {
        let pads = self.window.navigator().get_gamepads().unwrap_or_default();
        let mut found = [Pad::NONE; 2];
        let connected = pads.iter().filter_map(|pad| pad.dyn_into::<Gamepad>().ok()).take(2);
        for (pad, held) in connected.zip(&mut found) {
            let pressed = |nth: u32| {
                let button = pad.buttons().get(nth);
                js_sys::Reflect::get(&button, &"pressed".into()).is_ok_and(|pressed| pressed.is_truthy())
            };
            let stick = pad.axes().get(0).as_f64().unwrap_or(0.0);
            *held = Pad {
                left: stick < -0.4 || pressed(14),
                right: stick > 0.4 || pressed(15),
                flap: (0..4).any(pressed),
            };
        }
        for (player, pad) in found.into_iter().enumerate() {
            self.arcade.set_gamepad(player, pad);
        }
    }

    /// A place of the page as a pixel of the canvas.
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
        // What the browser itself does with Ctrl and Alt stays the browser's.
        if !event.ctrl_key() && !event.alt_key() && !event.meta_key() && page.arcade.key_down(&event.code()) {
            event.prevent_default();
        }
        page.keep_choices();
    })?;
    on(&window, "keyup", page, |page, event: KeyboardEvent| page.arcade.key_up(&event.code()))?;
    on(&window, "blur", page, |page, _: Event| page.arcade.blur())?;
    on(&window, "resize", page, |page, _: Event| page.fit())?;
    on(&window, "pointerdown", page, |page, event: PointerEvent| {
        page.wake_audio();
        let (x, y) = page.pixel(&event);
        let is_touch = event.pointer_type() != "mouse";
        page.arcade.pointer_down(event.pointer_id(), x, y, is_touch);
        page.keep_choices();
        event.prevent_default();
    })?;
    on(&window, "pointermove", page, |page, event: PointerEvent| {
        if event.pointer_type() != "mouse" {
            let (x, _) = page.pixel(&event);
            page.arcade.pointer_move(event.pointer_id(), x);
        }
    })?;
    on(&window, "pointerup", page, |page, event: PointerEvent| page.arcade.pointer_up(event.pointer_id()))?;
    on(&window, "pointercancel", page, |page, event: PointerEvent| page.arcade.pointer_up(event.pointer_id()))
}

/// Listens for as long as the page is there.
fn on<E: wasm_bindgen::convert::FromWasmAbi + 'static>(
    window: &Window,
    name: &str,
    page: &Rc<RefCell<Page>>,
    handle: impl Fn(&mut Page, E) + 'static,
) -> Result<(), JsValue> {
    let page = Rc::clone(page);
    let closure = Closure::<dyn FnMut(E)>::new(move |event: E| handle(&mut page.borrow_mut(), event));
    window.add_event_listener_with_callback(name, closure.as_ref().unchecked_ref())?;
    closure.forget();
    Ok(())
}
