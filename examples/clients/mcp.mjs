// The official package of the Model Context Protocol as a client of `arrcoc mcp`:
// npm install @modelcontextprotocol/sdk && node mcp.mjs PICTURE QUESTION
import path from 'node:path';
import {Client} from '@modelcontextprotocol/sdk/client/index.js';
import {StreamableHTTPClientTransport} from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import {StdioClientTransport} from '@modelcontextprotocol/sdk/client/stdio.js';

const [picture = 'examples/pictures/receipt.jpg', question = 'What is the total?'] = process.argv.slice(2);
const client = new Client({name: 'example', version: '1'});
// A server that runs (`arrcoc mcp --http --root FOLDER`), or one of our own.
await client.connect(process.env.ARRCOC_URL ?
  new StreamableHTTPClientTransport(new URL(process.env.ARRCOC_URL + '/mcp')) :
  new StdioClientTransport({command: process.env.ARRCOC ?? 'arrcoc', args: ['mcp', '--root', path.dirname(picture)], stderr: 'ignore'}));
const {structuredContent: read} = await client.callTool({name: 'read', arguments: {path: path.basename(picture), question}});
console.log(read.answer, read.confidence, `${read.tokens} of ${read.native_tokens} tokens`);
const zoomed = await client.callTool({name: 'zoom', arguments: {path: path.basename(picture), question, crops: 1}});
for (const {box} of zoomed.structuredContent.crops) console.log('worth a look:', box);
await client.close();
