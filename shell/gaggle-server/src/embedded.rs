//! A page that is part of the binary, so that a single file is deployed.
//!
//! `main.rs` uses it. Absent: how pages are built (`build.rs`).

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use bytes::Bytes;
use gaggle_kit::StateHasher;

use crate::assets::{Accepts, Asset, Assets, Content, content_type, is_page};
use crate::page_policy::inline_scripts;

/// Page served at `/` by a binary without one.
const NO_PAGE: &[u8] = b"<!doctype html><meta charset=utf-8><title>gaggle-server</title>\
<p>This server lets players find each other at <code>/lobby</code>. It was built without a page: \
<code>cargo xtask play</code> shows one, <code>cargo xtask server</code> builds a server that has it.";

/// Embedded files by path, which begins with `/`. If `/page.js.br` or `/page.js.gz` exists beside
/// `/page.js`, clients that accept it get it.
#[derive(Debug)]
pub struct Embedded {
    files: BTreeMap<&'static str, File>,
}

#[derive(Debug)]
struct File {
    bytes: &'static [u8],
    etag: String,
    scripts: Arc<[String]>,
}

impl Embedded {
    /// Serves these files; without any, a page that explains why.
    pub fn new(files: &'static [(&'static str, &'static [u8])]) -> Embedded {
        let files = if files.is_empty() { &[("/index.html", NO_PAGE)] } else { files };
        let file = |(name, bytes): &(&'static str, &'static [u8])| {
            let is_page = is_page(content_type(Path::new(name)));
            let scripts = if is_page { inline_scripts(bytes).into() } else { Arc::default() };
            (*name, File { bytes, etag: tag(bytes), scripts })
        };
        Embedded { files: files.iter().map(file).collect() }
    }
}

impl Assets for Embedded {
    fn get(&self, path: &str, accepts: Accepts) -> Option<Asset> {
        let name = if path.ends_with('/') { format!("{path}index.html") } else { path.to_string() };
        let plain = self.files.get(name.as_str())?;
        let packed = [(accepts.brotli, "br", "br"), (accepts.gzip, "gz", "gzip")].into_iter().find_map(
            |(accepted, ending, encoding)| {
                let found = self.files.get(format!("{name}.{ending}").as_str()).filter(|_| accepted);
                found.map(|found| (found, Some(encoding)))
            },
        );
        let (sent, encoding) = packed.unwrap_or((plain, None));
        Some(Asset {
            content: Content::Bytes(Bytes::from_static(sent.bytes)),
            content_type: content_type(Path::new(&name)),
            encoding,
            etag: Some(sent.etag.clone()),
            scripts: plain.scripts.clone(),
        })
    }

    fn may_wait(&self) -> bool {
        false
    }
}

/// Changes whenever the bytes change.
fn tag(bytes: &[u8]) -> String {
    format!("{:016x}", StateHasher::of(bytes))
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILES: &[(&str, &[u8])] = &[
        ("/index.html", b"page"),
        ("/page.wasm", b"module"),
        ("/page.wasm.br", b"packed"),
        ("/sub/index.html", b"below"),
    ];

    #[test]
    fn embedded_files_are_served_compressed_if_accepted() {
        let page = Embedded::new(FILES);
        let get = |path: &str, brotli| {
            let asset = page.get(path, Accepts { brotli, gzip: true })?;
            Some((bytes(&asset), asset.content_type, asset.encoding))
        };
        assert_eq!(get("/", true), Some((b"page".to_vec(), "text/html; charset=utf-8", None)));
        assert_eq!(get("/sub/", true).map(|found| found.0), Some(b"below".to_vec()));
        assert_eq!(get("/page.wasm", true), Some((b"packed".to_vec(), "application/wasm", Some("br"))));
        assert_eq!(get("/page.wasm", false), Some((b"module".to_vec(), "application/wasm", None)));
        assert_eq!(get("/nothing", true), None);
        let tag = |path| page.get(path, Accepts::default()).and_then(|asset| asset.etag);
        assert_ne!(tag("/"), tag("/page.wasm"));
    }

    #[test]
    fn binary_without_page_says_so() {
        let said = Embedded::new(&[]).get("/", Accepts::default()).unwrap();
        assert!(String::from_utf8(bytes(&said)).unwrap().contains("cargo xtask play"));
    }

    fn bytes(asset: &Asset) -> Vec<u8> {
        match &asset.content {
            Content::Bytes(bytes) => bytes.to_vec(),
            Content::File { .. } => panic!("it is in memory"),
        }
    }
}
