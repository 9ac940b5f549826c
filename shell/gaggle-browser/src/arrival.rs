//! What a page does when something arrives while it is hidden: its timers run once a second or
//! less, its sockets as ever.
//!
//! Sockets and channels call [`arrived`]; a page says with [`on_arrival`] what is to be done.
//! Absent: rooms and pages.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use wasm_bindgen_futures::spawn_local;

/// What a page does then.
type Handler = Rc<dyn Fn()>;

thread_local! {
    static HANDLER: RefCell<Option<Handler>> = const { RefCell::new(None) };
    /// It is called soon.
    static IS_DUE: Cell<bool> = const { Cell::new(false) };
}

/// Calls this soon after something arrives from the lobby, a relay or a peer; nothing with `None`.
/// A hidden page should update its room then, because browsers hold back its timers.
pub fn on_arrival(handler: Option<Rc<dyn Fn()>>) {
    HANDLER.set(handler);
}

/// Something arrived. Its receiver is done before the page hears of it.
pub(crate) fn arrived() {
    if HANDLER.with_borrow(Option::is_none) || IS_DUE.replace(true) {
        return;
    }
    spawn_local(async {
        IS_DUE.set(false);
        let handler = HANDLER.with_borrow(Clone::clone);
        if let Some(handler) = handler {
            handler();
        }
    });
}
