//! Files that nobody would write: an error in one line, or a workload that plans.
//!
//! `cargo xtask soak --fuzz` does the same for as long as it is told.

use driver::Dialect;
use testkit::fuzz::Fuzz;
use workload::users::NOBODY;
use workload::{OpId, Request, Workload};
use workload_file::{Choice, FileWorkload};

const KNOWN: [&str; 3] = [
    include_str!("../../../docs/examples/bank.toml"),
    include_str!("../../../docs/examples/ycsb-c.toml"),
    "[values]\nat = { draw = \"timestamp\", from = 2024-01-01, to = 2024-12-31 }\nnow = { draw = \"now\" }\n\
     d = { draw = \"digits\", length = [1, 16] }\nc = { draw = \"choice\", of = [\"a\", \"b\"], weights = [1, 2.5] }\n\
     n = { draw = \"nurand\", a = 7, from = 0, to = \"2 * (3 + 4)\" }\nh = { draw = \"hotspot\", from = 1, to = 9, \
     hot = 0.1, share = 0.9, prefix = \"u\", width = 8 }\ns = { draw = \"sequence\", after = \"t.id\" }\n\
     [[transaction]]\nname = \"all\"\nweight = 2\nisolation = \"serializable\"\ntogether = true\n\
     step = [\"SELECT :at, :now, :d\", { sql = \"SELECT :c, :n, :h, :s\", as = \"r\", keep = [\"x int\"] }, \
     { sql.any = \"SELECT :r.x FOR UPDATE\", sql.mysql = \"DO 1\", expect = \"rows\", abort_if_empty = true }]\n",
];
const WORDS: [&str; 26] = [
    "[",
    "]",
    "\"",
    "\"\"\"",
    "'''",
    "= ",
    "\n",
    "{",
    "}",
    ":key",
    ":a.b",
    "$$",
    "/*",
    "--",
    "'",
    "-1",
    "nan",
    "inf",
    "9223372036854775807",
    "-9223372036854775808",
    "1e308",
    "\\u0000",
    "decimal(19)",
    "rows(",
    "highest(t.c)",
    "é",
];

#[test]
fn fuzz_workload_files() {
    Fuzz::new("workload-file").from(KNOWN).words(WORDS).run(4_000, |input| {
        let text = String::from_utf8_lossy(input);
        let workload = match FileWorkload::from_text("w.toml", &text, &Choice::default()) {
            Ok(workload) => workload,
            Err(reason) => return assert!(!reason.is_empty() && !reason.contains('\n'), "{reason:?}"),
        };
        for dialect in [Dialect::Postgres, Dialect::MySql, Dialect::Sqlite, Dialect::Null, Dialect::KeyValue]
        {
            if let Err(reason) = workload.statements(dialect) {
                assert!(!reason.is_empty() && !reason.contains('\n'), "{reason:?}");
            }
        }
        let (mut tickets, mut plan) = (workload.tickets(), workload.new_plan());
        for seq in 0..3 {
            for op in 0..workload.operations().len() as u8 {
                let ticket = tickets.next(seq, OpId(op));
                workload.plan(Request { seq, op: OpId(op), ticket, user: NOBODY }, &mut plan);
                workload.show(&plan);
            }
        }
        if let Some(data) = workload.dataset() {
            assert!(data.parts() >= 1);
        }
    });
}
