//! Whether a log in a root lies where its own header says (format v0, section 2; what the harness
//! checks when it opens a session by its id).

use dsh_log::log::Log;
use dsh_log::storage::container::Container;
use dsh_log::storage::layout::{self, LogName};
use std::path::Path;

/// What is odd about the place, each without the path. A log outside of the root lies anywhere.
pub(crate) fn judge(log: &Log, session_dir: Option<&Path>, root: Option<&Path>) -> Vec<String> {
    let (Some(dir), Some(root), Some(header)) = (session_dir, root, log.header()) else { return Vec::new() };
    // Both may be given by different names.
    let (Ok(dir), Ok(root)) = (dir.canonicalize(), root.canonicalize()) else { return Vec::new() };
    if dir.parent().and_then(Path::parent) != Some(root.as_path()) {
        return Vec::new();
    }
    let mut odd = Vec::new();
    let wanted = layout::session_dir(&root, header.cwd.as_deref(), &header.id);
    if let Some(wanted) = wanted.filter(|wanted| *wanted != dir) {
        odd.push(format!(
            "its header places it in `{}`: the harness does not find it here",
            wanted.strip_prefix(&root).unwrap_or(&wanted).display()
        ));
    }
    let name = log.source().path().file_name().and_then(|name| name.to_str()).and_then(LogName::parse);
    if let Some(name) = name.filter(|_| log.is_known_format()) {
        let zstd = log.container() == Container::Zstd;
        let wanted = LogName { generation: log.dialect().version, zstd };
        if wanted != name {
            odd.push(format!("by what is in it, its name should be `{}`", wanted.file_name()));
        }
    }
    odd
}
