//! Old shapes are refused exactly where the harness was seen to refuse them.

use dsh_log::format::dialect::Dialect;
use dsh_log::format::kind::Kind;
use dsh_log::format::legacy::{Upgrade, upgrade};
use dsh_log::format::surface_op::SurfaceOp;
use dsh_log::json::Raw;
use std::path::PathBuf;

#[test]
fn old_shapes_are_malformed_where_the_harness_says_so() {
    let shared = std::env::var_os("DSH_LOG_SHARED").map_or_else(|| PathBuf::from("../shared"), PathBuf::from);
    let damage = shared.join("damage");
    let Ok(cases) = std::fs::read(damage.join("expected.json")) else {
        eprintln!("left out: no damage in {}", damage.display());
        return;
    };
    let mut wrong = Vec::new();
    for case in Raw::parse(&cases).unwrap().elements() {
        let text = |key: &str| case.get(key).and_then(Raw::display_text).unwrap_or_default();
        let (file, class) = (text("file"), text("class"));
        if text("group") != "legacy" || !file.ends_with(".jsonl") {
            continue;
        }
        let log = std::fs::read(damage.join(&file)).unwrap();
        let malformed = log.split(|byte| *byte == b'\n').skip(1).any(is_malformed);
        if malformed != (class == "legacy:malformed") {
            wrong.push(format!("{file}: {class}, here malformed {malformed}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

fn is_malformed(line: &[u8]) -> bool {
    let Ok(row) = Raw::parse(line) else { return false };
    let [kind, data, op] = row.get_all(["type", "data", "surfaceOp"]);
    let (Some(kind), Some(data)) = (kind.and_then(Raw::text), data) else { return false };
    let op = SurfaceOp::parse(op, Dialect::of(0).unwrap());
    matches!(upgrade(Kind::of(&kind), data, op, b"s", 0), Upgrade::Malformed(_))
}
