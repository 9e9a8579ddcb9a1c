//! Entries, and a row whose every text tries to break out of its rendering.

use super::*;
use dsh_log::seq::Seq;
use dsh_log::view::transcript::Anchor;
use dsh_log::view::transcript::rows::{Assistant, Call, Tool, ToolStatus};

/// A row of turn 2 about event 7.
pub(in crate::render) fn row(body: Body) -> Row {
    let anchor = Anchor::at(Seq(7));
    let (turn, step) = (Some(2), Some(1));
    Row { anchor, seq: Seq(7), turn, step, time: 0, inherited: false, synthetic: false, body }
}

/// A call whose every text tries to break out.
pub(in crate::render) fn hostile() -> Row {
    let call = Call {
        name: Some("<b>\u{1b}[2J".to_owned()),
        arguments: Some(br#""{\"a\":\"x\\u202ey\"}""#.to_vec()),
        status: ToolStatus::Error,
        error_code: Some("`E`".to_owned()),
        blocks: vec![Block::Text("one\n```\n</details><script>\r\n\u{9b}four\nfive".to_owned())],
        content: Some(b"[]".to_vec()),
        duration_ms: Some(61_000),
        ..Call::default()
    };
    row(Body::Tool(Tool { call, ..Tool::default() }))
}

pub(in crate::render) fn shown(tools: Tools) -> Shown {
    Shown { tools, reasoning: false, turns: None, width: 60 }
}

#[test]
fn a_brief_call_is_one_line_and_the_first_lines_of_its_result() {
    let entry = entry(&hostile(), &shown(Tools::Brief)).unwrap();
    assert_eq!(entry.title, r"<b>␛[2J x\u{202e}y — error `E`, 1 min 1 s, 39 B");
    let lines = ["one", "```", "</details><script>", "… 2 more lines"];
    assert_eq!(entry.parts, lines.map(|line| Part::Line(line.to_owned())));
    assert_eq!(entry.voice, Voice::Trouble);
}

#[test]
fn turns_and_tools_are_left_out_on_wish() {
    assert!(entry(&hostile(), &shown(Tools::None)).is_none());
    let other = Shown { turns: Some(3..=4), ..shown(Tools::Full) };
    assert!(entry(&hostile(), &other).is_none());
    assert!(entry(&hostile(), &Shown { turns: Some(2..=2), ..other }).is_some());
}

#[test]
fn reasoning_that_is_left_out_is_still_mentioned() {
    let said = Assistant { blocks: vec![Block::Reasoning("hm".to_owned())], ..Assistant::default() };
    let row = row(Body::Assistant(said));
    assert_eq!(
        entry(&row, &shown(Tools::Full)).unwrap().parts,
        [Part::Line("(reasoning only, 2 B)".to_owned())]
    );
    let all = Shown { reasoning: true, ..shown(Tools::Full) };
    assert_eq!(entry(&row, &all).unwrap().parts, [Part::Reasoning("hm".to_owned())]);
}
