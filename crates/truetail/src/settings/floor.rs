//! `--floor` and `--echo`: what is measured before the load.

use super::RunOptions;
use anyhow::anyhow;
use driver::TargetUrl;
use units::{Nanos, parse_duration};

impl RunOptions {
    /// How long all parts of a floor may take together; `None` where none is asked for.
    ///
    /// # Errors
    /// For what is no time, such as a target that stands behind the flag.
    pub(crate) fn floor(&self) -> anyhow::Result<Option<Nanos>> {
        let Some(text) = self.floor.as_deref() else { return Ok(None) };
        let time = parse_duration(text).map_err(|_| {
            anyhow!("--floor {text}: expected a time such as 20s; write a target before `--floor`, or `--floor=20s`")
        })?;
        Ok(Some(time))
    }

    /// The target of an echo server that was started by hand.
    ///
    /// # Errors
    /// For what is no such target.
    pub(crate) fn echo(&self) -> anyhow::Result<Option<TargetUrl>> {
        let Some(text) = self.echo.as_deref() else { return Ok(None) };
        let wrong =
            || anyhow!("--echo {text}: expected HOST:PORT as `truetail echo` printed it, such as db1:7377");
        let url = match text.split_once(':') {
            Some(("echo", _)) => TargetUrl::parse(text),
            _ if text.starts_with('/') => TargetUrl::parse(&format!("echo:///?socket={text}")),
            _ => TargetUrl::parse(&format!("echo://{text}")),
        };
        let url = url.map_err(|_| wrong())?;
        driver_echo::EchoTarget::from_url(&url).map_err(|_| wrong())?;
        Ok(Some(url))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_floor_takes_a_time_and_an_echo_server_an_address() {
        let floor = |text: &str| {
            let options = RunOptions { floor: Some(text.to_owned()), ..RunOptions::default() };
            options.floor().map_err(|error| error.to_string())
        };
        assert_eq!(floor("10s"), Ok(Some(Nanos::from_secs(10))));
        assert_eq!(RunOptions::default().floor().unwrap(), None);
        assert!(floor("postgres://db1/x").unwrap_err().contains("a target before `--floor`"));
        let echo = |text: &str| {
            let options = RunOptions { echo: Some(text.to_owned()), ..RunOptions::default() };
            options.echo().map(|url| url.unwrap().to_string()).map_err(|error| error.to_string())
        };
        assert_eq!(echo("db1:7377").as_deref(), Ok("echo://db1:7377/"));
        assert_eq!(echo("echo://db1").as_deref(), Ok("echo://db1/"));
        assert_eq!(echo("/run/echo.sock").as_deref(), Ok("echo:?socket=/run/echo.sock"));
        for wrong in ["db1:x", "db1/x", "a@b:1"] {
            assert!(echo(wrong).unwrap_err().contains("expected HOST:PORT"), "{wrong}");
        }
    }
}
