//! Files served under `/`: from a folder, or whatever else has them, such as a page built into the binary.

use std::borrow::Cow;
use std::fmt;
use std::path::{Component, Path, PathBuf};

/// A file to be served.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Asset {
    /// What is in it.
    pub bytes: Cow<'static, [u8]>,
    /// What it is, as `text/html; charset=utf-8`.
    pub content_type: &'static str,
    /// How it is compressed, as `gzip`; only for clients that accept it.
    pub encoding: Option<&'static str>,
    /// Changes when the bytes change: for caches.
    pub etag: Option<String>,
}

/// Where files come from.
pub trait Assets: fmt::Debug + Send + Sync {
    /// The file at this path, which begins with `/`. `accepts_gzip` says whether it may be compressed.
    fn get(&self, path: &str, accepts_gzip: bool) -> Option<Asset>;
}

/// No files.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoAssets;

impl Assets for NoAssets {
    fn get(&self, _path: &str, _accepts_gzip: bool) -> Option<Asset> {
        None
    }
}

/// The files in a folder, as they are when they are asked for.
#[derive(Debug, Clone)]
pub struct Folder(PathBuf);

impl Folder {
    /// The files in this folder.
    pub fn new(path: impl Into<PathBuf>) -> Folder {
        Folder(path.into())
    }
}

impl Assets for Folder {
    fn get(&self, path: &str, _accepts_gzip: bool) -> Option<Asset> {
        let relative = Path::new(path.trim_start_matches('/'));
        // Nothing outside the folder, and nothing hidden.
        let is_inside = relative.components().all(|part| match part {
            Component::Normal(name) => !name.to_string_lossy().starts_with('.'),
            _ => false,
        });
        if !is_inside || path.contains('\\') {
            return None;
        }
        let mut file = self.0.join(relative);
        if file.is_dir() {
            file.push("index.html");
        }
        let bytes = std::fs::read(&file).ok()?;
        Some(Asset { bytes: bytes.into(), content_type: content_type(&file), encoding: None, etag: None })
    }
}

/// What a file is, by its ending.
pub fn content_type(path: &Path) -> &'static str {
    match path.extension().and_then(|ending| ending.to_str()).unwrap_or_default() {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript; charset=utf-8",
        "css" => "text/css; charset=utf-8",
        "json" => "application/json",
        "wasm" => "application/wasm",
        "png" => "image/png",
        "jpg" | "jpeg" => "image/jpeg",
        "svg" => "image/svg+xml",
        "ico" => "image/x-icon",
        "txt" | "md" => "text/plain; charset=utf-8",
        _ => "application/octet-stream",
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_serves_what_is_in_it_and_nothing_else() {
        let root = std::env::temp_dir().join(format!("gaggle-assets-{}", std::process::id()));
        std::fs::create_dir_all(root.join("site/sub")).unwrap();
        std::fs::write(root.join("secret.txt"), "secret").unwrap();
        std::fs::write(root.join("site/index.html"), "hello").unwrap();
        std::fs::write(root.join("site/.hidden"), "hidden").unwrap();
        std::fs::write(root.join("site/sub/a.wasm"), "wasm").unwrap();
        let folder = Folder::new(root.join("site"));
        let get =
            |path: &str| folder.get(path, false).map(|asset| (asset.bytes.to_vec(), asset.content_type));
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
        ] {
            assert_eq!(get(outside), None, "{outside}");
        }
        std::fs::remove_dir_all(root).unwrap();
    }
}
