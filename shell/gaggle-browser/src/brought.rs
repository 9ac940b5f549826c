//! Parser of the `#` fragment with which a token issuer returns to a page.
//!
//! `sign_in.rs` uses it. Absent: storage, meaning of tokens.

/// Token and state of a fragment.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Brought {
    pub(crate) token: String,
    pub(crate) state: String,
}

impl Brought {
    pub(crate) fn read(fragment: &str) -> Option<Brought> {
        let pairs = || fragment.trim_start_matches('#').split('&').filter_map(|pair| pair.split_once('='));
        let value =
            |wanted: &str| pairs().find(|(name, _)| *name == wanted).map(|(_, value)| value.to_string());
        let token = value("id_token").or_else(|| value("token"))?;
        Some(Brought { token, state: value("state").unwrap_or_default() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn token_and_state_are_read_in_any_order() {
        let brought = Brought { token: "a.b-c_d".to_string(), state: "17".to_string() };
        for fragment in ["#id_token=a.b-c_d&state=17", "#x=1&state=17&token_type=b&token=a.b-c_d"] {
            assert_eq!(Brought::read(fragment).as_ref(), Some(&brought), "{fragment}");
        }
    }

    #[test]
    fn fragment_without_token_brings_nothing() {
        for fragment in ["", "#", "#state=17", "#error=access_denied&state=17", "#id_token"] {
            assert_eq!(Brought::read(fragment), None, "{fragment}");
        }
    }

    #[test]
    fn token_without_state_matches_no_request() {
        assert_eq!(Brought::read("#token=t").map(|brought| brought.state), Some(String::new()));
    }
}
