//! An exact model: after a run the database holds what the model holds, to the last value.

use super::*;
use crate::model::{Database, Table};

fn epinions(pairs: &str) -> Epinions {
    let parameters = [("pairs".to_owned(), pairs.to_owned())];
    Epinions::new(EpinionsConfig::new(0.05, Seed(3), &parameters).unwrap())
}

fn tables(database: &Database) -> [Table; 4] {
    let administration = &mut *database.administer();
    [
        Table::read(administration, "useracct", &["u_id"]),
        Table::read(administration, "item", &["i_id"]),
        Table::read(administration, "review", &["i_id", "u_id"]),
        Table::read(administration, "trust", &["source_u_id", "target_u_id"]),
    ]
}

fn expected(epinions: &Epinions, plan: &Plan, [users, items, reviews, trust]: &mut [Table; 4]) -> Outcome {
    let (user, other, item) = (plan.user.to_string(), plan.other.to_string(), plan.item.to_string());
    let text = epinions.letters.text(plan.text);
    let found = match plan.kind {
        Kind::UserName => users.set(&[&user], "name", text),
        Kind::ItemTitle => items.set(&[&item], "title", text),
        Kind::ReviewRating => reviews.set(&[&item, &user], "rating", plan.value),
        Kind::TrustRating => trust.set(&[&user, &other], "trust", plan.value),
        _ => true,
    };
    if found { Outcome::Ok } else { Outcome::Miss }
}

#[test]
fn the_database_is_what_the_model_says() {
    for pairs in ["random", "existing"] {
        let epinions = epinions(pairs);
        let database = Database::loaded(&epinions);
        let mut model = tables(&database);
        let (mut updates, mut missed) = (0, 0);
        database.run(
            &epinions,
            6_000,
            |_, _, ticket| ticket,
            |plan, outcome| {
                assert_eq!(outcome, expected(&epinions, plan, &mut model), "{plan}");
                updates += u64::from(matches!(plan.kind, Kind::ReviewRating | Kind::TrustRating));
                missed += u64::from(outcome == Outcome::Miss);
            },
        );
        assert!(model == tables(&database), "{pairs}: tables differ");
        match epinions.config.pairs {
            Pairs::Random => assert!(missed > updates / 2, "{missed} of {updates}"),
            Pairs::Existing => assert_eq!((missed, updates > 1_500), (0, true)),
        }
    }
}
