//! Which model was in force when (v0 section 11).

use crate::error::Result;
use crate::format::kind::Kind;
use crate::json::Raw;
use crate::log::Log;
use crate::seq::Seq;
use std::ops::ControlFlow;

/// The route of each logged header, ascending by seq.
#[derive(Clone, Debug, Default)]
pub struct Routes {
    list: Vec<(u64, String, String)>,
}

impl Routes {
    /// Reads the headers of a log.
    pub fn read(log: &Log) -> Result<Routes> {
        let mut list = Vec::new();
        log.walk(
            crate::log::walk::Span { closers: false, ..log.whole() },
            |entry| entry.kind == Kind::RequestHeader,
            |event| {
                let config = event.data.path(&["header", "config"]);
                let [provider, model] = config.map_or([None; 2], |c| c.get_all(["provider", "model"]));
                let shown = |value: Option<Raw<'_>>| value.and_then(Raw::display_text).unwrap_or_default();
                let (provider, model) = (shown(provider), shown(model));
                let same = |last: &(u64, String, String)| last.1 == provider && last.2 == model;
                if !list.last().is_some_and(same) {
                    list.push((event.seq.0, provider, model));
                }
                ControlFlow::Continue(())
            },
        )?;
        Ok(Routes { list })
    }

    /// The provider and the model in force right before an event.
    #[must_use]
    pub fn at(&self, seq: Seq) -> Option<(&str, &str)> {
        let after = self.list.partition_point(|(at, _, _)| *at < seq.0);
        let (_, provider, model) = self.list.get(after.checked_sub(1)?)?;
        Some((provider, model))
    }
}
