//! Signs that somebody still writes to a file.

use super::source::Identity;
use std::path::Path;

/// How long ago a change still counts as recent, in milliseconds.
pub const RECENT_MS: i64 = 10_000;

/// One sign that a log is alive.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sign {
    /// It was changed so many milliseconds ago.
    Changed(i64),
    /// The process of that number has it open.
    OpenIn(u32),
}

/// The signs of life of a file at a time (epoch milliseconds). Processes are looked at on Linux only,
/// and there only those that this user may look into.
#[must_use]
pub fn signs(path: &Path, identity: &Identity, now: i64) -> Vec<Sign> {
    let modified = i64::try_from(identity.modified / 1_000_000).unwrap_or(0);
    let ago = now - modified;
    let recent = (0..RECENT_MS).contains(&ago).then_some(Sign::Changed(ago));
    recent.into_iter().chain(holders(path).into_iter().map(Sign::OpenIn)).collect()
}

/// The processes, other than this one, that have the file open.
#[cfg(target_os = "linux")]
fn holders(path: &Path) -> Vec<u32> {
    let Ok(real) = path.canonicalize() else { return Vec::new() };
    let Ok(processes) = std::fs::read_dir("/proc") else { return Vec::new() };
    let numbers = processes.flatten().filter_map(|entry| entry.file_name().to_str()?.parse::<u32>().ok());
    let others = numbers.filter(|number| *number != std::process::id());
    others.filter(|number| has_open(*number, &real)).collect()
}

#[cfg(target_os = "linux")]
fn has_open(process: u32, real: &Path) -> bool {
    let Ok(handles) = std::fs::read_dir(format!("/proc/{process}/fd")) else { return false };
    handles.flatten().any(|handle| std::fs::read_link(handle.path()).is_ok_and(|target| target == real))
}

#[cfg(not(target_os = "linux"))]
fn holders(_path: &Path) -> Vec<u32> {
    Vec::new()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_change_is_recent_for_ten_seconds() {
        let at = |modified: i64| {
            let identity = Identity { modified: i128::from(modified) * 1_000_000, ..Identity::default() };
            signs(Path::new("/none"), &identity, 100_000)
        };
        assert_eq!(at(95_000), [Sign::Changed(5_000)]);
        assert!(at(90_000).is_empty() && at(100_001).is_empty());
    }
}
