//! A channel whose owner writes SCTP packets by hand.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use str0m::crypto::dtls::{
    DtlsCert, DtlsImplError, DtlsInstance, DtlsOutput, DtlsProvider, DtlsVersion, ProtocolVersion,
};
use str0m::crypto::{CryptoError, CryptoProvider};

const HEADER_BYTES: usize = 12;

thread_local! {
    /// Hand-written packets of this test's thread, and observations of regular ones.
    static PEN: RefCell<Pen> = RefCell::default();
}

#[derive(Debug, Default)]
struct Pen {
    /// Ports and tag of the connection.
    header: Vec<u8>,
    /// Number of the last data.
    number: u32,
    packets: VecDeque<Vec<u8>>,
    /// Packets were written by hand: its own SCTP must not see the answers, or it would abort the
    /// association.
    is_used: bool,
}

/// Number of the last regular data.
pub(crate) fn last_number() -> u32 {
    PEN.with_borrow(|pen| pen.number)
}

/// Sends a packet of these chunks (kind, flags, content) with the next datagrams.
pub(crate) fn say(chunks: &[(u8, u8, Vec<u8>)]) {
    PEN.with_borrow_mut(|pen| {
        let mut packet = pen.header.clone();
        packet.extend([0; 4]);
        for (kind, flags, body) in chunks {
            packet.extend([*kind, *flags]);
            packet.extend((4 + body.len() as u16).to_be_bytes());
            packet.extend(body);
            packet.resize(packet.len().next_multiple_of(4), 0);
        }
        let checksum = crc::Crc::<u32>::new(&crc::CRC_32_ISCSI).checksum(&packet);
        packet[8..HEADER_BYTES].copy_from_slice(&checksum.to_le_bytes());
        pen.packets.push_back(packet);
        pen.is_used = true;
    });
}

/// A message on stream 0, or a fragment of one.
pub(crate) fn data(flags: u8, number: u32, bytes: &[u8]) -> (u8, u8, Vec<u8>) {
    (0, flags, [&number.to_be_bytes()[..], &[0, 0, 0, 0, 0, 0, 0, 53], bytes].concat())
}

/// Gives up everything up to a number.
pub(crate) fn forward(number: u32) -> (u8, u8, Vec<u8>) {
    (192, 0, number.to_be_bytes().to_vec())
}

/// Encryption that also sends hand-written packets from now on.
pub(crate) fn provider() -> Arc<CryptoProvider> {
    PEN.set(Pen::default());
    let proper = str0m::crypto::from_feature_flags();
    let leaky: &'static Leaky = Box::leak(Box::new(Leaky(proper.dtls_provider)));
    Arc::new(CryptoProvider { dtls_provider: leaky, ..proper })
}

#[derive(Debug)]
struct Leaky(&'static dyn DtlsProvider);

impl DtlsProvider for Leaky {
    fn generate_certificate(&self) -> Option<DtlsCert> {
        self.0.generate_certificate()
    }

    fn new_dtls(
        &self,
        cert: &DtlsCert,
        now: Instant,
        version: DtlsVersion,
        mtu: Option<usize>,
    ) -> Result<Box<dyn DtlsInstance>, CryptoError> {
        Ok(Box::new(Session(self.0.new_dtls(cert, now, version, mtu)?)))
    }
}

#[derive(Debug)]
struct Session(Box<dyn DtlsInstance>);

impl DtlsInstance for Session {
    fn set_active(&mut self, active: bool) {
        self.0.set_active(active);
    }

    fn handle_packet(&mut self, packet: &[u8]) -> Result<(), DtlsImplError> {
        self.0.handle_packet(packet)
    }

    fn poll_output<'a>(&mut self, buf: &'a mut [u8]) -> DtlsOutput<'a> {
        while let Some(packet) = PEN.with_borrow_mut(|pen| pen.packets.pop_front()) {
            self.0.send_application_data(&packet).unwrap();
        }
        match self.0.poll_output(buf) {
            DtlsOutput::ApplicationData(_) if PEN.with_borrow(|pen| pen.is_used) => {
                DtlsOutput::ApplicationData(&[])
            }
            output => output,
        }
    }

    fn handle_timeout(&mut self, now: Instant) -> Result<(), DtlsImplError> {
        self.0.handle_timeout(now)
    }

    fn send_application_data(&mut self, data: &[u8]) -> Result<(), DtlsImplError> {
        PEN.with_borrow_mut(|pen| {
            pen.header = data[..8].to_vec();
            if data[HEADER_BYTES] == 0 {
                pen.number = u32::from_be_bytes(data[HEADER_BYTES + 4..HEADER_BYTES + 8].try_into().unwrap());
            }
        });
        self.0.send_application_data(data)
    }

    fn is_active(&self) -> bool {
        self.0.is_active()
    }

    fn protocol_version(&self) -> Option<ProtocolVersion> {
        self.0.protocol_version()
    }

    fn is_closing(&self) -> bool {
        self.0.is_closing()
    }

    fn is_closed(&self) -> bool {
        self.0.is_closed()
    }

    fn close(&mut self) -> Result<(), DtlsImplError> {
        self.0.close()
    }
}
