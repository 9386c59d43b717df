//! TPC-C's data set into PostgreSQL: truetail's load next to the way of go-tpc.
//!
//! go-tpc sends INSERTs of 1,024 rows, each committed by itself, over one connection for each thread, into tables that have
//! their keys and indexes from the start (`pkg/load/batch_loader.go`). No package brings it; its way is gone here with the rows that
//! truetail has loaded: their INSERTs are written to files beforehand and sent by psql, so that making values, which go-tpc does
//! meanwhile, costs nothing.

use super::builds::{Builds, Scratch};
use super::child;
use super::figures::Figures;
use super::{Effort, FULL};
use anyhow::{Context, anyhow};
use std::fs::File;
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::path::Path;
use std::process::Command;
use testkit::postgres::{Options, Server};

/// Rows of one INSERT.
const ROWS: u32 = 1_024;
/// Room for both, so that no checkpoint of one falls into the other's time.
const SETTINGS: [(&str, &str); 2] = [("shared_buffers", "1GB"), ("max_wal_size", "16GB")];

const OURS: &str = "truetail load";
const THEIRS: &str = "INSERTs of 1,024 rows";

pub(crate) fn run(builds: &Builds, effort: &Effort, figures: &mut Figures) -> anyhow::Result<()> {
    let warehouses = if effort.samples < FULL.samples { 1 } else { 10 };
    let connections = std::thread::available_parallelism().map_or(1, usize::from);
    let settings = SETTINGS.map(|(name, value)| (name.to_owned(), value.to_owned())).to_vec();
    let server = Server::start(&Options { settings, ..Options::default() }).map_err(|why| anyhow!(why))?;
    let ground = Ground { builds, scratch: builds.scratch()?, server, connections };
    // The rows, once; the caches are warm for both afterwards.
    ground.truetail("load", warehouses)?;
    ground.write_statements()?;
    for _ in 0..effort.rounds {
        ground.truetail("cleanup", warehouses)?;
        figures.add(OURS, "s", ground.truetail("load", warehouses)?);
        figures.add(THEIRS, "s", ground.statements()?);
    }
    figures.at_most_of(OURS, 1.0, THEIRS);
    figures.note(format!("{warehouses} of TPC-C's warehouses without foreign keys, {connections} connections; the INSERTs are the"));
    figures.note("way of go-tpc, made beforehand and sent by psql into tables that have keys and indexes");
    Ok(())
}

struct Ground<'a> {
    builds: &'a Builds,
    scratch: Scratch,
    server: Server,
    connections: usize,
}

impl Ground<'_> {
    /// `truetail load` or `cleanup`: how long it took, s.
    fn truetail(&self, verb: &str, warehouses: u32) -> anyhow::Result<f64> {
        let mut command = self.builds.truetail(&[verb, &self.server.unix_url(), "-w", "tpcc"]);
        command.args(["--scale", &warehouses.to_string(), "-p", "foreign-keys=off"]);
        if verb == "load" {
            command.args(["--loaders", &self.connections.to_string()]);
        }
        Ok(child::run(&mut command, &[0])?.wall_s)
    }

    /// Writes the tables, and the rows as statements for each connection.
    fn write_statements(&self) -> anyhow::Result<()> {
        let file = |name: &str| format!("--file={}", self.scratch.path().join(name).display());
        child::run(self.client("pg_dump")?.args(["--schema-only", &file("schema.sql")]), &[0])?;
        let rows = format!("--rows-per-insert={ROWS}");
        child::run(self.client("pg_dump")?.args(["--data-only", &rows, &file("rows.sql")]), &[0])?;
        let parts = (0..self.connections).map(|part| self.scratch.path().join(part_name(part)));
        let mut parts = parts.map(|path| writer(&path)).collect::<anyhow::Result<Vec<_>>>()?;
        let rows = self.scratch.path().join("rows.sql");
        let read = File::open(&rows).with_context(|| format!("{}", rows.display()))?;
        deal(BufReader::new(read), &mut parts)?;
        Ok(std::fs::remove_file(rows)?)
    }

    /// Makes the tables anew and fills them, each connection with its part: how long that took, s.
    fn statements(&self) -> anyhow::Result<f64> {
        let anew = "DROP SCHEMA public CASCADE; CREATE SCHEMA public";
        child::run(self.client("psql")?.args(["-q", "-v", "ON_ERROR_STOP=1", "-c", anew]), &[0])?;
        let schema = self.scratch.path().join("schema.sql");
        // The dump makes the schema, too, which is there.
        child::run(self.client("psql")?.arg("-q").arg("-f").arg(schema), &[0])?;
        let one =
            |part: usize| format!("psql -q -v ON_ERROR_STOP=1 -f {} || echo failed >&2 &", part_name(part));
        let all = (0..self.connections).map(one).collect::<Vec<_>>().join("\n") + "\nwait";
        let mut shell = Command::new("sh");
        shell.args(["-c", &all]).current_dir(self.scratch.path()).envs(self.reached_by());
        let cost = child::run(&mut shell, &[0])?;
        if cost.stderr.contains("failed") {
            return Err(anyhow!("INSERTs failed: {}", cost.stderr.trim()));
        }
        Ok(cost.wall_s)
    }

    fn client(&self, name: &str) -> anyhow::Result<Command> {
        let programs = servers::postgres::find_programs().map_err(|why| anyhow!(why))?;
        let mut command = Command::new(programs.join(name));
        command.envs(self.reached_by());
        Ok(command)
    }

    /// How libpq reaches the server.
    fn reached_by(&self) -> [(&'static str, String); 4] {
        [
            ("PGHOST", self.server.socket_directory().display().to_string()),
            ("PGPORT", self.server.port().to_string()),
            ("PGUSER", self.server.user().to_owned()),
            ("PGDATABASE", "postgres".to_owned()),
        ]
    }
}

fn part_name(part: usize) -> String {
    format!("part-{part}.sql")
}

fn writer(path: &Path) -> anyhow::Result<BufWriter<File>> {
    Ok(BufWriter::new(File::create(path).with_context(|| format!("{}", path.display()))?))
}

/// Deals statements that insert rows to the parts in turn, and leaves all else out. pg_dump begins each with `INSERT INTO` at the
/// beginning of a line, has a row on each line that follows, and ends the last one with `;`.
fn deal(dump: impl BufRead, parts: &mut [impl Write]) -> anyhow::Result<()> {
    let (mut statement, mut is_inside) = (0, false);
    for line in dump.lines() {
        let line = line.context("pg_dump's rows")?;
        is_inside |= line.starts_with("INSERT INTO ");
        if is_inside {
            writeln!(parts[statement % parts.len()], "{line}")?;
            if line.ends_with(");") {
                (statement, is_inside) = (statement + 1, false);
            }
        }
    }
    parts.iter_mut().try_for_each(Write::flush).context("parts")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statements_are_dealt_whole() {
        let dump = "SET x = 1;\n\nINSERT INTO public.a VALUES\n\t(1, 'one'),\n\t(2, 'two');\nINSERT INTO public.a VALUES\n\t(3, \
                    'INSERT INTO');\n\nSELECT setval('s', 1);\nINSERT INTO public.b VALUES\n\t(4);\n";
        let mut parts = [Vec::new(), Vec::new()];
        deal(dump.as_bytes(), &mut parts).unwrap();
        let [first, second] = parts.map(|part| String::from_utf8(part).unwrap());
        assert_eq!(
            first,
            "INSERT INTO public.a VALUES\n\t(1, 'one'),\n\t(2, 'two');\nINSERT INTO public.b VALUES\n\t(4);\n"
        );
        assert_eq!(second, "INSERT INTO public.a VALUES\n\t(3, 'INSERT INTO');\n");
    }
}
