//! The data set of [`Votes`]: pages, and the votes for them.

use crate::Votes;
use driver::{Administration, ConnectError, Dialect, Value};
use workload::dataset::{CheckResult, DataSet, Marker};

impl DataSet for Votes {
    fn marker(&self) -> Marker {
        // Pages are no scale of 1, 2, 3: their number is the scale.
        let scale = self.pages as f64;
        Marker { workload: "votes".to_owned(), scale, version: 1, seed: self.seed.0, complete: true }
    }

    fn tables(&self) -> Vec<&'static str> {
        vec!["vote", "page"]
    }

    fn rows(&self) -> u64 {
        self.pages
    }

    fn create(&self, administration: &mut dyn Administration, dialect: Dialect) -> Result<(), ConnectError> {
        let text = dialect.text();
        administration.script(&format!(
            "CREATE TABLE page (id bigint PRIMARY KEY, title {text} NOT NULL, votes bigint NOT NULL);
             CREATE TABLE vote (page bigint NOT NULL, visitor bigint NOT NULL)"
        ))
    }

    fn fill(
        &self,
        _part: u32,
        administration: &mut dyn Administration,
        _dialect: Dialect,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), ConnectError> {
        let mut id = 0;
        administration.bulk("page", &["id", "title", "votes"], &mut |push| {
            if id == self.pages {
                return false;
            }
            push(&[Value::Int(id as i64), Value::Text(&format!("page {id}")), Value::Int(0)]);
            id += 1;
            true
        })?;
        progress(id);
        Ok(())
    }

    fn empty(
        &self,
        _part: u32,
        administration: &mut dyn Administration,
        _dialect: Dialect,
    ) -> Result<(), ConnectError> {
        administration.script("DELETE FROM page")
    }

    /// No vote is lost and none is counted twice, whatever sessions did to each other.
    fn check(
        &self,
        administration: &mut dyn Administration,
        _dialect: Dialect,
    ) -> Result<Vec<CheckResult>, ConnectError> {
        let rows = administration.query(
            "SELECT count(*) FROM page WHERE votes <> (SELECT count(*) FROM vote WHERE vote.page = page.id)",
        )?;
        let wrong =
            rows.first().and_then(|row| row.first()?.clone()).unwrap_or_else(|| "no answer".to_owned());
        Ok(vec![CheckResult {
            name: "each page has the votes that were given".to_owned(),
            passed: wrong == "0",
            detail: format!("{wrong} pages with another number"),
        }])
    }
}
