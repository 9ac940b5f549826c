// One number for many values of `math`, as `src/math.rs` computes it. Absent: which one is right.

export function mathSum(math) {
  const view = new DataView(new ArrayBuffer(8));
  const bits = (value) => {
    view.setFloat64(0, value);
    return view.getBigUint64(0);
  };
  let sum = 0n;
  for (let step = 0; step < 2000; step++) {
    const x = step * 0.37 - 300;
    const values = [
      math.sin(x), math.cos(x), math.tan(x), math.asin(x / 301), math.acos(x / 301), math.atan(x), math.atan2(x, 3),
      math.exp(x / 9), math.log(math.abs(x) + 0.5), math.pow(math.abs(x), 1.7), math.hypot(x, 7.5),
    ];
    for (const value of values) sum = (BigInt.asUintN(64, sum << 5n) | (sum >> 59n)) ^ bits(value);
  }
  return sum.toString(16).padStart(16, '0');
}
