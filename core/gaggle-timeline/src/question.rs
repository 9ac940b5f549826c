//! A question a tick asked about a predicted input, in a form that can be asked again.
//!
//! `Inputs` makes it, `QuestionLog` asks it again. A question is a function without captures, a
//! context moved in by value, and the answer, copied into a record of fixed size: no allocation.
//! Absent: when to ask.

use std::fmt;
use std::marker::PhantomData;

use gaggle_kit::Input;

/// Largest context of a question in bytes.
pub const CONTEXT_BYTES_MAX: usize = 16;
/// Largest answer to a question in bytes.
pub const ANSWER_BYTES_MAX: usize = 8;

pub(crate) type Context = [u8; CONTEXT_BYTES_MAX];
pub(crate) type Answer = [u8; ANSWER_BYTES_MAX];

/// The function of a question with its types erased: only the vtable knows them.
trait Ask<I>: Send + Sync {
    fn ask(&self, input: I, context: &Context) -> Answer;
}

/// Zero-sized, because `F` is: boxing allocates nothing and leaking leaks nothing.
struct Typed<F, C, R> {
    function: F,
    types: PhantomData<fn(C) -> R>,
}

impl<I, F, C, R> Ask<I> for Typed<F, C, R>
where
    I: Input,
    C: Input,
    R: Input,
    F: Fn(I, C) -> R + Send + Sync,
{
    fn ask(&self, input: I, context: &Context) -> Answer {
        let context = C::read(&context[..C::SIZE]).expect("the context was written by the same type");
        pack((self.function)(input, context))
    }
}

/// Placeholder in rings before any question was asked; never read.
struct Nothing;

impl<I> Ask<I> for Nothing {
    fn ask(&self, _: I, _: &Context) -> Answer {
        Answer::default()
    }
}

fn pack<T: Input, const BYTES: usize>(value: T) -> [u8; BYTES] {
    let mut bytes = [0; BYTES];
    value.write(&mut bytes[..T::SIZE]);
    bytes
}

/// One question with its answer.
pub(crate) struct Question<I: 'static> {
    function: &'static dyn Ask<I>,
    context: Context,
    answer: Answer,
    slot: u8,
}

impl<I> Clone for Question<I> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<I> Copy for Question<I> {}

impl<I> fmt::Debug for Question<I> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Question")
            .field("slot", &self.slot)
            .field("context", &self.context)
            .field("answer", &self.answer)
            .finish_non_exhaustive()
    }
}

impl<I: Input> Question<I> {
    pub(crate) fn empty() -> Self {
        Question { function: &Nothing, context: Context::default(), answer: Answer::default(), slot: u8::MAX }
    }

    /// Asks the question and keeps the answer.
    pub(crate) fn new<C: Input, R: Input>(
        slot: u8,
        input: I,
        context: C,
        function: impl Fn(I, C) -> R + Copy + Send + Sync + 'static,
    ) -> (Self, R) {
        let answer = function(input, context);
        let function = Box::leak(Box::new(Typed { function, types: PhantomData::<fn(C) -> R> }));
        (Question { function, context: pack(context), answer: pack(answer), slot }, answer)
    }

    pub(crate) fn slot(&self) -> u8 {
        self.slot
    }

    /// Whether another input would have been answered differently.
    pub(crate) fn changes_with(&self, input: I) -> bool {
        self.function.ask(input, &self.context) != self.answer
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn repeated_question_uses_original_context() {
        let mut threshold = 10u16;
        let (question, answer) =
            Question::new(3, 12u8, threshold, |input, threshold| u16::from(input) > threshold);
        assert!(answer);
        threshold = 200;
        assert!(!question.changes_with(11), "11 is above the frozen 10, whatever it is now: {threshold}");
        assert!(question.changes_with(10));
        assert_eq!(question.slot(), 3);
    }

    #[test]
    fn question_record_stays_small() {
        assert!(size_of::<Question<u8>>() <= 48);
    }
}
