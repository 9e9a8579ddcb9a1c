//! A team: its members and the messages between them (v0 section 15.6, TM1).

use super::id::{Id, shown};
use super::team_tasks::Tasks;
use super::{Family, Sink};
use crate::fault::Code;
use crate::format::event::Event;
use crate::format::kind::Kind;
use crate::format::schema::Shape;
use crate::format::shape::is;
use crate::json::Raw;
use std::collections::{HashMap, HashSet};

const MEMBER: Shape = Shape::Exact(
    &[
        ("id", Shape::Filled),
        ("name", Shape::Text),
        ("description", Shape::Text),
        ("provider", Shape::Text),
        ("context", Shape::OneOf(&["fresh", "fork"])),
        ("phase", Shape::OneOf(&["provisioning", "active", "failed"])),
    ],
    &[("error", Shape::Text)],
);
// From generation 2 on a message has no `delivery`.
const MESSAGE: Shape = Shape::Exact(
    &[
        ("id", Shape::Filled),
        ("senderId", Shape::Filled),
        ("senderName", Shape::Text),
        ("targetId", Shape::Filled),
        ("content", Shape::List(&Shape::Object)),
    ],
    &[("delivery", Shape::OneOf(&["quiet", "wakeup"]))],
);
const VERSION: (&str, Shape) = ("version", Shape::Count);
const TEAM: (&str, Shape) = ("teamId", Shape::Filled);
const MEMBER_EVENT: Shape = Shape::Exact(&[VERSION, TEAM, ("member", MEMBER)], &[]);
const QUEUED_EVENT: Shape = Shape::Exact(&[VERSION, TEAM, ("message", MESSAGE)], &[]);
const DELIVERED_EVENT: Shape =
    Shape::Exact(&[VERSION, TEAM, ("messageId", Shape::Filled), ("targetId", Shape::Filled)], &[]);
const TASK_EVENT: Shape = Shape::Exact(&[VERSION, TEAM, ("task", Shape::Object)], &[]);

/// A member: what stays, and whether it is still being provided.
struct Member {
    constant: [Id; 3],
    provisioning: bool,
}

/// A message: whom it is for, and whether it was delivered.
struct Message {
    target: Id,
    delivered: bool,
}

/// The team whose id is that of the session; records of other teams are copies.
pub(super) struct Team {
    own: Vec<u8>,
    /// The versions of team records that its generation reads.
    versions: &'static [u64],
    members: HashMap<Id, Member>,
    names: HashSet<Id>,
    messages: HashMap<Id, Message>,
    tasks: Tasks,
}

impl Team {
    pub(super) fn new(id: Vec<u8>, versions: &'static [u64]) -> Team {
        Team {
            own: id,
            versions,
            members: HashMap::new(),
            names: HashSet::new(),
            messages: HashMap::new(),
            tasks: Tasks::default(),
        }
    }

    fn member(&mut self, member: Raw<'_>) -> Result<(), String> {
        let [id, name, provider, context, phase] =
            member.get_all(["id", "name", "provider", "context", "phase"]);
        let constant = [name, provider, context].map(Id::of);
        let provisioning = is(phase, "provisioning");
        let Some(known) = self.members.get_mut(&Id::of(id)) else {
            let free = self.names.insert(Id::of(name));
            self.members.insert(Id::of(id), Member { constant, provisioning });
            return match (free, provisioning) {
                (false, _) => Err(format!("two members with the name {}", shown(name))),
                (true, false) => Err("a member whose first record is not provisioning".to_owned()),
                (true, true) => Ok(()),
            };
        };
        if known.constant != constant {
            return Err("a member with another name, provider or context than before".to_owned());
        }
        if !std::mem::replace(&mut known.provisioning, false) || provisioning {
            return Err("a member that moves otherwise than once, to active or failed".to_owned());
        }
        Ok(())
    }

    fn queued(&mut self, message: Raw<'_>) -> Result<(), String> {
        let [id, target] = message.get_all(["id", "targetId"]);
        let message = Message { target: Id::of(target), delivered: false };
        match self.messages.insert(Id::of(id), message) {
            None => Ok(()),
            Some(_) => Err(format!("the message {} is queued twice", shown(id))),
        }
    }

    fn delivered(&mut self, data: Raw<'_>) -> Result<(), String> {
        let [id, target] = data.get_all(["messageId", "targetId"]);
        let Some(message) = self.messages.get_mut(&Id::of(id)) else {
            return Err("a message is delivered that was not queued".to_owned());
        };
        if message.target != Id::of(target) {
            return Err("a message is delivered to another than it was queued for".to_owned());
        }
        match std::mem::replace(&mut message.delivered, true) {
            true => Err(format!("the message {} is delivered twice", shown(id))),
            false => Ok(()),
        }
    }

    fn judge(&mut self, event: &Event<'_>) -> Result<(), String> {
        let shape = match event.kind {
            Kind::TeamMember => MEMBER_EVENT,
            Kind::TeamMessageQueued => QUEUED_EVENT,
            Kind::TeamMessageDelivered => DELIVERED_EVENT,
            _ => TASK_EVENT,
        };
        let version = event.data.get("version").and_then(Raw::count);
        if !version.is_some_and(|version| self.versions.contains(&version)) {
            return Err("a record of the own team in a version that this generation has not".to_owned());
        }
        shape.fit(event.data)?;
        match event.kind {
            Kind::TeamMember => event.data.get("member").map_or(Ok(()), |member| self.member(member)),
            Kind::TeamMessageQueued => {
                event.data.get("message").map_or(Ok(()), |message| self.queued(message))
            }
            Kind::TeamMessageDelivered => self.delivered(event.data),
            _ => event.data.get("task").map_or(Ok(()), |task| self.tasks.task(task)),
        }
    }
}

impl Family for Team {
    fn event(&mut self, event: &Event<'_>, sink: &mut Sink<'_>) {
        let of_team = matches!(
            event.kind,
            Kind::TeamMember | Kind::TeamTask | Kind::TeamMessageQueued | Kind::TeamMessageDelivered
        );
        let is_own = |id: Raw<'_>| id.text().is_some_and(|id| *id == *self.own);
        if !of_team || !event.data.get("teamId").is_some_and(is_own) {
            return;
        }
        if let Err(what) = self.judge(event) {
            sink.warn(Code::InvTeam, event, format!("{}: {what} (TM1)", event.kind));
        }
    }
}
