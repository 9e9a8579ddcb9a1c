//! What the edge from generation 0 mends before it looks: ids that early releases did not write, and
//! a member of headers that went (generations 1.5).

use crate::check::id::Id;
use crate::format::event::Event;
use crate::format::kind::Kind;
use crate::format::shape::is;
use crate::json::Raw;
use crate::json::write::Object;
use std::collections::HashMap;

/// The ids that were made up so far.
#[derive(Default)]
pub(super) struct Legacy {
    retries: HashMap<[Id; 4], Vec<u8>>,
    /// The id of the open compaction, as JSON.
    compaction: Option<Vec<u8>>,
}

/// An object with one member more.
fn with(object: Raw<'_>, name: &str, value: &[u8]) -> Vec<u8> {
    without(object, name).raw(name, value).end()
}

fn without(object: Raw<'_>, name: &str) -> Object {
    let kept = object.members().filter(|(key, _)| !key.is(name));
    kept.fold(Object::new(), |out, (key, value)| {
        out.raw(&key.display_text().unwrap_or_default(), value.bytes())
    })
}

impl Legacy {
    /// The payload as it is mended, when there is something to mend.
    pub(super) fn mended(&mut self, event: &Event<'_>) -> Option<Vec<u8>> {
        match event.kind {
            Kind::LlmRetry => self.retry(event),
            Kind::RequestHeader => {
                let header = event.data.get("header")?;
                header.get("messagePrefix").filter(|prefix| prefix.is_array())?;
                Some(with(event.data, "header", &without(header, "messagePrefix").end()))
            }
            Kind::EndSeed => {
                self.compaction = None;
                None
            }
            Kind::CompactionStart | Kind::CompactionSummary | Kind::CompactionEnd => self.compaction(event),
            Kind::UserMessage => {
                let source = event.data.get("source")?;
                let of_compaction = is(source.get("kind"), "plugin") && is(source.get("plugin"), "compact");
                let id = self.compaction.as_ref().filter(|_| of_compaction)?;
                let bare = source.get("compactionId").is_none();
                bare.then(|| with(event.data, "source", &with(source, "compactionId", id)))
            }
            _ => None,
        }
    }

    fn retry(&mut self, event: &Event<'_>) -> Option<Vec<u8>> {
        let chain = event.data.get_all(["turn", "step", "provider", "policyKey"]);
        let chain = chain.map(|part| Id::of_text(part.map(Raw::bytes)));
        match event.data.get("retryId") {
            Some(id) => {
                if id.is_filled_text() {
                    self.retries.insert(chain, id.bytes().to_vec());
                }
                None
            }
            None => {
                let made_up = || format!("\"legacy-retry:{}\"", event.seq).into_bytes();
                let id = self.retries.entry(chain).or_insert_with(made_up);
                Some(with(event.data, "retryId", id))
            }
        }
    }

    fn compaction(&mut self, event: &Event<'_>) -> Option<Vec<u8>> {
        let own = event.data.get("compactionId");
        if event.kind == Kind::CompactionStart {
            let made_up = || format!("\"legacy-compaction:{}\"", event.seq).into_bytes();
            match own {
                Some(id) if id.is_filled_text() => self.compaction = Some(id.bytes().to_vec()),
                Some(_) => {}
                None => self.compaction = Some(made_up()),
            }
        }
        let id = self.compaction.as_ref()?;
        let mended = own.is_none().then(|| with(event.data, "compactionId", id));
        if event.kind == Kind::CompactionEnd {
            self.compaction = None;
        }
        mended
    }
}
