//! Address of the client behind a request: the addresses that proxies report, and which of them are
//! trusted.
//!
//! `http.rs` calls it. Absent: limits of clients (`handshake_limit.rs`, `pace.rs`).

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::str::FromStr;

use hyper::header::{self, HeaderMap};

/// Entries of `X-Forwarded-For` examined, from the last.
const HOPS_MAX: usize = 16;

/// An address, or all addresses of a prefix such as `10.0.0.0/8`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Prefix {
    address: IpAddr,
    length: u8,
}

impl Prefix {
    /// Whether this address is in the prefix.
    pub fn contains(&self, address: IpAddr) -> bool {
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(a), IpAddr::V4(b)) => {
                (a.to_bits() ^ b.to_bits()).checked_shr(32 - u32::from(self.length)).unwrap_or(0) == 0
            }
            (IpAddr::V6(a), IpAddr::V6(b)) => {
                (a.to_bits() ^ b.to_bits()).checked_shr(128 - u32::from(self.length)).unwrap_or(0) == 0
            }
            _ => false,
        }
    }
}

impl From<IpAddr> for Prefix {
    fn from(address: IpAddr) -> Prefix {
        let address = address.to_canonical();
        Prefix { address, length: if address.is_ipv4() { 32 } else { 128 } }
    }
}

/// The text is neither an address nor a prefix.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("an address, as 10.0.0.1, or a prefix, as 10.0.0.0/8")]
pub struct ParsePrefixError;

impl FromStr for Prefix {
    type Err = ParsePrefixError;

    fn from_str(text: &str) -> Result<Prefix, ParsePrefixError> {
        let Some((address, length)) = text.split_once('/') else {
            return text.parse::<IpAddr>().map(Prefix::from).map_err(|_| ParsePrefixError);
        };
        let address: IpAddr = address.parse().map_err(|_| ParsePrefixError)?;
        let length: u8 = length.parse().map_err(|_| ParsePrefixError)?;
        let max = if address.is_ipv4() { 32 } else { 128 };
        if length > max {
            return Err(ParsePrefixError);
        }
        Ok(Prefix { address, length })
    }
}

impl fmt::Display for Prefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let whole = if self.address.is_ipv4() { 32 } else { 128 };
        match self.length {
            length if length == whole => write!(f, "{}", self.address),
            length => write!(f, "{}/{length}", self.address),
        }
    }
}

/// The client behind trusted proxies. Each proxy appends the address of its caller, so the last
/// address that is not a trusted proxy is the client's; earlier ones are claims of the client.
pub(crate) fn forwarded_for(headers: &HeaderMap, is_proxy: impl Fn(IpAddr) -> bool) -> Option<IpAddr> {
    let lines = headers.get_all("x-forwarded-for").iter().rev();
    let entries = lines.flat_map(|line| line.to_str().unwrap_or_default().rsplit(','));
    let mut client = None;
    for entry in entries.take(HOPS_MAX) {
        // A trusted proxy writes valid addresses: this entry and all before it are claims.
        let Some(address) = address(entry.trim()) else { break };
        client = Some(address);
        if !is_proxy(address) {
            break;
        }
    }
    client
}

/// Parses an address as proxies write it: with or without port and brackets.
fn address(text: &str) -> Option<IpAddr> {
    let bare = text.strip_prefix('[').and_then(|rest| rest.strip_suffix(']')).unwrap_or(text);
    let address = bare.parse().ok().or_else(|| text.parse::<SocketAddr>().ok().map(|socket| socket.ip()))?;
    Some(IpAddr::to_canonical(&address))
}

/// Whether a proxy says that it forwards a request.
pub(crate) fn is_forwarded(headers: &HeaderMap) -> bool {
    let names = ["forwarded", "via", "x-real-ip", "true-client-ip", "cf-connecting-ip"];
    names.iter().any(|name| headers.contains_key(*name))
        || headers.keys().any(|name| name.as_str().starts_with("x-forwarded-"))
}

/// Whether the request names this host by a local name. A page that reached this server through its
/// public name does not.
pub(crate) fn is_local_host(headers: &HeaderMap) -> bool {
    let Some(host) = headers.get(header::HOST).and_then(|host| host.to_str().ok()) else { return false };
    let name = match host.rsplit_once(':') {
        Some((name, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => name,
        _ => host,
    };
    name.eq_ignore_ascii_case("localhost")
        || address(host).or_else(|| address(name)).is_some_and(|address| address.is_loopback())
}

#[cfg(test)]
mod tests {
    use hyper::header::HeaderValue;

    use super::*;

    fn told(name: &'static str, lines: &[&'static str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        lines.iter().for_each(|line| {
            headers.append(name, HeaderValue::from_static(line));
        });
        headers
    }

    #[test]
    fn only_entries_of_trusted_proxies_are_believed() {
        let ours: Vec<Prefix> = ["10.0.0.0/8", "fd00::/8"].map(|text| text.parse().unwrap()).to_vec();
        let said = |lines: &[&'static str]| {
            let is_ours = |address| ours.iter().any(|prefix| prefix.contains(address));
            forwarded_for(&told("x-forwarded-for", lines), is_ours).map(|address| address.to_string())
        };
        let real = Some("192.0.2.7".to_string());
        assert_eq!(said(&["192.0.2.7"]), real);
        assert_eq!(said(&["203.0.113.1, 192.0.2.7"]), real);
        // Some proxies add a header line after the client's.
        assert_eq!(said(&["203.0.113.1", "192.0.2.7"]), real);
        // Two trusted proxies in a row.
        assert_eq!(said(&["203.0.113.1, 192.0.2.7, 10.1.2.3"]), real);
        assert_eq!(said(&["203.0.113.1, 192.0.2.7", "10.1.2.3, fd00::1"]), real);
        // With port numbers.
        assert_eq!(said(&["192.0.2.7:4711"]), real);
        assert_eq!(said(&["::ffff:192.0.2.7"]), real);
        assert_eq!(said(&["[2001:db8::1]:443"]), Some("2001:db8::1".into()));
        assert_eq!(said(&["[2001:db8::1]"]), Some("2001:db8::1".into()));
        assert_eq!(said(&["203.0.113.1", "nonsense"]), None);
        assert_eq!(
            said(&["nonsense, 10.1.2.3"]),
            Some("10.1.2.3".into()),
            "a client of the proxies' \
         network"
        );
        assert_eq!(said(&[]), None);
    }

    #[test]
    fn prefixes_read_back_as_shown() {
        for text in ["10.0.0.1", "10.0.0.0/8", "2001:db8::/32", "::1", "0.0.0.0/0", "::/0"] {
            assert_eq!(text.parse::<Prefix>().unwrap().to_string(), text);
        }
        for bad in ["", "10.0.0", "10.0.0.0/33", "::/129", "10.0.0.0/", "/8", "10.0.0.0/-1"] {
            assert!(bad.parse::<Prefix>().is_err(), "{bad}");
        }
        let contains = |prefix: &str, address: &str| {
            prefix.parse::<Prefix>().unwrap().contains(address.parse().unwrap())
        };
        assert!(contains("10.0.0.0/8", "10.255.0.1") && !contains("10.0.0.0/8", "11.0.0.1"));
        assert!(contains("10.0.0.0/8", "::ffff:10.0.0.1") && !contains("10.0.0.0/8", "::1"));
        assert!(contains("0.0.0.0/0", "192.0.2.1") && contains("::/0", "2001:db8::1"));
        assert!(contains("192.0.2.1", "192.0.2.1") && !contains("192.0.2.1", "192.0.2.2"));
        assert!(contains("2001:db8::/32", "2001:db8:ffff::1") && !contains("2001:db8::/32", "2001:db9::1"));
    }

    #[test]
    fn local_host_names_are_recognized() {
        for host in
            ["localhost", "localhost:8080", "LOCALHOST", "127.0.0.1", "127.0.0.1:80", "[::1]:80", "[::1]"]
        {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, HeaderValue::from_str(host).unwrap());
            assert!(is_local_host(&headers), "{host}");
        }
        for host in
            ["play.example", "evil.example:80", "192.0.2.1", "localhost.evil.example", "", "127.0.0.1.evil"]
        {
            let mut headers = HeaderMap::new();
            headers.insert(header::HOST, HeaderValue::from_str(host).unwrap());
            assert!(!is_local_host(&headers), "{host}");
        }
        assert!(!is_local_host(&HeaderMap::new()));
        assert!(is_forwarded(&told("x-forwarded-host", &["a"])) && is_forwarded(&told("via", &["1.1 b"])));
        assert!(!is_forwarded(&told("host", &["a"])));
    }
}
