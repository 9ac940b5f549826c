// Events of a room as games get them. Absent: how a room reacts.

/** Names of the word and the number of an event, where it has them. */
const FIELDS = {
  guestKey: ['key'],
  roomJoined: ['code', 'resumed'],
  roomLeft: ['reason'],
  rejected: ['code'],
  matchStarting: [null, 'at'],
  joining: [null, 'percent'],
  peerRejected: ['reason'],
  stateTooLarge: [null, 'bytes'],
  linkTooSlow: [null, 'rtt'],
  playerLeft: ['cause'],
  slowPlayer: [null, 'share'],
  pathChanged: ['path'],
  readyChanged: [null, 'ready'],
  desyncDetected: [null, 'frame'],
  desyncLocated: ['cause'],
  inputsDiverged: [null, 'frame'],
  stateNotDecodable: [null, 'frame'],
  desyncRecovered: [null, 'frame'],
};
const FLAGS = ['resumed', 'ready'];

/** Listeners by the name of an event; `*` hears all. */
export class Listeners {
  #known = new Map();

  on(type, listener) {
    if (typeof listener !== 'function') throw new TypeError(`room.on('${type}') needs a function`);
    const list = this.#known.get(type) ?? [];
    this.#known.set(type, [...list, listener]);
    return () => {
      this.#known.set(type, (this.#known.get(type) ?? []).filter((other) => other !== listener));
    };
  }

  has(type) {
    return (this.#known.get(type) ?? []).length > 0;
  }

  tell(event) {
    for (const listener of [...(this.#known.get(event.type) ?? []), ...(this.#known.get('*') ?? [])]) {
      try {
        listener(event);
      } catch (error) {
        // One listener's error must not stop the match.
        console.error(error);
      }
    }
  }
}

/** Takes events of the module until they are told. */
export class Queue {
  #events = [];

  event(type, text, peer, name, word, number) {
    const event = { type, text };
    if (peer) Object.assign(event, { peer, name });
    const [wordName, numberName] = FIELDS[type] ?? [];
    if (wordName) event[wordName] = word;
    if (numberName) event[numberName] = FLAGS.includes(numberName) ? number === 1 : number;
    this.#events.push(event);
  }

  take() {
    return this.#events.splice(0);
  }
}
