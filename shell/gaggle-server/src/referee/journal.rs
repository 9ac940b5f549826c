//! Journals of all rooms of a referee thread, in segment files: frames are written there before any
//! client is told of them.
//!
//! The thread appends once per tick; at the start of the process all segments are read and written
//! anew. Absent: content of records (`gaggle-seal`).

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use gaggle_kit::StateHasher;
use gaggle_lobby::RoomId;

/// First bytes of a segment: name and version.
const MAGIC: [u8; 8] = *b"GGSEGM\0\x01";
/// Bytes before a chunk's content: room 16, match 8, flags 1, length 4.
const HEAD_BYTES: usize = 29;
const CHECK_BYTES: usize = 4;
/// Most bytes of one chunk, more than a room records in a tick.
const CHUNK_BYTES_MAX: usize = 64 << 20;
/// Size of a segment from which a new one is begun.
pub(super) const SEGMENT_BYTES: u64 = 64 << 20;
/// Flag of a chunk that begins a room's journal again.
const NEW: u8 = 1;
/// Flag of a chunk after which the room has no journal.
const CLOSED: u8 = 2;

/// Journal of a room's match.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RoomJournal {
    pub(super) match_id: u64,
    pub(super) bytes: Vec<u8>,
}

/// Journals of the process before, as read at the start.
#[derive(Debug, Default)]
pub(super) struct Recovered {
    pub(super) rooms: BTreeMap<RoomId, RoomJournal>,
    /// Damaged segments, and at which byte; what is before it was read.
    pub(super) damaged: Vec<(PathBuf, usize)>,
    pub(super) paths: Vec<PathBuf>,
}

/// Reads all segments of a folder, oldest first.
pub(super) fn recover(folder: &Path) -> io::Result<Recovered> {
    fs::create_dir_all(folder)?;
    let mut recovered = Recovered::default();
    let entries = fs::read_dir(folder)?.flatten().map(|entry| entry.path());
    recovered.paths = entries.filter(|path| path.extension().is_some_and(|end| end == "seal")).collect();
    // Names begin with numbers of equal length, which rise.
    recovered.paths.sort();
    for path in recovered.paths.clone() {
        let bytes = fs::read(&path)?;
        if let Some(at) = read_segment(&bytes, &mut recovered.rooms) {
            recovered.damaged.push((path, at));
        }
    }
    Ok(recovered)
}

/// Reads the chunks of a segment. Returns where it is damaged, if it is.
fn read_segment(bytes: &[u8], rooms: &mut BTreeMap<RoomId, RoomJournal>) -> Option<usize> {
    if bytes.get(..MAGIC.len()) != Some(&MAGIC[..]) {
        return Some(0);
    }
    let mut at = MAGIC.len();
    while at < bytes.len() {
        let Some((chunk, end)) = chunk_at(bytes, at) else { return Some(at) };
        if chunk.flags & CLOSED != 0 {
            rooms.remove(&chunk.room);
        } else {
            let fresh = || RoomJournal { match_id: chunk.match_id, bytes: Vec::new() };
            let journal = rooms.entry(chunk.room).or_insert_with(fresh);
            if chunk.flags & NEW != 0 {
                *journal = fresh();
            }
            journal.bytes.extend_from_slice(chunk.bytes);
        }
        at = end;
    }
    None
}

struct Chunk<'a> {
    room: RoomId,
    match_id: u64,
    flags: u8,
    bytes: &'a [u8],
}

fn chunk_at(bytes: &[u8], at: usize) -> Option<(Chunk<'_>, usize)> {
    let head: &[u8; HEAD_BYTES] = bytes.get(at..)?.first_chunk()?;
    let length = u32::from_le_bytes(head[25..29].try_into().ok()?) as usize;
    if length > CHUNK_BYTES_MAX {
        return None;
    }
    let (start, end) = (at + HEAD_BYTES, at + HEAD_BYTES + length);
    let content = bytes.get(start..end)?;
    let check: [u8; CHECK_BYTES] = bytes.get(end..end + CHECK_BYTES)?.try_into().ok()?;
    if checksum(&bytes[at..end]) != check {
        return None;
    }
    let room = RoomId::from_bytes(head[..16].try_into().ok()?);
    let match_id = u64::from_le_bytes(head[16..24].try_into().ok()?);
    Some((Chunk { room, match_id, flags: head[24], bytes: content }, end + CHECK_BYTES))
}

fn checksum(chunk: &[u8]) -> [u8; CHECK_BYTES] {
    (StateHasher::of(chunk) as u32).to_le_bytes()
}

fn put_chunk(out: &mut Vec<u8>, chunk: &Chunk<'_>) {
    let start = out.len();
    out.extend_from_slice(chunk.room.as_bytes());
    out.extend_from_slice(&chunk.match_id.to_le_bytes());
    out.push(chunk.flags);
    out.extend_from_slice(&(chunk.bytes.len() as u32).to_le_bytes());
    out.extend_from_slice(chunk.bytes);
    let check = checksum(&out[start..]);
    out.extend_from_slice(&check);
}

/// The segment a thread appends to.
#[derive(Debug)]
pub(super) struct Segments {
    folder: PathBuf,
    thread: usize,
    number: u64,
    file: File,
    size: u64,
    /// Chunks of this tick.
    pending: Vec<u8>,
    /// Earlier segments, which can go once all rooms have begun their journals again in `file`.
    old: Vec<PathBuf>,
}

impl Segments {
    /// Begins a segment with the journals a thread takes over. `first` is higher than the number of
    /// every earlier segment.
    pub(super) fn begin<'a>(
        folder: &Path,
        thread: usize,
        first: u64,
        rooms: impl Iterator<Item = (&'a RoomId, &'a RoomJournal)>,
    ) -> io::Result<Segments> {
        let mut pending = Vec::new();
        for (room, journal) in rooms {
            let (match_id, bytes) = (journal.match_id, &journal.bytes[..]);
            put_chunk(&mut pending, &Chunk { room: *room, match_id, flags: NEW, bytes });
        }
        let (file, size) = create(&path_of(folder, first, thread), &pending)?;
        pending.clear();
        let folder = folder.to_path_buf();
        Ok(Segments { folder, thread, number: first, file, size, pending, old: Vec::new() })
    }

    /// Adds a room's records of this tick.
    pub(super) fn push(&mut self, room: RoomId, match_id: u64, is_new: bool, bytes: &[u8]) {
        let flags = if is_new { NEW } else { 0 };
        put_chunk(&mut self.pending, &Chunk { room, match_id, flags, bytes });
    }

    /// Adds that a room is closed.
    pub(super) fn close(&mut self, room: RoomId) {
        put_chunk(&mut self.pending, &Chunk { room, match_id: 0, flags: CLOSED, bytes: &[] });
    }

    /// Writes what was added, with one system call. Returns the number of bytes.
    pub(super) fn write(&mut self) -> io::Result<usize> {
        let bytes = self.pending.len();
        if bytes > 0 {
            self.file.write_all(&self.pending)?;
            self.size += bytes as u64;
            self.pending.clear();
        }
        // All rooms have begun again by now.
        self.old.drain(..).for_each(|path| _ = fs::remove_file(path));
        Ok(bytes)
    }

    pub(super) const fn is_full(&self) -> bool {
        self.size >= SEGMENT_BYTES
    }

    /// Begins another segment: all rooms begin their journals again before the next write.
    pub(super) fn rotate(&mut self) -> io::Result<()> {
        self.number += 1;
        let before = path_of(&self.folder, self.number - 1, self.thread);
        let (file, size) = create(&path_of(&self.folder, self.number, self.thread), &[])?;
        (self.file, self.size) = (file, size);
        self.old.push(before);
        Ok(())
    }
}

fn path_of(folder: &Path, number: u64, thread: usize) -> PathBuf {
    folder.join(format!("{number:016}-{thread:03}.seal"))
}

/// Number of a segment from its name.
pub(super) fn number_of(path: &Path) -> u64 {
    let name = path.file_stem().and_then(|name| name.to_str()).unwrap_or_default();
    name.split('-').next().and_then(|number| number.parse().ok()).unwrap_or(0)
}

/// Creates a segment with this content, whole or not at all.
fn create(path: &Path, content: &[u8]) -> io::Result<(File, u64)> {
    let new = path.with_extension("new");
    let mut file = File::create(&new)?;
    file.write_all(&MAGIC)?;
    file.write_all(content)?;
    fs::rename(&new, path)?;
    let file = OpenOptions::new().append(true).open(path)?;
    Ok((file, (MAGIC.len() + content.len()) as u64))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("gaggle-segments-{name}-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    fn room(number: u8) -> RoomId {
        RoomId::from_bytes([number; 16])
    }

    /// A segment with two rooms, of which one closes.
    fn written(folder: &Path) -> Vec<u8> {
        let mut segments = Segments::begin(folder, 0, 1, std::iter::empty()).unwrap();
        segments.push(room(1), 7, true, b"head");
        segments.push(room(2), 8, true, b"other");
        segments.write().unwrap();
        segments.push(room(1), 7, false, b" and more");
        segments.close(room(2));
        segments.write().unwrap();
        fs::read(path_of(folder, 1, 0)).unwrap()
    }

    #[test]
    fn records_of_rooms_are_told_apart_and_closed_rooms_dropped() {
        let folder = folder("apart");
        written(&folder);
        let recovered = recover(&folder).unwrap();
        let whole = RoomJournal { match_id: 7, bytes: b"head and more".to_vec() };
        assert_eq!(recovered.rooms, BTreeMap::from([(room(1), whole.clone())]));
        assert!(recovered.damaged.is_empty());
        // The next process takes it over in a segment of its own.
        Segments::begin(&folder, 0, 2, recovered.rooms.iter()).unwrap();
        recovered.paths.iter().for_each(|path| fs::remove_file(path).unwrap());
        let again = recover(&folder).unwrap();
        assert_eq!(again.rooms, BTreeMap::from([(room(1), whole)]));
        assert_eq!(number_of(&again.paths[0]), 2);
        let _ = fs::remove_dir_all(&folder);
    }

    #[test]
    fn cut_segment_is_read_up_to_last_whole_chunk() {
        let folder = folder("cut");
        let bytes = written(&folder);
        for cut in 0..bytes.len() {
            let mut rooms = BTreeMap::new();
            let damage = read_segment(&bytes[..cut], &mut rooms);
            let read = rooms.get(&room(1)).map_or(&[][..], |journal| &journal.bytes);
            assert!(b"head and more".starts_with(read), "cut at {cut}");
            assert!(damage.is_none_or(|at| at <= cut));
        }
        let _ = fs::remove_dir_all(&folder);
    }

    #[test]
    fn damaged_or_foreign_segment_is_reported() {
        let folder = folder("damaged");
        let bytes = written(&folder);
        for at in MAGIC.len()..bytes.len() {
            let mut damaged = bytes.clone();
            damaged[at] ^= 0x40;
            let found = read_segment(&damaged, &mut BTreeMap::new());
            assert!(found.is_some_and(|found| found <= at), "byte {at}");
        }
        let mut other = bytes.clone();
        other[7] = 9;
        fs::write(path_of(&folder, 1, 0), other).unwrap();
        let recovered = recover(&folder).unwrap();
        assert_eq!(recovered.damaged, [(path_of(&folder, 1, 0), 0)]);
        assert!(recovered.rooms.is_empty());
        let _ = fs::remove_dir_all(&folder);
    }

    #[test]
    fn old_segment_goes_after_every_room_began_again() {
        let folder = folder("rotate");
        let mut segments = Segments::begin(&folder, 0, 1, std::iter::empty()).unwrap();
        segments.push(room(1), 7, true, b"long");
        segments.write().unwrap();
        segments.rotate().unwrap();
        assert!(path_of(&folder, 1, 0).exists(), "it still holds the only journal");
        segments.push(room(1), 7, true, b"short");
        segments.write().unwrap();
        assert!(!path_of(&folder, 1, 0).exists());
        let journal = RoomJournal { match_id: 7, bytes: b"short".to_vec() };
        assert_eq!(recover(&folder).unwrap().rooms, BTreeMap::from([(room(1), journal)]));
        let _ = fs::remove_dir_all(&folder);
    }
}
