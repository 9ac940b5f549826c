//! DevTools protocol of a browser, or WebDriver BiDi: one socket, numbered calls, answers in any
//! order.
//!
//! Called by `chromium` and `firefox`. Absent: what the calls mean.

use std::net::TcpStream;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use tungstenite::protocol::WebSocketConfig;
use tungstenite::{Message, WebSocket};

/// Timeout of a call.
const PATIENCE: Duration = Duration::from_secs(120);

pub(crate) struct DevTools {
    socket: WebSocket<TcpStream>,
    calls: u64,
}

impl DevTools {
    pub(crate) fn connect(port: u16, path: &str) -> Result<DevTools, String> {
        let stream = TcpStream::connect(("127.0.0.1", port)).map_err(|error| error.to_string())?;
        stream.set_read_timeout(Some(PATIENCE)).map_err(|error| error.to_string())?;
        let url = format!("ws://127.0.0.1:{port}{path}");
        // Screenshots arrive as one message.
        let config =
            WebSocketConfig::default().max_message_size(Some(64 << 20)).max_frame_size(Some(64 << 20));
        let (socket, _) = tungstenite::client::client_with_config(url, stream, Some(config))
            .map_err(|error| error.to_string())?;
        Ok(DevTools { socket, calls: 0 })
    }

    /// Sends a call without waiting for its answer, which may never come.
    pub(crate) fn tell(&mut self, session: Option<&str>, method: &str, params: &Value) -> Result<(), String> {
        self.calls += 1;
        let mut call = json!({ "id": self.calls, "method": method, "params": params });
        if let Some(session) = session {
            call["sessionId"] = json!(session);
        }
        self.socket.send(Message::text(call.to_string())).map_err(|error| format!("{method}: {error}"))
    }

    /// Sends a call and returns its answer.
    pub(crate) fn call(
        &mut self,
        session: Option<&str>,
        method: &str,
        params: &Value,
    ) -> Result<Value, String> {
        self.tell(session, method, params)?;
        let deadline = Instant::now() + PATIENCE;
        while Instant::now() < deadline {
            let message = self.socket.read().map_err(|error| format!("{method}: {error}"))?;
            let Message::Text(text) = message else { continue };
            let answer: Value = serde_json::from_str(&text).map_err(|error| format!("{method}: {error}"))?;
            if answer["id"] == json!(self.calls) {
                return match answer.get("error") {
                    Some(error) => Err(format!("{method}: {error}")),
                    None => Ok(answer["result"].clone()),
                };
            }
        }
        Err(format!("{method}: no answer within {} s", PATIENCE.as_secs()))
    }
}
