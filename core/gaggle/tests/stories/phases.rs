//! Every phase of a room with every possible action, for all engines.

use std::collections::BTreeSet;
use std::fmt::Write;

use crate::starters::{Cluster, Field, Race, Subject};
use gaggle::{GameEngine, HostCommand, JoinTarget, Phase, Requests, RoomCode, StartMode, WorldEngine};
use gaggle_kit::Micros;

/// Peer 0 hosts the room, peer 1 is in it, and peer 2 is the one under test. Peer 3 hosts another
/// room with drop-in. Peer 4 is a second tab of the one under test.
const SUBJECT: usize = 2;
const OTHER: usize = 3;
const TAB: usize = 4;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Start {
    Solo,
    Lobby,
    Countdown,
    Joining,
    Playing,
    Spectating,
    Suspended,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Action {
    JoinOther,
    JoinAny,
    JoinNone,
    WatchOther,
    Restart,
    Leave,
    Close,
    Suspend,
    Resume,
    LobbyLost,
    LobbyBack,
    Replaced,
    TakeOver,
    Kicked,
    MatchEnds,
    MatchStarts,
    OthersLeave,
}

const STARTS: [Start; 7] = [
    Start::Solo,
    Start::Lobby,
    Start::Countdown,
    Start::Joining,
    Start::Playing,
    Start::Spectating,
    Start::Suspended,
];

const ACTIONS: [Action; 17] = [
    Action::JoinOther,
    Action::JoinAny,
    Action::JoinNone,
    Action::WatchOther,
    Action::Restart,
    Action::Leave,
    Action::Close,
    Action::Suspend,
    Action::Resume,
    Action::LobbyLost,
    Action::LobbyBack,
    Action::Replaced,
    Action::TakeOver,
    Action::Kicked,
    Action::MatchEnds,
    Action::MatchStarts,
    Action::OthersLeave,
];

fn open_subject<E: Subject>(cluster: &mut Cluster<E>, join: JoinTarget) {
    cluster.open(SUBJECT, join, StartMode::DropIn);
}

/// A cluster whose subject is in this phase, and the code of the other room. Notes the changes on
/// the way there.
fn begin<E: Subject>(start: Start, changes: &mut Changes) -> (Cluster<E>, RoomCode) {
    let mut cluster = Cluster::<E>::new(StartMode::HostStarts { join_late: true }, 1);
    cluster.open(OTHER, JoinTarget::CreatePrivate, StartMode::DropIn);
    cluster.run_ms(1_000);
    let (code, other) = (cluster.code(0), cluster.code(OTHER));
    if !matches!(start, Start::Lobby | Start::Countdown) {
        cluster.start(0);
        cluster.run_ms(1_500);
    }
    match start {
        Start::Solo => open_subject(&mut cluster, JoinTarget::Browse),
        Start::Spectating => open_subject(&mut cluster, JoinTarget::Spectate(code)),
        _ => open_subject(&mut cluster, JoinTarget::Code(code)),
    }
    let in_phase = |cluster: &mut Cluster<E>| match (start, cluster.room(SUBJECT).phase()) {
        (Start::Solo, Phase::Solo) => cluster.room(SUBJECT).lobby_client().is_some(),
        (Start::Lobby, Phase::Lobby { starts_at: None })
        | (Start::Countdown, Phase::Lobby { starts_at: Some(_) })
        | (Start::Joining, Phase::Joining { .. })
        | (Start::Playing | Start::Suspended, Phase::Playing)
        | (Start::Spectating, Phase::Spectating) => true,
        _ => false,
    };
    let mut phase = name(cluster.room(SUBJECT).phase());
    if start == Start::Countdown {
        watch(&mut cluster, 1_000, &mut phase, changes);
        cluster.start(3_000);
    }
    for _ in 0..300 {
        if in_phase(&mut cluster) {
            break;
        }
        watch(&mut cluster, 1, &mut phase, changes);
    }
    assert!(in_phase(&mut cluster), "{start:?}: {:?}", cluster.events[SUBJECT]);
    if start == Start::Suspended {
        cluster.room(SUBJECT).suspend();
        cluster.run_ms(300);
    }
    (cluster, other)
}

fn act<E: Subject>(cluster: &mut Cluster<E>, action: Action, other: RoomCode) {
    let host = |cluster: &mut Cluster<E>, command| {
        cluster.room(0).host_command(command).expect("it is the host");
    };
    match action {
        Action::JoinOther => cluster.room(SUBJECT).join(JoinTarget::Code(other)),
        Action::JoinAny => cluster.room(SUBJECT).join(JoinTarget::Matchmake),
        Action::JoinNone => {
            let code = "ZZZZZZ".parse().expect("a code");
            assert_ne!(code, other);
            cluster.room(SUBJECT).join(JoinTarget::Code(code));
        }
        Action::WatchOther => cluster.room(SUBJECT).join(JoinTarget::Spectate(other)),
        Action::Restart => {
            let content = E::content();
            cluster
                .room(SUBJECT)
                .restart(content, 1, JoinTarget::Browse)
                .unwrap_or_else(|error| panic!("{error}"));
        }
        Action::Leave => cluster.room(SUBJECT).leave(),
        Action::Close => cluster.room(SUBJECT).close(),
        Action::Suspend => cluster.room(SUBJECT).suspend(),
        Action::Resume => cluster.room(SUBJECT).resume(),
        Action::LobbyLost => cluster.net.set_lobby_up(false),
        Action::LobbyBack => cluster.net.set_lobby_up(true),
        Action::Replaced => cluster.room(TAB).take_over(),
        Action::TakeOver => cluster.room(SUBJECT).take_over(),
        Action::Kicked => {
            let others: Vec<_> = cluster.room(1).members().iter().map(|member| member.peer).collect();
            let mine = cluster.room(SUBJECT).members().into_iter().find(|member| member.is_local);
            if let Some(peer) = mine.map(|member| member.peer).filter(|peer| others.contains(peer)) {
                host(cluster, HostCommand::Kick(peer));
            }
        }
        Action::MatchEnds => host(cluster, HostCommand::EndMatch),
        Action::MatchStarts => host(cluster, HostCommand::Start { countdown: Micros::ZERO }),
        Action::OthersLeave => {
            cluster.room(0).leave();
            cluster.room(1).leave();
        }
    }
}

fn name(phase: Phase) -> &'static str {
    match phase {
        Phase::Solo => "solo",
        Phase::Lobby { .. } => "lobby",
        Phase::Joining { .. } => "joining",
        Phase::Playing => "playing",
        Phase::Spectating => "spectating",
        Phase::Suspended => "suspended",
        _ => "?",
    }
}

/// Phases six seconds after each action; for a suspended room also six seconds after it resumed.
const EXPECTED: &str = "
            | JoinOther | JoinAny | JoinNone | WatchOther | Restart | Leave | Close | Suspend | Resume | LobbyLost | LobbyBack | Replaced | TakeOver | Kicked | MatchEnds | MatchStarts | OthersLeave
Solo        | playing | playing | solo | spectating | solo | solo | solo | suspended | solo | solo | solo | solo | solo | solo | solo | solo | solo
Lobby       | playing | playing | lobby | spectating | solo | solo | solo | suspended | lobby | lobby | lobby | solo | lobby | solo | lobby | playing | lobby
Countdown   | playing | playing | playing | spectating | solo | solo | solo | suspended | playing | lobby | playing | solo | playing | solo | playing | playing | playing
Joining     | playing | playing | playing | spectating | solo | solo | solo | suspended | playing | joining | playing | solo | playing | solo | lobby | playing | playing
Playing     | playing | playing | playing | spectating | solo | solo | solo | suspended | playing | playing | playing | solo | playing | solo | lobby | playing | playing
Spectating  | playing | playing | spectating | spectating | solo | solo | solo | spectating | spectating | spectating | spectating | solo | spectating | solo | lobby | spectating | solo
Suspended   | suspended | suspended | suspended | suspended | solo | solo | solo | suspended | playing | suspended | suspended | suspended | suspended | suspended | suspended | suspended | suspended
and resumed | playing | playing | playing | spectating | solo | solo | solo | playing | playing | joining | playing | solo | playing | solo | lobby | playing | playing
";

/// Changes of the subject's phase, as names of the phase before and after.
type Changes = BTreeSet<(&'static str, &'static str)>;

/// Lets time pass frame by frame and notes each change of the subject's phase.
fn watch<E: Subject>(cluster: &mut Cluster<E>, ms: u64, from: &mut &'static str, changes: &mut Changes) {
    let until = cluster.net.now() + Micros::from_millis(ms);
    loop {
        let now = name(cluster.room(SUBJECT).phase());
        if now != *from {
            changes.insert((*from, now));
            *from = now;
        }
        if cluster.net.now() >= until {
            return;
        }
        cluster.run_ms(1);
    }
}

/// Rows of the table in the documentation of `Phase`: each change it allows.
fn documented() -> Changes {
    const PHASES: [&str; 6] = ["solo", "lobby", "joining", "playing", "spectating", "suspended"];
    let source = include_str!("../../src/phase.rs");
    let rows = source.lines().filter_map(|line| line.strip_prefix("/// | ")).skip(1);
    let mut changes = Changes::new();
    for row in rows {
        let mut columns = row.split(" | ");
        let mut named = |is_target: bool| -> Vec<&'static str> {
            let text = columns.next().unwrap_or_default().to_lowercase();
            let words: BTreeSet<&str> = text.split(|letter: char| !letter.is_alphabetic()).collect();
            let all = words.contains("any") || words.contains("all");
            let is_meant = |phase: &&&str| words.contains(**phase) != (all && !is_target);
            PHASES.iter().filter(is_meant).copied().collect()
        };
        let (from, mut to) = (named(false), named(true));
        // The last column may name another target: what follows if the change fails.
        let when = columns.next().unwrap_or_default().to_lowercase();
        to.extend(PHASES.iter().filter(|phase| when.contains(&format!("; `{phase}` if"))));
        let pairs = from.iter().flat_map(|from| to.iter().map(move |to| (*from, *to)));
        changes.extend(pairs.filter(|(from, to)| from != to));
    }
    changes
}

fn table<E: Subject>() -> String {
    let (documented, mut seen) = (documented(), Changes::new());
    let heads: Vec<String> = ACTIONS.iter().map(|action| format!("{action:?}")).collect();
    let mut table = format!("\n            | {}\n", heads.join(" | "));
    let mut resumed = Vec::new();
    for start in STARTS {
        let row = ACTIONS.map(|action| {
            let (mut cluster, other) = begin::<E>(start, &mut seen);
            let mut phase = name(cluster.room(SUBJECT).phase());
            match action {
                Action::LobbyBack => {
                    cluster.net.set_lobby_up(false);
                    watch(&mut cluster, 1_000, &mut phase, &mut seen);
                }
                Action::Replaced => {
                    cluster.open_tab_of(SUBJECT, TAB);
                    watch(&mut cluster, 1_000, &mut phase, &mut seen);
                }
                _ => {}
            }
            act(&mut cluster, action, other);
            watch(&mut cluster, 6_000, &mut phase, &mut seen);
            let later = phase;
            if start == Start::Suspended {
                cluster.room(SUBJECT).resume();
                watch(&mut cluster, 6_000, &mut phase, &mut seen);
                resumed.push(phase);
            }
            later
        });
        writeln!(table, "{:<11} | {}", format!("{start:?}"), row.join(" | ")).expect("memory");
    }
    writeln!(table, "and resumed | {}", resumed.join(" | ")).expect("memory");
    assert!(seen.len() > 12, "{seen:?}");
    let unknown: Vec<_> = seen.difference(&documented).collect();
    assert!(unknown.is_empty(), "not in the table of `Phase`: {unknown:?}; seen {seen:?}");
    let missed: Vec<_> = documented.difference(&seen).collect();
    assert!(missed.is_empty(), "never seen, but in the table of `Phase`: {missed:?}");
    table
}

#[test]
fn documented_changes_are_read_from_table_of_phase() {
    let changes = documented();
    for known in [("solo", "joining"), ("joining", "solo"), ("lobby", "suspended"), ("playing", "lobby")] {
        assert!(changes.contains(&known), "{known:?} of {changes:?}");
    }
    for unknown in [("spectating", "suspended"), ("solo", "spectating"), ("suspended", "spectating")] {
        assert!(!changes.contains(&unknown), "{unknown:?} of {changes:?}");
    }
}

#[test]
fn game_rooms_follow_table() {
    assert_eq!(table::<GameEngine<Race>>(), EXPECTED);
}

#[test]
fn world_rooms_follow_table() {
    assert_eq!(table::<WorldEngine<Field>>(), EXPECTED);
}

#[test]
fn request_rooms_follow_table() {
    assert_eq!(table::<Requests<u8>>(), EXPECTED);
}
