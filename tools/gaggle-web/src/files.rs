//! HTTP server of a folder and some generated texts, for pages under test.
//!
//! Started by browser tests. Absent: the lobby.

use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::net::{IpAddr, TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// A server on a free local port, until the process ends.
#[derive(Debug)]
pub struct FileServer {
    port: u16,
}

impl FileServer {
    /// Serves the files of `directory`; `texts` by their names (`index.html`, …) take precedence.
    ///
    /// # Errors
    /// If there is no free port.
    pub fn start(directory: &Path, texts: &[(&str, &str)]) -> Result<FileServer, String> {
        FileServer::on([127, 0, 0, 1].into(), 0, directory, texts)
    }

    /// Serves on a given address and port; port 0 takes a free one.
    ///
    /// # Errors
    /// If the port is taken.
    pub fn on(
        address: IpAddr,
        port: u16,
        directory: &Path,
        texts: &[(&str, &str)],
    ) -> Result<FileServer, String> {
        let listener = TcpListener::bind((address, port)).map_err(|error| error.to_string())?;
        let port = listener.local_addr().map_err(|error| error.to_string())?.port();
        let texts: BTreeMap<String, String> =
            texts.iter().map(|(name, text)| ((*name).to_string(), (*text).to_string())).collect();
        let (directory, texts) = (directory.to_path_buf(), Arc::new(texts));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (directory, texts) = (directory.clone(), Arc::clone(&texts));
                std::thread::spawn(move || answer(stream, &directory, &texts));
            }
        });
        Ok(FileServer { port })
    }

    /// Address of a file.
    pub fn url(&self, name: &str) -> String {
        format!("http://127.0.0.1:{}/{name}", self.port)
    }
}

fn answer(mut stream: TcpStream, directory: &Path, texts: &BTreeMap<String, String>) -> Option<()> {
    let mut request = [0; 4096];
    let length = stream.read(&mut request).ok()?;
    let request = String::from_utf8_lossy(&request[..length]);
    let path = request.split(' ').nth(1)?.split('?').next()?.trim_start_matches('/');
    let path = if path.is_empty() { "index.html" } else { path };
    let body = match texts.get(path) {
        Some(text) => Some(text.clone().into_bytes()),
        // Paths with `..` would leave the folder.
        None if path.split('/').all(|part| part != "..") => {
            std::fs::read::<PathBuf>(directory.join(path)).ok()
        }
        None => None,
    };
    let kind = match path.rsplit('.').next()? {
        "html" => "text/html; charset=utf-8",
        "js" => "text/javascript",
        "css" => "text/css",
        "png" => "image/png",
        "webmanifest" => "application/manifest+json",
        "wasm" => "application/wasm",
        _ => "application/octet-stream",
    };
    let (status, body) = body.map_or(("404 Not Found", Vec::new()), |body| ("200 OK", body));
    let head = format!(
        "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\nConnection: close\r\n\r\n",
        body.len()
    );
    stream.write_all(head.as_bytes()).ok()?;
    stream.write_all(&body).ok()
}
