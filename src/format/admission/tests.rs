//! Rows admitted and refused, one rule after the other.

use super::*;

fn parts(row: &str) -> Parts<'_> {
    let row = Raw::parse(row.as_bytes()).unwrap_or_else(|_| panic!("{row}"));
    let [type_name, seq, data, ignorable, op, sources] =
        row.get_all(["type", "seq", "data", "ignorable", "surfaceOp", "sourceEventSeqs"]);
    Parts { type_name, seq, data, ignorable, op, sources, ..Parts::default() }
}

fn judge(version: u32, row: &str) -> Option<Code> {
    let parts = parts(row);
    let dialect = Dialect::of(version).unwrap();
    let fault =
        hard_fault(&parts, parts.kind(), dialect).or_else(|| late_fault(&parts, parts.kind(), dialect));
    fault.map(|fault| fault.code)
}

fn row(kind: &str, data: &str) -> String {
    format!(r#"{{"type":"{kind}","seq":9,"data":{data}}}"#)
}

fn hard(version: u32, kind: &str, data: &str, refused: bool) {
    let found = judge(version, &row(kind, data));
    assert_eq!(found == Some(Code::RowHard), refused, "{kind} {data} {found:?}");
}

#[test]
fn retired_types_refuse_unless_they_may_be_ignored() {
    let row = r#"{"type":"tool/code-dispatch","seq":0,"data":{}}"#;
    let ignorable = r#"{"type":"tool/code-dispatch","seq":0,"data":{},"ignorable":true}"#;
    assert_eq!(
        [2, 3, 4].map(|v| judge(v, row)),
        [None, Some(Code::RowRetiredType), Some(Code::RowRetiredType)]
    );
    assert_eq!([3, 4].map(|v| judge(v, ignorable)), [None, None]);
}

#[test]
fn a_request_header_is_one_and_has_no_system() {
    for version in [3, 4] {
        hard(version, "request/header", r#"{"header":{"config":{}}}"#, false);
        hard(version, "request/header", r#"{"header":{"system":""}}"#, true);
        hard(version, "request/header", "null", true);
    }
    hard(4, "request/header", r#"{"header":{"tools":[{"deferLoading":true},{}]}}"#, false);
    hard(4, "request/header", r#"{"header":{"tools":[{"deferLoading":false}]}}"#, true);
}

#[test]
fn a_system_message_of_generation_3_has_exact_keys() {
    let message = |source: &str, content: &str, more: &str| {
        format!(
            r#"{{"turn":1,"step":1,"message":{{"id":"s","role":"system","source":{source},"content":{content}{more}}}}}"#
        )
    };
    let plugin = r#"{"kind":"plugin","plugin":"p"}"#;
    for (data, refused) in [
        (message(plugin, r#"[{"type":"text","text":""},{"type":"new"}]"#, ""), false),
        (message(plugin, r#"[{"type":"text","text":"","x":1}]"#, ""), true),
        (
            message(plugin, r#"[{"type":"tool-result","toolCallId":"c","content":[{"type":"text"}]}]"#, ""),
            true,
        ),
        (message(plugin, "[]", r#","x":1"#), true),
        (message(r#"{"kind":"plugin","plugin":""}"#, "[]", ""), true),
        (message(r#"{"kind":"system-prompt"}"#, "[]", ""), true),
        (message(plugin, "[]", "").replace(r#""turn":1"#, r#""turn":0"#), true),
    ] {
        let mut row = row("system/message", &data);
        row.insert_str(1, r#""surfaceOp":"append","#);
        assert_eq!(judge(3, &row) == Some(Code::RowHard), refused, "{row}");
    }
}

#[test]
fn late_faults_are_those_of_generation_3_alone() {
    let result = r#"{"message":{"content":[{"type":"tool-result","isError":true}]},"error":{}}"#;
    for (row, late) in [
        (row("user/message", "{}"), true),
        (r#"{"type":"user/message","seq":9,"surfaceOp":"append"}"#.into(), false),
        (
            r#"{"type":"user/message","seq":9,"surfaceOp":{"op":"replace","startSeq":3,"endSeq":9}}"#.into(),
            true,
        ),
        (r#"{"type":"user/message","seq":9,"surfaceOp":"append","sourceEventSeqs":[]}"#.into(), true),
        (r#"{"type":"assistant/message","seq":9,"surfaceOp":"append","sourceEventSeqs":[1]}"#.into(), true),
        (r#"{"type":"turn/start","seq":9,"surfaceOp":"append"}"#.into(), true),
        (r#"{"type":"plugin:x","seq":9,"surfaceOp":7,"sourceEventSeqs":[1]}"#.into(), false),
        (r#"{"type":"turn/start","seq":-0}"#.into(), true),
        (row("request/header", r#"{"header":{"tools":[]}}"#), true),
        (row("request/header", r#"{"header":{"adapterDefaults":{}}}"#), true),
        (format!(r#"{{"type":"tool/result","seq":9,"surfaceOp":"append","data":{result}}}"#), false),
        (
            format!(
                r#"{{"type":"tool/result","seq":9,"surfaceOp":"append","data":{}}}"#,
                result.replace("true", "false")
            ),
            true,
        ),
    ] {
        assert_eq!(judge(3, &row) == Some(Code::RowLate), late, "{row}");
        assert_ne!(judge(2, &row), Some(Code::RowLate));
        assert_ne!(judge(4, &row), Some(Code::RowLate));
    }
}

#[test]
fn developer_messages_and_tool_changes_belong_together() {
    let developer = |content: &str, more: &str| {
        format!(
            r#"{{"turn":1,"step":1,"message":{{"id":"d","role":"developer","source":{{"kind":"tool-registry"}},"content":{content}}}{more}}}"#
        )
    };
    let added = r#"[{"type":"tool-addition","toolName":"t"}]"#;
    hard(4, "developer/message", &developer(added, r#","headerSeq":1"#), false);
    hard(4, "developer/message", &developer(added, ""), true);
    hard(4, "developer/message", &developer("[]", ""), false);
    hard(4, "developer/message", &developer("[]", r#","headerSeq":1"#), true);
    hard(4, "developer/message", &developer(r#"[{"type":"tool-result"}]"#, ""), true);
    hard(4, "developer/message", "7", true);
    hard(4, "user/message", r#"{"role":"developer"}"#, true);
    hard(4, "user/message", &format!(r#"{{"content":{added}}}"#), true);
    hard(4, "agent/inbox/spliced", &format!(r#"{{"inserted":[{{"content":{added}}}]}}"#), true);
    hard(4, "compaction/summary", &format!(r#"{{"summary":{added}}}"#), true);
}

#[test]
fn retired_sources_and_blocks_refuse_wherever_they_stand() {
    let plugin = r#"{"source":{"kind":"plugin"}}"#;
    let wrapped = r#"[{"type":"tool-result"}]"#;
    hard(4, "user/message", plugin, true);
    hard(4, "assistant/message", &format!(r#"{{"message":{plugin}}}"#), true);
    hard(4, "session/title-llm-request", &format!(r#"{{"messages":[{plugin}]}}"#), true);
    hard(4, "team/message/queued", &format!(r#"{{"message":{{"content":{wrapped}}}}}"#), true);
    hard(4, "tool/ptc-dispatch", &format!(r#"{{"content":{wrapped}}}"#), true);
    hard(4, "tool/ptc-dispatch", r#"{"content":[{"type":"tool-addition"}]}"#, false);
    for (chunk, refused) in [
        (r#"{"type":"block-end","block":{"type":"tool-result"}}"#, true),
        (r#"{"type":"block-start","blockType":"tool-removal"}"#, true),
        (r#"{"type":"block-start","blockType":"text"}"#, false),
    ] {
        let stream = format!(r#"{{"stream":[1,{{"type":"chunk","chunk":{chunk}}}]}}"#);
        hard(4, "assistant/attempt", &stream, refused);
        hard(4, "assistant/message", &stream, refused);
    }
    hard(4, "user/message", "null", false);
}

#[test]
fn a_system_message_of_generation_4_has_what_its_blocks_need() {
    let system = |block: &str| {
        format!(
            r#"{{"turn":1,"step":1,"message":{{"id":"s","role":"system","content":[{block}],"x":1}},"x":1}}"#
        )
    };
    for (block, refused) in [
        (r#"{"type":"text","text":"","x":1}"#, false),
        (r#"{"type":"text"}"#, true),
        ("7", true),
        (r#"{"type":"tool-result"}"#, true),
        (r#"{"type":"new"}"#, false),
        (r#"{"type":""}"#, true),
        (r#"{"type":"tool-call","id":"c","name":"n","arguments":"{}"}"#, false),
        (
            r#"{"type":"image","attachment":{"attachmentId":"a","mediaType":"image/png","bytes":0,"width":1,"height":1}}"#,
            false,
        ),
        (
            r#"{"type":"image","attachment":{"attachmentId":"a","mediaType":"image/bmp","bytes":0,"width":1,"height":1}}"#,
            true,
        ),
    ] {
        hard(4, "system/message", &system(block), refused);
    }
    hard(4, "system/message", &system("").replace(r#""step":1"#, r#""step":0"#), true);
}

#[test]
fn a_tool_result_of_generation_4_is_whole() {
    let sound = r#"{"message":{"id":"r","role":"tool","source":{"kind":"tool","callId":"c"},"toolCallId":"c","content":[],"isError":true},"error":{}}"#;
    hard(4, "tool/result", sound, false);
    for (from, to) in [
        (r#""id":"r""#, r#""id":"""#),
        (r#""role":"tool""#, r#""role":"user""#),
        (r#""callId":"c""#, r#""callId":"d""#),
        (r#""kind":"tool""#, r#""kind":"x""#),
        ("[]", "{}"),
        ("[]", r#"[{"type":"tool-result"}]"#),
        ("true", "false"),
        ("true", "1"),
    ] {
        hard(4, "tool/result", &sound.replace(from, to), true);
    }
    hard(4, "tool/result", "[]", true);
}

#[test]
fn a_forks_result_for_a_call_not_started_has_one_shape() {
    let sound = r#"{"type":"tool/result","seq":9,"data":{"message":{"id":"forked-tool-result-c-9","role":"tool","source":{"kind":"tool","callId":"c"},"toolCallId":"c","content":[{"type":"text","text":"any"}],"isError":true},"error":{"name":"ToolNotStartedError","code":"TOOL_NOT_STARTED"}},"surfaceOp":"append"}"#;
    assert_eq!(judge(4, sound), None);
    for (from, to) in [
        ("c-9", "c-8"),
        ("c-9", "c-09"),
        ("ToolNotStartedError", "X"),
        (r#""text":"any""#, r#""text":1"#),
        (r#""append""#, r#""append","sourceEventSeqs":[1]"#),
    ] {
        assert_eq!(judge(4, &sound.replace(from, to)), Some(Code::RowHard), "{to}");
    }
    let replacing = sound
        .replace(r#""append""#, r#"{"op":"replace","startSeq":8,"endSeq":8},"sourceEventSeqs":[8]"#)
        .replace("c-9", "c-8");
    assert_eq!(judge(4, &replacing), None);
    assert_eq!(judge(4, &replacing.replace("[8]", "[7]")), Some(Code::RowHard));
    assert_eq!(
        judge(4, &sound.replace(r#""code":"TOOL_NOT_STARTED""#, r#""code":"X""#).replace("c-9", "c-x")),
        None
    );
}
