// Writes what the official clients send, a line a request: node record.mjs > ../data/requests.jsonl
import {calls, clients, recorder} from './requests.mjs';

const server = await recorder();
for (const [name, call] of Object.entries(calls)) {
  await call(clients(server.url));
  const {path, body} = server.got.at(-1);
  console.log(JSON.stringify({name, path, body}));
}
server.stop();
