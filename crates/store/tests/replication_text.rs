//! What is said of nodes, in text.

use std::fmt::{Debug, Display};
use std::str::FromStr;
use store::{
    Acknowledgement, DelayRule, NodeId, ReadPreference, Replication, ReplicationSettings, Tag, TextError,
};
use testkit::fuzz::Fuzz;
use units::{Nanos, Seed};

const DELAYS: [&str; 5] = ["20ms", "0>2=50ms", "63>0=1us", "1>0=exp:1ms", "2>1=99% 1ms + 1% 100ms"];
const ACKNOWLEDGEMENTS: [&str; 6] = ["1", "quorum", "all", "3", "tags:dc1=1,dc2=1", "tags:a=64"];
const TAGS: [&str; 3] = ["0=dc1,1=dc1,2=dc2", "63=x", "0=a,0=b"];
const PREFERENCES: [&str; 4] = ["primary", "secondary", "nearest", "own"];

fn again<T: FromStr<Err = TextError> + Display + PartialEq + Debug>(text: &str) -> Option<T> {
    let value: T = match text.parse() {
        Ok(value) => value,
        Err(error) => {
            assert_eq!(error.to_string().lines().count(), 1, "{error}");
            return None;
        }
    };
    let shown = value.to_string();
    assert_eq!(shown.parse().as_ref(), Ok(&value), "`{text}` is shown as `{shown}`");
    Some(value)
}

#[test]
fn what_is_read_is_shown_again() {
    for text in DELAYS {
        assert_eq!(again::<DelayRule>(text).map(|rule| rule.to_string()).as_deref(), Some(text));
    }
    for text in ACKNOWLEDGEMENTS {
        assert_eq!(again::<Acknowledgement>(text).map(|ack| ack.to_string()).as_deref(), Some(text));
    }
    for text in PREFERENCES {
        assert_eq!(again::<ReadPreference>(text).map(|one| one.to_string()).as_deref(), Some(text));
    }
    for text in TAGS {
        let tags: Vec<String> = Tag::parse_list(text).unwrap().iter().map(Tag::to_string).collect();
        assert_eq!(tags.join(","), text);
    }
    let rule: DelayRule = "0>2=50ms".parse().unwrap();
    assert_eq!(rule.pair, Some((NodeId(0), NodeId(2))), "from, to");
}

fn refused<T: FromStr<Err = TextError> + Debug>(text: &str, why: &str) {
    assert_eq!(text.parse::<T>().unwrap_err().to_string(), format!("`{text}` is not a {why}"));
}

#[test]
fn what_is_refused_is_explained() {
    for (text, why) in [
        ("0>2", "expected FROM>TO=DELAY"),
        ("0>64=1ms", "`64` is no node: expected a number from 0 to 63"),
        ("-1>0=1ms", "`-1` is no node: expected a number from 0 to 63"),
        ("3>3=1ms", "node 3 is at no distance from itself"),
    ] {
        refused::<DelayRule>(text, &format!("replication delay: {why}"));
    }
    let error = "0>1=soon".parse::<DelayRule>().unwrap_err().to_string();
    assert!(error.starts_with("`0>1=soon` is not a replication delay: `soon` is not a "), "{error}");
    let forms = "expected a number of nodes from 1 to 64, quorum, all or tags:NAME=NUMBER,…";
    for (text, why) in [
        ("0", forms),
        ("65", forms),
        ("most", forms),
        ("tags:", "`` is not NAME=NUMBER"),
        ("tags:dc1=0", "`0` is not a number of nodes from 1 to 64"),
        ("tags:=1", "`` is no name: expected a word without `=` and `,`"),
    ] {
        refused::<Acknowledgement>(text, &format!("way to acknowledge: {why}"));
    }
    refused::<ReadPreference>("far", "read preference: expected primary, secondary, nearest or own");
    refused::<Tag>("1", "tag: expected NODE=NAME");
    refused::<Tag>("1=a b", "tag: `a b` is no name: expected a word without `=` and `,`");
    assert_eq!(Tag::parse_list("0=dc1,1").unwrap_err().to_string(), "`1` is not a tag: expected NODE=NAME");
}

fn checked(replicas: u8, delays: &[&str], acknowledgement: &str, tags: &str) -> Option<String> {
    let settings = ReplicationSettings {
        replicas,
        delays: delays.iter().map(|rule| rule.parse().unwrap()).collect(),
        acknowledgement: acknowledgement.parse().unwrap(),
        tags: if tags.is_empty() { Vec::new() } else { Tag::parse_list(tags).unwrap() },
        ..ReplicationSettings::default()
    };
    Replication::new(settings, Seed(1)).err()
}

#[test]
fn settings_must_fit_each_other() {
    let cases = [
        (0, vec![], "1", "", "replicas 0: expected 1 to 64"),
        (65, vec![], "1", "", "replicas 65: expected 1 to 64"),
        (
            3,
            vec!["0>3=1ms"],
            "1",
            "",
            "replication delay `0>3=1ms`: there is no node 3; the last one is 2: see --replicas",
        ),
        (
            3,
            vec!["0>1=1ms", "0>1=2ms"],
            "1",
            "",
            "replication delay `0>1=2ms`: there is another delay for the same nodes; keep one",
        ),
        (
            3,
            vec!["1ms", "2ms"],
            "1",
            "",
            "replication delay `2ms`: there is another delay for the same nodes; keep one",
        ),
        (2, vec![], "3", "", "acknowledgement `3`: asks for 3 of 2 nodes; ask for fewer"),
        (2, vec![], "1", "2=dc1", "tag `2=dc1`: there is no node 2; the last one is 1: see --replicas"),
        (
            3,
            vec![],
            "tags:dc1=2",
            "0=dc1,0=dc1,1=dc2",
            "acknowledgement `tags:dc1=2`: asks for 2 of 1 nodes with the tag `dc1`; ask for fewer",
        ),
    ];
    for (replicas, delays, acknowledgement, tags, why) in cases {
        assert_eq!(checked(replicas, &delays, acknowledgement, tags).as_deref(), Some(why));
    }
    assert_eq!(checked(3, &["1ms", "0>1=2ms", "1>0=2ms"], "tags:a=1,b=2", "0=a,1=b,2=b"), None);
    assert_eq!(checked(64, &["1ms"], "64", ""), None);
}

#[test]
fn fuzz_texts_of_nodes() {
    let corpus = DELAYS.into_iter().chain(ACKNOWLEDGEMENTS).chain(TAGS).chain(PREFERENCES);
    let words = ["tags:", ">", "=", ",", "%", "255", "256", "-1", "64", "1e9", "h", "exp:", "..", "é"];
    Fuzz::new("nodes").from(corpus).words(words).run(20_000, |input| {
        let text = String::from_utf8_lossy(input);
        let settings = ReplicationSettings {
            replicas: input.len() as u8,
            delays: again::<DelayRule>(&text).into_iter().collect(),
            acknowledgement: again(&text).unwrap_or(Acknowledgement::Quorum),
            preference: again(&text).unwrap_or(ReadPreference::Nearest),
            tags: Tag::parse_list(&text).unwrap_or_default(),
            journal: Nanos(input.len() as u64),
        };
        match Replication::new(settings, Seed(1)) {
            Ok(replication) => {
                let nodes = replication.delays().nodes();
                let node = replication.route(store::Access::Read, NodeId(nodes - 1), 1);
                assert!(node.0 < nodes);
                replication.acknowledgement(node, 1, Nanos(1));
            }
            Err(why) => assert_eq!(why.lines().count(), 1, "{why}"),
        }
    });
}
