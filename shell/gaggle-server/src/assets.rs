//! Files served under `/`, from a folder or another source such as a page built into the binary.
//!
//! `http.rs` calls it. Finding a file reads its name, length and age; `body.rs` reads its content
//! piece by piece. Absent: sending, caching in memory.

use std::collections::BTreeMap;
use std::fmt;
use std::fs::Metadata;
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{SystemTime, UNIX_EPOCH};

use bytes::Bytes;

use crate::page_policy::inline_scripts;

/// Longest page whose scripts are hashed. A longer one gets a policy without inline scripts.
const PAGE_BYTES_MAX: u64 = 1 << 20;
/// Pages whose script hashes are cached.
const PAGES_MAX: usize = 256;

/// A file to be served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asset {
    /// Its bytes, or the file to read them from.
    pub content: Content,
    /// MIME type such as `text/html; charset=utf-8`.
    pub content_type: &'static str,
    /// Compression such as `gzip`; only for clients that accept it.
    pub encoding: Option<&'static str>,
    /// Changes whenever the bytes change; for caches.
    pub etag: Option<String>,
    /// Hashes of the inline scripts of a page (see [`inline_scripts`]): browsers run no others.
    pub scripts: Arc<[String]>,
}

/// Bytes of a file, or the file to read them from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// In memory, shared by all requests.
    Bytes(Bytes),
    /// On disk: read piece by piece while it is sent.
    File {
        /// Path of the file.
        path: PathBuf,
        /// Bytes to send.
        length: u64,
    },
}

impl Content {
    /// Total length in bytes.
    pub fn length(&self) -> u64 {
        match self {
            Content::Bytes(bytes) => bytes.len() as u64,
            Content::File { length, .. } => *length,
        }
    }
}

/// Compressions a client accepts.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Accepts {
    /// Brotli, as `br`.
    pub brotli: bool,
    /// Gzip, as `gzip`.
    pub gzip: bool,
}

impl Accepts {
    /// Reads the header `Accept-Encoding`.
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

/// Source of files.
pub trait Assets: fmt::Debug + Send + Sync {
    /// File at this path, which begins with `/`.
    fn get(&self, path: &str, accepts: Accepts) -> Option<Asset>;

    /// Whether `get` may wait for a disk. It is then called on a thread of its own.
    fn may_wait(&self) -> bool {
        true
    }
}

/// A source without files.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoAssets;

impl Assets for NoAssets {
    fn get(&self, _path: &str, _accepts: Accepts) -> Option<Asset> {
        None
    }

    fn may_wait(&self) -> bool {
        false
    }
}

/// Files of a folder, read at each request. If `page.js.br` or `page.js.gz` exists beside `page.js`
/// and is not older, clients that accept it get it instead. Links that lead out of the folder are
/// ignored.
#[derive(Debug)]
pub struct Folder {
    root: PathBuf,
    /// Script hashes of pages, valid until a page changes.
    pages: Mutex<BTreeMap<PathBuf, Scripts>>,
}

/// Stamp of a page, and its script hashes.
type Scripts = (Stamp, Arc<[String]>);

/// Properties that change when a file does.
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
    /// Serves the files of this folder.
    pub fn new(path: impl Into<PathBuf>) -> Folder {
        Folder { root: path.into(), pages: Mutex::default() }
    }

    /// Finds a file, or its compressed form.
    fn find(&self, path: &str, accepts: Accepts) -> Option<Found> {
        let relative = Path::new(path.trim_start_matches('/'));
        // Nothing outside the folder, and no hidden files.
        let is_inside = relative.components().all(|part| match part {
            Component::Normal(name) => !name.to_string_lossy().starts_with('.'),
            _ => false,
        });
        if !is_inside || path.contains('\\') || path.contains('\0') {
            return None;
        }
        let root = self.root.canonicalize().ok()?;
        let mut file = root.join(relative);
        if file.is_dir() {
            file.push("index.html");
        }
        let (plain, stamp) = inside(&root, &file)?;
        let packed = [(accepts.brotli, ".br", "br"), (accepts.gzip, ".gz", "gzip")];
        for (_, ending, encoding) in packed.into_iter().filter(|(accepted, ..)| *accepted) {
            let mut name = file.clone().into_os_string();
            name.push(ending);
            let packed = inside(&root, Path::new(&name));
            if let Some((source, packed)) = packed.filter(|(_, packed)| packed.modified >= stamp.modified) {
                return Some(Found { file, plain, stamp, source, sent: packed, encoding: Some(encoding) });
            }
        }
        Some(Found { file, source: plain.clone(), plain, stamp, sent: stamp, encoding: None })
    }

    /// Script hashes of a page.
    fn scripts(&self, page: &Path, stamp: Stamp) -> Arc<[String]> {
        if let Ok(pages) = self.pages.lock()
            && let Some((_, scripts)) = pages.get(page).filter(|(known, _)| *known == stamp)
        {
            return scripts.clone();
        }
        let text =
            Some(page).filter(|_| stamp.length <= PAGE_BYTES_MAX).and_then(|page| std::fs::read(page).ok());
        let scripts: Arc<[String]> = inline_scripts(&text.unwrap_or_default()).into();
        if let Ok(mut pages) = self.pages.lock() {
            if pages.len() >= PAGES_MAX {
                pages.clear();
            }
            pages.insert(page.into(), (stamp, scripts.clone()));
        }
        scripts
    }
}

/// A file that exists.
struct Found {
    /// Path as requested.
    file: PathBuf,
    /// Path without compression, which determines the type.
    plain: PathBuf,
    stamp: Stamp,
    /// Path that is sent.
    source: PathBuf,
    sent: Stamp,
    encoding: Option<&'static str>,
}

/// Path of a file after resolving links, if it is inside the folder.
fn inside(root: &Path, file: &Path) -> Option<(PathBuf, Stamp)> {
    let real = file.canonicalize().ok().filter(|real| real.starts_with(root))?;
    let stamp = Stamp::of(&real.metadata().ok().filter(Metadata::is_file)?);
    Some((real, stamp))
}

impl Assets for Folder {
    fn get(&self, path: &str, accepts: Accepts) -> Option<Asset> {
        let Found { file, plain, stamp, source, sent, encoding } = self.find(path, accepts)?;
        let content_type = content_type(&file);
        let scripts = if is_page(content_type) { self.scripts(&plain, stamp) } else { Arc::default() };
        let content = Content::File { path: source, length: sent.length };
        Some(Asset { content, content_type, encoding, etag: Some(sent.etag()), scripts })
    }
}

/// Whether browsers display this type and run its scripts.
pub(crate) fn is_page(content_type: &str) -> bool {
    content_type.starts_with("text/html") || content_type == "image/svg+xml"
}

/// MIME type of a file, by its extension.
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
    fn folder_serves_its_files_and_nothing_else() {
        let root = folder("inside");
        std::fs::create_dir_all(root.join("site/sub")).unwrap();
        std::fs::write(root.join("secret.txt"), "secret").unwrap();
        std::fs::write(root.join("site/index.html"), "hello").unwrap();
        std::fs::write(root.join("site/.hidden"), "hidden").unwrap();
        std::fs::write(root.join("site/sub/a.wasm"), "wasm").unwrap();
        let folder = Folder::new(root.join("site"));
        let get = |path: &str| folder.get(path, NOTHING).map(|asset| (read(&asset), asset.content_type));
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
    fn changed_file_is_read_again_and_stale_packed_one_ignored() {
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
            (String::from_utf8(read(&asset)).unwrap(), asset.encoding, asset.etag.unwrap())
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
        assert_eq!(
            (get(both).0.as_str(), get(both).1),
            ("two", None),
            "the compressed files are a \
         day old"
        );
        assert_ne!(get(both).2, first.2);
        std::fs::remove_dir_all(root).unwrap();
    }

    #[test]
    fn accept_encoding_is_read_as_browsers_write_it() {
        assert_eq!(Accepts::read("gzip, deflate, br, zstd"), Accepts { brotli: true, gzip: true });
        assert_eq!(Accepts::read("br;q=0, GZIP;q=0.5"), Accepts { brotli: false, gzip: true });
        assert_eq!(Accepts::read("bread"), NOTHING);
        assert_eq!(Accepts::read(""), NOTHING);
    }

    #[test]
    fn scripts_of_page_are_those_it_has_now() {
        let root = folder("scripts");
        std::fs::create_dir_all(&root).unwrap();
        let served = Folder::new(&root);
        let scripts = |seconds: u64, text: &str| {
            let file = std::fs::File::create(root.join("index.html")).unwrap();
            std::io::Write::write_all(&mut &file, text.as_bytes()).unwrap();
            file.set_modified(UNIX_EPOCH + std::time::Duration::from_secs(1_000 + seconds)).unwrap();
            served.get("/", NOTHING).unwrap().scripts
        };
        let first = scripts(0, "<script>one()</script>");
        assert_eq!(first.len(), 1);
        assert_eq!(scripts(1, "<p><script>one()</script>"), first);
        assert_ne!(scripts(2, "<script>two()</script>"), first);
        assert!(scripts(3, "<p>").is_empty());
        std::fs::remove_dir_all(root).unwrap();
    }

    fn read(asset: &Asset) -> Vec<u8> {
        match &asset.content {
            Content::Bytes(bytes) => bytes.to_vec(),
            Content::File { path, length } => {
                let bytes = std::fs::read(path).unwrap();
                assert_eq!(bytes.len() as u64, *length);
                bytes
            }
        }
    }

    fn folder(name: &str) -> PathBuf {
        std::env::temp_dir().join(format!("gaggle-assets-{name}-{}", std::process::id()))
    }
}
