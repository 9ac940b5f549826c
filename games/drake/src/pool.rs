//! Things that come and go, in a fixed number of places.

/// Puts something in the first free place. What finds none is not there: every pool has more places
/// than a lively round fills.
pub(crate) fn put<T>(pool: &mut [Option<T>], thing: T) {
    if let Some(free) = pool.iter_mut().find(|place| place.is_none()) {
        *free = Some(thing);
    }
}

/// Lets everything have its frame, and takes away what says it is over.
pub(crate) fn step<T>(pool: &mut [Option<T>], mut step: impl FnMut(&mut T) -> bool) {
    for place in pool {
        if place.as_mut().is_some_and(|thing| !step(thing)) {
            *place = None;
        }
    }
}
