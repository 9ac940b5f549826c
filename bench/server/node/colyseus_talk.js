// Rooms of eight whose clients each send 100 bytes sixty times a second. Prints "warm" once all
// send. For each line on its input, a number of seconds, prints the deliveries in that time.
import { Client } from "@colyseus/sdk";

const [port, roomCount, seconds] = process.argv.slice(2, 5).map(Number);
const inPhase = process.argv[5] === "in";
let delivered = 0;
const bytes = new Uint8Array(100).fill(5);
for (let room = 0; room < roomCount; room++) {
  for (let seat = 0; seat < 8; seat++) {
    const member = await new Client(`ws://127.0.0.1:${port}`).joinOrCreate("eight");
    member.onMessage("say", () => delivered++);
    const begin = performance.now() + (inPhase ? 0 : Math.random() * 16.667);
    let said = 0;
    const say = () => {
      // As many as are due: timers of Node are whole milliseconds.
      while (begin + said * 16.667 <= performance.now()) {
        member.sendBytes("say", bytes);
        said++;
      }
      setTimeout(say, Math.max(0, begin + said * 16.667 - performance.now()));
    };
    say();
  }
}
await new Promise((resolve) => setTimeout(resolve, 1500));
console.log("warm");
process.stdin.once("data", () => {
  delivered = 0;
  setTimeout(() => {
    console.log(delivered);
  }, seconds * 1000);
});
