//! Records a load of [`own_workload::Votes`]: `own-workload sqlite:votes.db recordings/votes`, and then
//! `truetail report recordings/votes`.

use driver::{Target, TargetUrl};
use own_workload::Votes;
use std::error::Error;
use std::path::Path;
use workload::Workload;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let [url, directory] = &arguments[..] else {
        return Err("expected a target and a directory: own-workload sqlite:votes.db recordings/votes".into());
    };
    let (url, directory) = (TargetUrl::parse(url)?, Path::new(directory));
    match url.scheme.as_str() {
        "sqlite" => record(&driver_sqlite::SqliteTarget::from_url(&url)?, directory),
        "postgres" => record(&driver_postgres::PostgresTarget::from_url(&url)?, directory),
        other => Err(format!("no driver for `{other}:` here; there are sqlite: and postgres:").into()),
    }
}

fn record<T: Target>(target: &T, directory: &Path) -> Result<(), Box<dyn Error>> {
    let votes = Votes::new(1_000, units::Seed(1));
    let mut spec = measure::open_loop("2s@200/s, 10s@500/s", 4, &votes.operations())?;
    spec.phases[0].warm_up = true;
    spec.retry = measure::Retry::conflicts(3);
    measure::measure(target, votes, &spec, directory)?;
    Ok(())
}
