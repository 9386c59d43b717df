//! Certificates for a test server: an authority of its own, and a server certificate for `localhost`.
//!
//! One self-signed certificate would not do: it would be an authority used as an end entity, which strict
//! verifiers refuse.

use crate::command::run;
use std::path::Path;
use std::process::Command;

/// Writes `authority.crt` into `directory`, `server.crt` and `server.key` into `data`.
pub(crate) fn make(directory: &Path, data: &Path) -> Result<(), String> {
    let extensions = directory.join("extensions");
    std::fs::write(&extensions, "subjectAltName=DNS:localhost\nbasicConstraints=CA:FALSE\n")
        .map_err(|e| format!("{}: {e}", extensions.display()))?;
    let openssl = |arguments: &[&str]| {
        run(Command::new("openssl").args(arguments).current_dir(directory), None)
            .map_err(|reason| format!("{reason}; TLS tests need the `openssl` program"))
    };
    let key = ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"];
    let mut authority = vec!["req", "-x509", "-days", "2", "-subj", "/CN=truetail test authority"];
    authority.extend(["-keyout", "authority.key", "-out", "authority.crt"]);
    authority.extend(key);
    openssl(&authority)?;
    let mut request = vec!["req", "-subj", "/CN=localhost", "-keyout", "server.key", "-out", "request"];
    request.extend(key);
    openssl(&request)?;
    let mut sign = vec!["x509", "-req", "-in", "request", "-days", "2", "-out", "server.crt"];
    sign.extend([
        "-CA",
        "authority.crt",
        "-CAkey",
        "authority.key",
        "-CAcreateserial",
        "-extfile",
        "extensions",
    ]);
    openssl(&sign)?;
    for name in ["server.crt", "server.key"] {
        std::fs::copy(directory.join(name), data.join(name)).map_err(|e| format!("{name}: {e}"))?;
    }
    // PostgreSQL refuses a key that others can read; MariaDB does not care.
    let only_owner = std::os::unix::fs::PermissionsExt::from_mode(0o600);
    std::fs::set_permissions(data.join("server.key"), only_owner).map_err(|e| format!("server.key: {e}"))
}
