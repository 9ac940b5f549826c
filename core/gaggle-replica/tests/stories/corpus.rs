//! Replays the fuzz corpora of this crate through their targets, with everything near each entry.

use crate::replica;

gaggle_testkit::corpus!(replica::TARGETS);
