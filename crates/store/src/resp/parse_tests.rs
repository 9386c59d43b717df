use super::*;

/// Requests in `input`, and what ended the reading.
fn all(input: &[u8], trust: Trust) -> (Vec<Vec<Vec<u8>>>, Option<String>) {
    let (mut rest, mut requests, mut parser) = (input, Vec::new(), Parser::default());
    loop {
        match parser.step(rest, trust) {
            Step::Request(used) => {
                requests.push(parser.words(rest).iter().map(|word| word.to_vec()).collect());
                rest = &rest[used..];
            }
            Step::Nothing(used) => rest = &rest[used..],
            Step::Unfinished => return (requests, None),
            Step::Malformed(wrong) => return (requests, Some(wrong)),
        }
        parser.next();
    }
}

#[track_caller]
fn understood(input: &str, words: &[&str]) {
    let (requests, wrong) = all(input.as_bytes(), Trust::Known);
    assert_eq!(wrong, None, "{input:?}");
    let found: Vec<String> =
        requests.iter().flatten().map(|word| String::from_utf8_lossy(word).into_owned()).collect();
    assert_eq!(found, words, "{input:?}");
}

#[track_caller]
fn refused(input: &[u8], trust: Trust, words: &str) {
    assert_eq!(all(input, trust).1.as_deref(), Some(words), "{:?}", input.escape_ascii().to_string());
}

#[test]
fn arrays_and_lines_are_split_into_words() {
    understood("*2\r\n$3\r\nGET\r\n$1\r\nk\r\n*1\r\n$4\r\nPING\r\n", &["GET", "k", "PING"]);
    understood("*2\r\n$3\r\nGET\r\n$0\r\n\r\n", &["GET", ""]);
    understood("*1\r\n$4\r\nPINGxx", &["PING"]);
    understood("*0\r\n*-1\r\n\r\n  \r\nPING\n", &["PING"]);
    understood("set a  'b \\' \" c' \"\\x41\\n\\\"z\"\r\n", &["set", "a", "b ' \" c", "A\n\"z"]);
    understood("echo \"\" ''\r\n", &["echo", "", ""]);
    understood("ec\"ho\" x\r\n", &["echo", "x"]);
}

#[test]
fn what_is_unfinished_waits() {
    for input in ["", "*", "*2\r", "*1\r\n", "*1\r\n$4", "*1\r\n$4\r\nPING", "*1\r\n$4\r\nPING\r", "PING"] {
        assert_eq!(Parser::default().step(input.as_bytes(), Trust::Known), Step::Unfinished, "{input:?}");
    }
}

#[test]
fn what_is_wrong_is_said_as_redis_says_it() {
    let known = Trust::Known;
    for count in ["x", "", "131073", "99999999999999999999", "+1", "01", "-0", " 1"] {
        refused(format!("*{count}\r\n").as_bytes(), known, "invalid multibulk length");
    }
    for length in ["x", "", "-1", "524289", "18446744073709551617", "03"] {
        refused(format!("*1\r\n${length}\r\n").as_bytes(), known, "invalid bulk length");
    }
    refused(b"*1\r\n:4\r\n", known, "expected '$', got ':'");
    refused(b"*1\r\n\r\n", known, "expected '$', got ' '");
    refused(b"echo \"a\r\n", known, "unbalanced quotes in request");
    refused(b"echo \"a\"b\r\n", known, "unbalanced quotes in request");
    refused(b"echo 'a\r\n", known, "unbalanced quotes in request");
    refused(&[b'a'; LINE_MAX + 1], known, "too big inline request");
    refused(&[&b"*"[..], &[b'1'; LINE_MAX]].concat(), known, "too big mbulk count string");
    refused(&[&b"*1\r\n$"[..], &[b'1'; LINE_MAX]].concat(), known, "too big bulk count string");
    refused(b"*11\r\n", Trust::Stranger, "unauthenticated multibulk length");
    refused(b"*1\r\n$16385\r\n", Trust::Stranger, "unauthenticated bulk length");
    understood("*11\r\n", &[]);
}

#[test]
fn a_request_has_a_limit_as_a_whole() {
    let word = [&b"$524288\r\n"[..], &[b'x'; WORD_MAX], b"\r\n"].concat();
    refused(&[b"*3\r\n", &word[..], &word[..]].concat(), Trust::Known, "request exceeds 1048576 bytes");
}

#[test]
fn nothing_is_reserved_for_what_is_only_announced() {
    let mut parser = Parser::default();
    assert_eq!(parser.step(b"*131072\r\n$524288\r\n", Trust::Known), Step::Unfinished);
    assert_eq!(parser.words.capacity(), 0);
}

#[test]
fn a_request_that_trickles_in_is_not_read_again_from_its_front() {
    let word = b"$1\r\nx\r\n".repeat(10_000);
    let input = [&b"*10000\r\n"[..], &word].concat();
    let mut parser = Parser::default();
    for end in 0..input.len() {
        let before = parser.at;
        assert_eq!(parser.step(&input[..end], Trust::Known), Step::Unfinished);
        assert!(parser.at >= before && end - parser.at < 16, "at {} of {end}", parser.at);
    }
    assert_eq!(parser.step(&input, Trust::Known), Step::Request(input.len()));
    assert_eq!(parser.words(&input).len(), 10_000);
}

#[test]
fn integers_are_strict() {
    for (text, number) in [("0", 0), ("-1", -1), ("10", 10), ("9223372036854775807", i64::MAX)] {
        assert_eq!(integer(text.as_bytes()), Some(number), "{text}");
    }
    assert_eq!(integer(b"-9223372036854775808"), Some(i64::MIN));
    for text in ["", "-", "+1", " 1", "1 ", "01", "-0", "-01", "9223372036854775808", "1x", "0x1"] {
        assert_eq!(integer(text.as_bytes()), None, "{text}");
    }
}
