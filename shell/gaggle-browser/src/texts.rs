//! Documentation of what pages and other targets both have, so that it is the same on both.
//!
//! Used by the modules of a page and by `elsewhere.rs`. Absent: code.

/// Documentation of a public item, by name.
macro_rules! text {
    (GameRoom) => {
        "Room of a page for a game on one timeline. On other targets it has no network."
    };
    (WorldRoom) => {
        "Room of a page for a world of replicated objects. On other targets it has no network."
    };
    (RequestRoom) => {
        "Room of a page whose caller keeps the game's state. On other targets it has no network."
    };
    (PagePlatform) => {
        "Platform of a page's room. On other targets it has no network, so that a game's tests need \
         no browser."
    };
    (platform) => {
        "Platform with the lobby and relay of the page's own server."
    };
    (platform_with) => {
        "Like [`platform`], with settings of the network."
    };
    (platform_at) => {
        "Like [`platform_with`], for a page from another origin than its server, which is named like \
         `wss://play.example`. The server must allow the page's origin."
    };
    (now) => {
        "Time since the page was opened. Monotonic; always zero on other targets."
    };
    (random_seed) => {
        "A random number from the browser; 0 on other targets."
    };
    (has_webrtc) => {
        "Whether this browser has WebRTC. If it is disabled, everything goes through a WebSocket. \
         False on other targets."
    };
    (on_arrival) => {
        "Sets a function to call soon after something arrives from the lobby, a relay or a peer; \
         `None` removes it. A hidden page should update its room then, because browsers throttle its \
         timers. Never called on other targets."
    };
    (token) => {
        "Token to open a room with: one the issuer has just returned, or the stored one. Put it into \
         [`ClientConfig::token`](gaggle::ClientConfig::token), and call [`sign_out`] when the lobby \
         rejects it. None on other targets."
    };
    (sign_in) => {
        "Goes to the issuer at the address of \
         [`Client::sign_in_url`](gaggle::lobby::client::Client::sign_in_url). The page is left. \
         Nothing happens on other targets."
    };
    (sign_out) => {
        "Deletes the token of the page."
    };
    (Canvas) => {
        "Drawing area: 640 by 360, scaled to the window."
    };
    (SIZE) => {
        "Width and height in pixels."
    };
    (fill_rect) => {
        "Fills a rectangle with a CSS color."
    };
    (fill_text) => {
        "Draws text from its lower left corner."
    };
    (run_page) => {
        include_str!("run_page.md")
    };
    (run_world) => {
        "Like [`run_page`], for a [`World`] of replicated objects."
    };
}
