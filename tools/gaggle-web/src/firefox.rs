//! A headless Firefox over WebDriver BiDi, which it speaks itself: pages, keys, screenshots.
//!
//! Called by tests of pages that both browsers show. Absent: what pages do.

use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use base64::Engine;
use serde_json::{Value, json};

use crate::devtools::DevTools;

/// Names of the program in `PATH`, in order of preference.
const PROGRAMS: [&str; 2] = ["firefox-esr", "firefox"];
/// Timeout for the start of a browser.
const START_WITHIN: Duration = Duration::from_secs(120);
/// Links between pages of one machine, without names that need multicast; no first-run pages.
const PREFERENCES: &str = "\
user_pref('media.peerconnection.ice.loopback', true);
user_pref('media.peerconnection.ice.obfuscate_host_addresses', false);
user_pref('browser.shell.checkDefaultBrowser', false);
user_pref('browser.startup.homepage_override.mstone', 'ignore');
user_pref('datareporting.policy.dataSubmissionEnabled', false);
user_pref('app.update.auto', false);
user_pref('app.normandy.enabled', false);
user_pref('network.captive-portal-service.enabled', false);
user_pref('network.connectivity-service.enabled', false);
";

/// A running browser with a profile of its own; ended when dropped.
pub struct Firefox {
    process: Child,
    profile: PathBuf,
    socket: Arc<Mutex<DevTools>>,
}

/// One page, in a window of its own so that it is never hidden.
#[derive(Clone)]
pub struct FirefoxPage {
    socket: Arc<Mutex<DevTools>>,
    context: String,
}

impl Firefox {
    /// Starts a browser.
    ///
    /// # Errors
    /// Says in one line what is missing.
    pub fn start() -> Result<Firefox, String> {
        static STARTED: AtomicU32 = AtomicU32::new(0);
        let nth = STARTED.fetch_add(1, Ordering::Relaxed);
        let profile = std::env::temp_dir().join(format!("gaggle-firefox-{}-{nth}", std::process::id()));
        std::fs::create_dir_all(&profile).map_err(|error| format!("{}: {error}", profile.display()))?;
        std::fs::write(profile.join("user.js"), PREFERENCES).map_err(|error| error.to_string())?;
        let missing =
            "no Firefox found: install the package `firefox-esr` (Debian: apt-get install firefox-esr)";
        let process = PROGRAMS.iter().find_map(|program| start_program(program, &profile)).ok_or(missing)?;
        let mut starting = Starting { process: Some(process), profile };
        let port = starting.wait_for_port()?;
        let mut socket = DevTools::connect(port, "/session")?;
        socket.call(None, "session.new", &json!({ "capabilities": {} }))?;
        let process = starting.process.take().ok_or("the browser has ended")?;
        let profile = std::mem::take(&mut starting.profile);
        Ok(Firefox { process, profile, socket: Arc::new(Mutex::new(socket)) })
    }

    /// Opens a page in which a script runs before the page's own.
    ///
    /// # Errors
    /// If the browser rejects it.
    pub fn open_after(&self, script: &str, url: &str) -> Result<FirefoxPage, String> {
        let mut socket = self.socket.lock().unwrap_or_else(PoisonError::into_inner);
        let created = socket.call(None, "browsingContext.create", &json!({ "type": "window" }))?;
        let context = created["context"].as_str().ok_or("the browser's answer has no context")?.to_string();
        let declared = format!("() => {{ {script} }}");
        let preload = json!({ "functionDeclaration": declared, "contexts": [context] });
        socket.call(None, "script.addPreloadScript", &preload)?;
        let navigate = json!({ "context": context, "url": url, "wait": "none" });
        socket.call(None, "browsingContext.navigate", &navigate)?;
        Ok(FirefoxPage { socket: Arc::clone(&self.socket), context })
    }
}

impl Drop for Firefox {
    fn drop(&mut self) {
        end(&mut self.process, &self.profile);
    }
}

/// A browser that has not written its port yet; ended if it never does.
struct Starting {
    process: Option<Child>,
    profile: PathBuf,
}

impl Starting {
    fn wait_for_port(&mut self) -> Result<u16, String> {
        let file = self.profile.join("WebDriverBiDiServer.json");
        let deadline = Instant::now() + START_WITHIN;
        while Instant::now() < deadline {
            let told = std::fs::read_to_string(&file).ok();
            let told = told.and_then(|told| serde_json::from_str::<Value>(&told).ok());
            if let Some(port) = told.and_then(|told| told["ws_port"].as_u64()) {
                return u16::try_from(port).map_err(|error| error.to_string());
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Err(format!("Firefox did not start within {} s", START_WITHIN.as_secs()))
    }
}

impl Drop for Starting {
    fn drop(&mut self) {
        if let Some(process) = &mut self.process {
            end(process, &self.profile);
        }
    }
}

fn end(process: &mut Child, profile: &PathBuf) {
    let _ = process.kill();
    let _ = process.wait();
    let _ = std::fs::remove_dir_all(profile);
}

fn start_program(program: &str, profile: &PathBuf) -> Option<Child> {
    Command::new(program)
        .args(["--headless", "--no-remote", "--remote-debugging-port=0", "--profile"])
        .arg(profile)
        // Root with the home of another user is refused.
        .env("HOME", profile)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .ok()
}

impl FirefoxPage {
    fn call(&self, method: &str, mut params: Value) -> Result<Value, String> {
        params["context"] = json!(self.context);
        let mut socket = self.socket.lock().unwrap_or_else(PoisonError::into_inner);
        socket.call(None, method, &params)
    }

    /// Value of an expression; a promise is awaited.
    ///
    /// # Errors
    /// If the page throws.
    pub fn eval(&self, expression: &str) -> Result<Value, String> {
        // As text, because the protocol's own form of values has no reader here.
        let expression = format!("(async () => JSON.stringify(await ({expression})) ?? 'null')()");
        let params = json!({
            "expression": expression, "target": { "context": self.context }, "awaitPromise": true,
        });
        let mut socket = self.socket.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = socket.call(None, "script.evaluate", &params)?;
        drop(socket);
        match answer["result"]["value"].as_str() {
            Some(text) => serde_json::from_str(text).map_err(|error| error.to_string()),
            None => Err(format!("{expression}: {}", answer["exceptionDetails"]["text"])),
        }
    }

    /// Waits until an expression is true.
    ///
    /// # Errors
    /// If it is not within `patience`.
    pub fn wait_for(&self, expression: &str, patience: Duration) -> Result<(), String> {
        let deadline = Instant::now() + patience;
        let mut last = String::new();
        while Instant::now() < deadline {
            match self.eval(&format!("!!({expression})")) {
                Ok(Value::Bool(true)) => return Ok(()),
                Ok(_) => last.clear(),
                Err(error) => last = error,
            }
            std::thread::sleep(Duration::from_millis(25));
        }
        Err(format!("`{expression}` was not true within {} s {last}", patience.as_secs()))
    }

    /// Presses or releases a key by the letter or the code point that WebDriver gives it.
    ///
    /// # Errors
    /// If the browser rejects it.
    pub fn key(&self, key: &str, down: bool) -> Result<(), String> {
        let kind = if down { "keyDown" } else { "keyUp" };
        let actions = json!([{ "type": "key", "id": "keys", "actions": [{ "type": kind, "value": key }] }]);
        self.call("input.performActions", json!({ "actions": actions })).map(drop)
    }

    /// Picture of the page as PNG.
    ///
    /// # Errors
    /// If the browser rejects it.
    pub fn screenshot(&self) -> Result<Vec<u8>, String> {
        let answer = self.call("browsingContext.captureScreenshot", json!({}))?;
        let data = answer["data"].as_str().ok_or("the browser's answer has no data")?;
        base64::engine::general_purpose::STANDARD.decode(data).map_err(|error| error.to_string())
    }
}
