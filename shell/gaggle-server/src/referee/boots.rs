//! Number of the last start of each room's referee, in a small file per room.
//!
//! Referee threads take one before they start a room. Absent: rooms, journals, other nodes.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime};

use gaggle_lobby::RoomId;

/// Age from which a file belongs to a room that is gone.
const KEPT: Duration = Duration::from_secs(24 * 3_600);

#[derive(Debug)]
pub(super) struct Boots {
    folder: PathBuf,
}

impl Boots {
    /// Opens the folder, and removes files of rooms that are long gone.
    pub(super) fn open(folder: &Path) -> io::Result<Boots> {
        fs::create_dir_all(folder)?;
        let now = SystemTime::now();
        for entry in fs::read_dir(folder)?.flatten() {
            let changed = entry.metadata().and_then(|data| data.modified());
            if changed.is_ok_and(|at| now.duration_since(at).is_ok_and(|age| age > KEPT)) {
                let _ = fs::remove_file(entry.path());
            }
        }
        Ok(Boots { folder: folder.to_path_buf() })
    }

    fn path(&self, room: RoomId) -> PathBuf {
        self.folder.join(room.to_string())
    }

    /// The next number of a room, from 1. It is on disk before it is returned: with one number for
    /// two starts, clients would take frames of both.
    pub(super) fn take(&self, room: RoomId) -> io::Result<u32> {
        let path = self.path(room);
        let last = match fs::read_to_string(&path) {
            Ok(text) => text.trim().parse::<u32>().map_err(|_| {
                io::Error::other(format!("{} holds no number; remove it when no match runs", path.display()))
            })?,
            Err(error) if error.kind() == io::ErrorKind::NotFound => 0,
            Err(error) => return Err(error),
        };
        let next = last.checked_add(1).ok_or_else(|| io::Error::other("too many starts of one referee"))?;
        let new = path.with_extension("new");
        let mut file = File::create(&new)?;
        write!(file, "{next}")?;
        file.sync_all()?;
        fs::rename(&new, &path)?;
        File::open(&self.folder)?.sync_all()?;
        Ok(next)
    }

    /// Forgets a room that is closed for good.
    pub(super) fn forget(&self, room: RoomId) {
        let _ = fs::remove_file(self.path(room));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_rise_with_every_start_and_process() {
        let folder = std::env::temp_dir().join(format!("gaggle-boots-{}", std::process::id()));
        let _ = fs::remove_dir_all(&folder);
        let (room, other) = (RoomId::from_bytes([1; 16]), RoomId::from_bytes([2; 16]));
        let boots = Boots::open(&folder).unwrap();
        assert_eq!((boots.take(room).unwrap(), boots.take(room).unwrap()), (1, 2));
        let boots = Boots::open(&folder).unwrap();
        assert_eq!((boots.take(room).unwrap(), boots.take(other).unwrap()), (3, 1));
        boots.forget(room);
        assert_eq!(boots.take(room).unwrap(), 1);
        fs::write(boots.path(room), "many").unwrap();
        assert!(boots.take(room).is_err(), "a damaged file starts no referee twice with one number");
        let _ = fs::remove_dir_all(&folder);
    }
}
