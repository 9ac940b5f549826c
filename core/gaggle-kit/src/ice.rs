//! Address and credentials of a STUN or TURN server.
//!
//! The lobby sends them, meshes use them. Absent: ICE itself.

/// A STUN server, or a TURN server with credentials.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct IceServer {
    /// Addresses such as `stun:example.org:3478`.
    pub urls: Vec<String>,
    /// User name; TURN only.
    pub username: Option<String>,
    /// Password of the user; TURN only.
    pub credential: Option<String>,
}
