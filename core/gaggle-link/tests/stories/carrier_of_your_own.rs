//! The example carrier satisfies every rule of the transport contract.

#[path = "../../examples/carrier_of_your_own.rs"]
#[allow(dead_code, reason = "the example's `main` is unused here")]
mod example;

gaggle_link::contract!(example::Three::default());
