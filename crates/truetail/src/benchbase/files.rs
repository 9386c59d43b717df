//! Where results go, and under which names.

use anyhow::Context;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};

/// The files of one execution: all begin with the benchmark and the time.
pub(super) struct Place {
    directory: PathBuf,
    stem: String,
}

impl Place {
    /// Makes the directory; of two executions in one second, the second gets a number.
    pub(super) fn new(directory: &Path, benchmark: &str) -> anyhow::Result<Place> {
        std::fs::create_dir_all(directory).with_context(|| {
            format!("can't create {}; name another directory with -d", directory.display())
        })?;
        let stem = format!("{benchmark}_{}", timestamp(clock::wall_time_ns()));
        let numbered = (2..1000).map(|n| format!("{stem}-{n}"));
        let is_free = |stem: &String| {
            let taken = |ending: &str| directory.join(format!("{stem}.{ending}")).exists();
            !["summary.json", "raw.csv", "recording", "recording-1"].into_iter().any(taken)
        };
        let stem = std::iter::once(stem.clone()).chain(numbered).find(is_free).unwrap_or(stem);
        Ok(Place { directory: directory.to_owned(), stem })
    }

    /// The recording of a run; numbered where there are several.
    pub(super) fn recording(&self, number: Option<usize>) -> PathBuf {
        let number = number.map_or_else(String::new, |number| format!("-{number}"));
        self.directory.join(format!("{}.recording{number}", self.stem))
    }

    /// Writes one file, and says its path.
    pub(super) fn write(
        &self,
        ending: &str,
        write: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>,
    ) -> anyhow::Result<PathBuf> {
        write_file(self.directory.join(format!("{}.{ending}", self.stem)), write)
    }
}

pub(super) fn write_file(
    path: PathBuf,
    write: impl FnOnce(&mut BufWriter<File>) -> std::io::Result<()>,
) -> anyhow::Result<PathBuf> {
    let make = || {
        let mut out = BufWriter::with_capacity(1 << 20, File::create(&path)?);
        write(&mut out)?;
        out.flush()
    };
    make().with_context(|| format!("can't write {}", path.display()))?;
    Ok(path)
}

/// `2026-11-21_09-30-05`, UTC.
fn timestamp(wall_ns: u64) -> String {
    let text = crate::run::timestamp(wall_ns);
    let part = |from: usize, to: usize| text.get(from..to).unwrap_or_default();
    format!("{}-{}-{}_{}-{}-{}", part(0, 4), part(4, 6), part(6, 8), part(9, 11), part(11, 13), part(13, 15))
}

#[cfg(test)]
mod tests {
    #[test]
    fn names_have_benchbases_time() {
        assert_eq!(super::timestamp(1_795_253_405_999_999_999), "2026-11-21_09-30-05");
    }
}
