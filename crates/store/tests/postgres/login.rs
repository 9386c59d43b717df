//! From the first byte to the first ReadyForQuery.

use crate::conversation::Store;
use crate::wire::{message, shown, start, terminate, untagged};
use postgres_protocol::authentication::sasl::{ChannelBinding, ScramSha256};
use store::postgres::Login;
use store::{Ending, Settings};

const TLS: u32 = 80_877_103;
const GSS: u32 = 80_877_104;
const CANCEL: u32 = 80_877_102;

#[test]
fn a_trusted_client_is_told_what_it_needs_to_know() {
    let mut store = Store::new();
    let mut client = store.connect();
    let said = client.ask(&mut store, &start(&[("user", "ann"), ("application_name", "psql")]));
    let expected = [
        "authentication 0",
        "set application_name=psql",
        "set client_encoding=UTF8",
        "set DateStyle=ISO, MDY",
        "set default_transaction_read_only=off",
        "set in_hot_standby=off",
        "set integer_datetimes=on",
        "set IntervalStyle=postgres",
        "set is_superuser=on",
        "set server_encoding=UTF8",
        "set server_version=15.0",
        "set session_authorization=ann",
        "set standard_conforming_strings=on",
        "set TimeZone=UTC",
        "key",
        "ready I",
    ];
    assert_eq!(said, expected);
    assert_eq!(client.counts(), (0, 1), "a greeting is not a request");
}

#[test]
fn encryption_is_declined_and_the_start_goes_on() {
    let mut store = Store::new();
    let mut client = store.connect();
    for code in [TLS, GSS] {
        client.send(&mut store, &untagged(&code.to_be_bytes()));
        assert_eq!(client.bytes, b"N");
    }
    assert_eq!(client.ask(&mut store, &start(&[("user", "ann")])).last().unwrap(), "ready I");
    let mut stubborn = store.connect();
    for _ in 0..4 {
        stubborn.send(&mut store, &untagged(&TLS.to_be_bytes()));
    }
    let said = stubborn.ask(&mut store, &untagged(&TLS.to_be_bytes()));
    assert!(said[0].starts_with("error FATAL 08P01"), "{said:?}");
}

#[test]
fn a_cancel_request_closes_without_a_word() {
    let mut store = Store::new();
    let mut client = store.connect();
    client.send(&mut store, &untagged(&[CANCEL, 1, 2].map(u32::to_be_bytes).concat()));
    assert_eq!((client.bytes.len(), client.broken), (0, true));
}

#[test]
fn newer_versions_and_options_are_negotiated_down() {
    let mut store = Store::new();
    let mut client = store.connect();
    let mut packet = start(&[("user", "ann"), ("_pq_.report_parameters", "1")]);
    packet[7] = 2;
    let said = client.ask(&mut store, &packet);
    assert_eq!(said[..2], ["version 3.0, 1 options unknown", "authentication 0"]);
}

#[test]
fn what_is_no_start_is_fatal() {
    let mut version = start(&[("user", "ann")]);
    version[5] = 2;
    let mut cut = start(&[("user", "ann")]);
    cut.pop();
    cut[3] -= 1;
    for (packet, state) in [
        (untagged(b""), "08P01"),
        (version, "0A000"),
        (cut, "08P01"),
        (start(&[]), "28000"),
        (start(&[("user", "")]), "28000"),
        (start(&[("user", "a"), ("nonsense", "1")]), "42704"),
        (start(&[("user", "a"), ("client_encoding", "LATIN1")]), "0A000"),
        (start(&[("user", "a"), ("replication", "true")]), "0A000"),
        (start(&[("user", "a"), ("options", "-c nonsense=1")]), "42704"),
        (b"GET / HTTP/1.1\r\n\r\n".to_vec(), "08P01"),
        (vec![0, 0, 0, 0], "08P01"),
        (vec![0xff; 8], "08P01"),
    ] {
        let mut store = Store::new();
        let mut client = store.connect();
        let said = client.ask(&mut store, &packet);
        assert_eq!(said.len(), 1, "{said:?}");
        assert!(said[0].starts_with(&format!("error FATAL {state} ")), "{said:?} for {state}");
        assert!(client.broken);
    }
}

/// Logs in by SCRAM with what `alter` makes of the client's last message; gives all that was said.
fn scram(password: &str, alter: impl Fn(&mut Vec<u8>)) -> Vec<String> {
    let mut store = Store::with(Settings::default(), Login::Password("corr3ct-h0rse".to_owned()));
    let mut client = store.connect();
    let mut said = client.ask(&mut store, &start(&[("user", "ann")]));
    let mut exchange = ScramSha256::new(password.as_bytes(), ChannelBinding::unsupported());
    let first = exchange.message();
    let length = (first.len() as u32).to_be_bytes();
    let first = [&b"SCRAM-SHA-256\0"[..], &length, first].concat();
    client.send(&mut store, &message(b'p', &first));
    said.extend(client.said());
    exchange.update(&client.bytes[9..]).unwrap();
    let mut last = message(b'p', exchange.message());
    alter(&mut last);
    client.send(&mut store, &last);
    if !client.broken {
        let (_, body, behind) = crate::wire::split(&client.bytes).unwrap();
        exchange.finish(&body[4..]).expect("the server's proof");
        said.push("proof".to_owned());
        said.extend(shown(behind));
    } else {
        said.extend(client.said());
    }
    said
}

#[test]
fn the_password_is_checked() {
    let said = scram("corr3ct-h0rse", |_| {});
    assert_eq!(said[..4], ["authentication 10", "authentication 11", "proof", "authentication 0"]);
    assert_eq!(said.last().unwrap(), "ready I");
    let said = scram("wrong", |_| {});
    assert_eq!(said[2..], ["error FATAL 28P01 password authentication failed for user \"ann\""]);
}

#[test]
fn a_proof_that_was_tampered_with_is_refused() {
    let said = scram("corr3ct-h0rse", |last| last[5] = b'x');
    assert!(said[2].starts_with("error FATAL 08P01"), "{said:?}");
    let said = scram("corr3ct-h0rse", |last| {
        let at = last.len() - 3;
        last[at] = if last[at] == b'A' { b'B' } else { b'A' };
    });
    assert!(said[2].starts_with("error FATAL"), "{said:?}");
}

#[test]
fn nothing_but_a_password_gets_in() {
    for packet in [
        crate::wire::query("SELECT 1"),
        message(b'p', b"SCRAM-SHA-256-PLUS\0\0\0\0\0"),
        message(b'p', b"SCRAM-SHA-256\0\xff\xff\xff\xff"),
        message(b'p', b"plain\0"),
        message(b'p', b""),
    ] {
        let mut store = Store::with(Settings::default(), Login::Password("x".to_owned()));
        let mut client = store.connect();
        assert_eq!(client.ask(&mut store, &start(&[("user", "ann")])), ["authentication 10"]);
        let said = client.ask(&mut store, &packet);
        assert!(said.len() == 1 && said[0].starts_with("error FATAL 08P01"), "{said:?}");
        assert!(client.broken);
    }
    let mut store = Store::with(Settings::default(), Login::Password("x".to_owned()));
    let mut client = store.connect();
    client.send(&mut store, &start(&[("user", "ann")]));
    client.send(&mut store, &terminate());
    assert_eq!((client.bytes.len(), client.answers[0].ending), (0, Ending::Close));
}
