//! Encoding of values whose memory layout is their encoding, in one copy.
//!
//! The expansion of `#[state(pod)]` calls it. It requires a little-endian machine, which `lib.rs`
//! checks. Absent: values with padding or invalid bit patterns.

use bytemuck::Pod;

use crate::{ByteReader, ByteSink, DecodeError, State};

#[inline]
pub fn encode_all<T: Pod, S: ByteSink>(values: &[T], out: &mut S) {
    out.put(bytemuck::must_cast_slice(values));
}

#[inline]
pub fn decode<T: Pod + State>(r: &mut ByteReader<'_>) -> Result<T, DecodeError> {
    let value: T = bytemuck::pod_read_unaligned(r.take(DecodeError::UNNAMED, size_of::<T>())?);
    value.validate()?;
    Ok(value)
}

pub fn decode_vec<T: Pod + State>(r: &mut ByteReader<'_>, count: usize) -> Result<Vec<T>, DecodeError> {
    let size = count.saturating_mul(size_of::<T>());
    let values: Vec<T> = bytemuck::pod_collect_to_vec(r.take(DecodeError::UNNAMED, size)?);
    values.iter().try_for_each(State::validate)?;
    Ok(values)
}

#[inline]
pub fn decode_array<T: Pod + State, const N: usize>(r: &mut ByteReader<'_>) -> Result<[T; N], DecodeError> {
    let bytes = r.take(DecodeError::UNNAMED, size_of::<[T; N]>())?;
    let values: [T; N] = bytemuck::pod_read_unaligned(bytes);
    values.iter().try_for_each(State::validate)?;
    Ok(values)
}
