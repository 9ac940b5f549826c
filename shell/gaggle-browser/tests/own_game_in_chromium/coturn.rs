//! A real TURN server with a secret, and two tabs that only it connects.

use std::net::{Ipv4Addr, TcpListener, TcpStream, UdpSocket};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use gaggle_server::config::{List, Secret};
use gaggle_server::{BackgroundServer, Config};
use gaggle_web::chromium::Chromium;
use serde_json::json;

use crate::{PATIENCE, open, page_of_the_guide, press_in_second_and_see_it_in_first};

const SECRET: &str = "known to both servers";

/// A coturn that accepts only credentials derived from a secret.
struct Coturn {
    child: Child,
    port: u16,
    folder: PathBuf,
}

impl Coturn {
    fn start() -> Coturn {
        let folder = std::env::temp_dir().join(format!("gaggle-coturn-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        // Another process may take the port first.
        let tries = (0..20).map(|nth| 30_000 + ((std::process::id() + nth * 127) % 2_000) as u16);
        let is_free = |port: &u16| {
            let at = (Ipv4Addr::LOCALHOST, *port);
            TcpListener::bind(at).is_ok() && UdpSocket::bind(at).is_ok()
        };
        let mut started =
            tries.filter(is_free).filter_map(|port| Coturn::run(port, &folder).map(|child| (child, port)));
        let (child, port) = started.next().expect("turnserver starts");
        Coturn { child, port, folder }
    }

    fn run(port: u16, folder: &std::path::Path) -> Option<Child> {
        let mut child = Command::new("turnserver")
            .args(["-n", "--no-cli", "--no-tls", "--no-dtls", "--log-file", "stdout"])
            .args(["--listening-ip", "127.0.0.1", "--relay-ip", "127.0.0.1", "--allow-loopback-peers"])
            .args(["--listening-port", &port.to_string(), "--realm", "gaggle", "--relay-threads", "1"])
            .args(["--use-auth-secret", "--static-auth-secret", SECRET])
            .arg("--pidfile")
            .arg(folder.join("pid"))
            .arg("--userdb")
            .arg(folder.join("users"))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .expect("install the package `coturn` (Debian: apt-get install coturn)");
        let start = Instant::now();
        while TcpStream::connect((Ipv4Addr::LOCALHOST, port)).is_err() {
            if child.try_wait().unwrap().is_some() {
                return None;
            }
            assert!(start.elapsed() < PATIENCE, "turnserver does not start");
            std::thread::sleep(Duration::from_millis(20));
        }
        Some(child)
    }
}

impl Drop for Coturn {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        let _ = std::fs::remove_dir_all(&self.folder);
    }
}

/// Makes the page use TURN only, and report the paths it uses and what a TURN server answers to
/// credentials.
const THROUGH_TURN_ONLY: &str = "{
  const Real = window.RTCPeerConnection;
  const made = [];
  window.RTCPeerConnection = class extends Real {
    constructor(configuration) {
      super({ ...configuration, iceTransportPolicy: 'relay' });
      made.push(this);
    }
  };
  // Of each pair in use: what the two ends are, and whether bytes went both ways.
  window.waysInUse = async () => {
    const ways = [];
    for (const connection of made) {
      const stats = await connection.getStats();
      for (const pair of stats.values()) {
        if (pair.type !== 'candidate-pair' || !pair.nominated || pair.state !== 'succeeded') continue;
        const kind = (id) => stats.get(id).candidateType;
        const flowed = pair.bytesSent > 1000 && pair.bytesReceived > 1000;
        ways.push(`${kind(pair.localCandidateId)} ${kind(pair.remoteCandidateId)} ${flowed}`);
      }
    }
    return ways;
  };
  // The TURN server and the credentials this page was told.
  window.told = () => {
    const servers = made.flatMap((connection) => connection.getConfiguration().iceServers);
    const { urls, username, credential } = servers[servers.length - 1];
    return { urls, username, credential };
  };
  // Like a holder of the secret.
  window.sign = async (secret, name) => {
    const bytes = (text) => new TextEncoder().encode(text);
    const how = { name: 'HMAC', hash: 'SHA-1' };
    const key = await crypto.subtle.importKey('raw', bytes(secret), how, false, ['sign']);
    const signed = new Uint8Array(await crypto.subtle.sign('HMAC', key, bytes(name)));
    return btoa(String.fromCharCode(...signed));
  };
  // What is had for these credentials: an address, or the number of the refusal.
  window.ask = (urls, username, credential) => new Promise((done) => {
    const iceServers = [{ urls, username, credential }];
    const connection = new Real({ iceServers, iceTransportPolicy: 'relay' });
    const end = (said) => { connection.close(); done(said); };
    connection.onicecandidate = ({ candidate }) => {
      if (candidate && candidate.candidate) end(candidate.type);
    };
    connection.onicecandidateerror = ({ errorCode }) => end(errorCode);
    connection.createDataChannel('any');
    connection.setLocalDescription();
  });
}";

#[test]
fn two_tabs_play_through_turn_and_forged_credentials_fail() {
    let out = page_of_the_guide();
    let coturn = Coturn::start();
    let url = format!("turn:127.0.0.1:{}", coturn.port);
    let config = Config {
        listen: ([127, 0, 0, 1], 0).into(),
        data: coturn.folder.join("data"),
        files: Some(out),
        ice: List(vec![url.clone()]),
        turn_secret: Some(Secret(SECRET.into())),
        relay: false,
        ..Config::default()
    };
    let server = BackgroundServer::start(config).unwrap();
    let browser = Chromium::start().unwrap();
    let [first, second] = [(); 2].map(|()| open(&browser, THROUGH_TURN_ONLY, &server));
    press_in_second_and_see_it_in_first(&first, &second);
    for page in [&first, &second] {
        page.wait_for("waysInUse().then((ways) => ways.join() === 'relay relay true')", PATIENCE)
            .unwrap_or_else(|error| panic!("{error}: {}", page.eval("waysInUse()").unwrap()));
    }

    let told = first.eval("told()").unwrap();
    let text = |field: &str| told[field].as_str().unwrap().to_string();
    let (name, password) = (text("username"), text("credential"));
    assert_eq!(told["urls"], json!([url]));
    let (until, player) = name.split_once(':').unwrap();
    let until: u64 = until.parse().unwrap();
    let ask = |name: &str, password: &str| {
        first.eval(&format!("ask({}, {}, {})", json!(url), json!(name), json!(password))).unwrap()
    };
    let sign = |secret: &str, name: &str| {
        let signed = first.eval(&format!("sign({}, {})", json!(secret), json!(name))).unwrap();
        signed.as_str().unwrap().to_string()
    };
    assert_eq!(sign(SECRET, &name), password);
    assert_eq!(ask(&name, &password), "relay");
    let (later, before) = (format!("{}:{player}", until + 3_600), format!("{}:{player}", until - 7_200));
    assert_eq!(ask(&later, &password), 401, "a time that was not signed");
    assert_eq!(ask(&before, &sign(SECRET, &before)), 401, "a time that is over");
    assert_eq!(ask(&name, &sign("a guess", &name)), 401, "another secret");
}
