use super::*;
use crate::json::Raw;

fn sources(list: &[u64], own: u64) -> Sources {
    let text = crate::json::write::ints(list.iter().copied());
    Sources::parse(Raw::parse(&text).unwrap(), own, true).unwrap()
}

fn surface(appends: &[u64]) -> Surface {
    let mut surface = Surface::new(Dialect::of(0).unwrap());
    for seq in appends {
        surface.apply(*seq, Kind::UserMessage, SurfaceOp::Append, None, None).unwrap();
    }
    surface
}

fn replace(surface: &mut Surface, seq: u64, start: u64, end: u64, from: &[u64]) -> Result<(), RowFault> {
    surface.apply(seq, Kind::UserMessage, SurfaceOp::Replace { start, end }, Some(&sources(from, seq)), None)
}

fn seqs(surface: &Surface) -> Vec<u64> {
    surface.nodes().map(|node| node.seq).collect()
}

#[test]
fn a_range_is_one_of_positions_so_its_start_may_be_the_larger_number() {
    let mut surface = surface(&[1, 4, 6, 9, 13, 15]);
    replace(&mut surface, 20, 1, 9, &[1, 4, 6, 9]).unwrap();
    assert_eq!(seqs(&surface), [20, 13, 15]);
    replace(&mut surface, 24, 20, 13, &[20, 13]).unwrap();
    assert_eq!(seqs(&surface), [24, 15]);
    assert_eq!(surface.replacements()[1].shadowed, [20, 13]);
    assert_eq!((surface.replaced_by(1), surface.replaced_by(20)), (Some(20), Some(24)));
}

#[test]
fn a_replacement_must_name_all_that_it_removes() {
    let mut surface = surface(&[1, 4, 6]);
    assert_eq!(replace(&mut surface, 8, 1, 6, &[1, 6]).unwrap_err().code, Code::SurfaceProvenance);
    assert_eq!(seqs(&surface), [1, 4, 6]);
    replace(&mut surface, 8, 1, 6, &[6, 4, 1, 3]).unwrap();
}

#[test]
fn what_was_replaced_cannot_be_named_again() {
    let mut surface = surface(&[1, 4, 6]);
    replace(&mut surface, 8, 4, 4, &[4]).unwrap();
    assert_eq!(replace(&mut surface, 9, 4, 6, &[4, 6]).unwrap_err().code, Code::SurfaceRange);
    assert_eq!(replace(&mut surface, 9, 6, 8, &[6, 8]).unwrap_err().code, Code::SurfaceRange);
}

#[test]
fn the_past_is_the_fold_of_the_prefix() {
    let mut surface = surface(&[1, 4, 6]);
    replace(&mut surface, 8, 1, 4, &[1, 4]).unwrap();
    for node in surface.all() {
        let mut at = node.seq;
        while let Some(by) = surface.replaced_by(at) {
            at = by;
        }
        assert_eq!(surface.holders().of(node.seq).map(|node| node.seq), Some(at));
    }
    assert!(surface.holders().of(100).is_none());
    assert_eq!(seqs(&surface.as_of(7, 0)), [1, 4, 6]);
    assert_eq!(seqs(&surface.as_of(8, 0)), [8, 6]);
    assert_eq!(surface.as_of(8, 0).replacements(), surface.replacements());
    let mut playback = Playback::new(&surface);
    assert_eq!(seqs(playback.to(7)), [1, 4, 6]);
    assert_eq!(seqs(playback.to(8)), [8, 6]);
}
