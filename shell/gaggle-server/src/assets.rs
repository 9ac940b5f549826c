//! Files served under `/`: from a folder, or whatever else has them, such as a page built into the binary.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::Metadata;
use std::path::{Component, Path, PathBuf};
use std::sync::Mutex;
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;

/// What is remembered of a folder's files, so that pages are not read from disk for every visitor.
const REMEMBERED_BYTES_MAX: usize = 64 << 20;
/// Longer files are read each time.
const REMEMBERED_FILE_MAX: usize = 16 << 20;

/// A file to be served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asset {
    /// What is in it.
    pub bytes: Bytes,
    /// What it is, as `text/html; charset=utf-8`.
    pub content_type: &'static str,
    /// How it is compressed, as `gzip`; only for clients that accept it.
    pub encoding: Option<&'static str>,
    /// Changes when the bytes change: for caches.
    pub etag: Option<String>,
}

/// What a client can unpack.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Accepts {
    /// Brotli.
    pub brotli: bool,
    /// gzip.
    pub gzip: bool,
}

impl Accepts {
    /// From the header `Accept-Encoding`.
    pub fn read(header: &str) -> Accepts {
        let has = |wanted: &str| {
            header.split(',').any(|part| {
                let (name, quality) = part.split_once(';').unwrap_or((part, ""));
                let is_refused = matches!(quality.trim(), "q=0" | "q=0.0" | "q=0.00" | "q=0.000");
                name.trim().eq_ignore_ascii_case(wanted) && !is_refused
            })
        };
        Accepts { brotli: has("br"), gzip: has("gzip") }
    }
}

/// Where files come from.
pub trait Assets: fmt::Debug + Send + Sync {
    /// The file at this path, which begins with `/`.
    fn get(&self, path: &str, accepts: Accepts) -> Option<Asset>;
}

/// No files.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoAssets;

impl Assets for NoAssets {
    fn get(&self, _path: &str, _accepts: Accepts) -> Option<Asset> {
        None
    }
}

/// The files in a folder, as they are when they are asked for. Where `page.js.br` or `page.js.gz` lies beside
/// `page.js` and is not older, it is sent instead to who can unpack it.
#[derive(Debug)]
pub struct Folder {
    root: PathBuf,
    remembered: Mutex<Remembered>,
}

#[derive(Debug, Default)]
struct Remembered {
    files: BTreeMap<PathBuf, (Stamp, Bytes)>,
    total: usize,
}

/// What changes when a file does.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Stamp {
    modified: SystemTime,
    length: u64,
}

impl Stamp {
    fn of(metadata: &Metadata) -> Stamp {
        Stamp { modified: metadata.modified().unwrap_or(UNIX_EPOCH), length: metadata.len() }
    }

    fn etag(self) -> String {
        let nanos = self.modified.duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        format!("{:x}-{nanos:x}", self.length)
    }
}

impl Folder {
    /// The files in this folder.
    pub fn new(path: impl Into<PathBuf>) -> Folder {
        Folder { root: path.into(), remembered: Mutex::default() }
    }

    /// The file or its packed form.
    fn find(&self, path: &str, accepts: Accepts) -> Option<(PathBuf, PathBuf, Stamp, Option<&'static str>)> {
        let relative = Path::new(path.trim_start_matches('/'));
        // Nothing outside the folder, and nothing hidden.
        let is_inside = relative.components().all(|part| match part {
            Component::Normal(name) => !name.to_string_lossy().starts_with('.'),
            _ => false,
        });
        if !is_inside || path.contains('\\') || path.contains('\0') {
            return None;
        }
        let mut file = self.root.join(relative);
        if file.is_dir() {
            file.push("index.html");
        }
        let plain = Stamp::of(&file.metadata().ok().filter(Metadata::is_file)?);
        let packed = [(accepts.brotli, ".br", "br"), (accepts.gzip, ".gz", "gzip")];
        for (_, ending, encoding) in packed.into_iter().filter(|(accepted, ..)| *accepted) {
            let mut name = file.clone().into_os_string();
            name.push(ending);
            let stamp = std::fs::metadata(&name).ok().map(|metadata| Stamp::of(&metadata));
            if let Some(stamp) = stamp.filter(|stamp| stamp.modified >= plain.modified) {
                return Some((file, name.into(), stamp, Some(encoding)));
            }
        }
        Some((file.clone(), file, plain, None))
    }

    fn read(&self, path: PathBuf, stamp: Stamp) -> Option<Bytes> {
        {
            let remembered = self.remembered.lock().ok()?;
            if let Some((_, bytes)) = remembered.files.get(&path).filter(|(known, _)| *known == stamp) {
                return Some(bytes.clone());
            }
        }
        let bytes = Bytes::from(std::fs::read(&path).ok()?);
        if bytes.len() <= REMEMBERED_FILE_MAX {
            let mut remembered = self.remembered.lock().ok()?;
            if remembered.total + bytes.len() > REMEMBERED_BYTES_MAX {
                *remembered = Remembered::default();
            }
            remembered.total += bytes.len();
            if let Some((_, before)) = remembered.files.insert(path, (stamp, bytes.clone())) {
                remembered.total -= before.len();
            }
        }
        Some(bytes)
    }
}

impl Assets for Folder {
    fn get(&self, path: &str, accepts: Accepts) -> Option<Asset> {
        let (file, source, stamp, encoding) = self.find(path, accepts)?;
        let bytes = self.read(source, stamp)?;
        Some(Asset { bytes, content_type: content_type(&file), encoding, etag: Some(stamp.etag()) })
    }
}

/// What a file is, by its ending.
pub fn content_type(path: &Path) -> &'static str {
    match path.extension().and_then(|ending| ending.to_str()).unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" | "mjs" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" | "map" => "application/json",
        "webmanifest" => "application/manifest+json",
        "wasm" => "application/wasm",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "webp" => "image/webp",
        "svg" => "image/svg+xml",
        "ico" => "image/x-icon",
        "woff2" => "font/woff2",
        "ogg" => "audio/ogg",
        "mp3" => "audio/mpeg",
        "wav" => "audio/wav",
        "txt" | "md" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NOTHING: Accepts = Accepts { brotli: false, gzip: false };

    #[test]
    fn a_folder_serves_what_is_in_it_and_nothing_else() {
        let root = folder("inside");
        std::fs::create_dir_all(root.join("site/sub")).unwrap();
        std::fs::write(root.join("secret.txt"), "secret").unwrap();
        std::fs::write(root.join("site/index.html"), "hello").unwrap();
        std::fs::write(root.join("site/.hidden"), "hidden").unwrap();
        std::fs::write(root.join("site/sub/a.wasm"), "wasm").unwrap();
        let folder = Folder::new(root.join("site"));
        let get =
            |path: &str| folder.get(path, NOTHING).map(|asset| (asset.bytes.to_vec(), asset.content_type));
        assert_eq!(get("/"), Some((b"hello".to_vec(), "text/html; charset=utf-8")));
        assert_eq!(get("/sub/a.wasm"), Some((b"wasm".to_vec(), "application/wasm")));
        for outside in [
            "/../secret.txt",
            "/sub/../../secret.txt",
            "/.hidden",
            "/nothing",
            "/sub",
            "//etc/passwd",
            "/..\\secret.txt",
            "/index.html\0.png",
        ] {
            assert_eq!(get(outside), None, "{outside}");
        }
        std::fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn a_changed_file_is_read_again_and_packed_ones_are_sent_unless_they_are_old() {
        let root = folder("packed");
        std::fs::create_dir_all(&root).unwrap();
        let write = |name: &str, text: &str, seconds: u64| {
            let file = std::fs::File::create(root.join(name)).unwrap();
            std::io::Write::write_all(&mut &file, text.as_bytes()).unwrap();
            file.set_modified(UNIX_EPOCH + std::time::Duration::from_secs(1_000 + seconds)).unwrap();
        };
        let folder = Folder::new(&root);
        let get = |accepts| {
            let asset = folder.get("/a.js", accepts).unwrap();
            assert_eq!(asset.content_type, "text/javascript; charset=utf-8");
            (String::from_utf8(asset.bytes.to_vec()).unwrap(), asset.encoding, asset.etag.unwrap())
        };
        let both = Accepts { brotli: true, gzip: true };
        write("a.js", "one", 0);
        let first = get(both);
        assert_eq!((first.0.as_str(), first.1), ("one", None));
        assert_eq!(get(both), first);
        write("a.js.br", "br", 0);
        write("a.js.gz", "gz", 0);
        assert_eq!((get(both).0.as_str(), get(both).1), ("br", Some("br")));
        assert_eq!(get(Accepts { brotli: false, gzip: true }).1, Some("gzip"));
        assert_eq!(get(NOTHING), first);
        write("a.js", "two", 1);
        assert_eq!((get(both).0.as_str(), get(both).1), ("two", None), "the packed ones are of yesterday");
        assert_ne!(get(both).2, first.2);
        std::fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn what_a_client_accepts_is_read_as_browsers_write_it() {
        assert_eq!(Accepts::read("gzip, deflate, br, zstd"), Accepts { brotli: true, gzip: true });
        assert_eq!(Accepts::read("br;q=0, GZIP;q=0.5"), Accepts { brotli: false, gzip: true });
        assert_eq!(Accepts::read("bread"), NOTHING);
        assert_eq!(Accepts::read(""), NOTHING);
    }

    fn folder(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("gaggle-assets-{name}-{}", std::process::id()))
    }
}
