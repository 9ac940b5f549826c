//! A second directory that is told everything as texts, and now and then made again from a
//! snapshot: it must answer as the first does, and be the same as the first.

use gaggle_kit::Micros;
use gaggle_lobby::directory::{Command, Directory, LogEntry, Reply, Snapshot};
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
    pub(crate) fn take(&mut self, now: Micros, entry: &LogEntry, expected: Option<&Reply>) {
        // Another clock writes than reads: what is a time for one is a wait for the other.
        let ahead = Micros::from_secs(77);
        let (mut written, mut is_late) = (entry.clone(), false);
        if let LogEntry::Command(request) = &mut written
            && let Command::Lease { until, .. } = &mut **request
        {
            is_late = *until < now;
            *until = until.saturating_add(ahead);
        }
        let written = written.to_text(now + ahead);
        let read = LogEntry::from_text(&written, now).unwrap_or_else(|error| panic!("{error}: {written}"));
        // A lease that was over before it arrived is over in any case, only not at the same time.
        let read = if is_late { entry.clone() } else { read };
        assert_eq!(&read, entry, "{written}");
        let reply = self.directory.apply(now, read);
        // Stamps of lists are each directory's own.
        if let Some(expected) = expected.filter(|expected| !matches!(expected, Reply::Listings { .. })) {
            assert_eq!(&reply, expected, "{written}");
        }
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
