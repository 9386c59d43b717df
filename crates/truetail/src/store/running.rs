//! A store on a thread of its own.

use super::arguments::ListenAt;
use super::log::{LiveCounts, Log};
use anyhow::{Context, anyhow};
use record::{TruthEnd, TruthFinished, TruthHeader, TruthRecorder, TruthRecorderConfig};
use stats::LogHistogram;
use std::net::{SocketAddr, TcpListener};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use store::server::{Endpoint, Limits, ServerTotals, serve};
use store::{Engine, NodeId, Operation, Protocol, Rules, Settings, postgres, resp};
use units::Nanos;

/// What a store is to be, apart from its settings.
pub(crate) struct Plan {
    pub(crate) settings: Settings,
    pub(crate) resp: Option<ListenAt>,
    pub(crate) postgres: Option<ListenAt>,
    /// Listen for each node, at the ports above.
    pub(crate) node_ports: bool,
    pub(crate) password: Option<String>,
    pub(crate) truth: Option<PathBuf>,
    pub(crate) limits: Limits,
    pub(crate) cpu: Option<usize>,
    /// The command line for the truth log, without secrets.
    pub(crate) command: String,
}

/// A store that serves.
pub(crate) struct Running {
    /// Where RESP is spoken, node by node.
    pub(crate) resp: Vec<SocketAddr>,
    /// Where PostgreSQL's protocol is spoken, node by node.
    pub(crate) postgres: Vec<SocketAddr>,
    pub(crate) live: Arc<LiveCounts>,
    stop: Arc<AtomicBool>,
    thread: JoinHandle<anyhow::Result<(ServerTotals, LogHistogram)>>,
    recorder: Option<TruthRecorder>,
}

/// What a store did.
pub(crate) struct Ended {
    pub(crate) totals: ServerTotals,
    /// Written − due, of each answer, in nanoseconds.
    pub(crate) lateness: LogHistogram,
    pub(crate) truth: Option<TruthFinished>,
}

/// The two protocols, as both listen and are told of.
struct Speakers {
    resp: Arc<resp::Instance>,
    postgres: postgres::Service,
}

impl Running {
    /// Binds, and starts the thread.
    ///
    /// # Errors
    /// An address that can't be bound, a truth log that can't be made.
    pub(crate) fn start(plan: Plan) -> anyhow::Result<Running> {
        let nodes = if plan.node_ports { plan.settings.replication.replicas } else { 1 };
        let resp = bind("resp", plan.resp.as_ref(), nodes)?;
        let postgres = bind("postgres", plan.postgres.as_ref(), nodes)?;
        let addresses = |listeners: &[TcpListener]| -> anyhow::Result<Vec<SocketAddr>> {
            listeners.iter().map(|l| Ok(l.local_addr()?)).collect()
        };
        let (resp_addresses, postgres_addresses) = (addresses(&resp)?, addresses(&postgres)?);

        // The kernel's monotonic clock, which recordings are anchored to as well.
        let clock = clock::calibrate(clock::ClockChoice::Monotonic)?.start();
        let anchor = clock.anchor();
        let epoch_wall_ns = anchor.realtime_ns.saturating_sub(anchor.ticks.0);
        let (producer, recorder) = match &plan.truth {
            None => (None, None),
            Some(dir) => {
                record::require_vacant(dir)?;
                let config = TruthRecorderConfig::new(dir, header(&plan));
                let (producer, recorder) = TruthRecorder::start(config, clock)?;
                (Some(producer), Some(recorder))
            }
        };
        let live = Arc::new(LiveCounts::default());
        let log = Log::new(producer, recorder.as_ref().map(TruthRecorder::events), Arc::clone(&live));
        let port = resp_addresses.first().map_or(0, SocketAddr::port);
        let login = plan.password.clone().map_or(postgres::Login::Trust, postgres::Login::Password);
        let seed = plan.settings.seed;
        let speakers = Speakers {
            resp: resp::Instance::new(resp::Settings {
                password: plan.password.clone(),
                epoch_wall_ns,
                port,
            }),
            postgres: postgres::Service::new(postgres::Options { login, seed, epoch_wall_ns }),
        };
        let endpoints = speakers.endpoints(resp, postgres);
        plan.settings.check().map_err(|reason| anyhow!(reason))?;
        let engine = Engine::new(plan.settings.clone());
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let (limits, cpu) = (plan.limits, plan.cpu);
        let thread = std::thread::Builder::new()
            .name("store".to_owned())
            .spawn(move || {
                if let Some(cpu) = cpu.filter(|&cpu| !clock::pin_to(cpu)) {
                    anyhow::bail!("--cpu {cpu}: this process may not use it");
                }
                // Granted or not: how late answers are is measured.
                let _ = clock::ask_for_short_slices(load::WORKER_SLICE);
                let (totals, log) = serve(endpoints, engine, limits, clock, log, &stopped)?;
                Ok((totals, log.lateness))
            })
            .context("can't start the store's thread")?;
        Ok(Running { resp: resp_addresses, postgres: postgres_addresses, live, stop, thread, recorder })
    }

    /// Gives the store a command, as clients can over the wire, and waits until it has taken it; see
    /// [`Engine::control`].
    pub(crate) fn control(&self, command: &str) {
        self.live.give(command);
        while self.live.has_commands() && !self.thread.is_finished() {
            clock::pause(Nanos::from_millis(1));
        }
    }

    /// Whether the thread has ended by itself, which it does only when it can't go on.
    pub(crate) fn has_ended(&self) -> bool {
        self.thread.is_finished()
    }

    /// Ends the store and closes the truth log.
    ///
    /// # Errors
    /// What made the thread end, or kept the log from being closed.
    pub(crate) fn end(self) -> anyhow::Result<Ended> {
        self.stop.store(true, Ordering::Relaxed);
        let (totals, lateness) =
            self.thread.join().map_err(|_| anyhow!("the store's thread has panicked"))??;
        let facts = vec![
            ("connections".to_owned(), totals.connections.to_string()),
            ("connections refused".to_owned(), totals.refused.to_string()),
            ("connections closed for what they sent".to_owned(), totals.broken.to_string()),
        ];
        let truth = self.recorder.map(|recorder| recorder.finish(TruthEnd::new(facts))).transpose()?;
        Ok(Ended { totals, lateness, truth })
    }
}

impl Speakers {
    fn endpoints(&self, resp: Vec<TcpListener>, postgres: Vec<TcpListener>) -> Vec<Endpoint> {
        let numbered = |listeners: Vec<TcpListener>| listeners.into_iter().zip((0..).map(NodeId));
        let resp = numbered(resp).map(|(listener, node)| {
            let instance = Arc::clone(&self.resp);
            let protocol = move |_| Box::new(resp::Resp::new(&instance)) as Box<dyn Protocol>;
            Endpoint { listener, node, protocol: Box::new(protocol) }
        });
        let postgres = numbered(postgres).map(|(listener, node)| {
            let service = self.postgres.clone();
            let protocol = move |_| Box::new(service.connection()) as Box<dyn Protocol>;
            Endpoint { listener, node, protocol: Box::new(protocol) }
        });
        resp.chain(postgres).collect()
    }
}

/// One listener for each node, at consecutive ports; at port 0 each takes a free one.
fn bind(flag: &str, at: Option<&ListenAt>, nodes: u8) -> anyhow::Result<Vec<TcpListener>> {
    let Some(ListenAt { host, port }) = at else { return Ok(Vec::new()) };
    (0..u16::from(nodes))
        .map(|node| {
            let port = if *port == 0 { 0 } else { port.checked_add(node).context("ports end at 65535")? };
            TcpListener::bind((host.as_str(), port))
                .with_context(|| format!("--{flag}: can't listen at {host}:{port}; port 0 takes a free one"))
        })
        .collect()
}

fn header(plan: &Plan) -> TruthHeader {
    let settings = plan.settings.describe();
    TruthHeader {
        tool_version: crate::VERSION.to_owned(),
        command: plan.command.clone(),
        epoch_wall_ns: 0, // the recorder sets it
        seed: plan.settings.seed.0,
        operations: Operation::ALL.iter().map(|operation| operation.name().to_owned()).collect(),
        rules: Rules::NAMES.iter().map(|(_, name)| (*name).to_owned()).collect(),
        settings: settings.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
    }
}
