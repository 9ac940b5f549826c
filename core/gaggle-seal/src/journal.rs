//! Journal of a match: records of sealed frames, written before any client is told of them.
//!
//! The referee appends; the server writes [`Journal::records`] to a file and confirms it. Reading
//! stops where the file is damaged. Absent: files, clients, time.

use gaggle_kit::{ByteReader, ByteSink, DecodeError, Frame, StateHasher, Varint};
use thiserror::Error;

use crate::checkpoint::{self, ExtractError};
use crate::config::{ConfigError, SealConfig};
use crate::lineage::Lineage;
use crate::log::Log;
use crate::shape::Shape;

/// First bytes of a journal: name and version.
const MAGIC: [u8; 8] = *b"GGSEAL\0\x01";
const HEADER_BYTES: usize = MAGIC.len() + 3;
/// Frames of one record when a journal begins again, so that records stay small enough.
const REWRITE_FRAMES: u32 = 64;
/// Bytes of one record.
const RECORD_BYTES_MAX: usize = 8 << 20;

const START: u8 = 1;
const FRAMES: u8 = 2;

/// Records that are not written yet.
#[derive(Debug)]
pub(crate) struct Journal {
    /// Bytes the server writes next.
    pending: Vec<u8>,
    record: Vec<u8>,
    /// Last frame in `pending` or in the file.
    appended: Frame,
    /// Last frame in the file.
    written: Frame,
    /// Whether `pending` begins with a header.
    is_new: bool,
}

impl Journal {
    /// A journal whose file is empty.
    pub(crate) fn begin(log: &Log, lineage: &Lineage) -> Journal {
        // Space for a few frames with every possible change, so that a running match allocates no
        // more memory.
        let frame_bytes = log.shape().slots() * (log.shape().value_bytes() + 1);
        let mut journal = Journal {
            pending: Vec::with_capacity(2_048 + 8 * frame_bytes),
            record: Vec::with_capacity(1_024 + 4 * frame_bytes),
            appended: log.sealed(),
            written: log.sealed(),
            is_new: true,
        };
        journal.pending.extend_from_slice(&header(log.shape()));
        journal.start(log, lineage);
        journal
    }

    /// A journal that continues a file that was read.
    pub(crate) fn resume(log: &Log, lineage: &Lineage) -> Journal {
        let mut journal = Journal::begin(log, lineage);
        journal.pending.drain(..HEADER_BYTES);
        journal.is_new = false;
        journal
    }

    /// Begins again with all kept frames, those of pending records among them.
    pub(crate) fn rewrite(&mut self, log: &Log, lineage: &Lineage) {
        self.pending.clear();
        self.pending.extend_from_slice(&header(log.shape()));
        self.is_new = true;
        let mut at = log.oldest();
        self.start_at(log, lineage, at);
        while at < log.sealed() {
            let to = (at + REWRITE_FRAMES).min(log.sealed());
            self.record.clear();
            checkpoint::write_frames(log, at, to, &mut self.record);
            self.push(FRAMES);
            at = to;
        }
        self.appended = log.sealed();
    }

    /// Whether the pending records begin a journal of their own.
    pub(crate) const fn is_new(&self) -> bool {
        self.is_new
    }

    /// Begins again with another log: earlier records do not count any more.
    pub(crate) fn start_again(&mut self, log: &Log, lineage: &Lineage) {
        self.start(log, lineage);
        self.appended = log.sealed();
        self.written = log.sealed();
    }

    fn start(&mut self, log: &Log, lineage: &Lineage) {
        self.start_at(log, lineage, log.sealed());
    }

    fn start_at(&mut self, log: &Log, lineage: &Lineage, frame: Frame) {
        self.record.clear();
        lineage.write(&mut self.record);
        checkpoint::write(log, frame, &mut self.record);
        self.push(START);
    }

    /// Appends the frames sealed since the last call.
    pub(crate) fn append(&mut self, log: &Log) {
        if log.sealed() > self.appended {
            self.record.clear();
            checkpoint::write_frames(log, self.appended, log.sealed(), &mut self.record);
            self.push(FRAMES);
            self.appended = log.sealed();
        }
    }

    fn push(&mut self, kind: u8) {
        self.pending.push(kind);
        self.pending.extend_from_slice(&Varint::new(self.record.len() as u64));
        self.pending.extend_from_slice(&self.record);
        self.pending.extend_from_slice(&checksum(kind, &self.record).to_le_bytes());
    }

    pub(crate) fn records(&self) -> &[u8] {
        &self.pending
    }

    /// Confirms that the pending records are in the file.
    pub(crate) fn mark_written(&mut self) {
        self.pending.clear();
        self.is_new = false;
        self.written = self.appended;
    }

    pub(crate) fn written(&self) -> Frame {
        self.written
    }
}

fn header(shape: Shape) -> [u8; HEADER_BYTES] {
    let mut header = [0; HEADER_BYTES];
    header[..8].copy_from_slice(&MAGIC);
    header[8..10].copy_from_slice(&(shape.slots() as u16).to_le_bytes());
    header[10] = shape.value_bytes() as u8;
    header
}

fn checksum(kind: u8, record: &[u8]) -> u32 {
    let mut hasher = StateHasher::new();
    hasher.put(&[kind]);
    hasher.put(record);
    hasher.finish() as u32
}

/// Why a file is no journal of this match.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum JournalError {
    /// It is another kind of file.
    #[error("this is not a journal of sealed frames; give the file that the referee wrote")]
    NotAJournal,
    /// Its version is one this program does not read.
    #[error("journal of version {0}; this program reads version 1")]
    VersionMismatch(u8),
    /// Its match has other slots or inputs.
    #[error(
        "journal of a match of {slots} slots with {value_bytes} bytes, not of this one; open it with the settings it was written with"
    )]
    ShapeMismatch {
        /// Slots of the file.
        slots: u16,
        /// Bytes per input of the file.
        value_bytes: u8,
    },
    /// Its first record cannot be read, and the rest depends on that.
    #[error("the first record of the journal is damaged; start the match anew")]
    NoStart,
    /// Its settings are invalid.
    #[error(transparent)]
    Config(#[from] ConfigError),
}

/// Where a journal is damaged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Damage {
    /// Offset of the first damaged record.
    pub byte_offset: usize,
    /// What is wrong with it.
    pub reason: DamageReason,
}

/// Damage of a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
pub enum DamageReason {
    /// The file ends within the record.
    #[error("the journal ends within a record")]
    Cut,
    /// Its checksum differs.
    #[error("a record's checksum is wrong")]
    Checksum,
    /// It is intact, and contradicts earlier records.
    #[error("record not usable: {0}")]
    Contradiction(#[from] ExtractError),
    /// It is intact, and not a record.
    #[error("record not decodable: {0}")]
    Malformed(#[from] DecodeError),
}

/// Contents of a journal.
#[derive(Debug, Clone)]
pub struct Recovered {
    /// All frames in the intact part.
    pub log: Log,
    /// Terms in the intact part.
    pub lineage: Lineage,
    /// Length of the intact part: the server truncates the file to it before it appends.
    pub whole_bytes: usize,
    /// Why the rest was not read. `None` if there is no rest.
    pub damage: Option<Damage>,
}

/// Reads the intact part of a journal, and calls `sealed` with the log after each record.
///
/// # Errors
/// If not even the first record can be read.
pub fn read_journal(
    bytes: &[u8],
    config: &SealConfig,
    mut sealed: impl FnMut(&Log),
) -> Result<Recovered, JournalError> {
    let shape = config.check()?;
    let head: &[u8; HEADER_BYTES] = bytes.first_chunk().ok_or(JournalError::NotAJournal)?;
    if head[..7] != MAGIC[..7] {
        return Err(JournalError::NotAJournal);
    }
    if head[7] != MAGIC[7] {
        return Err(JournalError::VersionMismatch(head[7]));
    }
    if *head != header(shape) {
        let slots = u16::from_le_bytes([head[8], head[9]]);
        return Err(JournalError::ShapeMismatch { slots, value_bytes: head[10] });
    }
    let mut log = Log::new(shape, config.history_frames, config.lookahead());
    let mut lineage: Option<Lineage> = None;
    let mut r = ByteReader::new(&bytes[HEADER_BYTES..]);
    let mut damage = None;
    let mut whole_bytes = HEADER_BYTES;
    while !r.is_empty() {
        // A damaged record leaves the log as it was before.
        let before = log.sealed();
        match record(&mut r).and_then(|(kind, body)| apply(kind, body, &mut log, &mut lineage)) {
            Ok(()) => {}
            Err(reason) => {
                log.truncate(before);
                damage = Some(Damage { byte_offset: whole_bytes, reason });
                break;
            }
        }
        whole_bytes = bytes.len() - r.remaining();
        sealed(&log);
    }
    let lineage = lineage.ok_or(JournalError::NoStart)?;
    Ok(Recovered { log, lineage, whole_bytes, damage })
}

fn record<'a>(r: &mut ByteReader<'a>) -> Result<(u8, &'a [u8]), DamageReason> {
    let cut = |error| match error {
        DecodeError::Truncated { .. } => DamageReason::Cut,
        error => DamageReason::Malformed(error),
    };
    let kind = r.u8("record").map_err(cut)?;
    let body = r.counted("record", RECORD_BYTES_MAX).map_err(cut)?;
    if r.u32("checksum").map_err(cut)? != checksum(kind, body) {
        return Err(DamageReason::Checksum);
    }
    Ok((kind, body))
}

fn apply(kind: u8, body: &[u8], log: &mut Log, lineage: &mut Option<Lineage>) -> Result<(), DamageReason> {
    let mut r = ByteReader::new(body);
    match kind {
        START => {
            let terms = Lineage::read(&mut r)?;
            let mut fresh = Log::new(log.shape(), 8, 0);
            checkpoint::read(&mut r, &mut fresh)?;
            r.finish("start")?;
            // A later start continues where the frames ended, or begins again after they were lost.
            if lineage.is_none() || fresh.sealed() != log.sealed() {
                checkpoint::read(&mut ByteReader::new(checkpoint_of(body)?), log)?;
            }
            *lineage = Some(terms);
            Ok(())
        }
        FRAMES if lineage.is_some() => Ok(checkpoint::read_frames(&mut r, log)?),
        value => Err(DecodeError::Unknown { what: "record", value: value.into() }.into()),
    }
}

fn checkpoint_of(body: &[u8]) -> Result<&[u8], DecodeError> {
    let mut r = ByteReader::new(body);
    Lineage::read(&mut r)?;
    Ok(r.rest())
}
