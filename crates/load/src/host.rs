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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cpu_lists_are_read() {
        assert_eq!(parse_cpu_list("0,2-4,3"), Ok(vec![0, 2, 3, 4]));
        for text in ["", "a", "3-1", "0-99999", "1,"] {
            assert!(parse_cpu_list(text).unwrap_err().contains(text), "{text}");
        }
    }
}
