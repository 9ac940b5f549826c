// Keys that are down. Absent: which key does what.

/** Keys that move or press something in a page, so that a game keeps them to itself. */
const OF_PAGE = /^(Arrow|Space)/;
/** Where a player types; keys there are no game's. */
const TYPED_INTO = /^(INPUT|TEXTAREA|SELECT)$/;
/** What a player presses with keys. */
const PRESSED = 'button, a[href], summary, [role=button]';

/** Keys of a page by their codes, such as 'ArrowUp' or 'KeyW'. */
export class Keys {
  #down = new Set();
  #tapped = new Set();

  /** Listens until the signal. */
  constructor(target, signal) {
    const listen = (type, listener) => target.addEventListener(type, listener, { signal });
    listen('keydown', (event) => this.#press(event));
    listen('keyup', (event) => this.#down.delete(event.code));
    listen('blur', () => {
      this.#down.clear();
      this.#tapped.clear();
    });
  }

  #press(event) {
    // Inside of a custom element, too.
    const at = event.composedPath()[0];
    if (TYPED_INTO.test(at?.tagName ?? '') || at?.isContentEditable) return;
    // While this key is down, browsers do not tell that others go up.
    if (event.metaKey && !event.code.startsWith('Meta')) return;
    const isShortcut = event.ctrlKey || event.altKey || event.metaKey;
    if (OF_PAGE.test(event.code) && !isShortcut && !at?.closest?.(PRESSED)) event.preventDefault();
    this.#down.add(event.code);
    this.#tapped.add(event.code);
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
