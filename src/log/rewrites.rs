//! The rewrite rule of tool results by value (v0 section 9.4, v4 S9), for those whose stored texts
//! do not settle it.

use super::read::Log;
use super::visit::Bodies;
use crate::error::Result;
use crate::fault::Code;
use crate::format::gather::is_same_result;
use crate::format::parts::RowFault;
use crate::json::Raw;
use crate::seq::Seq;

/// The faults of doubtful rewrites, by seq.
pub fn check(log: &Log) -> Result<Vec<(u64, RowFault)>> {
    let mut bodies = Bodies::new(log);
    let mut faults = Vec::new();
    for rewrite in log.surface().doubtful() {
        let old = bodies.with(Seq(rewrite.old), |event| event.data.bytes().to_vec())?;
        let same = bodies.with(Seq(rewrite.new), |event| {
            let old = old.as_deref().and_then(|text| Raw::parse(text).ok());
            old.is_some_and(|old| is_same_result(old, event.data, log.dialect()))
        })?;
        if same != Some(true) {
            let message = format!(
                "tool/result {} changes more than the content of the result it replaces",
                rewrite.new
            );
            faults.push((rewrite.new, RowFault::new(Code::SurfaceRange, message)));
        }
    }
    Ok(faults)
}
