//! Rules that make all logs equal, by name, so that a test can switch one off and show what fails
//! without it.
//!
//! Outside of this crate's own tests all rules hold. Absent: what the rules do.

/// A rule of agreement between referee and clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
#[cfg_attr(not(test), expect(dead_code, reason = "only tests take a rule out, and so name it"))]
pub(crate) enum Rule {
    /// A change is repeated until it is acknowledged.
    ChangesAreRepeated,
    /// An own entry counts only if the log has it.
    OwnEntriesAreLearned,
    /// A frame is sealed at its deadline, even if entries are missing.
    DeadlinesSeal,
    /// A sealed frame is never opened again.
    SealedStaysSealed,
    /// A frame is in the journal before any client is told of it.
    JournalComesFirst,
    /// Without a journal the referee waits for every member that can answer.
    EveryMemberIsAsked,
    /// A client that answered a new referee takes no more frames of the old one.
    AnswersArePromises,
    /// Only answers to the present start of the referee count.
    AnswersAreOfThisEpoch,
    /// A log that has not reached a term's base belongs to an earlier term.
    ShortLogsAreOld,
    /// A merged packet is taken only in its term.
    PacketsAreOfOneTerm,
    /// A merged packet is taken only by the process it was written for.
    PacketsAreAddressed,
    /// A client is sent no frames before it has said which frames of this term it holds.
    AcksAreOfOneTerm,
    /// Frames that build on others are taken only by a log that holds those others.
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

/// Rule that a test has switched off.
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
