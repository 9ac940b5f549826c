//! Command line parser: names and values, without their meaning.
//!
//! `config.rs` uses it, and `cargo xtask play` includes it to reject wrong settings before it
//! builds anything. Absent: settings.

/// Name of a setting.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Name<'a> {
    /// As written in a file: `rooms_max`, not `--rooms-max`.
    pub(crate) name: &'a str,
    /// As a flag it needs no value and is then `true`.
    pub(crate) is_switch: bool,
}

/// Flags of the program besides its settings.
pub(crate) const ALWAYS: [Name<'static>; 4] = [
    Name { name: "help", is_switch: true },
    Name { name: "version", is_switch: true },
    Name { name: "check", is_switch: true },
    Name { name: "config", is_switch: false },
];

/// Former names of settings, and their present ones.
const RENAMED: [(&str, &str); 5] = [
    ("grace", "reconnect_grace"),
    ("silent_after", "idle_timeout"),
    ("finished_after", "finished_ttl"),
    ("hello_within", "hello_timeout"),
    ("seats_per_player", "rooms_per_player"),
];

/// Names and values of a command line, in order; the error is one line.
pub(crate) fn read(
    arguments: impl IntoIterator<Item = String>,
    known: &[Name<'_>],
) -> Result<Vec<(String, String)>, String> {
    let mut arguments = arguments.into_iter().peekable();
    let mut said = Vec::new();
    while let Some(argument) = arguments.next() {
        let argument = match argument.as_str() {
            "-h" => "--help".to_string(),
            "-V" => "--version".to_string(),
            _ => argument,
        };
        let flag = argument
            .strip_prefix("--")
            .ok_or_else(|| format!("`{argument}` is not a flag: flags begin with `--` (see --help)"))?;
        let (name, given) = match flag.split_once('=') {
            Some((name, value)) => (name, Some(value.to_string())),
            None => (flag, None),
        };
        let name = name.replace('-', "_");
        let is_switch = known
            .iter()
            .chain(&ALWAYS)
            .find(|known| known.name == name)
            .map(|known| known.is_switch)
            .ok_or_else(|| unknown(&name, known, |name| format!("--{}", name.replace('_', "-"))))?;
        let value = match given {
            Some(value) => value,
            None if is_switch => {
                arguments.next_if(|next| next == "true" || next == "false").unwrap_or("true".into())
            }
            None => arguments.next().ok_or_else(|| format!("`{argument}` needs a value"))?,
        };
        said.push((name, value));
    }
    Ok(said)
}

/// Error for an unknown setting, with a similar existing name. `written` spells a name as its
/// source does: `--rooms-max` or `rooms_max`.
pub(crate) fn unknown(name: &str, known: &[Name<'_>], written: impl Fn(&str) -> String) -> String {
    let meant = known.iter().chain(&ALWAYS).map(|known| (distance(name, known.name), known.name)).min();
    // With more than half of it different, no name is similar.
    let similar = meant.filter(|(distance, _)| distance * 2 <= name.len());
    let hint = match (RENAMED.iter().find(|(former, _)| *former == name), similar) {
        (Some((_, present)), _) => format!("it is now `{}`", written(present)),
        (None, Some((_, meant))) => format!("did you mean `{}`?", written(meant)),
        (None, None) => "see --help".into(),
    };
    format!("there is no setting `{}`: {hint}", written(name))
}

/// Edit distance of two names; a prefix of a name is close to it.
fn distance(a: &str, b: &str) -> usize {
    if !a.is_empty() && b.starts_with(a) {
        return 1;
    }
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, of_a) in a.bytes().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, of_b) in b.bytes().enumerate() {
            let change = diagonal + usize::from(of_a != of_b);
            diagonal = row[j + 1];
            row[j + 1] = change.min(diagonal + 1).min(row[j] + 1);
        }
    }
    row[b.len()]
}

#[cfg(test)]
mod tests {
    use super::*;

    const KNOWN: [Name<'static>; 4] = [
        Name { name: "listen", is_switch: false },
        Name { name: "relay", is_switch: true },
        Name { name: "tls_certificate", is_switch: false },
        Name { name: "tls_key", is_switch: false },
    ];

    fn read_all(arguments: &[&str]) -> Result<Vec<(String, String)>, String> {
        read(arguments.iter().map(ToString::to_string), &KNOWN)
    }

    #[test]
    fn values_follow_or_are_joined_and_switches_need_none() {
        let said =
            read_all(&["--listen", "--odd", "--relay", "--relay", "false", "--tls-key=a=b", "-h"]).unwrap();
        let expected = [
            ("listen", "--odd"),
            ("relay", "true"),
            ("relay", "false"),
            ("tls_key", "a=b"),
            ("help", "true"),
        ];
        assert_eq!(said, expected.map(|(name, value)| (name.to_string(), value.to_string())));
    }

    #[test]
    fn unknown_name_gets_suggestion() {
        for (argument, expected) in [
            ("--lisen=x", "there is no setting `--lisen`: did you mean `--listen`?"),
            ("--tls-cert", "there is no setting `--tls-cert`: did you mean `--tls-certificate`?"),
            ("--hepl", "there is no setting `--hepl`: did you mean `--help`?"),
            ("--nonsense", "there is no setting `--nonsense`: see --help"),
            ("--", "there is no setting `--`: see --help"),
            ("--ü", "there is no setting `--ü`: see --help"),
            ("listen", "`listen` is not a flag: flags begin with `--` (see --help)"),
            ("--listen", "`--listen` needs a value"),
        ] {
            assert_eq!(read_all(&[argument]).unwrap_err(), expected);
        }
    }
}
