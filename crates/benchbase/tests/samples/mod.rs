//! Configurations of all of BenchBase's benchmarks with the elements, rates and weights of its samples.
//!
//! They are put together here from those facts, in our own words and with our own layout; no file of BenchBase's is copied.

/// The facts of one sample.
pub struct Sample {
    pub benchmark: &'static str,
    pub transactions: &'static [&'static str],
    pub weights: &'static str,
    /// `<time>` and `<rate>`, or what stands in their place.
    pub pace: &'static str,
    /// Elements that this benchmark's samples have besides.
    pub more: &'static str,
}

const MINUTE_AT_10000: &str = "<time>60</time><rate>10000</rate>";

const fn of(benchmark: &'static str, transactions: &'static [&'static str], weights: &'static str) -> Sample {
    Sample { benchmark, transactions, weights, pace: MINUTE_AT_10000, more: "" }
}

pub const SAMPLES: &[Sample] = &[
    of("tpcc", &["NewOrder", "Payment", "OrderStatus", "Delivery", "StockLevel"], "45,43,4,4,4"),
    of(
        "ycsb",
        &[
            "ReadRecord",
            "InsertRecord",
            "ScanRecord",
            "UpdateRecord",
            "DeleteRecord",
            "ReadModifyWriteRecord",
        ],
        "50,5,15,10,10,10",
    ),
    of(
        "seats",
        &[
            "DeleteReservation",
            "FindFlights",
            "FindOpenSeats",
            "NewReservation",
            "UpdateCustomer",
            "UpdateReservation",
        ],
        "10, 10, 35, 20, 10, 15",
    ),
    of(
        "epinions",
        &[
            "GetReviewItemById",
            "GetReviewsByUser",
            "GetAverageRatingByTrustedUser",
            "GetItemAverageRating",
            "GetItemReviewsByTrustedUser",
            "UpdateUserName",
            "UpdateItemTitle",
            "UpdateReviewRating",
            "UpdateTrustRating",
        ],
        "10,10,10,10,10,10,10,10,20",
    ),
    of(
        "tatp",
        &[
            "DeleteCallForwarding",
            "GetAccessData",
            "GetNewDestination",
            "GetSubscriberData",
            "InsertCallForwarding",
            "UpdateLocation",
            "UpdateSubscriberData",
        ],
        "2, 35, 10, 35, 2, 14, 2",
    ),
    Sample {
        pace: "<time>60</time><rate>100</rate>",
        ..of(
            "smallbank",
            &["Amalgamate", "Balance", "DepositChecking", "SendPayment", "TransactSavings", "WriteCheck"],
            "15,15,15,25,15,15",
        )
    },
    Sample { pace: "<time>60</time><rate>1000</rate>", ..of("noop", &["NoOp"], "100") },
    of(
        "auctionmark",
        &["GetItem", "GetUserInfo", "NewBid", "NewComment", "NewCommentResponse", "NewFeedback"],
        "45, 10, 20, 2, 1, 22",
    ),
    of("chbenchmark", &["Q1", "Q2", "Q3"], "3, 2, 95"),
    of("hyadapt", &["ReadRecord1", "MaxRecord1", "SumRecord1"], "50,30,20"),
    Sample { pace: "<time>60</time><rate>unlimited</rate>", ..of("otmetrics", &["GetSessionRange"], "100") },
    of(
        "resourcestresser",
        &["CPU1", "CPU2", "IO1", "IO2", "Contention1", "Contention2"],
        "16.66,16.66,16.66,16.66,16.66,16.7",
    ),
    of("sibench", &["MinRecord", "UpdateRecord"], "50,50"),
    Sample {
        more: "<query_templates_file>templates.xml</query_templates_file>",
        ..of("templated", &["GetOrder", "GetCust"], "60,40")
    },
    Sample {
        pace: "<serial>true</serial><rate>unlimited</rate>",
        more: "<datadir>data</datadir><fileFormat>tbl</fileFormat>",
        ..of("tpch", &["Q1", "Q2", "Q3"], "1,1,1")
    },
    of("tpcds", &["Test"], "100"),
    Sample {
        more: "<tracefile>tweets.txt</tracefile><tracefile2>users.txt</tracefile2><base_ip>10.1.</base_ip>",
        ..of("twitter", &["GetTweet", "GetFollowers", "InsertTweet"], "1,98,1")
    },
    of("voter", &["Vote"], "100"),
    of("wikipedia", &["AddWatchList", "RemoveWatchList", "UpdatePage"], "1,1,98"),
];

/// The configuration of a sample.
pub fn sample(of: &Sample) -> String {
    let Sample { benchmark, transactions, weights, pace, more } = of;
    let types: Vec<String> = transactions
        .iter()
        .map(|name| format!("    <transactiontype>\n      <name>{name}</name>\n      <!-- <preExecutionWait>1</preExecutionWait> -->\n    </transactiontype>\n"))
        .collect();
    format!(
        "<?xml version=\"1.0\"?>\n<parameters>\n  <!-- where it is -->\n  <type>POSTGRES</type>\n  \
         <driver>org.postgresql.Driver</driver>\n  \
         <url>jdbc:postgresql://localhost:5432/benchbase?sslmode=disable&amp;ApplicationName={benchmark}&amp;reWriteBatchedInserts=true</url>\n  \
         <username>admin</username>\n  <password>password</password>\n  \
         <reconnectOnConnectionFailure>true</reconnectOnConnectionFailure>\n  \
         <isolation>TRANSACTION_SERIALIZABLE</isolation>\n  <batchsize>128</batchsize>\n  {more}\n  \
         <scalefactor>1</scalefactor>\n  <terminals>1</terminals>\n  <works>\n    <work>\n      {pace}\n      \
         <weights>{weights}</weights>\n    </work>\n  </works>\n  <transactiontypes>\n{}  </transactiontypes>\n</parameters>\n",
        types.concat()
    )
}
