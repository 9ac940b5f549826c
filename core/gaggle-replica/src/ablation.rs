//! The rules that make all worlds equal in the end, each by name, so that a test can show what goes
//! wrong without it.
//!
//! Outside of this crate's own tests they always hold.

/// A rule of agreement.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(test), expect(dead_code, reason = "only tests take a rule out, and so name it"))]
pub(crate) enum Rule {
    /// A claim goes above the claims before it.
    ClaimsGoAbove,
    /// A claim goes above every record ever seen, not only above the world's.
    ClaimsGoAboveAllSeen,
    /// What has no rightful holder is sent to its heir.
    StraysAreRelayed,
    /// Deleted objects without a rightful holder too.
    DeadStraysAreRelayed,
    /// Who returns is another member.
    ReturnersAreNew,
    /// Records that were refused are kept and judged again.
    RefusedAreKept,
    /// A deletion is told to those who may know the object.
    TombstonesAreOwed,
    /// Only the acknowledgement of the deletion itself pays for it.
    OnlyTheirAckPays,
    /// Deletions are told again when a link starts.
    TombstonesAtLinkStart,
    /// An heir takes deleted objects too.
    HeirsTakeTombstones,
    /// Who sends an older record is told the newer one.
    OlderIsAnswered,
    /// Of two records of one holder the later wins.
    LaterWins,
    /// A packet is for one incarnation of its receiver.
    PacketsAreAddressed,
    /// That an object was once introduced is not forgotten when its handle is closed.
    CloseForgetsNothing,
    /// What a present holder said is taken from nobody else.
    PresentSpeakForThemselves,
    /// Unless they pass on what somebody else said of the object.
    WhoeverPassesOnGaveUp,
    /// Of an object that is known nobody who is away has said what it had no right to.
    NamesAreBorneOut,
    /// What nobody rightful made is not only not taken: whoever would be its heir deletes it.
    DisownedAreBuried,
    /// Whoever rightfully holds what somebody says to be another's claims it anew.
    UsurpersAreContradicted,
}

#[cfg(test)]
impl Rule {
    pub(crate) const ALL: [Rule; 19] = [
        Rule::ClaimsGoAbove,
        Rule::ClaimsGoAboveAllSeen,
        Rule::StraysAreRelayed,
        Rule::DeadStraysAreRelayed,
        Rule::ReturnersAreNew,
        Rule::RefusedAreKept,
        Rule::TombstonesAreOwed,
        Rule::OnlyTheirAckPays,
        Rule::TombstonesAtLinkStart,
        Rule::HeirsTakeTombstones,
        Rule::OlderIsAnswered,
        Rule::LaterWins,
        Rule::PacketsAreAddressed,
        Rule::CloseForgetsNothing,
        Rule::PresentSpeakForThemselves,
        Rule::WhoeverPassesOnGaveUp,
        Rule::NamesAreBorneOut,
        Rule::DisownedAreBuried,
        Rule::UsurpersAreContradicted,
    ];
}

/// Which rule a test has taken out.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Ablation {
    #[cfg(test)]
    pub(crate) rule: Option<Rule>,
}

impl Ablation {
    /// Whether the rule holds.
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
