//! A real browser for tests of pages: Chromium, driven through chromedriver (W3C WebDriver).
//!
//! A test that needs it fails where it is missing; a skip that nobody sees would look like a pass.
//! Only `TRUETAIL_SKIP_BROWSER=1` skips, loudly.

mod wire;

use serde_json::{Value, json};
use std::io::{BufRead, BufReader};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use units::Nanos;

const MISSING: &str = "install the packages `chromium` and `chromium-driver`, or set TRUETAIL_SKIP_BROWSER=1";

/// No sandbox, for tests that run as root in a container; nothing that calls home.
const FLAGS: [&str; 10] = [
    "--headless=new",
    "--no-sandbox",
    "--disable-gpu",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-quic",
    "--disable-dev-shm-usage",
    "--hide-scrollbars",
];

/// A running browser with one window; closed, and its profile removed, when dropped.
#[derive(Debug)]
pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
    profile: PathBuf,
}

/// Starts a browser, or panics with the reason: for tests. `None`, after a loud notice, only when
/// `TRUETAIL_SKIP_BROWSER=1` is set.
///
/// # Panics
/// When the browser can't be started.
pub fn browser() -> Option<Browser> {
    if std::env::var_os("TRUETAIL_SKIP_BROWSER").is_some_and(|value| value == "1") {
        eprintln!("\n*** SKIPPED: a test that needs Chromium (TRUETAIL_SKIP_BROWSER=1) ***\n");
        return None;
    }
    match Browser::start() {
        Ok(browser) => Some(browser),
        Err(reason) => panic!("{reason}"),
    }
}

impl Browser {
    /// Starts chromedriver on a free port and a browser with a fresh profile; about 2 s.
    ///
    /// # Errors
    /// One line: what failed and, if something is missing, which packages have it.
    pub fn start() -> Result<Browser, String> {
        let programs = ["/usr/bin", "/usr/local/bin", "/usr/lib/chromium"];
        let driver = find(&programs, &["chromedriver"])?;
        let binary = find(&programs, &["chromium", "chromium-browser", "google-chrome"])?;
        let profile = new_profile()?;
        let (driver, port) = launch(&driver)?;
        let mut browser = Browser { driver, port, session: String::new(), profile };
        let mut flags: Vec<String> = FLAGS.map(str::to_owned).to_vec();
        flags.push(format!("--user-data-dir={}", browser.profile.display()));
        let asked = json!({"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": {"binary": binary, "args": flags},
            "goog:loggingPrefs": {"browser": "ALL"},
        }}});
        let answer = wire::request(port, "POST", "/session", &asked)?;
        let session = answer.get("sessionId").and_then(Value::as_str);
        browser.session = session.ok_or("chromedriver gave no session")?.to_owned();
        Ok(browser)
    }

    fn post(&self, command: &str, body: &Value) -> Result<Value, String> {
        wire::request(self.port, "POST", &format!("/session/{}/{command}", self.session), body)
    }

    fn devtools(&self, command: &str, parameters: Value) -> Result<Value, String> {
        self.post("goog/cdp/execute", &json!({"cmd": command, "params": parameters}))
    }

    /// Loads a file and waits for its `load` event.
    ///
    /// # Errors
    /// When the path can't be opened.
    pub fn open(&self, path: &Path) -> Result<(), String> {
        let path = path.canonicalize().map_err(|e| format!("{}: {e}", path.display()))?;
        self.post("url", &json!({"url": format!("file://{}", path.display())})).map(|_| ())
    }

    /// Runs a script as a function's body in the page; what it returns.
    ///
    /// # Errors
    /// When the script throws.
    pub fn eval(&self, script: &str) -> Result<Value, String> {
        self.post("execute/sync", &json!({"script": script, "args": []}))
    }

    /// Asks a condition, an expression, until it holds; at most about a minute.
    ///
    /// # Errors
    /// When it throws, or does not come true.
    pub fn wait_until(&self, condition: &str) -> Result<(), String> {
        for _ in 0..2_400 {
            if self.eval(&format!("return Boolean({condition})"))? == Value::Bool(true) {
                return Ok(());
            }
            clock::pause(Nanos::from_millis(25));
        }
        Err(format!("`{condition}` did not come true within a minute"))
    }

    /// The size of the page's visible part in CSS pixels.
    ///
    /// # Errors
    /// When the driver refuses.
    pub fn set_size(&self, width: u32, height: u32) -> Result<(), String> {
        // Windows have a least width; a device has none.
        let device = json!({"width": width, "height": height, "deviceScaleFactor": 1, "mobile": false});
        self.devtools("Emulation.setDeviceMetricsOverride", device).map(|_| ())
    }

    /// Makes the page believe that its reader prefers a dark (or light) screen.
    ///
    /// # Errors
    /// When the driver refuses.
    pub fn set_dark(&self, dark: bool) -> Result<(), String> {
        let value = if dark { "dark" } else { "light" };
        let media = json!({"features": [{"name": "prefers-color-scheme", "value": value}]});
        self.devtools("Emulation.setEmulatedMedia", media).map(|_| ())
    }

    /// Writes a PNG of the whole page, also of what lies below the visible part.
    ///
    /// # Errors
    /// When the file can't be written.
    pub fn screenshot(&self, path: &Path) -> Result<(), String> {
        let asked = json!({"format": "png", "captureBeyondViewport": true});
        let answer = self.devtools("Page.captureScreenshot", asked)?;
        let data = answer.get("data").and_then(Value::as_str).and_then(wire::from_base64);
        let data = data.ok_or("chromedriver gave no picture")?;
        std::fs::write(path, data).map_err(|e| format!("{}: {e}", path.display()))
    }

    /// Presses at one point of the visible part, moves to another, releases.
    ///
    /// # Errors
    /// When a point lies outside of the visible part.
    pub fn drag(&self, from: (i64, i64), to: (i64, i64)) -> Result<(), String> {
        let half = ((from.0 + to.0) / 2, (from.1 + to.1) / 2);
        self.pointer(&[move_to(from), down(), move_to(half), move_to(to), up()])
    }

    /// Moves the mouse there without pressing.
    ///
    /// # Errors
    /// When the point lies outside of the visible part.
    pub fn hover(&self, at: (i64, i64)) -> Result<(), String> {
        self.pointer(&[move_to(at)])
    }

    /// Clicks once.
    ///
    /// # Errors
    /// When the point lies outside of the visible part.
    pub fn click(&self, at: (i64, i64)) -> Result<(), String> {
        self.pointer(&[move_to(at), down(), up()])
    }

    /// Clicks twice at once.
    ///
    /// # Errors
    /// When the point lies outside of the visible part.
    pub fn double_click(&self, at: (i64, i64)) -> Result<(), String> {
        self.pointer(&[move_to(at), down(), up(), down(), up()])
    }

    /// Turns the wheel; `delta` is in pixels, down is positive.
    ///
    /// # Errors
    /// When the point lies outside of the visible part.
    pub fn wheel(&self, at: (i64, i64), delta: i64) -> Result<(), String> {
        let scroll =
            json!({"type": "scroll", "x": at.0, "y": at.1, "deltaX": 0, "deltaY": delta, "duration": 0});
        let actions = json!({"actions": [{"type": "wheel", "id": "wheel", "actions": [scroll]}]});
        self.post("actions", &actions).map(|_| ())
    }

    fn pointer(&self, actions: &[Value]) -> Result<(), String> {
        let mouse = json!({"type": "pointer", "id": "mouse", "parameters": {"pointerType": "mouse"}, "actions": actions});
        self.post("actions", &json!({"actions": [mouse]})).map(|_| ())
    }

    /// What the console took for errors since it was last asked, failed requests among them.
    ///
    /// # Errors
    /// When the driver has no log.
    pub fn console_errors(&self) -> Result<Vec<String>, String> {
        let log = self.post("se/log", &json!({"type": "browser"}))?;
        let severe = |entry: &Value| {
            let is_error = entry.get("level").and_then(Value::as_str) == Some("SEVERE");
            is_error.then(|| entry.get("message").and_then(Value::as_str).unwrap_or("").to_owned())
        };
        Ok(log.as_array().into_iter().flatten().filter_map(severe).collect())
    }
}

fn move_to(at: (i64, i64)) -> Value {
    json!({"type": "pointerMove", "duration": 30, "x": at.0, "y": at.1})
}

fn down() -> Value {
    json!({"type": "pointerDown", "button": 0})
}

fn up() -> Value {
    json!({"type": "pointerUp", "button": 0})
}

impl Drop for Browser {
    fn drop(&mut self) {
        if !self.session.is_empty() {
            let path = format!("/session/{}", self.session);
            let _ = wire::request(self.port, "DELETE", &path, &Value::Null);
        }
        // The driver leads its process group: browsers that it left behind go with it.
        // SAFETY: a signal to a group that was made by `launch` and whose leader has not been waited for.
        unsafe { libc::kill(-(self.driver.id() as libc::pid_t), libc::SIGKILL) };
        let _ = self.driver.wait();
        let _ = std::fs::remove_dir_all(&self.profile);
    }
}

fn find(directories: &[&str], names: &[&str]) -> Result<PathBuf, String> {
    let candidates = names.iter().flat_map(|name| directories.iter().map(move |d| Path::new(d).join(name)));
    let found = candidates.into_iter().find(|path| path.exists());
    found.ok_or_else(|| format!("`{}` is in none of {directories:?}: {MISSING}", names[0]))
}

fn new_profile() -> Result<PathBuf, String> {
    static NEXT: AtomicU32 = AtomicU32::new(0);
    let name = format!("truetail-browser-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
    let path = std::env::temp_dir().join(name);
    std::fs::create_dir_all(&path).map_err(|e| format!("{}: {e}", path.display()))?;
    Ok(path)
}

/// The driver chooses a free port and says which.
fn launch(driver: &Path) -> Result<(Child, u16), String> {
    let mut child = Command::new(driver)
        .arg("--port=0")
        .process_group(0)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .map_err(|e| format!("`{}` could not be run: {e}", driver.display()))?;
    let mut said = String::new();
    let lines = child.stdout.take().map(|out| BufReader::new(out).lines()).into_iter().flatten();
    for line in lines.map_while(Result::ok) {
        if let Some(port) = port_in(&line) {
            return Ok((child, port));
        }
        said = line;
    }
    let _ = child.kill();
    let _ = child.wait();
    Err(format!("chromedriver did not start: {said}"))
}

/// `ChromeDriver was started successfully on port 40123.`
fn port_in(line: &str) -> Option<u16> {
    line.split_once("successfully on port ")?.1.trim_end_matches(['.', ' ']).parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_missing_is_named_with_its_packages() {
        let error = find(&["/nowhere"], &["chromedriver"]).unwrap_err();
        assert!(error.contains("chromium-driver") && error.contains("TRUETAIL_SKIP_BROWSER"), "{error}");
        assert_eq!(port_in("ChromeDriver was started successfully on port 40123."), Some(40123));
        assert_eq!(port_in("Starting ChromeDriver 156"), None);
    }
}
