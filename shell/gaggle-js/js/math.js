// The functions that `tick` gets as `math`. Absent: how they are computed, which the module does.

/** Functions of the module, and those that every engine computes alike. */
export function mathOf(module) {
  return Object.freeze({
    sin: module.mathSin,
    cos: module.mathCos,
    tan: module.mathTan,
    asin: module.mathAsin,
    acos: module.mathAcos,
    atan: module.mathAtan,
    atan2: module.mathAtan2,
    exp: module.mathExp,
    log: module.mathLog,
    pow: module.mathPow,
    hypot: module.mathHypot,
    sqrt: Math.sqrt,
    abs: Math.abs,
    sign: Math.sign,
    floor: Math.floor,
    ceil: Math.ceil,
    round: Math.round,
    trunc: Math.trunc,
    min: Math.min,
    max: Math.max,
    clamp: (value, least, most) => Math.min(most, Math.max(least, value)),
    PI: Math.PI,
    E: Math.E,
  });
}
