//! The timing against an event-by-event simulation in exact fractions, on settings and arrivals that nobody chose.
//!
//! The oracle knows no store time: it walks through real time from one change to the next, and lets work go on at the rate
//! of the moment, or not at all in a hiccup. Times are whole multiples of 1/scale ns, with the product of all rates as the
//! scale, so that nothing is ever rounded.

use proptest::prelude::*;
use store::{Draw, Hiccup, Join, Model, Operation, Rules, Service, Timed, Timing};
use units::{Nanos, PerSecond, Seed};

/// One request's worth of work at rates in hundredths of requests a second, per nanosecond.
const ONE_REQUEST: i128 = 100 * 1_000_000_000;

struct Oracle {
    scale: i128,
    /// Begin and end in ns, ascending, disjoint.
    hiccups: Vec<(i128, i128)>,
    /// Ends in ns and rates in hundredths a second; the last has no end. Empty without a capacity.
    pieces: Vec<(Option<i128>, i128)>,
    /// When the gate opens.
    open: i128,
    /// When each server is free; empty for any number of them.
    free: Vec<i128>,
}

impl Oracle {
    /// The end of the hiccup at this moment, if there is one.
    fn thaw(&self, mut at: i128) -> i128 {
        for &(begin, end) in &self.hiccups {
            if begin * self.scale <= at && at < end * self.scale {
                at = end * self.scale;
            }
        }
        at
    }

    /// When work that begins at `from` is done, in a world that changes at `changes` (ns) and goes at `rate` in between.
    fn work(&self, from: i128, work: i128, changes: &[i128], rate: impl Fn(i128) -> i128) -> i128 {
        let mut all: Vec<i128> = self.hiccups.iter().flat_map(|&(begin, end)| [begin, end]).collect();
        all.extend(changes);
        all.sort_unstable();
        let (mut at, mut left) = (from, work * self.scale);
        for change in all.into_iter().map(|change| change * self.scale) {
            if change <= at {
                continue;
            }
            let rate = if self.thaw(at) > at { 0 } else { rate(at) };
            // What is done at the very moment of a change is done in the world after it.
            if left < (change - at) * rate {
                break;
            }
            left -= (change - at) * rate;
            at = change;
        }
        assert_eq!(left % rate(at), 0, "the scale is too small");
        self.thaw(at + left / rate(at))
    }

    fn rate(&self, at: i128) -> i128 {
        let piece = self.pieces.iter().find(|(end, _)| end.is_none_or(|end| at < end * self.scale));
        piece.expect("the last has no end").1
    }

    /// (turn, end) of a request, in multiples of 1/scale ns.
    fn admit(&mut self, arrival: u64, service: u64) -> (i128, i128) {
        let mut turn = self.thaw(i128::from(arrival) * self.scale);
        if !self.pieces.is_empty() {
            turn = turn.max(self.open);
            while self.rate(turn) == 0 {
                let (end, _) =
                    self.pieces.iter().find(|(end, _)| end.is_some_and(|e| turn < e * self.scale)).unwrap();
                turn = self.thaw(end.unwrap() * self.scale);
            }
            let changes: Vec<i128> = self.pieces.iter().filter_map(|(end, _)| *end).collect();
            self.open = self.work(turn, ONE_REQUEST, &changes, |at| self.rate(at));
        }
        let first = (0..self.free.len()).min_by_key(|&server| self.free[server]);
        let begin = first.map_or(turn, |server| turn.max(self.free[server]));
        let end = self.work(begin, service.into(), &[], |_| 1);
        if let Some(server) = first {
            self.free[server] = end;
        }
        (begin, end)
    }

    fn rules(&self, arrival: u64, begin: i128, end: i128) -> Rules {
        let arrival = i128::from(arrival) * self.scale;
        let met = |&(b, e): &(i128, i128)| b * self.scale < end && arrival < e * self.scale;
        let mut rules = Rules::default();
        if begin >= self.thaw(arrival) + self.scale {
            rules = rules.with(Rules::QUEUED);
        }
        if self.hiccups.iter().any(met) {
            rules = rules.with(Rules::HICCUP);
        }
        rules
    }
}

/// The hiccups of a model with constant draws, united, up to `until`.
fn intervals(model: &Model, origin: u64, until: u64) -> Vec<(i128, i128)> {
    let mut all = Vec::new();
    for Hiccup { length, first, every } in &model.hiccups {
        let length = length.as_constant().unwrap().0;
        let mut begin = origin + first.0;
        while begin < until {
            all.push((i128::from(begin), i128::from(begin + length)));
            match every {
                Some(every) => begin += every.as_constant().unwrap().0,
                None => break,
            }
        }
    }
    all.sort_unstable();
    let mut united: Vec<(i128, i128)> = Vec::new();
    for (begin, end) in all.into_iter().filter(|(begin, end)| begin < end) {
        match united.last_mut() {
            Some(last) if begin <= last.1 => last.1 = last.1.max(end),
            _ => united.push((begin, end)),
        }
    }
    united
}

fn oracle(model: &Model, origin: u64, until: u64) -> Oracle {
    let hundredths = |rate: PerSecond| (rate.get() * 100.0).round() as i128;
    let mut pieces = Vec::new();
    if let Some(capacity) = model.capacity {
        let capacity = hundredths(capacity);
        if let Some(join) = &model.join {
            let at = i128::from(origin + join.at.0);
            pieces.push((Some(at), capacity));
            let dip = capacity * (100 - join.dip_percent as i128) / 100;
            pieces.push((Some(at + i128::from(join.streaming.0)), dip));
            pieces.push((None, hundredths(join.then)));
        } else {
            pieces.push((None, capacity));
        }
    }
    let scale = pieces.iter().map(|(_, rate)| (*rate).max(1)).product();
    let free = vec![0; model.servers.unwrap_or(0) as usize];
    Oracle { scale, hiccups: intervals(model, origin, until), pieces, open: 0, free }
}

/// Compares all of `arrivals` and gives them with their times.
fn agree(model: &Model, arrivals: &[u64]) -> Vec<(u64, Timed)> {
    model.check().unwrap();
    let seed = Seed(7);
    let mut timing = Timing::new(model, seed);
    let origin = arrivals.first().copied().unwrap_or(0);
    // Far behind all that the short loads of these tests can reach.
    let mut exact = oracle(model, origin, origin + 400_000_000_000);
    let mut times = Vec::new();
    for &arrival in arrivals {
        let timed = timing.admit(Nanos(arrival), Operation::Read, b"");
        // The oracle is told the service time, which is seen in a store with nothing else.
        let service = service_alone(model, seed, times.len());
        let (begin, end) = exact.admit(arrival, service);
        let floor = |at: i128| Nanos((at / exact.scale) as u64);
        let expected =
            Timed { begun: floor(begin), due: floor(end), rules: exact.rules(arrival, begin, end) };
        let joining = timed.rules.has(Rules::JOINING);
        let known = Rules(timed.rules.0 & !Rules::JOINING.0);
        assert_eq!(Timed { rules: known, ..timed }, expected, "request {} at {arrival}", times.len());
        assert_eq!(joining, is_joining(model, arrival - origin), "request {} at {arrival}", times.len());
        times.push((arrival, timed));
    }
    times
}

/// The service time of request `number` of this seed.
fn service_alone(model: &Model, seed: Seed, number: usize) -> u64 {
    let alone = Model { service: model.service.clone(), ..Model::default() };
    let mut timing = Timing::new(&alone, seed);
    (0..=number).map(|_| timing.admit(Nanos::ZERO, Operation::Read, b"").due.0).last().unwrap()
}

fn is_joining(model: &Model, age: u64) -> bool {
    model.join.as_ref().is_some_and(|join| (join.at.0..join.at.0 + join.streaming.0).contains(&age))
}

fn arrivals() -> impl Strategy<Value = Vec<u64>> {
    // Bursts, steady stretches and pauses, from any begin; whole milliseconds are frequent, to hit edges exactly.
    let gap = prop_oneof![Just(0u64), Just(1_000_000), 0u64..3_000_000, 0u64..80_000_000];
    (0u64..2_000_000_000, prop::collection::vec(gap, 1..120)).prop_map(|(begin, gaps)| {
        let mut at = begin;
        gaps.into_iter()
            .map(|gap| {
                at += gap;
                at
            })
            .collect()
    })
}

fn time() -> impl Strategy<Value = Nanos> {
    prop_oneof![(0u64..300).prop_map(Nanos::from_millis), (0u64..300_000_000).prop_map(Nanos)]
}

fn hiccups() -> impl Strategy<Value = Vec<Hiccup>> {
    let hiccup = (time(), time(), prop::option::of(200u64..900)).prop_map(|(length, first, every)| Hiccup {
        length: Draw::constant(Nanos(length.0 / 5)),
        first,
        every: every.map(|millis| Draw::constant(Nanos::from_millis(millis))),
    });
    prop::collection::vec(hiccup, 0..4)
}

fn service() -> impl Strategy<Value = Vec<Service>> {
    let texts = prop_oneof![
        Just("0s"),
        Just("1ms"),
        Just("777us"),
        Just("exp:3ms"),
        Just("uniform:1us..9ms"),
        Just("90% 1ms + 10% 40ms"),
        Just("pareto:500us,1.2"),
        Just("lognormal:2ms,1.5")
    ];
    texts.prop_map(|text| vec![text.parse().unwrap()])
}

/// Rates all of whose dips are whole numbers: one such as 2.58 is no exact `f64`, and then it is not the timing's
/// arithmetic that differs from the oracle's but the setting.
fn rate_before_join() -> impl Strategy<Value = PerSecond> {
    (1u32..50).prop_map(|hundreds| PerSecond::new(f64::from(hundreds * 100)).unwrap())
}

fn rate() -> impl Strategy<Value = PerSecond> {
    prop_oneof![Just(1053u32), Just(1000), Just(100), Just(3), Just(30), Just(700), 1u32..5000]
        .prop_map(|rate| PerSecond::new(f64::from(rate)).unwrap())
}

fn join() -> impl Strategy<Value = Join> {
    let dip = prop_oneof![Just(0u32), Just(60), Just(100), 0u32..=100];
    (time(), time(), dip, rate()).prop_map(|(at, streaming, dip, then)| Join {
        at,
        streaming,
        dip_percent: f64::from(dip),
        then,
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn d_d_1_with_hiccups(rate in rate(), hiccups in hiccups(), arrivals in arrivals()) {
        agree(&Model { capacity: Some(rate), hiccups, ..Model::default() }, &arrivals);
    }

    #[test]
    fn g_g_c_with_hiccups(
        service in service(), servers in 1u32..6, hiccups in hiccups(), arrivals in arrivals()
    ) {
        agree(&Model { service, servers: Some(servers), hiccups, ..Model::default() }, &arrivals);
    }

    #[test]
    fn any_number_of_servers_behind_a_gate(
        rate in rate(), service in service(), servers in prop::option::of(1u32..4),
        hiccups in hiccups(), arrivals in arrivals()
    ) {
        let model = Model { capacity: Some(rate), service, servers, hiccups, ..Model::default() };
        agree(&model, &arrivals);
    }

    #[test]
    fn a_node_joins(rate in rate_before_join(), join in join(), hiccups in hiccups(), arrivals in arrivals()) {
        agree(&Model { capacity: Some(rate), join: Some(join), hiccups, ..Model::default() }, &arrivals);
    }

    /// Whatever is asked for while it runs, turns do not go back, and nothing is answered before it has come.
    #[test]
    fn freezes_at_any_time_keep_the_order(
        rate in rate(), service in service(), hiccups in hiccups(), arrivals in arrivals(),
        freezes in prop::collection::vec((0usize..120, 0u64..100_000_000, 0u64..100_000_000), 0..6)
    ) {
        let model = Model { capacity: Some(rate), service, servers: Some(2), hiccups, ..Model::default() };
        let mut timing = Timing::new(&model, Seed(3));
        let mut last = Nanos::ZERO;
        for (number, at) in arrivals.iter().enumerate() {
            for (_, later, length) in freezes.iter().filter(|(before, ..)| *before == number) {
                timing.freeze(Nanos(at + later), Nanos(*length));
            }
            let timed = timing.admit(Nanos(*at), Operation::Read, b"");
            prop_assert!(timed.begun >= last && timed.begun >= Nanos(*at) && timed.due >= timed.begun);
            last = timed.begun;
        }
    }
}

/// A freeze that is asked for ahead of all requests is the same as a hiccup of the settings.
#[test]
fn a_freeze_is_a_hiccup() {
    let mut model = Model { capacity: PerSecond::new(150.0), ..Model::default() };
    model.hiccups.push("20ms@300ms every 100ms".parse().unwrap());
    let mut asked = Timing::new(&model, Seed(1));
    asked.freeze(Nanos::from_millis(250), Nanos::from_millis(60));
    model.hiccups.push("60ms@250ms".parse().unwrap());
    let mut set = Timing::new(&model, Seed(1));
    let mut met = 0;
    for at in (0..1000).map(Nanos::from_millis) {
        let (asked, set) = (asked.admit(at, Operation::Read, b""), set.admit(at, Operation::Read, b""));
        assert_eq!(asked, set, "{at}");
        met += u32::from(set.rules.has(Rules::HICCUP));
    }
    assert!(met > 200, "{met}");
}
