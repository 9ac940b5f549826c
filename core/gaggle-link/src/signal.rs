//! Signals: texts that two peers exchange through a third party to set up a direct connection.
//!
//! Used by [`Negotiator`](crate::Negotiator) and [`MultipathMesh`](crate::MultipathMesh). Absent:
//! content of descriptions, transport of signals.

use std::fmt;

use gaggle_kit::DecodeError;

/// Longest accepted session description in bytes.
pub const DESCRIPTION_BYTES_MAX: usize = 8 * 1024;
/// Longest accepted candidate in bytes.
pub const CANDIDATE_BYTES_MAX: usize = 512;

/// A signal: one line with a word and the number of the attempt, then the content.
///
/// It is sent as text over any connection the peers have in common (the lobby, a test, a sheet of
/// paper).
///
/// ```
/// use gaggle_link::{Signal, SignalBody};
/// let signal = Signal { attempt: 0x1f, body: SignalBody::Answer("v=0".to_string()) };
/// assert_eq!(signal.to_string(), "answer 1f\nv=0");
/// assert_eq!(Signal::parse("answer 1f\nv=0"), Ok(signal));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Signal {
    /// Attempt to connect that it belongs to; chosen by the side that offers.
    pub attempt: u32,
    /// Content of the signal.
    pub body: SignalBody,
}

/// Content of a signal.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum SignalBody {
    /// Requests an offer, from the side that does not offer itself.
    Call,
    /// A session description to be answered.
    Offer(String),
    /// Answer to an offer.
    Answer(String),
    /// A possible address of the sender.
    Candidate(Candidate),
    /// The attempt has ended.
    End,
    /// The sender waits at the relay.
    Invite,
}

/// An address in WebRTC form.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Candidate {
    /// Index of its media line.
    pub line: u16,
    /// Name of that line.
    pub mid: String,
    /// The candidate itself.
    pub candidate: String,
}

impl Signal {
    /// Reads a received signal.
    ///
    /// # Errors
    /// If it is malformed or too long.
    pub fn parse(text: &str) -> Result<Signal, DecodeError> {
        let unknown = |what| DecodeError::Unknown { what, value: text.len() as u64 };
        let (head, rest) = text.split_once('\n').unwrap_or((text, ""));
        let mut words = head.split(' ');
        let word = words.next().ok_or(unknown("word of a signal"))?;
        let attempt = words.next().ok_or(unknown("signal"))?;
        let attempt = u32::from_str_radix(attempt, 16).map_err(|_| unknown("attempt of a signal"))?;
        let bounded = |what, text: &str, max: usize| {
            let (count, max) = (text.len() as u64, max as u64);
            if count <= max {
                Ok(text.to_string())
            } else {
                Err(DecodeError::CountTooLarge { what, count, max })
            }
        };
        let body = match word {
            "call" => SignalBody::Call,
            "end" => SignalBody::End,
            "meet" => SignalBody::Invite,
            "offer" => SignalBody::Offer(bounded("bytes of an offer", rest, DESCRIPTION_BYTES_MAX)?),
            "answer" => SignalBody::Answer(bounded("bytes of an answer", rest, DESCRIPTION_BYTES_MAX)?),
            "candidate" => {
                let line =
                    words.next().and_then(|line| line.parse().ok()).ok_or(unknown("line of a candidate"))?;
                let mid = bounded("bytes of a media name", words.next().unwrap_or_default(), 32)?;
                let candidate = bounded("bytes of a candidate", rest, CANDIDATE_BYTES_MAX)?;
                SignalBody::Candidate(Candidate { line, mid, candidate })
            }
            _ => return Err(unknown("word of a signal")),
        };
        Ok(Signal { attempt, body })
    }
}

impl fmt::Display for Signal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let attempt = self.attempt;
        match &self.body {
            SignalBody::Call => write!(f, "call {attempt:x}"),
            SignalBody::End => write!(f, "end {attempt:x}"),
            SignalBody::Invite => write!(f, "meet {attempt:x}"),
            SignalBody::Offer(description) => write!(f, "offer {attempt:x}\n{description}"),
            SignalBody::Answer(description) => write!(f, "answer {attempt:x}\n{description}"),
            SignalBody::Candidate(Candidate { line, mid, candidate }) => {
                write!(f, "candidate {attempt:x} {line} {mid}\n{candidate}")
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_read_back_as_written() {
        let candidate = Candidate {
            line: 0,
            mid: "0".into(),
            candidate: "candidate:1 1 udp 5 10.0.0.1 9 typ host".into(),
        };
        let bodies = [
            SignalBody::Call,
            SignalBody::End,
            SignalBody::Invite,
            SignalBody::Offer("v=0\r\no=- 1\r\n".into()),
            SignalBody::Answer(String::new()),
            SignalBody::Candidate(candidate),
        ];
        for body in bodies {
            let signal = Signal { attempt: 0xdead_beef, body };
            assert_eq!(Signal::parse(&signal.to_string()), Ok(signal));
        }
    }

    #[test]
    fn malformed_signals_are_rejected() {
        let long = format!("offer 1\n{}", "x".repeat(DESCRIPTION_BYTES_MAX + 1));
        for text in [
            "",
            "offer",
            "offer \nv",
            "offer 123456789\nv",
            "dance 1",
            "candidate 1\nc",
            "candidate 1 70000 0\nc",
            &long,
        ] {
            assert!(Signal::parse(text).is_err(), "{text:.40}");
        }
    }
}
