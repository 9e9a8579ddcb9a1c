//! The suffix automaton of a sequence of token numbers: streams any other sequence past it and tells
//! at each place the longest run that also stands in the first, in constant time a token.

use foldhash::{HashMap, HashMapExt};

/// A state: a class of runs that end at the same places.
#[derive(Clone, Debug)]
struct State {
    longest: u32,
    link: Option<u32>,
    /// The first place at which the runs of this state end.
    end: u32,
}

/// The automaton.
#[derive(Clone, Debug)]
pub struct Automaton {
    states: Vec<State>,
    /// The steps from the beginning, where most streams stand most of the time: by token.
    first: Vec<Option<u32>>,
    /// All other steps.
    steps: HashMap<(u32, u32), u32>,
}

/// How far a stream has matched.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Standing {
    state: u32,
    /// The length of the longest run that ends here and stands in the sequence.
    pub length: u32,
}

impl Automaton {
    /// The automaton of a sequence; its size is linear in the sequence and its largest token.
    #[must_use]
    pub fn new(sequence: &[u32]) -> Automaton {
        let mut a = Automaton {
            states: vec![State { longest: 0, link: None, end: 0 }],
            first: vec![None; sequence.iter().max().map_or(0, |most| *most as usize + 1)],
            steps: HashMap::with_capacity(sequence.len() * 3),
        };
        let mut next: Vec<Vec<u32>> = vec![Vec::new()];
        let mut last = 0;
        for (at, token) in sequence.iter().enumerate() {
            last = a.extend(last, *token, at as u32, &mut next);
        }
        a
    }

    fn step(&self, state: u32, token: u32) -> Option<u32> {
        match state {
            0 => self.first.get(token as usize).copied().flatten(),
            _ => self.steps.get(&(state, token)).copied(),
        }
    }

    fn put(&mut self, from: u32, token: u32, to: u32, next: &mut [Vec<u32>]) {
        let before = match from {
            0 => self.first[token as usize].replace(to),
            _ => self.steps.insert((from, token), to),
        };
        if before.is_none()
            && let Some(list) = next.get_mut(from as usize)
        {
            list.push(token);
        }
    }

    /// Adds one token behind the sequence; `next` holds the tokens that lead on from each state.
    fn extend(&mut self, last: u32, token: u32, at: u32, next: &mut Vec<Vec<u32>>) -> u32 {
        let own = self.states.len() as u32;
        self.states.push(State { longest: self.states[last as usize].longest + 1, link: Some(0), end: at });
        next.push(Vec::new());
        let mut from = Some(last);
        while let Some(state) = from.filter(|state| self.step(*state, token).is_none()) {
            self.put(state, token, own, next);
            from = self.states[state as usize].link;
        }
        let Some(state) = from else { return own };
        let Some(to) = self.step(state, token) else { return own };
        let longest = self.states[state as usize].longest + 1;
        if self.states[to as usize].longest == longest {
            self.states[own as usize].link = Some(to);
            return own;
        }
        let copy = self.states.len() as u32;
        self.states.push(State { longest, ..self.states[to as usize].clone() });
        next.push(Vec::new());
        for token in next[to as usize].clone() {
            if let Some(target) = self.step(to, token) {
                self.put(copy, token, target, next);
            }
        }
        let mut back = Some(state);
        while let Some(state) = back.filter(|state| self.step(*state, token) == Some(to)) {
            self.put(state, token, copy, next);
            back = self.states[state as usize].link;
        }
        self.states[to as usize].link = Some(copy);
        self.states[own as usize].link = Some(copy);
        own
    }

    /// Goes on by one token of a stream; `None` = a token that the sequence does not have.
    #[must_use]
    pub fn advance(&self, from: Standing, token: Option<u32>) -> Standing {
        let Some(token) = token else { return Standing::default() };
        let Standing { mut state, mut length } = from;
        loop {
            if let Some(next) = self.step(state, token) {
                return Standing { state: next, length: length + 1 };
            }
            let Some(link) = self.states[state as usize].link else { return Standing::default() };
            state = link;
            length = self.states[link as usize].longest;
        }
    }

    /// The place in the sequence behind the first occurrence of the run.
    #[must_use]
    pub fn end_of(&self, standing: Standing) -> usize {
        self.states[standing.state as usize].end as usize + 1
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn longest_by_search(sequence: &[u32], stream: &[u32], upto: usize) -> usize {
        (0..=upto)
            .rev()
            .find(|n| {
                let run = &stream[upto - n..upto];
                run.is_empty() || sequence.windows(run.len()).any(|window| window == run)
            })
            .unwrap_or(0)
    }

    proptest! {
        #[test]
        fn each_place_has_the_longest_run_that_a_search_finds(
            sequence in proptest::collection::vec(0_u32..4, 0..40),
            stream in proptest::collection::vec(0_u32..5, 0..40),
        ) {
            let automaton = Automaton::new(&sequence);
            let mut standing = Standing::default();
            for (at, token) in stream.iter().enumerate() {
                standing = automaton.advance(standing, Some(*token));
                let length = standing.length as usize;
                prop_assert_eq!(length, longest_by_search(&sequence, &stream, at + 1));
                if length > 0 {
                    let end = automaton.end_of(standing);
                    prop_assert_eq!(&sequence[end - length..end], &stream[at + 1 - length..=at]);
                }
            }
        }
    }
}
