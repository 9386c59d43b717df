//! Where a worker's rows go.

use crate::local::Sink;
use record::{Producer, RawSample, RawStatement};

/// The ends of rings that one worker pushes to.
pub struct Rings {
    /// Of its requests.
    pub samples: Producer,
    /// Of the exchanges inside of them; `None` where they are not timed.
    pub statements: Option<Producer<RawStatement>>,
}

impl From<Producer> for Rings {
    fn from(samples: Producer) -> Rings {
        Rings { samples, statements: None }
    }
}

impl Sink for Rings {
    #[inline(always)]
    fn push(&mut self, sample: RawSample) {
        self.samples.push(sample);
    }

    fn fill(&mut self) -> f64 {
        let statements = self.statements.as_mut().map_or(0.0, Producer::fill);
        self.samples.fill().max(statements)
    }

    fn times_statements(&self) -> bool {
        self.statements.is_some()
    }

    #[inline]
    fn push_statement(&mut self, statement: RawStatement) {
        if let Some(ring) = &mut self.statements {
            ring.push(statement);
        }
    }
}
