//! State that JavaScript keeps: saving, loading and advancing it are calls of the driver in
//! `js/driver.js`.
//!
//! `room.rs` fulfills a room's requests with it. Absent: rooms, what is in the state.

use std::cell::RefCell;

use gaggle::{Inputs, MatchStart, Simulate, Slot};
use wasm_bindgen::prelude::*;

use crate::pad::Pad;

#[wasm_bindgen]
extern "C" {
    /// The part of a room in JavaScript that has the game and its state.
    pub type Driver;

    /// Restarts with the parameters of a match.
    #[wasm_bindgen(method)]
    fn start(this: &Driver, seed_high: u32, seed_low: u32, round: u32, slots: &[u8], settings: &str);

    /// Whether the game threw, inside of a request or outside. Its state is worth nothing then.
    #[wasm_bindgen(method, js_name = hasFailed)]
    fn has_failed(this: &Driver) -> bool;

    /// Ticks once; `read` answers what the tick reads.
    #[wasm_bindgen(method)]
    fn advance(this: &Driver, frame: u32, read: &dyn Fn(u32, u32) -> u32);

    /// Takes the input that the `read` of a tick was asked for.
    #[wasm_bindgen(method)]
    fn put(this: &Driver, a: u32, b: u32, c: u32, d: u32);

    /// Copies the state; undefined if it cannot be copied.
    #[wasm_bindgen(method)]
    fn save(this: &Driver) -> JsValue;

    #[wasm_bindgen(method)]
    fn load(this: &Driver, saved: &JsValue);

    #[wasm_bindgen(method)]
    fn encode(this: &Driver, saved: &JsValue) -> Vec<u8>;

    /// Undefined if the bytes are no state.
    #[wasm_bindgen(method)]
    fn decode(this: &Driver, bytes: &[u8]) -> JsValue;

    /// Questions of all games of a page, to be asked again.
    pub type Questions;

    /// Answers a question about an input; equal answers are equal numbers.
    #[wasm_bindgen(method)]
    fn answer(this: &Questions, question: u32, a: u32, b: u32, c: u32, d: u32) -> f64;
}

thread_local! {
    static QUESTIONS: RefCell<Option<Questions>> = const { RefCell::new(None) };
}

/// Registers the questions of this page; called once.
#[wasm_bindgen(js_name = setQuestions)]
#[expect(unreachable_pub, reason = "only public functions are exported")]
pub fn set_questions(questions: Questions) {
    QUESTIONS.set(Some(questions));
}

/// Asks JavaScript. A question is a number there, because a function with its context can be
/// anything.
fn asked(pad: Pad, question: u32) -> u64 {
    QUESTIONS.with_borrow(|questions| {
        let [a, b, c, d] = pad.0;
        questions.as_ref().map_or(0, |questions| questions.answer(question, a, b, c, d).to_bits())
    })
}

/// What the `read` of a tick is asked for, in the upper bits of its first argument.
mod read {
    pub(super) const INPUT: u32 = 0;
    pub(super) const QUESTION: u32 = 1;
    pub(super) const PRESENCE: u32 = 2;
    /// Everything else asks for all slots with a player.
    pub(super) const KIND_SHIFT: u32 = 8;
}

/// The state of one room.
pub(crate) struct Script {
    driver: Driver,
}

impl Script {
    pub(crate) fn new(driver: Driver) -> Script {
        Script { driver }
    }

    pub(crate) fn has_failed(&self) -> bool {
        self.driver.has_failed()
    }

    fn read(&self, inputs: &Inputs<'_, Pad>, what: u32, question: u32) -> u32 {
        let slot = Slot::at((what & 0x3f) as usize);
        match what >> read::KIND_SHIFT {
            read::INPUT => {
                let [a, b, c, d] = inputs.get(slot).0;
                self.driver.put(a, b, c, d);
                0
            }
            read::QUESTION => {
                inputs.ask(slot, question, asked);
                0
            }
            read::PRESENCE => inputs.is_present(slot).into(),
            _ => {
                let bits = inputs.present_slots().bits();
                self.driver.put(bits as u32, (bits >> 32) as u32, 0, 0);
                0
            }
        }
    }
}

impl Simulate<Pad> for Script {
    type Saved = JsValue;

    fn start(&mut self, start: &MatchStart<'_>) {
        let slots: Vec<u8> = start.slots.iter().map(|slot| slot.index() as u8).collect();
        let (high, low) = ((start.seed >> 32) as u32, start.seed as u32);
        self.driver.start(high, low, start.round, &slots, start.settings);
    }

    fn advance(&mut self, inputs: &Inputs<'_, Pad>) {
        let read = |what, question| self.read(inputs, what, question);
        self.driver.advance(inputs.frame().number(), &read);
    }

    fn save(&mut self) -> JsValue {
        self.driver.save()
    }

    fn load(&mut self, saved: &JsValue) {
        self.driver.load(saved);
    }

    fn encode(&self, saved: &JsValue) -> Vec<u8> {
        self.driver.encode(saved)
    }

    fn decode(&self, bytes: &[u8]) -> Option<JsValue> {
        Some(self.driver.decode(bytes)).filter(|saved| !saved.is_undefined())
    }
}
