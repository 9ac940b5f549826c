//! A headless Chromium: pages, keys, touches, screenshots.
//!
//! Called by tests and benches of pages. Absent: what pages do.

use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use base64::Engine;
use serde_json::{Value, json};

use crate::devtools::DevTools;

/// Names of the program in `PATH`, in order of preference.
const PROGRAMS: [&str; 4] = ["chromium", "chromium-browser", "google-chrome", "google-chrome-stable"];

/// Timeout for the start of a browser.
const START_WITHIN: Duration = Duration::from_secs(120);

/// Timeout for leaving a page for the next one.
const LOAD_WITHIN: Duration = Duration::from_secs(60);

/// A running browser with a profile of its own; ended when dropped.
pub struct Chromium {
    process: Child,
    profile: PathBuf,
    devtools: Arc<Mutex<DevTools>>,
}

/// One page, in a window of its own so that it is never hidden.
#[derive(Clone)]
pub struct Page {
    devtools: Arc<Mutex<DevTools>>,
    target: String,
    session: String,
}

impl Chromium {
    /// Starts a browser.
    ///
    /// # Errors
    /// Says in one line what is missing.
    pub fn start() -> Result<Chromium, String> {
        static STARTED: std::sync::atomic::AtomicU32 = std::sync::atomic::AtomicU32::new(0);
        let nth = STARTED.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
        let profile = std::env::temp_dir().join(format!("gaggle-chromium-{}-{nth}", std::process::id()));
        let missing = "no Chromium found: install the package `chromium` (Debian: apt-get install chromium)";
        let process = PROGRAMS.iter().find_map(|program| start_program(program, &profile)).ok_or(missing)?;
        let mut browser = Starting { process: Some(process), profile };
        let (port, path) = browser.wait_for_port()?;
        let mut devtools = DevTools::connect(port, &path)?;
        // Downloads of a page must not reach a folder of the developer who runs the tests.
        devtools.call(None, "Browser.setDownloadBehavior", &json!({ "behavior": "deny" }))?;
        let process = browser.process.take().ok_or("the browser has ended")?;
        let profile = std::mem::take(&mut browser.profile);
        Ok(Chromium { process, profile, devtools: Arc::new(Mutex::new(devtools)) })
    }

    /// Opens a page in a window of its own.
    ///
    /// # Errors
    /// If the browser rejects it.
    pub fn open(&self, url: &str) -> Result<Page, String> {
        self.open_after("", url)
    }

    /// Opens a page in which a script runs before the page's own, also after each reload: for
    /// removing parts of the browser's API.
    ///
    /// # Errors
    /// If the browser rejects it.
    pub fn open_after(&self, script: &str, url: &str) -> Result<Page, String> {
        self.open_in(true, script, url)
    }

    /// Opens a page in a new tab of the last opened window, which hides that window's tab.
    ///
    /// # Errors
    /// If the browser rejects it.
    pub fn open_tab(&self, script: &str, url: &str) -> Result<Page, String> {
        self.open_in(false, script, url)
    }

    fn open_in(&self, new_window: bool, script: &str, url: &str) -> Result<Page, String> {
        let mut devtools = self.devtools.lock().unwrap_or_else(PoisonError::into_inner);
        let created = devtools.call(
            None,
            "Target.createTarget",
            &json!({ "url": "about:blank", "newWindow": new_window }),
        )?;
        let target = text(&created, "targetId")?;
        let attached =
            devtools.call(None, "Target.attachToTarget", &json!({ "targetId": target, "flatten": true }))?;
        let session = text(&attached, "sessionId")?;
        drop(devtools);
        let page = Page { devtools: Arc::clone(&self.devtools), target, session };
        page.call("Page.enable", &json!({}))?;
        page.call("Page.addScriptToEvaluateOnNewDocument", &json!({ "source": script }))?;
        page.call("Page.navigate", &json!({ "url": url }))?;
        Ok(page)
    }
}

impl Drop for Chromium {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}

/// A browser that has not printed its port yet; ended if it never does.
struct Starting {
    process: Option<Child>,
    profile: PathBuf,
}

impl Starting {
    fn wait_for_port(&mut self) -> Result<(u16, String), String> {
        let file = self.profile.join("DevToolsActivePort");
        let deadline = Instant::now() + START_WITHIN;
        while Instant::now() < deadline {
            if let Ok(told) = std::fs::read_to_string(&file)
                && let Some((port, path)) = told.split_once('\n')
                && let Ok(port) = port.trim().parse()
            {
                return Ok((port, path.trim().to_string()));
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        Err(format!("Chromium did not start within {} s", START_WITHIN.as_secs()))
    }
}

impl Drop for Starting {
    fn drop(&mut self) {
        if let Some(process) = &mut self.process {
            let _ = process.kill();
            let _ = process.wait();
            let _ = std::fs::remove_dir_all(&self.profile);
        }
    }
}

fn start_program(program: &str, profile: &Path) -> Option<Child> {
    Command::new(program)
        .args(["--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run"])
        .args(["--disable-background-networking", "--disable-component-update", "--disable-sync"])
        .args(["--remote-debugging-port=0", "--autoplay-policy=no-user-gesture-required"])
        // Test machines have little shared memory, and tests need loopback addresses as candidates.
        .args(["--disable-dev-shm-usage", "--allow-loopback-in-peer-connection"])
        .arg("--disable-features=WebRtcHideLocalIpsWithMdns")
        .arg(format!("--user-data-dir={}", profile.display()))
        .arg("about:blank")
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .ok()
}

impl Page {
    fn call(&self, method: &str, params: &Value) -> Result<Value, String> {
        let mut devtools = self.devtools.lock().unwrap_or_else(PoisonError::into_inner);
        devtools.call(Some(&self.session), method, params)
    }

    /// Value of an expression; a promise is awaited.
    ///
    /// # Errors
    /// If the page throws.
    pub fn eval(&self, expression: &str) -> Result<Value, String> {
        let params = json!({ "expression": expression, "awaitPromise": true, "returnByValue": true });
        let answer = self.call("Runtime.evaluate", &params)?;
        match answer.get("exceptionDetails") {
            Some(details) => {
                let said = details["exception"]["description"].as_str().or(details["text"].as_str());
                Err(format!("{expression}: {}", said.unwrap_or("threw something")))
            }
            None => Ok(answer["result"]["value"].clone()),
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

    /// Sets the screen to this many CSS pixels, each of `scale` device pixels.
    ///
    /// # Errors
    /// If the browser rejects it.
    pub fn resize(&self, width: u32, height: u32, scale: u32, mobile: bool) -> Result<(), String> {
        let params =
            json!({ "width": width, "height": height, "deviceScaleFactor": scale, "mobile": mobile });
        self.call("Emulation.setDeviceMetricsOverride", &params).map(drop)
    }

    /// Presses or releases a key, named as in `KeyboardEvent.code`; `key` is what it types.
    ///
    /// # Errors
    /// If the browser rejects it.
    pub fn key(&self, code: &str, key: &str, down: bool) -> Result<(), String> {
        let kind = if down { "keyDown" } else { "keyUp" };
        self.call("Input.dispatchKeyEvent", &json!({ "type": kind, "code": code, "key": key })).map(drop)
    }

    /// Touches a place of the page, in CSS pixels, or ends the touch.
    ///
    /// # Errors
    /// If the browser rejects it.
    pub fn touch(&self, at: Option<(u32, u32)>) -> Result<(), String> {
        let kind = if at.is_some() { "touchStart" } else { "touchEnd" };
        let points: Vec<Value> = at.iter().map(|(x, y)| json!({ "x": x, "y": y })).collect();
        self.call("Input.dispatchTouchEvent", &json!({ "type": kind, "touchPoints": points })).map(drop)
    }

    /// Picture of the page as PNG.
    ///
    /// # Errors
    /// If the browser rejects it.
    pub fn screenshot(&self) -> Result<Vec<u8>, String> {
        let answer = self.call("Page.captureScreenshot", &json!({ "format": "png" }))?;
        let data = text(&answer, "data")?;
        base64::engine::general_purpose::STANDARD.decode(data).map_err(|error| error.to_string())
    }

    /// Loads another address in the same tab.
    ///
    /// # Errors
    /// If the browser rejects it.
    pub fn navigate(&self, url: &str) -> Result<(), String> {
        self.call("Page.navigate", &json!({ "url": url })).map(drop)
    }

    /// Shows this tab and hides the one shown in its window.
    ///
    /// # Errors
    /// If the browser rejects it.
    pub fn to_front(&self) -> Result<(), String> {
        self.call("Page.bringToFront", &json!({})).map(drop)
    }

    /// Reloads the page and waits until the browser has left the old one, so that later calls reach
    /// the new one.
    ///
    /// # Errors
    /// If the browser rejects it.
    pub fn reload(&self) -> Result<(), String> {
        self.eval("void (window.beforeReload = true)")?;
        self.call("Page.reload", &json!({}))?;
        self.wait_for("!window.beforeReload", LOAD_WITHIN)
    }

    /// Reloads a page that has crashed.
    ///
    /// # Errors
    /// If the browser rejects it.
    pub fn revive(&self) -> Result<(), String> {
        self.call("Page.reload", &json!({})).map(drop)
    }

    /// Suspends the tab as browsers do in the background: it is hidden, and nothing in it runs
    /// until [`Page::wake`].
    ///
    /// # Errors
    /// If the browser rejects it.
    pub fn sleep(&self) -> Result<(), String> {
        self.call("Emulation.setFocusEmulationEnabled", &json!({ "enabled": false }))?;
        self.call("Page.setWebLifecycleState", &json!({ "state": "frozen" })).map(drop)
    }

    /// Resumes the page and shows it.
    ///
    /// # Errors
    /// If the browser rejects it.
    pub fn wake(&self) -> Result<(), String> {
        self.call("Page.setWebLifecycleState", &json!({ "state": "active" }))?;
        // Only focus shows a tab; being active does not.
        self.call("Emulation.setFocusEmulationEnabled", &json!({ "enabled": true })).map(drop)
    }

    /// Freezes the page as closing a laptop does: no event, and nothing in it runs until
    /// [`Page::thaw`]. No other method may be called meanwhile.
    ///
    /// # Errors
    /// If the browser rejects it.
    pub fn freeze(&self) -> Result<(), String> {
        // A page does nothing while a dialog is open.
        self.eval("void setTimeout(() => alert('frozen'))").map(drop)
    }

    /// Continues a frozen page.
    ///
    /// # Errors
    /// If it is not frozen.
    pub fn thaw(&self) -> Result<(), String> {
        self.call("Page.handleJavaScriptDialog", &json!({ "accept": true })).map(drop)
    }

    /// Closes the page as its user would, so that its unload events run.
    ///
    /// # Errors
    /// If the browser rejects it.
    pub fn close(&self) -> Result<(), String> {
        let mut devtools = self.devtools.lock().unwrap_or_else(PoisonError::into_inner);
        devtools.call(None, "Target.closeTarget", &json!({ "targetId": self.target })).map(drop)
    }

    /// Kills the page's process. [`Page::revive`] loads the tab again, with its storage.
    ///
    /// # Errors
    /// If the browser has ended.
    pub fn crash(&self) -> Result<(), String> {
        let mut devtools = self.devtools.lock().unwrap_or_else(PoisonError::into_inner);
        // A crashed page does not answer.
        devtools.tell(Some(&self.session), "Page.crash", &json!({}))
    }
}

fn text(answer: &Value, field: &str) -> Result<String, String> {
    answer[field]
        .as_str()
        .map(str::to_string)
        .ok_or_else(|| format!("the browser's answer has no {field}: {answer}"))
}
