//! Operator settings: from file, environment and flags, in this order, the later winning.
//!
//! One table declares every setting and generates the struct, flags, environment variables and
//! help; a test compares it with the operators' guide. Absent: effects of settings.

mod arguments;
mod check;
mod games;
mod value;

use std::net::SocketAddr;
use std::path::{Path, PathBuf};

use gaggle_kit::Micros;
use gaggle_lobby::rules::{Limits, RateLimit, Rules};
use gaggle_lobby::view::Verdict;
use gaggle_relay::RelayConfig;
use thiserror::Error;

use crate::client_address::Prefix;
use arguments::Name;
use check::MESSAGE_RATES;
#[cfg(not(all(feature = "redis", feature = "sign-in", feature = "tls")))]
pub(crate) use check::left_out;
pub use value::{Duration, List, Secret};
use value::{Setting, SettingValue};

/// Why a configuration cannot be used. The text says what to change.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum ConfigError {
    /// A file cannot be read.
    #[error("cannot read {path}: {error}; check path and permissions")]
    File {
        /// Path of the file.
        path: PathBuf,
        /// Error of the system.
        error: std::io::Error,
    },
    /// A file is not valid TOML.
    #[error("{path} is not valid TOML: {text}")]
    Syntax {
        /// Path of the file.
        path: PathBuf,
        /// Error of the parser.
        text: String,
    },
    /// A setting that does not exist.
    #[error("{origin}: {text}")]
    Unknown {
        /// File, variable or flag that contains it.
        origin: String,
        /// The name, with the likely intended one.
        text: String,
    },
    /// A setting with a wrong value.
    #[error("{origin}: `{name}` cannot be `{value}`; give {expected}")]
    Value {
        /// File, variable or flag that contains it.
        origin: String,
        /// Name of the setting.
        name: String,
        /// Value that was given.
        value: String,
        /// Description of valid values.
        expected: String,
    },
    /// Settings that are missing or contradict each other.
    #[error("{0}")]
    Conflict(String),
}

/// Declares the table of all settings.
macro_rules! settings {
    ($($(#[doc = $doc:literal])+ $name:ident: $type:ty = $default:expr;)*) => {
        /// All settings of a server.
        #[derive(Debug, Clone)]
        pub struct Config {
            $($(#[doc = $doc])+ pub $name: $type,)*
            /// Games on offer, by name; from the file only.
            pub games: games::Games,
        }

        impl Default for Config {
            fn default() -> Config {
                Config { $($name: $default,)* games: games::Games::default() }
            }
        }

        /// All settings, in the order of the guide.
        static SETTINGS: &[Setting] = &[$(Setting {
            name: stringify!($name),
            about: concat!($($doc,)+),
            set: |config, text| {
                config.$name = <$type as SettingValue>::parse(text)?;
                Ok(())
            },
            show: |config| SettingValue::show(&config.$name),
            is_flag: <$type as SettingValue>::IS_FLAG,
        },)*];
    };
}

settings! {
    /// Address and port to serve on.
    listen: SocketAddr = SocketAddr::from(([127, 0, 0, 1], 8080));
    /// Folder of the database and the server's own key.
    data: PathBuf = PathBuf::from("server-data");
    /// Threads that serve connections; 0: one for every two cores, at most 4.
    threads: usize = 0;
    /// Certificate chain (PEM) to serve TLS with; without one the server speaks plain HTTP, for use
    /// behind a proxy.
    tls_certificate: Option<PathBuf> = None;
    /// Private key (PEM) that goes with the certificate.
    tls_key: Option<PathBuf> = None;
    /// Origins of pages that may connect, as `https://play.example`; `*`: any.
    origins: List<String> = List(vec!["*".into()]);
    /// Addresses of proxies whose `X-Forwarded-For` is trusted, also as prefixes: `10.0.0.0/8`.
    proxies: List<Prefix> = List(Vec::new());
    /// Folder of files to serve under `/`, such as an arcade.
    files: Option<PathBuf> = None;
    /// Content-Security-Policy of pages: `own` allows files of this server, inline scripts of the
    /// page, WebAssembly and WebSockets; `none`: no policy; anything else is sent as it is.
    page_policy: String = "own".into();
    /// Redis to share rooms through with other nodes of the same version and rules, as
    /// `redis://127.0.0.1:6379`.
    redis: Option<String> = None;
    /// Prefix of every key in Redis, so that several lobbies can use one.
    redis_prefix: String = "lobby".into();
    /// The 32 bytes that sign tickets, in base64url; the same on all nodes. Without it one is
    /// created in the data folder.
    ticket_secret: Option<Secret> = None;
    /// Password of the operator's page at `/operator`; without it the page is disabled.
    operator_token: Option<Secret> = None;
    /// Show `/metrics` to programs on this machine without the operator's token. A proxy on this
    /// machine is such a program, unless it is in `proxies`.
    local_metrics: bool = false;
    /// Log level: `error`, `warn`, `info`, `debug` or `trace`, also per module, as
    /// `info,gaggle_server=debug`.
    log: String = "info".into();
    /// Form of the log: `text` or `json`.
    log_format: LogFormat = LogFormat::Text;
    /// How long a stopping server waits for connections to end.
    drain: Duration = Duration(Micros::from_secs(5));

    /// STUN and TURN servers sent to clients, as `stun:stun.example:3478`; the relay's port is the
    /// STUN server unless another is named.
    ice: List<String> = List(Vec::new());
    /// Secret shared with the TURN servers (coturn's `static-auth-secret`), from which credentials
    /// with an expiry are made.
    turn_secret: Option<Secret> = None;
    /// Lifetime of TURN credentials.
    turn_ttl: Duration = Duration(Micros::from_secs(3_600));
    /// Forward between members of a room without a direct link, at `/relay` and a UDP port.
    relay: bool = true;
    /// Address and port of the relay's UDP port, which also answers STUN; by default the same as
    /// `listen`.
    relay_udp: Option<SocketAddr> = None;
    /// Public addresses and ports of the relay's UDP port, if they differ from its own, as behind a
    /// router.
    relay_addresses: List<SocketAddr> = List(Vec::new());
    /// Relay sent to members instead of this server's own, as `wss://play.example/relay`; the same
    /// on all nodes.
    relay_url: Option<String> = None;

    /// Datagrams a second from one member through the relay, counted per receiver; half as many at
    /// once.
    relay_member_rate: usize = 4_000;
    /// Datagrams a second from all members of one address (IPv6: one /64; a /56 has twice, a /48
    /// four times as many); raise it where many players share a router.
    relay_network_rate: usize = 8_000;

    /// Threads of referees, which seal matches of modes with `referee = true`; 0: one for every
    /// four cores.
    referee_threads: usize = 0;
    /// Time by which spectators of those matches are behind, at most 4 s.
    referee_spectator_delay: Duration = Duration(Micros::ZERO);

    /// Issuer (`iss`) whose tokens are accepted instead of guest keys.
    token_issuer: Option<String> = None;
    /// Audience (`aud`) that tokens must have. Without it tokens for any other client of the issuer
    /// are accepted, too.
    token_audience: Option<String> = None;
    /// The issuer's keys: a JWKS file, or the URL of one.
    token_keys: Option<String> = None;
    /// Sign-in page of the issuer, shown by pages as a link: an `https` address in which `{return}`
    /// stands for the page to return to and `{state}` for a random text. The issuer returns to it
    /// with `#id_token=…&state=…`.
    sign_in: Option<String> = None;

    /// Results that count on leaderboards and for ratings: `claimed` includes those of players of
    /// one network, `agreed` requires players of different networks.
    results: Verdict = Verdict::Agreed;
    /// Whether games that are not in the file are accepted.
    unlisted_games: bool = true;
    /// How long the slot of a disconnected player is kept.
    reconnect_grace: Duration = Duration(Rules::default().reconnect_grace);
    /// How long a host may be away before another member becomes host; `reconnect_grace` if it only
    /// rests.
    host_grace: Duration = Duration(Rules::default().host_grace);
    /// A member that sends nothing for this long is removed from its room.
    idle_timeout: Duration = Duration(Rules::default().idle_timeout);
    /// How long a room stays open after its match ended.
    finished_ttl: Duration = Duration(Rules::default().finished_ttl);
    /// How long a new connection may take to identify itself.
    hello_timeout: Duration = Duration(Rules::default().hello_timeout);
    /// Lifetime of a ticket.
    ticket_ttl: Duration = Duration(Rules::default().ticket_ttl);
    /// Rooms on all nodes together.
    rooms_max: usize = Rules::default().rooms_max;
    /// Connections of this process.
    connections_max: usize = Rules::default().connections_max;
    /// Connections from one address (IPv6: one /64; a /56 has twice, a /48 four times as many).
    connections_per_address: usize = Rules::default().connections_per_address_max;
    /// Connections of one player, on all devices.
    connections_per_player: usize = Rules::default().connections_per_player_max;
    /// Messages a second from one address (IPv6: one /64; a /56 has twice, a /48 four times as
    /// many) on all its connections; ten times as many at once. Raise it where many players share a
    /// router.
    messages_per_address: usize = 4_000;
    /// HTTP requests a second from one address (IPv6: one /64), ten times as many at once; more
    /// wait up to a second and are then rejected.
    requests_per_address: usize = 200;
    /// Rooms one player can be in at the same time.
    rooms_per_player: usize = Rules::default().rooms_per_player_max;
    /// Enforce rate limits; switch off for measurements only.
    rate_limits: bool = true;
}

/// Variables beginning with `GAGGLE_` that other programs read: the page build, and tests.
const NOT_SETTINGS: [&str; 5] = ["page", "long", "seeds", "times", "bless"];
/// Width of the help text in columns.
const HELP_WIDTH: usize = 80;
/// Format of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LogFormat {
    /// Lines for people.
    Text,
    /// One JSON object per line.
    Json,
}

/// What the command line asks for.
#[derive(Debug)]
pub enum Command {
    /// Run the server with these settings.
    Serve(Box<Config>),
    /// Check the settings and exit.
    Check(Box<Config>),
    /// Print this text and exit.
    Print(String),
}

impl Config {
    /// Number of threads that serve connections.
    pub fn thread_count(&self) -> usize {
        match self.threads {
            // The lobby is one lock, and relay and storage have threads of their own: more threads
            // only wait for each other, and a signal costs a tenth more.
            0 => std::thread::available_parallelism().map_or(1, |cores| cores.get().div_ceil(2).min(4)),
            threads => threads,
        }
    }

    /// Number of threads that seal matches.
    pub(crate) fn referee_thread_count(&self) -> usize {
        match self.referee_threads {
            0 => std::thread::available_parallelism().map_or(1, |cores| cores.get().div_ceil(4)),
            threads => threads.min(64),
        }
    }

    /// Files the process must be able to open: one per connection of any kind, and a few of its
    /// own.
    pub fn files_needed(&self) -> u64 {
        const HTTP_AND_OWN: u64 = 4_096 + 64;
        let RelayConfig { members_max, unproven_max, .. } = RelayConfig::default();
        let relay = if self.relay { members_max + unproven_max } else { 0 };
        (self.connections_max + relay) as u64 + HTTP_AND_OWN
    }

    /// Combines file, environment and flags.
    ///
    /// # Errors
    /// If a source cannot be read, a setting is unknown, or a value is invalid.
    pub fn load(
        arguments: impl IntoIterator<Item = String>,
        environment: impl IntoIterator<Item = (String, String)>,
    ) -> Result<Command, ConfigError> {
        let mut flags = arguments::read(arguments, &names()).map_err(ConfigError::Conflict)?;
        let is_said = |wanted: &str| flags.iter().any(|(name, value)| name == wanted && value == "true");
        if is_said("help") {
            return Ok(Command::Print(help()));
        }
        if is_said("version") {
            return Ok(Command::Print(crate::NAME.into()));
        }
        let is_check = is_said("check");
        let file = flags.iter().rfind(|(name, _)| name == "config").map(|(_, path)| PathBuf::from(path));
        flags.retain(|(name, _)| !arguments::ALWAYS.iter().any(|always| always.name == name));
        let mut config = Config::default();
        let (mut file, mut variables) = (file, Vec::new());
        for (name, value) in environment {
            let Some(name) = name.strip_prefix("GAGGLE_") else { continue };
            let name = name.to_lowercase();
            if NOT_SETTINGS.contains(&name.as_str()) {
                continue;
            }
            if name == "config" {
                file = file.or(Some(PathBuf::from(value)));
            } else {
                variables.push((name, value));
            }
        }
        if let Some(path) = &file {
            config.read_file(path)?;
        }
        for (name, value) in variables {
            config.set(&name, &value, &format!("GAGGLE_{}", name.to_uppercase()))?;
        }
        for (name, value) in flags {
            config.set(&name, &value, &format!("--{}", name.replace('_', "-")))?;
        }
        config.check()?;
        let config = Box::new(config);
        Ok(if is_check { Command::Check(config) } else { Command::Serve(config) })
    }

    fn set(&mut self, name: &str, value: &str, origin: &str) -> Result<(), ConfigError> {
        let unknown = || ConfigError::Unknown {
            origin: origin.into(),
            text: arguments::unknown(name, &names(), str::to_string),
        };
        let setting = SETTINGS.iter().find(|setting| setting.name == name).ok_or_else(unknown)?;
        (setting.set)(self, value).map_err(|expected| ConfigError::Value {
            origin: origin.into(),
            name: name.into(),
            value: value.into(),
            expected,
        })
    }

    fn read_file(&mut self, path: &Path) -> Result<(), ConfigError> {
        let text =
            std::fs::read_to_string(path).map_err(|error| ConfigError::File { path: path.into(), error })?;
        self.read_text(&text, path)
    }

    fn read_text(&mut self, text: &str, path: &Path) -> Result<(), ConfigError> {
        let origin = path.display().to_string();
        let table: toml::Table = text.parse().map_err(|error: toml::de::Error| ConfigError::Syntax {
            path: path.into(),
            text: error.to_string(),
        })?;
        for (name, value) in &table {
            if name == "games" {
                self.games = games::Games::read(value)
                    .map_err(|text| ConfigError::Syntax { path: path.into(), text })?;
            } else {
                self.set(name, &value::flatten(value), &origin)?;
            }
        }
        Ok(())
    }

    /// The lobby's rules from these settings.
    pub fn rules(&self) -> Rules {
        let mut rules = Rules {
            games: self.games.rules(),
            reconnect_grace: self.reconnect_grace.0,
            host_grace: self.host_grace.0,
            idle_timeout: self.idle_timeout.0,
            finished_ttl: self.finished_ttl.0,
            hello_timeout: self.hello_timeout.0,
            ticket_ttl: self.ticket_ttl.0,
            rooms_max: self.rooms_max,
            connections_max: self.connections_max,
            connections_per_address_max: self.connections_per_address,
            connections_per_player_max: self.connections_per_player,
            rooms_per_player_max: self.rooms_per_player,
            sign_in: self.sign_in.clone(),
            ..Rules::default()
        };
        let messages = self.messages_per_address.clamp(*MESSAGE_RATES.start(), *MESSAGE_RATES.end()) as u32;
        rules.limits.message_per_address =
            RateLimit::every(Micros::new(1_000_000 / u64::from(messages)), 10 * u64::from(messages));
        if !self.unlisted_games {
            rules.unlisted_games = None;
        }
        if !self.rate_limits {
            rules.limits = Limits::unlimited();
        }
        rules
    }
}

/// All settings as a table, as in `docs/guide/settings.md`.
pub fn table() -> String {
    let defaults = Config::default();
    let mut out = String::from("| Setting | Default | |\n|---|---|---|\n");
    for setting in SETTINGS {
        let default = match (setting.show)(&defaults) {
            shown if shown.is_empty() => String::new(),
            shown => format!("`{shown}`"),
        };
        out += &format!("| `{}` | {default} | {} |\n", setting.name, setting.about.trim());
    }
    out
}

fn names() -> Vec<Name<'static>> {
    SETTINGS.iter().map(|setting| Name { name: setting.name, is_switch: setting.is_flag }).collect()
}

fn help() -> String {
    let defaults = Config::default();
    let mut out = format!(
        "{}\n\n\
         Lets players find each other, passes on what they need to make links, relays\n\
         between those who cannot reach each other, and keeps results.\n\n\
         Usage: gaggle-server [--config FILE] [--SETTING VALUE]...\n\n\
         Without settings it serves on 127.0.0.1:8080, its data in ./server-data.\n\
         Each setting can be given in a TOML file (listen = \"…\"), in the environment\n\
         (GAGGLE_LISTEN=…) or as a flag (--listen …); the flag wins over the environment,\n\
         the environment over the file. Defaults are in brackets. Also --check, which\n\
         only says whether the settings can be used, -h, --help and -V, --version.\n\n",
        crate::NAME
    );
    for setting in SETTINGS {
        let flag = setting.name.replace('_', "-");
        let default = match (setting.show)(&defaults) {
            shown if shown.is_empty() => String::new(),
            shown => format!(" [{shown}]"),
        };
        out += &format!("  --{flag}\n{}", folded(&format!("{}{default}", setting.about.trim())));
    }
    out
}

/// Wraps a text into lines, each with an indent.
fn folded(text: &str) -> String {
    const INDENT: &str = "       ";
    let (mut out, mut width) = (String::new(), 0);
    for word in text.split_whitespace() {
        let length = word.chars().count() + 1;
        if width == 0 || width + length > HELP_WIDTH {
            out += if width == 0 { INDENT } else { "\n       " };
            width = INDENT.len();
        }
        out += " ";
        out += word;
        width += length;
    }
    out + "\n"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn flags_override_environment_which_overrides_file() {
        let file = std::env::temp_dir().join(format!("gaggle-config-{}.toml", std::process::id()));
        std::fs::write(&file, "reconnect_grace = \"1s\"\nhost_grace = \"1s\"\nidle_timeout = \"1s\"\n")
            .unwrap();
        let flags = ["--config", &file.display().to_string(), "--idle-timeout=3s"].map(String::from);
        let environment =
            [("GAGGLE_HOST_GRACE", "2s"), ("GAGGLE_IDLE_TIMEOUT", "2s"), ("GAGGLE_LONG", "1"), ("HOME", "/")];
        let environment = environment.map(|(name, value)| (name.to_string(), value.to_string()));
        let config = serve(Config::load(flags, environment));
        std::fs::remove_file(file).unwrap();
        assert_eq!(
            [config.reconnect_grace, config.host_grace, config.idle_timeout].map(|d| d.0.as_millis()),
            [1_000, 2_000, 3_000]
        );
    }

    #[test]
    fn invalid_settings_are_named_with_origin() {
        for (flags, expected) in [
            (&["--lisen", "x"][..], "there is no setting `--lisen`: did you mean `--listen`?"),
            (&["--silent-after", "1m"], "there is no setting `--silent-after`: it is now `--idle-timeout`"),
            (
                &["--listen", "8080"],
                "--listen: `listen` cannot be `8080`; give an address and port, as 127.0.0.1:8080",
            ),
            (
                &["--reconnect-grace", "soon"],
                "--reconnect-grace: `reconnect_grace` cannot be `soon`; give a time, as 250ms, 10s, 5m or 2h",
            ),
            (&["--listen"], "`--listen` needs a value"),
            (&["listen"], "`listen` is not a flag: flags begin with `--` (see --help)"),
            (
                &["--operator-token", "hunter2"],
                "`operator_token` is too easy to guess: use 16 or more random characters, as from \
                 `openssl rand -base64 24`",
            ),
            (
                &["--relay-network-rate", "99"],
                "`relay_member_rate` and `relay_network_rate` are 100 to 1000000 a second",
            ),
            (
                &["--relay-member-rate", "9000"],
                "`relay_network_rate` cannot be less than `relay_member_rate`: one member is a \
                 network, too",
            ),
            (
                &["--relay-network-rate", "many"],
                "--relay-network-rate: `relay_network_rate` cannot be `many`; give a whole number",
            ),
            (&["--messages-per-address", "0"], "`messages_per_address` is 1 to 1000000 a second"),
            (&["--threads", "100000"], "`threads` cannot be 100000: at most 256, 0 chooses"),
            (
                &["--rooms-max", "0"],
                "`rooms_max` cannot be 0: no player could play; leave it out for the default",
            ),
            (&["--ticket-ttl", "0s"], "`ticket_ttl` cannot be 0s: it would be over at once"),
            (
                &["--origins", "play.example"],
                "`origins` has `play.example`, which is not an origin: write `https://play.example`",
            ),
            (
                &["--proxies", "10.0.0.0/33"],
                "--proxies: `proxies` cannot be `10.0.0.0/33`; give an address, as 10.0.0.1, or a prefix, as 10.0.0.0/8",
            ),
            (
                &["--ice", "stun.example"],
                "`ice` has `stun.example`: it takes `stun:HOST:PORT` and `turn:HOST:PORT`",
            ),
            (
                &["--ice", "stun:a:3478,turn:b:3478"],
                "TURN servers need credentials: set `turn_secret` to the secret they share",
            ),
            (&["--tls-key", "k"], "`tls_certificate` and `tls_key` go together: set both or none"),
            (
                &["--sign-in", "https://id.example/?to={return}&state={state}"],
                "`sign_in` needs `token_issuer` and `token_keys`, or no token is accepted",
            ),
            (
                &["--sign-in", "http://id.example/?to={return}"],
                "`sign_in` is an https address with `{return}` and `{state}` in it",
            ),
            (
                &["--config", "/no/such/file"],
                "cannot read /no/such/file: No such file or directory (os error 2); check path and permissions",
            ),
        ] {
            let error = Config::load(flags.iter().map(ToString::to_string), []).unwrap_err();
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn unknown_name_in_environment_or_file_gets_suggestion() {
        let variable = [("GAGGLE_ROOMS".to_string(), "5".to_string())];
        let error = Config::load([], variable).unwrap_err();
        assert_eq!(error.to_string(), "GAGGLE_ROOMS: there is no setting `rooms`: did you mean `rooms_max`?");
        let error = Config::default().read_text("lisen = 1", Path::new("a.toml")).unwrap_err();
        assert_eq!(error.to_string(), "a.toml: there is no setting `lisen`: did you mean `listen`?");
    }

    #[test]
    fn settings_can_be_checked_without_serving() {
        let check = |flags: &[&str]| Config::load(flags.iter().map(ToString::to_string), []);
        let checked = check(&["--check", "--reconnect-grace", "7s"]).unwrap();
        assert!(
            matches!(checked, Command::Check(config) if config.reconnect_grace.0 == Micros::from_secs(7))
        );
        assert!(check(&["--reconnect-grace", "soon", "--check"]).is_err());
    }

    #[test]
    fn defaults_are_rules_defaults() {
        let config = Config::default();
        assert_eq!(config.rules(), Rules::default());
        let rules = Config { messages_per_address: 500, ..config }.rules();
        let slower = RateLimit::every(Micros::from_millis(2), 5_000);
        assert_eq!(rules.limits, Limits { message_per_address: slower, ..Limits::default() });
    }

    #[test]
    fn games_come_from_file() {
        let mut config = Config::default();
        let text = r#"
            unlisted_games = false
            origins = ["https://a.example", "https://b.example"]
            [games.gander.modes.team]
            players = 4
            [games.gander.modes.duel]
            players = 2
            skill = true
            drop_in = false
            score_max = 1000
        "#;
        config.read_text(text, Path::new("test.toml")).unwrap();
        let rules = config.rules();
        assert_eq!(rules.unlisted_games, None);
        assert_eq!(config.origins.0, ["https://a.example", "https://b.example"]);
        let mode = |game: &str, mode: &str| rules.mode(&game.parse().unwrap(), &mode.parse().unwrap());
        assert_eq!(
            mode("gander", "team").map(|team| (team.players_default, team.skill)).unwrap(),
            (4, false)
        );
        // Games that are not in the file are rejected.
        assert!(mode("gander", "versus").is_err() && mode("drake", "duel").is_err());
        let duel = rules.mode(&"gander".parse().unwrap(), &"duel".parse().unwrap()).unwrap();
        assert_eq!(
            (duel.players_default, duel.players_min, duel.players_max, duel.skill, duel.score_max),
            (2, 2, 2, true, 1_000)
        );
        let error = config.read_text("[games.gander.modes.x]\nsets = 3", Path::new("test.toml")).unwrap_err();
        assert!(error.to_string().contains("[games.gander.modes.x]: there is no `sets`"), "{error}");
        let renamed = config.read_text("[games.gander.modes.x]\nseats = 3", Path::new("test.toml"));
        let error = renamed.unwrap_err();
        assert!(error.to_string().contains("there is no `seats`: it is now `players`"), "{error}");
    }

    #[test]
    fn score_bounds_that_admit_no_score_are_refused() {
        for (bounds, expected) in [
            ("score_min = 5\nscore_max = 4", "score_min is 5 and score_max 4"),
            ("score_min = 10000001", "score_min is 10000001 and score_max 10000000"),
            ("score_per_second_max = 0", "`score_per_second_max` must be a whole number from 1"),
        ] {
            let text = format!("[games.gander.modes.x]\n{bounds}");
            let error = Config::default().read_text(&text, Path::new("test.toml")).unwrap_err();
            assert!(error.to_string().contains(expected), "{error}");
        }
    }

    #[test]
    fn help_names_every_setting() {
        let Ok(Command::Print(help)) = Config::load(["--help".to_string()], []) else { panic!("no help") };
        // On a line of its own: `--relay` is also a prefix of `--relay-udp`.
        let named: Vec<&str> = help.lines().filter_map(|line| line.strip_prefix("  --")).collect();
        let settings: Vec<String> = SETTINGS.iter().map(|setting| setting.name.replace('_', "-")).collect();
        assert_eq!(named, settings);
        assert!(settings.len() > 40, "{} settings", settings.len());
        let widest = help.lines().map(|line| line.chars().count()).max().unwrap();
        assert!((60..=HELP_WIDTH).contains(&widest), "{widest}");
    }

    #[test]
    fn guide_has_settings_table_and_valid_files() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide");
        let guide = |page: &str| std::fs::read_to_string(folder.join(page)).unwrap();
        assert!(guide("settings.md").contains(&table()), "settings.md should have this table:\n{}", table());
        let guide = guide("operating.md");
        let files: Vec<&str> =
            guide.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next()).collect();
        assert!(files.len() >= 2, "it contains configuration files");
        for text in files {
            let mut config = Config::default();
            config.read_text(text, Path::new("operating.md")).and_then(|()| config.check()).unwrap();
        }
    }

    /// Operators who copy the guide's file exclude no game of the arcade.
    #[test]
    fn guide_file_of_games_has_every_arcade_game() {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide/operating.md");
        let guide = std::fs::read_to_string(path).unwrap();
        let files = guide.split("```toml\n").skip(1).filter_map(|rest| rest.split("```").next());
        let text = files.into_iter().find(|text| text.contains("unlisted_games = false")).unwrap();
        let mut config = Config::default();
        config.read_text(text, Path::new("operating.md")).unwrap();
        let rules = config.rules();
        assert_eq!(rules.unlisted_games, None, "it lists the games");
        let cabinets = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../apps/arcade/src/cabinets");
        let mut modes = 0;
        for cabinet in std::fs::read_dir(cabinets).unwrap().map(|entry| entry.unwrap().path()) {
            let code = std::fs::read_to_string(&cabinet).unwrap_or_default();
            let game = cabinet.file_stem().unwrap().to_str().unwrap();
            let listed =
                code.split("modes: &[").nth(1).and_then(|rest| rest.split(']').next()).unwrap_or_default();
            for mode in listed.split("(\"").skip(1).filter_map(|rest| rest.split('"').next()) {
                let found = rules.mode(&game.parse().unwrap(), &mode.parse().unwrap());
                assert!(found.is_ok_and(|rules| rules.drop_in), "{game} {mode}");
                modes += 1;
            }
        }
        assert!(modes >= 4, "only {modes} modes were found in the arcade");
    }

    fn serve(command: Result<Command, ConfigError>) -> Config {
        match command.unwrap() {
            Command::Serve(config) => *config,
            other => panic!("{other:?}"),
        }
    }
}
