// Joins rooms with the Colyseus client, so many at a time. Prints milliseconds of all joins
// together, and the 99th percentile of one.
import { Client } from "@colyseus/sdk";

const [port, joins, lanes] = process.argv.slice(2).map(Number);
const times = [];
const rooms = [];
let left = joins;
const lane = async () => {
  while (left-- > 0) {
    const client = new Client(`ws://127.0.0.1:${port}`);
    const began = performance.now();
    rooms.push(await client.joinOrCreate("four"));
    times.push(performance.now() - began);
  }
};
const began = performance.now();
await Promise.all(Array.from({ length: lanes }, lane));
const all = performance.now() - began;
times.sort((a, b) => a - b);
console.log(`${all} ${times[Math.floor(times.length * 0.99)]} ${new Set(rooms.map((room) => room.roomId)).size}`);
process.exit(0);
