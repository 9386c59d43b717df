//! What a run can choose.

use crate::names::suggestion;
use units::Seed;

/// Days of flights: from the day before the first upcoming one to the 50th after it.
pub(crate) const DAYS: u64 = 52;
/// Seats of every flight.
pub(crate) const SEATS: usize = 150;

/// What a ticket has room for.
const MOST_CUSTOMERS: u64 = 1 << 30;
const MOST_FLIGHTS_A_DAY: u64 = 1_000_000;

const PROPERTIES: [&str; 5] = ["customers", "flightsperday", "flightcache", "outstanding", "compat"];

/// Parameters of the workload.
#[derive(Clone, PartialEq, Debug)]
pub struct SeatsConfig {
    /// 100,000 customers and 1,500 flights a day each.
    pub scale: f64,
    /// Where values, and the requests' draws, come from.
    pub seed: Seed,
    /// How many customers there are, in [10, 2³⁰].
    pub customers: u64,
    /// Flights of a day in the mean, in [1, 1,000,000].
    pub flights_a_day: u64,
    /// Flights that requests draw from, spread evenly over all; BenchBase's terminals know as many.
    pub flight_cache: u64,
    /// A seat or customer of one of so many last requests is not drawn again: those may be in flight still.
    pub outstanding: usize,
    /// Whether BenchBase's behaviour is wanted where it changes what is measured.
    pub benchbase: bool,
    /// Which load machine this is, of how many.
    pub client: (u16, u16),
}

impl SeatsConfig {
    /// The workload of this scale with parameters by name.
    ///
    /// # Errors
    /// One line: an unknown name with the nearest valid one, or a value with its limits.
    pub fn new(scale: f64, seed: Seed, parameters: &[(String, String)]) -> Result<SeatsConfig, String> {
        let mut config = SeatsConfig {
            scale,
            seed,
            customers: (100_000.0 * scale).round() as u64,
            flights_a_day: (1_500.0 * scale).round() as u64,
            flight_cache: 10_000,
            outstanding: 128,
            benchbase: false,
            client: (0, 1),
        };
        for (name, value) in parameters {
            config.set(name, value)?;
        }
        if !(10..=MOST_CUSTOMERS).contains(&config.customers)
            || !(1..=MOST_FLIGHTS_A_DAY).contains(&config.flights_a_day)
        {
            return Err(format!(
                "seats: scale {scale} must be in [0.001, 600], or `customers` and `flightsperday` be set: 1 is 100,000 \
                 customers and 1,500 flights a day"
            ));
        }
        Ok(config)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let whole = |least: u64, most: u64| {
            let number = value.replace('_', "").parse().ok().filter(|n| (least..=most).contains(n));
            number
                .ok_or_else(|| format!("seats: {name}={value}: expected a whole number in [{least}, {most}]"))
        };
        match name {
            "customers" => self.customers = whole(10, MOST_CUSTOMERS)?,
            "flightsperday" => self.flights_a_day = whole(1, MOST_FLIGHTS_A_DAY)?,
            "flightcache" => self.flight_cache = whole(1, 1 << 26)?,
            "outstanding" => self.outstanding = whole(0, 10_000)? as usize,
            "compat" => {
                let valid = ["none", "benchbase"];
                let found = valid.iter().position(|name| *name == value);
                self.benchbase = found.ok_or_else(|| {
                    format!("seats: compat: unknown value `{value}`{}", suggestion(value, &valid))
                })? == 1;
            }
            _ => return Err(format!("seats: unknown property `{name}`{}", suggestion(name, &PROPERTIES))),
        }
        Ok(())
    }

    /// What the data set is called: sizes that the scale does not give are named.
    pub(crate) fn layout_name(&self) -> String {
        let mut name = "seats".to_owned();
        if self.customers != (100_000.0 * self.scale).round() as u64 {
            name += &format!(" customers={}", self.customers);
        }
        if self.flights_a_day != (1_500.0 * self.scale).round() as u64 {
            name += &format!(" flightsperday={}", self.flights_a_day);
        }
        name
    }

    /// What a recording states.
    pub(crate) fn parameters(&self) -> Vec<(String, String)> {
        let compat = if self.benchbase { "benchbase" } else { "none" };
        let all = [
            ("customers", self.customers.to_string()),
            ("flightsperday", self.flights_a_day.to_string()),
            ("flightcache", self.flight_cache.to_string()),
            ("outstanding", self.outstanding.to_string()),
            ("compat", compat.to_owned()),
        ];
        all.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(scale: f64, parameters: &[(&str, &str)]) -> Result<SeatsConfig, String> {
        let parameters: Vec<_> = parameters.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        SeatsConfig::new(scale, Seed(1), &parameters)
    }

    #[test]
    fn sizes_follow_the_scale_unless_set() {
        let half = config(0.5, &[]).unwrap();
        assert_eq!((half.customers, half.flights_a_day), (50_000, 750));
        assert_eq!(half.layout_name(), "seats");
        let small = config(1.0, &[("customers", "2_000"), ("flightsperday", "3")]).unwrap();
        assert_eq!(small.layout_name(), "seats customers=2000 flightsperday=3");
    }

    #[test]
    fn mistakes_are_named() {
        let refused = |scale: f64, parameters: &[(&str, &str)], words: &str| {
            let error = config(scale, parameters).unwrap_err();
            assert!(error.contains(words), "{error}");
        };
        refused(1.0, &[("customer", "1")], "did you mean `customers`?");
        refused(1.0, &[("flightsperday", "0")], "a whole number in [1, 1000000]");
        refused(1.0, &[("compat", "bencbase")], "did you mean `benchbase`?");
        refused(0.0, &[], "scale 0 must be in");
        refused(f64::NAN, &[], "scale NaN must be in");
        refused(1e9, &[], "must be in");
    }
}
