//! Guard between the encryption of a channel (DTLS) and its SCTP.
//!
//! str0m calls it as the provider of DTLS sessions. It ends the channel on packets that name a
//! stream other than 0, for which SCTP would keep state, and on data that [`crate::intake`] finds
//! too expensive; it [delays](crate::acks) acknowledgements. Absent: sockets.

use std::cell::RefCell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};

use str0m::crypto::dtls::{
    DtlsCert, DtlsImplError, DtlsInstance, DtlsOutput, DtlsProvider, DtlsVersion, ProtocolVersion,
};
use str0m::crypto::{CryptoError, CryptoProvider};

use crate::acks::Acks;
use crate::intake::{Intake, Verdict};
use crate::sctp;

thread_local! {
    /// Gate of the channel that is being created. The provider of str0m is global, so the gate
    /// reaches it through a thread-local, set and taken within one call.
    static NEXT: RefCell<Option<Arc<Gate>>> = const { RefCell::new(None) };
}

/// State shared by a channel and its DTLS session.
#[derive(Debug)]
pub(crate) struct Gate {
    began: Instant,
    /// Nanoseconds since `begin`.
    now: AtomicU64,
    is_broken: AtomicBool,
}

impl Gate {
    pub(crate) fn new(began: Instant) -> Arc<Gate> {
        Arc::new(Gate { began, now: AtomicU64::new(0), is_broken: AtomicBool::new(false) })
    }

    /// Creates a channel whose session uses this gate.
    pub(crate) fn guard<T>(self: &Arc<Gate>, make: impl FnOnce() -> T) -> T {
        NEXT.set(Some(Arc::clone(self)));
        let made = make();
        NEXT.set(None);
        made
    }

    /// Sets the current time.
    pub(crate) fn set_now(&self, now: Instant) {
        let nanos = now.saturating_duration_since(self.began).as_nanos();
        self.now.store(u64::try_from(nanos).unwrap_or(u64::MAX), Ordering::Relaxed);
    }

    /// Whether the other side violated the protocol.
    pub(crate) fn is_broken(&self) -> bool {
        self.is_broken.load(Ordering::Relaxed)
    }

    fn now(&self) -> Instant {
        self.began + Duration::from_nanos(self.now.load(Ordering::Relaxed))
    }
}

/// A provider whose sessions use the gates of their channels.
pub(crate) fn guarding(provider: &CryptoProvider) -> CryptoProvider {
    // Made once per process and never freed.
    let guarding: &'static Guarding = Box::leak(Box::new(Guarding { inner: provider.dtls_provider }));
    CryptoProvider { dtls_provider: guarding, ..provider.clone() }
}

#[derive(Debug)]
struct Guarding {
    inner: &'static dyn DtlsProvider,
}

impl DtlsProvider for Guarding {
    fn generate_certificate(&self) -> Option<DtlsCert> {
        self.inner.generate_certificate()
    }

    fn new_dtls(
        &self,
        cert: &DtlsCert,
        now: Instant,
        dtls_version: DtlsVersion,
        mtu: Option<usize>,
    ) -> Result<Box<dyn DtlsInstance>, CryptoError> {
        let inner = self.inner.new_dtls(cert, now, dtls_version, mtu)?;
        let gate = NEXT.take().unwrap_or_else(|| Gate::new(now));
        Ok(Box::new(Session { inner, gate, intake: Intake::default(), acks: Acks::default() }))
    }
}

/// A DTLS session behind its gate.
#[derive(Debug)]
struct Session {
    inner: Box<dyn DtlsInstance>,
    gate: Arc<Gate>,
    intake: Intake,
    acks: Acks,
}

impl DtlsInstance for Session {
    fn set_active(&mut self, active: bool) {
        self.inner.set_active(active);
    }

    fn handle_packet(&mut self, packet: &[u8]) -> Result<(), DtlsImplError> {
        self.inner.handle_packet(packet)
    }

    fn poll_output<'a>(&mut self, buf: &'a mut [u8]) -> DtlsOutput<'a> {
        let now = self.gate.now();
        if let Some(ack) = self.acks.take_due(now) {
            // If sending fails the session is over, which the next poll reports.
            let _ = self.inner.send_application_data(&ack);
        }
        match self.inner.poll_output(buf) {
            DtlsOutput::ApplicationData(packet) => match self.intake.judge(packet) {
                Verdict::Pass if !sctp::mentions_another_stream(packet) => {
                    self.acks.received(now, packet);
                    DtlsOutput::ApplicationData(packet)
                }
                Verdict::Drop => DtlsOutput::ApplicationData(&[]),
                Verdict::Pass | Verdict::Broken => {
                    self.gate.is_broken.store(true, Ordering::Relaxed);
                    DtlsOutput::ApplicationData(&[])
                }
            },
            DtlsOutput::Timeout(at) => DtlsOutput::Timeout(self.acks.due().map_or(at, |due| due.min(at))),
            output => output,
        }
    }

    fn handle_timeout(&mut self, now: Instant) -> Result<(), DtlsImplError> {
        self.inner.handle_timeout(now)
    }

    fn send_application_data(&mut self, data: &[u8]) -> Result<(), DtlsImplError> {
        self.intake.sent(data);
        match self.acks.passing(self.gate.now(), data) {
            Some(packet) => self.inner.send_application_data(packet),
            None => Ok(()),
        }
    }

    fn is_active(&self) -> bool {
        self.inner.is_active()
    }

    fn protocol_version(&self) -> Option<ProtocolVersion> {
        self.inner.protocol_version()
    }

    fn is_closing(&self) -> bool {
        self.inner.is_closing()
    }

    fn is_closed(&self) -> bool {
        self.inner.is_closed()
    }

    fn close(&mut self) -> Result<(), DtlsImplError> {
        self.inner.close()
    }
}
