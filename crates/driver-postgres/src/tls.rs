//! TLS with libpq's rules of trust.

use crate::config::{Config, TlsMode};
use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::hash::HashAlgorithm;
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore, SignatureScheme};
use std::path::Path;
use std::sync::Arc;

/// A TLS connection to `host` that trusts whom the configuration trusts; it has exchanged nothing yet.
pub(crate) fn connection(config: &Config, host: &str) -> Result<ClientConnection, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let trust = match config.tls {
        TlsMode::Disable | TlsMode::Prefer | TlsMode::Require => Trust::Anyone,
        TlsMode::VerifyCa | TlsMode::VerifyFull => {
            let path = config
                .root_certificate
                .as_deref()
                .ok_or("no root certificate to verify the server with; add sslrootcert=FILE")?;
            let (roots, given) = read_roots(path)?;
            Trust::Authorities { roots, given, check_name: config.tls == TlsMode::VerifyFull }
        }
    };
    let name = match ServerName::try_from(host.to_owned()) {
        Ok(name) => name,
        // Without verification the name matters to nobody, and libpq connects to any.
        Err(_) if trust.is_blind() => ServerName::from(std::net::Ipv4Addr::UNSPECIFIED),
        Err(_) => return Err(format!("`{host}` is not a name that a certificate can have")),
    };
    let verifier = Arc::new(Verifier { trust, provider: provider.clone() });
    let tls = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|e| format!("TLS can't be set up: {e}"))?
        .dangerous()
        .with_custom_certificate_verifier(verifier)
        .with_no_client_auth();
    ClientConnection::new(Arc::new(tls), name).map_err(|e| format!("TLS can't be set up: {e}"))
}

fn read_roots(path: &Path) -> Result<(RootCertStore, Vec<CertificateDer<'static>>), String> {
    let shown = path.display();
    let given: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(path)
        .and_then(Iterator::collect)
        .map_err(|e| format!("root certificate {shown}: {e}"))?;
    let mut roots = RootCertStore::empty();
    let (usable, _) = roots.add_parsable_certificates(given.iter().cloned());
    if usable == 0 {
        return Err(format!("root certificate {shown}: no certificate in it"));
    }
    Ok((roots, given))
}

#[derive(Debug)]
enum Trust {
    /// Encryption without knowing with whom.
    Anyone,
    /// Whoever was signed by one of the authorities, or is itself in the file of authorities.
    Authorities { roots: RootCertStore, given: Vec<CertificateDer<'static>>, check_name: bool },
}

impl Trust {
    fn is_blind(&self) -> bool {
        matches!(self, Trust::Anyone)
    }
}

#[derive(Debug)]
struct Verifier {
    trust: Trust,
    provider: Arc<CryptoProvider>,
}

impl ServerCertVerifier for Verifier {
    fn verify_server_cert(
        &self,
        end_entity: &CertificateDer<'_>,
        intermediates: &[CertificateDer<'_>],
        server_name: &ServerName<'_>,
        _ocsp: &[u8],
        now: UnixTime,
    ) -> Result<ServerCertVerified, rustls::Error> {
        if let Trust::Authorities { roots, given, check_name } = &self.trust {
            let certificate = ParsedCertificate::try_from(end_entity)?;
            // A self-signed certificate in the file is trusted as it is, as with OpenSSL: it is its own
            // authority, which the chain verification refuses.
            if !given.contains(end_entity) {
                let algorithms = self.provider.signature_verification_algorithms.all;
                verify_server_cert_signed_by_trust_anchor(
                    &certificate,
                    roots,
                    intermediates,
                    now,
                    algorithms,
                )?;
            }
            if *check_name {
                verify_server_name(&certificate, server_name)?;
            }
        }
        Ok(ServerCertVerified::assertion())
    }

    fn verify_tls12_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls12_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn verify_tls13_signature(
        &self,
        message: &[u8],
        certificate: &CertificateDer<'_>,
        signed: &DigitallySignedStruct,
    ) -> Result<HandshakeSignatureValid, rustls::Error> {
        verify_tls13_signature(message, certificate, signed, &self.provider.signature_verification_algorithms)
    }

    fn supported_verify_schemes(&self) -> Vec<SignatureScheme> {
        self.provider.signature_verification_algorithms.supported_schemes()
    }
}

/// The channel binding `tls-server-end-point` (RFC 5929, section 4): the hash of the server's certificate by
/// the hash of its signature, with SHA-256 in place of weaker ones. `None` when the signature's algorithm is
/// not among the common ones; authentication then goes on without binding.
pub(crate) fn server_end_point(connection: &ClientConnection) -> Option<Vec<u8>> {
    let certificate = connection.peer_certificates()?.first()?;
    let algorithm = match signature_algorithm(certificate)? {
        // 1.2.840.113549.1.1.{5, 11, 12}: RSA with SHA-1, SHA-256, SHA-384
        [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 5 | 11] => HashAlgorithm::SHA256,
        [0x2A, 0x86, 0x48, 0x86, 0xF7, 0x0D, 0x01, 0x01, 12] => HashAlgorithm::SHA384,
        // 1.2.840.10045.4.{1, 3.2, 3.3}: ECDSA with SHA-1, SHA-256, SHA-384
        [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 1] | [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 3, 2] => {
            HashAlgorithm::SHA256
        }
        [0x2A, 0x86, 0x48, 0xCE, 0x3D, 0x04, 3, 3] => HashAlgorithm::SHA384,
        _ => return None,
    };
    let suites = rustls::crypto::ring::default_provider().cipher_suites;
    let hash = suites
        .iter()
        .filter_map(|suite| suite.tls13())
        .map(|suite| suite.common.hash_provider)
        .find(|hash| hash.algorithm() == algorithm)?;
    Some(hash.hash(certificate).as_ref().to_vec())
}

/// The OID of a certificate's outer signature algorithm, as its DER bytes.
fn signature_algorithm(certificate: &[u8]) -> Option<&[u8]> {
    const SEQUENCE: u8 = 0x30;
    const OID: u8 = 0x06;
    let (whole, _) = der_element(certificate, SEQUENCE)?;
    let (_to_be_signed, behind) = der_element(whole, SEQUENCE)?;
    let (algorithm, _) = der_element(behind, SEQUENCE)?;
    der_element(algorithm, OID).map(|(oid, _)| oid)
}

/// The content of the first element, which must be of kind `tag`, and what lies behind it.
fn der_element(bytes: &[u8], tag: u8) -> Option<(&[u8], &[u8])> {
    let (&[found, first], rest) = bytes.split_first_chunk()?;
    if found != tag {
        return None;
    }
    let (length, rest) = match first {
        0..=0x7F => (usize::from(first), rest),
        0x81..=0x84 => {
            let (digits, rest) = rest.split_at_checked(usize::from(first & 0x7F))?;
            (digits.iter().fold(0, |length, digit| length << 8 | usize::from(*digit)), rest)
        }
        _ => return None,
    };
    rest.split_at_checked(length)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_signature_algorithm_is_found_behind_long_and_short_elements() {
        let mut signed = vec![0x30, 0x82, 0x01, 0x00];
        signed.resize(4 + 256, 7);
        let algorithm = [0x30, 5, 0x06, 3, 1, 2, 3, 0x03, 1, 0];
        let mut whole = vec![0x30, 0x82, 0x01, 0x0E];
        whole.extend(signed);
        whole.extend(algorithm);
        assert_eq!(signature_algorithm(&whole), Some(&[1_u8, 2, 3][..]));
        for end in 0..whole.len() {
            assert_eq!(signature_algorithm(&whole[..end]), None, "cut at {end}");
        }
    }
}
