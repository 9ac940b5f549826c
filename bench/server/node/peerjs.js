// A PeerJS server. Prints its port when it listens.
import { PeerServer } from "peer";

const port = Number(process.argv[2]);
PeerServer({ port, path: "/", host: "127.0.0.1", concurrent_limit: 20000 }, () => console.log(`ready ${port}`));
