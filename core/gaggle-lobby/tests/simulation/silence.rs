//! A hundred thousand clients join and half of them fall silent while others keep joining: silent
//! ones are removed, others keep slot and room, and no state is left behind.

use std::collections::VecDeque;

use gaggle_kit::{Micros, PeerId, Prng};
use gaggle_lobby::directory::command::Tick;
use gaggle_lobby::directory::{Directory, LogEntry};
use gaggle_lobby::node::{ConnectionId, NoIce, Node, NodeConfig, NodeOutput};
use gaggle_lobby::rules::Rules;
use gaggle_lobby::{NodeId, RoomId, TicketSigner};

use crate::world::generous;

const JOINS: u64 = 100_000;
/// Time between two joins: five thousand a second.
const BETWEEN: Micros = Micros::new(200);
/// Joins between two timer calls.
const TICK: u64 = 1_000;

/// Behavior of a client after it joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Habit {
    /// Answers pings and sends a message now and then.
    Stays,
    /// The socket answers pings, the client sends nothing.
    Mute,
    /// The socket answers no more and is not closed.
    Vanishes,
    /// The socket closes and the client does not return.
    Breaks,
}

struct Crowd {
    now: Micros,
    node: Node,
    directory: Directory,
    /// Behavior by connection number.
    habits: Vec<Habit>,
    /// Clients that stay, with the room they joined.
    stay: Vec<(ConnectionId, PeerId, RoomId)>,
}

impl Crowd {
    fn new(rules: Rules) -> Crowd {
        let now = Micros::from_secs(1_800_000_000);
        let config = NodeConfig {
            id: NodeId(1),
            secret: [5; 32],
            signer: TicketSigner::from_secret(&[7; 32]),
            server_name: "simulated".into(),
            ice: Box::new(NoIce),
            lease: Micros::MAX,
        };
        let node = Node::new(now, rules.clone(), config);
        let directory = Directory::new(rules);
        let mut crowd = Crowd { now, node, directory, habits: Vec::new(), stay: Vec::new() };
        crowd.settle();
        crowd
    }

    fn habit(&self, connection: ConnectionId) -> Habit {
        self.habits[connection.0 as usize]
    }

    fn join(&mut self, habit: Habit) {
        let number = self.habits.len();
        let connection = ConnectionId(number as u64);
        self.habits.push(habit);
        self.node.handle_connected(self.now, connection, [10, 1, (number >> 8) as u8, number as u8].into());
        self.say(connection, &format!(r#"{{"type":"hello","key":"key-of-guest-number-{number}"}}"#));
        self.say(connection, r#"{"type":"find","game":"gander","mode":"team"}"#);
        if habit == Habit::Stays {
            let (peer, _) = self.node.peer_of(connection).unwrap();
            let room = self.directory.room_of(peer).unwrap().view().id;
            self.stay.push((connection, peer, room));
        }
    }

    fn say(&mut self, connection: ConnectionId, text: &str) {
        self.node.handle_text(self.now, connection, text);
        self.settle();
    }

    /// Runs timers; clients that stay send a message.
    fn tick(&mut self, nth: u64) {
        self.node.handle_timeout(self.now);
        self.settle();
        let _ = self.directory.apply(self.now, &LogEntry::new(Tick {}));
        self.settle();
        // Each in turn, every eight seconds.
        for index in ((nth % 40) as usize..self.stay.len()).step_by(40) {
            let (connection, ..) = self.stay[index];
            self.say(connection, r#"{"type":"touch"}"#);
        }
    }

    fn settle(&mut self) {
        loop {
            while let Some((_, notice)) = self.directory.poll_notice() {
                self.node.handle_notice(self.now, notice);
            }
            match self.node.poll_output() {
                None => return,
                Some(NodeOutput::Append(entry)) => {
                    let reply = self.directory.apply(self.now, &entry);
                    while let Some((_, notice)) = self.directory.poll_notice() {
                        self.node.handle_notice(self.now, notice);
                    }
                    self.node.handle_applied(self.now, &entry, reply);
                }
                Some(NodeOutput::LookUp(lookup)) => {
                    let found = self.directory.look_up(&lookup);
                    self.node.handle_found(self.now, lookup, found);
                }
                Some(NodeOutput::Ping { connection })
                    if matches!(self.habit(connection), Habit::Stays | Habit::Mute) =>
                {
                    self.node.handle_pong(self.now, connection);
                }
                Some(NodeOutput::Send { connection, text }) if text.starts_with(r#"{"type":"left""#) => {
                    assert_eq!(self.habit(connection), Habit::Mute, "{text}");
                }
                Some(NodeOutput::Close { connection, .. }) => {
                    assert_eq!(self.habit(connection), Habit::Vanishes);
                }
                Some(_) => {}
            }
        }
    }
}

#[test]
fn silent_members_alone_are_removed_in_storm_of_joins() {
    let rules = Rules {
        reconnect_grace: Micros::from_secs(10),
        idle_timeout: Micros::from_secs(20),
        ping_interval: Micros::from_secs(5),
        pong_timeout: Micros::from_secs(3),
        connections_max: 200_000,
        rooms_max: 100_000,
        ..generous()
    };
    let mut crowd = Crowd::new(rules);
    let mut prng = Prng::new(3);
    let mut breaking: VecDeque<(Micros, ConnectionId)> = VecDeque::new();
    for number in 0..JOINS {
        let habit = match prng.below(20) {
            0..10 => Habit::Stays,
            10..13 => Habit::Mute,
            13..17 => Habit::Vanishes,
            _ => Habit::Breaks,
        };
        crowd.join(habit);
        if habit == Habit::Breaks {
            breaking.push_back((crowd.now + Micros::from_millis(700), ConnectionId(number)));
        }
        crowd.now += BETWEEN;
        while breaking.front().is_some_and(|(at, _)| *at <= crowd.now)
            && let Some((_, connection)) = breaking.pop_front()
        {
            crowd.node.handle_closed(crowd.now, connection);
            crowd.settle();
        }
        if number % TICK == 0 {
            crowd.tick(number / TICK);
        }
    }
    let most = crowd.directory.rooms().count();
    // Longer than idle timeout, pong timeout and grace time together.
    for nth in 0..300 {
        crowd.now += Micros::new(BETWEEN.get() * TICK);
        breaking.drain(..).for_each(|(_, connection)| crowd.node.handle_closed(crowd.now, connection));
        crowd.tick(nth);
    }
    let count = |habit| crowd.habits.iter().filter(|known| **known == habit).count();
    assert!(count(Habit::Stays) > 45_000 && count(Habit::Vanishes) > 15_000);
    for (_, peer, room) in &crowd.stay {
        assert_eq!(crowd.directory.room_of(*peer).map(|now| now.view().id), Some(*room), "{peer}");
    }
    let members: usize = crowd.directory.rooms().map(|room| room.view().members.len()).sum();
    assert_eq!(members, count(Habit::Stays), "a member is left that is gone");
    let rooms = crowd.directory.rooms().count();
    assert!(rooms < most, "{rooms} of {most} rooms: some have no member left");
    assert_eq!(crowd.node.rooms().count(), rooms, "copies are kept of rooms without members");
    assert_eq!(crowd.node.connection_count(), count(Habit::Stays) + count(Habit::Mute));
}
