//! What is sent for a request, exchange by exchange, and what becomes of the answers: against a conversation that is told
//! what to answer and notes what it is asked.

use driver::{Command, Conversation, Dialect, OpError, Reply, Value, ValueRef};
use units::Outcome;
use workload::users::NOBODY;
use workload::{OpId, Request, Workload};
use workload_file::{Choice, FileWorkload, Plan};

/// What one exchange answers: an error, or a reply to each command with the row that it keeps.
type Answer = Result<Vec<(Reply, Vec<Value<'static>>)>, OpError>;

#[derive(Default)]
struct Told {
    answers: Vec<Answer>,
    staged: Vec<String>,
    /// The exchanges so far: the commands of each.
    exchanges: Vec<String>,
    replies: Vec<(Reply, Vec<Value<'static>>)>,
}

impl Conversation for Told {
    fn stage(&mut self, command: Command<'_>) -> Result<(), OpError> {
        self.replies.clear();
        self.staged.push(match command {
            Command::Statement { index, arguments } => {
                let arguments: Vec<String> = arguments.iter().map(shown).collect();
                format!("{index}({})", arguments.join(","))
            }
            other => format!("{other:?}").to_lowercase(),
        });
        Ok(())
    }

    async fn exchange(&mut self) -> Result<(), OpError> {
        self.exchanges.push(std::mem::take(&mut self.staged).join(" "));
        // What nobody told is answered by one row each.
        let answer = if self.answers.is_empty() { Ok(Vec::new()) } else { self.answers.remove(0) };
        self.replies = answer?;
        Ok(())
    }

    fn reply(&self, command: usize) -> Reply {
        self.replies.get(command).map_or(Reply { rows: 1, affected: 1 }, |(reply, _)| *reply)
    }

    fn value(&self, command: usize, row: usize, column: usize) -> Option<ValueRef<'_>> {
        assert_eq!(row, 0);
        self.replies.get(command)?.1.get(column).copied()
    }
}

fn shown(value: &Value<'_>) -> String {
    match value {
        Value::Int(n) => n.to_string(),
        Value::Text(text) => format!("'{text}'"),
        Value::Decimal(decimal) => decimal.to_string(),
        Value::Null => "NULL".to_owned(),
        other => format!("{other:?}"),
    }
}

fn rows(rows: u64, affected: u64) -> (Reply, Vec<Value<'static>>) {
    (Reply { rows, affected }, Vec::new())
}

fn workload(text: &str) -> FileWorkload {
    let text = format!("[values]\nk = 7\namount = 3\n{text}");
    FileWorkload::from_text("w.toml", &text, &Choice::default()).unwrap()
}

fn plan_of(workload: &FileWorkload) -> Plan {
    let mut plan = workload.new_plan();
    workload.plan(Request { seq: 0, op: OpId(0), ticket: 0, user: NOBODY }, &mut plan);
    plan
}

fn run(workload: &FileWorkload, plan: &Plan, told: &mut Told) -> Result<Outcome, OpError> {
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    match std::pin::pin!(workload.run(plan, told)).poll(&mut context) {
        std::task::Poll::Ready(result) => result,
        std::task::Poll::Pending => panic!("it answers at once"),
    }
}

/// Runs the first transaction of a file once: how it ended, and what was exchanged.
fn once(text: &str, dialect: Dialect, answers: Vec<Answer>) -> (Result<Outcome, OpError>, Vec<String>) {
    let workload = workload(text);
    workload.statements(dialect).unwrap();
    let mut told = Told { answers, ..Told::default() };
    let result = run(&workload, &plan_of(&workload), &mut told);
    (result, told.exchanges)
}

fn lone(expect: &str) -> String {
    format!("[[transaction]]\nname = \"t\"\nsql = \"SELECT :k\"\n{expect}")
}

#[test]
fn an_expectation_that_is_not_met_is_a_miss() {
    let cases = [
        ("", 0, 0, Outcome::Ok),
        ("expect = \"any\"", 0, 0, Outcome::Ok),
        ("expect = \"row\"", 1, 0, Outcome::Ok),
        ("expect = \"row\"", 0, 1, Outcome::Miss),
        ("expect = \"row\"", 2, 0, Outcome::Miss),
        ("expect = \"rows\"", 2, 0, Outcome::Ok),
        ("expect = \"rows\"", 0, 2, Outcome::Miss),
        ("expect = \"affected\"", 0, 2, Outcome::Ok),
        ("expect = \"affected\"", 2, 0, Outcome::Miss),
        ("abort_if_empty = true", 0, 0, Outcome::Abort),
        ("abort_if_empty = true", 0, 1, Outcome::Ok),
        ("abort_if_empty = true\nexpect = \"affected\"", 1, 0, Outcome::Miss),
    ];
    for (expect, found, affected, outcome) in cases {
        let (result, exchanges) =
            once(&lone(expect), Dialect::Postgres, vec![Ok(vec![rows(found, affected)])]);
        assert_eq!(
            (result, exchanges),
            (Ok(outcome), vec!["0(7)".to_owned()]),
            "{expect} {found} {affected}"
        );
    }
}

fn steps(more: &str, steps: &[&str]) -> String {
    let steps: Vec<String> = steps.iter().map(|step| format!("[[transaction.step]]\n{step}\n")).collect();
    format!("[[transaction]]\nname = \"t\"\n{more}\n{}", steps.concat())
}

const A: &str = "sql = \"SELECT :k\"";
const B: &str = "sql = \"UPDATE t SET a = :amount\"";
const B_TOGETHER: &str = "sql = \"UPDATE t SET a = :amount\"\ntogether = true";

#[test]
fn begin_and_commit_are_in_the_first_and_the_last_exchange() {
    let exchanges = |text: &str| once(text, Dialect::Sqlite, vec![]).1;
    assert_eq!(exchanges(&steps("", &[A, B])), ["begin 0(7)", "1(3) commit"]);
    assert_eq!(exchanges(&steps("", &[A, B_TOGETHER])), ["begin 0(7) 1(3) commit"]);
    assert_eq!(exchanges(&steps("together = true", &[A, B])), ["begin 0(7) 1(3) commit"]);
    assert_eq!(exchanges(&steps("autocommit = true", &[A, B])), ["0(7)", "1(3)"]);
    assert_eq!(exchanges(&steps("autocommit = true", &[A, B_TOGETHER])), ["0(7) 1(3)"]);
    assert_eq!(exchanges(&steps("autocommit = false", &[A])), ["begin 0(7) commit"]);
    // Whether there is a commit is decided by the last answer.
    let expects = format!("{B}\nexpect = \"affected\"");
    assert_eq!(exchanges(&steps("", &[A, &expects])), ["begin 0(7)", "1(3)", "commit"]);
}

#[test]
fn isolation_is_set_without_an_exchange_more() {
    let text = steps("isolation = \"repeatable-read\"", &[A, B]);
    let file = workload(&text);
    let sql = |dialect| file.statements(dialect).unwrap().into_iter().map(|s| s.sql).collect::<Vec<_>>();
    assert_eq!(sql(Dialect::Postgres)[0], "SET TRANSACTION ISOLATION LEVEL REPEATABLE READ");
    assert_eq!(once(&text, Dialect::Postgres, vec![]).1, ["begin 0() 1(7)", "2(3) commit"]);
    assert_eq!(once(&text, Dialect::MySql, vec![]).1, ["0() begin 1(7)", "2(3) commit"]);
    assert_eq!(once(&text, Dialect::Sqlite, vec![]).1, ["begin 0(7)", "1(3) commit"]);
    // What comes before the first step's answer is not taken for it.
    let text = steps("isolation = \"serializable\"", &[&format!("{A}\nexpect = \"row\""), B]);
    let answer = vec![Ok(vec![rows(0, 0), rows(0, 0), rows(1, 0)])];
    assert_eq!(once(&text, Dialect::Postgres, answer).0, Ok(Outcome::Ok));
}

#[test]
fn a_transaction_that_misses_is_rolled_back_and_goes_no_further() {
    let text = steps("", &[&format!("{A}\nexpect = \"row\""), B]);
    let (result, exchanges) = once(&text, Dialect::Sqlite, vec![Ok(vec![rows(0, 0), rows(0, 0)])]);
    assert_eq!(
        (result, exchanges),
        (Ok(Outcome::Miss), vec!["begin 0(7)".to_owned(), "rollback".to_owned()])
    );
    let text = steps("", &[A, &format!("{B}\nabort_if_empty = true")]);
    let (result, exchanges) =
        once(&text, Dialect::Sqlite, vec![Ok(vec![rows(0, 0), rows(1, 0)]), Ok(vec![rows(0, 0)])]);
    assert_eq!((result, exchanges.last().unwrap().as_str()), (Ok(Outcome::Abort), "rollback"));
    let text = steps("autocommit = true", &[&format!("{A}\nexpect = \"row\""), B]);
    assert_eq!(once(&text, Dialect::Sqlite, vec![Ok(vec![rows(0, 0)])]).1, ["0(7)"]);
}

#[test]
fn an_error_is_rolled_back() {
    let error = OpError::refused(Outcome::Deadlock);
    let (result, exchanges) = once(&steps("", &[A, B]), Dialect::Sqlite, vec![Ok(vec![]), Err(error)]);
    assert_eq!((result, exchanges.last().unwrap().as_str()), (Err(error), "rollback"));
    let lost = OpError::lost(Outcome::ConnectionLost);
    assert_eq!(once(&steps("", &[A, B]), Dialect::Sqlite, vec![Err(lost)]).1.len(), 1);
    assert_eq!(
        once(&lone(""), Dialect::Sqlite, vec![Err(error)]).1.len(),
        1,
        "there is nothing to roll back"
    );
}

const KEEPS: &str =
    "sql = \"SELECT :k\"\nas = \"r\"\nkeep = [\"name text\", \"sum decimal(2)\", \"gone int\"]";
const USES: &str = "sql = \"UPDATE t SET a = :r.sum, b = :r.name, c = :r.gone, d = :amount, e = :r.name\"";

fn kept(name: &'static str) -> Answer {
    let sum = Value::Decimal(driver::Decimal { unscaled: 1_250, scale: 2 });
    let row = (Reply { rows: 1, affected: 0 }, vec![Value::Text(name), sum, Value::Null]);
    Ok(vec![rows(0, 0), row])
}

#[test]
fn kept_values_flow_to_later_statements() {
    let text = steps("together = true", &[KEEPS, USES]);
    let statements = workload(&text).statements(Dialect::Postgres).unwrap();
    assert_eq!(statements[0].columns.len(), 3);
    assert_eq!(statements[1].sql, "UPDATE t SET a = $1, b = $2, c = $3, d = $4, e = $5");
    let (result, exchanges) = once(&text, Dialect::Postgres, vec![kept("Ann")]);
    assert_eq!(result, Ok(Outcome::Ok));
    // Not together, whatever the transaction says: it needs the answer.
    assert_eq!(exchanges, ["begin 0(7)", "1(12.50,'Ann',NULL,3,'Ann') commit"]);
    // Without a row there is nothing to go on with.
    let (result, exchanges) = once(&text, Dialect::Postgres, vec![Ok(vec![rows(0, 0), rows(0, 0)])]);
    assert_eq!((result, exchanges.len()), (Ok(Outcome::Miss), 2));
}

#[test]
fn a_retry_runs_the_same_plan_and_keeps_anew() {
    let workload = workload(&steps("", &[KEEPS, USES]));
    workload.statements(Dialect::Postgres).unwrap();
    let plan = plan_of(&workload);
    let busy = OpError::refused(Outcome::Serialization);
    let answers = vec![kept("Ann"), Err(busy), Ok(vec![]), kept("Bob")];
    let mut told = Told { answers, ..Told::default() };
    assert_eq!(run(&workload, &plan, &mut told), Err(busy));
    assert_eq!(run(&workload, &plan, &mut told), Ok(Outcome::Ok));
    let uses = |name: &str| format!("1(12.50,'{name}',NULL,3,'{name}') commit");
    assert_eq!(
        told.exchanges,
        ["begin 0(7)", &uses("Ann"), "rollback", "begin 0(7)", &uses("Bob")].map(str::to_owned)
    );
}

#[test]
fn many_arguments_are_bound_and_too_many_are_refused() {
    for count in [8, 9, 32, 33, 128] {
        let names = vec![":k"; count].join(", ");
        let text = format!("[[transaction]]\nname = \"t\"\nsql = \"SELECT {names}\"");
        let expected = format!("0({})", vec!["7"; count].join(","));
        assert_eq!(once(&text, Dialect::Postgres, vec![]).1, [expected]);
    }
    let names = vec![":k"; 129].join(", ");
    let text = format!("[values]\nk = 7\n[[transaction]]\nname = \"t\"\nsql = \"SELECT {names}\"");
    let refused = FileWorkload::from_text("w.toml", &text, &Choice::default()).err();
    assert!(refused.is_some_and(|error| error.contains("129 parameters; at most 128")));
}
