//! Fixed-size pools of short-lived objects; the referee's rules use them.
//!
//! Absent: what the objects are.

/// Puts an object into the first free place. Drops it if there is none: each pool is larger than
/// a busy round needs.
pub(crate) fn put<T>(pool: &mut [Option<T>], thing: T) {
    if let Some(free) = pool.iter_mut().find(|place| place.is_none()) {
        *free = Some(thing);
    }
}

/// Steps all objects and removes those whose `step` returns false.
pub(crate) fn step<T>(pool: &mut [Option<T>], mut step: impl FnMut(&mut T) -> bool) {
    for place in pool {
        if place.as_mut().is_some_and(|thing| !step(thing)) {
            *place = None;
        }
    }
}
