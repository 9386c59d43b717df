//! `truetail echo`: a server that answers at once, until it is interrupted.

use crate::{Ended, interrupt, output};
use anyhow::{Context, bail};
use clap::Args;
use driver_echo::{Listener, Totals};
use serde_json::json;
use std::net::TcpListener;
use std::os::unix::net::UnixListener;
use std::path::{Path, PathBuf};
use units::format_count;

mod child;

pub(crate) use child::Child;

#[derive(Args, Clone, PartialEq, Debug, Default)]
pub(crate) struct EchoArguments {
    /// Where to listen: a port, or HOST:PORT; port 0 takes a free one; `none` not at all
    /// [default: 127.0.0.1:7377; none with --unix]
    #[arg(long, value_name = "ADDRESS")]
    pub(crate) listen: Option<String>,

    /// Listen at a unix socket, too; the file is removed at the end
    #[arg(long, value_name = "PATH")]
    pub(crate) unix: Option<PathBuf>,

    /// Connections at a time [default: 20000]
    #[arg(long, value_name = "N")]
    pub(crate) max_connections: Option<usize>,

    /// CPUs that the server may use, such as `0,2-3` [default: all]
    #[arg(long, value_name = "LIST")]
    pub(crate) cpus: Option<String>,
}

const CONNECTIONS: usize = 20_000;

/// Serves until it is interrupted.
pub(crate) fn run(arguments: &EchoArguments, json: bool) -> anyhow::Result<Ended> {
    let connections = arguments.max_connections.unwrap_or(CONNECTIONS);
    if connections == 0 {
        bail!("--max-connections 0: nobody could connect; expected a number from 1 on");
    }
    if let Some(list) = &arguments.cpus {
        let cpus = load::parse_cpu_list(list).map_err(|reason| anyhow::anyhow!("--cpus: {reason}"))?;
        load::pin_to_set(&cpus).with_context(|| format!("--cpus {list}: this process may not use them"))?;
    }
    let stop = interrupt::flag();
    let tcp = arguments.tcp()?.map(|(host, port)| bind(&host, port)).transpose()?;
    let address = tcp.as_ref().map(TcpListener::local_addr).transpose()?.map(|address| address.to_string());
    let unix = arguments.unix.as_deref().map(SocketFile::bind).transpose()?;
    let place = Place { tcp: address.as_deref(), unix: arguments.unix.as_deref() };
    if json {
        // One line each: whoever started it waits for the first, and gets the second at the end.
        output::result(&place.document().to_string())?;
    } else {
        output::result(&place.text())?;
    }
    // Granted or not: it is the same for all that is measured against it.
    let _ = clock::ask_for_short_slices(load::WORKER_SLICE);
    let (file, socket) = unix.map_or((None, None), |(file, socket)| (Some(file), Some(socket)));
    let listeners = tcp.map(Listener::Tcp).into_iter().chain(socket.map(Listener::Unix)).collect();
    let totals = driver_echo::serve(listeners, connections, stop)?;
    drop(file);
    if json {
        output::result(&document(&totals).to_string())?;
    }
    output::note(&summary(&totals));
    Ok(Ended::Well)
}

impl EchoArguments {
    /// Host and port to listen at; `None`: not at all.
    fn tcp(&self) -> anyhow::Result<Option<(String, u16)>> {
        let local = |port| ("127.0.0.1".to_owned(), port);
        let Some(text) = self.listen.as_deref() else {
            return Ok(self.unix.is_none().then(|| local(driver_echo::PORT)));
        };
        if text == "none" {
            if self.unix.is_none() {
                bail!("--listen none: the server would listen nowhere; name an address, or --unix PATH");
            }
            return Ok(None);
        }
        let wrong = || format!("--listen {text}: expected HOST:PORT or a port, such as 127.0.0.1:7377");
        let (host, port) = match text.rsplit_once(':') {
            None => local(text.parse().with_context(wrong)?),
            Some((host, port)) => {
                let host = host.strip_prefix('[').and_then(|h| h.strip_suffix(']')).unwrap_or(host);
                (host.to_owned(), port.parse().with_context(wrong)?)
            }
        };
        if host.is_empty() {
            bail!("{}", wrong());
        }
        Ok(Some((host, port)))
    }
}

fn bind(host: &str, port: u16) -> anyhow::Result<TcpListener> {
    TcpListener::bind((host, port))
        .with_context(|| format!("--listen: can't listen at {host}:{port}; port 0 takes a free one"))
}

/// The file of a unix socket, removed when it is not used any more.
struct SocketFile(PathBuf);

impl SocketFile {
    fn bind(path: &Path) -> anyhow::Result<(SocketFile, UnixListener)> {
        let listener = UnixListener::bind(path).with_context(|| {
            let path = path.display();
            format!("--unix {path}: can't listen there; if no server is running, remove the file")
        })?;
        Ok((SocketFile(path.to_owned()), listener))
    }
}

impl Drop for SocketFile {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0); // gone already is as good
    }
}

/// Where the server listens.
struct Place<'a> {
    tcp: Option<&'a str>,
    unix: Option<&'a Path>,
}

impl Place<'_> {
    /// The first document of `--json`.
    fn document(&self) -> serde_json::Value {
        json!({
            "schema": "truetail.echo/1",
            "event": "listening",
            "tcp": self.tcp,
            "unix": self.unix.map(|path| path.display().to_string()),
        })
    }

    fn text(&self) -> String {
        let mut text = String::from("the echo server listens; Ctrl-C ends it\n");
        if let Some(address) = self.tcp {
            text += &format!("TCP   echo://{address}\n");
        }
        if let Some(path) = self.unix {
            text += &format!("unix  echo:///?socket={}\n", path.display());
        }
        text
    }
}

fn summary(totals: &Totals) -> String {
    format!(
        "{} requests answered; {} connections, {} refused, {} closed for what they sent",
        format_count(totals.answered),
        format_count(totals.connections),
        format_count(totals.refused),
        format_count(totals.broken)
    )
}

/// The last document of `--json`.
fn document(totals: &Totals) -> serde_json::Value {
    json!({
        "schema": "truetail.echo/1",
        "event": "ended",
        "requests": {"answered": totals.answered},
        "connections": {
            "accepted": totals.connections,
            "refused": totals.refused,
            "closed_for_what_they_sent": totals.broken,
        },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tcp(listen: Option<&str>, unix: bool) -> Result<Option<(String, u16)>, String> {
        let unix = unix.then(|| "/x".into());
        let listen = listen.map(str::to_owned);
        let arguments = EchoArguments { listen, unix, ..EchoArguments::default() };
        arguments.tcp().map_err(|error| format!("{error:#}"))
    }

    #[test]
    fn it_listens_where_it_is_told() {
        let at = |host: &str, port| Ok(Some((host.to_owned(), port)));
        assert_eq!(tcp(None, false), at("127.0.0.1", driver_echo::PORT));
        assert_eq!(tcp(None, true), Ok(None));
        assert_eq!(tcp(Some("0"), true), at("127.0.0.1", 0));
        assert_eq!(tcp(Some("0.0.0.0:7000"), false), at("0.0.0.0", 7000));
        assert_eq!(tcp(Some("[::1]:7000"), false), at("::1", 7000));
        assert_eq!(tcp(Some("none"), true), Ok(None));
        for (text, named) in
            [("none", "listen nowhere"), ("x", "--listen x"), (":1", "--listen :1"), ("h:99999", "h:99999")]
        {
            let problem = tcp(Some(text), false).unwrap_err();
            assert!(problem.contains(named), "{text}: {problem}");
        }
    }

    #[test]
    fn the_documents_are_described() {
        let place = Place { tcp: Some("127.0.0.1:7377"), unix: Some(Path::new("/x")) };
        let totals = Totals { connections: 3, refused: 1, broken: 2, answered: 1000 };
        let schema = testkit::documented::Schema::new("truetail.echo/1");
        assert_eq!(schema.differences(&[place.document(), document(&totals)]), Vec::<String>::new());
        assert_eq!(
            summary(&totals),
            "1,000 requests answered; 3 connections, 1 refused, 2 closed for what they sent"
        );
    }
}
