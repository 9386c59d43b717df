//! TLS with libpq's rules of trust, which MySQL's and MariaDB's clients have by other names.

use rustls::client::danger::{HandshakeSignatureValid, ServerCertVerified, ServerCertVerifier};
use rustls::client::{verify_server_cert_signed_by_trust_anchor, verify_server_name};
use rustls::crypto::{CryptoProvider, verify_tls12_signature, verify_tls13_signature};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName, UnixTime};
use rustls::server::ParsedCertificate;
use rustls::{ClientConfig, ClientConnection, DigitallySignedStruct, RootCertStore, SignatureScheme};
use std::path::Path;
use std::sync::Arc;

/// Whether and how to encrypt: libpq's `sslmode`, without `allow`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum TlsMode {
    /// Never.
    Disable,
    /// If the server has it, whoever it is.
    Prefer,
    /// Always, whoever the server is.
    Require,
    /// Always, signed by a known authority.
    VerifyCa,
    /// Always, signed by a known authority for this host name.
    VerifyFull,
}

impl TlsMode {
    /// All modes, by libpq's names.
    pub const NAMES: [(&'static str, TlsMode); 5] = [
        ("disable", TlsMode::Disable),
        ("prefer", TlsMode::Prefer),
        ("require", TlsMode::Require),
        ("verify-ca", TlsMode::VerifyCa),
        ("verify-full", TlsMode::VerifyFull),
    ];
}

/// A TLS connection to `host`, which must be what the mode asks for, by the authorities in the file `root`. It has exchanged
/// nothing yet.
///
/// # Errors
/// One line: what is missing or can't be read.
pub fn connection(mode: TlsMode, root: Option<&Path>, host: &str) -> Result<ClientConnection, String> {
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let trust = match mode {
        TlsMode::Disable | TlsMode::Prefer | TlsMode::Require => Trust::Anyone,
        TlsMode::VerifyCa | TlsMode::VerifyFull => {
            let path = root.ok_or("no root certificate to verify the server with; add sslrootcert=FILE")?;
            let (roots, given) = read_roots(path)?;
            Trust::Authorities { roots, given, check_name: mode == TlsMode::VerifyFull }
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
