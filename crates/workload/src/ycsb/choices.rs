//! What some parameters can be chosen from.

/// How the record of a request is drawn; see [`crate::distribution`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RequestDistribution {
    /// Each record alike.
    Uniform,
    /// As the family's origin has it: Gray's approximation (mix), scrambled (CoreWorkload).
    Zipfian,
    /// Exactly Zipf, not scrambled. With hashed key text the hot records are scattered all the same.
    ZipfianExact,
    /// The newest records are hot.
    Latest,
    /// A share of the records gets a share of the requests.
    Hotspot,
    /// The newest records are hot, exponentially.
    Exponential,
    /// One after the other.
    Sequential,
}

impl RequestDistribution {
    /// All of them.
    pub const ALL: [RequestDistribution; 7] = [
        RequestDistribution::Uniform,
        RequestDistribution::Zipfian,
        RequestDistribution::ZipfianExact,
        RequestDistribution::Latest,
        RequestDistribution::Hotspot,
        RequestDistribution::Exponential,
        RequestDistribution::Sequential,
    ];

    /// The name as a property's value.
    pub fn name(self) -> &'static str {
        match self {
            RequestDistribution::Uniform => "uniform",
            RequestDistribution::Zipfian => "zipfian",
            RequestDistribution::ZipfianExact => "zipfian-exact",
            RequestDistribution::Latest => "latest",
            RequestDistribution::Hotspot => "hotspot",
            RequestDistribution::Exponential => "exponential",
            RequestDistribution::Sequential => "sequential",
        }
    }
}

/// How a length between two limits is drawn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum LengthShape {
    /// Always the upper limit.
    Constant,
    /// Each length alike.
    Uniform,
    /// Short lengths are frequent (Gray's Zipf, theta 0.99).
    Zipfian,
    /// As often as a file says.
    Histogram,
}

impl LengthShape {
    /// All of them.
    pub const ALL: [LengthShape; 4] =
        [LengthShape::Constant, LengthShape::Uniform, LengthShape::Zipfian, LengthShape::Histogram];

    /// The name as a property's value.
    pub fn name(self) -> &'static str {
        match self {
            LengthShape::Constant => "constant",
            LengthShape::Uniform => "uniform",
            LengthShape::Zipfian => "zipfian",
            LengthShape::Histogram => "histogram",
        }
    }
}

/// Length of a field's value in characters (ASCII).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FieldLength {
    /// Lower limit, unless constant; at least 1.
    pub least: u32,
    /// Upper limit; at most 65,536.
    pub most: u32,
    /// Between them.
    pub shape: LengthShape,
}

/// Records that a scan asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct ScanLength {
    /// At least this many.
    pub least: u32,
    /// At most this many.
    pub most: u32,
    /// Between them.
    pub shape: LengthShape,
}

/// How record numbers become key text.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum KeyOrder {
    /// By a hash of the number: neighbours in time are far apart in the index.
    Hashed,
    /// The number itself.
    Ordered,
}

impl KeyOrder {
    /// Both.
    pub const ALL: [KeyOrder; 2] = [KeyOrder::Hashed, KeyOrder::Ordered];

    /// The name as a property's value.
    pub fn name(self) -> &'static str {
        match self {
            KeyOrder::Hashed => "hashed",
            KeyOrder::Ordered => "ordered",
        }
    }
}
