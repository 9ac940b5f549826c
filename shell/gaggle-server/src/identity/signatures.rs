//! Signature checks for the token library, with the cryptography that TLS uses already.
//!
//! `identity.rs` installs it. Absent: tokens and their claims.

use jsonwebtoken::crypto::{CryptoProvider, JwtVerifier, KeyUtils};
use jsonwebtoken::errors::{Error, ErrorKind};
use jsonwebtoken::signature::{self, Verifier};
use jsonwebtoken::{Algorithm, DecodingKey, DecodingKeyKind};
use ring::signature::{
    self as algorithms, RsaParameters, RsaPublicKeyComponents, UnparsedPublicKey, VerificationAlgorithm,
};

static PROVIDER: CryptoProvider = CryptoProvider {
    signer_factory: |_, _| Err(Error::from(ErrorKind::UnsupportedAlgorithm)),
    verifier_factory,
    key_utils: KeyUtils::new_unimplemented(),
};

/// Installs the provider for the process; repeating it is harmless.
pub(super) fn install() {
    let _ = PROVIDER.install_default();
}

fn verifier_factory(algorithm: &Algorithm, key: &DecodingKey) -> Result<Box<dyn JwtVerifier>, Error> {
    let check = match algorithm {
        Algorithm::EdDSA => Check::Bytes(&algorithms::ED25519),
        Algorithm::ES256 => Check::Bytes(&algorithms::ECDSA_P256_SHA256_FIXED),
        Algorithm::ES384 => Check::Bytes(&algorithms::ECDSA_P384_SHA384_FIXED),
        Algorithm::RS256 => Check::Rsa(&algorithms::RSA_PKCS1_2048_8192_SHA256),
        Algorithm::RS384 => Check::Rsa(&algorithms::RSA_PKCS1_2048_8192_SHA384),
        Algorithm::RS512 => Check::Rsa(&algorithms::RSA_PKCS1_2048_8192_SHA512),
        Algorithm::PS256 => Check::Rsa(&algorithms::RSA_PSS_2048_8192_SHA256),
        Algorithm::PS384 => Check::Rsa(&algorithms::RSA_PSS_2048_8192_SHA384),
        Algorithm::PS512 => Check::Rsa(&algorithms::RSA_PSS_2048_8192_SHA512),
        _ => return Err(Error::from(ErrorKind::UnsupportedAlgorithm)),
    };
    Ok(Box::new(SignatureCheck { algorithm: *algorithm, check, key: key.clone() }))
}

enum Check {
    Bytes(&'static dyn VerificationAlgorithm),
    Rsa(&'static RsaParameters),
}

struct SignatureCheck {
    algorithm: Algorithm,
    check: Check,
    key: DecodingKey,
}

impl Verifier<Vec<u8>> for SignatureCheck {
    fn verify(&self, message: &[u8], signature: &Vec<u8>) -> Result<(), signature::Error> {
        let verified = match (&self.check, self.key.kind()) {
            (Check::Bytes(algorithm), DecodingKeyKind::SecretOrDer(key)) => {
                UnparsedPublicKey::new(*algorithm, key).verify(message, signature)
            }
            (Check::Rsa(algorithm), DecodingKeyKind::RsaModulusExponent { n, e }) => {
                RsaPublicKeyComponents { n, e }.verify(algorithm, message, signature)
            }
            // A key of another kind than the token claims: a classic attack.
            _ => return Err(signature::Error::new()),
        };
        verified.map_err(|_| signature::Error::new())
    }
}

impl JwtVerifier for SignatureCheck {
    fn algorithm(&self) -> Algorithm {
        self.algorithm
    }
}
