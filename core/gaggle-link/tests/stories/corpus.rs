//! Replays the fuzz corpora of this crate through their targets, with everything near each entry.

use crate::link;

gaggle_testkit::corpus!(link::TARGETS);
