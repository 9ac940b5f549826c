//! The rule by which waiting players start together: all are ready, or all but one for long.
//! `Lobby` asks it on every page, and the host's page starts. Absent: the room, its picture.

use gaggle::Micros;

/// From the moment in which all are ready to the start.
pub(crate) const COUNT: Micros = Micros::from_secs(3);
/// How long all others wait for the last one.
const LAST_ONE: Micros = Micros::from_secs(20);

/// Since when the players have been ready.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Countdown {
    all: Option<Micros>,
    all_but_one: Option<Micros>,
}

impl Countdown {
    /// When the match starts, if no player changes anything. `present` is the number of players
    /// who are not away.
    pub(crate) fn update(&mut self, now: Micros, present: usize, ready: usize) -> Option<Micros> {
        let are_all = present > 0 && ready >= present;
        let are_most = ready > 0 && ready + 1 >= present;
        self.all = are_all.then(|| self.all.unwrap_or(now));
        self.all_but_one = are_most.then(|| self.all_but_one.unwrap_or(now));
        match (self.all, self.all_but_one) {
            (Some(all), _) => Some(all + COUNT),
            (None, Some(most)) => Some(most + LAST_ONE),
            (None, None) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn secs(seconds: u64) -> Micros {
        Micros::from_secs(seconds)
    }

    #[test]
    fn all_ready_starts_count_that_one_unready_ends() {
        let mut countdown = Countdown::default();
        assert_eq!(countdown.update(secs(1), 3, 1), None);
        assert_eq!(countdown.update(secs(5), 3, 3), Some(secs(8)));
        assert_eq!(countdown.update(secs(7), 3, 3), Some(secs(8)), "it goes on");
        assert_eq!(countdown.update(secs(7), 3, 1), None, "two are not ready");
        assert_eq!(countdown.update(secs(8), 3, 3), Some(secs(11)), "it begins anew");
    }

    #[test]
    fn last_unready_player_is_waited_for_twenty_seconds() {
        let mut countdown = Countdown::default();
        assert_eq!(countdown.update(secs(1), 3, 2), Some(secs(21)));
        assert_eq!(countdown.update(secs(10), 3, 2), Some(secs(21)));
        assert_eq!(countdown.update(secs(11), 3, 3), Some(secs(14)), "the last one is ready");
        // The others have waited for one of them since the first second.
        assert_eq!(countdown.update(secs(12), 3, 2), Some(secs(21)));
        assert_eq!(countdown.update(secs(13), 4, 2), None, "a new player arrives");
        assert_eq!(countdown.update(secs(14), 4, 3), Some(secs(34)));
    }

    #[test]
    fn lone_player_starts_by_being_ready() {
        let mut countdown = Countdown::default();
        assert_eq!(countdown.update(secs(1), 1, 0), None);
        assert_eq!(countdown.update(secs(2), 1, 1), Some(secs(5)));
        assert_eq!(countdown.update(secs(3), 0, 0), None, "away");
    }
}
