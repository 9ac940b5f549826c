//! Counts connections that are still talking HTTP, so that one place cannot hold all of them open by
//! saying nothing, or by reading nothing.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
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
    by_place: HashMap<IpAddr, usize>,
}

/// Somebody who is in, until this is dropped.
#[derive(Debug)]
pub(crate) struct Pass {
    keeper: Arc<Doorkeeper>,
    place: IpAddr,
}

impl Doorkeeper {
    /// Lets somebody in, unless too many are. Proxies speak for many and count only in the total.
    pub(crate) fn enter(self: &Arc<Doorkeeper>, address: IpAddr, is_proxy: bool) -> Option<Pass> {
        let mut inside = self.inside.lock().ok()?;
        let place = place(address);
        let count = inside.by_place.get(&place).copied().unwrap_or(0);
        if inside.total >= TOTAL_MAX || (count >= PER_ADDRESS_MAX && !is_proxy) {
            return None;
        }
        inside.total += 1;
        *inside.by_place.entry(place).or_default() += 1;
        Some(Pass { keeper: self.clone(), place })
    }
}

impl Drop for Pass {
    fn drop(&mut self) {
        let Ok(mut inside) = self.keeper.inside.lock() else { return };
        inside.total -= 1;
        if let Some(count) = inside.by_place.get_mut(&self.place) {
            *count -= 1;
            if *count == 0 {
                inside.by_place.remove(&self.place);
            }
        }
    }
}

/// Addresses that belong to one place: of IPv6, a household has a whole /64.
fn place(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(v6) => IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & !u128::from(u64::MAX))),
        v4 => v4,
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
        assert_eq!(keeper.inside.lock().unwrap().by_place.len(), 0);
    }

    #[test]
    fn a_household_of_ipv6_is_one_place() {
        let keeper = Arc::new(Doorkeeper::default());
        let address = |n: u128| IpAddr::V6(Ipv6Addr::from_bits((0x2001_0db8 << 96) | n));
        let passes: Vec<Pass> = (0..1_000).map_while(|n| keeper.enter(address(n), false)).collect();
        assert_eq!(passes.len(), 64);
        assert!(keeper.enter(address(1 << 64), false).is_some());
    }
}
