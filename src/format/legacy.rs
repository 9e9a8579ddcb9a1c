//! stub
use super::kind::Kind; use super::surface_op::SurfaceOp; use crate::json::Raw;
/// x
pub enum Upgrade { /// x
 Current, /// x
 Rewritten { /// x
  kind: Kind, /// x
  data: Vec<u8>, /// x
  inherits_id_from: Option<u64> }, /// x
 Malformed(String) }
/// x
pub fn upgrade(_kind: Kind, _data: Raw<'_>, _op: SurfaceOp, _session_id: &[u8], _seq: u64) -> Upgrade { Upgrade::Current }
/// x
pub fn with_message_id(data: Raw<'_>, _id: &[u8]) -> Vec<u8> { data.bytes().to_vec() }
