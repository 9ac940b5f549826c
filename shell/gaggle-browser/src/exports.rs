//! Tests that what a page, its stand-ins and native programs export does not drift apart.
//!
//! They read the sources. Absent: behavior.

use std::collections::{BTreeMap, BTreeSet};

/// Parts of a page's mesh, for programs that build one themselves: other targets have none.
const PARTS_OF_A_MESH: [&str; 7] =
    ["LobbyWebSocket", "MeshServers", "PageConnect", "PageMesh", "RelayWebSocket", "WebRtcCarrier", "mesh"];

/// Exports that only a page needs: its canvas, keys, sign-in and the browser's events. A native
/// program names its server and has a `Clock`.
const PAGE_ONLY: [&str; 12] = [
    "Canvas",
    "IceServer",
    "KeyState",
    "has_webrtc",
    "now",
    "on_arrival",
    "platform_at",
    "run_page",
    "run_world",
    "sign_in",
    "sign_out",
    "token",
];

/// Exports that only a native program needs: its clock, UDP, and errors that pages cannot have.
const NATIVE_ONLY: [&str; 8] = [
    "Clock",
    "ParseLobbyUrlError",
    "random_peer_id",
    "RoomKey",
    "RtcChannelError",
    "UdpCarrier",
    "UdpConfig",
    "UdpStats",
];

/// Names that a statement `pub use` exports: the last part of each path.
fn exported(statement: &str) -> BTreeSet<String> {
    let names = statement.split(|letter: char| !(letter.is_alphanumeric() || letter == '_' || letter == ':'));
    let last = |path: &str| path.rsplit("::").next().unwrap_or_default().to_string();
    let is_name = |path: &&str| !path.is_empty() && !path.ends_with("::") && !matches!(*path, "pub" | "use");
    names.filter(is_name).map(last).collect()
}

/// Exports of a crate, of which `is_wanted` gets the condition in the line before.
fn exports(source: &str, is_wanted: impl Fn(&str) -> bool) -> BTreeSet<String> {
    let mut names = BTreeSet::new();
    for (at, _) in source.match_indices("\npub use ") {
        let before = source[..at].lines().next_back().unwrap_or_default();
        let condition = if before.starts_with("#[cfg") { before } else { "" };
        let end = source[at..].find(';').expect("a statement");
        if is_wanted(condition) {
            names.extend(exported(&source[at..at + end]));
        }
    }
    names
}

const PAGE: &str = "#[cfg(target_arch = \"wasm32\")]";
const OTHER: &str = "#[cfg(not(target_arch = \"wasm32\"))]";

fn set(names: &[&str]) -> BTreeSet<String> {
    names.iter().map(ToString::to_string).collect()
}

fn page_exports() -> BTreeSet<String> {
    exports(include_str!("lib.rs"), |condition| condition != OTHER)
}

/// Every documented item by the name of its documentation, with its declaration up to its body.
fn declarations(source: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    for (at, mark) in source.match_indices("#[doc = text!(") {
        let rest = &source[at + mark.len()..];
        let (name, rest) = rest.split_once(")]").expect("an attribute");
        let item = &rest[rest.find("pub ").expect("an item")..];
        let end = match item.split_whitespace().nth(1) {
            Some("fn") => &['{'][..],
            Some("const") => &[';'],
            _ => &['=', '{', '('],
        };
        let declared = item.split(end).next().unwrap_or_default().replace("std::rc::", "");
        let declared: String = declared.split_whitespace().collect();
        found.insert(name.to_string(), declared.replace(",)", ")"));
    }
    found
}

#[test]
fn page_and_stand_ins_export_same_names() {
    let others = exports(include_str!("lib.rs"), |condition| condition != PAGE);
    let mut expected = page_exports();
    assert!(expected.remove("IceServer"), "{expected:?}");
    let parts = set(&PARTS_OF_A_MESH);
    assert!(expected.is_superset(&parts), "{expected:?}");
    expected.retain(|name| !parts.contains(name));
    assert_eq!(others, expected);
}

#[test]
fn page_and_stand_ins_declare_and_document_alike() {
    let page = [
        include_str!("arrival.rs"),
        include_str!("clock.rs"),
        include_str!("page.rs"),
        include_str!("platform.rs"),
        include_str!("sign_in.rs"),
    ]
    .concat();
    let (page, others) = (declarations(&page), declarations(include_str!("elsewhere.rs")));
    let known: Vec<&String> = page.keys().collect();
    assert_eq!(known, others.keys().collect::<Vec<_>>());
    for (name, declared) in &others {
        assert_eq!(&page[name], declared, "{name}");
    }
    // Each stand-in is documented by such a text.
    let exported = exports(include_str!("lib.rs"), |condition| condition == OTHER);
    assert!(exported.len() > 10, "{exported:?}");
    for name in exported {
        assert!(others.contains_key(&name), "{name} has no `text!`");
    }
}

#[test]
fn page_and_native_programs_export_twins() {
    let native = exports(include_str!("../../gaggle-native/src/lib.rs"), |_| true);
    let shared = |names: BTreeSet<String>, own: &[&str]| {
        let own = set(own);
        assert!(names.is_superset(&own), "{own:?} of {names:?}");
        names.difference(&own).map(|name| name.replace("Page", "Native")).collect::<BTreeSet<_>>()
    };
    let native = shared(native, &NATIVE_ONLY);
    let page = shared(page_exports(), &PAGE_ONLY);
    assert_eq!(page, native);
}
