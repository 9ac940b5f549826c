//! Encryption of a connection: bytes in and out of a TLS session, without blocking.
//!
//! `connection.rs` calls it. Absent: certificates, the TLS handshake, frames.

use std::io::{self, Read, Write};

/// TLS state of one connection after its handshake.
pub type TlsSession = rustls::ServerConnection;

/// Decrypts a part of what was received. Would block when nothing is left.
pub(crate) fn open(tls: &mut TlsSession, sealed: &mut &[u8], plain: &mut [u8]) -> io::Result<usize> {
    loop {
        match tls.reader().read(plain) {
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {}
            done => return done,
        }
        if sealed.is_empty() {
            return Err(io::ErrorKind::WouldBlock.into());
        }
        tls.read_tls(sealed)?;
        tls.process_new_packets().map_err(io::Error::other)?;
    }
}

/// Encrypts and sends bytes, as far as the other side takes them. Never returns 0, which would mean
/// a closed connection.
pub(crate) fn seal(tls: &mut TlsSession, out: &mut impl Write, bytes: &[u8]) -> io::Result<usize> {
    loop {
        let written = tls.writer().write(bytes)?;
        match send_sealed(tls, out) {
            // Encrypted already; the next flush continues.
            Err(error) if error.kind() == io::ErrorKind::WouldBlock && written > 0 => return Ok(written),
            Err(error) => return Err(error),
            // The TLS buffer was full; now it has space.
            Ok(()) if written == 0 && !bytes.is_empty() => {}
            Ok(()) => return Ok(written),
        }
    }
}

/// Sends what is encrypted, as far as the other side takes it.
pub(crate) fn send_sealed(tls: &mut TlsSession, out: &mut impl Write) -> io::Result<()> {
    while tls.wants_write() {
        tls.write_tls(out)?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use rustls::crypto::ring::default_provider;
    use rustls::pki_types::{PrivateKeyDer, ServerName};
    use rustls::{ClientConfig, ClientConnection, RootCertStore, ServerConfig};

    use super::*;

    /// Accepts nothing while it is full.
    #[derive(Default)]
    struct Kernel {
        is_full: bool,
        bytes: Vec<u8>,
    }

    impl Write for Kernel {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            if self.is_full {
                return Err(io::ErrorKind::WouldBlock.into());
            }
            self.bytes.extend(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    #[test]
    fn full_tls_buffer_takes_more_once_kernel_does() {
        let mut tls = connected();
        let mut kernel = Kernel { is_full: true, ..Kernel::default() };
        let mut waiting = 0;
        let full = loop {
            match seal(&mut tls, &mut kernel, &[7; 10_000]) {
                Ok(count) => waiting += count,
                Err(error) => break error,
            }
        };
        assert_eq!(full.kind(), io::ErrorKind::WouldBlock);
        assert!(waiting > 50_000, "{waiting}");
        kernel.is_full = false;
        assert_eq!(seal(&mut tls, &mut kernel, &[7; 10_000]).unwrap(), 10_000);
        assert!(kernel.bytes.len() > waiting + 10_000);
    }

    /// The server's end of a TLS connection after the handshake.
    fn connected() -> TlsSession {
        let made = rcgen::generate_simple_self_signed(["localhost".to_string()]).unwrap();
        let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
        let provider = Arc::new(default_provider());
        let server = ServerConfig::builder_with_provider(provider.clone())
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(vec![made.cert.der().clone()], key)
            .unwrap();
        let mut roots = RootCertStore::empty();
        roots.add(made.cert.der().clone()).unwrap();
        let client = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_root_certificates(roots)
            .with_no_client_auth();
        let name = ServerName::try_from("localhost").unwrap();
        let mut client = ClientConnection::new(Arc::new(client), name).unwrap();
        let mut server = TlsSession::new(Arc::new(server)).unwrap();
        while client.is_handshaking() || server.is_handshaking() {
            let (mut there, mut back) = (Vec::new(), Vec::new());
            while client.wants_write() {
                client.write_tls(&mut there).unwrap();
            }
            server.read_tls(&mut &there[..]).unwrap();
            server.process_new_packets().unwrap();
            while server.wants_write() {
                server.write_tls(&mut back).unwrap();
            }
            client.read_tls(&mut &back[..]).unwrap();
            client.process_new_packets().unwrap();
        }
        server
    }
}
