//! Actions of members on themselves, and privileges of the host.
//!
//! Part of [`Room`](super::Room). Absent: joining and leaving (`members.rs`).

use std::collections::BTreeSet;

use gaggle_kit::{Micros, PeerId, SlotSet};

use super::result_vote::Reported;
use super::{JoinRequest, Room, Vote, names, slots};
use crate::id::Seed;
use crate::label::DisplayName;
use crate::message::client::Report;
use crate::message::{Rejection, RejectionCode};
use crate::results::{MatchPlayer, MatchRecord};
use crate::rules::Rules;
use crate::view::{
    AccessChanged, EpochChanged, LeaveReason, Member, ProfileChanged, RatingChange, RawJson, ReadyChanged,
    RestChanged, SettingsChanged, Status, StatusChanged, Verdict, VoteCast,
};

/// Longest countdown of a match start, in milliseconds.
const COUNTDOWN_MS_MAX: u32 = 60_000;
/// Removed accounts and networks kept; beyond that the oldest may return.
const BANNED_MAX: usize = 64;

impl Room {
    pub(super) fn set_ready(&mut self, peer: PeerId, ready: bool) -> Result<(), Rejection> {
        if matches!(self.view.status, Status::Starting | Status::Playing) {
            return Err(wrong_status("the match has started"));
        }
        let member = self.view.member(peer).filter(|member| member.slot.is_some());
        let member =
            member.ok_or_else(|| Rejection::new(RejectionCode::WrongStatus, "spectators cannot do this"))?;
        if member.ready != ready {
            self.happen(ReadyChanged { peer, ready });
        }
        Ok(())
    }

    /// Sets since when a member is away from the game. Ignored for spectators, whom no match waits
    /// for.
    pub(super) fn set_resting(&mut self, peer: PeerId, since: Option<Micros>) {
        let resting = since.is_some();
        let member = self.view.member(peer).filter(|member| member.slot.is_some());
        if member.is_some_and(|member| member.resting != resting) {
            if let Some(seat) = self.reservations.get_mut(&peer) {
                seat.resting_since = since;
            }
            self.happen(RestChanged { peer, resting });
        }
    }

    pub(super) fn set_profile(&mut self, peer: PeerId, name: DisplayName, palette: u8) {
        let palette = slots::free_palette(&self.view, peer, palette);
        let name = names::distinct_name(&self.view.members, peer, name);
        let change = ProfileChanged { peer, name, palette };
        if self
            .view
            .member(peer)
            .is_some_and(|member| (&member.name, member.palette) != (&change.name, palette))
        {
            self.happen(change);
        }
    }

    pub(super) fn start(&mut self, now: Micros, countdown_ms: u32, seed: Seed) -> Result<(), Rejection> {
        if countdown_ms > COUNTDOWN_MS_MAX {
            let text = format!("a countdown has at most {COUNTDOWN_MS_MAX} ms");
            return Err(Rejection::new(RejectionCode::BadSettings, text));
        }
        if !matches!(self.view.status, Status::Waiting | Status::Finished) {
            return Err(wrong_status("the match has started already"));
        }
        // A disconnected player cannot get ready, and starting implies that the host is.
        let host = self.view.host;
        let unready = self.view.players().find(|member| !member.ready && !member.away && member.peer != host);
        if let Some(member) = unready.filter(|_| !self.view.drop_in) {
            return Err(Rejection::new(RejectionCode::NotReady, format!("{} is not ready", member.name)));
        }
        self.decide_early(now);
        let begins = now + Micros::from_millis(u64::from(countdown_ms));
        let change = StatusChanged {
            status: if countdown_ms == 0 { Status::Playing } else { Status::Starting },
            round: self.view.round + 1,
            seed,
            match_started_at: begins.as_millis(),
            starts_at: (countdown_ms > 0).then(|| begins.as_millis()),
        };
        self.happen(EpochChanged { epoch: self.view.epoch + 1 });
        self.happen(change);
        self.state.finished_at = None;
        self.state.left.clear();
        let participant = |member: &Member| {
            let (peer, player, name) = (member.peer, member.player, member.name.clone());
            let source = self.reservations.get(&peer)?.source;
            member.slot.map(|slot| MatchPlayer {
                peer,
                player,
                name,
                slot,
                source,
                since: now,
                first: None,
                kicked_at: None,
            })
        };
        self.results.begin(self.view.members.iter().filter_map(participant).collect());
        Ok(())
    }

    pub(super) fn finish(&mut self, now: Micros) -> Result<(), Rejection> {
        if self.view.status != Status::Playing {
            return Err(wrong_status("no match is running"));
        }
        self.results.check_end(now, &self.view)?;
        self.set_finished(now);
        Ok(())
    }

    /// Verdict on a match so far.
    pub fn verdict(&self, round: u32) -> Verdict {
        self.results.verdict(round)
    }

    /// Announces a stored match once, with the verdict that counts.
    pub fn set_stored(&mut self, round: u32, verdict: Option<Verdict>, ratings: Vec<RatingChange>) {
        let decided = self.results.set_stored(round, verdict, ratings);
        decided.into_iter().for_each(|decided| self.happen(decided));
    }

    /// Takes a member's report of the match.
    pub(super) fn report(
        &mut self,
        now: Micros,
        rules: &Rules,
        report: (PeerId, Report),
    ) -> Result<(), Rejection> {
        let is_reopened = self.is_reopened(now);
        match self.results.report(now, rules, &self.view, is_reopened, report)? {
            Reported::Counted => self.decide_if_complete(now),
            Reported::Decided(unstored) => self.change.records.extend(unstored),
        }
        Ok(())
    }

    /// Decides the match if all players have reported.
    pub(super) fn decide_if_complete(&mut self, now: Micros) {
        let may_lack_players = self.may_lack_players(now);
        let record = self.results.settle_if_complete(now, &self.view, may_lack_players);
        self.note_decided(now, record);
    }

    /// Decides the match if the reports suffice.
    pub(super) fn decide_if_enough(&mut self, now: Micros) {
        let may_lack_players = self.may_lack_players(now);
        let record = self.results.settle_if_enough(now, &self.view, may_lack_players);
        self.note_decided(now, record);
    }

    /// Decides the match, because no more reports can come.
    pub(super) fn decide_early(&mut self, now: Micros) {
        let may_lack_players = self.may_lack_players(now);
        let record = self.results.decide_early(now, &self.view, may_lack_players);
        self.note_decided(now, record);
    }

    fn note_decided(&mut self, now: Micros, record: Option<MatchRecord>) {
        let Some(record) = record else { return };
        self.change.records.push(record);
        if self.view.status == Status::Playing && !self.is_over() {
            self.set_finished(now);
        }
    }

    /// Whether players may be missing since the room was restored: for a while, unless returned
    /// members fill all slots.
    fn may_lack_players(&self, now: Micros) -> bool {
        let is_back = |peer: PeerId| self.reservations.get(&peer).is_some_and(|seat| seat.restored.is_some());
        let is_full = self.view.free_slots() == 0 && self.view.players().all(|member| is_back(member.peer));
        self.is_reopened(now) && !is_full
    }

    pub(super) fn set_finished(&mut self, now: Micros) {
        let mut change = self.view.status_change();
        change.status = Status::Finished;
        self.happen(change);
        self.state.finished_at = Some(now);
    }

    pub(super) fn set_settings(&mut self, rules: &Rules, settings: RawJson) -> Result<(), Rejection> {
        check_settings(rules, &settings)?;
        if self.view.settings != settings {
            self.happen(SettingsChanged { settings });
        }
        Ok(())
    }

    pub(super) fn set_access(
        &mut self,
        rules: &Rules,
        locked: Option<bool>,
        private: Option<bool>,
        max_players: Option<u8>,
    ) -> Result<(), Rejection> {
        let max_players = match max_players {
            Some(_) => rules.mode(&self.view.game, &self.view.mode)?.players(max_players)?,
            None => self.view.max_players,
        };
        if !self.view.occupied_slots().difference(SlotSet::first(max_players.into())).is_empty() {
            return Err(Rejection::new(
                RejectionCode::BadSettings,
                "a player has one of the slots to \
             be removed",
            ));
        }
        // No single player may lock in or lock out players that `find` brought together.
        if self.view.matched && self.view.players().count() > 1 {
            return Err(wrong_status("a room of matched players cannot be locked"));
        }
        let private = private.unwrap_or(self.view.private);
        let change = AccessChanged {
            locked: locked.unwrap_or(self.view.locked),
            private,
            max_players,
            matched: self.view.matched && !private,
        };
        if self.view.access() != change {
            self.happen(change);
        }
        Ok(())
    }

    pub(super) fn kick(&mut self, now: Micros, target: PeerId) -> Result<(), Rejection> {
        let host = self.view.host;
        self.view.member(target).filter(|_| target != host).ok_or_else(no_such_member)?;
        self.send_away(now, target);
        Ok(())
    }

    /// A player of a matched room votes to remove another one. Votes count per network, because
    /// keys are free; if all players share a network, as at home, they count per player.
    pub(super) fn vote(&mut self, now: Micros, by: PeerId, target: PeerId) -> Result<(), Rejection> {
        let plays = |peer: PeerId| self.view.member(peer).is_some_and(|member| member.slot.is_some());
        if !plays(by) {
            return Err(Rejection::new(RejectionCode::NotHost, "only players may vote"));
        }
        if by == target || self.view.member(target).is_none() {
            return Err(no_such_member());
        }
        self.state.votes.retain(|vote| vote.by != by);
        self.state.votes.push(Vote { by, target });
        let network = |peer: PeerId| self.reservations.get(&peer).map(|seat| seat.source.network);
        let all: BTreeSet<_> = self.view.players().map(|member| network(member.peer)).collect();
        let is_one_place = all.len() == 1;
        let voice = |peer: PeerId| (network(peer), is_one_place.then_some(peer));
        let others: BTreeSet<_> = self
            .view
            .players()
            .filter(|member| member.peer != target)
            .map(|member| voice(member.peer))
            .collect();
        let votes = self.state.votes.iter().filter(|vote| vote.target == target && plays(vote.by));
        let votes: BTreeSet<_> = votes.map(|vote| voice(vote.by)).collect();
        let needed = (others.len() / 2 + 1).max(2);
        if votes.len() >= needed {
            self.state.voted_out_at = Some(now);
            self.send_away(now, target);
        } else {
            self.happen(VoteCast { peer: target, by, votes: votes.len() as u8, needed: needed as u8 });
        }
        Ok(())
    }

    /// Removes a member for good, with its network unless another member shares it.
    fn send_away(&mut self, now: Micros, target: PeerId) {
        let network = |peer: PeerId| self.reservations.get(&peer).map(|seat| seat.source.network);
        let others = || self.view.members.iter().filter(|member| member.peer != target);
        if let Some(member) = self.view.member(target) {
            let (player, home) = (member.player, network(target));
            // A host that removes its own second peer does not ban itself.
            let is_alone = others().all(|other| other.player != player);
            let is_apart = others().all(|other| network(other.peer) != home);
            if is_alone {
                self.state.banned.push(player);
                let excess = self.state.banned.len().saturating_sub(BANNED_MAX);
                self.state.banned.drain(..excess);
            }
            if is_apart {
                self.state.banned_networks.extend(home);
                let excess = self.state.banned_networks.len().saturating_sub(BANNED_MAX);
                self.state.banned_networks.drain(..excess);
            }
        }
        self.results.note_kicked(now, target);
        self.remove(now, target, LeaveReason::Kicked);
        // The ticket of the removed player is valid until the epoch changes.
        self.happen(EpochChanged { epoch: self.view.epoch + 1 });
    }

    /// When a host that is away or resting loses its role; never without another player to take it.
    /// A resting host is connected and may return at any time: it keeps the role as long as a lost
    /// reservation is kept.
    pub(super) fn host_gives_way_at(&self, rules: &Rules) -> Option<Micros> {
        let seat = self.reservations.get(&self.view.host)?;
        let away = seat.away_since.filter(|_| self.successor(|member| !member.away).is_some());
        let is_awake = |member: &Member| !member.away && !member.resting;
        let resting = seat.resting_since.filter(|_| self.successor(is_awake).is_some());
        let away = away.map(|since| since + rules.host_grace);
        away.into_iter().chain(resting.map(|since| since + rules.reconnect_grace)).min()
    }

    /// Rejects removed players, and their networks: a guest's key is free.
    pub(super) fn check_banned(&self, joiner: &JoinRequest) -> Result<(), Rejection> {
        let is_known = self.state.banned.contains(&joiner.player);
        if is_known || self.state.banned_networks.contains(&joiner.source.network) {
            return Err(Rejection::new(RejectionCode::Kicked, "you were removed from this room"));
        }
        Ok(())
    }

    pub(super) fn hand_over(&mut self, target: PeerId) -> Result<(), Rejection> {
        let member = self.view.member(target).filter(|member| member.slot.is_some());
        let member = member.ok_or_else(no_such_member)?;
        if member.away {
            return Err(Rejection::new(RejectionCode::NoSuchMember, format!("{} is away", member.name)));
        }
        if self.view.host != target {
            self.make_host(target);
        }
        Ok(())
    }
}

/// Checks size and form of a room's settings.
pub(crate) fn check_settings(rules: &Rules, settings: &RawJson) -> Result<(), Rejection> {
    let refuse = |text: String| Err(Rejection::new(RejectionCode::BadSettings, text));
    if !settings.is_object() {
        return refuse("settings must be an object".into());
    }
    let (length, max) = (settings.as_str().len(), rules.settings_bytes_max);
    if length > max {
        return refuse(format!("settings have {length} bytes, at most {max} are allowed"));
    }
    Ok(())
}

fn wrong_status(text: &str) -> Rejection {
    Rejection::new(RejectionCode::WrongStatus, text)
}

fn no_such_member() -> Rejection {
    Rejection::new(RejectionCode::NoSuchMember, "this room has no such other player")
}
