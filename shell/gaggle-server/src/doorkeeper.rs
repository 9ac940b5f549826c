//! Counts connections that are still talking HTTP, so that one address cannot hold all of them open by
//! saying nothing.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

/// Browsers open six at a time; this leaves room for a household.
const PER_ADDRESS_MAX: usize = 64;
/// All addresses together.
const TOTAL_MAX: usize = 4_096;

/// Counts who is in.
#[derive(Debug, Default)]
pub(crate) struct Doorkeeper {
    inside: Mutex<Inside>,
}

#[derive(Debug, Default)]
struct Inside {
    total: usize,
    by_address: HashMap<IpAddr, usize>,
}

/// Somebody who is in, until this is dropped.
#[derive(Debug)]
pub(crate) struct Pass {
    keeper: Arc<Doorkeeper>,
    address: IpAddr,
}

impl Doorkeeper {
    /// Lets somebody in, unless too many are. Proxies speak for many and count only in the total.
    pub(crate) fn enter(self: &Arc<Doorkeeper>, address: IpAddr, is_proxy: bool) -> Option<Pass> {
        let mut inside = self.inside.lock().ok()?;
        let count = inside.by_address.get(&address).copied().unwrap_or(0);
        if inside.total >= TOTAL_MAX || (count >= PER_ADDRESS_MAX && !is_proxy) {
            return None;
        }
        inside.total += 1;
        *inside.by_address.entry(address).or_default() += 1;
        Some(Pass { keeper: self.clone(), address })
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        let Ok(mut inside) = self.keeper.inside.lock() else { return };
        inside.total -= 1;
        if let Some(count) = inside.by_address.get_mut(&self.address) {
            *count -= 1;
            if *count == 0 {
                inside.by_address.remove(&self.address);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_address_cannot_take_all_places() {
        let keeper = Arc::new(Doorkeeper::default());
        let (greedy, other) = (IpAddr::from([10, 0, 0, 1]), IpAddr::from([10, 0, 0, 2]));
        let passes: Vec<Pass> = (0..64).map_while(|_| keeper.enter(greedy, false)).collect();
        assert_eq!(passes.len(), 64);
        assert!(keeper.enter(greedy, false).is_none());
        assert!(keeper.enter(greedy, true).is_some());
        assert!(keeper.enter(other, false).is_some());
        drop(passes);
        assert!(keeper.enter(greedy, false).is_some());
        assert_eq!(keeper.inside.lock().unwrap().by_address.len(), 0);
    }
}
