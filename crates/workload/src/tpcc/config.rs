//! The parameters, and what is drawn once for a whole run.

use super::text::between;
use crate::distribution::NuRand;
use crate::names;
pub use crate::transaction::Roundtrips;
use units::Seed;

/// Districts of a warehouse.
pub(crate) const DISTRICTS: u32 = 10;
/// The most lines that an order has.
pub(crate) const LINES_MOST: usize = 15;
/// Items, customers of a district: the specification's.
const ITEMS: u32 = 100_000;
const CUSTOMERS: u32 = 3_000;
/// The most warehouses: `parts` of the data set are numbered by 32 bits.
const WAREHOUSES_MOST: u32 = 1_000_000;

/// The names of the transactions, in the order of their numbers.
pub const OPERATIONS: [&str; 5] = ["NewOrder", "Payment", "OrderStatus", "Delivery", "StockLevel"];
/// Their shares of the mix, per cent.
pub(crate) const WEIGHTS: [f64; 5] = [45.0, 43.0, 4.0, 4.0, 4.0];

/// All parameters; their names are in `TpccConfig::set`.
#[derive(Clone, PartialEq, Debug)]
pub struct TpccConfig {
    /// Start of everything random.
    pub seed: Seed,
    /// Warehouses: the scale.
    pub warehouses: u32,
    /// Items, and rows of stock in each warehouse; 100,000 but in tests.
    pub items: u32,
    /// Customers of a district, and orders that it begins with; 3,000 but in tests.
    pub customers: u32,
    /// Lines of an order: at least, at most.
    pub order_lines: (u32, u32),
    /// Share of New-Orders that name an item which is not there.
    pub rollback: f64,
    /// Share of order lines that another warehouse supplies, and of payments by customers of another one.
    pub remote: (f64, f64),
    /// How many statements go out together.
    pub roundtrips: Roundtrips,
    /// Whether tables refer to each other by foreign keys, where they can be added after loading.
    pub foreign_keys: bool,
    /// Behave as BenchBase does; docs/tpcc.md says in what.
    pub benchbase: bool,
    /// Weights of `--mix`; the specification's where `None`.
    pub weights: Option<[f64; 5]>,
    /// Which of the load machines this is: each has requests of its own.
    pub client: u16,
}

const PROPERTIES: [&str; 8] =
    ["roundtrips", "remote", "order-lines", "rollback", "foreign-keys", "compat", "items", "customers"];

impl TpccConfig {
    /// The specification's workload with `scale` warehouses, changed by `overrides` in their order.
    ///
    /// # Errors
    /// One line that names the unknown property or value, and the nearest valid one.
    pub fn new(scale: f64, seed: Seed, overrides: &[(String, String)]) -> Result<TpccConfig, String> {
        if scale.fract() != 0.0 || !(1.0..=f64::from(WAREHOUSES_MOST)).contains(&scale) {
            return Err(format!(
                "tpcc: scale {scale} must be a whole number in [1, {WAREHOUSES_MOST}]: it is the number of warehouses"
            ));
        }
        let mut config = TpccConfig {
            seed,
            warehouses: scale as u32,
            items: ITEMS,
            customers: CUSTOMERS,
            order_lines: (5, LINES_MOST as u32),
            rollback: 0.01,
            remote: (0.01, 0.15),
            roundtrips: Roundtrips::Batched,
            foreign_keys: true,
            benchbase: false,
            weights: None,
            client: 0,
        };
        // What it changes are defaults: they come before what was asked for by name.
        if overrides.iter().any(|(name, _)| name == "compat") {
            config.roundtrips = Roundtrips::Single;
        }
        for (name, value) in overrides {
            config.set(name, value)?;
        }
        Ok(config)
    }

    fn set(&mut self, name: &str, value: &str) -> Result<(), String> {
        let refused = |expected: &str| Err(format!("tpcc: {name}={value}: expected {expected}"));
        match (name, value) {
            ("roundtrips", "batched") => self.roundtrips = Roundtrips::Batched,
            ("roundtrips", "single") => self.roundtrips = Roundtrips::Single,
            ("roundtrips", _) => return refused("`batched` or `single`"),
            ("foreign-keys", "on") => self.foreign_keys = true,
            ("foreign-keys", "off") => self.foreign_keys = false,
            ("foreign-keys", _) => return refused("`on` or `off`"),
            ("compat", "benchbase") => self.benchbase = true,
            ("compat", _) => return refused("`benchbase`"),
            ("remote", "none") => self.remote = (0.0, 0.0),
            ("remote", _) => match value.split_once(',').map(|(a, b)| (share(a), share(b))) {
                Some((Some(lines), Some(payments))) => self.remote = (lines, payments),
                _ => return refused("`none`, or shares of order lines and of payments, such as `1%,15%`"),
            },
            ("rollback", _) => match share(value) {
                Some(share) => self.rollback = share,
                None => return refused("a share of New-Orders, such as `1%`"),
            },
            ("order-lines", _) => match lines(value) {
                Some(lines) => self.order_lines = lines,
                None => return refused("a number of lines in [1, 15], or two of them, such as `5..15`"),
            },
            ("items", _) => self.items = whole(name, value, 20, ITEMS)?,
            ("customers", _) => self.customers = whole(name, value, 10, CUSTOMERS)?,
            _ => {
                // The last two make data sets for tests, which are not TPC-C's.
                let valid = &PROPERTIES[..PROPERTIES.len() - 2];
                return Err(format!("tpcc: unknown property `{name}`{}", names::suggestion(name, valid)));
            }
        }
        Ok(())
    }

    /// What shapes the requests: (name, value).
    pub(crate) fn parameters(&self) -> Vec<(String, String)> {
        let (least, most) = self.order_lines;
        let (lines, payments) = self.remote;
        let single = self.roundtrips == Roundtrips::Single;
        let mut list = vec![
            ("warehouses", self.warehouses.to_string()),
            ("roundtrips", if single { "single" } else { "batched" }.to_owned()),
            ("order-lines", if least == most { most.to_string() } else { format!("{least}..{most}") }),
            ("rollback", percent(self.rollback)),
            ("remote", format!("{},{}", percent(lines), percent(payments))),
            ("foreign-keys", if self.foreign_keys { "on" } else { "off" }.to_owned()),
        ];
        if self.benchbase {
            list.push(("compat", "benchbase".to_owned()));
        }
        if self.is_reduced() {
            list.push(("items", self.items.to_string()));
            list.push(("customers", self.customers.to_string()));
        }
        list.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
    }

    /// Whether the data set is smaller than TPC-C's: for tests.
    pub(crate) fn is_reduced(&self) -> bool {
        (self.items, self.customers) != (ITEMS, CUSTOMERS)
    }

    /// Last names that customers have: one for each of the first thousand customers of a district.
    pub(crate) fn last_names(&self) -> u32 {
        self.customers.min(1_000)
    }

    /// The first order of a district that is not delivered when a run begins: 2,101 (30 % are not).
    pub(crate) fn first_undelivered(&self) -> u32 {
        self.customers - self.customers * 3 / 10 + 1
    }
}

/// `1%` as 0.01.
fn share(text: &str) -> Option<f64> {
    let number: f64 = text.trim().strip_suffix('%')?.parse().ok()?;
    (0.0..=100.0).contains(&number).then_some(number / 100.0)
}

pub(crate) fn percent(share: f64) -> String {
    // Rounded to what can be asked for, so that 1 % is not 1.0000000000000002 %.
    format!("{}%", (share * 1e8).round() / 1e6)
}

fn lines(text: &str) -> Option<(u32, u32)> {
    let (least, most) = text.split_once("..").unwrap_or((text, text));
    let (least, most): (u32, u32) = (least.parse().ok()?, most.parse().ok()?);
    (1 <= least && least <= most && most as usize <= LINES_MOST).then_some((least, most))
}

fn whole(name: &str, value: &str, least: u32, most: u32) -> Result<u32, String> {
    let number = value.parse().ok().filter(|n| (least..=most).contains(n));
    number.ok_or_else(|| format!("tpcc: {name}={value}: expected a whole number in [{least}, {most}]"))
}

/// The constants C of NURand, each drawn once (2.1.6); the one for last names differs between load and run (2.1.6.1).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Constants {
    pub(crate) last_name_load: u64,
    pub(crate) last_name_run: u64,
    pub(crate) customer: u64,
    pub(crate) item: u64,
}

impl Constants {
    /// Those of a run by `seed` on data that was made from `loaded`.
    pub(crate) fn drawn(seed: Seed, loaded: Seed, benchbase: bool) -> Constants {
        if benchbase {
            return Constants { last_name_load: 157, last_name_run: 223, customer: 259, item: 7_911 };
        }
        let mut rng = seed.derive("tpcc/constants").rng();
        let last_name_load = loaded.derive("tpcc/constant of the load").rng().below(256);
        let allowed = |c: &u64| is_allowed(last_name_load, *c);
        let choices = (0..=255).filter(allowed).count() as u64;
        let chosen = rng.below(choices) as usize;
        Constants {
            last_name_load,
            last_name_run: (0..=255).filter(allowed).nth(chosen).unwrap_or_default(),
            customer: between(&mut rng, 0, 1_023),
            item: between(&mut rng, 0, 8_191),
        }
    }

    pub(crate) fn last_names_of_load(self, names: u32) -> NuRand {
        NuRand::new(255, 0, u64::from(names) - 1, self.last_name_load)
    }

    pub(crate) fn last_names_of_run(self, names: u32) -> NuRand {
        NuRand::new(255, 0, u64::from(names) - 1, self.last_name_run)
    }

    pub(crate) fn customers(self, customers: u32) -> NuRand {
        NuRand::new(1_023, 1, u64::from(customers), self.customer)
    }

    pub(crate) fn items(self, items: u32) -> NuRand {
        NuRand::new(8_191, 1, u64::from(items), self.item)
    }
}

/// Whether a run may use this constant for last names: the difference lies in 65 … 119 and is neither 96 nor 112.
fn is_allowed(load: u64, run: u64) -> bool {
    let difference = load.abs_diff(run);
    (65..=119).contains(&difference) && difference != 96 && difference != 112
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config(overrides: &[(&str, &str)]) -> Result<TpccConfig, String> {
        let overrides: Vec<_> = overrides.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
        TpccConfig::new(2.0, Seed(1), &overrides)
    }

    #[test]
    fn parameters_are_read_and_stated() {
        let spec = config(&[]).unwrap();
        assert_eq!((spec.first_undelivered(), spec.last_names()), (2_101, 1_000));
        let shown = |config: &TpccConfig| {
            let list: Vec<String> =
                config.parameters().into_iter().map(|(name, value)| format!("{name}={value}")).collect();
            list.join(" ")
        };
        assert_eq!(
            shown(&spec),
            "warehouses=2 roundtrips=batched order-lines=5..15 rollback=1% remote=1%,15% foreign-keys=on"
        );
        let other = [
            ("order-lines", "10"),
            ("rollback", "0%"),
            ("remote", "0.5%,20%"),
            ("roundtrips", "single"),
            ("foreign-keys", "off"),
            ("items", "200"),
            ("customers", "30"),
        ];
        let other = config(&other).unwrap();
        assert_eq!(
            shown(&other),
            "warehouses=2 roundtrips=single order-lines=10 rollback=0% remote=0.5%,20% foreign-keys=off items=200 \
             customers=30"
        );
        assert_eq!(config(&[("remote", "none")]).unwrap().remote, (0.0, 0.0));
        let compat = config(&[("compat", "benchbase")]).unwrap();
        assert!(compat.benchbase && compat.roundtrips == Roundtrips::Single);
        let both = config(&[("roundtrips", "batched"), ("compat", "benchbase")]).unwrap();
        assert_eq!(both.roundtrips, Roundtrips::Batched, "what is asked for by name prevails");
    }

    #[test]
    fn what_is_wrong_is_refused_in_one_line() {
        for (name, value, part) in [
            ("roundtrip", "single", "unknown property `roundtrip`; did you mean `roundtrips`?"),
            ("roundtrips", "two", "expected `batched` or `single`"),
            ("order-lines", "5..16", "in [1, 15]"),
            ("order-lines", "9..5", "in [1, 15]"),
            ("rollback", "0.01", "such as `1%`"),
            ("rollback", "101%", "such as `1%`"),
            ("remote", "1%", "such as `1%,15%`"),
            ("compat", "hammerdb", "expected `benchbase`"),
            ("items", "5", "[20, 100000]"),
            ("nonsense", "1", "valid are roundtrips, remote, order-lines, rollback, foreign-keys, compat"),
        ] {
            let message = config(&[(name, value)]).unwrap_err();
            assert!(message.contains(part) && !message.contains('\n'), "{message}");
        }
        for scale in [0.5, 1.5, 0.0, 1_000_001.0, f64::NAN] {
            let message = TpccConfig::new(scale, Seed(1), &[]).unwrap_err();
            assert!(message.contains("the number of warehouses"), "{message}");
        }
    }

    #[test]
    fn constants_keep_the_rule_for_every_pair_of_seeds() {
        let mut differences = Vec::new();
        for seed in 0..2_000 {
            let constants = Constants::drawn(Seed(seed), Seed(seed / 3), false);
            let Constants { last_name_load, last_name_run, customer, item } = constants;
            assert!(last_name_load <= 255 && last_name_run <= 255 && customer <= 1_023 && item <= 8_191);
            assert!(is_allowed(last_name_load, last_name_run), "{constants:?}");
            differences.push(last_name_load.abs_diff(last_name_run));
        }
        assert!(!differences.contains(&96) && !differences.contains(&112));
        assert_eq!((differences.iter().min(), differences.iter().max()), (Some(&65), Some(&119)));
        let benchbase = Constants::drawn(Seed(1), Seed(2), true);
        assert!(is_allowed(benchbase.last_name_load, benchbase.last_name_run));
        // The load's constant is the data's own, whatever the run's seed.
        let of = |run| Constants::drawn(Seed(run), Seed(7), false).last_name_load;
        assert_eq!(of(1), of(2));
    }
}
