//! From a request's number to its keys and values.

use super::Kind;
use super::choices::{RequestDistribution, ScanLength};
use super::config::{Family, YcsbConfig};
use super::integrity;
use super::keys::KeyText;
use super::lengths::LengthDraw;
use super::pool::{Pool, Span};
use super::tickets::{DRAWN, Observed};
use crate::Request;
use crate::distribution::{Exponential, GrayZipf, Hotspot, KeyDraw, ScrambledZipf, Zipf};
use units::{Rng, Seed};

/// The most fields a record can have.
pub(crate) const FIELDS_MOST: usize = 128;

/// A request made concrete.
pub struct Plan {
    pub(crate) kind: Kind,
    /// The integer key of the mix.
    pub(crate) key: i64,
    /// The text key of the CoreWorkload.
    pub(crate) key_text: KeyText,
    /// Records to scan.
    pub(crate) count: i64,
    /// The single field that is read or written, when not all are.
    pub(crate) read_field: usize,
    pub(crate) write_field: usize,
    /// A delete that inserts its key again.
    pub(crate) restores: bool,
    /// The values to write, in the order of the fields.
    pub(crate) values: Vec<Span>,
    /// The values of all fields one after the other, where they are a function of the key.
    pub(crate) text: String,
}

impl Plan {
    pub(crate) fn new(config: &YcsbConfig) -> Plan {
        let text = if config.data_integrity { integrity::room(config) } else { 0 };
        Plan {
            kind: Kind::Read,
            key: 0,
            key_text: KeyText::EMPTY,
            count: 0,
            read_field: 0,
            write_field: 0,
            restores: false,
            values: vec![Span::default(); config.fields],
            text: String::with_capacity(text),
        }
    }
}

impl std::fmt::Display for Plan {
    /// One line with what this kind of request uses; for tests and for looking at a schedule.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:?}", self.kind)?;
        match self.key_text.as_str() {
            "" => write!(f, " {}", self.key)?,
            text => write!(f, " {text}")?,
        }
        match self.kind {
            Kind::Scan => write!(f, " count {}", self.count)?,
            Kind::Delete if self.restores => write!(f, " and restore")?,
            _ => {}
        }
        if matches!(self.kind, Kind::Read | Kind::Delete | Kind::Scan) && !self.restores {
            return write!(f, " field {}", self.read_field);
        }
        write!(f, " from field {}:", self.write_field)?;
        self.values.iter().try_for_each(|Span { offset, length }| write!(f, " {offset}+{length}"))
    }
}

/// The distributions of a run.
pub(crate) struct Draws {
    requests: Seed,
    /// That of the data set: a load by requests makes the same values.
    loading: Seed,
    keys: KeyDraw,
    field_lengths: LengthDraw,
    scan_lengths: LengthDraw,
}

impl Draws {
    pub(crate) fn of(config: &YcsbConfig) -> Draws {
        let ScanLength { least, most, shape } = config.scan;
        Draws {
            requests: request_seed(config),
            loading: load_seed(config),
            keys: key_draw(config),
            field_lengths: LengthDraw::of_fields(config),
            scan_lengths: LengthDraw::new(least, most, shape),
        }
    }

    /// Makes `request` concrete: a function of (seed, request) and of what was observed before the run.
    pub(crate) fn plan(
        &self,
        config: &YcsbConfig,
        observed: &Observed,
        pool: &Pool,
        request: Request,
        plan: &mut Plan,
    ) {
        let mut rng = self.requests.at(request.seq);
        plan.kind = config.family.kinds()[usize::from(request.op.0)];
        plan.restores = false;
        let number = match config.family {
            Family::Mix => self.mix_key(config, request, plan, &mut rng),
            Family::Core => self.core_key(config, observed, request, plan.kind, &mut rng),
        };
        match config.family {
            Family::Mix => plan.key = number as i64,
            Family::Core => plan.key_text = KeyText::of(config, number),
        }
        if config.loading {
            rng = self.loading.at(number);
        }
        match plan.kind {
            Kind::Scan => plan.count = i64::from(self.scan_lengths.draw(&mut rng)),
            Kind::Read => {}
            Kind::Delete if !plan.restores => {}
            _ => self.values(config, pool, plan, &mut rng),
        }
        if !config.read_all_fields {
            plan.read_field = rng.below(config.fields as u64) as usize;
        }
        if config.data_integrity {
            integrity::fill(config, plan);
        }
    }

    fn mix_key(&self, config: &YcsbConfig, request: Request, plan: &mut Plan, rng: &mut Rng) -> u64 {
        match plan.kind {
            Kind::Insert => return request.ticket,
            Kind::Delete if request.ticket != DRAWN => return request.ticket,
            Kind::Delete => plan.restores = config.stable,
            _ => {}
        }
        self.keys.draw(rng, request.seq, config.records)
    }

    fn core_key(
        &self,
        config: &YcsbConfig,
        observed: &Observed,
        request: Request,
        kind: Kind,
        rng: &mut Rng,
    ) -> u64 {
        if config.loading {
            return config.range.0 + request.ticket;
        }
        if kind == Kind::Insert {
            return observed.next + request.ticket * config.stride();
        }
        let own = request.ticket.saturating_sub(config.outstanding);
        let drawn = self.keys.draw(rng, request.seq, observed.shared + own);
        // Other clients' inserts may not be there yet; this one draws from what was there, and its own.
        match drawn.checked_sub(observed.shared) {
            Some(index) => observed.next + index * config.stride(),
            // The records of the range, and behind all records what earlier runs inserted.
            None => match drawn.checked_sub(config.population()) {
                None => config.range.0 + drawn,
                Some(index) => config.records + index,
            },
        }
    }

    fn values(&self, config: &YcsbConfig, pool: &Pool, plan: &mut Plan, rng: &mut Rng) {
        let all = config.write_all_fields || matches!(plan.kind, Kind::Insert | Kind::Delete);
        let count = if all {
            plan.write_field = 0;
            config.fields
        } else {
            plan.write_field = rng.below(config.fields as u64) as usize;
            1
        };
        // Within the capacity that `Plan::new` took.
        plan.values.resize(count, Span::default());
        if config.data_integrity {
            return; // they follow from the key
        }
        for value in &mut plan.values {
            let length = self.field_lengths.draw(rng);
            *value = pool.draw(rng, length);
        }
    }
}

/// What the values of the data set are drawn from.
pub(crate) fn load_seed(config: &YcsbConfig) -> Seed {
    config.seed.derive("ycsb/load")
}

/// Clients that make one load together must not ask the same in step.
fn request_seed(config: &YcsbConfig) -> Seed {
    let seed = config.seed.derive("ycsb/requests");
    match config.client.0 {
        0 => seed,
        client => seed.derive(&format!("client {client}")),
    }
}

fn key_draw(config: &YcsbConfig) -> KeyDraw {
    let (records, range, theta) = (config.records, config.drawn_range(), config.theta);
    // YCSB ranks all but one of its records by their age.
    let ages = if config.family == Family::Core { records.saturating_sub(1).max(1) } else { records };
    match config.distribution {
        RequestDistribution::Uniform => KeyDraw::Uniform,
        RequestDistribution::Zipfian if config.family == Family::Mix => {
            KeyDraw::Gray(GrayZipf::new(range, theta))
        }
        RequestDistribution::Zipfian => KeyDraw::Scrambled(ScrambledZipf::new(range, theta)),
        RequestDistribution::ZipfianExact => KeyDraw::Zipf(Zipf::new(range, theta)),
        RequestDistribution::Latest => KeyDraw::Latest(GrayZipf::new(ages, theta)),
        RequestDistribution::Hotspot => {
            KeyDraw::Hotspot(Hotspot { data_fraction: config.hotspot.0, draw_fraction: config.hotspot.1 })
        }
        RequestDistribution::Exponential => {
            let (percentile, share) = config.exponential;
            KeyDraw::Exponential(Exponential::new(percentile, records as f64 * share))
        }
        RequestDistribution::Sequential => KeyDraw::Sequential,
    }
}
