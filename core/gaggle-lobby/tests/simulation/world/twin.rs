//! A second directory that is told everything as texts, and now and then made again from a
//! snapshot: it must answer as the first does, and be the same as the first.

use gaggle_kit::Micros;
use gaggle_lobby::directory::{Directory, LogEntry, Reply, Snapshot};
use gaggle_lobby::rules::Rules;

/// Comparing whole directories takes long.
const COMPARE_EVERY: u64 = 997;

pub(crate) struct Twin {
    directory: Directory,
    rules: Rules,
    taken: u64,
    compared_at: u64,
}

impl Twin {
    pub(crate) fn new(rules: Rules) -> Twin {
        Twin { directory: Directory::new(rules.clone()), rules, taken: 0, compared_at: 0 }
    }

    /// Takes what the first took, and answers as it did.
    pub(crate) fn take(&mut self, now: Micros, entry: &LogEntry, expected: &Reply) {
        let written = entry.to_text();
        let read = LogEntry::from_text(&written).unwrap_or_else(|error| panic!("{error}: {written}"));
        assert_eq!(&read, entry, "{written}");
        let reply = self.directory.apply(now, &read);
        assert_eq!(&reply, expected, "{written}");
        while self.directory.poll_notice().is_some() {}
        while self.directory.poll_record().is_some() {}
        self.taken += 1;
    }

    /// Is the same as the first, and goes on from its text.
    pub(crate) fn compare(&mut self, first: &Directory) {
        if self.taken - self.compared_at < COMPARE_EVERY {
            return;
        }
        self.compared_at = self.taken;
        let snapshot = first.snapshot();
        assert!(self.directory.snapshot() == snapshot, "directories that were told the same differ");
        let text = snapshot.to_text();
        let read = Snapshot::from_text(&text).expect("written by the same program");
        assert!(read == snapshot, "a snapshot is not what was written");
        self.directory = Directory::from_snapshot(self.rules.clone(), read);
    }
}
