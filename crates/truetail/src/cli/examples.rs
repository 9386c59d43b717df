//! Examples below the flags of each command, and its exit codes.

pub(super) const EXAMPLES: &str = "\
Examples:
  truetail run                                     an open loop on embedded SQLite, about 15 s
  truetail run postgres://app@db1/shop -r 5000/s   the same question to a server
  truetail run postgres://… --closed -c 16         a closed loop: service times only
  truetail search postgres://… --slo 'p99 < 10ms'  the highest rate that keeps the limit
  truetail compare before/ after/ --fail-if 'p99 > +5%'";

pub(super) const RUN_EXAMPLES: &str = "\
Examples:
  truetail run                                              YCSB on SQLite, open loop, 2000/s
  truetail run postgres://app@localhost/test -w ycsb-a -r 1000/s -d 60s --timeout 1s
  truetail run sqlite:data.db --closed -c 4 --think exp:10ms
  truetail run postgres://… --phases '30s@1000/s, 10s@1000..5000/s, 30s@5000/s'
  truetail run postgres://… -r 50/s --visit 5 --think exp:1s      users who come, stay and leave
  truetail run postgres://… -r 1000/s --floor               which share of each quantile truetail and the kernel explain
  truetail run postgres://… --jvm-log harness:gc.log        with the pauses of a JVM on this host, from its log
  truetail run postgres://… -w bank.toml -p accounts=5000   a workload of your own (see docs/custom-workloads.md)
  truetail run --config night.toml --rate 3000/s            flags win over the file
Exit codes: 0 done, 2 could not be carried out, 3 the verdict is invalid.";

pub(super) const COMPARE_EXAMPLES: &str = "\
Examples:
  truetail compare before/ after/
  truetail compare before/ after/ --fail-if 'p99 > +5%' --fail-if 'mean > +3%'
  truetail compare before/ after/ --equivalent-within 5%
  truetail compare --run 'sqlite:a.db -r 1000/s' --vs 'sqlite:b.db -r 1000/s' --repeat 5
Exit codes: 0 done, 1 a --fail-if limit was broken, 2 could not be compared or a limit could not be decided,
3 the verdict of a run is invalid (unless --force).";

pub(super) const IMPORT_EXAMPLES: &str = "\
Examples:
  truetail import --list                                            the formats
  truetail import ycsb raw.csv ycsb.out -o r/                       YCSB's raw rows, and what it printed
  truetail import pgbench-log pgbench_log.* pgbench.out -o r/       requests; with -R response times
  truetail import benchbase results/tpcc_….raw.csv --jvm-log gc.log -o r/
  truetail import pgbench-log pgbench_log.* -o r/ --server-log postgresql.log
  truetail import csv requests.csv --map 'intended=begin_s,response=lat:ms,operation=op,ok=success' -o r/
  truetail import sysbench.txt -o r/                                known by its content; figures without requests
  truetail report r/; truetail attribute r/; truetail compare r/ other/
Exit codes: 0 done, 2 could not be carried out, 3 the verdict is invalid, 130 interrupted: nothing was kept.";

pub(super) const SEARCH_EXAMPLES: &str = "\
Examples:
  truetail search postgres://app@localhost/test --slo 'p99 < 10ms'
  truetail search sqlite: --slo 'p99.9 < 50ms' --from 500/s --to 20000/s
Exit codes: 0 a rate was found, 1 no rate in the range holds the limit, 2 could not be carried out.";

pub(super) const LOAD_EXAMPLES: &str = "\
Examples:
  truetail load sqlite:data.db --scale 10
  truetail load postgres://app@localhost/test -w ycsb-b -p fieldlength=200
Exit codes: 0 loaded or already there, 2 could not be carried out.";

pub(super) const CHECK_EXAMPLES: &str = "\
Examples:
  truetail check sqlite:data.db --scale 10
  truetail check postgres://app@localhost/test -w ycsb-b
Exit codes: 0 all invariants hold, 1 one is broken, 2 could not be carried out.";

pub(super) const CLEANUP_EXAMPLES: &str = "\
Examples:
  truetail cleanup postgres://app@localhost/test
Exit codes: 0 dropped, 2 could not be carried out.";

pub(super) const REPORT_EXAMPLES: &str = "\
Examples:
  truetail report recordings/20261121-093000-ycsb-sqlite
  truetail report client-0/ client-1/ --out merged/
  truetail report run/ --truth truth/                        beside the log of `truetail store --truth truth/`
  truetail report run/ --jvm-log server:gc.log               with the pauses of the server's JVM
  truetail report run/ --server-log postgresql.log           with PostgreSQL's checkpoints and vacuums
Exit codes: 0 done, 2 could not be read, 3 the verdict is invalid.";

pub(super) const ATTRIBUTE_EXAMPLES: &str = "\
Examples:
  truetail attribute recordings/20261121-093000-ycsb-sqlite
  truetail attribute run/ --above 10ms                       all requests that took longer, whatever their operation
  truetail attribute run/ --jvm-log server:gc.log            with the pauses of the server's JVM
  truetail attribute client-0/ client-1/ --json              each request with its pieces
Exit codes: 0 done, 2 could not be read, 3 the verdict is invalid.";

pub(super) const EXPORT_EXAMPLES: &str = "\
Examples:
  truetail export before/ -o before.csv
  truetail export before/ --format hdr --measure service -o before.hlog
  truetail export truth/ -o truth.csv                        the log of `truetail store --truth truth/`
Exit codes: 0 done, 2 could not be exported.";

pub(super) const STORE_EXAMPLES: &str = "\
Examples:
  truetail store --capacity 1250/s --hiccup 1s@30s --truth truth/
  truetail store --service '99% 1ms + 1% 100ms' --servers 8 --postgres 0.0.0.0:5432 --resp none
  truetail store --replicas 3 --replication-delay exp:20ms --read-preference secondary --ack quorum
  truetail store --fault delay:800ms@request=1000        later: redis-cli -p 7379 TRUETAIL fault error:busy@next
Exit codes: 0 ended as asked, 2 could not be started or had to end.";

pub(super) const FLOOR_EXAMPLES: &str = "\
Examples:
  truetail floor                                          the harness alone, and an echo server over TCP
  truetail floor postgres://app@db1/shop -r 5000/s -c 16  and the server, asked for nothing: for that run
  truetail floor redis://db1 -r 5000/s --echo db1:7377    with `truetail echo --listen 0.0.0.0:7377` on db1
  truetail run postgres://app@db1/shop -r 5000/s --floor  first the floor, then the run with the shares that it explains
Exit codes: 0 done, 2 could not be carried out, 3 no floor for this load: the measuring side did not manage it.";

pub(super) const ECHO_EXAMPLES: &str = "\
Examples:
  truetail echo                                    at 127.0.0.1:7377; Ctrl-C ends it
  truetail echo --listen 0.0.0.0:7377              for load machines: run echo://THIS-HOST:7377, floor --echo THIS-HOST:7377
  truetail echo --unix /tmp/echo.sock --cpus 0-1
Exit codes: 0 ended as asked, 2 could not be started or had to end.";

pub(super) const PROVE_EXAMPLES: &str = "\
Examples:
  truetail prove --simulated                      truetail on the simulated clock: seconds
  truetail prove                                  the same, and live against the store: about four minutes
  truetail prove --tool all                       pgbench, sysbench, redis-benchmark, YCSB: a league table
  truetail prove --tool 'my-tool -h {host} -p {port} --rate {rate} -c {sessions}' --format csv --protocol resp
  truetail prove --experiment nosqlmark           the paper's table and figure
  truetail prove --driver-traps                   what drivers do unasked
Exit codes: 0 no limit is broken, 1 one is, 2 could not be carried out.";

pub(super) const EXPERIMENT_EXAMPLES: &str = "\
Examples:
  truetail experiment --list                       the papers' claims that can be re-run
  truetail experiment tell-tale --list             cells, reasons, time
  truetail experiment tell-tale                    some 25 minutes on two cores
Exit codes: 0 done, 2 could not be carried out.";

pub(super) const TELL_TALE_EXAMPLES: &str = "\
Examples:
  truetail experiment tell-tale --list
  truetail experiment tell-tale -o telltale/                    some 25 minutes on two cores
  truetail experiment tell-tale --preset paper --postgres postgres://app@db1/test
  truetail experiment tell-tale --only target=no-op,load=open --rate 50000/s --rounds 5
  truetail experiment tell-tale --jvm G1=,-XX:+UseG1GC --jvm 'J9=/opt/openj9,-Xgcpolicy:metronome'
  truetail experiment tell-tale --harness benchbase=/opt/benchbase-postgres/benchbase.jar --only workload=noop
  truetail experiment tell-tale --again telltale/               look again, run nothing
Exit codes: 0 done, whatever the cells show; 2 could not be carried out.";

pub(super) const BENCHBASE_EXAMPLES: &str = "\
Examples:
  truetail benchbase -b tpcc -c config.xml --create=true --load=true --execute=true -d results
  truetail benchbase -b ycsb -c config.xml --execute -s 1 -im 1000 -jh histograms.json
  truetail benchbase -b tpcc -c config.xml --clear --create --load --execute --compat none    by the specification
Exit codes: 0 done, 2 could not be carried out, 3 the verdict is invalid.";

pub(super) const GAPS_EXAMPLES: &str = "\
Uses all of each CPU that it looks at: before a measurement, not beside one.
Examples:
  truetail gaps                                            each CPU alone for 2 s, then all at once
  truetail gaps --cpus 2-3 --time 30s                      those that the load is to have, longer
Exit codes: 0 done, 2 could not be carried out.";

pub(super) const PREDICTABILITY_EXAMPLES: &str = "\
Examples:
  truetail experiment predictability -o e/             both servers, started from installed programs
  truetail experiment predictability --list            what would be run, and how long it takes
  truetail experiment predictability --server postgresql --postgres postgres://app@db1/test --rate 200/s
  truetail experiment predictability --again e/        look at it again

The servers are asked in turn, each run on data made for it; their pages come out beside what Huang et al. published.";

#[cfg(feature = "cql")]
pub(super) const ELASTICITY_EXAMPLES: &str = "\
Examples:
  truetail experiment elasticity -o e/                 some 6 minutes; a Cassandra is started for each of two runs
  truetail experiment elasticity --preset slides --list
  truetail experiment elasticity --records 1000000 --rate 2000/s --time 10min --join-at 2min
  truetail experiment elasticity --url cql://db1/ycsb?replication=1 --join 'ssh db2 start-cassandra' --only open
  truetail experiment elasticity --again e/            look at it again
Exit codes: 0 done, 2 could not be carried out.";

pub(super) const YCSB_EXAMPLES: &str = "\
Names and values are YCSB's; docs/ycsb.md has the table, and what differs. What is printed is read from a recording.
Examples:
  truetail ycsb load redis -P workloads/workloada -p redis.host=127.0.0.1 -threads 8
  truetail ycsb run redis -P workloads/workloada -p redis.host=127.0.0.1 -threads 8 -target 5000 -s
  truetail ycsb run jdbc -P workloads/workloadc -p db.url=jdbc:postgresql://db1/shop -p db.user=app
  truetail ycsb run postgres://app@db1/shop -p recordcount=1000 -p operationcount=100000
Exit codes: 0 done, 2 could not be carried out, 3 the verdict is invalid.";
