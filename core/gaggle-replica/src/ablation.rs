//! Rules of convergence by name, so that a test can switch one off and show what fails without it.
//!
//! Every part asks it before applying a rule; outside of this crate's own tests all rules hold.
//! Absent: what the rules do.

/// A rule of convergence.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(test), expect(dead_code, reason = "only tests switch a rule off, and so name it"))]
pub(crate) enum Rule {
    /// A claim exceeds all claims before it.
    ClaimsGoAbove,
    /// A claim exceeds every record ever received, not only the present one.
    ClaimsGoAboveAllSeen,
    /// An orphan is sent to its successor.
    OrphansAreRelayed,
    /// Tombstones without a valid authority are sent to the successor, too.
    OrphanTombstonesAreRelayed,
    /// A player that returns is another member.
    ReturnersAreNew,
    /// Rejected records are kept and resolved again when the roster changes.
    RefusedAreKept,
    /// A deletion is sent to every peer that may know the object.
    TombstonesAreOwed,
    /// Only the acknowledgement of the deletion itself ends its resending.
    OnlyTheirAckPays,
    /// Deletions are sent again when a link starts.
    TombstonesAtLinkStart,
    /// A successor takes tombstones, too.
    SuccessorsTakeTombstones,
    /// A peer that sends an older record gets the newer one.
    OlderIsAnswered,
    /// Of two records of one authority the later wins.
    LaterWins,
    /// A packet is for one epoch of its receiver.
    PacketsAreAddressed,
    /// Closing a handle keeps the record that its object was introduced.
    CloseForgetsNothing,
    /// A record of a present authority is accepted from no other peer.
    PresentSpeakForThemselves,
    /// That authority gives up its own record by forwarding another member's record of the object.
    ForwardingGivesUp,
    /// For a known object, a record of an absent member is rejected if the policy forbids it to
    /// that member.
    NamesAreBorneOut,
    /// An object whose creator had no authority is not only rejected: the peer that would be its
    /// successor deletes it.
    UnauthorizedAreDespawned,
    /// The rightful authority claims an object anew when a peer sends it as another's.
    ForgedAuthorityIsContradicted,
}

#[cfg(test)]
impl Rule {
    pub(crate) const ALL: [Rule; 19] = [
        Rule::ClaimsGoAbove,
        Rule::ClaimsGoAboveAllSeen,
        Rule::OrphansAreRelayed,
        Rule::OrphanTombstonesAreRelayed,
        Rule::ReturnersAreNew,
        Rule::RefusedAreKept,
        Rule::TombstonesAreOwed,
        Rule::OnlyTheirAckPays,
        Rule::TombstonesAtLinkStart,
        Rule::SuccessorsTakeTombstones,
        Rule::OlderIsAnswered,
        Rule::LaterWins,
        Rule::PacketsAreAddressed,
        Rule::CloseForgetsNothing,
        Rule::PresentSpeakForThemselves,
        Rule::ForwardingGivesUp,
        Rule::NamesAreBorneOut,
        Rule::UnauthorizedAreDespawned,
        Rule::ForgedAuthorityIsContradicted,
    ];
}

/// Rule that a test has switched off.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Ablation {
    #[cfg(test)]
    pub(crate) rule: Option<Rule>,
}

impl Ablation {
    /// Whether the rule is in force.
    #[inline]
    pub(crate) fn holds(&self, rule: Rule) -> bool {
        #[cfg(test)]
        return self.rule != Some(rule);
        #[cfg(not(test))]
        {
            let _ = rule;
            true
        }
    }
}
