//! The rules that make all logs equal, each by name, so that a test can show what goes wrong
//! without it.
//!
//! Outside of this crate's own tests they always hold. Absent: the rules themselves.

/// A rule of agreement between referee and clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(test), expect(dead_code, reason = "only tests take a rule out, and so name it"))]
pub(crate) enum Rule {
    /// What changed is told until it is acknowledged.
    ChangesAreRepeated,
    /// An own entry counts only if the log says so.
    OwnEntriesAreLearned,
    /// A frame is sealed at its deadline, also if entries are missing.
    DeadlinesSeal,
    /// A sealed frame is never opened again.
    SealedStaysSealed,
    /// A frame is in the journal before any client is told of it.
    JournalComesFirst,
    /// Without a journal the referee waits for every member that can answer.
    EveryMemberIsAsked,
    /// A client that answered takes no more frames of the old referee.
    AnswersArePromises,
    /// Only answers to this start of the referee count.
    AnswersAreOfThisEpoch,
    /// A log that has not reached a term's base is one of the term before.
    ShortLogsAreOld,
    /// A merged packet is taken only in its term.
    PacketsAreOfOneTerm,
    /// A merged packet is taken only by the process it was written for.
    PacketsAreAddressed,
    /// Nothing is told to a client that has not said what it holds in this term.
    AcksAreOfOneTerm,
    /// Frames that build on others are taken only by a log that holds those.
    GapsAreNotTaken,
    /// A restarted process is another stream.
    RestartsAreNew,
}

#[cfg(test)]
impl Rule {
    pub(crate) const ALL: [Rule; 14] = [
        Rule::ChangesAreRepeated,
        Rule::OwnEntriesAreLearned,
        Rule::DeadlinesSeal,
        Rule::SealedStaysSealed,
        Rule::JournalComesFirst,
        Rule::EveryMemberIsAsked,
        Rule::AnswersArePromises,
        Rule::AnswersAreOfThisEpoch,
        Rule::ShortLogsAreOld,
        Rule::PacketsAreOfOneTerm,
        Rule::PacketsAreAddressed,
        Rule::AcksAreOfOneTerm,
        Rule::GapsAreNotTaken,
        Rule::RestartsAreNew,
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
    pub(crate) fn holds(self, rule: Rule) -> bool {
        #[cfg(test)]
        return self.rule != Some(rule);
        #[cfg(not(test))]
        {
            let _ = rule;
            true
        }
    }
}
