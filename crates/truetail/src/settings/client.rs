//! `--client`: which of several load machines this is.

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::fmt;
use std::str::FromStr;

/// The number of a load machine, from 0, and how many there are where that is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct ClientNumber {
    pub(crate) number: u16,
    pub(crate) of: Option<u16>,
}

impl FromStr for ClientNumber {
    type Err = String;

    /// Reads `2` or `2/4`.
    fn from_str(text: &str) -> Result<ClientNumber, String> {
        let whole = |text: &str| {
            let number = text.trim().parse::<u16>();
            number.map_err(|_| format!("`{text}` is not a whole number in 0..65535"))
        };
        let Some((number, of)) = text.split_once('/') else {
            return Ok(ClientNumber { number: whole(text)?, of: None });
        };
        let (number, of) = (whole(number)?, whole(of)?);
        if number >= of {
            return Err(format!(
                "clients are numbered from 0: of {of} the last one is {}/{of}",
                of.max(1) - 1
            ));
        }
        Ok(ClientNumber { number, of: Some(of) })
    }
}

impl fmt::Display for ClientNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.of {
            Some(of) => write!(f, "{}/{of}", self.number),
            None => write!(f, "{}", self.number),
        }
    }
}

impl Serialize for ClientNumber {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self.of {
            Some(_) => serializer.collect_str(self),
            None => serializer.serialize_u16(self.number),
        }
    }
}

impl<'de> Deserialize<'de> for ClientNumber {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<ClientNumber, D::Error> {
        #[derive(Deserialize)]
        #[serde(untagged, expecting = "expected a number such as 2, or a text such as \"2/4\"")]
        enum Written {
            Number(u16),
            Text(String),
        }
        match Written::deserialize(deserializer)? {
            Written::Number(number) => Ok(ClientNumber { number, of: None }),
            Written::Text(text) => text.parse().map_err(serde::de::Error::custom),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clients_are_read_and_shown() {
        for text in ["0", "7", "0/1", "2/4", "65534/65535"] {
            assert_eq!(text.parse::<ClientNumber>().expect(text).to_string(), text);
        }
        for bad in ["", "x", "-1", "70000", "4/4", "0/0", "1/x", "1/2/3", "/2"] {
            let reason = bad.parse::<ClientNumber>().expect_err(bad);
            assert!(!reason.is_empty() && !reason.contains('\n'), "{reason}");
        }
    }
}
