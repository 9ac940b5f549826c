// Random numbers that are part of the state: the same on every peer and after every rollback.
// Absent: entropy.

/** A generator (xoshiro128**) whose four words belong to a state. */
export class Generator {
  constructor(high = 0, low = 0) {
    this.words = new Uint32Array(4);
    this.seed(high, low);
  }

  seed(high, low) {
    let mixed = (high ^ Math.imul(low, 0x9e3779b1)) >>> 0;
    for (let nth = 0; nth < 4; nth++) {
      mixed = (mixed + 0x9e3779b9) >>> 0;
      let word = mixed ^ (nth % 2 === 0 ? low : high);
      word = Math.imul(word ^ (word >>> 16), 0x21f0aaad);
      word = Math.imul(word ^ (word >>> 15), 0x735a2d97);
      this.words[nth] = word ^ (word >>> 15);
    }
    // All zeros would stay so.
    if (this.words.every((word) => word === 0)) this.words[0] = 1;
  }

  next() {
    const words = this.words;
    const product = Math.imul(words[1], 5);
    const result = Math.imul((product << 7) | (product >>> 25), 9) >>> 0;
    const shifted = words[1] << 9;
    words[2] ^= words[0];
    words[3] ^= words[1];
    words[1] ^= words[2];
    words[0] ^= words[3];
    words[2] ^= shifted;
    words[3] = (words[3] << 11) | (words[3] >>> 21);
    return result;
  }
}

/** `random()` and its relatives, drawn from a generator. */
export function randomOf(generator) {
  const random = () => generator.next() / 2 ** 32;
  random.below = (count) => {
    if (!Number.isInteger(count) || count < 1 || count > 2 ** 32) throw new RangeError(`random.below(${count}): give a whole number from 1`);
    return Math.floor((generator.next() / 2 ** 32) * count);
  };
  random.between = (least, most) => least + random.below(most - least + 1);
  random.chance = (share) => random() < share;
  random.pick = (list) => list[random.below(list.length)];
  random.shuffle = (list) => {
    for (let last = list.length - 1; last > 0; last--) {
      const other = random.below(last + 1);
      [list[last], list[other]] = [list[other], list[last]];
    }
    return list;
  };
  return Object.freeze(random);
}
