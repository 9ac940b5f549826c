//! States that clients gave for joiners: which client is asked, whose offers agree, what is kept.
//!
//! The referee passes offers and pieces, and asks for the state to serve. Absent: links, the log.

use std::sync::Arc;

use gaggle_kit::{DecodeError, Frame, Micros, StateHasher};

use super::LinkId;
use crate::message::StateInfo;
use crate::transfer::Incoming;

/// Time without progress after which other clients are asked.
const ROUND_TIMEOUT: Micros = Micros::from_secs(3);

/// A game's state at a final frame.
#[derive(Debug, Clone)]
pub(super) struct Donated {
    pub(super) frame: Frame,
    pub(super) state_hash: u64,
    pub(super) bytes: Arc<[u8]>,
}

impl Donated {
    /// The state every client begins a match with: no bytes.
    pub(super) fn of_start() -> Donated {
        Donated { frame: Frame::START, state_hash: 0, bytes: Arc::from(&[][..]) }
    }
}

/// An offer of one of the clients that were asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Offer {
    pub(super) state_hash: u64,
    pub(super) bytes_hash: u64,
    pub(super) length: usize,
}

/// One question to one or two clients.
#[derive(Debug)]
struct Round {
    number: u32,
    frame: Frame,
    moved_at: Micros,
    asked: Vec<(LinkId, Option<Offer>)>,
    incoming: Option<(LinkId, Offer, Incoming)>,
}

/// Result of a piece.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Taken {
    /// A piece arrived; holds the number to confirm to the donor, if it is time for that.
    Piece(Option<u32>),
    /// The state is whole.
    Whole,
    /// The state is whole, and not what was offered.
    False,
    /// No such piece was asked for.
    Unasked,
}

#[derive(Debug, Default)]
pub(super) struct Donors {
    /// Frames by which spectators are behind.
    delay: u32,
    /// At most two, oldest first: spectators may need an older one.
    donated: Vec<Donated>,
    round: Option<Round>,
    rounds: u32,
}

impl Donors {
    pub(super) fn new(delay: u32) -> Donors {
        Donors { delay, ..Donors::default() }
    }

    /// The newest state of a kept frame up to `last`.
    pub(super) fn newest(&self, is_kept: impl Fn(Frame) -> bool, last: Frame) -> Option<&Donated> {
        self.donated.iter().rev().find(|state| is_kept(state.frame) && state.frame <= last)
    }

    /// Keeps a state. The older one stays until spectators may be given a newer one.
    pub(super) fn keep(&mut self, state: Donated) {
        if self.donated.len() == 2 {
            let is_usable = self.donated[1].frame + self.delay <= state.frame;
            self.donated.remove(usize::from(!is_usable));
        }
        self.donated.push(state);
    }

    /// Forgets all states and the question, because the log is not continued.
    pub(super) fn clear(&mut self) {
        self.donated.clear();
        self.round = None;
    }

    /// Whether clients are being asked.
    pub(super) fn is_asking(&self, now: Micros) -> bool {
        self.round.as_ref().is_some_and(|round| now.since(round.moved_at) < ROUND_TIMEOUT)
    }

    /// Asks two of the clients that play, different ones each time, or the only one. Returns the
    /// number of the question and the clients.
    pub(super) fn ask(&mut self, now: Micros, frame: Frame, playing: &[LinkId]) -> (u32, Vec<LinkId>) {
        self.rounds = self.rounds.wrapping_add(1);
        let at = |index: u32| playing[(self.rounds.wrapping_add(index)) as usize % playing.len()];
        let asked: Vec<LinkId> = (0..playing.len().min(2) as u32).map(at).collect();
        let number = self.rounds;
        let offers = asked.iter().map(|link| (*link, None)).collect();
        self.round = Some(Round { number, frame, moved_at: now, asked: offers, incoming: None });
        (number, asked)
    }

    /// Takes an offer of a client that was asked.
    pub(super) fn offer(
        &mut self,
        now: Micros,
        link: LinkId,
        frame: Frame,
        info: StateInfo,
        bytes_hash: u64,
    ) {
        let Some(round) = &mut self.round else { return };
        let asked = round.asked.iter_mut().find(|(asked, offer)| *asked == link && offer.is_none());
        if let Some((_, offer)) = asked
            && (round.number, round.frame) == (info.number, frame)
        {
            *offer = Some(Offer { state_hash: info.state_hash, bytes_hash, length: info.length });
            round.moved_at = now;
        }
    }

    /// The frame that clients were asked for, while no donor is chosen.
    pub(super) fn open_frame(&self) -> Option<Frame> {
        self.round.as_ref().filter(|round| round.incoming.is_none()).map(|round| round.frame)
    }

    /// Chooses the client whose state is taken: two offers agree, or only one client was asked, or
    /// the offers differ and one has the checksum that counts.
    pub(super) fn choose(&mut self, verdict: Option<u64>) -> Option<(LinkId, u32)> {
        let round = self.round.as_mut().filter(|round| round.incoming.is_none())?;
        let (first, first_offer) = round.asked.first().copied()?;
        let first_offer = first_offer?;
        let chosen = match round.asked.get(1) {
            None => Some((first, first_offer)),
            Some((_, None)) => return None,
            Some((_, Some(offer))) if *offer == first_offer => Some((first, first_offer)),
            Some((_, Some(offer))) if offer.state_hash == first_offer.state_hash => None,
            Some((second, Some(offer))) => {
                let all = [(first, first_offer), (*second, *offer)];
                let verdict = verdict?;
                all.into_iter().find(|(_, offer)| offer.state_hash == verdict)
            }
        };
        let Some((link, offer)) = chosen else {
            // One of them lies, and nothing tells which: others are asked.
            self.round = None;
            return None;
        };
        let number = round.number;
        round.incoming = Some((link, offer, Incoming::new(number, offer.length)));
        if offer.length == 0 {
            self.finish(link);
            return None;
        }
        Some((link, number))
    }

    /// Takes a piece of the chosen donor.
    pub(super) fn piece(
        &mut self,
        now: Micros,
        link: LinkId,
        number: u32,
        index: u32,
        bytes: &[u8],
    ) -> Result<Taken, DecodeError> {
        let Some(round) = self.round.as_mut() else { return Ok(Taken::Unasked) };
        let Some((donor, _, incoming)) = &mut round.incoming else { return Ok(Taken::Unasked) };
        if *donor != link || incoming.number() != number {
            return Ok(Taken::Unasked);
        }
        incoming.take(index, bytes)?;
        round.moved_at = now;
        let confirmed = incoming.confirm();
        Ok(if incoming.is_complete() { self.finish(link) } else { Taken::Piece(confirmed) })
    }

    fn finish(&mut self, link: LinkId) -> Taken {
        let Some(round) = self.round.take() else { return Taken::Unasked };
        let Some((_, offer, incoming)) = round.incoming.filter(|(donor, ..)| *donor == link) else {
            return Taken::Unasked;
        };
        let bytes = incoming.into_bytes();
        if StateHasher::of(&bytes) != offer.bytes_hash {
            return Taken::False;
        }
        let state = Donated { frame: round.frame, state_hash: offer.state_hash, bytes: bytes.into() };
        self.keep(state);
        Taken::Whole
    }

    /// Forgets the offers of a link that is closed.
    pub(super) fn forget(&mut self, link: LinkId) {
        if self.round.as_ref().is_some_and(|round| round.asked.iter().any(|(asked, _)| *asked == link)) {
            self.round = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOW: Micros = Micros::ZERO;
    const FRAME: Frame = Frame::new(120);

    fn links(count: u32) -> Vec<LinkId> {
        (0..count).map(|index| LinkId { index, generation: 0 }).collect()
    }

    fn offer(donors: &mut Donors, link: LinkId, number: u32, state_hash: u64, bytes: &[u8]) {
        let info = StateInfo { number, state_hash, length: bytes.len() };
        donors.offer(NOW, link, FRAME, info, StateHasher::of(bytes));
    }

    #[test]
    fn two_equal_offers_make_one_donor_whose_state_is_kept() {
        let mut donors = Donors::default();
        let (number, asked) = donors.ask(NOW, FRAME, &links(5));
        assert_eq!(asked.len(), 2);
        offer(&mut donors, asked[0], number, 9, b"state");
        assert_eq!(donors.choose(None), None, "one offer does not suffice");
        offer(&mut donors, asked[1], number, 9, b"state");
        assert_eq!(donors.choose(None), Some((asked[0], number)));
        assert_eq!(donors.piece(NOW, asked[1], number, 0, b"state"), Ok(Taken::Unasked));
        assert_eq!(donors.piece(NOW, asked[0], number, 0, b"state"), Ok(Taken::Whole));
        let kept = donors.newest(|_| true, FRAME).expect("kept");
        assert_eq!((kept.frame, kept.state_hash, &*kept.bytes), (FRAME, 9, &b"state"[..]));
        assert!(donors.newest(|_| true, FRAME.previous()).is_none());
    }

    #[test]
    fn differing_offers_are_decided_by_checksum_that_counts() {
        let mut donors = Donors::default();
        let (number, asked) = donors.ask(NOW, FRAME, &links(2));
        offer(&mut donors, asked[0], number, 8, b"wrong");
        offer(&mut donors, asked[1], number, 9, b"right");
        assert_eq!(donors.choose(None), None);
        assert_eq!(donors.choose(Some(9)), Some((asked[1], number)));
    }

    #[test]
    fn liar_about_bytes_is_found_and_others_are_asked() {
        let mut donors = Donors::default();
        let (number, asked) = donors.ask(NOW, FRAME, &links(4));
        offer(&mut donors, asked[0], number, 9, b"bytes");
        offer(&mut donors, asked[1], number, 9, b"other");
        assert_eq!(donors.choose(Some(9)), None);
        assert!(!donors.is_asking(NOW));
        let (next, others) = donors.ask(NOW, FRAME, &links(4));
        assert!(next != number && others != asked);
        // Another liar offers one state and gives another.
        offer(&mut donors, others[0], next, 9, b"bytes");
        offer(&mut donors, others[1], next, 9, b"bytes");
        assert_eq!(donors.choose(None), Some((others[0], next)));
        assert_eq!(donors.piece(NOW, others[0], next, 0, b"byte5"), Ok(Taken::False));
        assert!(donors.newest(|_| true, FRAME).is_none());
    }

    #[test]
    fn older_state_stays_until_spectators_may_have_newer_one() {
        let state = |frame| Donated { frame: Frame::new(frame), state_hash: 0, bytes: Arc::from(&[][..]) };
        let mut donors = Donors::new(70);
        [60, 120, 180].into_iter().for_each(|frame| donors.keep(state(frame)));
        let newest =
            |donors: &Donors, last| donors.newest(|_| true, Frame::new(last)).map(|d| d.frame.number());
        assert_eq!((newest(&donors, 100), newest(&donors, 200)), (Some(60), Some(180)));
        donors.keep(state(260));
        assert_eq!((newest(&donors, 190), newest(&donors, 300)), (Some(180), Some(260)));
    }
}
