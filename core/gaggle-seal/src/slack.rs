//! Slack of one stream: how early its entries arrive at the referee, as samples in quarter frames.
//!
//! The referee keeps one per link and sends its 5th percentile to the client, whose clock adjusts.
//! Absent: clocks, the client's adjustment.

/// Samples that are kept.
const SAMPLES: usize = 60;
/// Samples needed before a percentile is sent.
const SAMPLES_MIN: usize = 9;

/// The last slack samples in a ring.
#[derive(Debug, Clone)]
pub(crate) struct Slack {
    quarters: [i8; SAMPLES],
    count: u8,
    next: u8,
}

impl Slack {
    pub(crate) const fn new() -> Slack {
        Slack { quarters: [0; SAMPLES], count: 0, next: 0 }
    }

    /// Adds a sample: due time minus arrival, saturating at 32 frames.
    pub(crate) fn push(&mut self, quarters: i64) {
        self.quarters[usize::from(self.next)] = quarters.clamp(-127, 127) as i8;
        self.next = (self.next + 1) % SAMPLES as u8;
        self.count = (self.count + 1).min(SAMPLES as u8);
    }

    /// The 5th percentile. `None` before there are enough samples.
    pub(crate) fn low(&self) -> Option<i8> {
        let count = usize::from(self.count);
        if count < SAMPLES_MIN {
            return None;
        }
        let mut sorted = self.quarters;
        let (_, low, _) = sorted[..count].select_nth_unstable(count / 20);
        Some(*low)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn low_end_is_fifth_percentile_of_last_sixty() {
        let mut slack = Slack::new();
        (0..8).for_each(|_| slack.push(1));
        assert_eq!(slack.low(), None);
        (0..60).for_each(|sample| slack.push(sample));
        assert_eq!(slack.low(), Some(3));
        (0..57).for_each(|_| slack.push(1_000));
        assert_eq!(slack.low(), Some(127));
    }
}
