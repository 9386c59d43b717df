//! Which columns a scan decodes.

/// A set of columns of [`SampleBatch`](crate::SampleBatch). Fewer columns make a scan cheaper; those that
/// were not asked for are empty. `completed` is always decoded, since it counts the samples.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Columns(u16);

impl Columns {
    /// `intended`
    pub const INTENDED: Columns = Columns(1);
    /// `ready`
    pub const READY: Columns = Columns(1 << 1);
    /// `sent`
    pub const SENT: Columns = Columns(1 << 2);
    /// `arrived`
    pub const ARRIVED: Columns = Columns(1 << 3);
    /// `completed`
    pub const COMPLETED: Columns = Columns(1 << 4);
    /// `seq`
    pub const SEQ: Columns = Columns(1 << 5);
    /// `session`
    pub const SESSION: Columns = Columns(1 << 6);
    /// `op`
    pub const OP: Columns = Columns(1 << 7);
    /// `phase`
    pub const PHASE: Columns = Columns(1 << 8);
    /// `outcome`
    pub const OUTCOME: Columns = Columns(1 << 9);
    /// `retries`
    pub const RETRIES: Columns = Columns(1 << 10);
    /// `flags`
    pub const FLAGS: Columns = Columns(1 << 11);
    /// All of them; [`SampleBatch::get`](crate::SampleBatch::get) needs all.
    pub const ALL: Columns = Columns((1 << 12) - 1);

    /// Both sets.
    pub const fn with(self, other: Columns) -> Columns {
        Columns(self.0 | other.0)
    }

    /// Whether all of `other` is in this set.
    pub const fn has(self, other: Columns) -> bool {
        self.0 & other.0 == other.0
    }
}

impl std::ops::BitOr for Columns {
    type Output = Columns;
    fn bitor(self, other: Columns) -> Columns {
        self.with(other)
    }
}
