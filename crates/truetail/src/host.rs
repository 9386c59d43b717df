//! What is known of the measuring host.

use analysis::facts as names;
use record::HostFacts;
use std::fs;

/// Reads what there is; what can't be read is left empty or not listed.
pub(crate) fn facts() -> HostFacts {
    let cpuinfo = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let flags = cpuinfo.lines().find(|l| l.starts_with("flags")).unwrap_or_default();
    let hypervisor = flags.split_whitespace().any(|f| f == "hypervisor");
    let mut more = Vec::new();
    for (name, path) in [
        ("clock source", "/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        ("cpu governor", "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        ("transparent huge pages", "/sys/kernel/mm/transparent_hugepage/enabled"),
        ("isolated cpus", "/sys/devices/system/cpu/isolated"),
        ("smt", "/sys/devices/system/cpu/smt/active"),
    ] {
        if let Some(value) = line_of(path).filter(|v| !v.is_empty()) {
            more.push((name.to_owned(), value));
        }
    }
    HostFacts {
        name: line_of("/proc/sys/kernel/hostname").unwrap_or_default(),
        cpu: value_after(&cpuinfo, "model name").unwrap_or_default(),
        cpus: load::available_cpus().len() as u32,
        memory_bytes: memory_bytes(),
        kernel: line_of("/proc/sys/kernel/osrelease").unwrap_or_default(),
        system: distribution(),
        virtualisation: if hypervisor { hypervisor_name() } else { "none".to_owned() },
        more,
    }
}

fn line_of(path: &str) -> Option<String> {
    fs::read_to_string(path).ok().map(|text| text.trim().to_owned())
}

fn value_after(text: &str, name: &str) -> Option<String> {
    let line = text.lines().find(|l| l.starts_with(name))?;
    line.split_once(':').map(|(_, value)| value.trim().to_owned())
}

fn memory_bytes() -> u64 {
    let text = fs::read_to_string("/proc/meminfo").unwrap_or_default();
    let kib = value_after(&text, "MemTotal").and_then(|v| v.split_whitespace().next()?.parse::<u64>().ok());
    kib.unwrap_or(0) * 1024
}

/// What is known, as names and values for people.
pub(crate) fn described() -> Vec<(String, String)> {
    let HostFacts { name, cpu, cpus, memory_bytes, kernel, system, virtualisation, more } = facts();
    let own = [
        ("host", name),
        ("cpu", cpu),
        ("cpus", cpus.to_string()),
        ("memory, MiB", (memory_bytes / (1 << 20)).to_string()),
        ("kernel", kernel),
        ("system", system),
        ("virtualisation", virtualisation),
    ];
    own.into_iter().map(|(name, value)| (name.to_owned(), value)).chain(more).collect()
}

/// Memory that programs may take without driving others out, MiB; `None` where the kernel does not say.
pub(crate) fn available_mib() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let kib: u64 = value_after(&text, "MemAvailable")?.split_whitespace().next()?.parse().ok()?;
    Some(kib / 1024)
}

fn distribution() -> String {
    let text = fs::read_to_string("/etc/os-release").unwrap_or_default();
    let name = text.lines().find_map(|l| l.strip_prefix("PRETTY_NAME="));
    name.map_or_else(|| std::env::consts::OS.to_owned(), |n| n.trim_matches('"').to_owned())
}

fn hypervisor_name() -> String {
    let product = line_of("/sys/class/dmi/id/sys_vendor").filter(|v| !v.is_empty());
    product.unwrap_or_else(|| "a hypervisor that gives no name".to_owned())
}

/// Which of the server's processes run outside of the CPUs that they were meant to use, as a finding for the
/// recording: (asked, found).
pub(crate) fn server_cpus(wanted: &[usize], pids: &[u32]) -> (String, String) {
    let asked = format!("{}{}", names::SERVER_CPUS, load::show_cpu_list(wanted));
    if pids.is_empty() {
        return (
            asked,
            format!("{}: the server's processes are not known on this host", names::NOT_VERIFIED),
        );
    }
    // Some served the question which processes there are, and have ended with it.
    let alive: Vec<(u32, String)> = pids.iter().filter_map(|&pid| Some((pid, allowed_cpus(pid)?))).collect();
    if alive.is_empty() {
        return (asked, "not verified: none of the server's processes can be looked at".to_owned());
    }
    let within = |allowed: &str| {
        load::parse_cpu_list(allowed).is_ok_and(|cpus| cpus.iter().all(|cpu| wanted.contains(cpu)))
    };
    let outside: Vec<String> = alive
        .iter()
        .filter(|(_, allowed)| !within(allowed))
        .map(|(pid, allowed)| format!("process {pid} may use {allowed}"))
        .collect();
    let found =
        if outside.is_empty() { names::AS_ASKED.to_owned() } else { format!("no: {}", outside.join("; ")) };
    (asked, found)
}

/// All CPUs that the processes may use that can be looked at; `None` when there is none of them.
pub(crate) fn cpus_of(pids: &[u32]) -> Option<Vec<usize>> {
    let lists = pids.iter().filter_map(|&pid| load::parse_cpu_list(&allowed_cpus(pid)?).ok());
    lists.reduce(|mut all, more| {
        all.extend(more);
        all.sort_unstable();
        all.dedup();
        all
    })
}

/// The CPUs that are online; `None` where the kernel does not tell.
pub(crate) fn online_cpus() -> Option<Vec<usize>> {
    load::parse_cpu_list(&line_of("/sys/devices/system/cpu/online")?).ok()
}

/// The CPUs that a process may use, as the kernel lists them; `None` when there is no such process.
fn allowed_cpus(pid: u32) -> Option<String> {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).ok()?;
    value_after(&status, "Cpus_allowed_list")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::process::CommandExt;
    use std::process::{Child, Command, Stdio};

    /// A process that may use one CPU, until it is dropped.
    struct Pinned(Child);

    impl Pinned {
        fn to(cpu: usize) -> Pinned {
            let mut command = Command::new("cat");
            command.stdin(Stdio::piped()).stdout(Stdio::null());
            // SAFETY: between fork and exec only system calls are made, on data of the stack.
            let child = unsafe { command.pre_exec(move || load::pin_to_set(&[cpu])).spawn() };
            Pinned(child.expect("a process"))
        }
    }

    impl Drop for Pinned {
        fn drop(&mut self) {
            drop(self.0.stdin.take()); // `cat` ends with its input
            let _ = self.0.wait();
        }
    }

    #[test]
    fn a_server_outside_of_its_cpus_is_seen() {
        let cpu = load::available_cpus()[0];
        let process = Pinned::to(cpu);
        let pid = process.0.id();
        let asked = |cpus: &[usize]| format!("server on CPUs {}", load::show_cpu_list(cpus));
        for right in [vec![cpu], vec![cpu, cpu + 1]] {
            assert_eq!(server_cpus(&right, &[pid]), (asked(&right), "as asked".to_owned()));
        }
        let wrong = [cpu + 1, cpu + 2];
        let found = format!("no: process {pid} may use {cpu}");
        assert_eq!(server_cpus(&wrong, &[pid]), (asked(&wrong), found));
    }

    #[test]
    fn the_cpus_of_processes_are_taken_together() {
        let all = load::available_cpus();
        let processes: Vec<Pinned> = all.iter().take(2).map(|&cpu| Pinned::to(cpu)).collect();
        let mut pids: Vec<u32> = processes.iter().map(|process| process.0.id()).collect();
        pids.push(u32::MAX); // above any process id
        assert_eq!(cpus_of(&pids), Some(all[..processes.len()].to_vec()));
        assert_eq!((cpus_of(&[u32::MAX]), cpus_of(&[])), (None, None));
    }

    #[test]
    fn a_server_that_can_not_be_looked_at_is_not_called_right() {
        assert!(server_cpus(&[0], &[]).1.starts_with("not verified"));
        let gone = u32::MAX; // above any process id
        assert!(server_cpus(&[0], &[gone]).1.starts_with("not verified"));
        // One that has ended says nothing of those that are there.
        let cpu = load::available_cpus()[0];
        let process = Pinned::to(cpu);
        assert_eq!(server_cpus(&[cpu], &[gone, process.0.id()]).1, "as asked");
        assert!(server_cpus(&[cpu + 1], &[gone, process.0.id()]).1.starts_with("no: process"));
    }
}
