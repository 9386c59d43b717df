//! Planning is pure, allocates nothing, and neither does carrying a plan out.

use driver::{Dialect, Direct, Target};
use driver_null::{NullSession, NullTarget};
use testkit::alloc::{CountingAlloc, counted};
use units::Seed;
use workload::users::NOBODY;
use workload::{OpId, Request, Workload};
use workload_file::{Choice, FileWorkload, Plan};

#[global_allocator]
static ALLOC: CountingAlloc = CountingAlloc;

/// Every way to draw, text of many lengths, more arguments than fit a small array, and all that a transaction can be.
const ALL: &str = r#"
[parameters]
n = 500
word = "abc"

[values]
a = { draw = "uniform", from = 1, to = "n" }
b = { draw = "zipf", from = 1, to = "n", unlike = "a" }
c = { draw = "zipf-ycsb", from = 1, to = "n", prefix = "user", width = 12 }
d = { draw = "zipf-scrambled", from = 0, to = "n", hash = true, prefix = "user" }
e = { draw = "nurand", a = 255, from = 1, to = 3000 }
f = { draw = "hotspot", from = 1, to = 9, hot = 0.1, share = 0.9 }
g = { draw = "sequence", from = 7 }
h = { draw = "string", length = [0, 500], alphabet = "aäß→" }
i = { draw = "digits", length = 16 }
j = { draw = "choice", of = ["x", "y"], weights = [1, 9] }
k = { draw = "timestamp", from = 2020-01-01, to = 2021-01-01 }
l = { draw = "now" }
m = { draw = "uniform", from = 0.01, to = 9.99, type = "decimal(2)" }
o = { draw = "uniform", from = 0.0, to = 1.0 }

[[transaction]]
name = "one"
sql = "SELECT :a, :b, :c, :d, :e, :f, :g, :h, :i, :j, :k, :m, :n, :o, :word"

[[transaction]]
name = "several"
isolation = "serializable"
[[transaction.step]]
sql = "SELECT :a"
expect = "any"
abort_if_empty = false
[[transaction.step]]
sql = "UPDATE t SET h = :h WHERE a = :a"
together = true
[[transaction.step]]
sql = "UPDATE t SET h = :h WHERE a = :b"

[[transaction]]
name = "alone"
autocommit = true
step = ["SELECT :l", "SELECT :a"]
"#;

fn workload(seed: u64) -> FileWorkload {
    FileWorkload::from_text("all.toml", ALL, &Choice { seed: Seed(seed), ..Choice::default() }).unwrap()
}

fn request(seq: u64) -> Request {
    Request { seq, op: OpId((seq % 3) as u8), ticket: seq / 3, user: NOBODY }
}

#[test]
fn no_request_allocates_when_planned_or_run() {
    let workload = workload(1);
    let statements = workload.statements(Dialect::Null).unwrap();
    let mut session = NullTarget::new().connect(&statements, None).unwrap();
    let mut plan = workload.new_plan();
    let (done, counts) = counted(|| {
        let mut done = 0;
        for seq in 0..5_000 {
            workload.plan(request(seq), &mut plan);
            let mut direct = Direct::new(&mut session);
            done += u64::from(Direct::<NullSession>::run(workload.run(&plan, &mut direct)).is_ok());
        }
        done
    });
    assert_eq!((done, counts.total()), (5_000, 0));
}

#[test]
#[cfg(target_os = "linux")]
fn no_request_makes_a_system_call_when_planned() {
    let workload = workload(1);
    let mut plan = workload.new_plan();
    let ended = testkit::syscalls::no_syscalls(|| {
        for seq in 0..1_000 {
            workload.plan(request(seq), &mut plan);
        }
    });
    assert_eq!(ended, Ok(()));
}

fn shown(workload: &FileWorkload, plan: &mut Plan, seq: u64) -> String {
    workload.plan(request(seq), plan);
    workload.show(plan)
}

/// Requests of the third kind have the time of day, and are left out.
fn seqs() -> impl DoubleEndedIterator<Item = u64> {
    (0..300).filter(|seq| seq % 3 != 2)
}

#[test]
fn a_plan_does_not_depend_on_what_was_planned_before() {
    let (first, again) = (workload(1), workload(1));
    let (mut fresh, mut used) = (first.new_plan(), again.new_plan());
    let planned: Vec<(u64, String)> = seqs().map(|seq| (seq, shown(&first, &mut fresh, seq))).collect();
    for (seq, expected) in planned.into_iter().rev() {
        assert_eq!(shown(&again, &mut used, seq), expected, "request {seq}");
    }
    let other = workload(2);
    let mut plan = other.new_plan();
    assert!(seqs().all(|seq| shown(&other, &mut plan, seq) != shown(&first, &mut fresh, seq)));
}

#[test]
fn a_value_more_changes_no_other() {
    let text = |more: &str| {
        format!(
            "[values]\n{more}key = {{ draw = \"uniform\", from = 1, to = 1000 }}\n[[transaction]]\nname = \"t\"\n\
             sql = \"SELECT :key{}\"",
            if more.is_empty() { "" } else { ", :first" }
        )
    };
    let keys = |more: &str| {
        let workload = FileWorkload::from_text("w.toml", &text(more), &Choice::default()).unwrap();
        let mut plan = workload.new_plan();
        let key = |seq| {
            workload.plan(Request { seq, op: OpId(0), ticket: 0, user: NOBODY }, &mut plan);
            workload.show(&plan).split("key=").nth(1).unwrap().split(' ').next().unwrap().to_owned()
        };
        (0..100).map(key).collect::<Vec<String>>()
    };
    assert_eq!(keys(""), keys("first = { draw = \"string\", length = 9 }\n"));
}

#[test]
fn a_value_that_must_differ_always_does() {
    // With two numbers, 64 draws that are all the same come now and then where one of them is as good as certain.
    let text = "[values]\na = 1\nx = { draw = \"uniform\", from = 1, to = 2 }\n\
                y = { draw = \"hotspot\", from = 1, to = 2, hot = 0.5, share = 1.0, unlike = \"x\" }\n\
                [[transaction]]\nname = \"t\"\nsql = \"SELECT :x, :y\"";
    let workload = FileWorkload::from_text("w.toml", text, &Choice::default()).unwrap();
    let mut plan = workload.new_plan();
    for seq in 0..1_000 {
        workload.plan(Request { seq, op: OpId(0), ticket: 0, user: NOBODY }, &mut plan);
        let line = workload.show(&plan);
        assert!(line == "t x=1 y=2" || line == "t x=2 y=1", "{line}");
    }
}

/// The numbers that the sequence of `ALL` gives to the first requests.
fn sequence(client: (u16, u16)) -> Vec<i64> {
    let choice = Choice { client, ..Choice::default() };
    let workload = FileWorkload::from_text("all.toml", ALL, &choice).unwrap();
    let (mut tickets, mut plan) = (workload.tickets(), workload.new_plan());
    let mut numbers = Vec::new();
    for seq in 0..300 {
        let op = OpId((seq % 3) as u8);
        let ticket = tickets.next(seq, op);
        workload.plan(Request { seq, op, ticket, user: NOBODY }, &mut plan);
        let line = workload.show(&plan);
        let number: Option<i64> =
            line.split(" g=").nth(1).map(|rest| rest.split(' ').next().unwrap().parse().unwrap());
        numbers.extend(number);
    }
    numbers
}

#[test]
fn a_sequence_gives_each_number_once_and_clients_share_them_out() {
    assert_eq!(sequence((0, 1)), (7..107).collect::<Vec<i64>>());
    let mut all: Vec<i64> = (0..3).flat_map(|client| sequence((client, 3))).collect();
    all.sort_unstable();
    assert_eq!(all, (7..307).collect::<Vec<i64>>());
}

#[test]
fn parameters_are_set_otherwise_and_stated() {
    let parameters = vec![("n".to_owned(), "1".to_owned())];
    let error = match FileWorkload::from_text("all.toml", ALL, &Choice { parameters, ..Choice::default() }) {
        Ok(_) => panic!("`b` must differ from `a` and can't"),
        Err(error) => error,
    };
    assert!(error.contains("value `b`: can't differ from `a`"), "{error}");
    let parameters = vec![("n".to_owned(), "2".to_owned()), ("word".to_owned(), "x=y".to_owned())];
    let workload =
        FileWorkload::from_text("dir/all.toml", ALL, &Choice { parameters, ..Choice::default() }).unwrap();
    let facts = workload.facts();
    assert_eq!(facts.name, "all");
    let fact = |name: &str| facts.parameters.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str());
    assert_eq!((fact("file"), fact("n"), fact("word")), (Some("dir/all.toml"), Some("2"), Some("x=y")));
    assert_eq!(fact("SHA-256 of all.toml").map(str::len), Some(64));
    assert_eq!(workload.files(), [("all.toml".to_owned(), ALL.to_owned())]);
    assert_eq!(workload.notes(), Vec::<String>::new());
}
