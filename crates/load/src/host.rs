//! CPUs: which there are, and which the workers may use.

use std::io;

/// Reads `0,2-5`.
///
/// # Errors
/// One line that names the part.
pub fn parse_cpu_list(text: &str) -> Result<Vec<usize>, String> {
    let mut cpus = Vec::new();
    for part in text.split(',') {
        let fail = || format!("CPU list `{text}`: `{part}` is not a CPU number or range such as `0,2-5`");
        let (from, to) = part.trim().split_once('-').unwrap_or((part.trim(), part.trim()));
        let (from, to): (usize, usize) = (from.parse().map_err(|_| fail())?, to.parse().map_err(|_| fail())?);
        if from > to || to >= 1024 {
            return Err(fail());
        }
        cpus.extend(from..=to);
    }
    cpus.sort_unstable();
    cpus.dedup();
    Ok(cpus)
}

/// The CPUs that this process may use, ascending; empty where the system does not tell.
pub fn available_cpus() -> Vec<usize> {
    #[cfg(target_os = "linux")]
    {
        // SAFETY: an all-zero set is valid and large enough for the size given.
        unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            if libc::sched_getaffinity(0, std::mem::size_of_val(&set), &mut set) != 0 {
                return Vec::new();
            }
            (0..libc::CPU_SETSIZE as usize).filter(|&cpu| libc::CPU_ISSET(cpu, &set)).collect()
        }
    }
    #[cfg(not(target_os = "linux"))]
    {
        Vec::new()
    }
}

/// Restricts the calling thread to `cpus`; does nothing for an empty list.
///
/// # Errors
/// The kernel's, e.g. when none of the CPUs exists.
pub fn pin_to_set(cpus: &[usize]) -> io::Result<()> {
    if cpus.is_empty() {
        return Ok(());
    }
    #[cfg(target_os = "linux")]
    {
        // SAFETY: an all-zero set is valid; `parse_cpu_list` keeps CPUs below CPU_SETSIZE (1024).
        unsafe {
            let mut set: libc::cpu_set_t = std::mem::zeroed();
            cpus.iter()
                .filter(|&&c| c < libc::CPU_SETSIZE as usize)
                .for_each(|&c| libc::CPU_SET(c, &mut set));
            if libc::sched_setaffinity(0, std::mem::size_of_val(&set), &set) != 0 {
                return Err(io::Error::last_os_error());
            }
        }
        Ok(())
    }
    #[cfg(not(target_os = "linux"))]
    {
        Err(io::Error::from(io::ErrorKind::Unsupported))
    }
}

/// The CPUs that this process may use and its workers may not: where all other threads belong.
pub fn spare_cpus(workers: &[usize]) -> Vec<usize> {
    let mut cpus = available_cpus();
    cpus.retain(|cpu| !workers.contains(cpu));
    cpus
}

/// The calling thread keeps off the workers' CPUs until this is dropped, and so do the threads that it starts
/// meanwhile and that do not choose for themselves: recorder, observer, view, connectors. Then it may use what
/// it could before.
#[derive(Debug)]
pub struct OffWorkers {
    before: Vec<usize>,
    granted: Result<Vec<usize>, String>,
}

impl OffWorkers {
    /// Changes nothing for an empty list, or when it leaves no CPU over; [`OffWorkers::found`] says so.
    pub fn of(workers: &[usize]) -> OffWorkers {
        let (before, spare) = (available_cpus(), spare_cpus(workers));
        if workers.is_empty() || spare.is_empty() {
            return OffWorkers { before: Vec::new(), granted: Ok(before) };
        }
        let granted = pin_to_set(&spare).map(|()| available_cpus()).map_err(|error| error.to_string());
        OffWorkers { before, granted }
    }

    /// Where this thread runs now, as read back from the kernel: `on 2-3`, or why that is not as asked.
    pub fn found(&self, workers: &[usize]) -> String {
        match &self.granted {
            Err(error) => format!("refused: {error}"),
            Ok(cpus) if cpus.iter().any(|cpu| workers.contains(cpu)) => {
                format!("no: on {}, since there is no other CPU", show_cpu_list(cpus))
            }
            Ok(cpus) => format!("on {}", show_cpu_list(cpus)),
        }
    }
}

impl Drop for OffWorkers {
    fn drop(&mut self) {
        let _ = pin_to_set(&self.before); // they were its own a moment ago
    }
}

/// As [`parse_cpu_list`] reads it: `0,2-5`. For ascending numbers.
pub fn show_cpu_list(cpus: &[usize]) -> String {
    let ranges = cpus.chunk_by(|a, b| a + 1 == *b);
    let show = |range: &[usize]| match range {
        [] => String::new(),
        [one] => one.to_string(),
        [first, .., last] => format!("{first}-{last}"),
    };
    ranges.map(show).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_lists_are_shown_as_they_are_read() {
        for text in ["0", "0,2-5", "1-2,4,6-9"] {
            assert_eq!(show_cpu_list(&parse_cpu_list(text).unwrap()), text);
        }
        assert_eq!(show_cpu_list(&[]), "");
    }

    /// On threads of their own: each starts with all CPUs of the process.
    fn apart(work: impl FnOnce() + Send + 'static) {
        std::thread::spawn(work).join().unwrap();
    }

    #[test]
    fn a_thread_keeps_off_the_workers_cpus_and_comes_back() {
        apart(|| {
            let all = available_cpus();
            let (workers, spare) = (vec![all[0]], all[1..].to_vec());
            let off = OffWorkers::of(&workers);
            let inherited = std::thread::spawn(available_cpus).join().unwrap();
            if spare.is_empty() {
                // A host with one CPU.
                assert!(off.found(&workers).starts_with("no: on"));
                assert_eq!(inherited, all);
            } else {
                assert_eq!((available_cpus(), inherited), (spare.clone(), spare.clone()));
                assert_eq!(off.found(&workers), format!("on {}", show_cpu_list(&spare)));
                // A worker may still go where it belongs.
                apart(move || {
                    pin_to_set(&workers).unwrap();
                    assert_eq!(available_cpus(), workers);
                });
            }
            drop(off);
            assert_eq!(available_cpus(), all);
        });
    }

    #[test]
    fn without_a_list_or_without_another_cpu_nothing_changes() {
        apart(|| {
            let all = available_cpus();
            for workers in [vec![], all.clone()] {
                let off = OffWorkers::of(&workers);
                assert_eq!(available_cpus(), all);
                assert_eq!(off.found(&workers).starts_with("no: on"), !workers.is_empty());
            }
            assert_eq!(available_cpus(), all);
        });
    }

    #[test]
    fn cpu_lists_are_read() {
        assert_eq!(parse_cpu_list("0,2-4,3"), Ok(vec![0, 2, 3, 4]));
        for text in ["", "a", "3-1", "0-99999", "1,"] {
            assert!(parse_cpu_list(text).unwrap_err().contains(text), "{text}");
        }
    }
}
