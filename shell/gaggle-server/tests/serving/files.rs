//! Files the server sends: large ones cost other clients neither time nor memory.

use std::fs::File;
use std::io::{Read, Write};
use std::net::TcpStream;
use std::path::Path;
use std::time::{Duration, Instant};

use crate::guest::PATIENCE;
use crate::http::{ask, get};
use crate::place::Place;
use crate::process::Process;

/// Memory limit: far more than an idle server uses, far less than a copy of the served file.
const RESIDENT_KIB_MAX: u64 = 200 << 10;

/// A site with one sparse file of this length.
fn site(place: &Place, length: u64) -> std::path::PathBuf {
    let site = place.path().join("site");
    std::fs::create_dir_all(&site).unwrap();
    File::create(site.join("large.bin")).unwrap().set_len(length).unwrap();
    site
}

fn serve(place: &Place, site: &Path) -> Process {
    let (data, site) = (place.path().join("data"), site.display().to_string());
    Process::start(&data, 0, &["--threads", "1", "--files", &site])
}

/// Peak memory of a process in KiB.
fn resident_max(process: &Process) -> u64 {
    let status = std::fs::read_to_string(format!("/proc/{}/status", process.id())).unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.trim().trim_end_matches(" kB").parse().unwrap()
}

#[test]
fn head_and_not_modified_read_no_file() {
    const LENGTH: u64 = 1 << 30;
    let place = Place::new();
    let process = serve(&place, &site(&place, LENGTH));
    let request = |method: &str, more: &str| {
        let text = format!("{method} /large.bin HTTP/1.1\r\nHost: x\r\nConnection: close\r\n{more}\r\n");
        ask(process.address, &text)
    };
    let head = request("HEAD", "");
    assert_eq!((head.status, head.body.as_str()), (200, ""));
    assert_eq!(head.header("content-length"), Some(LENGTH.to_string().as_str()), "{head:?}");
    let etag = head.header("etag").unwrap().to_string();
    let known = request("GET", &format!("If-None-Match: {etag}\r\n"));
    assert_eq!((known.status, known.body.as_str()), (304, ""));
    let most = resident_max(&process);
    assert!(most < RESIDENT_KIB_MAX, "{most} KiB without sending the file");
}

#[test]
fn slow_readers_of_large_file_hold_no_copy_each() {
    let place = Place::new();
    let process = serve(&place, &site(&place, 32 << 20));
    let mut readers: Vec<TcpStream> = (0..40)
        .map(|_| {
            let mut stream = TcpStream::connect(process.address).unwrap();
            stream.set_read_timeout(Some(PATIENCE)).unwrap();
            stream.write_all(b"GET /large.bin HTTP/1.1\r\nHost: x\r\n\r\n").unwrap();
            stream
        })
        .collect();
    for reader in &mut readers {
        let mut start = [0; 12];
        reader.read_exact(&mut start).unwrap();
        assert_eq!(&start, b"HTTP/1.1 200");
    }
    let asked = Instant::now();
    assert_eq!(get(process.address, "/health", "").0, 200);
    assert!(asked.elapsed() < Duration::from_secs(5), "{:?}", asked.elapsed());
    let most = resident_max(&process);
    assert!(most < RESIDENT_KIB_MAX, "{most} KiB for {} clients that read nothing", readers.len());
}

#[test]
fn streamed_file_arrives_whole() {
    let place = Place::new();
    let site = site(&place, 0);
    let bytes: Vec<u8> = (0..3_000_000_u32).flat_map(|n| (n / 3).to_le_bytes()).collect();
    std::fs::write(site.join("large.bin"), &bytes).unwrap();
    let process = serve(&place, &site);
    let mut stream = TcpStream::connect(process.address).unwrap();
    stream.set_read_timeout(Some(PATIENCE)).unwrap();
    // Twice over one connection: the end of the first is found.
    stream.write_all(&b"GET /large.bin HTTP/1.1\r\nHost: x\r\n\r\n".repeat(2)).unwrap();
    for _ in 0..2 {
        let mut head = Vec::new();
        while !head.ends_with(b"\r\n\r\n") {
            let mut byte = [0];
            stream.read_exact(&mut byte).unwrap();
            head.push(byte[0]);
        }
        let mut body = vec![0; bytes.len()];
        stream.read_exact(&mut body).unwrap();
        assert!(body == bytes, "received bytes differ from the file");
    }
}

#[test]
fn link_out_of_folder_is_not_served() {
    let place = Place::new();
    let site = site(&place, 10);
    std::fs::write(place.path().join("secret.txt"), "secret").unwrap();
    std::os::unix::fs::symlink(place.path().join("secret.txt"), site.join("out.txt")).unwrap();
    std::os::unix::fs::symlink(place.path(), site.join("up")).unwrap();
    std::os::unix::fs::symlink("large.bin", site.join("inside.bin")).unwrap();
    let process = serve(&place, &site);
    assert_eq!(get(process.address, "/out.txt", "").0, 404);
    assert_eq!(get(process.address, "/up/secret.txt", "").0, 404);
    assert_eq!(get(process.address, "/inside.bin", "").0, 200);
}
