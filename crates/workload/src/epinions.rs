//! Epinions: users who review items and trust each other.
//!
//! The schema and the nine transactions are those of BenchBase's workload of this name (after a crawl of epinions.com by
//! Massa & Avesani). Users and items are drawn uniformly from those that are there: their ids are 0 … n − 1, a function of
//! the scale. Nothing is ever inserted or deleted, so that a run leaves as many rows as it found.
//!
//! | transaction | weight | what is sent | misses when |
//! |---|---|---|---|
//! | `GetReviewItemById` | 10 | one select | the item has no review: never |
//! | `GetReviewsByUser` | 10 | one select | never: many users have reviewed nothing |
//! | `GetAverageRatingByTrustedUser` | 10 | one select | never: an average of nothing is an answer |
//! | `GetItemAverageRating` | 10 | one select | never |
//! | `GetItemReviewsByTrustedUser` | 10 | begin, two selects, commit in one exchange | the item has no review: never |
//! | `UpdateUserName` | 10 | one update | the user is gone: never |
//! | `UpdateItemTitle` | 10 | one update | the item is gone: never |
//! | `UpdateReviewRating` | 10 | one update | the user has not reviewed the item: mostly |
//! | `UpdateTrustRating` | 20 | one update | the user has not rated the other: mostly |
//!
//! The last two take a random pair, as published, and then mostly measure the probe of an index; what they miss is
//! counted. `pairs=existing` draws from the pairs that are there.

mod config;
mod dataset;
mod population;
mod statements;

#[cfg(test)]
mod model;

pub use config::{EpinionsConfig, Pairs};

use crate::dataset::DataSet;
use crate::distribution::GrayZipf;
use crate::letters::{Letters, Span};
use crate::transaction::settled;
use crate::{NoTickets, Operation, Request, Tickets, Workload, WorkloadFacts};
use driver::{Administration, Command, Conversation, Dialect, OpError, StatementSpec, Value};
use population::Population;
use units::{Outcome, Rng, Seed};

/// A transaction.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Kind {
    ReviewItemById,
    ReviewsByUser,
    AverageRatingByTrustedUser,
    ItemAverageRating,
    ItemReviewsByTrustedUser,
    UserName,
    ItemTitle,
    ReviewRating,
    TrustRating,
}

const OPERATIONS: [(&str, f64, Kind); 9] = [
    ("GetReviewItemById", 10.0, Kind::ReviewItemById),
    ("GetReviewsByUser", 10.0, Kind::ReviewsByUser),
    ("GetAverageRatingByTrustedUser", 10.0, Kind::AverageRatingByTrustedUser),
    ("GetItemAverageRating", 10.0, Kind::ItemAverageRating),
    ("GetItemReviewsByTrustedUser", 10.0, Kind::ItemReviewsByTrustedUser),
    ("UpdateUserName", 10.0, Kind::UserName),
    ("UpdateItemTitle", 10.0, Kind::ItemTitle),
    ("UpdateReviewRating", 10.0, Kind::ReviewRating),
    ("UpdateTrustRating", 20.0, Kind::TrustRating),
];

/// Ratings that updates set, from 0 on.
const RATINGS: u64 = 1_000;

/// The workload `epinions`.
pub struct Epinions {
    config: EpinionsConfig,
    requests: Seed,
    population: Population,
    letters: Letters,
    /// Length of an item's description.
    description: GrayZipf,
    /// Length of a review's comment, above 32.
    comment: GrayZipf,
}

/// A request made concrete.
pub struct Plan {
    kind: Kind,
    user: i64,
    /// The user who is trusted or not.
    other: i64,
    item: i64,
    /// What a rating or a trust is set to.
    value: i64,
    /// The new name or title.
    text: Span,
}

impl std::fmt::Display for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Plan { kind, user, other, item, value, text } = self;
        write!(f, "{kind:?} user {user} other {other} item {item} value {value} text {text}")
    }
}

impl Epinions {
    /// Draws the pairs of this scale, ≈ 2 ms for each 2,000 users.
    pub fn new(config: EpinionsConfig) -> Epinions {
        Epinions {
            requests: config.seed.derive("epinions/requests").derive(&format!("client {}", config.client.0)),
            population: Population::new(&config),
            letters: Letters::new(config.seed),
            description: GrayZipf::new(512, 0.99),
            comment: GrayZipf::new(224, 0.99),
            config,
        }
    }

    /// (user, item) of an update of a rating.
    fn review_pair(&self, rng: &mut Rng) -> (i64, i64) {
        match self.config.pairs {
            Pairs::Random => (self.user(rng), self.item(rng)),
            Pairs::Existing => {
                let (item, user) = self.population.reviews.pair(rng.below(self.population.reviews.len()));
                (user, item)
            }
        }
    }

    /// (source, target) of an update of trust.
    fn trust_pair(&self, rng: &mut Rng) -> (i64, i64) {
        match self.config.pairs {
            Pairs::Existing if self.population.trust.len() > 0 => {
                self.population.trust.pair(rng.below(self.population.trust.len()))
            }
            _ => (self.user(rng), self.user(rng)),
        }
    }

    fn user(&self, rng: &mut Rng) -> i64 {
        rng.below(self.config.users()) as i64
    }

    fn item(&self, rng: &mut Rng) -> i64 {
        rng.below(self.config.items()) as i64
    }

    async fn reviews_and_trust<C: Conversation>(
        &self,
        plan: &Plan,
        conversation: &mut C,
    ) -> Result<Outcome, OpError> {
        conversation.stage(Command::Begin)?;
        stage(conversation, statements::ALL_REVIEWS, &[Value::Int(plan.item)])?;
        stage(conversation, statements::TRUST_OF_USER, &[Value::Int(plan.user)])?;
        conversation.stage(Command::Commit)?;
        conversation.exchange().await?;
        Ok(if conversation.reply(1).touched() { Outcome::Ok } else { Outcome::Miss })
    }
}

fn stage<C: Conversation>(
    conversation: &mut C,
    index: usize,
    arguments: &[Value<'_>],
) -> Result<(), OpError> {
    conversation.stage(Command::Statement { index, arguments })
}

impl Workload for Epinions {
    type Plan = Plan;

    fn facts(&self) -> WorkloadFacts {
        WorkloadFacts {
            name: "epinions".to_owned(),
            scale: self.config.scale,
            parameters: self.config.parameters(),
        }
    }

    fn operations(&self) -> Vec<Operation> {
        OPERATIONS.iter().map(|&(name, weight, _)| Operation { name, weight }).collect()
    }

    fn statements(&self, dialect: Dialect) -> Result<Vec<StatementSpec>, String> {
        statements::statements(dialect)
    }

    fn tickets(&self) -> Box<dyn Tickets> {
        Box::new(NoTickets)
    }

    fn new_plan(&self) -> Plan {
        let kind = Kind::ReviewItemById;
        Plan { kind, user: 0, other: 0, item: 0, value: 0, text: Span::default() }
    }

    fn plan(&self, request: Request, plan: &mut Plan) {
        let mut rng = self.requests.at(request.seq);
        let rng = &mut rng;
        *plan = self.new_plan();
        plan.kind = OPERATIONS[usize::from(request.op.0)].2;
        match plan.kind {
            Kind::ReviewItemById | Kind::ItemAverageRating => plan.item = self.item(rng),
            Kind::ReviewsByUser => plan.user = self.user(rng),
            Kind::AverageRatingByTrustedUser | Kind::ItemReviewsByTrustedUser => {
                (plan.user, plan.item) = (self.user(rng), self.item(rng));
            }
            Kind::UserName => {
                (plan.user, plan.text) = (self.user(rng), self.letters.draw(rng, 24));
            }
            Kind::ItemTitle => {
                (plan.item, plan.text) = (self.item(rng), self.letters.draw(rng, 128));
            }
            Kind::ReviewRating => {
                (plan.user, plan.item) = self.review_pair(rng);
                plan.value = rng.below(RATINGS) as i64;
            }
            Kind::TrustRating => {
                (plan.user, plan.other) = self.trust_pair(rng);
                plan.value = rng.below(2) as i64;
            }
        }
    }

    async fn run<C: Conversation>(&self, plan: &Plan, conversation: &mut C) -> Result<Outcome, OpError> {
        let (user, other, item) = (Value::Int(plan.user), Value::Int(plan.other), Value::Int(plan.item));
        let (value, text) = (Value::Int(plan.value), Value::Text(self.letters.text(plan.text)));
        match plan.kind {
            Kind::ReviewItemById => stage(conversation, statements::REVIEWS_OF_ITEM, &[item])?,
            Kind::ReviewsByUser => stage(conversation, statements::REVIEWS_BY_USER, &[user])?,
            Kind::AverageRatingByTrustedUser => {
                stage(conversation, statements::TRUSTED_AVERAGE, &[item, user])?;
            }
            Kind::ItemAverageRating => stage(conversation, statements::AVERAGE, &[item])?,
            Kind::UserName => stage(conversation, statements::SET_NAME, &[text, user])?,
            Kind::ItemTitle => stage(conversation, statements::SET_TITLE, &[text, item])?,
            Kind::ReviewRating => stage(conversation, statements::SET_RATING, &[value, item, user])?,
            Kind::TrustRating => stage(conversation, statements::SET_TRUST, &[value, user, other])?,
            Kind::ItemReviewsByTrustedUser => {
                let steps = self.reviews_and_trust(plan, conversation).await;
                return settled(conversation, steps).await;
            }
        }
        conversation.exchange().await?;
        // A user without reviews is an answer like any other.
        let found = conversation.reply(0).touched() || plan.kind == Kind::ReviewsByUser;
        Ok(if found { Outcome::Ok } else { Outcome::Miss })
    }

    fn dataset(&self) -> Option<&dyn DataSet> {
        Some(self)
    }

    fn observe(&mut self, _administration: &mut dyn Administration) -> Result<(), String> {
        // Every pair and every key is a function of the scale.
        Ok(())
    }
}
