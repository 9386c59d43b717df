use super::*;
use crate::{
    Ending, HostFacts, JvmLogFacts, LoadFacts, LoadModel, NoiseSourceFacts, PhaseFacts, PhaseKind,
    Provenance, ServerLogFacts, StatementFacts,
};
use proptest::prelude::*;
use units::{Instant, Nanos, Outcome, PerSecond};

fn pairs() -> impl Strategy<Value = Vec<(String, String)>> {
    prop::collection::vec((any::<String>(), any::<String>()), 0..3)
}

fn instants() -> impl Strategy<Value = Instant> {
    prop_oneof![Just(Instant::NONE), any::<u64>().prop_map(Instant)]
}

fn provenances() -> impl Strategy<Value = Provenance> {
    prop_oneof![
        Just(Provenance::Live),
        Just(Provenance::Simulated),
        any::<String>().prop_map(|tool| Provenance::Imported { tool })
    ]
}

fn loads() -> impl Strategy<Value = LoadFacts> {
    let model = prop::sample::select(LoadModel::ALL.to_vec());
    (model, any::<(String, u32, u32, Option<u64>, String, u64)>()).prop_map(|(model, facts)| {
        let (arrivals, sessions, workers, timeout, pacing, seed) = facts;
        LoadFacts { model, arrivals, sessions, workers, timeout: timeout.map(Nanos), pacing, seed }
    })
}

fn phases() -> impl Strategy<Value = PhaseFacts> {
    let rate = || (0.0..1e12).prop_map(|r| PerSecond::new(r).unwrap());
    let offered = prop::option::of((rate(), rate()));
    let mix = prop::collection::vec(-1e300..1e300, 0..4);
    (any::<(String, bool, u32)>(), instants(), instants(), offered, mix).prop_map(
        |((name, measured, sessions), begin, end, offered, mix)| PhaseFacts {
            name,
            kind: if measured { PhaseKind::Measured } else { PhaseKind::WarmUp },
            begin,
            end,
            offered,
            sessions,
            mix,
        },
    )
}

fn hosts() -> impl Strategy<Value = HostFacts> {
    (any::<(String, String, u32, u64, String, String, String)>(), pairs()).prop_map(|(facts, more)| {
        let (name, cpu, cpus, memory_bytes, kernel, system, virtualisation) = facts;
        HostFacts { name, cpu, cpus, memory_bytes, kernel, system, virtualisation, more }
    })
}

fn headers() -> impl Strategy<Value = RunHeader> {
    let texts = any::<(String, String, u16, u64, String, String, String)>();
    let statement = any::<(String, String)>().prop_map(|(name, text)| StatementFacts { name, text });
    let statements = prop::option::of(prop::collection::vec(statement, 0..3));
    let operations = (prop::collection::vec(any::<String>(), 0..3), statements);
    let facts = (pairs(), pairs(), pairs(), pairs());
    (texts, provenances(), loads(), prop::collection::vec(phases(), 0..3), operations, facts, hosts())
        .prop_map(|(texts, provenance, load, phases, operations, facts, host)| RunHeader {
            tool_version: texts.0,
            command: texts.1,
            client: texts.2,
            epoch_wall_ns: texts.3,
            provenance,
            load,
            phases,
            operations: operations.0,
            statements: operations.1,
            workload: texts.4,
            workload_facts: facts.0,
            target: texts.5,
            target_facts: facts.1,
            host,
            clock_facts: facts.2,
            capabilities: facts.3,
            config: texts.6,
        })
}

fn ends() -> impl Strategy<Value = EndOfRun> {
    let ending = prop_oneof![
        Just(Ending::Completed),
        any::<String>().prop_map(Ending::Interrupted),
        any::<String>().prop_map(Ending::Failed)
    ];
    let outcomes = prop::sample::subsequence(Outcome::ALL.to_vec(), 0..5);
    let logs = (prop::collection::vec(jvm_logs(), 0..3), prop::collection::vec(server_logs(), 0..3));
    let counts = any::<(u64, u64, u64, Option<String>)>();
    (ending, instants(), counts, outcomes, pairs(), logs).prop_map(
        |(ending, at, (samples, dropped, unwritable, trouble), outcomes, facts, (jvm_logs, server_logs))| {
            EndOfRun {
                ending,
                at,
                samples,
                outcomes: outcomes.into_iter().map(|o| (o, samples ^ 5)).collect(),
                dropped,
                unwritable,
                trouble,
                facts,
                jvm_logs,
                server_logs,
            }
        },
    )
}

fn server_logs() -> impl Strategy<Value = ServerLogFacts> {
    let longest = any::<Option<u64>>().prop_map(|time| time.map(Nanos));
    (any::<([String; 3], Option<String>)>(), any::<[u64; 8]>(), longest, any::<Vec<String>>()).prop_map(
        |(([file, format, aligned_by], trouble), counts, longest_checkpoint, examples)| ServerLogFacts {
            file,
            format,
            aligned_by,
            trouble,
            checkpoints: counts[0],
            longest_checkpoint,
            vacuums: counts[1],
            lock_waits: counts[2],
            durations: counts[3],
            others: counts[4],
            outside: counts[5],
            not_understood: counts[6],
            checkpoints_in_all: counts[7],
            examples,
        },
    )
}

fn jvm_logs() -> impl Strategy<Value = JvmLogFacts> {
    let times = any::<[Option<u64>; 3]>().prop_map(|times| times.map(|time| time.map(Nanos)));
    (any::<([String; 4], Option<String>)>(), any::<[u64; 7]>(), times, any::<Vec<String>>()).prop_map(
        |(([subject, file, format, aligned_by], trouble), counts, times, examples)| JvmLogFacts {
            subject,
            file,
            format,
            aligned_by,
            trouble,
            pauses: counts[0],
            total: Nanos(counts[1]),
            longest: times[0],
            longest_time_to_safepoint: times[1],
            stalls: counts[2],
            stalled: Nanos(counts[3]),
            longest_stall: times[2],
            summaries: counts[4],
            outside: counts[5],
            not_understood: counts[6],
            examples,
        },
    )
}

fn run_files() -> impl Strategy<Value = RunFile> {
    let source = any::<(String, String, Result<u64, String>)>()
        .prop_map(|(name, unit, available)| NoiseSourceFacts { name, unit, available });
    let verdict =
        any::<(String, Vec<String>)>().prop_map(|(state, reasons)| RecordedVerdict { state, reasons });
    let sources = prop::collection::vec(source, 0..3);
    let end = prop::option::of((ends(), prop::collection::vec(any::<(u16, u32)>(), 0..3)));
    (any::<String>(), headers(), sources, end, prop::option::of(verdict)).prop_map(
        |(run_id, header, noise_sources, end, verdict)| {
            let (end, parts) = end.map_or((None, Vec::new()), |(end, parts)| (Some(end), parts));
            RunFile { run_id, header, noise_sources, end, parts, verdict }
        },
    )
}

fn read_text(text: &str) -> Result<RunFile, RecordError> {
    read(text, Path::new("dir/run.toml"))
}

proptest! {
    #[test]
    fn any_run_file_survives(run in run_files()) {
        let text = write(&run).unwrap();
        prop_assert_eq!(read_text(&text).unwrap(), run);
    }

    #[test]
    fn any_damage_is_an_error_or_a_run_and_one_line(
        run in run_files(),
        at in any::<prop::sample::Index>(),
        byte in any::<u8>(),
        cut in any::<bool>(),
    ) {
        let mut bytes = write(&run).unwrap().into_bytes();
        let at = at.index(bytes.len());
        if cut { bytes.truncate(at) } else { bytes[at] = byte }
        if let Err(error) = read_text(&String::from_utf8_lossy(&bytes)) {
            prop_assert!(!error.to_string().contains('\n'), "{}", error);
        }
    }
}

proptest! {
    /// Also between two lines, where it is still TOML.
    #[test]
    fn a_text_that_is_cut_anywhere_is_refused(run in run_files(), at in any::<prop::sample::Index>()) {
        let text = write(&run).unwrap();
        let whole = text.trim_end().len();
        let lines: Vec<usize> = text.match_indices('\n').map(|(end, _)| end).filter(|&end| end < whole).collect();
        let anywhere = (0..=at.index(whole)).rev().find(|&at| text.is_char_boundary(at)).unwrap();
        for end in [anywhere, lines[at.index(lines.len())]] {
            prop_assert!(read_text(&text[..end]).is_err(), "cut at {} of {}", end, whole);
        }
    }
}

#[test]
fn a_file_of_before_that_says_it_is_complete_has_an_end() {
    let message =
        read_text(&SMALLEST.replace("complete = false", "complete = true")).unwrap_err().to_string();
    assert!(message.contains("`complete = true` and has no `[end]`"), "{message}");
}

const SMALLEST: &str = "
    format = 1
    run_id = 'ab'
    complete = false
    provenance = { kind = 'live', colour = 'later versions may add fields' }
    load = { model = 'open loop' }
    mood = 'unknown fields are ignored'
";

#[test]
fn absent_fields_have_defaults_and_unknown_ones_are_ignored() {
    let run = read_text(SMALLEST).unwrap();
    assert_eq!((run.run_id.as_str(), run.end), ("ab", None));
    assert_eq!(run.header.load.model, LoadModel::Open);
}

#[test]
fn messages_name_file_line_and_next_step() {
    let message = |text: &str| read_text(text).unwrap_err().to_string();
    assert_eq!(
        message("format = 2\ntool_version = '3.0.0'"),
        "dir/run.toml: recording format 2, but this truetail reads formats 1 to 1: use truetail 3.0.0 or later"
    );
    assert!(message("").contains("it has no `format`"));
    assert!(message("format = 0").contains("the first format is 1"));
    assert!(message("format = 1\nrun_id = ").contains("line 2"), "{}", message("format = 1\nrun_id = "));
    assert!(
        message(&SMALLEST.replace("open loop", "ajar loop"))
            .contains("load model `ajar loop` is not known to this truetail")
    );
}
