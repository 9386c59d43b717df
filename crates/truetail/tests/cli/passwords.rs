//! Where a password may come from, besides the URL; a run in which it arrives, and one in which it does not.

use crate::program::{Scratch, files};
use std::os::unix::fs::PermissionsExt;
use testkit::postgres::{Authentication, Options, server};

const SECRET: &str = "Tr0mbone-in-the-wings";
const LOAD: [&str; 9] = ["-w", "noop", "-d", "300ms", "--warmup", "0s", "-c", "2", "-o"];

#[test]
fn a_password_comes_from_the_environment_or_a_file() {
    let options = Options { authentication: Authentication::Scram(SECRET.to_owned()), ..Options::default() };
    let Some(server) = server(&options) else { return };
    let scratch = Scratch::new("passwords");
    let url = server.tcp_url().replace(&format!(":{SECRET}@"), "@");
    assert!(!url.contains(SECRET));
    let entry = format!("127.0.0.1:{}:*:postgres:{SECRET}\n", server.port());
    let write = |name: &str, text: &str, mode: u32| {
        scratch.write(name, text);
        let permissions = std::fs::Permissions::from_mode(mode);
        std::fs::set_permissions(scratch.path(name), permissions).expect("permissions");
    };
    write("mine", &format!("# host:port:database:user:password\nelsewhere:*:*:*:no\n{entry}"), 0o600);
    write("everybodys", &entry, 0o644);
    write("anothers", "elsewhere:*:*:*:no\n", 0o600);
    std::fs::create_dir(scratch.path("home")).expect("a directory");
    write("home/.pgpass", &entry, 0o600);

    let run = |directory: &str, variables: &[(&str, &str)]| {
        let mut command = scratch.command(&[&["run", &url], &LOAD[..], &[directory]].concat());
        command.env("HOME", scratch.path("nobody")).envs(variables.iter().copied());
        scratch.run(&mut command)
    };
    let path = |name: &str| scratch.path(name).display().to_string();
    run("a", &[("PGPASSWORD", SECRET)]).judged();
    run("b", &[("PGPASSFILE", &path("mine"))]).judged();
    run("c", &[("HOME", &path("home"))]).judged();
    // The environment wins over the file, as libpq has it.
    run("d", &[("PGPASSWORD", SECRET), ("PGPASSFILE", &path("anothers"))]).judged();
    for file in ["a", "b", "c", "d"].iter().flat_map(|name| files(&scratch.path(name))) {
        let bytes = std::fs::read(&file).expect("a file of the recording");
        let found = bytes.windows(SECRET.len()).any(|window| window == SECRET.as_bytes());
        assert!(!found, "the password is in {}", file.display());
    }

    run("e", &[]).refused(&["password"]);
    run("f", &[("PGPASSWORD", "Wr0ng")]).refused(&["password authentication failed"]);
    run("g", &[("PGPASSFILE", &path("anothers"))]).refused(&["password"]);
    // A file that everybody may read is not used.
    let ended = run("h", &[("PGPASSFILE", &path("everybodys"))]).with_code(2);
    assert!(ended.stderr.contains("password") && !ended.stderr.contains(SECRET), "{ended:?}");
}
