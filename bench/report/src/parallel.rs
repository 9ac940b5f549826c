//! A parallel map for work that counts instead of measuring time.
//!
//! Benches call it. Absent: measurements, which need a quiet machine.

use std::sync::Mutex;
use std::thread;

/// Applies `work` to each item in as many threads as there are cores. Results are in the order of
/// the items.
///
/// # Panics
/// If the work does.
pub fn parallel<T: Send, R: Send>(items: Vec<T>, work: impl Fn(T) -> R + Sync) -> Vec<R> {
    let threads = thread::available_parallelism().map_or(1, |cores| cores.get()).min(items.len());
    let mut results: Vec<Option<R>> = items.iter().map(|_| None).collect();
    let waiting = Mutex::new(items.into_iter().zip(&mut results));
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while let Some((item, result)) = next(&waiting) {
                    *result = Some(work(item));
                }
            });
        }
    });
    results.into_iter().map(|result| result.expect("every item was worked on")).collect()
}

/// In a function of its own, so that the lock is not held during the work.
fn next<I: Iterator>(waiting: &Mutex<I>) -> Option<I::Item> {
    waiting.lock().expect("no thread panics with the lock").next()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parallel_results_keep_order_of_items() {
        let squares = parallel((0..100u32).collect(), |n| n * n);
        assert_eq!(squares, (0..100).map(|n| n * n).collect::<Vec<_>>());
        assert!(parallel(Vec::<u32>::new(), |n| n).is_empty());
    }
}
