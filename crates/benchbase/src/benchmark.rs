//! BenchBase's benchmarks, by name.

use workload::names::suggestion;

/// One of BenchBase's benchmarks.
#[derive(PartialEq, Eq, Debug)]
pub struct Benchmark {
    /// The name of its plugin, as `-b` has it.
    pub name: &'static str,
    /// What truetail makes of it.
    pub support: Support,
}

/// What truetail makes of a benchmark.
#[derive(PartialEq, Eq, Debug)]
pub enum Support {
    /// There is a workload of the same name.
    Workload {
        /// Its transactions in BenchBase's order, in which weights are given.
        transactions: &'static [&'static str],
        /// Elements of its own, and the workload's parameters that they set.
        options: &'static [(&'static str, &'static str)],
        /// Whether the workload has a parameter `compat`.
        has_compat: bool,
    },
    /// It is BenchBase's alone.
    None,
}

const fn workload(
    name: &'static str,
    transactions: &'static [&'static str],
    options: &'static [(&'static str, &'static str)],
) -> Benchmark {
    Benchmark { name, support: Support::Workload { transactions, options, has_compat: true } }
}

const fn refused(name: &'static str) -> Benchmark {
    Benchmark { name, support: Support::None }
}

const TPCC: &[&str] = &["NewOrder", "Payment", "OrderStatus", "Delivery", "StockLevel"];
const YCSB: &[&str] =
    &["ReadRecord", "InsertRecord", "ScanRecord", "UpdateRecord", "DeleteRecord", "ReadModifyWriteRecord"];
const SEATS: &[&str] = &[
    "DeleteReservation",
    "FindFlights",
    "FindOpenSeats",
    "NewReservation",
    "UpdateCustomer",
    "UpdateReservation",
];
const EPINIONS: &[&str] = &[
    "GetReviewItemById",
    "GetReviewsByUser",
    "GetAverageRatingByTrustedUser",
    "GetItemAverageRating",
    "GetItemReviewsByTrustedUser",
    "UpdateUserName",
    "UpdateItemTitle",
    "UpdateReviewRating",
    "UpdateTrustRating",
];
const TATP: &[&str] = &[
    "DeleteCallForwarding",
    "GetAccessData",
    "GetNewDestination",
    "GetSubscriberData",
    "InsertCallForwarding",
    "UpdateLocation",
    "UpdateSubscriberData",
];
const SMALLBANK: &[&str] =
    &["Amalgamate", "Balance", "DepositChecking", "SendPayment", "TransactSavings", "WriteCheck"];

const ALL: &[Benchmark] = &[
    workload("tpcc", TPCC, &[]),
    workload("ycsb", YCSB, &[("skewFactor", "zipfianconstant"), ("fieldSize", "fieldlength")]),
    workload("seats", SEATS, &[]),
    workload("epinions", EPINIONS, &[]),
    workload("tatp", TATP, &[]),
    workload("smallbank", SMALLBANK, &[]),
    Benchmark {
        name: "noop",
        support: Support::Workload { transactions: &["NoOp"], options: &[], has_compat: false },
    },
    refused("auctionmark"),
    refused("chbenchmark"),
    refused("hyadapt"),
    refused("otmetrics"),
    refused("resourcestresser"),
    refused("sibench"),
    refused("templated"),
    refused("tpch"),
    refused("tpcds"),
    refused("twitter"),
    refused("voter"),
    refused("wikipedia"),
];

impl Benchmark {
    /// All of BenchBase's.
    pub fn all() -> &'static [Benchmark] {
        ALL
    }

    /// Those that there is a workload for.
    pub fn supported() -> impl Iterator<Item = &'static Benchmark> {
        ALL.iter().filter(|benchmark| benchmark.support != Support::None)
    }

    /// The one of a name; case does not matter.
    ///
    /// # Errors
    /// One line with the nearest name.
    pub fn named(name: &str) -> Result<&'static Benchmark, String> {
        let found = ALL.iter().find(|benchmark| benchmark.name.eq_ignore_ascii_case(name));
        found.ok_or_else(|| {
            let names: Vec<&str> = Benchmark::supported().map(|benchmark| benchmark.name).collect();
            format!("BenchBase has no benchmark `{name}`{}", suggestion(name, &names))
        })
    }

    /// Its transactions in BenchBase's order; none where there is no workload for it.
    pub fn transactions(&self) -> &'static [&'static str] {
        match self.support {
            Support::Workload { transactions, .. } => transactions,
            Support::None => &[],
        }
    }

    /// The workload's parameter that an element sets.
    pub(crate) fn parameter(&self, element: &str) -> Option<&'static str> {
        let Support::Workload { options, .. } = self.support else { return None };
        options.iter().find(|(name, _)| *name == element).map(|(_, parameter)| *parameter)
    }
}
