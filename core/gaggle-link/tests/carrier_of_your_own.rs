//! The example of a carrier of one's own keeps the contract of transports, point by point.

#[path = "../examples/carrier_of_your_own.rs"]
#[allow(dead_code, reason = "its `main` is for whoever runs it")]
mod carrier_of_your_own;

gaggle_link::contract!(carrier_of_your_own::Three::default());
