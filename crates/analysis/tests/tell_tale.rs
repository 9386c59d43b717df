//! Planted pauses are found, what was not planted is not, and cells differ as they were made to.

#[path = "made/cells.rs"]
mod cells;
mod made;

use analysis::Options;
use analysis::VerdictState;
use analysis::tell_tale::{
    Cell, CellFigures, Finding, Half, LookOptions, Pauses, Quantity, Round, Rounds, Slowest, TellTale,
    TestedRow, Whose, look,
};
use cells::{MS, Place, Planted, US, cell, planted};
use made::Scratch;
use record::LoadModel::{Closed, Open};
use units::{Nanos, Quantile};

fn options() -> LookOptions {
    LookOptions { analysis: Options { threads: 2, ..Options::default() }, ..LookOptions::default() }
}

fn looked(cells: &[(Cell, Rounds)]) -> TellTale {
    look(cells, &options()).expect("there are cells")
}

fn figures(found: &TellTale, index: usize) -> &CellFigures {
    found.cells[index].figures.as_ref().expect("it ran")
}

fn quantile(q: f64) -> Quantity {
    Quantity::Quantile(Quantile::new(q).expect("within [0, 1]"))
}

fn row(rows: &[TestedRow], quantity: Quantity) -> &TestedRow {
    rows.iter().find(|row| row.quantity == quantity).expect("compared")
}

#[test]
fn planted_pauses_are_found_and_others_are_not() {
    let scratch = Scratch::new("tell-tale-pauses");
    let g1 = Planted::pausing(1, 4, 20 * MS);
    let harmless = Planted { harmless: true, ..Planted::pausing(2, 40, 2 * MS) };
    let stalling = Planted { stalls: 20, harmless: true, ..Planted::pausing(3, 8, MS / 5) };
    let cells = [
        planted(&scratch.0, cell("YCSB, G1", Open, Some(true)), &g1),
        planted(&scratch.0, cell("YCSB, Harmless", Open, Some(true)), &harmless),
        planted(&scratch.0, cell("YCSB, ZGC", Open, Some(true)), &stalling),
        planted(&scratch.0, cell("YCSB, Epsilon", Open, Some(true)), &Planted::new(4)),
        planted(&scratch.0, cell("YCSB, G1", Open, Some(false)), &g1),
        planted(&scratch.0, cell("truetail", Open, None), &Planted::new(5)),
        planted(
            &scratch.0,
            cell("YCSB, Serial", Open, Some(true)),
            &Planted { broken_log: true, ..g1.clone() },
        ),
        (
            cell("YCSB, Parallel", Open, Some(true)),
            Rounds::CanNot("the JVM has no such collector".to_owned()),
        ),
    ];
    let found = looked(&cells);
    let whose: Vec<&str> = found
        .cells
        .iter()
        .map(|cell| cell.figures.as_ref().map_or("none", |figures| figures.whose.key()))
        .collect();
    let expected =
        ["harness", "not-shown", "not-shown", "no-pause", "no-log", "no-jvm", "log-trouble", "none"];
    assert_eq!(whose, expected);

    let g1 = figures(&found, 0);
    let row = g1.slowest(Slowest::Hundred).expect("tested");
    // Four pauses of 20 ms at 2,500/s delay some 200 requests a round, of which the slowest hundred are a part.
    assert_eq!((row.all.of, row.all.met), (300, 300), "{row:?}");
    assert!(row.all.by_chance < 30.0 && row.p_corrected <= 0.01, "{row:?}");
    let thousandth = g1.slowest(Slowest::Thousandth).expect("tested");
    assert!(
        (42..=48).contains(&thousandth.all.of) && thousandth.all.met == thousandth.all.of,
        "{thousandth:?}"
    );
    for round in &g1.rounds {
        let pauses = round.pauses.as_ref().expect("a log");
        let longest = pauses.longest().expect("pauses");
        assert!(round.max.0.abs_diff(longest.0) < 2 * MS, "{:?} {longest:?}", round.max);
        assert!(round.max_paused.is_some_and(|share| share > 0.8), "{:?}", round.max_paused);
        assert!(
            pauses.longest_to_safepoint().is_some_and(|time| time.0.abs_diff(longest.0 / 5) < longest.0 / 50)
        );
        assert_eq!(round.slowest.iter().filter(|(_, met)| met.is_some()).count(), 2);
    }
    let Pauses::Seen(totals) = &g1.pauses else { panic!("{:?}", g1.pauses) };
    assert_eq!((totals.pauses, totals.rounds, totals.stalls), (12, 3, 0));

    // Pauses that are there and delay nothing: by chance as many as are met.
    let harmless = figures(&found, 1).slowest(Slowest::Hundred).expect("tested");
    assert!(harmless.p_corrected > 0.05 && (0.3..3.0).contains(&harmless.all.ratio.point), "{harmless:?}");
    // Stalls of single threads are no pauses, and are told apart from them.
    let stalled = figures(&found, 2).slowest(Slowest::Thousandth).expect("tested");
    let with_stalls = stalled.with_stalls.as_ref().expect("there are stalls");
    assert!(stalled.p_corrected > 0.05 && with_stalls.p_value < 0.01 && with_stalls.met > 25, "{stalled:?}");
    assert!(figures(&found, 6).pauses == Pauses::Trouble("no clock leads from gc.log to the run".to_owned()));
    assert_eq!(found.cells[7].figures, Err("the JVM has no such collector".to_owned()));
}

/// The warm-up, whose requests are ten times as slow, is in none of it.
#[test]
fn a_round_is_its_measured_time() {
    let scratch = Scratch::new("tell-tale-round");
    let found = looked(&[planted(&scratch.0, cell("truetail", Open, None), &Planted::new(1))]);
    let figures = figures(&found, 0);
    for round in &figures.rounds {
        let series = &round.series;
        assert_eq!(series.length, Nanos(6_000 * MS));
        assert!((14_500..15_500).contains(&round.requests), "{}", round.requests);
        assert!(round.max.0 < 3 * MS && round.max == series.longest.1 && round.max_at == series.longest.0);
        // 0.05 % of 15,000, half of them at either end, one by one; the others at the rate that is stated.
        let extremes = series.extremes.as_ref().expect("few");
        assert!(
            extremes.len() as u64 == series.extremes_total && (5..=11).contains(&extremes.len()),
            "{}",
            extremes.len()
        );
        assert!(extremes.iter().any(|(_, value)| *value == series.longest.1));
        assert!(
            extremes.iter().all(|(_, value)| {
                (value.0 as f64) < series.limits.0 || value.0 as f64 >= series.limits.1
            })
        );
        let expected = series.sampled_share * round.requests as f64;
        assert!(
            series.sampled.len() <= 400
                && (series.sampled.len() as f64 - expected).abs() < 6.0 * expected.sqrt()
        );
        assert!(series.columns.max.len() <= 1_024);
        let most = series.columns.max.iter().filter(|value| **value != u64::MAX).max();
        assert_eq!(most, Some(&series.longest.1.0));
        assert_eq!(series.columns.min.iter().min(), Some(&series.shortest.1.0));
        let names: Vec<&str> = round.boxes.iter().map(|(name, ..)| name.as_str()).collect();
        assert_eq!(names, ["all", "Read", "Update"]);
    }
    assert!((2_400.0..2_600.0).contains(&figures.throughput.median));
    assert_eq!((figures.throughput.points.len(), figures.quantiles.len()), (3, 3));
    let shown = &figures.rounds[figures.shown];
    assert!(shown.max.0 as f64 == figures.max.median && figures.max.least <= figures.max.median);
}

/// Requests that are placed to ms miss short pauses; the place is widened, and so is chance.
#[test]
fn coarse_moments_find_short_pauses() {
    let scratch = Scratch::new("tell-tale-coarse");
    let short = Planted { resolution: MS, ..Planted::pausing(1, 12, 4 * MS) };
    let harmless = Planted { harmless: true, ..Planted { seed: 2, ..short.clone() } };
    let found = looked(&[
        planted(&scratch.0, cell("YCSB, G1", Open, Some(true)), &short),
        planted(&scratch.0, cell("YCSB, Harmless", Open, Some(true)), &harmless),
    ]);
    assert!(figures(&found, 0).rounds.iter().all(|round| round.resolution == Nanos(MS)));
    let row = figures(&found, 0).slowest(Slowest::Hundred).expect("tested");
    // Twelve pauses of 4 ms delay some 120 requests a round, of which the slowest hundred hold nearly all.
    assert!(10 * row.all.met > 9 * row.all.of && figures(&found, 0).whose == Whose::Harness, "{row:?}");
    assert_eq!(figures(&found, 1).whose, Whose::NotShown);
}

/// Requests of some 1.5 ms that are placed to 1 ms: of those that are pauses the maximum is the harness's in each round, and of
/// those beside pauses in none.
#[test]
fn a_maximum_is_in_a_pause_or_beside_it_although_moments_are_coarse() {
    let scratch = Scratch::new("tell-tale-maxima");
    let at = |place: Place, seed: u64| Planted {
        one_at: Some(place),
        resolution: MS,
        rounds: 8,
        slower: 0.5,
        ..Planted::pausing(seed, 60, 1_200 * US)
    };
    let found = looked(&[
        planted(&scratch.0, cell("YCSB, Within", Open, Some(true)), &at(Place::Within, 1)),
        planted(&scratch.0, cell("YCSB, Before", Open, Some(true)), &at(Place::Before, 2)),
        planted(&scratch.0, cell("YCSB, After", Open, Some(true)), &at(Place::After, 3)),
    ]);
    let shares = |index: usize| -> Vec<f64> {
        let rounds = &figures(&found, index).rounds;
        rounds.iter().map(|round| round.max_paused.expect("longer than the step")).collect()
    };
    assert!(shares(0).iter().all(|share| *share > 0.5), "{:?}", shares(0));
    assert_eq!(figures(&found, 0).whose, Whose::Harness);
    for index in [1, 2] {
        assert!(shares(index).iter().all(|share| *share < 0.5), "{:?}", shares(index));
        let whose = &figures(&found, index).whose;
        assert!(matches!(whose, Whose::Partly | Whose::NotShown), "{whose:?}");
        assert_eq!(figures(&found, index).maxima_in_pauses(), (0, 8));
    }
}

/// Two rounds of which nobody knows, and one without a pause.
#[test]
fn a_cell_of_which_most_logs_tell_nothing_is_not_one_without_pauses() {
    let scratch = Scratch::new("tell-tale-untold");
    let quiet = Planted { broken_rounds: 2, ..Planted::new(1) };
    let seen = Planted { broken_rounds: 1, ..Planted::pausing(2, 4, 20 * MS) };
    let found = looked(&[
        planted(&scratch.0, cell("YCSB, Epsilon", Open, Some(true)), &quiet),
        planted(&scratch.0, cell("YCSB, G1", Open, Some(true)), &seen),
    ]);
    let why = "no clock leads from gc.log to the run";
    let quiet = figures(&found, 0);
    let Pauses::Trouble(trouble) = &quiet.pauses else { panic!("{:?}", quiet.pauses) };
    assert!(trouble.contains(why) && trouble.contains("2 of 3 rounds"), "{trouble}");
    assert_eq!(quiet.whose, Whose::Trouble);
    assert_eq!(quiet.untold, [format!("round 1: {why}"), format!("round 2: {why}")]);
    // What was seen was there, and it stays known of which round nothing is told.
    let seen = figures(&found, 1);
    assert!(matches!(seen.pauses, Pauses::Seen(totals) if totals.rounds == 2), "{:?}", seen.pauses);
    assert_eq!((seen.untold.len(), &seen.whose), (1, &Whose::Harness));
}

/// A run that failed is no evidence; one that fell behind its schedule is, and its times say so.
#[test]
fn invalid_rounds_are_left_out_unless_the_load_was_not_kept() {
    let scratch = Scratch::new("tell-tale-invalid");
    let failing = |failed_rounds: usize| Planted { failed_rounds, ..Planted::new(1) };
    let found = looked(&[
        planted(&scratch.0, cell("YCSB, Epsilon", Open, Some(true)), &Planted::new(2)),
        planted(&scratch.0, cell("YCSB, G1", Open, Some(true)), &failing(1)),
        planted(&scratch.0, cell("YCSB, ZGC", Open, Some(true)), &failing(3)),
        planted(
            &scratch.0,
            cell("YCSB, Serial", Open, Some(true)),
            &Planted { falls_behind: true, ..Planted::new(3) },
        ),
    ]);
    let some = figures(&found, 1);
    let [lost] = &some.lost[..] else { panic!("{:?}", some.lost) };
    assert!(lost.starts_with("round 1: its verdict is invalid: "), "{lost}");
    assert!(lost.ends_with("the made disk is full"), "{lost}");
    assert_eq!(some.rounds.iter().map(|round| round.number).collect::<Vec<_>>(), [2, 3]);
    assert_eq!((some.throughput.points.len(), some.max.points.len()), (2, 2));
    // The round that failed was ten times as slow.
    assert!(some.max.most < 3e6 && figures(&found, 0).max.most < 3e6, "{:?}", some.max);
    let none = found.cells[2].figures.as_ref().expect_err("no round of it is left");
    assert!(none.contains("round 3: its verdict is invalid"), "{none}");
    let behind = figures(&found, 3);
    assert_eq!((behind.rounds.len(), behind.lost.len()), (3, 0));
    for round in &behind.rounds {
        assert_eq!(round.verdict, VerdictState::Invalid);
        let why = round.invalid.as_deref().expect("a reason");
        assert!(why.contains("offered rate was not reached"), "{why}");
        assert!(round.max.0 > 500 * MS, "what was due 0.6 s before the end was answered after it");
    }
}

/// One pause of 2.5 ms moves the maximum and no quantile; slower by half moves all of them.
#[test]
fn both_halves_of_the_claim_are_recovered() {
    let scratch = Scratch::new("tell-tale-claim");
    let rounds = 5;
    let with = |planted: Planted| Planted { rounds, seconds: 16, ..planted };
    let cells = [
        planted(&scratch.0, cell("YCSB, Epsilon", Open, Some(true)), &with(Planted::new(1))),
        planted(&scratch.0, cell("YCSB, G1", Open, Some(true)), &with(Planted::pausing(2, 1, 5 * MS / 2))),
        planted(&scratch.0, cell("YCSB, ZGC", Open, Some(true)), &with(Planted::new(3))),
        planted(&scratch.0, cell("truetail", Open, None), &with(Planted { slower: 0.6, ..Planted::new(4) })),
        planted(&scratch.0, cell("YCSB, G1", Open, Some(false)), &with(Planted::pausing(5, 1, 5 * MS / 2))),
        // The other group: a collector that slows everything down.
        planted(&scratch.0, cell("YCSB, Epsilon", Closed, Some(true)), &with(Planted::new(6))),
        planted(
            &scratch.0,
            cell("YCSB, G1", Closed, Some(true)),
            &with(Planted { slower: 1.5, ..Planted::new(7) }),
        ),
    ];
    let found = looked(&cells);
    let [open, closed] = &found.groups[..] else { panic!("{:?}", found.groups.len()) };
    assert_eq!((open.cells.as_slice(), closed.cells.as_slice()), (&[0, 1, 2, 3, 4][..], &[5, 6][..]));
    assert_eq!(
        (&open.claim.quantiles, &open.claim.maxima),
        (&Half::Holds, &Half::Holds),
        "{:?}",
        open.against
    );
    assert!(open.claim.equivalent.len() == 3 && open.claim.bound.is_some_and(|bound| bound < 0.25));
    let of = |cell: usize| open.against.iter().find(|one| one.cell == cell).expect("compared");
    assert_eq!(row(&of(1).rows, Quantity::Max).finding, Finding::Higher);
    assert_eq!((of(1).base, of(3).base), (0, 0));
    assert_eq!(row(&of(3).rows, quantile(0.999)).finding, Finding::Lower);
    assert_eq!(row(&of(3).rows, Quantity::Max).finding, Finding::Lower);
    assert!(matches!(row(&of(2).rows, Quantity::Max).finding, Finding::Equivalent | Finding::CannotTell(_)));
    assert_eq!(closed.claim.quantiles, Half::Fails);
    let slower = closed.against[0].rows.iter().find(|row| row.quantity == quantile(0.5)).expect("compared");
    let ratio = &slower.tested.as_ref().expect("five rounds").ratio;
    assert!(ratio.interval.is_some_and(|(low, high)| low < 1.5 && 1.5 < high), "{ratio:?}");
    // The log was planted to disturb nothing.
    let [effect] = &found.log_effects[..] else { panic!("{:?}", found.log_effects) };
    assert_eq!((effect.with, effect.without), (1, 4));
    for quantity in [Quantity::Throughput, quantile(0.5), quantile(0.99)] {
        assert_eq!(row(&effect.rows, quantity).finding, Finding::Equivalent, "{quantity:?}");
    }
}

/// Longer pauses, longer maxima: over the rounds of all cells they rise together.
#[test]
fn maxima_rise_with_pauses() {
    let scratch = Scratch::new("tell-tale-correlation");
    let lengths = [5, 15, 45];
    let cells: Vec<(Cell, Rounds)> = (lengths.into_iter().enumerate())
        .map(|(index, length)| {
            let harness = format!("YCSB, Collector {length}");
            planted(
                &scratch.0,
                cell(&harness, Open, Some(true)),
                &Planted::pausing(index as u64, 3, length * MS),
            )
        })
        .collect();
    let found = looked(&cells);
    let correlation = found.groups[0].correlation.expect("nine rounds");
    assert!(
        correlation.pairs == 9 && correlation.rho > 0.9 && correlation.p_value <= 0.001,
        "{correlation:?}"
    );
    // Three rounds of one cell carry none.
    assert_eq!(figures(&found, 0).correlation, None);
    assert!(matches!(&found.groups[0].claim.quantiles, Half::NotTested(why) if why.contains("Epsilon")));
}

#[test]
fn what_can_not_be_compared_says_why() {
    let scratch = Scratch::new("tell-tale-refused");
    let one = Planted { rounds: 1, ..Planted::pausing(1, 2, 20 * MS) };
    let cells = [
        planted(
            &scratch.0,
            cell("YCSB, Epsilon", Open, Some(true)),
            &Planted { rounds: 1, ..Planted::new(2) },
        ),
        planted(&scratch.0, cell("YCSB, G1", Open, Some(true)), &one),
        planted(
            &scratch.0,
            cell("YCSB, ZGC", Open, Some(true)),
            &Planted { rate: 3_000.0, ..Planted::new(3) },
        ),
        (cell("YCSB, Serial", Open, Some(true)), Rounds::CanNot("no Java".to_owned())),
        (
            cell("YCSB, Parallel", Open, Some(true)),
            Rounds::Ran(vec![Round { number: 1, recording: Ok(scratch.0.join("nowhere")) }]),
        ),
        (cell("YCSB, Shenandoah", Open, Some(true)), Rounds::Ran(Vec::new())),
    ];
    let found = looked(&cells);
    let against = &found.groups[0].against;
    let finding = &row(&against[0].rows, Quantity::Max).finding;
    assert!(matches!(finding, Finding::CannotTell(why) if why.contains("one round")), "{finding:?}");
    assert!(
        against[1].refused.as_ref().is_some_and(|why| why.contains("3000/s")),
        "{:?}",
        against[1].refused
    );
    assert_eq!(against[2].refused.as_deref(), Some("no Java"));
    assert!(found.cells[4].figures.as_ref().is_err_and(|why| why.contains("nowhere")));
    assert_eq!(found.cells[5].figures, Err("no round of it was recorded".to_owned()));
    assert_eq!(found.groups[0].claim.maxima, Half::CannotTell);
    assert!(look(&[], &options()).is_err());
    // One round is still told whose its tail is.
    assert_eq!(figures(&found, 1).whose, Whose::Harness);
}

/// Of three rounds two failed: the one that is left has its own number, and the others are told.
#[test]
fn rounds_that_failed_are_lost_and_not_forgotten() {
    let scratch = Scratch::new("tell-tale-failed");
    let one = Planted { rounds: 1, ..Planted::new(7) };
    let (cell, rounds) = planted(&scratch.0, cell("YCSB, Epsilon", Closed, Some(true)), &one);
    let Rounds::Ran(mut rounds) = rounds else { panic!("{rounds:?}") };
    rounds[0].number = 3;
    let full = |number| Round { number, recording: Err("the heap was full".to_owned()) };
    let found = looked(&[(cell, Rounds::Ran([vec![full(1), full(2)], rounds].concat()))]);
    let figures = figures(&found, 0);
    assert_eq!(figures.lost, ["round 1: the heap was full", "round 2: the heap was full"]);
    assert_eq!(figures.rounds.iter().map(|round| round.number).collect::<Vec<_>>(), [3]);
}

/// The same cells give the same figures, whatever the number of threads.
#[test]
fn threads_do_not_matter() {
    let scratch = Scratch::new("tell-tale-threads");
    let cells = [planted(&scratch.0, cell("YCSB, G1", Closed, Some(true)), &Planted::pausing(1, 4, 20 * MS))];
    let of = |threads: usize| {
        let analysis = Options { threads, ..Options::default() };
        look(&cells, &LookOptions { analysis, ..LookOptions::default() }).expect("a cell")
    };
    assert_eq!(of(1), of(3));
}
