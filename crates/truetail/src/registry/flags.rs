//! A choice as one would type it again.

use super::WorkloadChoice;

impl WorkloadChoice {
    /// The flags that name its data set at a scale: `-w tpcc -p pairs=random --scale 2`.
    pub(crate) fn data_flags(&self, scale: f64) -> String {
        let properties = self.parameters.iter().map(|(name, value)| format!("{name}={value}"));
        let mut words = format!("-w {}", shell_word(&self.name));
        properties.for_each(|pair| words += &format!(" -p {}", shell_word(&pair)));
        if scale != 1.0 {
            words += &format!(" --scale {scale}");
        }
        words
    }
}

/// As a shell takes it for one word.
pub(crate) fn shell_word(text: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./:=,@%+".contains(c);
    if !text.is_empty() && text.chars().all(is_plain) {
        return text.to_owned();
    }
    format!("'{}'", text.replace('\'', "'\\''"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::settings::ClientNumber;

    #[test]
    fn a_choice_is_told_as_a_shell_takes_it() {
        let choice = WorkloadChoice {
            name: "./my shop.toml".to_owned(),
            scale: 2.0,
            seed: units::Seed(1),
            parameters: vec![("pairs".to_owned(), "random".to_owned())],
            mix: None,
            client: ClientNumber::default(),
        };
        assert_eq!(choice.data_flags(1.0), "-w './my shop.toml' -p pairs=random");
        assert_eq!(choice.data_flags(0.5), "-w './my shop.toml' -p pairs=random --scale 0.5");
        assert_eq!(shell_word("postgres:///d?host=/a&b=it's"), "'postgres:///d?host=/a&b=it'\\''s'");
        assert_eq!(shell_word("sqlite:data.db"), "sqlite:data.db");
    }
}
