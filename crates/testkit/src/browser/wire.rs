//! HTTP to a driver on this machine, as far as the WebDriver protocol needs it, and base64.

use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, TcpStream};
use std::time::Duration;

/// Starting a browser on a busy machine takes longest; nothing sensible takes this long.
const PATIENCE: Duration = Duration::from_secs(120);

/// Sends one request and gives the answer's `value`.
pub(super) fn request(port: u16, method: &str, path: &str, body: &Value) -> Result<Value, String> {
    let failed = |e: std::io::Error| format!("chromedriver, {method} {path}: {e}");
    let mut stream = TcpStream::connect((Ipv4Addr::LOCALHOST, port)).map_err(failed)?;
    stream.set_read_timeout(Some(PATIENCE)).map_err(failed)?;
    let body = if method == "POST" { body.to_string() } else { String::new() };
    let head = format!(
        "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nConnection: close\r\n\
         Content-Type: application/json\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    stream.write_all((head + &body).as_bytes()).map_err(failed)?;
    let answer = answer(&mut BufReader::new(stream)).map_err(failed)?;
    let value = serde_json::from_slice::<Value>(&answer)
        .map_err(|e| format!("chromedriver, {method} {path}: its answer is no JSON: {e}"))?;
    let value = value.get("value").cloned().unwrap_or(Value::Null);
    match value.get("error").and_then(Value::as_str) {
        None => Ok(value),
        Some(error) => {
            let words = value.get("message").and_then(Value::as_str).unwrap_or("");
            Err(format!("chromedriver, {method} {path}: {error}: {}", words.lines().next().unwrap_or("")))
        }
    }
}

/// The body of an answer; its status says nothing that the body does not.
fn answer(reader: &mut impl BufRead) -> std::io::Result<Vec<u8>> {
    let mut length = None;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        if let Some((name, value)) = line.split_once(':')
            && name.eq_ignore_ascii_case("content-length")
        {
            length = value.trim().parse::<u64>().ok();
        }
    }
    let mut body = Vec::new();
    match length {
        Some(length) => reader.take(length).read_to_end(&mut body)?,
        None => reader.read_to_end(&mut body)?,
    };
    Ok(body)
}

/// The bytes of a base64 text; `None` where it is none.
pub(super) fn from_base64(text: &str) -> Option<Vec<u8>> {
    let mut bytes = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0u32, 0u32);
    for c in text.bytes().filter(|c| *c != b'=') {
        let digit = match c {
            b'A'..=b'Z' => c - b'A',
            b'a'..=b'z' => c - b'a' + 26,
            b'0'..=b'9' => c - b'0' + 52,
            b'+' => 62,
            b'/' => 63,
            _ => return None,
        };
        bits = (bits << 6 | u32::from(digit)) & 0xFF_FFFF;
        count += 6;
        if count >= 8 {
            count -= 8;
            bytes.push((bits >> count) as u8);
        }
    }
    Some(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_read() {
        for (text, bytes) in [("", ""), ("Zg==", "f"), ("Zm8=", "fo"), ("Zm9vYmFy", "foobar")] {
            assert_eq!(from_base64(text).as_deref(), Some(bytes.as_bytes()));
        }
        assert_eq!(from_base64("a b"), None);
    }

    #[test]
    fn answers_end_where_their_length_says() {
        let text = b"HTTP/1.1 200 OK\r\ncontent-length: 4\r\n\r\nbodyMORE";
        assert_eq!(answer(&mut &text[..]).expect("whole"), b"body");
        assert_eq!(answer(&mut &b"HTTP/1.1 200 OK\r\n\r\nall"[..]).expect("whole"), b"all");
    }
}
