use super::*;

#[test]
fn nothing() {}
