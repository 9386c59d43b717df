//! Every type there and back, and rows that nobody wrote.

use super::*;
use proptest::prelude::*;

fn column(kind: u8, flags: u16, wanted: ValueType) -> Column {
    Column { kind, unsigned: flags & UNSIGNED != 0, wanted: Some(wanted) }
}

/// A row of these values; `None` is NULL.
fn row(values: &[Option<&[u8]>]) -> Vec<u8> {
    let mut body = vec![0; 1 + (values.len() + 9) / 8];
    for (at, value) in values.iter().enumerate() {
        match value {
            None => body[1 + (at + 2) / 8] |= 1 << ((at + 2) % 8),
            Some(bytes) => body.extend_from_slice(bytes),
        }
    }
    body
}

#[test]
fn arguments_come_back_as_they_went() {
    for (value, wanted) in [
        (Value::Int(i64::MIN), ValueType::Int),
        (Value::Float(-1e300), ValueType::Float),
        (Value::Text("größe"), ValueType::Text),
        (Value::Timestamp(-1), ValueType::Timestamp),
        (Value::Decimal(Decimal { unscaled: i64::MIN, scale: 18 }), ValueType::Decimal(18)),
    ] {
        let mut bytes = Vec::new();
        encode(wanted, &mut bytes, value).unwrap();
        let column = column(parameter(wanted), 0, wanted);
        assert!(column.fits(), "{wanted:?}");
        assert_eq!(super::value(&[column], &row(&[Some(&bytes)]), 0), Some(value));
    }
    assert_eq!(encode(ValueType::Int, &mut Vec::new(), Value::Text("1")), Err(Unfit::Kind));
    assert_eq!(encode(ValueType::Timestamp, &mut Vec::new(), Value::Timestamp(i64::MAX)), Err(Unfit::Range));
}

#[test]
fn integers_of_every_width_keep_their_sign() {
    let int = |kind, flags, bytes: &[u8]| match super::value(
        &[column(kind, flags, ValueType::Int)],
        &row(&[Some(bytes)]),
        0,
    ) {
        Some(Value::Int(value)) => Some(value),
        _ => None,
    };
    assert_eq!(int(TINY, 0, &[0xFF]), Some(-1));
    assert_eq!(int(TINY, UNSIGNED, &[0xFF]), Some(255));
    assert_eq!(int(SHORT, 0, &[0, 0x80]), Some(-32_768));
    assert_eq!(int(YEAR, 0, &[0xE8, 0x07]), Some(2024));
    assert_eq!(int(INT24, 0, &[0xFE, 0xFF, 0xFF, 0xFF]), Some(-2));
    assert_eq!(int(LONG, UNSIGNED, &[0xFF; 4]), Some(i64::from(u32::MAX)));
    assert_eq!(int(LONGLONG, 0, &[0xFF; 8]), Some(-1));
    assert_eq!(int(LONGLONG, UNSIGNED, &[0xFF; 8]), None, "above the largest");
    assert_eq!(int(BIT, UNSIGNED, &[2, 1, 2]), Some(258));
    assert_eq!(int(NEWDECIMAL, 0, b"\x0245"), Some(45));
    assert_eq!(int(NEWDECIMAL, 0, b"\x0445.5"), None, "digits would be lost");
    assert_eq!(int(LONG, 0, b"123"), None, "cut short");
}

#[test]
fn a_value_is_found_behind_others_and_nulls() {
    let text = column(VAR_STRING, 0, ValueType::Text);
    let columns = [
        column(LONG, 0, ValueType::Int),
        text,
        Column { kind: DATETIME, unsigned: false, wanted: None },
        column(FLOAT, 0, ValueType::Float),
        text,
        text,
        text,
        column(DATE, 0, ValueType::Timestamp),
    ];
    let half = 0.5_f32.to_le_bytes();
    let row = row(&[
        Some(&[1, 0, 0, 0]),
        None,
        Some(&[0]),
        Some(&half),
        Some(b"\x02hi"),
        Some(b"\0"),
        None,
        Some(&[4, 0xB2, 7, 1, 2]),
    ]);
    let found: Vec<_> = (0..9).map(|column| value(&columns, &row, column)).collect();
    let day = 86_400_000_000;
    assert_eq!(
        found,
        [
            Some(Value::Int(1)),
            Some(Value::Null),
            None, // not wanted
            Some(Value::Float(0.5)),
            Some(Value::Text("hi")),
            Some(Value::Text("")),
            Some(Value::Null),
            Some(Value::Timestamp(day)),
            None,
        ]
    );
}

#[test]
fn impossible_pairs_are_known_before_the_run() {
    for (kind, wanted) in [
        (LONGLONG, ValueType::Float),
        (LONGLONG, ValueType::Text),
        (DOUBLE, ValueType::Int),
        (VAR_STRING, ValueType::Int),
        (NEWDECIMAL, ValueType::Timestamp),
        (NEWDECIMAL, ValueType::Decimal(19)),
        (TIME, ValueType::Timestamp),
        (DATETIME, ValueType::Text),
    ] {
        assert!(!column(kind, 0, wanted).fits(), "{kind} {wanted:?}");
    }
    assert!(Column { kind: TIME, unsigned: false, wanted: None }.fits());
}

proptest! {
    #[test]
    fn any_row_gives_values_or_nothing(
        kinds in proptest::collection::vec(any::<u8>(), 0..12),
        bytes in proptest::collection::vec(any::<u8>(), 0..60),
        wanted in 0..5_usize,
        index in 0..14_usize,
    ) {
        let types =
            [ValueType::Int, ValueType::Float, ValueType::Text, ValueType::Timestamp, ValueType::Decimal(2)];
        let columns: Vec<Column> = kinds.iter().map(|kind| column(*kind, 0, types[wanted])).collect();
        value(&columns, &bytes, index);
    }

    #[test]
    fn any_definition_is_read_or_not(body in proptest::collection::vec(any::<u8>(), 0..40)) {
        if let Some((column, _)) = Column::parse(&body, None) {
            prop_assert_eq!(column.redefined(&body), Some(column));
        }
    }
}
