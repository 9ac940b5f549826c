//! Shares of senders in one receiver's send buffer, so that heavy senders leave space for light
//! ones.
//!
//! The UDP port uses it for each channel. Absent: the buffer itself.

use std::collections::BTreeMap;

use gaggle_kit::PeerId;
use gaggle_link::relay::RelayFrame;

/// Bytes of one sender in the upper half: several game messages, and far less than the half.
const SHARE_BYTES: usize = 4 * 1024;

/// Shares of one send buffer. Its lower half is free for all; in the upper half each sender has a
/// share.
#[derive(Debug, Default)]
pub(crate) struct FairShare {
    /// Bytes of each sender in the upper half since it was last empty.
    had: BTreeMap<PeerId, usize>,
}

impl FairShare {
    /// Whether `bytes` more of this sender fit, with this many buffered.
    pub(crate) fn admits(
        &mut self,
        buffered: usize,
        buffered_max: usize,
        sender: PeerId,
        bytes: usize,
    ) -> bool {
        if buffered + bytes <= buffered_max / 2 {
            self.had.clear();
            return true;
        }
        let had = self.had.entry(sender).or_default();
        let is_admitted = *had + bytes <= SHARE_BYTES;
        *had += if is_admitted { bytes } else { 0 };
        is_admitted
    }
}

/// Sender named in a data frame.
pub(crate) fn sender_of(frame: &[u8]) -> PeerId {
    match RelayFrame::read(frame) {
        Ok(RelayFrame::Data { peer, .. }) => peer,
        _ => PeerId::default(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MAX: usize = 64 * 1024;

    #[test]
    fn heavy_sender_leaves_space_for_light_one() {
        let (mut fair, mut buffered) = (FairShare::default(), 0);
        let [flood, game] = [1, 2].map(PeerId::from_u128);
        let mut send = |sender, bytes| {
            let is_admitted = fair.admits(buffered, MAX, sender, bytes);
            buffered += if is_admitted { bytes } else { 0 };
            is_admitted
        };
        while send(flood, 1_000) {}
        assert!(!send(flood, 1_000));
        assert_eq!((0..20).filter(|_| send(game, 100)).count(), 20);
        assert!(buffered <= MAX / 2 + 2 * SHARE_BYTES);
    }

    #[test]
    fn lone_sender_has_half_and_again_when_it_is_empty() {
        let mut fair = FairShare::default();
        let sender = PeerId::from_u128(1);
        assert!(fair.admits(0, MAX, sender, MAX / 2));
        assert!(fair.admits(MAX / 2, MAX, sender, SHARE_BYTES) && !fair.admits(MAX / 2, MAX, sender, 1));
        assert!(fair.admits(0, MAX, sender, 1));
        assert!(fair.admits(MAX / 2, MAX, sender, SHARE_BYTES));
    }
}
