//! Rows as JSON: stored text goes in as it is.

use super::content::Failure;
use super::rows::{
    Assistant, Body, Call, Child, Command, Compaction, Context, Retry, Row, Said, Seed, Tool, TurnEnd,
    Workflow,
};
use crate::json::write::{self, Object};

impl Row {
    /// The row as one JSON object.
    #[must_use]
    pub fn to_json(&self) -> Vec<u8> {
        let head = Object::new()
            .text("kind", self.body.kind().as_bytes())
            .int("seq", self.seq.0)
            .raw("anchor", self.anchor.number().as_bytes())
            .int_if("turn", self.turn)
            .int_if("step", self.step)
            .int("time", self.time);
        let head = flag(head, "inherited", self.inherited);
        let head = flag(head, "synthetic", self.synthetic);
        match &self.body {
            Body::User(said) | Body::Steering(said) => of_said(head, said),
            Body::Context(context) => of_context(head, context),
            Body::Assistant(said) => of_assistant(head, said),
            Body::Tool(tool) => of_tool(head, tool),
            Body::Command(command) => of_command(head, command),
            Body::Compaction(compaction) => of_compaction(head, compaction),
            Body::CommandInput(line) => head.text("text", line.as_bytes()),
            Body::Retry(retry) => of_retry(head, retry),
            Body::TurnError(error) => of_failure(head, &error.failure).int_if("lastStep", error.last_step),
            Body::MaxTokens => head,
            Body::TurnEnd(end) => of_turn_end(head, end),
            Body::Workflow(run) => of_workflow(head, run),
            Body::EndSeed(Seed::Fork) => head.text("seed", b"fork"),
            Body::EndSeed(Seed::Resumed) => head.text("seed", b"resumed"),
            Body::Unknown(unknown) => {
                head.text("type", unknown.type_name.as_bytes()).raw("data", &unknown.data)
            }
        }
        .end()
    }
}

fn flag(object: Object, name: &str, set: bool) -> Object {
    if set { object.bool(name, true) } else { object }
}

fn word(object: Object, name: &str, text: Option<&String>) -> Object {
    object.text_if(name, text.map(|text| text.as_bytes()))
}

fn of_said(object: Object, said: &Said) -> Object {
    let object = word(object, "messageId", said.message_id.as_ref()).raw("content", &said.content);
    if said.references.is_empty() {
        return object;
    }
    object.list("references", said.references.iter().map(|label| write::string(label)))
}

fn of_context(object: Object, context: &Context) -> Object {
    let object = object.text("role", context.role.as_bytes());
    let object = word(object, "label", context.label.as_ref())
        .text_if("form", context.form.map(str::as_bytes))
        .raw_if("source", context.source.as_deref());
    of_said(object, &context.said)
}

fn of_failure(object: Object, failure: &Failure) -> Object {
    let inner = word(Object::new(), "code", failure.code.as_ref());
    object.raw("failure", &word(inner, "message", failure.message.as_ref()).end())
}

fn of_assistant(object: Object, said: &Assistant) -> Object {
    let object = object.text("state", said.state.name().as_bytes());
    let object = word(object, "messageId", said.message_id.as_ref());
    let object = word(object, "provider", said.provider.as_ref());
    let object = word(object, "model", said.model.as_ref())
        .raw("content", &said.content)
        .raw_if("usage", said.usage.as_deref())
        .int_if("startedAt", said.started)
        .int_if("firstTokenAt", said.first_token);
    match &said.failure {
        Some(failure) => of_failure(object, failure),
        None => object,
    }
}

fn of_call(object: Object, call: &Call) -> Object {
    let object = word(object, "callId", call.id.as_ref());
    let object = word(object, "name", call.name.as_ref())
        .raw_if("arguments", call.arguments.as_deref())
        .text("status", call.status.name().as_bytes())
        .bool("isError", call.is_error)
        .raw_if("content", call.content.as_deref())
        .int_if("endedAt", call.ended)
        .int_if("durationMs", call.duration_ms);
    if call.error_name.is_none() && call.error_code.is_none() {
        return object;
    }
    let error = word(Object::new(), "name", call.error_name.as_ref());
    object.raw("error", &word(error, "code", call.error_code.as_ref()).end())
}

fn of_tool(object: Object, tool: &Tool) -> Object {
    let object = of_call(object, &tool.call).int_if("resultSeq", tool.result_seq.map(|seq| seq.0));
    if tool.children.is_empty() {
        return object;
    }
    object.list("children", tool.children.iter().map(of_child))
}

fn of_child(child: &Child) -> Vec<u8> {
    let object = Object::new().int("depth", child.depth);
    of_call(word(object, "parentCallId", child.parent.as_ref()), &child.call).end()
}

fn of_command(object: Object, command: &Command) -> Object {
    let object = word(object, "commandId", command.id.as_ref());
    let object = word(object, "name", command.name.as_ref());
    let object = word(object, "args", command.args.as_ref()).text("outcome", command.outcome.as_bytes());
    let object = word(object, "text", command.text.as_ref());
    word(object, "compactionError", command.compaction_error.as_ref())
}

fn of_compaction(object: Object, compaction: &Compaction) -> Object {
    let object = word(object, "compactionId", compaction.id.as_ref());
    let object = word(object, "summary", compaction.summary.as_ref())
        .raw_if("content", compaction.content.as_deref())
        .int_if("items", compaction.items)
        .int_if("tokens", compaction.tokens);
    let object = word(object, "model", compaction.model.as_ref());
    let object = word(object, "error", compaction.error.as_ref());
    match &compaction.command {
        Some(command) => object.raw("command", &of_command(Object::new(), command).end()),
        None => object,
    }
}

fn of_retry(object: Object, retry: &Retry) -> Object {
    let attempts = retry.attempts.iter().map(|attempt| {
        let object = Object::new()
            .int("seq", attempt.seq.0)
            .int_if("retry", attempt.retry)
            .int_if("maxRetries", attempt.max)
            .int_if("delayMs", attempt.delay_ms)
            .text("state", attempt.state.name().as_bytes());
        match &attempt.failure {
            Some(failure) => of_failure(object, failure).end(),
            None => object.end(),
        }
    });
    word(object, "retryId", retry.id.as_ref()).list("attempts", attempts)
}

fn of_turn_end(object: Object, end: &TurnEnd) -> Object {
    let object = word(object, "reason", end.reason.as_ref());
    let object = word(object, "detail", end.detail.as_ref())
        .int_if("durationMs", end.duration_ms)
        .int("steps", end.steps)
        .int("tools", end.tools)
        .int_if("firstTokenMs", end.first_token_ms)
        .bool("canBranch", end.can_branch);
    let rate = end.tokens_per_second.map(|rate| format!("{rate:.1}"));
    let object = object.raw_if("tokensPerSecond", rate.as_ref().map(|rate| rate.as_bytes()));
    let Some(usage) = end.usage else { return object };
    let sum = Object::new()
        .int("inputTokens", usage.input)
        .int("outputTokens", usage.output)
        .int("cacheReadTokens", usage.cache_read)
        .int("cacheWriteTokens", usage.cache_write);
    object.raw("usage", &sum.end())
}

fn of_workflow(object: Object, run: &Workflow) -> Object {
    let members = run.members.iter().map(|member| {
        let object = word(Object::new().int_if("number", member.number), "phase", member.phase.as_ref());
        let object = word(object, "label", member.label.as_ref());
        word(object, "childId", member.child.as_ref()).text("outcome", member.outcome.as_bytes()).end()
    });
    let object = word(object, "runId", run.id.as_ref());
    word(object, "name", run.name.as_ref()).text("status", run.status.as_bytes()).list("members", members)
}
