// A Colyseus server with one kind of room of four seats. Prints its address when it listens.
import { Room, Server } from "@colyseus/core";
import { WebSocketTransport } from "@colyseus/ws-transport";

class Four extends Room {
  maxClients = 4;
}

const port = Number(process.argv[2]);
const server = new Server({ transport: new WebSocketTransport(), greet: false });
server.define("four", Four);
await server.listen(port);
console.log(`ready ${port}`);
