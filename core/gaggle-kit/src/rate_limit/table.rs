//! Declared limits as rows, for operator guides and metrics.
//!
//! Relay and server list every limit they have as a row. Absent: counting, which limits there are.

use std::fmt;

use super::RateLimit;

/// One limit of a server, as documented.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LimitRow {
    /// Name of the limit, also in metrics.
    pub name: &'static str,
    /// Key by which it is counted.
    pub key: &'static str,
    /// Amount it allows.
    pub bound: Bound,
    /// Consequence of exceeding it.
    pub on_excess: &'static str,
}

/// Amount that a limit allows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bound {
    /// Tokens refilled over time.
    Rate(RateLimit),
    /// Concurrent acquisitions, per key and in total.
    Places {
        /// Limit per key, if any.
        per_key: Option<usize>,
        /// Limit in total, if any.
        total: Option<usize>,
    },
}

impl LimitRow {
    /// Head of the Markdown table.
    pub const HEAD: &'static str = "| Limit | Counted by | Allowed | Beyond it |\n|---|---|---|---|\n";
}

/// A line of the Markdown table.
impl fmt::Display for LimitRow {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "| `{}` | {} | {} | {} |", self.name, self.key, self.bound, self.on_excess)
    }
}

impl fmt::Display for Bound {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Bound::Rate(limit) if limit.is_unlimited() => write!(f, "any number"),
            Bound::Rate(RateLimit { burst, tokens, per }) => {
                write!(f, "{} every ", Grouped(*tokens))?;
                match per.get() {
                    1_000_000 => write!(f, "s")?,
                    micros if micros % 1_000_000 == 0 => write!(f, "{} s", Grouped(micros / 1_000_000))?,
                    micros if micros % 1_000 == 0 => write!(f, "{} ms", Grouped(micros / 1_000))?,
                    micros => write!(f, "{} µs", Grouped(micros))?,
                }
                write!(f, ", {} at once", Grouped(*burst))
            }
            Bound::Places { per_key, total } => {
                let name =
                    |name: &str, count: &Option<usize>| count.map(|n| format!("{}{name}", Grouped(n as u64)));
                let parts: Vec<String> =
                    name(" each", per_key).into_iter().chain(name(" in total", total)).collect();
                write!(f, "{} at a time", parts.join(", "))
            }
        }
    }
}

/// A number with thousands separators.
struct Grouped(u64);

impl fmt::Display for Grouped {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if self.0 < 1_000 {
            return write!(f, "{}", self.0);
        }
        write!(f, "{},{:03}", Grouped(self.0 / 1_000), self.0 % 1_000)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Micros;

    #[test]
    fn rates_are_written_with_their_units() {
        let text = |limit| Bound::Rate(limit).to_string();
        assert_eq!(text(RateLimit::per_second(4_000, 2_000)), "4,000 every s, 2,000 at once");
        assert_eq!(text(RateLimit::every(Micros::new(250), 1 << 20)), "1 every 250 µs, 1,048,576 at once");
        assert_eq!(text(RateLimit::per_secs(5, 10)), "5 every 10 s, 5 at once");
        assert_eq!(text(RateLimit::every(Micros::from_millis(50), 2)), "1 every 50 ms, 2 at once");
        assert_eq!(text(RateLimit::UNLIMITED), "any number");
    }

    #[test]
    fn places_are_written_per_key_and_in_total() {
        let text = |per_key, total| Bound::Places { per_key, total }.to_string();
        assert_eq!(text(Some(200), Some(11_000)), "200 each, 11,000 in total at a time");
        assert_eq!(
            (text(Some(64), None), text(None, Some(7))),
            ("64 each at a time".into(), "7 in total at a time".into())
        );
    }

    #[test]
    fn row_is_line_of_markdown() {
        let bound = Bound::Rate(RateLimit::per_second(1, 8));
        let row = LimitRow { name: "member_offers", key: "member", bound, on_excess: "rejected" };
        assert_eq!(row.to_string(), "| `member_offers` | member | 1 every s, 8 at once | rejected |\n");
        assert_eq!(
            LimitRow::HEAD.lines().next().unwrap().matches('|').count(),
            row.to_string().matches('|').count()
        );
    }
}
