//! A server that helps two peers to find a path to each other, as the lobby names it and a mesh
//! uses it.

/// A STUN server, or a TURN server with credentials.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IceServer {
    /// For example `stun:example.org:3478`.
    pub urls: Vec<String>,
    /// Name to log in with; TURN only.
    pub username: Option<String>,
    /// Password for that name; TURN only.
    pub credential: Option<String>,
}
