//! A second directory that receives every entry as text and is sometimes restored from a snapshot:
//! it must reply like the first and stay equal to it.

use gaggle_kit::Micros;
use gaggle_lobby::directory::{Directory, LogEntry, Reply, Snapshot};
use gaggle_lobby::rules::Rules;

/// Entries between two comparisons of whole directories, which are slow.
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

    /// Applies an entry and compares the reply.
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

    /// Compares both directories and continues from the snapshot's text.
    pub(crate) fn compare(&mut self, first: &Directory) {
        if self.taken - self.compared_at < COMPARE_EVERY {
            return;
        }
        self.compared_at = self.taken;
        let snapshot = first.snapshot();
        assert!(self.directory.snapshot() == snapshot, "directories with equal entries differ");
        let text = snapshot.to_text();
        let read = Snapshot::from_text(&text).expect("the text is from the same build");
        assert!(read == snapshot, "the snapshot does not read back as written");
        self.directory = Directory::from_snapshot(self.rules.clone(), read);
    }
}
