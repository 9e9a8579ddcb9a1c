//! A plan as a document: what `repair --dry-run --json` prints and `repair --plan` carries out, to the
//! letter or not at all.

use super::plan::{Change, Plan};
use crate::error::{Error, ErrorKind, Result, shell_word};
use crate::json::Raw;
use crate::json::write::Object;
use crate::storage::source::Identity;
use crate::storage::write::{changed, is_same};
use std::path::PathBuf;

/// A plan that was written down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WrittenPlan {
    /// The log.
    pub path: PathBuf,
    /// What it was.
    pub identity: Identity,
    /// `nothing`, `append` or `tail`.
    pub change: String,
    /// How many bytes stay.
    pub keep: u64,
    /// How many events of a torn frame are written again.
    pub recovered: u64,
    /// The appended events as text.
    pub appended: Vec<Vec<u8>>,
    /// When it was made, epoch milliseconds; it names the file of cut bytes.
    pub at: i64,
}

impl WrittenPlan {
    /// Writes a plan down that was made at that time.
    #[must_use]
    pub fn of(plan: &Plan, at: i64) -> WrittenPlan {
        let (change, keep) = match &plan.change {
            Change::Nothing => ("nothing", plan.identity.bytes),
            Change::Append(_) => ("append", plan.identity.bytes),
            Change::Tail { keep, .. } => ("tail", *keep),
        };
        WrittenPlan {
            path: plan.path.clone(),
            identity: plan.identity,
            change: change.to_owned(),
            keep,
            recovered: plan.recovered,
            appended: plan.appended.clone(),
            at,
        }
    }

    /// The member `plan` of the document of `repair`: `identity`, `change`, `keep`, `at`. Numbers of
    /// the file system are texts, since they may be larger than JavaScript keeps exact.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        let identity = Object::new()
            .text("device", self.identity.device.to_string().as_bytes())
            .text("inode", self.identity.inode.to_string().as_bytes())
            .int("bytes", self.identity.bytes)
            .text("modified", self.identity.modified.to_string().as_bytes())
            .end();
        Object::new()
            .raw("identity", &identity)
            .text("change", self.change.as_bytes())
            .int("keep", self.keep)
            .int("at", self.at)
            .end()
    }

    /// Reads the document that `repair --dry-run --json` printed.
    ///
    /// Errors: `no-plan` when it is none.
    pub fn parse(document: &[u8]) -> Result<WrittenPlan> {
        parse(document).ok_or_else(|| {
            let message = "the file holds no plan of `repair --dry-run --json`";
            Error::new(ErrorKind::Usage, "no-plan", message)
        })
    }

    /// Checks that a plan made now is this one.
    ///
    /// Errors: `changed` when the file is another than it was, or gives another plan.
    pub fn check(&self, now: &Plan) -> Result<()> {
        let made =
            WrittenPlan { path: self.path.clone(), identity: self.identity, ..WrittenPlan::of(now, self.at) };
        if is_same(&now.identity, &self.identity) && made == *self {
            return Ok(());
        }
        let mut error = changed(&now.path);
        error.message = format!("`{}` is not what it was when the plan was made", now.path.display());
        Err(error.hint(format!("dsh-log repair --dry-run --json {}", shell_word(&now.path))))
    }
}

fn parse(document: &[u8]) -> Option<WrittenPlan> {
    let document = Raw::parse(document).ok()?;
    let [schema, path, recovered, appended, plan] =
        document.get_all(["schema", "path", "recovered", "appended", "plan"]);
    if !schema?.is("dsh-log/repair@1") {
        return None;
    }
    let [identity, change, keep, at] = plan?.get_all(["identity", "change", "keep", "at"]);
    let number = |name| identity?.get(name)?.display_text();
    Some(WrittenPlan {
        path: path?.display_text()?.into(),
        identity: Identity {
            device: number("device")?.parse().ok()?,
            inode: number("inode")?.parse().ok()?,
            bytes: identity?.get("bytes")?.count()?,
            modified: number("modified")?.parse().ok()?,
            changed: 0,
        },
        change: change?.display_text()?,
        keep: keep?.count()?,
        recovered: recovered?.count()?,
        appended: appended?.elements().map(|event| event.bytes().to_vec()).collect(),
        at: at?.safe_int()?,
    })
}
