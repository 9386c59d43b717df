//! Counters of the kernel that only grow, as what was added within each window.

use crate::{Description, NoiseSource, Unavailable};

/// A counter; its source's values are its growth, times `scale`.
pub(crate) struct Growth {
    about: Description,
    read: Box<Counter>,
    /// From the counter's unit to the source's.
    scale: f64,
    /// None after a failure: the next reading would tell of more than its own window.
    before: Option<u64>,
}

/// Reads a counter.
pub(crate) type Counter = dyn FnMut() -> Result<u64, Unavailable> + Send;

impl Growth {
    pub(crate) fn new(
        about: Description,
        scale: f64,
        read: impl FnMut() -> Result<u64, Unavailable> + Send + 'static,
    ) -> Growth {
        Growth { about, read: Box::new(read), scale, before: None }
    }
}

impl NoiseSource for Growth {
    fn describe(&self) -> Description {
        self.about.clone()
    }

    fn open(&mut self) -> Result<(), Unavailable> {
        self.before = Some((self.read)()?);
        Ok(())
    }

    /// A counter that went backwards was reset: what happened in that window is not known.
    fn read(&mut self, _elapsed_ns: u64) -> Option<f64> {
        let before = self.before.take();
        let now = (self.read)().ok()?;
        self.before = Some(now);
        before.and_then(|before| now.checked_sub(before)).map(|grown| grown as f64 * self.scale)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Kind, Pace};
    use std::collections::VecDeque;

    #[test]
    fn growth_is_told_and_a_reset_or_a_failure_is_not() {
        let mut planted: VecDeque<Option<u64>> =
            [Some(7), Some(10), Some(10), None, Some(12), Some(13), Some(3), Some(5)].into();
        let about = Description {
            name: "planted".into(),
            kind: Kind::Count,
            pace: Pace::Fast,
            quantum: "1",
            summary: "a planted counter",
        };
        let mut source = Growth::new(about, 2.0, move || {
            planted.pop_front().flatten().ok_or_else(|| Unavailable("planted".to_owned()))
        });
        source.open().unwrap();
        let values: Vec<_> = (0..8).map(|_| source.read(1)).collect();
        assert_eq!(values, [Some(6.0), Some(0.0), None, None, Some(2.0), None, Some(4.0), None]);
        assert!(source.open().is_err());
    }
}
