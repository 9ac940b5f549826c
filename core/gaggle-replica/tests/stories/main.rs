//! Stories of gaggle-replica, one program: what they share is built once.

mod age;
mod authority;
mod beside;
mod blobs;
mod bodies;
mod budget;
mod builds;
mod bytes;
mod coming;
mod corpus;
mod playout;
mod updates;
mod vectors;
mod world;

#[path = "../../../../fuzz/src/replica.rs"]
#[allow(dead_code, unreachable_pub, reason = "targets of the fuzzer, some of which no story uses")]
mod replica;
