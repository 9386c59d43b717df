//! What the program says of itself.

use crate::program::Scratch;

#[test]
fn every_command_has_an_example_and_its_exit_codes() {
    let scratch = Scratch::new("help");
    let help = scratch.truetail(&["--help"]).well().stdout;
    assert!(help.contains("Examples:"), "{help}");
    let commands = [
        "run",
        "load",
        "check",
        "cleanup",
        "report",
        "attribute",
        "compare",
        "export",
        "search",
        "import",
        "experiment",
        "ycsb",
        "floor",
        "gaps",
        "echo",
        "store",
        "prove",
        "benchbase",
    ];
    for command in commands {
        assert!(help.contains(&format!("\n  {command} ")), "{command} is not in {help}");
        for flag in ["--help", "-h"] {
            let text = scratch.truetail(&[command, flag]).well().stdout;
            assert!(
                text.contains(&format!("  truetail {command}")),
                "no example in {command} {flag}: {text}"
            );
            assert!(text.contains("Exit codes: 0 "), "{command} {flag}: {text}");
        }
    }
    let listed = help.lines().skip_while(|l| *l != "Commands:").skip(1).take_while(|l| !l.is_empty());
    assert_eq!(listed.count(), commands.len() + 1, "a command without a test here: {help}");
}

#[test]
fn the_help_of_run_lists_targets_and_workloads() {
    let scratch = Scratch::new("help-run");
    let text = scratch.truetail(&["run", "--help"]).well().stdout;
    let targets = ["sqlite:", "postgres://", "redis://", "echo://", "null:"];
    let workloads = ["ycsb-a", "noop", "seats", "epinions", "smallbank", "tatp"];
    for word in targets.into_iter().chain(workloads) {
        assert!(text.contains(word), "no {word} in {text}");
    }
}

#[test]
fn the_version_is_told() {
    let scratch = Scratch::new("version");
    let said = scratch.truetail(&["--version"]).well().stdout;
    assert_eq!(scratch.truetail(&["-V"]).well().stdout, said);
    let line = said.strip_suffix("\n").expect("one line");
    let version = line.strip_prefix("truetail ").expect(line);
    let (number, commit) = version.split_once(" (commit ").expect(version);
    assert_eq!(number, env!("CARGO_PKG_VERSION"));
    let commit = commit.strip_suffix(')').expect(version);
    let is_hash = commit.len() >= 12 && commit.bytes().all(|b| b.is_ascii_hexdigit());
    // A copy of the sources without their history is built all the same.
    let is_checkout = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../.git").exists();
    assert!(if is_checkout { is_hash } else { is_hash || commit == "unknown" }, "{version}");

    scratch.truetail(&["run", "null:", "-d", "200ms", "--warmup", "0s", "-o", "a"]).judged();
    assert_eq!(scratch.recording("a").header().tool_version, version);
}

#[test]
fn without_a_command_there_is_help() {
    let scratch = Scratch::new("help-none");
    let ended = scratch.truetail(&[]).with_code(2);
    assert!(ended.stderr.contains("Commands:") && ended.stderr.contains("Examples:"), "{ended:?}");
}
