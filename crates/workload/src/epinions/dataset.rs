//! The five tables: making them and checking them.

use super::Epinions;
use crate::dataset::{CheckResult, DataSet, Marker};
use crate::foreign_keys::{self, ForeignKey, counted, none_found};
use driver::{Administration, ConnectError, Dialect, Value};
use units::Rng;

const VERSION: u32 = 1;

/// Owners (users or items) of one part.
const CHUNK: u64 = 5_000;

/// Rows between two calls of `progress`.
const PROGRESS: u64 = 1_000;

/// 2009-01-01T00:00:00Z in microseconds; moments are drawn from the five years before.
const NEWEST: i64 = 1_230_768_000_000_000;
const FIVE_YEARS_SECONDS: u64 = 5 * 365 * 86_400;

const KEYS: [ForeignKey; 4] = {
    const fn key(
        name: &'static str,
        table: &'static str,
        column: &'static str,
        parent: &'static str,
        key: &'static str,
    ) -> ForeignKey {
        ForeignKey { name, table, column, parent, key }
    }
    [
        key("review_user", "review", "u_id", "useracct", "u_id"),
        key("review_item", "review", "i_id", "item", "i_id"),
        key("trust_source", "trust", "source_u_id", "useracct", "u_id"),
        key("trust_target", "trust", "target_u_id", "useracct", "u_id"),
    ]
};

/// What a part holds: owners from … to of a table and what belongs to them.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Part {
    Users(u64, u64),
    ItemsAndReviews(u64, u64),
    Trust(u64, u64),
}

impl DataSet for Epinions {
    fn marker(&self) -> Marker {
        let (scale, seed) = (self.config.scale, self.config.seed.0);
        Marker { workload: "epinions".to_owned(), scale, version: VERSION, seed, complete: true }
    }

    fn tables(&self) -> Vec<&'static str> {
        vec!["review_rating", "trust", "review", "item", "useracct"]
    }

    fn rows(&self) -> u64 {
        let population = &self.population;
        self.config.users() + self.config.items() + population.reviews.len() + population.trust.len()
    }

    fn create(&self, administration: &mut dyn Administration, dialect: Dialect) -> Result<(), ConnectError> {
        if dialect == Dialect::KeyValue {
            return Err(ConnectError::permanent("epinions: its data set needs SQL"));
        }
        administration.script(&schema(dialect))
    }

    fn parts(&self) -> u32 {
        let (users, items) = (self.config.users().div_ceil(CHUNK), self.config.items().div_ceil(CHUNK));
        (2 * users + items) as u32
    }

    fn fill(
        &self,
        part: u32,
        administration: &mut dyn Administration,
        dialect: Dialect,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), ConnectError> {
        match self.part(part) {
            Part::Users(from, to) => self.fill_users(from, to, administration, progress),
            Part::ItemsAndReviews(from, to) => {
                self.fill_items(from, to, administration, progress)?;
                self.fill_reviews(from, to, administration, dialect, progress)
            }
            Part::Trust(from, to) => self.fill_trust(from, to, administration, progress),
        }
    }

    fn empty(
        &self,
        part: u32,
        administration: &mut dyn Administration,
        _dialect: Dialect,
    ) -> Result<(), ConnectError> {
        let mut clear = |table: &str, column: &str, from: u64, to: u64| {
            administration
                .script(&format!("DELETE FROM {table} WHERE {column} >= {from} AND {column} < {to}"))
        };
        match self.part(part) {
            Part::Users(from, to) => clear("useracct", "u_id", from, to),
            Part::ItemsAndReviews(from, to) => {
                clear("review", "i_id", from, to)?;
                clear("item", "i_id", from, to)
            }
            Part::Trust(from, to) => clear("trust", "source_u_id", from, to),
        }
    }

    fn finish(&self, administration: &mut dyn Administration, dialect: Dialect) -> Result<(), ConnectError> {
        foreign_keys::add(&KEYS, administration, dialect)?;
        if dialect == Dialect::Postgres {
            for table in self.tables() {
                administration.script(&format!("VACUUM (ANALYZE) {table}"))?;
            }
        }
        Ok(())
    }

    fn check(
        &self,
        administration: &mut dyn Administration,
        dialect: Dialect,
    ) -> Result<Vec<CheckResult>, ConnectError> {
        administration.script(dialect.begin_snapshot())?;
        let results = self.checks(administration)?;
        administration.script("COMMIT")?;
        Ok(results)
    }

    fn check_is_cheap(&self) -> bool {
        self.config.scale <= 100.0
    }
}

impl Epinions {
    fn part(&self, number: u32) -> Part {
        let (users, items) = (self.config.users(), self.config.items());
        let (of_users, of_items) = (users.div_ceil(CHUNK), items.div_ceil(CHUNK));
        let range = |number: u64, all: u64| (number * CHUNK, ((number + 1) * CHUNK).min(all));
        let number = u64::from(number);
        if number < of_users {
            let (from, to) = range(number, users);
            Part::Users(from, to)
        } else if number < of_users + of_items {
            let (from, to) = range(number - of_users, items);
            Part::ItemsAndReviews(from, to)
        } else {
            let (from, to) = range(number - of_users - of_items, users);
            Part::Trust(from, to)
        }
    }

    fn fill_users(
        &self,
        from: u64,
        to: u64,
        administration: &mut dyn Administration,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), ConnectError> {
        let seed = self.config.seed.derive("epinions/users");
        let columns = ["u_id", "name", "email", "creation_date"];
        let mut users = from..to;
        administration.bulk("useracct", &columns, &mut |push| {
            let Some(user) = users.next() else { return false };
            let mut rng = seed.at(user);
            let (name, email) = (self.letters.draw(&mut rng, 24), self.letters.draw(&mut rng, 24));
            let (name, email) = (self.letters.text(name), self.letters.text(email));
            push(&[Value::Int(user as i64), Value::Text(name), Value::Text(email), moment(&mut rng)]);
            report(user + 1 - from, progress);
            true
        })?;
        progress(to - from);
        Ok(())
    }

    fn fill_items(
        &self,
        from: u64,
        to: u64,
        administration: &mut dyn Administration,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), ConnectError> {
        let seed = self.config.seed.derive("epinions/items");
        let columns = ["i_id", "title", "description", "creation_date"];
        let mut items = from..to;
        administration.bulk("item", &columns, &mut |push| {
            let Some(item) = items.next() else { return false };
            let mut rng = seed.at(item);
            let title = self.letters.draw(&mut rng, 128);
            let length = self.description.draw(&mut rng) as u32;
            let description = self.letters.draw(&mut rng, length);
            let (title, description) = (self.letters.text(title), self.letters.text(description));
            push(&[Value::Int(item as i64), Value::Text(title), Value::Text(description), moment(&mut rng)]);
            report(item + 1 - from, progress);
            true
        })?;
        progress(to - from);
        Ok(())
    }

    fn fill_reviews(
        &self,
        from: u64,
        to: u64,
        administration: &mut dyn Administration,
        dialect: Dialect,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), ConnectError> {
        let seed = self.config.seed.derive("epinions/reviews");
        let columns = ["a_id", "u_id", "i_id", "rating", rank(dialect), "comment", "creation_date"];
        let reviews = &self.population.reviews;
        let mut rows = (from..to).flat_map(|item| {
            let (first, users) = reviews.of(item);
            (first..).zip(users).map(move |(number, user)| (number, *user, item))
        });
        let mut written = to - from;
        administration.bulk("review", &columns, &mut |push| {
            let Some((number, user, item)) = rows.next() else { return false };
            let mut rng = seed.at(number);
            let (rating, rank) = (rng.below(5) as i64, rng.below(5) as i64);
            let length = 32 + self.comment.draw(&mut rng) as u32;
            let comment = self.letters.draw(&mut rng, length);
            push(&[
                Value::Int(number as i64),
                Value::Int(i64::from(user)),
                Value::Int(item as i64),
                Value::Int(rating),
                Value::Int(rank),
                Value::Text(self.letters.text(comment)),
                moment(&mut rng),
            ]);
            written += 1;
            report(written, progress);
            true
        })?;
        progress(to - from + reviews.between(from, to));
        Ok(())
    }

    fn fill_trust(
        &self,
        from: u64,
        to: u64,
        administration: &mut dyn Administration,
        progress: &mut dyn FnMut(u64),
    ) -> Result<(), ConnectError> {
        let seed = self.config.seed.derive("epinions/trust");
        let columns = ["source_u_id", "target_u_id", "trust", "creation_date"];
        let trust = &self.population.trust;
        let mut rows = (from..to).flat_map(|user| {
            let (first, targets) = trust.of(user);
            (first..).zip(targets).map(move |(number, target)| (number, user, *target))
        });
        let mut written = 0;
        administration.bulk("trust", &columns, &mut |push| {
            let Some((number, source, target)) = rows.next() else { return false };
            let mut rng = seed.at(number);
            let (source, target) = (Value::Int(source as i64), Value::Int(i64::from(target)));
            push(&[source, target, Value::Int(rng.below(2) as i64), moment(&mut rng)]);
            written += 1;
            report(written, progress);
            true
        })?;
        progress(trust.between(from, to));
        Ok(())
    }

    fn checks(&self, administration: &mut dyn Administration) -> Result<Vec<CheckResult>, ConnectError> {
        let rows = [
            ("useracct", self.config.users()),
            ("item", self.config.items()),
            ("review", self.population.reviews.len()),
            ("trust", self.population.trust.len()),
            ("review_rating", 0),
        ];
        Ok(vec![
            counted(administration, "no table grew or shrank", &rows)?,
            foreign_keys::check(&KEYS, administration)?,
            none_found(
                administration,
                "every rating is in 0 … 999",
                "reviews whose rating is null or not in 0 … 999",
                "SELECT count(*) FROM review WHERE rating IS NULL OR rating < 0 OR rating > 999",
            )?,
            none_found(
                administration,
                "every trust is 0 or 1",
                "rows whose trust is null or neither 0 nor 1",
                "SELECT count(*) FROM trust WHERE trust IS NULL OR (trust <> 0 AND trust <> 1)",
            )?,
            none_found(
                administration,
                "nobody reviews an item twice",
                "pairs of item and user with more than one review",
                "SELECT count(*) FROM (SELECT i_id FROM review GROUP BY i_id, u_id HAVING count(*) > 1) twice",
            )?,
            none_found(
                administration,
                "every item has a review",
                "items without a review",
                "SELECT count(*) FROM item i WHERE NOT EXISTS (SELECT 1 FROM review r WHERE r.i_id = i.i_id)",
            )?,
            none_found(
                administration,
                "names and titles have their lengths",
                "users or items whose name or title is null or of another length",
                "SELECT (SELECT count(*) FROM useracct WHERE name IS NULL OR length(name) <> 24) + \
                 (SELECT count(*) FROM item WHERE title IS NULL OR length(title) <> 128)",
            )?,
        ])
    }
}

/// A word of MySQL's own since its version 8.
fn rank(dialect: Dialect) -> &'static str {
    if dialect == Dialect::MySql { "`rank`" } else { "rank" }
}

fn moment(rng: &mut Rng) -> Value<'static> {
    Value::Timestamp(NEWEST - 1_000_000 * rng.below(FIVE_YEARS_SECONDS) as i64)
}

fn report(written: u64, progress: &mut dyn FnMut(u64)) {
    if written.is_multiple_of(PROGRESS) {
        progress(written);
    }
}

fn schema(dialect: Dialect) -> String {
    let (moment, rank) = (dialect.timestamp(), rank(dialect));
    // SQLite: only this spelling makes it the row's own number instead of a second index.
    let key = if dialect == Dialect::Sqlite { "INTEGER PRIMARY KEY" } else { "int PRIMARY KEY" };
    let (of_review, of_trust) =
        (foreign_keys::inline(&KEYS, "review", dialect), foreign_keys::inline(&KEYS, "trust", dialect));
    format!(
        "CREATE TABLE useracct (u_id {key}, name varchar(128) NOT NULL, email varchar(128) NOT NULL, \
         creation_date {moment});\
         CREATE TABLE item (i_id {key}, title varchar(128) NOT NULL, description varchar(512), \
         creation_date {moment});\
         CREATE TABLE review (a_id int NOT NULL, u_id int NOT NULL, i_id int NOT NULL, rating int, {rank} int, \
         comment varchar(256), creation_date {moment}{of_review});\
         CREATE INDEX review_u_id ON review (u_id);\
         CREATE INDEX review_a_id ON review (a_id);\
         CREATE INDEX review_i_id ON review (i_id);\
         CREATE TABLE review_rating (u_id int NOT NULL, a_id int NOT NULL, rating int NOT NULL, \
         status int NOT NULL, creation_date {moment}, last_mod_date {moment}, type int, vertical_id int);\
         CREATE INDEX review_rating_u_id ON review_rating (u_id);\
         CREATE INDEX review_rating_a_id ON review_rating (a_id);\
         CREATE TABLE trust (source_u_id int NOT NULL, target_u_id int NOT NULL, trust int NOT NULL, \
         creation_date {moment}{of_trust});\
         CREATE INDEX trust_source ON trust (source_u_id);\
         CREATE INDEX trust_target ON trust (target_u_id)"
    )
}
