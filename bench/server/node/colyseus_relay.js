// A Colyseus server whose rooms of eight forward each message to the other members. Prints its
// address when it listens.
import { Room, Server } from "@colyseus/core";
import { WebSocketTransport } from "@colyseus/ws-transport";

class Eight extends Room {
  maxClients = 8;
  onCreate() {
    this.onMessageBytes?.("say", (client, bytes) => this.broadcastBytes("say", bytes, { except: client }));
    if (!this.onMessageBytes) this.onMessage("say", (client, bytes) => this.broadcastBytes("say", bytes, { except: client }));
  }
}

const port = Number(process.argv[2]);
const server = new Server({ transport: new WebSocketTransport(), greet: false });
server.define("eight", Eight);
await server.listen(port);
console.log(`ready ${port}`);
