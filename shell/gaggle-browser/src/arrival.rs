//! Callback for arrivals while a page is hidden: browsers throttle its timers to one a second or
//! less, but not its sockets.
//!
//! Sockets and channels call [`arrived`]; a page sets a callback with [`on_arrival`]. Absent: rooms
//! and pages.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use wasm_bindgen_futures::spawn_local;

/// Callback of a page.
type Handler = Rc<dyn Fn()>;

thread_local! {
    static HANDLER: RefCell<Option<Handler>> = const { RefCell::new(None) };
    /// A call is scheduled.
    static IS_DUE: Cell<bool> = const { Cell::new(false) };
}

#[doc = text!(on_arrival)]
pub fn on_arrival(handler: Option<Rc<dyn Fn()>>) {
    HANDLER.set(handler);
}

/// Something has arrived. Its receiver finishes before the callback runs.
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
