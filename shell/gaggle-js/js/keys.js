// Keys that are down. Absent: which key does what.

/** Keys of a page by their codes, such as 'ArrowUp' or 'KeyW'. */
export class Keys {
  #down = new Set();
  #tapped = new Set();

  constructor(target) {
    target.addEventListener('keydown', (event) => {
      if (event.ctrlKey || event.altKey || event.metaKey) return;
      if (/^(Arrow|Space)/.test(event.code) && !/^(INPUT|TEXTAREA|SELECT)$/.test(event.target?.tagName ?? '')) event.preventDefault();
      this.#down.add(event.code);
      this.#tapped.add(event.code);
    });
    target.addEventListener('keyup', (event) => this.#down.delete(event.code));
    target.addEventListener('blur', () => this.#down.clear());
  }

  /** Whether a key is down, or was since the last frame. */
  isDown(...codes) {
    return codes.some((code) => this.#down.has(code) || this.#tapped.has(code));
  }

  /** −1, 0 or 1 by two keys. */
  axis(less, more) {
    return Number(this.isDown(...[more].flat())) - Number(this.isDown(...[less].flat()));
  }

  seen() {
    this.#tapped.clear();
  }
}
