//! Signals to a server and all of its children.
//!
//! A process group would not do: each PostgreSQL backend leads a session of its own.

/// Signals `root`, then its children. When it stops, `root` is first, so that it can't start new ones.
pub(super) fn signal_tree(root: i32, signal: i32) -> Result<(), String> {
    send(root, signal)?;
    for child in children(root) {
        // A child that has just ended needs no signal.
        let _ = send(child, signal);
    }
    Ok(())
}

fn send(pid: i32, signal: i32) -> Result<(), String> {
    // SAFETY: `kill` takes two integers.
    if unsafe { libc::kill(pid, signal) } == 0 {
        Ok(())
    } else {
        Err(format!("signal {signal} to process {pid}: {}", std::io::Error::last_os_error()))
    }
}

fn children(parent: i32) -> Vec<i32> {
    let entries = std::fs::read_dir("/proc").into_iter().flatten().flatten();
    entries
        .filter_map(|entry| {
            let pid: i32 = entry.file_name().to_str()?.parse().ok()?;
            let stat = std::fs::read_to_string(entry.path().join("stat")).ok()?;
            (parent_in(&stat) == Some(parent)).then_some(pid)
        })
        .collect()
}

/// The parent's id in `/proc/PID/stat`: the second field after the name, which may itself hold anything.
fn parent_in(stat: &str) -> Option<i32> {
    stat.rsplit_once(')')?.1.split_whitespace().nth(1)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parent_is_found_behind_any_name() {
        assert_eq!(parent_in("12 (a) b) (c) S 7 12 12 0 -1"), Some(7));
        assert_eq!(parent_in("garbage"), None);
    }
}
