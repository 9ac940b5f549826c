//! Two home networks behind routers, and a server between them: network namespaces with virtual
//! cables and the kernel's address translation.

use std::fs::File;
use std::os::fd::AsFd;
use std::process::Command;

use rustix::thread::{LinkNameSpaceType, move_into_link_name_space};

/// How a router assigns ports.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Nat {
    /// One public port per private one, for all destinations.
    Cone,
    /// Another public port per destination.
    Symmetric,
}

const PLACES: [&str; 5] = ["sky", "gate0", "gate1", "home0", "home1"];

/// Address of the server.
pub(crate) const SERVER: [u8; 4] = [203, 0, 113, 1];

/// The namespaces, removed when dropped.
pub(crate) struct Cluster {
    name: String,
}

impl Cluster {
    /// Creates them, or returns in one line what is missing on this machine.
    pub(crate) fn build(name: &str, nats: [Nat; 2]) -> Result<Cluster, String> {
        // Names of namespaces are global.
        let network = Cluster { name: format!("gaggle-{name}-{}", std::process::id()) };
        if !rustix::process::geteuid().is_root() {
            return Err("only root can create network namespaces".to_string());
        }
        for place in PLACES {
            run(&["ip", "netns", "add", &network.place(place)])?;
            network.at(place, "ip link set lo up")?;
        }
        for (gate, nat) in ["gate0", "gate1"].into_iter().zip(nats) {
            network.translate(gate, nat)?;
        }
        // From here on every command works if the previous ones did.
        network.connect().unwrap();
        Ok(network)
    }

    fn connect(&self) -> Result<(), String> {
        for nth in 0..2 {
            let (gate, home) = (format!("gate{nth}"), format!("home{nth}"));
            let outside = if nth == 0 { "203.0.113" } else { "198.51.100" };
            self.cable(&format!("down{nth}"), "sky", "wan", &gate)?;
            self.cable("lan", &gate, "eth", &home)?;
            self.at("sky", &format!("ip addr add {outside}.1/24 dev down{nth}"))?;
            self.at(&gate, &format!("ip addr add {outside}.2/24 dev wan"))?;
            self.at(&gate, &format!("ip route add default via {outside}.1"))?;
            self.at(&gate, &format!("ip addr add 10.0.{nth}.1/24 dev lan"))?;
            self.at(&home, &format!("ip addr add 10.0.{nth}.2/24 dev eth"))?;
            self.at(&home, &format!("ip route add default via 10.0.{nth}.1"))?;
        }
        for place in ["sky", "gate0", "gate1"] {
            self.enter_for(place, || std::fs::write("/proc/sys/net/ipv4/ip_forward", "1").unwrap());
        }
        Ok(())
    }

    /// Runs a function in a namespace, on a thread whose child threads stay in it.
    pub(crate) fn enter_for<T: Send>(&self, place: &str, act: impl FnOnce() -> T + Send) -> T {
        std::thread::scope(|scope| {
            let inside = || {
                self.enter(place);
                act()
            };
            scope.spawn(inside).join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        })
    }

    /// Moves this thread to a namespace for good.
    pub(crate) fn enter(&self, place: &str) {
        let namespace = File::open(format!("/run/netns/{}", self.place(place))).unwrap();
        move_into_link_name_space(namespace.as_fd(), Some(LinkNameSpaceType::Network)).unwrap();
    }

    /// Gives a home network another address.
    pub(crate) fn move_home(&self, nth: usize) {
        let home = format!("home{nth}");
        for command in [
            format!("ip addr del 10.0.{nth}.2/24 dev eth"),
            format!("ip addr add 10.0.{nth}.77/24 dev eth"),
            format!("ip route replace default via 10.0.{nth}.1"),
        ] {
            self.at(&home, &command).unwrap();
        }
    }

    fn translate(&self, gate: &str, nat: Nat) -> Result<(), String> {
        let how = match nat {
            Nat::Cone => "masquerade",
            Nat::Symmetric => "masquerade random,fully-random",
        };
        for rule in [
            "add table ip gate",
            "add chain ip gate out { type nat hook postrouting priority 100 ; }",
            &format!("add rule ip gate out oifname wan {how}"),
            // No outside host may start a connection, neither to the home nor to the router.
            "add chain ip gate pass { type filter hook forward priority 0 ; }",
            "add rule ip gate pass iifname wan ct state new drop",
            "add chain ip gate self { type filter hook input priority 0 ; }",
            "add rule ip gate self iifname wan ct state new drop",
        ] {
            run(&["ip", "netns", "exec", &self.place(gate), "nft", rule])?;
        }
        Ok(())
    }

    fn cable(&self, one: &str, here: &str, other: &str, there: &str) -> Result<(), String> {
        let (here_name, there_name) = (self.place(here), self.place(there));
        run(&[
            "ip",
            "-n",
            &here_name,
            "link",
            "add",
            one,
            "type",
            "veth",
            "peer",
            "name",
            other,
            "netns",
            &there_name,
        ])?;
        self.at(here, &format!("ip link set {one} up"))?;
        self.at(there, &format!("ip link set {other} up"))
    }

    fn at(&self, place: &str, command: &str) -> Result<(), String> {
        let place = self.place(place);
        let mut words = vec!["ip", "netns", "exec", &place];
        words.extend(command.split(' '));
        run(&words)
    }

    fn place(&self, place: &str) -> String {
        format!("{}-{place}", self.name)
    }
}

impl Drop for Cluster {
    fn drop(&mut self) {
        for place in PLACES {
            let _ = run(&["ip", "netns", "del", &self.place(place)]);
        }
    }
}

fn run(words: &[&str]) -> Result<(), String> {
    let said = Command::new(words[0]).args(&words[1..]).output();
    match said {
        Ok(output) if output.status.success() => Ok(()),
        Ok(output) => {
            Err(format!("`{}`: {}", words.join(" "), String::from_utf8_lossy(&output.stderr).trim()))
        }
        Err(error) => Err(format!("`{}` cannot be started: {error}", words[0])),
    }
}
