//! The channel binding of SCRAM: what ties a login to the TLS connection that it goes through.

use rustls::ClientConnection;
use rustls::crypto::hash::HashAlgorithm;

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
