use super::*;

const GENCON: &str = r#"<?xml version="1.0" ?>
<verbosegc xmlns="http://www.ibm.com/j9/verbosegc" version="0.26.0">
<initialized id="1" timestamp="2020-10-18T13:35:40.500">
  <attribute name="gcPolicy" value="-Xgcpolicy:gencon" />
</initialized>
<exclusive-start id="12392" timestamp="2020-10-18T13:35:45.000" intervalms="406.180">
  <response-info timems="0.070" idlems="0.070" threads="0" lastid="0000000000000000" lastname="main" />
</exclusive-start>
<af-start id="12393" threadId="0000" totalBytesRequested="272" timestamp="2020-10-18T13:35:45.000" intervalms="406.199" type="nursery" />
<cycle-start id="12394" type="scavenge" contextid="0" timestamp="2020-10-18T13:35:45.000" intervalms="406.199" />
<gc-start id="12395" type="scavenge" contextid="12394" timestamp="2020-10-18T13:35:45.000">
</gc-start>
<gc-op id="12397" type="scavenge" timems="11.649" contextid="12394" timestamp="2020-10-18T13:35:45.012">
</gc-op>
<gc-end id="12398" type="scavenge" contextid="12394" durationms="11.785" usertimems="40.000" timestamp="2020-10-18T13:35:45.012">
</gc-end>
<cycle-end id="12400" type="scavenge" contextid="12394" timestamp="2020-10-18T13:35:45.012" />
<af-end id="12402" timestamp="2020-10-18T13:35:45.012" success="true" from="nursery"/>
<exclusive-end id="12403" timestamp="2020-10-18T13:35:45.012" durationms="12.319" />
"#;

const METRONOME: &str = r#"<?xml version="1.0" ?>
<verbosegc version="0.26.0">
<trigger-start id="25" timestamp="2011-07-12T09:32:04.503" />
<cycle-start id="26" type="global" contextid="26" timestamp="2011-07-12T09:32:04.503" intervalms="984.285" />
<gc-op id="27" type="heartbeat" contextid="26" timestamp="2011-07-12T09:32:05.209">
  <quanta quantumCount="321" quantumType="mark" minTimeMs="0.367" meanTimeMs="0.524" maxTimeMs="1.878" maxTimestampMs="598704.070" />
  <exclusiveaccess-info minTimeMs="0.006" meanTimeMs="0.062" maxTimeMs="0.147" />
</gc-op>
<gc-op id="28" type="heartbeat" contextid="26" timestamp="2011-07-12T09:32:06.215">
  <quanta quantumCount="10" quantumType="sweep" minTimeMs="0.430" meanTimeMs="0.550" maxTimeMs="0.610" maxTimestampMs="599725.070" />
</gc-op>
<gc-op id="29" type="syncgc" timems="12.200" contextid="26" timestamp="2011-07-12T09:32:07.000">
  <syncgc-info reason="system GC" exclusiveaccessTimeMs="0.009" threadPriority="11" />
</gc-op>
<trigger-end id="30" timestamp="2011-07-12T09:32:07.503" />
</verbosegc>
"#;

#[test]
fn gencons_exclusive_access_is_the_pause() {
    let log = parse(GENCON);
    let [pause] = log.pauses.as_slice() else { panic!("{:?}", log.pauses) };
    assert_eq!((pause.total, pause.reach), (Nanos(12_319_000), PauseReach::WholeVm));
    assert_eq!((pause.what.as_str(), pause.line), ("scavenge", 19));
    assert_eq!((pause.time_to_safepoint, pause.operation), (Some(Nanos(70_000)), Some(Nanos(11_785_000))));
    let end = wall_time("2020-10-18T13:35:45.012").expect("a time").0;
    assert_eq!(pause.stamp.wall, Some(Reading::cut(end, 1_000_000)));
    assert_eq!((log.not_understood, log.is_local), (0, true), "the root was never closed");
}

#[test]
fn metronomes_quanta_are_summaries() {
    let log = parse(METRONOME);
    let [mark, sweep, sync] = log.pauses.as_slice() else { panic!("{:?}", log.pauses) };
    assert_eq!((mark.reach, mark.total), (PauseReach::Within, Nanos(706_000_000)), "since the trigger");
    assert_eq!((mark.stopped, mark.longest), (Some(Nanos(321 * 524_000)), Some(Nanos(1_878_000))));
    assert_eq!((sweep.total, sweep.stopped), (Nanos(1_006_000_000), Some(Nanos(5_500_000))));
    assert_eq!((sync.reach, sync.total), (PauseReach::WholeVm, Nanos(12_200_000)));
    assert_eq!(log.not_understood, 0);
}

#[test]
fn documents_follow_each_other_and_tear() {
    let both = parse(&format!("{GENCON}{METRONOME}{GENCON}"));
    assert_eq!((both.pauses.len(), both.not_understood), (5, 0));
    let cut = GENCON.find("<exclusive-end").expect("an end");
    let torn = parse(&GENCON[..cut + 30]);
    assert_eq!((torn.pauses.len(), torn.not_understood), (0, 2), "{:?}", torn.examples);
    let midway = parse(&format!("<verbosegc>\n{}", &GENCON[cut..]));
    assert_eq!(midway.pauses[0].what, "exclusive access");
    let lacking = GENCON.replace("durationms=\"12.319\"", "");
    assert_eq!(parse(&lacking).examples[0].0, 19);
}
